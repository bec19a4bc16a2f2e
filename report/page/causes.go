package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/report"
)

// group are causes that have one colour, and share it with nothing else.
type group struct{ id, label string }

// groups are all groups, in the order in which they are stacked.
var groups = []group{
	{"goroutine", "behind goroutines"},
	{"syscall", "proc held by syscall"},
	{"gc", "behind GC and assists"},
	{"runtime", "behind the runtime"},
	{"stopped", "stop-the-world"},
	{"waking", "waking an idle proc"},
	{"idle", "idle proc not used"},
	{"scheduler", "the scheduler itself"},
	{"os", "OS (suspected)"},
	{"unresolved", "unresolved"},
}

// groupOf returns the group of a cause by its name; of one that is not known, that of
// what is unresolved.
func groupOf(cause string) string {
	switch {
	case strings.HasSuffix(cause, "(suspected)"):
		return "os"
	case strings.HasPrefix(cause, "idle proc"):
		return "idle"
	case strings.HasPrefix(cause, "behind GC"):
		return "gc"
	}
	switch cause {
	case "behind a goroutine":
		return "goroutine"
	case "proc held by syscall":
		return "syscall"
	case "behind the runtime":
		return "runtime"
	case "stop-the-world":
		return "stopped"
	case "waking an idle proc":
		return "waking"
	case "pick-up", "runnext back-off", "searching", "switching":
		return "scheduler"
	}
	return "unresolved"
}

// bar is a whole with its parts.
type bar struct {
	Label string
	Parts []part
	Keys  []key
}

// key explains a colour.
type key struct{ Class, Label, Value string }

// parts divides a bar by causes, whose groups lie together.
func parts(list []result.CauseTotal) []part {
	var whole int64
	sums := map[string]int64{}
	for _, c := range list {
		sums[groupOf(c.Cause)] += int64(c.Total)
		whole += int64(c.Total)
	}
	out := stacked{whole: whole}
	for _, g := range groups {
		out.add("c-"+g.id, g.label, sums[g.id])
	}
	return out.parts
}

// causeCell is a bar of causes.
func causeCell(list []result.CauseTotal) cell { return cell{Parts: parts(list)} }

// mostly names the causes that most was lost to.
func mostly(list []result.CauseTotal) cell {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b result.CauseTotal) int { return cmp.Compare(b.Total, a.Total) })
	var whole int64
	for _, c := range list {
		whole += int64(c.Total)
	}
	var out []string
	for i, c := range list {
		if i == 3 || i > 0 && 100*int64(c.Total) < whole {
			break
		}
		out = append(out, c.Cause+" "+textui.Ratio(c.Total, model.Duration(whole)))
	}
	return words(strings.Join(out, "; "))
}

func (p *view) causes() *section {
	c := &p.r.Causes
	s := &section{ID: "causes", Title: "Where the waiting went", Inferred: true,
		Lead: "Each wait is cut into cells with one cause each; together they are all of the waiting, to the nanosecond."}
	if c.Refused != "" {
		some := ""
		if c.Waits > 0 {
			some = "in part of the traces "
		}
		s.text("The causes of waits are %snot known: %s.", some, textui.Clean(c.Refused))
	}
	if c.Total == 0 {
		s.Lead, s.Inferred = "", false
		return s
	}
	s.add(piece{Bar: p.causeBar()})
	s.table("", p.causeTable())
	s.add(piece{Chart: &chart{ID: "causes-chart", Height: "tall", Label: "Goroutines waiting to run over time, by cause", Table: p.causeSeries()}})
	s.table("By origin", p.causesByOrigin())
	s.table("By start function", p.causesByFunction())
	return s
}

func (p *view) causeBar() *bar {
	c := &p.r.Causes
	var totals []result.CauseTotal
	sums := map[string]int64{}
	for i := range c.Rows {
		totals = append(totals, result.CauseTotal{Cause: c.Rows[i].Cause, Total: c.Rows[i].Total})
		sums[groupOf(c.Rows[i].Cause)] += int64(c.Rows[i].Total)
	}
	b := &bar{Label: "Waiting by cause", Parts: parts(totals)}
	for _, g := range groups {
		if sums[g.id] > 0 {
			b.Keys = append(b.Keys, key{"c-" + g.id, g.label, textui.Ratio(model.Duration(sums[g.id]), c.Total)})
		}
	}
	return b
}

