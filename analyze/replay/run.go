package replay

import (
	"fmt"

	"github.com/schedscope/schedscope/analyze/refsched"
)

// run is one simulation of each window: a configuration and a seed.
type run struct {
	variant *Variant // nil: to be compared with the recording, and with variants
	seed    uint64
	total   *Schedule // of all windows
}

// newRuns returns all runs that the options ask for.
func newRuns(o *Options) []run {
	runs := seeded(nil, o.Seeds)
	for i := range o.Variants {
		runs = append(runs, seeded(&o.Variants[i], o.Seeds)...)
	}
	return runs
}

// seeded returns a run for each seed.
func seeded(v *Variant, seeds int) []run {
	var out []run
	for s := range seeds {
		out = append(out, run{variant: v, seed: uint64(s + 1), total: newSchedule()})
	}
	return out
}

// config returns the run's configuration.
func (r *run) config(costs refsched.Costs) refsched.Config {
	c := refsched.Config{Seed: r.seed, Costs: costs}
	if r.variant != nil {
		r.variant.apply(&c)
	}
	return c
}

// name names the run in errors.
func (r *run) name() string {
	what := "the trace"
	if r.variant != nil {
		what = r.variant.Name
	}
	return fmt.Sprintf("%s with seed %d", what, r.seed)
}

// totals returns those of all runs of a variant, nil for the recorded schedule.
func totals(runs []run, v *Variant) []*Schedule {
	var out []*Schedule
	for i := range runs {
		if runs[i].variant == v {
			out = append(out, runs[i].total)
		}
	}
	return out
}
