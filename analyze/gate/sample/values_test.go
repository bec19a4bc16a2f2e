package sample

import (
	"testing"

	"github.com/schedscope/schedscope/analyze/gate/rule"
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
		{1000, 0.01, 10, 10}, {10, 0, 1, 0}, {10, 1, 10, 0}, {100, 0.07, 7, 7}, {101, 0.99, 100, 1},
	} {
		q := rule.Quantity{Agg: rule.Quantile, Q: tt.q}
		s := selectionOf(values(tt.n))
		v, err := new(measured).single(q, s)
		if err != nil || v.X != float64(tt.x) || int64(v.Beyond(q)+1e-9) != tt.beyond || v.N != int64(tt.n) {
			t.Errorf("%v of %d: %+v, want %d with %d beyond", tt.q, tt.n, v, tt.x, tt.beyond)
		}
	}
}

// TestLeast checks what a quantile with too few values beyond it is at least.
func TestLeast(t *testing.T) {
	for n, want := range map[int]float64{1000: 0, 100: 90, 20: 10, 19: 0} {
		list := make([]model.Duration, n)
		for i := range list {
			list[i] = model.Duration(i + 1)
		}
		if v, err := new(measured).single(rule.Quantity{Agg: rule.Quantile, Q: 0.99}, selectionOf(list)); err != nil || v.Least != want {
			t.Errorf("p99 of %d: %+v, want at least %v", n, v, want)
		}
	}
}

// selectionOf returns a selection of values in two rows.
func selectionOf(values []model.Duration) *selection {
	a, b := new(dist.Dist), new(dist.Dist)
	for i, x := range values {
		[]*dist.Dist{a, b}[i%2].Add(x, 0)
	}
	return &selection{row: row{count: int64(len(values))}, dists: []*dist.Dist{a, b}}
}
