package sample

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/model"
)

// Others is the Func of the class that stands for all that are too small to be told, so
// that classes add up.
const Others = "(others)"

// noName stands for an empty name, as in reports.
const noName = "(unknown)"

// classKey tells classes apart while a trace is read.
type classKey struct {
	fn, detail model.StringID
	at, by     int32 // places
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
func (c *classes) list(t *model.Tables, p *places) []Class {
	out := make([]Class, 0, len(c.of))
	for k, s := range c.of {
		out = append(out, Class{Func: nameOf(t, k.fn), Detail: t.String(k.detail), At: p.frame(k.at), By: p.frame(k.by),
			Total: s.total, Count: s.count, P99: quantileOf(s.lengths, 0.99)})
	}
	return topClasses(out)
}

// topClasses sorts classes and joins the smallest if there are too many.
func topClasses(list []Class) []Class {
	slices.SortFunc(list, compareClasses)
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

// compareClasses orders by total, greatest first, then by all that tells them apart.
func compareClasses(a, b Class) int {
	return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Func, b.Func), cmp.Compare(a.Detail, b.Detail),
		compareFrames(a.At, b.At), compareFrames(a.By, b.By), cmp.Compare(b.Count, a.Count))
}

func compareFrames(a, b *Frame) int {
	if a == nil || b == nil {
		return cmp.Compare(boolInt(a != nil), boolInt(b != nil))
	}
	return cmp.Or(cmp.Compare(a.Func, b.Func), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// quantileOf returns the quantile of lengths in any order, 0 if there are none.
func quantileOf(lengths []model.Duration, q float64) model.Duration {
	if len(lengths) == 0 {
		return 0
	}
	slices.Sort(lengths)
	return lengths[rank(q, int64(len(lengths)))-1]
}
