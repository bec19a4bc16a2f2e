package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/schedscope/schedscope/fixtures"
)

// checkHop returns the arguments that judge the hop of the worked example, a violation.
func checkHop(t *testing.T, flags ...string) []string {
	t.Helper()
	args := append([]string{"gate", "check", "--budget", fixtures.Path("programs/gated/schedscope.yaml")}, flags...)
	return append(args, "--base", stored(t, "same"), fixtures.Path("gate/testdata/hop.json"))
}

func TestPlanReports(t *testing.T) {
	for _, tt := range []struct {
		in, github, want, err string
	}{
		{in: "", want: "text=-"},
		{in: "text,json=a.json", want: "json=a.json text=-"}, // files first
		{in: "text,github", want: "text=- github=-"},
		{in: "json", want: "json=-"},
		{in: "", github: "true", want: "markdown+=summary.md text=- github=-"},
		{in: "json", github: "true", want: "markdown+=summary.md json=- github=stderr"},
		{in: "github", github: "true", want: "markdown+=summary.md github=-"},
		{in: "markdown=summary.md", github: "true", want: "markdown=summary.md github=-"},
		{in: "text,json", err: "--report text and json both go to stdout"},
		{in: "text,text", err: "--report text and text both go to stdout"},
		{in: "github,junit", err: "--report github and junit both go to stdout"},
		{in: "json=a,junit=./a", err: "--report json and junit both go to ./a"},
		{in: "text=", err: "--report text= without a file name"},
		{in: "json=.", err: "--report json=. is a directory"},
		{in: "texd", err: `unknown --report "texd"`},
	} {
		t.Run(tt.in+tt.github, func(t *testing.T) {
			t.Chdir(t.TempDir())
			t.Setenv("GITHUB_ACTIONS", tt.github)
			t.Setenv("GITHUB_STEP_SUMMARY", "summary.md")
			var lists []string
			if tt.in != "" {
				lists = []string{tt.in}
			}
			reports, err := newApp(nil, nil, nil).planReports(lists, nil)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range reports {
				s := r.format.Name
				if r.append {
					s += "+"
				}
				if r.stderr {
					r.path = "stderr"
				}
				got = append(got, s+"="+r.path)
			}
			if got := strings.Join(got, " "); got != tt.want {
				t.Errorf("reports %s, want %s", got, tt.want)
			}
		})
	}
}

