package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestSet checks that nothing appears before Commit, and then all of it.
func TestSet(t *testing.T) {
	dir := t.TempDir()
	a, b, c := filepath.Join(dir, "a"), filepath.Join(dir, "new", "er", "b"), filepath.Join(dir, "c")
	write(t, a, "old")
	var s Set
	if err := s.MkdirAll(filepath.Dir(b)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{a, b} {
		if err := s.WriteFile(path, writing("new "+filepath.Base(path))); err != nil {
			t.Fatal(err)
		}
	}
	boom := errors.New("boom")
	if err := s.WriteFile(c, func(io.Writer) error { return boom }); err != boom {
		t.Errorf("WriteFile = %v", err)
	}
	checkFile(t, a, "old")
	checkDir(t, filepath.Dir(b), filepath.Base(s.files[1].temp.name))
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
	s.Abort()
	checkFile(t, a, "new a")
	checkFile(t, b, "new b")
	checkDir(t, dir, "a", "new")
	checkDir(t, filepath.Dir(b), "b")
}

// TestSetFails has the rename of the last file fail: nothing is left of it, and what was replaced before
// keeps its permissions.
func TestSetFails(t *testing.T) {
	dir := t.TempDir()
	replaced, taken := filepath.Join(dir, "replaced"), filepath.Join(dir, "taken")
	write(t, replaced, "old")
	if err := os.Chmod(replaced, 0o640); err != nil {
		t.Fatal(err)
	}
	var s Set
	defer s.Abort()
	for _, path := range []string{replaced, taken} {
		if err := s.WriteFile(path, writing("new")); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(taken, "full"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := s.Commit(); err == nil || !strings.Contains(err.Error(), "writing "+taken) {
		t.Errorf("a file replaced a folder: %v", err)
	}
	checkFile(t, replaced, "new")
	if got := mode(t, replaced); runtime.GOOS != "windows" && got != 0o640 {
		t.Errorf("mode %v", got)
	}
	checkDir(t, dir, "replaced", "taken")
}

// TestNewFails has the rename of a file fail whose name is reserved by then: nothing is left of that.
func TestNewFails(t *testing.T) {
	dir := t.TempDir()
	f, err := CreateNew(filepath.Join(dir, "new"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	if err := os.Remove(f.temp.name); err != nil {
		t.Skip(err) // Windows keeps what is open
	}
	if err := f.Commit(); err == nil {
		t.Error("renamed what is gone")
	}
	checkDir(t, dir)
}

// TestSetAbort checks that Abort also removes folders, but not what others put there.
func TestSetAbort(t *testing.T) {
	dir := t.TempDir()
	var s Set
	for _, name := range []string{"a", "a/b/c", "a/b/d", "x/y", "."} {
		if err := s.MkdirAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, "x", "other"), "")
	if err := s.WriteFile(filepath.Join(dir, "x", "y", "z"), writing("z")); err != nil {
		t.Fatal(err)
	}
	s.Abort()
	checkDir(t, dir, "x")
	checkDir(t, filepath.Join(dir, "x"), "other")
}

// TestSweep checks that what is written stays, what was left goes, and what is not of this
// package stays.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	f, err := Create(filepath.Join(dir, "report"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	folder, remove, err := Folder(filepath.Join(dir, "folder"), 0o700)
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	live := []string{filepath.Base(folder), filepath.Base(f.temp.name)}
	others := []string{".x.tmp-1-0", "x.schedscope-1-0"}
	old := time.Now().Add(-2 * time.Hour)
	for _, name := range []string{".a.schedscope-1-0", ".b.schedscope-1-0/full"} {
		path := filepath.Join(dir, name)
		os.Mkdir(filepath.Dir(path), 0o777)
		write(t, path, "left")
		if runtime.GOOS == "windows" {
			os.Chtimes(path, old, old)
			os.Chtimes(filepath.Dir(path), old, old)
		}
	}
	for _, name := range others {
		write(t, filepath.Join(dir, name), "theirs")
	}
	if left := Sweep(dir); left != nil {
		t.Errorf("left %q", left)
	}
	checkDir(t, dir, append(live, others...)...)
	if left := Sweep(filepath.Join(dir, "none")); left != nil {
		t.Errorf("of no folder: %q", left)
	}
	if base, ok := Target(filepath.Base(f.temp.name)); base != "report" || !ok {
		t.Errorf("Target = %q, %t", base, ok)
	}
	f.Abort()
	remove()
	checkDir(t, dir, others...)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestLockedTarget: whoever uses a file may have it locked, as `flock out.json schedscope ...` has,
// and two outputs may be links of one file.
func TestLockedTarget(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if err := os.WriteFile(a, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(a, b); err != nil {
		t.Skip(err)
	}
	if l, err := lock(a, true); err == nil {
		defer l.Close()
	}
	done := make(chan error, 1)
	go func() {
		var s Set
		defer s.Abort()
		for _, path := range []string{a, b} {
			if err := s.WriteFile(path, func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }); err != nil {
				done <- err
				return
			}
		}
		done <- s.Commit()
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("Commit waits for a lock of a file that it replaces")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%v, %v, want a and b alone", entries, err)
	}
}

// TestAbandon: what is not complete goes at once, with the folders made for it, and nothing gets a
// name any more; unless the last outputs have theirs.
func TestAbandon(t *testing.T) {
	t.Cleanup(func() { named = false })
	dir := t.TempDir()
	file := func(s *Set, name string) {
		t.Helper()
		if err := s.WriteFile(filepath.Join(dir, name), writing("x")); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"input", "output"} {
		var whole, part Set
		file(&whole, name)
		commit := whole.Commit // as of a recording that is saved before it is analysed
		if name == "output" {
			commit = whole.Finish
		}
		if err := commit(); err != nil {
			t.Fatal(err)
		}
		if err := part.MkdirAll(filepath.Join(dir, "a", "b")); err != nil {
			t.Fatal(err)
		}
		file(&part, "a/b/part")
		if got, want := Abandon(), name == "input"; got != want {
			t.Fatalf("after %s: Abandon() = %t, want %t", name, got, want)
		} else if got {
			checkDir(t, dir, "input")
			goOn()
		}
		part.Abort()
	}
	checkDir(t, dir, "input", "output")
}

// goOn ends what Abandon begins, for the tests that follow.
func goOn() {
	unfinished.Unlock()
	naming.Unlock()
}

// TestAbandonMaking: what is made while Abandon is called goes, too.
func TestAbandonMaking(t *testing.T) {
	dir := t.TempDir()
	var once sync.Once
	abandoned, made := make(chan bool), make(chan *temp)
	go func() {
		temp, err := newTemp(filepath.Join(dir, "x"), func(name string) error {
			write(t, name, "data")
			once.Do(func() {
				go func() { abandoned <- Abandon() }()
				time.Sleep(20 * time.Millisecond) // for Abandon to come so far
			})
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		made <- temp
	}()
	if !<-abandoned {
		t.Error("not abandoned")
	}
	checkDir(t, dir)
	goOn()
	(<-made).remove()
	checkDir(t, dir)
}
