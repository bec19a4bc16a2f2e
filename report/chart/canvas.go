package chart

import (
	"image"
	"image/color"
	"math"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
)

// canvas is where a picture is drawn: a rectangle of a page in points, and the
// page's resolution.
type canvas struct {
	draw.Canvas
	dpi float64
}

// inset returns the canvas less a margin on each side.
func (c canvas) inset(left, right, bottom, top vg.Length) canvas {
	return canvas{draw.Crop(c.Canvas, left, -right, bottom, -top), c.dpi}
}

// area returns the part of the page that r covers.
func (c canvas) area(r vg.Rectangle) canvas {
	c.Rectangle = r
	return c
}

func (c canvas) width() vg.Length  { return c.Max.X - c.Min.X }
func (c canvas) height() vg.Length { return c.Max.Y - c.Min.Y }

// fill paints the rectangle between two corners.
func (c canvas) fill(col color.Color, x0, y0, x1, y1 vg.Length) {
	if x1 <= x0 || y1 <= y0 {
		return
	}
	c.FillPolygon(col, []vg.Point{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}})
}

// stroke draws one straight line.
func (c canvas) stroke(sty draw.LineStyle, x0, y0, x1, y1 vg.Length) {
	c.StrokeLine2(sty, x0, y0, x1, y1)
}

// say writes text with its baseline, or what sty aligns, at (x, y). Text is
// centred with its descenders; it is raised so that its digits are centred.
func (c canvas) say(sty draw.TextStyle, x, y vg.Length, s string) {
	if s == "" {
		return
	}
	if sty.YAlign == text.YCenter {
		y += sty.Font.Size * 0.1
	}
	c.FillText(sty, vg.Point{X: x, Y: y}, s)
}

// dot draws a filled circle with a white rim.
func (c canvas) dot(col color.Color, x, y, radius vg.Length) {
	at := vg.Point{X: x, Y: y}
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: white, Radius: radius + 0.9, Shape: draw.CircleGlyph{}}, at)
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: col, Radius: radius, Shape: draw.CircleGlyph{}}, at)
}

// snap returns the position of the device pixel's edge nearest to v.
func (c canvas) snap(v vg.Length) vg.Length {
	return vg.Length(math.Round(float64(v)*c.dpi/72) * 72 / c.dpi)
}

// pixels returns how many device pixels v is long, at least 1.
func (c canvas) pixels(v vg.Length) int { return max(1, int(math.Round(float64(v)*c.dpi/72))) }

// raster paints the canvas' rectangle, snapped to device pixels, with an image
// of exactly that many pixels: crisp, and its cost does not depend on how many
// events it shows. The image begins transparent; row 0 is its top.
func (c canvas) raster(paint func(img *image.NRGBA, w, h int)) {
	r := vg.Rectangle{
		Min: vg.Point{X: c.snap(c.Min.X), Y: c.snap(c.Min.Y)},
		Max: vg.Point{X: c.snap(c.Max.X), Y: c.snap(c.Max.Y)},
	}
	w, h := c.pixels(r.Size().X), c.pixels(r.Size().Y)
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	paint(img, w, h)
	c.DrawImage(r, img)
}

// hatch draws diagonal lines over the canvas' rectangle: nothing is known here.
func (c canvas) hatch(col color.Color, gap vg.Length) {
	sty := line(0.5, col)
	h := c.height()
	for x := c.Min.X - h; x < c.Max.X; x += gap {
		// The line from (x, bottom) to (x+h, top), cut at both sides.
		a, b := max(x, c.Min.X), min(x+h, c.Max.X)
		if b > a {
			c.stroke(sty, a, c.Min.Y+(a-x), b, c.Min.Y+(b-x))
		}
	}
}

// arrow draws a line to (x1, y1) with a head there, on a white shadow that
// keeps it visible on any colour.
func (c canvas) arrow(col color.Color, x0, y0, x1, y1 vg.Length) {
	const length, half = 6.5, 2.8
	d := vg.Length(math.Hypot(float64(x1-x0), float64(y1-y0)))
	if d == 0 {
		return
	}
	ux, uy := (x1-x0)/d, (y1-y0)/d
	bx, by := x1-ux*length, y1-uy*length
	c.stroke(line(3, color.NRGBA{0xff, 0xff, 0xff, 0xd0}), x0, y0, bx, by)
	c.stroke(line(1.1, col), x0, y0, bx, by)
	c.FillPolygon(col, []vg.Point{
		{X: x1, Y: y1}, {X: bx - uy*half, Y: by + ux*half}, {X: bx + uy*half, Y: by - ux*half},
	})
}

// notice writes a sentence in the middle of the canvas, for a picture without data.
func (c canvas) notice(s string) {
	c.say(aligned(style(headingSize+1, slate), text.XCenter, text.YCenter), (c.Min.X+c.Max.X)/2, (c.Min.Y+c.Max.Y)/2, s)
}

