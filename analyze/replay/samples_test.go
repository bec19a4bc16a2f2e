package replay

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/schedscope/schedscope/model"
)

func TestSampleQuantiles(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var s samples
		values := make([]int64, 1+r.IntN(500))
		for i := range values {
			values[i] = r.Int64N(1 << r.IntN(30))
			s.add(model.Duration(values[i]))
		}
		slices.Sort(values)
		for _, q := range []int64{1, 10, 25, 50, 90, 100} {
			rank := (int64(len(values))*q + 99) / 100
			want := values[max(rank, 1)-1]
			if got := int64(s.quantile(float64(q) / 100)); got-want > want/250 || want-got > want/250 {
				t.Fatalf("p%d of %d values is %d, want %d", q, len(values), got, want)
			}
		}
	}
}

func TestMidMean(t *testing.T) {
	for _, test := range []struct {
		values []model.Duration
		want   model.Duration
	}{
		{nil, 0},
		{[]model.Duration{7}, 7},
		{[]model.Duration{64, 128}, 96},
		// Of ten, the smallest and the greatest do not count.
		{[]model.Duration{100, 100, 1 << 40, 100, 100, 0, 100, 200, 100, 100}, 113},
		{[]model.Duration{-5, -5}, 0},
	} {
		var s samples
		for _, v := range test.values {
			s.add(v)
		}
		if got := s.midMean(); got != test.want {
			t.Errorf("mean of the middle of %v is %d, want %d", test.values, got, test.want)
		}
	}
}
