package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/trace"
	"strings"
	"testing"
	"time"

	"github.com/schedscope/schedscope/analyze/capture"
	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/cmd/internal/recorder"
	"github.com/schedscope/schedscope/internal/interleave"
)

// tracer is a program to record, for scripts: it writes a trace as it is told to. Its
// first runs may fail, as many as -fail says; -count is the file that counts them.
func tracer() {
	flags := flag.NewFlagSet("tracer", flag.ExitOnError) // this test binary has flags of its own
	out := flags.String("o", os.Getenv(capture.TraceVariable), "")
	testTrace := flags.String("test.trace", "", "")
	flags.String("test.run", "", "")
	flags.String("test.cpuprofile", "", "")
	how := flags.String("how", "", "none, garbage, cut, sleep or unmatched")
	fail := flags.Int("fail", 0, "")
	count := flags.String("count", "", "")
	flags.Parse(os.Args[1:])
	if *testTrace != "" {
		*out = *testTrace
	}
	if *count != "" {
		data, _ := os.ReadFile(*count)
		os.WriteFile(*count, append(data, 'x'), 0o666)
		if len(data) < *fail {
			fmt.Println("no luck")
			os.Exit(3)
		}
	}
	if err := writeTrace(*out, *how); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// writeTrace writes a small trace, or what is none.
func writeTrace(out, how string) error {
	switch how {
	case "none":
		return nil
	case "garbage":
		return os.WriteFile(out, []byte("hello\n"), 0o666)
	case "sleep":
		time.Sleep(time.Minute)
	case "unmatched":
		fmt.Println("testing: warning: no tests to run")
	}
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	defer f.Close()
	var w io.Writer = f
	if err := trace.Start(w); err != nil {
		return err
	}
	time.Sleep(5 * time.Millisecond)
	trace.Stop()
	if how == "cut" {
		info, err := f.Stat()
		if err != nil {
			return err
		}
		return f.Truncate(info.Size() - 100)
	}
	return nil
}

// recordOptionsFor returns options to record this test binary as the program tracer.
func recordOptionsFor(t *testing.T, n int, args ...string) recorder.Options {
	t.Helper()
	o := recorder.Options{Dir: filepath.Join(t.TempDir(), "runs"), Rounds: n, Policy: interleave.Random, Seed: 1,
		Timeout: time.Minute, Limits: env.DefaultLimits, Noisy: true}
	for _, side := range []interleave.Side{interleave.Base, interleave.Cand} {
		s, err := recorder.NewSide(side, append([]string{"tracer"}, args...), "")
		if err != nil {
			t.Fatal(err)
		}
		o.Sides = append(o.Sides, s)
	}
	return o
}

// TestDisturbed checks that disturbed recordings are made again as often as is allowed,
// then kept and marked.
func TestDisturbed(t *testing.T) {
	o := recordOptionsFor(t, 1)
	var said strings.Builder
	a := newApp(strings.NewReader(""), io.Discard, &said)
	o.Limits = env.Limits{Nivcsw: 1e12, Foreign: 1e12, Steal: 1e12} // never
	if err := a.recordSides(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	o.Rounds, o.Add, o.Noisy, o.Least = 2, true, false, 6
	o.Limits = env.Limits{Nivcsw: -1, Foreign: -1, Steal: -1} // always
	if err := a.recordSides(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	order, err := interleave.Read(filepath.Join(o.Dir, interleave.OrderFile))
	if err != nil {
		t.Fatal(err)
	}
	attempts := map[interleave.Side]int{}
	for _, tr := range order.Traces[2:] {
		attempts[tr.Side] += tr.Attempts
		if !tr.Disturbed {
			t.Errorf("%s is not marked", tr.File)
		}
	}
	if len(order.Traces) != 6 || attempts[interleave.Base] != 4 || attempts[interleave.Cand] != 4 {
		t.Errorf("%d traces of %v attempts, want 4 of 4 each", len(order.Traces), attempts)
	}
	for _, want := range []string{"4 of 4 recordings were disturbed", "base has 1 trace left, and gate check needs 6 (min_traces): record 5 more with --add"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("said %s, want %q", said.String(), want)
		}
	}
}

// TestHopeless checks that all ends at once where no recording is quiet.
func TestHopeless(t *testing.T) {
	o := recordOptionsFor(t, 10)
	o.Noisy = false
	o.Limits = env.Limits{Nivcsw: -1, Foreign: -1, Steal: -1} // always
	err := newApp(strings.NewReader(""), io.Discard, io.Discard).recordSides(t.Context(), o)
	var exit *exitError
	if !errors.As(err, &exit) || exit.code != exitUndecided || !strings.Contains(err.Error(), "3 recordings were made and each was disturbed") {
		t.Errorf("error %v, want code %d after 3 recordings", err, exitUndecided)
	}
	checkAbsent(t, o.Dir)
}

// TestInterrupt checks that ^C ends the program being recorded and leaves no half of
// anything.
func TestInterrupt(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	o := recordOptionsFor(t, 1, "-how", "sleep", "-count", mark)
	ctx, cancel := context.WithCancel(t.Context())
	go whenExists(mark, cancel)
	began := time.Now()
	var said strings.Builder
	err := newApp(strings.NewReader(""), io.Discard, &said).recordSides(ctx, o)
	var exit *exitError
	if !errors.As(err, &exit) || exit.code != exitInterrupted {
		t.Errorf("error %v, want code %d", err, exitInterrupted)
	}
	if d := time.Since(began); d > 20*time.Second {
		t.Errorf("it took %v", d)
	}
	checkAbsent(t, o.Dir)
	if want := "runs has 0 recordings of this call"; !strings.Contains(said.String(), want) {
		t.Errorf("said %q, want %q", said.String(), want)
	}
}

// TestTimeout checks that a program which does not end is ended.
func TestTimeout(t *testing.T) {
	o := recordOptionsFor(t, 1, "-how", "sleep")
	o.Timeout = 50 * time.Millisecond
	err := newApp(strings.NewReader(""), io.Discard, io.Discard).recordSides(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), "it did not end within 50ms") {
		t.Errorf("error %v", err)
	}
	checkAbsent(t, o.Dir)
}

// whenExists calls do as soon as there is a file, by which a program to record shows that it
// runs; never if that takes minutes.
func whenExists(path string, do func()) {
	for range 120_000 {
		if _, err := os.Stat(path); err == nil {
			do()
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// checkAbsent fails if there is anything.
func checkAbsent(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Stat(path); err == nil {
		t.Errorf("there is %s", path)
	}
}
