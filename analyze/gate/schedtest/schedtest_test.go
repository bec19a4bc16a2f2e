package schedtest

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/model/ingest"
)

// fakeTB stands for the test that is recorded. Fatalf and Skipf end the goroutine as
// those of tests do.
type fakeTB struct {
	testing.TB
	name string
	dir  string

	mu       sync.Mutex
	log      []string
	failed   bool
	skipped  bool
	cleanups []func()
}

func newFake(t *testing.T) *fakeTB { return &fakeTB{TB: t, name: "TestFake", dir: t.TempDir()} }

func (f *fakeTB) Helper()             {}
func (f *fakeTB) Name() string        { return f.name }
func (f *fakeTB) ArtifactDir() string { return f.dir }
func (f *fakeTB) Failed() bool        { return f.failed }
func (f *fakeTB) Cleanup(c func())    { f.cleanups = append(f.cleanups, c) }

// TempDir returns a folder that is gone after the test, by a cleanup as that of tests.
func (f *fakeTB) TempDir() string {
	f.Cleanup(func() { os.RemoveAll(f.dir) })
	return f.dir
}

func (f *fakeTB) Logf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log = append(f.log, fmt.Sprintf(format, args...))
}

func (f *fakeTB) Errorf(format string, args ...any) {
	f.Logf(format, args...)
	f.failed = true
}

type ended struct{}

func (f *fakeTB) Fatalf(format string, args ...any) {
	f.Errorf(format, args...)
	panic(ended{})
}

func (f *fakeTB) Skipf(format string, args ...any) {
	f.Logf(format, args...)
	f.skipped = true
	panic(ended{})
}

// run runs a test function and then its cleanups.
func (f *fakeTB) run(test func()) {
	defer func() {
		for i := len(f.cleanups) - 1; i >= 0; i-- {
			f.cleanups[i]()
		}
	}()
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(ended); !ok {
				panic(r)
			}
		}
	}()
	test()
}

func (f *fakeTB) text() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.log, "\n")
}

// checkLog fails unless the log has each of want.
func (f *fakeTB) checkLog(t *testing.T, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(f.text(), w) {
			t.Errorf("the log has no %q:\n%s", w, f.text())
		}
	}
}

// work has goroutines wait for each other in so many operations.
func work(ops int) {
	ping, pong := make(chan int), make(chan int)
	go func() {
		for x := range ping {
			pong <- x
		}
		close(pong)
	}()
	for i := range ops {
		r := trace.StartRegion(context.Background(), "op")
		ping <- i
		<-pong
		r.End()
	}
	close(ping)
	<-pong
}

// alone keeps tests apart from what records the whole binary (go test -trace).
func alone(t *testing.T) {
	if trace.IsEnabled() {
		t.Skip("the tests themselves are being traced")
	}
}

func TestRequire(t *testing.T) {
	alone(t)
	for _, tt := range []struct {
		name  string
		rules []string
		want  []string // in the log; nil: kept
	}{
		{"kept", []string{"p50(runnable) < 10s @ point", "mean(wakes/op) >= 1 @ point"}, nil},
		{"violated", []string{"mean(wakes/op) < 0.5 @ point"}, []string{"mean(wakes/op) < 0.5 @ point: it is ", "of the limit", "\n    waits: ", "\n    trace: "}},
		{"one of two", []string{"ops >= 1 @ point", "p50(runnable) < 1ns @ point"}, nil},
		{"relative", []string{"p99(runnable) <= baseline*1.1"}, []string{"one trace has no baseline"}},
		{"statistics", []string{"p99(runnable) < 5ms @ 95%"}, []string{"write @ point"}},
		{"no error rate named", []string{"p99(runnable) < 5ms"}, []string{"write @ point"}},
		{"syntax", []string{"p99(runable) < 5ms @ point"}, []string{"runable", "schedscope help gate-rules"}},
		{"no data", []string{"p50(task) < 5ms @ point"}, []string{"cannot be judged"}},
		{"too short", []string{"p99.9(runnable) < 10s @ point"}, []string{"p99.9(runnable) < 10s @ point: cannot be judged: the trace is too short for p99.9: of ", " lie beyond it, and 10 are needed"}},
		{"greatest", []string{"max(runnable) < 10s @ point", "p100(runnable) < 10s @ point"}, nil},
		{"always violated", []string{"p50(runnable) < 0ms @ point"}, []string{"nothing is less than 0"}},
		{"no rule", nil, []string{"Require without a rule"}},
	} {
		if tt.name == "one of two" {
			tt.rules[0], tt.want = "sum(ops) >= 1 @ point", []string{"p50(runnable) < 1ns @ point: it is "}
		}
		t.Run(tt.name, func(t *testing.T) {
			f := newFake(t)
			f.run(func() {
				r := Start(f, Workload("pingpong"), Op("region:op"))
				work(200)
				r.Require(tt.rules...)
			})
			if f.failed != (tt.want != nil) {
				t.Errorf("failed = %v:\n%s", f.failed, f.text())
			}
			f.checkLog(t, tt.want...)
			if trace.IsEnabled() {
				t.Error("the trace goes on")
			}
		})
	}
}

