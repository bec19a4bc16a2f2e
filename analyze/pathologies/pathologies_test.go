package pathologies

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// Lengths of time for tests.
const (
	us = model.Duration(1000)
	ms = 1000 * us
)

// equal compares a value with what a test expects.
func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// symptoms feeds an Analysis by hand.
type symptoms struct {
	*Analysis
	last    *model.Time // event
	moments *int64
}

func newSymptoms() symptoms {
	s := symptoms{New(model.NewTables()), new(model.Time), new(int64)}
	s.frozen.all = func() int64 { return *s.moments }
	return s
}

func (s symptoms) str(name string) model.StringID { return s.tables.AddString(name) }

// change reports that a goroutine changed its state on proc p and thread m.
func (s symptoms) change(at model.Duration, g model.GoID, from, to model.GoState, since model.Duration, more func(*model.Step)) {
	x := model.Step{Kind: model.StepGo, Time: model.Time(at), Since: model.Time(since), G: g, By: model.NoGoroutine,
		M: 1, P: 0, From: uint8(from), To: uint8(to), Func: s.str("main.f")}
	if more != nil {
		more(&x)
	}
	s.Step(&x)
}

// proc reports what a proc does from now on.
func (s symptoms) proc(at model.Duration, p model.ProcID, to model.ProcState, work model.WorkKind, g model.GoID) {
	s.Step(&model.Step{Kind: model.StepProc, Time: model.Time(at), P: p, G: g, To: uint8(to), Work: work, Func: s.str("main.f")})
}

// event reports that something happened, which ends a silence.
func (s symptoms) event(at model.Duration) {
	last, now := *s.last, model.Time(at)
	if *s.last = max(last, now); last == 0 || now <= last {
		return
	}
	*s.moments++
	if now.Sub(last) >= model.MinSilence {
		s.frozen.Silence(last, now)
	}
}

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
	equal(t, "regular", evidence(t, x, "that end on a grid of 100 ms"), 6)
	equal(t, "severity", x.Severity, result.Serious)
}

// TestThrottlingNextToOthers: a quota next to other programs, which make some silences of their own.
func TestThrottlingNextToOthers(t *testing.T) {
	for _, x := range []struct {
		others, late model.Duration
		want         string
	}{{7, 2 * ms, "cpu-throttling"}, {8, 2 * ms, "frozen-process"}, {7, 2*ms + 1, "frozen-process"}} {
		s := newSymptoms()
		s.busy(1, 100*ms)
		for i := range 5 {
			end := model.Duration(i+1) * 200 * ms
			if i == 4 {
				end += x.late
			}
			s.still(end, 10*ms)
			for k := range 3 {
				if n := model.Duration(3*i + k); n < x.others {
					s.still(end+model.Duration(k+1)*30*ms+7*n*ms/2, 6*ms)
				}
			}
		}
		equal(t, "silences", s.only(t, x.want, 1300*ms).Count, int64(5+x.others))
	}
}

// TestThrottlingOnTicks: where ticks are of 10 ms, others' silences fall together without a quota.
func TestThrottlingOnTicks(t *testing.T) {
	for ticks, want := range map[string]string{"33333344444555778899": "frozen-process", "33333344455566778899": "cpu-throttling"} {
		s := newSymptoms()
		s.busy(1, 100*ms)
		for i, tick := range ticks {
			s.still(model.Duration(i+1)*100*ms+model.Duration(tick-'0')*10*ms, 6*ms)
		}
		equal(t, "silences", s.only(t, want, 2200*ms).Count, 20)
	}
}

