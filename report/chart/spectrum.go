package chart

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/internal/textui"
)

// spectrum is some distributions by percentile.
type spectrum struct {
	curves []curve // the first is the matter
	named  bool    // the others are named at the right; else the second one is compared with
	legend []entry
	note   string // behind the title of the axis
	// Of a comparison: the first and the second curve at the same places, and bands of
	// single recordings.
	a, b  []point
	bands []quantileBand
	// limit is log10 of ns, 0 if there is none; limitNote is written at its line.
	limit     float64
	limitNote string
	of        string // what there is a distribution of; "": waits
}

// curve is one distribution of a spectrum: x is -log10(1-q), y is log10 of the quantile in
// nanoseconds.
type curve struct {
	name string
	col  color.NRGBA
	// solid is the part that at least enoughBeyond waits lie beyond; tail goes on
	// from there to the maximum.
	solid, tail []point
	marks       []percentileMark
}

// percentileMark is a percentile whose value is written at the curve.
type percentileMark struct {
	point
	label string
}

// quantileBand is the least and the most of the quantiles of several recordings.
type quantileBand struct {
	col         color.NRGBA
	least, most []point
}

// Colours of the area between two curves, where the first is longer and shorter.
var (
	longer  = color.NRGBA{0xF3, 0xC9, 0xB0, 0xff}
	shorter = color.NRGBA{0xC9, 0xE7, 0xD8, 0xff}
)

// enoughBeyond is how many waits must lie beyond a percentile for it to be more
// than an accident of a few.
const enoughBeyond = 10

// newCurve samples a distribution as if it were of n waits, up to the greatest that as many
// show. Of none there is no curve.
func newCurve(name string, col color.NRGBA, n int64, d *dist.Dist) curve {
	c := curve{name: name, col: col}
	if n <= 0 || d.Count() == 0 {
		return c
	}
	end, sure := math.Log10(float64(n)), math.Log10(float64(n)/enoughBeyond)
	longest := float64(d.Quantile(1 - 0.5/float64(n)))
	points := append(sampled(end, d), point{end, log10ns(longest)})
	cut := 0
	for cut < len(points) && points[cut].x <= sure {
		cut++
	}
	c.solid, c.tail = points[:cut], points[max(0, cut-1):]
	for _, m := range []struct {
		q    float64
		name string
	}{{0.5, "p50 "}, {0.9, "p90 "}, {0.99, "p99 "}, {0.999, "p99.9 "}} {
		if x := -math.Log10(1 - m.q); x <= sure {
			v := float64(d.Quantile(m.q))
			c.marks = append(c.marks, percentileMark{point{x, log10ns(v)}, m.name + durationLabel(v)})
		}
	}
	c.marks = append(c.marks, percentileMark{c.last(), "max " + durationLabel(longest)})
	return c
}

// last returns the end of a curve.
func (c *curve) last() point { return c.tail[len(c.tail)-1] }

// sampled returns points of a distribution from the least wait up to end, close enough for
// the steps of few waits.
func sampled(end float64, d *dist.Dist) []point {
	steps := max(int(end*60), 300)
	ps, qs := make([]point, steps), make([]float64, steps)
	for i := range ps {
		ps[i].x = end * float64(i) / float64(steps)
		qs[i] = 1 - math.Pow(10, -ps[i].x)
	}
	for i, v := range d.Quantiles(qs...) {
		ps[i].y = log10ns(float64(v))
	}
	return ps
}

// compareCurves makes a spectrum of two curves, the second of which the first is compared
// with. What fewer waits lie beyond differs by accident: it is not shaded.
func compareCurves(a, b curve, n int64, of, with *dist.Dist) *spectrum {
	s := &spectrum{curves: []curve{a, b}}
	if n > enoughBeyond {
		end := math.Log10(float64(n) / enoughBeyond)
		s.a, s.b = sampled(end, of), sampled(end, with)
	}
	return s
}

// differ reports whether the first curve is above the second one anywhere, and below.
func (s *spectrum) differ() (over, under bool) {
	for i := range s.a {
		over = over || s.a[i].y > s.b[i].y
		under = under || s.a[i].y < s.b[i].y
	}
	return over, under
}

// ends returns the ranges of both axes.
func (s *spectrum) ends() (lo, hi, end float64) {
	var all []point
	for _, cv := range s.curves {
		all = slices.Concat(all, cv.solid, cv.tail)
	}
	for _, b := range s.bands {
		all = slices.Concat(all, b.least, b.most)
	}
	lo, hi, end = math.Inf(1), math.Inf(-1), 1.0
	for _, p := range all {
		lo, hi, end = min(lo, p.y), max(hi, p.y), max(end, p.x)
	}
	if s.limit > 0 {
		lo, hi = min(lo, s.limit), max(hi, s.limit)
	}
	// The label of the longest wait stands above it.
	const room = 0.09
	lo, hi = widen(lo, hi+max(0.1, room*(hi-lo)), 0.5, 1.5)
	return lo, hi, end
}

