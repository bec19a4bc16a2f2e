package dist

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/schedscope/schedscope/model"
)

// valueCount is a value and how often it occurred.
type valueCount struct {
	v model.Duration
	n uint32
}

// sortValues sorts s by value and joins equal ones, in place.
func sortValues(s []valueCount) []valueCount {
	radixSort(s)
	k := 0
	for _, x := range s {
		if k > 0 && s[k-1].v == x.v {
			s[k-1].n += x.n
		} else {
			s[k] = x
			k++
		}
	}
	return s[:k]
}

// radixSort sorts by value, by digits if there are many: several times as fast as
// comparing.
func radixSort(s []valueCount) {
	const digit = 11
	order := func(a, b valueCount) int { return cmp.Compare(a.v, b.v) }
	if len(s) < 1<<digit/8 || slices.IsSortedFunc(s, order) {
		slices.SortFunc(s, order)
		return
	}
	var top model.Duration
	for _, x := range s {
		top |= x.v
	}
	from, to := s, make([]valueCount, len(s))
	for shift := 0; top>>shift != 0; shift += digit {
		var at [1 << digit]int32
		for _, x := range from {
			at[x.v>>shift&(1<<digit-1)]++
		}
		var sum int32
		for i, n := range at {
			at[i] = sum
			sum += n
		}
		for _, x := range from {
			p := &at[x.v>>shift&(1<<digit-1)]
			to[*p] = x
			*p++
		}
		from, to = to, from
	}
	if &from[0] != &s[0] {
		copy(s, from)
	}
}

// valueRun is a sorted sequence of different values with counts, packed as
// pairs of varints: distance to the value before, count.
type valueRun struct {
	packed   []byte
	distinct int
}

// runReader walks through sorted values, those of a list and then those of a run.
type runReader struct {
	list []valueCount
	rest []byte
	valueCount
}

func (r *runReader) next() bool {
	if len(r.list) > 0 {
		r.valueCount, r.list = r.list[0], r.list[1:]
		return true
	}
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

// runOf returns the run of sorted different values.
func runOf(s []valueCount) valueRun {
	w := runWriter{run: valueRun{packed: make([]byte, 0, 4*len(s))}}
	for _, x := range s {
		w.add(x.v, x.n)
	}
	return w.run
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
