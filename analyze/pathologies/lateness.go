package pathologies

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/model"
)

// Lateness bounds the delay before scheduling latency: the time from when a
// goroutine could have been made runnable until it was. A trace does not show
// when data arrived or when a timer was due, so each value is an upper bound of
// the lateness of one wakeup, never a measurement. The bounds overlap with
// other goroutines' time and with one another: they must not be added to waits,
// nor to each other.
type Lateness struct {
	// Network bounds the time from the readiness of a network event until the
	// poller woke its goroutine: since the latest poll that would have found it,
	// and at most since the goroutine began to wait for it. It leaves out the
	// microseconds that a poll itself takes.
	Network dist.Dist
	// ByPoller divides Network by who found the event.
	ByPoller [model.NumPollers]dist.Dist
	// Asleep are the wakeups by a thread that slept in the poller: these events
	// were late by no more than it takes the system to wake a thread, which a
	// trace does not show. They are not in Network.
	Asleep int64

	// Timers bounds how late timers fired on a proc that ran a goroutine until
	// just before: since that proc last looked at its timers, and at most since
	// the goroutine began to wait. UnboundedTimers are those fired otherwise, after
	// a sleep or by another proc: nothing is known of them, as a trace does not
	// show when a timer was due.
	Timers          dist.Dist
	UnboundedTimers int64

	// Together bounds how late wake-ups were that came together with another one when nothing had happened for [minStill]
	// and no proc ran: different waits seldom end at one time, unless all threads stood still until then.
	Together dist.Dist
	silences []result.Silence // the longest of those

	silent   stint                         // the latest such silence
	ended    int                           // goroutines woken at its end
	origin   model.Time                    // of points in time
	from     model.Time                    // nothing before counts
	threads  map[model.ThreadID]threadRuns // that have run goroutines: not sysmon
	polled   model.Time                    // when the latest poll began that found what there was
	stopping bool                          // the world is being stopped, or is
}

// procLooks is when a proc last looked for what is due.
type procLooks struct {
	looked  model.Time // when its goroutine began to run: just before, it looked
	stopped model.Time // when that goroutine stopped; 0: it runs, or the proc has been idle since
	started model.Time // when its thread got it
	by      model.ThreadID
	g       model.GoID // that goroutine, by that thread
	several bool       // that thread has run several
}

// threadRuns is what a thread has run. One that is locked to its goroutine runs
// no other, and lets go of its proc without a look at the network (runtime/proc.go:
// stoplockedm); one that ran several does so only once it has looked.
type threadRuns struct {
	g       model.GoID
	several bool
}

// ownTimers is how soon after a goroutine stopped a proc runs its own timers:
// it does so first thing (runtime/proc.go: schedule, findRunnable), while those
// of others come after a search of all queues. The bound is generous for one
// look at the clock and a heap.
const ownTimers = 5_000 * model.Duration(1)

// atOnce is how soon after a thread woke it has made all runnable that it found.
const atOnce = 50_000 * model.Duration(1)

// beginAt forgets what was measured so far: accounting begins at t.
func (l *Lateness) beginAt(t model.Time) {
	*l = Lateness{origin: l.origin, from: t, threads: l.threads, polled: l.polled, stopping: l.stopping}
}

func (l *Lateness) at(t model.Time) model.Time { return t - l.origin }

// phase follows stops of the world.
func (l *Lateness) phase(s *model.Step) {
	switch s.Kind {
	case model.StepStopping:
		l.stopping = true
	case model.StepRestarted:
		l.stopping = false
	}
}

// start takes the start of a goroutine on a proc.
func (l *Lateness) start(s *model.Step, p *procNow) {
	if s.Pseudo == model.NotPseudo {
		p.looked, p.stopped = s.Time, 0
	}
	if p.by == s.M && (p.g == s.G || p.several) {
		return
	}
	t, ok := l.threads[s.M]
	if !ok || !t.several && t.g != s.G {
		t = threadRuns{s.G, ok}
		l.threads[s.M] = t
	}
	p.by, p.g, p.several = s.M, s.G, t.several
}

// silence takes that nothing happened between two steps. Before the first one, at 0, nothing is known.
func (l *Lateness) silence(from, to model.Time, procs *procsNow) {
	l.silent, l.ended = stint{}, 0
	if from > 0 && from >= l.from && procs.count(model.ProcRunning)+procs.count(model.ProcSearching) == 0 {
		l.silent = stint{from, to}
	}
}