func TestFrozen(t *testing.T) {
	s := newSymptoms()
	for _, at := range []model.Duration{100 * ms, 130 * ms, 235 * ms, 280 * ms} {
		s.busy(at-15*ms, at-10*ms)
		s.still(at, 6*ms)
	}
	equal(t, "count", s.only(t, "frozen-process", 300*ms).Count, 4)
	// A thread that showed something, if only a user's log: not all were silent.
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

// TestFrozenSampled: a goroutine that runs for long shows CPU samples if it has a CPU, where they are taken.
func TestFrozenSampled(t *testing.T) {
	for _, x := range []struct {
		samples []model.Duration // in ms
		want    int
	}{{nil, 0}, {[]model.Duration{5, 55}, 1}, {[]model.Duration{5, 30, 55}, 0}, {[]model.Duration{5}, 0}} {
		s := newSymptoms()
		s.proc(ms, 0, model.ProcRunning, model.WorkUser, 1)
		for at := range model.Duration(60) {
			if slices.Contains(x.samples, at) {
				s.Sample(model.Time(at * ms))
				s.event(at * ms)
			} else if at < 10 || at > 50 {
				s.event(at * ms)
			}
			if at == 9 || at == 51 { // it goes on
				s.proc(at*ms, 0, model.ProcRunning, model.WorkUser, 1)
			}
		}
		s.Finish(0, 100*model.Time(ms))
		equal(t, fmt.Sprintf("found with samples at %d ms", x.samples), len(s.Found()), x.want)
	}
}

// TestFrozenUnnoticed: where nobody waited notably, only a large share of the time counts.
func TestFrozenUnnoticed(t *testing.T) {
	s := newSymptoms()
	s.busy(180*ms, 185*ms)
	s.still(200*ms, 11*ms)
	for span, want := range map[model.Duration]int{210 * ms: 1, 230 * ms: 0} {
		p := *s.Analysis
		p.frozen.long = slices.Clone(s.frozen.long)
		p.Finish(0, model.Time(span))
		equal(t, "found where some waited", len(p.Found()), 1)
		r := result.Report{Totals: result.Totals{Span: span}}
		p.Result(&r)
		equal(t, "found where nobody did", len(r.Pathologies), want)
	}
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

// TestTogether checks that wake-ups count that come together when nothing had happened for long, and no proc ran.
func TestTogether(t *testing.T) {
	for busy, want := range map[bool]int64{false: 2, true: 0} {
		s := newSymptoms()
		wake := func(at model.Duration, g model.GoID, origin model.Origin) {
			s.change(at, g, model.GoWaiting, model.GoRunnable, 1*ms, func(x *model.Step) { x.Origin, x.Poller = origin, model.PollerBlocking })
		}
		s.proc(1*ms, 0, model.ProcRunning, model.WorkUser, 2)
		if !busy {
			s.proc(2*ms, 0, model.ProcIdle, 0, model.NoGoroutine)
		}
		wake(9*ms, 3, model.OriginNetpoll)
		wake(9*ms+10*us, 4, model.OriginNetpoll)
		wake(9*ms+20*us, 5, model.OriginTimer)
		wake(9*ms+90*us, 6, model.OriginNetpoll) // too late
		wake(20*ms, 7, model.OriginNetpoll)      // alone
		s.Finish(0, model.Time(30*ms))
		equal(t, "together", s.Late.Together.Count(), want)
		equal(t, "silences", len(s.Late.silences), int(want/2))
		if !busy {
			equal(t, "silence", s.Late.silences[0], result.Silence{End: model.Time(9 * ms), Length: 7 * ms})
		}
	}
}

// TestTogetherAtFirst checks that what lies before the first step does not count as a silence.
func TestTogetherAtFirst(t *testing.T) {
	s := newSymptoms()
	for g := range model.GoID(2) {
		s.change(9*ms, g+3, model.GoWaiting, model.GoRunnable, 9*ms, func(x *model.Step) { x.Origin, x.Poller = model.OriginNetpoll, model.PollerBlocking })
	}
	s.Finish(0, model.Time(30*ms))
	equal(t, "together", s.Late.Together.Count(), 0)
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

// TestPathologiesWindow reports things of before the window.
func TestPathologiesWindow(t *testing.T) {
	s := newSymptoms()
	s.passed(130, 20*ms)
	s.change(20*ms, 1, model.GoRunnable, model.GoRunning, 0, nil)
	s.BeginAt(model.Time(50 * ms))
	s.none(t, 100*ms)
}

// TestMergePathologies has one trace without and two with one.
func TestMergePathologies(t *testing.T) {
	a, b, c := newSymptoms(), newSymptoms(), newSymptoms()
	b.passed(130, 20*ms)
	c.passed(150, 30*ms)
	var reports []*result.Report
	for _, s := range []symptoms{a, b, c} {
		s.Finish(0, model.Time(40*ms))
		reports = append(reports, &result.Report{Traces: []result.Trace{{Name: "t"}}})
		s.Result(reports[len(reports)-1])
	}
	v, err := result.Merge(reports)
	if err != nil {
		t.Fatal(err)
	}
	found := v.Pathologies
	equal(t, "found", len(found), 1)
	equal(t, "count", found[0].Count, 2)
	equal(t, "who", found[0].Who[0].Count, 2)
}
