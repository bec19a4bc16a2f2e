package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// packageName is a package in the first column of the layout table.
var packageName = regexp.MustCompile("`([a-z./]+)`")

// TestLayout checks that the layout table of CONTRIBUTING.md has a row for each package,
// and one only. Helpers in internal and programs in fixtures may share one.
func TestLayout(t *testing.T) {
	root := filepath.Join("..", "..")
	data, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]int{}
	for line := range strings.Lines(string(data)) {
		first, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		for _, m := range packageName.FindAllStringSubmatch(first, -1) {
			rows[m[1]]++
		}
	}
	for dir := range arrows {
		if rows[dir] == 0 && !strings.HasPrefix(dir, "fixtures/") {
			t.Errorf("CONTRIBUTING.md has no row for %s", dir)
		}
	}
	for dir, n := range rows {
		if info, err := os.Stat(filepath.Join(root, strings.TrimSuffix(dir, "/..."))); err != nil || !info.IsDir() {
			t.Errorf("CONTRIBUTING.md has a row for %s, which is not there", dir)
		}
		if n > 1 {
			t.Errorf("CONTRIBUTING.md has %d rows for %s", n, dir)
		}
	}
}
