package capture

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"runtime/trace"
	"strconv"
	"sync"
	"time"

	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/internal/atomicfile"
)

// Variables by which schedscope asks a program for a trace of itself.
const (
	TraceVariable    = "SCHEDSCOPE_TRACE"          // the file to write
	DurationVariable = "SCHEDSCOPE_TRACE_DURATION" // how long to record, such as 5s; until Stop without
	SamplesVariable  = "SCHEDSCOPE_TRACE_SAMPLES"  // anything: with CPU samples
)

// PartSuffix is between the name of the file and the number of the process while a
// recording of FromEnv goes on.
const PartSuffix = ".part-"

// Recording is a recording started by [FromEnv]. Its method is safe on a nil Recording and
// for concurrent use.
type Recording struct {
	f    *os.File
	w    *limitedWriter // to it: the tracer takes no notice of errors
	path string
	once sync.Once
	end  chan struct{} // closed when Stop has ended it

	stopSamples func() // nil: none are taken
}

// FromEnv begins a recording if schedscope record runs the program, or gate record, or
// somebody who sets SCHEDSCOPE_TRACE to the name of a file. Otherwise it does nothing and
// returns nil. Call it first in main:
//
//	func main() {
//		defer capture.FromEnv().Stop()
//
// The recording ends with Stop, after SCHEDSCOPE_TRACE_DURATION, or on SIGUSR2. The file is
// there when it is complete. Of a program that ends without (os.Exit, a panic, a signal),
// FILE.part-PID stays, which lacks the last second or less: schedscope record takes it. So it
// does where not all could be written.
// Records of the environment are in the trace, too. What fails is said on stderr: the
// program goes on.
//
// With SCHEDSCOPE_TRACE_SAMPLES, which schedscope record sets without --no-samples, a CPU
// profile runs as long as the recording, unless one runs already: the trace then has CPU
// samples. The program cannot begin another one meanwhile.
//
// The variables are taken out of the environment, so that a program which this one starts
// does not write the same file.
func FromEnv() *Recording {
	path, length, samples := os.Getenv(TraceVariable), os.Getenv(DurationVariable), os.Getenv(SamplesVariable)
	for _, name := range []string{TraceVariable, DurationVariable, SamplesVariable} {
		os.Unsetenv(name)
	}
	if path == "" {
		return nil
	}
	r, err := begin(path, length, samples != "")
	if err != nil {
		complain(path, err)
		return nil
	}
	return r
}

func begin(path, length string, samples bool) (*Recording, error) {
	var d time.Duration
	if length != "" {
		var err error
		if d, err = time.ParseDuration(length); err != nil || d <= 0 {
			return nil, fmt.Errorf("%s is %q: want a time such as 5s", DurationVariable, length)
		}
	}
	asked := make(chan os.Signal, 1)
	// Before the file is there, which shows schedscope that the signal is understood. It
	// stays so: one that comes late must not end the program.
	notifySignal(asked)
	f, err := createPart(path + PartSuffix + strconv.Itoa(os.Getpid()))
	if err != nil {
		return nil, atomicfile.Cause(err)
	}
	w := limitWriter(f, math.MaxInt64)
	w.failed = func(err error) { complain(path, atomicfile.Cause(err)) } // at once: Stop may never be called
	if err := trace.Start(w); err != nil {
		f.Close()
		os.Remove(f.Name())
		return nil, err
	}
	r := &Recording{f: f, w: w, path: path, end: make(chan struct{})}
	if samples {
		r.stopSamples = env.StartSamples()
	}
	logRecord(env.Begin, "", samples)
	go r.wait(d, asked)
	return r, nil
}

// createPart creates a file in place of what an earlier process of the same number may have
// left. It writes through no link, which anybody could put there in a folder for all.
func createPart(name string) (*os.File, error) {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}

// wait ends the recording when its time is up, or on a signal.
func (r *Recording) wait(d time.Duration, asked <-chan os.Signal) {
	var up <-chan time.Time
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		up = t.C
	}
	select {
	case <-up:
	case <-asked:
	case <-r.end:
	}
	r.Stop()
}

// Stop ends the recording and returns when the file is complete. A second time it waits
// for that, too.
func (r *Recording) Stop() {
	if r == nil {
		return
	}
	r.once.Do(func() {
		logRecord(env.End, "", r.stopSamples != nil)
		trace.Stop() // nothing is written after it
		err := r.f.Close()
		if r.w.err == nil { // or that was said
			if err == nil {
				err = os.Rename(r.f.Name(), r.path)
			}
			if err != nil {
				complain(r.path, atomicfile.Cause(err))
			}
		}
		if r.stopSamples != nil {
			r.stopSamples()
		}
		close(r.end)
	})
}

// complain says on stderr what failed.
func complain(path string, err error) {
	fmt.Fprintf(os.Stderr, "schedscope: recording %s: %v\n", path, err)
}
