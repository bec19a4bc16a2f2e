package stat

import (
	"math"
	"testing"
)

func TestNeeded(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		k, r, s, alpha, power float64
		want                  int
	}{
		{1.1, 1.2, 0.1, 0.05, 0.8, 18},
		{1.1, 1.3, 0.1, 0.05, 0.8, 5},
		{1.1, 1.3, 0.2, 0.05, 0.8, 19},
		{1.1, 1.5, 0.2, 0.05, 0.8, 6},
		{1.1, 1.5, 0.35, 0.05, 0.8, 17},
		{1.1, 2, 0.35, 0.05, 0.8, 5},
		{1.1, 10, 0.1, 0.05, 0.8, 3},        // three per side reach .05
		{1.1, 10, 0.1, 0.001, 0.8, 7},       // six do not reach .001
		{1.1, 2, 0, 0.05, 0.8, 3},           // no noise
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
	near(t, "the cost of ten rules", float64(ten)/float64(one), 1.9, 0.06)
}

func TestMDE(t *testing.T) {
	near(t, "MDE of ten", MDE(1.1, 0.2, 10, 10, 0.05, 0.8), 1.1*math.Exp((1.6448536+0.8416212)*0.2*math.Sqrt(0.2)*1.0233267), 1e-6)
	near(t, "MDE without noise", MDE(1.1, 0, 10, 10, 0.05, 0.8), 1.1, 1e-12)
	for _, n := range []int{5, 6, 19, 30} {
		r := MDE(1.1, 0.2, n, n, 0.05, 0.8)
		near(t, "power at the MDE", Power(1.1, r, 0.2, n, n, 0.05), 0.8, 1e-9)
		if got := Needed(1.1, r, 0.2, 0.05, 0.8); got != n {
			t.Errorf("needed for the MDE of %d: %d", n, got)
		}
	}
	for _, r := range []float64{MDE(1.1, 0.2, 2, 3, 0.05, 0.8), MDE(1.1, 0.2, 0, 3, 0.05, 0.8), MDE(1.1, math.NaN(), 9, 9, 0.05, 0.8)} {
		if !math.IsInf(r, 1) {
			t.Errorf("MDE where nothing can be seen = %v, want +Inf", r)
		}
	}
}

func TestPower(t *testing.T) {
	near(t, "power at 1.3", Power(1.1, 1.3, 0.197, 10, 10, 0.05), 0.58, 0.02)
	near(t, "power at 1.5", Power(1.1, 1.5, 0.197, 10, 10, 0.05), 0.96, 0.01)
	near(t, "power at the margin", Power(1.1, 1.1, 0.2, 10, 10, 0.05), 0.05, 1e-9)
	near(t, "power without noise", Power(1.1, 1.2, 0, 10, 10, 0.05), 1, 0)
	near(t, "power within the budget", Power(1.1, 1.1, 0, 10, 10, 0.05), 0, 0)
	near(t, "power of two", Power(1.1, 9, 0.1, 2, 2, 0.05), 0, 0)
	near(t, "power of the unknown", Power(1.1, 9, math.NaN(), 9, 9, 0.05), 0, 0)
}
