package chart

import (
	"cmp"
	"image/color"
	"slices"

	"gonum.org/v1/plot/vg"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
)

// causeColours are the colours of the groups of causes, by their places in
// [result.CauseGroups]: those of what a proc does (see occupations) where a goroutine waits
// for it to be done, others elsewhere. More than ten cannot be distinguished.
var causeColours = []color.NRGBA{blue, purple, orange, sky, slate, lime, vermil, {0xB9, 0xC6, 0xD0, 0xff}, yellow, brown}

// groupOf returns the place of a cause's group by its name; of causes that newer versions of
// the program may know, the last.
func groupOf(cause string) int {
	id := result.Parse(cause, result.NumCauses).Group()
	return slices.IndexFunc(result.CauseGroups, func(g result.CauseGroup) bool { return g.ID == id })
}

// causes returns the picture that shows over time to what the time of waiting goroutines
// was lost, by group, those that occur.
func (in *Input) causes() *Picture {
	r := in.Report
	bands, legend := causeBands(&r.Causes)
	missing := ""
	switch {
	case r.Latency.All.Count == 0:
		missing = noWaits
	case r.Causes.Total == 0:
		missing = printable(r.Causes.Refused)
	}
	note := textui.Either(len(r.Traces) > 1, "sum over all traces of their mean number, by cause", "mean number, by cause")
	top := 0.0
	end, _ := in.timeAxis(naturalWidth)
	var sum []float64
	for _, b := range bands {
		// The last bin may reach beyond the end: its mean is of what is before.
		last, s := len(b.height.v)-1, b.height
		if known := end.max - s.x0 - s.dx*float64(last); known > 0 && known < s.dx {
			s.v[last] *= s.dx / known
		}
		sum = append(sum, make([]float64, max(0, len(b.height.v)-len(sum)))...)
		for i, v := range b.height.v {
			sum[i] += v
			top = max(top, sum[i]*1.05)
		}
	}
	top = cmp.Or(top, 1) // the curves are missing
	panels := []panel{{
		heading: "Goroutines waiting to run",
		note:    note,
		weight:  1,
		y: func(h vg.Length) axis {
			return axis{0, top, linearTicks(0, top, int(h/18), func(v, _ float64) string { return shortCount(v) })}
		},
		draw: func(f frame) { drawBars(f, bands) },
	}}
	return in.picture("causes", "Scheduling latency by cause", 300, missing, func(c canvas) {
		x, clock := in.timeAxis(c.width())
		c.inset(0, 0, 0, c.legend(c.Min.X, c.Max.Y-11, legend)+6).drawPanels(x, clock, 0, panels)
	})
}

// causeBands returns the mean number of goroutines that waited, by group, and the legend,
// with the share of all waiting.
func causeBands(c *result.Causes) (bands []band, legend []entry) {
	totals := make([]int64, len(causeColours))
	for i := range c.Rows {
		totals[groupOf(c.Rows[i].Cause)] += int64(c.Rows[i].Total)
	}
	for g, total := range totals {
		if total == 0 {
			continue
		}
		b := band{name: result.CauseGroups[g].Label, col: causeColours[g], height: series{x0: float64(c.Series.Start), dx: float64(c.Series.Width)}}
		for _, curve := range c.Series.Causes {
			if groupOf(curve.Cause) != g {
				continue
			}
			b.height.v = append(b.height.v, make([]float64, len(curve.Bins)-len(b.height.v))...)
			for i, d := range curve.Bins {
				b.height.v[i] += float64(d) / float64(c.Series.Width)
			}
		}
		bands = append(bands, b)
		legend = append(legend, entry{name: b.name + " " + textui.Ratio(total, int64(c.Total)), col: b.col})
	}
	return bands, legend
}
