package causes

import (
	"testing"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// script tells an attribution what happens, at times in microseconds.
type script struct {
	t  *testing.T
	a  *attribution
	ts *model.Tables
	ps map[model.ProcID]model.ProcState
}

// newScript returns a script of a program with that many procs, which run
// goroutines 100, 101... of main.other.
func newScript(t *testing.T, procs int) *script {
	ts := model.NewTables()
	s := &script{t: t, a: newAttribution(New(ts), ts, 10), ts: ts, ps: map[model.ProcID]model.ProcState{}}
	s.a.counts = true
	s.step(0, model.Step{Kind: model.StepProcs, N: int32(procs)})
	for p := range procs {
		s.runs(0, model.ProcID(p), model.GoID(100+p), "main.other", model.WorkUser)
	}
	return s
}

// Step takes a step at once.
func (a *attribution) Step(s *model.Step) {
	steps := []model.Step{*s}
	a.hold(steps)
	a.count++
	a.note(&steps[0])
}

func at(us int) model.Time { return 1_000_000 + model.Time(us)*1000 }

func (s *script) step(us int, x model.Step) {
	x.Time = at(us)
	s.a.Step(&x)
}

func (s *script) proc(us int, p model.ProcID, state model.ProcState, g model.GoID, fn string, work model.WorkKind) {
	s.step(us, model.Step{Kind: model.StepProc, P: p, From: uint8(s.ps[p]), To: uint8(state), G: g, Func: s.ts.AddString(fn), Work: work})
	s.ps[p] = state
}

// runs lets a proc run a goroutine.
func (s *script) runs(us int, p model.ProcID, g model.GoID, fn string, work model.WorkKind) {
	s.proc(us, p, model.ProcRunning, g, fn, work)
}

func (s *script) is(us int, p model.ProcID, state model.ProcState) {
	s.proc(us, p, state, model.NoGoroutine, "", model.WorkUser)
}

// ready makes goroutine 1, of main.victim, Runnable.
func (s *script) ready(us int) {
	s.step(us, model.Step{Kind: model.StepGo, G: 1, From: uint8(model.GoWaiting), To: uint8(model.GoRunnable), P: model.NoProc})
}

// waited returns the step of goroutine 1 that ends a wait.
func (s *script) waited(since int, to model.GoState, p model.ProcID) model.Step {
	return model.Step{Kind: model.StepGo, G: 1, From: uint8(model.GoRunnable), To: uint8(to), P: p, Since: at(since), Func: s.ts.AddString("main.victim"),
		Waited: model.OriginGoroutine, Flags: model.StepWait}
}

// started ends its wait. x needs Source and what differs from: on proc 0, by a
// thread that began to look for work 0.2 us before, certain.
func (s *script) started(since, us int, x runqueue.Start) {
	s.runs(us, x.P, 1, "main.victim", model.WorkUser)
	s.step(us, s.waited(since, model.GoRunning, x.P))
	x.Time, x.G = at(us), 1
	if x.Search == 0 {
		x.Search = at(us) - 200
	}
	s.a.Start(&x)
}

// want compares the causes, given in nanoseconds.
func (s *script) want(want map[Cause]model.Duration) {
	s.t.Helper()
	s.a.Finish()
	var sum model.Duration
	for c := range result.NumCauses {
		sum += want[c]
		if got := s.a.c.ByCause[c].Total; got != want[c] {
			s.t.Errorf("%v: %d ns, want %d", c, got, want[c])
		}
	}
	if s.a.c.Total != sum {
		s.t.Errorf("total %d, want %d", s.a.c.Total, sum)
	}
}

// TestCauses has one wait for each cause.
func TestCauses(t *testing.T) {
	const us = 1000
	local := runqueue.Start{Source: runqueue.SourceLocal}
	for name, test := range map[string]struct {
		procs int
		play  func(s *script)
		want  map[Cause]model.Duration
	}{
		"stop-the-world": {1, func(s *script) {
			s.ready(10)
			s.step(20, model.Step{Kind: model.StepStopping})
			s.is(25, 0, model.ProcStopped)
			s.step(50, model.Step{Kind: model.StepRestarted})
			s.runs(50, 0, 100, "main.other", model.WorkUser)
			s.started(10, 60, local)
		}, map[Cause]model.Duration{result.CauseGoroutine: 10*us + 9800, result.CauseSTW: 30 * us, result.CausePickup: 200}},
		"stop-the-world in pick-up": {1, func(s *script) {
			s.ready(10)
			s.step(20, model.Step{Kind: model.StepStopping})
			s.step(50, model.Step{Kind: model.StepRestarted})
			s.started(10, 60, runqueue.Start{Source: runqueue.SourceLocal, Search: at(15)})
		}, map[Cause]model.Duration{result.CauseGoroutine: 5 * us, result.CausePickup: 5 * us, result.CauseSTW: 30 * us, result.CauseOSScheduler: 10 * us}},
		"pick-up too long": {1, func(s *script) {
			s.ready(10)
			s.started(10, 60, runqueue.Start{Source: runqueue.SourceLocal, Search: at(20)})
		}, map[Cause]model.Duration{result.CauseGoroutine: 10 * us, result.CausePickup: limitMedians * 380, result.CauseOSScheduler: 40*us - limitMedians*380}},
		"clamped": {1, func(s *script) {
			s.ready(10)
			x := s.waited(10, model.GoRunning, 0)
			x.Flags |= model.StepClamped
			s.step(60, x)
			s.a.Start(&runqueue.Start{Time: at(60), G: 1, Source: runqueue.SourceLocal, Search: at(20)})
		}, map[Cause]model.Duration{result.CauseGoroutine: 10 * us, result.CausePickup: limitMedians * 380, result.CauseUnresolved: 40*us - limitMedians*380}},
		"back-off": {2, func(s *script) {
			s.ready(10)
			s.started(10, 200, runqueue.Start{Source: runqueue.SourceStealRunnext, P: 1, Search: at(20)})
		}, map[Cause]model.Duration{result.CauseGoroutine: 10 * us, result.CausePickup: limitMedians * 960, result.CauseBackoff: 57 * us,
			result.CauseOSScheduler: 123*us - limitMedians*960}},
		"waking": {2, func(s *script) {
			s.is(5, 1, model.ProcIdle)
			s.ready(10)
			s.is(150, 1, model.ProcSearching)
			s.a.Wakeup(&runqueue.Wakeup{Caused: true, Trigger: at(20), Got: at(150)})
			s.started(10, 160, runqueue.Start{Source: runqueue.SourceSteal, P: 1, LastP: 0, Search: at(150)})
		}, map[Cause]model.Duration{result.CauseUnexplained: 10 * us, result.CauseWaking: 100 * us, result.CauseOSWake: 30 * us, result.CausePickup: 10 * us}},
		"spinner": {3, func(s *script) {
			s.is(5, 1, model.ProcIdle)
			s.is(5, 2, model.ProcSearching) // lost its goroutine: searches 7.6 us later
			s.ready(10)
			s.started(10, 40, runqueue.Start{Source: runqueue.SourceLocal, Search: at(35)})
		}, map[Cause]model.Duration{result.CauseUnexplained: 2600, result.CauseSpinner: 22400, result.CausePickup: 5 * us}},
		"runnext": {2, func(s *script) {
			s.is(5, 1, model.ProcIdle)
			s.ready(10)
			s.started(10, 40, runqueue.Start{Source: runqueue.SourceRunnext})
		}, map[Cause]model.Duration{result.CauseRunnext: 29800, result.CausePickup: 200}},
		"locked thread": {2, func(s *script) {
			s.is(5, 1, model.ProcIdle)
			s.ready(10)
			s.started(10, 40, runqueue.Start{Source: runqueue.SourceLocked})
		}, map[Cause]model.Duration{result.CauseHandoff: 29800, result.CausePickup: 200}},
		"unexplained": {2, func(s *script) {
			s.is(5, 1, model.ProcIdle)
			s.ready(10)
			s.started(10, 40, local)
		}, map[Cause]model.Duration{result.CauseUnexplained: 29800, result.CausePickup: 200}},
		"a proc that GOMAXPROCS does away with is not idle": {2, func(s *script) {
			s.is(5, 1, model.ProcStopped)
			s.step(6, model.Step{Kind: model.StepProcs, N: 1})
			s.ready(10)
			s.started(10, 40, local)
		}, map[Cause]model.Duration{result.CauseGoroutine: 29800, result.CausePickup: 200}},
		"another thread searches for too long": {2, func(s *script) {
			s.is(5, 1, model.ProcIdle)
			s.is(15, 1, model.ProcSearching)
			s.ready(20)
			s.is(1000, 1, model.ProcIdle)
			s.is(1200, 1, model.ProcSearching)
			s.is(1210, 1, model.ProcIdle)
			s.started(20, 1220, runqueue.Start{Source: runqueue.SourceLocal, Search: at(1220)})
		}, map[Cause]model.Duration{result.CauseSearching: 81_200, result.CauseGoroutine: 908_800, result.CauseUnexplained: 210 * us}},
		"the thread of its proc searches for too long": {2, func(s *script) {
			s.ready(10)
			s.is(10, 0, model.ProcSearching)
			s.runs(1000, 0, 101, "main.other", model.WorkUser)
			s.started(10, 1010, runqueue.Start{Source: runqueue.SourceLocal, Search: at(1010)})
		}, map[Cause]model.Duration{result.CauseSwitching: limitMedians * 380, result.CauseSearching: 57_000 + limitMedians*960,
			result.CauseOSScheduler: 933_000 - limitMedians*(380+960), result.CauseGoroutine: 10 * us}},
		"searching": {2, func(s *script) {
			s.is(5, 1, model.ProcIdle)
			s.is(15, 1, model.ProcSearching) // woken: searches at once
			s.ready(20)
			s.started(20, 40, local)
		}, map[Cause]model.Duration{result.CauseSearching: 19800, result.CausePickup: 200}},
		"its proc does everything": {1, func(s *script) {
			s.ready(10)
			s.proc(20, 0, model.ProcSyscall, 100, "main.other", model.WorkUser)
			s.runs(30, 0, 7, "runtime.gcBgMarkWorker", model.WorkGCDedicated)
			s.runs(50, 0, 7, "runtime.gcBgMarkWorker", model.WorkGCFractional)
			s.runs(80, 0, 7, "runtime.gcBgMarkWorker", model.WorkGCIdle)
			s.runs(120, 0, 8, "runtime.bgsweep", model.WorkSystem)
			s.runs(170, 0, 101, "main.allocates", model.WorkGCAssist)
			s.runs(230, 0, 101, "main.allocates", model.WorkUser)
			s.is(300, 0, model.ProcSearching) // not long enough to search
			s.started(10, 301, runqueue.Start{Source: runqueue.SourceLocal, Search: at(301)})
		}, map[Cause]model.Duration{result.CauseGoroutine: 80 * us, result.CauseSyscall: 10 * us, result.CauseGCDedicated: 20 * us, result.CauseGCFractional: 30 * us,
			result.CauseGCIdle: 40 * us, result.CauseRuntime: 50 * us, result.CauseAssist: 60 * us, result.CauseSwitching: us}},
		"OS gap": {1, func(s *script) {
			s.ready(10)
			s.a.Silence(at(20), at(50_020))
			s.is(50_020, 0, model.ProcSearching)
			s.started(10, 50_021, local)
		}, map[Cause]model.Duration{result.CauseGoroutine: 10 * us, result.CauseOSGap: 50_000 * us, result.CauseSwitching: 800, result.CausePickup: 200}},
		"OS gap, whatever the proc does": {1, func(s *script) {
			s.ready(10)
			for i, work := range []model.WorkKind{model.WorkSystem, model.WorkGCDedicated, model.WorkGCAssist} {
				s.runs(20+i*50_000, 0, 7, "main.other", work)
				s.a.Silence(at(30+i*50_000), at(20+(i+1)*50_000))
			}
			s.started(10, 150_020, runqueue.Start{Source: runqueue.SourceLocal, Search: at(150_020)})
		}, map[Cause]model.Duration{result.CauseGoroutine: 10 * us, result.CauseOSGap: 3 * 49_990 * us, result.CauseRuntime: 10 * us,
			result.CauseGCDedicated: 10 * us, result.CauseAssist: 10 * us}},
		"silence of a time slice": {1, func(s *script) {
			s.ready(10)
			s.a.Silence(at(20), at(25_020))
			s.is(25_020, 0, model.ProcSearching)
			s.started(10, 25_020, runqueue.Start{Source: runqueue.SourceLocal, Search: at(25_020)})
		}, map[Cause]model.Duration{result.CauseGoroutine: 25_010 * us}},
		"stolen: the victim's queue decides": {2, func(s *script) {
			s.runs(5, 0, 7, "runtime.gcBgMarkWorker", model.WorkGCDedicated)
			s.ready(10)
			s.started(10, 40, runqueue.Start{Source: runqueue.SourceSteal, P: 1, LastP: 0})
		}, map[Cause]model.Duration{result.CauseGCDedicated: 29800, result.CausePickup: 200}},
		"global: the proc that took it decides": {2, func(s *script) {
			s.runs(5, 0, 7, "runtime.gcBgMarkWorker", model.WorkGCDedicated)
			s.ready(10)
			s.started(10, 40, runqueue.Start{Source: runqueue.SourceGlobal, P: 1, LastP: model.NoProc})
		}, map[Cause]model.Duration{result.CauseGoroutine: 29800, result.CausePickup: 200}},
		"contradicted: only what depends on the queue is unresolved": {2, func(s *script) {
			s.ready(10)
			s.is(20, 1, model.ProcIdle)
			s.runs(30, 1, 101, "main.other", model.WorkUser)
			s.started(10, 40, runqueue.Start{Source: runqueue.SourceLocal, Grade: runqueue.GradeContradicted})
		}, map[Cause]model.Duration{result.CauseUnresolved: 19800, result.CauseUnexplained: 10 * us, result.CausePickup: 200}},
		"no start told": {1, func(s *script) {
			s.ready(10)
			s.step(60, s.waited(10, model.GoWaiting, 0))
		}, map[Cause]model.Duration{result.CauseUnresolved: 50 * us}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t, test.procs)
			test.play(s)
			s.t = t
			s.want(test.want)
		})
	}
}

