package baseline

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/internal/savedfiletest"
	"github.com/schedscope/schedscope/model"
)

// quantities are those of a rich budget.
var quantities = []string{
	"p50(runnable)", "p99(runnable)", "mean(wait/op)", "p90(runnable)", "mean(cpu/op)", "mean(wakes/op)",
	"p99(blocked{reason=sync})", "p99(runnable{func=main.(*pool).worker})",
}

// testSample returns a sample as traces of a server give it, with n classes of each kind.
func testSample(session, i, n int) sample.Sample {
	f := func(x float64) *float64 { y := x + float64(i)/7 + float64(session)/13; return &y }
	s := sample.Sample{
		Name: fmt.Sprintf("cand-%02d.trace", i), Round: i + 1, Order: 2*i + 1,
		Identity: sample.Identity{
			Workload: "checkout", Op: "region:request", MetricDefs: rule.MetricDefs, Go: "go1.26.8", OS: "linux", Arch: "amd64",
			CPU: "Intel(R) Xeon(R) Processor @ 2.90GHz", NumCPU: 2, MinProcs: 2, MaxProcs: 2, GOGC: "100", Memlimit: "off",
			Kernel: "6.1.155-generic", Runner: "github-hosted", Commit: "0123456789abcdef0123456789abcdef01234567",
		},
		Noise: &env.Noise{Nivcsw: f(2), RunDelay: f(.09), Steal: f(0), Foreign: f(.1), Throttled: f(0), PSI: f(.01), Canary: f(1e6)},
		Whole: true, From: 102345678, To: 1023456789, Ops: 3027, Events: 418770, Running: model.Duration(987654321 + 1000*i + session), CPU: 912345678, Capacity: 1842222222,
		Values: map[string]sample.Value{}, Missing: map[string]string{"p99(task)": "no tasks"},
	}
	for j, q := range quantities {
		s.Values[q] = sample.Value{X: math.Pi * math.Pow(10, float64(j)) * (1 + float64(i+session)/17), N: 11055, Beyond: 110, Tau: 27.123456789}
	}
	for j := range n {
		c := sample.Class{
			Func: fmt.Sprintf("github.com/example/checkout/server.(*pool).worker%d", j), Total: model.Duration(123456789 - j), Count: 11055, P99: 1234567,
			At: &sample.Frame{Func: "main.(*queue).pop", File: "/src/checkout/server/queue.go", Line: 41},
			By: &sample.Frame{Func: "main.(*queue).push", File: "/src/checkout/server/queue.go", Line: 88},
		}
		s.Waits, s.Blocked, s.Runs, s.Blame = append(s.Waits, c), append(s.Blocked, c), append(s.Runs, c), append(s.Blame, c)
		s.Worst = append(s.Worst, sample.Stretch{From: 1, To: 2, Total: 3})
		if j < 21 { // there are no more causes
			s.Causes = append(s.Causes, sample.Named{Name: "behind a goroutine", Total: 12345678})
		}
	}
	return s
}

func testSession(session, traces, classes int) Session {
	s := Session{ID: fmt.Sprintf("s%03d", session), Commit: "0123456789abcdef", Time: "2026-11-20T12:00:00Z", Design: "interleaved", Spec: sample.Spec{Op: "count"}}
	for i := range traces {
		s.Samples = append(s.Samples, testSample(session, i, classes))
	}
	return s
}

