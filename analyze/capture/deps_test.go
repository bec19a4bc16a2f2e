package capture

import (
	"go/build"
	"strings"
	"testing"
)

const module = "github.com/schedscope/schedscope/"

// TestDependencies checks that programs which link this package link nothing of others.
func TestDependencies(t *testing.T) {
	seen := map[string]bool{}
	var visit func(dir, path string)
	visit = func(dir, path string) {
		if seen[path] {
			return
		}
		seen[path] = true
		p, err := build.ImportDir(dir, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, imp := range p.Imports {
			rest, ours := strings.CutPrefix(imp, module)
			switch first, _, _ := strings.Cut(imp, "/"); {
			case ours:
				visit("../../"+rest, imp)
			case strings.Contains(first, "."):
				t.Errorf("%s imports %s, want the standard library only", path, imp)
			}
		}
	}
	visit(".", "capture")
	if len(seen) > 4 { // this, env, atomicfile, savedfile
		t.Errorf("it needs %v", seen)
	}
}
