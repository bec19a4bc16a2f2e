package sums

import "github.com/schedscope/schedscope/model"

// GoCells holds a T for each live goroutine that needs one. A cell exists from the first Cell
// until Drop.
type GoCells[T any] struct {
	model.GoTable[T]
	spare []*T // removed ones, which are zero: goroutines come and go
}

// Cell returns the goroutine's cell, a new one if there is none.
func (c *GoCells[T]) Cell(id model.GoID) *T {
	x := c.Get(id)
	if x == nil {
		if n := len(c.spare); n > 0 {
			x, c.spare = c.spare[n-1], c.spare[:n-1]
		} else {
			x = new(T)
		}
		c.Put(id, x)
	}
	return x
}

// Drop returns the goroutine's cell and forgets it.
func (c *GoCells[T]) Drop(id model.GoID) (cell T, ok bool) {
	x := c.Get(id)
	if x == nil {
		return cell, false
	}
	cell, *x = *x, cell
	c.Remove(id)
	c.spare = append(c.spare, x)
	return cell, true
}

// Entry returns what a map has by a key, from now on something.
func Entry[K comparable, V any](m map[K]*V, key K) *V {
	x := m[key]
	if x == nil {
		x = new(V)
		m[key] = x
	}
	return x
}
