package sample

import (
	"math/rand/v2"
	"testing"

	"github.com/schedscope/schedscope/internal/dist"

	"github.com/schedscope/schedscope/model"
)

func TestQuantile(t *testing.T) {
	values := func(n int) []model.Duration {
		var out []model.Duration
		for i := range n {
			out = append(out, model.Duration((i*7)%n+1)) // 1 to n in some order
		}
		return out
	}
	for _, tt := range []struct {
		n         int
		q         float64
		x, beyond int64
	}{
		{1, 0.99, 1, 0}, {100, 0.99, 99, 1}, {1000, 0.99, 990, 10}, {1000, 0.999, 999, 1}, {1000, 0.5, 500, 500},
		{1000, 0.01, 10, 9}, {10, 0, 1, 0}, {10, 1, 10, 0}, {100, 0.07, 7, 6}, {101, 0.99, 100, 1},
	} {
		s := &source{values: values(tt.n)}
		v := s.quantile(tt.q)
		if v.X != float64(tt.x) || v.Beyond != tt.beyond || v.N != int64(tt.n) || v.Tau < 1 {
			t.Errorf("%v of %d: %+v, want %d with %d beyond", tt.q, tt.n, v, tt.x, tt.beyond)
		}
	}
}

// TestQuantileOfDist checks that a sample's quantiles are those of reports.
func TestQuantileOfDist(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		s, d := &source{}, &dist.Dist{}
		for range 1 + rnd.IntN(300) {
			x := model.Duration(rnd.IntN(50) * 64)
			s.values = append(s.values, x)
			d.Add(x, 0)
		}
		for range 5 {
			q := float64(rnd.IntN(1001)) / 1000
			if got, want := s.quantile(q).X, float64(d.Quantile(q)); got != want {
				t.Fatalf("%v of %v: %v, want %v", q, s.values, got, want)
			}
		}
	}
}

// TestTau checks that values beyond a quantile that come in bursts are told from those
// that do not.
func TestTau(t *testing.T) {
	bursts, apart := &source{}, &source{}
	for i := range 10_000 {
		high := model.Duration(1)
		if i%1000 < 20 {
			high = 100
		}
		bursts.values = append(bursts.values, high)
		high = 1
		if i%50 == 0 {
			high = 100
		}
		apart.values = append(apart.values, high)
	}
	b, a := bursts.quantile(0.98), apart.quantile(0.98)
	if b.Tau < 5 || a.Tau > 2 {
		t.Errorf("tau %v of bursts, %v of single values", b.Tau, a.Tau)
	}
}
