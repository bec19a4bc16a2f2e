package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/trace"
	"strings"
	"testing"
	"time"
)

// evil are names that a page must show as text.
var evil = []string{
	`<script>window.evil = 1</script>`,
	`"><img src=x onerror="window.evil = 2">`,
	`</script><script>window.evil = 3</script>`,
	`' onmouseover='window.evil = 4`,
	`javascript:window.evil=5`,
	`{{.Title}} ${window.evil = 6} <!-- ]]>`,
	`</textarea></style></title><svg onload="window.evil = 7">`,
}

// TestNamesOfTrace records a trace whose tasks, regions and log messages have such names.
func TestNamesOfTrace(t *testing.T) {
	needBrowser(t)
	path := filepath.Join(t.TempDir(), "evil <b>.trace")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := trace.Start(f); err != nil {
		t.Skip(err)
	}
	for _, name := range evil {
		ctx, task := trace.NewTask(context.Background(), name)
		trace.WithRegion(ctx, name, func() {
			done := make(chan bool)
			go func() { time.Sleep(time.Millisecond); close(done) }()
			<-done
			trace.Log(ctx, name, name)
		})
		task.End()
	}
	trace.Stop()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	checkNames(t, report(t, path), evil)
}

// TestNamesOfReport makes a page of a saved report in which every name is such a one.
func TestNamesOfReport(t *testing.T) {
	needBrowser(t)
	for _, fixtureName := range []string{"http.trace", "convoy.go1.26.p4.trace", "tasks.go1.26.p4.trace"} {
		n := 0
		v := poisoned(numbers(t, fixture(t, fixtureName)), &n).(map[string]any)
		v["schema"] = "schedscope.report/v2"
		delete(v, "sum") // it is not what was written
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "saved.json")
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		if n < 200 {
			t.Errorf("%s: only %d names", fixtureName, n)
		}
		checkNames(t, report(t, path), evil[:4])
	}
}

// poisoned returns JSON with every text replaced by an evil one.
func poisoned(v any, n *int) any {
	switch v := v.(type) {
	case string:
		*n++
		return evil[*n%len(evil)]
	case []any:
		for i := range v {
			v[i] = poisoned(v[i], n)
		}
	case map[string]any:
		for _, key := range keys(v) {
			if key != "hdr" && key != "grade" && key != "severity" { // no names, and checked
				v[key] = poisoned(v[key], n)
			}
		}
	}
	return v
}

func checkNames(t *testing.T, path string, names []string) {
	t.Helper()
	html, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<script>window.evil", "<img src=x", "<svg onload"} {
		if strings.Contains(string(html), bad) {
			t.Errorf("the page holds %s", bad)
		}
	}
	x := open(t, fileURL(path), look{}, nil)
	if v := eval[any](x, "window.evil ?? null"); v != nil {
		t.Errorf("a name ran as a script: %v", v)
	}
	if n := eval[int](x, `document.querySelectorAll("img, iframe, object, svg[onload], [onerror], [onmouseover]").length`); n != 0 {
		t.Errorf("names became %d elements", n)
	}
	text := eval[string](x, `document.querySelector("main").textContent`)
	for _, name := range names {
		if !strings.Contains(text, name) && !eval[bool](x, fmt.Sprintf(`Array.from(document.querySelectorAll("[title]")).some(e => e.title.includes(%q))`, name)) {
			t.Errorf("%s is nowhere to be seen", name)
		}
	}
}
