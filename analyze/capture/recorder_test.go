package capture

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math"
	"os"
	"runtime"
	"runtime/metrics"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/internal/strict"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
)

// logs returns the user messages of a category in a trace, which must be whole.
func logs(t *testing.T, file, category string) []string {
	t.Helper()
	var found []string
	each(t, file, func(tables *model.Tables, ev *model.Event) {
		if ev.Kind == model.EventLog && tables.String(ev.Str) == category {
			found = append(found, tables.String(ev.Str2))
		}
	})
	return found
}

// checkSamples fails unless a trace has CPU samples, or none, and its records say so.
func checkSamples(t *testing.T, file string, want bool) {
	t.Helper()
	for _, text := range logs(t, file, env.Category) {
		if r, err := strict.Decode[env.Record]([]byte(text), env.Schema); err != nil || r.Samples == nil || *r.Samples != want {
			t.Errorf("record %s, %v, want samples %v", text, err, want)
		}
	}
	if n := samplesIn(t, file); n > 0 != want {
		t.Errorf("%d CPU samples, want some: %v", n, want)
	}
}

// samplesIn returns how many CPU samples a trace has.
func samplesIn(t *testing.T, file string) (n int) {
	t.Helper()
	each(t, file, func(_ *model.Tables, ev *model.Event) {
		if ev.Kind == model.EventStackSample {
			n++
		}
	})
	return n
}

// each calls do for each event of a trace, which must be whole.
func each(t *testing.T, file string, do func(*model.Tables, *model.Event)) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := ingest.NewReader(f, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		events, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range events {
			do(r.Tables(), &events[i])
		}
	}
	if l := r.Loss(); l != nil {
		t.Errorf("%s is not whole: %v", file, l.Cause)
	}
}

// lastNote returns the last note in a trace.
func lastNote(t *testing.T, file string) *Note {
	t.Helper()
	found := logs(t, file, Category)
	if len(found) == 0 {
		t.Fatalf("%s has no note", file)
	}
	n, err := decodeNote(found[len(found)-1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// checkEnv fails unless a trace has records of the environment, the last one of an end.
func checkEnv(t *testing.T, file string) {
	t.Helper()
	var points []string
	for _, text := range logs(t, file, env.Category) {
		r, err := strict.Decode[env.Record]([]byte(text), env.Schema)
		if err != nil {
			t.Fatal(err)
		}
		points = append(points, r.Point)
	}
	if len(points) < 2 || points[0] != env.Begin || points[len(points)-1] != env.End {
		t.Errorf("%s has environment records %q", file, points)
	}
}

// options are those of tests: quiet, and with files that come at once.
func options(t *testing.T) Options {
	return Options{Dir: t.TempDir(), Name: "shop", MinAge: time.Second, MinInterval: time.Hour, Logger: slog.New(slog.DiscardHandler)}
}

// started returns a Recorder that the test closes, and a channel of its files.
func started(t *testing.T, o Options) (*Recorder, <-chan Snapshot) {
	t.Helper()
	files := make(chan Snapshot, 10)
	o.OnSnapshot = func(s Snapshot) { files <- s }
	r, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r, files
}

// next returns the next file.
func next(t *testing.T, files <-chan Snapshot) Snapshot {
	t.Helper()
	select {
	case s := <-files:
		return s
	case <-time.After(time.Minute):
		t.Fatal("no file")
		panic("")
	}
}

// TestSamples checks that traces have CPU samples if the options say so, those of the Handler
// also if the client does, and that Close ends the profile.
func TestSamples(t *testing.T) {
	o := options(t)
	o.Samples = true
	r, _ := started(t, o)
	burn(t)
	s, err := r.Snapshot("")
	if err != nil {
		t.Fatal(err)
	}
	checkSamples(t, s.File, true)
	r.Close()
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		t.Fatal("the profile runs on")
	}
	pprof.StopCPUProfile()

	r, _ = started(t, options(t))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				env.Canary()
				r.logBegin()
			}
		}
	})
	defer wg.Wait()
	defer close(stop)
	_, _, file := get(t, r.Handler(), "GET", "/?seconds=0.1")
	checkSamples(t, file, false)
	waitFor(t, func() bool {
		_, _, file = get(t, r.Handler(), "GET", "/?seconds=0.3&samples=1")
		return samplesIn(t, file) > 0
	})
	checkSamples(t, file, true)
}