func testFile(t *testing.T, sessions, traces, classes int) *File {
	t.Helper()
	f := New("v0.1")
	for i := range sessions {
		if err := f.Add(testSession(i, traces, classes)); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func written(t *testing.T, f *File) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestRoundTrip(t *testing.T) {
	f := testFile(t, 3, 2, 4)
	f.BudgetHash = "abc"
	f.Sessions[1].Samples[1].Identity.Commit = "other"
	text := written(t, f)
	got, err := Read("f", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, f) {
		t.Errorf("read as\n%+v\nwant\n%+v", got, f)
	}
	if again := written(t, got); again != text {
		t.Errorf("written again:\n%s\nwas\n%s", again, text)
	}
	if lines := strings.Count(text, "\n"); lines != 8+3*(2+2)+2 {
		t.Errorf("%d lines, want one per trace:\n%s", lines, text)
	}
	if n := strings.Count(text, `"identity"`); n != 1 {
		t.Errorf("%d identities beside those of sessions, want 1", n)
	}
}

func TestAddTrims(t *testing.T) {
	f := testFile(t, 2, 1, 4)
	old, fresh := f.Sessions[0].Samples[0], f.Sessions[1].Samples[0]
	if len(old.Waits)+len(old.Blocked)+len(old.Runs)+len(old.Blame)+len(old.Causes)+len(old.Worst)+len(old.Missing) != 0 {
		t.Errorf("an old session keeps classes: %+v", old)
	}
	if v := old.Values["p99(runnable)"]; v != (sample.Value{X: 31.4159}) {
		t.Errorf("an old value is %+v", v)
	}
	if *old.Noise.Canary != 1e6 || old.Ops != 3027 || !old.Whole || old.Identity.CPU == "" || old.To != 1023456789 {
		t.Errorf("an old session has lost more: %+v", old)
	}
	if len(fresh.Waits) != 4 || len(fresh.Missing) != 1 || fresh.Values["p99(runnable)"].Tau == 0 {
		t.Errorf("the newest session is trimmed: %+v", fresh)
	}
}

// TestAddLeavesCallersData checks that samples handed in are not changed later.
func TestAddLeavesCallersData(t *testing.T) {
	s := testSession(0, 2, 30)
	f := New("")
	if err := f.Add(s); err != nil {
		t.Fatal(err)
	}
	if err := f.Add(testSession(1, 60, 40)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Prune(1); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(s, testSession(0, 2, 30)) {
		t.Error("Add has changed its argument")
	}
}

func TestAddRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Session)
		want   string
	}{
		"id":        {func(s *Session) { s.ID = "" }, "needs an id"},
		"twice":     {func(s *Session) { s.ID = "s000" }, "already"},
		"empty":     {func(s *Session) { s.Samples = nil }, "no traces"},
		"defs":      {func(s *Session) { s.Samples[1].Identity.MetricDefs = "2025.9" }, `definitions "2025.9"`},
		"workload":  {func(s *Session) { s.Samples[1].Identity.Workload = "other" }, `of workload "other", the history of "checkout"`},
		"time":      {func(s *Session) { s.Time = "yesterday" }, "the time"},
		"value":     {func(s *Session) { s.Samples[0].Values["sum(wait)"] = sample.Value{X: math.NaN()} }, "NaN"},
		"quantity":  {func(s *Session) { s.Samples[0].Values["sum(wat)"] = sample.Value{} }, `did you mean "wait"`},
		"canonical": {func(s *Session) { s.Samples[0].Values["sum( wait )"] = sample.Value{} }, `written "sum(wait)"`},
		"window":    {func(s *Session) { s.Samples[0].To = 5 }, "the window ends at"},
		"name":      {func(s *Session) { s.Samples[0].Name = "" }, "no name"},
	} {
		f := testFile(t, 1, 2, 1)
		before := written(t, f)
		s := testSession(1, 2, 1)
		tt.change(&s)
		if err := f.Add(s); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
		if written(t, f) != before {
			t.Errorf("%s: the file has changed", name)
		}
	}
	f := testFile(t, 1, 2, 1)
	s := testSession(1, 2, 1)
	s.Samples[0].Identity.CPU = "another"
	if err := f.Add(s); err != nil {
		t.Errorf("another machine: %v", err)
	}
}

// TestSize holds the size that a repository is asked to keep: 30 sessions of 10 traces
// and 8 quantities.
func TestSize(t *testing.T) {
	f := testFile(t, MaxSessions, 10, sample.MaxClasses)
	dropped, err := f.Prune(MaxSessions)
	if err != nil {
		t.Fatal(err)
	}
	size := len(written(t, f))
	t.Logf("%d sessions, %d classes in the newest, %d bytes", len(f.Sessions), len(f.newest().Samples[0].Waits), size)
	if len(dropped) != 0 || size > MaxSize {
		t.Errorf("%d bytes with %d sessions dropped, want at most %d and none", size, len(dropped), MaxSize)
	}
	if got := len(f.newest().Samples[0].Waits); got < fewClasses {
		t.Errorf("the newest session keeps %d classes, want %d", got, fewClasses)
	}
}

