package chart

import (
	"fmt"
	"math"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"gonum.org/v1/plot/vg"
)

// Recording is what pictures of a comparison take from one trace.
type Recording struct {
	span  float64 // ns
	procs int
	waits dist.Dist
	heat  heatmap // from 0 on
}

// NewRecording copies what is needed of a finished report.
func NewRecording(r *analyze.Report) *Recording {
	x := &Recording{span: float64(r.Totals.Span), procs: r.Totals.Procs, heat: heatOf(r.Heat)}
	x.waits.Merge(&r.Latency.All)
	x.heat.x0 = 0
	return x
}

// Side are the recordings of one side of a comparison.
type Side struct {
	Name       string
	Recordings []*Recording
}

// Comparison is what its pictures show.
type Comparison struct {
	Base, Cand Side
	// Limit is drawn as a line, 0 for none.
	Limit model.Duration
}

// ComparisonKind is a picture that a comparison can be drawn as.
type ComparisonKind struct {
	Name string // as in Picture.Name
	Doc  string // one line: the question that it answers
	Make func(*Comparison) *Picture
}

// ComparisonCatalogue returns the pictures of comparisons, the most useful first.
func ComparisonCatalogue() []ComparisonKind {
	return []ComparisonKind{
		{"compare", "both of the following above each other", (*Comparison).both},
		{"spectra", "which waits became longer: latency by percentile of both sides over each other", (*Comparison).spectra},
		{"heats", "when and how: latency over time of both sides, in the same colours", (*Comparison).heats},
	}
}

// Pictures returns every picture of the catalogue, in its order.
func (c *Comparison) Pictures() []*Picture {
	var ps []*Picture
	for _, k := range ComparisonCatalogue() {
		ps = append(ps, k.Make(c))
	}
	return ps
}

// compareTitle is the title of all pictures of comparisons.
const compareTitle = "Scheduling latency compared"

// missingHeight is that of a picture that just says that there is nothing to see.
const missingHeight = minHeight

// picture returns a picture of the comparison.
func (c *Comparison) picture(name string, height vg.Length, draw func(canvas)) *Picture {
	p := &Picture{Name: name, Title: compareTitle, width: 760, height: height}
	subtitle := fmt.Sprintf("%s against %s", sideName(c.Cand.Name, "new"), sideName(c.Base.Name, "old"))
	if c.Base.count()+c.Cand.count() == 0 {
		p.Missing, p.height = noWaits, missingHeight
		p.draw = func(c canvas) { c.page(p.Title, subtitle).notice(noWaits) }
		return p
	}
	p.draw = func(at canvas) { draw(at.page(p.Title, subtitle).caption(c.scope())) }
	return p
}

// scope says what the picture can and cannot show.
func (c *Comparison) scope() string {
	if len(c.Base.Recordings) < 2 || len(c.Cand.Recordings) < 2 {
		return "A side of one process does not show by how much processes differ: differences may be chance."
	}
	return "The waits of all traces of a side together: for looking, not for a verdict."
}

func (c *Comparison) spectra() *Picture {
	s := newSpectra(c)
	return c.picture("spectra", 440, s.draw)
}

func (c *Comparison) heats() *Picture {
	h := newHeatPair(c)
	return c.picture("heats", 460, h.draw)
}

// both returns the picture that has all.
func (c *Comparison) both() *Picture {
	s, h := newSpectra(c), newHeatPair(c)
	return c.picture("compare", 800, func(at canvas) {
		const gap = 14
		upper := at.height() * 0.47
		s.draw(at.inset(0, 0, at.height()-upper+gap, 0))
		h.draw(at.inset(0, 0, 0, upper))
	})
}

// count returns the number of waits.
func (s *Side) count() int64 {
	n := int64(0)
	for _, r := range s.Recordings {
		n += r.waits.Count()
	}
	return n
}

// pooled returns the waits of all recordings together.
func (s *Side) pooled() *dist.Dist {
	all := &dist.Dist{}
	for _, r := range s.Recordings {
		all.Merge(&r.waits)
	}
	return all
}

// span returns the length of the longest recording, in ns.
func (s *Side) span() float64 {
	span := 0.0
	for _, r := range s.Recordings {
		span = math.Max(span, r.span)
	}
	return span
}

// size says of how much a side is made: "10 traces, 12,345 waits".
func (s *Side) size() string {
	size := textui.Plural(s.count(), "wait")
	if n := len(s.Recordings); n != 1 {
		size = textui.Plural(n, "trace") + ", " + size
	}
	return size
}

// sideName returns the name of a side, short enough to stand in a line with others.
func sideName(name, otherwise string) string {
	const most = 28
	if name = printable(name); name == "" {
		name = otherwise
	}
	return textui.Shorten(name, most)
}
