package model

import (
	"cmp"
	"slices"
)

// Goroutine ids are handed out in increasing order, so the live ones sit in a
// few pages of a sparse array. Ids that no real trace reaches, and those that
// would leave pages nearly empty, go to a map, lest a hostile trace make the
// array huge.
const (
	goPageBits   = 10
	goPageSize   = 1 << goPageBits
	goDenseMax   = 1 << 30 // at most 8 MiB of page pointers
	goSparePages = 1 << 10 // pages of 8 KiB to have however empty they are
	goPerPage    = 16      // values on average in what is beyond
)

type goPage[T any] struct {
	live   int
	values [goPageSize]*T
}

// GoTable holds values by goroutine. The zero GoTable is empty and ready.
type GoTable[T any] struct {
	pages []*goPage[T]
	used  int          // pages that are there
	spare []*goPage[T] // empty ones
	far   map[GoID]*T
	count int
}

// Get returns the value of a goroutine, nil if it has none.
func (t *GoTable[T]) Get(id GoID) *T {
	if p := t.page(id); p != nil {
		if v := p.values[id&(goPageSize-1)]; v != nil {
			return v
		}
	}
	if len(t.far) == 0 {
		return nil
	}
	return t.far[id]
}

// page returns the page of an id, nil if there is none.
func (t *GoTable[T]) page(id GoID) *goPage[T] {
	if i := uint64(id) >> goPageBits; i < uint64(len(t.pages)) {
		return t.pages[i]
	}
	return nil
}

// Put sets the value of a goroutine that has none.
func (t *GoTable[T]) Put(id GoID, v *T) {
	t.count++
	p := t.page(id)
	if p == nil {
		if uint64(id) >= goDenseMax || t.used >= goSparePages+t.count/goPerPage {
			if t.far == nil {
				t.far = map[GoID]*T{}
			}
			t.far[id] = v
			return
		}
		if n := len(t.spare); n > 0 {
			p, t.spare = t.spare[n-1], t.spare[:n-1]
		} else {
			p = new(goPage[T])
		}
		i := int(id >> goPageBits)
		if i >= len(t.pages) {
			t.pages = append(t.pages, make([]*goPage[T], i+1-len(t.pages))...)
		}
		t.pages[i] = p
		t.used++
	}
	p.live++
	p.values[id&(goPageSize-1)] = v
}

// Remove takes out the value of a goroutine that has one.
func (t *GoTable[T]) Remove(id GoID) {
	t.count--
	p := t.page(id)
	if p == nil || p.values[id&(goPageSize-1)] == nil {
		delete(t.far, id)
		return
	}
	p.values[id&(goPageSize-1)] = nil
	if p.live--; p.live == 0 {
		t.pages[id>>goPageBits] = nil
		t.spare = append(t.spare, p)
		t.used--
	}
}

// All calls f for each value, sorted by id.
func (t *GoTable[T]) All(f func(*T)) {
	type entry struct {
		id    uint64
		value *T
	}
	list := make([]entry, 0, t.count)
	for i, p := range t.pages {
		if p == nil {
			continue
		}
		for j, v := range p.values {
			if v != nil {
				list = append(list, entry{uint64(i<<goPageBits + j), v})
			}
		}
	}
	for id, v := range t.far {
		list = append(list, entry{uint64(id), v})
	}
	slices.SortFunc(list, func(a, b entry) int { return cmp.Compare(a.id, b.id) })
	for _, e := range list {
		f(e.value)
	}
}

// each calls f for each value, in any order. It returns what that cost, in values: many
// places may be empty, which are passed by quickly.
func (t *GoTable[T]) each(f func(*T)) int {
	for _, p := range t.pages {
		if p == nil {
			continue
		}
		for _, v := range p.values {
			if v != nil {
				f(v)
			}
		}
	}
	for _, v := range t.far {
		f(v)
	}
	return t.count + (len(t.pages)+t.used*goPageSize)/goPerPage
}
