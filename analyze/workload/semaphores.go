package workload

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/model"
)

// A goroutine that starts others, but at most so many at a time, waits at one place until one of them
// is on its way out: errgroup.Group.SetLimit, a channel that is filled before each go statement and
// emptied by the new goroutine. What takes or frees a place without waiting or ending a wait
// is not in the trace, but it can be counted:
//
//  1. Take the waits of a goroutine at one place, semWaits or more, of which semMost of a hundred end by
//     goroutines that it has created, in the last segment of these. The places that they take are
//     those of goroutines created where most of these were.
//  2. At each wait count those that it created there without waiting before, less those that ended
//     without ending a wait. That many places were free when the window began: the same number at semMost of a
//     hundred waits, for all places are taken whenever it waits.
//  3. Each of these creations takes a place ([OpAcquire]) and each of these ends gives one back ([OpRelease]): as
//     long before the exit as is usual for those that end waits. The recorded waits are for places as well: they have the
//     [Object], and no certain goroutine ends them.
//
// A goroutine that has no more than one at a time waits for that to end, as net/http's for the one that reads in the
// background: it is none of those.
const (
	semWaits = 8
	semMost  = 90
	semRoom  = 2
)

func (w *window) semaphores(p *places) {
	creates := make([]bool, len(w.Goroutines))
	for i := range w.side {
		if c := w.side[i].creator; c >= 0 {
			creates[c] = true
		}
	}
	if !slices.Contains(creates, true) {
		return
	}
	wakers := map[[2]int32]opRef{} // of those that create others, by goroutine and segment
	w.eachWake(func(at opRef, o *Op, _ *Segment) {
		if creates[o.G] {
			wakers[[2]int32{o.G, o.Seg}] = at
		}
	})
	type site struct{ g, place int32 }
	groups := map[site][]waiting{}
	var order []site
	for _, x := range w.waits {
		if !creates[x.g] {
			continue
		}
		s := &w.Goroutines[x.g].Segments[max(x.seg, 0)]
		place, wait := p.of(s.Stack), w.waitOf(s)
		if x.seg < 0 || s.Class == ClassRuntime || wait == model.WaitGroup || wait == model.WaitLock {
			continue
		}
		k := site{x.g, place.user}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], x)
	}
	inserts := map[int32][]insertion{}
	for _, at := range order {
		list := groups[at]
		out, created := 0, map[int32]int{} // goroutines that end waits, by where they were created
		gaps := []model.Duration{}
		enders := map[int32]bool{}
		for _, x := range list {
			by, ok := wakers[[2]int32{x.g, x.seg}]
			if !ok {
				continue // somebody whom the workload does not contain
			}
			g := &w.Goroutines[by.g]
			if last := len(g.Segments) - 1; w.side[by.g].creator == at.g && int(by.seg) == last && !enders[by.g] {
				out++
				created[p.of(g.CreateStack).user]++
				gaps = append(gaps, g.Segments[last].CPU-g.Ops[by.op].At)
			}
			enders[by.g] = true
		}
		if len(list) < semWaits || out*100 < len(list)*semMost {
			continue
		}
		place := int32(0)
		for k, n := range created {
			if n > created[place] || n == created[place] && k < place {
				place = k
			}
		}
		// Creations that were not waited for, and ends that did not end a wait, in order of time.
		type change struct {
			at model.Time
			by int
		}
		var changes []change
		var takes, frees []insertion
		var free []int32
		g, op, waited := &w.Goroutines[at.g], int32(0), false
		for k := range g.Segments {
			x := &g.Segments[k]
			for ; op < x.Ops; op++ {
				o := &g.Ops[op]
				if o.Kind != OpCreate || p.of(w.Goroutines[o.G].CreateStack).user != place {
					continue
				}
				if !waited {
					changes = append(changes, change{w.side[o.G].born, 1})
					takes = append(takes, insertion{int32(k), o.At, false, Op{Kind: OpAcquire, Stack: w.Goroutines[list[0].g].Segments[list[0].seg].Stack}})
				}
				waited = false
				if c := &w.side[o.G]; c.exited && !enders[o.G] {
					changes = append(changes, change{c.exit, -1})
					free = append(free, o.G)
				}
			}
			waited = waited || x.End == EndWait && p.of(x.Stack).user == at.place
		}
		slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
		n, k, rooms := 0, 0, map[int]int{}
		for _, x := range list {
			for ; k < len(changes) && changes[k].at <= x.from; k++ {
				n += changes[k].by
			}
			rooms[n]++
		}
		room := 0
		for k, n := range rooms {
			if n > rooms[room] || n == rooms[room] && k < room {
				room = k
			}
		}
		if room < semRoom || rooms[room]*100 < len(list)*semMost {
			continue
		}
		slices.Sort(gaps)
		for _, c := range free {
			last := len(w.Goroutines[c].Segments) - 1
			cpu := w.Goroutines[c].Segments[last].CPU
			frees = append(frees, insertion{int32(last), cpu - min(cpu, gaps[len(gaps)/2]), true, Op{Kind: OpRelease}})
		}
		object := int32(len(w.Objects))
		first := &w.Goroutines[at.g].Segments[list[0].seg]
		w.Objects = append(w.Objects, Object{Class: ClassSemaphore, Waits: int64(len(list)), Room: int32(room), Reason: first.Reason})
		for _, x := range list {
			by, ok := wakers[[2]int32{x.g, x.seg}]
			if !ok {
				continue
			}
			s := &w.Goroutines[x.g].Segments[x.seg]
			s.Class, s.Object, s.Meet = ClassSemaphore, object, false
			w.Goroutines[by.g].Ops[by.op].Meet = false
		}
		for i := range takes {
			takes[i].op.G = object
		}
		inserts[at.g] = append(inserts[at.g], takes...)
		for i, c := range free {
			frees[i].op.G = object
			inserts[c] = append(inserts[c], frees[i])
		}
	}
	for i := range w.Goroutines {
		if list := inserts[int32(i)]; list != nil {
			w.Goroutines[i].insert(list)
		}
	}
}
