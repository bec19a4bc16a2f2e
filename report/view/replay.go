package view

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/replay"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/report/document"
)

// Replayed is the data of a report on replaying: traces of the same program and the results of
// the reference scheduler.
type Replayed struct {
	Traces  []result.Trace
	Skipped []result.Skipped
	// Results are those of Traces, one each; All is all of them together.
	Results []*replay.Result
	All     *replay.Result
}

// NewReplayed combines results, at least one.
func NewReplayed(traces []result.Trace, skipped []result.Skipped, results []*replay.Result) *Replayed {
	d := &Replayed{Traces: traces, Skipped: skipped, Results: results, All: results[0]}
	if len(results) > 1 {
		d.All = replay.Merge(results)
	}
	return d
}

// ReplayText writes the report for people: what-ifs, or how far the model can be trusted if there are none.
func ReplayText(w io.Writer, d *Replayed, o document.TextOptions) error {
	doc := headOf(d.Traces, d.Skipped, ", taken for recordings of the same program")
	doc.Add(d.requests(), d.whatIf(), d.fit(), notes(&result.Report{Notes: d.Notes()}))
	return document.Text(w, doc, o)
}

// headOf begins a report on traces. what says for what several are taken.
func headOf(traces []result.Trace, skipped []result.Skipped, what string) *document.Document {
	r := &result.Report{Traces: traces, Skipped: skipped}
	d := &document.Document{Title: textui.Plural(len(traces), "trace") + what, About: Formats(r)}
	if len(traces) == 1 {
		d.Title, d.About = traces[0].Name, Describe(&r.Traces[0])
	}
	head := document.New("head", "")
	head.Paragraphs(Completeness(r))
	d.Add(head)
	return d
}

// gap separates the parts of a section without a title.
var gap = document.Paragraph{}

// rangeCell is a cell of a figure over seeds.
func rangeCell(r replay.Range) document.Cell { return document.Range(r.Mid, r.Low, r.High) }

// recorded has a row for each of several traces.
func (d *Replayed) recorded() (rows []replay.Row) {
	if len(d.Results) < 2 {
		return nil
	}
	for i, r := range d.Results {
		rows = append(rows, r.All)
		rows[i].Name = d.Traces[i].Name
	}
	return rows
}

// fit says how well the model reproduces the traces.
func (d *Replayed) fit() *document.Section {
	x := d.All
	s := document.New("fit", "")
	s.Add(gap)
	if fit := x.Fit(x.Noise); fit == replay.FitUnknown {
		s.Text("%s to run, too few to say how well the model of the scheduler reproduces them.", textui.Plural(x.All.Measured.Count, "wait"))
	} else {
		how := map[replay.Fit]string{replay.FitClose: "reproduces the recorded waits closely", replay.FitRough: "reproduces the recorded waits roughly",
			replay.FitPoor: "does not reproduce the recorded waits"}[fit]
		s.Text("The model of the scheduler %s: its own are off by %s of the mean.", how, textui.Percent(x.All.Relative.Mid))
	}
	if n := x.Noise; n != nil {
		s.Text("Recordings are %s of the mean apart from each other.", textui.Percent(n.Relative.Mid))
	}
	s.Text("%s--json has all figures.", textui.If(len(x.Outcomes) == 0, "--what-if procs=8 asks what another schedule would do; "))
	return s
}

// requests has what becomes of the requests of each group.
func (d *Replayed) requests() *document.Section {
	x := d.All
	if len(x.Requests) == 0 {
		return nil
	}
	s := document.New("requests", "Requests")
	t := &document.Table{ID: "t-requests", Fixed: true, Columns: []document.Column{document.Name(""), document.Duration(replay.RequestP50.String()),
		document.Duration(replay.RequestP99.String()), document.Duration(replay.RequestMean.String()), document.Number(replay.RequestRate.String(), 0)}}
	trust, asked, shown := x.Trust(), len(x.Outcomes) > 0, false
	refused := map[string][]string{} // names by reason
	for _, g := range x.Requests {
		why := x.Refuses(&g)
		if asked && why != "" {
			refused[why] = append(refused[why], groupName(g.Group))
			continue
		}
		t.Section(fmt.Sprintf("%s, %s", groupName(g.Group), textui.Plural(g.All.Measured.Count, "request")))
		cells := []any{"as recorded"}
		for _, v := range g.Figures {
			cells = append(cells, v)
		}
		t.Row(cells...)
		for k := range x.Outcomes {
			if o := &x.Outcomes[k]; o.Basis != replay.BasisUnknown {
				shown = true
				t.Row(requestCells(o, g.Outcomes[k], trust.NoSpan == "")...)
			}
		}
	}
	if len(t.Rows) > 0 {
		s.Add(t)
	}
	if shown {
		s.Paragraphs(d.worth())
		s.Paragraphs(d.outages())
		if trust.NoSpan != "" {
			s.Text("No answer about requests per second: %s.", trust.NoSpan)
		}
	}
	for _, why := range slices.Sorted(maps.Keys(refused)) {
		s.Text("No answer about %s: %s.", strings.Join(refused[why], ", "), why)
	}
	if len(refused) > 0 && trust.Refused == "" && !slices.ContainsFunc(x.Outcomes, func(o replay.Outcome) bool { return o.Basis == replay.BasisUnknown }) {
		s.Paragraphs(recordings(x.Outcomes)) // else it comes with the waits
	}
	return s
}

