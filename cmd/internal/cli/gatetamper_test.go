package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/internal/interleave"
	"github.com/schedscope/schedscope/internal/savedfiletest"
	"github.com/schedscope/schedscope/internal/strict"
)

// limits are the keys of a budget that say what is allowed. Who changes them edits the limits,
// which a review sees; whoever changes another key must not get a failing change through.
var limits = regexp.MustCompile(`\.(rules|waivers|alpha|min_traces|guards)\b`)

// TestTamperedGate changes one thing at a time in all that a failing check reads. No change gives
// exit code 0: the file is refused, which is exit code 2, or the verdict is not to pass. The
// command runs where the reader of the file does not refuse it, and once per file where it does.
func TestTamperedGate(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	write := func(name string, data []byte) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path(name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path(name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	read := func(name string) []byte {
		t.Helper()
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	var doc map[string]any
	if err := yaml.Unmarshal(read(fixtures.Path("programs/gated/schedscope.yaml")), &doc); err != nil {
		t.Fatal(err)
	}
	rules := doc["rules"].([]any)
	rules[0] = map[string]any{"rule": rules[0], "owner": "me", "detect": 2}
	doc["alpha"] = 0.05
	text, err := json.Marshal(doc) // which is YAML, too
	if err != nil {
		t.Fatal(err)
	}
	write("two.yaml", text)
	// A folder of one recording, with what the recorder keeps of it.
	write("one.yaml", []byte("schema: schedscope.budget/v1\nrules: [p99(runnable) < 1ns @ point]\n"))
	trace := path("runs/cand/01.trace")
	write("runs/cand/01.trace", read(fixtures.Path("tasks.go1.26.p4.trace")))
	run := env.Run{Begin: env.Take(env.Begin), End: env.Take(env.End)}
	run.End.MonoNS = run.Begin.MonoNS + 1e9
	run.End.Process = run.Begin.Process // no processor time: quiet
	run.End.Host, run.End.Cgroup = run.Begin.Host, run.Begin.Cgroup
	if err := env.WriteRun(trace, &run); err != nil {
		t.Fatal(err)
	}
	var o interleave.Order
	o.Begin(interleave.Session{Policy: interleave.ABBA, Base: []string{"a"}, Cand: []string{"b"}})
	o.Add(interleave.Trace{File: "cand/01.trace", Side: interleave.Cand, Round: 1, Session: 1, Attempts: 1})
	var order bytes.Buffer
	if err := o.Write(&order); err != nil {
		t.Fatal(err)
	}
	write("runs/order.json", order.Bytes())

	two := []string{"gate", "check", "--budget", path("two.yaml"), "--base", stored(t, "same"), stored(t, "hop")} // of which the second does more wakeups
	one := []string{"gate", "check", "--budget", path("one.yaml"), path("runs")}
	n, runs, edits := 0, 0, 0
	for _, tt := range []struct {
		file string
		args []string
		read func(data []byte) error
	}{
		{"two.yaml", two, func(data []byte) error { _, err := budget.Read("f", data); return err }},
		{"runs/order.json", one, func([]byte) error { _, err := interleave.Read(path("runs/order.json")); return err }},
		{"runs/cand/01.trace.env.json", one, func(data []byte) error { _, err := strict.Decode[env.Run](data, ""); return err }},
	} {
		good := read(path(tt.file))
		check := func(what string, refused bool) {
			t.Helper()
			runs++
			code, stdout, stderr := execute(t, t.Context(), nil, tt.args...)
			if code == exitOK || refused && code != exitUnusable || what == "" && code != exitViolated {
				t.Errorf("%s: %s: exit code %d\n%s%s", tt.file, what, code, stdout, stderr)
			}
		}
		check("", false)
		tried := false
		savedfiletest.Tamper(t, good, func(what string, changed []byte) {
			n++
			if tt.file == "two.yaml" && limits.MatchString(what) {
				edits++
				return
			}
			write(tt.file, changed)
			if refused := tt.read(changed) != nil; !refused || !tried {
				tried = tried || refused
				check(what, refused)
			}
		})
		write(tt.file, good)
	}
	t.Logf("%d tamperings, %d of which edit limits, %d runs", n, edits, runs)
	if n-edits < 180 {
		t.Errorf("only %d tamperings", n-edits)
	}
}