// woken takes that the network or a timer woke a goroutine.
func (l *Lateness) woken(s *model.Step) {
	if l.silent.end == 0 || s.Time.Sub(l.silent.end) > atOnce {
		return
	}
	d := l.silent.end.Sub(l.silent.start)
	if l.ended++; l.ended > 1 {
		l.Together.Add(d, l.at(s.Time))
	}
	if l.ended == 2 {
		i, _ := slices.BinarySearchFunc(l.silences, d, func(s result.Silence, d model.Duration) int { return cmp.Compare(s.Length, d) })
		l.silences = slices.Insert(l.silences, i, result.Silence{End: l.at(l.silent.end), Length: d})
		l.silences = l.silences[max(0, len(l.silences)-result.MostSilences):]
	}
}

// timerWake reports whether a timer made the goroutine runnable: it was woken,
// or created by [time.AfterFunc].
func timerWake(s *model.Step) bool {
	return s.Origin == model.OriginTimer || s.Origin == model.OriginCreated && s.By == model.NoGoroutine && s.P != model.NoProc
}

// network bounds the lateness of a network wakeup: an event that is found now may have
// been ready since the latest poll, and since its goroutine tried and had to wait.
func (l *Lateness) network(s *model.Step) {
	bound := s.Time.Sub(max(l.polled, s.Since))
	l.polled = max(l.polled, s.Time)
	switch {
	case s.Time < l.from || s.Poller >= model.NumPollers:
	case s.Poller == model.PollerBlocking || s.Poller == model.PollerBlockingNoProc:
		l.Asleep++
	default:
		l.Network.Add(bound, l.at(s.Time))
		l.ByPoller[s.Poller].Add(bound, l.at(s.Time))
	}
}

// timer bounds the lateness of a timer that fired on p, if that is not nil.
func (l *Lateness) timer(s *model.Step, p *procNow) {
	if p == nil || p.stopped == 0 || s.Time.Sub(p.stopped) > ownTimers || p.looked == 0 {
		l.UnboundedTimers++
		return
	}
	since := p.looked
	if s.Origin == model.OriginTimer {
		since = max(since, s.Since) // the timer was set when it began to wait, or later
	}
	l.Timers.Add(s.Time.Sub(since), l.at(s.Time))
}

// move notes polls that found nothing: a thread lets go of its proc for want of
// work only after it polled (runtime/proc.go: findRunnable).
func (l *Lateness) move(s *model.Step, p *procNow) {
	if s.Flags&model.StepStatus != 0 {
		return
	}
	if s.ToM == s.M {
		p.started = s.Time
	}
	if s.ToM == model.NoThread && s.FromM == s.M && s.By == model.NoGoroutine && l.threads[s.M].several && !l.stopping {
		l.polled = max(l.polled, p.stopped, p.started)
	}
	if s.ToM == model.NoThread {
		p.stopped = 0
	}
}

// procOf returns what is known of a proc, nil for one that does not exist.
func procOf[T any](procs *[]T, id model.ProcID) *T {
	if i := uint(id); i < uint(len(*procs)) {
		return &(*procs)[i]
	}
	if id < 0 || id >= maxProcs {
		return nil
	}
	return result.Slot(procs, int(id))
}

// maxProcs bounds the IDs of procs, which a hostile trace may make up.
const maxProcs = 1 << 16

// result adds the results to v.
func (l *Lateness) result(v *result.Report) {
	x := result.Lateness{Network: result.NewBounds(&l.Network), ByPoller: []result.PollerBound{}, Asleep: l.Asleep,
		Timers: result.NewBounds(&l.Timers), UnboundedTimers: l.UnboundedTimers}
	if l.Together.Count() > 0 {
		x.Together, x.Silences = result.NewBounds(&l.Together), l.silences
	}
	for p := range l.ByPoller {
		if l.ByPoller[p].Count() > 0 {
			x.ByPoller = append(x.ByPoller, result.PollerBound{Poller: model.Poller(p).String(), Bounds: result.NewBounds(&l.ByPoller[p])})
		}
	}
	v.Lateness = x
}
