package modeltest_test

import (
	"strings"
	"testing"

	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/modeltest"
)

// everything is a stream in which every kind of record occurs.
func everything() *modeltest.Builder {
	b := modeltest.NewBuilder()
	b.Metric("/sched/gomaxprocs:threads", 2)
	m, n, sysmon := b.M(1), b.M(2), b.M(3)
	m.Proc(0).IdleProc(1).Running(1, "runtime.main").Status(2, model.GoWaiting, "main.reader")
	b.At(10)
	m.TaskBegin(7, 0, "request").RegionBegin(7, "parse").Create(3, "main.worker")
	b.At(12)
	n.ProcStart(1)
	b.At(14)
	n.Start(3).Sample()
	b.At(20)
	n.With("syscall.read").Syscall()
	b.At(30)
	sysmon.ProcSteal(1)
	b.At(31)
	sysmon.ProcStart(1)
	b.At(35)
	sysmon.ProcStop()
	b.At(38)
	b.M(5).ProcStart(1).ProcStop()
	b.At(40)
	n.SyscallEndBlocked()
	b.At(44)
	m.Stop("preempted")
	b.At(46)
	m.Start(3).With("net.read").Block("network")
	b.At(50)
	m.Unblock(3)
	b.At(52)
	m.Start(3)
	b.At(55)
	m.Stop("preempted").Start(1)
	b.At(60)
	m.STWBegin("GOMAXPROCS")
	b.At(64)
	m.STWEnd("GOMAXPROCS").RegionEnd(7, "parse").TaskEnd(7, 0, "request")
	b.At(66)
	m.Range(model.EventRangeBegin, model.ScopeGoroutine, "GC mark assist")
	b.At(68)
	m.Range(model.EventRangeEnd, model.ScopeGoroutine, "GC mark assist")
	b.At(70)
	m.Syscall()
	b.At(72)
	m.SyscallEnd().Exit()
	b.At(75)
	m.Start(3)
	b.Metric("/memory/classes/heap/objects:bytes", 4096)
	b.Generation(m)
	b.At(80)
	return b
}

func TestValidStream(t *testing.T) {
	b := everything()
	modeltest.Apply(t, b.Tables, 26, b.Events())
}

// tamper changes records on their way from a Machine to a Validator.
type tamper struct {
	*modeltest.Validator
	change func(record any)
}

func pass[T any](t *tamper, r *T, to func(*T)) {
	changed := *r
	t.change(&changed)
	to(&changed)
}

func (t *tamper) GoSpan(s *model.GoSpan)           { pass(t, s, t.Validator.GoSpan) }
func (t *tamper) GoEnd(g *model.Goroutine)         { pass(t, g, t.Validator.GoEnd) }
func (t *tamper) ProcSpan(s *model.ProcSpan)       { pass(t, s, t.Validator.ProcSpan) }
func (t *tamper) ThreadSpan(s *model.ThreadSpan)   { pass(t, s, t.Validator.ThreadSpan) }
func (t *tamper) Thread(s *model.Thread)           { pass(t, s, t.Validator.Thread) }
func (t *tamper) ThreadStart(s *model.ThreadStart) { pass(t, s, t.Validator.ThreadStart) }
func (t *tamper) Counts(c *model.Counts)           { pass(t, c, t.Validator.Counts) }
func (t *tamper) Handoff(h *model.Handoff)         { pass(t, h, t.Validator.Handoff) }
func (t *tamper) SyscallExit(s *model.SyscallExit) { pass(t, s, t.Validator.SyscallExit) }
func (t *tamper) Netpoll(w *model.NetpollWake)     { pass(t, w, t.Validator.Netpoll) }
func (t *tamper) STW(s *model.STW)                 { pass(t, s, t.Validator.STW) }
func (t *tamper) Range(r *model.RangeSpan)         { pass(t, r, t.Validator.Range) }
func (t *tamper) Task(x *model.Task)               { pass(t, x, t.Validator.Task) }
func (t *tamper) Region(r *model.Region)           { pass(t, r, t.Validator.Region) }
func (t *tamper) Metric(s *model.MetricSample)     { pass(t, s, t.Validator.Metric) }