// worth says what the figures of what is asked are worth.
func (d *Replayed) worth() string {
	has := func(b replay.Basis) bool {
		return slices.ContainsFunc(d.All.Outcomes, func(o replay.Outcome) bool {
			return o.Basis == b || o.Basis != replay.BasisUnknown && o.RequestBasis == b
		})
	}
	return textui.Join(" ", textui.If(has(replay.BasisChecked), checkedFigures), textui.If(has(replay.BasisSpread), unchecked))
}

// What figures with an interval are worth, and those without.
const (
	checkedFigures = "In brackets are 80% intervals, as wide as such figures were off for other programs, which were recorded under both schedules: four of five should contain the measured value."
	unchecked      = "How far the figures without an interval are from what would be measured is not known: rely on the direction, not on the digits. Where that depends on the random choices of a simulation, they say no change."
)

// outages says what a quiet machine is without, or, if nobody asked for one, that it would matter; "" if not.
func (d *Replayed) outages() string {
	x, o := d.All, &d.All.Outages
	if o.Count+o.Standstills == 0 {
		return ""
	}
	if !slices.ContainsFunc(x.Outcomes, func(o replay.Outcome) bool { return strings.Contains(o.Name, "quiet") }) {
		if !x.Disturbed() {
			return ""
		}
		return fmt.Sprintf("The operating system seems to have run something else for %s, %s of the time that goroutines computed, and the figures have that, too. Added to a change, quiet leaves it out: --what-if %s,quiet.",
			textui.Duration(o.Total+o.StoodStill), textui.Percent(x.Taken()), x.Outcomes[0].Name)
	}
	left := textui.Join("; ", textui.If(o.Standstills > 0, fmt.Sprintf("left out are %s of all threads at once, in all %s", textui.Plural(o.Standstills, "standstill"), textui.Duration(o.StoodStill))),
		textui.If(o.Count > 0, fmt.Sprintf("left out are %s, in all %s, in which the operating system seems to have run something else, in %s alike",
			textui.Plural(o.Count, "time"), textui.Duration(o.Total), textui.Plural(o.Kinds, "kind")+" of code")))
	return "quiet: " + left + "." + textui.If(o.Blind > 0, " Without CPU samples rare long computing of the program's own looks the same: requests may take as long as recorded.") +
		textui.If(o.Doubted > 0, fmt.Sprintf(" %s more, in all %s, may be the program's own, as they are in single kinds of code: they stay.", textui.Count(int64(o.Doubted)), textui.Duration(o.DoubtedTotal)))
}

// recordings says what recordings would answer what is asked.
func recordings(outcomes []replay.Outcome) string {
	var how []string
	for _, o := range outcomes { // each may contain the one before it, with another number of procs
		if n := len(how); n > 0 && strings.HasPrefix(o.Recording, how[n-1]) {
			how = how[:n-1]
		}
		if o.Recording != "" {
			how = append(how, o.Recording)
		}
	}
	return textui.If(len(how) > 0, "Record "+strings.Join(how, " or ")+" to know.")
}

// requestCells returns the row of a variant.
func requestCells(o *replay.Outcome, figures [replay.NumRequestFigures]replay.Figure, rate bool) []any {
	cells := []any{o.Name}
	for k, f := range figures {
		v := outcomeCell(o.RequestBasis, f)
		if replay.RequestFigure(k) == replay.RequestRate && math.Abs(f.Change.Mid) < 0.01 {
			v = f.Value.Mid // as many as recorded come from outside: what the schedule does not change has no interval
		}
		cells = append(cells, document.If(o.Finished() && (rate || replay.RequestFigure(k) != replay.RequestRate), v))
	}
	return cells
}

