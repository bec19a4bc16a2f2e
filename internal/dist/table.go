package dist

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/schedscope/schedscope/model"
)

// recentMin is the number of different values that a Dist gathers before it
// first packs them. Past it, at least half of those packed are gathered, so that
// packing costs each sample a constant number of steps.
const recentMin = 1 << 14

// valueCount is a value and how often it occurred.
type valueCount struct {
	v model.Duration
	n uint32
}

// valueTable counts values: an open-addressing hash table of at most
// three-quarters load.
type valueTable struct {
	slots []valueSlot
	used  int
	shift uint8 // 64 - log2(len(slots))
}

// valueSlot keeps value and count side by side: a look-up touches one cache line.
type valueSlot struct {
	key model.Duration // value+1; 0: free
	n   int64
}

func (t *valueTable) add(v model.Duration, n int64) {
	if 4*t.used >= 3*len(t.slots) {
		t.grow()
	}
	key := v + 1
	mask := uint64(len(t.slots) - 1)
	// Fibonacci hashing: values are multiples of 64, the high bits of the
	// product are spread well.
	i := uint64(key) * 0x9e3779b97f4a7c15 >> t.shift
	for {
		s := &t.slots[i&mask]
		switch s.key {
		case key:
			s.n += n
			return
		case 0:
			*s = valueSlot{key, n}
			t.used++
			return
		}
		i++
	}
}

func (t *valueTable) grow() {
	old := *t
	size := max(16, 2*len(old.slots))
	*t = valueTable{slots: make([]valueSlot, size), shift: 64}
	for s := size; s > 1; s >>= 1 {
		t.shift--
	}
	for _, s := range old.slots {
		if s.key != 0 {
			t.add(s.key-1, s.n)
		}
	}
}

// each calls f for each value with its count, in no particular order.
func (t *valueTable) each(f func(model.Duration, int64)) {
	for _, s := range t.slots {
		if s.key != 0 {
			f(s.key-1, s.n)
		}
	}
}

// drain returns the contents as a run and empties the table, keeping its storage.
func (t *valueTable) drain() valueRun {
	out := make([]valueCount, 0, t.used)
	t.each(func(v model.Duration, n int64) { out = append(out, valueCount{v, uint32(n)}) })
	clear(t.slots)
	t.used = 0
	w := runWriter{run: valueRun{packed: make([]byte, 0, 4*len(out))}}
	for _, x := range sortValues(out) {
		w.add(x.v, x.n)
	}
	return w.run
}

// sortValues sorts by value, by radix if there are many: several times as fast as
// comparing, and when nearly all values are different most of the time goes here.
func sortValues(s []valueCount) []valueCount {
	const digit = 11
	if len(s) < 1<<digit/8 {
		slices.SortFunc(s, func(a, b valueCount) int { return cmp.Compare(a.v, b.v) })
		return s
	}
	var top model.Duration
	for _, x := range s {
		top |= x.v
	}
	other := make([]valueCount, len(s))
	for shift := 0; top>>shift != 0; shift += digit {
		var at [1 << digit]int32
		for _, x := range s {
			at[x.v>>shift&(1<<digit-1)]++
		}
		var sum int32
		for i, n := range at {
			at[i] = sum
			sum += n
		}
		for _, x := range s {
			p := &at[x.v>>shift&(1<<digit-1)]
			other[*p] = x
			*p++
		}
		s, other = other, s
	}
	return s
}

// valueRun is a sorted sequence of different values with counts, packed as
// pairs of varints: distance to the value before, count.
type valueRun struct {
	packed   []byte
	distinct int
}

// runReader walks through a run.
type runReader struct {
	rest []byte
	valueCount
}

func (r *runReader) next() bool {
	if len(r.rest) == 0 {
		return false
	}
	d, k := binary.Uvarint(r.rest)
	r.v += model.Duration(d)
	r.rest = r.rest[k:]
	if r.n = uint32(r.rest[0]); r.n < 0x80 { // nearly always
		r.rest = r.rest[1:]
		return true
	}
	n, k := binary.Uvarint(r.rest)
	r.n = uint32(n)
	r.rest = r.rest[k:]
	return true
}

// runWriter appends to a run in increasing order.
type runWriter struct {
	run  valueRun
	last model.Duration
}

func (w *runWriter) add(v model.Duration, n uint32) {
	w.run.packed = binary.AppendUvarint(w.run.packed, uint64(v-w.last))
	w.run.packed = binary.AppendUvarint(w.run.packed, uint64(n))
	w.run.distinct++
	w.last = v
}

func (r valueRun) each(f func(model.Duration, int64)) {
	rd := runReader{rest: r.packed}
	for rd.next() {
		f(rd.v, int64(rd.n))
	}
}

// union returns the run of the values of both.
func (r valueRun) union(o valueRun) valueRun {
	w := runWriter{run: valueRun{packed: make([]byte, 0, len(r.packed)+len(o.packed))}}
	a, b := runReader{rest: r.packed}, runReader{rest: o.packed}
	okA, okB := a.next(), b.next()
	for okA || okB {
		switch {
		case !okB || okA && a.v < b.v:
			w.add(a.v, a.n)
			okA = a.next()
		case !okA || b.v < a.v:
			w.add(b.v, b.n)
			okB = b.next()
		default:
			w.add(a.v, a.n+b.n)
			okA, okB = a.next(), b.next()
		}
	}
	return w.run
}
