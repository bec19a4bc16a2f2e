package analyze_test

import (
	"testing"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model/ingest"
)

// TestPathologiesOfWindows looks at parts of fixtures: no case is longer than the part,
// and no wait longer than those that are counted.
func TestPathologiesOfWindows(t *testing.T) {
	const ms = 1_000_000
	cases := 0
	for _, name := range append(fixtures.Chosen(fixtures.Names()), "starve.go1.26.p1.trace", "oneproc.go1.26.p1.trace", "generations.go1.26.p4.trace") {
		whole := read(t, name)
		if whole == nil || whole.Totals.Span < 20*ms {
			continue
		}
		span := whole.Totals.Span
		for _, w := range []ingest.Options{{From: span / 5, To: span / 2}, {From: span / 2, To: span * 3 / 4}, {From: span - 10*ms}} {
			r := readWith(t, name, analyze.Options{}, w)
			if r == nil {
				continue
			}
			l := r.Latency
			for _, p := range r.Pathologies.Found() {
				cases++
				if p.Worst > r.Totals.Span {
					t.Errorf("%s from %d to %d: %s, worst case %d in a window of %d", name, w.From, w.To, p.Name, p.Worst, r.Totals.Span)
				}
				longest := l.All.Max()
				if p.Name == "global-queue-aging" { // those that still wait at the end are
					longest = max(longest, l.Censored.AtStart.Max, l.Censored.AtEnd.Max)
				}
				if p.Name != "frozen-process" && p.Name != "cpu-throttling" && p.Worst > longest {
					t.Errorf("%s from %d to %d: %s, worst case %d, longest wait %d", name, w.From, w.To, p.Name, p.Worst, longest)
				}
			}
		}
	}
	if cases < 3 {
		t.Errorf("only %d pathologies in all windows", cases)
	}
}
