package chart

import (
	"image"
	"math"

	"github.com/schedscope/schedscope/internal/dist"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// heatPair are the heat maps of both sides of a comparison: on the same axes, with cells of
// the same size, in the colours of one scale.
type heatPair struct {
	sides  [2]heatSide // candidate below
	span   float64     // of the time axis, in ns
	single bool        // a trace a side
	limit  float64     // log10 of ns; 0: none
}

// heatSide is one of them.
type heatSide struct {
	name, note string
	traces     float64
	span       float64 // where the longest recording ends, in ns
	heat       heatmap
	worst      float64 // length of the longest wait, in ns
}

func newHeatPair(c *Comparison) *heatPair {
	p := &heatPair{single: len(c.Base.Recordings) <= 1 && len(c.Cand.Recordings) <= 1}
	if c.Limit > 0 {
		p.limit = log10ns(float64(c.Limit))
	}
	width := 0.0
	for i, s := range []*Side{&c.Base, &c.Cand} {
		h := &p.sides[i]
		*h = newHeatSide(s, []string{"old", "new"}[i])
		p.span = max(p.span, h.span)
		width = max(width, h.heat.dx)
	}
	for i := range p.sides {
		h := &p.sides[i].heat
		if h.dx > 0 {
			*h = h.merged(int(math.Round(width/h.dx)), 1)
		}
	}
	return p
}

// newHeatSide lays the heat maps of a side's recordings on top of each other.
func newHeatSide(s *Side, otherwise string) heatSide {
	h := heatSide{name: sideName(s.Name, otherwise), traces: float64(max(1, len(s.Recordings))), span: s.span()}
	width := 0.0
	for _, r := range s.Recordings {
		width = max(width, r.heat.dx)
	}
	for _, r := range s.Recordings {
		if r.heat.dx > 0 {
			h.heat = h.heat.plus(r.heat.merged(int(math.Round(width/r.heat.dx)), 1))
		}
	}
	d := s.pooled()
	h.note = s.size()
	if d.Count() > 0 {
		h.note += spreadNote(d)
		h.worst = float64(d.Max())
	}
	return h
}

// spreadNote tells percentiles.
func spreadNote(d *dist.Dist) string {
	q := d.Quantiles(0.5, 0.99)
	return "; p50 " + durationLabel(float64(q[0])) + ", p99 " + durationLabel(float64(q[1])) + ", max " + durationLabel(float64(d.Max()))
}

// plus returns the sum of heat maps of equal cells that begin at the same time.
func (h heatmap) plus(o heatmap) heatmap {
	if h.cols < o.cols {
		h, o = o, h
	}
	sum := h
	sum.count = append([]uint32(nil), h.count...)
	for i, n := range o.count { // columns are one after the other
		sum.count[i] += n
	}
	return sum
}

// latencyRange returns the ends of the latency axis.
func (p *heatPair) latencyRange() (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for i := range p.sides {
		if l, h, ok := p.sides[i].heat.usedRows(); ok {
			lo, hi = min(lo, l), max(hi, h)
		}
	}
	if p.limit > 0 {
		lo, hi = min(lo, p.limit), max(hi, p.limit)
	}
	return widen(lo, hi, 0.5, 1.5)
}

// draw draws both, the base above the candidate.
func (p *heatPair) draw(c canvas) {
	lo, hi := p.latencyRange()
	x := axis{0, p.span, linearTicks(0, p.span, int(c.width()/70), clockLabel)}
	var scale *pairScale
	var panels []panel
	for i := range p.sides {
		h := &p.sides[i]
		panels = append(panels, panel{
			heading: h.name, note: h.note, weight: 1,
			y: func(height vg.Length) axis { return axis{lo, hi, logTicks(lo, hi, int(height/16), durationLabel)} },
			draw: func(f frame) {
				if scale == nil {
					scale = p.newScale(f)
				}
				h.draw(f, scale)
				f.limitLine(p.limit)
				if i == 0 {
					scale.drawBar(f, p.single)
				}
			},
		})
	}
	clock := "time since the beginning of each window"
	c.drawPanels(x, clock, scaleRoom, panels)
}

// pairScale says how the cells of both heat maps are drawn: how many of the counted ones
// become one, and what colour a number of waits has.
type pairScale struct {
	kx, ky int
	most   float64 // waits in a cell, mean over a side's traces
	least  float64 // that occur: one wait of the side with most traces
}

// newScale decides on cells by the size of a frame; both frames are equal.
func (p *heatPair) newScale(f frame) *pairScale {
	s := &pairScale{kx: 1, ky: 1, least: 1}
	var waits uint64
	var cells heatmap
	for i := range p.sides {
		h := &p.sides[i]
		n, _ := h.heat.total()
		waits = max(waits, n)
		if n > 0 {
			cells = h.heat
			s.least = min(s.least, 1/h.traces)
		}
	}
	if cells.dx > 0 {
		s.kx, s.ky = mergeBy(waits, cells.dx, f.x, f.width()), mergeBy(waits, cells.dy, f.y, f.height())
	}
	for i := range p.sides {
		h := &p.sides[i]
		_, most := h.heat.merged(s.kx, s.ky).total()
		s.most = max(s.most, float64(most)/h.traces)
	}
	return s
}

// shade returns where a number of waits lies on the colour scale, by logarithm; see
// [heatPlot.shade].
func (s *pairScale) shade(n float64) float64 {
	const few = 30
	return math.Log(n/s.least) / math.Log(max(s.most/s.least, few))
}

// draw paints a side's cells into its frame, and hatches what is after its end.
func (h *heatSide) draw(f frame, s *pairScale) {
	m := h.heat.merged(s.kx, s.ky)
	f.raster(func(img *image.NRGBA, w, height int) {
		for x := range w {
			at := f.x.value((float64(x) + 0.5) / float64(w))
			for y := range height {
				if n := m.cellAt(at, f.y.value(1-(float64(y)+0.5)/float64(height))); n > 0 {
					img.SetNRGBA(x, y, heatColour(s.shade(float64(n)/h.traces)))
				}
			}
		}
	})
	h.end(f)
	if h.worst == 0 {
		f.notice(noWaits)
	}
}

// end hatches what is after the end of the side's longest trace.
func (h *heatSide) end(f frame) {
	x := f.px(h.span)
	if f.Max.X-x < 2 {
		return
	}
	rest := f.canvas
	rest.Min.X = max(x, f.Min.X)
	rest.hatch(faint, 4)
	f.stroke(line(0.6, grey), rest.Min.X, f.Min.Y, rest.Min.X, f.Max.Y)
	sty := aligned(style(smallSize, slate), text.XLeft, text.YTop)
	f.say(sty, rest.Min.X+5, f.Max.Y-5, fit(sty, "ends at "+durationLabel(h.span), f.Max.X-rest.Min.X-6))
}

// drawBar draws the colour scale beside a frame.
func (s *pairScale) drawBar(f frame, single bool) {
	const bar, gap = 8, 10
	title := "waits per cell"
	if !single {
		title = "waits per cell and trace"
	}
	f.say(aligned(style(smallSize, slate), text.XRight, text.YBottom), f.Max.X+scaleRoom, f.Max.Y+7, title)
	if s.most <= 0 {
		return
	}
	strip := f.canvas
	strip.Min.X, strip.Max.X = f.Max.X+12, f.Max.X+12+bar
	strip.raster(func(img *image.NRGBA, w, h int) {
		for y := range h {
			col := heatColour(s.shade(s.most) * (1 - (float64(y)+0.5)/float64(h)))
			for x := range w {
				img.SetNRGBA(x, y, col)
			}
		}
	})
	sty := aligned(style(smallSize, ink), text.XLeft, text.YCenter)
	x, top := strip.Max.X+4, f.Max.Y-2
	f.say(sty, x, top, shortCount(s.most))
	free := f.Min.Y - gap
	say := func(n float64) {
		if y := f.Min.Y + f.height()*vg.Length(s.shade(n)/s.shade(s.most)); y-free >= gap && top-y >= gap {
			f.say(sty, x, y, shortCount(n))
			free = y
		}
	}
	say(s.least)
	for n := math.Pow10(int(math.Ceil(math.Log10(s.least)))); n < s.most; n *= 10 {
		say(n)
	}
}
