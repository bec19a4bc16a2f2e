//go:build unix

package savedfile_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/schedscope/schedscope/internal/savedfile"
)

// TestOpenSwapped opens a name that is now that of a file, now that of a pipe or a link: what is opened
// is a file, and no pipe is waited for.
func TestOpenSwapped(t *testing.T) {
	dir := t.TempDir()
	path, next := filepath.Join(dir, "path"), filepath.Join(dir, "next")
	file, pipe := filepath.Join(dir, "file"), filepath.Join(dir, "pipe")
	if err := os.WriteFile(file, []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Skip(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		opened := 0
		for begun := time.Now(); opened < 20 || time.Since(begun) < time.Second/2; {
			f, err := savedfile.Open(path, opened%2 == 0)
			if err != nil {
				continue
			}
			opened++
			if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
				t.Errorf("opened %v, %v", info, err)
			}
			f.Close()
		}
	}()
	swap, late := time.NewTicker(20*time.Microsecond), time.After(time.Minute)
	defer swap.Stop()
	for {
		for _, what := range []func() error{func() error { return os.Link(file, next) }, func() error { return os.Link(pipe, next) }, func() error { return os.Symlink(file, next) }} {
			if what() == nil {
				os.Rename(next, path)
			}
			select {
			case <-done:
				return
			case <-late:
				t.Fatal("it waits for a pipe")
			case <-swap.C:
			}
			os.Remove(next) // a rename of one name of a file to another of it does nothing
		}
	}
}
