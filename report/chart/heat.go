package chart

import (
	"image"
	"math"

	"github.com/schedscope/schedscope/analyze/result"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// heatmap counts waits in cells of equal size: col by when they ended, row by
// log10 of how many nanoseconds they took.
type heatmap struct {
	cols, rows int
	x0, dx     float64 // left edge of the first column and width of each, in ns
	y0, dy     float64 // lower edge of the first row and height of each, in log10 of ns
	count      []int64 // count[col*rows+row]
}

// heatOf returns the counts of h, whose rows are equally high. Without waits there are no cells.
func heatOf(h *result.Heat) heatmap {
	m := heatmap{rows: len(h.Bounds), x0: float64(h.Start), dx: float64(h.Width), dy: 1}
	if m.rows > 1 {
		m.y0 = log10ns(float64(h.Bounds[0]))
		m.dy = (log10ns(float64(h.Bounds[m.rows-1])) - m.y0) / float64(m.rows-1)
	}
	for _, c := range h.Cells {
		if n := (int(c[0]) + 1) * m.rows; n > len(m.count) {
			m.cols, m.count = int(c[0])+1, append(m.count, make([]int64, n-len(m.count))...)
		}
		m.count[int(c[0])*m.rows+int(c[1])] += c[2]
	}
	return m
}

// total returns the number of waits and the most in any cell.
func (h heatmap) total() (sum, most int64) {
	for _, n := range h.count {
		sum += n
		most = max(most, n)
	}
	return sum, most
}

// merged returns h with each kx columns and ky rows made one. The last cells
// may cover less than the others.
func (h heatmap) merged(kx, ky int) heatmap {
	m := h
	m.cols, m.rows = (h.cols+kx-1)/kx, (h.rows+ky-1)/ky
	m.dx, m.dy = h.dx*float64(kx), h.dy*float64(ky)
	m.count = make([]int64, m.cols*m.rows)
	for i, n := range h.count {
		m.count[i/h.rows/kx*m.rows+i%h.rows/ky] += n
	}
	return m
}

// cellAt returns the count of the cell that holds a point, 0 outside.
func (h heatmap) cellAt(x, y float64) int64 {
	i, j := math.Floor((x-h.x0)/h.dx), math.Floor((y-h.y0)/h.dy)
	if i >= 0 && j >= 0 && i < float64(h.cols) && j < float64(h.rows) {
		return h.count[int(i)*h.rows+int(j)]
	}
	return 0
}

// latencyRange returns the ends of a latency axis for a heat map: halves of decades around
// the waits.
func (h heatmap) latencyRange() (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for i, n := range h.count {
		if n > 0 {
			row := float64(i % h.rows)
			lo, hi = min(lo, h.y0+row*h.dy), max(hi, h.y0+(row+1)*h.dy)
		}
	}
	if lo > hi {
		return 2, 7 // 100 ns to 10 ms: where waits usually are
	}
	return widen(lo, hi, 0.5, 1.5)
}

// widen moves lo down and hi up to multiples of step, until they are at least
// least apart.
func widen(lo, hi, step, least float64) (float64, float64) {
	lo, hi = math.Floor(lo/step+1e-9)*step, math.Ceil(hi/step-1e-9)*step
	for hi-lo < least {
		hi += step
		if hi-lo < least && lo >= step {
			lo -= step
		}
	}
	return lo, hi
}

// heatScale says how the cells of a heat map are drawn: merged, and with what colour for a
// number of waits.
type heatScale struct {
	cells heatmap
	most  float64 // waits in a cell
}

// newHeatScale decides on cells by the size of a frame. Few waits need large cells to be
// seen; many show more structure in small ones.
func newHeatScale(f frame, h heatmap) *heatScale {
	waits, _ := h.total()
	size := 1.0 // points
	switch {
	case waits < 2_000:
		size = 3.5
	case waits < 20_000:
		size = 2.5
	case waits < 200_000:
		size = 1.5
	}
	join := func(cell float64, a axis, length vg.Length) int {
		const slack = 0.2 // rather a little smaller than twice as large
		if shown := (a.max - a.min) / cell; shown > 0 && !math.IsInf(shown, 0) {
			return max(1, int(math.Ceil(size*shown/float64(length)-slack)))
		}
		return 1
	}
	s := &heatScale{cells: h.merged(join(h.dx, f.x, f.width()), join(h.dy, f.y, f.height()))}
	_, most := s.cells.total()
	s.most = float64(most)
	return s
}

// shade returns where a number of waits lies on the colour scale, by logarithm: 0 is the
// least, 1 the most in any cell. Where that is but a few, the scale does not reach its
// darkest: the colours of two waits and of a thousand stay apart.
func (s *heatScale) shade(n float64) float64 {
	const few = 30
	return math.Log(n) / math.Log(max(s.most, few))
}

// draw paints the cells into the frame.
func (s *heatScale) draw(f frame) {
	f.raster(func(img *image.NRGBA, w, height int) {
		for x := range w {
			at := f.x.value((float64(x) + 0.5) / float64(w))
			for y := range height {
				if n := s.cells.cellAt(at, f.y.value(1-(float64(y)+0.5)/float64(height))); n > 0 {
					img.SetNRGBA(x, y, heatColour(s.shade(float64(n))))
				}
			}
		}
	})
}

// scaleRoom is the width at the right of a heat map for its colour scale.
const scaleRoom = 42

// drawBar draws the colour scale next to a frame, with round counts and the greatest.
func (s *heatScale) drawBar(f frame) {
	const bar, gap = 8, 10
	f.say(aligned(style(smallSize, slate), text.XRight, text.YBottom), f.Max.X+scaleRoom, f.Max.Y+7, "waits per cell")
	if s.most <= 0 {
		return
	}
	strip := f.canvas
	strip.Min.X, strip.Max.X = f.Max.X+12, f.Max.X+12+bar
	if s.most <= 1 {
		strip.Min.Y = f.Max.Y - bar
	}
	strip.raster(func(img *image.NRGBA, w, h int) {
		for i := range w * h {
			img.SetNRGBA(i%w, i/w, heatColour(s.shade(s.most)*(1-(float64(i/w)+0.5)/float64(h))))
		}
	})
	sty := aligned(style(smallSize, ink), text.XLeft, text.YCenter)
	x, top := strip.Max.X+4, f.Max.Y-2
	f.say(sty, x, top, shortCount(s.most))
	free := f.Min.Y - gap
	for n := 1.0; n < s.most; n *= 10 {
		if y := f.Min.Y + f.height()*vg.Length(s.shade(n)/s.shade(s.most)); y-free >= gap && top-y >= gap {
			f.say(sty, x, y, shortCount(n))
			free = y
		}
	}
}