func (p *view) causeTable() *table {
	c, all := &p.r.Causes, &p.r.Latency.All
	t := &table{ID: "t-causes", Caption: "Causes of waiting", Columns: []column{{"cause", "", ""}, {"total", "ns", ""}, {"share", "share", "of all waiting"},
		{"waits", "n", "that lost any time to it"}, {"mainly", "n", "waits that lost most of all to it"},
		{"p99", "ns", "of those"}, {"max", "ns", "of those"}, {"behind whom, most", "", ""}}}
	for i := range c.Rows {
		x := &c.Rows[i]
		name := words(x.Cause)
		name.Class, name.Title = "c-"+groupOf(x.Cause), textui.Clean(x.Meaning)
		p99, most := cell{}, cell{}
		if x.Dominated.Count > 0 {
			p99, most = percentile(&x.Dominated, int64(x.Dominated.P99)), duration(int64(x.Dominated.Max))
		}
		t.add(name, duration(int64(x.Total)), ratio(int64(x.Total), int64(all.Total)), count(x.Waits), count(x.Dominated.Count), p99, most, p.mostBehind(x))
	}
	if c.UnknownTime > 0 {
		t.add(words("not known"), duration(int64(c.UnknownTime)), ratio(int64(c.UnknownTime), int64(all.Total)), count(c.Unknown), cell{}, cell{}, cell{}, cell{})
	}
	t.total(words("all"), duration(int64(all.Total)), share(1), count(all.Count), count(all.Count), percentile(all, int64(all.P99)), duration(int64(all.Max)), cell{})
	return t
}

// mostBehind names whom the waits of a cause were behind most of all.
func (p *view) mostBehind(x *result.CauseRow) cell {
	list := p.r.Causes.Antagonists
	for i := range list {
		if a := &list[i]; causeOf(a) == x.Cause {
			c := function(a.Function)
			c.Text += " " + textui.Ratio(a.Total, x.Total)
			return c
		}
	}
	return cell{}
}

// causeOf returns the cause that waiting behind an antagonist has.
func causeOf(a *result.Antagonist) string {
	switch {
	case a.Syscall:
		return "proc held by syscall"
	case a.Work == "user":
		return "behind a goroutine"
	case a.Work == "runtime":
		return "behind the runtime"
	case strings.HasPrefix(a.Work, "GC ") && a.Work != "GC assist":
		return "behind GC (" + strings.TrimPrefix(a.Work, "GC ") + ")"
	}
	return "behind " + a.Work
}

func (p *view) causesByOrigin() *table {
	t := &table{ID: "t-causes-origin", Caption: "Waiting by origin and cause", Columns: []column{{"origin", "", "how the goroutine became runnable"}, {"total", "ns", ""}, {"causes", "", ""}, {"why", "", "most first"}}}
	list := slices.Clone(p.r.Causes.ByOrigin)
	slices.SortStableFunc(list, func(a, b result.CauseOrigin) int { return cmp.Compare(b.Total, a.Total) })
	for _, o := range list {
		t.add(words(report.OriginLabel(o.Origin)), duration(int64(o.Total)), causeCell(o.Causes), mostly(o.Causes))
	}
	return t
}

func (p *view) causesByFunction() *table {
	t := &table{ID: "t-causes-function", Caption: "Waiting by start function and cause", Columns: []column{{"function", "", "where the goroutine that waited had started"}, {"waits", "n", ""}, {"total", "ns", ""}, {"causes", "", ""}, {"why", "", "most first"}}}
	for i := range p.r.Causes.ByFunction {
		f := &p.r.Causes.ByFunction[i]
		t.add(function(f.Function), count(f.Waits), duration(int64(f.Total)), causeCell(f.Causes), mostly(f.Causes))
	}
	return t
}

// stretches is how many rows a table of what a curve shows has at most.
const stretches = 24

