package chart

import (
	"image/color"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

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

// bottomAxis draws the line and marks at the lower side and, if labels is
// true, the labels. One that would touch its left neighbour is left out.
func (f frame) bottomAxis(labels bool) {
	sty := aligned(style(textSize, ink), text.XCenter, text.YTop)
	f.stroke(line(0.6, grey), f.Min.X, f.Min.Y, f.Max.X, f.Min.Y)
	free := f.Min.X - 1000
	for _, t := range f.x.ticks {
		x, l := f.px(t.at), vg.Length(2.5)
		if t.label != "" {
			l = 4.5
		}
		f.stroke(line(0.5, grey), x, f.Min.Y-l, x, f.Min.Y)
		if half := sty.Width(t.label) / 2; labels && t.label != "" && x-half >= free {
			f.say(sty, x, f.Min.Y-7, t.label)
			free = x + half + 4
		}
	}
}

// bottomRoom is the height that bottomAxis with labels and bottomTitle need.
const bottomRoom = 32

// bottomTitle writes what the lower axis shows, and in which unit, below it.
func (f frame) bottomTitle(s string) {
	sty := aligned(style(textSize+0.5, slate), text.XCenter, text.YTop)
	f.say(sty, (f.Min.X+f.Max.X)/2, f.Min.Y-20, s)
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

// mark is the shape beside a name in a legend.
type mark uint8

const (
	markFill mark = iota
	markLine
	markDash
	markHatch
	markArrow
)

// legend writes entries in one line that begins at x, its text on baseline y,
// and leaves out those at the end for which there is no room. It returns where
// the line ends.
func (c canvas) legend(x, y vg.Length, es []entry) vg.Length {
	const box, gap, space = 12, 4, 12
	sty := style(textSize, ink)
	for _, e := range es {
		w := vg.Length(box + gap + sty.Width(e.name))
		if x+w > c.Max.X+1 {
			return x
		}
		c.mark(e, vg.Rectangle{Min: vg.Point{X: x, Y: y - 0.5}, Max: vg.Point{X: x + box, Y: y + 6.5}})
		c.say(sty, x+box+gap, y, e.name)
		x += w + space
	}
	return x
}

// legendWidth returns how wide legend would draw these entries.
func legendWidth(es []entry) vg.Length {
	var w vg.Length
	for _, e := range es {
		w += 12 + 4 + style(textSize, ink).Width(e.name) + 12
	}
	return max(0, w-12)
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
		c.outline(line(0.5, e.col), r)
	}
}

// outline draws the border of r.
func (c canvas) outline(sty draw.LineStyle, r vg.Rectangle) {
	c.StrokeLines(sty, []vg.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}, r.Min})
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