func TestLargest(t *testing.T) {
	list := []sample.Class{{Func: "a", Total: 9, Count: 1}, {Func: "b", Total: 5, Count: 2}, {Func: "c", Total: 4, Count: 3}, {Func: sample.Others, Total: 7, Count: 4}}
	if got := largest(list, 2); !slices.Equal(got, []sample.Class{list[0], {Func: sample.Others, Total: 16, Count: 9}}) {
		t.Errorf("two of %v are %v", list, got)
	}
	if got := largest(list, 4); !slices.Equal(got, list) {
		t.Errorf("four are %v", got)
	}
	if got := largest(list, 0); len(got) != 0 || len(list) != 4 || list[1].Func != "b" {
		t.Errorf("none is %v, of %v", got, list)
	}
}

func TestPrune(t *testing.T) {
	f := testFile(t, 5, 1, 1)
	if dropped, err := f.Prune(3); err != nil || !slices.Equal(dropped, []string{"s000", "s001"}) || len(f.Sessions) != 3 {
		t.Errorf("dropped %q, %d left, %v", dropped, len(f.Sessions), err)
	}
	if dropped, err := f.Prune(0); err != nil || len(dropped) != 2 || f.Sessions[0].ID != "s004" {
		t.Errorf("Prune(0) dropped %q, %v", dropped, err)
	}
	f = testFile(t, 10, 60, 3)
	if dropped, err := f.Prune(MaxSessions); err != nil || len(dropped) == 0 || len(written(t, f)) > MaxSize {
		t.Errorf("dropped %q of a file too long, %v", dropped, err)
	}
	f = testFile(t, 2, 500, 1)
	if _, err := f.Prune(MaxSessions); err == nil || !strings.Contains(err.Error(), "alone takes") {
		t.Errorf("a session too long: %v", err)
	}
	if dropped, err := New("").Prune(1); err != nil || dropped != nil {
		t.Errorf("an empty history: %q, %v", dropped, err)
	}
}

func TestHistory(t *testing.T) {
	f := New("")
	for i, xs := range [][]float64{{3, 1, 2}, {5, 4, 10, 4}, {7}} {
		s := testSession(i, len(xs), 0)
		for j, x := range xs {
			s.Samples[j].Values = map[string]sample.Value{"sum(wakes)": {X: x}}
			s.Samples[j].Identity.NumCPU = i + 1
		}
		if err := f.Add(s); err != nil {
			t.Fatal(err)
		}
	}
	f.Sessions[2].Samples[0].Values["sum(gc)"] = sample.Value{X: 0}
	want := []Drift{{"sum(gc)", 0, 0}, {"sum(wakes)", 2, 7}}
	if got := f.Drifts(); !slices.Equal(got, want) {
		t.Errorf("drifts %v, want %v", got, want)
	}
}

func TestSessionOf(t *testing.T) {
	set := &sample.Set{Design: "interleaved", Spec: sample.Spec{Window: "all", Quantities: []rule.Quantity{{}}}, Samples: testSession(0, 3, 1).Samples}
	a, err := SessionOf(set, time.Date(2026, 11, 20, 14, 0, 0, 0, time.FixedZone("", 7200)))
	if err != nil || a.Commit != set.Samples[0].Identity.Commit || a.Time != "2026-11-20T12:00:00Z" || a.Design != "interleaved" || a.Spec.Window != "all" || a.Spec.Quantities != nil || len(a.ID) != 16 {
		t.Errorf("%+v, %v", a, err)
	}
	set.Samples[1].Identity.Commit = "other"
	b, _ := SessionOf(set, time.Time{})
	if b.Commit != "" || b.Time != "" || b.ID == a.ID {
		t.Errorf("of different commits: commit %q, time %q, id %s and %s", b.Commit, b.Time, a.ID, b.ID)
	}
}

