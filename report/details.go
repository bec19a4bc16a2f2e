package report

import (
	"fmt"
	"strings"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// details prints what comes after the summary. Sections without content are
// left out.
func (t *text) details() {
	t.findings()
	t.latencyByOrigin()
	t.latencyByFunc()
	t.worstWaits()
	t.latencyByGoroutine()
	t.bursts()
	t.waiting()
	t.syscalls()
	t.handoffs()
	t.netpoll()
	t.stops()
	t.collector()
	t.threads()
	t.tasks()
	t.regions()
	t.groups()
	t.notes()
}

// findings prints the rest of the verdict.
func (t *text) findings() {
	if len(t.doc.Findings) <= verdictLines {
		return
	}
	t.section("Also found", "")
	for _, f := range t.doc.Findings[verdictLines:] {
		say := textui.Clean(f.Text)
		if f.Grade == analyze.Inferred {
			say += " (inferred)"
		}
		t.printf("  - %s\n", textui.Columns(say, t.width-4, "    "))
	}
}

// latencyByOrigin is left out if the summary shows it all.
func (t *text) latencyByOrigin() {
	origins := t.originsByTotal()
	if len(origins) <= originLines {
		return
	}
	t.section("Scheduling latency by origin", "how the goroutine became runnable")
	tb := t.distTable("origin")
	for _, o := range origins {
		distRow(tb, originName(o), &t.r.Latency.ByOrigin[o])
	}
	t.b.WriteString(tb.String())
}

func (t *text) latencyByFunc() {
	rows := t.r.Latency.ByFunc()
	if len(rows) == 0 {
		return
	}
	t.section("Scheduling latency by start function", "runnable until running, greatest total first")
	t.distRows("function", rows)
}

func (t *text) latencyByGoroutine() {
	rows := t.r.Latency.ByGoroutine()
	if len(rows) == 0 {
		return
	}
	t.section("Goroutines that waited the longest in all", "")
	tb := t.table("Lrrrr", "goroutine", "waits", "total", "max", "at")
	shown := t.limit(len(rows))
	for _, w := range rows[:shown] {
		tb.Row(t.goName(w.Trace, w.G, w.Func), textui.Count(w.Count), textui.Duration(w.Total), textui.Duration(w.Max), textui.Instant(w.MaxAt))
	}
	t.b.WriteString(tb.String())
}

func (t *text) bursts() {
	b := t.r.Bursts
	if b.All.Count() == 0 {
		return
	}
	t.section("Running bursts", "from start to stop, by start function")
	t.distRows("function", append([]analyze.DistRow{{Name: "all", Dist: &b.All}}, b.ByFunc()...))
	if b.Long.Count == 0 {
		t.note("none was longer than %s", textui.Duration(analyze.LongBurst))
		return
	}
	t.note("%s longer than %s, after which the runtime asks a goroutine to give way; %s longer than %s:",
		textui.Plural(b.Long.Count, "burst"), textui.Duration(analyze.LongBurst), textui.Count(b.VeryLong.Count), textui.Duration(analyze.VeryLongBurst))
	longest := b.Longest()
	tb := t.table("rrLl", "length", "at", "goroutine", "")
	shown := t.limit(len(longest))
	for _, x := range longest[:shown] {
		open := ""
		if x.Censored {
			open = "at least: the trace begins or ends in it"
		}
		tb.Row(textui.Duration(x.Duration()), textui.Instant(x.Start), t.goName(x.Trace, x.G, x.Func)+" on "+procName(x.P), open)
	}
	t.b.WriteString(tb.String())
	t.more(shown, len(longest))
}

func (t *text) waiting() {
	rows := t.r.Waits.ByReason()
	if len(rows) == 0 {
		return
	}
	t.section("Waiting by reason", "what goroutines waited for before they became runnable; no fault of the scheduler")
	t.distRows("reason", rows)
}

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
	t.distRows("function", s.ByFunc())
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
	tb := t.table("Lrrrrrrr", "reason", "count", "effective", "p50", "max", "at", "traced max", "to stop max")
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
	tb = t.table("lrrrr", "by the clock", "count", "total", "max", "at")
	if m := &gc.Marks; m.Count() > 0 {
		tb.Row("mark phases", textui.Count(m.Count()), textui.Duration(m.Total()), textui.Duration(m.Max()), textui.Instant(m.MaxAt()))
	}
	tallyRow(tb, "mark phases seen in part", gc.CensoredMarks)
	tallyRow(tb, "mark assists", gc.Assists)
	tallyRow(tb, "sweeps", gc.Sweeps)
	tallyRow(tb, "stop-the-world", gc.Stops)
	t.b.WriteString(tb.String())
}

