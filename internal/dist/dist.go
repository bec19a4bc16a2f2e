// Package dist keeps distributions of durations: exact ones of up to millions of samples,
// histograms beyond.
package dist

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math"
	"math/bits"
	"slices"

	"github.com/schedscope/schedscope/internal/hdr"
	"github.com/schedscope/schedscope/model"
)

// ExactSamples is the number of samples up to which a [Dist] is exact.
const ExactSamples = 5_000_000

// Dist is a distribution of durations. The zero value is empty and ready.
//
// Up to [ExactSamples] samples it is exact. Beyond that it becomes a histogram of log-linear
// buckets whose values are off by at most 0.4 %; count, total, minimum and maximum stay exact.
//
// A sample is put away as follows.
//
//  1. The trace's clock ticks every 64 ns, so nearly all lengths are multiples of that, and
//     most are short. A table of counters counts these, without any search. It grows when there are as
//     many samples as pay for it, beyond 64 KiB only if the list of 2 has become as long. Counters are
//     of a byte, so that those in use stay near the processor; how often one that is full begins
//     again at 1 is counted apart. They are counted up for many samples at once: each is somewhere else in a
//     table that is too large for the nearest cache, and one after the other they would be waited for.
//  2. Other multiples are appended to a list, in four bytes each, which is sorted when somebody reads.
//  3. So is what is none, such as a size, or above 274 s, with a count. Equal ones are joined when the
//     list is full: sizes are few, and occur millions of times.
type Dist struct {
	count    int64
	total    model.Duration
	min, max model.Duration
	maxAt    model.Time

	near   [][8]uint8               // how often each multiple of nearGrain occurred
	recent []uint32                 // multiples of it that are still to be counted in near
	rounds map[model.Duration]int64 // by such a multiple, how often its counter began again: 255 samples each
	far    []uint32                 // other samples that are multiples of it, divided by it
	odd    []valueCount             // all other samples
	sorted int                      // so many of far are
	hist   *hdr.Histogram           // replaces all these beyond ExactSamples
}

const (
	nearGrain = 64
	nearEight = 8 * nearGrain
	nearLeast = 1 << 5  // eights of counters
	nearMost  = 1 << 13 // eights: up to 4.2 ms; more only for a long list
	nearShare = 4       // eights for each sample
	nearAhead = 64      // samples that are counted at once
)

// Of returns the distribution with the histogram h. Only the other arguments are exact. It
// owns h.
func Of(h *hdr.Histogram, total, least, greatest model.Duration, maxAt model.Time) *Dist {
	return &Dist{count: h.Total(), total: total, min: least, max: greatest, maxAt: maxAt, hist: h}
}

// Histogram returns the distribution as a histogram of its own.
func (d *Dist) Histogram() *hdr.Histogram {
	h := &hdr.Histogram{}
	if d.hist != nil {
		h.Merge(d.hist)
		return h
	}
	d.Each(func(v model.Duration, n int64) { h.Add(int64(v), n) })
	return h
}

// Add counts a sample that ended at the given time. A negative length, which
// only a broken trace can give, counts as 0.
func (d *Dist) Add(v model.Duration, at model.Time) {
	if u := uint64(v); u/nearEight < uint64(len(d.near)) && u%nearGrain == 0 && v >= d.min && v < d.max && d.count < ExactSamples {
		if len(d.recent) == cap(d.recent) {
			d.settle()
			d.recent = slices.Grow(d.recent, nearAhead)
		}
		d.recent = append(d.recent, uint32(u/nearGrain))
		d.count++
		d.total += v
		return
	}
	v = max(v, 0)
	if d.count == 0 {
		d.min, d.max, d.maxAt = v, v, at
	} else if v >= d.max {
		d.maxUp(v, at)
	} else if v < d.min {
		d.min = v
	}
	d.count++
	d.total += v
	d.put(v, 1)
}

// settle counts what is recent in near.
func (d *Dist) settle() {
	for _, i := range d.recent {
		if n := &d.near[i/8][i%8]; *n < math.MaxUint8 { // nearly always
			*n++
		} else {
			d.tally(uint64(i), 1)
		}
	}
	d.recent = d.recent[:0]
}

