package cli

import (
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/internal/atomicfile"
	"github.com/schedscope/schedscope/report"
	"github.com/schedscope/schedscope/report/profile"
)

var stops = flag.Int("stops", 3, "at most so many writes of each command, and as many moments, are those at which TestStops stops it")

// manyStops of each kind make at least 2,000 runs, which .ci/run validation has.
const manyStops = 40

// stopTrace is the trace that is read.
const stopTrace = "iterpull.go1.26.p4.trace"

// stopping are the commands that are stopped. TRACE is a trace, GZ and URL are the same one, as is
// stdin, OUT is where a file is to be written; without OUT, stdout is. Of those of the second list
// tests see inputs that are opened, but no events.
func stopping() (seen, unseen []string) {
	seen = []string{
		"analyze --json -",
		"analyze --json GZ",
		"analyze --no-save -o OUT.json URL",
		"analyze --details TRACE",
		"analyze --json TRACE",
		"analyze --check -o OUT.json TRACE",
		"analyze -o OUT.html -o OUT.md -o OUT.csv -o OUT.txt TRACE",
		"analyze -o OUT.png -o OUT.svg TRACE TRACE2",
		"analyze -o OUT.json TRACE TRACE2",
		"requests TRACE",
		"plot -o OUT TRACE",
		"replay --seeds 1 -o OUT.json TRACE",
		"replay --mode lockstep TRACE",
		"export --format parquet -o OUT TRACE TRACE2",
		"export --format perfetto TRACE",
		"export -o OUT.pftrace TRACE",
		"export --causes -o OUT.pftrace.gz TRACE",
		"export -o OUT.bench TRACE",
		"export -o OUT.prom TRACE",
		"export -o OUT.csv TRACE",
	}
	for _, kind := range profile.Kinds() {
		seen = append(seen, "export --profile "+kind+" -o OUT.pb.gz TRACE")
	}
	for i, name := range report.TableNames() {
		line := "export --table " + name + " --format csv -o OUT.csv TRACE"
		if i%2 == 0 {
			line = "export --table " + name + " --format ndjson TRACE"
		}
		seen = append(seen, line)
	}
	return seen, []string{
		"info --json TRACE",
		"cut --from 0s --to 1s -o OUT.trace TRACE",
		"compare TRACE TRACE2",
		"compare --json -o OUT.json TRACE TRACE2",
		"gate check --budget BUDGET --report json TRACE TRACE2",
		"gate plan --budget BUDGET TRACE TRACE2",
	}
}

// stopped is a run of a command that something stops.
type stopped struct {
	t     *testing.T
	line  string
	dir   string            // of outputs
	names *strings.Replacer // of inputs

	printing bool // what is stopped is the last write

	code           int
	stdout, stderr bytes.Buffer
	when           time.Time     // it was stopped; zero: not yet
	took           time.Duration // from then on, or in all
}

// run runs the command with this context and stdout, and checks what must hold however it ends:
// no file is left that is not whole, and no goroutine.
func (s *stopped) run(ctx context.Context, event func(), out io.Writer) {
	s.t.Helper()
	before := runtime.NumGoroutine()
	stdin, err := os.Open(fixtures.Path(stopTrace))
	if err != nil {
		s.t.Fatal(err)
	}
	defer stdin.Close()
	line := strings.ReplaceAll(s.names.Replace(s.line), "OUT", filepath.Join(s.dir, "out"))
	a := newApp(io.MultiReader(stdin), out, &s.stderr) // a stream
	a.event = event
	a.late = func() {
		if ctx.Err() == nil {
			s.t.Errorf("%s: ended although its context has not", s.line)
		}
	}
	begun := time.Now()
	s.when = begun
	s.code = a.run(ctx, strings.Fields(line))
	for runtime.NumGoroutine() > before && time.Since(begun) < slowest {
		time.Sleep(time.Millisecond)
	}
	s.took = time.Since(s.when)
	if n := runtime.NumGoroutine(); n > before {
		buf := make([]byte, 1<<20)
		s.t.Fatalf("%s: %d goroutines more than before\n%s", s.line, n-before, buf[:runtime.Stack(buf, true)])
	}
	// Plot prints the names of files that are there, and the tables of traces that were read stay.
	if left := s.files(); s.code != exitOK && len(left) > 0 && !(s.printing && strings.HasPrefix(s.line, "plot")) && !strings.HasPrefix(s.line, "export --format parquet") {
		s.t.Errorf("%s: exit code %d, and files are left: %v", s.line, s.code, left)
	}
	if strings.Contains(s.stderr.String(), "panic") {
		s.t.Errorf("%s: it says %s", s.line, &s.stderr)
	}
}

// files returns what is in the folder of outputs.
func (s *stopped) files() (list []string) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// failing is a stdout of which a write fails.
type failing struct{ *bytes.Buffer }

func (f failing) Write(p []byte) (int, error) {
	if err := atomicfile.Fault(); err != nil {
		return 0, err
	}
	return f.Buffer.Write(p)
}

