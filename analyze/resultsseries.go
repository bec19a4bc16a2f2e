package analyze

import (
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

func resultSeries(t *Timeline) result.Series {
	bins := t.Bins()
	joined := result.JoinedBins(len(bins), result.SeriesBins)
	n := result.CeilDiv(len(bins), joined)
	v := result.Series{
		Start: t.Start(), Width: t.Width() * model.Duration(joined),
		Covered: make([]int64, n), Procs: make([]int64, n), Runnable: make([]int64, n),
		MaxRunnable: make([]int, n), Heap: make([]uint64, n), Goal: make([]uint64, n),
	}
	for use := range v.Uses {
		v.Uses[use] = make([]int64, n)
	}
	for i := range bins {
		b, k := &bins[i], i/joined
		v.Covered[k] += int64(b.Covered)
		v.Procs[k] += int64(b.Procs)
		v.Runnable[k] += int64(b.Runnable)
		v.MaxRunnable[k] = max(v.MaxRunnable[k], b.MaxRunnable)
		v.Heap[k] = max(v.Heap[k], b.Heap)
		v.Goal[k] = max(v.Goal[k], b.Goal)
		for use, list := range v.Uses {
			list[k] += int64(b.Uses[use])
		}
	}
	return v
}

func resultHeat(h *Heat) result.Heat {
	joined := result.JoinedBins(h.Cols(), result.HeatCols)
	v := result.Heat{Start: h.Start(), Width: h.Width() * model.Duration(joined), Bounds: make([]int64, HeatRows), Cells: []result.HeatCell{}}
	for row := range v.Bounds {
		lo, _ := HeatBounds(row)
		v.Bounds[row] = int64(lo)
	}
	for first := 0; first < h.Cols(); first += joined {
		for row := range HeatRows {
			n := int64(0)
			for col := first; col < min(first+joined, h.Cols()); col++ {
				n += int64(h.Count(col, row))
			}
			if n > 0 {
				v.Cells = append(v.Cells, result.HeatCell{int64(first / joined), int64(row), n})
			}
		}
	}
	return v
}
