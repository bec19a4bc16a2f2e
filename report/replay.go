package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/replay"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// Replayed is what a report about replaying is rendered from: traces of the same
// program and what the reference scheduler made of their work.
type Replayed struct {
	Traces  []Trace
	Skipped []Skipped
	// Results are those of Traces, one each; All is all of them together.
	Results []*replay.Result
	All     *replay.Result
	// With is the second trace, if one was given, of which WithResult is the survey.
	With       *Trace
	WithResult *replay.Result
}

// NewReplayed puts results together, at least one.
func NewReplayed(traces []Trace, skipped []Skipped, results []*replay.Result) *Replayed {
	d := &Replayed{Traces: traces, Skipped: skipped, Results: results, All: results[0]}
	if len(results) > 1 {
		d.All = replay.Merge(results)
	}
	return d
}

// Title names what the report is about, in few words.
func (d *Replayed) Title() string { return (&Document{Traces: d.Traces}).Title() }

// ReplayText writes the report for people.
func ReplayText(w io.Writer, d *Replayed, o Options) error {
	t := &replayText{newText(o), d, d.All}
	t.doc = &Document{Traces: d.Traces, Skipped: d.Skipped}
	t.head()
	t.printf("\n")
	t.verdict()
	t.summary()
	t.whatIf()
	if t.x.AnyWaits() {
		t.rows("Latency by origin, measured and under the reference", "origin", t.x.Origins)
		t.rows("Latency by start function", "function", shortNames(t.x.Funcs))
		t.spread()
	}
	t.dwells()
	t.recordings()
	t.counts()
	t.costs()
	t.notes()
	return t.write(w)
}

// replayText is a report about replaying while it is written.
type replayText struct {
	*text
	d *Replayed
	x *replay.Result
}

// head says what was read and replayed.
func (t *replayText) head() {
	if len(t.d.Traces) == 1 {
		tr := &t.d.Traces[0]
		t.printf("%s\n", t.bold(textui.Clean(tr.Name))+": "+describeTrace(tr))
	} else {
		t.printf("%s\n", t.bold(textui.Plural(len(t.d.Traces), "trace"))+", taken for recordings of the same program: "+t.formats())
	}
	x := t.x
	procs := fmt.Sprintf("GOMAXPROCS %d", x.MinProcs)
	if x.MaxProcs != x.MinProcs {
		procs += fmt.Sprintf(" to %d", x.MaxProcs)
	}
	if x.Cores > 0 {
		procs += " on " + textui.Plural(x.Cores, "core")
	}
	t.wrap("", "replayed %s in %s, %s, %s, %s", textui.Duration(x.Length), textui.Plural(x.Windows, "window"),
		textui.Plural(x.Measured.Counts[replay.CountStarts], "start"), procs, textui.Plural(x.Seeds, "seed"))
	t.completeness()
}

// verdict says in words how far the reference reproduces the trace.
func (t *replayText) verdict() {
	for i, say := range t.d.Verdict() {
		say = textui.Columns(textui.Clean(say), t.width-2, "  ")
		if i == 0 {
			say = t.bold(say)
		}
		t.printf("- %s\n", say)
	}
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
		return []string{fmt.Sprintf("There are too few waits to compare: %s measured, %.0f simulated.", textui.Count(x.All.Measured.Count()), x.All.Count.Mid)}
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
		lengthOf(x.All.W1.Mid), textui.Percent(x.All.Relative().Mid),
		signedPercent(x.All.Error(0)), signedPercent(x.All.Error(1)))}
	if worst := d.worst(); len(worst) > 0 {
		out = append(out, "The main reason: goroutines of "+strings.Join(result.Each(worst, dwellError), "; and those of ")+".")
	}
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

// worst returns the reason why the reference does not reproduce the traces closely.
func (d *Replayed) worst() []replay.DwellRow {
	if fit := d.All.Fit(d.All.Noise); fit != replay.FitRough && fit != replay.FitPoor {
		return nil
	}
	return d.All.WorstDwells()
}

// dwellError says how long goroutines were in a state, and how long they are there in simulations.
func dwellError(r *replay.DwellRow) string {
	return fmt.Sprintf("%s are %s for %s under the reference, measured %s", textui.ShortFunc(cmp.Or(r.Func, "unknown functions")),
		dwellState(r), lengthOf(r.Simulated.Mid), textui.Duration(r.Measured))
}

// dwellState names a state, why goroutines are in it and where.
func dwellState(r *replay.DwellRow) string {
	s := cmp.Or(r.State, "in no state")
	if r.State == "syscall" {
		s = "in system calls"
	} else if r.Reason != "" {
		s += " (" + r.Reason + ")"
	}
	if r.Frame != "" {
		s += " in " + textui.ShortFunc(r.Frame)
	}
	return s
}

