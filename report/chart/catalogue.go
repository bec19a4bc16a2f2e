package chart

import (
	"fmt"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"gonum.org/v1/plot/vg"
)

// Kind is an entry of a catalogue: a picture, or a family of pictures.
type Kind struct {
	Name string // as in Picture.Name; of a family, what its names begin with
	Doc  string // one line: the question that it answers
}

// Catalogue returns all kinds of pictures of a report, the most useful first.
func Catalogue() []Kind {
	return []Kind{
		{"dashboard", "when goroutines waited, and what procs and run queues did at that time"},
		{"causes", "to what the waiting was lost, over time: other goroutines, idle procs, GC, the system"},
		{"spectrum", "how bad the waits are: latency by percentile, all and by origin"},
		{"blame", "which functions kept goroutines waiting, as a flame graph"},
		{"requests", "why the slowest requests are slow: what they have that others have not, and the path of one"},
		{"wait", "why the worst waits were long: what every proc did meanwhile, one picture for each incident"},
	}
}

// Input is the data that pictures show.
type Input struct {
	Report *result.Report // must not be changed any more
	// Histories are what every proc did during the longest waits, which a report does not
	// contain: nil if the trace was not read again.
	Histories *Histories
}

// All returns every picture of the catalogue, in its order, except that requests come first if the first item is
// about slow ones: the others show waits to run.
func All(in *Input) []*Picture {
	list, slow := []*Picture{in.dashboard(), in.causes(), in.spectrum(), in.blame()}, in.requests()
	at := len(list)
	item := slices.IndexFunc(in.Report.Findings, func(f result.Finding) bool { return f.Title != "" })
	if item >= 0 && in.Report.Findings[item].Kind == "slow-requests" && slow.Missing == "" {
		at = 0
	}
	return append(slices.Insert(list, at, slow), in.waits()...)
}

// picture returns a picture of the whole report, or of what is missing. The
// subtitle says of which trace, how many waits, how long, how many procs.
func (in *Input) picture(name, title string, height vg.Length, missing string, draw func(canvas)) *Picture {
	r := in.Report
	subtitle := fmt.Sprintf("%s in %s, %s", textui.Plural(r.Latency.All.Count, "wait"),
		durationLabel(float64(r.Totals.Span)), textui.Plural(r.Totals.Procs, "proc"))
	if n := len(r.Traces); n > 1 {
		subtitle += ", " + textui.Plural(n, "trace")
	}
	if s := in.source(); s != "" {
		subtitle = s + ": " + subtitle
	}
	return newPicture(name, title, subtitle, height, missing, draw)
}

// source names the traces in few words.
func (in *Input) source() string {
	return printable(textui.FirstOf(result.Each(in.Report.Traces, func(t *result.Trace) string { return t.Name })))
}

// timeAxis returns the axis of when things happened, as wide as that, and its title. Several
// traces lie on top of each other.
func (in *Input) timeAxis(width vg.Length) (axis, string) {
	s, title := &in.Report.Series, "time since the beginning of the trace"
	lo, hi := float64(s.Start), float64(s.Start)+float64(in.Report.Totals.Span)
	if len(in.Report.Traces) > 1 {
		title = "time since the beginning of each trace"
		hi = lo + float64(s.Width)*float64(len(s.Covered))
	}
	return axis{lo, hi, linearTicks(lo, hi, int(width/70), clockLabel)}, title
}
