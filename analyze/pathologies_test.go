package analyze

import (
	"reflect"
	"testing"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// symptoms feeds a Pathologies by hand.
type symptoms struct {
	records
	*Pathologies
}

func newSymptoms() symptoms {
	r := newRecords()
	return symptoms{r, NewPathologies(r.tables)}
}

// change tells that a goroutine changed its state on proc p and thread m.
func (s symptoms) change(at model.Duration, g model.GoID, from, to model.GoState, since model.Duration, more func(*model.Step)) {
	x := model.Step{Kind: model.StepGo, Time: model.Time(at), Since: model.Time(since), G: g, By: model.NoGoroutine,
		M: 1, P: 0, From: uint8(from), To: uint8(to), Func: s.str("main.f")}
	if more != nil {
		more(&x)
	}
	s.Step(&x)
}

// waits lets a goroutine wait to run.
func (s symptoms) waits(from, to model.Duration, g model.GoID) {
	s.change(from, g, model.GoWaiting, model.GoRunnable, 0, nil)
	s.change(to, g, model.GoRunnable, model.GoRunning, from, nil)
}

func on(p model.ProcID) func(*model.Step) { return func(x *model.Step) { x.P = p } }

// proc tells what a proc does from now on.
func (s symptoms) proc(at model.Duration, p model.ProcID, to model.ProcState, work model.WorkKind, g model.GoID) {
	s.Step(&model.Step{Kind: model.StepProc, Time: model.Time(at), P: p, G: g, To: uint8(to), Work: work, Func: s.str("main.f")})
}

// event tells that something happened, which ends a silence.
func (s symptoms) event(at model.Duration) { s.Event(&model.Event{Time: model.Time(at)}) }

// starts makes a start of a goroutine of the program.
func (s symptoms) starts(at, since model.Duration, p model.ProcID, fn string, from runqueue.Source) *runqueue.Start {
	return &runqueue.Start{Time: model.Time(at), Since: model.Time(since), Search: model.Time(at), P: p, Func: s.str(fn), Source: from,
		LastP: model.NoProc, FromP: model.NoProc, QueueP: model.NoProc}
}

// only returns the one pathology found, which must have the name.
func (s symptoms) only(t *testing.T, name string, end model.Duration) result.Pathology {
	t.Helper()
	s.Finish(0, model.Time(end))
	found := s.Found()
	if len(found) != 1 || found[0].Name != name {
		t.Fatalf("found %+v, want %s", found, name)
	}
	if x := found[0]; x.Meaning == "" || x.Advice == "" || len(x.Evidence) == 0 {
		t.Errorf("%s lacks meaning, advice or evidence", name)
	}
	return found[0]
}

// none checks that nothing was found.
func (s symptoms) none(t *testing.T, end model.Duration) {
	t.Helper()
	s.Finish(0, model.Time(end))
	if found := s.Found(); len(found) > 0 {
		t.Errorf("found %+v, want nothing", found)
	}
}

func evidence(t *testing.T, p result.Pathology, name string) float64 {
	t.Helper()
	for _, e := range p.Evidence {
		if e.Name == name {
			return e.Value
		}
	}
	t.Fatalf("%s: no evidence %q in %+v", p.Name, name, p.Evidence)
	return 0
}

// polled wakes a goroutine by sysmon's poll, each 10 ms.
func (s symptoms) polled(n int, poller model.Poller) {
	for i := range n {
		at := model.Duration(i+1) * 10 * ms
		s.change(at, 7, model.GoWaiting, model.GoRunnable, at-15*ms, func(x *model.Step) {
			x.Origin, x.Poller, x.P, x.M = model.OriginNetpoll, poller, model.NoProc, 9
		})
	}
}

func TestNetpollStarvation(t *testing.T) {
	s := newSymptoms()
	s.polled(4, model.PollerSysmon)
	x := s.only(t, "netpoll-starvation", 50*ms)
	equal(t, "count", x.Count, 4)
	equal(t, "worst", x.Worst, 10*ms)
	equal(t, "grade", x.Grade, result.Certain)
	equal(t, "total", x.Total, 0)
	equal(t, "spaced", evidence(t, x, "of those about 10 ms after the one before"), 3)
	equal(t, "busy", evidence(t, x, "of those while no proc was idle"), 4)
	equal(t, "who", x.Who[0].Function, "main.f")

	s = newSymptoms()
	s.polled(4, model.PollerAmbiguous)
	equal(t, "grade by pace", s.only(t, "netpoll-starvation", 50*ms).Grade, result.Inferred)

	s = newSymptoms()
	s.change(0, 8, model.GoRunnable, model.GoRunning, 0, func(x *model.Step) { x.M = 9 })
	s.polled(4, model.PollerAmbiguous) // by a thread that ran goroutines: not sysmon
	s.none(t, 50*ms)

	s = newSymptoms()
	s.polled(2, model.PollerSysmon)
	s.none(t, 50*ms)
}

func TestHandoffStorm(t *testing.T) {
	s := newSymptoms()
	retake := func(at model.Duration) {
		s.handoffs.SyscallExit(nil)
		s.handoffs.Handoff(&model.Handoff{Cause: model.HandoffSysmon, InSyscall: 50 * us, Lost: model.Time(at), Got: model.Time(at + 10*us)})
	}
	for i := range 2 * 99 {
		retake(model.Duration(i/99)*200*ms + model.Duration(i%99)*ms)
	}
	a := *s.Pathologies
	a.Finish(0, model.Time(300*ms))
	equal(t, "found at 990 per second", len(a.Found()), 0)
	retake(299 * ms)
	s.handoffs.ThreadStart(nil)
	x := s.only(t, "handoff-storm", 300*ms)
	equal(t, "rate", evidence(t, x, "retakes by sysmon in the worst 100 ms"), 1000)
	equal(t, "in storms", evidence(t, x, "of those in storms"), 100)
	equal(t, "share", evidence(t, x, "share of system calls"), 1)
	equal(t, "total", x.Total, 199*10*us)
	equal(t, "end of the first of the longest", x.At, model.Time(10*us))
	equal(t, "threads", evidence(t, x, "new threads"), 1)
}

func TestRunnextChain(t *testing.T) {
	s := newSymptoms()
	s.Start(s.starts(0, 0, 0, "main.ping", runqueue.SourceLocal))
	for i := range 24 {
		fn := []string{"main.pong", "main.ping"}[i%2]
		s.Start(s.starts(model.Duration(i)*ms, model.Duration(i)*ms, 0, fn, runqueue.SourceRunnext))
	}
	s.Start(s.starts(24*ms, 24*ms, 0, "main.once", runqueue.SourceRunnext))
	victim := s.starts(25*ms, 4*ms, 0, "main.victim", runqueue.SourceLocal)
	victim.LastP = 0
	s.Start(victim)
	x := s.only(t, "runnext-chain", 30*ms)
	equal(t, "count", x.Count, 1)
	equal(t, "behind", x.Worst, 21*ms)
	equal(t, "links", evidence(t, x, "starts through runnext in those chains"), 25)
	var ran []string
	for _, w := range x.Who {
		ran = append(ran, w.Role+" "+w.Function)
	}
	if want := []string{"ran main.ping", "ran main.pong", "waited main.victim"}; !reflect.DeepEqual(ran, want) {
		t.Errorf("parties %q, want %q", ran, want)
	}
}

// TestNoRunnextChain has as many starts, but one of them begins a new slice.
func TestNoRunnextChain(t *testing.T) {
	s := newSymptoms()
	s.Start(s.starts(0, 0, 0, "main.ping", runqueue.SourceLocal))
	for i := range 24 {
		from := runqueue.SourceRunnext
		if i%9 == 8 {
			from = runqueue.SourceLocal
		}
		s.Start(s.starts(model.Duration(i)*ms, model.Duration(i)*ms, 0, "main.pong", from))
	}
	victim := s.starts(25*ms, 4*ms, 0, "main.victim", runqueue.SourceLocal)
	victim.LastP = 0
	s.Start(victim)
	s.none(t, 30*ms)
}

// passed has n goroutines start past one that was preempted.
func (s symptoms) passed(n int, length model.Duration) {
	s.Step(&model.Step{Kind: model.StepProcs, N: 1})
	s.proc(1, 0, model.ProcRunning, model.WorkUser, 2)
	s.change(0, 1, model.GoRunning, model.GoRunnable, 0, func(x *model.Step) { x.Origin = model.OriginPreempted })
	for i := range n {
		at := length * model.Duration(i) / model.Duration(n)
		s.change(at, 2, model.GoWaiting, model.GoRunnable, 0, func(x *model.Step) { x.Origin = model.OriginGoroutine })
		s.change(at+1, 2, model.GoRunnable, model.GoRunning, at, nil)
		s.change(at+2, 2, model.GoRunning, model.GoWaiting, at+1, nil)
	}
}

func TestGlobalQueueAging(t *testing.T) {
	s := newSymptoms()
	s.passed(122, 20*ms)
	s.change(20*ms, 1, model.GoRunnable, model.GoRunning, 0, nil)
	x := s.only(t, "global-queue-aging", 21*ms)
	equal(t, "worst", x.Worst, 20*ms)
	equal(t, "overtaken", evidence(t, x, "most starts past one of them, at least"), 123) // its own start
	s = newSymptoms()
	s.passed(130, 20*ms)
	equal(t, "unfinished", evidence(t, s.only(t, "global-queue-aging", 21*ms), "still waiting at the end"), 1)
	s = newSymptoms()
	s.passed(120, 20*ms)
	s.none(t, 21*ms)
	s = newSymptoms()
	s.passed(1000, 9*ms)
	s.change(9*ms+10, 1, model.GoRunnable, model.GoRunning, 0, nil)
	s.none(t, 10*ms)
}

// lateTimer runs a burst and then has timers fire on its proc.
func (s symptoms) lateTimer(at, burst model.Duration, timers int) {
	s.change(at, 1, model.GoRunnable, model.GoRunning, at, nil)
	s.change(at+burst, 1, model.GoRunning, model.GoRunnable, at, nil)
	for i := range timers {
		s.change(at+burst+1*us, model.GoID(10+i), model.GoWaiting, model.GoRunnable, 0, func(x *model.Step) { x.Origin = model.OriginTimer })
	}
}

func TestLateTimers(t *testing.T) {
	s := newSymptoms()
	for i := range 5 {
		s.lateTimer(model.Duration(i)*20*ms+1, 12*ms, 2)
	}
	x := s.only(t, "timers-late-behind-busy-proc", 100*ms)
	equal(t, "count", x.Count, 10)
	equal(t, "worst", x.Worst, 12*ms+1*us)
	equal(t, "bunched", evidence(t, x, "of those together with another"), 5)
	equal(t, "late timers", s.Late.Timers.Count(), 10)
	equal(t, "bound", s.Late.Timers.Max(), 12*ms+1*us)
	s = newSymptoms()
	for i := range 5 {
		s.lateTimer(model.Duration(i)*20*ms+1, 9*ms, 2)
	}
	s.none(t, 100*ms)
}

func TestGCAssists(t *testing.T) {
	for _, c := range []struct {
		assist, wait model.Duration
		found        bool
	}{{1 * ms, 0, true}, {900 * us, 0, false}, {500 * us, 600 * us, true}} {
		s := newSymptoms()
		s.proc(1, 0, model.ProcRunning, model.WorkUser, 1)
		s.proc(1+10*ms, 0, model.ProcRunning, model.WorkGCAssist, 1)
		s.proc(1+10*ms+c.assist, 0, model.ProcIdle, 0, model.NoGoroutine)
		if c.wait > 0 {
			s.change(10*ms+c.assist+c.wait+1, 1, model.GoWaiting, model.GoRunnable, 10*ms+c.assist+1, func(x *model.Step) {
				x.Reason, x.Origin = s.words.assistWait, model.OriginGC
			})
			s.change(10*ms+c.assist+c.wait+2, 1, model.GoRunnable, model.GoRunning, 10*ms+c.assist+c.wait+1, nil)
		}
		if !c.found {
			s.none(t, 20*ms)
			continue
		}
		x := s.only(t, "gc-assists", 20*ms)
		equal(t, "total", x.Total, c.assist+c.wait)
	}
}

// still lets all threads be silent for a while as a proc searches.
func (s symptoms) still(until, length model.Duration) {
	s.event(until - length)
	s.proc(until-length, 0, model.ProcSearching, 0, model.NoGoroutine)
	s.event(until)
	s.proc(until, 0, model.ProcRunning, model.WorkUser, 1)
}

// busy fills the time up to a point with events, each 10 us.
func (s symptoms) busy(from, to model.Duration) {
	for at := from; at < to; at += 10 * us {
		s.event(at)
	}
}

func TestThrottling(t *testing.T) {
	s := newSymptoms()
	for i := range 6 {
		period := model.Duration(i) * 100 * ms
		s.busy(period+1, period+70*ms)
		s.still(period+100*ms, 20*ms+model.Duration(i)*ms)
	}
	x := s.only(t, "cpu-throttling", 610*ms)
	equal(t, "count", x.Count, 6)
	equal(t, "total", x.Total, (6*20+15)*ms)
	equal(t, "worst", x.Worst, 25*ms)
	equal(t, "regular", evidence(t, x, "that end 100 ms, or a multiple, after the one before"), 5)
	equal(t, "severity", x.Severity, result.Serious)
}

func TestFrozen(t *testing.T) {
	s := newSymptoms()
	for _, at := range []model.Duration{100 * ms, 130 * ms, 235 * ms, 280 * ms} {
		s.busy(at-15*ms, at-10*ms)
		s.still(at, 6*ms)
	}
	equal(t, "count", s.only(t, "frozen-process", 300*ms).Count, 4)
	// A thread that told something, if only a user's log: not all were silent.
	s = newSymptoms()
	for i := range 4 {
		at := model.Duration(i+1) * 30 * ms
		s.busy(at-29*ms, at-20*ms)
		s.event(at - 10*ms)
		s.proc(at-10*ms, 0, model.ProcSearching, 0, model.NoGoroutine)
		s.busy(at-9*ms, at)
		s.proc(at, 0, model.ProcRunning, model.WorkUser, 1)
	}
	s.none(t, 150*ms)
}

// TestSilentStop: neither what the world was stopped for, nor a goroutine that
// does not give way, is a process that stands still.
func TestSilentStop(t *testing.T) {
	s := newSymptoms()
	stop := func(kind model.StepKind, at model.Duration) {
		s.event(at)
		s.Step(&model.Step{Kind: kind, Time: model.Time(at), G: 1})
	}
	s.proc(1, 0, model.ProcRunning, model.WorkUser, 1)
	s.proc(2, 1, model.ProcRunning, model.WorkUser, 2)
	for i := range 4 {
		at := model.Duration(i+1) * 50 * ms
		s.busy(at-20*ms, at)
		stop(model.StepStopping, at)
		s.event(at + 6*ms)
		s.proc(at+6*ms, 1, model.ProcStopped, 0, model.NoGoroutine)
		stop(model.StepStopped, at+6*ms)
		stop(model.StepRestarted, at+16*ms)
		for p := range model.ProcID(2) {
			s.proc(at+16*ms, p, model.ProcRunning, model.WorkUser, 10*model.GoID(i+1)+model.GoID(p))
		}
	}
	s.none(t, 220*ms)
}

func TestLongBursts(t *testing.T) {
	s := newSymptoms()
	for i := range 3 {
		at := model.Duration(i) * 50 * ms
		s.change(at+35*ms, 1, model.GoRunning, model.GoWaiting, at, func(x *model.Step) {
			x.Stack = s.records.tables.AddStack([]model.Frame{{Func: "runtime.memmove"}, {Func: "main.copy"}, {Func: "main.f"}})
		})
	}
	x := s.only(t, "long-bursts-without-preemption", 200*ms)
	equal(t, "total", x.Total, 3*15*ms)
	equal(t, "place", x.Who[0].Place, "main.copy")
	s = newSymptoms()
	for i := range 3 {
		at := model.Duration(i) * 50 * ms
		s.change(at+29*ms, 1, model.GoRunning, model.GoWaiting, at, nil)
	}
	s.none(t, 200*ms)
}

// TestRareBursts: a long trace has some that nobody need care about.
func TestRareBursts(t *testing.T) {
	s := newSymptoms()
	for i := range 3 {
		at := model.Duration(i) * 1000 * ms
		s.change(at+35*ms, 1, model.GoRunning, model.GoWaiting, at, nil)
	}
	long := *s.Pathologies
	long.bursts.list = append([]overrunBurstAt(nil), s.bursts.list...)
	long.Finish(0, model.Time(4000*ms))
	equal(t, "found in 4 s", len(long.Found()), 0)
	s.only(t, "long-bursts-without-preemption", 3000*ms)
}

func TestIdleBeside(t *testing.T) {
	s := newSymptoms()
	s.proc(1, 0, model.ProcRunning, model.WorkUser, 1)
	s.proc(2, 0, model.ProcIdle, 0, model.NoGoroutine)
	for i := range model.Duration(100) {
		s.waits(i*ms+us, i*ms+101*us, 5)
	}
	a := *s.Pathologies
	a.Finish(0, model.Time(100*ms))
	equal(t, "found beside ordinary wakeups", len(a.Found()), 0)
	s.change(100*ms, 5, model.GoWaiting, model.GoRunnable, 0, nil)
	s.change(100*ms, 6, model.GoWaiting, model.GoRunnable, 0, func(x *model.Step) { x.Flags = model.StepSystem })
	s.waits(101*ms, 101*ms+50*us, 7)
	s.change(106*ms, 5, model.GoRunnable, model.GoRunning, 100*ms, nil)
	s.change(106*ms, 8, model.GoWaiting, model.GoRunnable, 0, nil) // goes on beyond the end
	x := s.only(t, "idle-procs-beside-runnable", 107*ms)
	equal(t, "count", x.Count, 2)
	equal(t, "total", x.Total, 7*ms-200*us)
	equal(t, "who", x.Who[0].Total, 7*ms)
	equal(t, "waits", evidence(t, x, "waits of goroutines of the program in those times"), 3)
	equal(t, "together", evidence(t, x, "of all those together"), float64(7*ms+50*us))
}

// TestIdleBesideSystem: what only goroutines of the runtime wait for is nobody's loss.
func TestIdleBesideSystem(t *testing.T) {
	s := newSymptoms()
	s.proc(1, 0, model.ProcRunning, model.WorkUser, 1)
	s.proc(2, 1, model.ProcIdle, 0, model.NoGoroutine)
	s.change(1*ms, 6, model.GoWaiting, model.GoRunnable, 0, func(x *model.Step) { x.Flags = model.StepSystem })
	s.none(t, 50*ms)
}

// TestIdleBesideSlowMachine: where waking always takes a good while, less than
// that says nothing, but only up to a millisecond.
func TestIdleBesideSlowMachine(t *testing.T) {
	s := newSymptoms()
	s.proc(1, 0, model.ProcRunning, model.WorkUser, 1)
	s.proc(2, 1, model.ProcIdle, 0, model.NoGoroutine)
	for range limitSamples {
		s.Wakeup(&runqueue.Wakeup{Caused: true, Trigger: 0, Got: model.Time(2 * ms)})
	}
	for i := range model.Duration(10) {
		s.waits(10*i*ms+us, 10*i*ms+900*us, 5)
	}
	a := *s.Pathologies
	a.Finish(0, model.Time(100*ms))
	equal(t, "found below the limit", len(a.Found()), 0)
	s.waits(100*ms, 109*ms, 5)
	equal(t, "total", s.only(t, "idle-procs-beside-runnable", 110*ms).Total, 8*ms)
}

// TestQuiet: where nobody waited notably only much frozen time, or a quota, counts.
func TestQuiet(t *testing.T) {
	s := newSymptoms()
	s.proc(1, 0, model.ProcRunning, model.WorkUser, 1)
	s.proc(2, 1, model.ProcIdle, 0, model.NoGoroutine)
	s.waits(10*ms, 19*ms, 5)
	s.busy(180*ms, 185*ms)
	s.still(200*ms, 11*ms)
	for span, want := range map[model.Duration]int{210 * ms: 1, 230 * ms: 0} {
		p := *s.Pathologies
		p.frozen.long = append([]stint(nil), s.frozen.long...)
		p.Finish(0, model.Time(span))
		equal(t, "found where some waited", len(p.Found()), 2)
		p.quiet()
		equal(t, "found where nobody did", len(p.Found()), want)
	}
}

// TestBusyWakeups: where idle procs are woken all the time, some goroutine is
// always runnable, but each only for a moment.
func TestBusyWakeups(t *testing.T) {
	s := newSymptoms()
	s.proc(1, 0, model.ProcRunning, model.WorkUser, 1)
	s.proc(2, 0, model.ProcIdle, 0, model.NoGoroutine)
	for i := range model.GoID(2500) {
		at := model.Duration(i) * 20 * us
		s.change(at+us, 5+i, model.GoWaiting, model.GoRunnable, 0, nil)
		if i >= 3 {
			s.change(at+us, 5+i-3, model.GoRunnable, model.GoRunning, at+us-60*us, nil)
		}
	}
	for i := range model.GoID(3) {
		s.change(50*ms, 2502+i, model.GoRunnable, model.GoRunning, 50*ms-60*us, nil)
	}
	s.none(t, 50*ms)
}

// TestIdleUnseen: a proc that GOMAXPROCS allows and that was never seen is idle.
func TestIdleUnseen(t *testing.T) {
	s := newSymptoms()
	s.Step(&model.Step{Kind: model.StepProcs, Time: 1, N: 2})
	s.proc(1, 0, model.ProcRunning, model.WorkUser, 1)
	s.waits(10*ms, 20*ms, 5)
	equal(t, "who", s.only(t, "idle-procs-beside-runnable", 20*ms).Who[0].Total, 10*ms)
}

func TestBehindWorker(t *testing.T) {
	s := newSymptoms()
	s.proc(1*ms, 2, model.ProcRunning, model.WorkGCDedicated, 20)
	s.proc(13*ms, 2, model.ProcIdle, 0, model.NoGoroutine)
	x := s.starts(14*ms, 500*us, 2, "main.victim", runqueue.SourceLocal)
	x.LastP = 2
	s.Start(x)
	x = s.starts(14*ms, 12500*us, 2, "main.victim", runqueue.SourceLocal) // half a ms behind it
	x.LastP = 2
	s.Start(x)
	y := s.only(t, "behind-dedicated-gc-worker", 20*ms)
	equal(t, "count", y.Count, 1)
	equal(t, "worst", y.Worst, 12*ms)
	// In a window, a wait that began before it does not count.
	window := func(since model.Duration) (symptoms, *runqueue.Start) {
		s := newSymptoms()
		s.BeginAt(model.Time(2 * ms))
		s.proc(1*ms, 2, model.ProcRunning, model.WorkGCDedicated, 20)
		s.proc(13*ms, 2, model.ProcIdle, 0, model.NoGoroutine)
		x := s.starts(14*ms, since, 2, "main.victim", runqueue.SourceLocal)
		x.LastP = 2
		s.Start(x)
		return s, x
	}
	s, x = window(500 * us)
	s.none(t, 20*ms)
	equal(t, "start as it was told", x.Since, model.Time(500*us))
	s, _ = window(2500 * us)
	equal(t, "worst in a window", s.only(t, "behind-dedicated-gc-worker", 20*ms).Worst, 10500*us)
}

func TestAfterStackScan(t *testing.T) {
	s := newSymptoms()
	scan := func(at, wait model.Duration) {
		s.change(at, 3, model.GoWaiting, model.GoRunnable, 0, func(x *model.Step) {
			x.Reason, x.Origin, x.Flags, x.By = s.words.preempted, model.OriginGC, model.StepByWorker, 20
		})
		s.change(at+wait, 3, model.GoRunnable, model.GoRunning, at, nil)
	}
	scan(0, 1*ms)
	scan(5*ms, 999*us)
	scan(10*ms, 2*ms)
	scan(20*ms, 3*ms)
	x := s.only(t, "waiting-after-stack-scan", 30*ms)
	equal(t, "count", x.Count, 3)
	equal(t, "total", x.Total, 6*ms)
	equal(t, "share", evidence(t, x, "of all that were stopped for one"), 0.75)
}

// TestAfterStackScanInWindow begins the accounting in a wait, which then does not count.
func TestAfterStackScanInWindow(t *testing.T) {
	s := newSymptoms()
	scan := func(at, wait model.Duration) {
		s.change(at, 3, model.GoWaiting, model.GoRunnable, 0, func(x *model.Step) {
			x.Reason, x.Origin, x.Flags, x.By = s.words.preempted, model.OriginGC, model.StepByWorker, 20
		})
		if at == 0 {
			s.BeginAt(model.Time(100 * ms))
		}
		s.change(at+wait, 3, model.GoRunnable, model.GoRunning, at, nil)
	}
	scan(0, 115*ms)
	scan(120*ms, 12*ms)
	x := s.only(t, "waiting-after-stack-scan", 30*ms)
	equal(t, "count", x.Count, 1)
	equal(t, "worst", x.Worst, 12*ms)
	equal(t, "share", evidence(t, x, "of all that were stopped for one"), 1)
}

func TestLockedPingPong(t *testing.T) {
	s := newSymptoms()
	for i := range 100 {
		at := model.Duration(i) * ms / 2
		s.Start(s.starts(at+5*us, at, 0, "main.locked", runqueue.SourceLocked))
		for range 8 {
			s.Start(s.starts(at, at, 0, "main.free", runqueue.SourceRunnext))
		}
	}
	x := s.only(t, "locked-thread-ping-pong", 60*ms)
	equal(t, "count", x.Count, 100)
	equal(t, "total", x.Total, 100*5*us)
}

func TestLostAffinity(t *testing.T) {
	s := newSymptoms()
	for i := range 20 {
		at := model.Duration(i) * ms
		for g := range model.GoID(2) {
			s.change(at, g, model.GoRunning, model.GoRunnable, at, func(x *model.Step) { x.Origin, x.P = model.OriginSTW, model.ProcID(g) })
			s.change(at+100*us, g, model.GoRunnable, model.GoRunning, at, on(0))
		}
	}
	x := s.only(t, "affinity-lost-across-stw", 20*ms)
	equal(t, "moved", x.Count, 20)
	equal(t, "share", evidence(t, x, "share of those it stopped"), 0.5)
	equal(t, "total", x.Total, 20*100*us)
}

func TestLateness(t *testing.T) {
	s := newSymptoms()
	net := func(at, since model.Duration, poller model.Poller) {
		s.change(at, 5, model.GoWaiting, model.GoRunnable, since, func(x *model.Step) { x.Origin, x.Poller = model.OriginNetpoll, poller })
	}
	move := func(at model.Duration, from, to model.ThreadID) {
		s.Step(&model.Step{Kind: model.StepMove, Time: model.Time(at), By: model.NoGoroutine, M: 1, P: 0, FromM: from, ToM: to})
	}
	s.change(500*us, 2, model.GoRunnable, model.GoRunning, 0, nil)
	s.change(1*ms, 2, model.GoRunning, model.GoWaiting, 500*us, nil)
	s.change(1*ms, 1, model.GoRunnable, model.GoRunning, 0, nil)
	net(2*ms, 1500*us, model.PollerNonBlocking) // waits since half a ms
	net(5*ms, 1*ms, model.PollerSysmon)         // somebody polled 3 ms ago
	s.change(7*ms, 1, model.GoRunning, model.GoWaiting, 1*ms, nil)
	move(8*ms, 1, model.NoThread) // polled after 7 ms, found nothing
	net(9*ms, 1*ms, model.PollerAmbiguous)
	net(9500*us, 1*ms, model.PollerBlocking)
	timer := func(at, since model.Duration) {
		s.change(at, 6, model.GoWaiting, model.GoRunnable, since, func(x *model.Step) { x.Origin = model.OriginTimer })
	}
	timer(10*ms, 0) // its proc was idle
	move(11*ms, model.NoThread, 1)
	s.change(11*ms, 1, model.GoRunnable, model.GoRunning, 11*ms, nil)
	s.change(15*ms, 1, model.GoRunning, model.GoWaiting, 11*ms, nil)
	timer(15*ms+2*us, 0)
	timer(15*ms+3*us, 13*ms)
	timer(15*ms+6*us, 0) // after a search: perhaps of another proc
	s.Finish(0, model.Time(20*ms))
	l := s.Late
	equal(t, "network", l.Network.Count(), 3)
	equal(t, "findRunnable", l.ByPoller[model.PollerNonBlocking].Max(), 500*us)
	equal(t, "sysmon", l.ByPoller[model.PollerSysmon].Max(), 3*ms)
	equal(t, "ambiguous", l.ByPoller[model.PollerAmbiguous].Max(), 2*ms)
	equal(t, "asleep", l.Asleep, 1)
	equal(t, "timers", l.Timers.Count(), 2)
	equal(t, "timers' bounds", l.Timers.Total(), 4*ms+2*us+2*ms+3*us)
	equal(t, "unbounded timers", l.UnboundedTimers, 2)
}

// TestPathologiesWindow tells things of before the window.
func TestPathologiesWindow(t *testing.T) {
	s := newSymptoms()
	s.Pathologies.Begin(model.Time(50 * ms))
	s.polled(12, model.PollerSysmon)
	s.lateTimer(130*ms, 15*ms, 10)
	s.BeginAt(model.Time(150 * ms))
	s.polled(20, model.PollerSysmon)
	x := s.only(t, "netpoll-starvation", 300*ms)
	equal(t, "count", x.Count, 6)
	equal(t, "at", x.At >= model.Time(100*ms), true)
}

// TestMergePathologies has one trace with and one without.
func TestMergePathologies(t *testing.T) {
	a, b, c := newSymptoms(), newSymptoms(), newSymptoms()
	b.polled(4, model.PollerSysmon)
	c.polled(6, model.PollerSysmon)
	for _, s := range []symptoms{a, b, c} {
		s.Finish(0, model.Time(100*ms))
	}
	v, err := result.Merge([]*result.Report{resultOf(a.Pathologies), resultOf(b.Pathologies), resultOf(c.Pathologies)})
	if err != nil {
		t.Fatal(err)
	}
	found := v.Pathologies
	equal(t, "found", len(found), 1)
	equal(t, "count", found[0].Count, 10)
	equal(t, "trace", found[0].Trace, 1)
	equal(t, "who", found[0].Who[0].Count, 10)
	equal(t, "bounds", v.Lateness.Network.Count, 10)
}
