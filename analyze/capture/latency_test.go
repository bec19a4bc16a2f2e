package capture

import (
	"math"
	"runtime/metrics"
	"slices"
	"testing"
	"time"
)

// histogram returns one with bounds -inf, 1 ms, 10 ms, 100 ms, inf.
func histogram(counts ...uint64) *metrics.Float64Histogram {
	return &metrics.Float64Histogram{Counts: counts, Buckets: []float64{math.Inf(-1), 0.001, 0.01, 0.1, math.Inf(1)}}
}

// TestLatencyWatch checks quantiles of differences between looks, the least count, and that
// a limit is exceeded only if its bucket is.
func TestLatencyWatch(t *testing.T) {
	w := latencyWatch{Latency: Latency{Limit: 10 * time.Millisecond, Quantile: 0.9, MinCount: 10}}
	at := time.Unix(0, 0)
	for i, tt := range []struct {
		counts   []uint64
		exceeded bool
		measured time.Duration
		count    int64
	}{
		{[]uint64{0, 0, 500, 500}, false, 0, 0},                            // what was before the first look
		{[]uint64{0, 9, 500, 500}, false, 0, 0},                            // too few
		{[]uint64{0, 9, 500, 509}, false, 0, 0},                            // too few, however late
		{[]uint64{8, 10, 501, 509}, false, 1 * time.Millisecond, 10},       // 8, 1, 1: rank 9 is in 1 ms..10 ms
		{[]uint64{16, 10, 503, 509}, true, 10 * time.Millisecond, 10},      // 8, 0, 2
		{[]uint64{25, 10, 503, 510}, false, 0, 10},                         // 9, 0, 0, 1
		{[]uint64{25, 10, 503, 530}, true, 100 * time.Millisecond, 20},     // all
		{[]uint64{125, 10, 503, 530}, false, 0, 100},                       // none
		{[]uint64{125, 10, 503, 530}, false, 0, 0},                         // nothing waited
		{[]uint64{0, 0, 0, 0}, false, 0, 0},                                // which never happens
		{[]uint64{1, 1, 1, 1000}, true, 100 * time.Millisecond, 1003},      // from zero on
		{[]uint64{1, 1, 1, 1<<63 + 1000}, true, 100 * time.Millisecond, 0}, // does not overflow
	} {
		at = at.Add(1500 * time.Millisecond)
		c, exceeded := w.look(histogram(tt.counts...), at)
		if exceeded != tt.exceeded || c.Measured != tt.measured && c.Reason != "" || tt.count != 0 && c.Count != tt.count {
			t.Errorf("%d: %+v, %v, want %v, %v of %d", i, c, exceeded, tt.measured, tt.exceeded, tt.count)
		}
		if exceeded && c.Window != 1500*time.Millisecond {
			t.Errorf("%d: window %v", i, c.Window)
		}
	}
	if c, exceeded := w.look(nil, at); exceeded {
		t.Errorf("%+v without a distribution", c)
	}
}

// TestLowerBound compares with a list that is sorted.
func TestLowerBound(t *testing.T) {
	bounds := []float64{0, 0.001, 0.002, 0.003, math.Inf(1)}
	counts := []uint64{3, 0, 5, 2}
	var all []time.Duration
	for i, n := range counts {
		for range n {
			all = append(all, time.Duration(i)*time.Millisecond)
		}
	}
	slices.Sort(all)
	for _, q := range []float64{0.001, 0.1, 0.3, 0.300001, 0.5, 0.8, 0.81, 0.99, 1} {
		rank := max(int(math.Ceil(q*10)), 1)
		if got := lowerBound(counts, bounds, 10, q); got != all[rank-1] {
			t.Errorf("q %v: %v, want %v", q, got, all[rank-1])
		}
	}
}

// TestReadLatencies checks what is relied on of the runtime: it has the distribution, and
// the bounds of its buckets are as far apart as is said.
func TestReadLatencies(t *testing.T) {
	h := readLatencies()
	if h == nil {
		t.Fatal("the runtime has no ", latencies)
	}
	for i := 1; i+2 < len(h.Buckets); i++ {
		if low, high := h.Buckets[i], h.Buckets[i+1]; low > 512e-9 && high > 1.26*low {
			t.Errorf("a bucket from %v to %v s", low, high)
		}
	}
}
