package runqueue

import (
	"slices"

	"github.com/schedscope/schedscope/model"
)

// How a thread came by an idle proc.
type acquiredKind uint8

const (
	acquiredWoken   acquiredKind = iota // it was woken to look for work
	acquiredExit                        // it came out of a system call
	acquiredPoller                      // it slept in the network poller and found something
	acquiredHandoff                     // the proc was never idle: taken from a system call, it was given to this thread
	acquiredRestart                     // the world goes on
	acquiredAgain                       // it had just given one up, and found something when it looked again
)

// acquired is a thread's getting a proc that was idle.
type acquired struct {
	kind  acquiredKind
	known bool // it is within the look-ahead
	at    model.Time
	m     model.ThreadID
	lost  model.Time // when it became idle
	taken bool       // from a thread in a system call
	// For the runtime it is not idle any more, since signal.
	signalled bool
	signal    trigger
	order     int // of going idle: the runtime takes the latest one first
}

// trigger is what made the runtime wake a thread for an idle proc.
type trigger struct {
	at     model.Time
	g      model.GoID
	byP    model.ProcID
	origin model.Origin
	spins  bool // the thread starts out spinning (wakep), not by injectglist or handoffp
}

// wakes follows who was woken for idle procs (runtime/proc.go: wakep, startIdle).
// The trace shows a proc idle until the woken thread has it, except for the runtime
// it is not idle any more once the thread was signalled, and a thread that spins
// keeps others from being woken. Idle procs are a stack (pidleput, pidleget).
type wakes struct {
	order int
	last  model.Time // when a thread would have been woken last, if there was none that spun
	found []Wakeup   // by proc: what is to be reported at the end of its search, if it is waking
}

// search says whether the thread of a proc looks for work.
type search struct {
	since  model.Time
	on     bool
	spins  bool // woken by wakep
	waking bool // a wakeup is to be reported
}

const (
	// spinAfter is how long a thread that stopped a goroutine looks into its queues
	// and polls before it becomes a spinning one.
	spinAfter model.Duration = 1000
	// spinMost is longer than a thread spins: one that seems to has been running
	// since before the trace, or the operating system has stopped it.
	spinMost model.Duration = 1_000_000
)

// begin makes a thread that has just given its goroutine up look for work.
func (s *search) begin(at model.Time) { s.on, s.since, s.spins, s.waking = true, at, false, false }

// end ends the search, and reports whether the thread was spinning.
func (s *search) end(at model.Time) (spun bool) {
	spun = s.on && (s.spins || at.Sub(s.since) > spinAfter)
	s.on, s.waking = false, false
	return spun
}

// spinning reports whether a thread looks for work at time t, or is signalled to.
func (r *replay) spinning(t model.Time) bool {
	for i := range r.procs {
		s := &r.procs[i]
		if d := t.Sub(s.since); s.on && d < spinMost && (s.spins || d > spinAfter) {
			return true
		}
		if g := s.idle; g != nil && g.signalled && g.signal.spins {
			return true
		}
	}
	return false
}

// wakeAtLeast is what a woken thread usually takes at least to get its proc: who
// gets one sooner was signalled before now. On Linux, amd64, the fifth percentile
// is 2.5 us and the median 5 us.
const wakeAtLeast model.Duration = 3500

// coming reports whether a thread has been signalled for an idle proc that gets it so
// soon.
func (g *acquired) coming(now model.Time) bool {
	return g.known && (g.kind == acquiredHandoff || g.kind == acquiredWoken && g.at.Sub(now) < wakeAtLeast)
}

// nextIdle returns the idle proc that the runtime takes next, nil for none, which it
// takes while the world is stopped.
func (r *replay) nextIdle() (next *acquired) {
	if r.stopped {
		return nil // runtime/proc.go: stopTheWorldWithSema takes the idle ones too
	}
	for i := range r.procs {
		if g := r.procs[i].idle; g != nil && !g.signalled && !g.coming(r.now) && (next == nil || g.order > next.order) {
			next = g
		}
	}
	return next
}

// signal makes the runtime take idle procs for n threads.
func (r *replay) signal(n int, t trigger) {
	for range n {
		g := r.nextIdle()
		if g == nil {
			return
		}
		g.signalled, g.signal = true, t
	}
}

// A split is how many of a list go to the global queue, and what it costs to assume so.
type split struct {
	k    int
	cost cost
}

