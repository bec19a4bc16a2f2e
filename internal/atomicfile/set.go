package atomicfile

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// A Set is several outputs that appear together, once all are complete. The zero Set has none. It is
// not safe for concurrent use, and must see Commit or Abort; `defer s.Abort()` is right.
type Set struct {
	files []*File
	made  []string // folders, the inner ones first
}

// Create adds the file path, which the caller writes before Commit.
func (s *Set) Create(path string) (*File, error) {
	f, err := Create(path)
	if err == nil {
		s.files = append(s.files, f)
	}
	return f, err
}

// WriteFile adds the file path, written by calling write with a buffered writer. If it fails,
// the Set is unchanged.
func (s *Set) WriteFile(path string, write func(io.Writer) error) error {
	f, err := s.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 64<<10)
	if err = write(w); err == nil {
		err = w.Flush()
	}
	if err != nil {
		f.Abort()
	}
	return err
}

// MkdirAll creates a folder and its parents. Abort removes the created ones that are empty.
func (s *Set) MkdirAll(dir string) error {
	var made []string
	for d := filepath.Clean(dir); ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); !errors.Is(err, fs.ErrNotExist) {
			break // also above all others: . and / are there
		}
		made = append(made, d)
	}
	return locked(func() error {
		s.made = append(made, s.made...)
		unfinished.dirs[s] = s.made
		return os.MkdirAll(dir, 0o777)
	})
}

// Abort discards uncommitted outputs.
func (s *Set) Abort() {
	for _, f := range s.files {
		f.Abort()
	}
	for _, dir := range s.made {
		os.Remove(dir) // fails if there is something in it
	}
	s.files, s.made = nil, nil
	locked(func() error { delete(unfinished.dirs, s); return nil })
}

// Commit closes all files, so that what is not written by then shows before anything has a name, and
// renames them in the order in which they were added. A rename that fails, as few do, is the last.
func (s *Set) Commit() error { return s.commit(false) }

// Finish is Commit of outputs that stay whatever follows, such as the last: Abandon does nothing after it.
func (s *Set) Finish() error { return s.commit(true) }

func (s *Set) commit(last bool) error {
	defer s.Abort() // what has no name by then
	var files []*File
	for _, f := range s.files {
		if f.done {
			continue // its content could not be written, which the caller heard of
		}
		if err := f.f.Close(); err != nil {
			return f.failed(err)
		}
		if f.temp != nil {
			files = append(files, f)
		}
	}
	naming.Lock()
	defer naming.Unlock()
	for _, f := range files {
		if err := f.rename(); err != nil {
			return f.failed(err)
		}
	}
	s.made = nil
	named = named || last
	return nil
}

// rename gives the data its name.
func (f *File) rename() (err error) {
	if f.unique {
		if f.path, err = reserve(f.path); err != nil {
			return err
		}
	}
	if err = os.Rename(f.temp.name, f.path); err == nil {
		f.done = true
		f.temp.unlock()
	} else if f.unique {
		os.Remove(f.path)
	}
	return err
}