// polyline draws connected lines. The rasteriser's cost grows with the square
// of a stroke's length (freetype/raster: findCell), so long ones are cut into
// pieces, which solid and opaque lines do not show.
func (c canvas) polyline(sty draw.LineStyle, pts []vg.Point) {
	const piece = 64
	if len(sty.Dashes) > 0 {
		c.StrokeLines(sty, pts)
		return
	}
	for len(pts) > 1 {
		n := min(piece, len(pts))
		c.StrokeLines(sty, pts[:n])
		pts = pts[n-1:]
	}
}

// axis maps values from [min, max] to a side of a frame.
type axis struct {
	min, max float64
	ticks    []tick
}

// at returns where v lies between the ends of the axis: 0 to 1 inside. An axis
// without length puts everything at its middle.
func (a axis) at(v float64) float64 {
	if !(a.max > a.min) {
		return 0.5
	}
	return (v - a.min) / (a.max - a.min)
}

// value is the inverse of at.
func (a axis) value(at float64) float64 { return a.min + at*(a.max-a.min) }

// frame is a canvas with axes: the area in which data are drawn.
type frame struct {
	canvas
	x, y axis
}

// px and py return the position of a value, which may lie outside.
func (f frame) px(v float64) vg.Length { return f.Min.X + f.width()*vg.Length(f.x.at(v)) }
func (f frame) py(v float64) vg.Length { return f.Min.Y + f.height()*vg.Length(f.y.at(v)) }

// grid draws a faint line through the frame at each labelled tick.
func (f frame) grid() {
	sty := line(0.5, faint)
	for _, t := range f.x.ticks {
		if t.label != "" {
			f.stroke(sty, f.px(t.at), f.Min.Y, f.px(t.at), f.Max.Y)
		}
	}
	for _, t := range f.y.ticks {
		if t.label != "" {
			f.stroke(sty, f.Min.X, f.py(t.at), f.Max.X, f.py(t.at))
		}
	}
}

// leftAxis draws the line, marks and labels at the left side.
func (f frame) leftAxis() {
	sty := aligned(style(textSize, ink), text.XRight, text.YCenter)
	f.stroke(line(0.6, grey), f.Min.X, f.Min.Y, f.Min.X, f.Max.Y)
	for _, t := range f.y.ticks {
		y, l := f.py(t.at), vg.Length(2.5)
		if t.label != "" {
			l = 4.5
		}
		f.stroke(line(0.5, grey), f.Min.X-l, y, f.Min.X, y)
		f.say(sty, f.Min.X-7, y, t.label)
	}
}

// bottomRoom is the height that bottomAxis with a title needs.
const bottomRoom = 32

// bottomAxis draws the line and marks at the lower side and, if there is a title, labels and
// below them what the axis shows, and in which unit. A label that would touch its left
// neighbour is left out.
func (f frame) bottomAxis(title string) {
	sty := aligned(style(textSize, ink), text.XCenter, text.YTop)
	f.stroke(line(0.6, grey), f.Min.X, f.Min.Y, f.Max.X, f.Min.Y)
	free := f.Min.X - 1000
	for _, t := range f.x.ticks {
		x, l := f.px(t.at), vg.Length(2.5)
		if t.label != "" {
			l = 4.5
		}
		f.stroke(line(0.5, grey), x, f.Min.Y-l, x, f.Min.Y)
		if half := sty.Width(t.label) / 2; title != "" && t.label != "" && x-half >= free {
			f.say(sty, x, f.Min.Y-7, t.label)
			free = x + half + 4
		}
	}
	f.say(aligned(style(textSize+0.5, slate), text.XCenter, text.YTop), (f.Min.X+f.Max.X)/2, f.Min.Y-20, title)
}

// leftRoom returns the width that leftAxis needs for its labels.
func leftRoom(axes ...axis) vg.Length {
	sty := style(textSize, ink)
	var w vg.Length
	for _, a := range axes {
		for _, t := range a.ticks {
			w = max(w, sty.Width(t.label))
		}
	}
	return w + 9
}

// entry is one item of a legend.
type entry struct {
	name string
	col  color.NRGBA
	mark mark
}

// mark is the shape next to a name in a legend.
type mark uint8

const (
	markFill mark = iota
	markLine
	markDash
	markHatch
	markArrow
)

// Sizes of an entry of a legend.
const legendBox, legendGap, legendSpace, legendPitch = 12, 4, 12, 13

// legend writes entries, the first with its text at (x, y), in as many lines as they need.
// It returns how high those are.
func (c canvas) legend(x, y vg.Length, es []entry) vg.Length {
	places, height := legendPlaces(es, c.Max.X-x)
	for i, e := range es {
		at := vg.Point{X: x + places[i].X, Y: y + places[i].Y}
		c.mark(e, vg.Rectangle{Min: vg.Point{X: at.X, Y: at.Y - 0.5}, Max: vg.Point{X: at.X + legendBox, Y: at.Y + 6.5}})
		c.say(style(textSize, ink), at.X+legendBox+legendGap, at.Y, e.name)
	}
	return height
}

