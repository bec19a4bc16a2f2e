package atomicfile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync/atomic"
	"time"
)

// stale is the age from which on what cannot be locked is taken for what a killed program left.
const stale = time.Hour

var tempName = regexp.MustCompile(`(?s)^\.(.+)\.schedscope-[0-9]+-[0-9]+$`)

// Target returns the base name of the target of a temporary file or folder, cut after 100
// bytes. Ok is false if name is not that of one.
func Target(name string) (base string, ok bool) {
	m := tempName.FindStringSubmatch(name)
	if m == nil {
		return "", false
	}
	return m[1], true
}

// A temp is a temporary file or folder. A nil one is none.
type temp struct {
	name string
	lock *os.File // says that the program lives; nil where there are no locks
}

// temps counts them: a program never uses a name again.
var temps atomic.Int64

// newTemp has create make a file or folder, which must not exist, of a name next to path.
//
// A Sweep may come between its making and its locking. Whoever has the lock first wins: if it is
// gone by then, create is called again.
func newTemp(path string, create func(name string) error) (*temp, error) {
	dir, base := filepath.Split(path)
	if base == "" {
		return nil, errors.New("is a directory")
	}
	Sweep(dir)
	base = base[:min(len(base), 100)] // room for the suffix in the 255 bytes of a name
	for i := 0; ; i++ {
		t := &temp{name: fmt.Sprintf("%s.%s.schedscope-%d-%d", dir, base, os.Getpid(), temps.Add(1))}
		err := locked(func() (err error) {
			if err = create(t.name); err == nil {
				unfinished.temps[t] = true
			}
			return err
		})
		if errors.Is(err, fs.ErrExist) && i < 10000 {
			continue
		}
		if err != nil {
			return nil, err
		}
		if t.lock, err = lock(t.name, true); errors.Is(err, fs.ErrNotExist) && i < 10000 {
			t.unlock()
			continue
		}
		return t, nil
	}
}

func (t *temp) unlock() {
	if t != nil {
		locked(func() error { delete(unfinished.temps, t); return nil })
		t.lock.Close() // also nil
	}
}

func (t *temp) remove() {
	if t != nil {
		os.RemoveAll(t.name)
		t.unlock()
	}
}

// Folder creates a temporary folder next to path. Remove removes it with its contents; further
// calls do nothing. If the program is killed, the next one that writes there removes it.
func Folder(path string, perm fs.FileMode) (name string, remove func(), err error) {
	t, err := newTemp(path, func(name string) error { return os.Mkdir(name, perm) })
	if err != nil {
		return "", nil, err
	}
	return t.name, t.remove, nil
}

// Scratch creates a temporary file next to path, open for reading and writing. Remove closes
// and removes it.
func Scratch(path string) (f *os.File, remove func(), err error) {
	t, err := newTemp(path, func(name string) (err error) {
		f.Close() // of an attempt before
		f, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return f, func() {
		f.Close()
		t.remove()
	}, nil
}

// Sweep removes temporary files and folders in dir that killed programs left: those that are not
// locked, or, where locks do not work, have not changed for an hour. It returns the paths of those
// that stay although nobody is known to write them. Create and its like call it.
func Sweep(dir string) (left []string) {
	d, err := os.Open(cmp.Or(dir, "."))
	if err != nil {
		return nil // whoever writes there will say
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	for _, name := range names {
		if _, ok := Target(name); !ok {
			continue
		}
		path := filepath.Join(dir, name)
		l, err := lock(path, false)
		switch {
		case errors.Is(err, errLocked), errors.Is(err, fs.ErrNotExist):
			continue
		case errors.Is(err, fs.ErrPermission), // of another user, who may be writing it
			err != nil && time.Since(changed(path)) < stale, os.RemoveAll(path) != nil:
			left = append(left, path)
		}
		l.Close() // also nil
	}
	return left
}

// changed returns when a file, or what is in a folder, was last written.
func changed(path string) (last time.Time) {
	filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := e.Info(); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
		return nil
	})
	return last
}

// errLocked says that another program, or this one, has a lock.
var errLocked = errors.New("locked")
