package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
	"github.com/schedscope/schedscope/report/document"
)

// queues shows where goroutines were taken from to run, and what became of the run queues.
func queues(r *result.Report) *document.Section {
	q := &r.Queues
	if q.Starts == 0 {
		return nil
	}
	s := document.New("queues", "Run queues", fmt.Sprintf("reconstructed, with the runtime's own goroutines; %s: %s", plural(q.Starts, "start"), findings.Grades(q)))
	t := s.Table("t-sources", document.Word("taken from"), document.Count("starts"), document.Share("share"))
	t.Fixed = true
	for _, x := range q.BySource {
		t.Row(cmp.Or(sources[x.Name], x.Name), x.Count, float64(x.Count)/float64(q.Starts))
	}
	moves(s, q)
	decisions(s, q)
	wakeups(s, q)
	lengths(s, q)
	return s
}

// moves says in a few lines how goroutines moved between queues.
func moves(s *document.Section, q *result.Queues) {
	vias := map[string]string{runqueue.ViaOwn.String(): "readied there", runqueue.ViaGlobal.String(): "in a batch from the global queue",
		runqueue.ViaSteal.String(): "in a stolen batch", runqueue.ViaNetpoll.String(): "injected"}
	var in []string
	for _, x := range q.ByVia {
		if vias[x.Name] != "" {
			in = append(in, textui.Count(x.Count)+" "+vias[x.Name])
		}
	}
	if len(in) > 0 {
		s.Text("How those from an own queue came there: %s.", strings.Join(in, ", "))
	}
	steals, who := plural(q.Steals, "steal"), "they"
	if q.RunnextSteals > 0 {
		steals += fmt.Sprintf(", %s of a runnext", textui.Count(q.RunnextSteals))
		who = "the others"
	}
	if x := &q.StealSizes; x.Count > 0 {
		p50 := textui.Either(!x.Unknown, plural(x.P50, "goroutine"), "an unknown number")
		steals += fmt.Sprintf("; %s took %s each at p50, %s at most", who, p50, textui.Count(x.Max))
	}
	s.Text("%s. %s of local queues into the global one, %s from the global queue by the 61st tick.", steals,
		plural(q.Overflows, "overflow"), plural(q.FairPicks, "pick"))
	if q.Injections > 0 {
		s.Text("%s of goroutines made runnable at once: %s, of which %s went to local queues and the rest to the global one.",
			plural(q.Injections, "list"), plural(q.Injected, "goroutine"), textui.Count(q.InjectedLocal))
	}
}

// decisions shows how many decisions the reference scheduler would have made the same way.
func decisions(s *document.Section, q *result.Queues) {
	if len(q.Decisions) == 0 {
		return
	}
	t := s.Table("t-decided", document.Word("decisions"), document.Count("judged"), document.Count("as the reference"), document.Count("explained"),
		document.Count("unexplained"), document.Duration("waited"), document.Count("not judged"))
	t.Caption, t.Heading, t.Fixed = "Decisions of the scheduler, and what the reference would have done", "Decisions of the scheduler", true
	for _, d := range q.Decisions {
		t.Row(d.Name, d.Judged, d.Agreed, d.Explained, d.Unexplained, document.If(d.Unexplained > 0, d.Waited), d.Unjudged)
	}
	s.Text("place: where a goroutine was put that became runnable; pick: what a proc ran next, also from another's runnext; steal: how many it took from another's local queue. Explained: by what is outside of the rules, such as two threads that raced, or near the beginning of the trace. Waited: before the unexplained ones, in all. schedscope replay --mode lockstep TRACE lists those, and judges what queues do not determine: wakeups, preemption, system calls.")
}

// wakeups shows how long idle procs took to come to work, by what woke them.
func wakeups(s *document.Section, q *result.Queues) {
	if len(q.Wakeups) == 0 {
		return
	}
	t := s.Table("t-wakeups", distColumns(document.Word("idle procs woken"))...)
	t.Caption, t.Heading, t.Fixed = "From what woke an idle proc until its thread had it", "Idle procs woken", true
	if result.Sum(q.Wakeups, func(x *result.Named) int64 { return x.Count }) == q.Woken.Count { // an older report, merged with a newer one, has not all of them
		distRow(t, &q.Woken, "all").Total = true
	}
	for _, x := range q.Wakeups {
		distRow(t, &x.Dist, OriginLabel(x.Name)).Indent = true
	}
	s.Text("from what woke them until the thread had the proc, by how the goroutine became runnable; %s found nothing to run; of %s more the cause is not known",
		plural(q.Fruitless, "wakeup"), textui.Count(q.Uncaused))
}

// lengths shows how long the queues were, the longest first.
func lengths(s *document.Section, q *result.Queues) {
	if q.Span <= 0 {
		return
	}
	t := s.Table("t-lengths", document.Word("length of queue"), document.Number("mean", 3), document.Count("max"), document.Instant("at"))
	t.Caption, t.Heading = "Lengths of run queues", "Length of the queues, without runnext"
	row := func(name string, l *result.Length) *document.Row {
		return t.Row(name, l.Mean, l.Max, document.Link(l.MaxAt, moment(l.MaxAt-1e6, 2e6, model.NoGoroutine)))
	}
	row("global", &q.Global)
	local := slices.Clone(q.Local)
	slices.SortStableFunc(local, func(a, b result.Length) int { return cmp.Compare(b.Sum, a.Sum) })
	for i := range local {
		row(procName(local[i].Proc), &local[i])
	}
}

