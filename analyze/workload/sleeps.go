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
//  3. Otherwise, for example where the program draws times at random: the wait less half of the
//     greatest possible lateness. A proc looks for timers before it starts a goroutine: one that it finds
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

// inferSleeps replaces the lengths of waits for timers by what was asked for.
func (w *window) inferSleeps() {
	sites := map[waitSite][]model.Duration{} // waits, except those that began before the window
	segment := func(x *waiting) *Segment { return &w.Goroutines[x.g].Segments[x.seg] }
	for i := range w.sleeps {
		x := &w.sleeps[i]
		s := segment(x)
		if s.Stack == 0 || x.seg == 0 && w.Goroutines[x.g].Begin == BeginWaiting {
			continue
		}
		for _, site := range [...]waitSite{{x.g, s.Stack}, {-1, s.Stack}} {
			sites[site] = append(sites[site], s.Delay)
		}
	}
	for _, list := range sites {
		slices.Sort(list)
	}
	for i := range w.sleeps {
		x := segment(&w.sleeps[i])
		asked, limit := constant(sites[waitSite{w.sleeps[i].g, x.Stack}], constantWakes)
		if asked == 0 || x.Delay > limit {
			asked, limit = constant(sites[waitSite{-1, x.Stack}], placeWakes)
		}
		if asked > 0 && x.Delay <= limit {
			x.Delay = min(x.Delay, asked)
		} else {
			x.Delay -= min(w.sleeps[i].late/2, x.Delay)
		}
	}
}

// constant applies rules 1 and 2 to so many waits in order. It returns what was asked for, 0 if that is not one time, and
// up to which length waits are for that.
func constant(waits []model.Duration, atLeast int) (asked, limit model.Duration) {
	n := len(waits)
	if n < atLeast {
		return 0, 0
	}
	p5 := waits[(n-1)/20]
	width := max(min(clusterWidth, p5/2), p5/20)
	limit = p5 + max(lateLimit, p5/2)
	if in, _ := slices.BinarySearch(waits, p5+width+1); in*5 < n*2 {
		if !oftenLate(waits) {
			return 0, 0
		}
		limit = 4 * waits[0]
	}
	asked = roundBelow(waits[0])
	if p5-waits[0] > width {
		asked = roundBelow(p5) // a few were for less
	}
	if most, _ := slices.BinarySearch(waits, limit+1); (n-most)*10 <= n {
		limit = waits[n-1]
	}
	return asked, limit
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
