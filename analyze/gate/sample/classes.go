package sample

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/model"
)

// Others is the Func of the class that stands for all that are too small to be shown, so
// that classes add up.
const Others = "(others)"

// places finds the frame of each stack that is the program's own. Equal frames are the same.
type places struct {
	tables *model.Tables
	of     []*Frame // by StackID
	looked []bool
	frames map[Frame]*Frame
}

// place returns the frame of a stack that is the program's own, see [result.PlaceIn]; nil
// if there is none.
func (p *places) place(id model.StackID) *Frame {
	if n := int(id) + 1; n > len(p.of) {
		p.of = append(p.of, make([]*Frame, n-len(p.of))...)
		p.looked = append(p.looked, make([]bool, n-len(p.looked))...)
	}
	if !p.looked[id] {
		p.looked[id] = true
		if in := result.PlaceIn(p.tables.Stack(id)); in != nil {
			f := Frame{Func: in.Func, File: in.File, Line: int(in.Line)}
			if p.frames[f] == nil {
				p.frames[f] = &f
			}
			p.of[id] = p.frames[f]
		}
	}
	return p.of[id]
}

// classKey tells classes apart while a trace is read.
type classKey struct {
	fn, detail model.StringID
	at, by     *Frame
}

// sums are what is added up of a class.
type sums struct {
	total   model.Duration
	count   int64
	lengths []model.Duration // of whole ones
}

// classes adds up intervals by class.
type classes struct {
	of map[classKey]*sums
	// last is the class of the interval before, which often is that of the next.
	lastKey classKey
	last    *sums
}

func newClasses() classes { return classes{of: map[classKey]*sums{}} }

func (c *classes) add(k classKey, d model.Duration, whole bool) {
	s := c.last
	if s == nil || k != c.lastKey {
		s = c.of[k]
		if s == nil {
			s = new(sums)
			c.of[k] = s
		}
		c.lastKey, c.last = k, s
	}
	s.total += d
	s.count++
	if whole {
		s.lengths = append(s.lengths, d)
	}
}

// list returns the classes, greatest total first, the smallest joined into one if there
// are too many.
func (c *classes) list(t *model.Tables) []Class {
	out := make([]Class, 0, len(c.of))
	for k, s := range c.of {
		x := Class{Func: nameOf(t, k.fn), Detail: t.String(k.detail), At: k.at, By: k.by, Total: s.total, Count: s.count}
		if n := len(s.lengths); n > 0 {
			slices.Sort(s.lengths)
			x.P99 = s.lengths[dist.Rank(0.99, int64(n))-1]
		}
		out = append(out, x)
	}
	return topClasses(out)
}

// topClasses sorts classes by total, greatest first, then by all that tells them apart, and
// joins the smallest if there are too many.
func topClasses(list []Class) []Class {
	slices.SortFunc(list, func(a, b Class) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Func, b.Func), cmp.Compare(a.Detail, b.Detail),
			compareFrames(a.At, b.At), compareFrames(a.By, b.By), cmp.Compare(b.Count, a.Count))
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
