package model

import "slices"

// Goroutine ids are handed out in increasing order, so the live ones sit in a
// few pages of a sparse array. Ids that no real trace reaches go to a map, lest
// a hostile trace make the array huge.
const (
	goPageBits = 10
	goPageSize = 1 << goPageBits
	goDenseMax = 1 << 30 // at most 8 MiB of page pointers
)

type goPage struct {
	live int
	gs   [goPageSize]*Goroutine
}

// goTable holds the live goroutines by id.
type goTable struct {
	pages []*goPage
	far   map[GoID]*Goroutine
	count int
}

func (t *goTable) get(id GoID) *Goroutine {
	if uint64(id) < goDenseMax {
		i := int(id >> goPageBits)
		if i >= len(t.pages) || t.pages[i] == nil {
			return nil
		}
		return t.pages[i].gs[id&(goPageSize-1)]
	}
	return t.far[id]
}

func (t *goTable) put(g *Goroutine) {
	t.count++
	if uint64(g.ID) >= goDenseMax {
		if t.far == nil {
			t.far = map[GoID]*Goroutine{}
		}
		t.far[g.ID] = g
		return
	}
	i := int(g.ID >> goPageBits)
	if i >= len(t.pages) {
		t.pages = append(t.pages, make([]*goPage, i+1-len(t.pages))...)
	}
	if t.pages[i] == nil {
		t.pages[i] = &goPage{}
	}
	t.pages[i].live++
	t.pages[i].gs[g.ID&(goPageSize-1)] = g
}

func (t *goTable) remove(id GoID) {
	t.count--
	if uint64(id) >= goDenseMax {
		delete(t.far, id)
		return
	}
	i := int(id >> goPageBits)
	p := t.pages[i]
	p.gs[id&(goPageSize-1)] = nil
	if p.live--; p.live == 0 {
		t.pages[i] = nil
	}
}

// all calls f for each goroutine, sorted by id.
func (t *goTable) all(f func(*Goroutine)) {
	for _, p := range t.pages {
		if p == nil {
			continue
		}
		for _, g := range p.gs {
			if g != nil {
				f(g)
			}
		}
	}
	far := make([]*Goroutine, 0, len(t.far))
	for _, g := range t.far {
		far = append(far, g)
	}
	slices.SortFunc(far, func(a, b *Goroutine) int {
		if uint64(a.ID) < uint64(b.ID) {
			return -1
		}
		return 1
	})
	for _, g := range far {
		f(g)
	}
}
