package stat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/schedscope/schedscope/fixtures"
)

func TestNeeded(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		k, r, s, alpha, power float64
		want                  int
	}{
		{1.1, 1.2, 0.1, 0.05, 0.8, 18},
		{1.1, 1.3, 0.1, 0.05, 0.8, 6},
		{1.1, 1.3, 0.2, 0.05, 0.8, 19},
		{1.1, 1.5, 0.2, 0.05, 0.8, 6},
		{1.1, 1.5, 0.35, 0.05, 0.8, 17},
		{1.1, 2, 0.35, 0.05, 0.8, 6},
		{1, 10, 0.1, 0.05, 0.8, 3},          // three per side reach .05
		{1.1, 10, 0.1, 0.05, 0.8, 4},        // but not half of it
		{1.1, 10, 0.1, 0.001, 0.8, 7},       // six do not reach .001
		{1.1, 2, 0, 0.05, 0.8, 4},           // no noise
		{1.1, 1.1, 0.1, 0.05, 0.8, 0},       // not above the budget
		{1.1, 1.0, 0.1, 0.05, 0.8, 0},       //
		{1.1, 1.3, nan, 0.05, 0.8, 0},       // not known
		{1.1, 1.1000001, 5, 0.05, 0.8, 1e6}, // absurd
	} {
		if got := Needed(c.k, c.r, c.s, c.alpha, c.power); got != c.want {
			t.Errorf("Needed(%v, %v, %v, %v, %v) = %d, want %d", c.k, c.r, c.s, c.alpha, c.power, got, c.want)
		}
	}
	one, ten := Needed(1.1, 1.3, 0.2, 0.05, 0.8), Needed(1.1, 1.3, 0.2, 0.005, 0.8)
	near(t, "the cost of ten rules", float64(ten)/float64(one), 1.9, 0.1)
}

// TestClosedNeeded holds what the usual formula gives of means.
func TestClosedNeeded(t *testing.T) {
	for _, c := range []struct {
		r, s float64
		want int
	}{{1.2, 0.1, 17}, {1.3, 0.1, 5}, {1.3, 0.2, 18}, {1.5, 0.2, 6}, {1.5, 0.35, 16}, {2, 0.35, 5}} {
		if got := closedNeeded(math.Log(c.r/1.1)/c.s, 0.05, 0.8); got != c.want {
			t.Errorf("ratio %v, s %v: %d, want %d", c.r, c.s, got, c.want)
		}
	}
}

func TestMDE(t *testing.T) {
	closed := 1.1 * math.Exp((1.6448536+0.8416212)*0.2*math.Sqrt(0.2)*1.0233267)
	near(t, "MDE of ten", MDE(1.1, 0.2, 10, 10, 0.05, 0.8), closed, 0.03)
	near(t, "MDE without noise", MDE(1.1, 0, 10, 10, 0.05, 0.8), 1.1, 1e-12)
	for _, n := range []int{4, 5, 6, 19, 30, 99, 101, 300, 700} {
		r := MDE(1.1, 0.2, n, n, 0.05, 0.8)
		near(t, "power at the MDE", Power(1.1, r, 0.2, n, n, 0.05), 0.8, 1e-4)
	}
	for _, r := range []float64{MDE(1.1, 0.2, 2, 3, 0.05, 0.8), MDE(1.1, 0.2, 0, 3, 0.05, 0.8), MDE(1.1, math.NaN(), 9, 9, 0.05, 0.8),
		MDE(1.1, 0.2, 9, 9, 0, 0.8), MDE(1.1, 0.2, 9, 9, 0.05, 1), MDE(1.1, 0, 2, 2, 0.05, 0.8)} {
		if !math.IsInf(r, 1) {
			t.Errorf("MDE where nothing can be seen = %v, want +Inf", r)
		}
	}
}