func tallyRow(tb *textui.Table, name string, x analyze.Tally) {
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

func (t *text) tasks() {
	rows := t.r.Tasks.ByName()
	if len(rows) == 0 {
		return
	}
	t.section("Tasks", "runtime/trace.NewTask, by type; in part: begun before the trace or not over at its end, in no other number")
	tb := t.table("Lr"+distAlign, append([]string{"type", "in part"}, distHead...)...)
	shown := t.limit(len(rows))
	for _, r := range rows[:shown] {
		tb.Row(append([]string{textui.Clean(r.Name), textui.Count(r.Censored.Count)}, distCells(r.Whole)...)...)
	}
	t.b.WriteString(tb.String())
	t.more(shown, len(rows))
	t.instances("longest tasks", t.r.Tasks.Longest())
}

func (t *text) regions() {
	rows := t.r.Regions.ByName()
	if len(rows) == 0 {
		return
	}
	t.section("Regions", "runtime/trace.StartRegion, by type; the shares say what the goroutines did inside")
	tb := t.table("Lrrrrrrrrrr", "type", "in part", "count", "total", "p50", "p99", "max", "running", "runnable", "waiting", "syscall")
	shown := t.limit(len(rows))
	for _, r := range rows[:shown] {
		tb.Row(append(regionCells(&r), stateShares(&r.Times)...)...)
	}
	t.b.WriteString(tb.String())
	t.more(shown, len(rows))
	t.instances("longest regions", t.r.Regions.Longest())
}

// regionCells are the first seven columns of the table of regions.
func regionCells(r *analyze.RegionRow) []string {
	cells := []string{textui.Clean(r.Name), textui.Count(r.Censored.Count), textui.Count(r.Whole.Count()), "", "", "", ""}
	if r.Whole.Count() > 0 {
		q := r.Whole.Quantiles(0.5, 0.99)
		cells = append(cells[:3], textui.Duration(r.Whole.Total()), textui.Duration(q[0]), textui.Duration(q[1]), textui.Duration(r.Whole.Max()))
	}
	return cells
}

// stateShares are the shares of running, runnable, waiting and system calls.
func stateShares(times *[model.NumGoStates]model.Duration) []string {
	var all model.Duration
	for _, d := range times {
		all += d
	}
	return []string{textui.Ratio(times[model.GoRunning], all), textui.Ratio(times[model.GoRunnable], all),
		textui.Ratio(times[model.GoWaiting], all), textui.Ratio(times[model.GoSyscall]+times[model.GoSyscallBlocked], all)}
}

// instances lists single tasks or regions.
func (t *text) instances(title string, all []analyze.Instance) {
	tb := t.table("Lrrlr", title, "length", "at", "goroutine", "task")
	shown := t.limit(min(len(all), worstShown))
	for _, x := range all[:shown] {
		length := textui.Duration(x.Duration())
		if x.Censored {
			length = "≥" + length
		}
		tb.Row(textui.Clean(x.Name), length, textui.Instant(x.Start), t.goName(x.Trace, x.G, ""), fmt.Sprint(x.Task))
	}
	t.printf("\n%s", tb.String())
}

// wideTable is the width from which there is room for a column of words.
const wideTable = 110

// groups shows where the goroutines of each start function spent their time.
func (t *text) groups() {
	rows := t.r.Goroutines.ByFunc()
	if len(rows) == 0 {
		return
	}
	t.section("Goroutines by start function", "the states add up to the lifetime; those marked * belong to the runtime")
	head := []string{"function", "count", "lifetime", "running", "runnable", "waiting", "syscall", "blocked", "waits for"}
	columns := len(head)
	if t.tableWidth < wideTable {
		columns--
	}
	tb := t.table("Lrrrrrrrl"[:columns], head[:columns]...)
	shown := t.limit(len(rows))
	for _, r := range rows[:shown] {
		name := textui.Clean(r.Func)
		if r.System {
			name += " *"
		}
		reason := ""
		if len(r.Blocks) > 0 {
			reason = textui.Shorten(textui.Clean(r.Blocks[0].Reason), 16)
		}
		cells := []string{name, textui.Count(r.Count), textui.Duration(r.Lifetime)}
		for _, s := range []model.GoState{model.GoRunning, model.GoRunnable, model.GoWaiting, model.GoSyscall, model.GoSyscallBlocked} {
			cells = append(cells, textui.Ratio(r.Times[s], r.Lifetime))
		}
		tb.Row(append(cells, reason)[:columns]...)
	}
	t.b.WriteString(tb.String())
	t.more(shown, len(rows))
}

// frames prints a stack in few lines, innermost first.
func (t *text) frames(label string, frames []model.Frame) {
	if len(frames) == 0 {
		return
	}
	const most = 4
	var parts []string
	for _, f := range frames[:min(most, len(frames))] {
		parts = append(parts, t.name(f.Func))
	}
	if len(frames) > most {
		parts = append(parts, fmt.Sprintf("%d more", len(frames)-most))
	}
	t.printf("    %s %s\n", label, textui.Columns(strings.Join(parts, " ← "), t.width-6-len(label), "      "))
}
