package stat

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// exactness is how far a p may be from the one found by trying everything.
const exactness = 1e-9

// samples calls f with pairs of samples of every two sizes up to six, without ties, with
// few and with many.
func samples(f func(name string, x, y []float64)) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 1; n <= 6; n++ {
		for m := 1; m <= 6; m++ {
			for _, values := range []int{2, 3, 6, 1 << 30} {
				for try := range 12 {
					x, y := draw(rng, n, values), draw(rng, m, values)
					f(fmt.Sprintf("%d and %d of %d values, try %d: %v %v", n, m, values, try, x, y), x, y)
				}
			}
		}
	}
}

func draw(rng *rand.Rand, n, values int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(rng.IntN(values))
	}
	return x
}

func TestMannWhitneyAgainstAllPermutations(t *testing.T) {
	worst, tied := 0.0, 0
	samples(func(name string, x, y []float64) {
		got, want := MannWhitney(x, y), permutedU(x, y)
		if diff := math.Abs(got - want); !(diff < exactness) {
			t.Errorf("%s: p = %v, want %v", name, got, want)
		} else {
			worst = max(worst, diff)
		}
		if wins(x, y) != math.Trunc(wins(x, y)) {
			tied++
		}
	})
	if tied < 100 {
		t.Errorf("only %d samples with ties between the sides", tied)
	}
	t.Logf("worst difference %.1e", worst)
}

// TestMeanLogsAgainstAllPermutations tries everything by the same steps: what is exact is the
// share of ways. Equal values and outliers are among them.
func TestMeanLogsAgainstAllPermutations(t *testing.T) {
	worst, tried := 0.0, 0
	samples(func(name string, x, y []float64) {
		for i := range x {
			x[i]++
		}
		for i := range y {
			y[i] = math.Pow(y[i]+1, 1.5)
		}
		all := append(append([]float64{}, x...), y...)
		l, _ := logs(all)
		mid, sd := Median(l), 0.0
		dist := make([]float64, len(all))
		for i, v := range all {
			dist[i] = math.Abs(math.Log(v) - mid)
		}
		if sd = Median(dist) / normalMAD; sd < rounding {
			near(t, name, MeanLogs(x, y), MannWhitney(x, y), 0)
			return
		}
		tried++
		sum := func(set int) (s float64) {
			for i, v := range all {
				if set>>i&1 == 1 {
					s += math.Round(32 * max(0, min(4, 2-(math.Log(v)-mid)/sd)))
				}
			}
			return s
		}
		seen, count, rare := sum((1<<len(y)-1)<<len(x)), 0.0, 0.0
		for set := range 1 << len(all) {
			if bits.OnesCount(uint(set)) == len(y) {
				count++
				if sum(set) <= seen {
					rare++
				}
			}
		}
		if diff := math.Abs(MeanLogs(x, y) - rare/count); !(diff < exactness) {
			t.Errorf("%s: p = %v, want %v", name, MeanLogs(x, y), rare/count)
		} else {
			worst = max(worst, diff)
		}
	})
	if tried < 500 {
		t.Errorf("only %d samples that are not ranked", tried)
	}
	t.Logf("worst difference %.1e", worst)
}

// TestBeyond checks what is far off against what is farther, room, and the direction.
func TestBeyond(t *testing.T) {
	base, bound, cand := []float64{1, 2, 3, 4, 5, 6}, []float64{1, 2, 3, 4, 5, 6}, []float64{3, 5, 6, 7, 8, 1e3}
	far := MeanLogs(bound, cand)
	cand[5] = 1e9
	near(t, "an outlier", MeanLogs(bound, cand), far, 0)
	near(t, "no room", Beyond(base, bound, cand, true), far, 0)
	for i := range bound {
		bound[i] = 1.01 * base[i]
	}
	near(t, "little room", Beyond(base, bound, cand, true), 2*far, 1e-12)
	near(t, "a stricter bound", Beyond(bound, base, cand, true), far, 0)
	for i := range cand {
		base[i], bound[i], cand[i] = 1/base[i], 1/bound[i], 1/cand[i]
	}
	near(t, "less is worse", Beyond(base, bound, cand, false), 2*far, 1e-12)
	near(t, "zeros", MeanLogs([]float64{0, 0, 0}, []float64{1, 2, 3}), 0.05, 1e-12)
	near(t, "none", MeanLogs(nil, cand), 1, 0)
	many := draw(rand.New(rand.NewPCG(7, 8)), 95, 1<<30)
	near(t, "many", MeanLogs(many, cand), MannWhitney(many, cand), 0)
	near(t, "no number", MeanLogs([]float64{1, math.NaN()}, cand), 1, 0)
}

