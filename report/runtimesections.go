package report

import (
	"fmt"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

func (t *text) syscalls() {
	s := t.r.Syscalls
	if s.All.Count() == 0 {
		return
	}
	t.section("System calls", "")
	tb := t.distTable("")
	distRow(tb, "all", &s.All)
	distRow(tb, "  with a proc", &s.WithProc)
	distRow(tb, "  without", &s.Blocked)
	t.b.WriteString(tb.String())
	t.printf("\n")
	tb = t.distTable("way out")
	for p := range s.ByPath {
		if s.ByPath[p].Count() > 0 {
			distRow(tb, model.SyscallExitPath(p).String(), &s.ByPath[p])
		}
	}
	t.b.WriteString(tb.String())
	t.printf("\n")
	t.funcRows(s.ByFunc())
}

func (t *text) handoffs() {
	h := t.r.Handoffs
	if h.Count() == 0 {
		return
	}
	t.section("Procs handed off from threads in system calls", "gap: until the next thread had the proc; in call: how long the system call had lasted by then")
	tb := t.table("lrrrrrrr", "cause", "count", "per s", "gap p50", "gap p99", "gap max", "in call p50", "in call max")
	for c := range h.ByCause {
		x := &h.ByCause[c]
		if x.Count == 0 {
			continue
		}
		gap := x.Gap.Quantiles(0.5, 0.99)
		tb.Row(model.HandoffCause(c).String(), textui.Count(x.Count), fmt.Sprintf("%.1f", h.PerSecond(model.HandoffCause(c), t.r.Totals.Span)),
			textui.Duration(gap[0]), textui.Duration(gap[1]), textui.Duration(x.Gap.Max()),
			textui.Duration(x.InSyscall.Quantile(0.5)), textui.Duration(x.InSyscall.Max()))
	}
	t.b.WriteString(tb.String())
}

func (t *text) netpoll() {
	n := t.r.Netpoll
	if count, direct := n.Count(); count > 0 {
		t.section("Network wakeups until running", "by who polled; %s of %s were run by the poller itself, without a queue",
			textui.Count(direct), textui.Count(count))
		tb := t.distTable("poller")
		distRow(tb, "all", &n.All)
		for p := range n.ByPoller {
			if n.ByPoller[p].Count > 0 {
				distRow(tb, "  "+model.Poller(p).String(), &n.ByPoller[p].ToRun)
			}
		}
		t.b.WriteString(tb.String())
	}
}

func (t *text) stops() {
	rows := t.r.STWs.ByReason()
	if len(rows) == 0 {
		return
	}
	t.section("Stop-the-world by reason", "effective: until the world was seen running again; traced: until the runtime said so, which may be much later; to stop: until no other proc ran")
	tb := t.table("Lrrrrrrr", "reason", "count", "effective", "p50", "max", "from", "traced max", "to stop max")
	for _, r := range rows {
		tb.Row(textui.Clean(r.Reason), textui.Count(r.Effective.Count()), textui.Duration(r.Effective.Total()),
			textui.Duration(r.Effective.Quantile(0.5)), textui.Duration(r.Effective.Max()), textui.Instant(r.Effective.MaxAt()),
			textui.Duration(r.Traced.Max()), textui.Duration(r.ToStop.Max()))
	}
	t.b.WriteString(tb.String())
}

func (t *text) collector() {
	gc := t.r.GC
	if gc.Total() == 0 && gc.Marks.Count()+gc.CensoredMarks.Count+gc.Assists.Count+gc.Sweeps.Count == 0 {
		return
	}
	t.section("Garbage collection", "")
	tb := t.table("lrr", "procs' time", "total", "share")
	for w, d := range gc.Work {
		if model.WorkKind(w).IsGC() && d > 0 {
			tb.Row(model.WorkKind(w).String(), textui.Duration(d), textui.Ratio(d, gc.Procs))
		}
	}
	t.b.WriteString(tb.String())
	t.printf("\n")
	tb = t.table("lrrrr", "by the clock", "count", "total", "max", "from")
	if m := &gc.Marks; m.Count() > 0 {
		tb.Row("mark phases", textui.Count(m.Count()), textui.Duration(m.Total()), textui.Duration(m.Max()), textui.Instant(m.MaxAt()))
	}
	tallyRow(tb, "mark phases seen in part", gc.CensoredMarks)
	tallyRow(tb, "mark assists", gc.Assists)
	tallyRow(tb, "sweeps", gc.Sweeps)
	tallyRow(tb, "stop-the-world", gc.Stops)
	t.b.WriteString(tb.String())
}

func tallyRow(tb *textui.Table, name string, x result.Tally) {
	if x.Count > 0 {
		tb.Row(name, textui.Count(x.Count), textui.Duration(x.Total), textui.Duration(x.Max), textui.Instant(x.MaxAt))
	}
}

func (t *text) threads() {
	th := t.r.Threads
	if th.Count == 0 {
		return
	}
	t.section("Threads", "%s, of which %s first showed after the start (%s seen being created); %s, %s",
		textui.Count(th.Count), textui.Count(th.Created), textui.Count(th.SeenCreated),
		textui.Plural(th.Starts, "goroutine start"), textui.Plural(th.Acquired, "proc acquisition"))
	var total model.Duration
	for _, d := range th.Times {
		total += d
	}
	tb := t.table("lrr", "state", "total", "share")
	for s, d := range th.Times {
		if d > 0 {
			tb.Row(threadStateName(model.ThreadState(s)), textui.Duration(d), textui.Ratio(d, total))
		}
	}
	t.b.WriteString(tb.String())
}

func threadStateName(s model.ThreadState) string {
	switch s {
	case model.ThreadSyscall:
		return "syscall, with its proc"
	case model.ThreadSyscallBlocked:
		return "syscall, without a proc"
	case model.ThreadNoProc:
		return "parked, polling or spinning"
	}
	return s.String()
}