func syscalls(r *result.Report) *document.Section {
	x := &r.Syscalls
	if x.All.Count == 0 {
		return nil
	}
	s := document.New("syscalls", "System calls")
	t := s.Table("t-syscalls", distColumns(document.Word(""))...)
	t.Fixed = true
	distRow(t, &x.All, "all")
	distRow(t, &x.WithProc, "with a proc").Indent = true
	distRow(t, &x.Blocked, "without").Indent = true
	t = distTable(s, "t-ways-out", document.Word("way out"), x.ByWayOut, same)
	t.Caption, t.Heading, t.Fixed = "System calls by the way out", "By the way out", true
	t = distTable(s, "t-syscalls-function", document.Function("function"), x.ByFunction, same)
	t.Caption, t.Heading = "System calls by start function", "By start function"
	return s.OrNil()
}

// handoffs lists the procs handed off by threads in system calls.
func handoffs(r *result.Report) *document.Section {
	s := document.New("handoffs", "Procs handed off from threads in system calls")
	t := s.Table("t-handoffs", document.Word("cause"), document.Count("count"), document.Number("per s", 1),
		document.Duration("gap p50").Explain("gap", "until the next thread had the proc"), document.Duration("gap p99"), document.Duration("gap max"),
		document.Instant("max at").Extra(), document.Duration("in call p50").Explain("in call", "how long the system call had lasted by then"), document.Duration("in call max"))
	t.Fixed = true
	for _, h := range r.Handoffs {
		var rate any
		if r.Totals.Span > 0 {
			rate = float64(h.Count) / float64(r.Totals.Span) * 1e9
		}
		t.Row(h.Cause, h.Count, rate, known(&h.Gap, h.Gap.P50), known(&h.Gap, h.Gap.P99), greatest(&h.Gap), maxAt(&h.Gap), known(&h.InSyscall, h.InSyscall.P50), greatest(&h.InSyscall))
	}
	return s.OrNil()
}

func netpoll(r *result.Report) *document.Section {
	n := &r.Netpoll
	direct := result.Sum(n.ByPoller, func(p *result.Poller) int64 { return p.Direct })
	count := result.Sum(n.ByPoller, func(p *result.Poller) int64 { return p.Count })
	if count == 0 {
		return nil
	}
	s := document.New("netpoll", "Network wakeups until running",
		fmt.Sprintf("by who polled; %s of %s were run by the poller itself, without a queue", textui.Count(direct), textui.Count(count)))
	t := s.Table("t-netpoll", distColumns(document.Word("poller").Doc("who looked for network events; ambiguous: a thread without a proc that may be sysmon or not"),
		document.Count("direct").Doc("run by the poller itself, without a queue").Extra())...)
	t.Fixed = true
	distRow(t, &n.All, "all", direct).Total = true
	for i := range n.ByPoller {
		distRow(t, &n.ByPoller[i].ToRun, n.ByPoller[i].Poller, n.ByPoller[i].Direct).Indent = true
	}
	return s
}

// lateness shows what lies before the waits.
func lateness(r *result.Report) *document.Section {
	l := &r.Lateness
	if l.Network.Count+l.Timers.Count+l.Asleep+l.UnboundedTimers == 0 {
		return nil
	}
	s := document.New("lateness", "Wake-up delay before the goroutine was runnable (upper bounds)",
		"bounds of single wakeups, no measurements; they are part of no other number and must not be added up")
	t := s.Table("t-lateness", document.Word("at most"), document.Count("count"), document.Duration("p50"), document.Duration("p90"), document.Duration("p99"), document.Duration("max"), document.Instant("at"))
	t.Fixed = true
	row := func(name string, b *result.Bounds, indent bool) {
		if b.Count > 0 {
			d := &result.Dist{Count: b.Count, Sketch: result.Sketch{Unknown: b.Unknown}}
			t.Row(name, b.Count, known(d, b.P50), known(d, b.P90), known(d, b.P99), b.Max, b.MaxAt).Indent = indent
		}
	}
	row("network events", &l.Network, false)
	for i := range l.ByPoller {
		row(l.ByPoller[i].Poller, &l.ByPoller[i].Bounds, true)
	}
	row("timers on a busy proc", &l.Timers, false)
	if l.Asleep > 0 {
		s.Text("%s more network events woke a thread that slept in the poller: late by no more than that takes", textui.Count(l.Asleep))
	}
	if l.UnboundedTimers > 0 {
		s.Text("%s more timers fired after a sleep or by another proc: nothing is known of them", textui.Count(l.UnboundedTimers))
	}
	return s
}

