package workload

import (
	"math"
	"sort"

	"github.com/schedscope/schedscope/model"
)

// cut is where a goroutine begins that serves one request: at an operation within a segment, or
// with the wait that ends a whole one.
type cut struct {
	g, request, seg, op int32
	whole               bool
	in, all             model.Duration // CPU time since the segment began, and since the program did
	from                model.Time
}

// Split makes of a goroutine that serves one request after the other one for each request, if these
// come when they do and not some time after the one before (see Pin): where one takes longer than
// it did, clients send the next on another connection. Requests without a wait, since they were
// there already, begin when they did, too. Semaphores of the goroutine are those of each request.
// The list is that of Follow. Split returns which goroutine does at a time what one did.
func (w *Workload) Split(list []Interval) func(g int32, at model.Time) int32 {
	type place struct{ g, seg int32 }
	cuts, moved, id := map[int32][]cut{}, map[place]place{}, model.GoID(0)
	for i := range w.Goroutines {
		id = max(id, w.Goroutines[i].ID)
	}
	for i := range int32(len(w.Goroutines)) {
		old := w.Goroutines[i]
		from, head := old.cuts(list)
		if head == nil {
			continue
		}
		var known Point // the last with a stack
		point := 0
		for n := range from {
			a, end := &from[n], cut{seg: int32(len(old.Segments)), from: w.End + 1}
			if n+1 < len(from) {
				end = from[n+1]
			}
			g := old
			g.Segments, g.Ops, g.Points, g.Work = nil, nil, nil, 0
			first := a.seg // of the old segments, that which has index 0
			if a.g = i; n > 0 {
				id++
				x := *head
				if a.whole {
					x = old.Segments[a.seg]
				} else {
					x.Delay = max(a.from.Sub(w.Start), 0)
					first--
				}
				x.CPU, x.Ops, x.Request = 0, 0, a.request+1
				a.g = int32(len(w.Goroutines))
				g = Goroutine{ID: id, Func: old.Func, Begin: BeginWaiting, Proc: model.NoProc, Segments: []Segment{x}}
				known.Time, known.At, known.Seg, known.Region = a.from, 0, 0, 0
				g.Points = append(g.Points, known)
			}
			for k := a.seg; k <= end.seg && int(k) < len(old.Segments); k++ {
				x, op, in := old.Segments[k], int32(0), model.Duration(0)
				if k > 0 {
					op = old.Segments[k-1].Ops
				}
				if n > 0 && k == a.seg {
					if a.whole {
						continue
					}
					op, in = a.op, a.in
				}
				if k == end.seg {
					if !end.whole {
						x.CPU, x.Ops = end.in, end.op
					}
					x.End, x.Request, x.Object, x.Target = EndExit, 0, -1, -1
				} else {
					moved[place{i, k}] = place{a.g, int32(len(g.Segments))}
				}
				for ; op < x.Ops; op++ {
					if o := old.Ops[op]; o.Kind != OpRequest || o.Seg != 0 {
						o.At -= in
						g.Ops = append(g.Ops, o)
					}
				}
				x.CPU, x.Ops = x.CPU-in, int32(len(g.Ops))
				g.Work += x.CPU
				g.Segments = append(g.Segments, x)
			}
			for ; point < len(old.Points) && old.Points[point].Time < end.from; point++ {
				p := old.Points[point]
				if p.Stack != 0 && !p.Sample {
					known = p
				}
				p.Seg = min(max(p.Seg-first, 0), int32(len(g.Segments))-1)
				p.At = min(max(p.At-a.all, 0), g.Work)
				g.Points = append(g.Points, p)
			}
			if n == 0 {
				w.Goroutines[i] = g
			} else {
				w.Goroutines = append(w.Goroutines, g)
				w.ownSemaphores(&w.Goroutines[a.g])
			}
		}
		cuts[i] = from
	}
	move := func(g, seg *int32) bool {
		if to, ok := moved[place{*g, *seg}]; ok {
			*g, *seg = to.g, to.seg
		}
		return true
	}
	w.refer(move)
	for i := range w.Objects {
		for k := range w.Objects[i].Parts {
			move(&w.Objects[i].Parts[k].G, &w.Objects[i].Parts[k].Seg)
		}
		for k, c := range w.Objects[i].Children {
			if list := cuts[c]; list != nil {
				w.Objects[i].Children[k] = list[len(list)-1].g
			}
		}
	}
	return func(g int32, at model.Time) int32 {
		list := cuts[g]
		if k := sort.Search(len(list), func(k int) bool { return list[k].from > at }); k > 0 {
			return list[k-1].g
		}
		return g
	}
}

// cuts returns where a goroutine's requests begin, after its own beginning, and a wait for one, nil
// if it is not to be split.
func (g *Goroutine) cuts(list []Interval) (out []cut, head *Segment) {
	out = append(out, cut{from: math.MinInt64})
	op, all := int32(0), model.Duration(0)
	for k := range g.Segments {
		x := &g.Segments[k]
		for ; op < x.Ops; op++ {
			if o := &g.Ops[op]; o.Kind == OpRequest && o.Seg == 0 {
				out = append(out, cut{request: o.G, seg: int32(k), op: op, in: o.At, all: all + o.At, from: list[o.G].Start})
			}
		}
		all += x.CPU
		switch pinned := x.End == EndExternal && x.Absolute; {
		case x.End == EndSwitch, x.Request > 0 && !pinned:
			return nil, nil
		case x.Request > 0:
			head = x
			out = append(out, cut{request: x.Request - 1, seg: int32(k), op: op, whole: true, all: all, from: list[x.Request-1].Start})
		}
	}
	return out, head
}

// ownSemaphores gives a goroutine, and those that it creates, semaphores of their own.
func (w *Workload) ownSemaphores(g *Goroutine) {
	own := map[int32]int32{}
	of := func(object *int32) {
		k, ok := own[*object]
		if !ok {
			k = int32(len(w.Objects))
			own[*object] = k
			w.Objects = append(w.Objects, w.Objects[*object])
		}
		*object = k
	}
	for k := range g.Segments {
		if x := &g.Segments[k]; x.Object >= 0 && x.Class == ClassSemaphore {
			of(&x.Object)
		}
	}
	for j := range g.Ops {
		switch o := &g.Ops[j]; o.Kind {
		case OpAcquire:
			of(&o.G)
		case OpCreate:
			for j := range w.Goroutines[o.G].Ops {
				if r := &w.Goroutines[o.G].Ops[j]; r.Kind == OpRelease {
					of(&r.G)
				}
			}
		}
	}
}