// TestReportOverInput: no report replaces what the check reads.
func TestReportOverInput(t *testing.T) {
	t.Chdir(t.TempDir())
	trace, err := os.ReadFile(fixtures.Path("quiet.go1.26.p4.trace"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"runs/base/01.trace": string(trace), "runs/cand/01.trace": string(trace),
		"o/cand/01.trace": string(trace), "o/cand/01.trace.env.json": "{}", "o/order.json": "{}",
		"b.yaml": "schema: schedscope.budget/v1\nrules: [p99(runnable) < 5ms @ point]\n",
	}
	for name, data := range files {
		os.MkdirAll(filepath.Dir(name), 0o777)
		if err := os.WriteFile(name, []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for name, data := range files {
		args := []string{"gate", "check", "--budget", "b.yaml", "--report", "json=./" + name}
		switch {
		case strings.HasPrefix(name, "o/"):
			args = append(args, "--absolute", "o/cand")
		default:
			args = append(args, "--absolute", "runs")
		}
		code, _, stderr := execute(t, t.Context(), nil, args...)
		if want := "--report json=./" + name + " would overwrite the input"; code != exitUnusable || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, %s", name, code, stderr)
		}
		if now, err := os.ReadFile(name); err != nil || string(now) != data {
			t.Errorf("%s was overwritten: %v", name, err)
		}
	}
}

// In a GitHub job stdout holds what was asked for and nothing else, and the summary what
// other steps wrote, too.
func TestReportsInGitHub(t *testing.T) {
	args := checkHop(t, "--report", "json")
	dir := t.TempDir()
	summary := filepath.Join(dir, "summary.md")
	if err := os.WriteFile(summary, []byte("before\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GITHUB_ACTIONS", "true")
	t.Setenv("GITHUB_STEP_SUMMARY", summary)
	code, stdout, stderr := execute(t, t.Context(), nil, args...)
	if code != exitViolated || !json.Valid([]byte(stdout)) {
		t.Errorf("exit code %d, and stdout is not JSON:\n%s", code, stdout)
	}
	if !strings.Contains(stderr, "::error ") {
		t.Errorf("stderr has no annotation: %q", stderr)
	}
	data, err := os.ReadFile(summary)
	if err != nil || !strings.HasPrefix(string(data), "before\n#") {
		t.Errorf("the summary is %.40q (%v)", data, err)
	}
}

// left is a stream whose reader has gone.
type left struct{}

func (left) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: os.Stdout.Name(), Err: syscall.EPIPE}
}

func TestVerdictOutlivesReaders(t *testing.T) {
	out := filepath.Join(t.TempDir(), "gate.json")
	args := checkHop(t, "--report", "text,json="+out)
	if code := run(t.Context(), args, strings.NewReader(""), left{}, io.Discard); code != exitViolated {
		t.Errorf("exit code %d without a reader, want %d", code, exitViolated)
	}
	if data, err := os.ReadFile(out); err != nil || !json.Valid(data) {
		t.Errorf("the file is not written: %v", err)
	}
}

// A command that can be pasted names the folder of traces, if there is one.
func TestFolder(t *testing.T) {
	for _, tt := range []struct {
		operands []string
		want     string
	}{
		{nil, ""},
		{[]string{"a/1.trace", "a/2.trace"}, "a"},
		{[]string{"a/*.trace"}, "a"},
		{[]string{"1.trace"}, "."},
		{[]string{"a/1.trace", "b/1.trace"}, ""},
		{[]string{fixtures.Path("gate")}, fixtures.Path("gate")},
	} {
		if got := folder(tt.operands); got != tt.want {
			t.Errorf("folder(%q) = %q, want %q", tt.operands, got, tt.want)
		}
	}
}

// Without a baseline rules that compare make a check unusable, unless they are left out.
func TestAbsolute(t *testing.T) {
	dir := t.TempDir()
	budget := filepath.Join(dir, "budget.yaml")
	const text = "schema: schedscope.budget/v1\nrules:\n  - p99(runnable) <= baseline*1.10\n  - p99(runnable) < %s @ point\n"
	runs := filepath.Join(dir, "runs", "cand")
	if err := os.MkdirAll(runs, 0o777); err != nil {
		t.Fatal(err)
	}
	trace, err := os.ReadFile(fixtures.Path("http.trace"))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{filepath.Join(runs, "01.trace"): trace,
		filepath.Join(dir, "runs", "order.json"): []byte(`{"schema":"schedscope.order/v1","design":"","sessions":[],"traces":[]}`)} {
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		limit, flags string
		code         int
		says         string
	}{
		{"1s", "", exitUnusable, "hint: --base OLD gives a baseline; --absolute judges without"},
		{"1s", "--absolute", exitOK, "--absolute: 1 rule with a baseline not judged"},
		{"1us", "--absolute", exitViolated, "--absolute: 1 rule with a baseline not judged"},
		{"1us", "--absolute --base x", exitUnusable, "contradict each other"},
	} {
		if err := os.WriteFile(budget, fmt.Appendf(nil, text, tt.limit), 0o666); err != nil {
			t.Fatal(err)
		}
		args := append([]string{"gate", "check", "--budget", budget}, strings.Fields(tt.flags)...)
		// The folder of gate record with one side, and that side itself.
		for _, operand := range []string{filepath.Dir(runs), runs} {
			code, stdout, stderr := execute(t, t.Context(), nil, append(args, operand)...)
			if code != tt.code || !strings.Contains(stdout+stderr, tt.says) {
				t.Errorf("limit %s, %q, %s: exit code %d, want %d and %q:\n%s%s", tt.limit, tt.flags, operand, code, tt.code, tt.says, stdout, stderr)
			}
		}
	}
}