// TestAntagonists checks who is named, with how many turns, and where they were.
func TestAntagonists(t *testing.T) {
	s := newScript(t, 1)
	deep := s.ts.AddStack([]model.Frame{{Func: "main.hash"}, {Func: "main.other"}})
	stop := func(us int, g model.GoID, stack model.StackID) {
		s.is(us, 0, model.ProcSearching)
		s.step(us, model.Step{Kind: model.StepGo, G: g, P: 0, From: uint8(model.GoRunning), To: uint8(model.GoWaiting), Stack: stack})
	}
	s.ready(10)
	stop(30, 100, deep)
	s.runs(31, 0, 101, "main.other", model.WorkUser)
	stop(41, 101, 0)
	s.runs(42, 0, 100, "main.other", model.WorkUser)
	s.runs(52, 0, 100, "main.other", model.WorkGCAssist)
	stop(57, 100, deep)
	s.started(10, 58, runqueue.Start{Source: runqueue.SourceLocal, Search: at(57)})
	s.ready(60)
	s.runs(60, 0, 100, "main.other", model.WorkUser)
	s.started(60, 65, runqueue.Start{Source: runqueue.SourceLocal, Search: at(65)})
	s.want(map[Cause]model.Duration{result.CauseGoroutine: 45_000, result.CauseAssist: 5_000, result.CauseSwitching: 2_000, result.CausePickup: 1_000})

	rows := NewBlame(s.ts, s.a.c).Behind()
	equal(t, "rows", len(rows), 3)
	hash, rest, assist := rows[0], rows[1], rows[2]
	equal(t, "in main.hash", hash.Kind+" "+hash.Function, "behind a goroutine main.hash")
	equal(t, "in main.hash in all", hash.Total, 30_000)
	equal(t, "elsewhere", rest.Kind+" "+rest.Function, "behind a goroutine main.other")
	equal(t, "elsewhere in all", rest.Total, 15_000)
	equal(t, "turns", hash.Turns+rest.Turns, 4)
	equal(t, "assist", assist.Kind+" "+assist.Function, "behind GC assist main.hash")
	equal(t, "assist total", assist.Total, 5_000)

	w := s.a.worst.Items[0]
	equal(t, "blockers", len(w.blockers), 3)
	equal(t, "first blocker", w.blockers[0], result.Blocker{Goroutine: 100, Function: "main.other", Work: "user", Total: 30_000})
	equal(t, "second blocker", w.blockers[1], result.Blocker{Goroutine: 101, Function: "main.other", Work: "user", Total: 10_000})
	equal(t, "third blocker", w.blockers[2], result.Blocker{Goroutine: 100, Function: "main.other", Work: "GC assist", Total: 5_000})
}