// tally counts n samples of i times nearGrain.
func (d *Dist) tally(i uint64, n int64) {
	c := &d.near[i/8][i%8]
	n += int64(*c) - 1
	if *c = uint8(n%math.MaxUint8 + 1); n >= math.MaxUint8 {
		if d.rounds == nil {
			d.rounds = map[model.Duration]int64{}
		}
		d.rounds[model.Duration(i*nearGrain)] += n / math.MaxUint8
	}
}

// maxUp takes a sample that is at least the greatest so far.
func (d *Dist) maxUp(v model.Duration, at model.Time) {
	if v > d.max || at < d.maxAt {
		d.max, d.maxAt = v, at
	}
}

// put stores n samples of value v that are already part of d.count.
func (d *Dist) put(v model.Duration, n int64) {
	if d.count > ExactSamples {
		d.spill()
	}
	if d.hist != nil {
		d.hist.Add(int64(v), n)
		return
	}
	if u := uint64(v); u%nearGrain == 0 && (u/nearEight < uint64(len(d.near)) || d.reach(u/nearEight)) {
		d.tally(u/nearGrain, n)
		return
	}
	if u := uint64(v); u%nearGrain != 0 || u/nearGrain > math.MaxUint32 {
		if len(d.odd) == cap(d.odd) {
			d.join()
			d.odd = slices.Grow(d.odd, len(d.odd)+1)
		}
		d.odd = append(d.odd, valueCount{v, n})
		return
	}
	for range n {
		d.far = append(d.far, uint32(v/nearGrain))
	}
}

// valueCount is a value and how often it occurred.
type valueCount struct {
	v model.Duration
	n int64
}

// join sorts odd and joins equal values.
func (d *Dist) join() {
	slices.SortFunc(d.odd, func(a, b valueCount) int { return cmp.Compare(a.v, b.v) })
	k := 0
	for _, x := range d.odd {
		if k > 0 && d.odd[k-1].v == x.v {
			d.odd[k-1].n += x.n
		} else {
			d.odd[k] = x
			k++
		}
	}
	d.odd = d.odd[:k]
}

// reach makes counters up to eight if there are enough samples, and reports whether.
func (d *Dist) reach(eight uint64) bool {
	most := max(nearMost, len(d.far)/2)
	if eight >= uint64(most) {
		return false
	}
	n := max(1<<bits.Len64(eight), nearLeast)
	if n > most || int64(n) > nearShare*d.count {
		return false
	}
	d.near = append(make([][8]uint8, 0, n), d.near...)[:n]
	if n > nearMost {
		far := d.far
		d.far, d.sorted = far[:0], 0
		for _, x := range far { // some go back, at most as far as the loop has read
			d.put(model.Duration(x)*nearGrain, 1)
		}
	}
	return true
}

// spill turns the exact values into a histogram.
func (d *Dist) spill() {
	if d.hist != nil {
		return
	}
	d.hist = d.Histogram()
	d.near, d.recent, d.rounds, d.far, d.odd = nil, nil, nil, nil, nil
}

// Count returns the number of samples.
func (d *Dist) Count() int64 { return d.count }

// Total returns the sum of all samples.
func (d *Dist) Total() model.Duration { return d.total }

// Min returns the smallest sample, 0 if there is none.
func (d *Dist) Min() model.Duration { return d.min }

// Max returns the greatest sample, 0 if there is none.
func (d *Dist) Max() model.Duration { return d.max }

// MaxAt returns the time given with the greatest sample, the earliest of equals.
func (d *Dist) MaxAt() model.Time { return d.maxAt }

// Exact reports whether quantiles are exact values of samples.
func (d *Dist) Exact() bool { return d.hist == nil }

// Quantile returns the q-quantile by nearest rank: of n samples in increasing
// order the one at position ceil(q*n), counted from 1, so that no value is ever
// made up. q is taken to within 1e-9 (0.07*100 is 7 here, though not in floating
// point) and clamped to positions 1 to n. It is 0 if there is no sample. If the
// distribution is not [Dist.Exact], it is within 0.4 % of that sample.
func (d *Dist) Quantile(q float64) model.Duration { return d.Quantiles(q)[0] }

