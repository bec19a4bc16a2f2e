package page

import (
	"fmt"
	"math"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/report/document"
	"github.com/schedscope/schedscope/report/view"
)

// The tables below hold what charts show, for those who do not see them.

// uses are what procs did, in the order in which they are stacked.
var uses = []result.Use{result.UseUser, result.UseSyscall, result.UseGC, result.UseAssist, result.UseRuntime,
	result.UseSearching, result.UseStopped, result.UseIdle, result.UseUnknown}

// overTime is the dashboard: latency, procs, run queues and heap on one clock.
func (p *pageView) overTime() {
	s := p.section("over-time", "Over time", "Latency, procs, run queues and heap on one clock.")
	if p.several() {
		s.Lead += " The traces lie on top of each other, each from its own beginning."
	}
	if len(p.r.Heat.Cells) > 0 {
		p.chart(s, "heat-chart", "tall", "Scheduling latency: waits by when they ended and how long they were", p.heatTable())
	}
	if len(p.r.Series.Covered) > 0 {
		p.chart(s, "procs-chart", "middle", "Procs over time, by what they did", p.procsTable())
		p.chart(s, "runnable-chart", "low", "Runnable goroutines over time, with the runtime's own", p.runnableTable())
		if slices.Max(append([]uint64{0}, p.r.Series.Heap...)) > 0 {
			p.chart(s, "heap-chart", "low", "Heap over time: live objects and the goal of the garbage collector", p.heapTable())
		}
	}
	p.add(s, view.Uses(p.r))
}

// stretches is how many rows a table of what a curve shows has at most.
const stretches = 24

// stretchTable returns a table with a row for each stretch of so many bins. Cells returns
// what the columns after the first two have for the bins from lo to hi.
func stretchTable(id, caption string, bins int, start, width int64, columns []document.Column, cells func(lo, hi int) []any) *document.Table {
	t := &document.Table{ID: id, Caption: caption, Columns: append([]document.Column{document.Instant("from"), document.Instant("to")}, columns...)}
	k := min(bins, stretches)
	for i := range k {
		lo, hi := i*bins/k, (i+1)*bins/k
		t.Row(append([]any{start + int64(lo)*width, start + int64(hi)*width}, cells(lo, hi)...)...)
	}
	return t
}

// overBins is stretchTable of the series.
func (p *pageView) overBins(id, caption string, columns []document.Column, cells func(lo, hi int) []any) *document.Table {
	s := &p.r.Series
	return stretchTable(id, caption, len(s.Covered), int64(s.Start), int64(s.Width), columns, cells)
}

// total sums up the bins that there are.
func total(bins []int64, lo, hi int) int64 {
	var sum int64
	for i := lo; i < min(hi, len(bins)); i++ {
		sum += bins[i]
	}
	return sum
}

// most returns the greatest of the bins that there are.
func most[T int | uint64](bins []T, lo, hi int) T {
	var greatest T
	for i := lo; i < min(hi, len(bins)); i++ {
		greatest = max(greatest, bins[i])
	}
	return greatest
}

// causeSeries is the table of causes over time.
func (p *pageView) causeSeries() *document.Table {
	s := &p.r.Causes.Series
	var columns []document.Column
	var shown []string
	bins := 0
	for _, g := range view.Groups {
		if slices.ContainsFunc(s.Causes, func(c result.CauseCurve) bool {
			return view.GroupOf(c.Cause) == g.ID && slices.Max(append(c.Bins, 0)) > 0
		}) {
			shown = append(shown, g.ID)
			columns = append(columns, document.Number(g.Label, 3))
		}
	}
	for _, c := range s.Causes {
		bins = max(bins, len(c.Bins))
	}
	return stretchTable("t-causes-time", "Mean number of goroutines waiting to run, by cause and time", bins, int64(s.Start), int64(s.Width), columns, func(lo, hi int) []any {
		var cells []any
		for _, g := range shown {
			var sum int64
			for _, c := range s.Causes {
				if view.GroupOf(c.Cause) == g {
					sum += total(c.Bins, lo, hi)
				}
			}
			cells = append(cells, float64(sum)/float64(max(int64(hi-lo)*int64(s.Width), 1)))
		}
		return cells
	})
}

// heatTable counts waits by time and by decade of length.
func (p *pageView) heatTable() *document.Table {
	h := &p.r.Heat
	limits := []int64{1e3, 1e4, 1e5, 1e6, 1e7, 1e8}
	headings := []document.Column{document.Count("waits")}
	for i, limit := range limits {
		name := "< " + textui.Duration(limit)
		if i > 0 {
			name = fmt.Sprintf("%s to %s", textui.Duration(limits[i-1]), textui.Duration(limit))
		}
		headings = append(headings, document.Count(name))
	}
	headings = append(headings, document.Count("more"))
	columns := 0
	for _, c := range h.Cells {
		columns = max(columns, int(c[0])+1)
	}
	return stretchTable("t-heat", "Waits by when they ended and how long they were", columns, int64(h.Start), int64(h.Width), headings, func(lo, hi int) []any {
		counts := make([]int64, 1+len(limits)+1) // all of them, then by length
		for _, c := range h.Cells {
			if int(c[0]) < lo || int(c[0]) >= hi || c[1] < 0 || int(c[1]) >= len(h.Bounds) {
				continue
			}
			i := 0
			for i < len(limits) && h.Bounds[c[1]] >= limits[i] {
				i++
			}
			counts[0] += c[2]
			counts[1+i] += c[2]
		}
		var cells []any
		for _, n := range counts {
			cells = append(cells, n)
		}
		return cells
	})
}