// TestJudge checks verdicts and texts on samples made by hand.
func TestJudge(t *testing.T) {
	q, err := rule.Parse("p99(runnable) < 5ms @ point")
	if err != nil {
		t.Fatal(err)
	}
	s := &sample.Sample{Values: map[string]sample.Value{"p99(runnable)": {X: 7.5e6, N: 420}},
		Noise: &env.Noise{Nivcsw: new(130.0), Foreign: new(0.4)},
		Waits: []sample.Class{
			{Func: "main.worker", At: &sample.Frame{Func: "main.work", File: "server.go", Line: 88}, By: &sample.Frame{Func: "main.put", File: "queue.go", Line: 41}, Total: 75e6, Count: 1204},
			{Func: "main.\x1b[2J", Total: 25e6, Count: 1},
		},
		Blame: []sample.Class{{Func: "main.resize", Detail: "behind a goroutine", Total: 60e6, Count: 9}},
		Worst: []sample.Stretch{{From: 412e6, To: 437e6, Total: 89e6}},
	}
	want := `p99(runnable) < 5ms @ point: it is 7.50ms, x1.50 of the limit, of 420 values
    note:    the trace is too short for p99: of 420 values only 4.2 lie beyond it, and 10 are needed: record for longer
    waits:   75% main.worker at server.go:88, woken at queue.go:41: 75.0ms, 1,204 times
             25% main.\x1b[2J: 25.0ms, 1 time
    behind:  100% main.resize (behind a goroutine): 60.0ms, 9 times
    worst:   from 412ms to 437ms: 89.0ms of waiting
    note:    the machine was disturbed: 130 involuntary context switches/s/P (limit 20), other processes used 40% of the machine (limit 10%); record again on a quiet one`
	if got := judge(q, s, "region:op"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	s.Values["p99(runnable)"] = sample.Value{X: 4.9e6, N: 1000}
	if got := judge(q, s, "region:op"); got != "" {
		t.Errorf("a rule that is kept: %s", got)
	}
	s.Values, s.Missing = nil, map[string]string{"p99(runnable)": "nothing waited"}
	if got, want := judge(q, s, "region:op"), "p99(runnable) < 5ms @ point: cannot be judged: nothing waited"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestOpsMissing checks that the test is told how ops are counted.
func TestOpsMissing(t *testing.T) {
	alone(t)
	f := newFake(t)
	f.run(func() {
		r := Start(f)
		work(10)
		r.Require("mean(wait/op) < 1s @ point")
	})
	f.checkLog(t, `call Ops with their number, or say what an op is: schedtest.Op("region:NAME")`)
}

// TestOptions checks that nothing is recorded by which nothing could be judged.
func TestOptions(t *testing.T) {
	for want, o := range map[string]Option{
		`op is region:NAME, task:NAME, goroutine:FUNC or count, not "order"`: Op("order"),
		`not "region:"`: Op("region:"),
	} {
		f := newFake(t)
		f.run(func() {
			Start(f, o)
			t.Errorf("recording where %s", want)
		})
		f.checkLog(t, want)
	}
	for _, o := range []Option{Op("count"), Op("goroutine:main.f")} {
		c := config{op: "count"}
		o(&c)
		if err := rule.CheckOp(c.op); err != nil {
			t.Error(err)
		}
	}
}

// TestWithoutStop checks that a test ends its recording before its folder goes.
func TestWithoutStop(t *testing.T) {
	alone(t)
	var r *Recording
	t.Run("real", func(t *testing.T) { r = Start(t); work(10) })
	if r.File() == "" || trace.IsEnabled() {
		t.Errorf("the recording was not ended: file %q", r.File())
	}
	f := newFake(t)
	f.run(func() {
		Start(f)
		Start(f)
		t.Error("a second recording could begin")
	})
	if want := "schedtest: this test is recording already: end that recording first, with Stop or Require"; f.text() != want {
		t.Errorf("said %q, want %q", f.text(), want)
	}
}

// TestSkipDisturbed checks that a disturbed machine skips, if that is asked for.
func TestSkipDisturbed(t *testing.T) {
	for _, tt := range []struct {
		options []Option
		noise   *env.Noise
		want    bool
	}{
		{nil, &env.Noise{Nivcsw: new(130.0), Foreign: new(0.4)}, false},
		{[]Option{SkipDisturbed()}, &env.Noise{Nivcsw: new(130.0), Foreign: new(0.4)}, true},
		{[]Option{SkipDisturbed()}, &env.Noise{Nivcsw: new(130.0), Foreign: new(0.0)}, false}, // its own threads
		{[]Option{SkipDisturbed()}, nil, false},
	} {
		f := newFake(t)
		r := &Recording{tb: f}
		for _, o := range tt.options {
			o(&r.config)
		}
		f.run(func() { r.judge(nil, &sample.Sample{Noise: tt.noise}) })
		if f.skipped != tt.want {
			t.Errorf("%d options, %+v: skipped = %v, want %v", len(tt.options), tt.noise, f.skipped, tt.want)
		}
	}
}

// TestOps checks that explicit counts reach the sample.
func TestOps(t *testing.T) {
	alone(t)
	f := newFake(t)
	f.run(func() {
		r := Start(f)
		work(50)
		r.Ops(20)
		r.Ops(30)
		values, err := r.Measure("sum(ops)", "mean(wakes/op)", "p50(task)")
		if err != nil {
			t.Fatal(err)
		}
		if values["sum(ops)"] != 50 || values["mean(wakes/op)"] < 1 {
			t.Errorf("measured %v, want 50 ops with at least a wake each", values)
		}
		if x, ok := values["p50(task)"]; ok {
			t.Errorf("tasks of %v ns, where there are none", x)
		}
	})
	if f.failed {
		t.Error(f.text())
	}
}

// TestFile checks where traces go.
func TestFile(t *testing.T) {
	alone(t)
	f := newFake(t)
	f.run(func() {
		for _, want := range []string{"schedscope.trace", "schedscope-2.trace"} {
			r := Start(f)
			work(10)
			if r.File() != "" {
				t.Errorf("there is a file %s before Stop", r.File())
			}
			r.Stop()
			r.Stop()
			if r.File() != filepath.Join(f.dir, want) {
				t.Errorf("the trace is in %s, want %s", r.File(), want)
			}
			checkTrace(t, r.File())
		}
	})
}

// checkTrace fails unless the file is a trace.
func checkTrace(t *testing.T, name string) {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := ingest.NewReader(file, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Next(); err != nil {
		t.Errorf("reading %s: %v", name, err)
	}
}

// TestVariable checks that the name from the environment is for one recording.
func TestVariable(t *testing.T) {
	alone(t)
	defer func() { recorder.named = "" }()
	name := filepath.Join(t.TempDir(), "x.trace")
	t.Setenv(TraceVariable, name)
	f := newFake(t)
	f.run(func() {
		r := Start(f)
		r.Stop()
		if r.File() != name {
			t.Errorf("the trace is in %s, want %s", r.File(), name)
		}
		Start(f)
		t.Error("a second recording could begin")
	})
	f.checkLog(t, "SCHEDSCOPE_TRACE has the trace of TestFake: let the process record once")
}

// TestSamples checks that a recording takes CPU samples if it is asked to, says so in its
// trace, and ends the profile.
func TestSamples(t *testing.T) {
	alone(t)
	f := newFake(t)
	f.run(func() {
		r := Start(f, Samples())
		if pprof.StartCPUProfile(io.Discard) == nil {
			pprof.StopCPUProfile()
			t.Error("no profile runs")
		}
		r.Stop()
		if err := pprof.StartCPUProfile(io.Discard); err != nil {
			t.Fatal("the profile runs on")
		}
		pprof.StopCPUProfile()
		data, err := os.ReadFile(r.File())
		if n := strings.Count(string(data), `"samples":true`); err != nil || n != 2 {
			t.Errorf("%d records say that samples were taken, want 2; %v", n, err)
		}
	})
}

// TestOneAtATime checks that a recording next to another fails, and one after it does not.
func TestOneAtATime(t *testing.T) {
	alone(t)
	first, second := newFake(t), newFake(t)
	second.name = "TestOther"
	first.run(func() {
		Start(first)
		second.run(func() {
			Start(second)
			t.Error("a second recording could begin")
		})
		second.checkLog(t, "TestFake is recording: one at a time, without t.Parallel")
	})
	third := newFake(t)
	third.run(func() { Start(third) })
	if first.failed || third.failed {
		t.Errorf("failed:\n%s\n%s", first.text(), third.text())
	}
}

// TestMarks checks what happens in a trace of somebody else: marks, and no verdict.
func TestMarks(t *testing.T) {
	alone(t)
	name := filepath.Join(t.TempDir(), "whole.trace")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := trace.Start(file); err != nil {
		t.Fatal(err)
	}
	f := newFake(t)
	f.run(func() {
		r := Start(f, Workload("pingpong"), Op("region:op"))
		work(100)
		r.Require("p50(runnable) < 1ns @ point")
		if r.File() != "" {
			t.Errorf("it wrote %s", r.File())
		}
	})
	if !trace.IsEnabled() {
		t.Error("it ended the trace")
	}
	trace.Stop()
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if f.failed {
		t.Error("the test failed")
	}
	f.checkLog(t, "not judged", "schedscope gate check")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"schedscope.window", "schedscope.env", `"workload":"pingpong"`, `"point":"end"`} {
		if !strings.Contains(string(data), want) {
			t.Errorf("the trace has no %s", want)
		}
	}
}

func TestStartFails(t *testing.T) {
	alone(t)
	f := newFake(t)
	f.dir = filepath.Join(f.dir, "not", "there")
	f.run(func() {
		Start(f)
		t.Error("recording without a folder")
	})
	f.checkLog(t, "starting a trace: creating ")
	if trace.IsEnabled() {
		t.Error("a trace was begun")
	}
	next := newFake(t)
	if next.run(func() { Start(next) }); next.failed {
		t.Errorf("the next one failed: %s", next.text())
	}
}

func TestBench(t *testing.T) {
	alone(t)
	f := flag.Lookup("test.benchtime")
	defer f.Value.Set(f.Value.String())
	if err := f.Value.Set("10x"); err != nil {
		t.Fatal(err)
	}
	result := testing.Benchmark(func(b *testing.B) {
		Bench(b)
		for range b.N {
			time.Sleep(10 * time.Millisecond)
			work(20)
		}
	})
	t.Log(result)
	for _, unit := range []string{"wait-ns/op", "wakes/op"} {
		if result.Extra[unit] <= 0 {
			t.Errorf("%s is %v", unit, result.Extra[unit])
		}
	}
	if w := result.Extra["wakes/op"]; w < 20 || w > 60 {
		t.Errorf("%v wakes per op, want some 40", w)
	}
}
