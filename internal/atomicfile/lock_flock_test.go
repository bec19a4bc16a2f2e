//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package atomicfile

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestSweepWithoutLocks checks that an hour decides on file systems without locks.
func TestSweepWithoutLocks(t *testing.T) {
	defer func(f func(int, int) error) { flock = f }(flock)
	flock = func(int, int) error { return syscall.ENOTSUP }
	dir := t.TempDir()
	f, err := Create(filepath.Join(dir, "report"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	live, old := filepath.Base(f.temp.name), time.Now().Add(-2*time.Hour)
	folder := filepath.Join(dir, ".young.schedscope-1-0")
	os.Mkdir(folder, 0o777)
	write(t, filepath.Join(folder, "young"), "")
	os.Chtimes(folder, old, old)
	write(t, filepath.Join(dir, ".old.schedscope-1-0"), "")
	os.Chtimes(filepath.Join(dir, ".old.schedscope-1-0"), old, old)
	if left := Sweep(dir); len(left) != 2 {
		t.Errorf("left %q, want two", left)
	}
	checkDir(t, dir, live, filepath.Base(folder))
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	checkDir(t, dir, filepath.Base(folder), "report")
}

// TestSweepRace has programs sweep while others write: none loses what it writes.
func TestSweepRace(t *testing.T) {
	dir := t.TempDir()
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				Sweep(dir)
			}
		}
	}()
	for range 300 {
		var s Set
		for _, name := range []string{"a", "b"} {
			if err := s.WriteFile(filepath.Join(dir, name), writing(name)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	<-done
	checkDir(t, dir, "a", "b")
}
