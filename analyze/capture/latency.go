package capture

import (
	"math"
	"runtime/metrics"
	"time"
)

// latencies is the distribution that the runtime keeps of how long goroutines waited.
const latencies = "/sched/latencies:seconds"

// readLatencies returns it, nil if this version of Go has none.
func readLatencies() *metrics.Float64Histogram {
	s := []metrics.Sample{{Name: latencies}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindFloat64Histogram {
		return nil
	}
	return s[0].Value.Float64Histogram()
}

// latencyWatch compares waits since the last look with the limit.
type latencyWatch struct {
	Latency
	counts []uint64  // at the last look
	at     time.Time // of the last look
}

// look takes the distribution as it is now, and returns the cause for a trace if the
// limit was exceeded since the last look. The first look finds nothing.
func (w *latencyWatch) look(h *metrics.Float64Histogram, now time.Time) (c Cause, exceeded bool) {
	if h == nil || len(h.Buckets) != len(h.Counts)+1 {
		return Cause{}, false
	}
	first := len(w.counts) != len(h.Counts)
	if first {
		w.counts = make([]uint64, len(h.Counts))
	}
	window := now.Sub(w.at).Round(time.Millisecond)
	w.at = now
	since := make([]uint64, len(h.Counts))
	total := uint64(0)
	for i, n := range h.Counts {
		since[i] = n - min(w.counts[i], n)
		w.counts[i] = n
		total += since[i]
	}
	if first || total < uint64(w.MinCount) {
		return Cause{}, false
	}
	low := lowerBound(since, h.Buckets, total, w.Quantile)
	return Cause{Reason: ReasonLatency, Measured: low, Limit: w.Limit, Quantile: w.Quantile, Count: int64(total), Window: window}, low >= w.Limit
}

// lowerBound returns the lower bound of the bucket that holds the quantile, by nearest rank.
func lowerBound(counts []uint64, bounds []float64, total uint64, q float64) time.Duration {
	rank := max(uint64(math.Ceil(q*float64(total))), 1)
	for i, n := range counts {
		if n >= rank {
			// The first bucket reaches down to minus infinity.
			return time.Duration(max(bounds[i], 0)*1e9 + 0.5)
		}
		rank -= n
	}
	return 0
}
