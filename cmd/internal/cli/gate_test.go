package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/internal/schemas"
)

// A folder with both sides says which to give where one is wanted.
func TestOneSide(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"runs/base", "runs/cand", "old"} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("schedscope.yaml", []byte("schema: schedscope.budget/v1\nrules: [p99(runnable) < 5ms]\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	want := "hint: give " + filepath.Join("runs", "base") + " or " + filepath.Join("runs", "cand")
	for _, args := range []string{"check --base old runs", "check --base runs old", "check runs old"} {
		code, _, stderr := execute(t, t.Context(), nil, append([]string{"gate"}, strings.Fields(args)...)...)
		if code != exitUnusable || !strings.Contains(stderr, "runs has the recordings of both sides") || !strings.Contains(stderr, want) {
			t.Errorf("gate %s: exit code %d, stderr %q", args, code, stderr)
		}
	}
}

// Nothing is read without limit.
func TestEndlessFiles(t *testing.T) {
	const zero = "/dev/zero"
	if _, err := os.Stat(zero); err != nil {
		t.Skip(err)
	}
	trace := fixtures.Path("http.trace")
	for _, args := range [][]string{{"check", "--budget", zero, trace}} {
		code, _, stderr := execute(t, t.Context(), nil, append([]string{"gate"}, args...)...)
		if code != exitUnusable || !strings.Contains(stderr, zero+": larger than ") {
			t.Errorf("gate %q: exit code %d, stderr %q", args, code, stderr)
		}
	}
}

// The commit in reports is that of the recordings, or of the job, unless a flag says so.
func TestCommitOfTheJob(t *testing.T) {
	t.Setenv("GITHUB_SHA", "")
	t.Setenv("CI_COMMIT_SHA", "fa11")
	for _, tt := range []struct{ flag, want string }{{"", `"commit": "fa11"`}, {"--commit=1dea", `"commit": "1dea"`}} {
		args := checkHop(t, "--report", "json")
		if tt.flag != "" {
			args = append(args, tt.flag)
		}
		_, stdout, stderr := execute(t, t.Context(), nil, args...)
		if !strings.Contains(stdout, tt.want) || stderr != "" {
			t.Errorf("%s: stdout %q, stderr %q", tt.flag, stdout, stderr)
		}
	}
}

// The budget in the help can be used as it is, and has every key.
func TestGateHelpHasEveryKey(t *testing.T) {
	_, text, ok := strings.Cut(gateHelp(), "\n\n  schema:")
	text, _, ends := strings.Cut(text, "\n\n")
	if !ok || !ends {
		t.Fatal("the help has no budget")
	}
	text = strings.ReplaceAll("\n  schema:"+text, "\n  ", "\n")
	if _, err := budget.Read("help", []byte(text)); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
	type object struct{ Properties map[string]any }
	var schema struct {
		object
		Defs map[string]object `json:"$defs"`
	}
	if err := json.Unmarshal(schemas.Of("budget"), &schema); err != nil {
		t.Fatal(err)
	}
	for _, o := range []object{schema.object, schema.Defs["Guards"], schema.Defs["Rule"], schema.Defs["Waiver"]} {
		if len(o.Properties) < 4 {
			t.Errorf("the schema has %d keys", len(o.Properties))
		}
		for key := range o.Properties {
			if !strings.Contains(gateHelp(), key+":") {
				t.Errorf("the help does not tell of %s", key)
			}
		}
	}
}
