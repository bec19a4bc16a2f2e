package perfetto

import "github.com/schedscope/schedscope/model"

const (
	// maxCPUs is how many CPUs Perfetto has: its importer ends with an assertion at a
	// greater number (kMaxCpusPerMachine in cpu_tracker.h).
	maxCPUs   = 4096
	maxStrays = 64
	// firstStray and those after it are not procs.
	firstStray = maxCPUs - maxStrays
)

// strays hands out CPUs to goroutines that run nobody knows where, as in damaged traces,
// or on a proc of too great a number. Each gets one of its own while it runs: the
// importer ends what runs on a CPU when another thread begins there.
type strays struct {
	ends []model.Time // by CPU, of what was there last
}

// take returns a CPU for an interval. Intervals come in the order of their ends. Beyond
// maxStrays at a time they share the last one.
func (x *strays) take(start, end model.Time) int64 {
	i := 0
	for i < len(x.ends) && x.ends[i] > start {
		i++
	}
	switch {
	case i < len(x.ends):
	case i < maxStrays:
		x.ends = append(x.ends, 0)
	default:
		i--
	}
	x.ends[i] = end
	return firstStray + int64(i)
}

// noCPU is that of an interval in which a goroutine does not run.
const noCPU = -1

// cpuOf returns the CPU on which an interval ran.
func (w *Writer) cpuOf(s *model.GoSpan) int64 {
	switch {
	case s.State != model.GoRunning:
		return noCPU
	case s.P < 0 || s.P >= firstStray:
		return w.strays.take(s.Start, s.End)
	}
	return int64(s.P)
}
