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
		if !creates[x.g] || x.seg < 0 {
			continue
		}
		s := &w.Goroutines[x.g].Segments[x.seg]
		if wait := w.waitOf(s); s.Class == ClassRuntime || wait == model.WaitGroup || wait == model.WaitLock {
			continue
		}
		k := site{x.g, p.of(s.Stack).user}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], x)
	}
	for _, at := range order {
		w.semaphore(p, at.place, groups[at], wakers)
	}
}

// semaphore makes the waits of a goroutine at one place, in their order, waits for a place of a semaphore, if they are.
func (w *window) semaphore(p *places, place int32, list []waiting, wakers map[[2]int32]opRef) {
	me := list[0].g
	g, first := &w.Goroutines[me], &w.Goroutines[me].Segments[list[0].seg]
	created := map[int]int{} // goroutines that end waits on their way out, by where they were created
	gaps := []model.Duration{}
	enders := map[int32]bool{}
	for _, x := range list {
		by, ok := wakers[[2]int32{x.g, x.seg}]
		if !ok {
			continue // somebody whom the workload does not contain
		}
		c := &w.Goroutines[by.g]
		if last := len(c.Segments) - 1; w.side[by.g].creator == me && int(by.seg) == last && !enders[by.g] {
			created[int(p.of(c.CreateStack).user)]++
			gaps = append(gaps, c.Segments[last].CPU-c.Ops[by.op].At)
		}
		enders[by.g] = true
	}
	if len(list) < semWaits || len(gaps)*100 < len(list)*semMost {
		return
	}
	slices.Sort(gaps)
	from, object := mostly(created), int32(len(w.Objects))
	// Creations that were not waited for, and ends that did not end a wait, in order of time.
	type change struct {
		at model.Time
		by int
	}
	var changes []change
	var points []point
	op, waited := int32(0), false
	for k := range g.Segments {
		x := &g.Segments[k]
		for ; op < x.Ops; op++ {
			o := &g.Ops[op]
			if o.Kind != OpCreate || int(p.of(w.Goroutines[o.G].CreateStack).user) != from {
				continue
			}
			if !waited {
				changes = append(changes, change{w.side[o.G].born, 1})
				points = append(points, point{g: me, seg: int32(k), at: o.At, op: Op{Kind: OpAcquire, G: object, Stack: first.Stack}})
			}
			waited = false
			if c := &w.side[o.G]; c.exited && !enders[o.G] {
				changes = append(changes, change{c.exit, -1})
				last := len(w.Goroutines[o.G].Segments) - 1
				cpu := w.Goroutines[o.G].Segments[last].CPU
				points = append(points, point{g: o.G, seg: int32(last), at: cpu - min(cpu, gaps[len(gaps)/2]), after: true, op: Op{Kind: OpRelease, G: object}})
			}
		}
		waited = waited || x.End == EndWait && p.of(x.Stack).user == place
	}
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	n, k, rooms := 0, 0, map[int]int{}
	for _, x := range list {
		for ; k < len(changes) && changes[k].at <= x.from; k++ {
			n += changes[k].by
		}
		rooms[n]++
	}
	room := mostly(rooms)
	if room < semRoom || rooms[room]*100 < len(list)*semMost {
		return
	}
	w.points = append(w.points, points...)
	w.Objects = append(w.Objects, Object{Class: ClassSemaphore, Room: int32(room), Reason: first.Reason})
	for _, x := range list {
		if _, ok := wakers[[2]int32{x.g, x.seg}]; ok {
			s := &g.Segments[x.seg]
			s.Class, s.Object = ClassSemaphore, object
		}
	}
}

// mostly returns what was counted most often; of several the least.
func mostly(counts map[int]int) (most int) {
	for k, n := range counts {
		if n > counts[most] || n == counts[most] && k < most {
			most = k
		}
	}
	return most
}
