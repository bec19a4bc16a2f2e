package calibrate

import (
	"github.com/schedscope/schedscope/analyze/refsched"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// MinSamples is the number of samples below which a parameter keeps its default.
const MinSamples = 20

// NumQuantiles is the length of the quantiles that are estimated.
const NumQuantiles = 64

// Options say how to calibrate. The zero value is what is usually wanted.
type Options struct {
	// MinSamples, if positive, replaces the constant.
	MinSamples int64
	// Defaults, if not nil, replace refsched.DefaultCosts.
	Defaults *refsched.Costs
}

// Calibrator observes a trace and estimates costs. It implements
// [model.StepObserver], [runqueue.StartObserver] and [runqueue.WakeupObserver].
// Register it with the machine before the resolver: starts that come before their
// step are not counted.
//
// Its memory is a few kilobytes per parameter, some words per thread and proc,
// and the starts that the resolver holds back, at most maxHeld.
type Calibrator struct {
	options  Options
	defaults refsched.Costs

	samples [numKinds]sketch
	handed  sketch // from the loss of a proc to a system call to another thread's having it
	threads map[model.ThreadID]*thread
	highest model.ThreadID // number of a thread so far
	// lost is when each proc was last given up, by index.
	lost []model.Time
	// entered is when a system call last began on each.
	entered []model.Time
	// picks are the starts that the resolver has yet to explain, from first on.
	picks []pick
	first int

	stopping bool // the world is being stopped, since stopAt, by stopper
	stopAt   model.Time
	stopper  model.ThreadID

	sends sends
}

// thread is what a thread was last seen doing.
type thread struct {
	// state and since: what it does between goroutines.
	state threadState
	since model.Time
	freed model.Time // when the proc that it got had been given up before
	// wakes: it made goroutines runnable since, at firstWake and lastWake. Its search
	// took longer for that.
	wakes               bool
	firstWake, lastWake model.Time
	ranGo               bool // it ran a goroutine
	newest              bool // it had the highest number when it was first seen, at seen
	seen                model.Time
	retook              model.Time // when it last took a proc from a system call
	retaking            bool
}

type threadState uint8

const (
	threadBusy    threadState = iota // runs a goroutine, or nothing is known
	threadStopped                    // stopped a goroutine
	threadGot                        // got a proc
)

// pick is a start with what its thread did just before.
type pick struct {
	at    model.Time
	g     model.GoID
	state threadState
	wakes bool
	since model.Duration // since that
	poll  model.Duration // of that, until the first wake
	hand  model.Duration // since the last wake
	freed model.Duration // since the proc was given up
}

// maxHeld is how many starts are remembered at most until they are explained; the
// resolver holds back some hundreds.
const maxHeld = 1 << 16

// New returns a Calibrator for a trace of Go 1.22 or newer whose strings are in t.
func New(t *model.Tables, o Options) *Calibrator {
	c := &Calibrator{options: o, defaults: refsched.DefaultCosts(), threads: map[model.ThreadID]*thread{}, highest: model.NoThread,
		sends: sends{tables: t}}
	if o.Defaults != nil {
		c.defaults = *o.Defaults
	}
	if o.MinSamples <= 0 {
		c.options.MinSamples = MinSamples
	}
	return c
}

func (c *Calibrator) thread(m model.ThreadID, at model.Time) *thread {
	t := c.threads[m]
	if t == nil {
		t = &thread{seen: at, newest: c.highest != model.NoThread && m > c.highest}
		c.threads[m] = t
		c.highest = max(c.highest, m)
	}
	return t
}

// Step implements [model.StepObserver].
func (c *Calibrator) Step(s *model.Step) {
	switch s.Kind {
	case model.StepGo:
		c.goStep(s)
	case model.StepMove:
		c.move(s)
	case model.StepStopping:
		c.stopping, c.stopAt, c.stopper = true, s.Time, s.M
	case model.StepStopped, model.StepRestarted:
		c.stopping = false
	}
}

func (c *Calibrator) goStep(s *model.Step) {
	if s.Flags&model.StepStatus != 0 || s.M == model.NoThread {
		return
	}
	t := c.thread(s.M, s.Time)
	from, to := model.GoState(s.From), model.GoState(s.To)
	c.sends.step(c, s, from, to)
	switch {
	case to == model.GoRunning:
		c.pick(s, t)
		t.state, t.ranGo = threadBusy, true
	case from == model.GoRunning && to != model.GoSyscall:
		if c.stopping && to == model.GoRunnable && s.M != c.stopper {
			c.samples[ofPreempt].add(s.Time.Sub(c.stopAt))
		}
		t.state, t.since, t.wakes = threadStopped, s.Time, false
	case to == model.GoSyscall:
		t.state = threadBusy
		if s.P >= 0 && int(s.P) < len(c.entered) {
			c.entered[s.P] = s.Time
		}
	case to == model.GoRunnable && s.By == model.NoGoroutine && from != model.GoSyscall:
		if s.Origin == model.OriginNetpoll && s.Poller == model.PollerBlocking && !t.wakes && t.state == threadGot {
			c.sends.polled(c, t.since)
		}
		if !t.wakes {
			t.wakes, t.firstWake = true, s.Time
		}
		t.lastWake = s.Time
	}
}

// pick notes a start until the resolver tells where it came from.
func (c *Calibrator) pick(s *model.Step, t *thread) {
	if t.state == threadBusy {
		return
	}
	if len(c.picks) >= maxHeld {
		n := copy(c.picks, c.picks[max(c.first, len(c.picks)/2):])
		c.picks, c.first = c.picks[:n], 0
	}
	p := pick{at: s.Time, g: s.G, state: t.state, wakes: t.wakes, since: s.Time.Sub(t.since), freed: s.Time.Sub(t.freed)}
	if t.wakes {
		p.poll, p.hand = t.firstWake.Sub(t.since), s.Time.Sub(t.lastWake)
	}
	c.picks = append(c.picks, p)
}

// move follows procs between threads.
func (c *Calibrator) move(s *model.Step) {
	if s.Flags&model.StepStatus != 0 || s.P < 0 {
		return
	}
	for int(s.P) >= len(c.lost) {
		c.lost, c.entered = append(c.lost, s.Time), append(c.entered, s.Time-model.Time(2*slackMost))
	}
	if s.M != model.NoThread && s.FromM != s.M && s.FromM != model.NoThread {
		c.retake(s)
	}
	if s.ToM == model.NoThread {
		c.giveUp(s)
		c.lost[s.P] = s.Time
		return
	}
	t := c.thread(s.ToM, s.Time)
	t.state, t.since, t.wakes, t.freed = threadGot, s.Time, false, c.lost[s.P]
}

// giveUp accounts for a search that found nothing (runtime/proc.go: findRunnable) of
// a thread that had got the proc to search. One that had stopped a goroutine may
// give its proc up without: to a thread that a goroutine is locked to. Those
// that slept before another's runnext are left out.
func (c *Calibrator) giveUp(s *model.Step) {
	t := c.thread(s.FromM, s.Time)
	if d := s.Time.Sub(t.since); s.M == s.FromM && t.state == threadGot && !t.wakes && !c.stopping && d < spinMost {
		c.samples[ofSpin].add(d)
	}
	t.state = threadBusy
}

// spinMost is less than a search takes that slept, on systems with timer slack.
const spinMost model.Duration = 50_000

// Retakes by sysmon that are less apart than it sleeps belong to one round of it; more
// than slackMost apart, something else made it sleep longer.
const (
	slackLeast = refsched.SysmonMin
	slackMost  = 10 * refsched.SysmonMin
)

// retake accounts for a proc that sysmon took from a system call (runtime/proc.go: retake):
// its thread is the only one that takes procs and runs no goroutines.
func (c *Calibrator) retake(s *model.Step) {
	t := c.thread(s.M, s.Time)
	if t.ranGo || s.By != model.NoGoroutine || s.ToM == s.M {
		return
	}
	// Nor does it take one from a call that it has not seen in the round before.
	for _, d := range [...]model.Duration{s.Time.Sub(t.retook), s.Time.Sub(c.entered[s.P])} {
		if t.retaking && d >= slackLeast && d <= slackMost {
			c.samples[ofSlack].add(d - slackLeast)
		}
	}
	t.retook, t.retaking = s.Time, true
}

// take returns what was noted of a start, and forgets it and those before.
func (c *Calibrator) take(s *runqueue.Start) (pick, bool) {
	for ; c.first < len(c.picks) && c.picks[c.first].at <= s.Time; c.first++ {
		if p := c.picks[c.first]; p.at == s.Time && p.g == s.G {
			c.first++
			c.drop()
			return p, true
		}
	}
	c.drop()
	return pick{}, false
}

// drop makes room when half of what is held was explained.
func (c *Calibrator) drop() {
	if c.first > 1024 && c.first > len(c.picks)/2 {
		n := copy(c.picks, c.picks[c.first:])
		c.picks, c.first = c.picks[:n], 0
	}
}

// Start implements [runqueue.StartObserver].
func (c *Calibrator) Start(s *runqueue.Start) {
	p, ok := c.take(s)
	if !ok || s.Grade == runqueue.GradeContradicted {
		return
	}
	switch s.Source {
	case runqueue.SourceNetpoll:
		c.polled(&p)
		return
	case runqueue.SourceSyscall:
		if p.state == threadGot {
			c.samples[ofExit].add(p.since)
		}
		return
	case runqueue.SourceLocked:
		if p.state == threadGot {
			c.samples[ofLocked].add(p.freed)
		}
		return
	}
	if p.wakes || s.Pseudo != model.NotPseudo {
		return
	}
	switch s.Source {
	case runqueue.SourceRunnext:
		c.stopped(ofRunnext, &p)
	case runqueue.SourceLocal:
		c.stopped(ofLocal, &p)
	case runqueue.SourceGlobal:
		c.stopped(ofGlobal, &p)
	case runqueue.SourceSystem:
		c.stopped(ofDirect, &p)
	case runqueue.SourceSteal:
		c.stolen(&p)
	case runqueue.SourceStealRunnext:
		if p.since >= refsched.StealBackOff { // else the owner was in a system call
			c.samples[ofBackOff].add(p.since)
		}
	}
}

// sleptLeast is less than a search takes in which the thief slept before another's runnext, with the
// usual timer slack of Linux (50 us), and more than one takes in which it did not. Threads with
// real-time priority have no slack.
const sleptLeast model.Duration = 30_000

// stolen counts a start of what was in another proc's local queue. The thief may have
// slept before that's runnext until the goroutine there was kicked into the queue.
func (c *Calibrator) stolen(p *pick) {
	if p.since < refsched.StealBackOff {
		c.samples[ofSteal].add(p.since)
	} else if p.since >= sleptLeast {
		c.samples[ofBackOff].add(p.since)
	}
}

// polled counts a start of what a poll of the network found: the wakes are the poll's own.
func (c *Calibrator) polled(p *pick) {
	if !p.wakes {
		return
	}
	if p.state == threadStopped {
		c.samples[ofPoll].add(p.poll)
	}
	c.samples[ofDirect].add(p.hand)
}

// stopped counts a start on the thread that had stopped another goroutine.
func (c *Calibrator) stopped(k sampleKind, p *pick) {
	if p.state == threadStopped {
		c.samples[k].add(p.since)
	}
}

// Wakeup implements [runqueue.WakeupObserver].
func (c *Calibrator) Wakeup(w *runqueue.Wakeup) {
	d := w.Got.Sub(w.Trigger)
	if w.Handoff && w.Caused {
		c.handed.add(d)
	}
	if !w.Caused || w.Handoff {
		return
	}
	// A thread that was never seen may have slept since before the trace; numbers of
	// threads mostly grow.
	if t := c.threads[w.M]; t != nil && t.seen == w.Got {
		if t.newest {
			c.samples[ofClone].add(d)
		}
		return
	}
	c.samples[ofWake].add(d)
}

// Wakers adds what waking threads took of the computing of goroutines, which only their
// work shows: workload.Recorded.Wakers.
func (c *Calibrator) Wakers(values []model.Duration) {
	for _, d := range values {
		c.samples[ofWaker].add(d)
	}
}