func TestSet(t *testing.T) {
	set := &sample.Set{
		Schema: sample.Schema, Tool: "v0.1", Spec: sample.Spec{Workload: "checkout", Op: "region:<request>"}, Design: "interleaved", Recording: "00ff",
		Samples: testSession(0, 3, 2).Samples,
	}
	var b, again bytes.Buffer
	if err := WriteSet(&b, set); err != nil {
		t.Fatal(err)
	}
	got, err := ReadSet("runs.json", b.Bytes())
	if err != nil || !reflect.DeepEqual(got, set) {
		t.Errorf("read as %+v, %v", got, err)
	}
	if err := WriteSet(&again, got); err != nil || again.String() != b.String() {
		t.Errorf("%v, written again:\n%s", err, again.String())
	}
	if n := strings.Count(b.String(), "\n"); n != 13 || !strings.Contains(b.String(), "region:<request>") {
		t.Errorf("%d lines:\n%s", n, b.String())
	}
	set.Samples[0].Values["sum(wait)"] = sample.Value{X: math.Inf(1)}
	again.Reset()
	if err := WriteSet(&again, set); err == nil || again.Len() > 0 {
		t.Errorf("an infinite value: %v, %d bytes written", err, again.Len())
	}
}

func TestBadFiles(t *testing.T) {
	history := written(t, testFile(t, 2, 1, 1))
	swap := func(old, new string) string {
		if !strings.Contains(history, old) {
			t.Fatalf("no %s in %s", old, history)
		}
		return strings.Replace(history, old, new, 1)
	}
	const head = `{"schema":"schedscope.baseline/v1","tool":"","metric_defs":"2026.1","workload":"","budget_sha":"","sessions":[{"id":"a","spec":{},"env":{"metric_defs":"2026.1","go":"","min_procs":1,"max_procs":1}`
	for name, tt := range map[string]struct{ text, want string }{
		"empty":     {"", "f: the file is empty"},
		"truncated": {history[:len(history)-30], "the JSON is cut off after"},
		"trailing":  {history + "{}", "(byte"},
		"newer":     {swap("baseline/v1", "baseline/v2"), "a newer schedscope wrote it"},
		"runs":      {`{"schema":"schedscope.runs/v1"}`, "gate baseline add puts them"},
		"other":     {`{"schema":"x"}`, `its schema is "x"`},
		"none":      {`{"a":1}`, "does not name a schema"},
		"list":      {`[]`, "does not name a schema"},
		"defs":      {swap(`"metric_defs": "2026.1"`, `"metric_defs": "2027.1"`), "begin a new history"},
		"env defs":  {swap(`"metric_defs":"2026.1"`, `"metric_defs":"2027.1"`), "read its trace again"},
		"twice":     {swap("s001", "s000"), "there twice"},
		"workload":  {swap(`"workload": "checkout"`, `"workload": "x"`), "of workload"},
		"type":      {swap(`"ops":3027`, `"ops":"many"`), "ops is a text, not a number"},
		"negative":  {swap(`"ops":3027`, `"ops":-1`), "ops is -1, want 0 or more"},
		"number":    {swap(`"n":11055`, `"n":-1`), `["cand-00.trace"].values["mean(cpu/op)"].n is -1, want 0 or more`},
		"quantity":  {swap(`"p50(runnable)"`, `"p50(runable)"`), "did you mean"},
		"null":      {head + `,"traces":[null]}]}`, "traces[0] is null"},
		"no list":   {head + `}]}`, `sessions[0].traces is missing`},
		"no traces": {head + `,"traces":[]}]}`, "no traces"},
		"unknown":   {swap(`"ops":3027`, `"ops":3027,"later":1`), `sessions[0].traces["cand-00.trace"] has the unknown key "later"`},
		"two":       {swap(`"ops":3027`, `"ops":3027,"ops":3027`), "ops is there twice"},
	} {
		if f, err := Read("f", savedfiletest.Sealed([]byte(tt.text))); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %+v, %v; want %q", name, f, err, tt.want)
		}
	}
	for text, want := range map[string]string{
		"":                                "the file is empty",
		history:                           "it is a history; pass it as the baseline",
		"[1":                              "cut off after",
		`{"a":1`:                          "cut off after",
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
// with the names of file, sample and field, in a set and in a history.
func TestBadNumbers(t *testing.T) {
	s := testSession(1, 2, 1)
	s.Samples[1].Values["sum(gc)"] = sample.Value{}
	s.Samples[1].Values["share(runnable{cause=unknown})"] = sample.Value{X: 1, N: 3}
	history := New("")
	if err := history.Add(s); err != nil {
		t.Fatal(err)
	}
	var set bytes.Buffer
	if err := WriteSet(&set, &sample.Set{Schema: sample.Schema, Samples: s.Samples}); err != nil {
		t.Fatal(err)
	}
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
		damaged := func(text string) []byte {
			if !change.MatchString(text) {
				t.Fatalf("no %s in %s", tt.old, text)
			}
			return savedfiletest.Sealed(change.ReplaceAllLiteral([]byte(text), []byte(tt.new)))
		}
		_, err := ReadSet("f", damaged(set.String()))
		_, herr := Read("f", damaged(written(t, history)))
		for _, err := range []error{err, herr} {
			if err == nil || !strings.HasPrefix(err.Error(), "f: ") || !strings.Contains(err.Error(), tt.want) ||
				!strings.Contains(err.Error(), "cand-0") && !strings.Contains(err.Error(), "sessions[0].env.m") {
				t.Errorf("%s: %v, want %q", tt.new, err, tt.want)
			}
		}
	}
}

