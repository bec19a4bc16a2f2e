package view

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/report/document"
)

// latencyByOrigin is left out if there is only one origin.
func latencyByOrigin(r *result.Report) *document.Section {
	rows := slices.DeleteFunc(slices.Clone(r.Latency.ByOrigin), func(x result.Named) bool { return x.Count == 0 })
	slices.SortStableFunc(rows, func(a, b result.Named) int { return cmp.Compare(b.Total, a.Total) })
	if len(rows) < 2 {
		return nil
	}
	s := document.New("latency-origin", "Scheduling latency by origin", "how the goroutine became runnable")
	distTable(s, "t-latency-origin", document.Word("origin"), rows, OriginLabel).Fixed = true
	return s.OrNil()
}

func latencyByFunction(r *result.Report) *document.Section {
	s := document.New("latency-function", "Scheduling latency by start function", "runnable until running, greatest total first")
	distTable(s, "t-latency-function", document.Function("function"), r.Latency.ByFunction, same)
	return s.OrNil()
}

func goroutinesWaited(r *result.Report) *document.Section {
	s := document.New("goroutines-waited", "Goroutines that waited the longest in all")
	t := s.Table("t-goroutines-waited", document.Name("goroutine"), document.Count("waits"), document.Duration("total"), document.Duration("max"), document.Instant("at"))
	for _, g := range r.Latency.ByGoroutine {
		t.Row(goroutine(r, g.Trace, g.Goroutine, g.Function), g.Count, g.Total, g.Max, endedAt(g.MaxAt, g.Max, g.Goroutine))
	}
	return s.OrNil()
}

// firstWithQueues is the first Go 1.x of whose traces run queues and causes are known.
const firstWithQueues = 22

// Causes returns the section of all causes. Its rows add up to the total of the latency.
func Causes(r *result.Report) *document.Section {
	c := &r.Causes
	s := document.New("causes", "Where the waiting went")
	s.Inferred = c.Total > 0
	if c.Refused != "" {
		of, old := "", result.CountOf(r.Traces, func(t *result.Trace) bool {
			minor, err := strconv.Atoi(strings.TrimPrefix(t.Format, "go 1."))
			return err == nil && minor < firstWithQueues
		})
		if 0 < old && old < len(r.Traces) {
			of = fmt.Sprintf(" for %s of %s", textui.Count(old), plural(len(r.Traces), "trace"))
		}
		s.Text("The causes of waits are not known%s: %s.", of, strings.TrimSuffix(c.Refused, "."))
	}
	if c.Total > 0 {
		totals := result.Each(c.Rows, func(x *result.CauseRow) result.CauseTotal { return result.CauseTotal{Cause: x.Cause, Total: x.Total} })
		s.Add(document.Parts(CauseParts(totals)), causesTable(r, "cause", len(c.Rows)))
	}
	return s
}

// causesTable lists the first causes, and what is left in a row.
func causesTable(r *result.Report, heading string, shown int) *document.Table {
	c, all := &r.Causes, &r.Latency.All
	t := &document.Table{ID: "t-causes", Caption: "Causes of waiting", Columns: []document.Column{document.Word(heading), document.Duration("total"),
		document.Share("share").Doc("of all waiting"), document.Count("waits").Doc("that lost any time to it").Extra(),
		document.Count("mainly").Doc("waits that lost most of all to it"), document.Duration("p99").Doc("of those"), document.Duration("max").Doc("of those"),
		document.Words("behind").Doc("whom most of it was behind")}}
	for i := range c.Rows[:shown] {
		x := &c.Rows[i]
		var p99, most any
		if d := &x.Dominated; d.Count > 0 {
			p99, most = known(d, d.P99), d.Max
		}
		cell := document.As(document.KindWord, x.Cause)
		cell.Swatch, cell.Note = "c-"+GroupOf(x.Cause), x.Meaning
		t.Row(cell, x.Total, x.Share, x.Waits, x.Dominated.Count, p99, most, mostOf(r, x))
	}
	if rest := c.Rows[shown:]; len(rest) > 0 {
		total := result.Sum(rest, func(x *result.CauseRow) model.Duration { return x.Total })
		mainly := result.Sum(rest, func(x *result.CauseRow) int64 { return x.Dominated.Count })
		t.Row(fmt.Sprintf("%d other causes", len(rest)), total, ratio(total, all.Total), nil, mainly)
	}
	if unknown := all.Total - c.Total; unknown > 0 { // of a trace among others
		t.Row("not known", unknown, ratio(unknown, all.Total), nil, all.Count-c.Waits)
	}
	t.Row("all", all.Total, 1.0, all.Count, all.Count, known(all, all.P99), all.Max).Total = true
	return t
}

