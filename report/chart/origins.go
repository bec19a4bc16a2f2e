package chart

import (
	"fmt"
	"image/color"

	"github.com/schedscope/schedscope/analyze/result"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
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

// originsBySize returns the origins that occur, most waits first.
func originsBySize(l *analyze.Latency) []model.Origin {
	count := func(i int) int64 { return l.ByOrigin[i].Count() }
	var os []model.Origin
	for _, i := range sortedIndex(len(l.ByOrigin), func(a, b int) bool { return count(a) > count(b) }) {
		if count(i) > 0 {
			os = append(os, model.Origin(i))
		}
	}
	return os
}

// spectrumOrigins is how many origins have a curve of their own: more cannot be
// told apart.
const spectrumOrigins = 4

// Spectrum returns the picture of scheduling latency by percentile: of all the
// program's goroutines, and of the commonest origins.
func Spectrum(r *analyze.Report, source string) *Picture {
	all := &r.Latency.All
	curves := []curve{newCurve("all goroutines of the program, "+textui.Count(all.Count()), blue, all.Count(), all.Quantiles)}
	by := originsBySize(r.Latency)
	for _, o := range by[:min(len(by), spectrumOrigins)] {
		d := &r.Latency.ByOrigin[o]
		name := result.OriginName(o) + ", " + textui.Count(d.Count())
		curves = append(curves, newCurve(name, originColours[o], d.Count(), d.Quantiles))
	}
	return newSpectrum("Scheduling latency by percentile", summary(r, source), curves, shownOf(spectrumOrigins, len(by)))
}

// histogramOrigins is how many origins have a histogram of their own; the rest
// is only in that of all.
const histogramOrigins = 7

// Histogram returns the picture that counts waits by length: of all the
// program's goroutines and, below, of each origin.
func Histogram(r *analyze.Report, source string) *Picture {
	hs := []histogram{histogramOf("All", blue, &r.Latency.All)}
	by := originsBySize(r.Latency)
	for _, o := range by[:min(len(by), histogramOrigins)] {
		hs = append(hs, histogramOf(result.OriginName(o), originColours[o], &r.Latency.ByOrigin[o]))
	}
	return newHistogram("Scheduling latency by origin", summary(r, source), hs, shownOf(histogramOrigins, len(by)))
}

// shownOf says how many of some origins are shown, the commonest; "" if all are.
func shownOf(most, all int) string {
	if all <= most {
		return ""
	}
	return fmt.Sprintf("; %d of %d origins shown", most, all)
}

// histogramOf counts the lengths of time in d.
func histogramOf(name string, col color.NRGBA, d *dist.Dist) histogram {
	h := histogram{name: name, col: col}
	if d.Count() > 0 {
		q := d.Quantiles(0.5, 0.99)
		h.p50, h.p99 = float64(q[0]), float64(q[1])
	}
	d.Each(func(v model.Duration, n int64) { h.add(float64(v), n) })
	return h
}
