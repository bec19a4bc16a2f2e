package model

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// Goroutine ids are handed out in increasing order, so the live ones sit in a
// few pages of a sparse array, whose pages lie in books. Ids that no real trace reaches, and
// those that would leave pages nearly empty, go to a map, lest a hostile trace make the
// array huge.
const (
	goPageBits   = 8
	goPageSize   = 1 << goPageBits
	goBookBits   = 7
	goDenseMax   = 1 << 30
	goSparePages = 1 << 8 // pages of 2 KiB, and books of 1 KiB, to have however empty they are
	goPerPage    = 128    // values on average in what is beyond
)

type goPage[T any] struct {
	number uint64
	place  int // in live
	count  int
	values [goPageSize]*T
}

type goBook[T any] [1 << goBookBits]*goPage[T]

// GoTable holds values by goroutine. The zero GoTable is empty and ready.
type GoTable[T any] struct {
	latest [256]struct { // asked for latest, by the low bits of the id
		id GoID
		v  *T
	}
	books []*goBook[T]
	live  []*goPage[T] // those that there are: few of very many, after a long time
	spare []*goPage[T] // empty ones
	far   map[GoID]*T
	count int
}

// Len returns the number of values.
func (t *GoTable[T]) Len() int { return t.count }

// Get returns the value of a goroutine, nil if it has none.
func (t *GoTable[T]) Get(id GoID) *T {
	if t.latest[uint8(id)].id != id { // N.B. short enough to be inlined
		t.find(id)
	}
	return t.latest[uint8(id)].v
}

// find puts what an id has among the latest.
func (t *GoTable[T]) find(id GoID) {
	l := &t.latest[uint8(id)]
	l.id, l.v = id, nil
	if p := t.page(id); p != nil {
		l.v = p.values[id&(goPageSize-1)]
	}
	if l.v == nil && len(t.far) > 0 {
		l.v = t.far[id]
	}
}

// page returns the page of an id, nil if there is none.
func (t *GoTable[T]) page(id GoID) *goPage[T] {
	if i := uint64(id) >> (goPageBits + goBookBits); i < uint64(len(t.books)) && t.books[i] != nil {
		return t.books[i][id>>goPageBits&(1<<goBookBits-1)]
	}
	return nil
}

// Put sets the value of a goroutine that has none.
func (t *GoTable[T]) Put(id GoID, v *T) {
	t.count++
	l := &t.latest[uint8(id)]
	l.id, l.v = id, v
	p := t.page(id)
	if p == nil {
		if uint64(id) >= goDenseMax || len(t.live) >= goSparePages+t.count/goPerPage {
			if t.far == nil {
				t.far = map[GoID]*T{}
			}
			t.far[id] = v
			return
		}
		p = t.newPage(uint64(id) >> goPageBits)
	}
	p.count++
	p.values[id&(goPageSize-1)] = v
}

func (t *GoTable[T]) newPage(number uint64) *goPage[T] {
	var p *goPage[T]
	if n := len(t.spare); n > 0 {
		p, t.spare = t.spare[n-1], t.spare[:n-1]
	} else {
		p = new(goPage[T])
	}
	i := int(number >> goBookBits)
	if i >= len(t.books) {
		t.books = append(t.books, make([]*goBook[T], i+1-len(t.books))...)
	}
	if t.books[i] == nil {
		t.books[i] = new(goBook[T])
	}
	t.books[i][number&(1<<goBookBits-1)] = p
	p.number, p.place = number, len(t.live)
	t.live = append(t.live, p)
	return p
}

// Remove removes the value of a goroutine, which must have one.
func (t *GoTable[T]) Remove(id GoID) {
	t.count--
	if l := &t.latest[uint8(id)]; l.id == id {
		l.v = nil
	}
	p := t.page(id)
	if p == nil || p.values[id&(goPageSize-1)] == nil {
		delete(t.far, id)
		return
	}
	p.values[id&(goPageSize-1)] = nil
	if p.count--; p.count == 0 {
		t.books[p.number>>goBookBits][p.number&(1<<goBookBits-1)] = nil
		last := t.live[len(t.live)-1]
		t.live[p.place], last.place = last, p.place
		t.live = t.live[:len(t.live)-1]
		t.spare = append(t.spare, p)
	}
}

// All calls f, which must not change the table, for each value, sorted by id.
func (t *GoTable[T]) All(f func(*T)) {
	far := slices.AppendSeq(make([]GoID, 0, len(t.far)), maps.Keys(t.far))
	slices.SortFunc(far, func(a, b GoID) int { return cmp.Compare(uint64(a), uint64(b)) })
	farBelow := func(id uint64) {
		for ; len(far) > 0 && uint64(far[0]) <= id; far = far[1:] {
			f(t.far[far[0]])
		}
	}
	pages := slices.SortedFunc(slices.Values(t.live), func(a, b *goPage[T]) int { return cmp.Compare(a.number, b.number) })
	for _, p := range pages {
		for i, v := range p.values {
			if v != nil {
				farBelow(p.number<<goPageBits + uint64(i))
				f(v)
			}
		}
	}
	farBelow(math.MaxUint64)
}