// causesByOrigin and causesByFunction show the parts of each row, the greatest first.
func causesByOrigin(r *result.Report) *document.Section {
	s := document.New("causes-origin", "Where the waiting went by origin", "how the goroutine became runnable, and to what its time was then lost")
	t := s.Table("t-causes-origin", document.Word("origin"), document.Duration("total"), document.Bar("causes"), document.Items("lost to"))
	t.Fixed = true
	rows := slices.Clone(r.Causes.ByOrigin)
	slices.SortStableFunc(rows, func(a, b result.CauseOrigin) int { return cmp.Compare(b.Total, a.Total) })
	for _, o := range rows {
		if o.Total > 0 {
			t.Row(OriginLabel(o.Origin), o.Total, CauseParts(o.Causes), causeList(o.Causes))
		}
	}
	return s.OrNil()
}

func causesByFunction(r *result.Report) *document.Section {
	s := document.New("causes-function", "Where the waiting went by start function", "of the goroutine that waited, greatest total first")
	t := s.Table("t-causes-function", document.Function("function").AtMost(28), document.Count("waits"), document.Duration("total"), document.Bar("causes"), document.Items("lost to"))
	for _, f := range r.Causes.ByFunction {
		t.Row(f.Function, f.Waits, f.Total, CauseParts(f.Causes), causeList(f.Causes))
	}
	return s.OrNil()
}

// CauseParts are the causes of a total as parts of a bar. Those of a group lie together.
func CauseParts(list []result.CauseTotal) []document.Part {
	sums := map[string]int64{}
	for _, c := range list {
		sums[GroupOf(c.Cause)] += int64(c.Total)
	}
	var parts []document.Part
	for _, g := range result.CauseGroups {
		if sums[g.ID] > 0 {
			parts = append(parts, document.Part{Class: "c-" + g.ID, Label: g.Label, Size: sums[g.ID]})
		}
	}
	return parts
}

// causeList names the causes of at least 1 %, at most three, the greatest first.
func causeList(list []result.CauseTotal) []string {
	const most = 3
	total := result.Sum(list, func(c *result.CauseTotal) model.Duration { return c.Total })
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b result.CauseTotal) int { return cmp.Compare(b.Total, a.Total) })
	var out []string
	for _, c := range list {
		if len(out) == most || len(out) > 0 && 100*c.Total < total {
			break
		}
		out = append(out, c.Cause+" "+textui.Ratio(c.Total, total))
	}
	return out
}

// worstWaits shows the longest waits with what happened during each.
func worstWaits(r *result.Report) *document.Section {
	s := document.New("worst", "The longest waits", "those of one incident together; schedscope plot draws each: what every proc did meanwhile")
	t := waitsTable(s, r)
	t.Extra, t.Heading = true, "Side by side"
	var cards document.Cards
	for row, incident := range r.Incidents() {
		t.Rows[row].Cells[0].Target = cardID(incident[0])
		cards = append(cards, waitCard(r, incident))
	}
	s.Add(cards)
	return s.OrNil()
}

// waitsTable lists the longest waits, a line for each incident.
func waitsTable(s *document.Section, r *result.Report) *document.Table {
	t := s.Table("t-worst", document.Duration("length"), document.Instant("from"), document.Count("waits").Doc("of the incident, of which this is the longest"), document.Name("goroutine"), document.Word("became runnable by"),
		document.Count("ran on").Doc("the proc").Extra(), document.Bar("causes"), document.Words("mostly lost to"))
	if several(r) {
		t.Columns = append(t.Columns, document.Name("trace"))
	}
	for _, incident := range r.Incidents() {
		w := &r.WorstWaits[incident[0]]
		t.Row([]any{w.Duration, from(w.Start, w.Duration, w.Goroutine), len(incident), goroutineOnly(w.Goroutine, w.Function), OriginLabel(w.Origin),
			procCell(w.RanOn), CauseParts(w.Causes), lostTo(w), traceName(r, w.Trace)}[:len(t.Columns)]...)
	}
	return t
}

