package report

import (
	"io"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/model"
)

// LatencyCSV writes the distributions of scheduling latency, a row each: of all
// waits, by origin, by start function. Times are nanoseconds.
func LatencyCSV(w io.Writer, d *Document) error {
	r := newTextRows(w, CSV, []string{"by", "name", "count", "total_ns", "min_ns", "p50_ns", "p90_ns", "p99_ns", "p99_9_ns", "max_ns", "max_at_ns"})
	row := func(by, name string, x *dist.Dist) {
		v := result.NewDist(x)
		r.text(by)
		r.text(name)
		for _, n := range [...]int64{v.Count, int64(v.Total), int64(v.Min), int64(v.P50), int64(v.P90), int64(v.P99), int64(v.P999), int64(v.Max), int64(v.MaxAt)} {
			r.Int(n)
		}
		r.End()
	}
	l := d.Report.Latency
	row("all", "", &l.All)
	for o := range l.ByOrigin {
		if x := &l.ByOrigin[o]; x.Count() > 0 {
			row("origin", model.Origin(o).String(), x)
		}
	}
	for _, f := range l.ByFunc() {
		row("function", f.Name, f.Dist)
	}
	return r.Close()
}