func stops(r *result.Report) *document.Section {
	s := document.New("stw", "Stop-the-world by reason")
	t := s.Table("t-stw", document.Name("reason"), document.Count("count"), document.Duration("effective").Explain("effective", "until the world was seen running again"),
		document.Duration("p50"), document.Duration("max"), document.Instant("from"),
		document.Duration("traced max").Explain("traced", "until the runtime said so, which may be much later"), document.Duration("to stop max").Explain("to stop", "until no other proc ran"))
	t.Fixed = true
	for _, x := range r.STW.ByReason {
		e := &x.Effective
		t.Row(x.Reason, e.Count, e.Total, known(e, e.P50), e.Max, from(e.MaxAt, e.Max, model.NoGoroutine), greatest(&x.Traced), greatest(&x.ToStop))
	}
	return s.OrNil()
}

func collector(r *result.Report) *document.Section {
	g := &r.GC
	s := document.New("gc", "Garbage collection")
	work := s.Table("t-gc-work", document.Word("procs' time"), document.Duration("total"), document.Share("share"))
	work.Caption, work.Fixed = "The procs' time that the garbage collector took", true
	all := r.Procs.Uses.Total()
	for _, x := range []struct {
		kind model.WorkKind
		time model.Duration
	}{{model.WorkGCDedicated, g.Dedicated}, {model.WorkGCFractional, g.Fractional}, {model.WorkGCIdle, g.Idle}, {model.WorkGCAssist, g.Assist}} {
		if x.time > 0 {
			work.Row(x.kind.String(), x.time, ratio(x.time, all))
		}
	}
	clock := s.Table("t-gc-clock", document.Word("by the clock"), document.Count("count"), document.Duration("total"), document.Duration("max"), document.Instant("from"))
	clock.Caption, clock.Fixed = "Phases of garbage collection", true
	marks := result.Tally{Count: g.Marks.Count, Total: g.Marks.Total, Max: g.Marks.Max, MaxAt: g.Marks.MaxAt}
	for _, x := range []struct {
		name string
		t    *result.Tally
	}{{"mark phases", &marks}, {"truncated mark phases", &g.CensoredMarks}, {"mark assists", &g.Assists}, {"sweeps", &g.Sweeps}, {"stop-the-world", &g.Stops}} {
		if x.t.Count > 0 {
			clock.Row(x.name, x.t.Count, x.t.Total, x.t.Max, from(x.t.MaxAt, x.t.Max, model.NoGoroutine))
		}
	}
	return s.OrNil()
}

func threads(r *result.Report) *document.Section {
	th := &r.Threads
	s := document.New("threads", "Threads", fmt.Sprintf("%s, of which %s first showed after the start (%s seen being created); %s, %s",
		textui.Count(th.Count), textui.Count(th.Created), textui.Count(th.SeenCreated), plural(th.Starts, "goroutine start"), plural(th.Acquired, "proc acquisition")))
	t := s.Table("t-threads", document.Word("state"), document.Duration("total"), document.Share("share"))
	t.Fixed = true
	list := []struct {
		name string
		time model.Duration
	}{{"unknown", th.Unknown}, {"running", th.Running}, {"searching", th.Searching}, {"syscall, with its proc", th.Syscall},
		{"syscall, without a proc", th.SyscallBlocked}, {"parked, polling or spinning", th.NoProc}}
	var all model.Duration
	for _, x := range list {
		all += x.time
	}
	for _, x := range list {
		if x.time > 0 {
			t.Row(x.name, x.time, ratio(x.time, all))
		}
	}
	return s.OrNil()
}

// Uses returns a section with proc utilisation.
func Uses(r *result.Report) *document.Section {
	s := document.New("uses", "What the procs did")
	t := s.Table("t-uses", document.Word("procs were"), document.Duration("time").Doc("of all procs together"), document.Share("share"))
	u := &r.Procs.Uses
	for _, x := range shownUses {
		if u[x] > 0 {
			name := document.As(document.KindWord, x.Label())
			name.Swatch = "u-" + result.UseFields[x]
			t.Row(name, u[x], u.Share(x))
		}
	}
	if u.Total() > 0 {
		t.Row("all", u.Total(), 1.0).Total = true
	}
	return s.OrNil()
}

// Procs returns figures of procs that are nowhere else, as a section of a page.
func Procs(r *result.Report) *document.Section {
	x, idle := &r.Procs, &r.Procs.IdleRunnable
	s := document.New("procs", "Procs")
	t := s.Table("t-procs", document.Word(""), document.Figure("value"))
	row := func(name string, d model.Duration) *document.Row {
		return t.Row(name, document.As(document.KindDuration, d))
	}
	t.Row("procs, mean number", document.Shown(fmt.Sprintf("%.2f", x.Mean), x.Mean))
	t.Row("utilisation", document.As(document.KindShare, x.Utilisation))
	row("no proc idle, a goroutine runnable", x.Saturated)
	row("a proc idle while another was overloaded", idle.Wall)
	row("summed over idle procs", idle.PerProc).Indent = true
	row("summed over runnable goroutines", idle.PerGoroutine).Indent = true
	return s
}
