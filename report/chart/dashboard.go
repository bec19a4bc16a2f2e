package chart

import (
	"image"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// timeline is what the dashboard shows.
type timeline struct {
	start float64 // of the time axis, in ns
	span  float64
	waits int64
	means string // what is said of means if there are several traces, else ""
	heat  heatmap
	worst point   // end of the longest wait, and its length, in ns
	procs float64 // GOMAXPROCS, the greatest if it changed
	bands []band
	depth depth
	heap  heap
}

// point is a position in a frame.
type point struct{ x, y float64 }

// depth is the number of runnable goroutines: its maximum and its time-weighted
// mean in each column.
type depth struct{ most, mean series }

// heap are the live heap and its goal in bytes; empty if unknown.
type heap struct{ live, goal series }

// scaleRoom is the width at the right of the dashboard for the colour scale.
const scaleRoom = 42

// newDashboard returns the picture of a timeline.
func newDashboard(title, subtitle string, t timeline) *Picture {
	p := &Picture{Name: "dashboard", Title: title, width: 760, height: 600}
	p.draw = func(c canvas) {
		c = c.page(title, subtitle)
		end := t.start + t.span
		x := axis{t.start, end, linearTicks(t.start, end, int(c.width()/70), clockLabel)}
		panels := []panel{t.heatPanel(), t.bandPanel(), t.depthPanel()}
		if len(t.heap.live.v) > 0 {
			panels = append(panels, t.heapPanel())
		}
		clock := "time since the beginning of the trace"
		if t.means != "" {
			clock = "time since the beginning of each trace"
		}
		c.drawPanels(x, clock, scaleRoom, panels)
	}
	return p
}

// heatPanel shows how long goroutines waited for a proc.
func (t timeline) heatPanel() panel {
	lo, hi := t.latencyRange()
	return panel{
		heading: "Scheduling latency",
		note:    "from runnable to running, at the time it ran",
		weight:  4,
		y: func(h vg.Length) axis {
			hi := t.roomAbove(lo, hi, h)
			return axis{lo, hi, logTicks(lo, hi, int(h/16), durationLabel)}
		},
		draw: func(f frame) {
			if t.waits == 0 {
				f.notice(noWaits)
				return
			}
			plot := newHeatPlot(t.heat, f)
			plot.draw(f)
			side := vg.Rectangle{Min: vg.Point{X: f.Max.X + 12, Y: f.Min.Y}, Max: vg.Point{X: f.Max.X + scaleRoom, Y: f.Max.Y}}
			plot.drawScale(f.area(side))
			f.say(aligned(style(smallSize, slate), text.XRight, text.YBottom), f.Max.X+scaleRoom, f.Max.Y+7, "waits per cell")
			f.markWorst(t.worst)
		},
	}
}

// noWaits is what pictures say that have nothing to show.
const noWaits = "no completed waits"

// latencyRange returns the ends of the latency axis: halves of decades around
// the waits.
func (t timeline) latencyRange() (lo, hi float64) {
	lo, hi, ok := t.heat.usedRows()
	if !ok {
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

// markRoom is the height above the longest wait that its mark takes.
const markRoom = 16

// roomAbove returns the upper end of a latency axis of height h, hi or more,
// such that the mark of the longest wait is inside.
func (t timeline) roomAbove(lo, hi float64, h vg.Length) float64 {
	if h < 3*markRoom {
		return hi
	}
	return max(hi, lo+(log10ns(t.worst.y)-lo)/(1-markRoom/float64(h)))
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
	f.ring(vermil, x, y, radius)
	f.say(sty, clampLength(x-width/2, f.Min.X+2, f.Max.X-width), y+radius+1.5, label)
}

// ring draws a circle.
func (c canvas) ring(col color.Color, x, y, radius vg.Length) {
	var p vg.Path
	p.Move(vg.Point{X: x + radius, Y: y})
	p.Arc(vg.Point{X: x, Y: y}, radius, 0, 2*math.Pi)
	p.Close()
	c.SetLineStyle(line(1.2, col))
	c.Stroke(p)
}

// bandPanel shows what the procs did, stacked up to GOMAXPROCS.
func (t timeline) bandPanel() panel {
	var legend []entry
	for _, b := range t.bands {
		legend = append(legend, entry{name: b.name, col: b.col})
	}
	top := max(t.procs, 1)
	return panel{
		heading: "Procs",
		note:    "by what they did" + t.means,
		legend:  legend,
		weight:  2.6,
		y:       func(h vg.Length) axis { return axis{0, top, wholeTicks(top, int(h/18))} },
		draw:    func(f frame) { drawBands(f, t.bands) },
	}
}

// depthPanel shows how many goroutines waited for a proc.
func (t timeline) depthPanel() panel {
	top := 1.0
	for _, v := range t.depth.most.v {
		top = max(top, v)
	}
	return panel{
		heading: "Runnable goroutines",
		note:    "with the runtime's own" + t.means,
		legend:  []entry{{name: "maximum", col: skyPale}, {name: "mean", col: blue}},
		weight:  1.7,
		y:       func(h vg.Length) axis { return axis{0, top * 1.05, wholeTicks(top*1.05, int(h/18))} },
		draw:    func(f frame) { t.depth.draw(f) },
	}
}

// draw paints, per column of pixels, the maximum lightly and the mean strongly.
func (d depth) draw(f frame) {
	f.raster(func(img *image.NRGBA, w, h int) {
		most, mean := d.most.peaks(f.x, w), d.mean.means(f.x, w)
		layers := []band{{col: blue}, {col: skyPale}}
		for x := range w {
			m := clamp(f.y.at(mean[x]), 0, 1) * float64(h)
			p := max(m, clamp(f.y.at(most[x]), 0, 1)*float64(h))
			paintColumn(img, x, h, []float64{0, m, p}, layers)
		}
	})
}

// heapGreen is light, so that the line of the goal stands out.
var heapGreen = mix(green, white, 0.45)

// heapPanel shows the live heap under its goal.
func (t timeline) heapPanel() panel {
	top := 1.0
	for _, v := range slices.Concat(t.heap.live.v, t.heap.goal.v) {
		top = max(top, v)
	}
	top *= 1.05
	legend := []entry{{name: "in use", col: heapGreen}}
	if len(t.heap.goal.v) > 0 {
		legend = append(legend, entry{name: "goal", col: orange, mark: markLine})
	}
	return panel{
		heading: "Heap",
		legend:  legend,
		weight:  1.1,
		y:       func(h vg.Length) axis { return axis{0, top, byteTicks(top, int(h/18))} },
		draw: func(f frame) {
			drawBands(f, []band{{col: heapGreen, height: t.heap.live}})
			f.steps(line(1, orange), t.heap.goal)
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
		y := f.py(v)
		switch n := len(run); {
		case !(v > 0):
			f.polyline(sty, run)
			run = nil
		case n > 0 && run[n-1].Y == y:
			run[n-1].X = x1
		default:
			run = append(run, vg.Point{X: x0, Y: y}, vg.Point{X: x1, Y: y})
		}
	}
	f.polyline(sty, run)
}