func TestSnapshot(t *testing.T) {
	r, files := started(t, options(t))
	for range 2 {
		s, err := r.Snapshot("queue full")
		if err != nil {
			t.Fatal(err)
		}
		if got := next(t, files); got != s {
			t.Errorf("told of %+v, returned %+v", got, s)
		}
		info, err := os.Stat(s.File)
		if err != nil || info.Size() != s.Bytes {
			t.Errorf("%v, %v, want %d bytes", info, err, s.Bytes)
		}
		n := lastNote(t, s.File)
		if n.Reason != ReasonCall || n.What != "queue full" || n.Name != "shop" || n.Cause != s.Cause {
			t.Errorf("note %+v, want of %+v", n, s)
		}
		if at, err := time.Parse(time.RFC3339Nano, n.Time); err != nil || !at.Equal(s.Time) {
			t.Errorf("note of %s, want %v", n.Time, s.Time)
		}
		checkEnv(t, s.File)
	}
	if s := r.Stats(); s.Snapshots != 2 || s.Failed != 0 || s.Err != nil || len(s.Suppressed) != 0 {
		t.Errorf("%+v", s)
	}
	if names := namesIn(t, r.o.Dir); len(names) != 2 || !ownFile("shop").MatchString(names[0]) || !ownFile("shop").MatchString(names[1]) {
		t.Errorf("files %q", names)
	}
}

// TestSlow checks that a slow request writes a file, that the next ones are suppressed and
// counted, and that others do nothing.
func TestSlow(t *testing.T) {
	o := options(t)
	o.Slow = 100 * time.Millisecond
	r, files := started(t, o)
	r.Observe(t.Context(), "GET /", 100*time.Millisecond)
	r.Observe(t.Context(), "GET /x", 101*time.Millisecond)
	s := next(t, files)
	n := lastNote(t, s.File)
	if n.Reason != ReasonSlow || n.What != "GET /x" || n.Measured != 101*time.Millisecond || n.Limit != o.Slow {
		t.Errorf("note %+v", n)
	}
	if got := logs(t, s.File, "schedscope.slow"); len(got) != 1 || got[0] != "GET /x took 101ms, limit 100ms" {
		t.Errorf("messages %q", got)
	}
	for range 3 {
		r.Observe(t.Context(), "GET /y", time.Second)
		waitFor(t, func() bool { return len(r.slow) == 0 })
	}
	waitFor(t, func() bool { return r.Stats().Suppressed[ReasonSlow] == 3 })
	s, err := r.Snapshot("")
	if err != nil {
		t.Fatal(err)
	}
	if n := lastNote(t, s.File); n.Suppressed != 3 {
		t.Errorf("%d suppressed, want 3", n.Suppressed)
	}
}

// waitFor waits until something holds.
func waitFor(t *testing.T, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it never happened")
		}
	}
}

