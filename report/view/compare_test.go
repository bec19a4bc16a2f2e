package view_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/schedscope/schedscope/analyze/compare"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/savedfile"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/report/document"
	"github.com/schedscope/schedscope/report/view"
)

// comparedTrace is a made up trace of half a second, whose waiting is a factor of 50 ms.
func comparedTrace(name, worker string, factor float64) *compare.Trace {
	const ms = model.Duration(1e6)
	wait := model.Duration(factor * float64(50*ms))
	set := sample.RequestSet{Count: 1500, Total: 300*ms + wait, P50: ms / 5, P99: model.Duration(factor * float64(2*ms)), Slowest: 15, Middle: 300,
		Tail: []sample.Class{{Func: "main.get", Detail: "lock in main.get", At: &sample.Frame{Func: "main.get", File: "/src/store.go", Line: 12}, Total: wait / 2, Count: 9},
			{Detail: "running", Total: 6 * ms, Count: 15}},
		Usual: []sample.Class{{Detail: "running", Total: 60 * ms, Count: 300}}}
	x := &sample.Sample{
		Name: name, Whole: true, From: 50 * ms, To: 550 * ms, Ops: 1500, Events: 21_000, Running: 480 * ms, CPU: 470 * ms, Capacity: 1000 * ms,
		Identity: sample.Identity{Go: "go1.26.8", OS: "linux", Arch: "amd64", MinProcs: 2, MaxProcs: 2},
		Values:   map[string]sample.Value{},
		Waits: []sample.Class{
			{Func: worker, At: &sample.Frame{Func: worker, File: "/src/server.go", Line: 88}, By: &sample.Frame{Func: "main.(*queue).push", File: "/src/queue.go", Line: 41}, Total: wait * 4 / 5, Count: 900},
			{Func: "main.main", Total: wait / 5, Count: 10},
		},
		Causes: []sample.Named{{Name: "behind a goroutine", Total: wait * 2 / 3}, {Name: "waking an idle proc", Total: 5 * ms}},
		Requests: &sample.Requests{Kind: "http", RequestSet: set, Path: []sample.Named{{Name: "running", Total: 300 * ms}, {Name: "others", Total: wait}},
			Groups: []sample.RequestGroup{{Name: "main.handleOrder", RequestSet: set}}},
		Blame: []sample.Class{{Func: "main.resize", Detail: "behind a goroutine", At: &sample.Frame{Func: "main.resize", File: "/src/img.go", Line: 120}, Total: wait * 2 / 3, Count: 300}},
	}
	for q, v := range map[string]float64{
		"p50(runnable)": 1300, "p90(runnable)": factor * 2e5, "p99(runnable)": factor * 1.1e6, "p99.9(runnable)": factor * 3e6, "max(runnable)": 4e6,
		"mean(op)": 3e5 + factor*1e4, "mean(ops/s)": 3000, "mean(wait/op)": float64(wait) / 1500, "mean(wait/s)": float64(wait) * 2,
		"mean(wakes/op)": 3.1, "mean(preemptions/op)": factor - 1,
	} {
		x.Values[q] = sample.Value{X: v, N: 10_000}
	}
	x.Values["p99.9(runnable)"] = sample.Value{X: factor * 3e6, N: 3000}
	return &compare.Trace{Name: name, Sample: x,
		Reasons: []sample.Class{{Detail: "chan receive", Total: 800 * ms, Count: 1500}, {Detail: "sync", Total: wait / 2, Count: 90}},
		Ops:     []compare.OpName{{Op: "region:request", Count: 1500}},
	}
}

func comparedSide(name, worker string, factors ...float64) compare.Side {
	s := compare.Side{Name: name}
	for i, f := range factors {
		t := comparedTrace(fmt.Sprintf("%s/%02d.trace", name, i+1), worker, f)
		t.Sample.Running += model.Duration(int(name[0])*100 + i) // no two traces are alike
		s.Traces = append(s.Traces, t)
	}
	return s
}

