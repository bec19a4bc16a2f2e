//go:build unix

package recorder

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/schedscope/schedscope/analyze/capture"
	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/internal/interleave"
)

// quiet is a log of nothing.
var quiet = Log{Warn: nothing, Note: nothing, Detail: nothing, Hint: nothing}

func nothing(string, ...any) {}

// script returns a command that runs a shell script, in which $T is the trace to write, $P the
// file of package capture until then, and $F a good trace.
func script(t *testing.T, text string) []string {
	path := filepath.Join(t.TempDir(), "script")
	text = "#!/bin/sh\nT=$" + capture.TraceVariable + " P=$T" + capture.PartSuffix + "$$ F=" + fixtures.Path("quiet.go1.26.p4.trace") + "\n" + text
	if err := os.WriteFile(path, []byte(text), 0o777); err != nil {
		t.Fatal(err)
	}
	return []string{path}
}

// inTime fails if do takes minutes.
func inTime[T any](t *testing.T, do func() T) T {
	t.Helper()
	done := make(chan T, 1)
	go func() { done <- do() }()
	select {
	case v := <-done:
		return v
	case <-time.After(2 * time.Minute):
		t.Fatal("it hangs")
		panic("not reached")
	}
}

// TestIrregular records programs that leave something else than a file in place of their trace.
func TestIrregular(t *testing.T) {
	const want = "is not a Go execution trace: it seems to be not a regular file"
	for _, text := range []string{"mkfifo $T", "ln -s $F $T", "mkdir $T", "mkfifo $P"} {
		command, dir := script(t, text), t.TempDir()
		err := inTime(t, func() error {
			_, _, err := Run(t.Context(), RunOptions{Command: command, Target: filepath.Join(dir, "x.trace"), Length: time.Minute, Log: quiet})
			return err
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
		if strings.Contains(text, "$P") {
			continue
		}
		s, err := NewSide(interleave.Single, command, "")
		if err != nil {
			t.Fatal(err)
		}
		err = inTime(t, func() error {
			_, err := Record(t.Context(), Options{Dir: filepath.Join(dir, "runs"), Rounds: 1, Sides: []Side{s}, Timeout: time.Minute, Limits: env.DefaultLimits, Noisy: true, Log: quiet})
			return err
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s, in turns: %v", text, err)
		}
		if entries, err := os.ReadDir(dir); len(entries) > 0 {
			t.Errorf("%s: left %v (%v)", text, entries, err)
		}
	}
}

// TestIrregularRecords records programs that leave pipes and links in place of what is written
// next to traces.
func TestIrregularRecords(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, []byte("kept"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"mkfifo ", "ln -s " + other + " "} {
		runs := filepath.Join(dir, "runs")
		order, record := filepath.Join(runs, interleave.OrderFile), env.NextTo(filepath.Join(runs, "01.trace"))
		s, err := NewSide(interleave.Single, script(t, text+order+"; "+text+record+"; cp $F $T"), "")
		if err != nil {
			t.Fatal(err)
		}
		err = inTime(t, func() error {
			_, err := Record(t.Context(), Options{Dir: runs, Rounds: 1, Sides: []Side{s}, Timeout: time.Minute, Limits: env.DefaultLimits, Noisy: true, Log: quiet})
			return err
		})
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		for _, path := range []string{order, record} {
			if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
				t.Errorf("%s: %s is %v (%v)", text, path, info, err)
			}
		}
		os.RemoveAll(runs)
	}
	if data, err := os.ReadFile(other); string(data) != "kept" {
		t.Errorf("behind the link is %q (%v)", data, err)
	}
}

// TestPipesAreNotRead reads what is next to traces where a program left pipes.
func TestPipesAreNotRead(t *testing.T) {
	dir := t.TempDir()
	trace, order := filepath.Join(dir, "01.trace"), filepath.Join(dir, interleave.OrderFile)
	for _, path := range []string{env.NextTo(trace), order} {
		if err := syscall.Mkfifo(path, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for i, read := range []func() error{
		func() error { _, err := interleave.Read(order); return err },
		func() error { _, err := sample.ReadRun(trace); return err },
	} {
		if err := inTime(t, read); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// TestAbortedAtOnce checks that a program is interrupted as soon as ^C has ended its recording.
func TestAbortedAtOnce(t *testing.T) {
	defer func(d time.Duration) { asideTime = d }(asideTime)
	asideTime = time.Hour
	command := script(t, `
trap 'cp $F $T; rm $P' USR2
: > $P
echo ready
for i in 1 2 3 4 5 6; do for j in 1 2 3 4 5 6 7 8 9 0; do sleep 1 & wait; done; done
echo ran on
`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var said strings.Builder
	out := writer(func(p []byte) (int, error) {
		cancel()
		return said.Write(p)
	})
	target := filepath.Join(t.TempDir(), "x.trace")
	_, aborted, err := Run(ctx, RunOptions{Command: command, Target: target, Length: time.Hour, Stdout: out, Stderr: io.Discard, Log: quiet})
	if err != nil || !aborted || said.String() != "ready\n" {
		t.Errorf("aborted %t, %v; it said %q", aborted, err, said.String())
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }
