package report

import (
	"fmt"
	"strings"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

func (t *text) tasks() {
	rows := t.r.Tasks.ByName()
	if len(rows) == 0 {
		return
	}
	t.section("Tasks", "runtime/trace.NewTask, by type; the shares say what goroutines did inside the tasks' regions")
	tb := t.table(spanAlign, spanHead...)
	shown := t.limit(len(rows))
	for _, r := range rows[:shown] {
		tb.Row(spanCells(r.Name, r.Censored, r.Whole, &r.Inside.Times)...)
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
	tb := t.table(spanAlign, spanHead...)
	shown := t.limit(len(rows))
	for _, r := range rows[:shown] {
		tb.Row(spanCells(r.Name, r.Censored, r.Whole, &r.Times)...)
	}
	t.b.WriteString(tb.String())
	t.more(shown, len(rows))
	t.instances("longest regions", t.r.Regions.Longest())
}

// The tables of tasks and of regions. In part: begun before the trace or not
// over at its end; those are in no other column but the shares.
const spanAlign = "Lrrrrrrrrrr"

var spanHead = []string{"type", "in part", "count", "total", "p50", "p99", "max", "running", "runnable", "waiting", "syscall"}

func spanCells(name string, inPart result.Tally, whole *dist.Dist, times *[model.NumGoStates]model.Duration) []string {
	cells := []string{textui.Clean(name), textui.Count(inPart.Count), textui.Count(whole.Count()), "", "", "", ""}
	if whole.Count() > 0 {
		q := whole.Quantiles(0.5, 0.99)
		cells = append(cells[:3], textui.Duration(whole.Total()), textui.Duration(q[0]), textui.Duration(q[1]), textui.Duration(whole.Max()))
	}
	return append(cells, stateShares(times)...)
}

// stateShares are the shares of running, runnable, waiting and system calls.
func stateShares(times *[model.NumGoStates]model.Duration) []string {
	var all model.Duration
	for _, d := range times {
		all += d
	}
	if all == 0 {
		return []string{"-", "-", "-", "-"}
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
		name := textui.Clean(textui.ShortFunc(r.Func))
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
