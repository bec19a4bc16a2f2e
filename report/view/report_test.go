package view_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/resulttest"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/report/document"
	"github.com/schedscope/schedscope/report/view"
)

var update = flag.Bool("update", false, "write the goldens anew")

// render returns the report as text and as JSON.
func render(t *testing.T, d *result.Report, o document.TextOptions) (text, js string) {
	t.Helper()
	var a, b bytes.Buffer
	if err := view.Text(&a, d, o, true); err != nil {
		t.Fatal(err)
	}
	if err := result.Write(&b, d); err != nil {
		t.Fatal(err)
	}
	return a.String(), b.String()
}

// TestGolden compares whole reports of traces that never change with files; run
// with -update to write them.
func TestGolden(t *testing.T) {
	for _, name := range []string{"go122-annotations", "go122-gc-stress", "go122-syscall-steal-proc-simple", "go123-sync"} {
		text, js := render(t, resulttest.Read(t, "handmade/"+name+".trace"), document.TextOptions{Unicode: true, Top: 5})
		golden(t, name+".txt", text)
		golden(t, name+".json", recordedIn.ReplaceAllString(js, "$$GOROOT/src/"))
	}
}

// recordedIn is where those who recorded the traces had Go.
var recordedIn = regexp.MustCompile(`/[^"]*/go-1/src/`)

// TestSaved checks that a saved report shows the same as a new one, in every format.
func TestSaved(t *testing.T) {
	for _, names := range [][]string{{"http.trace"}, {"tasks.go1.26.p4.trace", "mixed.go1.22.p2.trace"}, {"foreign/trace.go1.19.trace"}} {
		d := resulttest.Read(t, names...)
		for format, write := range map[string]func(io.Writer, *result.Report) error{
			"text": func(w io.Writer, r *result.Report) error {
				return view.Text(w, r, document.TextOptions{Unicode: true}, true)
			},
			"Markdown": view.Markdown,
		} {
			var a, b bytes.Buffer
			if err := errors.Join(write(&a, d), write(&b, resulttest.Saved(t, d))); err != nil {
				t.Fatal(err)
			}
			if a.String() != b.String() {
				t.Errorf("%q: the %s of the saved report differs", names, format)
			}
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Errorf("%s differs first in line %d:\ngot  %s\nwant %s", name, i+1, g[i], w[i])
			return
		}
	}
	t.Errorf("%s has %d lines, want %d", name, len(g), len(w))
}

func TestJSONRoundTrip(t *testing.T) {
	_, first := render(t, resulttest.Read(t, "http.trace", "tasks.go1.26.p4.trace"), document.TextOptions{})
	var v result.Report
	dec := json.NewDecoder(strings.NewReader(first))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	var second bytes.Buffer
	if err := result.Write(&second, &v); err != nil {
		t.Fatal(err)
	}
	if second.String() != first {
		t.Error("decoding and encoding the report changes it")
	}
	if strings.Contains(first, ": null") {
		t.Error("the report has a null where a list belongs")
	}
	if v.Latency.All.Count == 0 || v.Schema != result.Schema {
		t.Errorf("decoded %d waits, schema %q", v.Latency.All.Count, v.Schema)
	}
	var sum int64
	for _, b := range v.Latency.Histogram {
		sum += b.Count
	}
	if sum != v.Latency.All.Count {
		t.Errorf("the histogram counts %d waits, want %d", sum, v.Latency.All.Count)
	}
}

// TestRealTraces holds the text to its promise on all kinds of traces, that it is short, and
// the causes of waiting to the latency.
func TestRealTraces(t *testing.T) {
	const most = 30
	for _, name := range fixtures.Real() {
		v := resulttest.Read(t, name)
		causesAddUp(t, name, v)
		var b bytes.Buffer
		if err := view.Text(&b, v, document.TextOptions{Unicode: true, Top: view.DefaultTop}, false); err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(b.Bytes(), []byte("\n")); n > most {
			t.Errorf("%s: the first screen has %d lines, want at most %d:\n%s", name, n, most, b.String())
		}
	}
}

