package page

import (
	"fmt"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// handoffs is about procs and system calls.
func (p *view) handoffs() *section {
	s := &section{ID: "handoffs", Title: "System calls and handoffs", Lead: "How procs left threads in system calls, and how long they then had no thread."}
	span := float64(p.r.Totals.Span) / 1e9
	t := &table{ID: "t-handoffs", Caption: "Handoffs of procs from threads in system calls", Columns: []column{{"cause", "", ""}, {"count", "n", ""}, {"per second", "mean", ""},
		{"gap p50", "ns", "until the next thread had the proc"}, {"gap p99", "ns", ""}, {"gap max", "ns", ""}, {"max at", "at", ""},
		{"in call p50", "ns", "how long the system call had lasted by then"}, {"in call max", "ns", ""}}}
	for i := range p.r.Handoffs {
		h := &p.r.Handoffs[i]
		rate := cell{}
		if span > 0 {
			rate = mean(float64(h.Count)/span, 1)
		}
		at := instant(int64(h.Gap.MaxAt))
		at.Link = p.link(0, int64(h.Gap.MaxAt-model.Time(h.Gap.Max)), int64(h.Gap.Max), -1)
		t.add(words(h.Cause), count(h.Count), rate, percentile(&h.Gap, int64(h.Gap.P50)), percentile(&h.Gap, int64(h.Gap.P99)), duration(int64(h.Gap.Max)), at, percentile(&h.InSyscall, int64(h.InSyscall.P50)), duration(int64(h.InSyscall.Max)))
	}
	s.table("Handoffs", t)
	x := &p.r.Syscalls
	if x.All.Count > 0 {
		c := &table{ID: "t-syscalls", Caption: "System calls", Columns: append([]column{{Name: "time"}}, distColumns...)}
		c.add(append([]cell{words("all of it")}, p.distCells(&x.All)...)...)
		c.add(append([]cell{words("with a proc")}, p.distCells(&x.WithProc)...)...).Indent = true
		c.add(append([]cell{words("without")}, p.distCells(&x.Blocked)...)...).Indent = true
		s.table("System calls", c)
	}
	s.table("By the way out", p.distTable("t-ways-out", "System calls by the way out", "way out", x.ByWayOut, words))
	s.table("By start function", p.distTable("t-syscalls-function", "System calls by start function", "function", x.ByFunction, function))
	return s
}

func (p *view) network() *section {
	n, l := &p.r.Netpoll, &p.r.Lateness
	s := &section{ID: "network", Title: "Network poller and timers"}
	if n.All.Count > 0 {
		t := &table{ID: "t-netpoll", Caption: "Network wakeups until running, by who polled", Columns: append([]column{{"poller", "", "who looked for network events; ambiguous: a thread without a proc that may be sysmon or not"}, {"direct", "n", "run by the poller itself, without a queue"}}, distColumns...)}
		var direct int64
		for i := range n.ByPoller {
			x := &n.ByPoller[i]
			direct += x.Direct
			t.add(append([]cell{words(x.Poller), count(x.Direct)}, p.distCells(&x.ToRun)...)...)
		}
		t.total(append([]cell{words("all"), count(direct)}, p.distCells(&n.All)...)...)
		s.table("Network wakeups until running", t)
	}
	b := &table{ID: "t-lateness", Caption: "Upper bounds for how late goroutines became runnable", Columns: []column{{"at most", "", ""}, {"count", "n", ""}, {"p50", "ns", ""}, {"p90", "ns", ""}, {"p99", "ns", ""}, {"max", "ns", ""}, {"max at", "at", ""}}}
	bounds := func(name string, x *result.Bounds, indent bool) {
		if x.Count > 0 {
			cells := append([]cell{words(name), count(x.Count)}, percentileCells(x.Unknown, int64(x.P50), int64(x.P90), int64(x.P99))...)
			b.add(append(cells, duration(int64(x.Max)), instant(int64(x.MaxAt)))...).Indent = indent
		}
	}
	bounds("network events", &l.Network, false)
	for i := range l.ByPoller {
		bounds(l.ByPoller[i].Poller, &l.ByPoller[i].Bounds, true)
	}
	bounds("timers on a busy proc", &l.Timers, false)
	if len(b.Rows) > 0 {
		s.table("Outside Runnable: how late goroutines may have become runnable", b)
		s.text("Bounds of single wakeups, no measurements: they are part of no other number and must not be added up.")
	}
	return s
}

// collector is about garbage collection and stop-the-world phases.
func (p *view) collector() *section {
	g := &p.r.GC
	s := &section{ID: "gc", Title: "Garbage collection and stop-the-world"}
	stw := &table{ID: "t-stw", Caption: "Stop-the-world phases by reason", Columns: []column{{"reason", "", ""}, {"count", "n", ""}, {"effective", "ns", "until the world was seen running again"}, {"p50", "ns", ""}, {"max", "ns", ""}, {"max from", "at", ""},
		{"traced max", "ns", "until the runtime said so, which may be much later"}, {"to stop max", "ns", "until no other proc ran"}}}
	for i := range p.r.STW.ByReason {
		x := &p.r.STW.ByReason[i]
		at := instant(int64(x.Effective.MaxAt))
		at.Link = p.link(0, int64(x.Effective.MaxAt), int64(x.Effective.Max), -1)
		stw.add(words(x.Reason), count(x.Effective.Count), duration(int64(x.Effective.Total)), percentile(&x.Effective, int64(x.Effective.P50)), duration(int64(x.Effective.Max)), at, duration(int64(x.Traced.Max)), duration(int64(x.ToStop.Max)))
	}
	s.table("Stop-the-world by reason", stw)
	work := &table{ID: "t-gc-work", Caption: "The procs' time that the garbage collector took", Columns: []column{{"procs' time", "", ""}, {"total", "ns", ""}, {"share", "share", ""}}}
	all := totalUses(&p.r.Procs.Uses)
	for _, x := range []struct {
		name string
		ns   int64
	}{{"GC dedicated", int64(g.Dedicated)}, {"GC fractional", int64(g.Fractional)}, {"GC idle", int64(g.Idle)}, {"GC assist", int64(g.Assist)}} {
		if x.ns > 0 {
			work.add(words(x.name), duration(x.ns), ratio(x.ns, all))
		}
	}
	s.table("Work", work)
	clock := &table{ID: "t-gc-clock", Caption: "Phases of garbage collection", Columns: []column{{"by the clock", "", ""}, {"count", "n", ""}, {"total", "ns", ""}, {"max", "ns", ""}, {"max from", "at", ""}}}
	tally := func(name string, x result.Tally) {
		if x.Count > 0 {
			at := instant(int64(x.MaxAt))
			at.Link = p.link(0, int64(x.MaxAt), int64(x.Max), -1)
			clock.add(words(name), count(x.Count), duration(int64(x.Total)), duration(int64(x.Max)), at)
		}
	}
	tally("mark phases", result.Tally{Count: g.Marks.Count, Total: g.Marks.Total, Max: g.Marks.Max, MaxAt: g.Marks.MaxAt})
	tally("mark phases seen in part", g.CensoredMarks)
	tally("mark assists", g.Assists)
	tally("sweeps", g.Sweeps)
	tally("stop-the-world", g.Stops)
	s.table("By the clock", clock)
	return s
}

// procs is about procs and threads, as far as it is nowhere else.
func (p *view) procs() *section {
	s := &section{ID: "threads", Title: "Procs and threads"}
	x, th := &p.r.Procs, &p.r.Threads
	t := &table{ID: "t-procs", Caption: "Procs and runnable goroutines", Columns: []column{{"", "", ""}, {"value", "", ""}}}
	t.add(words("procs, mean number"), mean(x.Mean, 2))
	t.add(words("utilisation"), share(x.Utilisation))
	t.add(words("no proc idle, a goroutine runnable"), duration(int64(x.Saturated)))
	t.add(words("a proc idle beside a runnable goroutine"), duration(int64(x.IdleRunnable.Wall)))
	t.add(words("by each idle proc"), duration(int64(x.IdleRunnable.PerProc))).Indent = true
	t.add(words("by each runnable goroutine"), duration(int64(x.IdleRunnable.PerGoroutine))).Indent = true
	s.table("Procs", t)
	if th.Count == 0 {
		return s
	}
	list := []struct {
		name string
		ns   int64
	}{{"running", int64(th.Running)}, {"searching", int64(th.Searching)}, {"syscall, with its proc", int64(th.Syscall)}, {"syscall, without a proc", int64(th.SyscallBlocked)},
		{"parked, polling or spinning", int64(th.NoProc)}, {"unknown", int64(th.Unknown)}}
	var all int64
	for _, x := range list {
		all += x.ns
	}
	states := &table{ID: "t-threads", Caption: "What the threads did", Columns: []column{{"state", "", ""}, {"total", "ns", ""}, {"share", "share", ""}}}
	for _, x := range list {
		if x.ns > 0 {
			states.add(words(x.name), duration(x.ns), ratio(x.ns, all))
		}
	}
	s.table(fmt.Sprintf("%s, of which %s first showed after the start", textui.Plural(th.Count, "thread"), textui.Count(th.Created)), states)
	return s
}