// legendPlaces returns where legend puts entries, from the first on, in lines of that width,
// and how high those are: nothing if there is none.
func legendPlaces(es []entry, width vg.Length) (places []vg.Point, height vg.Length) {
	var at vg.Point
	for _, e := range es {
		w := legendBox + legendGap + style(textSize, ink).Width(e.name)
		if at.X > 0 && at.X+w > width+1 {
			at.X, at.Y = 0, at.Y-legendPitch
		}
		places = append(places, at)
		height = legendPitch - at.Y
		at.X += w + legendSpace
	}
	return places, height
}

// legendWidth returns how wide legend would draw these entries in one line.
func legendWidth(es []entry) vg.Length {
	w := result.Sum(es, func(e *entry) vg.Length {
		return legendBox + legendGap + style(textSize, ink).Width(e.name) + legendSpace
	})
	return max(0, w-legendSpace)
}

// mark draws the mark of e in the rectangle r.
func (c canvas) mark(e entry, r vg.Rectangle) {
	mid := (r.Min.Y + r.Max.Y) / 2
	switch e.mark {
	case markFill:
		c.fill(e.col, r.Min.X, r.Min.Y, r.Max.X, r.Max.Y)
	case markLine:
		c.stroke(line(2, e.col), r.Min.X, mid, r.Max.X, mid)
	case markDash:
		c.stroke(draw.LineStyle{Color: e.col, Width: 1.8, Dashes: []vg.Length{5, 2}}, r.Min.X, mid, r.Max.X, mid)
	case markArrow:
		c.arrow(e.col, r.Min.X, mid, r.Max.X, mid)
	case markHatch:
		c.area(r).hatch(e.col, 3)
		c.StrokeLines(line(0.5, e.col), []vg.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}, r.Min})
	}
}

// margins of every picture, and the height of its title.
const (
	marginSide   = 12
	marginTop    = 10
	marginBottom = 8
	titleRoom    = 22
)

// page writes the title, and a subtitle behind it in grey, and returns what is
// left for the rest.
func (c canvas) page(title, subtitle string) canvas {
	c = c.inset(marginSide, marginSide, marginBottom, marginTop)
	bold := boldStyle(titleSize, ink)
	title = fit(bold, title, c.width())
	y := c.Max.Y - titleSize
	c.say(bold, c.Min.X, y, title)
	plain := style(headingSize, slate)
	if x := c.Min.X + bold.Width(title) + 10; subtitle != "" {
		c.say(plain, x, y, fit(plain, subtitle, c.Max.X-x))
	}
	return c.inset(0, 0, 0, titleRoom)
}

// panel is one of several frames above each other that share their x axis.
type panel struct {
	heading string
	note    string // in grey behind the heading
	legend  []entry
	weight  float64 // share of the height
	y       func(height vg.Length) axis
	draw    func(f frame)
}

// headingRoom is the height above each panel's frame for its heading.
const headingRoom = 20

// drawPanels draws panels from top to bottom, with the x axis and its title
// below the last, leaving right points free at the right of the frames.
func (c canvas) drawPanels(x axis, title string, right vg.Length, ps []panel) {
	c = c.inset(0, right, bottomRoom, 0)
	total := result.Sum(ps, func(p *panel) float64 { return p.weight })
	const gap = 8 // between a panel's marks and the next heading
	free := c.height() - vg.Length(len(ps))*headingRoom - vg.Length(len(ps)-1)*gap
	heights := make([]vg.Length, len(ps))
	axes := make([]axis, len(ps))
	for i, p := range ps {
		heights[i] = free * vg.Length(p.weight/total)
		axes[i] = p.y(heights[i])
	}
	left := c.Min.X + leftRoom(axes...)
	top := c.Max.Y
	for i, p := range ps {
		c.heading(p, top-13)
		top -= headingRoom
		r := vg.Rectangle{Min: vg.Point{X: left, Y: top - heights[i]}, Max: vg.Point{X: c.Max.X, Y: top}}
		f := frame{c.area(r), x, axes[i]}
		f.grid()
		p.draw(f)
		f.leftAxis()
		below := textui.If(i == len(ps)-1, title)
		f.bottomAxis(below)
		top -= heights[i] + gap
	}
}

// heading writes a panel's heading, note and, at the right, its legend.
func (c canvas) heading(p panel, y vg.Length) {
	bold, plain := boldStyle(headingSize, ink), style(textSize, slate)
	c.say(bold, c.Min.X, y, p.heading)
	x := c.Min.X + bold.Width(p.heading) + 8
	right := max(x, c.Max.X-legendWidth(p.legend))
	c.say(plain, x, y, fit(plain, p.note, right-x-8))
	c.legend(right, y, p.legend)
}

// captionRoom is the height of a caption.
const captionRoom = 14

// caption writes a line of text below the title and returns what is left for the rest.
func (c canvas) caption(s string) canvas {
	sty := style(textSize, slate)
	c.say(sty, c.Min.X, c.Max.Y-9, fit(sty, s, c.width()))
	return c.inset(0, 0, 0, captionRoom)
}
