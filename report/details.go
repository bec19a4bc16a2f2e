package report

import (
	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
)

// details prints what comes after the summary. Sections without content are
// left out.
func (t *text) details() {
	t.traces()
	t.findings()
	t.pathologies()
	t.latencyByOrigin()
	t.latencyByFunc()
	t.causesByOrigin()
	t.causesByFunc()
	t.behind()
	t.worstWaits()
	t.latencyByGoroutine()
	t.queues()
	t.bursts()
	t.waiting()
	t.syscalls()
	t.handoffs()
	t.netpoll()
	t.lateness()
	t.stops()
	t.collector()
	t.threads()
	t.tasks()
	t.regions()
	t.groups()
	t.thresholds()
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
		if f.Grade == result.Inferred {
			say += " (inferred)"
		}
		t.printf("  - %s\n", textui.Columns(say, t.width-4, "    "))
	}
}

// latencyByOrigin is left out if there is only one.
func (t *text) latencyByOrigin() {
	origins := t.originsByTotal()
	if len(origins) < 2 {
		return
	}
	t.section("Scheduling latency by origin", "how the goroutine became runnable")
	tb := t.distTable("origin")
	for _, o := range origins {
		distRow(tb, result.OriginName(o), &t.r.Latency.ByOrigin[o])
	}
	t.b.WriteString(tb.String())
}

func (t *text) latencyByFunc() {
	rows := t.r.Latency.ByFunc()
	if len(rows) == 0 {
		return
	}
	t.section("Scheduling latency by start function", "runnable until running, greatest total first")
	t.funcRows(rows)
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
	t.funcRows(append([]analyze.DistRow{{Name: "all", Dist: &b.All}}, b.ByFunc()...))
	if b.Long.Count == 0 {
		t.note("none was longer than %s", textui.Duration(analyze.LongBurst))
		return
	}
	t.note("%s longer than %s, after which the runtime asks a goroutine to give way; %s longer than %s:",
		textui.Plural(b.Long.Count, "burst"), textui.Duration(analyze.LongBurst), textui.Count(b.VeryLong.Count), textui.Duration(analyze.VeryLongBurst))
	longest := b.Longest()
	tb := t.table("rrLLl", "length", "from", "goroutine", "stopped in", "")
	shown := t.limit(len(longest))
	for _, x := range longest[:shown] {
		open := ""
		if x.Censored {
			open = "at least: the trace begins or ends in it"
		}
		tb.Row(textui.Duration(x.Duration()), textui.Instant(x.Start), t.goName(x.Trace, x.G, x.Func)+" on "+procName(x.P), shortName(x.Place, 40), open)
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
