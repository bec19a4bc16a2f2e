package chart

import (
	"image"
	"image/color"
	"math"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
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
	for _, d := range []struct {
		c color.Color
		r vg.Length
	}{{white, radius + 0.9}, {col, radius}} {
		c.SetColor(d.c)
		var p vg.Path
		p.Move(vg.Point{X: x + d.r, Y: y})
		p.Arc(vg.Point{X: x, Y: y}, d.r, 0, 2*math.Pi)
		p.Close()
		c.Fill(p)
	}
}

// snap returns the position of the device pixel's edge nearest to v.
func (c canvas) snap(v vg.Length) vg.Length {
	return vg.Length(math.Round(float64(v)*c.dpi/72) * 72 / c.dpi)
}

// pixels returns how many device pixels v is long, at least 1.
func (c canvas) pixels(v vg.Length) int {
	return max(1, int(math.Round(float64(v)*c.dpi/72)))
}

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
