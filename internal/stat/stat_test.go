package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got-want) <= within) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func TestMannWhitneyByHand(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name        string
		bound, cand []float64
		want        float64
	}{
		{"all above", []float64{1, 2, 3}, []float64{4, 5, 6}, 0.05},
		{"all below", []float64{4, 5, 6}, []float64{1, 2, 3}, 1},
		{"one inversion", []float64{1, 2, 4}, []float64{3, 5, 6}, 0.1},
		{"all equal", []float64{7, 7, 7}, []float64{7, 7}, 1},
		{"one each", []float64{1}, []float64{2}, 0.5},
		{"a tie", []float64{1, 2}, []float64{2, 3}, 2. / 6},
		{"none", nil, []float64{1}, 1},
		{"no number", []float64{1, 2, nan}, []float64{4, 5, 6}, 1},
		{"infinite", []float64{1, 2, 3}, []float64{4, 5, math.Inf(1)}, 0.05},
		{"zeros", []float64{0, 0, 0}, []float64{1, 2, 3}, 0.05},
	} {
		near(t, c.name, MannWhitney(c.bound, c.cand), c.want, 1e-12)
	}
}

func TestMinP(t *testing.T) {
	for _, c := range []struct {
		n, m int
		want float64
	}{{3, 3, 0.05}, {4, 4, 1. / 70}, {5, 5, 1. / 252}, {6, 6, 1. / 924}, {8, 8, 1. / 12870}, {1, 1, 0.5}, {0, 5, 1}} {
		near(t, "MinP", MinP(c.n, c.m), c.want, 1e-12)
		base, cand := make([]float64, c.n), make([]float64, c.m)
		for i := range cand {
			cand[i] = float64(i + 100)
		}
		for i := range base {
			base[i] = float64(i)
		}
		near(t, "p of the extreme", MannWhitney(base, cand), c.want, 1e-12)
	}
}

func TestHolm(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct{ p, want []float64 }{
		{[]float64{0.01, 0.04, 0.03, 0.005}, []float64{0.03, 0.06, 0.06, 0.02}},
		{[]float64{0.02, 0.02}, []float64{0.04, 0.04}},
		{[]float64{0.9, 0.5}, []float64{1, 1}},
		{[]float64{0.01, nan}, []float64{0.02, 1}},
		{[]float64{0.03}, []float64{0.03}},
		{nil, []float64{}},
	} {
		if got := Holm(c.p); !slices.EqualFunc(got, c.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-15 }) {
			t.Errorf("Holm(%v) = %v, want %v", c.p, got, c.want)
		}
	}
}

// TestHolmStepDown compares with the rule as it is told: go up the ordered p and stop at
// the first that is above its share of alpha.
func TestHolmStepDown(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 2000 {
		p := make([]float64, 1+rng.IntN(6))
		for i := range p {
			p[i] = rng.Float64() * rng.Float64() * 0.2
		}
		adj := Holm(p)
		left := len(p)
		for _, v := range sorted(p) {
			if v > 0.05/float64(left) {
				break
			}
			left--
		}
		rejected := 0
		for _, v := range adj {
			if v <= 0.05 {
				rejected++
			}
		}
		if rejected != len(p)-left {
			t.Fatalf("%v: %d rejected, want %d", p, rejected, len(p)-left)
		}
	}
}

func TestLogSD(t *testing.T) {
	e := math.E
	for _, c := range []struct {
		name       string
		base, cand []float64
		want       float64
	}{
		// Logs 0, 2 and 5, 9: squares 1+1 and 4+4, two degrees of freedom.
		{"two sides", []float64{1, e * e}, []float64{math.Exp(5), math.Exp(9)}, math.Sqrt(5)},
		{"one side", []float64{1, e, e * e}, nil, 1},
		{"one value adds nothing", []float64{1, e, e * e}, []float64{70}, 1},
		{"constant", []float64{3.3, 3.3, 3.3}, []float64{7.1, 7.1, 7.1}, 0},
	} {
		near(t, c.name, LogSD(c.base, c.cand), c.want, 1e-12)
	}
	for _, x := range [][]float64{nil, {1}, {0, 1, 2}, {-1, 2, 3}, {1, math.Inf(1)}, {1, math.NaN(), 2}} {
		if got := LogSD(x, nil); !math.IsNaN(got) {
			t.Errorf("LogSD(%v) = %v, want NaN", x, got)
		}
	}
}

func TestTQuantile(t *testing.T) {
	for _, c := range []struct {
		v       int
		p, want float64
	}{{1, 0.975, 12.7062047364}, {2, 0.95, 2.9199855804}, {5, 0.99, 3.3649299989}, {29, 0.95, 1.6991270265}, {100, 0.95, 1.6602343261}, {9, 0.5, 0}} {
		near(t, "t quantile", tQuantile(c.v, c.p), c.want, 1e-8)
	}
}

func TestMedian(t *testing.T) {
	near(t, "median of three", Median([]float64{3, 1, 2}), 2, 0)
	near(t, "median of four", Median([]float64{4, 1, 2, 3}), 2.5, 0)
	if !math.IsNaN(Median(nil)) {
		t.Error("the median of nothing is a number")
	}
}
