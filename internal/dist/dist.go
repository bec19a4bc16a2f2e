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
// its count, in about four bytes per value beside a buffer for the newest.
// (The trace's clock ticks every 64 ns, so values repeat a lot.) Beyond that it
// becomes a histogram of log-linear buckets whose values are off by at most
// 0.4 %; count, total, minimum and maximum stay exact.
type Dist struct {
	count    int64
	total    model.Duration
	min, max model.Duration
	maxAt    model.Time

	near   []uint32   // counts of the multiples of nearGrain below nearLimit; nil until they pay
	recent valueTable // other values not yet in run
	run    valueRun
	hist   *hdr.Histogram // replaces recent and run beyond ExactSamples
}

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
	d.Each(func(v model.Duration, n int64) { h.Add(int64(v), n) })
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
	if d.hist != nil {
		d.hist.Add(int64(v), n)
		return
	}
	if d.count > ExactSamples {
		d.spill()
		d.hist.Add(int64(v), n)
		return
	}
	if d.near != nil && v < nearLimit && v%nearGrain == 0 {
		d.near[v/nearGrain] += uint32(n)
		return
	}
	if d.near == nil && d.count > nearAfter {
		d.near = make([]uint32, nearLimit/nearGrain)
	}
	d.recent.add(v, n)
	d.pack()
}

// Short lengths are so frequent, and mostly multiples of the clock's tick, that
// they have a table without hashing: 4 KB, once there are more samples than that
// is worth.
const (
	nearGrain = 64
	nearLimit = 1024 * nearGrain
	nearAfter = 1024
)

// flush moves the near and the recent values into the run.
func (d *Dist) flush() {
	for i, n := range d.near {
		if n > 0 {
			d.recent.add(model.Duration(i)*nearGrain, int64(n))
			d.near[i] = 0
		}
	}
	if d.recent.used > 0 {
		d.run = d.run.union(d.recent.drain())
	}
}

// spill turns the exact values into a histogram.
func (d *Dist) spill() {
	h := &hdr.Histogram{}
	d.flush()
	d.run.each(func(v model.Duration, n int64) { h.Add(int64(v), n) })
	d.hist, d.near, d.run, d.recent = h, nil, valueRun{}, valueTable{}
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
	r := math.Ceil(x - 1e-9*max(x, 1))
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
	if d.hist == nil && (o.hist != nil || d.count > ExactSamples) {
		d.spill()
	}
	if o.hist != nil {
		d.hist.Merge(o.hist)
		return
	}
	if d.hist != nil {
		o.Each(func(v model.Duration, n int64) { d.hist.Add(int64(v), n) })
		return
	}
	if o.distinct() < max(gatherMax, d.run.distinct/mergeShare) {
		// Packing all anew for each of many small ones would cost far more.
		o.gather(func(v model.Duration, n int64) { d.recent.add(v, n) })
		d.pack()
		return
	}
	o.flush()
	d.flush()
	d.run = d.run.union(o.run)
}

// distinct returns at most how many different values there are in exact storage.
func (d *Dist) distinct() int {
	n := d.recent.used + d.run.distinct
	if d.near != nil {
		n += len(d.near)
	}
	return n
}

// gather calls f for the values in exact storage, some of them twice, in any order.
func (d *Dist) gather(f func(v model.Duration, n int64)) {
	d.run.each(f)
	for i, n := range d.near {
		if n > 0 {
			f(model.Duration(i)*nearGrain, int64(n))
		}
	}
	d.recent.each(f)
}

// mergeShare is how many times as many values as those to be merged a Dist must have
// packed so that they are gathered first.
const mergeShare = 4

// gatherMax is below how many values they are gathered first in any case.
const gatherMax = recentMin / 4

// pack packs what was gathered once it is much.
func (d *Dist) pack() {
	if d.recent.used > recentMin && d.recent.used > d.run.distinct/2 {
		d.flush()
	}
}