func (p *pageView) procsTable() *document.Table {
	s := &p.r.Series
	var columns []document.Column
	var shown []result.Use
	for _, u := range uses {
		if list := s.Uses[u]; total(list, 0, len(list)) > 0 {
			shown = append(shown, u)
			columns = append(columns, document.Number(u.Label(), 2))
		}
	}
	return p.overBins("t-procs-time", "Mean number of procs, by what they did and when", columns, func(lo, hi int) []any {
		var cells []any
		for _, u := range shown {
			cells = append(cells, float64(total(s.Uses[u], lo, hi))/float64(max(total(s.Covered, lo, hi), 1)))
		}
		return cells
	})
}

func (p *pageView) runnableTable() *document.Table {
	s := &p.r.Series
	columns := []document.Column{document.Number("mean", 2), document.Count("at most")}
	return p.overBins("t-runnable-time", "Runnable goroutines over time", columns, func(lo, hi int) []any {
		return []any{float64(total(s.Runnable, lo, hi)) / float64(max(total(s.Covered, lo, hi), 1)), most(s.MaxRunnable, lo, hi)}
	})
}

func (p *pageView) heapTable() *document.Table {
	s := &p.r.Series
	columns := []document.Column{document.Bytes("live, at most"), document.Bytes("goal, at most")}
	return p.overBins("t-heap-time", "Heap over time", columns, func(lo, hi int) []any {
		cells := []any{nil, nil}
		for i, list := range [][]uint64{s.Heap, s.Goal} {
			if n := most(list, lo, hi); n > 0 {
				cells[i] = n
			}
		}
		return cells
	})
}

// curve is a spectrum of the picture.
type curve struct {
	label string
	*result.Spectrum
}

// curves are all spectra that have points, those of the reference last. With several
// traces the references, which are each of one trace, are left out.
func (p *pageView) curves() []curve {
	var list []curve
	for i := range p.r.Latency.Spectra {
		x := &p.r.Latency.Spectra[i]
		if len(x.Points) > 0 {
			list = append(list, curve{textui.Clean(view.OriginLabel(x.Name)), x})
		}
	}
	if len(p.r.Traces) != 1 || p.r.Traces[0].Reference == nil {
		return list
	}
	ref := p.r.Traces[0].Reference
	labels := map[string]string{"go_rules": "simulated: Go's rules", "ideal": "simulated: ideal scheduler"}
	for i := range ref.Spectra {
		x := &ref.Spectra[i]
		if label, ok := labels[x.Name]; ok && len(x.Points) > 0 {
			list = append(list, curve{label, x})
		}
	}
	return list
}

// percentiles are the rows of the spectrum's table.
var percentiles = []struct {
	name string
	q    float64
}{{"p50", .5}, {"p75", .75}, {"p90", .9}, {"p95", .95}, {"p99", .99}, {"p99.5", .995}, {"p99.9", .999}, {"p99.95", .9995}, {"p99.99", .9999}, {"p99.999", .99999}}

// spectrumTable says what each curve is at some percentiles. It has no cell where a curve
// has no point of just that percentile.
func (p *pageView) spectrumTable() *document.Table {
	list := p.curves()
	t := &document.Table{ID: "t-spectrum", Caption: "Scheduling latency by percentile", Columns: []document.Column{document.Word("percentile")}}
	for _, c := range list {
		t.Columns = append(t.Columns, document.Duration(c.label))
	}
	for _, x := range percentiles {
		cells, any := []any{x.name}, false
		for _, c := range list {
			at := c.at(x.q)
			cells, any = append(cells, at), any || at != nil
		}
		if any {
			t.Row(cells...)
		}
	}
	return t
}

// at returns the length at a percentile, nil if the curve has no point there.
func (c *curve) at(q float64) any {
	for _, point := range c.Points {
		if math.Abs(point.Q-q) < 1e-12 {
			return point.Value
		}
	}
	return nil
}

func (p *pageView) histogramTable() *document.Table {
	l := &p.r.Latency
	t := &document.Table{ID: "t-histogram", Caption: "Waits by length", Columns: []document.Column{document.Duration("from"), document.Duration("to"), document.Count("waits"), document.Share("share")}}
	for _, b := range l.Histogram {
		t.Row(b.From, b.To, b.Count, float64(b.Count)/float64(max(l.All.Count, 1)))
	}
	return t
}
