package replay

import (
	"fmt"
	"slices"

	"github.com/schedscope/schedscope/analyze/refsched"
	"github.com/schedscope/schedscope/analyze/workload"
)

// run is one simulation of each window: a configuration and a seed.
type run struct {
	kind    runKind
	variant *Variant // of a what-if
	seed    uint64
	total   *Schedule // of all windows
	// contradictions are events of the simulation that the Machine did not accept.
	contradictions int64
	contradiction  error
}

// runKind says what a run is for.
type runKind uint8

const (
	runFree  runKind = iota // to be compared with the recording
	runIdeal                // the same under an ideal scheduler
	runBase                 // what variants are compared with
	runVariant
)

// newRuns returns all runs that the options ask for.
func newRuns(o *Options) []run {
	runs := append(seeded(run{kind: runFree}, o.Seeds), run{kind: runIdeal, seed: 1})
	if len(o.Variants) > 0 {
		runs = append(runs, seeded(run{kind: runBase}, o.Seeds)...)
	}
	for i := range o.Variants {
		runs = append(runs, seeded(run{kind: runVariant, variant: &o.Variants[i]}, o.Seeds)...)
	}
	for i := range runs {
		runs[i].total = newSchedule()
	}
	return runs
}

// seeded returns a run for each seed.
func seeded(r run, seeds int) []run {
	var out []run
	for s := range seeds {
		r.seed = uint64(s + 1)
		out = append(out, r)
	}
	return out
}

// skipped reports whether nothing is simulated of a window: a variant of which nothing can be said, and the baseline if
// all are such.
func (r *run) skipped(w *workload.Workload, variants []Variant) bool {
	if r.kind == runBase {
		return !slices.ContainsFunc(variants, func(v Variant) bool { return !v.unknown(w.Procs) })
	}
	return r.variant != nil && r.variant.unknown(w.Procs)
}

// config returns the run's configuration.
func (r *run) config(costs refsched.Costs) refsched.Config {
	c := refsched.Config{Seed: r.seed, Costs: costs}
	c.NoTracer = r.kind == runBase || r.kind == runVariant
	if r.kind == runIdeal {
		c.Rules.Ideal, c.Costs = true, refsched.Costs{}
	}
	if r.variant != nil {
		r.variant.apply(&c)
	}
	return c
}

// name names the run in errors.
func (r *run) name() string {
	what := [...]string{"the trace", "the ideal scheduler", "the trace without its tracer", ""}[r.kind]
	if r.variant != nil {
		what = r.variant.Name
	}
	return fmt.Sprintf("%s with seed %d", what, r.seed)
}

// kindOf returns the totals of all runs of a kind, and of a variant if that is not nil.
func kindOf(runs []run, kind runKind, v *Variant) []*Schedule {
	var out []*Schedule
	for i := range runs {
		if runs[i].kind == kind && runs[i].variant == v {
			out = append(out, runs[i].total)
		}
	}
	return out
}
