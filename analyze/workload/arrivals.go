package workload

import (
	"cmp"
	"math"
	"slices"

	"github.com/schedscope/schedscope/model"
)

// What comes from outside
//
//  1. A client that sends its next request a while after the answer is carried over by how long the server waited. One
//     that sends at times of its own, as users do, is by when its requests came: under another schedule they come then, too.
//  2. Which of the two it is shows where several goroutines wait at one place. If each waits for a client with a pause of its
//     own, the more of them wait, the sooner the next wait ends. If requests come at times of their own, that makes no
//     difference.
//  3. With the rate c n while n of them wait, the likelihood of N ends is largest at c = N / (sum of all waits); with the
//     same rate for any n, at N / (time in which any waits). Where the second is likely, waits are over at the recorded
//     times. If the program itself ends some of those at the place, it must be certain: the others may be its own, too.

const (
	// arrivalsLeast is how many waits at a place are judged.
	arrivalsLeast = 50
	// likelyOpen is by how much the logarithm of the likelihood must differ, and surelyOpen where the program ends some.
	likelyOpen = 5
	surelyOpen = 20
)

// inferArrivals finds out what comes at times of its own.
func (w *window) inferArrivals() {
	groups, inside, order := map[waitSite][]waiting{}, map[waitSite]bool{}, []waitSite{}
	for _, x := range w.nets {
		g := &w.Goroutines[x.g]
		s := &g.Segments[x.seg]
		k := waitSite{int32(g.Func), s.Stack}
		if inside[k] = inside[k] || s.Class == ClassLoopback; s.End != EndExternal {
			continue
		}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], x)
	}
	for _, k := range order {
		// It is NaN if times are very long.
		if list, lead := groups[k], openLead(groups[k]); len(list) >= arrivalsLeast && (lead >= surelyOpen || lead >= likelyOpen && !inside[k]) {
			for _, x := range list {
				s := &w.Goroutines[x.g].Segments[x.seg]
				s.Absolute, s.Delay = true, x.to.Sub(w.Start)
			}
		}
	}
}

// openLead returns by how much more likely, as a logarithm, it is that waits, in the order of their ends, end at times of
// their own than that each ends by itself.
func openLead(ends []waiting) float64 {
	begins := slices.Clone(ends)
	slices.SortFunc(begins, func(a, b waiting) int { return cmp.Compare(a.from, b.from) })
	var all, any model.Duration // of waits; in which any lasts
	var at model.Time
	n, closed := 0, 0.0
	pass := func(to model.Time) {
		all += to.Sub(at) * model.Duration(n)
		if n > 0 {
			any += to.Sub(at)
		}
		at = to
	}
	for _, x := range ends {
		for len(begins) > 0 && begins[0].from < x.to {
			pass(begins[0].from)
			begins, n = begins[1:], n+1
		}
		pass(x.to)
		closed += math.Log(float64(max(n, 1)))
		n--
	}
	return float64(len(ends))*math.Log(float64(all)/float64(max(any, 1))) - closed
}
