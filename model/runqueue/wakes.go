package runqueue

import "github.com/schedscope/schedscope/model"

// How a thread came by an idle proc.
type gotKind uint8

const (
	gotWoken   gotKind = iota // it was woken to look for work
	gotExit                   // it came out of a system call
	gotPoller                 // it slept in the network poller and found something
	gotHandoff                // the proc was never idle: taken from a system call, it was given to this thread
	gotWorld                  // the world goes on
)

// got is a thread's getting a proc that was idle.
type got struct {
	kind  gotKind
	known bool // it is within the look-ahead
	at    model.Time
	m     model.ThreadID
	lost  model.Time // when it became idle
	taken bool       // from a thread in a system call
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
// The trace shows a proc idle until the woken thread has it, but for the runtime
// it is not idle any more once the thread was signalled, and a thread that spins
// keeps others from being woken.
type wakes struct {
	pending []trigger
	procs   []search
}

// search is a proc whose thread looks for work.
type search struct {
	on     bool
	since  model.Time
	spins  bool // woken by wakep
	waking bool // w is to be told
	w      Wakeup
}

const (
	// spinAfter is how long a thread that stopped a goroutine looks into its queues
	// and polls before it becomes a spinning one.
	spinAfter model.Duration = 1000
	// spinMost is longer than a thread spins: one that seems to has been running
	// since before the trace, or the operating system has stopped it.
	spinMost model.Duration = 1_000_000
)

func (k *wakes) proc(p model.ProcID) *search {
	for int(p) >= len(k.procs) {
		k.procs = append(k.procs, search{})
	}
	return &k.procs[p]
}

// spinning reports whether a thread looks for work at time t, or is signalled to.
func (k *wakes) spinning(t model.Time) bool {
	for i := range k.pending {
		if k.pending[i].spins {
			return true
		}
	}
	for i := range k.procs {
		s := &k.procs[i]
		if d := t.Sub(s.since); s.on && d < spinMost && (s.spins || d > spinAfter) {
			return true
		}
	}
	return false
}

// wakeAtLeast is what a woken thread usually takes at least to get its proc: who
// gets one sooner was signalled before now. On Linux, amd64, the fifth percentile
// is 2.5 us and the median 5 us.
const wakeAtLeast model.Duration = 3500

// idleNow returns how many procs are idle for the runtime, of those that look
// so: without those for which a thread was signalled already, and none while the
// world is stopped.
func (r *replay) idleNow() int {
	if r.stopped {
		return 0 // runtime/proc.go: stopTheWorldWithSema takes the idle ones too
	}
	coming := 0
	for _, g := range r.idle {
		if g != nil && g.known && (g.kind == gotHandoff || g.kind == gotWoken && g.at.Sub(r.now) < wakeAtLeast) {
			coming++
		}
	}
	return max(0, r.idling-max(coming, len(r.wakes.pending)))
}

// wakep wakes a thread for an idle proc unless one spins already.
func (r *replay) wakep(t trigger) {
	if r.idling > 0 && !r.wakes.spinning(t.at) && r.idleNow() > 0 {
		t.spins = true
		r.wakes.pending = append(r.wakes.pending, t)
	}
}

// startIdle wakes threads for n idle procs.
func (r *replay) startIdle(n int, t trigger) {
	for range min(n, r.idleNow()) {
		r.wakes.pending = append(r.wakes.pending, t)
	}
}

// gotProc accounts for an idle proc that a thread has got.
func (r *replay) gotProc(p model.ProcID, g *got) {
	s := r.wakes.proc(p)
	*s = search{on: true, since: r.now}
	if g == nil || g.kind != gotWoken && g.kind != gotHandoff {
		return
	}
	s.waking = true
	s.w = Wakeup{P: p, M: g.m, Got: r.now, Trigger: r.now, G: model.NoGoroutine, ByP: model.NoProc}
	if g.kind == gotHandoff {
		s.w.Caused, s.w.Handoff, s.w.Trigger = true, true, g.lost
		return
	}
	if q := &r.wakes.pending; len(*q) > 0 {
		t := (*q)[0]
		*q = append((*q)[:0], (*q)[1:]...)
		s.spins = t.spins
		s.w.Caused, s.w.Trigger, s.w.G, s.w.ByP, s.w.Origin = true, t.at, t.g, t.byP, t.origin
	}
}

// endSearch accounts for a thread that found something, or gave the proc up.
func (r *replay) endSearch(p model.ProcID, found bool) (spun bool) {
	s := r.wakes.proc(p)
	spun = s.on && (s.spins || r.now.Sub(s.since) > spinAfter)
	if s.waking {
		s.w.Found = found
		for _, o := range r.obs.wakeup {
			o.Wakeup(&s.w)
		}
	}
	*s = search{}
	return spun
}
