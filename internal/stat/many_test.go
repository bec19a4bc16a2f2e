package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestDifferences checks that differences finds those that a sort of all of them has, zeros and equal ones included.
func TestDifferences(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		side := func() []float64 {
			x := make([]float64, 1+rnd.IntN(12))
			for i := range x {
				x[i] = float64(rnd.IntN(7)-3) * math.Pow(10, float64(rnd.IntN(5)-2)) * (1 + float64(rnd.IntN(3))/3)
			}
			slices.Sort(x)
			return x
		}
		base, cand := side(), side()
		var all []float64
		for _, b := range base {
			for _, c := range cand {
				all = append(all, c-b)
			}
		}
		slices.Sort(all)
		at := differences(base, cand)
		for k, want := range all {
			if got := at(k); got != want || math.Signbit(got) && got == 0 {
				t.Fatalf("%v and %v: the %d-th is %v, want %v", base, cand, k, got, want)
			}
		}
	}
}

// TestMany checks that sides of 10,000, as fleets have them, are compared.
func TestMany(t *testing.T) {
	base, cand := make([]float64, 10_000), make([]float64, 10_000)
	for i := range base {
		base[i], cand[i] = 1000+float64(i), 1.1*(1000+float64(i))
	}
	if x := Ratio(base, cand, 0.95); math.Abs(x.Est-1.1) > 0.01 || x.Low > 1.1 || x.High < 1.1 || x.Confidence < 0.95 {
		t.Errorf("%+v", x)
	}
	if p := MannWhitney(base, cand); p > 1e-6 {
		t.Errorf("p %g", p)
	}
	if b := MedianBounds(base, 0.975); b.Low > 5999.5 || b.High < 5999.5 {
		t.Errorf("median %+v", b)
	}
}
