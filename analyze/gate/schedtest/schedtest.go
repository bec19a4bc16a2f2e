// Package schedtest records scheduling latency round tests and benchmarks, and lets
// them require limits of it.
//
//	func TestServe(t *testing.T) {
//		srv := startServer(t)
//		r := schedtest.Start(t, schedtest.Workload("checkout"), schedtest.Op("region:request"))
//		load(srv, time.Second)
//		r.Require("p99(runnable) < 5ms @ point")
//	}
//
// [Start] begins an execution trace and marks what is to be measured in it, with the state
// of process and machine at both ends. The trace goes into the test's artifacts
// (go test -artifacts), or a folder that is gone after the test. The rules of
// [Recording.Require] are those of schedscope help gate-rules, of which one trace can keep
// only absolute ones.
//
// Whether a change made latency worse, one trace cannot say: processes differ. For that,
// schedscope gate record runs the compiled test again and again, in turns with that of the
// baseline, and schedscope gate check judges. The test needs no change for it: a trace that
// is already being recorded (go test -trace, gate record) is only marked.
//
// [Bench] reports what scheduling cost as metrics of a benchmark:
//
//	func BenchmarkServe(b *testing.B) {
//		schedtest.Bench(b)
//		for b.Loop() {
//			serve(10)
//		}
//	}
package schedtest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/trace"
	"sync"
	"testing"

	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/internal/atomicfile"
	"github.com/schedscope/schedscope/internal/textui"
)

// TraceVariable is the environment variable that names the file for the trace of the
// process. schedscope gate record sets it for programs that are no Go test binaries.
const TraceVariable = "SCHEDSCOPE_TRACE"

// samplesVariable has the trace of TraceVariable taken with CPU samples.
const samplesVariable = "SCHEDSCOPE_TRACE_SAMPLES"

// Option configures a recording.
type Option func(*config)

type config struct {
	workload string
	op       string
	skip     bool // if the machine was disturbed
	samples  bool
}

// Workload sets the name of the workload. Traces of different workloads are not comparable: a
// budget names its own.
func Workload(id string) Option { return func(c *config) { c.workload = id } }

// Op sets what /op counts in rules: "region:NAME", "task:NAME", "goroutine:FUNC" with the full
// name of a start function, or "count", the number passed to [Recording.Ops], which is the
// default.
func Op(op string) Option { return func(c *config) { c.op = op } }

// SkipDisturbed makes [Recording.Require] skip the test instead of failing it if other
// programs or the hypervisor took the processors away (env.DefaultLimits): latency then says
// little about the program. It has no effect where that is unknown.
func SkipDisturbed() Option { return func(c *config) { c.skip = true } }

// Samples adds CPU samples to the trace. Only they show which line kept others waiting. A CPU
// profile runs from Start to Stop. A process has only one: a second one (go test -cpuprofile)
// fails to start, and if one runs already, the trace has its samples. Sampling costs time:
// traces with and without samples are not comparable.
func Samples() Option { return func(c *config) { c.samples = true } }

// Recording is a trace round a part of a test. Its methods belong to the goroutine that
// started it, except for Ops.
type Recording struct {
	tb testing.TB
	config

	file    *atomicfile.File // nil: somebody else records, and this one only marks
	name    string           // of the file once it is complete
	region  *trace.Region
	profile func() // ends the CPU profile; nil: there is none
	stopped bool

	mu  sync.Mutex
	ops *int64
}

// Start begins a recording, which ends with Stop, the first Require or the test. A process
// has one at a time: tests that record cannot run in parallel. If a trace is being recorded
// already, it is only marked. The test fails at once if there can be no recording, or if
// an option has a value that it cannot have.
func Start(tb testing.TB, options ...Option) *Recording {
	tb.Helper()
	return start(tb, atomicfile.CreateNew, options)
}

