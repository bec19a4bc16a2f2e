package parquet

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/schedscope/schedscope/internal/atomicfile"
)

// Export is one export to a folder of tables, TABLE/ID.parquet. Commit makes all of its files
// appear, or none. The caller must call Abort, which does nothing after Commit. Create is safe
// for concurrent use.
type Export struct {
	dir   string         // links are followed
	stage string         // a temporary folder in dir
	set   atomicfile.Set // what Commit puts in place
	clear func()         // removes stage
}

// Begin begins an export into a folder, which is made at need.
func Begin(dir string) (*Export, error) {
	path, err := atomicfile.Resolve(filepath.Clean(dir))
	e := &Export{dir: path}
	if err == nil {
		err = e.set.MkdirAll(path)
	}
	if err == nil {
		e.stage, e.clear, err = atomicfile.Folder(filepath.Join(path, "export"), 0o777)
	}
	if err != nil {
		e.set.Abort()
		return nil, fmt.Errorf("creating %s: %w", dir, atomicfile.Cause(err))
	}
	return e, nil
}

// Abort discards the files that Commit has not put in place.
func (e *Export) Abort() {
	e.clear()
	e.set.Abort()
}

// Keep adds a complete file to those that Commit puts in place.
func (e *Export) Keep(f *File) error {
	dir := filepath.Dir(f.path)
	if err := e.set.MkdirAll(dir); err != nil {
		return fmt.Errorf("creating %s: %w", dir, atomicfile.Cause(err))
	}
	e.set.Move(f.f.Name(), f.path)
	return nil
}

// Commit puts the files in place, in the order in which they were kept.
func (e *Export) Commit() error { return e.set.Finish() }

// File is a table of a trace while it is written.
type File struct {
	f    *os.File
	path string // where it will be
}

// Create begins the file of a table of trace i.
func (e *Export) Create(i int, table, id string) (*File, error) {
	f := &File{path: filepath.Join(e.dir, table, id+".parquet")}
	err := atomicfile.Make(func() (err error) {
		f.f, err = os.Create(filepath.Join(e.stage, strconv.Itoa(i)+"-"+table))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("creating %s: %w", f.path, atomicfile.Cause(err))
	}
	return f, nil
}

// Write adds p to the file.
func (f *File) Write(p []byte) (int, error) {
	n, err := atomicfile.Write(f.f, p)
	return n, f.failed(err)
}

// Close completes the file. A second time it only returns an error.
func (f *File) Close() error { return f.failed(f.f.Close()) }

func (f *File) failed(err error) error {
	if err != nil {
		err = fmt.Errorf("writing %s: %w", f.path, atomicfile.Cause(err))
	}
	return err
}

// TraceID returns what a trace is called in the names of files: its file's name, as far
// as its characters are harmless everywhere, and digits of its content. It never looks
// like a number or a date, which engines would make of it what it is not.
func TraceID(name, sum string) string {
	base := filepath.Base(filepath.ToSlash(name))
	for _, ext := range []string{".gz", ".zst"} {
		base = strings.TrimSuffix(base, ext)
	}
	harmless := func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '-', r == '_':
			return r
		}
		return '_'
	}
	base = strings.Map(harmless, base)
	return base[:min(len(base), 80)] + "-x" + sum[:12]
}
