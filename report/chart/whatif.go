package chart

import (
	"cmp"
	"image/color"
	"math"
	"slices"

	"github.com/schedscope/schedscope/analyze/replay"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// maxVariants is how many variants are shown as rows.
const maxVariants = 40

// WhatIf returns the picture of variants: their latency, as a row each below what was measured.
// Bounds are not drawn, nor are variants whose simulations did not finish.
func WhatIf(r *replay.Result, source string) *Picture {
	subtitle := "simulated"
	if source != "" {
		subtitle = printable(source) + ": " + subtitle
	}
	measured := replay.Outcome{Name: "measured"}
	for i, v := range r.MeasuredFigures() {
		measured.Figures[i].Value = replay.Range{Mid: v, Low: v, High: v}
	}
	rows := []replay.Outcome{measured}
	has := map[replay.Basis]bool{}
	for _, o := range r.Outcomes {
		if o.Finished() {
			rows = append(rows, o)
			has[o.Basis] = true
		}
	}
	missing := ""
	if refused := r.Trust().Refused; refused != "" || len(rows) == 1 {
		missing = "no latency to draw: " + cmp.Or(printable(refused), "what is known of these variants is in the text")
	}
	note := "bars: 80% intervals of fewer procs, else spread of the simulation"
	if !has[replay.BasisChecked] {
		note = "bars: spread of the simulation"
	} else if !has[replay.BasisSpread] {
		note = "bars: 80% intervals"
	}
	if len(rows) > maxVariants {
		rows = rows[:maxVariants]
		note = "not all are shown; " + note
	}
	return newPicture("what-if", "What if: latency of the same work", subtitle, max(220, vg.Length(124+22*len(rows))), missing,
		func(c canvas) { drawVariants(c.caption(fitWords(r)), rows, note) })
}

// shownFigures are the figures of latency in pictures, and their colours.
var shownFigures = []struct {
	kind replay.FigureKind
	col  color.NRGBA
}{{replay.FigureP90, green}, {replay.FigureP99, vermil}}

// drawVariants draws a row for each.
func drawVariants(c canvas, rows []replay.Outcome, note string) {
	name := aligned(style(textSize, ink), text.XRight, text.YCenter)
	room := vg.Length(0)
	for i := range rows {
		room = max(room, name.Width(printable(rows[i].Name)))
	}
	room = min(room, c.width()/3) + 10
	var legend []entry
	for _, s := range shownFigures {
		legend = append(legend, entry{name: s.kind.String(), col: s.col, mark: markLine})
	}
	c.legend(c.Min.X+room, c.Max.Y-12, legend)
	c.say(aligned(style(textSize, slate), text.XRight, text.YBottom), c.Max.X, c.Max.Y-12, note)
	area := c.inset(room, 8, bottomRoom, 20)
	f := frame{area, lengthAxis(rows, int(area.width()/60)), axis{0, float64(len(rows)), nil}}
	f.grid()
	for i := range rows {
		y := f.py(float64(len(rows)-i) - 0.5)
		c.say(name, area.Min.X-8, y, fit(name, printable(rows[i].Name), room-10))
		for k, s := range shownFigures {
			f.bar(logRange(rows[i].Figures[s.kind].Value), y+(0.5-vg.Length(k))*3.5, s.col)
		}
	}
	f.bottomAxis("scheduling latency")
}

// clockTick is one tick of the clock of most traces, in nanoseconds.
const clockTick = 64

// logRange returns a range of lengths on a logarithmic axis. Those that the clock of
// traces does not resolve are drawn as one tick of it.
func logRange(r replay.Range) replay.Range {
	return replay.Range{Mid: log10ns(max(r.Mid, clockTick)), Low: log10ns(max(r.Low, clockTick)), High: log10ns(max(r.High, clockTick))}
}

// lengthAxis returns an axis of lengths of time for all that is shown. Where there is what the
// clock of traces does not resolve it ends there, and says so.
func lengthAxis(rows []replay.Outcome, ticks int) axis {
	lo, hi, short := math.Inf(1), math.Inf(-1), false
	for _, o := range rows {
		for _, s := range shownFigures {
			v := logRange(o.Figures[s.kind].Value)
			lo, hi = min(lo, v.Low), max(hi, v.High)
			short = short || o.Figures[s.kind].Value.Low < clockTick
		}
	}
	lo, hi = widen(lo-0.05, hi+0.05, 0.5, 1.5)
	a := axis{lo, hi, logTicks(lo, hi, ticks, durationLabel)}
	if short {
		end := log10ns(clockTick)
		a.min = end - 0.1
		a.ticks = slices.DeleteFunc(a.ticks, func(t tick) bool { return t.at < end+0.35 })
		a.ticks = slices.Insert(a.ticks, 0, tick{end, "≤" + durationLabel(clockTick)})
	}
	return a
}

// bar draws a range at a height, and its middle.
func (f frame) bar(r replay.Range, y vg.Length, col color.NRGBA) {
	lo, hi := f.px(r.Low), f.px(r.High)
	if hi-lo < 3 { // it shows, however short
		lo, hi = (lo+hi)/2-1.5, (lo+hi)/2+1.5
	}
	f.stroke(line(2.6, mix(col, white, 0.45)), lo-0.8, y, hi+0.8, y)
	f.dot(col, f.px(r.Mid), y, 2.2)
}