// TestLatency checks that the limit writes a file, on a distribution by hand.
func TestLatency(t *testing.T) {
	o := options(t)
	o.Latency = Latency{Limit: 10 * time.Millisecond, Window: 5 * time.Millisecond}
	files := make(chan Snapshot, 1)
	o.OnSnapshot = func(s Snapshot) { files <- s }
	n := uint64(0)
	r, err := start(o, time.Now, func() *metrics.Float64Histogram {
		n += 1000
		return &metrics.Float64Histogram{Counts: []uint64{0, n}, Buckets: []float64{0, 0.016, math.Inf(1)}}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	note := lastNote(t, next(t, files).File)
	if note.Reason != ReasonLatency || note.Measured != 16*time.Millisecond || note.Limit != 10*time.Millisecond ||
		note.Count != 1000 || note.Quantile != 0.99 || note.Window < 5*time.Millisecond {
		t.Errorf("note %+v", note)
	}
	waitFor(t, func() bool { return r.Stats().Suppressed[ReasonLatency] > 1 })
}

// TestTooLarge checks that a file over the limit is given up, and nothing stays.
func TestTooLarge(t *testing.T) {
	o := options(t)
	o.MaxFile = 1000
	r, files := started(t, o)
	_, err := r.Snapshot("x")
	var large *TooLargeError
	if !errors.As(err, &large) || large.Limit != 1000 {
		t.Errorf("error %v", err)
	}
	if s := r.Stats(); s.Failed != 1 || s.Snapshots != 0 || !errors.As(s.Err, &large) {
		t.Errorf("%+v", s)
	}
	if names := namesIn(t, o.Dir); len(names) != 0 || len(files) != 0 {
		t.Errorf("files %q", names)
	}
}

// TestKeep checks that old files go.
func TestKeep(t *testing.T) {
	o := options(t)
	o.Keep = 2
	r, _ := started(t, o)
	var last string
	for range 4 {
		s, err := r.Snapshot("")
		if err != nil {
			t.Fatal(err)
		}
		last = s.File
		time.Sleep(2 * time.Millisecond) // names have milliseconds
	}
	if names := namesIn(t, o.Dir); len(names) != 2 || !strings.HasSuffix(last, names[1]) {
		t.Errorf("files %q, the last was %s", names, last)
	}
}

// TestFolderGone checks that a folder that goes away is an error, not the end.
func TestFolderGone(t *testing.T) {
	r, _ := started(t, options(t))
	if err := os.Remove(r.o.Dir); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Snapshot("x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	if err := os.Mkdir(r.o.Dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Snapshot("x"); err != nil {
		t.Error(err)
	}
}

// TestOne checks that a second flight recorder is refused, with the reason, and that
// one after another is not; and that trace.Start may run next to it.
func TestOne(t *testing.T) {
	r, _ := started(t, options(t))
	if second, err := Start(options(t)); err == nil || second != nil || !strings.Contains(err.Error(), "of which a process has one") {
		t.Errorf("error %v", err)
	}
	var whole strings.Builder
	if err := trace.Start(&whole); err != nil {
		t.Fatal(err)
	}
	s, err := r.Snapshot("beside")
	if err != nil {
		t.Fatal(err)
	}
	trace.Stop()
	lastNote(t, s.File)
	if !strings.Contains(whole.String(), `"what":"beside"`) {
		t.Error("the whole trace does not have the note")
	}
	r.Close()
	third, err := Start(options(t))
	if err != nil {
		t.Fatal(err)
	}
	third.Close()
}

// TestClose checks that methods fail after Close, that it may be called at any time, and
// that no goroutine stays.
func TestClose(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 5 {
		o := options(t)
		o.Slow, o.Signal = 1, false
		r, err := Start(o)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				r.Observe(context.Background(), "x", time.Second)
				if _, err := r.Snapshot("x"); err != nil && err != ErrClosed {
					t.Error(err)
				}
				r.Stats()
			})
			wg.Go(func() { r.Close() })
		}
		wg.Wait()
		r.Close()
		if _, err := r.Snapshot("late"); err != ErrClosed {
			t.Errorf("error %v after Close", err)
		}
		r.Observe(context.Background(), "late", time.Second)
		if trace.IsEnabled() {
			t.Error("the tracer still runs")
		}
	}
	waitFor(t, func() bool { return runtime.NumGoroutine() <= before })
}

// TestNil checks that a Recorder that could not be started does nothing.
func TestNil(t *testing.T) {
	var r *Recorder
	r.Observe(t.Context(), "x", time.Hour)
	if _, err := r.Snapshot("x"); err != ErrClosed {
		t.Errorf("error %v", err)
	}
	if s := r.Stats(); s.Snapshots != 0 {
		t.Errorf("%+v", s)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	var rec *Recording
	rec.Stop()
}
