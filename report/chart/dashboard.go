package chart

import (
	"fmt"
	"math"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// point is a position in a frame.
type point struct{ x, y float64 }

// noWaits is what pictures say that have nothing to show.
const noWaits = "no completed waits"

// dashboard returns the picture that shows, on one clock, a heat map of
// scheduling latencies, what the procs did, how many goroutines were runnable
// and the heap. It is the one to take if there is to be only one.
func (in *Input) dashboard() *Picture {
	r := in.Report
	means := ""
	if n := len(r.Traces); n > 1 {
		means = fmt.Sprintf(", mean over up to %d traces", n)
	}
	panels := []panel{heatPanel(r), usePanel(&r.Series, means), depthPanel(&r.Series, means)}
	// Heaps of several processes have no common curve: no panel.
	if live, goal := held(&r.Series, r.Series.Heap), held(&r.Series, r.Series.Goal); len(live.v) > 0 && means == "" {
		panels = append(panels, heapPanel(live, goal))
	}
	return in.picture("dashboard", "Scheduling latency, procs and run queues on one clock", 600, "", func(c canvas) {
		x, clock := in.timeAxis(c.width())
		c.drawPanels(x, clock, scaleRoom, panels)
	})
}

// heatPanel shows how long goroutines waited for a proc.
func heatPanel(r *result.Report) panel {
	heat, all := heatOf(&r.Heat), &r.Latency.All
	lo, hi := heat.latencyRange()
	worst := point{float64(all.MaxAt), float64(all.Max)}
	return panel{
		heading: "Scheduling latency",
		note:    "from runnable to running, at the time it ran",
		weight:  4,
		y: func(h vg.Length) axis {
			hi := roomAbove(lo, hi, log10ns(worst.y), h)
			return axis{lo, hi, logTicks(lo, hi, int(h/16), durationLabel)}
		},
		draw: func(f frame) {
			if all.Count == 0 {
				f.notice(noWaits)
				return
			}
			scale := newHeatScale(f, heat)
			scale.draw(f)
			scale.drawBar(f)
			f.markWorst(worst)
		},
	}
}

// markRoom is the height above the longest wait that its mark takes.
const markRoom = 16

// roomAbove returns the upper end of a latency axis of height h, hi or more,
// such that the mark of the longest wait is inside.
func roomAbove(lo, hi, worst float64, h vg.Length) float64 {
	return max(hi, lo+(worst-lo)/(1-markRoom/float64(h)))
}

// markWorst rings the longest wait and writes above it, where there can be no
// others, how long it was.
func (f frame) markWorst(w point) {
	if !(w.y > 0) {
		return
	}
	const radius = 3.5
	x, y := f.px(w.x), f.py(log10ns(w.y))
	sty := aligned(boldStyle(smallSize, vermil), text.XLeft, text.YBottom)
	label := "max " + durationLabel(w.y)
	width := sty.Width(label)
	var ring vg.Path
	ring.Move(vg.Point{X: x + radius, Y: y})
	ring.Arc(vg.Point{X: x, Y: y}, radius, 0, 2*math.Pi)
	f.SetLineStyle(line(1.2, vermil))
	f.Stroke(ring)
	f.say(sty, clampLength(x-width/2, f.Min.X+2, f.Max.X-width), y+radius+1.5, label)
}

// meanOf returns means over the covered time of what was integrated over time.
func meanOf(s *result.Series, sums []int64) series {
	out := series{x0: float64(s.Start), dx: float64(s.Width), v: make([]float64, len(sums))}
	for i, sum := range sums {
		if s.Covered[i] > 0 {
			out.v[i] = float64(sum) / float64(s.Covered[i])
		}
	}
	return out
}

// usePanel shows what the procs did, stacked up to GOMAXPROCS, without what does not occur.
// Unknown is left out: it stays white.
func usePanel(s *result.Series, means string) panel {
	var bands []band
	for u := range result.UseUnknown {
		if x := occupations[u]; slices.Max(append(s.Uses[u], 0)) > 0 {
			bands = append(bands, band{name: x.name, col: x.col, height: meanOf(s, s.Uses[u])})
		}
	}
	top := 1.0
	for _, v := range meanOf(s, s.Procs).v {
		top = max(top, math.Round(v))
	}
	return panel{
		heading: "Procs",
		note:    "by what they did" + means,
		legend:  entries(bands),
		weight:  2.6,
		y:       func(h vg.Length) axis { return axis{0, top, wholeTicks(top, int(h/18))} },
		draw:    func(f frame) { drawBands(f, bands) },
	}
}

// depthPanel shows how many goroutines waited for a proc: the greatest number lightly, the
// mean strongly.
func depthPanel(s *result.Series, means string) panel {
	most, top := meanOf(s, nil), 1.0
	for _, n := range s.MaxRunnable {
		most.v = append(most.v, float64(n))
		top = max(top, float64(n))
	}
	bands := []band{{name: "mean", col: blue, height: meanOf(s, s.Runnable)}, {name: "maximum", col: skyPale, height: most, behind: true}}
	return panel{
		heading: "Runnable goroutines",
		note:    "with the runtime's own" + means,
		legend:  entries(bands),
		weight:  1.7,
		y:       func(h vg.Length) axis { return axis{0, top * 1.05, wholeTicks(top*1.05, int(h/18))} },
		draw:    func(f frame) { drawBands(f, bands) },
	}
}

// noGoal is where heap goals end and the runtime's way to say that there is
// none begins: all bits set, with GOGC=off (runtime/mgcpacer.go, Go 1.26).
const noGoal = 1 << 60

// held returns samples of the heap, each kept until the next one or until the trace has a
// gap; empty if there are none.
func held(s *result.Series, samples []uint64) series {
	out, any := meanOf(s, nil), false
	last := uint64(0)
	for i, v := range samples {
		if v >= noGoal || v == 0 && s.Covered[i] <= 0 {
			last = 0
		} else if v != 0 {
			last, any = v, true
		}
		out.v = append(out.v, float64(last))
	}
	if !any {
		return series{}
	}
	return out
}

// heapPanel shows the live heap under its goal.
func heapPanel(live, goal series) panel {
	bands := []band{{name: "in use", col: mix(green, white, 0.45), height: live}} // light: the line of the goal stands out
	legend := entries(bands)
	if len(goal.v) > 0 {
		legend = append(legend, entry{name: "goal", col: orange, mark: markLine})
	}
	top := 1.05 * slices.Max(slices.Concat(live.v, goal.v, []float64{1}))
	return panel{
		heading: "Heap",
		legend:  legend,
		weight:  1.1,
		y:       func(h vg.Length) axis { return axis{0, top, byteTicks(top, int(h/18))} },
		draw: func(f frame) {
			drawBands(f, bands)
			f.steps(line(1, orange), goal)
		},
	}
}

// steps draws a line that is level within each column of s and leaves out
// columns of value 0.
func (f frame) steps(sty draw.LineStyle, s series) {
	var run []vg.Point
	for i, v := range s.v {
		x0 := clampLength(f.px(s.x0+s.dx*float64(i)), f.Min.X, f.Max.X)
		x1 := clampLength(f.px(s.x0+s.dx*float64(i+1)), f.Min.X, f.Max.X)
		if !(v > 0) {
			f.polyline(sty, run)
			run = nil
			continue
		}
		run = append(run, vg.Point{X: x0, Y: f.py(v)}, vg.Point{X: x1, Y: f.py(v)})
	}
	f.polyline(sty, run)
}