// comparisons are those of the goldens.
func comparisons() map[string]*compare.Result {
	const worker = "example.com/shop/main.(*pool).worker"
	several := compare.Of(comparedSide("old", worker, 1, 1.02, 0.99, 1.01, 0.97, 1.03), comparedSide("new", worker, 1.6, 1.58, 1.63, 1.7, 1.55, 1.61), "region:request")
	few := compare.Of(comparedSide("old", worker, 1, 1.02), comparedSide("new", worker, 1.6, 1.58, 1.63), "")
	added := comparedSide("new", worker, 1.6)
	requests := added.Traces[0].Sample.Requests
	requests.Groups = append(requests.Groups, sample.RequestGroup{Name: "main.handleNew", RequestSet: sample.RequestSet{Count: 12, Total: 30e6, P50: 2e6, P99: 4e6}})
	single := compare.Of(comparedSide("old", worker, 1), added, "")
	warned := comparedSide("new", worker, 1.1, 0.9)
	for _, t := range warned.Traces {
		t.Sample.Identity.Go, t.Sample.Identity.MaxProcs = "go1.27", 4
		t.Sample.Whole, t.Sample.Loss = false, "cut off"
	}
	withSkipped := compare.Of(comparedSide("old", worker, 1, 0.7), warned, "")
	withSkipped.Skipped = []result.Skipped{{Name: "new/03.trace", Cause: "reading new/03.trace: no trace"}}
	return map[string]*compare.Result{"several": several, "few": few, "single": single, "warned": withSkipped}
}

func TestCompareGolden(t *testing.T) {
	for name, c := range comparisons() {
		text, js, md := renderCompared(t, c, document.TextOptions{Unicode: true, Top: view.CompareTop})
		golden(t, "compare-"+name+".txt", text)
		if name == "several" {
			golden(t, "compare.json", js)
			golden(t, "compare.md", md)
		}
	}
}

