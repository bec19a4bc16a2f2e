package cli

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/schedscope/schedscope/analyze/capture"
	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/cmd/internal/recorder"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
)

// recordee is the program recorded, one with package capture, for scripts.
func recordee() {
	defer os.Stdout.Sync()
	file := os.Getenv(capture.TraceVariable) + capture.PartSuffix + strconv.Itoa(os.Getpid())
	recording := capture.FromEnv()
	flags := flag.NewFlagSet("recorded", flag.ExitOnError)
	length := flags.Duration("for", 0, "run for this long")
	exit := flags.Int("exit", 0, "exit code")
	readable := flags.Bool("readable", false, "then run until a part of the trace can be read")
	burn := flags.Bool("burn", false, "use the processor as long as it runs")
	hard := flags.Int("hard", 0, "exit code without ending the recording")
	flags.Parse(os.Args[1:])
	fmt.Println("recorded says hello")
	for began := time.Now(); *burn && time.Since(began) < *length; {
		env.Canary()
	}
	if !*burn {
		time.Sleep(*length)
	}
	for *readable && !canRead(file) {
		time.Sleep(10 * time.Millisecond)
	}
	if *hard != 0 {
		os.Exit(*hard)
	}
	fmt.Println("recorded ends")
	recording.Stop()
	os.Exit(*exit)
}

// canRead reports whether a trace that is still written can be read already.
func canRead(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	r, err := ingest.NewReader(f, ingest.Options{})
	if err != nil {
		return false
	}
	defer r.Close()
	_, err = r.Next()
	return err == nil
}

// TestConcludeIncomplete checks what is said of a recording whose last part is cut off. A program that
// ends without ending the recording leaves such a one, unless it ends just after a part.
func TestConcludeIncomplete(t *testing.T) {
	data, err := os.ReadFile("../../../fixtures/generations.go1.26.p4.trace")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "d.trace")
	if err := os.WriteFile(path, data[:len(data)-100], 0o666); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	x, size, err := recorder.IndexFile(path)
	if err != nil {
		t.Fatal(err)
	}
	newApp(strings.NewReader(""), io.Discard, &said).conclude(path, x, size)
	want := regexp.MustCompile(`(?m)^schedscope: warning: .*d.trace: the last part of the trace is not complete; what is before it can be read: [0-9.]+m?s$`)
	if !want.MatchString(said.String()) {
		t.Errorf("no match for %s in\n%s", want, said.String())
	}
}

