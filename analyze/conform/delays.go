package conform

import (
	"math/bits"

	"github.com/schedscope/schedscope/model"
)

// delays counts lengths of time in buckets, eight for each power of two.
type delays [64 * 8]int64

func (d *delays) add(x model.Duration) { d[bucket(x)]++ }

// bucket returns the bucket of x, and edge the longest of a bucket.
func bucket(x model.Duration) int {
	if x < 8 {
		return int(max(x, 0))
	}
	e := bits.Len64(uint64(x)) - 4
	return e*8 + int(x>>e)
}

func edge(i int) model.Duration {
	if i < 16 {
		return model.Duration(i)
	}
	e := i/8 - 1
	return model.Duration(8+i%8+1)<<e - 1
}

// quantile returns the length that a part q of all do not exceed, to within an
// eighth; 0 if there are none.
func (d *delays) quantile(q float64) model.Duration {
	var all, n int64
	for _, x := range d {
		all += x
	}
	for i, x := range d {
		if n += x; x > 0 && float64(n) >= q*float64(all) {
			return edge(i)
		}
	}
	return 0
}