// TestWidth checks that nothing is wider than the terminal. What cannot be
// shortened, numbers, needs 100 columns.
func TestWidth(t *testing.T) {
	text, _ := render(t, resulttest.Read(t, "http.trace"), document.TextOptions{Unicode: true, Width: 100, Top: view.DefaultTop})
	for line := range strings.Lines(text) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 100 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// hostile are names that nobody should have, but a trace may.
var hostile = []string{
	"evil\x1b[2J\x1b]0;title\x07", "two\nlines", "\u202egnp.exe", "<script>alert(1)</script>", "a\u200bb\xff",
	"=cmd|' /C calc'!A0", `quote",comma`, strings.Repeat("long/", 2000) + "f",
}

// hostileDocument has hostile names everywhere that names come from the trace.
func hostileDocument() *result.Report {
	tables := model.NewTables()
	r := analyze.New(tables, analyze.Options{})
	at := model.Time(1000)
	for i, name := range hostile {
		id := tables.AddString(name)
		g := &model.Goroutine{ID: model.GoID(i + 1), Func: id,
			Block: []model.ReasonTime{{Reason: id, Count: 1, Total: 50}}}
		stack := tables.AddStack([]model.Frame{{PC: uint64(i + 1), Func: name, File: name, Line: 1}})
		for _, s := range []model.GoState{model.GoRunnable, model.GoRunning, model.GoWaiting} {
			span := &model.GoSpan{G: g.ID, Func: id, State: s, Reason: id, Start: at, End: at + 5000, P: 0, M: 1, Stack: stack,
				Origin: model.OriginGoroutine, Waker: g.ID, WakerStack: stack}
			r.Latency.GoSpan(span)
			r.Worst.GoSpan(span)
			r.Bursts.GoSpan(span)
			r.Waits.GoSpan(span)
		}
		r.STWs.STW(&model.STW{Reason: name, Start: at, Stopped: at, Effective: at + 1, End: at + 2})
		r.Tasks.Task(&model.Task{ID: model.TaskID(i + 1), Name: id, Start: at, End: at + 7})
		r.Regions.Region(&model.Region{Name: id, G: g.ID, Func: id, Start: at, End: at + 7})
		r.Syscalls.SyscallExit(&model.SyscallExit{G: g.ID, Func: id, Stack: stack, Start: at, End: at + 9})
		r.Goroutines.GoEnd(g)
		r.Latency.GoEnd(g)
		at += 5000
	}
	r.Finish(0, at)
	d := r.Result()
	d.Traces = []result.Trace{{Name: "t", Format: "go 1.26", Loss: &result.Loss{Bytes: 1, Size: 2, Cause: hostile[0]},
		Inconsistent: 1, FirstInconsistency: hostile[1]}}
	d.Skipped = []result.Skipped{{Name: hostile[2], Cause: hostile[0]}}
	findings.Judge(d)
	d.Findings = append(d.Findings, result.Finding{Text: hostile[0] + hostile[1], Evidence: []result.Evidence{}})
	return d
}

func TestHostileNames(t *testing.T) {
	d := hostileDocument()
	text, js := render(t, d, document.TextOptions{Unicode: true})
	for i, r := range text {
		if r != '\n' && !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			t.Fatalf("the text has %q in %q", r, text[max(0, i-40):i])
		}
	}
	for line := range strings.Lines(text) {
		if len(line) > 1000 {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
	if !json.Valid([]byte(js)) || strings.Contains(js, "<script") || strings.Contains(js, "\x1b") {
		t.Error("the JSON holds what it should escape")
	}
}

// filled returns a report in which every field has a value.
func filled() *result.Report {
	v := new(result.Report)
	fill(reflect.ValueOf(v).Elem())
	v.Schema = result.Schema
	v.Traces = append(v.Traces, v.Traces[0]) // places in the list are 1
	return v
}

func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint64:
		v.SetUint(1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i))
			}
		}
	}
}
