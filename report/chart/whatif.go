package chart

import (
	"cmp"
	"image/color"
	"math"
	"slices"

	"github.com/schedscope/schedscope/analyze/replay"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// WhatIf returns the picture of variants: their latency, as a row each. Bounds are not drawn, nor are
// variants whose simulations did not finish.
func WhatIf(r *replay.Result, source string) *Picture {
	p := &Picture{Name: "what-if", Title: "What if: latency of the same work", width: 760, height: 400}
	subtitle := "simulated"
	if source != "" {
		subtitle = printable(source) + ": " + subtitle
	}
	x := whatIf{measured: measuredOutcome(r),
		outcomes: slices.DeleteFunc(slices.Clone(r.Outcomes), func(o replay.Outcome) bool { return !o.Finished() })}
	if refused := r.Trust().Refused; refused != "" || len(x.outcomes) == 0 {
		p.Missing = "no latency to draw: " + cmp.Or(printable(refused), "what is known of these variants is in the text")
		p.draw = func(c canvas) { c.page(p.Title, subtitle).notice(p.Missing) }
		return p
	}
	p.height = max(220, vg.Length(124+22*min(len(x.outcomes)+1, maxVariants)))
	p.draw = func(c canvas) { x.draw(c.page(p.Title, subtitle).caption(fitWords(r))) }
	return p
}

// measuredOutcome returns the measured figures in the form of an outcome.
func measuredOutcome(r *replay.Result) replay.Outcome {
	o := replay.Outcome{Name: "measured"}
	for i, v := range r.MeasuredFigures() {
		o.Figures[i].Value = replay.Range{Mid: v, Low: v, High: v}
	}
	return o
}

// maxVariants is how many variants are shown as rows.
const maxVariants = 40

// whatIf is what a picture of variants shows.
type whatIf struct {
	measured replay.Outcome
	outcomes []replay.Outcome
}

// shownFigures are the figures of latency in pictures, and their colours.
var shownFigures = []struct {
	kind replay.FigureKind
	col  color.NRGBA
}{{replay.FigureP90, green}, {replay.FigureP99, vermil}}

// rangesWords says what the ranges are.
func (x *whatIf) rangesWords() string {
	has := func(b replay.Basis) bool {
		return slices.ContainsFunc(x.outcomes, func(o replay.Outcome) bool { return o.Basis == b })
	}
	switch {
	case !has(replay.BasisChecked):
		return "spread of the simulation"
	case !has(replay.BasisSpread):
		return "80% intervals"
	}
	return "80% intervals of fewer procs, else spread of the simulation"
}

// lengthAxis returns an axis of lengths of time for all that is shown.
func (x *whatIf) lengthAxis(ticks int) axis {
	lo, hi := math.Inf(1), math.Inf(-1)
	short := false
	for _, o := range append([]replay.Outcome{x.measured}, x.outcomes...) {
		for _, s := range shownFigures {
			v := logRange(o.Figures[s.kind].Value)
			lo, hi = min(lo, v.Low), max(hi, v.High)
			short = short || o.Figures[s.kind].Value.Low < clockTick
		}
	}
	lo, hi = widen(lo-0.05, hi+0.05, 0.5, 1.5)
	a := axis{lo, hi, logTicks(lo, hi, ticks, durationLabel)}
	if short {
		a.endAtClockTick()
	}
	return a
}

// endAtClockTick has a logarithmic axis of lengths end where what the clock of traces does not
// resolve is drawn, and say so.
func (a *axis) endAtClockTick() {
	end := log10ns(clockTick)
	a.min = end - 0.1
	ts := []tick{{end, "≤" + durationLabel(clockTick)}}
	for _, t := range a.ticks {
		if t.at < end+0.35 {
			t.label = ""
		}
		if t.at > end {
			ts = append(ts, t)
		}
	}
	a.ticks = ts
}

// legend of figures.
func figureEntries() []entry {
	var es []entry
	for _, s := range shownFigures {
		es = append(es, entry{name: s.kind.String(), col: s.col, mark: markLine})
	}
	return es
}

// clockTick is one tick of the clock of most traces, in nanoseconds.
const clockTick = 64

// logRange returns a range of lengths on a logarithmic axis. Those that the clock of
// traces does not resolve are drawn as one tick of it.
func logRange(r replay.Range) replay.Range {
	return replay.Range{Mid: log10ns(max(r.Mid, clockTick)), Low: log10ns(max(r.Low, clockTick)), High: log10ns(max(r.High, clockTick))}
}

// draw draws a row for what was measured and for each variant.
func (x *whatIf) draw(c canvas) {
	rows := append([]replay.Outcome{x.measured}, x.outcomes...)
	note := ""
	if len(rows) > maxVariants {
		rows = rows[:maxVariants]
		note = "not all are shown; "
	}
	name := aligned(style(textSize, ink), text.XRight, text.YCenter)
	room := vg.Length(0)
	for i := range rows {
		room = max(room, name.Width(printable(rows[i].Name)))
	}
	room = min(room, c.width()/3) + 10
	c.legend(c.Min.X+room, c.Max.Y-12, figureEntries())
	c.say(rightText(), c.Max.X, c.Max.Y-12, note+"bars: "+x.rangesWords())
	area := c.inset(room, 8, bottomRoom, 20)
	f := frame{area, x.lengthAxis(int(area.width() / 60)), axis{0, float64(len(rows)), nil}}
	f.grid()
	for i := range rows {
		y := f.py(float64(len(rows)-i) - 0.5)
		c.say(name, area.Min.X-8, y, fit(name, printable(rows[i].Name), room-10))
		for k, s := range shownFigures {
			f.bar(logRange(rows[i].Figures[s.kind].Value), y+(0.5-vg.Length(k))*3.5, s.col)
		}
	}
	f.bottomAxis(true)
	f.bottomTitle("scheduling latency")
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

// rightText is grey text that ends at its place.
func rightText() draw.TextStyle {
	return aligned(style(textSize, slate), text.XRight, text.YBottom)
}
