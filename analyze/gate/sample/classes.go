package sample

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
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
	state      model.GoState
	fn, detail model.StringID
	at, by     *Frame
}

// list returns the classes of a state, greatest total first, the smallest joined into one if
// there are too many.
func (c *collector) list(state model.GoState) []Class {
	out := []Class{}
	for k, s := range c.classes {
		if k.state == state {
			out = append(out, Class{Func: nameOf(c.tables, k.fn), Detail: c.tables.String(k.detail), At: k.at, By: k.by, Total: s.total, Count: s.count})
		}
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
