package chart

import (
	"image"
	"image/color"
	"math"
)

// series are values over time in columns of equal width; nothing is known
// outside them.
type series struct {
	x0, dx float64 // left edge of the first column and width of each, in ns
	v      []float64
}

// parts calls f for each column of s that touches one of n equal parts of an
// axis, with the part, the column's value and how much of the part it covers.
func (s series) parts(a axis, n int, f func(part int, v, cover float64)) {
	if len(s.v) == 0 || !(s.dx > 0) {
		return
	}
	width := (a.max - a.min) / s.dx / float64(n) // of a part, in columns
	if !(width > 0) {
		return
	}
	for i := range n {
		lo := (a.min-s.x0)/s.dx + float64(i)*width
		hi := lo + width
		for k := int(max(lo, 0)); k < len(s.v) && float64(k) < hi; k++ {
			if cover := (math.Min(hi, float64(k+1)) - math.Max(lo, float64(k))) / width; cover > 1e-9 {
				f(i, s.v[k], cover)
			}
		}
	}
}

// means returns the mean over each of n equal parts of an axis, 0 where
// nothing is known.
func (s series) means(a axis, n int) []float64 {
	out, known := make([]float64, n), make([]float64, n)
	s.parts(a, n, func(i int, v, cover float64) {
		out[i] += v * cover
		known[i] += cover
	})
	for i := range out {
		if known[i] > 0 {
			out[i] /= known[i]
		}
	}
	return out
}

// peaks returns the maximum over each of n equal parts of an axis.
func (s series) peaks(a axis, n int) []float64 {
	out := make([]float64, n)
	s.parts(a, n, func(i int, v, _ float64) { out[i] = max(out[i], v) })
	return out
}

// band is one layer of a stacked area over time.
type band struct {
	name   string
	col    color.NRGBA
	height series
}

// drawBands paints bands on top of each other from the frame's bottom on.
// Edges between pixels are blended.
func drawBands(f frame, bands []band) {
	f.raster(func(img *image.NRGBA, w, h int) {
		cols := make([][]float64, len(bands))
		for k, b := range bands {
			cols[k] = b.height.means(f.x, w)
		}
		edge := make([]float64, len(bands)+1)
		for x := range w {
			edge[0] = 0
			for k := range bands {
				edge[k+1] = edge[k] + clamp(cols[k][x], 0, math.MaxFloat64)
			}
			for k := range edge {
				edge[k] = clamp(f.y.at(edge[k]), 0, 1) * float64(h)
			}
			paintColumn(img, x, h, edge, bands)
		}
	})
}

// paintColumn fills one column of pixels with the bands between these edges,
// which are heights in pixels above the bottom.
func paintColumn(img *image.NRGBA, x, h int, edge []float64, bands []band) {
	for k, b := range bands {
		lo, hi := edge[k], edge[k+1]
		for y := int(lo); y < h && float64(y) < hi; y++ {
			cover := math.Min(hi, float64(y+1)) - math.Max(lo, float64(y))
			blend(img, x, h-1-y, b.col, cover)
		}
	}
}

// blend adds a colour that covers a fraction of a pixel to what covers it
// already. Fractions of one pixel add up to at most 1.
func blend(img *image.NRGBA, x, y int, c color.NRGBA, cover float64) {
	if cover > 1-1e-6 {
		img.SetNRGBA(x, y, c)
		return
	}
	old := img.NRGBAAt(x, y)
	had := float64(old.A) / 255
	if had+cover <= 0 {
		return
	}
	m := mix(old, c, cover/(had+cover))
	m.A = uint8(math.Min(255, math.Round((had+cover)*255)))
	img.SetNRGBA(x, y, m)
}
