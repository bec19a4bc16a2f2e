package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/fileio"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/fixtures"
)

var update = flag.Bool("update-rows", false, "write the rows of internal/sqltest/testdata")

func TestMain(m *testing.M) {
	beam.Init()
	code := m.Run()
	os.RemoveAll(programs)
	os.Exit(code)
}

// folderOf copies fixtures into a folder.
func folderOf(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		copyTo(t, fixtures.Path(name), filepath.Join(dir, filepath.Base(name)))
	}
	return dir
}

func copyTo(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o777)
	}
	if err == nil {
		err = os.WriteFile(to, data, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// programs is the folder of what is built, "" before.
var programs string

// build builds a schedscope from the main module alone.
var build = sync.OnceValues(func() (path string, err error) {
	if programs, err = os.MkdirTemp("", "schedscope-fleet"); err != nil {
		return "", err
	}
	path = filepath.Join(programs, "schedscope")
	cmd := exec.Command("go", "build", "-o", path, "./cmd/schedscope")
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(os.Environ(), "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, nil
})

// command returns the schedscope of build.
func command(t *testing.T) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// analyzed returns what schedscope analyze makes of what lies in a folder.
func analyzed(t *testing.T, schedscope, dir string, operands ...string) []byte {
	t.Helper()
	cmd := exec.Command(schedscope, append([]string{"analyze", "--json"}, operands...)...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func results(t *testing.T, input, key string) string {
	t.Helper()
	out := t.TempDir()
	if err := run(t.Context(), input, out, key); err != nil {
		t.Fatal(err)
	}
	return out
}

func read(t *testing.T, elements ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(elements...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// pack returns data as gzip does.
func pack(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// names are small traces of all kinds, cut and damaged ones, and files that are not traces.
func names(t *testing.T) []string {
	broken, err := filepath.Glob(fixtures.Path("broken/*"))
	if err != nil || len(broken) < 10 {
		t.Fatal(broken, err)
	}
	list := []string{"foreign/trace.go1.19.trace"}
	for _, path := range broken {
		list = append(list, "broken/"+filepath.Base(path))
	}
	return append(list, fixtures.Chosen(fixtures.Names())...)
}

// TestSameAsAnalyze checks that the report of all is that of schedscope analyze on the folder, byte
// for byte, with any number of processors, and that all that could not be read is listed.
func TestSameAsAnalyze(t *testing.T) {
	dir := folderOf(t, names(t)...)
	packed := pack(t, read(t, fixtures.Path("http.trace")))
	for name, data := range map[string][]byte{"packed.gz": packed, "cut.gz": packed[:len(packed)/2], "broken.gz": packed[:2]} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want := analyzed(t, command(t), dir, ".")
	for _, n := range []int{1, 4} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
		out := results(t, dir+"/*", "all")
		if !bytes.Equal(read(t, out, "key=all", reportFile), want) {
			t.Errorf("%d processors: the report is another one", n)
		}
		unread := strings.Split(strings.TrimSpace(string(read(t, out, unreadFile))), "\n")
		rows := strings.Split(strings.TrimSpace(string(read(t, out, "key=all", tracesFile))), "\n")
		entries, _ := os.ReadDir(dir)
		if got := len(unread) + len(rows) - 2; got != len(entries) || !slices.ContainsFunc(unread, func(s string) bool { return strings.HasPrefix(s, "empty.trace,") }) {
			t.Errorf("%d processors: %d lines of %d files; unread:\n%s", n, got, len(entries), strings.Join(unread, "\n"))
		}
	}
}

// TestRetries does what runners do when a worker fails: bundles are made again from their beginning, and
// what they come to is coded in between. Files go through temporary ones. The report is the same.
func TestRetries(t *testing.T) {
	dir := folderOf(t, names(t)...)
	want := read(t, results(t, dir+"/*", "all"), "key=all", reportFile)
	paths, err := filepath.Glob(dir + "/*")
	if err != nil {
		t.Fatal(err)
	}
	f, merge, out := &analyzeFn{Fixed: dir + "/", Key: "all", MaxBytes: 1 << 30}, &mergeFn{}, t.TempDir()
	if err := f.Setup(); err != nil {
		t.Fatal(err)
	}
	ctx := metrics.SetBundleID(metrics.SetPTransformID(t.Context(), "analyze"), "bundle")
	rnd := rand.New(rand.NewPCG(1, 1))
	rnd.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
	all, failed := Reports{new(result.Merger)}, 0
	for bundle := range slices.Chunk(paths, 3) {
	again:
		sum := Reports{new(result.Merger)}
		for _, path := range bundle {
			if rnd.IntN(10) == 0 {
				failed++
				goto again
			}
			if err := f.ProcessElement(ctx, fileio.FileMetadata{Path: path, Size: inMemory + 1}, func(_ string, r Reports) { sum.Merge(r.Merger) }, func(string, string) {}, nil); err != nil {
				t.Fatal(err)
			}
		}
		done, err := encode(sum)
		if err != nil {
			t.Fatal(err)
		}
		r, err := decode(done)
		if err != nil {
			t.Fatal(err)
		}
		if all, err = merge.MergeAccumulators(r, all); err != nil {
			t.Fatal(err)
		}
	}
	if err := (&reportFn{out}).ProcessElement(ctx, "all", all); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(read(t, out, "key=all", reportFile), want) || failed == 0 {
		t.Errorf("after %d failures the report is another one", failed)
	}
}

// analyzeAlone returns what one file comes to: its keys and its lines.
func analyzeAlone(t *testing.T, f *analyzeFn, path string, size int64) (keys, lines []string, err error) {
	t.Helper()
	if err := f.Setup(); err != nil {
		t.Fatal(err)
	}
	ctx := metrics.SetBundleID(metrics.SetPTransformID(t.Context(), "analyze"), "bundle")
	err = f.ProcessElement(ctx, fileio.FileMetadata{Path: path, Size: size}, func(key string, _ Reports) { keys = append(keys, key) }, func(_, line string) { lines = append(lines, line) }, nil)
	return keys, lines, err
}

// TestWorkerError checks that a worker without room for a trace fails, so that the runner tries again.
func TestWorkerError(t *testing.T) {
	firstPause = 0
	dir := folderOf(t, "quiet.go1.26.p4.trace")
	t.Setenv("TMPDIR", filepath.Join(dir, "missing"))
	keys, lines, err := analyzeAlone(t, &analyzeFn{Fixed: dir + "/", Key: "all", MaxBytes: 1 << 30}, filepath.Join(dir, "quiet.go1.26.p4.trace"), inMemory+1)
	if !errors.Is(err, os.ErrNotExist) || len(keys)+len(lines) > 0 {
		t.Errorf("error %v, %q, %q", err, keys, lines)
	}
}

// flaky is a file system of which opening and reading fail in turn, each so many times.
type flaky struct {
	filesystem.Interface
	fails *int
	err   error
}

func (f flaky) Close() error { return nil }

func (f flaky) OpenRead(_ context.Context, name string) (io.ReadCloser, error) {
	if *f.fails--; *f.fails >= 0 && *f.fails%2 == 0 {
		return nil, f.err
	}
	r, err := os.Open(strings.TrimPrefix(name, "flaky://"))
	if err == nil && *f.fails >= 0 {
		return struct {
			io.Reader
			io.Closer
		}{io.MultiReader(io.LimitReader(r, 1000), iotest.ErrReader(f.err)), r}, nil
	}
	return r, err
}

// TestStorageErrors checks that errors of the storage pass or fail the bundle, and that what it says is
// not there or not allowed is listed. What a worker keeps on disk is removed.
func TestStorageErrors(t *testing.T) {
	firstPause = 0
	var disk flaky
	filesystem.Register("flaky", func(context.Context) filesystem.Interface { return disk })
	dir := folderOf(t, "quiet.go1.26.p4.trace")
	t.Setenv("TMPDIR", t.TempDir())
	away := errors.New("503 slow down")
	for _, tt := range []struct {
		fails  int
		err    error
		key    string
		listed bool
		failed bool
	}{
		{0, away, "all", false, false},
		{tries - 1, away, "all", false, false},
		{tries, away, "all", false, true},
		{2 * tries, away, "{env.commit}", false, true},
		{1, fs.ErrPermission, "all", true, false},
		{1, errors.New("error getting object x: operation error S3: GetObject, https response error StatusCode: 404, RequestID: , NoSuchKey"), "all", true, false},
		{1, errors.New("https response error StatusCode: 503"), "all", false, false},
		{1, errors.New("googleapi: Error 403: quota, rateLimitExceeded"), "all", false, false},
		{1, errors.New("googleapi: Error 403: forbidden"), "{env.commit}", true, false},
	} {
		for _, size := range []int64{1, inMemory + 1} {
			disk = flaky{fails: new(tt.fails), err: tt.err}
			_, lines, err := analyzeAlone(t, &analyzeFn{Key: tt.key, MaxBytes: 1 << 30}, "flaky://"+dir+"/quiet.go1.26.p4.trace", size)
			if failed := errors.As(err, new(*workerError)) && errors.Is(err, tt.err); failed != tt.failed || err != nil && !failed {
				t.Errorf("%d times %v: error %v", tt.fails, tt.err, err)
			}
			listed := len(lines) == 1 && strings.Contains(lines[0], tt.err.Error())
			if listed != tt.listed || tt.failed == (len(lines) > 0) {
				t.Errorf("%d times %v: lines %q", tt.fails, tt.err, lines)
			}
		}
	}
	if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
		t.Errorf("%d temporary files are left", len(left))
	}
}

// TestMaxBytes lists traces that are too large, packed or not, with what they are.
func TestMaxBytes(t *testing.T) {
	dir := folderOf(t, "http.trace")
	data := read(t, dir, "http.trace")
	if err := os.WriteFile(filepath.Join(dir, "packed.gz"), pack(t, data), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		size   int64 // as it was listed: it may have grown
		most   int
		listed bool
	}{
		{"http.trace", int64(len(data)), len(data), false},
		{"http.trace", int64(len(data)), len(data) - 1, true},
		{"http.trace", 1, len(data) - 1, true},
		{"packed.gz", 1, len(data) - 1, true},
		{"packed.gz", 1, len(data), false},
	} {
		_, lines, err := analyzeAlone(t, &analyzeFn{Fixed: dir + "/", Key: "all", MaxBytes: int64(tt.most)}, filepath.Join(dir, tt.name), tt.size)
		if err != nil || len(lines) == 0 || (len(lines) == 1 && strings.Contains(lines[0], "too large")) != tt.listed {
			t.Errorf("%s with at most %d bytes: %v, %q", tt.name, tt.most, err, lines)
		}
	}
}

// TestKeys checks that the report of each key is that of its traces.
func TestKeys(t *testing.T) {
	dir := t.TempDir()
	for name, to := range map[string]string{
		"mixed.go1.22.p2.trace": "shop/v1/a.trace", "mixed.go1.26.p2.trace": "shop/v1/b.trace", "quiet.go1.26.p4.trace": "shop/v2/a.trace",
		"broken/truncated-first.trace": "mail/v1/cut.trace", "broken/text.trace": "shop/v2/text.trace",
	} {
		copyTo(t, fixtures.Path(name), filepath.Join(dir, to))
	}
	env := `{"begin":{"commit":"c0ffee"},"end":{}}`
	if err := os.WriteFile(filepath.Join(dir, "shop/v1/a.trace.env.json"), []byte(env), 0o666); err != nil {
		t.Fatal(err)
	}
	schedscope := command(t)
	out := results(t, dir+"/*/*/*", `^([^/]+)/([^/]+)/`)
	for key, traces := range map[string][]string{
		"shop%2Fv1": {"shop/v1/a.trace", "shop/v1/b.trace"},
		"shop%2Fv2": {"shop/v2/a.trace"},
	} {
		if !bytes.Equal(read(t, out, "key="+key, reportFile), analyzed(t, schedscope, dir, traces...)) {
			t.Errorf("%s: the report is another one", key)
		}
	}
	if _, err := os.Stat(filepath.Join(out, "key=mail%2Fv1")); err == nil {
		t.Error("a key without a trace has results")
	}
	// Names and keys do not depend on how the pattern is written, and what is not a file is left out.
	out = results(t, dir+"/./shop//*/*", "{1}")
	if got := strings.Count(string(read(t, out, "key=v1", tracesFile)), "\nv1/"); got != 2 {
		t.Errorf("%d rows of v1, want 2", got)
	}
	empty := t.TempDir()
	if err := run(t.Context(), dir+"/shop/*", empty, "all"); err == nil || !strings.Contains(err.Error(), "no trace in what matches") {
		t.Errorf("directories: error %v", err)
	}
	if entries, err := os.ReadDir(empty); err != nil || len(entries) > 0 {
		t.Errorf("directories have results: %v, %v", entries, err)
	}
	if err := run(t.Context(), dir+"/shop/*/*", out, "all"); err == nil || !strings.Contains(err.Error(), "the results of another run") {
		t.Errorf("over the results of another run: error %v", err)
	}
	for _, path := range [][2]string{{"hdfs://x/*", out}, {dir + "/*/*/*", "hdfs://x"}} {
		if err := run(t.Context(), path[0], path[1], "all"); err == nil || !strings.Contains(err.Error(), "hdfs") {
			t.Errorf("%s: error %v", path, err)
		}
	}
	out = results(t, dir+"/*/*/*", "{env.commit}")
	for _, key := range []string{"c0ffee", noKey} {
		read(t, out, "key="+key, reportFile)
	}
}

// TestRows checks that the rows on which the queries of help.txt are tested are those that are written.
func TestRows(t *testing.T) {
	dir := t.TempDir()
	for name, to := range map[string]string{
		"http.trace": "shop/v12/2026-11-26T16.trace", "tasks.go1.26.p4.trace": "shop/v13/2026-11-26T16.trace", "gc.go1.26.p4.trace": "shop/v13/2026-11-26T17.trace",
		"rpc.go1.26.p4.trace": "mail/v3/2026-11-26T17.trace", "cgo.go1.26.p4.trace": "mail/v3/2026-11-26T18.trace",
	} {
		copyTo(t, fixtures.Path(name), filepath.Join(dir, to))
	}
	out := results(t, dir+"/*/*/*", "{1}/{2}")
	var files []string
	for _, pattern := range []string{"key=*/*.csv", "*/key=*/day=*/*.parquet"} {
		list, err := filepath.Glob(filepath.Join(out, pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, list...)
	}
	if len(files) != 3*(3+2) {
		t.Errorf("files %q", files)
	}
	for _, file := range files {
		name := strings.TrimPrefix(file, out+"/")
		stored := filepath.Join("..", "..", "internal", "sqltest", "testdata", "2026-11-26", name)
		if *update {
			copyTo(t, file, stored)
		}
		if !bytes.Equal(read(t, file), read(t, stored)) {
			t.Errorf("%s is another one", name)
		}
	}
}

// TestCells checks that spreadsheets run nothing that is in a name.
func TestCells(t *testing.T) {
	if got, want := csvLine("=1+2", "a,b\n", -1, ""), "'=1+2,\"a,b\\n\",-1,\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestKeyOf(t *testing.T) {
	for _, tt := range []struct{ key, name, want string }{
		{"all", "a/b", "all"},
		{"{1}-{2}", "a/b", "a-b"},
		{"{3}", "a/b", noKey},
		{"{env.os}/{1}", "a", "linux/a"},
		{"{env.commit}", "a", noKey},
		{`^(\w+)-v(\d{2})`, "shop-v12/x", "shop/12"},
		{`^(\d+)`, "shop", noKey},
	} {
		k, err := parseKey(tt.key)
		if err != nil {
			t.Fatal(err)
		}
		if got := k.of(tt.name, map[string]any{"os": "linux"}); got != tt.want {
			t.Errorf("%s of %s: %q, want %q", tt.key, tt.name, got, tt.want)
		}
	}
	for _, bad := range []string{"{service}", "{0}", "(a", "{1"} {
		if _, err := parseKey(bad); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}
