package bound_test

import (
	"errors"
	"os"
	"testing"

	"github.com/schedscope/schedscope/analyze/bound"
	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
)

// extract takes the work out of a whole fixture; nil if it is not a trace, or
// nothing that can be run.
func extract(t *testing.T, name string) *workload.Workload {
	t.Helper()
	f, err := os.Open(fixtures.Path(name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var empty *ingest.EmptyError
	in, err := ingest.NewReader(f, ingest.Options{})
	if errors.As(err, &empty) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	version := in.Header().Version
	m := model.NewMachine(in.Tables(), model.Config{Version: version})
	x := workload.NewExtractor(in.Tables(), version, workload.Options{})
	m.Observe(x)
	begun := false
	err = ingest.Each(in, func(ev *model.Event) error {
		_ = m.Apply(ev) // what contradicts itself is the model's business
		if !begun {
			x.Begin(ev.Time)
			begun = true
		}
		return nil
	})
	if err != nil && !errors.As(err, &empty) || !begun {
		return nil
	}
	w, err := x.Finish(m.Now())
	if err != nil {
		return nil
	}
	return w
}

// TestFixtures checks that no recorded schedule is shorter than Lower, and that every chain
// of a real trace can be followed to its end.
func TestFixtures(t *testing.T) {
	recorded := map[string]bool{}
	for _, name := range fixtures.Real() {
		recorded[name] = true
	}
	n := 0
	for _, name := range fixtures.Names() {
		t.Run(name, func(t *testing.T) {
			w := extract(t, name)
			if w == nil {
				t.Skip("no workload")
			}
			n++
			b := bound.Of(w, w.Procs)
			if b.Lower > b.Recorded || b.Lower > b.Upper || recorded[name] && !b.Sound() {
				t.Errorf("%+v", b)
			}
			t.Logf("%d procs: work %d, span %d, between %d and %d; took %d, %d too long", w.Procs, b.Work, b.Span, b.Lower, b.UpperAll, b.Recorded, b.Excess())
		})
	}
	if n < len(recorded)/2 {
		t.Errorf("%d workloads only", n)
	}
}
