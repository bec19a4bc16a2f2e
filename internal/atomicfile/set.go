package atomicfile

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// A Set is several outputs that appear together or not at all. The zero Set has none. It is
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

// Commit renames all files, in the order in which they were added. If it fails, the old files
// are restored. Only a program that is killed between two renames, some microseconds apart,
// leaves some of the new files with some of the old.
//
//  1. Close the files: what is not written by then shows before anything has a name.
//  2. Prepare the names: reserve new ones, and keep what is replaced under a name of its own.
//  3. Rename file after file. If one fails, take back those before it.
//  4. Drop what was replaced.
func (s *Set) Commit() error { return s.commit(false) }

// Finish is Commit of outputs that stay whatever follows, such as the last: Abandon does nothing after it.
func (s *Set) Finish() error { return s.commit(true) }

func (s *Set) commit(last bool) error {
	defer s.Abort() // what has no name by then
	var files []*File
	for _, f := range s.files { // 1
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
	err := s.name(files)
	named = named || last && err == nil
	return err
}

// name gives files their names.
func (s *Set) name(files []*File) error {
	prepare := func(f *File) error { return f.prepare(len(files) > 1) }
	for _, step := range []func(*File) error{prepare, (*File).rename} { // 2, 3
		for _, f := range files {
			if err := step(f); err != nil {
				for _, f := range slices.Backward(files) {
					f.takeBack()
				}
				return f.failed(err)
			}
		}
	}
	for _, f := range files { // 4
		f.done = true
		f.old.remove()
		f.temp.unlock()
	}
	s.made = nil
	return nil
}

// prepare reserves the name, or, if keep is true, keeps the file that has it.
func (f *File) prepare(keep bool) (err error) {
	if f.unique {
		f.path, err = reserve(f.path)
		f.reserved = err == nil
		return err
	}
	if !keep {
		return nil // one rename fails as a whole
	}
	f.old, err = newTemp(f.path, true, func(name string) error { return duplicate(f.path, name) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// rename gives the data its name.
func (f *File) rename() error {
	err := os.Rename(f.temp.name, f.path)
	f.renamed = err == nil
	return err
}

// takeBack undoes what prepare and rename did.
func (f *File) takeBack() {
	switch {
	case f.renamed && f.old != nil:
		os.Rename(f.old.name, f.path)
	case f.renamed, f.reserved:
		os.Remove(f.path)
	}
	f.old.remove()
}

// duplicate makes a file known under a second name, or, where there are no links, copies it.
func duplicate(path, name string) error {
	err := os.Link(path, name)
	if err == nil || errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return copyFile(path, name)
}

func copyFile(path, name string) error {
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil {
		return err
	}
	to, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	if err = cmp.Or(err, to.Close()); err != nil {
		os.Remove(name)
	}
	return err
}
