package chart

import (
	"image/color"
	"math"
	"strconv"

	"github.com/schedscope/schedscope/analyze/replay"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// WhatIf returns the picture of variants: their latency and throughput, as lines over
// GOMAXPROCS if that is what varies, else as a row each.
func WhatIf(r *replay.Result, trust replay.Trust, source string) *Picture {
	p := &Picture{Name: "what-if", Title: "What if: latency and throughput of the same work", width: 760, height: 400}
	subtitle := "simulated"
	if source != "" {
		subtitle = printable(source) + ": " + subtitle
	}
	switch {
	case trust.Refused != "":
		p.Missing = "the trace cannot tell; the text says why"
	case len(r.Outcomes) < 2:
		p.Missing = "nothing was simulated"
	}
	if p.Missing != "" {
		p.draw = func(c canvas) { c.page(p.Title, subtitle).notice(p.Missing) }
		return p
	}
	x := whatIf{base: r.Outcomes[0], measured: measuredOutcome(r), outcomes: r.Outcomes[1:], points: len(trust.Intervals) == 0,
		throughput: trust.NoThroughput == "", procs: r.MinProcs}
	if !x.points {
		subtitle += "; intervals only: points mean nothing for this trace"
	}
	if x.isRange() {
		p.height = 454
		p.draw = func(c canvas) { x.drawLines(c.page(p.Title, subtitle).caption(fitWords(r, trust.Fit))) }
		return p
	}
	p.height = max(220, vg.Length(124+22*min(len(x.outcomes)+2, maxVariants)))
	p.draw = func(c canvas) { x.drawRows(c.page(p.Title, subtitle).caption(fitWords(r, trust.Fit))) }
	return p
}

// measuredOutcome returns the measured figures in the form of an outcome without throughput.
func measuredOutcome(r *replay.Result) replay.Outcome {
	o := replay.Outcome{Name: "measured"} // not finished: there is nothing to divide by
	for i, q := range r.All.Measured.Quantiles(replay.Quantiles[:]...) {
		v := float64(q)
		o.Figures[i].Value = replay.Range{Mid: v, Low: v, High: v}
	}
	return o
}

// maxVariants is how many variants are shown as rows.
const maxVariants = 40

// whatIf is what a picture of variants shows.
type whatIf struct {
	measured   replay.Outcome
	base       replay.Outcome // simulated, as recorded
	outcomes   []replay.Outcome
	points     bool // else only intervals
	throughput bool // is told
	procs      int  // as recorded
}

// shownFigures are the figures of latency in pictures, and their colours.
var shownFigures = []struct {
	kind replay.FigureKind
	col  color.NRGBA
}{{replay.FigureP50, blue}, {replay.FigureP90, green}, {replay.FigureP99, vermil}}

// isRange reports whether all variants are of one range of GOMAXPROCS, of at least three.
func (x *whatIf) isRange() bool {
	for i := range x.outcomes {
		if o := &x.outcomes[i]; o.Range == "" || o.Range != x.outcomes[0].Range || o.Procs == 0 {
			return false
		}
	}
	return len(x.outcomes) >= 3
}

// lengthAxis returns an axis of lengths of time for all that is shown.
func (x *whatIf) lengthAxis(ticks int) axis {
	lo, hi := math.Inf(1), math.Inf(-1)
	short := false
	for _, o := range append([]replay.Outcome{x.measured, x.base}, x.outcomes...) {
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

// throughputAxis returns an axis of throughput as a part of the baseline's.
func (x *whatIf) throughputAxis(ticks int) axis {
	hi := 1.1
	for i := range x.outcomes {
		if o := &x.outcomes[i]; o.Finished() {
			hi = max(hi, o.Throughput.High*1.05)
		}
	}
	return axis{0, hi, linearTicks(0, hi, ticks, func(v, _ float64) string { return strconv.Itoa(int(math.Round(v*100))) + "%" })}
}

// legend of figures.
func figureEntries() []entry {
	var es []entry
	for _, s := range shownFigures {
		es = append(es, entry{name: s.kind.String(), col: s.col, mark: markLine})
	}
	return es
}

// drawLines draws latency and throughput over GOMAXPROCS.
func (x *whatIf) drawLines(c canvas) {
	first, last := x.outcomes[0].Procs, x.outcomes[len(x.outcomes)-1].Procs
	over := axis{float64(first) - 0.3, float64(last) + 0.3, procTicks(first, last)}
	note := ""
	if x.procs >= first && x.procs <= last {
		note = "dashed: the recorded GOMAXPROCS; crosses: measured there"
	}
	panels := []panel{{
		heading: "Latency", note: note, legend: figureEntries(), weight: 2,
		y: func(h vg.Length) axis { return x.lengthAxis(int(h / 24)) },
		draw: func(f frame) {
			f.recorded(x)
			for _, s := range shownFigures {
				f.ranges(x, s.col, func(o *replay.Outcome) (replay.Range, bool) { return logRange(o.Figures[s.kind].Value), true })
			}
			if note != "" {
				for _, s := range shownFigures {
					f.cross(s.col, f.px(float64(x.procs)), f.py(logRange(x.measured.Figures[s.kind].Value).Mid))
				}
			}
		},
	}}
	if x.throughput {
		panels = append(panels, panel{
			heading: "Throughput", note: "work done per time; 100% is the simulated baseline's, with the recorded GOMAXPROCS", weight: 1,
			y: func(h vg.Length) axis { return x.throughputAxis(int(h / 24)) },
			draw: func(f frame) {
				f.recorded(x)
				f.ranges(x, purple, func(o *replay.Outcome) (replay.Range, bool) { return o.Throughput, o.Finished() })
			},
		})
	}
	c.drawPanels(over, "GOMAXPROCS", 4, panels)
}

// procTicks labels whole numbers.
func procTicks(first, last int) []tick {
	step := int(math.Ceil(niceStep(float64(last-first), 20)))
	var ts []tick
	for n := first; n <= last; n++ {
		t := tick{at: float64(n)}
		if n%max(step, 1) == 0 || n == first {
			t.label = strconv.Itoa(n)
		}
		ts = append(ts, t)
	}
	return ts
}

// recorded marks the recorded GOMAXPROCS.
func (f frame) recorded(x *whatIf) {
	if at := f.px(float64(x.procs)); at >= f.Min.X && at <= f.Max.X {
		f.stroke(dashed(0.8, grey), at, f.Min.Y, at, f.Max.Y)
	}
}

// cross marks a point.
func (f frame) cross(col color.NRGBA, x, y vg.Length) {
	const r = 3.2
	for _, sty := range []draw.LineStyle{line(2.8, white), line(1.3, col)} {
		f.stroke(sty, x-r, y-r, x+r, y+r)
		f.stroke(sty, x-r, y+r, x+r, y-r)
	}
}

// clockTick is one tick of the clock of most traces, in nanoseconds.
const clockTick = 64

// logRange returns a range of lengths on a logarithmic axis. Those that the clock of
// traces does not resolve are drawn as one tick of it.
func logRange(r replay.Range) replay.Range {
	return replay.Range{Mid: log10ns(max(r.Mid, clockTick)), Low: log10ns(max(r.Low, clockTick)), High: log10ns(max(r.High, clockTick))}
}

// ranges draws a figure of all variants over GOMAXPROCS: the area of its ranges, and a
// line through the middles. Variants that have none interrupt it.
func (f frame) ranges(x *whatIf, col color.NRGBA, of func(*replay.Outcome) (replay.Range, bool)) {
	var lows, highs, mids []vg.Point
	flush := func() {
		f.band(lows, highs, mids, col, x.points)
		lows, highs, mids = nil, nil, nil
	}
	for i := range x.outcomes {
		r, ok := of(&x.outcomes[i])
		if !ok {
			flush()
			continue
		}
		at := f.px(float64(x.outcomes[i].Procs))
		lows = append(lows, vg.Point{X: at, Y: f.py(r.Low)})
		highs = append(highs, vg.Point{X: at, Y: f.py(r.High)})
		mids = append(mids, vg.Point{X: at, Y: f.py(r.Mid)})
	}
	flush()
}

// band draws the area between two lines and, if points is true, a line with dots.
func (f frame) band(lows, highs, mids []vg.Point, col color.NRGBA, points bool) {
	if len(lows) == 0 {
		return
	}
	shade := col
	shade.A = 0x38
	if len(lows) > 1 {
		around := append([]vg.Point{}, highs...)
		for i := len(lows) - 1; i >= 0; i-- {
			around = append(around, lows[i])
		}
		f.FillPolygon(shade, around)
	}
	for i := range lows {
		f.stroke(line(1.2, mix(col, white, 0.3)), lows[i].X, lows[i].Y-0.6, highs[i].X, highs[i].Y+0.6)
	}
	if !points {
		// A band without height would not show.
		f.polyline(line(0.8, mix(col, white, 0.45)), lows)
		f.polyline(line(0.8, mix(col, white, 0.45)), highs)
		return
	}
	f.polyline(line(1.4, col), mids)
	for _, p := range mids {
		f.dot(col, p.X, p.Y, 2)
	}
}

// drawRows draws a row for what was measured, for the baseline and for each variant.
func (x *whatIf) drawRows(c canvas) {
	rows := append([]replay.Outcome{x.measured, x.base}, x.outcomes...)
	note := ""
	if len(rows) > maxVariants {
		rows = rows[:maxVariants]
		note = "not all are shown; "
	}
	rows[1].Name = "baseline"
	name := aligned(style(textSize, ink), text.XRight, text.YCenter)
	room := vg.Length(0)
	for i := range rows {
		room = max(room, name.Width(printable(rows[i].Name)))
	}
	room = min(room, c.width()/3) + 10
	c.legend(c.Min.X+room, c.Max.Y-12, figureEntries())
	c.say(rightText(), c.Max.X, c.Max.Y-12, note+"bars: over seeds and ways to serve waits")
	area := c.inset(room, 8, bottomRoom, 20)
	left, right := area, area
	if x.throughput {
		left.Max.X = area.Min.X + area.width()*0.64
		right.Min.X = left.Max.X + 36 // half a label of each
	}
	over := axis{0, float64(len(rows)), nil}
	at := func(f frame, i int) vg.Length { return f.py(float64(len(rows)-i) - 0.5) }
	lf := frame{left, x.lengthAxis(int(left.width() / 60)), over}
	lf.grid()
	for i := range rows {
		y := at(lf, i)
		c.say(name, left.Min.X-8, y, fit(name, printable(rows[i].Name), room-10))
		for k, s := range shownFigures {
			lf.bar(logRange(rows[i].Figures[s.kind].Value), y+vg.Length(1-k)*3.5, s.col, x.points || i == 0)
		}
	}
	lf.bottomAxis(true)
	lf.bottomTitle("scheduling latency; baseline: simulated as recorded")
	if x.throughput {
		drawThroughput(frame{right, x.throughputAxis(int(right.width() / 50)), over}, rows, at, x.points)
	}
}

// drawThroughput draws the throughput of each row.
func drawThroughput(f frame, rows []replay.Outcome, at func(frame, int) vg.Length, points bool) {
	f.grid()
	f.stroke(dashed(0.8, grey), f.px(1), f.Min.Y, f.px(1), f.Max.Y)
	for i := range rows {
		if rows[i].Finished() {
			f.bar(rows[i].Throughput, at(f, i), purple, points)
		}
	}
	f.bottomAxis(true)
	f.bottomTitle("throughput; 100%: the baseline's")
}

// bar draws a range at a height, and its middle.
func (f frame) bar(r replay.Range, y vg.Length, col color.NRGBA, points bool) {
	lo, hi := f.px(r.Low), f.px(r.High)
	if hi-lo < 3 { // it shows, however short
		lo, hi = (lo+hi)/2-1.5, (lo+hi)/2+1.5
	}
	f.stroke(line(2.6, mix(col, white, 0.45)), lo-0.8, y, hi+0.8, y)
	if points {
		f.dot(col, f.px(r.Mid), y, 2.2)
	}
}

// rightText is grey text that ends at its place.
func rightText() draw.TextStyle {
	return aligned(style(textSize, slate), text.XRight, text.YBottom)
}
