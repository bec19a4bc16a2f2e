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
	goPerPage    = 16      // goroutines on average in what is beyond
)

type goPage struct {
	live int
	gs   [goPageSize]*Goroutine
}

// goTable holds the live goroutines by id.
type goTable struct {
	pages []*goPage
	used  int // pages that are there
	far   map[GoID]*Goroutine
	count int
}

func (t *goTable) get(id GoID) *Goroutine {
	if p := t.page(id); p != nil {
		if g := p.gs[id&(goPageSize-1)]; g != nil {
			return g
		}
	}
	if len(t.far) == 0 {
		return nil
	}
	return t.far[id]
}

// page returns the page of an id, nil if there is none.
func (t *goTable) page(id GoID) *goPage {
	if uint64(id) >= goDenseMax {
		return nil
	}
	if i := int(id >> goPageBits); i < len(t.pages) {
		return t.pages[i]
	}
	return nil
}

// put adds a goroutine whose id is not in the table.
func (t *goTable) put(g *Goroutine) {
	t.count++
	p := t.page(g.ID)
	if p == nil {
		p = t.addPage(g.ID)
	}
	if p == nil {
		if t.far == nil {
			t.far = map[GoID]*Goroutine{}
		}
		t.far[g.ID] = g
		return
	}
	p.live++
	p.gs[g.ID&(goPageSize-1)] = g
}

// addPage makes the page of an id, or returns nil if the id is to go to the map.
func (t *goTable) addPage(id GoID) *goPage {
	if uint64(id) >= goDenseMax || t.used >= goSparePages+t.count/goPerPage {
		return nil
	}
	i := int(id >> goPageBits)
	if i >= len(t.pages) {
		t.pages = append(t.pages, make([]*goPage, i+1-len(t.pages))...)
	}
	t.pages[i] = &goPage{}
	t.used++
	return t.pages[i]
}

// remove takes out a goroutine that is in the table.
func (t *goTable) remove(id GoID) {
	t.count--
	p := t.page(id)
	if p == nil || p.gs[id&(goPageSize-1)] == nil {
		delete(t.far, id)
		return
	}
	p.gs[id&(goPageSize-1)] = nil
	if p.live--; p.live == 0 {
		t.pages[id>>goPageBits] = nil
		t.used--
	}
}

// all calls f for each goroutine, sorted by id.
func (t *goTable) all(f func(*Goroutine)) {
	list := make([]*Goroutine, 0, t.count)
	for _, p := range t.pages {
		if p == nil {
			continue
		}
		for _, g := range p.gs {
			if g != nil {
				list = append(list, g)
			}
		}
	}
	for _, g := range t.far {
		list = append(list, g)
	}
	slices.SortFunc(list, func(a, b *Goroutine) int { return cmp.Compare(uint64(a.ID), uint64(b.ID)) })
	for _, g := range list {
		f(g)
	}
}
