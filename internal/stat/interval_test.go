package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestRatioByHand(t *testing.T) {
	base, cand := []float64{1, 2, 4}, []float64{8, 16, 32}
	// The nine ratios are 2, 4, 4, 8, 8, 8, 16, 16, 32.
	got := Ratio(base, cand, 0.9)
	want := Interval{Est: 8, Low: 2, High: 32, Confidence: 0.9}
	same(t, "Ratio at 90 %", got, want)
	// 80 % leaves .1 at each end: P(U <= 1) = 2/20.
	same(t, "Ratio at 80 %", Ratio(base, cand, 0.8), Interval{8, 4, 16, 0.8})
	same(t, "more than can be had", Ratio(base, cand, 0.99), want)
	same(t, "Shift", Shift([]float64{0, -1, -2}, []float64{3, 4, 5}, 0.9), Interval{5, 3, 7, 0.9})
	same(t, "one each", Ratio([]float64{2}, []float64{3}, 0.95), Interval{})
}

func same(t *testing.T, what string, got, want Interval) {
	t.Helper()
	g := []float64{got.Est, got.Low, got.High, got.Confidence}
	w := []float64{want.Est, want.Low, want.High, want.Confidence}
	if want.OK() != got.OK() || want.OK() && !slices.EqualFunc(g, w, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) {
		t.Errorf("%s: %+v, want %+v", what, got, want)
	}
}

func TestNoInterval(t *testing.T) {
	one, inf, nan := []float64{1, 2, 3}, math.Inf(1), math.NaN()
	for _, bad := range [][]float64{nil, {0, 1, 2}, {-1, 1, 2}, {1, 2, inf}, {1, 2, nan}} {
		for what, i := range map[string]Interval{"base": Ratio(bad, one, 0.9), "cand": Ratio(one, bad, 0.9)} {
			if i != (Interval{}) {
				t.Errorf("%s %v: %+v, want none", what, bad, i)
			}
		}
	}
	for _, bad := range [][]float64{nil, {1, 2, inf}, {1, 2, nan}, {-math.MaxFloat64}} {
		if i := Shift(bad, []float64{math.MaxFloat64}, 0.9); i != (Interval{}) {
			t.Errorf("Shift of %v: %+v, want none", bad, i)
		}
	}
	same(t, "Shift of zeros", Shift([]float64{0, 0, 0}, one, 0.9), Interval{2, 1, 3, 0.9})
	if i := MedianBounds([]float64{1, nan}, 0.9); i.OK() {
		t.Errorf("bounds with no number: %+v", i)
	}
}

// TestRatioAndTest holds that interval and test agree: the lower end at two-sided 90 % is
// above 1 exactly if p is at most 5 %.
func TestRatioAndTest(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	above := 0
	for range 3000 {
		n, m := 3+rng.IntN(8), 3+rng.IntN(8)
		base, cand := make([]float64, n), make([]float64, m)
		for i := range base {
			base[i] = math.Exp(rng.NormFloat64())
		}
		for i := range cand {
			cand[i] = math.Exp(rng.NormFloat64() + 1)
		}
		if i := Ratio(base, cand, 0.9); i.Confidence >= 0.9-1e-9 && (i.Low > 1) != (MannWhitney(base, cand) <= 0.05+1e-9) {
			t.Fatalf("%v %v: %+v, p = %v", base, cand, i, MannWhitney(base, cand))
		} else if i.Low > 1 {
			above++
		}
	}
	if above < 500 {
		t.Errorf("only %d of 3000 above", above)
	}
}

// TestConfidence holds that rounding takes nothing from a confidence that is reached
// exactly: callers compare it with the one they asked for.
func TestConfidence(t *testing.T) {
	for n := 2; n <= 12; n++ {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(i)
		}
		for m := 2; m <= 12; m++ {
			conf := 1 - 2*MinP(n, m)
			if got := Shift(x, make([]float64, m), conf).Confidence; got < conf {
				t.Errorf("%d and %d: confidence %v, want at least %v", n, m, got, conf)
			}
		}
		conf := 1 - math.Pow(0.5, float64(n))
		if got := MedianBounds(x, conf).Confidence; got < conf {
			t.Errorf("%d: confidence %v, want at least %v", n, got, conf)
		}
	}
}

// TestCoverage is of the truth within the interval, exactly as often as it says.
func TestCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	const reps = 4000
	for _, c := range []struct{ n, m int }{{5, 5}, {6, 8}, {10, 10}} {
		in, said := 0, 0.0
		base, cand := make([]float64, c.n), make([]float64, c.m)
		for range reps {
			for i := range base {
				base[i] = math.Exp(rng.NormFloat64())
			}
			for i := range cand {
				cand[i] = 3 * math.Exp(rng.NormFloat64())
			}
			i := Ratio(base, cand, 0.9)
			if i.Low <= 3 && 3 <= i.High {
				in++
			}
			said = i.Confidence
		}
		within := 4 * math.Sqrt(0.9*0.1/reps)
		near(t, "coverage", float64(in)/reps, said, within)
	}
}

func TestMedianBounds(t *testing.T) {
	ten := []float64{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}
	same(t, "ten", MedianBounds(ten, 0.95), Interval{5.5, 2, 9, 1 - 11./1024})
	same(t, "five", MedianBounds(ten[:5], 0.95), Interval{8, 6, 10, 1 - 1./32})
	same(t, "four are too few", MedianBounds(ten[:4], 0.95), Interval{8.5, 7, 10, 1 - 1./16})
	same(t, "one", MedianBounds(ten[:1], 0.95), Interval{10, 10, 10, 0.5})
	same(t, "none", MedianBounds(nil, 0.95), Interval{})
}

func TestSignTest(t *testing.T) {
	x := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for _, c := range []struct{ limit, want float64 }{
		{0.5, 1. / 1024}, {1, 11. / 1024}, {1.5, 11. / 1024}, {2.5, 56. / 1024}, {10, 1}, {11, 1},
	} {
		near(t, "p of the sign test", SignTest(x, c.limit), c.want, 1e-12)
	}
	near(t, "p of nothing", SignTest(nil, 1), 1, 0)
	near(t, "p of no number", SignTest([]float64{math.NaN(), 3}, 1), 1, 0)
	near(t, "p of very many", SignTest(make([]float64, 5000), 0), 1, 1e-9)
	near(t, "p of no limit", SignTest(x, math.NaN()), 1, 0)
}

func TestSignTestAndBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for range 2000 {
		x := draw(rng, 5+rng.IntN(20), 10)
		b := MedianBounds(x, 0.95)
		for limit := 0.5; limit < 10; limit += 0.5 {
			if (b.Low > limit) != (SignTest(x, limit) <= 0.05) {
				t.Fatalf("%v: %+v, but p = %v at %v", x, b, SignTest(x, limit), limit)
			}
		}
	}
}
