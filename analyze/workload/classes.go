package workload

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/model"
)

// classify gives each wait on a recorded wake its class, and collects what joins are waited for.
//
// Which channel a goroutine waits for is not in the trace. Waits on channels stay with the recorded
// wakes, also where another schedule would serve another one of many that wait at one place.
func (w *window) classify(p *places) {
	for i := range w.Goroutines {
		g := &w.Goroutines[i]
		for k := range g.Segments {
			switch x := &g.Segments[k]; {
			case x.End == EndWait && x.Class == ClassNone && g.System:
				x.Class = ClassRuntime
			case x.End == EndWait && x.Class == ClassNone:
				x.Class = waitClasses[w.waitOf(x)]
			case x.End == EndSyscall:
				x.Class = ClassSyscall
			case x.End == EndForever:
				x.Class = ClassNone
			}
		}
	}
	word := w.Tables.AddString("select")
	// Waits in select, by stack, and those of them by place of the waker.
	selects, from := map[model.StackID]int{}, map[selectFrom]int{}
	w.eachWake(func(_ opRef, o *Op, x *Segment) {
		if x.Class == ClassNone && x.Reason == word {
			selects[x.Stack]++
			from[selectFrom{x.Stack, p.of(o.Stack).user}]++
		}
	})
	wakers := map[[2]int32]int32{} // of joins, by goroutine and segment
	w.eachWake(func(at opRef, o *Op, x *Segment) {
		switch {
		case x.Class == ClassJoin:
			wakers[[2]int32{o.G, o.Seg}] = at.g
		case x.Class != ClassNone:
		case o.Inject:
			x.Class = ClassRuntime
		case x.Reason == word && from[selectFrom{x.Stack, p.of(o.Stack).user}]*100 < selects[x.Stack]*selectMostly:
			x.Class = ClassSelect
		default:
			x.Class = ClassHandoff
		}
	})
	if len(wakers) > 0 {
		w.fillJoins(wakers)
	}
}

// selectFrom is a stack that waits in a select and a place from which it is woken.
type selectFrom struct {
	stack model.StackID
	waker int32
}

// selectMostly is in how many of a hundred waits a select must be woken from one
// place to count as a wait for that one alone.
const selectMostly = 90

// waitClasses are the classes of waits as their own stacks show them: ClassNone for channels, whose class depends on who wakes.
var waitClasses = [model.NumWaits]Class{
	model.WaitGC: ClassRuntime, model.WaitRuntime: ClassRuntime, model.WaitSystem: ClassRuntime, model.WaitGroup: ClassJoin,
	model.WaitLock: ClassLock, model.WaitCond: ClassCond, model.WaitSync: ClassCond,
	model.WaitNetwork: ClassExternal, // its connection was closed
}

// waitOf returns what the wait at the end of a segment is for.
func (w *window) waitOf(x *Segment) model.Wait { return model.WaitOf(w.Tables.String(x.Reason)) }

// fillJoins gives each wait for a WaitGroup what it waits for: of the goroutines that the waiter
// created since its last such wait those that had ended when it was woken; of those that it woke
// since, and that live on, what they did until they last waited; and its waker, if that is one of
// them. If not, somebody else distributes the work, and only the recorded wake counts.
func (w *window) fillJoins(wakers map[[2]int32]int32) {
	waits := w.waitsOf()
	begin := map[int32]int32{} // first operation after the join before, by waiter
	for _, n := range w.waits {
		by, ok := wakers[[2]int32{n.g, n.seg}]
		if !ok {
			continue
		}
		g := &w.Goroutines[n.g]
		x := &g.Segments[n.seg]
		object := Object{Class: ClassJoin}
		found := false
		parts := map[int32]int32{} // place in object.Parts, by goroutine
		for _, o := range g.Ops[begin[n.g]:x.Ops] {
			switch {
			case o.Kind != OpCreate && o.Kind != OpWake:
				continue
			case o.G == by:
				found = true
			case o.Kind == OpCreate && w.side[o.G].exited && w.side[o.G].exit <= n.to:
				object.Children = append(object.Children, o.G)
			case o.Kind == OpWake:
				list := waits[o.G]
				k, _ := slices.BinarySearchFunc(list, n.to, func(x waiting, t model.Time) int { return cmp.Compare(x.from, t+1) })
				if k == 0 || list[k-1].seg <= o.Seg {
					continue
				}
				if at, ok := parts[o.G]; ok {
					object.Parts[at].Seg = list[k-1].seg
				} else {
					parts[o.G] = int32(len(object.Parts))
					object.Parts = append(object.Parts, Part{o.G, list[k-1].seg})
				}
			}
		}
		begin[n.g] = x.Ops
		if !found {
			continue
		}
		x.Object = int32(len(w.Objects))
		w.Objects = append(w.Objects, object)
	}
}

// waitsOf returns the waits on recorded wakes by goroutine.
func (w *window) waitsOf() [][]waiting {
	out := make([][]waiting, len(w.Goroutines))
	for _, x := range w.waits {
		out[x.g] = append(out[x.g], x)
	}
	return out
}
