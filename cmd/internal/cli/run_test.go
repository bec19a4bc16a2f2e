package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/schedscope/schedscope/fixtures"
)

// execute runs the command in this process.
func execute(t *testing.T, ctx context.Context, stdin []byte, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(ctx, args, bytes.NewReader(stdin), &out, &errs)
	return code, out.String(), errs.String()
}

func TestNormalize(t *testing.T) {
	tests := []struct{ in, want string }{
		{"trace.out", "analyze trace.out"},
		{"-json trace.out", "analyze --json trace.out"},
		{"-o plot trace.out", "analyze -o plot trace.out"},
		{"-top 5 info", "--top 5 info"},
		{"-top=5 trace.out", "analyze --top=5 trace.out"},
		{"info -json x", "info --json x"},
		{"-q info x", "-q info x"},
		{"-qv x", "analyze -qv x"},
		{"-", "analyze -"},
		{"-- -json", "analyze -- -json"},
		{"-h", "-h"},
		{"-help", "--help"},
		{"--version", "--version"},
		{"help analyze", "help analyze"},
		{"__complete -json", "__complete -json"},
		{"export -table waits t", "export --table waits t"},
		{"gate record -n 10 -base a -cand-dir d -o r -- -base x", "gate record -n 10 --base a --cand-dir d -o r -- -base x"},
		{"gate check -on-inconclusive=fail -base a b", "gate check --on-inconclusive=fail --base a b"},
		{"gate plan -detect 2 -n 9 r", "gate plan --detect 2 -n 9 r"},
		{"--nonsense x", "analyze --nonsense x"},
		{"", ""},
	}
	for _, tt := range tests {
		got := normalize(newRoot(newApp(nil, nil, nil)), strings.Fields(tt.in))
		if !slices.Equal(got, strings.Fields(tt.want)) {
			t.Errorf("normalize(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// TestOptionsHaveHelp checks that nothing in the help is empty.
func TestOptionsHaveHelp(t *testing.T) {
	root := newRoot(newApp(nil, nil, nil))
	for _, c := range root.Commands() {
		if !c.Hidden && c.Runnable() && c.Name() != "version" && c.Long == "" {
			t.Errorf("%s lacks a description", c.Name())
		}
	}
	visit(root, func(c *cobra.Command) {
		if c.Hidden {
			return
		}
		if c.Short == "" || c.Runnable() && c != root && c.Name() != "version" && c.Parent().Name() != "completion" && c.Example == "" {
			t.Errorf("%s lacks a description or an example", c.CommandPath())
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" {
				t.Errorf("%s --%s lacks a description", c.CommandPath(), f.Name)
			}
		})
	})
}

// visit calls f with a command and all below it.
func visit(c *cobra.Command, f func(*cobra.Command)) {
	f(c)
	for _, x := range c.Commands() {
		visit(x, f)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out := filepath.Join(t.TempDir(), "report.json")
	code, stdout, stderr := execute(t, ctx, nil, "-o", out, fixtures.Path("http.trace"))
	if code != exitInterrupted || stdout != "" || !strings.Contains(stderr, "interrupted") {
		t.Errorf("exit code %d, stdout %q, stderr %q; want 130 and a message", code, stdout, stderr)
	}
	if _, err := os.Stat(out); !os.IsNotExist(err) {
		t.Errorf("the output exists (%v)", err)
	}
}

func TestRecordsFromServer(t *testing.T) {
	data, err := os.ReadFile(fixtures.Path("quiet.go1.26.p4.trace"))
	if err != nil {
		t.Fatal(err)
	}
	var query string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query = r.URL.Path + "?" + r.URL.RawQuery
		w.Write(data)
	}))
	defer server.Close()
	t.Chdir(t.TempDir())

	code, stdout, stderr := execute(t, t.Context(), nil, "analyze", "--details", server.URL, "--seconds", "2")
	if code != exitOK || !strings.Contains(stdout, "Go 1.26 trace format") {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	if query != "/debug/pprof/trace?seconds=2" {
		t.Errorf("asked for %s", query)
	}
	saved, err := filepath.Glob("trace-*.out")
	if err != nil || len(saved) != 1 || !strings.Contains(stderr, "saved "+saved[0]) || !strings.Contains(stdout, saved[0]) || strings.Contains(stdout, server.URL) {
		t.Errorf("saved %q (%v), stderr %q; want one file, named on stderr and in the report:\n%s", saved, err, stderr, stdout)
	}

	if code, _, _ := execute(t, t.Context(), nil, "-no-save", server.URL); code != exitOK {
		t.Errorf("exit code %d with -no-save", code)
	}
	if again, _ := filepath.Glob("trace-*.out"); len(again) != 1 {
		t.Errorf("-no-save left %q", again)
	}
}

// TestInterruptedRecording checks that what came before ^C is analysed.
func TestInterruptedRecording(t *testing.T) {
	data, err := os.ReadFile(fixtures.Path("tasks.go1.26.p4.trace"))
	if err != nil {
		t.Fatal(err)
	}
	part := len(data) * 3 / 4
	size := func(file string) int64 {
		info, err := os.Stat(file)
		if err != nil {
			return 0
		}
		return info.Size()
	}
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write(data[:part])
		w.(http.Flusher).Flush()
		for range 60_000 { // until it has arrived
			if saved, _ := filepath.Glob("*"); len(saved) == 1 && size(saved[0]) >= int64(part) {
				break
			}
			time.Sleep(time.Millisecond)
		}
		cancel()
		<-r.Context().Done()
	}))
	defer server.Close()
	t.Chdir(t.TempDir())
	code, stdout, stderr := execute(t, ctx, nil, "analyze", "--details", server.URL)
	if code != exitOK || !strings.Contains(stdout, "runnable until running") {
		t.Errorf("exit code %d, stdout %q, stderr %q; want a report of what came", code, stdout, stderr)
	}
}