// FuzzRead checks that nothing panics, and that what is read is written, read and
// written again as the same bytes.
func FuzzRead(f *testing.F) {
	small := New("v0.1")
	s := Session{ID: "a"}
	for i := range 2 {
		id := sample.Identity{MetricDefs: rule.MetricDefs, NumCPU: i, MinProcs: 1, MaxProcs: 1}
		s.Samples = append(s.Samples, sample.Sample{Name: "x", Identity: id, To: 1, Events: int64(i + 1), Values: map[string]sample.Value{"sum(gc)": {X: 1.5}}})
	}
	if err := small.Add(s); err != nil {
		f.Fatal(err)
	}
	var history, set bytes.Buffer
	if err := Write(&history, small); err != nil {
		f.Fatal(err)
	}
	if err := WriteSet(&set, &sample.Set{Schema: sample.Schema, Samples: s.Samples}); err != nil {
		f.Fatal(err)
	}
	f.Add(history.Bytes())
	f.Add(set.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		if file, err := Read("f", data); err == nil {
			one, err := rewrite(t, file)
			if err != nil {
				t.Fatal(err)
			}
			if two, _ := rewrite(t, one); !reflect.DeepEqual(one, two) {
				t.Errorf("%+v\n%+v", one, two)
			}
			file.Drifts()
			if _, err := file.Prune(1); err == nil && len(written(t, file)) > MaxSize {
				t.Error("longer than it may be")
			}
		}
		if got, err := ReadSet("f", data); err == nil {
			if err := WriteSet(new(bytes.Buffer), got); err != nil {
				t.Error(err)
			}
		}
	})
}

func rewrite(t *testing.T, f *File) (*File, error) { return Read("f", []byte(written(t, f))) }

// TestAddRefusesKnownTraces checks that no trace counts twice, under another name, in
// another session, or where an older one was trimmed.
func TestAddRefusesKnownTraces(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Session)
		want   string
	}{
		{"subset of an old session", func(s *Session) { s.Samples = testSession(0, 6, 2).Samples[2:3] }, `"cand-02.trace" is in session s000 already`},
		{"renamed, of the newest", func(s *Session) { s.Samples[3] = testSession(1, 6, 2).Samples[0]; s.Samples[3].Name = "x" }, `"x" is in session s001 already, as "cand-00.trace"`},
		{"other quantities", func(s *Session) {
			s.Samples = testSession(0, 6, 2).Samples
			for i := range s.Samples {
				s.Samples[i].Values = map[string]sample.Value{"p10(runnable)": {X: 1}}
			}
		}, "is in session s000 already"},
		{"twice in itself", func(s *Session) { s.Samples[4] = s.Samples[1]; s.Samples[4].Name = "y" }, `"y" is the same trace as "cand-01.trace"`},
		{"all new", func(*Session) {}, ""},
		{"other noise", func(s *Session) {
			s.Samples = testSession(0, 6, 2).Samples
			s.Samples[0].Noise = nil
			s.Samples = s.Samples[:1]
		}, ""},
	} {
		f := testFile(t, 2, 6, 2)
		s := testSession(2, 6, 2)
		tt.change(&s)
		err := f.Add(s)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
		}
		if err != nil && len(f.Sessions) != 2 {
			t.Errorf("%s: the history has changed", tt.name)
		}
	}
}
