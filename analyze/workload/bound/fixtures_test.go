package bound_test

import (
	"errors"
	"testing"

	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/analyze/workload/bound"
	"github.com/schedscope/schedscope/analyze/workload/workloadtest"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model/ingest"
)

// extract takes the work out of a whole fixture; nil if it is not a trace, or
// nothing that can be run.
func extract(t *testing.T, name string) *workload.Workload {
	t.Helper()
	w, err := workloadtest.FromTrace(fixtures.Path(name))
	var empty *ingest.EmptyError
	var old *workload.OldFormatError
	if errors.As(err, &empty) || errors.As(err, &old) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
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
			t.Logf("%d procs: work %d, span %d, between %d and %d; took %d", w.Procs, b.Work, b.Span, b.Lower, b.UpperAll, b.Recorded)
		})
	}
	if n < len(recorded)/2 {
		t.Errorf("%d workloads only", n)
	}
}