// TestEveryFixture writes the text, the JSON and the Markdown report of each: whole
// traces must be read without a word on stderr.
func TestEveryFixture(t *testing.T) {
	for _, name := range fixtures.Chosen(slices.Concat(fixtures.Real(), fixtures.Foreign())) {
		dir := t.TempDir()
		args := []string{"-o", "-", fixtures.Path(name)}
		for _, out := range []string{"report.json", "report.md"} {
			args = append(args, "-o", filepath.Join(dir, out))
		}
		code, stdout, stderr := execute(t, t.Context(), nil, args...)
		if code != exitOK || stdout == "" || stderr != "" {
			t.Errorf("%s: exit code %d, %d bytes, stderr %q", name, code, len(stdout), stderr)
		}
		if made, _ := filepath.Glob(filepath.Join(dir, "*")); len(made) != 2 {
			t.Errorf("%s: made %q", name, made)
		}
		if md, _ := os.ReadFile(filepath.Join(dir, "report.md")); bytes.Contains(md, []byte("may be missing")) {
			t.Errorf("%s: it says that a part may be missing", name)
		}
	}
}

// TestBrokenPipe checks that a broken pipe is success if it is stdout, and no other.
func TestBrokenPipe(t *testing.T) {
	trace := fixtures.Path("quiet.go1.26.p4.trace")
	if code := run(t.Context(), []string{"info", trace}, strings.NewReader(""), left{}, io.Discard); code != exitOK {
		t.Errorf("stdout: exit code %d", code)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	name := fmt.Sprintf("/dev/fd/%d", w.Fd())
	if _, err := os.Stat(name); err != nil {
		t.Skip("descriptors have no names here")
	}
	code, _, stderr := execute(t, t.Context(), nil, "analyze", "--json", "-o", name, trace)
	if code != exitUnusable || !strings.Contains(stderr, "writing "+name+": broken pipe") {
		t.Errorf("another pipe: exit code %d\n%s", code, stderr)
	}
}

// TestExtremes: times that would overflow are refused, each by its flag, and what an error repeats
// of an argument is short, however long the argument is and whatever it is made of.
func TestExtremes(t *testing.T) {
	trace := fixtures.Path("quiet.go1.26.p4.trace")
	const most = "9223372036854775807ns"
	for _, args := range [][]string{
		{"analyze", "--to", most, trace}, {"analyze", "--from", most, trace}, {"cut", "--to", most, trace}, {"view", "--at", "1s", "--for", most, trace},
		{"record", "-d", most, "-o", "x", "http://localhost:1"}, {"analyze", "--from", "-" + most, trace},
	} {
		code, _, stderr := execute(t, t.Context(), nil, args...)
		if code != exitUnusable || !strings.Contains(stderr, "want at most 876000h") {
			t.Errorf("%q: exit code %d, %s", args, code, stderr)
		}
	}
	for _, part := range []string{"x", "\n", "\u0301", "\xff", "\u202e", "🙂"} {
		long := strings.Repeat(part, 120_000/len(part))
		for _, args := range [][]string{{long}, {"info", long}, {"analyze", "--" + long}, {"gate", "check", "--budget", long, trace}, {"export", "--format", long, trace}} {
			code, stdout, stderr := execute(t, t.Context(), nil, args...)
			if code != exitUnusable || len(stdout)+len(stderr) > 20_000 {
				t.Errorf("%q... as %.20q: exit code %d, %d bytes", part, args, code, len(stdout)+len(stderr))
			}
		}
	}
}

// run runs the program.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return newApp(stdin, stdout, stderr).run(ctx, args)
}
