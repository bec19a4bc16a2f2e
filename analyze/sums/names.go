package sums

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/model"
)

// ByName holds a T for each name. While a trace is read names are StringIDs,
// found by indexing a slice; several of them may be of one string.
type ByName[T any] struct {
	tables *model.Tables
	byID   []*T       // nil: not seen
	List   []*Item[T] // in the order in which they were first seen
	index  map[string]*T
}

// Item is a value with its name.
type Item[T any] struct {
	Name  string
	Value T
}

// NewByName returns an empty one.
func NewByName[T any](t *model.Tables) ByName[T] { return ByName[T]{tables: t, index: map[string]*T{}} }

// Get returns the value for the name with this ID, new if need be.
func (b *ByName[T]) Get(id model.StringID) *T {
	if int(id) < len(b.byID) {
		if x := b.byID[id]; x != nil {
			return x
		}
	}
	return b.learn(id)
}

// learn is the slow path of Get: the first sight of an ID.
func (b *ByName[T]) learn(id model.StringID) *T {
	x := b.Named(b.tables.String(id))
	*result.Slot(&b.byID, int(id)) = x
	return x
}

// Named returns the value for a name, new if need be.
func (b *ByName[T]) Named(name string) *T {
	name = cmp.Or(name, result.NoName)
	x := b.index[name]
	if x == nil && len(b.List) >= result.MaxNames {
		name = result.OtherNames
		x = b.index[name]
	}
	if x == nil {
		e := &Item[T]{Name: name}
		x = &e.Value
		b.List = append(b.List, e)
		b.index[name] = x
	}
	return x
}

// Find returns the value for a name, nil if it was not seen.
func (b *ByName[T]) Find(name string) *T { return b.index[cmp.Or(name, result.NoName)] }

// Rows returns a row for each entry, greatest size first, ties by name.
func Rows[T, R any, N cmp.Ordered](b *ByName[T], size func(*T) N, row func(name string, value *T) R) []R {
	list := slices.Clone(b.List)
	slices.SortFunc(list, func(x, y *Item[T]) int {
		return cmp.Or(cmp.Compare(size(&y.Value), size(&x.Value)), cmp.Compare(x.Name, y.Name))
	})
	return result.Each(list, func(e **Item[T]) R { return row((*e).Name, &(*e).Value) })
}

// Dists are distributions by name.
type Dists struct{ ByName[dist.Dist] }

// NewDists returns empty ones.
func NewDists(t *model.Tables) Dists { return Dists{NewByName[dist.Dist](t)} }

// Rows returns the distributions, greatest total first.
func (b *Dists) Rows() []result.Named { return Rows(&b.ByName, (*dist.Dist).Total, NamedDist) }

// Sum returns all samples together.
func (b *Dists) Sum() dist.Dist {
	var all dist.Dist
	for _, e := range b.List {
		all.Merge(&e.Value)
	}
	return all
}

// Grid are distributions by name and by kind. A sample is added to one of them; sums
// by name alone and by kind alone are made in the end.
type Grid struct{ ByName[[]dist.Dist] }

// NewGrid returns empty ones.
func NewGrid(t *model.Tables) Grid { return Grid{NewByName[[]dist.Dist](t)} }

// At returns the distribution of a name and a kind.
func (g *Grid) At(id model.StringID, kind int) *dist.Dist {
	if int(id) < len(g.byID) {
		if row := g.byID[id]; row != nil && kind < len(*row) {
			return &(*row)[kind]
		}
	}
	return result.Slot(g.Get(id), kind)
}

// Sums returns the distributions by name, and adds those of each kind to its item of kinds.
func (g *Grid) Sums(kinds []dist.Dist) Dists {
	names := NewDists(g.tables)
	for _, e := range g.List {
		for kind := range e.Value {
			names.Named(e.Name).Merge(&e.Value[kind])
			kinds[kind].Merge(&e.Value[kind])
		}
	}
	return names
}

// NameOf returns the string with this ID as results show it.
func NameOf(t *model.Tables, id model.StringID) string { return cmp.Or(t.String(id), result.NoName) }

// NamedDist returns a distribution as results have it.
func NamedDist(name string, d *dist.Dist) result.Named {
	return result.Named{Name: name, Dist: result.NewDist(d)}
}

// NamedDists returns those distributions that are not empty, which are numbered by what
// they are of.
func NamedDists[E interface {
	~uint8
	String() string
}](dists []dist.Dist) []result.Named {
	out := []result.Named{}
	for i := range dists {
		if dists[i].Count() > 0 {
			out = append(out, NamedDist(E(i).String(), &dists[i]))
		}
	}
	return out
}
