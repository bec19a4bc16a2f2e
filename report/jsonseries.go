package report

import (
	"math"
	"slices"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/model"
)

// The most bins and columns that a V1 has. Pictures of a page are hardly wider.
const (
	seriesBins = 512
	heatCols   = 256
)

// joinedBins returns how many neighbours of n bins become one so that there are at most
// limit. It is a power of two, so that the bins of any two reports fit into each other.
func joinedBins(n, limit int) int {
	joined := 1
	for ceilDiv(n, joined) > limit {
		joined *= 2
	}
	return joined
}

func v1Series(t *analyze.Timeline) V1Series {
	bins := t.Bins()
	joined := joinedBins(len(bins), seriesBins)
	n := ceilDiv(len(bins), joined)
	v := V1Series{
		Start: int64(t.Start()), Width: int64(t.Width()) * int64(joined),
		Covered: make([]int64, n), Procs: make([]int64, n), Runnable: make([]int64, n),
		MaxRunnable: make([]int, n), Heap: make([]uint64, n), Goal: make([]uint64, n),
	}
	lists := v.Uses.lists()
	for use := range lists {
		*lists[use] = make([]int64, n)
	}
	for i := range bins {
		b, k := &bins[i], i/joined
		v.Covered[k] += int64(b.Covered)
		v.Procs[k] += int64(b.Procs)
		v.Runnable[k] += int64(b.Runnable)
		v.MaxRunnable[k] = max(v.MaxRunnable[k], b.MaxRunnable)
		v.Heap[k] = max(v.Heap[k], b.Heap)
		v.Goal[k] = max(v.Goal[k], b.Goal)
		for use, list := range lists {
			(*list)[k] += int64(b.Uses[use])
		}
	}
	return v
}

// lists returns the lists by use.
func (s *V1UsesSeries) lists() [analyze.NumUses]*[]int64 {
	return [analyze.NumUses]*[]int64{
		analyze.UseUser: &s.User, analyze.UseGC: &s.GC, analyze.UseAssist: &s.Assist, analyze.UseRuntime: &s.Runtime,
		analyze.UseSyscall: &s.Syscall, analyze.UseSearching: &s.Searching, analyze.UseStopped: &s.Stopped,
		analyze.UseIdle: &s.Idle, analyze.UseUnknown: &s.Unknown,
	}
}

// ceilDiv divides and rounds up; the result is at least 1 so that it can divide, too.
func ceilDiv(a, b int) int { return max(1, (a+b-1)/b) }

func v1Heat(h *analyze.Heat) V1Heat {
	joined := joinedBins(h.Cols(), heatCols)
	v := V1Heat{Start: int64(h.Start()), Width: int64(h.Width()) * int64(joined), Bounds: make([]int64, analyze.HeatRows), Cells: []V1HeatCell{}}
	for row := range v.Bounds {
		lo, _ := analyze.HeatBounds(row)
		v.Bounds[row] = int64(lo)
	}
	for first := 0; first < h.Cols(); first += joined {
		for row := range analyze.HeatRows {
			n := int64(0)
			for col := first; col < min(first+joined, h.Cols()); col++ {
				n += int64(h.Count(col, row))
			}
			if n > 0 {
				v.Cells = append(v.Cells, V1HeatCell{int64(first / joined), int64(row), n})
			}
		}
	}
	return v
}

func v1Spectra(l *analyze.Latency) []V1Spectrum {
	out := []V1Spectrum{v1Spectrum("all", &l.All)}
	for o := range l.ByOrigin {
		if l.ByOrigin[o].Count() > 0 {
			out = append(out, v1Spectrum(model.Origin(o).String(), &l.ByOrigin[o]))
		}
	}
	return out
}

// Points of a spectrum: so many for each factor of ten of 1-q, and those that people
// name, as long as so many waits are beyond.
const (
	spectrumPerDecade = 24
	spectrumBeyond    = 10
)

var spectrumNamed = []float64{0.5, 0.75, 0.95, 0.995, 0.9995} // those of 0.9, 0.99 and so on are points anyway

func v1Spectrum(name string, d *analyze.Dist) V1Spectrum {
	v := V1Spectrum{Name: name, Points: []V1Quantile{}}
	qs := spectrumQuantiles(d.Count())
	for i, ns := range d.Quantiles(qs...) {
		v.Points = append(v.Points, V1Quantile{qs[i], int64(ns)})
	}
	return v
}

// spectrumQuantiles returns of which quantiles a spectrum of n waits has points.
func spectrumQuantiles(n int64) []float64 {
	var qs []float64
	for i := 0; ; i++ {
		beyond := math.Pow(10, -float64(i)/spectrumPerDecade)
		if float64(n)*beyond < spectrumBeyond {
			break
		}
		qs = append(qs, 1-beyond)
	}
	for _, q := range spectrumNamed {
		if float64(n)*(1-q) >= spectrumBeyond {
			qs = append(qs, q)
		}
	}
	slices.Sort(qs)
	return qs
}

// v1ReferenceSpectra returns the spectra of those schedules that there are.
func v1ReferenceSpectra(r *Reference) []V1Spectrum {
	out := []V1Spectrum{}
	for _, x := range []struct {
		name string
		d    *analyze.Dist
	}{{"measured", r.MeasuredWaits}, {"go_rules", r.RulesWaits}, {"ideal", r.IdealWaits}} {
		if x.d != nil {
			out = append(out, v1Spectrum(x.name, x.d))
		}
	}
	return out
}