// outcomeCell is a cell of a figure under a variant: one without an interval changes only if it does with all seeds, in the same
// direction.
func outcomeCell(b replay.Basis, f replay.Figure) any {
	switch {
	case b == replay.BasisChecked:
		return rangeCell(f.Value)
	case f.Change.Low <= 0 && f.Change.High >= 0:
		return document.Shown("no change", f.Value.Mid)
	}
	return f.Value.Mid
}

// groupName names a group of requests.
func groupName(g replay.Group) string {
	switch {
	case g.Name == replay.AllNames:
		return g.Kind
	case !result.Handled(g.Name):
		return g.Kind + " (handler not seen)" // next to all of the kind
	}
	return g.Kind + " " + textui.ShortFunc(g.Name)
}

// whatIf has the outcomes of variants.
func (d *Replayed) whatIf() *document.Section {
	x := d.All
	s := document.New("what-if", "Waits to run")
	trust := x.Trust()
	var simulated, unanswered []replay.Outcome
	unknown := map[string][]string{} // by reason
	for _, o := range x.Outcomes {
		switch {
		case o.Basis == replay.BasisUnknown:
			unknown[o.Refused] = append(unknown[o.Refused], o.Name)
			unanswered = append(unanswered, o)
		case trust.Refused != "":
			unanswered = append(unanswered, o)
			fallthrough
		default:
			simulated = append(simulated, o)
		}
	}
	if x.All.Comparable() && (len(simulated) == 0 || trust.Refused == "") {
		d.figures(s, simulated, trust.NoSpan != "")
		if trust.NoSpan != "" {
			s.Text("No answer about the run time: %s.", trust.NoSpan)
		}
	}
	if len(simulated) > 0 && trust.Refused != "" {
		s.Text("No answer: %s.", trust.Refused)
	}
	for _, why := range slices.Sorted(maps.Keys(unknown)) {
		s.Text("No answer about %s: %s.", strings.Join(unknown[why], " and "), why)
	}
	s.Paragraphs(recordings(unanswered))
	return s
}

// figures adds what simulations of variants came to, and what they are worth, unless that was said of requests.
func (d *Replayed) figures(s *document.Section, outcomes []replay.Outcome, noSpan bool) {
	if d.All.Traces > 1 {
		s.Text("Run times are of all traces together.")
	}
	columns, measured := []document.Column{document.Name("")}, []any{"as recorded"}
	drop := [replay.NumFigures]int{replay.FigureLong: 1, replay.FigureMean: 2}
	for k, v := range d.All.MeasuredFigures() {
		if replay.FigureKind(k) == replay.FigureP90 {
			continue // lines would be longer than 100 columns
		}
		column := textui.Either(replay.FigureKind(k) == replay.FigureLong, document.Share, document.Duration)
		columns, measured = append(columns, column(replay.FigureKind(k).String()).Drop(drop[k])), append(measured, v)
	}
	values := s.Table("t-variants", columns...)
	values.Fixed = true
	values.Row(measured...)
	again := []any{"as simulated"}
	for k, v := range d.All.SimulatedFigures() {
		if replay.FigureKind(k) != replay.FigureP90 {
			again = append(again, v)
		}
	}
	values.Row(again...)
	left, runs := 0, 0
	for _, o := range outcomes {
		cells := []any{o.Name}
		for k, f := range o.Figures {
			v := outcomeCell(o.Basis, f)
			if replay.FigureKind(k) != replay.FigureP90 {
				cells = append(cells, document.If(o.Finished() && !(noSpan && replay.FigureKind(k) == replay.FigureSpan), v))
			}
		}
		values.Row(cells...)
		runs += o.Runs
		if o.Finished() {
			left += o.Unfinished
		}
	}
	if len(d.All.Requests) == 0 && len(outcomes) > 0 {
		s.Paragraphs(d.worth())
		s.Paragraphs(d.outages())
	}
	for _, o := range outcomes {
		if !o.Finished() {
			s.Text("%s: no simulation came to the end of the work.", o.Name)
		}
	}
	if left > 0 {
		s.Text("Left out: %s of %s, which did not come to the end of the work.",
			textui.Count(left), textui.Plural(runs, "simulation"))
	}
}

// Notes are statements about what is missing or left out.
func (d *Replayed) Notes() []string {
	x := d.All
	notes := findings.Lost(&result.Report{Traces: d.Traces, Skipped: d.Skipped})
	if x.LeftOut > 0 {
		notes = append(notes, fmt.Sprintf("Left out: %s, too little to be simulated by itself or without work that can be run.", textui.Duration(x.LeftOut)))
	}
	if n := x.Unfinished(); n > 0 {
		notes = append(notes, fmt.Sprintf("In %s of the recorded schedule some goroutines did not come to the end of their work: what they wait for did not come.", textui.Plural(n, "simulation")))
	}
	return notes
}
