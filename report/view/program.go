package view

import (
	"fmt"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/report/document"
)

// Bursts of such lengths are long and very long, as the fields of results say.
const (
	longBurst     = 10e6
	veryLongBurst = 20e6
)

func bursts(r *result.Report) *document.Section {
	b := &r.Bursts
	if b.All.Count == 0 {
		return nil
	}
	s := document.New("bursts", "Running bursts", "from start to stop, by start function")
	t := s.Table("t-bursts", distColumns(document.Function("function"))...)
	distRow(t, &b.All, "all").Total = true
	for i := range b.ByFunction {
		if x := &b.ByFunction[i]; x.Count > 0 {
			distRow(t, &x.Dist, x.Name)
		}
	}
	if b.Long.Count == 0 {
		s.Text("none was longer than %s", textui.Duration(int64(longBurst)))
		return s
	}
	veryLong := textui.Count(b.VeryLong.Count) + " of them"
	switch b.VeryLong.Count {
	case 0:
		veryLong = "none"
	case b.Long.Count:
		veryLong = "all"
	}
	s.Text("%s longer than %s, after which the runtime asks a goroutine to give way; %s longer than %s:",
		plural(b.Long.Count, "burst"), textui.Duration(int64(longBurst)), veryLong, textui.Duration(int64(veryLongBurst)))
	t = s.Table("t-longest", document.Duration("length"), document.Instant("from"), document.Name("goroutine"), document.Word("on"), document.Function("stopped in").AtMost(40), document.Word(""))
	t.Caption = "The longest bursts"
	for _, x := range b.Longest {
		open := textui.If(x.Censored, "at least: the trace begins or ends in it")
		t.Row(x.Duration, from(x.Start, x.Duration, x.Goroutine), goroutine(r, x.Trace, x.Goroutine, x.Function), procName(x.Proc), x.Place, open)
	}
	return s
}

func waiting(r *result.Report) *document.Section {
	s := document.New("waiting", "Waiting by reason", "what goroutines waited for before they became runnable; not time in a run queue")
	distTable(s, "t-waiting", document.Name("reason"), r.Waiting.ByReason, same)
	return s.OrNil()
}

// spans adds a table of tasks or of regions. Truncated ones began before the trace or were not over at its end; they are in no other
// column but the shares.
func spans(s *document.Section, table string, list []result.Task) *document.Section {
	t := s.Table(table, slices.Concat([]document.Column{document.Name("type"), document.Count("truncated").Doc("begun before the trace or not over at its end"),
		document.Count("count"), document.Duration("total"), document.Duration("p50"), document.Duration("p90").Extra(), document.Duration("p99"),
		document.Duration("p99.9").Extra(), document.Duration("max"), document.Instant("max at").Extra()}, stateColumns)...)
	for _, x := range list {
		d := &x.Dist
		cells := []any{x.Name, x.Censored.Count, d.Count, nil, nil, nil, nil, nil, nil, nil}
		if d.Count > 0 {
			cells = append(cells[:3], d.Total, known(d, d.P50), known(d, d.P90), known(d, d.P99), known(d, d.P999), d.Max, maxAt(d))
		}
		t.Row(append(cells, stateCells(&x.States)...)...)
	}
	return s.OrNil()
}

func tasks(r *result.Report) *document.Section {
	s := document.New("tasks", "Tasks", "runtime/trace.NewTask, by type; the shares say what goroutines did inside the tasks' regions")
	return spans(s, "t-tasks", r.Tasks)
}

func regions(r *result.Report) *document.Section {
	s := document.New("regions", "Regions", "runtime/trace.StartRegion, by type; the shares say what the goroutines did inside")
	return spans(s, "t-regions", result.Each(r.Regions, func(x *result.Region) result.Task {
		return result.Task{Named: x.Named, Censored: x.Censored, States: x.States}
	}))
}

// stateColumns are the shares of the states of goroutines.
var stateColumns = []document.Column{document.Bar("states"), document.Share("running"), document.Share("runnable"), document.Share("waiting"),
	document.Share("syscall").Doc("with its proc"), document.Share("blocked").Doc("in a system call, without a proc").Drop(2)}

