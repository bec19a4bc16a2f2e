package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// causesByTotal returns the causes that occur, greatest total first.
func causesByTotal(c *analyze.Causes) []result.Cause {
	var out []result.Cause
	for x := range result.NumCauses {
		if c.ByCause[x].Waits > 0 {
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(a, b result.Cause) int {
		return cmp.Compare(c.ByCause[b].Total, c.ByCause[a].Total)
	})
	return out
}

// causeParts returns the causes of a total, greatest first.
func causeParts(t *analyze.CauseTotals) []analyze.Cell {
	var out []analyze.Cell
	for c, d := range t {
		if d > 0 {
			out = append(out, analyze.Cell{Cause: result.Cause(c), Total: d})
		}
	}
	slices.SortStableFunc(out, func(a, b analyze.Cell) int { return cmp.Compare(b.Total, a.Total) })
	return out
}

// Rows of the summary's table of causes: those of at least causeShare, but at
// most causeLines.
const (
	causeLines = 8
	causeShare = 0.01
)

// causesShown divides the causes into those that the summary shows and the rest.
// One alone is not left out.
func causesShown(c *analyze.Causes) (shown, rest []result.Cause) {
	all := causesByTotal(c)
	n := 0
	for n < min(len(all), causeLines) && c.Share(all[n]) >= causeShare {
		n++
	}
	if n == 0 || n == len(all)-1 {
		n = min(n+1, len(all))
	}
	return all[:n], all[n:]
}

// causesTable says to what the waiting was lost. Its rows add up to the total of
// the latency.
func (t *text) causesTable() {
	c := t.r.Causes
	switch {
	case c.Refused != "" && c.Waits == 0:
		t.printf("\n")
		t.labelled("causes", "not known: %s", textui.Clean(c.Refused))
		return
	case c.Total == 0:
		return
	}
	t.printf("\n")
	tb := t.table("lrrrrrL", "where the waiting went (inferred)", "total", "share", "mainly", "p99", "max", "")
	shown, rest := causesShown(c)
	for _, x := range shown {
		sum := &c.ByCause[x]
		row := []string{x.String(), textui.Duration(sum.Total), textui.Ratio(sum.Total, t.r.Latency.All.Total()), textui.Count(sum.Dominated.Count()), "", ""}
		if sum.Dominated.Count() > 0 {
			row[4], row[5] = textui.Duration(sum.Dominated.Quantile(0.99)), textui.Duration(sum.Dominated.Max())
		}
		tb.Row(append(row, t.mostOf(x))...)
	}
	if len(rest) > 0 {
		var total model.Duration
		var waits int64
		for _, x := range rest {
			total += c.ByCause[x].Total
			waits += c.ByCause[x].Dominated.Count()
		}
		tb.Row(fmt.Sprintf("%d other causes", len(rest)), textui.Duration(total), textui.Ratio(total, t.r.Latency.All.Total()), textui.Count(waits))
	}
	all := &t.r.Latency.All
	if unknown := all.Total() - c.Total; unknown > 0 { // of a trace among others
		tb.Row("not known", textui.Duration(unknown), textui.Ratio(unknown, all.Total()), textui.Count(all.Count()-c.Waits))
	}
	tb.Row("all", textui.Duration(all.Total()), "100%", textui.Count(all.Count()), textui.Duration(all.Quantile(0.99)), textui.Duration(all.Max()))
	t.b.WriteString(tb.String())
}

// mostOf names who is behind a cause: the goroutines waited behind most of all.
func (t *text) mostOf(x result.Cause) string {
	if x != result.CauseGoroutine && x != result.CauseSyscall && x != result.CauseAssist && x != result.CauseRuntime {
		return ""
	}
	rows := t.antagonists()
	for i := range rows {
		if a := &rows[i]; causeOf(a) == x {
			return shortName(a.Func, 28) + " " + textui.Ratio(a.Total, t.r.Causes.ByCause[x].Total)
		}
	}
	return ""
}

// antagonists returns whom the waits were behind.
func (t *text) antagonists() []analyze.AntagonistRow {
	if t.blockers == nil {
		t.blockers = t.r.Causes.Antagonists()
	}
	return t.blockers
}

// causeOf returns the cause that waiting behind an antagonist has.
func causeOf(a *analyze.AntagonistRow) result.Cause {
	if a.Syscall {
		return result.CauseSyscall
	}
	switch a.Work {
	case model.WorkGCDedicated:
		return result.CauseGCDedicated
	case model.WorkGCFractional:
		return result.CauseGCFractional
	case model.WorkGCIdle:
		return result.CauseGCIdle
	case model.WorkGCAssist:
		return result.CauseAssist
	case model.WorkSystem:
		return result.CauseRuntime
	}
	return result.CauseGoroutine
}

// causesByOrigin and the like show the parts of each row, the greatest first.
func (t *text) causesByOrigin() {
	c := t.r.Causes
	var origins []model.Origin
	for o := range c.ByOrigin {
		if c.ByOrigin[o].Total() > 0 {
			origins = append(origins, model.Origin(o))
		}
	}
	if len(origins) == 0 {
		return
	}
	slices.SortStableFunc(origins, func(a, b model.Origin) int {
		return cmp.Compare(c.ByOrigin[b].Total(), c.ByOrigin[a].Total())
	})
	t.section("Where the waiting went by origin", "how the goroutine became runnable, and to what its time was then lost")
	rows := [][]string{{"origin", "total"}}
	lists := [][]string{{"lost to"}}
	for _, o := range origins {
		rows = append(rows, []string{result.OriginName(o), textui.Duration(c.ByOrigin[o].Total())})
		lists = append(lists, causeList(causeParts(&c.ByOrigin[o])))
	}
	t.listTable("lrL", rows, lists)
}

// listTable prints a table whose last column are lists, of which it shows as many
// whole items as there is room for. The first row is the heading.
func (t *text) listTable(align string, rows, lists [][]string) {
	room := t.tableWidth
	for i := range rows[0] {
		widest := 0
		for _, row := range rows {
			widest = max(widest, textui.Width(row[i]))
		}
		room -= widest + 2
	}
	room -= 2 // before the last column
	tb := t.table(align, append(rows[0], lists[0][0])...)
	for i := 1; i < len(rows); i++ {
		more := lists[i][1:]
		for k := range more {
			more[k] = "; " + more[k]
		}
		tb.Row(append(rows[i], upTo(room, lists[i][0], more))...)
	}
	t.b.WriteString(tb.String())
}

func (t *text) causesByFunc() {
	rows := t.r.Causes.ByFunc()
	if len(rows) == 0 {
		return
	}
	t.section("Where the waiting went by start function", "of the goroutine that waited, greatest total first")
	cells, lists := [][]string{{"function", "waits", "total"}}, [][]string{{"lost to"}}
	shown := t.limit(len(rows))
	for _, r := range rows[:shown] {
		cells = append(cells, []string{shortName(r.Name, 28), textui.Count(r.Waits), textui.Duration(r.Causes.Total())})
		lists = append(lists, causeList(causeParts(&r.Causes)))
	}
	t.listTable("lrrL", cells, lists)
	t.more(shown, len(rows))
}

// causeList names the parts of at least 1 %, at most three, the greatest first.
func causeList(parts []analyze.Cell) []string {
	const most = 3
	var total model.Duration
	for _, p := range parts {
		total += p.Total
	}
	var out []string
	for _, p := range parts {
		if len(out) == most || len(out) > 0 && 100*p.Total < total {
			break
		}
		out = append(out, p.Cause.String()+" "+textui.Ratio(p.Total, total))
	}
	return out
}

// behind shows whom the waits were behind.
func (t *text) behind() {
	rows := t.antagonists()
	if len(rows) == 0 {
		return
	}
	t.section("Behind whom goroutines waited",
		"turns: how often a wait stood behind a turn on a proc; share: of all waiting; turns ended in: where the most of it stopped running, which need not be where it spent its time")
	tb := t.table("LlrrrrL", "function", "kind", "waiting", "share", "turns", "mean", "turns ended in")
	shown := t.limit(len(rows))
	for i := range rows[:shown] {
		a := &rows[i]
		mean := "-"
		if a.Turns > 0 {
			mean = textui.Duration(a.Total / model.Duration(a.Turns))
		}
		tb.Row(shortName(a.Func, 40), workName(a.Work, a.Syscall), textui.Duration(a.Total), textui.Ratio(a.Total, t.r.Causes.Total),
			textui.Count(a.Turns), mean, topPlace(a))
	}
	t.b.WriteString(tb.String())
	t.more(shown, len(rows))
}

// topPlace is the function in which the turns ended that were waited behind the
// longest, as far as their stacks are told.
func topPlace(a *analyze.AntagonistRow) string {
	var place string
	var most model.Duration
	totals := map[string]model.Duration{}
	for i := range a.Stacks {
		p := a.Stacks[i].Place()
		totals[p] += a.Stacks[i].Total
		if totals[p] > most {
			place, most = p, totals[p]
		}
	}
	if place == "" {
		return ""
	}
	return shortName(place, 40) + " " + textui.Ratio(most, a.Total)
}

// workName names what a goroutine did while others waited behind it.
func workName(w model.WorkKind, syscall bool) string {
	switch {
	case syscall:
		return result.UseSyscall.Label()
	case w == model.WorkUser:
		return result.UseUser.Label()
	}
	return w.String()
}

// thresholds shows the limits that told the usual from the unusual.
func (t *text) thresholds() {
	rows := t.r.Causes.Thresholds
	if len(rows) == 0 {
		return
	}
	t.section("Limits of what is usual",
		"beyond them the operating system is suspected; estimated from each trace itself, or the default where there are too few samples")
	head, align := []string{"of", "limit", "samples", ""}, "Lrrl"
	if t.r.Totals.Traces > 1 {
		head, align = append(head, "trace"), align+"r"
	}
	tb := t.table(align, head...)
	shown := t.limit(len(rows))
	for _, x := range rows[:shown] {
		row := []string{x.Name, textui.Duration(x.Value), textui.Count(x.Samples), "calibrated"}
		if x.Default {
			row[3] = "default"
		}
		if t.r.Totals.Traces > 1 {
			row = append(row, fmt.Sprint(x.Trace+1))
		}
		tb.Row(row...)
	}
	t.b.WriteString(tb.String())
	t.more(shown, len(rows))
}

// waitCauses says to what one wait was lost, and behind whom it stood.
func (t *text) waitCauses(w *analyze.Wait) {
	if len(w.Cells) == 0 {
		return
	}
	t.printf("    %s\n", textui.Columns("lost to: "+causeTimes(w.Cells), t.width-4, "    "))
	var parts []string
	for i := range w.Blockers[:min(antagonistsShown, len(w.Blockers))] {
		parts = append(parts, blocker(&w.Blockers[i]))
	}
	if more := len(w.Blockers) - len(parts); more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	if len(parts) > 0 {
		t.printf("    %s\n", textui.Columns("behind: "+strings.Join(parts, ", "), t.width-4, "    "))
	}
}

// mainCause says in a few words what a wait was lost to most of all, and behind
// whom it stood the longest; nil if that is not known.
func mainCause(w *analyze.Wait) []string {
	if len(w.Cells) == 0 {
		return nil
	}
	if !w.Cells[0].Cause.Behind() || len(w.Blockers) == 0 {
		return []string{greatestCell(w)}
	}
	parts := []string{"behind " + blocker(&w.Blockers[0])}
	if len(w.Blockers) > 1 {
		parts = append(parts, blocker(&w.Blockers[1]))
	}
	return parts
}

// greatestCell names the cause that a wait was lost to most of all.
func greatestCell(w *analyze.Wait) string {
	return textui.Ratio(w.Cells[0].Total, w.Duration()) + " " + w.Cells[0].Cause.String()
}

// blocker names a goroutine that a wait was behind.
func blocker(b *analyze.Blocker) string {
	who := shortName(b.Func, 40)
	if b.G != model.NoGoroutine {
		who = fmt.Sprintf("G%d %s", b.G, who)
	}
	if b.Syscall || b.Work != model.WorkUser {
		who += " (" + workName(b.Work, b.Syscall) + ")"
	}
	return who + " " + textui.Duration(b.Total)
}

// causeTimes lists all cells of a wait.
func causeTimes(cells []analyze.Cell) string {
	var out []string
	for _, c := range cells {
		out = append(out, c.Cause.String()+" "+textui.Duration(c.Total))
	}
	return strings.Join(out, "; ")
}
