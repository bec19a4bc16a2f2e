package view

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/replay"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/report/document"
)

// Replayed is what a report about replaying is rendered from: traces of the same
// program and what the reference scheduler made of their work.
type Replayed struct {
	Traces  []result.Trace
	Skipped []result.Skipped
	// Results are those of Traces, one each; All is all of them together.
	Results []*replay.Result
	All     *replay.Result
}

// NewReplayed puts results together, at least one.
func NewReplayed(traces []result.Trace, skipped []result.Skipped, results []*replay.Result) *Replayed {
	d := &Replayed{Traces: traces, Skipped: skipped, Results: results, All: results[0]}
	if len(results) > 1 {
		d.All = replay.Merge(results)
	}
	return d
}

// ReplayText writes the report for people: what-ifs, or how far the model can be trusted if there are none, and with
// details all figures.
func ReplayText(w io.Writer, d *Replayed, o document.TextOptions, details bool) error {
	doc := headOf(d.Traces, d.Skipped, ", taken for recordings of the same program")
	doc.Add(d.requests(details), d.whatIf(details))
	if details {
		doc.Add(d.summary(), notes(&result.Report{Notes: d.Notes()}))
	} else {
		doc.Add(d.fit(), notes(&result.Report{Notes: findings.Lost(&result.Report{Traces: d.Traces, Skipped: d.Skipped})}))
	}
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

// summary has what was replayed, how far the reference reproduces it, totals and where wakes come from.
func (d *Replayed) summary() *document.Section {
	x := d.All
	s := document.New("summary", "")
	procs := fmt.Sprintf("GOMAXPROCS %d", x.MinProcs)
	if x.MaxProcs != x.MinProcs {
		procs += fmt.Sprintf(" to %d", x.MaxProcs)
	}
	s.Add(gap)
	s.Text("replayed %s in %s, %s, %s, %s", textui.Duration(x.Length), textui.Plural(x.Windows, "window"),
		textui.Plural(x.Measured.Starts, "start"), procs, textui.Plural(x.Seeds, "seed"))
	var verdict document.List
	for i, say := range d.Verdict() {
		verdict = append(verdict, document.Item{Text: say, Strong: i == 0})
	}
	var facts document.Facts
	add := func(name, format string, args ...any) {
		facts = append(facts, document.Pair{Name: name, Value: fmt.Sprintf(format, args...)})
	}
	if x.AnyWaits() {
		add("latency", "%s of %s in all measured; under the reference %s of %s; under an ideal one, first come, first served, %s",
			textui.Plural(x.All.Measured.Count, "wait"), textui.Duration(x.All.Measured.Total),
			textui.Count(int64(math.Round(x.All.Count.Mid))), rangeText(x.Waited()), textui.Duration(x.Ideal.Waits.Total()))
	}
	add("wakes", "%s", wakeShares(x))
	if all := x.Work + x.Mark; all > 0 {
		add("work", "%s on procs", textui.Duration(all))
		if x.Mark > 0 {
			facts[len(facts)-1].Value += fmt.Sprintf(", %s of it by mark workers of the garbage collector", textui.Duration(x.Mark))
		}
	}
	s.Add(gap, verdict, gap, facts)
	return s
}

// Verdict says in sentences how far the reference reproduces the traces, and how that
// compares with their differences.
func (d *Replayed) Verdict() []string {
	x := d.All
	if !x.AnyWaits() {
		return []string{"There is nothing to compare: no goroutine waited to run, neither in the recording nor under the reference."}
	}
	fit, noise := x.Fit(x.Noise), x.Noise
	if fit == replay.FitUnknown {
		return []string{fmt.Sprintf("There are too few waits to compare: %s measured, %.0f simulated.", textui.Count(x.All.Measured.Count), x.All.Count.Mid)}
	}
	what := map[replay.Fit]string{
		replay.FitClose: "The reference reproduces the waits of this trace closely",
		replay.FitRough: "The reference reproduces the waits of this trace roughly",
		replay.FitPoor:  "The reference does not reproduce the waits of this trace",
	}[fit]
	if len(d.Traces) > 1 {
		what = strings.Replace(what, "this trace", "these traces", 1)
	}
	if fit == replay.FitClose && x.Fit(nil) != replay.FitClose {
		what = strings.Replace(what, "closely", "as closely as they do each other", 1)
	}
	out := []string{fmt.Sprintf("%s: they are off by %s on average (W1), %s of the mean wait; errors of the simulated p90 %s, p99 %s.", what,
		lengthOf(x.All.W1.Mid), textui.Percent(x.All.Relative.Mid),
		document.Percent(x.All.Errors.P90), document.Percent(x.All.Errors.P99))}
	if noise == nil && fit != replay.FitClose {
		out = append(out, "How far recordings of this program differ by chance is not known: replay several together to see.")
	}
	if n := noise; n != nil {
		out = append(out, fmt.Sprintf("Recordings are %s apart from each other (W1, median of %s), and %s from their simulations.",
			lengthOf(n.W1.Mid), textui.Plural(n.Pairs, "pair"), lengthOf(n.Simulated.Mid)))
		if !n.Alike() {
			out = append(out, fmt.Sprintf("That is %s of the mean wait: too far apart to be taken for the same work under the same conditions.",
				textui.Percent(n.Relative.Mid)))
		}
	}
	return out
}

// wakeShares returns the parts of the wakes by class, greatest first.
func wakeShares(x *replay.Result) string {
	type class struct {
		c workload.Class
		n int64
	}
	var list []class
	var all int64
	for c, n := range x.Wakes {
		all += n
		if n > 0 {
			list = append(list, class{workload.Class(c), n})
		}
	}
	if all == 0 {
		return "none"
	}
	slices.SortStableFunc(list, func(a, b class) int { return cmp.Compare(b.n, a.n) })
	var parts []string
	for _, c := range list {
		parts = append(parts, c.c.String()+" "+textui.Ratio(c.n, all))
	}
	s := strings.Join(parts, ", ")
	if d := x.TimeDependent(); d > 0 {
		s += fmt.Sprintf("; of %s who wakes whom depends on time", textui.Percent(d))
	}
	return s
}

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

// fit says without details how far the model reproduces the traces.
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
	if len(x.Outcomes) == 0 {
		s.Text("--what-if procs=8 asks what another schedule would do; --details has all figures.")
	} else {
		s.Text("--details has all figures.")
	}
	return s
}