// judge runs the stream of everything with one record changed.
func judge(t *testing.T, change func(record any)) error {
	t.Helper()
	b := everything()
	m := model.NewMachine(b.Tables, model.Config{Version: 26})
	v := modeltest.NewValidator(b.Tables)
	m.Observe(&tamper{v, change})
	for _, ev := range b.Events() {
		v.Event(&ev)
		if err := m.Apply(&ev); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Finish(m.Now()); err != nil {
		t.Fatal(err)
	}
	return v.Err()
}

// first returns a change of the first record of type T that fits.
func first[T any](fits func(*T) bool, change func(*T)) func(any) {
	done := false
	return func(record any) {
		if r, ok := record.(*T); ok && !done && (fits == nil || fits(r)) {
			done = true
			change(r)
		}
	}
}

func TestValidatorFindsMistakes(t *testing.T) {
	if err := judge(t, func(any) {}); err != nil {
		t.Fatalf("without a change: %v", err)
	}
	goIn := func(s model.GoState) func(*model.GoSpan) bool {
		return func(x *model.GoSpan) bool { return x.State == s }
	}
	procIn := func(s model.ProcState) func(*model.ProcSpan) bool {
		return func(x *model.ProcSpan) bool { return x.State == s }
	}
	threadIn := func(s model.ThreadState) func(*model.ThreadSpan) bool {
		return func(x *model.ThreadSpan) bool { return x.State == s }
	}
	cases := []struct {
		name   string
		change func(any)
		want   string
	}{
		{"goroutine gap", first(goIn(model.GoRunning), func(s *model.GoSpan) { s.Start++ }), "where the last interval ended"},
		{"goroutine overlap", first(goIn(model.GoSyscall), func(s *model.GoSpan) { s.Start -= 64 }), "where the last interval ended"},
		{"goroutine sum", first(goIn(model.GoRunning), func(s *model.GoSpan) { s.End++ }), "sums of its intervals"},
		{"goroutine empty interval", first(goIn(model.GoRunning), func(s *model.GoSpan) { s.End = s.Start }), "ends at"},
		{"goroutine state", first(goIn(model.GoRunning), func(s *model.GoSpan) { s.State = model.GoNotExist }), "no state to spend time in"},
		{"goroutine illegal step", first(goIn(model.GoRunnable), func(s *model.GoSpan) { s.Next = model.GoWaiting }), "not legal"},
		{"goroutine open inside", first(goIn(model.GoRunnable), func(s *model.GoSpan) { s.OpenEnd = true }), "open at its end"},
		{"goroutine open start inside", first(goIn(model.GoSyscall), func(s *model.GoSpan) { s.OpenStart = true }), "open at its start"},
		{"running without proc", first(goIn(model.GoRunning), func(s *model.GoSpan) { s.P = model.NoProc }), "must have both"},
		{"running on a wrong proc", first(goIn(model.GoRunning), func(s *model.GoSpan) { s.P = 9 }), "event says"},
		{"syscall without thread", first(goIn(model.GoSyscall), func(s *model.GoSpan) { s.M = model.NoThread }), "on no thread"},
		{"runnable without origin", first(goIn(model.GoRunnable), func(s *model.GoSpan) { s.Origin = model.OriginUnknown }), "origin unknown"},
		{"running with origin", first(goIn(model.GoRunning), func(s *model.GoSpan) { s.Origin = model.OriginTimer }), "want none"},
		{"started nowhere", first(goIn(model.GoRunnable), func(s *model.GoSpan) { s.M = model.NoThread }), "must have both"},
		{"pseudo wait", first(goIn(model.GoRunnable), func(s *model.GoSpan) { s.Pseudo = model.PseudoSyscall }), "truly runnable"},
		{"wrong reason", first(goIn(model.GoWaiting), func(s *model.GoSpan) { s.Reason++ }), "for reason"},
		{"goroutine total", first(nil, func(g *model.Goroutine) { g.Times[model.GoRunning]++ }), "times"},
		{"goroutine truly runnable", first(nil, func(g *model.Goroutine) { g.RunnableTruly-- }), "truly runnable"},
		{"goroutine start", first(nil, func(g *model.Goroutine) { g.Started += 1e6 }), "said to have started"},
		{"goroutine end", first(nil, func(g *model.Goroutine) { g.Ended-- }), "intervals end at"},
		{"goroutine block sum", first(func(g *model.Goroutine) bool { return len(g.Block) > 0 },
			func(g *model.Goroutine) { g.Block = []model.ReasonTime{{Reason: 1, Total: 5}} }), "waiting for reason"},
		{"goroutine range sum", first(func(g *model.Goroutine) bool { return len(g.Ranges) > 0 },
			func(g *model.Goroutine) { g.Ranges = nil }), "range for reason"},
		{"goroutine renamed", first(nil, func(g *model.Goroutine) { g.ID = 99 }), "never reported"},
		{"proc gap", first(procIn(model.ProcSyscall), func(s *model.ProcSpan) { s.Start++ }), "where the last interval ended"},
		{"proc end", func(r any) {
			if s, ok := r.(*model.ProcSpan); ok && s.OpenEnd {
				s.End--
			}
		}, "trace ends at"},
		{"proc running nothing", first(procIn(model.ProcRunning), func(s *model.ProcSpan) { s.G = model.NoGoroutine }), "has goroutine"},
		{"proc idle with thread", first(procIn(model.ProcIdle), func(s *model.ProcSpan) { s.M = 1 }), "has goroutine"},
		{"proc with another goroutine", first(procIn(model.ProcRunning), func(s *model.ProcSpan) { s.G = 9 }), "by itself"},
		{"two goroutines on a proc", first(func(s *model.GoSpan) bool { return s.State == model.GoRunning && s.P == 1 },
			func(s *model.GoSpan) { s.P = 0 }), "at the same time"},
		{"two procs on a thread", first(procIn(model.ProcSyscall), func(s *model.ProcSpan) { s.M = 1 }), "procs 0 and 1"},
		{"thread gap", first(threadIn(model.ThreadRunning), func(s *model.ThreadSpan) { s.Start++ }), "where the last interval ended"},
		{"thread running nothing", first(threadIn(model.ThreadRunning), func(s *model.ThreadSpan) { s.P = model.NoProc }), "has goroutine"},
		{"thread searching without proc", first(threadIn(model.ThreadSearching), func(s *model.ThreadSpan) { s.P = model.NoProc }), "has no proc"},
		{"thread blocked with proc", first(threadIn(model.ThreadSyscallBlocked), func(s *model.ThreadSpan) { s.P = 0 }), "has proc"},
		{"thread sum", first(nil, func(s *model.Thread) { s.Times[model.ThreadRunning]++ }), "sums of its intervals"},
		{"thread first", first(nil, func(s *model.Thread) { s.First-- }), "first event"},
		{"thread order", first(nil, func(s *model.Thread) { s.M = 50 }), "reported after"},
		{"thread made by itself", first(nil, func(s *model.ThreadStart) { s.Creator = s.M }), "created by itself"},
		{"counts gap", first(func(c *model.Counts) bool { return c.Start > modeltest.At(5) }, func(c *model.Counts) { c.Start++ }), "counts: begin"},
		{"counts end", func(r any) {
			if c, ok := r.(*model.Counts); ok && c.End == modeltest.At(80) {
				c.End--
			}
		}, "counts: end"},
		{"counts not the longest", func(r any) {
			if c, ok := r.(*model.Counts); ok {
				*c = model.Counts{Start: c.Start, End: c.End}
			}
		}, "same as the one before"},
		{"counts idle", first(func(c *model.Counts) bool { return c.Start > modeltest.At(45) },
			func(c *model.Counts) { c.Idle, c.Running = c.Idle+1, c.Running-1 }), "procs idle"},
		{"counts runnable", first(func(c *model.Counts) bool { return c.Runnable == 1 }, func(c *model.Counts) { c.Runnable = 0 }), "goroutines runnable"},
		{"counts overloaded", first(func(c *model.Counts) bool { return c.Overloaded == 1 && c.Start > modeltest.At(45) },
			func(c *model.Counts) { c.Overloaded = 0 }), "procs overloaded"},
		{"counts GC", first(nil, func(c *model.Counts) { c.GC = 1 }), "procs in GC work"},
		{"counts procs", first(nil, func(c *model.Counts) { c.Procs = 1 }), "sum over their states"},
		{"syscall blocked", first(func(s *model.SyscallExit) bool { return s.Blocked > 0 }, func(s *model.SyscallExit) { s.Blocked++ }), "blocked for"},
		{"syscall length", first(nil, func(s *model.SyscallExit) { s.Start -= 64 }), "lasted"},
		{"syscall path", first(func(s *model.SyscallExit) bool { return s.Path == model.ExitQueued }, func(s *model.SyscallExit) { s.Path = model.ExitKeptProc }), "with procs"},
		{"handoff backwards", first(nil, func(h *model.Handoff) { h.Got = h.Lost - 1 }), "ends at"},
		{"handoff to another", first(nil, func(h *model.Handoff) { h.ToM = 9 }), "does not have it"},
		{"handoff early", first(nil, func(h *model.Handoff) { h.Lost -= 64 }), "before it was got"},
		{"handoff cause", first(nil, func(h *model.Handoff) { h.Cause = model.NumHandoffCauses }), "cause"},
		{"netpoll waited", first(nil, func(w *model.NetpollWake) { w.Waited++ }), "waited for"},
		{"netpoll wrong time", first(nil, func(w *model.NetpollWake) { w.Time++ }), "did not wait until then"},
		{"netpoll started", first(nil, func(w *model.NetpollWake) { w.Started += 64 }), "started at"},
		{"netpoll open", first(nil, func(w *model.NetpollWake) { w.Open = true }), "never started"},
		{"netpoll poller", first(nil, func(w *model.NetpollWake) { w.Poller = model.NumPollers }), "unknown poller"},
		{"stop-the-world order", first(nil, func(s *model.STW) { s.Effective = s.End + 1 }), "must be in order"},
		{"stop-the-world open", first(nil, func(s *model.STW) { s.OpenEnd = true }), "open at"},
		{"range backwards", first(nil, func(r *model.RangeSpan) { r.End = r.Start - 1 }), "ends at"},
		{"range open", first(nil, func(r *model.RangeSpan) { r.OpenEnd = true }), "open at"},
		{"task open", first(nil, func(x *model.Task) { x.OpenEnd = true }), "open at"},
		{"region length", first(nil, func(r *model.Region) { r.Start-- }), "times add up to"},
		{"region times", first(nil, func(r *model.Region) {
			r.Times[model.GoRunning]--
			r.Times[model.GoWaiting]++
		}), "the goroutine's intervals say"},
		{"metric order", func(r any) {
			if s, ok := r.(*model.MetricSample); ok && s.Value == 4096 {
				s.Time = 1
			}
		}, "metric"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := judge(t, c.change)
			if err == nil {
				t.Fatal("found nothing")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("found %v\nwant something with %q", err, c.want)
			}
		})
	}
}

// silent drops all records of one type.
type silent struct{ *modeltest.Validator }

func (silent) GoEnd(*model.Goroutine) {}

func TestValidatorFindsForgotten(t *testing.T) {
	b := everything()
	m := model.NewMachine(b.Tables, model.Config{Version: 26})
	v, w := modeltest.NewValidator(b.Tables), modeltest.NewValidator(b.Tables)
	m.Observe(silent{v})
	for _, ev := range b.Events() {
		w.Event(&ev)
		if err := m.Apply(&ev); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Finish(m.Now()); err != nil {
		t.Fatal(err)
	}
	if err := v.Err(); err == nil || !strings.Contains(err.Error(), "its end was never reported") {
		t.Errorf("without ends of goroutines: found %v", err)
	}
	if err := w.Err(); err == nil || !strings.Contains(err.Error(), "goroutines of the events were never reported") {
		t.Errorf("without any record: found %v", err)
	}
}
