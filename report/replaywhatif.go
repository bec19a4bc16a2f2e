package report

import (
	"fmt"
	"slices"

	"github.com/schedscope/schedscope/analyze/replay"
	"github.com/schedscope/schedscope/internal/textui"
)

// whatIf shows the outcomes of variants.
func (t *replayText) whatIf() {
	if len(t.x.Outcomes) == 0 {
		return
	}
	t.section("What if", "")
	trust := t.x.Trust()
	isBound := func(o replay.Outcome) bool { return o.Basis == replay.BasisBound }
	list := slices.DeleteFunc(slices.Clone(t.x.Outcomes), isBound)
	switch {
	case trust.Refused != "" && (len(list) > 0 || trust.NoSpan != ""):
		t.note("No answer: %s.", trust.Refused)
	case len(list) > 0:
		t.figures(list, trust.NoSpan != "")
	}
	switch {
	case trust.NoSpan == "" && len(list) < len(t.x.Outcomes):
		t.bounds()
	case trust.NoSpan != "" && trust.NoSpan != trust.Refused:
		t.note("No answer about the run time: %s.", trust.NoSpan)
	}
}

// rangeNames are what the ranges of figures are called.
var rangeNames = map[replay.Basis]string{replay.BasisSpread: "spread", replay.BasisChecked: "80% interval"}

// figures shows what simulations of variants came to.
func (t *replayText) figures(outcomes []replay.Outcome, noSpan bool) {
	note := "The same work without the goroutines that write the trace: the measured figures, changed as the variant changes the simulation."
	if t.x.Traces > 1 {
		note += " Run times are of all traces together."
	}
	t.note("%s", note)
	t.printf("\n")
	head := []string{""}
	for k := range replay.NumFigures {
		head = append(head, k.String())
	}
	values, changes := t.table("Lrrrrrl", append(head, "range")...), t.table("Lrrrr", append([]string{"change"}, head[1:replay.FigureLong+1]...)...)
	t.narrow(values, [][]int{{1 + int(replay.FigureP90)}, {1 + int(replay.FigureLong)}, {1 + int(replay.FigureMean)}})
	cells := []string{"measured"}
	for k, v := range t.x.MeasuredFigures() {
		cells = append(cells, figureWriter(replay.FigureKind(k))(v))
	}
	values.Row(cells...)
	for i := range outcomes {
		o := &outcomes[i]
		cells, change := []string{o.Name}, []string{o.Name}
		for k, f := range o.Figures {
			known := o.Finished() && !(noSpan && replay.FigureKind(k) == replay.FigureSpan)
			value, by := "-", "-"
			if known {
				value, by = pointRange(f.Value, figureWriter(replay.FigureKind(k))), signedPercent(f.Change.Mid)
			}
			cells, change = append(cells, value), append(change, by)
		}
		values.Row(append(cells, rangeNames[o.Basis])...)
		changes.Row(change[:replay.FigureLong+1]...)
	}
	t.printf("%s\n%s", values, changes)
	t.ranges(outcomes)
	t.leftOut(outcomes)
}

// figureWriter returns how a figure is written.
func figureWriter(k replay.FigureKind) func(float64) string {
	if k == replay.FigureLong {
		return textui.Percent
	}
	return lengthOf
}

// ranges says what the ranges of the outcomes are.
func (t *replayText) ranges(outcomes []replay.Outcome) {
	has := func(b replay.Basis) bool {
		return slices.ContainsFunc(outcomes, func(o replay.Outcome) bool { return o.Basis == b })
	}
	if has(replay.BasisChecked) {
		t.note("80%% interval: as wide as such figures were off for other programs, which were recorded with two procs and with one; four of five should contain the measured value.")
	}
	if has(replay.BasisSpread) {
		t.note("spread: the spread of the simulation over %s. How far such figures are from the truth has not been measured: it may be much farther.", textui.Plural(t.x.Seeds, "seed"))
	}
}

// leftOut says how many simulations say nothing.
func (t *replayText) leftOut(outcomes []replay.Outcome) {
	var out, all int
	for i := range outcomes {
		o := &outcomes[i]
		all += o.Runs
		if o.Finished() {
			out += o.Unfinished
		} else {
			t.note("%s: no simulation came to the end of the work.", o.Name)
		}
	}
	if out > 0 {
		t.note("Left out: %s of %s, which did not come to the end of the work or in which goroutines came to wait for each other.",
			textui.Count(out), textui.Plural(all, "simulation"))
	}
}

// bounds shows what no schedule could exceed.
func (t *replayText) bounds() {
	tb := t.table("Ll", "", "work per time")
	for i := range t.x.Outcomes {
		if o := &t.x.Outcomes[i]; o.Basis == replay.BasisBound {
			tb.Row(o.Name, mostWork(o))
		}
	}
	t.printf("\n%s", tb)
	t.note("A trace recorded with one proc does not show what would wait on several: only what the work itself allows is known. Record with that GOMAXPROCS for latencies.")
}

// mostWork writes the bound of an outcome.
func mostWork(o *replay.Outcome) string {
	if o.AtMost == 0 {
		return "not known"
	}
	return fmt.Sprintf("at most %s", signedPercent(max(0, o.AtMost-1)))
}
