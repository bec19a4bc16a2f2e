package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "report.json")
	for _, want := range []string{"first", "second, longer", "3"} {
		if err := WriteFile(path, writing(want)); err != nil {
			t.Fatal(err)
		}
		checkFile(t, path, want)
		checkDir(t, dir, "report.json")
	}
}

func TestWriteFileFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "report.json")
	if err := WriteFile(path, writing("old")); err != nil {
		t.Fatal(err)
	}
	boom := errors.New("boom")
	err := WriteFile(path, func(w io.Writer) error {
		io.WriteString(w, strings.Repeat("x", 200<<10)) // more than the buffer
		return boom
	})
	if !errors.Is(err, boom) {
		t.Errorf("WriteFile = %v, want %v", err, boom)
	}
	checkFile(t, path, "old")
	checkDir(t, dir, "report.json")
}

func TestWriteFilePanics(t *testing.T) {
	dir := t.TempDir()
	func() {
		defer func() { recover() }()
		WriteFile(filepath.Join(dir, "x"), func(io.Writer) error { panic("boom") })
	}()
	checkDir(t, dir)
}

func TestNothingAppearsBeforeCommit(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.png")
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(f, "data")
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before Commit: Stat = %v, want not exist", err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	f.Abort()
	checkFile(t, path, "data")
	checkDir(t, dir, "a.png")
	if err := f.Commit(); err == nil {
		t.Error("second Commit succeeded")
	}
}

func TestAbort(t *testing.T) {
	dir := t.TempDir()
	f, err := Create(filepath.Join(dir, strings.Repeat("long", 60)))
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(f, "data")
	f.Abort()
	f.Abort()
	checkDir(t, dir)
	if err := f.Commit(); err == nil {
		t.Error("Commit after Abort succeeded")
	}
}

func TestPermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permission bits mean little on windows")
	}
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	f, err := os.Create(plain)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	path := filepath.Join(dir, "out")
	if err := WriteFile(path, writing("x")); err != nil {
		t.Fatal(err)
	}
	if got, want := mode(t, path), mode(t, plain); got != want {
		t.Errorf("new file has mode %v, want %v as from os.Create", got, want)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(path, writing("y")); err != nil {
		t.Fatal(err)
	}
	if got := mode(t, path); got != 0o640 {
		t.Errorf("replaced file has mode %v, want that of the old one, 0640", got)
	}
	if os.Getuid() == 0 {
		return // root may write to anything
	}
	if err := os.Chmod(path, 0o440); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(path, writing("z")); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("writing to a read-only file: %v, want a permission error", err)
	}
}

func TestSymlink(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "d"), 0o777); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join("d", "real"), link); err != nil {
		t.Skip(err)
	}
	for _, want := range []string{"through a dangling link", "through a link"} {
		if err := WriteFile(link, writing(want)); err != nil {
			t.Fatal(err)
		}
		checkFile(t, filepath.Join(dir, "d", "real"), want)
		if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("the link is no link any more (%v, %v)", info, err)
		}
	}
	loop := filepath.Join(dir, "loop")
	if err := os.Symlink("loop", loop); err != nil {
		t.Fatal(err)
	}
	checkError(t, WriteFile(loop, writing("x")), "creating "+loop+": too many symbolic links")
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	checkError(t, WriteFile(dir, writing("x")), "creating "+dir+": is a directory")
	slash := filepath.Join(dir, "new") + string(filepath.Separator)
	checkError(t, WriteFile(slash, writing("x")), "creating "+slash+": is a directory")
	missing := filepath.Join(dir, "no", "x.png")
	err := WriteFile(missing, writing("x"))
	if !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "tmp-") {
		t.Errorf("WriteFile in a missing directory = %v, want not exist without the temporary name", err)
	}
	checkDir(t, dir)
}

func TestWritesInPlace(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /dev/fd")
	}
	if err := WriteFile(os.DevNull, writing("x")); err != nil {
		t.Errorf("writing to %s: %v", os.DevNull, err)
	}

	// A descriptor of a regular file, as after `schedscope -o /dev/stdout >out`.
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	io.WriteString(f, "before ")
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	name := filepath.Join("/dev/fd", fdString(f))
	if err := os.Symlink(name, link); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(link, writing("after")); err != nil {
		t.Fatal(err)
	}
	checkFile(t, path, "before after")
	after, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(before, after) {
		t.Error("the open file was replaced")
	}
	checkDir(t, dir, "link", "out")
}

func TestCreateNew(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "trace.out")
	for _, name := range []string{"trace.out", "trace-2.out", "trace-3.out"} {
		f, err := CreateNew(path)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(f, name)
		if err := f.Commit(); err != nil {
			t.Fatal(err)
		}
		if want := filepath.Join(dir, name); f.Name() != want {
			t.Errorf("Name() = %q, want %q", f.Name(), want)
		}
	}
	checkDir(t, dir, "trace-2.out", "trace-3.out", "trace.out")
	for _, name := range []string{"trace.out", "trace-2.out", "trace-3.out"} {
		checkFile(t, filepath.Join(dir, name), name)
	}
}

func writing(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

func checkFile(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s holds %q (%v), want %q", path, got, err, want)
	}
}

// checkDir fails if dir holds anything but want, such as temporary files.
func checkDir(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, want) {
		t.Errorf("directory holds %q, want %q", got, want)
	}
}

func checkError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func fdString(f *os.File) string { return strconv.FormatUint(uint64(f.Fd()), 10) }
