package pathologies

import (
	"maps"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// timeSlice is how long a proc runs goroutines of one schedtick before sysmon
// asks for the next (runtime/proc.go: forcePreemptNS).
const timeSlice = 10_000_000 * model.Duration(1)

// globalTurn is after how many schedticks a proc looks at the global queue first
// (runtime/proc.go: findRunnable). passedOver times as many starts as that should
// take is more than a matter of phase.
const (
	globalTurn = 61
	passedOver = 2
)

// runnextChain finds goroutines that wake one another through runnext, and so
// share one time slice, while others wait in the proc's queue.
type runnextChain struct {
	symptom
	links int64        // starts in chains that somebody waited behind
	procs []chainState // by proc
}

// chainState is the current chain of a proc, and the latest that was long.
type chainState struct {
	now, old chain
}

// chain is a time slice that starts through runnext prolonged.
type chain struct {
	begin model.Time
	last  model.Time // start in it
	end   model.Time // 0: it goes on
	links int64
	// The start functions that are in it the most often: each other one takes a
	// count away from both.
	fns    [2]model.StringID
	counts [2]int64
}

// maxLink is how long a goroutine of a chain runs at most. One that runs longer
// is itself what others wait for, or the system did not run its thread.
const maxLink = timeSlice / 2

// until returns when the chain ended, or that it goes on now.
func (c *chain) until(now model.Time) model.Time {
	switch {
	case c.end != 0:
		return c.end
	case now.Sub(c.last) > maxLink:
		return c.last
	}
	return now
}

// over returns how much of a wait it lasted.
func (c *chain) over(s *runqueue.Start) model.Duration {
	return c.until(s.Time).Sub(max(s.Since, c.begin))
}

// long reports whether it is one at all.
func (c *chain) long(now model.Time) bool {
	return c.links >= minLinks && c.until(now).Sub(c.begin) >= timeSlice
}

func (c *chain) link(fn model.StringID, at model.Time) {
	c.links++
	c.last = at
	free := -1
	for i, f := range c.fns {
		if c.counts[i] == 0 {
			free = i
		} else if f == fn {
			c.counts[i]++
			return
		}
	}
	if free < 0 {
		c.counts[0]--
		c.counts[1]--
		return
	}
	c.fns[free], c.counts[free] = fn, 1
}

// minLinks is how many starts by runnext make a chain: a pair that wakes each
// other for a whole slice makes thousands.
const minLinks = 10

// start takes that a goroutine begins to run, or to go on, on its proc.
func (x *runnextChain) start(s *runqueue.Start) {
	c := procOf(&x.procs, s.P)
	if c == nil {
		return
	}
	source := s.Source
	if s.Time.Sub(c.now.last) > maxLink {
		source = runqueue.SourceUnknown // whatever it was, a new chain begins
	}
	switch source {
	case runqueue.SourceRunnext:
		c.now.link(s.Func, s.Time)
	case runqueue.SourceDirect, runqueue.SourceCoroutine, runqueue.SourceSyscall:
		c.now.last = s.Time // the slice goes on as well (runtime/proc.go: execute, inheritTime)
	default:
		if c.now.long(s.Time) {
			c.old = c.now
			c.old.end = c.now.until(s.Time)
		}
		c.now = chain{begin: s.Time, last: s.Time}
	}
}

// victim looks whether what starts now after a long wait stood behind a chain: in the queue of
// the chain's proc, or in the global queue that this proc did not look at.
func (x *runnextChain) victim(t *model.Tables, s *runqueue.Start, at model.Time) {
	if s.System || s.OpenStart || s.Grade == runqueue.GradeContradicted || procOf(&x.procs, s.P) == nil {
		return
	}
	switch s.Source {
	case runqueue.SourceLocal, runqueue.SourceGlobal, runqueue.SourceSteal:
	default:
		return
	}
	id := textui.Either(s.LastP == model.NoProc, s.P, s.LastP)
	c := procOf(&x.procs, id)
	if c == nil {
		return
	}
	by, behind := &c.old, c.old.over(s)
	if d := c.now.over(s); c.now.links >= minLinks && d >= behind {
		by, behind = &c.now, d
	}
	if behind < timeSlice {
		return
	}
	x.links += by.links
	x.single(behind, at, s.G)
	x.party(t, "waited", s.Func, 0, id, behind)
	for i, fn := range by.fns {
		if 10*by.counts[i] > by.links {
			x.party(t, "ran", fn, 0, id, behind)
		}
	}
}

// A single victim of a chain waited for what one time slice costs by design;
// it takes several, or one of two slices, to be a pattern.
func (x *runnextChain) finish(span model.Duration) {
	x.judge("runnext-chain", result.Notable, x.pattern(3, span) || x.Worst >= 2*timeSlice,
		counted("waits of 10 ms or more behind a chain", x.Count),
		lasting("in all", x.Total),
		lasting("longest", x.Worst),
		counted("starts through runnext in those chains", x.links))
	x.procs = nil
}

// globalAging finds goroutines that are passed over in the global queue.
type globalAging struct {
	symptom
	waiting   map[model.GoID]aging
	starts    int64 // of all goroutines, pseudo ones aside
	runnable  int64 // goroutines, by the steps
	overtaken int64 // most starts past one goroutine
}

// aging is a goroutine in the global queue.
type aging struct {
	since    model.Time
	fn       model.StringID
	stack    model.StackID
	starts   int64 // of all goroutines, when it came
	runnable int64 // goroutines then, each of which may rightly go first
	ahead    int64 // of those in the global queue
	cut      bool  // it came before the accounting began: only the time since then counts
}

// begin makes the accounting begin at a time. What waits since before counts only if it
// never gets its turn.
func (x *globalAging) begin(t model.Time) {
	*x = globalAging{waiting: x.waiting, starts: x.starts, runnable: x.runnable}
	for g, a := range x.waiting {
		if a.since < t {
			a.since, a.starts, a.runnable, a.cut = t, x.starts, max(x.runnable, 0), true
			x.waiting[g] = a
		}
	}
}

// add takes a goroutine that goes to the global queue.
func (x *globalAging) add(s *model.Step) {
	if x.waiting == nil {
		x.waiting = map[model.GoID]aging{}
	}
	a := aging{s.Time, s.Func, 0, x.starts, max(x.runnable, 0), int64(len(x.waiting)), false}
	if model.GoState(s.From) == model.GoRunning {
		a.stack = s.Stack
	}
	x.waiting[s.G] = a
}

// left takes that a goroutine ceased to be runnable, which may have been in the global queue.
func (x *globalAging) left(t *model.Tables, s *model.Step, procs int, counts bool, at model.Time) {
	if a, ok := x.waiting[s.G]; ok {
		delete(x.waiting, s.G)
		if counts && !a.cut {
			x.waited(t, s.G, a, s.Time, procs, s.P, at)
		}
	}
}

// toGlobal reports whether a goroutine goes to the global queue by the rules of the
// runtime: after Gosched, preemption (up to Go 1.25 for an STW too), and a system call
// that found no proc (runtime/proc.go: goschedImpl, exitsyscall0).
func toGlobal(s *model.Step) bool {
	switch s.Origin {
	case model.OriginPreempted, model.OriginGosched:
		return true
	case model.OriginSyscall:
		return s.P == model.NoProc
	}
	return false
}

// waited counts a goroutine that was passed over: for longer than a time slice,
// and by more starts than the rules allow. Each proc takes one from the global
// queue in 61 schedticks at the latest, so those ahead of it, and then itself,
// should have gone after that many starts on every proc, at the latest.
func (x *globalAging) waited(t *model.Tables, g model.GoID, a aging, now model.Time, procs int, p model.ProcID, at model.Time) bool {
	length := now.Sub(a.since)
	overtaken := x.starts - a.starts - a.runnable
	if length < timeSlice || overtaken < passedOver*globalTurn*int64(max(procs, 1))*(a.ahead+1) {
		return false
	}
	x.overtaken = max(x.overtaken, overtaken)
	x.single(length, at, g)
	x.party(t, "waited", a.fn, a.stack, p, length)
	return true
}

// finish looks at those that still wait.
func (x *globalAging) finish(t *model.Tables, end model.Time, procs int, at model.Time) {
	unfinished := int64(0)
	for _, g := range slices.Sorted(maps.Keys(x.waiting)) {
		if x.waited(t, g, x.waiting[g], end, procs, model.NoProc, at) {
			unfinished++
		}
	}
	x.waiting = nil
	x.judge("global-queue-aging", result.Serious, x.Count > 0,
		counted("goroutines passed over in the global queue", x.Count),
		lasting("longest", x.Worst),
		lasting("in all", x.Total),
		counted("most starts past one of them, at least", x.overtaken),
		counted("still waiting at the end", unfinished))
}
