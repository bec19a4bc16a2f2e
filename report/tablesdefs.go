package report

import (
	"fmt"
	"strings"

	"github.com/schedscope/schedscope/analyze/causes"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// tableDefs is the catalogue of tables, in the order in which help lists it. The
// doc of a column says what a missing value means if it can miss.
var tableDefs = append([]tableDef{
	resolver("starts", "a start of a goroutine, where it was taken from and how it came there; Go 1.22 or newer",
		func(r *rows, s *runqueue.Start) bool { return r.holds(s.Time) },
		col("time", "time", func(r *rows, s *runqueue.Start) { num(r, s.Time) }, "of the GoStart event"),
		col("goroutine", "id", func(r *rows, s *runqueue.Start) { num(r, s.G) }, "that started"),
		col("thread", "id", func(r *rows, s *runqueue.Start) { num(r, s.M) }, "that runs it"),
		col("proc", "id", func(r *rows, s *runqueue.Start) { num(r, s.P) }, "that runs it"),
		col("source", "name", func(r *rows, s *runqueue.Start) { word(r, s.Source) }, "runnext, local, global, steal, steal-runnext, netpoll, syscall, system, locked, direct, coroutine; unknown"),
		col("via", "name", func(r *rows, s *runqueue.Start) { word(r, s.Via) }, "how it came into the local queue that it was taken from: own, global, steal, netpoll; empty: not from one"),
		col("from_proc", "id", func(r *rows, s *runqueue.Start) { num(r, s.FromP) }, "victim of the last steal that moved it; -1: no steal did"),
		col("batch", "count", func(r *rows, s *runqueue.Start) { num(r, s.Batch) }, "goroutines that moved with it then, or from the global queue, itself included; 0: it never moved"),
		col("enqueued", "time", func(r *rows, s *runqueue.Start) { num(r, s.Since) }, "since when it was runnable; with open_start the latest that can be"),
		col("origin", "name", func(r *rows, s *runqueue.Start) { word(r, s.Origin) }, "how it became runnable, as in waits; unknown"),
		col("grade", "name", func(r *rows, s *runqueue.Start) { word(r, s.Grade) }, "how good the evidence is: certain, unique, chosen, contradicted"),
		col("place", "name", func(r *rows, s *runqueue.Start) { word(r, s.Enqueued) }, "where it stood first: runnext, local, global, none (in no queue); unknown"),
		col("queue_proc", "id", func(r *rows, s *runqueue.Start) { num(r, s.QueueP) }, "whose runnext or local queue that was; -1: nobody's"),
		col("last_proc", "id", func(r *rows, s *runqueue.Start) { num(r, s.LastP) }, "in whose runnext or local queue it stood last; -1: in nobody's"),
		col("choices", "count", func(r *rows, s *runqueue.Start) { num(r, s.Choices) }, "explanations that fit, if grade is chosen; else 0"),
		col("tick", "count", func(r *rows, s *runqueue.Start) { num(r, s.Tick) }, "the proc's schedtick after the start, modulo 61; -1: unknown"),
		col("search", "time", func(r *rows, s *runqueue.Start) { num(r, s.Search) }, "since when the thread looked for work or had the proc: its event before the start"),
		col("function", "name", func(r *rows, s *runqueue.Start) { r.str(s.Func) }, "start function; empty: unknown"),
		col("pseudo", "name", func(r *rows, s *runqueue.Start) { r.text(pseudoName(s.Pseudo)) }, "syscall, coroutine: it went on without a wait, the trace only shows it so; empty: a wait"),
		col("system", "bool", func(r *rows, s *runqueue.Start) { r.bool(s.System) }, "it is one of the runtime's own goroutines"),
		col("open_start", "bool", func(r *rows, s *runqueue.Start) { r.bool(s.OpenStart) }, "it was runnable already when the trace began"),
		offsetCell("time", func(x *runqueue.Start) model.Time { return x.Time }),
	),
	machine("waits", "a goroutine's wait for a proc, from runnable until running: that in starts with the same goroutine and time = end",
		func(r *rows, s *model.GoSpan) bool { return s.State == model.GoRunnable && s.Pseudo == model.NotPseudo },
		goroutineCells(func(s *model.GoSpan) (model.GoID, model.StringID) { return s.G, s.Func }),
		intervalCells(func(s *model.GoSpan) (start, end model.Time) { return s.Start, s.End }),
		col("origin", "name", func(r *rows, s *model.GoSpan) { word(r, s.Origin) }, "created, goroutine (readied by one), timer, netpoll, syscall, preempted, gosched, goyield, stw, gc, injected, external (a timer or the network: it waited when the trace began); unknown"),
		col("waker", "id", func(r *rows, s *model.GoSpan) { id(r, s.Waker) }, "goroutine that created, readied or preempted it; empty: none did, or unknown"),
		col("waker_function", "name", func(r *rows, s *model.GoSpan) { r.frame(s.WakerStack) }, "function that the waker was in; empty: unknown"),
		col("proc", "id", func(r *rows, s *model.GoSpan) { id(r, s.P) }, "that ran it then; empty: it did not run before the end"),
		col("thread", "id", func(r *rows, s *model.GoSpan) { id(r, s.M) }, "that ran it then; empty: it did not run before the end"),
		col("complete", "bool", func(r *rows, s *model.GoSpan) { r.bool(!s.OpenStart && !s.OpenEnd) }, "the trace shows both ends of the wait"),
		col("system", "bool", func(r *rows, s *model.GoSpan) { r.bool(s.System) }, "the goroutine is one of the runtime's own"),
		col("reason", "name", func(r *rows, s *model.GoSpan) { r.str(s.Reason) }, "why it stopped running, if it did not wait before; empty: unknown"),
		col("at_function", "name", func(r *rows, s *model.GoSpan) { r.frame(s.Stack) }, "function in which it had stopped before; empty: it had not run, or unknown"),
		col("waker_proc", "id", func(r *rows, s *model.GoSpan) { id(r, s.WakerProc) }, "on which it became runnable; empty: the waker had none, or unknown"),
		col("waker_thread", "id", func(r *rows, s *model.GoSpan) { id(r, s.WakerThread) }, "that made it runnable; empty: unknown"),
		offsetCell("start", func(x *model.GoSpan) model.Time { return x.Start }),
	),
	explainer("causes", "a part of a wait that was lost to one cause, of the waits that are complete and not system's; Go 1.22 or newer",
		goroutineCells(func(c *waitCause) (model.GoID, model.StringID) { return c.wait.Span.G, c.wait.Span.Func }),
		col("start", "time", func(r *rows, c *waitCause) { num(r, c.wait.Span.Start) }, "when the wait began"),
		col("end", "time", func(r *rows, c *waitCause) { num(r, c.wait.Span.End) }, "when the wait ended: that in waits with the same goroutine and end"),
		col("cause", "name", func(r *rows, c *waitCause) { word(r, c.Cause) }, "what it was lost to, in the words of schedscope help metrics"),
		col("ns", "ns", func(r *rows, c *waitCause) { num(r, c.Total) }, "the part of the wait; the parts of a wait add up to its duration"),
		col("queue_proc", "id", func(r *rows, c *waitCause) { id(r, c.wait.LastP) }, "proc that it waited for; empty: its start was not explained"),
		offsetCell("start", func(x *waitCause) model.Time { return x.wait.Span.Start }),
	),
	{
		name: "blame", doc: "a part of the waiting that is due to a function, known on one basis by one stack: schedscope help metrics",
		columns: columnsOf(blameCells),
		blamed: func(r *rows, v *result.Blame) {
			write := writer(r, nil, blameCells)
			for _, p := range v.Parts() {
				if p.Row == nil {
					p.Row = new(result.BlameRow)
				}
				write(&p)
			}
		},
	},
	resolver("steals", "a batch that a proc took from another's queue; Go 1.22 or newer",
		func(r *rows, s *runqueue.Steal) bool { return r.holds(s.Time) },
		col("time", "time", func(r *rows, s *runqueue.Steal) { num(r, s.Time) }, "of the start of the goroutine that the thief ran at once"),
		col("goroutine", "id", func(r *rows, s *runqueue.Steal) { num(r, s.G) }, "that the thief ran at once, the last of the batch"),
		col("thief", "id", func(r *rows, s *runqueue.Steal) { num(r, s.Thief) }, "proc that stole"),
		col("thread", "id", func(r *rows, s *runqueue.Steal) { num(r, s.M) }, "of the thief"),
		col("victim", "id", func(r *rows, s *runqueue.Steal) { num(r, s.Victim) }, "proc whose queue it was"),
		col("size", "count", func(r *rows, s *runqueue.Steal) { num(r, s.Size) }, "goroutines taken, the one that ran included"),
		col("runnext", "bool", func(r *rows, s *runqueue.Steal) { r.bool(s.Runnext) }, "it was the victim's runnext, not its queue"),
		col("grade", "name", func(r *rows, s *runqueue.Steal) { word(r, s.Grade) }, "how good the evidence is, as in starts"),
		offsetCell("time", func(x *runqueue.Steal) model.Time { return x.Time }),
	),
	resolver("queues", "a change of the length of a run queue, of unknown length before its first row; Go 1.22 or newer",
		func(r *rows, l *runqueue.Lengths) bool { return r.holds(l.Time) },
		col("time", "time", func(r *rows, l *runqueue.Lengths) { num(r, l.Time) }, "of the change, or of the event that shows it"),
		col("proc", "id", func(r *rows, l *runqueue.Lengths) { num(r, l.P) }, "whose queue it is; -1: the global queue"),
		col("len", "count", func(r *rows, l *runqueue.Lengths) { num(r, l.Len) }, "goroutines in it from then on, the one in runnext not counted"),
		col("runnext", "count", func(r *rows, l *runqueue.Lengths) { num(r, l.Next) }, "1 if there is a goroutine in runnext from then on, else 0"),
		offsetCell("time", func(x *runqueue.Lengths) model.Time { return x.Time }),
	),
	machine("goroutines", "a goroutine with its totals per state, which add up to total unless its state was undetermined at first",
		nil,
		goroutineCells(func(g *model.Goroutine) (model.GoID, model.StringID) { return g.ID, g.Func }),
		col("created", "time", func(r *rows, g *model.Goroutine) { numIf(r, g.SeenCreation, g.From) }, "empty: it was there when the trace began"),
		col("started", "time", func(r *rows, g *model.Goroutine) { numIf(r, g.HasStarted, g.Started) }, "when it was first seen running; empty: never"),
		col("ended", "time", func(r *rows, g *model.Goroutine) { numIf(r, g.HasEnded, g.Ended) }, "empty: it was there when the trace ended"),
		col("total", "ns", func(r *rows, g *model.Goroutine) { num(r, g.Ended.Sub(g.From)) }, "from its creation or the beginning to its end or the end"),
		stateCells(func(g *model.Goroutine) *[model.NumGoStates]model.Duration { return &g.Times }),
		offsetCell("created, or the beginning of what was read", func(x *model.Goroutine) model.Time { return x.From }),
	),
	machine("states", "an interval in which a goroutine was in one state",
		nil,
		goroutineCells(func(s *model.GoSpan) (model.GoID, model.StringID) { return s.G, s.Func }),
		col("state", "name", func(r *rows, s *model.GoSpan) { word(r, s.State) }, "Runnable, Running, Waiting, Syscall, SyscallBlocked (without a proc), Undetermined"),
		col("reason", "name", func(r *rows, s *model.GoSpan) { r.str(s.Reason) }, "why it waits, or stopped running: the runtime's word; for sync what was called in package sync, GC semaphore or runtime semaphore; empty: unknown"),
		intervalCells(func(s *model.GoSpan) (start, end model.Time) { return s.Start, s.End }),
		col("proc", "id", func(r *rows, s *model.GoSpan) { id(r, s.P) }, "that it ran on, or of Runnable then ran on; empty: none"),
		col("thread", "id", func(r *rows, s *model.GoSpan) { id(r, s.M) }, "that it ran on, or of Runnable then ran on; empty: none"),
		col("at_function", "name", func(r *rows, s *model.GoSpan) { r.frame(s.Stack) }, "function in which it stopped before the interval, of Running at its end; empty: unknown"),
		openCells(func(s *model.GoSpan) (start, end bool) { return s.OpenStart, s.OpenEnd }),
		col("system", "bool", func(r *rows, s *model.GoSpan) { r.bool(s.System) }, "the goroutine is one of the runtime's own"),
		offsetCell("start", func(x *model.GoSpan) model.Time { return x.Start }),
	),
	machine("procs", "an interval in which a proc was in one state with one goroutine and one thread",
		nil,
		col("proc", "id", func(r *rows, s *model.ProcSpan) { id(r, s.P) }, "that the row is about"),
		col("state", "name", func(r *rows, s *model.ProcSpan) { word(r, s.State) }, "idle, running, searching (a thread has it, without a goroutine), syscall, stopped, undetermined"),
		col("work", "name", func(r *rows, s *model.ProcSpan) { r.text(procWork(s)) }, "of running: user, GC dedicated, GC fractional, GC idle, GC assist, runtime; else empty"),
		col("goroutine", "id", func(r *rows, s *model.ProcSpan) { id(r, s.G) }, "that it ran or was kept for; empty: none"),
		col("function", "name", func(r *rows, s *model.ProcSpan) { r.str(s.Func) }, "start function of the goroutine; empty: none or unknown"),
		col("thread", "id", func(r *rows, s *model.ProcSpan) { id(r, s.M) }, "that held it; empty: none"),
		intervalCells(func(s *model.ProcSpan) (start, end model.Time) { return s.Start, s.End }),
		openCells(func(s *model.ProcSpan) (start, end bool) { return s.OpenStart, s.OpenEnd }),
		offsetCell("start", func(x *model.ProcSpan) model.Time { return x.Start }),
	),
	machine("threads", "an interval in which a thread was in one state",
		nil,
		col("thread", "id", func(r *rows, s *model.ThreadSpan) { id(r, s.M) }, "the operating system's"),
		col("state", "name", func(r *rows, s *model.ThreadSpan) { word(r, s.State) }, "running, searching (a proc and no goroutine), syscall, syscall-blocked (without a proc), no-proc, unknown"),
		col("proc", "id", func(r *rows, s *model.ThreadSpan) { id(r, s.P) }, "that it held; empty: none"),
		col("goroutine", "id", func(r *rows, s *model.ThreadSpan) { id(r, s.G) }, "that it ran; empty: none"),
		intervalCells(func(s *model.ThreadSpan) (start, end model.Time) { return s.Start, s.End }),
		openCells(func(s *model.ThreadSpan) (start, end bool) { return s.OpenStart, s.OpenEnd }),
		offsetCell("start", func(x *model.ThreadSpan) model.Time { return x.Start }),
	),
	machine("syscalls", "a system call whose end the trace shows",
		nil,
		goroutineCells(func(s *model.SyscallExit) (model.GoID, model.StringID) { return s.G, s.Func }),
		col("thread", "id", func(r *rows, s *model.SyscallExit) { id(r, s.M) }, "that was in the call; empty: unknown"),
		col("call", "name", func(r *rows, s *model.SyscallExit) { r.frame(s.Stack) }, "function that made it; empty: unknown"),
		intervalCells(func(s *model.SyscallExit) (start, end model.Time) { return s.Start, s.End }),
		col("blocked", "ns", func(r *rows, s *model.SyscallExit) { num(r, s.Blocked) }, "the part without a proc"),
		col("exit", "name", func(r *rows, s *model.SyscallExit) { word(r, s.Path) }, "kept its proc, old proc, other idle proc, global run queue, goroutine ended, unknown"),
		col("old_proc", "id", func(r *rows, s *model.SyscallExit) { id(r, s.OldProc) }, "held when the call began; empty: none"),
		col("new_proc", "id", func(r *rows, s *model.SyscallExit) { id(r, s.NewProc) }, "held at its end; empty: none"),
		offsetCell("start", func(x *model.SyscallExit) model.Time { return x.Start }),
	),
	machine("handoffs", "a proc's way from a thread in a system call to its next thread",
		nil,
		col("proc", "id", func(r *rows, h *model.Handoff) { id(r, h.P) }, "that changed hands"),
		col("cause", "name", func(r *rows, h *model.Handoff) { r.text(h.Cause.String()) }, "sysmon retake, entersyscallblock, stop-the-world, forEachP, syscall exit, thread destroyed, unknown"),
		col("from_thread", "id", func(r *rows, h *model.Handoff) { id(r, h.FromM) }, "that lost it; empty: unknown"),
		col("from_goroutine", "id", func(r *rows, h *model.Handoff) { id(r, h.FromG) }, "in the system call"),
		col("call", "name", func(r *rows, h *model.Handoff) { r.frame(h.FromStack) }, "function that made the call; empty: unknown"),
		col("in_syscall", "ns", func(r *rows, h *model.Handoff) { num(r, h.InSyscall) }, "from the beginning of the call to the loss; 0: the beginning is unknown"),
		col("lost", "time", func(r *rows, h *model.Handoff) { num(r, h.Lost) }, "when the thread lost the proc"),
		col("got", "time", func(r *rows, h *model.Handoff) { numIf(r, !h.Open, h.Got) }, "when another had it; empty: none did before the end"),
		col("gap", "ns", func(r *rows, h *model.Handoff) { numIf(r, !h.Open, h.Got.Sub(h.Lost)) }, "from lost to got; empty: none had it before the end"),
		col("to_thread", "id", func(r *rows, h *model.Handoff) { id(r, h.ToM) }, "that had it next; empty: none before the end"),
		col("taker_thread", "id", func(r *rows, h *model.Handoff) { id(r, h.TakerM) }, "that took it away, from_thread if that gave it up; empty: unknown"),
		col("taker_goroutine", "id", func(r *rows, h *model.Handoff) { id(r, h.TakerG) }, "on the thread that took it away; empty: none, as of sysmon"),
		offsetCell("lost", func(x *model.Handoff) model.Time { return x.Lost }),
	),
	machine("netpoll", "a goroutine made runnable by the network poller",
		nil,
		goroutineCells(func(n *model.NetpollWake) (model.GoID, model.StringID) { return n.G, n.Func }),
		col("time", "time", func(r *rows, n *model.NetpollWake) { num(r, n.Time) }, "when it became runnable"),
		col("poller", "name", func(r *rows, n *model.NetpollWake) { word(r, n.Poller) }, "findRunnable, blocking, ambiguous (either of these), \"blocking, no idle proc\", sysmon, GC worker, stop-the-world"),
		col("direct", "bool", func(r *rows, n *model.NetpollWake) { r.bool(n.Direct) }, "the poller went on to run it itself, without a queue"),
		col("thread", "id", func(r *rows, n *model.NetpollWake) { id(r, n.M) }, "that polled; empty: unknown"),
		col("proc", "id", func(r *rows, n *model.NetpollWake) { id(r, n.P) }, "of that thread; empty: none"),
		col("started", "time", func(r *rows, n *model.NetpollWake) { numIf(r, !n.Open, n.Started) }, "when it ran; empty: not before the end"),
		col("waited", "ns", func(r *rows, n *model.NetpollWake) { numIf(r, !n.Open, n.Started.Sub(n.Time)) }, "from time to started; empty: it did not run before the end"),
		col("blocked", "ns", func(r *rows, n *model.NetpollWake) { num(r, n.Waited) }, "for the network, before time; at least that, if it was so when the trace began"),
		offsetCell("time", func(x *model.NetpollWake) model.Time { return x.Time }),
	),
	machine("stw", "a stop-the-world",
		nil,
		col("reason", "name", func(r *rows, s *model.STW) { r.text(s.Reason) }, "the runtime's; empty: unknown"),
		col("goroutine", "id", func(r *rows, s *model.STW) { id(r, s.G) }, "that stopped the world; empty: unknown"),
		col("start", "time", func(r *rows, s *model.STW) { num(r, s.Start) }, "when it began"),
		col("stopped", "time", func(r *rows, s *model.STW) { num(r, s.Stopped) }, "when no other proc was active any more; start if that was not seen"),
		col("effective_end", "time", func(r *rows, s *model.STW) { num(r, s.Effective) }, "when the world was seen running again, at most end"),
		col("end", "time", func(r *rows, s *model.STW) { num(r, s.End) }, "as traced, which is after the restart"),
		openCells(func(s *model.STW) (start, end bool) { return s.OpenStart, s.OpenEnd }),
		offsetCell("start", func(x *model.STW) model.Time { return x.Start }),
	),
	machine("ranges", "a range of the runtime: GC phases, mark assist, sweep, stop-the-world",
		nil,
		col("name", "name", func(r *rows, s *model.RangeSpan) { r.str(s.Name) }, "the runtime's"),
		col("goroutine", "id", func(r *rows, s *model.RangeSpan) { id(r, s.G) }, "whose range it is; empty: nobody's"),
		col("proc", "id", func(r *rows, s *model.RangeSpan) { id(r, s.P) }, "whose range it is; empty: nobody's"),
		intervalCells(func(s *model.RangeSpan) (start, end model.Time) { return s.Start, s.End }),
		openCells(func(s *model.RangeSpan) (start, end bool) { return s.OpenStart, s.OpenEnd }),
		offsetCell("start", func(x *model.RangeSpan) model.Time { return x.Start }),
	),
	machine("tasks", "a user task",
		nil,
		col("task", "id", func(r *rows, t *model.Task) { num(r, t.ID) }, "as numbered by runtime/trace"),
		col("parent", "id", func(r *rows, t *model.Task) { num(r, t.Parent) }, "task that it is part of; 0: none"),
		col("name", "name", func(r *rows, t *model.Task) { r.str(t.Name) }, "of its type; empty: unknown"),
		col("goroutine", "id", func(r *rows, t *model.Task) { id(r, t.G) }, "that began it; empty: unknown"),
		intervalCells(func(t *model.Task) (start, end model.Time) { return t.Start, t.End }),
		openCells(func(t *model.Task) (start, end bool) { return t.OpenStart, t.OpenEnd }),
		offsetCell("start", func(x *model.Task) model.Time { return x.Start }),
	),
	machine("regions", "a user region with what its goroutine did inside",
		nil,
		col("task", "id", func(r *rows, s *model.Region) { num(r, s.Task) }, "that it belongs to; 0: none"),
		col("name", "name", func(r *rows, s *model.Region) { r.str(s.Name) }, "of its type; empty: unknown"),
		goroutineCells(func(s *model.Region) (model.GoID, model.StringID) { return s.G, s.Func }),
		col("depth", "count", func(r *rows, s *model.Region) { num(r, s.Depth) }, "regions of the goroutine around it"),
		intervalCells(func(s *model.Region) (start, end model.Time) { return s.Start, s.End }),
		stateCells(func(s *model.Region) *[model.NumGoStates]model.Duration { return &s.Times }),
		openCells(func(s *model.Region) (start, end bool) { return s.OpenStart, s.OpenEnd }),
		offsetCell("start", func(x *model.Region) model.Time { return x.Start }),
	),
	machine("counts", "a longest interval in which no number of procs or goroutines changed",
		nil,
		intervalCells(func(c *model.Counts) (start, end model.Time) { return c.Start, c.End }),
		col("procs", "count", func(r *rows, c *model.Counts) { num(r, c.Procs) }, "procs that exist, as seen so far (GOMAXPROCS)"),
		col("idle", "count", func(r *rows, c *model.Counts) { num(r, c.Idle) }, "procs without a thread, unless stopped"),
		col("searching", "count", func(r *rows, c *model.Counts) { num(r, c.Searching) }, "procs whose thread had no goroutine"),
		col("syscall", "count", func(r *rows, c *model.Counts) { num(r, c.Syscall) }, "procs kept by a goroutine in a system call"),
		col("stopped", "count", func(r *rows, c *model.Counts) { num(r, c.Stopped) }, "procs stopped by a stop-the-world"),
		col("running", "count", func(r *rows, c *model.Counts) { num(r, c.Running) }, "procs that ran a goroutine"),
		col("gc", "count", func(r *rows, c *model.Counts) { num(r, c.GC) }, "of those, procs that ran a mark worker"),
		col("runnable", "count", func(r *rows, c *model.Counts) { num(r, c.Runnable) }, "goroutines that were runnable, all of them"),
		col("overloaded", "count", func(r *rows, c *model.Counts) { num(r, c.Overloaded) }, "procs not idle on which a goroutine became runnable that still waited"),
		offsetCell("start", func(x *model.Counts) model.Time { return x.Start }),
	),
	machine("metrics", "a new value of a runtime metric",
		nil,
		col("time", "time", func(r *rows, m *model.MetricSample) { num(r, m.Time) }, "of the change"),
		col("name", "name", func(r *rows, m *model.MetricSample) { r.text(m.Name) }, "as in package runtime/metrics"),
		col("value", "count", func(r *rows, m *model.MetricSample) { r.uint(m.Value) }, "in the unit that the name ends in"),
		offsetCell("time", func(x *model.MetricSample) model.Time { return x.Time }),
	),
}, requestTables...)

var blameCells = []cells[*result.BlamePart]{
	col("kind", "name", func(r *rows, p *result.BlamePart) { r.text(p.Kind.Kind) }, "what was waited for: a cause such as behind a goroutine, a reason such as sync.(*Mutex).Lock; created counts time of other kinds again"),
	col("blocked", "bool", func(r *rows, p *result.BlamePart) { r.bool(p.Kind.Blocked) }, "goroutines were blocked, not runnable"),
	col("function", "name", func(r *rows, p *result.BlamePart) { r.text(p.Row.Function) }, "the program's innermost function that ran, or that ended the wait; empty: unknown"),
	col("source_file", "name", func(r *rows, p *result.BlamePart) { r.text(p.Row.File) }, "its source file; empty: unknown"),
	col("line", "count", func(r *rows, p *result.BlamePart) { numIf(r, p.Row.Line > 0, p.Row.Line) }, "where most of all its time is known to be; empty: unknown"),
	col("waiter", "name", func(r *rows, p *result.BlamePart) { r.text(p.Row.Waiter) }, "of blocked: the program's innermost function that waited; of created and blocked at the end: the start function; empty: unknown"),
	col("waiter_source_file", "name", func(r *rows, p *result.BlamePart) { r.text(p.Row.WaiterFile) }, "its source file; empty: unknown"),
	col("waiter_line", "count", func(r *rows, p *result.BlamePart) { numIf(r, p.Row.WaiterLine > 0, p.Row.WaiterLine) }, "where most of it waited; empty: unknown"),
	col("basis", "name", func(r *rows, p *result.BlamePart) { r.text(p.Basis) }, "how it is known: sampled, seen, estimated, unknown"),
	col("ns", "ns", func(r *rows, p *result.BlamePart) { num(r, p.Total) }, "goroutine-time; the parts of a kind add up to its total in the report"),
	col("turns", "count", func(r *rows, p *result.BlamePart) { num(r, p.Turns) }, "how often somebody waited for it; not of what is estimated"),
	col("stack", "name", func(r *rows, p *result.BlamePart) { r.text(stackText(p.Stack)) }, "function file:line, innermost first, separated by semicolons; empty: none, or of little time"),
}

func stackText(stack []result.Frame) string {
	return strings.Join(result.Each(stack, func(f *result.Frame) string { return fmt.Sprintf("%s %s:%d", f.Function, f.File, f.Line) }), "; ")
}

// waitCause is a row of the table causes.
type waitCause struct {
	*causes.Cell
	wait *causes.ExplainedWait
}

// cells are columns of a table whose rows are made of values of T, and what adds their
// cells to a row.
type cells[T any] struct {
	columns []Column
	add     func(*rows, T)
}

// machine describes a table of what the Machine reports, of values that pass keep.
func machine[T any](name, doc string, keep func(*rows, T) bool, list ...cells[T]) tableDef {
	return tableDef{name: name, doc: doc, columns: columnsOf(list), machine: func(r *rows) any { return each[T](writer(r, keep, list)) }}
}

// resolver is machine for what a Resolver reports.
func resolver[T any](name, doc string, keep func(*rows, T) bool, list ...cells[T]) tableDef {
	return tableDef{name: name, doc: doc, columns: columnsOf(list), resolver: func(r *rows) any { return each[T](writer(r, keep, list)) }}
}

// explainer describes a table of the causes of waits. Its rows are written by a goroutine
// of the Explainer's own, which nothing else of the table runs at the same time as.
func explainer(name, doc string, list ...cells[*waitCause]) tableDef {
	return tableDef{name: name, doc: doc, columns: columnsOf(list), explained: func(r *rows) func(*causes.ExplainedWait) {
		write, row := writer(r, nil, list), new(waitCause)
		return func(w *causes.ExplainedWait) {
			for i := range w.Cells {
				*row = waitCause{&w.Cells[i], w}
				write(row)
			}
		}
	}}
}

func columnsOf[T any](list []cells[T]) (all []Column) {
	for _, c := range list {
		all = append(all, c.columns...)
	}
	return all
}

// writer returns what writes a row for a value.
func writer[T any](r *rows, keep func(*rows, T) bool, list []cells[T]) func(T) {
	return func(x T) {
		if keep != nil && !keep(r, x) {
			return
		}
		for i := range list {
			list[i].add(r, x)
		}
		r.end()
	}
}

// each calls a function for each value of one of the types below. It has the methods of all
// observers, but of those interfaces only the one for values of T has this parameter.
type each[T any] func(T)

func (f each[T]) GoSpan(x T)      { f(x) }
func (f each[T]) GoEnd(x T)       { f(x) }
func (f each[T]) ProcSpan(x T)    { f(x) }
func (f each[T]) ThreadSpan(x T)  { f(x) }
func (f each[T]) SyscallExit(x T) { f(x) }
func (f each[T]) Handoff(x T)     { f(x) }
func (f each[T]) Netpoll(x T)     { f(x) }
func (f each[T]) STW(x T)         { f(x) }
func (f each[T]) Range(x T)       { f(x) }
func (f each[T]) Task(x T)        { f(x) }
func (f each[T]) Region(x T)      { f(x) }
func (f each[T]) Counts(x T)      { f(x) }
func (f each[T]) Metric(x T)      { f(x) }
func (f each[T]) Start(x T)       { f(x) }
func (f each[T]) Steal(x T)       { f(x) }
func (f each[T]) Lengths(x T)     { f(x) }

func col[T any](name, unit string, add func(*rows, T), doc string) cells[T] {
	return cells[T]{[]Column{{name, unit, doc}}, add}
}

// Columns of several tables.

func goroutineCells[T any](of func(T) (model.GoID, model.StringID)) cells[T] {
	return cells[T]{[]Column{
		{"goroutine", "id", "that the row is about"},
		{"function", "name", "start function of the goroutine; empty: unknown"},
	}, func(r *rows, x T) {
		g, function := of(x)
		id(r, g)
		r.str(function)
	}}
}

func intervalCells[T any](of func(T) (start, end model.Time)) cells[T] {
	return cells[T]{[]Column{
		{"start", "time", "when it began"},
		{"end", "time", "when it ended"},
		{"duration", "ns", "from start to end"},
	}, func(r *rows, x T) {
		start, end := of(x)
		num(r, start)
		num(r, end)
		num(r, end.Sub(start))
	}}
}

func openCells[T any](of func(T) (start, end bool)) cells[T] {
	return cells[T]{[]Column{
		{"open_start", "bool", "it began before what was read"},
		{"open_end", "bool", "it went on after what was read"},
	}, func(r *rows, x T) {
		start, end := of(x)
		r.bool(start)
		r.bool(end)
	}}
}

// offsetCell is a point in time as reports have it, the last column of each table.
func offsetCell[T any](what string, of func(T) model.Time) cells[T] {
	return col("offset", "ns", func(r *rows, x T) { num(r, of(x).Sub(r.origin)) }, what+", counted from the beginning of the trace, as --from and reports do")
}

// stateCells are the totals of the states that a goroutine can be known to be in.
func stateCells[T any](of func(T) *[model.NumGoStates]model.Duration) cells[T] {
	return cells[T]{[]Column{
		{"running", "ns", "running on a proc"},
		{"runnable", "ns", "waiting for a proc"},
		{"waiting", "ns", "blocked"},
		{"syscall", "ns", "in system calls, with its proc"},
		{"syscall_blocked", "ns", "in system calls, without a proc"},
	}, func(r *rows, x T) {
		total := of(x)
		for _, s := range [...]model.GoState{model.GoRunning, model.GoRunnable, model.GoWaiting, model.GoSyscall, model.GoSyscallBlocked} {
			num(r, total[s])
		}
	}}
}

// pseudoName returns what passed for a wait, "" if it was one.
func pseudoName(p model.Pseudo) string {
	switch p {
	case model.PseudoSyscall:
		return "syscall"
	case model.PseudoCoroutine:
		return "coroutine"
	}
	return ""
}

// procWork returns what a running proc does, else "".
func procWork(s *model.ProcSpan) string {
	return textui.If(s.State == model.ProcRunning, s.Work.String())
}
