package report

import (
	"fmt"
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
	tell := pointRange
	if len(trust.Intervals) > 0 {
		tell = interval
	}
	t.note("%s", whatIfPreface(t.x, trust))
	if len(trust.Intervals) > 0 {
		t.note("Only intervals are told: %s.", strings.Join(trust.Intervals, "; "))
	}
	t.printf("\n")
	tb := t.table("Lrrrr", "latency", "p50", "p90", "p99", "mean")
	for i := range outcomes {
		cells := []string{outcomeName(&outcomes[i])}
		for _, f := range outcomes[i].Figures {
			cells = append(cells, tell(f.Value, lengthOf))
		}
		tb.Row(cells...)
	}
	t.b.WriteString(tb.String())
	t.printf("\n")
	t.changes(outcomes[1:], trust, tell)
	if trust.NoThroughput != "" {
		t.note("Throughput is not told: %s.", trust.NoThroughput)
	}
	t.leftOut(outcomes)
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
func (t *replayText) changes(outcomes []replay.Outcome, trust *replay.Trust, tell func(replay.Range, func(float64) string) string) {
	tb := t.table("Lrrrrr", "change", "p50", "p90", "p99", "mean", "throughput")
	for i := range outcomes {
		o := &outcomes[i]
		cells := []string{outcomeName(o)}
		for _, f := range o.Figures {
			cells = append(cells, tell(f.Change, signedPercent))
		}
		if trust.NoThroughput == "" && o.Finished() {
			cells = append(cells, tell(o.Throughput, func(v float64) string { return signedPercent(v - 1) }))
		} else {
			cells = append(cells, "not told")
		}
		tb.Row(cells...)
	}
	t.b.WriteString(tb.String())
}

// whatIfPreface says what variants are compared with and how they are to be read.
func whatIfPreface(x *replay.Result, trust *replay.Trust) string {
	s := fmt.Sprintf("The same work without the goroutines that write the trace; changes are against its simulation under the recorded schedule. In parentheses: over %s and the ways to serve waits.",
		textui.Plural(x.Seeds, "seed"))
	if len(trust.Intervals) > 0 {
		s = fmt.Sprintf("The same work without the goroutines that write the trace; changes are against its simulation under the recorded schedule. Intervals are over %s and the ways to serve waits.",
			textui.Plural(x.Seeds, "seed"))
	}
	s += fmt.Sprintf(" In-sample error: W1 is %s of the mean wait.", plainPercent(x.All.Relative().Mid))
	return s
}

// outcomeName names a variant, or the baseline.
func outcomeName(o *replay.Outcome) string {
	if o.Name == "" {
		return "as recorded"
	}
	return o.Name
}

// bounds shows what no schedule could be faster than.
func (t *replayText) bounds() {
	if len(t.x.Bounds) == 0 {
		return
	}
	t.printf("\n")
	tb := t.table("Lrrrrrrr", "bound", "cores", "work", "longest chain", "at least", "at most", "recorded", "lost")
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
	t.note("at least: no schedule takes less. At most: what a scheduler takes that costs nothing and lets nobody wait while a core is idle. lost: what the recording took beyond that, certainly to scheduling or the operating system; 0 proves nothing.")
	for i := range t.x.Bounds {
		if b := &t.x.Bounds[i]; b.Unsound > 0 {
			t.note("In %d of %s not all chains could be followed; at most and lost leave them out.", b.Unsound, textui.Plural(b.Windows, "window"))
			break
		}
	}
}
