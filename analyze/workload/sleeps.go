package workload

import (
	"math"
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
//  1. Ticker (not time.Sleep): the wakes, six or more, lie on a grid whose period has
//     at most two significant digits, and do not drift away from it as those of a loop that
//     sleeps would. Each is due at its point of the grid, whenever the goroutine
//     began to wait.
//     Paced (time.Sleep): a loop of forty turns or more that makes up for being late, with shorter sleeps or more
//     done in a turn, as one that sleeps until the next arrival does. Each turn is due when it was.
//  2. Bounded: a proc looks for timers before it starts a goroutine, so that a timer which
//     it finds afterwards was not due then. If of four or more waits half may have been late by
//     a fifth of their length or more, and one and the same time is possible for
//     all, it is the middle of what is possible.
//  3. Constant: of eight or more waits two in five are within 5 % of the 5th percentile, or
//     within 120 us if that is less than a half of it. Or, as all procs may be
//     busy, of sixteen or more half are at most 1.5 times as long as the shortest, three
//     quarters 2.5 times, and either that is at most 0.5 % above a number of
//     one digit, or a quarter of all is near to it (15 % of the way to the 95th
//     percentile). What was asked for is the shortest, or a round number
//     just below. Much longer waits were late, unless these are more than one in ten.
//  4. Constant for the place: as rule 3 for all waits at one place, four or more, if
//     rules 2 and 3 left any of them.
//  5. Otherwise, for example where the program draws times at random: the wait
//     less the median lateness of those that rules 3 and 4 explain, or half of the greatest
//     possible lateness, if that is more.
//
// What remains wrong: constant waits that were always late are taken for longer
// ones, and a select with several timers for one with a time of its own.
const (
	tickerWakes   = 6
	constantWakes = 8
	lateWakes     = 16
	placeWakes    = 4
	boundedWakes  = 4
	pacedWakes    = 40

	clusterWidth = 120 * 1000 * model.Duration(1)
	lateLimit    = 1500 * 1000 * model.Duration(1)
	driftLimit   = 20 * 1000 * model.Duration(1) // of a ticker, per wake
	roundLimit   = 60 * 1000 * model.Duration(1)
	exactLimit   = 2 * 1000 * model.Duration(1)
)

// timerSite is a place where goroutine g waits for timers, or any if g is -1.
type timerSite struct {
	g     int32
	stack model.StackID
}

// sleeper collects the waits of a window by site.
type sleeper struct {
	w     *window
	done  []bool // parallel to w.sleeps
	sites []timerSite
	at    map[timerSite][]int32 // indices into w.sleeps, in order of time
	late  []model.Duration
}

// inferSleeps replaces the lengths of waits for timers by what was asked for.
func (w *window) inferSleeps(p *places) {
	s := sleeper{w: w, done: make([]bool, len(w.sleeps))}
	s.group(true)
	for _, site := range s.sites {
		asleep := p.of(site.stack).flags&placeSleep != 0
		if asleep && !s.paced(s.at[site]) || !asleep && !s.ticker(s.at[site]) {
			s.bounded(s.at[site])
			s.constant(s.at[site], constantWakes)
		}
	}
	s.group(false)
	for _, site := range s.sites {
		s.constant(s.at[site], placeWakes)
	}
	slices.Sort(s.late)
	typical := model.Duration(0)
	if n := len(s.late); n > 0 {
		typical = s.late[n/2]
	}
	for i := range w.sleeps {
		if !s.done[i] {
			x := s.segment(int32(i))
			x.Delay -= max(min(typical, x.Delay/4), min(w.sleeps[i].late/2, x.Delay))
			if x.Absolute {
				x.Delay += max(w.sleeps[i].from.Sub(w.Start), 0)
			}
		}
	}
}

// group sorts the waits that are not those of tickers by place, and by goroutine if
// single. Waits without a stack, or that began before the window, are left out.
func (s *sleeper) group(single bool) {
	s.sites, s.at = s.sites[:0], map[timerSite][]int32{}
	for i := range s.w.sleeps {
		x := &s.w.sleeps[i]
		stack := s.segment(int32(i)).Stack
		if s.segment(int32(i)).Absolute || stack == 0 || x.seg == 0 && s.w.Goroutines[x.g].Begin == BeginWaiting {
			continue
		}
		site := timerSite{-1, stack}
		if single {
			site.g = x.g
		}
		if _, ok := s.at[site]; !ok {
			s.sites = append(s.sites, site)
		}
		s.at[site] = append(s.at[site], int32(i))
	}
}

func (s *sleeper) segment(i int32) *Segment {
	x := &s.w.sleeps[i]
	return &s.w.Goroutines[x.g].Segments[x.seg]
}

// wait returns how long a wait was.
func (s *sleeper) wait(i int32) model.Duration {
	x := &s.w.sleeps[i]
	return x.to.Sub(x.from)
}

// ticker applies rule 1 and reports whether it holds.
func (s *sleeper) ticker(list []int32) bool {
	if len(list) < tickerWakes {
		return false
	}
	first := s.w.sleeps[list[0]].to
	gaps := make([]model.Duration, 0, len(list))
	for i := 1; i < len(list); i++ {
		gaps = append(gaps, s.w.sleeps[list[i]].to.Sub(s.w.sleeps[list[i-1]].to))
	}
	sorted := slices.Clone(gaps)
	slices.Sort(sorted)
	period := nearestRound(sorted[len(sorted)/2])
	if period <= 0 {
		return false
	}
	// rest is by how much each wake is off the grid through the first one.
	rest := make([]model.Duration, len(list))
	ticks := make([]model.Duration, len(list))
	for i, gap := range gaps {
		n := max((gap+period/2)/period, 1)
		ticks[i+1] = ticks[i] + n
		rest[i+1] = rest[i] + gap - n*period
	}
	late, ok := steady(rest, period)
	if !ok {
		return false
	}
	for i, k := range list {
		x := s.segment(k)
		due := first.Sub(s.w.Start) - late + ticks[i]*period
		x.Absolute, x.Delay = true, max(min(due, s.w.sleeps[k].to.Sub(s.w.Start)), 0)
		s.done[k] = true
	}
	return true
}

// paced finds loops that make up for being late. Of a turn, from one wake to the next, how long is
// regressed on how much of it the loop neither slept nor ran, where each goroutine that it created or woke
// counts as the mean time between these: 1 is a loop that begins to sleep later if it is late, 0 one that
// sleeps until a time.
func (s *sleeper) paced(list []int32) bool {
	if len(list) < pacedWakes {
		return false
	}
	type turn struct{ late, long, did float64 }
	turns := make([]turn, 0, len(list))
	all, did := 0.0, 0.0
	for i, k := range list[1:] {
		a, b := &s.w.sleeps[list[i]], &s.w.sleeps[k]
		g := &s.w.Goroutines[a.g]
		t := turn{late: float64(b.from.Sub(a.to)), long: float64(b.to.Sub(a.to))}
		for _, x := range g.Segments[a.seg+1 : b.seg+1] {
			t.late -= float64(x.CPU)
		}
		for _, o := range g.Ops[g.Segments[a.seg].Ops:g.Segments[b.seg].Ops] {
			if o.Kind == OpCreate || o.Kind == OpWake {
				t.did++
			}
		}
		turns, all, did = append(turns, t), all+t.long, did+t.did
	}
	var n, x, y, xx, xy, yy float64
	for _, t := range turns {
		if did > 0 {
			t.long -= t.did * all / did
		}
		n, x, y = n+1, x+t.late, y+t.long
		xx, xy, yy = xx+t.late*t.late, xy+t.late*t.long, yy+t.long*t.long
	}
	xx, xy, yy = xx-x*x/n, xy-x*y/n, yy-y*y/n
	slope := xy / xx
	if off := math.Sqrt(max(0, yy-slope*xy) / (n - 2) / xx); !(slope+2*off < 0.5) {
		return false // or not a number
	}
	for _, k := range list {
		s.segment(k).Absolute = true
	}
	return true
}

// steady returns by how much the first wake was late, and whether the wakes stay
// close to the grid and do not drift.
func steady(rest []model.Duration, period model.Duration) (model.Duration, bool) {
	low := slices.Min(rest)
	near := 0
	for _, r := range rest {
		if r-low <= period/2 {
			near++
		}
	}
	third := len(rest) / 3
	mean := func(list []model.Duration) (sum model.Duration) {
		for _, r := range list {
			sum += r
		}
		return sum / model.Duration(len(list))
	}
	drift := mean(rest[len(rest)-third:]) - mean(rest[:third])
	if drift < 0 {
		drift = -drift
	}
	if near*10 < len(rest)*9 || drift > driftLimit*model.Duration(len(rest)-third) || drift > period/4 {
		return 0, false
	}
	return rest[0] - low, true
}

// constant applies rules 3 and 4.
func (s *sleeper) constant(list []int32, atLeast int) {
	if len(list) < atLeast {
		return
	}
	waits := make([]model.Duration, len(list))
	for i, k := range list {
		waits[i] = s.wait(k)
	}
	slices.Sort(waits)
	n := len(waits)
	p5 := waits[(n-1)/20]
	width := max(min(clusterWidth, p5/2), p5/20)
	in, _ := slices.BinarySearch(waits, p5+width+1)
	limit := p5 + max(lateLimit, p5/2)
	if in*5 < n*2 {
		if !oftenLate(waits) {
			return
		}
		limit = 4 * waits[0]
	}
	most, _ := slices.BinarySearch(waits, limit+1)
	asked := roundBelow(waits[0])
	if p5-waits[0] > width {
		asked = roundBelow(p5) // a few were for less
	}
	for _, k := range list {
		d := s.wait(k)
		if s.done[k] || d > limit && (n-most)*10 > n {
			continue
		}
		if d >= asked {
			s.late = append(s.late, d-asked)
			s.segment(k).Delay = asked
		}
		s.done[k] = true
	}
}

// bounded applies rule 2.
func (s *sleeper) bounded(list []int32) {
	if len(list) < boundedWakes {
		return
	}
	low, high, known := model.Duration(0), s.wait(list[0]), 0
	for _, k := range list {
		if s.done[k] {
			return
		}
		d := s.wait(k)
		high = min(high, d)
		if late := s.w.sleeps[k].late; late > 0 {
			low = max(low, d-late)
			if late*5 >= d {
				known++
			}
		}
	}
	if known*2 < len(list) || low > high {
		return
	}
	for _, k := range list {
		s.segment(k).Delay = (low + high) / 2
		s.done[k] = true
	}
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

// nearestRound returns the number of at most two significant digits that is nearest, 0
// if that is off by more than 2 %.
func nearestRound(d model.Duration) model.Duration {
	step := scale(d) / 10
	if step <= 0 {
		return 0
	}
	n := (d + step/2) / step * step
	if off := d - n; max(off, -off)*50 > n {
		return 0
	}
	return n
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
