package replay

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/schedscope/schedscope/internal/dist"

	"github.com/schedscope/schedscope/model"
)

func distOf(values ...model.Duration) *dist.Dist {
	d := &dist.Dist{}
	for _, v := range values {
		d.Add(v, 0)
	}
	return d
}

// obviousW1 repeats each sample until both lists are as long as each other; then
// the distance is the mean difference of those at the same place.
func obviousW1(a, b []model.Duration) float64 {
	long := func(list []model.Duration, times int) []model.Duration {
		var out []model.Duration
		for _, v := range list {
			out = append(out, slices.Repeat([]model.Duration{v}, times)...)
		}
		slices.Sort(out)
		return out
	}
	x, y := long(a, len(b)), long(b, len(a))
	sum := 0.0
	for i := range x {
		sum += math.Abs(float64(x[i] - y[i]))
	}
	return sum / float64(len(x))
}

func TestW1(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		a := make([]model.Duration, 1+rnd.IntN(30))
		b := make([]model.Duration, 1+rnd.IntN(30))
		for _, list := range [][]model.Duration{a, b} {
			most := 1 + rnd.Int64N(int64(1)<<rnd.IntN(40))
			for i := range list {
				list[i] = model.Duration(rnd.Int64N(most))
			}
		}
		got, want := W1(distOf(a...), distOf(b...)), obviousW1(a, b)
		if math.Abs(got-want) > 1e-9*max(want, 1) {
			t.Fatalf("W1(%v, %v) = %g, want %g", a, b, got, want)
		}
	}
}

func TestW1Cases(t *testing.T) {
	for _, tt := range []struct {
		a, b *dist.Dist
		want float64
	}{
		{distOf(5), distOf(5), 0},
		{distOf(0, 10), distOf(10, 0), 0},
		{distOf(100), distOf(164), 64},
		{distOf(1, 1, 1, 5), distOf(1), 1},
		{distOf(0), distOf(0, 0, 0, 8), 2},
	} {
		if got := W1(tt.a, tt.b); got != tt.want {
			t.Errorf("got %g, want %g", got, tt.want)
		}
		if got := W1(tt.b, tt.a); got != tt.want {
			t.Errorf("the other way round: got %g, want %g", got, tt.want)
		}
	}
	if got := W1(distOf(), distOf(1)); !math.IsNaN(got) {
		t.Errorf("without samples: got %g", got)
	}
}
