package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSeveral opens a page of several traces and one of a saved report.
func TestSeveral(t *testing.T) {
	needBrowser(t)
	inputs := []string{fixture(t, "mixed.go1.26.p2.trace"), fixture(t, "mixed.go1.25.p2.trace"), fixture(t, "http.trace"), fixture(t, "echo.go1.26.p4.trace")}
	for _, w := range widths {
		x := open(t, fileURL(report(t, inputs...)), look{width: w, height: 900}, nil)
		x.unfold()
		if n := eval[int](x, `document.querySelectorAll("#t-traces tbody tr").length`); n != len(inputs) {
			t.Errorf("%d traces, want %d", n, len(inputs))
		}
		if eval[bool](x, `document.getElementById("timeline-view") !== null`) {
			t.Error("several traces have a timeline")
		}
		for _, el := range eval[[]string](x, overflow) {
			t.Errorf("at %d: sticks out: %s", w, el)
		}
		for _, problem := range eval[[]string](x, outline) {
			t.Error(problem)
		}
		x.picture("several-"+map[int64]string{400: "small", 800: "middle", 1400: "wide"}[w], true)
	}
}

// TestSaved compares a page of a saved report with that of its trace: all numbers are the
// same.
func TestSaved(t *testing.T) {
	needBrowser(t)
	path := fixture(t, "http.trace")
	saved := filepath.Join(t.TempDir(), "saved.json")
	if err := os.WriteFile(saved, schedscope(t, "analyze", "-q", "--json", path), 0o666); err != nil {
		t.Fatal(err)
	}
	const text = `Array.from(document.querySelectorAll("main table"), e => e.textContent).join("\n").replace(/\s+/g, " ")`
	a := open(t, fileURL(report(t, saved)), look{}, nil)
	b := open(t, fileURL(report(t, path, "--worst", "10", "--timeline=false")), look{}, nil)
	if x, y := eval[string](a, text), eval[string](b, text); x != y || len(x) < 5000 {
		i := 0
		for i < min(len(x), len(y)) && x[i] == y[i] {
			i++
		}
		t.Errorf("from %d on: %.80q, want %.80q", i, x[i:], y[i:])
	}
	if eval[bool](a, `document.querySelector('main a[href*="t="]') !== null`) {
		t.Error("links lead to a timeline that is not there")
	}
}
