package chart

import (
	"image"
	"math"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// heatmap counts waits in cells of equal size: col by when they ended, row by
// log10 of how many nanoseconds they took.
type heatmap struct {
	cols, rows int
	x0, dx     float64  // left edge of the first column and width of each, in ns
	y0, dy     float64  // lower edge of the first row and height of each, in log10 of ns
	count      []uint32 // count[col*rows+row]
}

// total returns the number of waits and the most in any cell.
func (h heatmap) total() (sum uint64, most uint32) {
	for _, n := range h.count {
		sum += uint64(n)
		most = max(most, n)
	}
	return sum, most
}

// merged returns h with each kx columns and ky rows made one. The last cells
// may cover less than the others.
func (h heatmap) merged(kx, ky int) heatmap {
	m := heatmap{cols: (h.cols + kx - 1) / kx, rows: (h.rows + ky - 1) / ky, x0: h.x0, y0: h.y0}
	m.dx, m.dy = h.dx*float64(kx), h.dy*float64(ky)
	m.count = make([]uint32, m.cols*m.rows)
	for i := range h.cols {
		for j := range h.rows {
			m.count[i/kx*m.rows+j/ky] += h.count[i*h.rows+j]
		}
	}
	return m
}

// cellSize returns the least size of a cell in points. Few waits need large
// cells to be seen; many show more structure in small ones.
func cellSize(waits uint64) float64 {
	switch {
	case waits < 2_000:
		return 3.5
	case waits < 20_000:
		return 2.5
	case waits < 200_000:
		return 1.5
	}
	return 1
}

// cellAt returns the count of the cell that holds a point, 0 outside.
func (h heatmap) cellAt(x, y float64) uint32 {
	i, j := math.Floor((x-h.x0)/h.dx), math.Floor((y-h.y0)/h.dy)
	if i >= 0 && j >= 0 && i < float64(h.cols) && j < float64(h.rows) {
		return h.count[int(i)*h.rows+int(j)]
	}
	return 0
}

// usedRows returns the lower edge of the lowest row that holds waits and the
// upper edge of the highest; ok is false if there are none.
func (h heatmap) usedRows() (lo, hi float64, ok bool) {
	first, last := h.rows, -1
	for i, n := range h.count {
		if row := i % h.rows; n > 0 {
			first, last = min(first, row), max(last, row)
		}
	}
	return h.y0 + float64(first)*h.dy, h.y0 + float64(last+1)*h.dy, last >= 0
}

// heatPlot is a heatmap ready to be drawn: its cells are large enough, its
// counts have a colour scale.
type heatPlot struct {
	heatmap
	most uint32
}

// newHeatPlot merges the cells of h as the size of the frame demands.
func newHeatPlot(h heatmap, f frame) heatPlot {
	waits, _ := h.total()
	p := heatPlot{heatmap: h.merged(mergeBy(waits, h.dx, f.x, f.width()), mergeBy(waits, h.dy, f.y, f.height()))}
	_, p.most = p.total()
	return p
}

// mergeBy returns how many cells of a width or height must become one along an axis of a
// length, for so many waits.
func mergeBy(waits uint64, cell float64, a axis, length vg.Length) int {
	shown := (a.max - a.min) / cell
	const slack = 0.2 // rather a little smaller than twice as large
	return max(1, int(math.Ceil(cellSize(waits)*shown/float64(length)-slack)))
}

// shade returns where a count lies on the colour scale, by logarithm: 0 is one
// wait, 1 the most in any cell. Where that is but a few, the scale does not
// reach its darkest: the colours of two waits and of a thousand stay apart.
func (p heatPlot) shade(n uint32) float64 {
	const few = 30
	return math.Log(float64(n)) / math.Log(math.Max(float64(p.most), few))
}

// draw paints the cells into the frame.
func (p heatPlot) draw(f frame) {
	f.raster(func(img *image.NRGBA, w, h int) {
		for x := range w {
			at := f.x.value((float64(x) + 0.5) / float64(w))
			for y := range h {
				if n := p.cellAt(at, f.y.value(1-(float64(y)+0.5)/float64(h))); n > 0 {
					img.SetNRGBA(x, y, heatColour(p.shade(n)))
				}
			}
		}
	})
}

// drawScale draws the colour bar into the canvas, a narrow strip beside the
// heat map, with round counts and the greatest count beside it.
func (p heatPlot) drawScale(c canvas) {
	const bar, gap = 8, 10
	strip := c.area(vg.Rectangle{Min: c.Min, Max: vg.Point{X: c.Min.X + bar, Y: c.Max.Y}})
	if p.most <= 1 {
		strip.Min.Y = c.Max.Y - bar
	}
	strip.raster(func(img *image.NRGBA, w, h int) {
		for y := range h {
			col := heatColour(p.shade(p.most) * (1 - (float64(y)+0.5)/float64(h)))
			for x := range w {
				img.SetNRGBA(x, y, col)
			}
		}
	})
	sty := aligned(style(smallSize, ink), text.XLeft, text.YCenter)
	x, top := c.Min.X+bar+4, c.Max.Y-2
	c.say(sty, x, top, shortCount(float64(p.most)))
	for n := uint32(1); n < p.most; n *= 10 {
		y := c.Min.Y + c.height()*vg.Length(p.shade(n)/p.shade(p.most))
		if top-y >= gap {
			c.say(sty, x, y, shortCount(float64(n)))
		}
		if n > math.MaxUint32/10 {
			break
		}
	}
}
