// Package hdr counts values in log-linear buckets, those of an HdrHistogram of 2
// significant digits, and writes them in its V2 compressed encoding, which libraries
// of several languages read (hdrhistogram.github.io/HdrHistogram).
package hdr

import "math/bits"

// subBits is the number of bits of a value that its bucket keeps below the
// leading one: buckets are at most 1/128 of their values wide, so their middles
// are off by at most 1/256 = 0.39 %.
const subBits = 7

// maxBuckets is how many buckets there are for values up to 1<<63 - 1.
const maxBuckets = (64 - subBits) << subBits

// Histogram counts values in buckets: values below 256 have their own, each octave
// above has 128 of equal width. The zero value is empty and ready.
type Histogram struct {
	counts []int64 // by bucket, as long as the greatest one used
}

// Add counts n times v, which must not be negative.
func (h *Histogram) Add(v, n int64) {
	b := bucketOf(v)
	h.reach(b)
	h.counts[b] += n
}

// reach sees to it that bucket b is there.
func (h *Histogram) reach(b int) {
	if b >= len(h.counts) {
		h.counts = append(h.counts, make([]int64, b+1-len(h.counts))...)
	}
}

// Merge adds the counts of o, which stays as it is.
func (h *Histogram) Merge(o *Histogram) {
	h.reach(len(o.counts) - 1)
	for b, n := range o.counts {
		h.counts[b] += n
	}
}

// Each calls f for each bucket that is not empty, in increasing order, with its middle
// and its count.
func (h *Histogram) Each(f func(middle, n int64)) {
	for b, n := range h.counts {
		if n != 0 {
			f(bucketMiddle(b), n)
		}
	}
}

// Total returns the sum of all counts.
func (h *Histogram) Total() int64 {
	sum := int64(0)
	for _, n := range h.counts {
		sum += n
	}
	return sum
}

// At returns the middle of the bucket of a value by its position in increasing order, from 1; of the last one
// if there are fewer, and 0 of none.
func (h *Histogram) At(position int64) (v int64) {
	for b, n := range h.counts {
		if n != 0 {
			if v = bucketMiddle(b); position <= n {
				break
			}
			position -= n
		}
	}
	return v
}

// Bounds returns the values of the bucket of v: from lo up to, not including, hi.
func Bounds(v int64) (lo, hi uint64) {
	b := bucketOf(v)
	e := max(b>>subBits-1, 0)
	lo = uint64(b-e<<subBits) << e
	return lo, lo + 1<<e
}

// bucketOf returns the bucket of v, which must not be negative.
func bucketOf(v int64) int {
	x := uint64(v)
	e := bits.Len64(x) - 1 - subBits
	if e <= 0 {
		return int(x)
	}
	return e<<subBits + int(x>>e)
}

// bucketMiddle returns the middle of bucket b.
func bucketMiddle(b int) int64 {
	e := b>>subBits - 1
	if e <= 0 {
		return int64(b)
	}
	lo := uint64(b-e<<subBits) << e
	return int64(lo + 1<<e/2)
}
