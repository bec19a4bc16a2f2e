package calibrate

import (
	"math/bits"

	"github.com/schedscope/schedscope/model"
)

// subBits is the binary logarithm of the number of buckets per power of two.
const subBits = 7

// longest is what longer samples count as: of no use as a cost, they only have to
// stay above the others.
const longest model.Duration = 10_000_000_000

// sketch counts durations in buckets that are exact below 256 ns and within 0.4 % above.
// What it answers depends on the samples alone, not on their order. Its size is
// at most 28 KB.
type sketch struct {
	count   int64
	buckets []int64
}

// add counts a sample; negative ones, which only a broken trace can give, as 0.
func (s *sketch) add(d model.Duration) {
	i := bucket(uint64(min(max(d, 0), longest)))
	if i >= len(s.buckets) {
		s.buckets = append(s.buckets, make([]int64, i+1-len(s.buckets))...)
	}
	s.buckets[i]++
	s.count++
}

// bucket returns the bucket of a value: v itself below 2<<subBits, else its
// highest subBits+1 bits and how many there are below them.
func bucket(v uint64) int {
	shift := max(bits.Len64(v)-subBits-1, 0)
	return shift<<subBits + int(v>>shift)
}

// middle returns the middle of a bucket.
func middle(i int) model.Duration {
	if i < 2<<subBits {
		return model.Duration(i)
	}
	shift := i>>subBits - 1
	low := uint64(i-shift<<subBits) << shift
	return model.Duration(low + uint64(1)<<shift/2)
}

// quantile returns the smallest value that at least the part num/den of all samples do
// not exceed, 0 if there are none.
func (s *sketch) quantile(num, den int64) model.Duration {
	// (count*num+den-1)/den without overflow.
	rank := s.count/den*num + (s.count%den*num+den-1)/den
	rank = max(rank, 1)
	for i, n := range s.buckets {
		if rank -= n; rank <= 0 {
			return middle(i)
		}
	}
	return 0
}

// midMean returns the mean of the samples without the lowest and the highest
// tenth, 0 if there are none. Unlike a median it is not bound to the ticks of the
// clock, and unlike a mean it does not see what the operating system did to some.
func (s *sketch) midMean() model.Duration {
	low, high := s.count/10, s.count-s.count/10
	if high == low {
		return 0
	}
	sum, passed := int64(0), int64(0)
	for i, n := range s.buckets {
		if in := min(passed+n, high) - max(passed, low); in > 0 {
			sum += in * int64(middle(i))
		}
		passed += n
	}
	return model.Duration((sum + (high-low)/2) / (high - low))
}