// dwells shows where the reference holds goroutines for longer or shorter than they were.
func (t *replayText) dwells() {
	rows := slices.DeleteFunc(slices.Clone(t.x.Dwells), func(r replay.DwellRow) bool { return r.Excess() == 0 })
	if len(rows) == 0 {
		return
	}
	t.section("Time in states, measured and under the reference", "Of all goroutines of a function together, the greatest difference first. A wait with a great one is what the reference has wrong.")
	tb := t.table("LLrrr", "function", "state", "measured", "ref", "difference")
	shown := t.limit(len(rows))
	for i := range rows[:shown] {
		r := &rows[i]
		tb.Row(textui.Clean(textui.ShortFunc(cmp.Or(r.Func, "(unknown)"))), textui.Clean(dwellState(r)), textui.Duration(r.Measured), lengthOf(r.Simulated.Mid), signedLength(r.Excess()))
	}
	t.b.WriteString(tb.String())
	t.more(shown, len(rows))
}

// summary shows totals and where wakes come from.
func (t *replayText) summary() {
	t.printf("\n")
	x := t.x
	if !x.AnyWaits() {
		t.wakesAndWork()
		return
	}
	s := fmt.Sprintf("%s of %s in all measured; under the reference %s of %s", textui.Plural(x.All.Measured.Count(), "wait"),
		textui.Duration(x.All.Measured.Total()), count(x.All.Count.Mid), durationRange(x.Waited()))
	if x.Ideal != nil {
		s += fmt.Sprintf("; under an ideal one, first come, first served, %s", textui.Duration(x.Ideal.Waits.Total()))
	}
	t.labelled("latency", "%s", s)
	t.wakesAndWork()
	tb := t.compareTable("")
	compareRow(tb, "all waits", &x.All)
	t.printf("\n%s", tb.String())
}

// wakesAndWork shows where wakes come from, and how much work there was.
func (t *replayText) wakesAndWork() {
	x := t.x
	t.labelled("wakes", "%s", wakeShares(x))
	if all := x.Work + x.Mark; all > 0 {
		s := textui.Duration(all) + " on procs"
		if x.Mark > 0 {
			s += fmt.Sprintf(", %s of it by mark workers of the garbage collector", textui.Duration(x.Mark))
		}
		t.labelled("work", "%s", s)
	}
	if t.d.With != nil {
		t.labelled("inflation", "%s", textui.Clean(t.d.inflation()))
	}
}