func start(tb testing.TB, create func(string) (*atomicfile.File, error), options []Option) *Recording {
	tb.Helper()
	r := &Recording{tb: tb, config: config{op: "count"}}
	for _, o := range options {
		o(&r.config)
	}
	r.samples = r.samples || os.Getenv(samplesVariable) != ""
	if err := rule.CheckOp(r.op); err != nil {
		tb.Fatalf("schedtest: %v", err)
	}
	if err := recorder.claim(tb.Name()); err != nil {
		tb.Fatalf("schedtest: %v", err)
	}
	begun := false
	defer func() { // also if tb ends the test
		if !begun {
			recorder.release()
		}
	}()
	if !trace.IsEnabled() {
		if err := r.begin(create); err != nil {
			tb.Fatalf("schedtest: starting a trace: %v", err)
		}
	}
	begun = true
	// After begin: cleanups run backwards, and that of the folder must come after this one.
	tb.Cleanup(r.Stop)
	ctx := context.Background()
	if r.samples {
		r.profile = env.StartSamples()
	}
	record := env.Take(env.Begin)
	record.Workload, record.Samples = r.workload, r.sampled()
	// Both records are in the region, so that they are of it however long the machine takes in between.
	r.region = trace.StartRegion(ctx, sample.WindowRegion)
	env.Log(ctx, &record)
	return r
}

// begin starts the trace.
func (r *Recording) begin(create func(string) (*atomicfile.File, error)) error {
	path, err := recorder.path(r.tb)
	if err != nil {
		return err
	}
	f, err := create(path)
	if err != nil {
		return err
	}
	if err := trace.Start(f); err != nil {
		f.Abort()
		return err
	}
	r.file = f
	return nil
}

// Ops adds to the number of operations done, for rules with /op under [Op] "count".
func (r *Recording) Ops(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ops == nil {
		r.ops = new(int64)
	}
	*r.ops += n
}

// counted reports whether Ops was called.
func (r *Recording) counted() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ops != nil
}

// Stop ends the recording. Further calls do nothing.
func (r *Recording) Stop() {
	r.tb.Helper()
	if r.stopped {
		return
	}
	r.stopped = true
	defer recorder.release()
	record := env.Take(env.End)
	r.mu.Lock()
	record.Workload, record.Ops, record.Samples = r.workload, r.ops, r.sampled()
	r.mu.Unlock()
	env.Log(context.Background(), &record)
	r.region.End()
	if r.profile != nil {
		defer r.profile()
	}
	if r.file == nil {
		return
	}
	trace.Stop()
	if err := r.file.Commit(); err != nil {
		r.tb.Errorf("schedtest: %v", err)
		return
	}
	r.name = r.file.Name()
}

// sampled reports whether the trace has CPU samples: of this recording, or of go test.
func (r *Recording) sampled() *bool {
	f := flag.Lookup("test.cpuprofile")
	return new(r.samples || f != nil && f.Value.String() != "")
}

// File returns the name of the trace's file, "" before Stop and if somebody else records.
func (r *Recording) File() string { return r.name }

// recorder hands out the right to record, of which a process has one.
var recorder owner

type owner struct {
	mu    sync.Mutex
	held  bool
	by    string // the test that has it
	named string // the test whose trace has the name from the environment
}

func (o *owner) claim(test string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.held && o.by == test {
		return errors.New("this test is recording already: end that recording first, with Stop or Require")
	}
	if o.held {
		return fmt.Errorf("%s is recording: one at a time, without t.Parallel", o.by)
	}
	o.held, o.by = true, test
	return nil
}

func (o *owner) release() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held = false
}

// path returns where a test's trace goes. The name from the environment is for one.
func (o *owner) path(tb testing.TB) (string, error) {
	name := os.Getenv(TraceVariable)
	if name == "" {
		// Without -artifacts ArtifactDir is a temporary folder, too, but in the second and later
		// rounds of a benchmark one that is gone.
		dir := textui.Either(keeps(), tb.ArtifactDir, tb.TempDir)
		return filepath.Join(dir(), "schedscope.trace"), nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.named != "" {
		return "", fmt.Errorf("%s has the trace of %s: let the process record once", TraceVariable, o.named)
	}
	o.named = tb.Name()
	return name, nil
}

// keeps reports whether the artifacts of tests outlive them.
func keeps() bool {
	f := flag.Lookup("test.artifacts")
	return f != nil && f.Value.String() == "true"
}
