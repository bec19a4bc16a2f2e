package chart

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// Help is what its picture shows: by how much requests change if a function is faster.
type Help struct {
	Title, Subtitle, Caption string
	Missing                  string // why there is no picture, "" if there is one
	Changes                  []Change
}

// Change is what one function brings, as parts of the measured p50, p90 and p99: from Low to High, Mid is
// the better estimate. NaN: not known.
type Change struct {
	Function       string
	Low, Mid, High [3]float64
}

// Picture returns a row for each function, with a line from low to high and a dot for each percentile.
func (h *Help) Picture() *Picture {
	const row, pitch = 46, 11
	colours := [3]color.NRGBA{sky, blue, vermil}
	return newPicture("help", h.Title, h.Subtitle, vg.Length(110+row*len(h.Changes)), h.Missing, func(c canvas) {
		c = c.caption(h.Caption)
		var names axis
		lo, hi := -0.01, 0.0
		for i, x := range h.Changes {
			names.ticks = append(names.ticks, tick{float64(len(h.Changes)-i) - 0.5, fitName(style(textSize, ink), shortFunc(printable(x.Function)), c.width()/3)})
			for k := range x.Mid {
				if !math.IsNaN(x.Mid[k]) {
					lo, hi = min(lo, x.Low[k]), max(hi, x.High[k])
				}
			}
		}
		names.max = float64(len(h.Changes))
		in := c.inset(leftRoom(names), 18, bottomRoom, legendPitch+4)
		lo, hi = lo-0.02*(hi-lo), hi+0.01*(hi-lo)
		percent := func(v, step float64) string {
			if math.Abs(v) < step/2 {
				return "0"
			}
			return fmt.Sprintf("%+.3g%%", 100*v)
		}
		f := frame{in, axis{lo, hi, linearTicks(lo, hi, int(in.width()/60), percent)}, names}
		c.legend(in.Min.X, in.Max.Y+6, []entry{{name: "p50", col: colours[0]}, {name: "p90", col: colours[1]}, {name: "p99 of requests", col: colours[2]}})
		f.grid()
		f.leftAxis()
		f.bottomAxis("change of how long requests take")
		f.stroke(line(0.8, slate), f.px(0), f.Min.Y, f.px(0), f.Max.Y)
		say := aligned(style(smallSize, slate), text.XLeft, text.YCenter)
		for i, x := range h.Changes {
			for k, v := range x.Mid {
				y := f.py(names.ticks[i].at) + vg.Length(1-k)*pitch
				if math.IsNaN(v) {
					f.say(say, f.px(0)-40, y, "not known")
					continue
				}
				f.stroke(line(0.8, colours[k]), f.px(0), y, f.px(v), y)
				f.stroke(line(4, colours[k]), f.px(x.Low[k]), y, f.px(x.High[k]), y)
				f.dot(colours[k], f.px(v), y, 3)
			}
		}
	})
}