// splits returns how a list of n is split by the number of idle procs, as the runtime
// counted them when it looked (runtime/proc.go: injectglist): the likeliest way, and
// others worth trying. A proc that looks idle may have been taken for a thread that
// was signalled already, or not yet be counted as idle.
func (r *replay) splits(n int, until model.Time) (best int, others []split) {
	if r.stopped {
		return 0, nil // runtime/proc.go: stopTheWorldWithSema takes the idle ones too
	}
	up, down := r.flips[:0], r.flips2[:0] // what it costs to count one more, and one less
	idle := 0
	for i := range r.procs {
		g := r.procs[i].idle
		if g == nil {
			continue
		}
		yes, no := r.idleOdds(g)
		if yes <= no {
			idle++
			down = append(down, no-yes)
		} else {
			up = append(up, yes-no)
		}
	}
	slices.Sort(up)
	slices.Sort(down)
	r.flips, r.flips2 = up, down
	best = min(idle, n)
	var c cost
	for i, d := range up {
		if c += d; c > worthTrying || idle+i+1 > n {
			break
		}
		others = append(others, split{idle + i + 1, c})
	}
	c = 0
	for i, d := range down {
		if c += d; c > worthTrying {
			break
		}
		if k := idle - i - 1; k < best {
			others = append(others, split{k, c})
		}
	}
	if until.Sub(r.now) > suspended {
		for k := range min(n, r.count()-1) + 1 {
			if k != best && !slices.ContainsFunc(others, func(o split) bool { return o.k == k }) {
				others = append(others, split{k, costLate})
			}
		}
	}
	return best, others
}

// suspended is longer than a thread takes from the last event of a list to its
// injection, unless the operating system stops it; then the number of idle procs is any.
const suspended = 20_000

// idleOdds returns what it costs that the runtime counts a proc as idle that looks
// idle, and that it does not.
func (r *replay) idleOdds(g *acquired) (yes, no cost) {
	switch ago := r.now.Sub(g.lost); {
	case g.kind == acquiredHandoff:
		return 90, 0
	case g.coming(r.now), g.known && g.kind == acquiredAgain && g.at.Sub(r.now) < lookAgain:
		return 40, 0
	case g.kind == acquiredExit && g.known && g.at.Sub(r.now) < 500:
		return 8, 0
	case g.signalled:
		return worthTrying, 0 // next to other programs a thread comes long after its signal, which may be this list's
	case r.wakes.last < g.lost:
		return 0, 60
	case ago < 3500:
		return 0, 40
	case ago < 30_000:
		return 0, 12
	}
	return 0, 3 // a signal may have been missed
}

// wakep wakes a thread for an idle proc unless one spins already.
func (r *replay) wakep(g model.GoID, byP model.ProcID, o model.Origin) {
	if r.wakes.last = r.now; r.idling > 0 && !r.spinning(r.now) {
		r.signal(1, trigger{at: r.now, g: g, byP: byP, origin: o, spins: true})
	}
}

// restart puts all procs that stay idle when the world goes on into the runtime's stack
// (runtime/proc.go: procresize), which then wakes one (startTheWorldWithSema).
func (r *replay) restart() {
	for i := range r.procs {
		if r.idleLowFirst {
			i = len(r.procs) - 1 - i
		}
		if g := r.procs[i].idle; g != nil {
			r.wakes.order++
			g.order, g.signalled = r.wakes.order, false
		}
	}
}

// acquire accounts for an idle proc that a thread has got.
func (r *replay) acquire(p model.ProcID, g *acquired) {
	s := &r.procs[p]
	s.begin(r.now)
	if g == nil || g.kind == acquiredExit || g.kind == acquiredRestart {
		return
	}
	if g.kind == acquiredAgain {
		s.spins = true // runtime/proc.go: findRunnable, checkRunqsNoP
		if next := r.nextIdle(); next != nil && g.signalled {
			next.signalled, next.signal = true, g.signal
		}
		return
	}
	if !g.signalled && g.kind == acquiredWoken {
		// Then the thread that seemed to be signalled for another one was meant for it.
		var other *acquired
		for i := range r.procs {
			if o := r.procs[i].idle; o != nil && o.signalled && (other == nil || o.signal.at < other.signal.at) {
				other = o
			}
		}
		if other != nil {
			g.signalled, g.signal = true, other.signal
			other.signalled = false
		}
	}
	s.spins = g.signalled && g.signal.spins
	if g.kind == acquiredPoller {
		return
	}
	s.waking = true
	w := &r.wakes.found[p]
	*w = Wakeup{P: p, M: g.m, Got: r.now, Trigger: r.now, G: model.NoGoroutine, ByP: model.NoProc}
	switch t := &g.signal; {
	case g.kind == acquiredHandoff:
		w.Caused, w.Handoff, w.Trigger = true, true, g.lost
	case g.signalled:
		w.Caused, w.Trigger, w.G, w.ByP, w.Origin = true, t.at, t.g, t.byP, t.origin
	}
}

// woken reports a wakeup that is to be reported at the end of the search, which found something or gave
// the proc up.
func (r *replay) woken(p model.ProcID, found bool) {
	if r.procs[p].waking {
		w := &r.wakes.found[p]
		w.Found = found
		model.Report(r.obs.wakeup, WakeupObserver.Wakeup, w)
	}
}