// lostTo names the greatest cause of a wait, and whom it was behind.
func lostTo(w *result.Wait) string {
	if len(w.Causes) == 0 {
		return ""
	}
	s := w.Causes[0].Cause + " " + textui.Duration(w.Causes[0].Total)
	if len(w.Blockers) > 0 {
		s += ", most behind " + shortName(w.Blockers[0].Function, 48)
	}
	return s
}

// cardID is the fragment of the card of a wait.
func cardID(i int) string { return fmt.Sprintf("wait-%d", i+1) }

// waitCard shows the longest wait of an incident, and which others there are.
func waitCard(r *result.Report, incident []int) document.Card {
	const most = 3 // goroutines that are named
	i := incident[0]
	w := &r.WorstWaits[i]
	at := moment(w.Start, w.Duration, w.Goroutine)
	c := document.Card{ID: cardID(i), Title: textui.Duration(w.Duration), Fold: true, Moment: &at, Bar: CauseParts(w.Causes), Text: []string{story(r, w)},
		Summary: fmt.Sprintf(", from %s to %s: %s", textui.Instant(w.Start), textui.Instant(w.End), goroutine(r, w.Trace, w.Goroutine, w.Function)+ofTrace(r, w.Trace))}
	lost := document.Facet{Label: "lost to", Pairs: result.Each(w.Causes, func(x *result.CauseTotal) document.Pair {
		return document.Pair{Name: x.Cause, Value: textui.Duration(x.Total)}
	})}
	behind := document.Facet{Label: "behind", Most: most}
	for i := range w.Blockers {
		who, length := blocker(&w.Blockers[i])
		behind.Pairs = append(behind.Pairs, document.Pair{Name: who, Value: length})
	}
	also := document.Facet{Label: "waited, too", Most: most}
	for _, i := range incident[1:] {
		x := &r.WorstWaits[i]
		also.Pairs = append(also.Pairs, document.Pair{Name: goroutineOnly(x.Goroutine, x.Function) + " from " + textui.Instant(x.Start), Value: textui.Duration(x.Duration)})
	}
	woken := document.Facet{Label: "readied in", Stack: frames(w.WakerStack)}
	if w.Origin == model.OriginCreated.String() {
		woken.Label = "created in"
	}
	for _, f := range []document.Facet{lost, behind, also, {Label: "had stopped in", Stack: frames(w.Stack)}, woken} {
		if len(f.Pairs)+len(f.Stack)+len(f.Text) > 0 {
			c.Facets = append(c.Facets, f)
		}
	}
	return c
}

func frames(stack []result.Frame) []document.Frame {
	return result.Each(stack, func(f *result.Frame) document.Frame {
		return document.Frame{Func: f.Function, File: f.File, Line: f.Line}
	})
}

// story says how the goroutine became runnable and where it then ran.
func story(r *result.Report, w *result.Wait) string {
	waker := textui.If(w.Waker >= 0, goroutine(r, w.Trace, w.Waker, w.WakerFunction))
	return result.OriginClause(result.Parse(w.Origin, model.NumOrigins), waker) +
		textui.If(w.ReadiedOn >= 0, " on "+procName(w.ReadiedOn)) + textui.If(w.RanOn >= 0, ", ran on "+procName(w.RanOn))
}

// shownUses are the uses of procs in the order of their shares in text.
var shownUses = []result.Use{result.UseUser, result.UseGC, result.UseAssist, result.UseRuntime, result.UseSyscall,
	result.UseSearching, result.UseStopped, result.UseIdle, result.UseUnknown}

// useShares names the uses of at least half a percent.
func useShares(u *result.Uses) []string {
	var parts []string
	for _, x := range shownUses {
		if share := u.Share(x); share >= 0.005 {
			parts = append(parts, x.Label()+" "+textui.Percent(share))
		}
	}
	return parts
}

// blocker names a goroutine that a wait was behind, and for how long.
func blocker(b *result.Blocker) (who, length string) {
	who = shortName(b.Function, 40)
	if b.Goroutine >= 0 {
		who = fmt.Sprintf("G%d %s", b.Goroutine, who)
	}
	who += textui.If(b.Syscall || b.Work != model.WorkUser.String(), " ("+WorkLabel(b.Work, b.Syscall)+")")
	return who, textui.Duration(b.Total)
}
