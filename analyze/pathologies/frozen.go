package pathologies

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// Thresholds of a process that stands still. While a thread searches for work,
// or stops the world where nobody is to give way, something happens every some
// microseconds: minStill is a thousand times that, and stillFactor times the usual
// silence must pass on top. A goroutine that computes is silent by itself, also
// while the world is stopped for it; otherwise until sysmon has it preempted:
// overrunBurst, and then within preemptedSoon of the silence's end. Where CPU samples
// are taken, it shows one per 10 ms, so that overrunBurst without any is enough.
const (
	minStill     = 5_000_000 * model.Duration(1)
	stillFactor  = 10
	overrunBurst = 3 * timeSlice

	preemptedSoon = 25_000_000 * model.Duration(1)
	// frozenShare of the time is too much even if nobody waited: what ran did not.
	frozenShare = 0.05
	// maxSilences bounds the silences kept; at most 200 fit into a second.
	maxSilences = 1 << 14
)

// A quota of CPU time (cgroup cpu.max) is renewed every 100 ms unless set
// otherwise, and the process goes on when it is: the ends of silences lie on
// that grid, next to those that other programs cause. Those lie on the ticks of
// the kernel, mostly 4 ms, of which the period has 25: that so many of n fall
// together, quotaEnds and from 12 on quotaLeast and a tenth of n, has a chance of
// less than 1 in 100. Where ticks are of 10 ms, nearly as many fall together at
// another one.
const (
	quotaPeriod = 100_000_000 * model.Duration(1)
	quotaJitter = 2_000_000 * model.Duration(1)
	quotaEnds   = 5
	quotaLeast  = 3.8
)

// silences measures the time in which no thread has an event.
type silences struct {
	all     func() int64 // how many there are
	hist    [64]int64    // by the number of bits of the length, of [model.MinSilence] or more
	long    []stint
	sampled stint // from the first CPU sample to the last
}

// Silence implements [model.SilenceObserver].
func (x *silences) Silence(from, to model.Time) {
	d := to.Sub(from)
	x.hist[bits.Len64(uint64(d))&63]++
	if d >= minStill && len(x.long) < maxSilences {
		x.long = append(x.long, stint{from, to})
	}
}

// p99 returns an upper bound of the 99th percentile of the silences, 0 if that is less than
// [model.MinSilence]: then minStill is far more.
func (x *silences) p99() model.Duration {
	if x.all == nil {
		return 0
	}
	n := x.all()
	below := n
	for _, c := range x.hist {
		below -= c
	}
	if below*100 >= n*99 {
		return 0
	}
	for i, c := range x.hist {
		below += c
		if below*100 >= n*99 {
			return model.Duration(1)<<i - 1
		}
	}
	return 0
}

// standstill is a silence in which threads should have had events.
type standstill struct {
	stint
	at      model.Time // its end, as results have it
	inHand  bool       // there was work that takes microseconds
	overdue int        // procs that ran one goroutine for longer than sysmon allows
	late    bool       // one of those was preempted when the silence was over
	sure    bool       // CPU samples would have shown one of those
}

// frozen finds that the whole process stood still.
type frozen struct {
	symptom
	silences
	candidates []standstill
	periodic   bool
}

// step looks at the silence before a step, of minStill or more. The procs are those before it.
func (x *frozen) step(last, now, at model.Time, procs *procsNow) {
	if last == 0 || len(x.candidates) >= maxSilences {
		return
	}
	c := standstill{stint: stint{last, now}, at: at, inHand: procs.inHand()}
	working := procs.count(model.ProcRunning) + procs.count(model.ProcSearching)
	for _, p := range procs.list {
		if p.state == model.ProcRunning && p.burst > 0 && now.Sub(max(p.burst, last)) >= overrunBurst {
			c.overdue++
		}
	}
	if working > 0 && (c.inHand || c.overdue > 0) {
		x.candidates = append(x.candidates, c)
	}
}

// preempted takes the preemption of a goroutine that began to run at a time.
func (x *frozen) preempted(since, now model.Time) {
	if n := len(x.candidates); n > 0 {
		if c := &x.candidates[n-1]; since <= c.start && now.Sub(c.end) <= preemptedSoon {
			c.late = true
		}
	}
}

// finish keeps the candidates in which indeed no thread has an event: those
// that end at quota's pace, else those that no single goroutine explains.
func (x *frozen) finish(span model.Duration, end model.Time) {
	usual := max(minStill, stillFactor*x.p99())
	var real []standstill
	for _, c := range x.candidates {
		before := c.end
		c.stint = x.longest(c.stint)
		c.at -= model.Time(before.Sub(c.end))
		length := c.end.Sub(c.start)
		c.inHand = c.inHand && length >= usual
		// What the end of the recording preempted says nothing.
		c.late = c.late && length >= minStill && end.Sub(c.end) > preemptedSoon
		c.sure = c.overdue > 0 && length >= overrunBurst && x.sampled.start <= c.start && c.end <= x.sampled.end
		if c.inHand || c.late || c.sure {
			real = append(real, c)
		}
	}
	regular, next := onGrid(real)
	x.periodic = regular >= quotaEnds && float64(regular) >= quotaLeast+float64(len(real))/10 && regular >= 2*next
	for _, c := range real {
		if x.periodic || c.inHand || c.overdue > 1 && c.late || c.sure {
			x.single(c.end.Sub(c.start), c.at, model.NoGoroutine)
		}
	}
	x.candidates, x.long = nil, nil
	evidence := []result.Evidence{
		counted("silences of all threads with work at hand", x.Count),
		lasting("in all", x.Total),
		lasting("longest", x.Worst),
		sharing("share of the time", result.Ratio(x.Total, span)),
	}
	if x.periodic {
		x.judge("cpu-throttling", result.Serious, true, append(evidence, counted("that end on a grid of 100 ms", regular))...)
		return
	}
	x.judge("frozen-process", result.Notable, x.Worst >= result.SeriousWait || x.pattern(3, span), evidence...)
}

// longest returns the longest silence that lies in a time, if any.
func (x *frozen) longest(in stint) (longest stint) {
	first, _ := slices.BinarySearchFunc(x.long, in.start, func(s stint, at model.Time) int { return cmp.Compare(s.start, at) })
	for _, s := range x.long[first:] {
		if s.end > in.end {
			break
		}
		if s.end.Sub(s.start) > longest.end.Sub(longest.start) {
			longest = s
		}
	}
	return longest
}

// onGrid returns how many silences end on the same grid of the quota's period, and how many of the others do on another.
func onGrid(list []standstill) (most, next int64) {
	var ends []model.Duration // within the period, and within the next
	for _, c := range list {
		end := model.Duration(c.end) % quotaPeriod
		ends = append(ends, end, end+quotaPeriod)
	}
	slices.Sort(ends)
	together := func(list []model.Duration) (n, from int) {
		for first, last := 0, 0; last < len(list); last++ {
			for list[last]-list[first] > quotaJitter {
				first++
			}
			if last-first+1 > n {
				n, from = last-first+1, first
			}
		}
		return n, from
	}
	n, from := together(ends)
	others, _ := together(ends[from+n : from+len(list)]) // of one period
	return int64(n), int64(others)
}
