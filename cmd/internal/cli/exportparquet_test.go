package cli

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/schedscope/schedscope/fixtures"
)

// exportFiles exports traces and returns the files by their names in the folder.
func exportFiles(t *testing.T, args ...string) map[string][]byte {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tables")
	if code, _, stderr := execute(t, t.Context(), nil, append([]string{"export", "--format", "parquet", "-o", dir}, args...)...); code != exitOK {
		t.Fatalf("export %q: exit code %d\n%s", args, code, stderr)
	}
	out := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		out[name], err = os.ReadFile(filepath.Join(dir, name))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestParquetDeterminism checks that neither the number of workers nor other traces
// change a byte, and that the export of all traces has what the exports of each have.
func TestParquetDeterminism(t *testing.T) {
	paths := []string{fixtures.Path("quiet.go1.26.p4.trace"), fixtures.Path("syscalls.go1.22.p4.trace"), fixtures.Path("mutex.go1.26.p4.trace")}
	want := map[string][]byte{}
	for _, path := range paths {
		maps.Copy(want, exportFiles(t, "-j", "1", path))
	}
	for _, jobs := range []string{"1", "5"} {
		if got := exportFiles(t, append([]string{"-j", jobs}, paths...)...); !maps.EqualFunc(got, want, bytes.Equal) {
			t.Errorf("-j %s: other files or bytes: %q, want %q", jobs, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
		}
	}
	// A window tells of run queues what is known of the whole: both kinds of tables.
	window := exportFiles(t, "--from", "20ms", "--to", "60ms", paths[2])
	if len(window) != len(want)/3 {
		t.Errorf("window: %d files, want %d", len(window), len(want)/3)
	}
}

// TestParquetSkipped checks that traces that are left out, or lack tables, do not disturb
// those that are written at the same time.
func TestParquetSkipped(t *testing.T) {
	good := fixtures.Path("syscalls.go1.26.p4.trace")
	want := exportFiles(t, good)
	dir := t.TempDir()
	data, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for i := range 6 {
		bad := filepath.Join(dir, "bad"+strconv.Itoa(i)+".trace")
		if err := os.WriteFile(bad, append(slices.Clone(data[:100]), byte(i)), 0o666); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, bad)
	}
	paths = append(paths, good)
	for i := range 3 {
		if got := exportFiles(t, append([]string{"-j", "8"}, paths...)...); !maps.EqualFunc(got, want, bytes.Equal) {
			t.Fatalf("export %d: other files or bytes: %q, want %q", i, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
		}
	}
}
