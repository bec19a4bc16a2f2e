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
//     percentile). What was asked for is the shortest, or the 5th percentile if a few are
//     much shorter, or the number of two digits just below. Much longer waits are others.
//  2. Constant for the place: the same of all waits at one place, four or more, where it left any.
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
)

// waitSite is a place where goroutine g waits, any if g is -1, or, for what comes from outside, any with start function g.
type waitSite struct {
	g     int32
	stack model.StackID
}

// inferSleeps replaces the lengths of waits for timers by what was asked for.
func (w *window) inferSleeps() {
	sites := map[waitSite][]model.Duration{} // waits, except those that began before the window
	for _, x := range w.sleeps {
		s := &w.Goroutines[x.g].Segments[x.seg]
		if s.Stack != 0 && !(x.seg == 0 && w.Goroutines[x.g].Begin == BeginWaiting) {
			for _, site := range [...]waitSite{{x.g, s.Stack}, {-1, s.Stack}} {
				sites[site] = append(sites[site], s.Delay)
			}
		}
	}
	for _, list := range sites {
		slices.Sort(list)
	}
	for _, x := range w.sleeps {
		s := &w.Goroutines[x.g].Segments[x.seg]
		asked, limit := constant(sites[waitSite{x.g, s.Stack}], constantWakes)
		if asked == 0 || s.Delay > limit {
			asked, limit = constant(sites[waitSite{-1, s.Stack}], placeWakes)
		}
		if asked > 0 && s.Delay <= limit {
			s.Delay = min(s.Delay, asked)
		} else {
			s.Delay -= min(x.late/2, s.Delay)
		}
	}
}

// constant applies rule 1 to so many waits or more in order. It returns what was asked for, 0 if that is not one time, and
// up to which length waits are for that.
func constant(waits []model.Duration, atLeast int) (asked, limit model.Duration) {
	n := len(waits)
	if n < atLeast {
		return 0, 0
	}
	p5, low, unit := waits[(n-1)/20], waits[0], model.Duration(1)
	for p5 >= 100*unit {
		unit *= 10
	}
	width := max(min(clusterWidth, p5/2), p5/20)
	limit = p5 + max(lateLimit, p5/2)
	if in, _ := slices.BinarySearch(waits, p5+width+1); in*5 < n*2 {
		limit = 4 * low
		if n < lateWakes || waits[n/2]*2 > low*3 || waits[n*3/4]*2 > low*5 ||
			low%(10*unit) > low/200 && (waits[n/4]-low)*100 > (waits[n*19/20]-low)*15 {
			return 0, 0
		}
	}
	if asked = low; p5-low > width {
		asked = p5 // a few were for less
	}
	if round := asked / unit * unit; asked-round <= asked/15 {
		asked = round
	}
	return asked, limit
}
