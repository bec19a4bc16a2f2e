package analyze

import (
	"math/bits"

	"github.com/schedscope/schedscope/model"
)

// subBits is the number of bits of a value that its bucket keeps below the
// leading one: buckets are at most 1/128 of their values wide, so their middles
// are off by at most 1/256 = 0.39 %.
const subBits = 7

// histogram counts values in log-linear buckets: values below 128 have their
// own, each octave above has 128 of equal width.
type histogram struct {
	counts []int64 // by bucket, as long as the greatest one used
}

func (h *histogram) add(v model.Duration, n int64) {
	b := bucketOf(v)
	if b >= len(h.counts) {
		h.counts = append(h.counts, make([]int64, b+1-len(h.counts))...)
	}
	h.counts[b] += n
}

func (h *histogram) merge(o *histogram) {
	if len(o.counts) > len(h.counts) {
		h.counts = append(h.counts, make([]int64, len(o.counts)-len(h.counts))...)
	}
	for b, n := range o.counts {
		h.counts[b] += n
	}
}

func (h *histogram) each(f func(model.Duration, int64)) {
	for b, n := range h.counts {
		if n != 0 {
			f(bucketMiddle(b), n)
		}
	}
}

// bucketOf returns the bucket of v, which must not be negative.
func bucketOf(v model.Duration) int {
	x := uint64(v)
	e := bits.Len64(x) - 1 - subBits
	if e <= 0 {
		return int(x)
	}
	return e<<subBits + int(x>>e)
}

// bucketMiddle returns the middle of bucket b.
func bucketMiddle(b int) model.Duration {
	e := b>>subBits - 1
	if e <= 0 {
		return model.Duration(b)
	}
	lo := uint64(b-e<<subBits) << e
	return model.Duration(lo + 1<<e/2)
}
