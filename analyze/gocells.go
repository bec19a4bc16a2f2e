package analyze

import (
	"maps"
	"slices"

	"github.com/schedscope/schedscope/model"
)

// Goroutine ids grow without gaps, so the live ones lie in few pages. Ids that
// no real trace reaches go to a map, lest a hostile trace make the list huge.
const (
	cellPageBits = 8
	cellPageSize = 1 << cellPageBits
	cellDenseMax = 1 << 30
)

// goCells holds a T for each live goroutine. A cell exists from the first get
// until remove.
type goCells[T any] struct {
	pages []*cellPage[T]
	live  []*cellPage[T] // those that there are: few of very many, after a long time
	// spare is an emptied page, its cells are zero: goroutines that come and go one by one
	// would otherwise need a new page each.
	spare *cellPage[T]
	far   map[model.GoID]*T
}

type cellPage[T any] struct {
	place int // in live
	used  [cellPageSize]bool
	n     int // of those
	cells [cellPageSize]T
}

func (c *goCells[T]) get(id model.GoID) *T {
	if uint64(id) >= cellDenseMax {
		return c.getFar(id)
	}
	i, k := int(id>>cellPageBits), id&(cellPageSize-1)
	if i < len(c.pages) && c.pages[i] != nil && c.pages[i].used[k] {
		return &c.pages[i].cells[k]
	}
	if i >= len(c.pages) {
		c.pages = append(c.pages, make([]*cellPage[T], i+1-len(c.pages))...)
	}
	if c.pages[i] == nil {
		c.pages[i] = c.newPage()
	}
	p := c.pages[i]
	p.used[k] = true
	p.n++
	return &p.cells[k]
}

// find returns the goroutine's cell, nil if there is none.
func (c *goCells[T]) find(id model.GoID) *T {
	if uint64(id) >= cellDenseMax {
		return c.far[id]
	}
	i, k := int(id>>cellPageBits), id&(cellPageSize-1)
	if i >= len(c.pages) || c.pages[i] == nil || !c.pages[i].used[k] {
		return nil
	}
	return &c.pages[i].cells[k]
}

func (c *goCells[T]) newPage() *cellPage[T] {
	p := c.spare
	if c.spare = nil; p == nil {
		p = new(cellPage[T])
	}
	p.place = len(c.live)
	c.live = append(c.live, p)
	return p
}

func (c *goCells[T]) getFar(id model.GoID) *T {
	if c.far == nil {
		c.far = map[model.GoID]*T{}
	}
	if c.far[id] == nil {
		c.far[id] = new(T)
	}
	return c.far[id]
}

// remove returns the goroutine's cell and forgets it.
func (c *goCells[T]) remove(id model.GoID) (T, bool) {
	var zero T
	if uint64(id) >= cellDenseMax {
		cell := c.far[id]
		if cell == nil {
			return zero, false
		}
		delete(c.far, id)
		return *cell, true
	}
	i, k := int(id>>cellPageBits), id&(cellPageSize-1)
	if i >= len(c.pages) || c.pages[i] == nil || !c.pages[i].used[k] {
		return zero, false
	}
	p := c.pages[i]
	cell := p.cells[k]
	p.cells[k], p.used[k] = zero, false
	if p.n--; p.n == 0 {
		last := c.live[len(c.live)-1]
		c.live[p.place], last.place = last, p.place
		c.live = c.live[:len(c.live)-1]
		c.pages[i], c.spare = nil, p
	}
	return cell, true
}

// all calls f for each cell, in an order that depends on what was done alone.
func (c *goCells[T]) all(f func(*T)) {
	for _, p := range c.live {
		for k := range p.cells {
			if p.used[k] {
				f(&p.cells[k])
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(c.far)) {
		f(c.far[id])
	}
}
