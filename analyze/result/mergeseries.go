package result

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// binsFit returns an error if bins of the reports cannot be joined to common ones.
func binsFit(list []*Report) error {
	common := [3]model.Duration{}
	var bounds []int64
	for _, v := range list {
		for i, x := range []binned{&v.Series, &v.Heat, &v.Causes.Series} {
			was, b := common[i], x.bins()
			if b.known && was == 0 {
				common[i] = *b.width
			} else if b.known {
				if common[i] = commonWidth(was, *b.width); common[i] == 0 {
					return fmt.Errorf("the bins of %s, of %d and %d ns, do not fit into each other", b.name, was, *b.width)
				}
			}
		}
		if len(v.Heat.Cells) > 0 {
			if bounds != nil && !slices.Equal(bounds, v.Heat.Bounds) {
				return fmt.Errorf("the rows of heat are other ones")
			}
			bounds = v.Heat.Bounds
		}
	}
	return nil
}

// binned is something in bins of equal width.
type binned interface {
	bins() binning
	// rebin joins bins: each becomes so many times as wide.
	rebin(by int64)
}

type binning struct {
	name  string
	start *model.Time
	width *model.Duration
	known bool // that there are bins
}

func (s *Series) bins() binning { return binning{"series", &s.Start, &s.Width, len(s.Covered) > 0} }

func (h *Heat) bins() binning { return binning{"heat", &h.Start, &h.Width, len(h.Cells) > 0} }

func (s *CauseSeries) bins() binning {
	return binning{"causes.series", &s.Start, &s.Width, s.Width > 0}
}

// align gives both the same bins, so that o can be laid on top, aligned at their starts, and reports whether
// that remains to be done: if one of them has no bins, s becomes the other.
func align[T any, P interface {
	*T
	binned
}](s, o P) bool {
	a, b := s.bins(), o.bins()
	if !a.known && b.known {
		*s = *o
	}
	if !a.known || !b.known {
		return false
	}
	width := commonWidth(*a.width, *b.width)
	*a.start = min(*a.start, *b.start)
	s.rebin(int64(width / *a.width))
	o.rebin(int64(width / *b.width))
	*a.width = width
	return true
}

// commonWidth returns the least width of which both are parts, 0 if it is too great. Those
// of reports of this version are powers of two, times a common one.
func commonWidth(a, b model.Duration) model.Duration {
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

func sum(into *int64, from int64) { add(into, from) }

func greatest[T int | uint64](into *T, from T) { *into = max(*into, from) }

func (s *Series) rebin(by int64) {
	for _, list := range s.sums() {
		*list = rebin(*list, by, sum)
	}
	s.MaxRunnable = rebin(s.MaxRunnable, by, greatest)
	s.Heap = rebin(s.Heap, by, greatest)
	s.Goal = rebin(s.Goal, by, greatest)
}

// sums returns the lists of which bins add up.
func (s *Series) sums() []*[]int64 {
	lists := []*[]int64{&s.Covered, &s.Procs, &s.Runnable}
	for use := range s.Uses {
		lists = append(lists, &s.Uses[use])
	}
	return lists
}

// merge lays o on top, aligned at their starts.
func (s *Series) merge(from any) {
	o := from.(*Series)
	if !align(s, o) {
		return
	}
	theirs := o.sums()
	for i, list := range s.sums() {
		*list = laid(*list, *theirs[i], sum)
	}
	s.MaxRunnable = laid(s.MaxRunnable, o.MaxRunnable, greatest)
	s.Heap = laid(s.Heap, o.Heap, greatest)
	s.Goal = laid(s.Goal, o.Goal, greatest)
}

// merge lays o on top, aligned at their starts.
func (h *Heat) merge(from any) {
	if o := from.(*Heat); align(h, o) {
		mergeCells(h, o.Cells)
	}
}

func (h *Heat) rebin(by int64) {
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
func mergeCells(h *Heat, cells []HeatCell) {
	order := func(a, b HeatCell) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }
	a, b := h.Cells, cells
	slices.SortFunc(a, order) // mostly they are
	slices.SortFunc(b, order)
	all := make([]HeatCell, 0, len(a)+len(b))
	for len(a)+len(b) > 0 {
		next := textui.Either(len(a) == 0 || len(b) > 0 && order(b[0], a[0]) < 0, &b, &a)
		c := (*next)[0]
		*next = (*next)[1:]
		if n := len(all) - 1; n >= 0 && order(all[n], c) == 0 {
			all[n][2] += c[2]
		} else {
			all = append(all, c)
		}
	}
	h.Cells = all
}

// merge lays o on top, aligned at their starts.
func (s *CauseSeries) merge(from any) {
	o := from.(*CauseSeries)
	if !align(s, o) {
		return
	}
	mergeList(reflect.ValueOf(&s.Causes).Elem(), reflect.ValueOf(o.Causes))
	n := 0
	for i := range s.Causes {
		n = max(n, len(s.Causes[i].Bins))
	}
	for c := range Refs(s.Causes) {
		c.Bins = append(c.Bins, make([]int64, n-len(c.Bins))...)
	}
}

func (c *CauseCurve) merge(from any) { c.Bins = laid(c.Bins, from.(*CauseCurve).Bins, sum) }

func (s *CauseSeries) rebin(by int64) {
	for i := range s.Causes {
		s.Causes[i].Bins = rebin(s.Causes[i].Bins, by, sum)
	}
}
