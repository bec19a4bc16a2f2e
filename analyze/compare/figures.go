package compare

import (
	"fmt"
	"strings"

	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/stat"
)

// A Figure is a number of a trace, nil if it is not known.
type Figure func(*sample.Sample) *float64

// Content distinguishes traces whatever their names: no two processes are alike in this.
type Content struct{ from, to, running, capacity, events int64 }

// ContentOf returns the content of a trace. Of one without events it says nothing.
func ContentOf(x *sample.Sample) Content {
	return Content{int64(x.From), int64(x.To), int64(x.Running), int64(x.Capacity), x.Events}
}

// Seconds returns the length of a trace's window.
func Seconds(s *sample.Sample) float64 { return float64(s.To-s.From) / 1e9 }

// Figures of the load.
func Ops(s *sample.Sample) *float64         { return quotient(float64(s.Ops), 1) }
func OpRate(s *sample.Sample) *float64      { return quotient(float64(s.Ops), Seconds(s)) }
func EventsPerOp(s *sample.Sample) *float64 { return quotient(float64(s.Events), float64(s.Ops)) }
func EventRate(s *sample.Sample) *float64   { return quotient(float64(s.Events), Seconds(s)) }

func quotient(x, of float64) *float64 {
	if x <= 0 || of <= 0 {
		return nil
	}
	return new(x / of)
}

// Busy is the part of the time for which procs ran goroutines.
func Busy(s *sample.Sample) *float64 {
	if s.Capacity <= 0 {
		return nil
	}
	return new(float64(s.Running) / float64(s.Capacity))
}

// Noise returns the disturbance selected by f.
func Noise(f func(*env.Noise) *float64) Figure {
	return func(s *sample.Sample) *float64 {
		if s.Noise == nil {
			return nil
		}
		return f(s.Noise)
	}
}

// Figures of what disturbed the machine.
var (
	Nivcsw    = Noise(func(n *env.Noise) *float64 { return n.Nivcsw })
	RunDelay  = Noise(func(n *env.Noise) *float64 { return n.RunDelay })
	Steal     = Noise(func(n *env.Noise) *float64 { return n.Steal })
	Foreign   = Noise(func(n *env.Noise) *float64 { return n.Foreign })
	Throttled = Noise(func(n *env.Noise) *float64 { return n.Throttled })
	PSI       = Noise(func(n *env.Noise) *float64 { return n.PSI })
	Canary    = Noise(func(n *env.Noise) *float64 { return n.Canary })
)

// Median returns the median of a figure, nil if a trace does not have it.
func Median(samples []*sample.Sample, f Figure) *float64 {
	var xs []float64
	for _, s := range samples {
		x := f(s)
		if x == nil {
			return nil
		}
		xs = append(xs, *x)
	}
	if len(xs) == 0 {
		return nil
	}
	return new(stat.Median(xs))
}

// Limits returns the limits for recordings of one side: how long threads may wait for a
// CPU depends on the least that any of them did.
func Limits(samples []*sample.Sample, l env.Limits) env.Limits {
	var least *float64
	for _, s := range samples {
		if d := RunDelay(s); d != nil && (least == nil || *d < *least) {
			least = d
		}
	}
	if least == nil {
		return l
	}
	return l.WithLeastDelay(*least)
}

// Identity returns the property with a name of budget.Identities, "" if it is not known.
func Identity(id *sample.Identity, name string) string {
	values := map[string]any{"gomaxprocs": id.MaxProcs, "goversion": id.Go, "goarch": id.Arch, "cpu_model": id.CPU, "ncpu": id.NumCPU,
		"gogc": id.GOGC, "gomemlimit": id.Memlimit, "kernel": id.Kernel, "runner": id.Runner, "workload": id.Workload, "samples": id.Samples}
	if v := values[name]; v != nil && v != 0 {
		return fmt.Sprint(v)
	}
	return ""
}

// SampledUnlike returns a warning if only some traces have CPU samples, else "". Samples show
// code that event stacks do not, so the same waiting is attributed to other functions.
func SampledUnlike(samples []*sample.Sample) string {
	with := result.CountOf(samples, func(s **sample.Sample) bool { return (*s).Identity.Samples == "yes" })
	if with == 0 || with == len(samples) {
		return ""
	}
	return fmt.Sprintf("CPU samples are in %d of %d traces, and without them waiting is behind other functions", with, len(samples))
}

// SameRelease reports whether one Go version is the other without its patch number, which
// is all that the format of a trace says.
func SameRelease(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+".") || strings.HasPrefix(b, a+".")
}
