package analyze_test

import (
	"os"
	"testing"

	"github.com/schedscope/schedscope/analyze/causes"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
	"github.com/schedscope/schedscope/model/runqueue"
)

// TestExplainer checks on every fixture that waits told one by one, in order, add up to
// what Causes says, cause by cause.
func TestExplainer(t *testing.T) {
	for _, name := range fixtures.Chosen(fixtures.Names()) {
		t.Run(name, func(t *testing.T) {
			want := read(t, name)
			if want == nil || want.Causes.Refused != "" {
				t.Skip("no causes")
			}
			var got causes.Totals
			var waits int64
			last := model.Time(0)
			stolen, steals := 0, &stealCounter{}
			explain(t, name, func(w *causes.ExplainedWait) {
				waits++
				sum := model.Duration(0)
				for _, c := range w.Cells {
					got[c.Cause] += c.Total
					sum += c.Total
				}
				if sum != w.Span.Duration() {
					t.Errorf("G%d from %d: cells of %d ns, want %d", w.Span.G, w.Span.Start, sum, w.Span.Duration())
				}
				if w.Span.End < last {
					t.Errorf("G%d ends at %d, after one that ended at %d", w.Span.G, w.Span.End, last)
				}
				last = w.Span.End
				if w.Source == runqueue.SourceSteal || w.Source == runqueue.SourceStealRunnext {
					stolen++
				}
			}, steals)
			if waits != want.Causes.Waits {
				t.Errorf("%d waits, want %d", waits, want.Causes.Waits)
			}
			for c := range got {
				if got[c] != want.Causes.ByCause[c].Total {
					t.Errorf("%v: %d ns, want %d", result.Cause(c), got[c], want.Causes.ByCause[c].Total)
				}
			}
			if stolen > 0 && steals.n == 0 {
				t.Error("waits ended by steals, but the observer of the queues heard of none")
			}
		})
	}
}

type stealCounter struct{ n int }

func (c *stealCounter) Steal(*runqueue.Steal) { c.n++ }

// explain reads a fixture with an Explainer.
func explain(t *testing.T, name string, onWait func(*causes.ExplainedWait), queues ...any) {
	t.Helper()
	f, err := os.Open(fixtures.Path(name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in, err := ingest.NewReader(f, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	m := model.NewMachine(in.Tables(), model.Config{Version: in.Header().Version})
	x, err := causes.NewExplainer(in.Tables(), in.Header().Version, onWait, queues...)
	if err != nil {
		t.Fatal(err)
	}
	x.Observe(m)
	if err := ingest.Each(in, func(ev *model.Event) error {
		x.Event(ev)
		_ = m.Apply(ev)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := m.Finish(m.Now()); err != nil {
		t.Fatal(err)
	}
	x.Finish()
}
