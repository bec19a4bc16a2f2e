package main

import (
	"bytes"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/trace"
	"slices"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/fileio"

	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/fixtures"
)

// rowFiles returns the Parquet files below a folder by their paths in it.
func rowFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".parquet") {
			out[path] = string(read(t, dir, path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, partsFolder)); err == nil {
		t.Error("parts are left")
	}
	return out
}

// setTables sets --tables and what fills a file.
func setTables(t *testing.T, names string, bytes int64) {
	before, size := *tables, fileBytes
	*tables, fileBytes = names, bytes
	t.Cleanup(func() { *tables, fileBytes = before, size })
}

// sound returns a folder of traces, plain and packed. Of damaged ones, which are read twice, an export has
// more rows than a report is of.
func sound(t *testing.T) string {
	dir := folderOf(t, "http.trace", "mixed.go1.22.p2.trace", "mixed.go1.26.p2.trace", "gc.go1.26.p4.trace", "foreign/trace.go1.19.trace")
	if err := os.WriteFile(filepath.Join(dir, "packed.gz"), pack(t, read(t, fixtures.Path("rpc.go1.26.p4.trace"))), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestSameAsExport checks that files of one trace each are those of schedscope export, byte for byte, in
// the order of names.
func TestSameAsExport(t *testing.T) {
	setTables(t, "all", 1)
	dir := sound(t)
	got := rowFiles(t, results(t, dir+"/*", "all"))
	schedscope := command(t)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	same := map[string]int{} // files without rows may be the same
	for _, data := range got {
		same[data]++
	}
	last := map[string]string{} // path by table and day
	for _, e := range entries {
		cmd := exec.Command(schedscope, "export", "--format", "parquet", "-o", t.TempDir()+"/tables", e.Name())
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		exported := rowFiles(t, cmd.Args[5])
		if len(exported) < 8 {
			t.Errorf("%s: %d files", e.Name(), len(exported))
		}
		for path, want := range exported {
			table := filepath.Dir(path)
			found := ""
			for at := range got {
				if strings.HasPrefix(at, table+"/") && got[at] == want {
					found = at
				}
			}
			if found == "" {
				t.Errorf("%s of %s is not there", table, e.Name())
				continue
			}
			if same[want] == 1 {
				if found < last[filepath.Dir(found)] {
					t.Errorf("%s of %s is %s", table, e.Name(), found)
				}
				last[filepath.Dir(found)] = found
			}
			delete(got, found)
		}
	}
	if len(got) > 0 {
		t.Errorf("%q are of no trace", slices.Sorted(maps.Keys(got)))
	}
}

// TestTables checks that neither the number of processors nor retries nor the order of traces change a
// byte of the files of rows, and that files end where they are full.
func TestTables(t *testing.T) {
	setTables(t, "all", 100_000)
	dir := folderOf(t, names(t)...)
	var want map[string]string
	for _, n := range []int{1, 4} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
		if got := rowFiles(t, results(t, dir+"/*", "all")); want == nil {
			want = got
		} else if !maps.Equal(got, want) {
			t.Errorf("%d processors: other files", n)
		}
	}
	several := 0
	for path, data := range want {
		if strings.HasSuffix(path, "/00001.parquet") {
			several++
			if first := want[strings.Replace(path, "00001", "00000", 1)]; len(first) < 100_000 {
				t.Errorf("%s is not full: %d bytes", path, len(first))
			}
		}
		if !strings.HasPrefix(data, "PAR1") {
			t.Errorf("%s begins with %q", path, data[:4])
		}
	}
	if several < 3 {
		t.Errorf("%d tables of several files", several)
	}
	if got := rowFiles(t, failing(t, dir)); !maps.Equal(got, want) {
		t.Error("after failures there are other files")
	}
}

// failing does what runners do when workers fail, and returns the folder of results.
func failing(t *testing.T, dir string) string {
	paths, err := filepath.Glob(dir + "/*")
	if err != nil {
		t.Fatal(err)
	}
	out, rnd, failed := t.TempDir(), rand.New(rand.NewPCG(1, 1)), 0
	all, err := parseTables("all")
	if err != nil {
		t.Fatal(err)
	}
	f := &analyzeFn{Fixed: dir + "/", Key: "all", MaxBytes: 1 << 30, Output: out, Tables: all}
	if err := f.Setup(); err != nil {
		t.Fatal(err)
	}
	ctx := metrics.SetBundleID(metrics.SetPTransformID(t.Context(), "analyze"), "bundle")
	rnd.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
	parts := map[string][][]byte{} // as they are coded, by folder
	for bundle := range slices.Chunk(paths, 3) {
	again:
		made := map[string][][]byte{}
		for _, path := range bundle {
			if rnd.IntN(10) == 0 {
				failed++
				goto again
			}
			err := f.ProcessElement(ctx, fileio.FileMetadata{Path: path, Size: inMemory + 1}, func(string, Reports) {}, func(string, string) {}, func(folder string, p Part) {
				data, err := encodePart(p)
				if err != nil {
					t.Fatal(err)
				}
				made[folder] = append(made[folder], data)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		for folder, list := range made {
			parts[folder] = append(parts[folder], list...)
		}
	}
	for folder, list := range parts {
		for range 1 + rnd.IntN(2) {
			rnd.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			n := 0
			err := (&packFn{out}).ProcessElement(ctx, folder, func(p *Part) bool {
				if n == len(list) {
					return false
				}
				decoded, err := decodePart(list[n])
				if err != nil {
					t.Fatal(err)
				}
				*p, n = decoded, n+1
				return true
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(out, partsFolder)); err != nil || failed == 0 {
		t.Errorf("%d failures, %v", failed, err)
	}
	if err := removeParts(t.Context(), out); err != nil {
		t.Error(err)
	}
	return out
}

func TestParseTables(t *testing.T) {
	for text, want := range map[string]string{"none": "", "requests": "requests traces", "waits,requests": "requests traces waits", "traces": "traces"} {
		got, err := parseTables(text)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
	if _, err := parseTables("requests,some"); err == nil || !strings.Contains(err.Error(), "some: want") {
		t.Errorf("error %v", err)
	}
	setTables(t, "none", 1)
	if got := rowFiles(t, results(t, folderOf(t, "http.trace")+"/*", "all")); len(got) > 0 {
		t.Errorf("none: %q", slices.Sorted(maps.Keys(got)))
	}
}

// TestRecordInside makes keys of the environment record in a trace, of which a file next to it says some
// fields otherwise.
func TestRecordInside(t *testing.T) {
	var b bytes.Buffer
	if err := trace.Start(&b); err != nil {
		t.Skip(err)
	}
	env.Log(t.Context(), &env.Record{Schema: env.Schema, Point: env.Begin, Go: "go1.26.7", Commit: "c0ffee", Workload: "shop", NumCPU: 3})
	trace.Stop()
	dir := t.TempDir()
	for name, data := range map[string][]byte{"a.trace": b.Bytes(), "b.trace": pack(t, b.Bytes()), "b.trace.env.json": []byte(`{"begin":{"commit":"beef","go":""},"end":{}}`)} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, list := range []string{"none", "requests"} {
		setTables(t, list, 1)
		out := results(t, dir+"/*", "{env.commit}-{env.go}-{env.ncpu}-{env.runner}")
		for _, key := range []string{"c0ffee-go1.26.7-3-unknown", "beef-go1.26.7-3-unknown"} {
			read(t, out, "key="+key, reportFile)
		}
	}
}
