package sample

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/sums"
	"github.com/schedscope/schedscope/model"
)

// Others is the Func of the class of all that are too small to be listed.
const Others = "(others)"

// place returns the frame of a stack that is the program's own, see [result.PlaceIn]; nil
// if there is none.
func (c *collector) place(id model.StackID) *Frame {
	f := result.PlaceIn(c.tables.Stack(id))
	if f == nil {
		return nil
	}
	return &Frame{Func: f.Func, File: f.File, Line: int(f.Line)}
}

// list returns the classes of a state, greatest total first, the smallest joined into one if
// there are too many.
func (c *collector) list(state model.GoState) []Class {
	out := []Class{}
	for k, s := range c.classes {
		if k.state == state && s.count > 0 {
			out = append(out, Class{Func: sums.NameOf(c.tables, k.fn), Detail: c.tables.String(k.reason), At: c.place(k.at), By: c.place(k.by), Total: s.total, Count: s.count})
		}
	}
	slices.SortFunc(out, compareClasses)
	joined := out[:0]
	for _, x := range out {
		if n := len(joined); n > 0 && compareClasses(joined[n-1], x) == 0 {
			joined[n-1].Total += x.Total
			joined[n-1].Count += x.Count
		} else {
			joined = append(joined, x)
		}
	}
	return topClasses(joined)
}

// compareClasses orders classes by what they differ in.
func compareClasses(a, b Class) int {
	return cmp.Or(cmp.Compare(a.Func, b.Func), cmp.Compare(a.Detail, b.Detail), compareFrames(a.At, b.At), compareFrames(a.By, b.By))
}

// topClasses sorts classes by total, greatest first, then by all that they differ in, and
// joins the smallest if there are too many.
func topClasses(list []Class) []Class {
	slices.SortFunc(list, func(a, b Class) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), compareClasses(a, b), cmp.Compare(b.Count, a.Count))
	})
	if len(list) <= MaxClasses {
		return list
	}
	rest := Class{Func: Others}
	for i := range list[MaxClasses-1:] {
		x := &list[MaxClasses-1+i]
		rest.Total += x.Total
		rest.Count += x.Count
	}
	return append(list[:MaxClasses-1:MaxClasses-1], rest)
}

// compareFrames orders frames, none first.
func compareFrames(a, b *Frame) int {
	switch {
	case a == b:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return cmp.Or(cmp.Compare(a.Func, b.Func), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
}
