// Package bound computes between what limits the time lies that a workload takes,
// from the work and what depends on what alone: no model of a scheduler goes
// into it.
//
// # What depends on what
//
// A segment of a goroutine can begin when the one before has ended and the wait between
// them is over. A wait for a wake is over when the operation that wakes has been
// carried out, which is some computing time after the beginning of the segment that it
// is in; one for data, when that was sent; a sleep, a delay from outside or a system
// call, some time after it began or at a fixed time. A goroutine's first
// segment can begin when the goroutine has been created, or at 0. With as many procs as can be
// used and a scheduler that costs nothing, each segment begins and ends as early as
// possible: the end of the last is the length of the longest chain, the span S.
//
// # Lower
//
// Let w(i) be the computing time of segment i and s(i) its earliest beginning. Until time r, no
// schedule can have done more of it than min(w(i), r-s(i)), so that of all work W at least
//
//	R(r) = sum over i of max(0, w(i) - max(0, r-s(i)))
//
// is left, and c cores take R(r)/c to do it: T >= r + R(r)/c for every r. R(0) is
// W, and R(S) is 0, so the greatest of these is at least W/c and at least S, and more
// where much work becomes possible late. It is reached at some s(i), or S. Rounded down.
//
// What a scheduler may do without stays out: GC work, stops, waits for assist credit. Who is woken
// by whom depends on the schedule in part; refsched.Least is true of all schedules of the program.
//
// # Upper
//
// Take a schedule in which scheduling costs nothing and nobody waits while a core is idle, and
// the segment that ends last, at T. Go back from it: at each moment it was running, or able to
// run, in which case all cores were busy, or it waited for its predecessor in the chain that
// let it begin last, or for a delay to pass. So each moment before T either belongs to the
// chain (some segment of it runs, or a delay of it passes), or all c cores do work that is not
// the chain's. The latter takes (W - w)/c at most, where w is the chain's own computing time
// (Graham 1969, Brent 1974, with delays):
//
//	T <= (W-w)/c + w + d = W/c + (w (1-1/c) + d)
//
// and with the greatest w (1-1/c) + d of any chain, S', for all chains: T <= W/c + S'. W
// includes the garbage collector's work here, and a wait for the end of a cycle is a chain
// through the work of that cycle and of those before; assist credit takes its recorded delay;
// and while the world is stopped nothing moves, so the durations of all stops are added.
// Rounded up.
package bound

import (
	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/model"
)

// Bounds are limits of the time from the window's start to the end of the last
// segment of the program's own goroutines that the window shows whole: how long the program
// took. What the runtime's own goroutines and those that write the trace do after that does not
// count. All times are in nanoseconds.
type Bounds struct {
	Cores int
	// Work is the computing time of all segments, Mark that of mark workers, and Held how
	// long the world was stopped.
	Work, Mark, Held model.Duration
	// Span is S: how long it takes with any number of cores.
	Span model.Duration
	// Lower is the least time on this number of cores, at least Span, if each wake is for
	// the goroutine that it woke in the recording. Work of segments that the window cuts off
	// does not count.
	Lower model.Duration
	// Chain is S'.
	Chain model.Duration
	// Upper is what it takes at most if scheduling costs nothing and nobody waits
	// while a core is idle. UpperCut is the same until the cut off segments too have come to
	// where they are cut, as in refsched.Result.Span.
	Upper, UpperCut model.Duration
	// Recorded is when the last whole segment of any goroutine ended, the runtime's own
	// included, and UpperAll is Upper for those.
	Recorded, UpperAll model.Duration
	// Unreached counts goroutines that stop in the middle of their programs for want of
	// a wake, and Odd what contradicts itself: a second wake from the same wait,
	// a switch to a coroutine that does not wait. If there are any, then Upper proves nothing.
	Unreached, Odd int
}

// Sound reports whether the chains could be followed to their ends, without which
// Upper means nothing.
func (b *Bounds) Sound() bool { return b.Unreached == 0 && b.Odd == 0 }

// Of returns the bounds of a workload on a number of cores (the lesser of procs and cores;
// below 1 counts as 1).
//
// It follows recorded wakes: without refsched.Config.AsRecorded others may be woken and these bounds do not
// hold. The number of cores must be the greatest that is used: GOMAXPROCS may change in the window.
//
// It takes time and memory in proportion to the number of segments and operations, and
// sorts the segments by their beginnings.
func Of(w *workload.Workload, cores int) Bounds {
	c := newWalk(w, max(cores, 1))
	c.begin()
	c.follow()
	b := Bounds{Cores: c.cores, Recorded: w.Recorded.LastEnd, Span: model.Duration(c.last.low), Odd: c.odd, Unreached: c.unreached()}
	work, mark, held := c.sums()
	b.Work, b.Mark, b.Held = model.Duration(work), model.Duration(mark), model.Duration(held)
	b.Lower = model.Duration(c.lower())
	b.Chain = model.Duration(ceil(c.last.high, c.cores))
	upper := func(chain point) model.Duration {
		return model.Duration(plus(ceil(plus(plus(work, mark), chain.high), c.cores), held))
	}
	b.Upper, b.UpperCut, b.UpperAll = upper(c.last), upper(c.last.latest(c.cut)), upper(c.all)
	return b
}

// sums adds up what the workload contains.
func (c *walk) sums() (work, mark, held int64) {
	w := c.w
	for i := range w.Goroutines {
		for k := range w.Goroutines[i].Segments {
			work = plus(work, int64(w.Goroutines[i].Segments[k].CPU))
		}
	}
	for i := range w.Cycles {
		mark = plus(mark, int64(w.Cycles[i].Work))
		held = plus(held, plus(int64(w.Cycles[i].Sweep), int64(w.Cycles[i].Mark)))
	}
	for i := range w.Stops {
		held = plus(held, int64(w.Stops[i].Hold))
	}
	return work, mark, held
}

// most is what longer times count as. Only a broken trace has such.
const most = int64(1) << 61

// plus adds times that are not negative.
func plus(a, b int64) int64 {
	if b = max(b, 0); a > most-min(b, most) {
		return most
	}
	return a + b
}

// times multiplies a time, which counts as 0 if negative, by n > 0.
func times(a int64, n int) int64 {
	if a = max(a, 0); a > most/int64(n) {
		return most
	}
	return a * int64(n)
}

// ceil divides, and rounds up.
func ceil(a int64, n int) int64 {
	q := a / int64(n)
	if a%int64(n) > 0 {
		q++
	}
	return q
}
