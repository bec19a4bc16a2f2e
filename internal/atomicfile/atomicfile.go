// Package atomicfile writes files that are either complete or absent, alone or several
// together.
//
// Data goes to a temporary file in the directory of the target; Commit renames
// it into place and Abort removes it, so that a reader, or a later run, never
// finds half of a report. A temporary file is locked while it is written: what a
// program left that was killed is not, and goes when the next one writes there.
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A File is an output that appears under its name only when Commit succeeds.
// It is not safe for concurrent use. Every File must see Commit or Abort;
// `defer f.Abort()` is right, because Abort does nothing after Commit.
type File struct {
	f      *os.File
	path   string // where Commit puts the data
	temp   *temp  // where the data is until then; nil: written in place
	unique bool   // Commit takes another name rather than replace a file
	done   bool
}

// Create starts a file that replaces path when it is committed.
//
// A new file gets the permissions that os.Create would give it; one that
// replaces another keeps the permissions of that one, but not its owner or its
// hard links. If path is a symbolic link, what it points to is replaced.
// Devices, pipes and the names of open descriptors (/dev/stdout, /dev/fd/3)
// are written in place, where Abort can take nothing back.
func Create(path string) (*File, error) {
	target, err := Resolve(path)
	if err != nil {
		return nil, describe(path, err)
	}
	f := &File{path: target}
	if err := f.open(); err != nil {
		return nil, describe(path, err)
	}
	return f, nil
}

// CreateNew starts a file that replaces nothing: if path is taken when the
// file is committed, Commit puts a number before the extension (trace-2.out).
func CreateNew(path string) (*File, error) {
	f := &File{path: path, unique: true}
	if err := f.openTemp(0o666); err != nil {
		return nil, describe(path, err)
	}
	return f, nil
}

// WriteFile writes the file path by calling write with a buffered writer, and commits it if
// write and the flush succeed. Otherwise path stays as it was.
func WriteFile(path string, write func(io.Writer) error) error {
	var s Set
	defer s.Abort() // also when write panics
	if err := s.WriteFile(path, write); err != nil {
		return err
	}
	return s.Commit()
}

// WriteNextTo is [WriteFile] of a name that follows from another one. What a program may have left
// there is replaced: a pipe is not written to, nor a link followed.
func WriteNextTo(path string, write func(io.Writer) error) error {
	if info, err := os.Lstat(path); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		os.Remove(path) // an error shows below
	}
	return WriteFile(path, write)
}

// Fault is a function that tests set. It is called before each write to an output, and its
// error becomes that of the write.
var Fault func() error

// Write adds p to the file.
func (f *File) Write(p []byte) (n int, err error) {
	if Fault != nil {
		err = Fault()
	}
	if err == nil {
		n, err = f.f.Write(p)
	}
	if err != nil {
		err = f.failed(err)
	}
	return n, err
}

// Name returns the path that the data has, or will have, after Commit. For a
// File of CreateNew it is final only once Commit has returned.
func (f *File) Name() string { return f.path }

// Commit closes the file and gives it its name. It does not force the data to
// stable storage. If it fails nothing is left behind.
func (f *File) Commit() error {
	if f.done {
		return f.failed(errors.New("already committed or aborted"))
	}
	return (&Set{files: []*File{f}}).Commit()
}

// Abort drops the file. After Commit, or a second time, it does nothing.
func (f *File) Abort() {
	if f.done {
		return
	}
	f.done = true
	f.f.Close() // the data is unwanted, and so is news about it
	f.temp.remove()
}

// open opens the temporary file, or the target itself where only that works.
func (f *File) open() (err error) {
	if isDescriptor(f.path) {
		// Opening such a name again starts at offset 0 of a file that the
		// shell may have redirected to: append to what is there.
		f.f, err = os.OpenFile(f.path, os.O_WRONLY|os.O_APPEND, 0)
		return err
	}
	info, err := os.Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f.openTemp(0o666)
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("is a directory")
	case !info.Mode().IsRegular():
		f.f, err = os.OpenFile(f.path, os.O_WRONLY, 0)
		return err
	}
	// A rename needs no right to write to the old file. Ask for it, lest a
	// file that somebody protected is replaced.
	old, err := os.OpenFile(f.path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	old.Close()
	if err := f.openTemp(0o666); err != nil {
		return err
	}
	if err := os.Chmod(f.temp.name, info.Mode().Perm()); err != nil {
		f.Abort()
		return err
	}
	return nil
}

// openTemp creates a temporary file. Unlike os.CreateTemp it leaves the
// permissions to the umask.
func (f *File) openTemp(perm fs.FileMode) (err error) {
	f.temp, err = newTemp(f.path, func(name string) (err error) {
		f.f.Close() // of an attempt before
		f.f, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		return err
	})
	return err
}

// reserve creates an empty file under path, or under the first name
// path-2, path-3... that is free, and returns its name. Nobody else can get
// the same one, which a look before the rename could not promise.
func reserve(path string) (string, error) {
	ext := filepath.Ext(path)
	stem := strings.TrimSuffix(path, ext)
	name := path
	for i := 2; ; i++ {
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil {
			return name, file.Close()
		}
		if !errors.Is(err, fs.ErrExist) || i > 10000 {
			return "", err
		}
		name = fmt.Sprintf("%s-%d%s", stem, i, ext)
	}
}

// Resolve returns the file that Create would write: it follows the symbolic
// links that path itself is, also to a file that does not exist yet, but not the
// names of open descriptors: behind those is a file that somebody else has open
// and that must not be replaced.
func Resolve(path string) (string, error) {
	for range 40 { // as many as Linux follows
		if isDescriptor(path) {
			return path, nil
		}
		if err := checkLinks(path); err != nil {
			return "", err
		}
		link, err := os.Readlink(path)
		if err != nil {
			return path, nil // not a link, or not there
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(filepath.Dir(path), link)
		}
		path = link
	}
	return "", errors.New("too many symbolic links")
}

// checkLinks refuses links of other users in folders where everybody may put them, such as /tmp:
// they lead to files of ours that somebody wants to be replaced. Linux does by default, others not.
func checkLinks(path string) error {
	for ; filepath.Dir(path) != path; path = filepath.Dir(path) {
		link, err := os.Lstat(path)
		if err != nil || link.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		if dir, err := os.Stat(filepath.Dir(path)); err == nil && foreign(dir.Mode(), ownerOf(link), ownerOf(dir), os.Geteuid()) {
			return fmt.Errorf("%s is a symbolic link of another user, in a folder where everybody may write: remove it, or name another file", path)
		}
	}
	return nil
}

// foreign reports whether a link in a folder is of neither the folder's owner nor the user, where
// nobody can remove those of others (Linux: proc(5), protected_symlinks).
func foreign(dir fs.FileMode, link, owner, user int) bool {
	return dir&fs.ModeSticky != 0 && dir&0o002 != 0 && link != user && link != owner
}

// isDescriptor reports whether path names a descriptor of a process.
func isDescriptor(path string) bool {
	path = filepath.ToSlash(path)
	return path == "/dev/stdout" || path == "/dev/stderr" ||
		strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/")
}

// failed says which output could not be completed.
func (f *File) failed(err error) error { return fmt.Errorf("writing %s: %w", f.path, Cause(err)) }

// describe says which output could not be started. The names of temporary
// files inside err would only puzzle.
func describe(path string, err error) error { return fmt.Errorf("creating %s: %w", path, Cause(err)) }

// Cause strips the operation and the name that os puts before an error.
func Cause(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	if le, ok := errors.AsType[*os.LinkError](err); ok {
		return le.Err
	}
	return err
}
