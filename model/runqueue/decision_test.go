package runqueue_test

import (
	"testing"

	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
	. "github.com/schedscope/schedscope/model/runqueue"
)

// A watcher keeps starts and decisions.
type watcher struct {
	starts    []Start
	decisions []Decision
}

func (w *watcher) Start(s *Start) { w.starts = append(w.starts, *s) }

func (w *watcher) Decision(d *Decision) { w.decisions = append(w.decisions, *d) }

// onlyStarts hides that a watcher wants decisions.
type onlyStarts struct{ w *watcher }

func (o onlyStarts) Start(s *Start) { o.w.Start(s) }

// watch resolves a fixture.
func watch(t *testing.T, name string, observer any) {
	t.Helper()
	f, err := fixtures.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in, err := ingest.NewReader(f, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := model.NewMachine(in.Tables(), model.Config{Version: in.Header().Version})
	r, err := New(in.Tables(), in.Header().Version)
	if err != nil {
		t.Fatal(err)
	}
	r.Observe(observer)
	m.Observe(r)
	if err := ingest.Each(in, func(ev *model.Event) error {
		_ = m.Apply(ev) // what contradicts itself is the model's business
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	m.Finish(m.Now())
	r.Finish()
}

// Whoever watches decisions changes nothing, and learns of one for each start that is neither plain
// nor shown by the events around it.
func TestDecisions(t *testing.T) {
	const name = "mixed.go1.26.p2.trace"
	var alone, w watcher
	watch(t, name, onlyStarts{&alone})
	watch(t, name, &w)
	if len(w.starts) != len(alone.starts) {
		t.Fatalf("%d starts, want %d", len(w.starts), len(alone.starts))
	}
	decisions := map[int]*Decision{}
	for i := range w.decisions {
		d := &w.decisions[i]
		if decisions[d.Ordinal] != nil {
			t.Errorf("two decisions of start %d", d.Ordinal)
		}
		decisions[d.Ordinal] = d
	}
	plain := 0
	for i := range w.starts {
		s := &w.starts[i]
		d := decisions[s.Ordinal]
		if s.Plain {
			if plain++; d != nil || s.Source != SourceRunnext && s.Source != SourceLocal && s.Source != SourceGlobal && s.Source != SourceLocked {
				t.Errorf("plain start %d: %+v, %+v", i, *s, d)
			}
			s.Plain = false
		}
		if *s != alone.starts[i] {
			t.Fatalf("start %d: %+v, want %+v", i, *s, alone.starts[i])
		}
		if d == nil {
			continue
		}
		if d.G != s.G || d.Time != s.Time || d.P != s.P {
			t.Errorf("decision %d: %+v before %+v", i, *d, *s)
		}
		if s.Source == SourceRunnext && s.Grade <= GradeUnique && (d.Place != PlaceRunnext || d.Next != s.G) {
			t.Errorf("it came from runnext, but stood in %v: %+v", d.Place, *d)
		}
		if s.Source == SourceSteal && s.Grade == GradeCertain && (d.Place != PlaceLocal || d.At != s.LastP || d.Victim.Len < s.Batch) {
			t.Errorf("stolen: %+v, from %+v", *s, *d)
		}
	}
	if plain < len(w.starts)/3 || len(decisions) < 100 {
		t.Errorf("of %d starts %d are plain, and %d decisions", len(w.starts), plain, len(decisions))
	}
}
