package chart

import (
	"image"
	"image/color"
	"math"

	"github.com/schedscope/schedscope/analyze/result"
)

// series are values over time in columns of equal width; nothing is known
// outside them.
type series struct {
	x0, dx float64 // left edge of the first column and width of each, in ns
	v      []float64
}

// over returns the mean over each of n equal parts of an axis, or the greatest value; 0
// where nothing is known.
func (s series) over(a axis, n int, greatest bool) []float64 {
	out := make([]float64, n)
	width := (a.max - a.min) / s.dx / float64(n) // of a part, in columns
	if !(width > 0 && s.dx > 0) {
		return out
	}
	for i := range n {
		lo := (a.min-s.x0)/s.dx + float64(i)*width
		hi, known := lo+width, 0.0
		for k := int(max(lo, 0)); k < len(s.v) && float64(k) < hi; k++ {
			cover := math.Min(hi, float64(k+1)) - math.Max(lo, float64(k))
			if cover <= 1e-9*width {
				continue
			}
			if known += cover; greatest {
				out[i] = max(out[i], s.v[k])
			} else {
				out[i] += s.v[k] * cover
			}
		}
		if known > 0 && !greatest {
			out[i] /= known
		}
	}
	return out
}

// band is one layer of a stacked area over time.
type band struct {
	name   string
	col    color.NRGBA
	height series
	// behind: the height is not added to those below but behind them, and greatest values
	// are shown, not means.
	behind bool
}

// entries returns the legend of bands.
func entries(bands []band) []entry {
	return result.Each(bands, func(b *band) entry { return entry{name: b.name, col: b.col} })
}

// drawBands paints bands on top of each other from the frame's bottom on. Edges between
// pixels are blended.
func drawBands(f frame, bands []band) {
	f.raster(func(img *image.NRGBA, w, h int) {
		cols := make([][]float64, len(bands))
		for k, b := range bands {
			cols[k] = b.height.over(f.x, w, b.behind)
		}
		edge := make([]float64, len(bands)+1)
		for x := range w {
			for k, b := range bands {
				edge[k+1] = edge[k] + max(cols[k][x], 0)
				if b.behind {
					edge[k+1] = max(edge[k], cols[k][x])
				}
			}
			paintColumn(img, x, h, f.heights(edge, h), bands)
		}
	})
}

// drawBars paints bands on top of each other as a bar for each column of their series, with a
// gap between bars that are wide enough: within a column nothing is known.
func drawBars(f frame, bands []band) {
	const least = 4 // pixels of a bar that has a gap
	f.raster(func(img *image.NRGBA, w, h int) {
		n := 0
		for _, b := range bands {
			n = max(n, len(b.height.v))
		}
		edge := make([]float64, len(bands)+1)
		for i := range n {
			pixel := func(i int) int { // of the left edge of a column
				at := f.x.at(bands[0].height.x0 + bands[0].height.dx*float64(i))
				return int(math.Round(clamp(at, 0, 1) * float64(w)))
			}
			for k, b := range bands {
				edge[k+1] = edge[k]
				if i < len(b.height.v) {
					edge[k+1] += b.height.v[i]
				}
			}
			from, to := pixel(i), pixel(i+1)
			if to-from >= least {
				to -= max(1, f.pixels(0.75))
			}
			for x := from; x < to; x++ {
				paintColumn(img, x, h, f.heights(edge, h), bands)
			}
		}
	})
}

// heights returns values as pixels above the bottom of a frame that is h pixels high.
func (f frame) heights(values []float64, h int) []float64 {
	return result.Each(values, func(v *float64) float64 { return clamp(f.y.at(*v), 0, 1) * float64(h) })
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
