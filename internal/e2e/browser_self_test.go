package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBrowser tests the tests: what goes wrong in a page is told.
func TestBrowser(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.html")
	page := `<!doctype html><title>x</title><img src="http://127.0.0.1:9/x.png"><script>
		console.error("said"); setTimeout(() => { window.ready = true; throw new Error("thrown") }, 10)</script>`
	if err := os.WriteFile(path, []byte(page), 0o666); err != nil {
		t.Fatal(err)
	}
	x := open(t, fileURL(path), look{width: 400, height: 300}, func(string) bool { return true })
	if w := eval[int](x, "innerWidth"); w != 400 {
		t.Errorf("%d columns, want 400", w)
	}
	x.waitFor("performance.now() > 300")
	x.mu.Lock()
	defer x.mu.Unlock()
	told := strings.Join(append(x.problems, x.requests...), "\n")
	for _, want := range []string{"said", "thrown", "127.0.0.1:9/x.png"} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is not told: %s", want, told)
		}
	}
	x.problems = nil
}
