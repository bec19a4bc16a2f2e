package chart

import (
	"image/color"
	"math"

	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// spectra are the percentile spectra of both sides of a comparison.
type spectra struct {
	base, cand curve
	a, b       []point // of candidate and base, at the same places as far as both reach
	// bands of single recordings; empty if there are few.
	baseBand, candBand quantileBand
	limit              float64 // log10 of ns; 0: none
	limitNote          string
	names              [2]string // of base and candidate
	sizes              [2]string
}

// quantileBand is the least and the most of the quantiles of several recordings.
type quantileBand struct{ least, most []point }

func newSpectra(c *Comparison) *spectra {
	base, cand := c.Base.pooled(), c.Cand.pooled()
	s := &spectra{
		names: [2]string{sideName(c.Base.Name, "old"), sideName(c.Cand.Name, "new")},
		sizes: [2]string{c.Base.size(), c.Cand.size()},
	}
	s.base = newCurve(s.names[0], slate, base.Count(), base.Quantiles)
	s.cand = newCurve(s.names[1], blue, cand.Count(), cand.Quantiles)
	// What fewer waits lie beyond differs by accident: it is not shaded.
	if n := min(base.Count(), cand.Count()); n > enoughBeyond {
		end := math.Log10(float64(n) / enoughBeyond)
		s.a, s.b = sampled(end, cand.Quantiles), sampled(end, base.Quantiles)
	}
	s.baseBand, s.candBand = bandOf(c.Base.Recordings), bandOf(c.Cand.Recordings)
	if c.Limit > 0 {
		s.limit = log10ns(float64(c.Limit))
		s.limitNote = "limit " + durationLabel(float64(c.Limit)) + ": longer are " +
			beyond(base, float64(c.Limit)) + " of " + s.names[0] + ", " + beyond(cand, float64(c.Limit)) + " of " + s.names[1]
	}
	return s
}

// beyond returns the part of waits longer than a limit, in percent.
func beyond(d *dist.Dist, limit float64) string {
	n := int64(0)
	d.Each(func(v model.Duration, count int64) {
		if float64(v) > limit {
			n += count
		}
	})
	return textui.Ratio(n, d.Count())
}

// bandOf returns the band of recordings as far as at least half of them, and two, reach.
func bandOf(rs []*Recording) quantileBand {
	var ends []float64
	for _, r := range rs {
		if n := r.waits.Count(); n > 0 {
			ends = append(ends, math.Log10(float64(n)))
		}
	}
	if len(ends) < 2 {
		return quantileBand{}
	}
	order := sortedIndex(len(ends), func(a, b int) bool { return ends[a] > ends[b] })
	end := ends[order[max(2, (len(ends)+1)/2)-1]]
	var b quantileBand
	for _, r := range rs {
		if r.waits.Count() > 0 {
			b.add(sampled(end, r.waits.Quantiles), math.Log10(float64(r.waits.Count())))
		}
	}
	return b
}

// add widens the band to hold the points of a recording as far as it reaches.
func (b *quantileBand) add(ps []point, end float64) {
	if b.least == nil {
		for _, p := range ps {
			b.least = append(b.least, point{p.x, math.Inf(1)})
			b.most = append(b.most, point{p.x, math.Inf(-1)})
		}
	}
	for i, p := range ps {
		if p.x <= end+1e-9 {
			b.least[i].y, b.most[i].y = min(b.least[i].y, p.y), max(b.most[i].y, p.y)
		}
	}
}

// Colours of a comparison: what the candidate does worse and better, and bands.
var (
	worse    = excess
	better   = color.NRGBA{0xC9, 0xE7, 0xD8, 0xff}
	baseBand = color.NRGBA{0x66, 0x66, 0x66, 0x2c}
	candBand = color.NRGBA{0x00, 0x72, 0xB2, 0x2c}
)

// ends returns the ranges of both axes.
func (s *spectra) ends() (lo, hi, end float64) {
	lo, hi, end = math.Inf(1), math.Inf(-1), 1.0
	for _, ps := range [][]point{s.base.solid, s.base.tail, s.cand.solid, s.cand.tail, s.baseBand.least, s.baseBand.most, s.candBand.least, s.candBand.most} {
		for _, p := range ps {
			lo, hi, end = min(lo, p.y), max(hi, p.y), max(end, p.x)
		}
	}
	if s.limit > 0 {
		lo, hi = min(lo, s.limit), max(hi, s.limit)
	}
	// The label of the longest wait stands above it.
	const room = 0.09
	lo, hi = widen(lo, hi+max(0.1, room*(hi-lo)), 0.5, 1.5)
	return lo, hi, end
}

func (s *spectra) draw(c canvas) {
	const legendRoom, noteRoom = 16, 26
	c.legend(c.Min.X, c.Max.Y-12, []entry{
		{name: s.names[1] + ": " + s.sizes[1], col: blue, mark: markLine},
		{name: s.names[0] + ": " + s.sizes[0], col: slate, mark: markDash},
	})
	var es []entry
	over, under := differ(s.a, s.b)
	if over {
		es = append(es, entry{name: s.names[1] + " is longer", col: worse})
	}
	if under {
		es = append(es, entry{name: s.names[1] + " is shorter", col: better})
	}
	if len(s.candBand.most) > 0 {
		es = append(es, entry{name: "single traces of " + s.names[1], col: mix(white, blue, 0.22)})
	}
	if len(s.baseBand.most) > 0 {
		es = append(es, entry{name: "of " + s.names[0], col: mix(white, slate, 0.22)})
	}
	c.legend(c.Min.X, c.Max.Y-12-legendRoom, es)
	lo, hi, end := s.ends()
	y := axis{lo, hi, logTicks(lo, hi, int(c.height()/26), durationLabel)}
	f := frame{x: axis{0, end * 1.02, percentileTicks(end)}, y: y}
	f.canvas = c.inset(leftRoom(y), 10, bottomRoom, legendRoom+noteRoom)
	f.areas(s.a, s.b, worse, better)
	f.quantiles(s.baseBand, baseBand)
	f.quantiles(s.candBand, candBand)
	f.grid()
	f.limitLine(s.limit)
	if s.cand.n > 0 {
		f.curve(s.cand, true)
	}
	f.broken(s.base)
	f.labels(s)
	f.leftAxis()
	f.bottomAxis(true)
	f.bottomTitle("percentile of waits; each step to the right leaves a tenth; dotted: fewer than 10 waits lie beyond")
}

// differ reports whether a lies above b anywhere, and below.
func differ(a, b []point) (over, under bool) {
	for i := range a {
		over = over || a[i].y > b[i].y
		under = under || a[i].y < b[i].y
	}
	return over, under
}

// broken draws the curve that is compared with.
func (f frame) broken(cv curve) {
	if cv.n == 0 {
		return
	}
	f.polyline(draw.LineStyle{Color: cv.col, Width: 1.4, Dashes: []vg.Length{5, 3}}, f.points(cv.solid))
	f.polyline(draw.LineStyle{Color: cv.col, Width: 1.1, Dashes: []vg.Length{1.5, 2}}, f.points(cv.tail))
	last := cv.tail[len(cv.tail)-1]
	f.dot(cv.col, f.px(last.x), f.py(last.y), 2.4)
}

// quantiles fills a band.
func (f frame) quantiles(b quantileBand, col color.Color) {
	if len(b.least) < 2 {
		return
	}
	around := f.points(b.most)
	low := f.points(b.least)
	for i := len(low) - 1; i >= 0; i-- {
		around = append(around, low[i])
	}
	f.FillPolygon(col, around)
}

// limitLine draws a line across the frame at the limit, if there is one.
func (f frame) limitLine(limit float64) {
	if limit > 0 {
		f.stroke(line(1.1, vermil), f.Min.X, f.py(limit), f.Max.X, f.py(limit))
	}
}

// limitNote says at the line of the limit how many waits are beyond, at that end where it
// covers least of the curves. It returns the place.
func (f frame) limitNote(s *spectra) []vg.Rectangle {
	if s.limit <= 0 {
		return nil
	}
	sty := style(textSize, vermil)
	note := fit(sty, s.limitNote, f.width()-8)
	w, y := sty.Width(note), f.py(s.limit)
	lines := [][]vg.Point{f.points(s.cand.solid), f.points(s.base.solid), f.points(s.cand.tail), f.points(s.base.tail)}
	box := func(x, y vg.Length) vg.Rectangle {
		return vg.Rectangle{Min: vg.Point{X: x, Y: y}, Max: vg.Point{X: x + w, Y: y + textSize + 2}}
	}
	best := box(f.Min.X+6, y+2)
	for _, b := range []vg.Rectangle{box(f.Max.X-6-w, y+2), box(f.Max.X-6-w, y-textSize-4), box(f.Min.X+6, y-textSize-4)} {
		if b.Max.Y <= f.Max.Y && covered(b, lines) < covered(best, lines) {
			best = b
		}
	}
	f.fill(halo, best.Min.X-2, best.Min.Y, best.Max.X+2, best.Max.Y)
	f.say(aligned(sty, text.XLeft, text.YBottom), best.Min.X, best.Min.Y, note)
	return []vg.Rectangle{best}
}

// labels writes percentiles at both curves: all of the candidate, of the base those that
// find room.
func (f frame) labels(s *spectra) {
	curves := []curve{s.cand, s.base}
	taken := f.percentilesOf(s.cand, curves, f.limitNote(s), s.base.marks)
	f.percentilesOf(s.base, curves, taken, s.cand.marks)
}
