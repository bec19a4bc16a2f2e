package replay

import (
	"github.com/schedscope/schedscope/analyze/refsched"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/internal/hdr"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// minSamples is the number of samples below which a cost keeps its default.
const minSamples = 10

// numQuantiles is the length of the distributions that are estimated.
const numQuantiles = 512

// calibrator observes a trace and estimates what scheduling cost in it. It implements [model.StepObserver],
// [runqueue.StartObserver] and [runqueue.WakeupObserver]. It must get steps before the resolver: starts that come before
// their step are not counted.
//
// A trace has two kinds of error. Its clock ticks every 64 ns on most platforms, so that a single short time is off by up
// to a tick, either way. And the operating system may take a thread away at any moment, which only ever lengthens what is
// measured, sometimes by milliseconds. Hence each cost is a low or middle quantile of many samples, or, where it is only a
// few ticks long, their mean without the lowest and the highest tenth (estimators).
//
// What is measured is the time between two events, and those do not stand exactly where a simulated operation begins and
// ends (the runtime emits a wake before it queues the goroutine, and a start after it took it). The simulator has the same
// events at the same places, so the costs are what lies between events, not what a line of the runtime takes.
//
// Its memory is a few kilobytes per cost, some words per thread and proc, and the starts that the resolver holds back, at
// most maxHeld.
type calibrator struct {
	samples [refsched.NumCosts]samples
	threads map[model.ThreadID]*thread
	lost    []model.Time // by proc: when it was last given up
	entered []model.Time // by proc: when a system call last began on it
	// picks are the starts that the resolver has yet to explain, from first on.
	picks []pick
	first int
}

// samples are the lengths of time that were measured.
type samples struct {
	hdr.Histogram
	n int64
}

// longestSample is what longer samples count as: of no use as a cost, they only have to stay above the others.
const longestSample model.Duration = 10_000_000_000

// add counts a sample; negative ones, which only a broken trace can give, as 0.
func (s *samples) add(d model.Duration) {
	s.Add(int64(min(max(d, 0), longestSample)), 1)
	s.n++
}

// quantile returns the q-quantile by nearest rank, 0 if there are no samples.
func (s *samples) quantile(q float64) model.Duration { return model.Duration(s.At(dist.Rank(q, s.n))) }

// midMean returns the mean of the samples without the lowest and the highest tenth, 0 if there are none. Unlike a median
// it is not bound to the ticks of the clock, and unlike a mean it does not see what the operating system did to some.
func (s *samples) midMean() model.Duration {
	low, high := s.n/10, s.n-s.n/10
	if high == low {
		return 0
	}
	sum, passed := int64(0), int64(0)
	s.Each(func(v, n int64) {
		if in := min(passed+n, high) - max(passed, low); in > 0 {
			sum += in * v
		}
		passed += n
	})
	return model.Duration((sum + (high-low)/2) / (high - low))
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
	ranGo               bool       // it ran a goroutine
	seen                model.Time // when it was first seen
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

func newCalibrator() *calibrator {
	return &calibrator{threads: map[model.ThreadID]*thread{}}
}

func (c *calibrator) thread(m model.ThreadID, at model.Time) *thread {
	t := c.threads[m]
	if t == nil {
		t = &thread{seen: at}
		c.threads[m] = t
	}
	return t
}

// Step implements [model.StepObserver].
func (c *calibrator) Step(s *model.Step) {
	switch s.Kind {
	case model.StepGo:
		c.goStep(s)
	case model.StepMove:
		c.move(s)
	}
}

func (c *calibrator) goStep(s *model.Step) {
	if s.Flags&model.StepStatus != 0 || s.M == model.NoThread {
		return
	}
	t := c.thread(s.M, s.Time)
	from, to := model.GoState(s.From), model.GoState(s.To)
	switch {
	case to == model.GoRunning:
		c.note(s, t)
		t.state, t.ranGo = threadBusy, true
	case from == model.GoRunning && to != model.GoSyscall:
		t.state, t.since, t.wakes = threadStopped, s.Time, false
	case to == model.GoSyscall:
		t.state = threadBusy
		if s.P >= 0 && int(s.P) < len(c.entered) {
			c.entered[s.P] = s.Time
		}
	case to == model.GoRunnable && s.By == model.NoGoroutine && from != model.GoSyscall:
		if !t.wakes {
			t.wakes, t.firstWake = true, s.Time
		}
		t.lastWake = s.Time
	}
}

// note remembers a start until the resolver reports where it came from.
func (c *calibrator) note(s *model.Step, t *thread) {
	if t.state == threadBusy {
		return
	}
	if len(c.picks) >= maxHeld {
		c.forget(max(c.first, len(c.picks)/2))
	}
	p := pick{at: s.Time, g: s.G, state: t.state, wakes: t.wakes, since: s.Time.Sub(t.since), freed: s.Time.Sub(t.freed)}
	if t.wakes {
		p.poll, p.hand = t.firstWake.Sub(t.since), s.Time.Sub(t.lastWake)
	}
	c.picks = append(c.picks, p)
}

// forget drops the first n starts.
func (c *calibrator) forget(n int) {
	c.picks, c.first = c.picks[:copy(c.picks, c.picks[n:])], 0
}

// Retakes by sysmon that are less apart than it sleeps belong to one round of it; more
// than slackMost apart, something else made it sleep longer.
const (
	slackLeast = refsched.SysmonMin
	slackMost  = 10 * refsched.SysmonMin
)

// move follows procs between threads:
//
//  1. A proc that sysmon took from a system call (runtime/proc.go: retake): its thread is the only one that takes procs and
//     runs no goroutines. It does not take one from a call that it has not seen in the round before.
//  2. A proc that a thread gave up.
//  3. A proc that a thread got.
func (c *calibrator) move(s *model.Step) {
	if s.Flags&model.StepStatus != 0 || s.P < 0 {
		return
	}
	for int(s.P) >= len(c.lost) {
		c.lost, c.entered = append(c.lost, s.Time), append(c.entered, s.Time-model.Time(2*slackMost))
	}
	if s.M != model.NoThread && s.FromM != s.M && s.FromM != model.NoThread {
		if t := c.thread(s.M, s.Time); !t.ranGo && s.By == model.NoGoroutine && s.ToM != s.M {
			for _, d := range [...]model.Duration{s.Time.Sub(t.retook), s.Time.Sub(c.entered[s.P])} {
				if t.retaking && d >= slackLeast && d <= slackMost {
					c.samples[refsched.CostSlack].add(d - slackLeast)
				}
			}
			t.retook, t.retaking = s.Time, true
		}
	}
	if s.ToM == model.NoThread {
		c.thread(s.FromM, s.Time).state = threadBusy
		c.lost[s.P] = s.Time
		return
	}
	t := c.thread(s.ToM, s.Time)
	t.state, t.since, t.wakes, t.freed = threadGot, s.Time, false, c.lost[s.P]
}

// take returns what was noted of a start, and forgets it and those before.
func (c *calibrator) take(s *runqueue.Start) (p pick, ok bool) {
	for ; !ok && c.first < len(c.picks) && c.picks[c.first].at <= s.Time; c.first++ {
		p = c.picks[c.first]
		ok = p.at == s.Time && p.g == s.G
	}
	if c.first > 1024 && c.first > len(c.picks)/2 {
		c.forget(c.first)
	}
	return p, ok
}

// sleptLeast is less than a search takes in which the thief slept before another's runnext, with the
// usual timer slack of Linux (50 us), and more than one takes in which it did not. Threads with
// real-time priority have no slack.
const sleptLeast model.Duration = 30_000

// Start implements [runqueue.StartObserver].
func (c *calibrator) Start(s *runqueue.Start) {
	p, ok := c.take(s)
	if !ok || s.Grade == runqueue.GradeContradicted {
		return
	}
	add := func(k refsched.Cost, when bool, d model.Duration) {
		if when {
			c.samples[k].add(d)
		}
	}
	quiet := !p.wakes && s.Pseudo == model.NotPseudo
	stopped := quiet && p.state == threadStopped // the start is on the thread that had stopped another goroutine
	switch s.Source {
	case runqueue.SourceNetpoll: // the wakes are the poll's own
		add(refsched.CostPoll, p.wakes && p.state == threadStopped, p.poll)
		add(refsched.CostDirect, p.wakes, p.hand)
	case runqueue.SourceLocked:
		add(refsched.CostLocked, p.state == threadGot, p.freed)
	case runqueue.SourceRunnext:
		add(refsched.CostRunnext, stopped, p.since)
	case runqueue.SourceLocal:
		add(refsched.CostLocal, stopped, p.since)
	case runqueue.SourceGlobal:
		add(refsched.CostGlobal, stopped, p.since)
	case runqueue.SourceSystem:
		add(refsched.CostDirect, stopped, p.since)
	case runqueue.SourceSteal:
		// The thief may have slept before the runnext of its victim until the goroutine there was kicked into the queue.
		add(refsched.CostSteal, quiet && p.since < refsched.StealBackOff, p.since)
		add(refsched.CostBackOff, quiet && p.since >= sleptLeast, p.since)
	case runqueue.SourceStealRunnext:
		add(refsched.CostBackOff, quiet && p.since >= refsched.StealBackOff, p.since) // else the owner was in a system call
	}
}

// Wakeup implements [runqueue.WakeupObserver]. A thread that was never seen may be new, which takes longer.
func (c *calibrator) Wakeup(w *runqueue.Wakeup) {
	if t := c.threads[w.M]; w.Caused && (t == nil || t.seen != w.Got) {
		c.samples[refsched.CostWake].add(w.Got.Sub(w.Trigger))
	}
}

// wakers adds what waking threads took of the computing of goroutines, which only their
// work shows: workload.Recorded.Wakers.
func (c *calibrator) wakers(values []model.Duration) {
	for _, d := range values {
		c.samples[refsched.CostWaker].add(d)
	}
}

// middle80 stands for the mean of the middle 80 %, where a quantile would: of times that are a few ticks of the clock long.
const middle80 = -1

// estimators say of which samples and how a cost is estimated: by a quantile of them, or middle80. Costs without samples keep
// their defaults: a trace does not show when sysmon asks (CostNotice) or data arrives (CostEpoll), and of how long searches,
// new threads, stops of the world and ways out of system calls take hardly any figure depends (CostSpin, CostClone,
// CostPreempt, CostExit).
var estimators = [refsched.NumCosts]float64{
	refsched.CostRunnext: middle80, // of stop to start on the same thread
	refsched.CostLocal:   middle80, // the same
	refsched.CostGlobal:  middle80, // the same
	refsched.CostSteal:   0.25,     // of stop, or getting a proc, to start, if less than a back-off takes
	refsched.CostPoll:    middle80, // of stop to the first wake by a poll that did not sleep
	refsched.CostDirect:  middle80, // of the poll's last wake to start, and of stop to start of mark workers and the trace reader
	refsched.CostBackOff: 0.5,      // of search to start of what was stolen after a sleep, see less and estimate
	// of a goroutine's becoming runnable, while nobody spins, or of the loss of a proc to a system call to a known thread's
	// getting the proc
	refsched.CostWake:   0.5,
	refsched.CostWaker:  0.5, // of the time to the next event beyond what is usual at the same place
	refsched.CostLocked: 0.5, // of the proc's being given up to start
	refsched.CostSlack:  0.1, // of the time between two retakes, see move, less 20 us; see estimate
}

// measured returns what the samples of this cost say, if there are enough.
func (c *calibrator) measured(k refsched.Cost) (model.Duration, bool) {
	s := &c.samples[k]
	if s.n < minSamples {
		return 0, false
	}
	if estimators[k] == middle80 {
		return c.less(k, s.midMean()), true
	}
	return c.less(k, s.quantile(estimators[k])), true
}

// less takes off what else is in a sample: before a thief slept it asked everybody
// three times; after it, it took what was there.
func (c *calibrator) less(k refsched.Cost, d model.Duration) model.Duration {
	if k != refsched.CostBackOff {
		return d
	}
	of := refsched.DefaultCosts().Single
	steal, ok := c.measured(refsched.CostSteal)
	if !ok {
		steal = of[refsched.CostSteal]
	}
	return max(0, d-steal-of[refsched.CostSpin]*(refsched.StealPasses-1)/refsched.StealPasses)
}

// estimate returns a cost as the trace shows it, if it does, or as another one determines it: a thief's sleep is 3 us and
// the timer slack (runtime/proc.go: runqgrab).
func (c *calibrator) estimate(k refsched.Cost) (model.Duration, bool) {
	if d, ok := c.measured(k); ok {
		return d, true
	}
	switch k {
	case refsched.CostSlack:
		d, ok := c.measured(refsched.CostBackOff)
		return max(0, d-refsched.StealBackOff), ok
	case refsched.CostBackOff:
		d, ok := c.measured(refsched.CostSlack)
		return d + refsched.StealBackOff, ok
	}
	return 0, false
}

// quantiles returns values at the middles of equal parts of the distribution, from a quantile on, nil of few
// samples. The longest are threads that the operating system did not let run: that is part of the recording
// ([refsched.Costs.Quiet] leaves it out).
func (c *calibrator) quantiles(k refsched.Cost, from float64) []model.Duration {
	if n := c.samples[k].n; n < minSamples || from > 0 && n <= numQuantiles { // all from there on are one sample
		return nil
	}
	q := make([]model.Duration, numQuantiles)
	for i := range q {
		q[i] = c.less(k, c.samples[k].quantile(from+(1-from)*(float64(i)+0.5)/numQuantiles))
	}
	return q
}

// costs returns what scheduling costs: as the trace shows it so far, else the default.
func (c *calibrator) costs() refsched.Costs {
	costs := refsched.DefaultCosts()
	for k := range refsched.NumCosts {
		if d, ok := c.estimate(k); ok {
			costs.Single[k] = d
		}
		costs.Drawn[k], costs.Tail[k] = c.quantiles(k, 0), c.quantiles(k, 1-1.0/numQuantiles)
	}
	return costs
}
