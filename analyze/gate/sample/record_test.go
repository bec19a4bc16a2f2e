package sample

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/trace"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/model/session"
)

// recorded is a trace of this process: some work before, then a window with requests
// that are handed to a worker each. log writes an environment record.
func recorded(t *testing.T, requests int, log func(ctx context.Context, point string)) []byte {
	t.Helper()
	if trace.IsEnabled() {
		t.Skip("the tests are being traced")
	}
	env.Take(env.Begin) // the first one takes longer
	var buf bytes.Buffer
	if err := trace.Start(&buf); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	time.Sleep(30 * time.Millisecond)
	trace.WithRegion(ctx, "request", func() {}) // outside of the window
	trace.WithRegion(ctx, WindowRegion, func() {
		log(ctx, env.Begin)
		serve(ctx, requests)
		log(ctx, env.End)
	})
	trace.WithRegion(ctx, "request", func() {})
	time.Sleep(30 * time.Millisecond)
	trace.Stop()
	return buf.Bytes()
}

// serve hands requests to a worker.
func serve(ctx context.Context, requests int) {
	jobs := make(chan chan int)
	var wg sync.WaitGroup
	wg.Go(func() {
		for reply := range jobs {
			reply <- spinning(20 * time.Microsecond)
		}
	})
	for range requests {
		trace.WithRegion(ctx, "request", func() {
			reply := make(chan int)
			jobs <- reply
			<-reply
		})
	}
	close(jobs)
	wg.Wait()
}

func spinning(d time.Duration) int {
	n := 0
	for began := time.Now(); time.Since(began) < d; n++ {
	}
	return n
}

func takeAndLog(ctx context.Context, point string) {
	r := env.Take(point)
	r.Workload = "served"
	env.Log(ctx, &r)
}

func TestRecorded(t *testing.T) {
	const requests = 500
	data := recorded(t, requests, takeAndLog)
	spec := specOf(t, "", "region:request", "sum(ops)", "p50(op)", "mean(cpu/op)", "sum(cpu)", "mean(wakes/op)", "mean(starts/op)")
	x := mustRead(t, data, Input{Name: "dir/x.trace"}, spec, Options{})
	equal(t, "name", x.Name, "x.trace")
	equal(t, "whole", x.Whole, true)
	equal(t, "ops", x.Ops, int64(requests))
	equal(t, "workload", x.Identity.Workload, "served")
	equal(t, "go", x.Identity.Go, runtime.Version())
	equal(t, "procs", x.Identity.MaxProcs, runtime.GOMAXPROCS(0))
	if d := x.To - x.From; x.From < 29_000_000 || d < requests*20_000 {
		t.Errorf("window %d..%d", x.From, x.To)
	}
	if runtime.GOOS == "linux" {
		cpu := val(t, x, "sum(cpu)").X
		if x.CPU != 0 && float64(x.CPU) != cpu { // 0 if the records were disturbed
			t.Errorf("cpu of the window %d, want %v", x.CPU, cpu)
		}
		equal(t, "cpu/op", val(t, x, "mean(cpu/op)").X, cpu/requests)
		if x.Noise == nil || x.Noise.Nivcsw == nil {
			t.Errorf("noise %+v", x.Noise)
		}
	}
	// A request wakes the worker and the requester, but where one finds the other there.
	if w := val(t, x, "mean(wakes/op)").X; w < 0.5 || w > 4 {
		t.Errorf("wakes/op %v", w)
	}
}

// TestRecordsAsWindow checks that without a region the window is between the records.
func TestRecordsAsWindow(t *testing.T) {
	data := recorded(t, 50, takeAndLog)
	marked := mustRead(t, data, Input{}, specOf(t, "", "region:request", "sum(ops)"), Options{})
	between := mustRead(t, bytes.ReplaceAll(data, []byte(WindowRegion), []byte("schedscope.wonder")), Input{}, specOf(t, "", "region:request", "sum(ops)"), Options{})
	equal(t, "ops", between.Ops, marked.Ops)
	if between.From < marked.From || between.To > marked.To || between.From == marked.From {
		t.Errorf("window %d..%d, region %d..%d", between.From, between.To, marked.From, marked.To)
	}
}

