package sample

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/internal/savedfiletest"
	"github.com/schedscope/schedscope/model"
)

// quantities are those of a rich budget.
var quantities = []string{
	"p50(runnable)", "p99(runnable)", "mean(wait/op)", "p90(runnable)", "mean(cpu/op)", "mean(wakes/op)",
	"p99(blocked{reason=sync})", "p99(runnable{func=main.(*pool).worker})",
}

// testSample returns a sample as traces of a server give it, with n classes of each kind.
func testSample(i, n int) Sample {
	f := func(x float64) *float64 { y := x + float64(i)/7; return &y }
	s := Sample{
		Name: fmt.Sprintf("cand-%02d.trace", i), Round: i + 1, Order: 2*i + 1,
		Identity: Identity{
			Workload: "checkout", Op: "region:request", MetricDefs: rule.MetricDefs, Go: "go1.26.8", OS: "linux", Arch: "amd64",
			CPU: "Intel(R) Xeon(R) Processor @ 2.90GHz", NumCPU: 2, MinProcs: 2, MaxProcs: 2, GOGC: "100", Memlimit: "off",
			Kernel: "6.1.155-generic", Runner: "github-hosted", Commit: "0123456789abcdef0123456789abcdef01234567",
		},
		Noise: &env.Noise{Nivcsw: f(2), RunDelay: f(.09), Steal: f(0), Foreign: f(.1), Throttled: f(0), PSI: f(.01), Canary: f(1e6)},
		Whole: true, From: 102345678, To: 1023456789, Ops: 3027, Events: 418770, Running: model.Duration(987654321 + 1000*i), CPU: 912345678, Capacity: 1842222222,
		Values: map[string]Value{}, Missing: map[string]string{"p99(task)": "no tasks"},
	}
	for j, q := range quantities {
		s.Values[q] = Value{X: math.Pi * math.Pow(10, float64(j)) * (1 + float64(i)/17), N: 11055, Beyond: 110, Tau: 27.123456789}
	}
	for j := range n {
		c := Class{
			Func: fmt.Sprintf("github.com/example/checkout/server.(*pool).worker%d", j), Total: model.Duration(123456789 - j), Count: 11055, P99: 1234567,
			At: &Frame{Func: "main.(*queue).pop", File: "/src/checkout/server/queue.go", Line: 41},
			By: &Frame{Func: "main.(*queue).push", File: "/src/checkout/server/queue.go", Line: 88},
		}
		s.Waits, s.Blocked, s.Runs, s.Blame = append(s.Waits, c), append(s.Blocked, c), append(s.Runs, c), append(s.Blame, c)
		s.Worst = append(s.Worst, Stretch{From: 1, To: 2, Total: 3})
		if j < 21 { // there are no more causes
			s.Causes = append(s.Causes, Named{Name: "behind a goroutine", Total: 12345678})
		}
	}
	return s
}

// testSet returns a set of so many traces, with n classes of each kind.
func testSet(traces, n int) *Set {
	set := &Set{Schema: Schema, Tool: "v0.1", Spec: Spec{Workload: "checkout", Op: "region:<request>"}, Design: "interleaved", Recording: "00ff"}
	for i := range traces {
		set.Samples = append(set.Samples, testSample(i, n))
	}
	return set
}

// written returns the file of a set, with its sum.
func written(t testing.TB, set *Set) []byte {
	t.Helper()
	data, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	return savedfiletest.Sealed(data)
}

func TestReadSet(t *testing.T) {
	set := testSet(3, 2)
	got, err := ReadSet("runs.json", written(t, set))
	if err != nil || !reflect.DeepEqual(got, set) {
		t.Errorf("read as %+v, %v", got, err)
	}
}

