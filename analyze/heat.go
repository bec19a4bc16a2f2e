package analyze

import (
	"math"
	"math/bits"
	"sort"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/sums"
	"github.com/schedscope/schedscope/model"
)

const (
	// HeatCols is the greatest number of time bins of a [Heat].
	HeatCols = 1024
	// HeatRows is its number of latency bins.
	HeatRows = 111
	// heatPerDecade rows make a factor of ten; the first begins at one tick of
	// the trace's clock, the last one ends past 100 s.
	heatPerDecade = 12
	heatFirst     = 64
)

// heatBounds are the lower bounds of rows; the first row takes what is shorter
// as well, the last what is longer.
var heatBounds = func() (b [HeatRows]model.Duration) {
	for i := range b {
		b[i] = model.Duration(math.Round(heatFirst * math.Pow(10, float64(i)/heatPerDecade)))
	}
	return b
}()

// heatOctave is for each bit length of a duration the row of the shortest one.
var heatOctave = func() (rows [65]int) {
	for n := range rows {
		lo := model.Duration(0)
		if n > 0 {
			lo = model.Duration(uint64(1) << (n - 1) & math.MaxInt64)
		}
		rows[n] = max(0, sort.Search(HeatRows, func(i int) bool { return heatBounds[i] > lo })-1)
	}
	return rows
}()

// heatRow returns the row of a duration.
func heatRow(d model.Duration) int {
	row := heatOctave[bits.Len64(uint64(max(d, 0)))]
	for row+1 < HeatRows && heatBounds[row+1] <= d {
		row++
	}
	return row
}

// Heat counts scheduling latencies by time and length: true waits of the
// program's goroutines (see [Latency]), at the time when they ended, that is
// when the goroutine began to run. Time bins double like those of a [Timeline].
type Heat struct {
	sums.Clock
	sums.Bins[heatCol]
}

type heatCol [HeatRows]uint32

// NewHeat returns an empty Heat.
func NewHeat() *Heat { return &Heat{Bins: sums.NewBins(HeatCols, (*heatCol).join)} }

// Start returns when the first column starts, as an offset from the origin.
func (h *Heat) Start() model.Time { return h.Offset(h.First()) }

// Cols returns the number of columns in use.
func (h *Heat) Cols() int { return len(h.Used()) }

// Count returns the number of waits in a column and row.
func (h *Heat) Count(col, row int) uint32 { return h.Used()[col][row] }

// HeatBounds returns a row's lengths: from lo up to, not including, hi. The
// first row's lo and the last row's hi are nominal: they take everything beyond.
func HeatBounds(row int) (lo, hi model.Duration) {
	if row+1 < HeatRows {
		return heatBounds[row], heatBounds[row+1]
	}
	return heatBounds[row], model.Duration(math.Round(heatFirst * math.Pow(10, float64(HeatRows)/heatPerDecade)))
}

// GoSpan implements [model.GoSpanObserver].
func (h *Heat) GoSpan(s *model.GoSpan) {
	if s.Waits() {
		h.Bin(s.End)[heatRow(s.Duration())]++
	}
}

func (c *heatCol) join(o *heatCol) {
	for i, n := range o {
		c[i] += n
	}
}

// Result adds the results to v.
func (h *Heat) Result(v *result.Report) {
	joined := result.JoinedBins(h.Cols(), result.HeatCols)
	x := result.Heat{Start: h.Start(), Width: h.Width() * model.Duration(joined), Bounds: make([]int64, HeatRows), Cells: []result.HeatCell{}}
	for row := range x.Bounds {
		lo, _ := HeatBounds(row)
		x.Bounds[row] = int64(lo)
	}
	for cols := h.Used(); len(cols) > 0; cols = cols[min(joined, len(cols)):] {
		sum, col := heatCol{}, len(h.Used())-len(cols)
		for i := range cols[:min(joined, len(cols))] {
			sum.join(&cols[i])
		}
		for row, n := range sum {
			if n > 0 {
				x.Cells = append(x.Cells, result.HeatCell{int64(col / joined), int64(row), int64(n)})
			}
		}
	}
	v.Heat = x
}