// Quantiles returns several quantiles in one pass; qs must be increasing.
func (d *Dist) Quantiles(qs ...float64) []model.Duration {
	out, ranks := make([]model.Duration, len(qs)), make([]int64, len(qs)+1)
	if d.count == 0 {
		return out
	}
	i, below := 0, int64(0)
	for k, q := range qs {
		ranks[k] = Rank(q, d.count)
	}
	ranks[len(qs)] = math.MaxInt64
	for ; ranks[i] == 1; i++ {
		out[i] = d.min
	}
	d.Each(func(v model.Duration, n int64) {
		for below += n; ranks[i] <= below; i++ {
			out[i] = v
			if ranks[i] == d.count {
				out[i] = d.max
			}
		}
	})
	return out
}

// Rank returns the position of the q-quantile among n samples, from 1.
func Rank(q float64, n int64) int64 {
	x := q * float64(n)
	r := math.Ceil(x - float64(1e-9*max(x, 1)))
	if !(r >= 1) { // NaN too
		return 1
	}
	return min(int64(r), n)
}

// Each calls f for each different value in increasing order with its count. If
// the distribution is not exact, values are the middles of buckets, moved into
// [Min, Max].
func (d *Dist) Each(f func(value model.Duration, count int64)) {
	if d.hist != nil {
		d.hist.Each(func(v, n int64) { f(min(max(model.Duration(v), d.min), d.max), n) })
		return
	}
	d.settle()
	if d.sorted < len(d.far) {
		slices.Sort(d.far)
		d.sorted = len(d.far)
	}
	d.join()
	far, odd, full := d.far, d.odd, slices.Sorted(maps.Keys(d.rounds))
	least := func() model.Duration { // of far and odd
		x := model.Duration(math.MaxInt64)
		if len(far) > 0 {
			x = model.Duration(far[0]) * nearGrain
		}
		if len(odd) > 0 {
			x = min(x, odd[0].v)
		}
		return x
	}
	next := least()
	upTo := func(v model.Duration) int64 { // gives what is less to f; it returns how often v occurs
		for len(far)+len(odd) > 0 && next <= v {
			x, n := next, int64(0)
			for ; len(far) > 0 && model.Duration(far[0])*nearGrain == x; far = far[1:] {
				n++
			}
			if len(odd) > 0 && odd[0].v == x {
				n += odd[0].n
				odd = odd[1:]
			}
			if next = least(); x == v {
				return n
			}
			f(x, n)
		}
		return 0
	}
	for i := range d.near {
		for w := binary.LittleEndian.Uint64(d.near[i][:]); w != 0; {
			k := bits.TrailingZeros64(w) &^ 7
			n := int64(w >> k & math.MaxUint8)
			w &^= math.MaxUint8 << k
			v := model.Duration(i*nearEight + k*nearGrain/8)
			if len(full) > 0 && full[0] == v {
				n += math.MaxUint8 * d.rounds[v]
				full = full[1:]
			}
			if next <= v {
				n += upTo(v)
			}
			f(v, n)
		}
	}
	if n := upTo(d.max); n > 0 {
		f(d.max, n)
	}
}

// Merge adds the samples of o, which stays as it is except for its storage.
func (d *Dist) Merge(o *Dist) {
	if o.count == 0 {
		return
	}
	if d.count == 0 {
		o.settle()
		*d = *o
		d.recent = nil
		d.near, d.rounds, d.far = slices.Clone(o.near), maps.Clone(o.rounds), slices.Clone(o.far)
		d.odd = slices.Clone(o.odd)
		if o.hist != nil {
			d.hist = o.Histogram()
		}
		return
	}
	if o.max >= d.max {
		d.maxUp(o.max, o.maxAt)
	}
	d.min = min(d.min, o.min)
	d.count += o.count
	d.total += o.total
	if o.hist != nil {
		d.spill()
		d.hist.Merge(o.hist)
		return
	}
	o.Each(d.put)
}
