package report

import (
	"fmt"
	"math"
	"slices"
)

// binsFit returns an error if bins of both reports cannot be joined to common ones.
func binsFit(a, b *V1) error {
	for _, x := range []struct {
		name string
		a, b int64
	}{
		{"series", widthOf(a.Series.Width, len(a.Series.Covered)), widthOf(b.Series.Width, len(b.Series.Covered))},
		{"heat", widthOf(a.Heat.Width, len(a.Heat.Cells)), widthOf(b.Heat.Width, len(b.Heat.Cells))},
		{"causes.series", widthOf(a.Causes.Series.Width, len(a.Causes.Series.Causes)), widthOf(b.Causes.Series.Width, len(b.Causes.Series.Causes))},
	} {
		if x.a > 0 && x.b > 0 && commonWidth(x.a, x.b) == 0 {
			return fmt.Errorf("the bins of %s, of %d and %d ns, do not fit into each other", x.name, x.a, x.b)
		}
	}
	if len(a.Heat.Cells) > 0 && len(b.Heat.Cells) > 0 && !slices.Equal(a.Heat.Bounds, b.Heat.Bounds) {
		return fmt.Errorf("the rows of heat are other ones")
	}
	return nil
}

// widthOf returns the width of n bins, 0 if there is none.
func widthOf(width int64, n int) int64 {
	if n == 0 {
		return 0
	}
	return width
}

// commonWidth returns the least width of which both are parts, 0 if it is too great. Those
// of reports of this version are powers of two, times a common one.
func commonWidth(a, b int64) int64 {
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	if a/x > math.MaxInt64/1024/b {
		return 0
	}
	return a / x * b
}

// rebin joins bins so that each is joined times as wide.
func rebin[T any](list []T, joined int64, join func(into *T, from T)) []T {
	if joined <= 1 || len(list) == 0 {
		return list
	}
	out := make([]T, (int64(len(list))-1)/joined+1)
	for i, x := range list {
		join(&out[int64(i)/joined], x)
	}
	return out
}

// laid adds from to into, bin by bin.
func laid[T any](into, from []T, join func(into *T, from T)) []T {
	for i, x := range from {
		if i == len(into) {
			return append(into, from[i:]...)
		}
		join(&into[i], x)
	}
	return into
}

func sum(into *int64, from int64) { *into += from }

func greatest[T int | uint64](into *T, from T) { *into = max(*into, from) }

// rebin gives the bins a width of which theirs is a part.
func (s *V1Series) rebin(width int64) {
	by := width / s.Width
	s.Width = width
	for _, list := range s.sums() {
		*list = rebin(*list, by, sum)
	}
	s.MaxRunnable = rebin(s.MaxRunnable, by, greatest)
	s.Heap = rebin(s.Heap, by, greatest)
	s.Goal = rebin(s.Goal, by, greatest)
}

// sums returns the lists of which bins add up.
func (s *V1Series) sums() []*[]int64 {
	lists := []*[]int64{&s.Covered, &s.Procs, &s.Runnable}
	for _, list := range s.Uses.lists() {
		lists = append(lists, list)
	}
	return lists
}

// merge lays o on top, aligned at their starts.
func (s *V1Series) merge(o *V1Series) {
	if len(o.Covered) == 0 {
		return
	}
	if len(s.Covered) == 0 {
		*s = *o
		return
	}
	width := commonWidth(s.Width, o.Width)
	s.rebin(width)
	o.rebin(width)
	theirs := o.sums()
	for i, list := range s.sums() {
		*list = laid(*list, *theirs[i], sum)
	}
	s.MaxRunnable = laid(s.MaxRunnable, o.MaxRunnable, greatest)
	s.Heap = laid(s.Heap, o.Heap, greatest)
	s.Goal = laid(s.Goal, o.Goal, greatest)
	if len(s.Covered) > seriesBins {
		s.rebin(s.Width * int64(joinedBins(len(s.Covered), seriesBins)))
	}
}

// merge lays o on top, aligned at their starts.
func (h *V1Heat) merge(o *V1Heat) {
	if len(o.Cells) == 0 {
		return
	}
	if len(h.Cells) == 0 {
		*h = *o
		return
	}
	width := commonWidth(h.Width, o.Width)
	h.rebin(width)
	o.rebin(width)
	mergeCells(h, o.Cells)
	if cols := int(h.Cells[len(h.Cells)-1][0]) + 1; cols > heatCols {
		h.rebin(h.Width * int64(joinedBins(cols, heatCols)))
	}
}

func (h *V1Heat) rebin(width int64) {
	by := width / h.Width
	h.Width = width
	if by == 1 {
		return
	}
	cells := h.Cells
	for i := range cells {
		cells[i][0] /= by
	}
	h.Cells = nil
	mergeCells(h, cells)
}

// mergeCells adds cells, and keeps all sorted by column and row.
func mergeCells(h *V1Heat, cells []V1HeatCell) {
	h.Cells = append(h.Cells, cells...)
	slices.SortFunc(h.Cells, func(a, b V1HeatCell) int { return slices.Compare(a[:2], b[:2]) })
	n := 0
	for _, c := range h.Cells {
		if n > 0 && h.Cells[n-1][0] == c[0] && h.Cells[n-1][1] == c[1] {
			h.Cells[n-1][2] += c[2]
			continue
		}
		h.Cells[n] = c
		n++
	}
	h.Cells = h.Cells[:n]
}

// merge lays o on top, aligned at their starts.
func (s *V1CauseSeries) merge(o *V1CauseSeries) {
	if o.Width == 0 {
		return
	}
	if s.Width == 0 {
		*s = *o
		return
	}
	width := commonWidth(s.Width, o.Width)
	s.rebin(width)
	o.rebin(width)
	mergeList(&s.Causes, o.Causes, func(c *V1CauseCurve) string { return c.Cause }, nil, func(into, from *V1CauseCurve) {
		into.Bins = laid(into.Bins, from.Bins, sum)
	})
	n := 0
	for i := range s.Causes {
		n = max(n, len(s.Causes[i].Bins))
	}
	for i := range s.Causes {
		c := &s.Causes[i]
		c.Bins = append(c.Bins, make([]int64, n-len(c.Bins))...)
	}
	if n > maxSeries {
		s.rebin(s.Width * int64(joinedBins(n, maxSeries)))
	}
}

func (s *V1CauseSeries) rebin(width int64) {
	by := width / s.Width
	s.Width = width
	for i := range s.Causes {
		s.Causes[i].Bins = rebin(s.Causes[i].Bins, by, sum)
	}
}
