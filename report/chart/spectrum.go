package chart

import (
	"image/color"
	"math"

	"github.com/schedscope/schedscope/model"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// curve is one distribution of the percentile spectrum: x is -log10(1-q), y is
// log10 of the quantile in nanoseconds.
type curve struct {
	name string
	n    int64
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

// enoughBeyond is how many waits must lie beyond a percentile for it to be more
// than an accident of a few.
const enoughBeyond = 10

// newCurve samples a distribution of n waits. quantiles gives for increasing
// fractions the lengths of time at or below which that fraction of the waits
// lies; that for 1 is the maximum.
func newCurve(name string, col color.NRGBA, n int64, quantiles func(qs ...float64) []model.Duration) curve {
	c := curve{name: name, n: n, col: col}
	if n <= 0 {
		return c
	}
	end := math.Log10(float64(n)) // where one wait is left
	sure := math.Log10(float64(n) / enoughBeyond)
	points := sampled(end, quantiles)
	if n <= stepsUpTo {
		points = stepped(n, quantiles)
	}
	longest := float64(quantiles(1)[0])
	points = append(points, point{end, log10ns(longest)})
	cut := 0
	for cut < len(points) && points[cut].x <= sure {
		cut++
	}
	c.solid, c.tail = points[:cut], points[max(0, cut-1):]
	for _, m := range []struct {
		q    float64
		name string
	}{{0.5, "p50"}, {0.9, "p90"}, {0.99, "p99"}, {0.999, "p99.9"}} {
		if x := -math.Log10(1 - m.q); x <= sure {
			v := float64(quantiles(m.q)[0])
			c.marks = append(c.marks, percentileMark{point{x, log10ns(v)}, m.name + " " + durationLabel(v)})
		}
	}
	c.marks = append(c.marks, percentileMark{points[len(points)-1], "max " + durationLabel(longest)})
	return c
}

// sampled returns a point in every sixtieth of a factor of ten up to end.
func sampled(end float64, quantiles func(...float64) []model.Duration) []point {
	steps := int(end * 60)
	ps, qs := make([]point, steps), make([]float64, steps)
	for i := range ps {
		ps[i].x = end * float64(i) / float64(steps)
		qs[i] = 1 - math.Pow(10, -ps[i].x)
	}
	for i, v := range quantiles(qs...) {
		ps[i].y = log10ns(float64(v))
	}
	return ps
}

// stepsUpTo is how many waits are few enough for each to be a visible step.
const stepsUpTo = 300

// stepped returns both ends of the level step of each wait but the longest.
func stepped(n int64, quantiles func(...float64) []model.Duration) []point {
	qs := make([]float64, n-1)
	for i := range qs {
		qs[i] = (float64(i) + 0.5) / float64(n)
	}
	var ps []point
	for i, v := range quantiles(qs...) {
		for k := i; k <= i+1; k++ {
			ps = append(ps, point{-math.Log10(float64(n-int64(k)) / float64(n)), log10ns(float64(v))})
		}
	}
	return ps
}

// newSpectrum returns the picture of some curves. The first is the matter: it
// is thick and has its percentiles written at it; the others are named at the
// right. What is omitted is said above them.
func newSpectrum(title, subtitle string, curves []curve, omitted string) *Picture {
	p := &Picture{Name: "spectrum", Title: title, width: 760, height: 400}
	p.draw = func(c canvas) {
		c = c.page(title, subtitle)
		if len(curves) == 0 || curves[0].n == 0 {
			c.notice(noWaits)
			return
		}
		drawSpectrum(c, curves, omitted)
	}
	return p
}

// drawSpectrum draws the curves with their axes.
func drawSpectrum(c canvas, curves []curve, omitted string) {
	lo, hi, end := math.Inf(1), math.Inf(-1), 1.0
	for _, cv := range curves {
		for _, p := range append(cv.solid[:len(cv.solid):len(cv.solid)], cv.tail...) {
			lo, hi, end = min(lo, p.y), max(hi, p.y), max(end, p.x)
		}
	}
	lo, hi = widen(lo, hi+0.1, 0.5, 1.5)
	c.legend(c.Min.X, c.Max.Y-12, []entry{
		{name: curves[0].name, col: curves[0].col, mark: markLine},
	})
	note := "dotted: fewer than 10 waits lie beyond" + omitted
	c.say(aligned(style(textSize, slate), text.XRight, text.YBottom), c.Max.X, c.Max.Y-12, note)

	y := axis{lo, hi, logTicks(lo, hi, int(c.height()/26), durationLabel)}
	f := frame{x: axis{0, end * 1.02, percentileTicks(end)}, y: y}
	f.canvas = c.inset(leftRoom(y), nameRoom(curves[1:]), bottomRoom, 22)
	f.grid()
	for i := len(curves) - 1; i >= 0; i-- {
		f.curve(curves[i], i == 0)
	}
	f.names(curves[1:])
	f.percentiles(curves)
	f.leftAxis()
	f.bottomAxis(true)
	f.bottomTitle("percentile of waits; each step to the right leaves a tenth")
}

// curve draws one curve and a dot at its maximum.
func (f frame) curve(cv curve, thick bool) {
	w := vg.Length(1.1)
	if thick {
		w = 2.2
	}
	f.polyline(line(w, cv.col), f.points(cv.solid))
	f.polyline(draw.LineStyle{Color: cv.col, Width: w * 0.7, Dashes: []vg.Length{1.5, 2}}, f.points(cv.tail))
	last := cv.tail[len(cv.tail)-1]
	f.dot(cv.col, f.px(last.x), f.py(last.y), 1+w)
}

// points returns positions of values.
func (f frame) points(ps []point) []vg.Point {
	out := make([]vg.Point, len(ps))
	for i, p := range ps {
		out[i] = vg.Point{X: f.px(p.x), Y: f.py(p.y)}
	}
	return out
}

// percentiles marks the main curve's percentiles and its maximum and writes
// their values where they cover as little of the curves as possible, the tail's
// first.
func (f frame) percentiles(curves []curve) { f.percentilesOf(curves[0], curves, nil, nil) }

// percentilesOf is percentiles for one of several curves, where some places are taken
// already. It returns all that are then. A label is on that side of the curve where the
// other's mark of the same percentile is not.
func (f frame) percentilesOf(cv curve, curves []curve, taken []vg.Rectangle, other []percentileMark) []vg.Rectangle {
	var lines [][]vg.Point
	for _, c := range curves {
		lines = append(lines, f.points(c.solid), f.points(c.tail))
	}
	sty := boldStyle(textSize, cv.col)
	for i := len(cv.marks) - 1; i >= 0; i-- {
		m := cv.marks[i]
		x, y := f.px(m.x), f.py(m.y)
		f.dot(cv.col, x, y, 2.4)
		if box, ok := f.freeBox(x, y, sty.Width(m.label), lines, taken, awayFrom(m, other)); ok {
			taken = append(taken, box)
			f.fill(halo, box.Min.X, box.Min.Y, box.Max.X, box.Max.Y)
			f.say(sty, box.Min.X, box.Min.Y+1, m.label)
		}
	}
	return taken
}

// awayFrom returns 1 if a mark is above that of the other curve at the same percentile, -1 if
// below, 0 if there is none.
func awayFrom(m percentileMark, other []percentileMark) float64 {
	for _, o := range other {
		if o.x == m.x && o.y != m.y {
			return math.Copysign(1, m.y-o.y)
		}
	}
	return 0
}

// freeBox returns a place for a text of width w near (x, y) that does not touch
// those taken: the first, from below at the right on, that covers least of
// lines. It avoids the side of y that is not side's: 1 is above, -1 below, 0 either. ok is
// false if there is none inside the frame.
func (f frame) freeBox(x, y, w vg.Length, lines [][]vg.Point, taken []vg.Rectangle, side float64) (best vg.Rectangle, ok bool) {
	const h = textSize
	const crossed = 10 * textSize // as bad as so much of a line under the label
	least := vg.Length(math.Inf(1))
	for _, at := range []vg.Point{
		{X: x + 6, Y: y - h - 1}, {X: x + 6, Y: y - h - 10}, {X: x - w - 6, Y: y + 3},
		{X: x - w/2, Y: y + 6}, {X: x - w/2, Y: y - h - 6}, {X: x - w - 6, Y: y + 12}, {X: x + 8, Y: y - h - 20},
		{X: x - w - 6, Y: y - h - 2}, {X: x + 6, Y: y + 4},
	} {
		box := vg.Rectangle{Min: at, Max: vg.Point{X: at.X + w, Y: at.Y + h}}
		if box.Min.X < f.Min.X+2 || box.Max.X > f.Max.X || box.Min.Y < f.Min.Y+1 || box.Max.Y > f.Max.Y+4 || overlapsAny(box, taken) {
			continue
		}
		n := covered(box, lines)
		if middle := float64(box.Min.Y + h/2 - y); middle*side < 0 {
			n += crossed
		}
		if n < least {
			best, least, ok = box, n, true
		}
	}
	return best, ok
}

// covered returns how much of lines lies inside a box, to a point or so.
func covered(box vg.Rectangle, lines [][]vg.Point) vg.Length {
	const step = 1
	var sum vg.Length
	for _, pts := range lines {
		for i := 1; i < len(pts); i++ {
			a, b := pts[i-1], pts[i]
			if max(a.X, b.X) < box.Min.X || min(a.X, b.X) > box.Max.X || max(a.Y, b.Y) < box.Min.Y || min(a.Y, b.Y) > box.Max.Y {
				continue
			}
			length := vg.Length(math.Hypot(float64(b.X-a.X), float64(b.Y-a.Y)))
			n := max(1, int(length/step))
			for k := range n {
				at := (vg.Length(k) + 0.5) / vg.Length(n)
				p := vg.Point{X: a.X + (b.X-a.X)*at, Y: a.Y + (b.Y-a.Y)*at}
				if p.X > box.Min.X && p.X < box.Max.X && p.Y > box.Min.Y && p.Y < box.Max.Y {
					sum += length / vg.Length(n)
				}
			}
		}
	}
	return sum
}

// overlapsAny reports whether r touches one of others.
func overlapsAny(r vg.Rectangle, others []vg.Rectangle) bool {
	for _, o := range others {
		if r.Min.X < o.Max.X+3 && o.Min.X < r.Max.X+3 && r.Min.Y < o.Max.Y+2 && o.Min.Y < r.Max.Y+2 {
			return true
		}
	}
	return false
}

// nameRoom returns the width that names needs at the right of the frame.
func nameRoom(curves []curve) vg.Length {
	sty := style(textSize, ink)
	w := vg.Length(6)
	for _, cv := range curves {
		w = max(w, sty.Width(cv.name)+24)
	}
	return w
}

// names writes the name of each curve at the right of the frame, as near as
// possible to the height of its maximum, and joins the two by a thin line.
func (f frame) names(curves []curve) {
	var named []curve
	var want []vg.Length
	for _, cv := range curves {
		if cv.n > 0 {
			named = append(named, cv)
			want = append(want, f.py(cv.tail[len(cv.tail)-1].y))
		}
	}
	at := spread(want, lineHeight(style(textSize, ink)), f.Min.Y, f.Max.Y)
	for i, cv := range named {
		x := f.px(cv.tail[len(cv.tail)-1].x)
		sty := aligned(style(textSize, cv.col), text.XLeft, text.YCenter)
		thin := line(0.4, mix(cv.col, white, 0.4))
		f.stroke(thin, x+3, want[i], f.Max.X+6, want[i])
		f.stroke(thin, f.Max.X+6, want[i], f.Max.X+16, at[i])
		f.say(sty, f.Max.X+19, at[i], cv.name)
	}
}

// spread returns positions near those wanted that are at least gap apart and,
// if there is room, inside [lo, hi]; their order is kept.
func spread(want []vg.Length, gap, lo, hi vg.Length) []vg.Length {
	order := sortedIndex(len(want), func(a, b int) bool { return want[a] < want[b] })
	at := make([]vg.Length, len(want))
	below := lo - gap
	for _, i := range order {
		at[i] = max(want[i], below+gap)
		below = at[i]
	}
	above := hi + gap
	for k := len(order) - 1; k >= 0; k-- {
		i := order[k]
		at[i] = min(at[i], above-gap)
		above = at[i]
	}
	return at
}
