package chart

import (
	"fmt"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/internal/textui"
)

// Kind is an entry of the catalogue: a picture, or a family of pictures, that a
// report can be drawn as.
type Kind struct {
	Name string // as in Picture.Name; of a family, what its names begin with
	Doc  string // one line: the question that it answers
	// Make returns the pictures of a finished report. Source names the trace in
	// the pictures; it may be empty.
	Make func(r *analyze.Report, source string) []*Picture
}

// Catalogue returns all kinds of pictures, the most useful first.
func Catalogue() []Kind {
	one := func(f func(*analyze.Report, string) *Picture) func(*analyze.Report, string) []*Picture {
		return func(r *analyze.Report, source string) []*Picture { return []*Picture{f(r, source)} }
	}
	return []Kind{
		{"dashboard", "when goroutines waited, and what procs and run queues did at that time", one(Dashboard)},
		{"causes", "to what the waiting was lost, over time: other goroutines, idle procs, GC, the system", one(Causes)},
		{"spectrum", "how bad the waits are: latency by percentile, all and by origin", one(Spectrum)},
		{"histogram", "which lengths of waits occur: counts by length for each origin", one(Histogram)},
		{"wait", "why the worst waits were long: what every proc did meanwhile, one picture for each", Waits},
	}
}

// All returns every picture of the catalogue, in its order.
func All(r *analyze.Report, source string) []*Picture {
	var ps []*Picture
	for _, k := range Catalogue() {
		ps = append(ps, k.Make(r, source)...)
	}
	return ps
}

// summary returns the subtitle of pictures of a whole report: which trace, how
// many waits, how long, how many procs.
func summary(r *analyze.Report, source string) string {
	s := fmt.Sprintf("%s in %s, %s", textui.Plural(r.Latency.All.Count(), "wait"),
		durationLabel(float64(r.Totals.Span)), textui.Plural(r.Totals.Procs, "proc"))
	if r.Totals.Traces > 1 {
		s += ", " + textui.Plural(r.Totals.Traces, "trace")
	}
	if source != "" {
		s = printable(source) + ": " + s
	}
	return s
}
