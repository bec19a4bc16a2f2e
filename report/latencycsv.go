package report

import (
	"io"

	"github.com/schedscope/schedscope/analyze/result"
)

// LatencyCSV writes the distributions of scheduling latency, a row each: of all
// waits, by origin, by start function. Times are nanoseconds.
func LatencyCSV(w io.Writer, v *result.Report) error {
	r := newTextRows(w, CSV, []string{"by", "name", "count", "total_ns", "min_ns", "p50_ns", "p90_ns", "p99_ns", "p99_9_ns", "max_ns", "max_at_ns"})
	row := func(by, name string, d *result.Dist) {
		r.text(by)
		r.text(name)
		for _, n := range [...]int64{d.Count, int64(d.Total), int64(d.Min), int64(d.P50), int64(d.P90), int64(d.P99), int64(d.P999), int64(d.Max), int64(d.MaxAt)} {
			r.Int(n)
		}
		r.End()
	}
	row("all", "", &v.Latency.All)
	for i := range v.Latency.ByOrigin {
		row("origin", v.Latency.ByOrigin[i].Name, &v.Latency.ByOrigin[i].Dist)
	}
	for i := range v.Latency.ByFunction {
		row("function", v.Latency.ByFunction[i].Name, &v.Latency.ByFunction[i].Dist)
	}
	return r.Close()
}
