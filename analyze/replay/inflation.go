package replay

import (
	"fmt"
	"math"
	"slices"

	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/model"
)

// The same work takes other CPU time on other numbers of procs: caches, locks of the kernel, barriers of the collector.
// One trace does not show it; a second one, at another GOMAXPROCS ([Options.With]), does. Its inflation is estimated so:
//
//  1. A unit of work of a goroutine is its creation, its end or a system call: what a schedule does not change. Where
//     goroutines of a start function have many in both traces, its inflation is the ratio of CPU time per unit.
//  2. Else it is that of its CPU time per unit of the whole program, and if the other trace does not have the function,
//     the ratio of all CPU time per unit.
//  3. From the two numbers of procs to a third the logarithm of the inflation goes with the logarithm of
//     procs, to at most as many doublings again as there are between the two, and at most as many the
//     other way.
//
// Computing, and the points at which operations are done in it, are stretched by that.

// manyUnits of work are enough for a ratio, and most is the greatest that is believed.
const (
	manyUnits     = 50
	mostInflation = 3
)

// load is what goroutines of a start function did.
type load struct {
	cpu   model.Duration
	units int64
}

// addLoads adds what goroutines of the program did in a window.
func (r *Result) addLoads(w *workload.Workload) {
	for i := range w.Goroutines {
		g := &w.Goroutines[i]
		if g.System || g.Tracer {
			continue
		}
		l := r.loads[w.Tables.String(g.Func)]
		if g.Begin == workload.BeginAbsent {
			l.units++
		}
		for k := range g.Segments {
			s := &g.Segments[k]
			l.cpu += s.CPU
			if s.End == workload.EndSyscall || s.End == workload.EndExit {
				l.units++
			}
		}
		r.loads[w.Tables.String(g.Func)] = l
	}
}

// total returns the load of all start functions.
func total(loads map[string]load) load {
	var t load
	for _, l := range loads {
		t.cpu += l.cpu
		t.units += l.units
	}
	return t
}

// ratio returns by which factor a unit of work takes longer under b than under a, 0 if that is not known.
func ratio(a, b load) float64 {
	if a.units < manyUnits || b.units < manyUnits || a.cpu == 0 || b.cpu == 0 {
		return 0
	}
	return float64(b.cpu) / float64(b.units) * float64(a.units) / float64(a.cpu)
}

// NoInflation says why [Options.With] cannot be used; "" if it can, or is not given.
func (r *Result) NoInflation() string {
	with := r.options.With
	switch {
	case with == nil:
		return ""
	case with.MinProcs != with.MaxProcs || with.MaxProcs == r.MaxProcs || r.MinProcs != r.MaxProcs:
		return fmt.Sprintf("both must have one GOMAXPROCS, and not the same: they have %s and %s", procsOf(r), procsOf(with))
	}
	if r.common(with) < 0.5 {
		return "less than half of the CPU time is of goroutines with the same start functions: it seems to be another program"
	}
	switch x := ratio(total(r.loads), total(with.loads)); {
	case x == 0:
		return fmt.Sprintf("one of them has fewer than %d creations and ends of goroutines and system calls, in which work could be counted", manyUnits)
	case x > mostInflation || x < 1.0/mostInflation:
		return fmt.Sprintf("work takes %.2f times the CPU time there, too much to be the same work", x)
	}
	return ""
}

// common returns the part of the CPU time that goroutines take whose start function the other trace has, too.
func (r *Result) common(with *Result) float64 {
	var common, all model.Duration
	for name, l := range r.loads {
		all += l.cpu
		if _, ok := with.loads[name]; ok {
			common += l.cpu
		}
	}
	return float64(common) / float64(max(1, all))
}

func procsOf(r *Result) string {
	if r.MinProcs == r.MaxProcs {
		return fmt.Sprint(r.MinProcs)
	}
	return fmt.Sprintf("%d to %d", r.MinProcs, r.MaxProcs)
}

// Inflation returns by which factor the program's work takes longer under the second trace's GOMAXPROCS, 0 if that is
// not known.
func (r *Result) Inflation() float64 {
	if r.options.With == nil || r.NoInflation() != "" {
		return 0
	}
	return ratio(total(r.loads), total(r.options.With.loads))
}

// inflated returns the workload as it would be with another number of procs, itself if that is not known.
func (r *Result) inflated(w *workload.Workload, procs int) *workload.Workload {
	overall := r.Inflation()
	if overall == 0 || procs == 0 || procs == w.Procs {
		return w
	}
	with := r.options.With
	ours, theirs := total(r.loads), total(with.loads)
	doublings := math.Log(float64(procs)/float64(w.Procs)) / math.Log(float64(with.MaxProcs)/float64(w.Procs))
	doublings = min(2, max(-1, doublings))
	factors := map[model.StringID]float64{}
	factor := func(fn model.StringID) float64 {
		if f, ok := factors[fn]; ok {
			return f
		}
		name := w.Tables.String(fn)
		a, b := r.loads[name], with.loads[name]
		x := ratio(a, b)
		if x == 0 {
			x = ratio(load{a.cpu, ours.units}, load{b.cpu, theirs.units})
		}
		if x == 0 {
			x = overall
		}
		factors[fn] = math.Pow(min(mostInflation, max(1.0/mostInflation, x)), doublings)
		return factors[fn]
	}
	out := *w
	out.Goroutines = slices.Clone(w.Goroutines)
	for i := range out.Goroutines {
		g := &out.Goroutines[i]
		if g.System || g.Tracer {
			continue
		}
		f := factor(g.Func)
		stretch := func(d model.Duration) model.Duration { return model.Duration(math.Round(float64(d) * f)) }
		g.Segments, g.Ops = slices.Clone(g.Segments), slices.Clone(g.Ops)
		for k := range g.Segments {
			g.Segments[k].CPU = stretch(g.Segments[k].CPU)
		}
		for k := range g.Ops {
			g.Ops[k].At = stretch(g.Ops[k].At)
		}
	}
	return &out
}