// TestRecordURL records from net/http/pprof and from the handler of package capture.
func TestRecordURL(t *testing.T) {
	dir := t.TempDir()
	recorder, err := capture.Start(capture.Options{Dir: filepath.Join(dir, "kept")})
	if err != nil {
		t.Fatal(err)
	}
	defer recorder.Close()
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	mux.Handle("/debug/schedscope", recorder.Handler())
	srv := httptest.NewServer(mux)
	defer srv.Close()
	out := filepath.Join(dir, "x.trace")
	for path, want := range map[string]string{"": "", "/debug/schedscope": "captured: an HTTP client asked for the past"} {
		args := []string{"record", "-o", out, srv.URL + path}
		if path == "" {
			args = append(args, "-d", "50ms")
		}
		if err := os.WriteFile(out+".env.json", nil, 0o666); err != nil {
			t.Fatal(err)
		}
		code, _, stderr := execute(t, t.Context(), nil, args...)
		if code != exitOK || !strings.Contains(stderr, "recorded "+out) || !strings.Contains(stderr, "next: schedscope analyze") {
			t.Fatalf("%s: exit code %d\n%s", path, code, stderr)
		}
		if _, err := os.Stat(out + ".env.json"); err == nil {
			t.Error("the record of an earlier recording stays")
		}
		_, stdout, _ := execute(t, t.Context(), nil, "analyze", "--details", out)
		if want != "" && !strings.Contains(strings.Join(strings.Fields(stdout), " "), want) {
			t.Errorf("the report says\n%s", stdout)
		}
	}
	code, _, stderr := execute(t, t.Context(), nil, "record", "-d", "20ms", "-o", out, srv.URL)
	if !strings.Contains(stderr, "the trace has no CPU samples: ") || !strings.Contains(stderr, "/debug/pprof/profile?seconds=1: 404") {
		t.Errorf("of a server that takes no profiles: exit code %d\n%s", code, stderr)
	}
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	code, stdout, stderr := execute(t, t.Context(), nil, "record", "-q", "-d", "20ms", "-o", "-", srv.URL)
	if stderr != "" {
		t.Errorf("to stdout it says\n%s", stderr)
	}
	if code != exitOK || !strings.HasPrefix(stdout, "go 1.") {
		t.Errorf("to stdout: exit code %d, %d bytes", code, len(stdout))
	}
	whole, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{16, 200} {
		path := fmt.Sprintf("/cut/%d", n)
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { w.Write(whole[:n]) })
		code, _, stderr = execute(t, t.Context(), nil, "record", "-o", out, srv.URL+path)
		if now, err := os.ReadFile(out); code != exitUnusable || !strings.Contains(stderr, "hint: record for longer") || err != nil || !bytes.Equal(now, whole) {
			t.Errorf("of %d bytes: exit code %d, %d bytes of %d, %v\n%s", n, code, len(now), len(whole), err, stderr)
		}
	}
	// ^C comes when some of the trace is there, which the line of progress shows.
	mux.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) {
		for i := 0; r.Context().Err() == nil; i++ {
			w.Write(whole[16*i : 16*i+16])
			w.(http.Flusher).Flush()
			time.Sleep(50 * time.Millisecond)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	said := &tripwire{text: "recording: ", trip: cancel}
	a := newApp(strings.NewReader(""), io.Discard, said)
	a.progress.on = true
	code = a.run(ctx, []string{"record", "-o", out, srv.URL + "/slow"})
	if now, err := os.ReadFile(out); code != exitInterrupted || !strings.Contains(said.seen.String(), "before a part of the trace was complete") || err != nil || !bytes.Equal(now, whole) {
		t.Errorf("interrupted: exit code %d, %d bytes of %d, %v\n%q", code, len(now), len(whole), err, said.seen.String())
	}
	code, _, stderr = execute(t, t.Context(), nil, "record", "-o", out, srv.URL+"/none")
	if code != exitUnusable || !strings.Contains(stderr, "404") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}

// TestRecordSamples checks that a program that uses the processor is recorded with CPU samples,
// and without if they are not wanted.
func TestRecordSamples(t *testing.T) {
	out := filepath.Join(t.TempDir(), "x.trace")
	record := func(flags ...string) int {
		args := append([]string{"record", "-d", "300ms", "-o", out}, flags...)
		if code, _, stderr := execute(t, t.Context(), nil, append(args, "--", "recorded", "-burn", "-for", "1m")...); code != exitOK {
			t.Fatalf("exit code %d\n%s", code, stderr)
		}
		return samplesIn(t, out)
	}
	if n := record("--no-samples"); n > 0 {
		t.Errorf("%d samples with --no-samples", n)
	}
	for end := time.Now().Add(time.Minute); record() == 0; {
		if time.Now().After(end) {
			t.Fatal("no samples")
		}
	}
}

// samplesIn returns how many CPU samples a trace has.
func samplesIn(t *testing.T, name string) (n int) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := ingest.NewReader(f, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	err = ingest.Each(r, func(ev *model.Event) error {
		if ev.Kind == model.EventStackSample {
			n++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestRecordAborted checks that ^C ends the recording, and that what was recorded is kept.
func TestRecordAborted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("programs cannot be asked to end their recording there")
	}
	out := filepath.Join(t.TempDir(), "x.trace")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	hello := &tripwire{text: "hello", trip: cancel}
	var stderr bytes.Buffer
	began := time.Now()
	code := run(ctx, []string{"record", "-d", "1m", "-o", out, "--", "recorded", "-for", "1m"}, strings.NewReader(""), hello, &stderr)
	if code != exitOK || strings.Contains(stderr.String(), "not complete") || !strings.Contains(stderr.String(), "recorded "+out) {
		t.Errorf("exit code %d\n%s", code, stderr.String())
	}
	if d := time.Since(began); d > 30*time.Second {
		t.Errorf("it took %v", d)
	}
	if code, _, _ := execute(t, t.Context(), nil, "info", out); code != exitOK {
		t.Errorf("info: exit code %d", code)
	}

	// Of one that records nothing nothing is kept.
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	mark := filepath.Join(t.TempDir(), "mark")
	go whenExists(mark, cancel)
	none := filepath.Join(t.TempDir(), "none.trace")
	code = run(ctx, []string{"record", "-o", none, "--", "tracer", "-how", "sleep", "-count", mark}, strings.NewReader(""), io.Discard, io.Discard)
	if code != exitInterrupted {
		t.Errorf("exit code %d", code)
	}
	checkAbsent(t, filepath.Dir(none)+"/none.trace")
}

// tripwire calls trip when a text is written to it.
type tripwire struct {
	text string
	trip func()
	seen bytes.Buffer
}

func (w *tripwire) Write(p []byte) (int, error) {
	w.seen.Write(p)
	if w.trip != nil && strings.Contains(w.seen.String(), w.text) {
		w.trip()
		w.trip = nil
	}
	return len(p), nil
}