// draw draws the curves with their axes, below the legend:
//
//  1. areas and bands, the grid, and the line of the limit,
//  2. the curves, the matter last,
//  3. the names of others at the right, or
//  4. percentiles where they cover as little of the curves as possible: of the matter all
//     that find room, of what it is compared with those that still do.
func (s *spectrum) draw(c canvas) {
	c = c.inset(0, 0, 0, c.legend(c.Min.X, c.Max.Y-11, s.legend)+10)
	lo, hi, end := s.ends()
	main, others := &s.curves[0], s.curves[1:]
	y := axis{lo, hi, logTicks(lo, hi, int(c.height()/26), durationLabel)}
	f := frame{x: axis{0, end * 1.02, percentileTicks(end)}, y: y}
	right := vg.Length(10)
	for i := range others {
		if s.named {
			right = max(right, style(textSize, ink).Width(others[i].name)+24)
		}
	}
	f.canvas = c.inset(leftRoom(y), right, bottomRoom, 0)

	f.areas(s.a, s.b)
	for _, b := range s.bands {
		f.between(b.col, b.most, b.least)
	}
	f.grid()
	if s.limit > 0 {
		f.stroke(line(1.1, vermil), f.Min.X, f.py(s.limit), f.Max.X, f.py(s.limit))
	}

	for i := len(s.curves) - 1; i >= 0; i-- {
		width, dashes := vg.Length(1.1), []vg.Length(nil)
		switch {
		case i == 0:
			width = 2.2
		case !s.named:
			width, dashes = 1.4, []vg.Length{5, 3}
		}
		f.curve(&s.curves[i], width, dashes)
	}
	lines := [][]vg.Point{}
	for _, cv := range s.curves {
		lines = append(lines, f.points(cv.solid), f.points(cv.tail))
	}
	if s.named {
		f.names(others)
		f.percentiles(main, nil, lines, nil)
	} else if taken := f.writeLimit(s); len(others) > 0 {
		taken = f.percentiles(main, others[0].marks, lines, taken)
		f.percentiles(&others[0], main.marks, lines, taken)
	}
	f.leftAxis()
	f.bottomAxis(fmt.Sprintf("percentile of %[1]s; each step to the right leaves a tenth; dotted: fewer than 10 %[1]s lie beyond", cmp.Or(s.of, "waits")) + s.note)
}

// curve draws one curve and a dot at its maximum.
func (f frame) curve(cv *curve, width vg.Length, dashes []vg.Length) {
	if len(cv.tail) == 0 {
		return
	}
	f.polyline(draw.LineStyle{Color: cv.col, Width: width, Dashes: dashes}, f.points(cv.solid))
	f.polyline(draw.LineStyle{Color: cv.col, Width: max(0.8, width*0.7), Dashes: []vg.Length{1.5, 2}}, f.points(cv.tail))
	f.dot(cv.col, f.px(cv.last().x), f.py(cv.last().y), 1+width)
}

// points returns positions of values.
func (f frame) points(ps []point) []vg.Point {
	return result.Each(ps, func(p *point) vg.Point { return vg.Point{X: f.px(p.x), Y: f.py(p.y)} })
}

// between fills the area between two lines.
func (f frame) between(col color.Color, a, b []point) {
	if len(a) < 2 {
		return
	}
	back := f.points(b)
	slices.Reverse(back)
	f.FillPolygon(col, append(f.points(a), back...))
}

// areas fills the area between two curves at the same places: one polygon as long as the
// same curve is above.
func (f frame) areas(a, b []point) {
	for from := 0; from+1 < len(a); {
		to := from + 1
		for to+1 < len(a) && above(a, b, to+1) == above(a, b, from+1) {
			to++
		}
		col := textui.Either(above(a, b, from+1), longer, shorter)
		f.between(col, a[from:to+1], b[from:to+1])
		from = to
	}
}

// above reports whether a is above b between points i-1 and i.
func above(a, b []point, i int) bool { return a[i].y+a[i-1].y >= b[i].y+b[i-1].y }

// percentiles marks a curve's percentiles and its maximum and writes their values, the
// tail's first, where no others are. It returns what is taken then. A label is on that side
// of the curve where the other's mark of the same percentile is not.
func (f frame) percentiles(cv *curve, other []percentileMark, lines [][]vg.Point, taken []vg.Rectangle) []vg.Rectangle {
	sty := boldStyle(textSize, cv.col)
	for _, m := range slices.Backward(cv.marks) {
		x, y, side := f.px(m.x), f.py(m.y), 0.0
		f.dot(cv.col, x, y, 2.4)
		for _, o := range other {
			if o.x == m.x && o.y != m.y {
				side = m.y - o.y
			}
		}
		if box, ok := f.freeBox(x, y, sty.Width(m.label), lines, taken, side); ok {
			taken = append(taken, box)
			f.fill(halo, box.Min.X, box.Min.Y, box.Max.X, box.Max.Y)
			f.say(sty, box.Min.X, box.Min.Y+1, m.label)
		}
	}
	return taken
}

