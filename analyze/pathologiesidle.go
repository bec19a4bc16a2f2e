package analyze

import (
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// What waking an idle proc takes is estimated from the trace, between these: less
// is a matter of course on any machine, more is worth a word however usual.
const (
	minBesideLimit = result.UsualWakeup * model.Duration(1)
	maxBesideLimit = result.NotableWait * model.Duration(1)
)

// Thresholds of idle procs beside runnable goroutines: a part of the time, and
// an amount of it, that waking up does not explain.
const (
	idleBesideShare = 0.02
	minIdleBeside   = timeSlice / 2
)

// idleBeside finds that a proc was idle while a goroutine of the program was
// runnable, one of them for longer than waking the proc takes. Each such time is
// a case, however many goroutines wait in it; those that did are the parties.
type idleBeside struct {
	symptom
	wakes quantiles // of idle procs, from the cause until they had a thread
	inAll Tally     // waits in cases
	long  Tally     // of those the ones beyond the limit, by how much

	waiting goCells[besideWait] // goroutines of the program that are runnable
	n       int                 // of those
	// The time that is open. While it lasts, inIt are the waits that ended in it.
	since model.Time
	open  bool
	stuck bool // one of them was beyond the limit
	inIt  Tally
}

// besideWait is a goroutine of the program that is runnable.
type besideWait struct {
	since model.Time
	fn    model.StringID
	here  bool
	noted bool // others remember it, too
}

// begin makes the accounting begin at a time: what waits, goes on.
func (x *idleBeside) begin(t model.Time) {
	*x = idleBeside{wakes: x.wakes, waiting: x.waiting, n: x.n, open: x.open, since: max(x.since, t)}
}

func (x *idleBeside) wakeup(d model.Duration) { x.wakes.add(d) }

func (x *idleBeside) limitNow() model.Duration {
	return min(max(minBesideLimit, x.wakes.limit(usualWake)), maxBesideLimit)
}

// add takes a goroutine that became runnable.
func (x *idleBeside) add(s *model.Step, noted bool) {
	w := x.waiting.get(s.G)
	if !w.here {
		x.n++
	}
	*w = besideWait{s.Time, s.Func, true, noted}
}

// remove takes that a goroutine ceased to be runnable. It reports whether others remember it.
func (x *idleBeside) remove(t *model.Tables, s *model.Step, origin model.Time) (noted bool) {
	w, ok := x.waiting.remove(s.G)
	if !ok {
		return false
	}
	x.n--
	if x.open && s.Pseudo == model.NotPseudo {
		x.waited(t, &w, s.P, s.Time, s.Time-origin)
	}
	return w.noted
}

// waited counts the part of a wait in the open time.
func (x *idleBeside) waited(t *model.Tables, w *besideWait, p model.ProcID, now, at model.Time) {
	d := now.Sub(max(w.since, x.since))
	if d <= 0 {
		return
	}
	x.inIt.Add(d, at)
	if beyond := d - x.limitNow(); beyond > 0 {
		x.stuck = true
		x.long.Add(beyond, at)
		x.party(t, "waited", w.fn, 0, p, d)
	}
}

// turn begins the open time, or ends it.
func (x *idleBeside) turn(t *model.Tables, now, origin model.Time) {
	if x.open {
		x.close(t, now, now-origin)
	}
	x.open, x.since = !x.open, now
}

func (x *idleBeside) close(t *model.Tables, now, at model.Time) {
	beyond := now.Sub(x.since) - x.limitNow()
	if beyond > 0 && x.n > 0 {
		x.waiting.All(func(w *besideWait) { x.waited(t, w, model.NoProc, now, at) })
	}
	if x.stuck && beyond > 0 {
		x.single(beyond, at, model.NoGoroutine)
		x.inAll.Merge(&x.inIt)
	}
	x.stuck, x.inIt = false, Tally{}
}

// Where procs wake up all the time some goroutine is always runnable, for a
// moment each: only if single ones waited too long is that a pattern.
func (x *idleBeside) finish(t *model.Tables, span model.Duration, end, origin model.Time) {
	if x.open {
		x.close(t, end, end-origin)
	}
	x.open, x.waiting, x.n = false, goCells[besideWait]{}, 0
	share := ratio(x.Total, span)
	x.judge("idle-procs-beside-runnable", min(x.Total, x.long.Total) >= minIdleBeside && share >= idleBesideShare,
		counted("times with an idle proc in which a goroutine waited for longer than waking it takes", x.Count),
		lasting("beyond that each, in all", x.Total),
		sharing("share of the time", share),
		lasting("longest", x.Worst),
		lasting("what waking an idle proc took at most, as a rule", x.limitNow()),
		counted("waits of goroutines of the program in those times", x.inAll.Count),
		lasting("of all those together", x.inAll.Total))
}