// TestMDEAndNeeded holds that they agree: the traces needed see the ratio, fewer do not.
func TestMDEAndNeeded(t *testing.T) {
	for _, alpha := range []float64{0.05, 0.01, 0.005} {
		for _, s := range []float64{0.05, 0.2, 0.4, 1.6} {
			for _, r := range []float64{1.15, 1.3, 2, 4} {
				n := Needed(1.1, r, s, alpha, 0.8)
				if n > 2000 {
					continue
				}
				if got := MDE(1.1, s, n, n, alpha, 0.8); got > r*1.0001 {
					t.Errorf("alpha %v, s %v, ratio %v: %d traces needed, which see x%v", alpha, s, r, n, got)
				}
				if got := MDE(1.1, s, n-1, n-1, alpha, 0.8); got < r {
					t.Errorf("alpha %v, s %v, ratio %v: %d traces needed, but one less sees x%v", alpha, s, r, n, got)
				}
			}
		}
	}
}

func TestPower(t *testing.T) {
	near(t, "power at 1.3", Power(1.1, 1.3, 0.197, 10, 10, 0.05), 0.57, 0.01) // Student's t: 57.1 %
	near(t, "power at 1.5", Power(1.1, 1.5, 0.197, 10, 10, 0.05), 0.96, 0.01) // 95.9 %
	near(t, "power at the margin", Power(1.1, 1.1, 0.2, 20, 20, 0.05), 0.05, 0.005)
	near(t, "power without noise", Power(1.1, 1.2, 0, 10, 10, 0.05), 1, 0)
	near(t, "power within the budget", Power(1.1, 1.1, 0, 10, 10, 0.05), 0, 0)
	near(t, "power far beyond", Power(1.1, 1e9, 0.01, 10, 10, 0.05), 1, 0)
	near(t, "power far within", Power(1.1, 1e-9, 0.01, 10, 10, 0.05), 0, 0)
	near(t, "power of two", Power(1.1, 9, 0.1, 2, 2, 0.05), 0, 0)
	near(t, "power of one against many", Power(1, 9, 0.1, 1, 30, 0.05), 1, 0.001)
	near(t, "power of the unknown", Power(1.1, 9, math.NaN(), 9, 9, 0.05), 0, 0)
	// Student's distribution is not distinguished from the normal one beyond 1000 values.
	near(t, "power of 501 and 502", Power(1.1, 1.12, 0.2, 502, 502, 0.01), Power(1.1, 1.12, 0.2, 501, 501, 0.01), 0.002)
}

// TestPowerSimulated compares with drawing values: where the bound decides, and where it is
// that an unchanged program must not fail.
func TestPowerSimulated(t *testing.T) {
	const reps = 1000
	for _, n := range []int{6, 10} {
		for _, alpha := range []float64{0.05, 0.01, 0.005} {
			if n == 10 && alpha != 0.01 && !fixtures.Sweep() {
				continue // it takes most of the time
			}
			for _, k := range []float64{1, math.Exp(0.2), math.Exp(2)} {
				for _, shift := range []float64{0.7, 1.4, 2.1} {
					rng := rand.New(rand.NewPCG(21, 22))
					fails := 0
					base, bound, cand := make([]float64, n), make([]float64, n), make([]float64, n)
					for range reps {
						for i := range bound {
							base[i], cand[i] = math.Exp(rng.NormFloat64()), k*math.Exp(rng.NormFloat64()+shift)
							bound[i] = k * base[i]
						}
						if Beyond(base, bound, cand, true) <= alpha {
							fails++
						}
					}
					what := fmt.Sprintf("power of %d at %v, bound x%.2f, shift %v", n, alpha, k, shift)
					near(t, what, Power(k, k*math.Exp(shift), 1, n, n, alpha), float64(fails)/reps, 0.04)
				}
			}
		}
	}
}

