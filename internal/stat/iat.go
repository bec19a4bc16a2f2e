package stat

import "math/bits"

// IAT returns the integrated autocorrelation time of a sequence of events, in events:
// as many of them carry the information of one independent one. beyond says of each, in
// order of time, whether its value lies beyond a quantile.
//
// It is 1 plus twice the sum of the autocorrelations up to the first lag that is at
// least five times the result so far (Sokal's window), at least 1. Lags go to a quarter
// of the length, and less far in sequences of more than 100 000: where the window would
// reach further, the result is too low, and large.
func IAT(beyond []bool) float64 {
	s := newBitset(beyond)
	n, p := float64(s.n), float64(s.ones(s.n))/float64(s.n)
	variance := n * p * (1 - p)
	if s.n == 0 || variance == 0 {
		return 1
	}
	tau := 1.0
	for k := 1; k <= s.maxLag(); k++ {
		left, right := s.ones(s.n-k), s.ones(s.n)-s.ones(k)
		cov := float64(s.both(k)) - float64(p*float64(left+right)) + float64(p*p*float64(s.n-k))
		tau += float64(2 * cov / variance)
		if float64(k) >= 5*tau {
			break
		}
	}
	return max(1, tau)
}

// bitset holds a bool in a bit, with room for a shift.
type bitset struct {
	n     int
	words []uint64
	below []int // ones in the words before this one
}

func newBitset(b []bool) *bitset {
	s := &bitset{n: len(b), words: make([]uint64, len(b)/64+2)}
	for i, v := range b {
		if v {
			s.words[i/64] |= 1 << (i % 64)
		}
	}
	s.below = make([]int, len(s.words))
	for i, w := range s.words[:len(s.words)-1] {
		s.below[i+1] = s.below[i] + bits.OnesCount64(w)
	}
	return s
}

// maxLag limits the work to about 50 million words.
func (s *bitset) maxLag() int {
	return min(s.n/4, 50_000_000/len(s.words))
}

// ones returns how many of the first k are true.
func (s *bitset) ones(k int) int {
	return s.below[k/64] + bits.OnesCount64(s.words[k/64]&(1<<(k%64)-1))
}

// both returns how many are true together with the one k later.
func (s *bitset) both(k int) int {
	word, bit := k/64, k%64
	count := 0
	for i := 0; i+word+1 < len(s.words); i++ {
		later := s.words[i+word]>>bit | s.words[i+word+1]<<(64-bit)
		count += bits.OnesCount64(s.words[i] & later)
	}
	return count
}