func TestCountedOps(t *testing.T) {
	data := recorded(t, 50, func(ctx context.Context, point string) {
		r := env.Take(point)
		if n := int64(50); point == env.End {
			r.Ops = &n
		}
		env.Log(ctx, &r)
	})
	for window, want := range map[string]int64{"": 50, "all": 0} {
		x := mustRead(t, data, Input{}, specOf(t, window, "count", "sum(ops)"), Options{})
		equal(t, fmt.Sprintf("ops of window %q", window), x.Ops, want)
		if want == 0 && !strings.Contains(x.Missing["sum(ops)"], "another stretch") {
			t.Errorf("%q", x.Missing)
		}
	}
}

// TestNoCountedOps checks that a program that did nothing has no ops, and says so.
func TestNoCountedOps(t *testing.T) {
	data := recorded(t, 5, func(ctx context.Context, point string) {
		r := env.Take(point)
		if point == env.End {
			r.Ops = new(int64)
		}
		env.Log(ctx, &r)
	})
	x := mustRead(t, data, Input{}, specOf(t, "", "count", "sum(ops)", "mean(wait/op)", "mean(cpu/op)"), Options{})
	for _, q := range []string{"sum(ops)", "mean(wait/op)", "mean(cpu/op)"} {
		if x.Ops != 0 || !strings.Contains(x.Missing[q], "there were no ops") {
			t.Errorf("%s: %q, %d ops", q, x.Missing[q], x.Ops)
		}
	}
}

// TestContradictions checks that events which contradict each other make a trace not whole.
func TestContradictions(t *testing.T) {
	rd := &reading{scan: &scan{}, Reading: &session.Reading{}}
	if got := rd.loss(); got != "" {
		t.Errorf("nothing lost: %q", got)
	}
	rd.Contradictions, rd.First = 2, errors.New("goroutine 7 runs twice")
	if got := rd.loss(); !strings.Contains(got, "2 events") || !strings.Contains(got, "goroutine 7 runs twice") {
		t.Errorf("lost: %q", got)
	}
}

func TestStrangeRecords(t *testing.T) {
	for text, why := range map[string]string{
		`{"schema":"schedscope.env/v2"}`: "a newer schedscope wrote it",
		"hello":                          "invalid environment record: not valid JSON",
		`{"schema":"schedscope.env/v1","point":"begin","go":"","os":"","arch":"","ncpu":1,"gomaxprocs":1,"mono_ns":1}`: "both the beginning and the end",
	} {
		data := recorded(t, 5, func(ctx context.Context, point string) { trace.Log(ctx, env.Category, text) })
		x := mustRead(t, data, Input{}, specOf(t, "", "", "sum(cpu)"), Options{})
		if got := x.Missing["sum(cpu)"]; !strings.Contains(got, why) || x.Noise != nil {
			t.Errorf("%s: %q, noise %v", text, got, x.Noise)
		}
	}
}

// TestOpenWindow checks that a window of which an end is not in the trace is not whole.
func TestOpenWindow(t *testing.T) {
	done := make(chan bool)
	data := recorded(t, 50, func(ctx context.Context, point string) {
		if point == env.Begin {
			go func() {
				defer trace.StartRegion(ctx, "open").End()
				<-done
			}()
		}
	})
	close(done)
	x := mustRead(t, data, Input{}, specOf(t, "region:open", "", "sum(wait)"), Options{})
	if x.Whole || !strings.Contains(x.Loss, "did not end") {
		t.Errorf("whole %v, %q", x.Whole, x.Loss)
	}
	r := regionScan{name: "w"}
	if r.before = true; !strings.Contains(r.describe(), "began before") {
		t.Error(r.describe())
	}
}