// inflation says what the second trace shows.
func (d *Replayed) inflation() string {
	if why := d.All.NoInflation(); why != "" {
		return fmt.Sprintf("not known from %s: %s", d.With.Name, why)
	}
	return fmt.Sprintf("the same work takes %.2f times the CPU time with GOMAXPROCS %d (%s); what-ifs stretch computing accordingly",
		d.All.Inflation(), d.WithResult.MaxProcs, d.With.Name)
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

// compareTable returns a table of measured and simulated figures side by side. A narrow one has
// no p90.
func (t *replayText) compareTable(name string) *textui.Table {
	tb := t.table("Lrrrrrrrrrr", name, "waits", "p90", "ref", "error", "p99", "ref", "error", "mean", "ref", "W1/mean")
	t.narrow(tb, [][]int{{2, 3, 4}})
	return tb
}

// compareRow adds a row to a compareTable.
func compareRow(tb *textui.Table, name string, r *replay.Row) {
	cells := []string{textui.Clean(name), textui.Count(r.Measured.Count())}
	for i, q := range r.Measured.Quantiles(replay.Quantiles[:]...) {
		if !r.Comparable() {
			cells = append(cells, known(r.Measured.Count() > 0, textui.Duration(q)), known(r.Count.Mid > 0, lengthOf(r.Quantiles[i].Mid)), "")
			continue
		}
		cells = append(cells, textui.Duration(q), lengthOf(r.Quantiles[i].Mid), signedPercent(r.Error(i)))
	}
	cells = append(cells, known(r.Measured.Count() > 0, lengthOf(r.MeasuredMean())), known(r.Count.Mid > 0, lengthOf(r.Mean.Mid)))
	if r.Comparable() {
		cells = append(cells, plainPercent(r.Relative().Mid))
	}
	tb.Row(cells...)
}

// known returns a cell, or a dash for what is not known.
func known(ok bool, cell string) string {
	if ok {
		return cell
	}
	return "-"
}

// rows prints a section of rows, the first few.
func (t *replayText) rows(title, name string, rows []replay.Row) {
	t.section(title, "")
	if len(rows) == 0 {
		t.printf("  no waits\n")
		return
	}
	tb := t.compareTable(name)
	shown := t.limit(len(rows))
	for i := range rows[:shown] {
		compareRow(tb, rows[i].Name, &rows[i])
	}
	t.b.WriteString(tb.String())
	t.more(shown, len(rows))
}

// shortNames shortens names of functions.
func shortNames(rows []replay.Row) []replay.Row {
	rows = slices.Clone(rows)
	for i := range rows {
		rows[i].Name = textui.ShortFunc(rows[i].Name)
	}
	return rows
}

// narrow has a table do without columns on a terminal that is too narrow. Files have them all.
func (t *replayText) narrow(tb *textui.Table, groups [][]int) {
	if t.o.Width > 0 {
		tb.Drop = groups
	}
}

// spread shows how far seeds lie apart.
func (t *replayText) spread() {
	if t.x.Seeds < 2 {
		return
	}
	t.section("Spread of the reference", "The least and the greatest figure of %s.", textui.Plural(t.x.Seeds, "seed"))
	tb := t.table("Lrrrr", "origin", "p90", "p99", "mean", "W1/mean")
	t.narrow(tb, [][]int{{1}, {3}})
	for _, r := range append([]replay.Row{t.x.All}, t.x.Origins...) {
		if r.Count.Mid == 0 {
			continue
		}
		cells := []string{textui.Clean(r.Name)}
		for i := range r.Quantiles {
			cells = append(cells, interval(r.Quantiles[i], lengthOf))
		}
		cells = append(cells, interval(r.Mean, lengthOf))
		if r.Comparable() {
			cells = append(cells, interval(r.Relative(), plainPercent))
		}
		tb.Row(cells...)
	}
	t.b.WriteString(tb.String())
}

// recordings compares several traces.
func (t *replayText) recordings() {
	if len(t.d.Results) < 2 {
		return
	}
	t.section("Recordings", "")
	tb := t.compareTable("trace")
	for i, r := range t.d.Results {
		compareRow(tb, t.d.Traces[i].Name, &r.All)
	}
	t.b.WriteString(tb.String())
	if n := t.x.Noise; n != nil {
		t.note("W1 of two recordings: %s, %s of the mean; of a recording and its simulation: %s.",
			durationRange(n.W1), pointRange(n.Relative, plainPercent), durationRange(n.Simulated))
	}
}

// counts shows how often the scheduler did what.
func (t *replayText) counts() {
	t.section("What the scheduler did", "")
	tb := t.table("Lrr", "", "measured", "reference")
	for c := range replay.NumCounts {
		row := t.x.Counts[c]
		tb.Row(c.String(), textui.Count(row.Measured), pointRange(row.Simulated, count))
	}
	t.b.WriteString(tb.String())
	t.note("--mode lockstep counts others: its steals are those from queues only, without those of a runnext, and its wakes are the occasions on which the rules demand that a thread is woken, not the threads that came.")
}

// costs shows what operations were taken to cost.
func (t *replayText) costs() {
	t.section("Costs", "")
	tb := t.table("LrrrlL", "cost", "value", "default", "samples", "from", "what")
	for i := range t.x.Costs {
		c := &t.x.Costs[i]
		tb.Row(c.Kind.String(), textui.Duration(c.Value), textui.Duration(c.Default), textui.Count(c.Samples), c.From, c.Kind.Help())
	}
	t.b.WriteString(tb.String())
}

func (t *replayText) notes() {
	t.section("Notes", "")
	for _, n := range t.d.Notes() {
		t.printf("  - %s\n", textui.Columns(textui.Clean(n), t.width-4, "    "))
	}
}

// Notes are statements about the numbers: what is missing, left out or assumed.
func (d *Replayed) Notes() []string {
	var notes []string
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	doc := &Document{Traces: d.Traces, Skipped: d.Skipped}
	doc.lossNotes(add)
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
	add("Not simulated: contention for the scheduler's locks, caches, and what the operating system does to threads. The time that goroutines compute is time on procs: it includes what recording cost, and what the operating system took from their threads then.")
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

// signedLength writes a difference of lengths of time.
func signedLength(ns float64) string {
	if ns = math.Round(ns); ns < 0 {
		return "-" + lengthOf(-ns)
	}
	return "+" + lengthOf(ns)
}

// count writes a number.
func count(n float64) string { return textui.Count(int64(math.Round(n))) }

// plainPercent writes a part of one, or several: "7.1%", "150%", "x12".
func plainPercent(share float64) string {
	switch {
	case share > 9.995:
		return "x" + textui.Count(int64(math.Round(share)))
	case share > 1:
		return fmt.Sprintf("%.0f%%", share*100)
	}
	return textui.Percent(share)
}

// signedPercent writes a change as a part of what it is of, or how many times as much
// it makes: "+1.2%", "-35%", "x12".
func signedPercent(v float64) string {
	p := v * 100
	switch a := math.Abs(p); {
	case math.IsNaN(p):
		return "-"
	case a < 0.05:
		return "0%"
	case a < 9.95:
		return fmt.Sprintf("%+.1f%%", p)
	case a < 999.5:
		return fmt.Sprintf("%+.0f%%", p)
	}
	return "x" + textui.Count(int64(math.Round(1+v)))
}

// interval writes the least and the greatest of a range, or both in one.
func interval(r replay.Range, f func(float64) string) string {
	lo, hi := f(r.Low), f(r.High)
	if lo == hi {
		return lo
	}
	return lo + ".." + hi
}

// pointRange writes a range with its middle.
func pointRange(r replay.Range, f func(float64) string) string {
	if f(r.Low) == f(r.High) {
		return f(r.Mid)
	}
	return f(r.Mid) + " (" + interval(r, f) + ")"
}

func durationRange(r replay.Range) string { return pointRange(r, lengthOf) }