func TestBadSamples(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(s *Sample)
		want   string
	}{
		"defs":      {func(s *Sample) { s.Identity.MetricDefs = "2025.9" }, `definitions "2025.9"`},
		"quantity":  {func(s *Sample) { s.Values["sum(wat)"] = Value{} }, `did you mean "wait"`},
		"canonical": {func(s *Sample) { s.Values["sum( wait )"] = Value{} }, `written "sum(wait)"`},
		"window":    {func(s *Sample) { s.To = 5 }, "the window ends at"},
		"name":      {func(s *Sample) { s.Name = "" }, "no name"},
	} {
		set := testSet(2, 1)
		tt.change(&set.Samples[1])
		if _, err := ReadSet("f", written(t, set)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

func TestRunFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.trace")
	if run, err := ReadRun(name); run != nil || err != nil {
		t.Errorf("no file: %v, %v", run, err)
	}
	want := env.Run{Begin: env.Take(env.Begin), End: env.Take(env.End)}
	if err := env.WriteRun(name, &want); err != nil {
		t.Fatal(err)
	}
	got, err := ReadRun(name)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(want)
	b, _ := json.Marshal(got)
	if string(b) != string(a) {
		t.Errorf("read back: %s, want %s", b, a)
	}

	bad := want
	bad.Begin, bad.End = want.End, want.Begin
	if err := env.WriteRun(name, &bad); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadRun(name); err == nil || !strings.Contains(err.Error(), "x.trace.env.json") {
		t.Errorf("begin and end exchanged: %v", err)
	}
	if err := os.WriteFile(env.Beside(name), bytes.Repeat([]byte(" "), maxRun+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadRun(name); err == nil {
		t.Error("a file that is too large is read")
	}
}

func TestBadFiles(t *testing.T) {
	good := string(written(t, testSet(2, 1)))
	for text, want := range map[string]string{
		"":                                "f: the file is empty",
		good[:len(good)-30]:               "the JSON is cut off after",
		good + "{}":                       "(byte",
		`[]`:                              "does not name a schema",
		`{"schema":"x"}`:                  `its schema is "x"`,
		"[1":                              "does not name a schema",
		`{"a":1`:                          "cut off after",
		`{"a":1}`:                         "does not name a schema",
		`{"schema":"schedscope.runs/v2"}`: "a newer schedscope",
		`{"schema":"schedscope.runs/v1","spec":{},"samples":[]}`:   "no samples",
		`{"schema":"schedscope.runs/v1","spec":{}}`:                "samples is missing",
		`{"schema":"schedscope.runs/v1","samples":[null]}`:         "samples[0] is null",
		`{"schema":"schedscope.runs/v1","samples":[{"name":"a"}]}`: `f: samples["a"].identity is missing`,
	} {
		if _, err := ReadSet("f", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v; want %q", text, err, want)
		}
	}
}

// TestBadNumbers: a number that is missing, null, negative or beyond what can be is refused
// with the names of file, sample and field.
func TestBadNumbers(t *testing.T) {
	set := testSet(2, 1)
	set.Samples[1].Values["sum(gc)"] = Value{}
	set.Samples[1].Values["share(runnable{cause=unknown})"] = Value{X: 1, N: 3}
	text := written(t, set)
	for _, tt := range []struct{ old, new, want string }{
		{`"mean.cpu/op.":{"x":[0-9.]+`, `"mean(cpu/op)":{"x":null`, `["mean(cpu/op)"].x is null`},
		{`"mean.cpu/op.":{"x":[0-9.]+,`, `"mean(cpu/op)":{`, `["mean(cpu/op)"].x is missing`},
		{`"mean.cpu/op.":{[^}]*}`, `"mean(cpu/op)":null`, `["mean(cpu/op)"] is null`},
		{`"mean.wait/op.":{"x":[0-9.]+`, `"mean(wait/op)":{"x":-1`, `["mean(wait/op)"].x is -1, want 0 or more`},
		{`"mean.wait/op.":{"x":[0-9.]+`, `"mean(wait/op)":{"x":0`, `"mean(wait/op)": x is 0`},
		{`"p99.runnable.":{"x":[0-9.]+`, `"p99(runnable)":{"x":0`, `"p99(runnable)": x is 0`},
		{`"p99.runnable.":{[^}]*}`, `"p99(runnable)":{"x":0}`, `"p99(runnable)": x is 0`},
		{`"p99.runnable.":{"x":[0-9.]+`, `"p99(runnable)":{"x":1e300`, `"p99(runnable)": x is 1e+300`},
		{`"p99.runnable.":{"x":[0-9.]+`, `"p99(runnable)":{"x":1e400`, "x is 1e400, which does not fit"},
		{`"p99.runnable.":{"x":[0-9.]+`, `"p99(runnable)":{"x":"NaN"`, "x is a text, not a number"},
		{`{"x":1,"n":3}`, `{"x":1.1,"n":3}`, `"share(runnable{cause=unknown})": x is 1.1`},
		{`"sum.gc.":{"x":0}`, `"sum(gc)":{"x":0,"n":1}`, `"sum(gc)": x is 0`},
		{`"beyond":110`, `"beyond":11056`, "n is 11055"},
		{`"tau":27[0-9.]*`, `"tau":1e9`, "n is 11055"},
		{`"n":11055`, `"n":null`, "n is null"},
		{`"events":418770`, `"events":0`, "events is 0"},
		{`"events":418770,`, ``, "events is missing"},
		{`"from_ns":102345678`, `"from_ns":null`, "from_ns is null"},
		{`"to_ns":1023456789`, `"to_ns":102345678`, "to_ns"},
		{`"capacity_ns":1842222222`, `"capacity_ns":-1`, "capacity_ns is -1"},
		{`"min_procs":2`, `"min_procs":0`, "min_procs is 0"},
		{`"min_procs":2`, `"min_procs":3`, "min_procs is 3"},
		{`"max_procs":2,`, ``, "max_procs is missing"},
		{`"steal":[0-9.]*`, `"steal":-0.1`, "steal is -0.1"},
		{`"total_ns":123456789`, `"total_ns":null`, "total_ns is null"},
	} {
		change := regexp.MustCompile(tt.old)
		if !change.Match(text) {
			t.Fatalf("no %s in %s", tt.old, text)
		}
		_, err := ReadSet("f", savedfiletest.Sealed(change.ReplaceAllLiteral(text, []byte(tt.new))))
		if err == nil || !strings.HasPrefix(err.Error(), "f: ") || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "cand-0") {
			t.Errorf("%s: %v, want %q", tt.new, err, tt.want)
		}
	}
}

// FuzzReadSet checks that nothing panics, and that what is read is read again the same.
func FuzzReadSet(f *testing.F) {
	f.Add(written(f, testSet(2, 1)))
	f.Fuzz(func(t *testing.T, data []byte) {
		set, err := ReadSet("f", data)
		if err != nil {
			return
		}
		if again, err := ReadSet("f", written(t, set)); err != nil || !reflect.DeepEqual(again, set) {
			t.Errorf("%v: %+v\n%+v", err, again, set)
		}
	})
}