// freeBox returns a place for a text of width w near (x, y) that does not touch
// those taken: the first, from below at the right on, that covers least of
// lines. It avoids the side of y that is not side's: above if positive, below if negative. ok
// is false if there is none inside the frame.
func (f frame) freeBox(x, y, w vg.Length, lines [][]vg.Point, taken []vg.Rectangle, side float64) (best vg.Rectangle, ok bool) {
	const h = textSize
	const crossed = 10 * textSize // as bad as so much of a line under the label
	least := vg.Length(math.Inf(1))
	for _, at := range []vg.Point{
		{X: x + 6, Y: y - h - 1}, {X: x + 6, Y: y - h - 10}, {X: x - w - 6, Y: y + 3},
		{X: x - w/2, Y: y + 6}, {X: x - w/2, Y: y - h - 6}, {X: x - w - 6, Y: y + 12}, {X: x + 8, Y: y - h - 20},
		{X: x - w - 6, Y: y - h - 2}, {X: x + 6, Y: y + 4}, {X: x - w/2, Y: y + 16}, {X: x + 6, Y: y - h - 32},
	} {
		box := vg.Rectangle{Min: at, Max: vg.Point{X: at.X + w, Y: at.Y + h}}
		if box.Min.X < f.Min.X+2 || box.Max.X > f.Max.X || box.Min.Y < f.Min.Y+1 || box.Max.Y > f.Max.Y+4 ||
			slices.ContainsFunc(taken, func(o vg.Rectangle) bool { return overlap(box, o) }) {
			continue
		}
		n := covered(vg.Rectangle{Min: vg.Point{X: box.Min.X, Y: box.Min.Y - 2}, Max: vg.Point{X: box.Max.X, Y: box.Max.Y + 2}}, lines)
		if middle := float64(box.Min.Y + h/2 - y); middle*side < 0 {
			n += crossed
		}
		if n < least {
			best, least, ok = box, n, true
		}
	}
	return best, ok
}

// covered returns how much of lines lies inside a box.
func covered(box vg.Rectangle, lines [][]vg.Point) (sum vg.Length) {
	inside := draw.Canvas{Rectangle: box}
	for _, pts := range inside.ClipLinesXY(lines...) {
		for i := 1; i < len(pts); i++ {
			sum += vg.Length(math.Hypot(float64(pts[i].X-pts[i-1].X), float64(pts[i].Y-pts[i-1].Y)))
		}
	}
	return sum
}

// overlap reports whether two boxes of text touch each other.
func overlap(r, o vg.Rectangle) bool {
	return r.Min.X < o.Max.X+3 && o.Min.X < r.Max.X+3 && r.Min.Y < o.Max.Y+2 && o.Min.Y < r.Max.Y+2
}

// names writes the name of each curve at the right of the frame, as near as
// possible to the height of its maximum, and joins the two by a thin line.
func (f frame) names(curves []curve) {
	want := result.Each(curves, func(c *curve) vg.Length { return f.py(c.last().y) })
	at := spread(want, textSize*1.25, f.Min.Y, f.Max.Y)
	for i := range curves {
		cv := &curves[i]
		sty := aligned(style(textSize, cv.col), text.XLeft, text.YCenter)
		thin := line(0.4, mix(cv.col, white, 0.4))
		f.stroke(thin, f.px(cv.last().x)+3, want[i], f.Max.X+6, want[i])
		f.stroke(thin, f.Max.X+6, want[i], f.Max.X+16, at[i])
		f.say(sty, f.Max.X+19, at[i], cv.name)
	}
}

// spread returns positions near those wanted that are at least gap apart and,
// if there is room, inside [lo, hi]; their order is kept.
func spread(want []vg.Length, gap, lo, hi vg.Length) []vg.Length {
	order := sortedIndex(len(want), func(a, b int) bool { return want[a] < want[b] })
	at := slices.Clone(want)
	for below, k := lo-gap, 0; k < len(order); k++ {
		at[order[k]] = max(at[order[k]], below+gap)
		below = at[order[k]]
	}
	above := hi + gap
	for _, i := range slices.Backward(order) {
		at[i] = min(at[i], above-gap)
		above = at[i]
	}
	return at
}

// writeLimit says at the left end of the line of the limit, above it, how many waits are beyond. It
// returns the place.
func (f frame) writeLimit(s *spectrum) []vg.Rectangle {
	if s.limit <= 0 {
		return nil
	}
	sty := aligned(style(textSize, vermil), text.XLeft, text.YBottom)
	note := fit(sty, s.limitNote, f.width()-8)
	at := vg.Point{X: f.Min.X + 6, Y: f.py(s.limit) + 2}
	box := vg.Rectangle{Min: at, Max: vg.Point{X: at.X + sty.Width(note), Y: at.Y + textSize + 2}}
	f.fill(halo, box.Min.X-2, box.Min.Y, box.Max.X+2, box.Max.Y)
	f.say(sty, at.X, at.Y, note)
	return []vg.Rectangle{box}
}
