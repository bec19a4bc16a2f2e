package report

import (
	"fmt"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// antagonistsShown is how many goroutines are named that ran during a wait.
const antagonistsShown = 3

// worstWaits shows the longest waits with what happened during each.
func (t *text) worstWaits() {
	waits := t.r.Worst.Waits()
	if len(waits) == 0 {
		return
	}
	t.section("The longest waits", "schedscope plot draws each: what every proc did meanwhile")
	shown := t.limit(len(waits))
	for i, w := range waits[:shown] {
		t.worstWait(i+1, w)
	}
	t.more(shown, len(waits))
}

func (t *text) worstWait(n int, w *analyze.Wait) {
	t.printf("  %d. %s, from %s to %s: %s%s\n", n, textui.Duration(w.Duration()),
		textui.Instant(w.Start), textui.Instant(w.End), t.goName(w.Trace, w.G, w.Func), t.ofTrace(w))
	t.printf("    %s\n", textui.Columns(t.story(w), t.width-4, "    "))
	t.waitCauses(w)
	if meanwhile := meanwhile(w); meanwhile != "" {
		t.printf("    %s\n", textui.Columns("meanwhile "+meanwhile, t.width-4, "    "))
	}
	if funcs := byFunction(w); funcs != "" {
		t.printf("    %s\n", textui.Columns(funcs, t.width-4, "    "))
	}
	if len(w.Blockers) == 0 {
		t.ranMeanwhile(w)
	}
	t.frames("had stopped in", w.Stack)
	if w.Origin == model.OriginCreated {
		t.frames("created in", w.WakerStack)
	} else {
		t.frames("readied in", w.WakerStack)
	}
}

// ranMeanwhile names the goroutines that ran the longest during a wait, on any
// proc.
func (t *text) ranMeanwhile(w *analyze.Wait) {
	least := ""
	if w.Unattributed > 0 {
		least = ", at least"
	}
	for _, a := range w.Antagonists[:min(antagonistsShown, len(w.Antagonists))] {
		t.printf("      %8s  %s (%s%s)\n", textui.Duration(a.Total), t.goName(w.Trace, a.G, a.Func), a.Use.Label(), least)
	}
}

// byFunction says what goroutines did during a wait, by start function.
func byFunction(w *analyze.Wait) string {
	var parts []string
	for i := range w.AntagonistFuncs[:min(antagonistsShown, len(w.AntagonistFuncs))] {
		parts = append(parts, activity(w, &w.AntagonistFuncs[i]))
	}
	return strings.Join(parts, ", ")
}

// story says how the goroutine became runnable and where it then ran.
func (t *text) story(w *analyze.Wait) string {
	waker := ""
	if w.Waker != model.NoGoroutine {
		waker = t.goName(w.Trace, w.Waker, w.WakerFunc)
	}
	s := result.OriginClause(w.Origin, waker)
	if w.ReadiedOn != model.NoProc {
		s += " on " + procName(w.ReadiedOn)
	}
	if w.RanOn != model.NoProc {
		s += ", ran on " + procName(w.RanOn)
	}
	return s
}

// meanwhile says what the procs did during a wait, most first.
func meanwhile(w *analyze.Wait) string {
	total := w.Uses.Total()
	if total <= 0 {
		return ""
	}
	var parts []string
	for _, u := range shownUses {
		if share := float64(w.Uses[u]) / float64(total); share >= 0.005 {
			parts = append(parts, fmt.Sprintf("%s %s", u.Label(), textui.Percent(share)))
		}
	}
	s := fmt.Sprintf("the %s did: %s", textui.Plural(len(w.Procs), "proc"), strings.Join(parts, ", "))
	if w.Approximate {
		s += " (approximate)"
	}
	return s
}
