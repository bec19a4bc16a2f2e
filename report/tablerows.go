package report

import "github.com/schedscope/schedscope/model"

// The observers below write one row of their table for each call of a Machine.

type goroutineRows struct{ *rows }

func (r goroutineRows) GoEnd(g *model.Goroutine) {
	r.id(int64(g.ID))
	r.str(g.Func)
	r.timeIf(g.SeenCreation, g.From)
	r.timeIf(g.HasStarted, g.Started)
	r.timeIf(g.HasEnded, g.Ended)
	r.dur(g.Since.Sub(g.From))
	r.goStates(&g.Times)
	r.end()
}

// goStates adds five cells: the totals of the states that a goroutine can be
// known to be in.
func (r *rows) goStates(times *[model.NumGoStates]model.Duration) {
	for _, s := range [...]model.GoState{model.GoRunning, model.GoRunnable, model.GoWaiting, model.GoSyscall, model.GoSyscallBlocked} {
		r.dur(times[s])
	}
}

type waitRows struct{ *rows }

func (r waitRows) GoSpan(s *model.GoSpan) {
	if s.State != model.GoRunnable || s.Pseudo != model.NotPseudo {
		return
	}
	r.id(int64(s.G))
	r.str(s.Func)
	r.interval(s.Start, s.End)
	r.text(s.Origin.String())
	r.id(int64(s.Waker))
	r.frame(s.WakerStack)
	r.id(int64(s.P))
	r.id(int64(s.M))
	r.bool(!s.OpenStart && !s.OpenEnd)
	r.bool(s.System)
	r.str(s.Reason)
	r.frame(s.Stack)
	r.id(int64(s.WakerProc))
	r.id(int64(s.WakerThread))
	r.end()
}

// interval adds three cells: start, end and length.
func (r *rows) interval(start, end model.Time) {
	r.time(start)
	r.time(end)
	r.dur(end.Sub(start))
}

type stateRows struct{ *rows }

func (r stateRows) GoSpan(s *model.GoSpan) {
	r.id(int64(s.G))
	r.str(s.Func)
	r.text(s.State.String())
	r.str(s.Reason)
	r.interval(s.Start, s.End)
	r.id(int64(s.P))
	r.id(int64(s.M))
	r.frame(s.Stack)
	r.open(s.OpenStart, s.OpenEnd)
	r.bool(s.System)
	r.end()
}

// open adds two cells: whether the interval goes on beyond the trace.
func (r *rows) open(start, end bool) {
	r.bool(start)
	r.bool(end)
}

type procRows struct{ *rows }

func (r procRows) ProcSpan(s *model.ProcSpan) {
	r.id(int64(s.P))
	r.text(s.State.String())
	if s.State == model.ProcRunning {
		r.text(s.Work.String())
	} else {
		r.text("")
	}
	r.id(int64(s.G))
	r.str(s.Func)
	r.id(int64(s.M))
	r.interval(s.Start, s.End)
	r.open(s.OpenStart, s.OpenEnd)
	r.end()
}

type threadRows struct{ *rows }

func (r threadRows) ThreadSpan(s *model.ThreadSpan) {
	r.id(int64(s.M))
	r.text(s.State.String())
	r.id(int64(s.P))
	r.id(int64(s.G))
	r.interval(s.Start, s.End)
	r.open(s.OpenStart, s.OpenEnd)
	r.end()
}

type syscallRows struct{ *rows }

func (r syscallRows) SyscallExit(s *model.SyscallExit) {
	r.id(int64(s.G))
	r.str(s.Func)
	r.id(int64(s.M))
	r.frame(s.Stack)
	r.interval(s.Start, s.End)
	r.dur(s.Blocked)
	r.text(s.Path.String())
	r.id(int64(s.OldProc))
	r.id(int64(s.NewProc))
	r.end()
}

type handoffRows struct{ *rows }

func (r handoffRows) Handoff(h *model.Handoff) {
	r.id(int64(h.P))
	r.text(h.Cause.String())
	r.id(int64(h.FromM))
	r.id(int64(h.FromG))
	r.frame(h.FromStack)
	r.dur(h.InSyscall)
	r.time(h.Lost)
	if h.Open {
		r.none()
		r.none()
		r.none()
	} else {
		r.time(h.Got)
		r.dur(h.Got.Sub(h.Lost))
		r.id(int64(h.ToM))
	}
	r.id(int64(h.TakerM))
	r.id(int64(h.TakerG))
	r.end()
}

type netpollRows struct{ *rows }

func (r netpollRows) Netpoll(n *model.NetpollWake) {
	r.id(int64(n.G))
	r.str(n.Func)
	r.time(n.Time)
	r.text(n.Poller.String())
	r.bool(n.Direct)
	r.id(int64(n.M))
	r.id(int64(n.P))
	if n.Open {
		r.none()
		r.none()
	} else {
		r.time(n.Started)
		r.dur(n.Started.Sub(n.Time))
	}
	r.dur(n.Waited)
	r.end()
}

type stwRows struct{ *rows }

func (r stwRows) STW(s *model.STW) {
	r.text(s.Reason)
	r.id(int64(s.G))
	r.time(s.Start)
	r.time(s.Stopped)
	r.time(s.Effective)
	r.time(s.End)
	r.open(s.OpenStart, s.OpenEnd)
	r.end()
}

type rangeRows struct{ *rows }

func (r rangeRows) Range(s *model.RangeSpan) {
	r.str(s.Name)
	r.id(int64(s.G))
	r.id(int64(s.P))
	r.interval(s.Start, s.End)
	r.open(s.OpenStart, s.OpenEnd)
	r.end()
}

type taskRows struct{ *rows }

func (r taskRows) Task(t *model.Task) {
	r.int(int64(t.ID))
	r.int(int64(t.Parent))
	r.str(t.Name)
	r.id(int64(t.G))
	r.interval(t.Start, t.End)
	r.open(t.OpenStart, t.OpenEnd)
	r.end()
}

type regionRows struct{ *rows }

func (r regionRows) Region(s *model.Region) {
	r.int(int64(s.Task))
	r.str(s.Name)
	r.id(int64(s.G))
	r.str(s.Func)
	r.int(int64(s.Depth))
	r.interval(s.Start, s.End)
	r.goStates(&s.Times)
	r.open(s.OpenStart, s.OpenEnd)
	r.end()
}

type countRows struct{ *rows }

func (r countRows) Counts(c *model.Counts) {
	r.interval(c.Start, c.End)
	for _, n := range [...]int{c.Procs, c.Idle, c.Searching, c.Syscall, c.Stopped, c.Running, c.GC, c.Runnable, c.Overloaded} {
		r.int(int64(n))
	}
	r.end()
}

type metricRows struct{ *rows }

func (r metricRows) Metric(m *model.MetricSample) {
	r.time(m.Time)
	r.text(m.Name)
	r.uint(m.Value)
	r.end()
}
