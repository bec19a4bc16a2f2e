package chart

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// originColours are the colours of how goroutines became runnable; blue is left
// to all together.
var originColours = [model.NumOrigins]color.NRGBA{
	model.OriginUnknown:   slate,
	model.OriginCreated:   sky,
	model.OriginGoroutine: green,
	model.OriginTimer:     purple,
	model.OriginNetpoll:   orange,
	model.OriginSyscall:   ochre,
	model.OriginPreempted: vermil,
	model.OriginGosched:   brown,
	model.OriginGoyield:   violet,
	model.OriginSTW:       ink,
	model.OriginGC:        crimson,
	model.OriginInjected:  grey,
	model.OriginCoroutine: lime,
}

// waits are the lengths of waits that a picture shows together.
type waits struct {
	name   string
	col    color.NRGBA
	values *dist.Dist
}

// waitsByOrigin returns all waits of a report and those of the commonest origins: more than
// most cannot be told apart. The note says how many are shown if that is not all, missing
// why there is nothing to show.
func waitsByOrigin(l *result.Latency, most int) (list []waits, note, missing string) {
	list = []waits{{"All", blue, l.All.Values()}}
	if l.All.Count == 0 {
		return nil, "", noWaits
	}
	order := sortedIndex(len(l.ByOrigin), func(a, b int) bool { return l.ByOrigin[a].Count > l.ByOrigin[b].Count })
	if n := len(order); n > most {
		note = fmt.Sprintf("; %d of %d origins shown", most, n)
		order = order[:most]
	}
	for _, i := range order {
		x := waits{printable(l.ByOrigin[i].Name), slate, l.ByOrigin[i].Values()}
		for o := range model.NumOrigins {
			if o.String() == l.ByOrigin[i].Name {
				x.name, x.col = result.OriginName(o), originColours[o]
			}
		}
		list = append(list, x)
	}
	if slices.ContainsFunc(list, func(x waits) bool { return x.values == nil }) {
		return nil, "", "the report does not contain the lengths of single waits"
	}
	return list, note, ""
}

// spectrum returns the picture of scheduling latency by percentile: of all the
// program's goroutines, and of the commonest origins.
func (in *Input) spectrum() *Picture {
	list, note, missing := waitsByOrigin(&in.Report.Latency, 4)
	s := &spectrum{named: true, note: note}
	for _, x := range list {
		n := x.values.Count()
		s.curves = append(s.curves, newCurve(x.name+", "+textui.Count(n), x.col, n, x.values))
	}
	s.legend = []entry{{name: "all goroutines of the program, " + textui.Count(in.Report.Latency.All.Count), col: blue, mark: markLine}}
	return in.picture("spectrum", "Scheduling latency by percentile", 400, missing, s.draw)
}

// binsPerDecade is the resolution of histograms: bins 17 % wide show modes and
// do not break them up.
const binsPerDecade = 15

// histogram counts waits in bins of equal width in log10 of nanoseconds: bin i
// begins at 10^(i/binsPerDecade) ns.
type histogram struct {
	waits
	p50, p99 float64 // ns; 0 for the latter if too few lie beyond
	count    []int64
}

// histogramOf counts the lengths of time.
func histogramOf(x waits) histogram {
	h := histogram{waits: x, p50: float64(x.values.Quantile(0.5))}
	if x.values.Count() >= 100*enoughBeyond {
		h.p99 = float64(x.values.Quantile(0.99))
	}
	x.values.Each(func(v model.Duration, n int64) {
		i := binOf(float64(v))
		h.count = append(h.count, make([]int64, max(0, i+1-len(h.count)))...)
		h.count[i] += n
	})
	return h
}

// binOf returns the bin of a length of time.
func binOf(ns float64) int {
	return int(math.Floor(log10ns(ns)*binsPerDecade + 1e-9))
}

const histogramTitle = "Scheduling latency by origin"

// histogram returns the picture that counts waits by length: of all the program's
// goroutines and, below, of each origin. They share both axes, so that heights can be compared.
func (in *Input) histogram() *Picture {
	list, note, missing := waitsByOrigin(&in.Report.Latency, 7)
	var hs []histogram
	for _, x := range list {
		hs = append(hs, histogramOf(x))
	}
	if missing != "" {
		return in.picture("histogram", histogramTitle, 0, missing, nil)
	}
	lo, hi, top := histogramRange(hs)
	var ps []panel
	for _, h := range hs {
		ps = append(ps, h.panel(top))
	}
	return in.picture("histogram", histogramTitle, vg.Length(120+78*max(len(hs), 2)), missing, func(c canvas) {
		x := axis{lo, hi, logTicks(lo, hi, int(c.width()/52), durationLabel)}
		c.drawPanels(x, "scheduling latency; heights: waits per bin, 15 bins per decade"+note, 4, ps)
	})
}

// histogramRange returns the range of latencies that hold waits, in log10 of
// ns, and the greatest count of any bin.
func histogramRange(hs []histogram) (lo, hi float64, top int64) {
	first, last := math.MaxInt, 0
	for _, h := range hs {
		for i, n := range h.count {
			if n > 0 {
				first, last, top = min(first, i), max(last, i), max(top, n)
			}
		}
	}
	lo, hi = widen(float64(first)/binsPerDecade, float64(last+1)/binsPerDecade, 0.5, 1.5)
	return lo, hi, top
}

// percentileRoom is the height above the bars for the names of percentiles.
const percentileRoom = 10

// panel draws the histogram on a logarithmic count axis that ends above top:
// a tail of ten waits is as visible as a body of a million, and so is a bin of one.
func (h histogram) panel(top int64) panel {
	lo, hi := math.Log10(0.5), math.Log10(float64(top))
	note := textui.Plural(h.values.Count(), "wait") + ", p50 " + durationLabel(h.p50)
	if h.p99 > 0 {
		note += ", p99 " + durationLabel(h.p99)
	}
	return panel{
		heading: h.name,
		note:    note,
		weight:  1,
		y: func(height vg.Length) axis {
			hi := lo + (hi-lo)/(1-percentileRoom/max(float64(height), 3*percentileRoom))
			ticks := logTicks(0, hi, int(height/14), shortCount)
			return axis{lo, hi, slices.DeleteFunc(ticks, func(t tick) bool { return t.label == "" })}
		},
		draw: func(f frame) {
			for i, n := range h.count {
				if n > 0 {
					x0, x1 := f.snap(f.px(float64(i)/binsPerDecade)), f.snap(f.px(float64(i+1)/binsPerDecade))
					f.fill(h.col, x0, f.Min.Y, x1-0.5, f.py(math.Log10(float64(n))))
				}
			}
			if h.p99 > 0 {
				f.percentile("p99", h.p99, false)
			}
			f.percentile("p50", h.p50, true)
		},
	}
}

// percentile draws a line through the frame at a length of time, and its name
// above the bars: at the left of the line if asked for, else at its right.
func (f frame) percentile(name string, ns float64, left bool) {
	x := f.px(log10ns(ns))
	f.stroke(draw.LineStyle{Color: ink, Width: 0.8, Dashes: []vg.Length{3, 2}}, x, f.Min.Y, x, f.Max.Y)
	sty := aligned(style(smallSize, ink), text.XLeft, text.YTop)
	at := x + 3
	if left && x-f.Min.X > sty.Width(name)+3 {
		at = x - 3 - sty.Width(name)
	}
	f.say(sty, at, f.Max.Y, name)
}
