package env

import (
	"io"
	"runtime/pprof"
)

// StartSamples starts a CPU profile that is discarded: the runtime also writes its samples
// into the trace that is being recorded. If a CPU profile runs already, the trace has its
// samples, and StartSamples starts none. The function stop ends only the profile that
// StartSamples started. It takes up to a fifth of a second.
func StartSamples() (stop func()) {
	if pprof.StartCPUProfile(io.Discard) != nil { // its only error is that one runs already
		return func() {}
	}
	return pprof.StopCPUProfile
}