func TestSignMDE(t *testing.T) {
	// Five values must all be above: 0.8 = P^5.
	near(t, "MDE of five", SignMDE(0.2, 5, 0.05, 0.8), math.Exp(0.2*z(math.Pow(0.8, 0.2))), 1e-6)
	near(t, "MDE without noise", SignMDE(0, 5, 0.05, 0.8), 1, 0)
	for _, r := range []float64{SignMDE(0.2, 4, 0.05, 0.8), SignMDE(math.NaN(), 9, 0.05, 0.8), SignMDE(0.2, 0, 0.05, 0.8), SignMDE(0.2, 9, 0.05, 1)} {
		if !math.IsInf(r, 1) {
			t.Errorf("MDE where nothing can be seen = %v, want +Inf", r)
		}
	}
	for _, c := range []struct {
		r, s float64
		want int
	}{{1.0, 0.1, 0}, {0.9, 0.1, 0}, {1.1, math.NaN(), 0}, {2, 0, 5}, {2, 0.1, 5}, {1.0001, 0.5, 1_000_000}} {
		if got := SignNeeded(c.r, c.s, 0.05, 0.8); got != c.want {
			t.Errorf("SignNeeded(%v, %v) = %d, want %d", c.r, c.s, got, c.want)
		}
	}
	for _, s := range []float64{0.1, 0.3, 0.6} {
		for _, r := range []float64{1.1, 1.5} {
			n := SignNeeded(r, s, 0.05, 0.8)
			if got := SignMDE(s, n, 0.05, 0.8); n < 1000 && got > r*(1+1e-6) {
				t.Errorf("s %v, ratio %v: %d values needed, which see x%v", s, r, n, got)
			}
		}
	}
}

// TestSignMDESimulated counts how often the test shows what it should.
func TestSignMDESimulated(t *testing.T) {
	const reps, s, limit = 4000, 0.3, 5.0
	for _, n := range []int{6, 10, 17} {
		rng := rand.New(rand.NewPCG(23, 24))
		r, shown := SignMDE(s, n, 0.05, 0.8), 0
		x := make([]float64, n)
		for range reps {
			for i := range x {
				x[i] = limit * r * math.Exp(s*rng.NormFloat64())
			}
			if SignTest(x, limit) <= 0.05 {
				shown++
			}
		}
		near(t, "power of the sign test", float64(shown)/reps, 0.8, 0.025)
	}
}

// TestSignPower checks that SignNeeded and SignMDE are where SignPower reaches what they ask
// for, and values that do not differ.
func TestSignPower(t *testing.T) {
	for _, s := range []float64{.1, .3} {
		n := SignNeeded(1.2, s, .05, .8)
		if SignPower(1.2, s, n, .05) < .8 || SignPower(1.2, s, n-1, .05) >= .8 && n > 5 {
			t.Errorf("s=%v: %d values show it with %v, %v with one less", s, n, SignPower(1.2, s, n, .05), SignPower(1.2, s, n-1, .05))
		}
		if got := SignPower(SignMDE(s, 10, .05, .8), s, 10, .05); math.Abs(got-.8) > 1e-6 {
			t.Errorf("s=%v: the smallest effect is seen with %v", s, got)
		}
		// At the limit it is the error rate that the steps of p leave: 9 of 10 and more.
		if got := SignPower(1, s, 10, .05); math.Abs(got-11./1024) > 1e-12 {
			t.Errorf("s=%v: false alarms %v", s, got)
		}
	}
	for _, c := range []struct{ r, s, want float64 }{{2, 0, 1}, {.5, 0, 0}, {1, 0, 0}, {2, math.NaN(), 0}} {
		if got := SignPower(c.r, c.s, 10, .05); got != c.want {
			t.Errorf("ratio %v, s=%v: %v, want %v", c.r, c.s, got, c.want)
		}
	}
	if got := SignPower(9, .1, 4, .05); got != 0 {
		t.Errorf("four values, of which no p reaches 5 %%: %v", got)
	}
}
