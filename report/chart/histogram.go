package chart

import (
	"image/color"
	"math"
	"slices"

	"github.com/schedscope/schedscope/internal/textui"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// binsPerDecade is the resolution of histograms: bins 17 % wide show modes and
// do not break them up.
const binsPerDecade = 15

// histogram counts waits in bins of equal width in log10 of nanoseconds: bin i
// begins at 10^(i/binsPerDecade) ns.
type histogram struct {
	name     string
	col      color.NRGBA
	n        int64
	p50, p99 float64 // ns
	count    []int64
}

// binOf returns the bin of a length of time.
func binOf(ns float64) int {
	return int(math.Floor(log10ns(ns)*binsPerDecade + 1e-9))
}

// add counts n waits of this length.
func (h *histogram) add(ns float64, n int64) {
	i := binOf(ns)
	for len(h.count) <= i {
		h.count = append(h.count, 0)
	}
	h.count[i] += n
	h.n += n
}

// newHistogram returns the picture of histograms below each other, each with
// its own heading; they share both axes, so that heights can be compared. What
// is omitted is said behind the title of the axis.
func newHistogram(title, subtitle string, hs []histogram, omitted string) *Picture {
	hs = slices.Clone(hs)
	p := &Picture{Name: "histogram", Title: title, width: 760, height: vg.Length(120 + 78*max(len(hs), 2))}
	p.draw = func(c canvas) {
		c = c.page(title, subtitle)
		if len(hs) == 0 || hs[0].n == 0 {
			c.notice(noWaits)
			return
		}
		lo, hi, top := histogramRange(hs)
		x := axis{lo, hi, logTicks(lo, hi, int(c.width()/52), durationLabel)}
		var ps []panel
		for _, h := range hs {
			ps = append(ps, h.panel(top))
		}
		c.drawPanels(x, "scheduling latency; heights: waits per bin, 15 bins per decade"+omitted, 4, ps)
	}
	return p
}

// histogramRange returns the range of latencies that hold waits, in log10 of
// ns, and the greatest count of any bin.
func histogramRange(hs []histogram) (lo, hi float64, top int64) {
	first, last := math.MaxInt, 0
	for _, h := range hs {
		for i, n := range h.count {
			if n > 0 {
				first, last, top = min(first, i), max(last, i), max(top, n)
			}
		}
	}
	lo, hi = widen(float64(first)/binsPerDecade, float64(last+1)/binsPerDecade, 0.5, 1.5)
	return lo, hi, top
}

// leastShown is where the logarithmic count axis begins, so that a bin of one
// wait is visible.
const leastShown = 0.5

// panel draws the histogram on a logarithmic count axis that ends above top:
// a tail of ten waits is as visible as a body of a million.
func (h histogram) panel(top int64) panel {
	lo, hi := math.Log10(leastShown), math.Log10(float64(top))
	note := textui.Plural(h.n, "wait")
	if h.n > 0 {
		note += ", p50 " + durationLabel(h.p50)
	}
	if h.n >= 100*enoughBeyond {
		note += ", p99 " + durationLabel(h.p99)
	}
	return panel{
		heading: h.name,
		note:    note,
		weight:  1,
		y: func(height vg.Length) axis {
			hi := lo + (hi-lo)/(1-percentileRoom/max(float64(height), 3*percentileRoom))
			return axis{lo, hi, majorOnly(logTicks(0, hi, int(height/14), shortCount))}
		},
		draw: func(f frame) { h.draw(f) },
	}
}

// majorOnly returns the ticks that have labels.
func majorOnly(ts []tick) []tick {
	return slices.DeleteFunc(ts, func(t tick) bool { return t.label == "" })
}

// draw draws the bars and the lines at the percentiles.
func (h histogram) draw(f frame) {
	for i, n := range h.count {
		if n == 0 {
			continue
		}
		x0 := f.snap(f.px(float64(i) / binsPerDecade))
		x1 := f.snap(f.px(float64(i+1) / binsPerDecade))
		f.fill(h.col, x0, f.Min.Y, x1-0.5, f.py(math.Log10(float64(n))))
	}
	if h.n >= 100*enoughBeyond {
		f.percentile("p99", h.p99, text.XLeft)
	}
	f.percentile("p50", h.p50, text.XRight)
}

// percentileRoom is the height above the bars for the names of percentiles.
const percentileRoom = 10

// percentile draws a line through the frame at a length of time, and its name
// above the bars: at the right of the line, or at its left if aligned right and
// there is room.
func (f frame) percentile(name string, ns float64, side text.XAlignment) {
	x := f.px(log10ns(ns))
	f.stroke(dashed(0.8, ink), x, f.Min.Y, x, f.Max.Y)
	sty := aligned(style(smallSize, ink), side, text.YTop)
	at := x + 3
	if side == text.XRight {
		at = x - 3
		if at-sty.Width(name) < f.Min.X {
			sty.XAlign, at = text.XLeft, x+3
		}
	}
	f.say(sty, at, f.Max.Y, name)
}
