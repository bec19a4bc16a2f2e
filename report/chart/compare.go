package chart

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// Recording is what pictures of a comparison take from the report of one trace.
type Recording struct {
	span  float64 // ns
	waits *dist.Dist
	heat  heatmap // from 0 on
}

// NewRecording returns what is needed of a report.
func NewRecording(r *result.Report) *Recording {
	x := &Recording{span: float64(r.Totals.Span), waits: r.Latency.All.Values(), heat: heatOf(&r.Heat)}
	x.heat.x0 = 0
	if x.waits == nil {
		x.waits = &dist.Dist{}
	}
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

// ComparisonCatalogue returns the kinds of pictures of comparisons, the most useful first.
func ComparisonCatalogue() []Kind {
	return []Kind{
		{"compare", "both of the following above each other"},
		{"spectra", "which waits became longer: latency by percentile of both sides over each other"},
		{"heats", "when and how: latency over time of both sides, in the same colours"},
	}
}

// compareTitle is the title of all pictures of comparisons.
const compareTitle = "Scheduling latency compared"

// Pictures returns every picture of the catalogue, in its order.
func (c *Comparison) Pictures() []*Picture {
	base, cand := c.Base.pool("old"), c.Cand.pool("new")
	missing := ""
	if base.waits.Count()+cand.waits.Count() == 0 {
		missing = noWaits
	}
	scope := "The waits of all traces of a side together: for looking, not for a verdict."
	if len(c.Base.Recordings) < 2 || len(c.Cand.Recordings) < 2 {
		scope = "A side of one process does not show by how much processes differ: differences may be chance."
	}
	picture := func(name string, height vg.Length, draw func(canvas)) *Picture {
		return newPicture(name, compareTitle, cand.name+" against "+base.name, height, missing, func(at canvas) { draw(at.caption(scope)) })
	}
	s, h := newSpectra(base, cand, c.Limit), newHeatPair(base, cand, c.Limit)
	return []*Picture{
		picture("compare", 800, func(at canvas) {
			const gap = 14
			upper := at.height() * 0.47
			s.draw(at.inset(0, 0, at.height()-upper+gap, 0))
			h.draw(at.inset(0, 0, 0, upper))
		}),
		picture("spectra", 440, s.draw),
		picture("heats", 460, h.draw),
	}
}

// pool is the recordings of a side together.
type pool struct {
	name, size string // the latter says of how much it is made: "10 traces, 12,345 waits"
	note       string // size and percentiles
	recordings []*Recording
	span       float64 // of the longest, in ns
	waits      *dist.Dist
	heat       heatmap
}

// pool puts the recordings of a side together, their heat maps on top of each other. The
// name is short enough to stand in a line with others.
func (s *Side) pool(otherwise string) *pool {
	const longestName = 28
	p := &pool{name: textui.Shorten(printable(s.Name), longestName), recordings: s.Recordings, waits: &dist.Dist{}}
	if p.name == "" {
		p.name = otherwise
	}
	var maps []*heatmap
	for _, r := range s.Recordings {
		p.span = max(p.span, r.span)
		p.waits.Merge(r.waits)
		h := r.heat
		maps = append(maps, &h)
	}
	sameCells(maps...)
	for _, h := range maps {
		if h.cols > p.heat.cols {
			*h, p.heat = p.heat, *h
		}
		for i, n := range h.count { // columns are one after the other
			p.heat.count[i] += n
		}
	}
	p.heat.traces = float64(max(1, len(maps)))
	p.size = textui.Plural(p.waits.Count(), "wait")
	if n := len(maps); n != 1 {
		p.size = textui.Plural(n, "trace") + ", " + p.size
	}
	p.note = p.size
	if p.waits.Count() > 0 {
		q := p.waits.Quantiles(0.5, 0.99, 1)
		p.note += fmt.Sprintf("; p50 %s, p99 %s, max %s", durationLabel(float64(q[0])), durationLabel(float64(q[1])), durationLabel(float64(q[2])))
	}
	return p
}

// sameCells merges columns so that all heat maps have columns of the same width.
func sameCells(maps ...*heatmap) {
	width := 0.0
	for _, h := range maps {
		width = max(width, h.dx)
	}
	for _, h := range maps {
		if h.dx > 0 {
			*h = h.merged(int(math.Round(width/h.dx)), 1)
		}
	}
}

// newSpectra returns the percentile spectra of both sides of a comparison.
func newSpectra(base, cand *pool, limit model.Duration) *spectrum {
	n := min(base.waits.Count(), cand.waits.Count())
	s := compareCurves(newCurve(cand.name, blue, cand.waits.Count(), cand.waits), newCurve(base.name, slate, base.waits.Count(), base.waits),
		n, cand.waits, base.waits)
	s.legend = []entry{{name: cand.name + ": " + cand.size, col: blue, mark: markLine}, {name: base.name + ": " + base.size, col: slate, mark: markDash}}
	over, under := s.differ()
	if over {
		s.legend = append(s.legend, entry{name: cand.name + " is longer", col: longer})
	}
	if under {
		s.legend = append(s.legend, entry{name: cand.name + " is shorter", col: shorter})
	}
	for _, p := range []*pool{base, cand} {
		col := blue
		if p == base {
			col = slate
		}
		if b := bandOf(p.recordings); len(b.least) > 0 {
			b.col = color.NRGBA{col.R, col.G, col.B, 0x2c}
			s.bands = append(s.bands, b)
			s.legend = append(s.legend, entry{name: "single traces of " + p.name, col: mix(white, col, 0.22)})
		}
	}
	if limit > 0 {
		s.limit = log10ns(float64(limit))
		s.limitNote = fmt.Sprintf("limit %s: longer are %s of %s, %s of %s", durationLabel(float64(limit)),
			beyond(base.waits, limit), base.name, beyond(cand.waits, limit), cand.name)
	}
	return s
}

// beyond returns the part of waits longer than a limit, in percent.
func beyond(d *dist.Dist, limit model.Duration) string {
	n := int64(0)
	d.Each(func(v model.Duration, count int64) {
		if v > limit {
			n += count
		}
	})
	return textui.Ratio(n, d.Count())
}

// bandOf returns the least and the most of recordings at each percentile, up to where at
// least half of them, and two, reach; there is none of fewer.
func bandOf(rs []*Recording) quantileBand {
	rs = slices.DeleteFunc(slices.Clone(rs), func(r *Recording) bool { return r.waits.Count() == 0 })
	slices.SortFunc(rs, func(a, b *Recording) int { return cmp.Compare(b.waits.Count(), a.waits.Count()) })
	reach := func(r *Recording) float64 { return math.Log10(float64(r.waits.Count())) }
	var b quantileBand
	if len(rs) < 2 {
		return b
	}
	end := reach(rs[max(2, (len(rs)+1)/2)-1])
	for k, r := range rs {
		for i, p := range sampled(end, r.waits) {
			if k == 0 {
				b.least, b.most = append(b.least, p), append(b.most, p)
			} else if p.x <= reach(r)+1e-9 {
				b.least[i].y, b.most[i].y = min(b.least[i].y, p.y), max(b.most[i].y, p.y)
			}
		}
	}
	return b
}

// heatPair are the heat maps of both sides of a comparison: on the same axes, with cells of
// the same size, in the colours of one scale.
type heatPair struct {
	sides [2]*pool // candidate below
	maps  [2]heatmap
	limit float64 // log10 of ns; 0: none
}

func newHeatPair(base, cand *pool, limit model.Duration) *heatPair {
	p := &heatPair{sides: [2]*pool{base, cand}, maps: [2]heatmap{base.heat, cand.heat}}
	if limit > 0 {
		p.limit = log10ns(float64(limit))
	}
	sameCells(&p.maps[0], &p.maps[1])
	return p
}

// draw draws both, the base above the candidate.
func (p *heatPair) draw(c canvas) {
	var shown []float64
	if p.limit > 0 {
		shown = append(shown, p.limit)
	}
	lo, hi := latencyRange(p.maps[:], shown...)
	end, title := max(p.sides[0].span, p.sides[1].span), "waits per cell"
	if len(p.sides[0].recordings) > 1 || len(p.sides[1].recordings) > 1 {
		title = "waits per cell and trace"
	}
	var scale *heatScale // that of the first frame, which is as large as the other
	var panels []panel
	for i, side := range p.sides {
		panels = append(panels, panel{
			heading: side.name, note: side.note, weight: 1,
			y: func(height vg.Length) axis { return axis{lo, hi, logTicks(lo, hi, int(height/16), durationLabel)} },
			draw: func(f frame) {
				if i == 0 {
					scale = newHeatScale(f, p.maps[:]...)
					scale.drawBar(f, title)
				}
				scale.draw(f, p.maps[i])
				f.endAt(side.span)
				if side.waits.Count() == 0 {
					f.notice(noWaits)
				}
				f.limitLine(p.limit)
			},
		})
	}
	x := axis{0, end, linearTicks(0, end, int(c.width()/70), clockLabel)}
	c.drawPanels(x, "time since the beginning of each window", scaleRoom, panels)
}

// endAt hatches what is after the end of the longest trace.
func (f frame) endAt(end float64) {
	x := f.px(end)
	if f.Max.X-x < 2 {
		return
	}
	rest := f.canvas
	rest.Min.X = max(x, f.Min.X)
	rest.hatch(faint, 4)
	f.stroke(line(0.6, grey), rest.Min.X, f.Min.Y, rest.Min.X, f.Max.Y)
	sty := aligned(style(smallSize, slate), text.XLeft, text.YTop)
	f.say(sty, rest.Min.X+5, f.Max.Y-5, fit(sty, "ends at "+durationLabel(end), f.Max.X-rest.Min.X-6))
}
