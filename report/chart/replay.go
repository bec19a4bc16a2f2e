package chart

import (
	"fmt"
	"image/color"
	"math"

	"github.com/schedscope/schedscope/analyze/replay"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Replayed returns the pictures of a replayed trace: "reference", and "what-if" if
// variants were simulated. The latter is the first then.
func Replayed(r *replay.Result, source string) []*Picture {
	ref := Reference(r, source)
	if len(r.Outcomes) == 0 {
		return []*Picture{ref}
	}
	return []*Picture{WhatIf(r, source), ref}
}

// Reference returns the percentile spectrum of measured and of simulated latency, the area
// between them shaded. It says in words how well they fit.
func Reference(r *replay.Result, source string) *Picture {
	measured, simulated := r.All.Measured, r.All.Simulated()
	subtitle := fmt.Sprintf("%s in %s, %s", textui.Plural(measured.Count(), "wait"), durationLabel(float64(r.Length)), textui.Plural(r.MinProcs, "proc"))
	if source != "" {
		subtitle = printable(source) + ": " + subtitle
	}
	p := &Picture{Name: "reference", Title: "Scheduling latency, measured and under the reference", width: 760, height: 414}
	if measured.Count() == 0 || simulated.Count() == 0 {
		p.Missing = "there are no waits to compare"
		p.draw = func(c canvas) { c.page(p.Title, subtitle).notice(p.Missing) }
		return p
	}
	s := compared{
		measured:  newCurve("measured", blue, measured.Count(), measured.Quantiles),
		reference: referenceCurve(min(measured.Count(), simulated.Count()), simulated),
	}
	s.sample(measured, simulated)
	p.draw = func(c canvas) { s.draw(c.page(p.Title, subtitle).caption(fitWords(r))) }
	return p
}

// fitWords says how well the reference reproduces the recording.
func fitWords(r *replay.Result) string {
	fit := r.Fit(r.Noise)
	if fit == replay.FitUnknown {
		return "too few waits to say how well the reference reproduces this recording"
	}
	rel, how := r.All.Relative(), "closely"
	if r.Fit(nil) != replay.FitClose {
		how = "as closely as recordings do each other"
	}
	s := map[replay.Fit]string{
		replay.FitClose: "the reference reproduces this recording " + how, replay.FitRough: "the reference reproduces this recording roughly",
		replay.FitPoor: "the reference does not reproduce this recording",
	}[fit] + fmt.Sprintf(": off by %s on average (W1), %s of the mean wait", durationLabel(r.All.W1.Mid), shortPercent(rel.Mid))
	if lo, hi := shortPercent(rel.Low), shortPercent(rel.High); lo != hi {
		s += fmt.Sprintf("; %s to %s over %s", lo, hi, textui.Plural(r.Seeds, "seed"))
	}
	return s
}

// caption writes a line of text below the title and returns what is left for the rest.
func (c canvas) caption(s string) canvas {
	sty := style(textSize, slate)
	c.say(sty, c.Min.X, c.Max.Y-9, fit(sty, s, c.width()))
	return c.inset(0, 0, 0, 14)
}

// referenceCurve returns the curve of the waits of all seeds together as if they were n: what
// n waits do not reach is not shown.
func referenceCurve(n int64, d *dist.Dist) curve {
	last := 1 - 0.5/float64(n)
	return newCurve("reference", vermil, n, func(qs ...float64) []model.Duration {
		cut := make([]float64, len(qs))
		for i, q := range qs {
			cut[i] = min(q, last)
		}
		return d.Quantiles(cut...)
	})
}

// compared are two curves of a spectrum and both at the same percentiles.
type compared struct {
	measured, reference curve
	a, b                []point
}

// sample takes both distributions at the same places, as far as both reach.
func (s *compared) sample(measured, simulated *dist.Dist) {
	end := math.Log10(float64(min(measured.Count(), simulated.Count())))
	s.a, s.b = sampled(end, measured.Quantiles), sampled(end, simulated.Quantiles)
}

// Colours of the area between the curves.
var (
	excess  = color.NRGBA{0xF3, 0xC9, 0xB0, 0xff} // the recording is slower
	deficit = color.NRGBA{0xCF, 0xE3, 0xF1, 0xff} // the reference is slower
)

func (s *compared) draw(c canvas) {
	lo, hi, end := math.Inf(1), math.Inf(-1), 1.0
	for _, cv := range []curve{s.measured, s.reference} {
		for _, p := range append(cv.solid[:len(cv.solid):len(cv.solid)], cv.tail...) {
			lo, hi, end = min(lo, p.y), max(hi, p.y), max(end, p.x)
		}
	}
	lo, hi = widen(lo, hi+0.1, 0.5, 1.5)
	c.legend(c.Min.X, c.Max.Y-12, []entry{{name: "measured", col: blue, mark: markLine}, {name: "reference (dashed)", col: vermil, mark: markLine},
		{name: "measured is longer", col: excess}, {name: "reference is longer", col: deficit}})
	y := axis{lo, hi, logTicks(lo, hi, int(c.height()/26), durationLabel)}
	f := frame{x: axis{0, end * 1.02, percentileTicks(end)}, y: y}
	f.canvas = c.inset(leftRoom(y), 10, bottomRoom, 22)
	f.areas(s.a, s.b, excess, deficit)
	f.grid()
	f.polyline(draw.LineStyle{Color: vermil, Width: 1.6, Dashes: []vg.Length{5, 3}}, f.points(s.reference.solid))
	f.polyline(draw.LineStyle{Color: vermil, Width: 1.1, Dashes: []vg.Length{1.5, 2}}, f.points(s.reference.tail))
	f.curve(s.measured, true)
	f.percentiles([]curve{s.measured, s.reference})
	f.leftAxis()
	f.bottomAxis(true)
	f.bottomTitle("percentile of waits; each step to the right leaves a tenth; dotted: fewer than 10 waits lie beyond")
}

// areas fills the area between two curves at the same places, where a is above b in the
// first colour: one polygon as long as the same curve is above.
func (f frame) areas(a, b []point, over, under color.Color) {
	for from := 0; from+1 < len(a); {
		to := from + 1
		for to+1 < len(a) && above(a, b, to+1) == above(a, b, from+1) {
			to++
		}
		col := under
		if above(a, b, from+1) {
			col = over
		}
		around := f.points(a[from : to+1])
		for i := to; i >= from; i-- {
			around = append(around, vg.Point{X: f.px(b[i].x), Y: f.py(b[i].y)})
		}
		f.FillPolygon(col, around)
		from = to
	}
}

// above reports whether a is above b between points i-1 and i.
func above(a, b []point, i int) bool { return a[i].y+a[i-1].y >= b[i].y+b[i-1].y }

// shortPercent writes a part of one for a picture.
func shortPercent(share float64) string {
	if share < 1 {
		return textui.Percent(share)
	}
	return three(share*100) + "%"
}
