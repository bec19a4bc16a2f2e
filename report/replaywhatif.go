package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/replay"
	"github.com/schedscope/schedscope/internal/textui"
)

// whatIf shows the outcomes of variants.
func (t *replayText) whatIf() {
	if !t.x.AskedWhatIf() {
		return
	}
	t.section("What if", "")
	trust := t.x.Trust(t.d.Noise)
	if trust.Refused != "" {
		t.note("Not told: %s.", trust.Refused)
	} else {
		t.simulated(&trust)
	}
	t.bounds()
}

// simulated shows what simulations of variants came to.
func (t *replayText) simulated(trust *replay.Trust) {
	outcomes := t.x.Outcomes
	if len(outcomes) == 0 {
		return
	}
	tell := teller(pointRange)
	if len(trust.Intervals) > 0 {
		tell = interval
	}
	t.note("%s", whatIfPreface(t.x, trust))
	if len(trust.Intervals) > 0 {
		t.note("Only intervals are told: %s.", strings.Join(trust.Intervals, "; "))
	}
	t.printf("\n")
	t.latencies(outcomes, tell)
	t.leftOut(outcomes)
	t.printf("\n")
	t.changes(outcomes[1:], tell)
	if trust.NoThroughput != "" {
		t.note("Throughput is not told, nor the run time: %s.", trust.NoThroughput)
		return
	}
	t.printf("\n")
	t.runTimes(outcomes, tell)
}

// teller writes a range of a figure.
type teller func(replay.Range, func(float64) string) string

// latencies shows the latency under each variant, and as measured.
func (t *replayText) latencies(outcomes []replay.Outcome, tell teller) {
	head := []string{"latency", "p50", "p90", "p99", "mean"}
	some := slices.ContainsFunc(outcomes, func(o replay.Outcome) bool { return o.Unfinished > 0 })
	if some {
		head = append(head, "simulations")
	}
	tb := t.table("L"+strings.Repeat("r", len(head)-1), head...)
	t.narrow(tb, dropFigures)
	measured := []string{"measured"}
	for _, q := range t.x.All.Measured.Quantiles(replay.Quantiles[:]...) {
		measured = append(measured, textui.Duration(q))
	}
	tb.Row(append(measured, lengthOf(t.x.All.MeasuredMean()))...)
	for i := range outcomes {
		o := &outcomes[i]
		cells := []string{outcomeName(o)}
		for _, f := range o.Figures {
			cells = append(cells, tell(f.Value, lengthOf))
		}
		if some {
			cells = append(cells, finishedOf(o))
		}
		tb.Row(cells...)
	}
	t.b.WriteString(tb.String())
}

// finishedOf tells over how many simulations the intervals of an outcome are.
func finishedOf(o *replay.Outcome) string {
	if !o.Finished() {
		return "none finished" // they are over all of them then
	}
	return fmt.Sprintf("%d of %d", o.Runs-o.Unfinished, o.Runs)
}

// runTimes shows how long the work takes, and the work done per time.
func (t *replayText) runTimes(outcomes []replay.Outcome, tell teller) {
	tb := t.table("Lrr", "run time", "takes", "throughput")
	tb.Row("measured", textui.Duration(t.x.Measured.Span))
	for i := range outcomes {
		o := &outcomes[i]
		switch {
		case !o.Finished():
			tb.Row(outcomeName(o), "not told", "not told")
		case i == 0:
			tb.Row(outcomeName(o), tell(o.Span, lengthOf))
		default:
			tb.Row(outcomeName(o), tell(o.Span, lengthOf), tell(o.Throughput, func(v float64) string { return signedPercent(v - 1) }))
		}
	}
	t.b.WriteString(tb.String())
	t.note("From the beginning to the end of the last work.")
}

// leftOut says how many simulations tell nothing.
func (t *replayText) leftOut(outcomes []replay.Outcome) {
	var out, all int
	for i := range outcomes {
		o := &outcomes[i]
		all += o.Runs
		if o.Finished() {
			out += o.Unfinished
		} else {
			t.note("%s: no simulation came to the end of the work.", outcomeName(o))
		}
	}
	if out > 0 {
		t.note("Left out: %s of %s, which did not come to the end of the work or in which goroutines came to wait for each other.",
			textui.Count(out), textui.Plural(all, "simulation"))
	}
}

// changes shows how much variants differ from the baseline.
func (t *replayText) changes(outcomes []replay.Outcome, tell teller) {
	tb := t.table("Lrrrr", "change", "p50", "p90", "p99", "mean")
	t.narrow(tb, dropFigures)
	for i := range outcomes {
		cells := []string{outcomeName(&outcomes[i])}
		for _, f := range outcomes[i].Figures {
			cells = append(cells, tell(f.Change, signedPercent))
		}
		tb.Row(cells...)
	}
	t.b.WriteString(tb.String())
}

// whatIfPreface says what variants are compared with and how they are to be read.
func whatIfPreface(x *replay.Result, trust *replay.Trust) string {
	s := "The same work without the goroutines that write the trace. Changes are against the baseline: its simulation under the recorded configuration."
	over := "In parentheses: over"
	if len(trust.Intervals) > 0 {
		over = "Intervals are over"
	}
	s += fmt.Sprintf(" %s %s and the ways to serve waits.", over, textui.Plural(x.Seeds, "seed"))
	s += fmt.Sprintf(" In-sample error: W1 is %s of the mean wait.", plainPercent(x.All.Relative().Mid))
	return s
}

// outcomeName names a variant, or the baseline.
func outcomeName(o *replay.Outcome) string { return cmp.Or(o.Name, "baseline") }

// bounds shows what no schedule could be faster than.
func (t *replayText) bounds() {
	if len(t.x.Bounds) == 0 {
		return
	}
	t.printf("\n")
	tb := t.table("Lrrrrrrr", "bound", "cores", "work", "longest chain", "at least", "at most", "recorded", "lost")
	t.narrow(tb, [][]int{{3}})
	for i := range t.x.Bounds {
		b := &t.x.Bounds[i]
		cells := []string{b.Name, textui.Count(b.Cores), textui.Duration(b.Work), textui.Duration(b.Span), textui.Duration(b.Lower), "-", "-", "-"}
		if b.Unsound < b.Windows {
			cells[5] = textui.Duration(b.Upper)
		}
		if b.AsRecorded {
			cells[6] = textui.Duration(b.Recorded)
			if b.Unsound < b.Windows {
				cells[7] = textui.Duration(b.Excess)
			}
		}
		tb.Row(cells...)
	}
	t.b.WriteString(tb.String())
	t.note("work: on procs, mark workers of the garbage collector included. at least: no schedule takes less. at most: what a scheduler takes that costs nothing and lets nobody wait while a core is idle. lost: what the recording took beyond that, certainly to scheduling or the operating system; 0 proves nothing. Longest chain, at most and lost hold with the recorded wakes: each for the goroutine that it woke.")
	for i := range t.x.Bounds {
		if b := &t.x.Bounds[i]; b.Unsound > 0 {
			t.note("In %d of %s not all chains could be followed; at most and lost leave them out.", b.Unsound, textui.Plural(b.Windows, "window"))
			break
		}
	}
}
