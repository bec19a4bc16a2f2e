package ingest

// table maps numbers to values that stay where they are. A small cache in front
// of the map makes repeated look-ups cheap, as one thread's events follow each
// other.
type table[V any] struct {
	values map[int64]*V
	cache  [64]struct {
		key   int64
		value *V
	}
}

// get returns the value of key, nil if there is none.
func (t *table[V]) get(key int64) *V {
	if c := &t.cache[uint64(key)%64]; c.key == key {
		return c.value // nil where nothing was there so far, as key 0 is then
	}
	return t.find(key)
}

// find looks for the value where get does not find it at once.
func (t *table[V]) find(key int64) *V {
	v := t.values[key]
	if v != nil {
		c := &t.cache[uint64(key)%64]
		c.key, c.value = key, v
	}
	return v
}

// getOrAdd returns the value of key, a new one if there is none yet.
func (t *table[V]) getOrAdd(key int64) (v *V, isNew bool) {
	if v := t.get(key); v != nil {
		return v, false
	}
	if t.values == nil {
		t.values = map[int64]*V{}
	}
	v = new(V)
	t.values[key] = v
	t.find(key)
	return v, true
}

// remove forgets key.
func (t *table[V]) remove(key int64) {
	delete(t.values, key)
	if c := &t.cache[uint64(key)%64]; c.key == key {
		c.value = nil
	}
}

// goStates holds the state of each goroutine that exists, a byte each in pages
// by number: the numbers are dense, and those alive are mostly the youngest. Where they are
// not, and pages would be nearly empty, each is by itself.
type goStates struct {
	pages table[goPage]
	far   map[int64]uint8
	alive int
}

const (
	goPageBits   = 8
	goPageSize   = 1 << goPageBits
	goSparePages = 1 << 8 // to have however empty they are
	goPerPage    = 128    // goroutines on average in what is beyond
)

type goPage struct {
	states [goPageSize]uint8
	alive  int
}

// get returns the state of a goroutine, 0 (GoUndetermined) if there is none.
func (s *goStates) get(id int64) uint8 {
	if p := s.pages.get(id >> goPageBits); p != nil && p.states[id&(goPageSize-1)] != 0 {
		return p.states[id&(goPageSize-1)]
	}
	if len(s.far) == 0 {
		return 0
	}
	return s.far[id]
}

// set gives a goroutine, whose state was old, one other than 0.
func (s *goStates) set(id int64, old, state uint8) {
	p := s.pages.get(id >> goPageBits)
	switch {
	case old != 0 && p != nil && p.states[id&(goPageSize-1)] != 0:
		p.states[id&(goPageSize-1)] = state
		return
	case old != 0:
		s.far[id] = state
		return
	}
	s.alive++
	if p == nil && len(s.pages.values) >= goSparePages+s.alive/goPerPage {
		if s.far == nil {
			s.far = map[int64]uint8{}
		}
		s.far[id] = state
		return
	}
	if p == nil {
		p, _ = s.pages.getOrAdd(id >> goPageBits)
	}
	p.states[id&(goPageSize-1)] = state
	p.alive++
}

// remove forgets a goroutine that is there.
func (s *goStates) remove(id int64) {
	s.alive--
	p := s.pages.get(id >> goPageBits)
	if p == nil || p.states[id&(goPageSize-1)] == 0 {
		delete(s.far, id)
		return
	}
	p.states[id&(goPageSize-1)] = 0
	if p.alive--; p.alive == 0 {
		s.pages.remove(id >> goPageBits)
	}
}
