package replay

import (
	"github.com/schedscope/schedscope/analyze/bound"
	"github.com/schedscope/schedscope/analyze/refsched"
	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/model"
)

// Bounds are limits of the time that the work takes, of all windows added up: see
// [bound.Bounds]. They need no simulation.
type Bounds struct {
	Name  string // of the variant
	Cores int    // of the last window
	// Recorded is what it took, which is comparable if the configuration is the recorded one.
	Recorded   model.Duration
	AsRecorded bool
	// Work is the computing time, GC included; Span the longest chain of what must
	// follow on each other.
	Work, Span   model.Duration
	Lower, Upper model.Duration
	// Excess is what was certainly lost to scheduling.
	Excess model.Duration
	// Windows, of which Unsound are without the chains that Upper and Excess need. Those
	// are of the sound ones alone then.
	Windows, Unsound int
}

// bound adds the bounds of a window for each variant that asks for them.
func (r *Result) bound(w *workload.Workload) {
	k := 0
	for i := range r.variants {
		v := &r.variants[i]
		if !v.Bound {
			continue
		}
		if k == len(r.Bounds) {
			r.Bounds = append(r.Bounds, Bounds{Name: v.Name})
		}
		cfg := refsched.Config{Procs: w.Procs, Cores: r.Cores}
		v.apply(&cfg)
		cores := cfg.Procs
		if cfg.Cores > 0 {
			cores = min(cores, cfg.Cores)
		}
		recorded := w.Procs
		if r.Cores > 0 {
			recorded = min(recorded, r.Cores)
		}
		r.Bounds[k].add(bound.Of(w, cores), cores == recorded)
		k++
	}
}

func (b *Bounds) add(x bound.Bounds, asRecorded bool) {
	b.AsRecorded = asRecorded && (b.Windows == 0 || b.AsRecorded)
	b.Windows++
	b.Cores = x.Cores
	b.Recorded += x.Recorded
	b.Work += x.Work + x.Mark
	b.Span += x.Span
	b.Lower += x.Least
	if !x.Sound() {
		b.Unsound++
		return
	}
	b.Upper += x.Upper
	b.Excess += x.Excess()
}

// merge adds those of another trace.
func (b *Bounds) merge(o *Bounds) {
	b.AsRecorded = o.AsRecorded && (b.Windows == 0 || b.AsRecorded)
	b.Name, b.Cores = o.Name, o.Cores
	b.Windows += o.Windows
	b.Unsound += o.Unsound
	b.Recorded += o.Recorded
	b.Work += o.Work
	b.Span += o.Span
	b.Lower += o.Lower
	b.Upper += o.Upper
	b.Excess += o.Excess
}
