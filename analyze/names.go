package analyze

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/model"
)

// NoName is shown for an empty name: a goroutine without a known start function, or a wait
// without a reason.
const NoName = result.NoName

// byName holds a T for each name. While a trace is read names are StringIDs,
// found by indexing a slice; several of them may be of one string.
type byName[T any] struct {
	tables *model.Tables
	byID   []*T // nil: not seen
	list   []*named[T]
	index  map[string]*T
}

type named[T any] struct {
	name  string
	value T
}

func newByName[T any](t *model.Tables) byName[T] {
	return byName[T]{tables: t, index: map[string]*T{}}
}

// get returns the value for the name with this ID, new if need be.
func (b *byName[T]) get(id model.StringID) *T {
	if int(id) < len(b.byID) {
		if x := b.byID[id]; x != nil {
			return x
		}
	}
	return b.learn(id)
}

// learn is the slow path of get: the first sight of an ID.
func (b *byName[T]) learn(id model.StringID) *T {
	if n := int(id) + 1; n > len(b.byID) {
		b.byID = append(b.byID, make([]*T, n-len(b.byID))...)
	}
	b.byID[id] = b.named(b.tables.String(id))
	return b.byID[id]
}

// named returns the value for a name, new if need be.
func (b *byName[T]) named(name string) *T {
	if name == "" {
		name = NoName
	}
	x := b.index[name]
	if x == nil && len(b.list) >= result.MaxNames {
		name = result.OtherNames
		x = b.index[name]
	}
	if x == nil {
		e := &named[T]{name: name}
		x = &e.value
		b.list = append(b.list, e)
		b.index[name] = x
	}
	return x
}

// rowsOf returns a row for each entry, greatest size first, ties by name.
func rowsOf[T, R any, N cmp.Ordered](b *byName[T], size func(*T) N, row func(name string, value *T) R) []R {
	list := slices.Clone(b.list)
	slices.SortFunc(list, func(x, y *named[T]) int {
		return cmp.Or(cmp.Compare(size(&y.value), size(&x.value)), cmp.Compare(x.name, y.name))
	})
	return result.Each(list, func(e **named[T]) R { return row((*e).name, &(*e).value) })
}

// distsByName are distributions by name.
type distsByName struct{ byName[Dist] }

func newDistsByName(t *model.Tables) distsByName { return distsByName{newByName[Dist](t)} }

// rows returns the distributions, greatest total first.
func (b *distsByName) rows() []result.Named { return rowsOf(&b.byName, (*Dist).Total, resultNamed) }

// sum returns all samples together.
func (b *distsByName) sum() Dist {
	var all Dist
	for _, e := range b.list {
		all.Merge(&e.value)
	}
	return all
}

// distGrid are distributions by name and by kind. A sample is added to one of them; sums
// by name alone and by kind alone are made in the end.
type distGrid struct{ byName[[]Dist] }

func newDistGrid(t *model.Tables) distGrid { return distGrid{newByName[[]Dist](t)} }

// at returns the distribution of a name and a kind.
func (g *distGrid) at(id model.StringID, kind int) *Dist {
	if int(id) < len(g.byID) {
		if row := g.byID[id]; row != nil && kind < len(*row) {
			return &(*row)[kind]
		}
	}
	row := g.get(id)
	if kind >= len(*row) {
		*row = append(*row, make([]Dist, kind+1-len(*row))...)
	}
	return &(*row)[kind]
}

// sums returns the distributions by name, and adds those of each kind to its item of kinds.
func (g *distGrid) sums(kinds []Dist) distsByName {
	names := newDistsByName(g.tables)
	for _, e := range g.list {
		for kind := range e.value {
			names.named(e.name).Merge(&e.value[kind])
			kinds[kind].Merge(&e.value[kind])
		}
	}
	return names
}

// nameOf returns the string with this ID as results show it.
func nameOf(t *model.Tables, id model.StringID) string {
	return cmp.Or(t.String(id), NoName)
}

// What analyses are made of.
type (
	Dist     = dist.Dist
	Cause    = result.Cause
	Uses     = result.Uses
	Tally    = result.Tally
	Censored = result.Censored
)

// addCensored counts the interval if it is censored, and reports whether it is.
func addCensored(c *Censored, s *model.GoSpan, at model.Time) bool {
	if s.OpenStart || s.OpenEnd {
		countCensored(c, s, at)
		return true
	}
	return false
}

func countCensored(c *Censored, s *model.GoSpan, at model.Time) {
	if s.OpenStart {
		c.AtStart.Add(s.Duration(), at)
	} else {
		c.AtEnd.Add(s.Duration(), at)
	}
}

// traceClock is embedded by analyses that keep points in time or single items.
type traceClock struct{ origin model.Time }

// Begin sets the origin of the trace: results give times as offsets from it.
// Without, they are times of the trace's clock.
func (c *traceClock) Begin(origin model.Time) { c.origin = origin }

func (c *traceClock) at(t model.Time) model.Time { return t - c.origin }

func resultNamed(name string, d *dist.Dist) result.Named {
	return result.Named{Name: name, Dist: result.NewDist(d)}
}

// resultNames returns those distributions that are not empty, which are numbered by what
// they are of.
func resultNames[E interface {
	~uint8
	String() string
}](dists []Dist) []result.Named {
	out := []result.Named{}
	for i := range dists {
		if dists[i].Count() > 0 {
			out = append(out, resultNamed(E(i).String(), &dists[i]))
		}
	}
	return out
}