// causeSeries is the table of causes over time.
func (p *view) causeSeries() *table {
	s := &p.r.Causes.Series
	t := &table{ID: "t-causes-time", Caption: "Mean number of goroutines waiting to run, by cause and time", Columns: []column{{"from", "at", ""}, {"to", "at", ""}}}
	var shown []group
	bins := 0
	for _, g := range groups {
		if slices.ContainsFunc(s.Causes, func(c result.CauseCurve) bool { return groupOf(c.Cause) == g.id && slices.Max(append(c.Bins, 0)) > 0 }) {
			shown = append(shown, g)
			t.Columns = append(t.Columns, column{g.label, "mean", ""})
		}
	}
	for _, c := range s.Causes {
		bins = max(bins, len(c.Bins))
	}
	each(bins, func(lo, hi int) {
		cells := []cell{instant(int64(s.Start) + int64(lo)*int64(s.Width)), instant(int64(s.Start) + int64(hi)*int64(s.Width))}
		for _, g := range shown {
			var sum int64
			for _, c := range s.Causes {
				if groupOf(c.Cause) == g.id {
					sum += total(c.Bins, lo, hi)
				}
			}
			cells = append(cells, mean(float64(sum)/float64(max(int64(hi-lo)*int64(s.Width), 1)), 3))
		}
		t.add(cells...)
	})
	return t
}

// each divides n bins into stretches.
func each(n int, f func(lo, hi int)) {
	k := min(n, stretches)
	for i := range k {
		f(i*n/k, (i+1)*n/k)
	}
}

// total sums up bins, as far as there are any.
func total(bins []int64, lo, hi int) int64 {
	var sum int64
	for i := lo; i < min(hi, len(bins)); i++ {
		sum += bins[i]
	}
	return sum
}

func (p *view) antagonists() *section {
	c := &p.r.Causes
	s := &section{ID: "antagonists", Title: "Behind whom goroutines waited", Inferred: true,
		Lead: "Goroutines that held the proc meanwhile, by start function. A turn counts once for each wait behind it. Where turns ended need not be where they spent their time: a trace has no stacks of running code."}
	t := &table{ID: "t-antagonists", Caption: "Antagonists", Columns: []column{{"function", "", ""}, {"kind", "", "what it did"}, {"waiting", "ns", "of others, behind it"}, {"share", "share", "of all waiting"},
		{"turns", "n", ""}, {"mean", "ns", "of a turn, as far as it was waited for"}, {"turns ended in, most", "", ""}}}
	places := &table{ID: "t-antagonist-stacks", Caption: "Where turns of antagonists ended", Columns: []column{{"function", "", ""}, {"kind", "", ""}, {"waiting", "ns", ""}, {"turns", "n", ""}, {"stack, innermost first", "", ""}}}
	for i := range c.Antagonists {
		a := &c.Antagonists[i]
		each := cell{}
		if a.Turns > 0 {
			each = duration(int64(a.Total) / a.Turns)
		}
		t.add(function(a.Function), words(report.WorkLabel(a.Work, a.Syscall)), duration(int64(a.Total)), ratio(int64(a.Total), int64(c.Total)), count(a.Turns), each, place(a))
		for k := range a.Stacks {
			x := &a.Stacks[k]
			if k < 3 && len(x.Stack) > 0 {
				places.add(function(a.Function), words(report.WorkLabel(a.Work, a.Syscall)), duration(int64(x.Total)), count(x.Turns), stackCell(x.Stack))
			}
		}
	}
	s.table("", t)
	s.fold(places)
	return s
}

// place names the function in which the most waited-for turns of an antagonist ended.
func place(a *result.Antagonist) cell {
	var best string
	var most int64
	sums := map[string]int64{}
	for i := range a.Stacks {
		x := &a.Stacks[i]
		sums[x.Place] += int64(x.Total)
		if sums[x.Place] > most {
			best, most = x.Place, sums[x.Place]
		}
	}
	if best == "" {
		return cell{}
	}
	c := function(best)
	c.Text += " " + textui.Ratio(model.Duration(most), a.Total)
	return c
}

// stackCell is a stack in one line.
func stackCell(stack []result.Frame) cell {
	var short, whole []string
	for i := range stack {
		f := &stack[i]
		if i < 5 {
			short = append(short, textui.Clean(textui.ShortFunc(f.Function)))
		}
		whole = append(whole, textui.Clean(fmt.Sprintf("%s %s:%d", f.Function, f.File, f.Line)))
	}
	text := strings.Join(short, " ← ")
	if more := len(stack) - len(short); more > 0 {
		text += fmt.Sprintf(" ← %d more", more)
	}
	return cell{Text: text, Title: strings.Join(whole, "\n")}
}
