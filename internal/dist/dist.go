// Package dist keeps distributions of durations: exact ones of up to millions of samples,
// histograms beyond.
package dist

import (
	"math"

	"github.com/schedscope/schedscope/internal/hdr"
	"github.com/schedscope/schedscope/model"
)

// ExactSamples is the number of samples up to which a [Dist] is exact.
const ExactSamples = 5_000_000

// Dist is a distribution of durations. The zero value is empty and ready.
//
// Up to [ExactSamples] samples it is exact: it keeps each different value with
// its count, in about four bytes per value or sample besides a buffer for the newest.
// Beyond that it becomes a histogram of log-linear buckets whose values are off by at
// most 0.4 %; count, total, minimum and maximum stay exact.
//
// A sample is put away as follows.
//
//  1. The trace's clock ticks every 64 ns, so nearly all lengths are multiples of that, and
//     most are short. Each page of counters counts a range of them, without any search. A
//     page is made when there are as many samples as would pay for all pages. Counters are
//     of a byte, so that those in use stay near the processor; what overflows goes to 2.
//  2. Any other value is appended to a buffer. When that is full it is sorted, equal values
//     are joined, and if many remain they are merged into the run: all of before, sorted and
//     packed. The buffer grows with the run, so that merging costs each sample a constant
//     number of steps.
type Dist struct {
	count    int64
	total    model.Duration
	min, max model.Duration
	maxAt    model.Time

	near   []*nearPage // each of the next nearSpan of values; nil: not made
	pages  int64       // of those made
	recent []valueCount
	run    valueRun
	hist   *hdr.Histogram // replaces all these beyond ExactSamples
}

// nearPage counts the multiples of nearGrain in a range of nearSpan.
type nearPage [nearSpan / nearGrain]uint8

const (
	nearGrain = 64
	nearSpan  = 1 << 18
	nearLimit = 1 << 24 // greater values have no page
	nearShare = 4       // bytes of pages for each sample
)

// Of returns the distribution of which h is the histogram. Only what is given next to it
// is exact. It owns h.
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
	d.gather(func(v model.Duration, n int64) { h.Add(int64(v), n) })
	return h
}

// Add counts a sample that ended at the given time. A negative length, which
// only a broken trace can give, counts as 0.
func (d *Dist) Add(v model.Duration, at model.Time) {
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

// maxUp takes a sample that is at least the greatest so far.
func (d *Dist) maxUp(v model.Duration, at model.Time) {
	if v > d.max || at < d.maxAt {
		d.max, d.maxAt = v, at
	}
}

// put stores n samples of value v that are already part of d.count.
func (d *Dist) put(v model.Duration, n int64) {
	if u := uint64(v); u/nearSpan < uint64(len(d.near)) && u%nearGrain == 0 && d.count <= ExactSamples {
		if p := d.near[u/nearSpan]; p != nil {
			c := &p[u%nearSpan/nearGrain]
			n += int64(*c)
			*c = uint8(n)
			if n <= math.MaxUint8 {
				return
			}
			n &^= math.MaxUint8
		}
	}
	d.putFar(v, n)
}

// putFar is put for a value without a page.
func (d *Dist) putFar(v model.Duration, n int64) {
	if d.hist == nil && d.count > ExactSamples {
		d.spill()
	}
	if d.hist != nil {
		d.hist.Add(int64(v), n)
		return
	}
	d.recent = append(d.recent, valueCount{v, uint32(n)})
	if v < nearLimit && v%nearGrain == 0 && (d.pages+1)*int64(len(nearPage{})) < nearShare*d.count {
		d.page(int(v / nearSpan))
	}
	if len(d.recent) >= recentMin && len(d.recent) >= d.run.distinct/2 {
		d.recent = sortValues(d.recent)
		if len(d.recent) > cap(d.recent)/4 {
			d.pack()
		}
	}
}

// page returns a page, new if need be.
func (d *Dist) page(i int) *nearPage {
	d.near = append(d.near, make([]*nearPage, max(0, i+1-len(d.near)))...)
	if d.near[i] == nil {
		d.near[i] = new(nearPage)
		d.pages++
	}
	return d.near[i]
}

// recentMin is the least number of values that are gathered before they are sorted.
const recentMin = 1 << 13

// pack moves the recent values into the run.
func (d *Dist) pack() {
	if len(d.recent) == 0 {
		return
	}
	d.run = d.run.union(runOf(sortValues(d.recent)))
	d.recent = d.recent[:0]
}

// flush moves all values into the run.
func (d *Dist) flush() {
	d.pack()
	if d.pages > 0 {
		var near []valueCount
		d.eachNear(func(v model.Duration, n int64) { near = append(near, valueCount{v, uint32(n)}) })
		d.run = d.run.union(runOf(near))
	}
	d.near, d.pages, d.recent = nil, 0, nil
}

// eachNear calls f for the values that pages count, in increasing order.
func (d *Dist) eachNear(f func(v model.Duration, n int64)) {
	for i, p := range d.near {
		if p == nil {
			continue
		}
		for k, n := range p {
			if n > 0 {
				f(model.Duration(i)*nearSpan+model.Duration(k)*nearGrain, int64(n))
			}
		}
	}
}

// spill turns the exact values into a histogram.
func (d *Dist) spill() {
	if d.hist != nil {
		return
	}
	d.hist = d.Histogram()
	d.near, d.pages, d.recent, d.run = nil, 0, nil, valueRun{}
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
func (d *Dist) Quantile(q float64) model.Duration {
	return d.Quantiles(q)[0]
}

// Quantiles returns several quantiles in one pass; qs must be increasing.
func (d *Dist) Quantiles(qs ...float64) []model.Duration {
	out := make([]model.Duration, len(qs))
	if d.count == 0 {
		return out
	}
	i, below := 0, int64(0)
	for i < len(qs) && Rank(qs[i], d.count) == 1 {
		out[i] = d.min
		i++
	}
	d.Each(func(v model.Duration, n int64) {
		below += n
		for i < len(qs) && Rank(qs[i], d.count) <= below {
			out[i] = v
			if Rank(qs[i], d.count) == d.count {
				out[i] = d.max
			}
			i++
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
	d.flush()
	d.run.each(f)
}

// Merge adds the samples of o, which stays as it is but for its storage.
func (d *Dist) Merge(o *Dist) {
	if o.count == 0 {
		return
	}
	if d.count == 0 {
		d.min, d.max, d.maxAt = o.min, o.max, o.maxAt
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
	if d.hist != nil || d.count > ExactSamples {
		o.gather(d.put)
		return
	}
	for i, p := range o.near {
		if p != nil {
			d.page(i)
		}
	}
	o.eachNear(d.put)
	if len(o.recent)+o.run.distinct < max(gatherMax, d.run.distinct/mergeShare) {
		// Packing all again for each of many small ones would cost far more.
		o.gatherFar(d.put)
		return
	}
	o.pack()
	d.pack()
	d.run = d.run.union(o.run)
}

// gather calls f for the values in exact storage, some of them several times, in any order.
func (d *Dist) gather(f func(v model.Duration, n int64)) {
	d.eachNear(f)
	d.gatherFar(f)
}

// gatherFar is gather for values that no page counts.
func (d *Dist) gatherFar(f func(v model.Duration, n int64)) {
	d.run.each(f)
	for _, x := range d.recent {
		f(x.v, int64(x.n))
	}
}

// mergeShare is how many times as many values as those to be merged a Dist must have
// packed so that they are gathered first.
const mergeShare = 4

// gatherMax is below how many values they are gathered first in any case.
const gatherMax = 1 << 12