// TestStops has each write of each command fail, and each command's context end after various
// events. The exit code and the message are those that help exit-codes documents, nothing is left
// behind, and nothing goes on.
func TestStops(t *testing.T) {
	seen, unseen := stopping()
	runs, longest := 0, time.Duration(0)
	trace, err := os.ReadFile(fixtures.Path(stopTrace))
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write(trace)
	w.Close()
	budget, gz := filepath.Join(t.TempDir(), "budget.yaml"), filepath.Join(t.TempDir(), "trace.gz")
	for name, data := range map[string][]byte{budget: []byte("schema: schedscope.budget/v1\nrules: [p99(runnable) < 100us @ point]\n"), gz: packed.Bytes()} {
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write(trace) }))
	defer server.Close()
	names := strings.NewReplacer("TRACE2", fixtures.Path("hogs.go1.26.p2.trace"), "TRACE", fixtures.Path(stopTrace),
		"BUDGET", budget, "GZ", gz, "URL", server.URL+"/trace")
	done := func(s *stopped) {
		runs++
		longest = max(longest, s.took)
	}
	for _, line := range append(seen, unseen...) {
		// How many writes and events there are when nothing stops it.
		var writes, events atomic.Int64
		s := &stopped{t: t, line: line, dir: t.TempDir(), names: names}
		atomicfile.Fault = func() error { writes.Add(1); return nil }
		s.run(t.Context(), func() { events.Add(1) }, failing{&s.stdout})
		if s.code > exitViolated && s.code != exitUndecided {
			t.Fatalf("%s: exit code %d: %s", line, s.code, &s.stderr)
		}
		whole, total, code, files, stdout := s.took, writes.Load(), s.code, len(s.files()), s.stdout.Len()
		for _, k := range some(total) {
			s := &stopped{t: t, line: line, dir: t.TempDir(), names: names}
			s.printing = k == total-1
			left := atomic.Int64{}
			left.Store(k)
			atomicfile.Fault = func() error {
				n := left.Add(-1)
				if n == -1 {
					s.when = time.Now()
				}
				if n < 0 {
					return errFull
				}
				return nil
			}
			s.run(t.Context(), nil, failing{&s.stdout})
			if left.Load() >= 0 && strings.Contains(line, "URL") {
				continue // into how many writes a body is cut differs from time to time
			}
			if s.code != exitUnusable || !strings.Contains(s.stderr.String(), errFull.Error()) {
				t.Errorf("%s: write %d of %d fails: exit code %d, stderr %q", line, k+1, total, s.code, &s.stderr)
			}
			done(s)
		}
		atomicfile.Fault = func() error { return nil }
		for _, k := range some(events.Load()) {
			s := &stopped{t: t, line: line, dir: t.TempDir(), names: names}
			ctx, cancel := context.WithCancel(t.Context())
			left := atomic.Int64{}
			left.Store(k)
			s.run(ctx, func() {
				if left.Add(-1) == -1 {
					s.when = time.Now()
					cancel()
				}
			}, &s.stdout)
			cancel()
			kept := strings.HasPrefix(line, "export --format parquet") && strings.Contains(s.stderr.String(), "interrupted; the tables of 1 trace were written")
			if s.code != exitInterrupted || !kept && !strings.Contains(s.stderr.String(), "interrupted; nothing was written") {
				t.Errorf("%s: interrupted after event %d of %d: exit code %d, stderr %q", line, k, events.Load(), s.code, &s.stderr)
			}
			done(s)
		}
		if slices.Contains(seen, line) {
			continue
		}
		for _, k := range some(100) {
			s := &stopped{t: t, line: line, dir: t.TempDir(), names: names}
			ctx, cancel := context.WithTimeout(t.Context(), whole*time.Duration(k)/100)
			s.run(ctx, nil, &s.stdout)
			cancel()
			// It may have been done by then: all of it.
			said := strings.Contains(s.stderr.String(), "interrupted; nothing was written")
			if stopped := s.code == exitInterrupted; stopped != said || !stopped && (s.code != code || len(s.files()) != files || s.stdout.Len() != stdout) {
				t.Errorf("%s: interrupted: exit code %d, stderr %q", line, s.code, &s.stderr)
			}
			done(s)
		}
	}
	atomicfile.Fault = nil
	if *stops >= manyStops && runs < 2000 {
		t.Errorf("only %d runs", runs)
	}
	t.Logf("%d runs; what was stopped went on for %v at most", runs, longest)
}

// TestLate: the program is ended when it goes on although its context has ended, and never else, as
// when only that of work on several traces has.
func TestLate(t *testing.T) {
	late := make(chan struct{}, 10)
	in, out := io.Pipe()
	a := newApp(in, io.Discard, io.Discard)
	a.late = func() { late <- struct{}{}; out.Close() }
	a.run(t.Context(), []string{"plot", "-j", "2", "-o", t.TempDir(), fixtures.Path("hogs.go1.26.p2.trace"), fixtures.Path("iterpull.go1.26.p4.trace")})
	if len(late) > 0 {
		t.Error("late although the context has not ended")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a.run(ctx, []string{"analyze", "-"}) // nothing comes from stdin
	if len(late) != 1 {
		t.Errorf("late %d times, want once", len(late))
	}
}

// some returns numbers from 0 to n-1: all, or as many as asked for, among them the first and the last.
func some(n int64) (list []int64) {
	m := min(n, int64(*stops))
	for i := range m {
		list = append(list, i*(n-1)/max(m-1, 1))
	}
	return list
}

// checkedNames is a stdout that fails when a name is written to it of a file that is not there.
type checkedNames struct{ t *testing.T }

func (c checkedNames) Write(p []byte) (int, error) {
	for name := range strings.Lines(string(p)) {
		if _, err := os.Stat(strings.TrimSpace(name)); err != nil {
			c.t.Error(err)
		}
	}
	return len(p), nil
}

// TestPlotNames: plot prints the names of pictures when they are there.
func TestPlotNames(t *testing.T) {
	args := []string{"plot", "--format", "svg", "-o", t.TempDir(), fixtures.Path(stopTrace)}
	if code := run(t.Context(), args, strings.NewReader(""), checkedNames{t}, io.Discard); code != exitOK {
		t.Errorf("exit code %d", code)
	}
}
