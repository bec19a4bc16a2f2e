package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestIATOfChains uses sequences whose autocorrelation at lag k is l^k, so that their
// time is (1+l)/(1-l). Rare values come in few clusters, hence the mean of several.
func TestIATOfChains(t *testing.T) {
	for _, c := range []struct{ p, l, within float64 }{
		{0.5, 0, 0.02}, {0.01, 0, 0.03}, {0.1, 0.5, 0.03}, {0.01, 0.9, 0.08}, {0.01, 0.94, 0.1}, {0.5, 0.98, 0.05},
	} {
		rng := rand.New(rand.NewPCG(15, 16))
		const reps, n = 20, 100_000
		mean := 0.0
		for range reps {
			mean += IAT(chain(rng, n, c.p, c.l)) / reps
		}
		want := (1 + c.l) / (1 - c.l)
		near(t, "time of a chain", mean, want, c.within*want)
	}
}

// chain stays as it is with probability l, else it is drawn anew.
func chain(rng *rand.Rand, n int, p, l float64) []bool {
	x, state := make([]bool, n), false
	for i := range x {
		if rng.Float64() >= l {
			state = rng.Float64() < p
		}
		x[i] = state
	}
	return x
}

// TestIATOfAR1 is about whether a Gaussian AR(1) process lies above its median: by the
// arcsine law that has autocorrelation 2/pi*asin(phi^k).
func TestIATOfAR1(t *testing.T) {
	for _, phi := range []float64{0, 0.5, 0.9, 0.97} {
		rng := rand.New(rand.NewPCG(17, 18))
		want := 1.0
		for r := phi; r > 1e-12; r *= phi {
			want += 2 * 2 / math.Pi * math.Asin(r)
		}
		x, v := make([]bool, 200_000), 0.0
		for i := range x {
			v = phi*v + math.Sqrt(1-phi*phi)*rng.NormFloat64()
			x[i] = v > 0
		}
		near(t, "time of AR(1)", IAT(x), want, 0.1*want)
	}
}

func TestIATEdges(t *testing.T) {
	for n := range 10 {
		for set := range 1 << n {
			x := make([]bool, n)
			for i := range x {
				x[i] = set>>i&1 == 1
			}
			if got := IAT(x); !(got >= 1 && got <= float64(max(n, 1))) {
				t.Errorf("IAT(%v) = %v", x, got)
			}
		}
	}
	// Alternating: independent ones carry less.
	x := make([]bool, 1000)
	for i := range x {
		x[i] = i%2 == 0
	}
	near(t, "time of alternation", IAT(x), 1, 0)
}

// TestIATCounts compares the counting in words with counting one by one.
func TestIATCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 20))
	for _, n := range []int{1, 63, 64, 65, 128, 300} {
		x := make([]bool, n)
		for i := range x {
			x[i] = rng.IntN(3) == 0
		}
		s := newBitset(x)
		for k := range n + 1 {
			ones, both := 0, 0
			for i, v := range x {
				if v && i < k {
					ones++
				}
				if v && i+k < n && x[i+k] {
					both++
				}
			}
			if s.ones(k) != ones || s.both(k) != both {
				t.Errorf("n %d, k %d: %d ones and %d both, want %d and %d", n, k, s.ones(k), s.both(k), ones, both)
			}
		}
	}
}
