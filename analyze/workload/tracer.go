package workload

import "slices"

// untrace makes what the goroutines that write the trace do to those of the program
// independent of them: a simulation may leave them out. They wake those whose stacks they
// scanned (runtime/trace.go: traceAdvance) and who waited for the tracer, and may begin a GC
// cycle. Who writes the trace may not be known before a goroutine stops.
func (w *window) untrace() {
	freed := map[[2]int32]bool{}
	for i := range w.Goroutines {
		if w.Goroutines[i].Tracer {
			w.freeFrom(&w.Goroutines[i], freed)
		}
	}
	if len(freed) == 0 {
		return
	}
	w.waits = slices.DeleteFunc(w.waits, func(x waiting) bool {
		if !freed[[2]int32{x.g, x.seg}] {
			return false
		}
		s := &w.Goroutines[x.g].Segments[x.seg]
		s.End, s.Class, s.Delay = EndExternal, ClassRuntime, x.to.Sub(x.from)
		return true
	})
}

// freeFrom takes those operations out of a goroutine's program and notes which waits they ended.
func (w *window) freeFrom(g *Goroutine, freed map[[2]int32]bool) {
	g.filterOps(func(o *Op) bool {
		switch {
		case o.Kind == OpWake && !w.Goroutines[o.G].Tracer:
			freed[[2]int32{o.G, o.Seg}] = true
			return false
		case o.Kind == OpCycle:
			w.Cycles[o.G].Periodic = true
			return false
		}
		return true
	})
}