// TestCauseSeries checks where in time the cells lie.
func TestCauseSeries(t *testing.T) {
	s := newScript(t, 1)
	s.a.c.bins.BeginAt(at(0))
	s.ready(0)
	s.runs(2, 0, 7, "runtime.gcBgMarkWorker", model.WorkGCIdle)
	s.started(0, 4, runqueue.Start{Source: runqueue.SourceLocal, Search: at(3)})
	s.want(map[Cause]model.Duration{result.CauseGoroutine: 2000, result.CauseGCIdle: 1000, result.CausePickup: 1000})
	x := s.a.c.bins
	equal(t, "width", x.Width(), 1024)
	equal(t, "bins", len(x.Used()), 4)
	for i, want := range []Totals{
		{result.CauseGoroutine: 1024}, {result.CauseGoroutine: 976, result.CauseGCIdle: 48}, {result.CauseGCIdle: 952, result.CausePickup: 72}, {result.CausePickup: 928},
	} {
		equal(t, "bin", x.Used()[i], want)
	}
}

// TestCausesOfLongWait checks a wait during which more happens than is kept: all
// is counted, and those at its beginning have no name.
func TestCausesOfLongWait(t *testing.T) {
	s := newScript(t, 1)
	s.a.maxPoints = 100
	s.ready(10)
	for i := range 20_000 {
		us := 20 + 10*i
		s.is(us, 0, model.ProcSearching)
		s.runs(us+1, 0, 100, "main.other", model.WorkUser)
		s.a.catchUp()
	}
	if n := s.a.activity.procs[0].size(); n > 10_000 {
		t.Errorf("%d points are kept", n)
	}
	s.started(10, 300_000, runqueue.Start{Source: runqueue.SourceLocal, Search: at(300_000)})
	s.want(map[Cause]model.Duration{result.CauseGoroutine: 299_990_000 - 20_000_000, result.CauseSwitching: 20_000_000})
	rows := NewBlame(s.ts, s.a.c).Behind()
	equal(t, "rows", len(rows), 2)
	equal(t, "in all", rows[0].Total+rows[1].Total, 299_990_000-20_000_000)
	equal(t, "earlier", rows[0].Function == earlierName || rows[1].Function == earlierName, true)
}

// TestContradictingWaits checks that waits are over that end by what a trace contradicts itself in.
func TestContradictingWaits(t *testing.T) {
	s := newScript(t, 1)
	for i, to := range []model.GoState{model.GoWaiting, model.GoNotExist} {
		s.ready(10 * (i + 1))
		x := s.waited(10*(i+1), to, 0)
		x.From = uint8(model.GoRunning)
		s.step(10*(i+1)+5, x)
	}
	s.ready(30)
	s.step(30, model.Step{Kind: model.StepGo, G: 1, From: uint8(model.GoRunning), To: uint8(model.GoNotExist)})
	s.a.settleUntil(at(40))
	if s.a.undone != 0 || !s.a.opened.empty() {
		t.Errorf("%d waits are open, want 0", s.a.undone)
	}
}