// stateCells are the cells of stateColumns.
func stateCells(x *result.States) []any {
	var parts []document.Part
	var all model.Duration
	for _, s := range []struct {
		state        model.GoState
		class, label string
	}{{model.GoRunning, "s-running", "running"}, {model.GoRunnable, "s-runnable", "runnable"}, {model.GoSyscall, "s-syscall", "syscall"},
		{model.GoSyscallBlocked, "s-blocked", "blocked in a system call"}, {model.GoWaiting, "s-waiting", "waiting"}, {model.GoUndetermined, "s-unknown", "unknown"}} {
		parts = append(parts, document.Part{Class: s.class, Label: s.label, Size: int64(x[s.state])})
		all += x[s.state]
	}
	cells := []any{parts}
	for _, s := range []model.GoState{model.GoRunning, model.GoRunnable, model.GoWaiting, model.GoSyscall, model.GoSyscallBlocked} {
		if all == 0 {
			cells = append(cells, document.Unknown)
			continue
		}
		cells = append(cells, ratio(x[s], all))
	}
	return cells
}

// goroutines shows where the goroutines of each start function spent their time.
func goroutines(r *result.Report) *document.Section {
	s := document.New("goroutines", "Goroutines by start function", "the states add up to the lifetime; those marked * belong to the runtime")
	t := s.Table("t-groups", append(append([]document.Column{document.Function("function"), document.Count("count"), document.Duration("lifetime").Doc("of all together")},
		stateColumns...), document.Name("waits for").Drop(1).AtMost(16))...)
	for _, g := range r.Goroutines {
		name := g.Function + textui.If(g.System, " *")
		reason := ""
		if len(g.Waiting) > 0 {
			reason = g.Waiting[0].Reason
		}
		t.Row(append(append([]any{name, g.Count, g.Lifetime}, stateCells(&g.States)...), reason)...)
	}
	return s.OrNil()
}

// found shows known ways of scheduling going wrong, each with what it rests on.
func found(r *result.Report) *document.Section {
	s := document.New("found", "Pathologies", "known ways of scheduling going wrong, the worst first")
	s.Add(document.Cards(result.Each(r.Pathologies, func(p *result.Pathology) document.Card { return pathologyCard(r, p) })))
	return s.OrNil()
}

func pathologyCard(r *result.Report, p *result.Pathology) document.Card {
	const most = 3 // parties that text names
	at := moment(p.At-model.Time(p.Worst), p.Worst, p.G)
	c := document.Card{Title: PathologyLabel(p.Name), Summary: ", " + pathologyNumbers(p), Severity: p.Severity.String(), Grade: p.Grade.String(), Moment: &at}
	c.Summary += textui.If(several(r), fmt.Sprintf(", in trace %d", p.Trace+1))
	for _, text := range []string{p.Meaning, p.Advice} {
		if text != "" {
			c.Text = append(c.Text, text)
		}
	}
	c.Facets = append(c.Facets, document.Facet{Rows: true, Pairs: evidence(p.Evidence)})
	for i := range p.Who {
		c.Facets = append(c.Facets, document.Facet{Text: party(&p.Who[i]), HTMLOnly: i >= most})
	}
	return c
}

// pathologyNumbers says how often and how bad, with the total if there is one.
func pathologyNumbers(p *result.Pathology) string {
	return plural(p.Count, "case") + textui.If(p.Total > 0, fmt.Sprintf(", %s in all", textui.Duration(p.Total))) +
		fmt.Sprintf(", worst %s%s at %s", textui.If(p.Total <= 0, "at most "), textui.Duration(p.Worst), textui.Duration(p.At))
}

// party says who took part and where.
func party(w *result.Party) string {
	return w.Role + textui.If(w.Function != "", ": "+shortName(w.Function, 48)) + textui.If(w.Place != "", " in "+shortName(w.Place, 48)) +
		textui.If(w.Proc >= 0, " on "+procName(w.Proc)) + ", " + plural(w.Count, "time") + textui.If(w.Total > 0, ", "+textui.Duration(w.Total))
}
