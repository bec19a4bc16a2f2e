package workload

import (
	"slices"

	"github.com/schedscope/schedscope/model"
)

// A trace shows when a timer woke its goroutine, not for when it was set. A timer
// is never early and, while threads look for work, hardly late, but it may be late by what
// is left of a millisecond if a thread slept in epoll, and by 10 ms or more
// if all procs were busy. So of many waits for one and the same time the
// shortest is close to that time. The rules, in order, for the timer waits of each
// goroutine at each place (stack):
//
//  1. Constant: of eight or more waits two in five are within 5 % of the 5th percentile, or
//     within 120 us if that is less than a half of it. Or, as all procs may be
//     busy, of sixteen or more half are at most 1.5 times as long as the shortest, three
//     quarters 2.5 times, and either that is at most 0.5 % above a number of
//     one digit, or a quarter of all is near to it (15 % of the way to the 95th
//     percentile). What was asked for is the shortest, or a round number
//     just below. Much longer waits were late, unless these are more than one in ten.
//  2. Constant for the place: as rule 1 for all waits at one place, four or more, where it left any.
//  3. Otherwise, for example where the program draws times at random: the wait less the median
//     lateness of those that rules 1 and 2 explain, or half of the greatest possible lateness, if
//     that is more. A proc looks for timers before it starts a goroutine: one that it finds
//     afterwards was not due then.
//
// What remains wrong: constant waits that were always late are taken for longer
// ones, a select with several timers for one with a time of its own, and tickers and loops that make up
// for being late for loops that sleep. Rules for these moved no figure of the validation.
const (
	constantWakes = 8
	lateWakes     = 16
	placeWakes    = 4

	clusterWidth = 120 * 1000 * model.Duration(1)
	lateLimit    = 1500 * 1000 * model.Duration(1)
	roundLimit   = 60 * 1000 * model.Duration(1)
	exactLimit   = 2 * 1000 * model.Duration(1)
)

// waitSite is a place where goroutine g waits, or any goroutine if g is -1.
type waitSite struct {
	g     int32
	stack model.StackID
}

// sleep is a wait for a timer, and the segment that it ends.
type sleep struct {
	*waiting
	*Segment
	done bool // a rule explains it
}

func (x *sleep) wait() model.Duration { return x.to.Sub(x.from) }

// inferSleeps replaces the lengths of waits for timers by what was asked for.
func (w *window) inferSleeps() {
	all := make([]sleep, len(w.sleeps))
	for i := range all {
		x := &w.sleeps[i]
		all[i] = sleep{waiting: x, Segment: &w.Goroutines[x.g].Segments[x.seg]}
	}
	var late []model.Duration
	for _, list := range w.bySite(all, true) {
		late = constant(list, constantWakes, late)
	}
	for _, list := range w.bySite(all, false) {
		late = constant(list, placeWakes, late)
	}
	slices.Sort(late)
	typical := model.Duration(0)
	if n := len(late); n > 0 {
		typical = late[n/2]
	}
	for i := range all {
		if x := &all[i]; !x.done {
			x.Delay -= max(min(typical, x.Delay/4), min(x.late/2, x.Delay))
		}
	}
}

// bySite returns the waits of each place, or if single of each goroutine at each, in the order in which they occur. Those
// without a stack, or that began before the window are left out.
func (w *window) bySite(all []sleep, single bool) (lists [][]*sleep) {
	at := map[waitSite]int{}
	for i := range all {
		x := &all[i]
		if x.Stack == 0 || x.seg == 0 && w.Goroutines[x.g].Begin == BeginWaiting {
			continue
		}
		site := waitSite{-1, x.Stack}
		if single {
			site.g = x.g
		}
		n, ok := at[site]
		if !ok {
			n = len(lists)
			at[site] = n
			lists = append(lists, nil)
		}
		lists[n] = append(lists[n], x)
	}
	return lists
}

// constant applies rules 1 and 2. It appends to late by how much each wait was late that they explain.
func constant(list []*sleep, atLeast int, late []model.Duration) []model.Duration {
	if len(list) < atLeast {
		return late
	}
	waits := make([]model.Duration, len(list))
	for i, x := range list {
		waits[i] = x.wait()
	}
	slices.Sort(waits)
	n := len(waits)
	p5 := waits[(n-1)/20]
	width := max(min(clusterWidth, p5/2), p5/20)
	limit := p5 + max(lateLimit, p5/2)
	if in, _ := slices.BinarySearch(waits, p5+width+1); in*5 < n*2 {
		if !oftenLate(waits) {
			return late
		}
		limit = 4 * waits[0]
	}
	most, _ := slices.BinarySearch(waits, limit+1)
	asked := roundBelow(waits[0])
	if p5-waits[0] > width {
		asked = roundBelow(p5) // a few were for less
	}
	for _, x := range list {
		d := x.wait()
		if x.done || d > limit && (n-most)*10 > n {
			continue
		}
		if d >= asked {
			late = append(late, d-asked)
			x.Delay = asked
		}
		x.done = true
	}
	return late
}

// oftenLate reports whether sorted waits may all be for one time, although few are close to
// it.
func oftenLate(waits []model.Duration) bool {
	n, low := len(waits), waits[0]
	if n < lateWakes || waits[n/2]*2 > low*3 || waits[n*3/4]*2 > low*5 {
		return false
	}
	unit := max(scale(low), 1)
	return low%unit <= low/200 || (waits[n/4]-low)*100 <= (waits[n*19/20]-low)*15
}

// roundBelow returns the round number that a shortest wait stands for.
func roundBelow(d model.Duration) model.Duration {
	unit := scale(d)
	if unit == 0 {
		return max(d, 0)
	}
	if unit < 10 {
		return d
	}
	d += exactLimit / 2 // the time is taken before the wait begins
	fine := d / (unit / 10) * (unit / 10)
	limit := max(roundLimit, d/20)
	limit = min(limit, d/5)
	coarse := d / unit * unit
	coarsest := unit
	for _, k := range []model.Duration{2, 5} {
		if d/unit >= k {
			coarsest = k * unit
		}
	}
	switch {
	case d-fine <= exactLimit:
		return fine
	case d-coarsest <= limit:
		return coarsest
	case d-coarse <= limit:
		return coarse
	case d-fine <= limit:
		return fine
	}
	return d - exactLimit/2
}

// scale returns the largest power of ten that is not above d, 0 if d is not
// positive.
func scale(d model.Duration) model.Duration {
	unit := model.Duration(1)
	if d <= 0 {
		return 0
	}
	for d/10 >= unit {
		unit *= 10
	}
	return unit
}
