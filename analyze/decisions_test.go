package analyze_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/lockstep"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/fixtures/truth"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
)

// TestDecisions compares the decisions of a report with those of lockstep, also near the beginnings
// of generations.
func TestDecisions(t *testing.T) {
	for _, name := range []string{"cgo.go1.26.p4.trace", "fanout.go1.26.p4.trace", "generations.go1.26.p4.trace", "mixed.go1.26.p2.trace"} {
		want := judged(t, name)
		got := read(t, name).Result().Queues.Decisions
		for i, k := range []lockstep.Kind{lockstep.Place, lockstep.Pick, lockstep.Steal} {
			d, w := &got[i], &want.Kinds[k]
			if d.Name != k.String() || d.Judged != w.Judged || d.Agreed != w.Agreed || d.Unexplained != w.Diverged[lockstep.Unexplained] || d.Unjudged != w.Excluded || d.Waited != w.Waited {
				t.Errorf("%s: %+v, want %+v", name, *d, *w)
			}
			if d.Judged != d.Agreed+d.Explained+d.Unexplained {
				t.Errorf("%s: %+v do not add up", name, *d)
			}
		}
	}
}

// TestDecisionsInWindow counts those of starts in the window alone.
func TestDecisionsInWindow(t *testing.T) {
	for _, from := range []model.Duration{1e6, 5e6, 20e6} {
		q := readWith(t, "mixed.go1.26.p2.trace", analyze.Options{Version: 26}, ingest.Options{From: from}).Result().Queues
		for _, d := range q.Decisions {
			if d.Judged+d.Unjudged > q.Starts {
				t.Errorf("from %d: %+v of %d starts", from, d, q.Starts)
			}
		}
		if q.Starts > 1000 && len(q.Decisions) == 0 {
			t.Errorf("from %d: no decisions of %d starts", from, q.Starts)
		}
	}
}

// TestLateSignal checks that a thread which comes late is not taken for one that was woken before a poll of the network
// put what it found into queues: of two such traces not one decision is unexplained.
func TestLateSignal(t *testing.T) {
	for _, name := range []string{"parcels", "presence"} {
		data, err := truth.Read(fixtures.Path("validation/suite/" + name + "/trace.zst"))
		if err != nil {
			t.Fatal(err)
		}
		if r := judgedIn(t, bytes.NewReader(data)); len(r.Unexplained) > 0 || r.Kinds[lockstep.Place].Judged < 1000 {
			t.Errorf("%s: of %d decisions unexplained: %+v", name, r.Kinds[lockstep.Place].Judged, r.Unexplained)
		}
	}
}

// judged judges the decisions of a fixture by lockstep.
func judged(t *testing.T, name string) *lockstep.Result {
	t.Helper()
	f, err := fixtures.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return judgedIn(t, f)
}

// judgedIn judges those of a trace.
func judgedIn(t *testing.T, f io.Reader) *lockstep.Result {
	t.Helper()
	in, err := ingest.NewReader(f, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := model.NewMachine(in.Tables(), model.Config{Version: in.Header().Version})
	c, err := lockstep.New(in.Tables(), in.Header().Version, lockstep.Options{MaxListed: 5})
	if err != nil {
		t.Fatal(err)
	}
	c.Observe(m)
	if err := ingest.Each(in, func(ev *model.Event) error {
		_ = m.Apply(ev) // what contradicts itself is the model's business
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	m.Finish(m.Now())
	return c.Finish()
}