// permutedU is the share of all ways to deal the values out in which the first side wins
// as rarely as in the way given.
func permutedU(x, y []float64) float64 {
	all := append(append([]float64{}, x...), y...)
	seen := wins(x, y)
	count, rare := 0.0, 0.0
	for set := range 1 << len(all) {
		if bits.OnesCount(uint(set)) != len(x) {
			continue
		}
		var a, b []float64
		for i, v := range all {
			if set>>i&1 == 1 {
				a = append(a, v)
			} else {
				b = append(b, v)
			}
		}
		count++
		if wins(a, b) <= seen {
			rare++
		}
	}
	return rare / count
}

// wins counts the pairs in which x is greater, and half of those that tie.
func wins(x, y []float64) (u float64) {
	for _, a := range x {
		for _, b := range y {
			if a > b {
				u++
			} else if a == b {
				u += 0.5
			}
		}
	}
	return u
}

// TestMannWhitneySides holds what the library's other direction fails where there are ties.
func TestMannWhitneySides(t *testing.T) {
	samples(func(name string, x, y []float64) {
		// The two one-sided p overlap by the probability of what was seen, at least one
		// way of C(n+m, n).
		over := MannWhitney(x, y) + MannWhitney(y, x) - 1
		if over < MinP(len(x), len(y))-exactness {
			t.Errorf("%s: the two sides' p add up to 1%+g", name, over)
		}
	})
}

// TestMannWhitneyLarge holds the documented errors beyond the sizes that are exact.
func TestMannWhitneyLarge(t *testing.T) {
	const distinct = 1 << 30
	for _, c := range []struct {
		n, m, values int
		limit        float64
	}{
		{10, 10, 8, 1e-9}, {25, 25, 20, 1e-9}, {50, 50, distinct, 1e-9}, {20, 50, distinct, 1e-9},
		{26, 26, 20, 0.001}, {26, 30, 200, 0.001}, {51, 51, distinct, 0.001}, {51, 20, distinct, 0.001},
		{6, 60, distinct, 0.003}, {60, 6, distinct, 0.003},
	} {
		rng := rand.New(rand.NewPCG(3, 4))
		worst, at := 0.0, 0.0
		for range 5 {
			x, y := violating(rng, c.n, c.m, c.values)
			got, want := MannWhitney(x, y), dealtU(x, y)
			if diff := math.Abs(got - want); diff > worst {
				worst, at = diff, want
			}
			if want < 0.01 && got < want-c.limit/10 {
				t.Errorf("%d and %d of %d values: p = %.4g, want %.4g", c.n, c.m, c.values, got, want)
			}
		}
		if worst > c.limit {
			t.Errorf("%d and %d of %d values: p is wrong by %.2g where it is %.4g, want at most %.2g", c.n, c.m, c.values, worst, at, c.limit)
		}
		t.Logf("%d and %d of %d values: %.2g at %.3g", c.n, c.m, c.values, worst, at)
	}
}

// violating draws samples until their p is below 0.1.
func violating(rng *rand.Rand, n, m, values int) (x, y []float64) {
	for shift := 0.1; ; shift += 0.02 {
		x, y = draw(rng, n, values), draw(rng, m, values)
		for i := range y {
			y[i] = math.Trunc(y[i] + float64(values)*shift)
		}
		if MannWhitney(x, y) < 0.1 {
			return x, y
		}
	}
}

// dealtU is permutedU for many values: it counts the ways by their rank sums.
func dealtU(x, y []float64) float64 {
	all := append(append([]float64{}, x...), y...)
	n := len(x)
	ways := make([][]float64, n+1) // by number of values dealt to x and twice their rank sum
	for j := range ways {
		ways[j] = make([]float64, 2*n*len(all)+1)
	}
	ways[0][0] = 1
	seen := 0
	for i, v := range all {
		twice := 1
		for _, o := range all {
			if o < v {
				twice += 2
			} else if o == v {
				twice++
			}
		}
		if i < n {
			seen += twice
		}
		for j := min(i+1, n); j > 0; j-- {
			for s := len(ways[j]) - 1; s >= twice; s-- {
				ways[j][s] += ways[j-1][s-twice]
			}
		}
	}
	sum := func(x []float64) (s float64) {
		for _, v := range x {
			s += v
		}
		return s
	}
	return sum(ways[n][:seen+1]) / sum(ways[n])
}
