package env

import (
	"io"
	"runtime/pprof"
)

// StartSamples has the runtime take CPU samples, which it writes into the trace that is
// being recorded: by a CPU profile that nobody reads. A process has one CPU profile. If one
// runs already, the trace has its samples, and that is no error. The function that it returns
// ends the profile that it started, and no other; that takes up to a fifth of a second.
func StartSamples() (stop func()) {
	if pprof.StartCPUProfile(io.Discard) != nil { // its only error is that one runs already
		return func() {}
	}
	return pprof.StopCPUProfile
}