// requests has what becomes of the requests of each group.
func (d *Replayed) requests(details bool) *document.Section {
	x := d.All
	if len(x.Requests) == 0 {
		return nil
	}
	s := document.New("requests", "Requests")
	t := &document.Table{ID: "t-requests", Fixed: true, Columns: []document.Column{document.Name(""), document.Duration(replay.RequestP50.String()),
		document.Duration(replay.RequestP99.String()), document.Duration(replay.RequestMean.String()), document.Number(replay.RequestRate.String(), 0), document.Word("range")}}
	trust, asked, shown := x.Trust(), len(x.Outcomes) > 0, false
	refused := map[string][]string{} // names by reason
	for i := range x.Requests {
		g := &x.Requests[i]
		why := x.Refuses(g)
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
		if details && g.All.Comparable() {
			t.Row("as simulated", nil, rangeCell(replay.Range(g.All.P99)), rangeCell(replay.Range(g.All.Mean)))
		}
		for k := range x.Outcomes {
			if o := &x.Outcomes[k]; o.Basis != replay.BasisUnknown {
				shown = true
				t.Row(requestCells(o, g.Outcomes[k], details, trust.NoSpan == "")...)
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
		return slices.ContainsFunc(d.All.Outcomes, func(o replay.Outcome) bool { return o.Basis == b })
	}
	text := ""
	if has(replay.BasisChecked) {
		text = "80% intervals are as wide as such figures were off for other programs, which were recorded with two procs and with one; four of five should contain the measured value. "
	}
	if has(replay.BasisSpread) {
		text += unchecked
	}
	return strings.TrimSpace(text)
}

// unchecked says what figures without an interval are worth.
const unchecked = "How far the figures without an interval are from what would be measured is not known: take the direction for an answer, not the digits."

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
	var left []string
	if o.Standstills > 0 {
		left = append(left, fmt.Sprintf("left out are %s of all threads at once, in all %s", textui.Plural(o.Standstills, "standstill"), textui.Duration(o.StoodStill)))
	}
	if o.Count > 0 {
		left = append(left, fmt.Sprintf("left out are %s, in all %s, in which the operating system seems to have run something else, in %s alike",
			textui.Plural(o.Count, "time"), textui.Duration(o.Total), textui.Plural(o.Kinds, "kind")+" of code"))
	}
	text := "quiet: " + strings.Join(left, "; ") + "."
	if o.Doubted > 0 {
		text += fmt.Sprintf(" %s more, in all %s, may be the program's own, as they are in single kinds of code: they stay.", textui.Count(int64(o.Doubted)), textui.Duration(o.DoubtedTotal))
	}
	return text
}

// recordings says what recordings would answer what is asked.
func recordings(outcomes []replay.Outcome) string {
	var how []string
	for i := range outcomes {
		if o := &outcomes[i]; o.Recording != "" {
			how = append(how, o.Recording)
		}
	}
	if len(how) == 0 {
		return ""
	}
	return "Record " + strings.Join(how, " or ") + " to know."
}

// requestCells returns the row of a variant.
func requestCells(o *replay.Outcome, figures [replay.NumRequestFigures]replay.Figure, details, rate bool) []any {
	cells := []any{o.Name}
	for k, f := range figures {
		v := any(f.Value.Mid)
		if details || o.Basis == replay.BasisChecked {
			v = rangeCell(f.Value)
		}
		cells = append(cells, document.If(o.Finished() && (rate || replay.RequestFigure(k) != replay.RequestRate), v))
	}
	return append(cells, rangeOf(o, details))
}

// rangeOf says what the ranges of a variant are, if there are any.
func rangeOf(o *replay.Outcome, details bool) string {
	switch {
	case o.Basis == replay.BasisChecked:
		return "80% interval"
	case o.Basis == replay.BasisSpread && details:
		return "spread"
	}
	return ""
}

// groupName names a group of requests.
func groupName(g replay.Group) string {
	return g.Kind + " " + textui.ShortFunc(handlerName(g.Name))
}

// whatIf has the outcomes of variants.
func (d *Replayed) whatIf(details bool) *document.Section {
	x := d.All
	if len(x.Outcomes) == 0 {
		return nil
	}
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
	if len(simulated) > 0 && trust.Refused == "" {
		d.figures(s, simulated, trust.NoSpan != "", details)
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

// figures adds what simulations of variants came to, and what the ranges are.
func (d *Replayed) figures(s *document.Section, outcomes []replay.Outcome, noSpan, details bool) {
	if details {
		s.Text("The measured figures, changed as the variant changes the simulation.")
	}
	if d.All.Traces > 1 {
		s.Text("Run times are of all traces together.")
	}
	columns, changed := []document.Column{document.Name("")}, []document.Column{document.Name("change")}
	drop := [replay.NumFigures]int{replay.FigureP90: 1, replay.FigureLong: 2, replay.FigureMean: 3}
	measured := []any{"as recorded"}
	for k, v := range d.All.MeasuredFigures() {
		name, column := replay.FigureKind(k).String(), document.Duration
		if replay.FigureKind(k) == replay.FigureLong {
			column = document.Share
		} else {
			changed = append(changed, document.Growth(name))
		}
		columns, measured = append(columns, column(name).Drop(drop[k])), append(measured, v)
	}
	values := s.Table("t-variants", append(columns, document.Word("range"))...)
	values.Fixed = true
	changes := &document.Table{ID: "t-changes", Columns: changed, Fixed: true}
	values.Row(measured...)
	left, runs, bases := 0, 0, map[replay.Basis]bool{}
	for _, o := range outcomes {
		cells, change := []any{o.Name}, []any{o.Name}
		for k, f := range o.Figures {
			known := o.Finished() && !(noSpan && replay.FigureKind(k) == replay.FigureSpan)
			v := any(f.Value.Mid)
			if details || o.Basis == replay.BasisChecked {
				v = rangeCell(f.Value)
			}
			cells, change = append(cells, document.If(known, v)), append(change, document.If(known, f.Change.Mid))
		}
		values.Row(append(cells, rangeOf(&o, details))...)
		changes.Row(change[:len(changed)]...)
		bases[o.Basis] = true
		runs += o.Runs
		if o.Finished() {
			left += o.Unfinished
		}
	}
	if details {
		s.Add(changes)
	}
	if bases[replay.BasisChecked] && (details || len(d.All.Requests) == 0) {
		s.Text("80%% interval: as wide as such figures were off for other programs, which were recorded with two procs and with one; four of five should contain the measured value.")
	}
	if bases[replay.BasisSpread] && details {
		s.Text("spread: the spread of the simulation over %s. How far such figures are from the truth has not been measured: it may be much farther.", textui.Plural(d.All.Seeds, "seed"))
	} else if bases[replay.BasisSpread] && len(d.All.Requests) == 0 {
		s.Text("%s", unchecked)
	}
	if len(d.All.Requests) == 0 {
		s.Paragraphs(d.outages())
	}
	for _, o := range outcomes {
		if !o.Finished() {
			s.Text("%s: no simulation came to the end of the work.", o.Name)
		}
	}
	if left > 0 {
		s.Text("Left out: %s of %s, which did not come to the end of the work or in which goroutines came to wait for each other.",
			textui.Count(left), textui.Plural(runs, "simulation"))
	}
}

// Notes are statements about the numbers: what is missing, left out or assumed.
func (d *Replayed) Notes() []string {
	var notes []string
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	notes = append(notes, findings.Lost(&result.Report{Traces: d.Traces, Skipped: d.Skipped})...)
	x := d.All
	add("The work is taken as recorded: how long goroutines compute, what they do then, delays from outside, lengths of system calls. Where they queue, which proc runs them, who is preempted and how long threads take to wake up is simulated.")
	add("Waits that end in the first part of a window (%s in all), where what stood in the queues is not known in full, are not compared, nor are those across an end of a window.", textui.Duration(x.Warmup))
	if x.LeftOut > 0 {
		add("Left out: %s, too little for a window of its own or without work that can be run.", textui.Duration(x.LeftOut))
	}
	if n := unfinished(x); n != "" {
		add("%s", n)
	}
	if x.Contradictions > 0 {
		add("Simulated schedules contradict themselves in %s, which is a bug of schedscope: %s.", textui.Plural(x.Contradictions, "place"), x.FirstContradiction)
	}
	add("Simulated waits are rounded to the 64 ns of the clock of traces. Lengths below %s count as that in errors and changes.", textui.Duration(replay.Floor))
	add("Not simulated: contention for the scheduler's locks, caches, and what the operating system does to threads. The time that goroutines compute is time on procs: it includes what recording cost, and what the operating system took from their threads then, which only --what-if quiet leaves out.")
	return notes
}

// unfinished says that simulations did not come to the end of the work.
func unfinished(x *replay.Result) string {
	if n := x.Unfinished(); n > 0 {
		return fmt.Sprintf("In %s of the reference some goroutines did not come to the end of their work: what they wait for did not come.", textui.Plural(n, "simulation"))
	}
	return ""
}

// lengthOf writes a length of time given in nanoseconds.
func lengthOf(ns float64) string { return textui.Duration(model.Duration(math.Round(ns))) }

// rangeText writes a length of time over seeds.
func rangeText(r replay.Lengths) string {
	c := document.As(document.KindDuration, rangeCell(replay.Range(r)))
	return c.String()
}
