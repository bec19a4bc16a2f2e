package schedtest

import (
	"testing"

	"github.com/schedscope/schedscope/internal/atomicfile"
)

// metrics are what Bench reports: units as benchstat reads them, and quantities.
var metrics = []struct{ unit, quantity string }{
	{"runnable-p99-ns", "p99(runnable)"},
	{"wait-ns/op", "mean(wait/op)"},
	{"wakes/op", "mean(wakes/op)"},
	{"cpu-ns/op", "mean(cpu/op)"},
}

// Bench records a benchmark from here to its end and reports, per iteration unless [Op]
// says otherwise, what scheduling cost: runnable-p99-ns, wait-ns/op, wakes/op and
// cpu-ns/op. What the trace has no data for is not reported, nor is
// anything if somebody else records (go test -trace). Tracing costs time, too: do not
// compare ns/op with and without.
func Bench(b *testing.B, options ...Option) *Recording {
	b.Helper()
	r := start(b, atomicfile.Create, options)
	b.Cleanup(func() { r.report(b) })
	b.ResetTimer()
	return r
}

// report ends the recording after the benchmark.
func (r *Recording) report(b *testing.B) {
	if !r.counted() {
		r.Ops(int64(b.N)) // too late if Stop was called before, which then has no ops
	}
	if r.Stop(); r.name == "" || b.Failed() {
		return
	}
	var wanted []string
	for _, m := range metrics {
		wanted = append(wanted, m.quantity)
	}
	values, err := r.Measure(wanted...)
	if err != nil {
		b.Logf("schedtest: %v", err)
		return
	}
	for _, m := range metrics {
		if x, ok := values[m.quantity]; ok {
			b.ReportMetric(x, m.unit)
		}
	}
}