func renderCompared(t *testing.T, c *compare.Result, o document.TextOptions) (text, js, md string) {
	t.Helper()
	var a, b, e bytes.Buffer
	for _, err := range []error{view.CompareText(&a, c, o), savedfile.WriteJSON(&b, c, true), view.CompareMarkdown(&e, c)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return a.String(), b.String(), e.String()
}

// TestCompareNoVerdict checks what a text must not say: a verdict where there is no error rate.
func TestCompareNoVerdict(t *testing.T) {
	text, js, md := renderCompared(t, comparisons()["single"], document.TextOptions{Unicode: true})
	for _, s := range []string{text, js, md} {
		if !strings.Contains(s, "one trace a side: not tested") {
			t.Errorf("one trace per side, and it does not say so: %s", s)
		}
		for _, word := range []string{"p=", "rose", "fell", "interval", `"p":`, `"differs": true`} {
			if strings.Contains(s, word) && !(word == "interval" && s == md) {
				t.Errorf("one trace per side, and it says %q: %s", word, s)
			}
		}
	}
}

// TestCompareJSON checks that times are whole nanoseconds, and that each row has a change.
func TestCompareJSON(t *testing.T) {
	for name, c := range comparisons() {
		_, js, _ := renderCompared(t, c, document.TextOptions{})
		var v struct {
			Schema string
			Rows   []compare.Row
		}
		if err := json.Unmarshal([]byte(js), &v); err != nil {
			t.Fatal(err)
		}
		if v.Schema != "schedscope.compare/v1" || len(v.Rows) == 0 {
			t.Errorf("%s: %s with %d rows", name, v.Schema, len(v.Rows))
		}
		for _, row := range v.Rows {
			for _, x := range append(row.Base.X, row.Cand.X...) {
				if row.Unit == rule.Nanoseconds && x != math.Trunc(x) {
					t.Errorf("%s: %s has %v ns, which is not whole", name, row.Quantity, x)
				}
			}
			if row.Ratio == nil && row.Difference == nil && row.Base.N > 0 && row.Cand.N > 0 {
				t.Errorf("%s: %s has no change", name, row.Quantity)
			}
		}
	}
}

// TestCompareCauses checks that causes, those of waits that the window cuts among them, add
// up to the mean wait.
func TestCompareCauses(t *testing.T) {
	c := comparisons()["several"]
	row := c.Row("mean(wait/op)")
	var base, cand float64
	for _, p := range c.Causes.Parts {
		base, cand = base+p.Base, cand+p.Cand
	}
	if last := c.Causes.Parts[len(c.Causes.Parts)-1]; last.Detail != compare.CutWaits {
		t.Errorf("the last cause is %q", last.Detail)
	}
	for _, x := range []struct {
		sum  float64
		wait []float64
	}{{base, row.Base.X}, {cand, row.Cand.X}} {
		mean := 0.0
		for _, v := range x.wait {
			mean += v / float64(len(x.wait))
		}
		if math.Abs(x.sum-mean) > 1 || mean == 0 {
			t.Errorf("causes add up to %v, waits to %v", x.sum, mean)
		}
	}
}

// TestCompareLayout checks that texts fit, and that names cannot disturb anything.
func TestCompareLayout(t *testing.T) {
	evil := "main.\x1b[31m|<script>`*_\u202e\n" + strings.Repeat("x", 300)
	hostile := compare.Of(comparedSide(textui.Clean("o\x1b"), evil, 1, 1, 1, 1), comparedSide("n", evil, 2, 2, 2, 2), "task:\x1b")
	hostile.Skipped = []result.Skipped{{Name: "x", Cause: "\x1b"}}
	all := comparisons()
	all["hostile"] = hostile
	for name, c := range all {
		for _, width := range []int{0, 80, 120} {
			text, _, md := renderCompared(t, c, document.TextOptions{Unicode: true, Width: width})
			if strings.ContainsAny(text+md, "\x1b\u202e") || strings.Contains(md, "<script") {
				t.Errorf("%s: escapes come through", name)
			}
			for line := range strings.Lines(text) {
				if n := utf8.RuneCountInString(line) - 1; n > cmp.Or(width, 120) && name != "hostile" {
					t.Errorf("%s: %d columns: %s", name, n, line)
				}
				if strings.HasSuffix(line, " \n") {
					t.Errorf("%s: blank at the end of %q", name, line)
				}
			}
		}
		ascii, _, _ := renderCompared(t, c, document.TextOptions{})
		if strings.ContainsFunc(ascii, func(r rune) bool { return r > 0x7f }) {
			t.Errorf("%s: not ASCII: %q", name, ascii)
		}
		if name == "several" && (!strings.Contains(ascii, " +-3%") || !strings.Contains(ascii, "; +- is how far") || strings.Contains(ascii, "~4%")) {
			t.Errorf("~ is the mark of no difference: %s", ascii)
		}
	}
	md := &bytes.Buffer{}
	view.CompareMarkdown(md, hostile)
	rows := 0
	for line := range strings.Lines(md.String()) {
		if strings.HasPrefix(line, "| &nbsp; <code>p") {
			rows++
			if n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"); n != 9 {
				t.Errorf("%d cells: %s", n-1, line)
			}
		}
	}
	if rows == 0 {
		t.Error("no row")
	}
}

// TestCompareLongNames checks that long names of sides do not make tables much wider.
func TestCompareLongNames(t *testing.T) {
	long := strings.Repeat("directory/", 12)
	c := compare.Of(comparedSide(long+"a", "main.worker", 1, 1, 1, 1), comparedSide(long+"b", "main.worker", 2, 2, 2, 2), "")
	text, _, _ := renderCompared(t, c, document.TextOptions{Unicode: true})
	_, tables, _ := strings.Cut(text, "\n\n")
	for line := range strings.Lines(tables) {
		if utf8.RuneCountInString(line) > 161 {
			t.Errorf("long names: %s", line)
		}
	}
}

// TestCompareScope checks that where traces are too few for a test it is said below the headline.
func TestCompareScope(t *testing.T) {
	for name, want := range map[string]string{"few": "2 and 3 traces: too few for a test, which takes 4", "single": "one trace a side: not tested"} {
		text, _, _ := renderCompared(t, comparisons()[name], document.TextOptions{Unicode: true})
		if head, _, _ := strings.Cut(text, "\n\n"); !strings.Contains(head, "\n"+want) || strings.Count(text, want) != 1 {
			t.Error(text)
		}
	}
}
