package e2e

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// root is the main module.
const root = "../.."

// built is the program, built once.
var built struct {
	once sync.Once
	dir  string
	out  []byte
	err  error
}

// program returns the path of schedscope, which it builds, unless SCHEDSCOPE_E2E_PROGRAM
// names one.
func program(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("SCHEDSCOPE_E2E_PROGRAM"); path != "" {
		return path
	}
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "schedscope-e2e"); built.err != nil {
			return
		}
		cmd := exec.Command("go", "build", "-o", filepath.Join(built.dir, "schedscope"), "./cmd/schedscope")
		cmd.Dir = root
		built.out, built.err = cmd.CombinedOutput()
	})
	if built.err != nil {
		t.Fatalf("building schedscope: %v\n%s", built.err, built.out)
	}
	return filepath.Join(built.dir, "schedscope")
}

// fixture returns the path of a trace of fixtures.
func fixture(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(root, "fixtures", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// schedscope runs the program and returns what it wrote to stdout.
func schedscope(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(program(t), args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("schedscope %q: %v\n%s", args, err, stderr.Bytes())
	}
	return stdout.Bytes()
}

// report writes the page of some inputs and returns its path.
func report(t *testing.T, inputs ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	schedscope(t, append([]string{"analyze", "-q", "-o", path}, inputs...)...)
	return path
}

// numbers returns the JSON report of some inputs.
func numbers(t *testing.T, inputs ...string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(schedscope(t, append([]string{"analyze", "-q", "--json"}, inputs...)...), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// keys returns the keys of an object, sorted.
func keys(v map[string]any) []string { return slices.Sorted(maps.Keys(v)) }
