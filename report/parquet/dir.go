package parquet

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/internal/atomicfile"
	"github.com/schedscope/schedscope/internal/savedfile"
	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/report"
)

// Dir is a folder of tables: TABLE/trace=ID/part-0.parquet. Only files of that form
// are ever added to it, and none is removed.
type Dir string

// Mark is the name of the file that says that a folder is a Dir. Engines leave
// out names that begin so.
const Mark = "_schedscope.json"

// markText is its content.
const markText = `{"schema":"` + Schema + `"}` + "\n"

// maxMark bounds that of any version, in bytes.
const maxMark = 1 << 10

// Check returns an error unless the folder can be made, is empty or is a Dir.
func (d Dir) Check() error {
	path := string(d)
	fail := func(err error, hint string) error {
		return &source.Error{Doing: "writing to " + path, Err: err, Hint: hint}
	}
	atomicfile.Sweep(path)
	entries, err := os.ReadDir(path)
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		_, temporary := atomicfile.Target(e.Name()) // of another export
		return temporary
	})
	switch {
	case errors.Is(err, os.ErrNotExist), err == nil && len(entries) == 0:
		return nil
	case err != nil:
		return fail(atomicfile.Cause(err), "name a directory that is new, or one that an export made")
	}
	mark, err := savedfile.ReadFile(filepath.Join(path, Mark), maxMark)
	switch {
	case err != nil:
		return fail(errors.New("it has files that no export made"), "name a directory that is new, or one that an export made")
	case string(mark) != markText:
		return fail(errors.New("it was made by another version of schedscope"), "export into a new directory")
	}
	return nil
}

// Export is what one export adds to a Dir: all of it appears with Commit, or nothing. Every
// Export must see Abort, which does nothing after Commit. Create may be called by several
// goroutines.
type Export struct {
	dir   string // links are followed
	stage string // what is added, as it will be in dir
	Abort func()
}

// Begin begins an export. Until Commit there is a temporary folder, in the Dir if that is there.
func (d Dir) Begin() (*Export, error) {
	path, err := atomicfile.Resolve(filepath.Clean(string(d)))
	if err != nil {
		return nil, fmt.Errorf("creating %s: %w", d, err)
	}
	e, stage := &Export{dir: path}, path
	if _, err := os.Stat(path); err == nil {
		stage = filepath.Join(path, "export")
	}
	if e.stage, e.Abort, err = atomicfile.Folder(stage, 0o777); err != nil {
		return nil, fmt.Errorf("creating %s: %w", d, atomicfile.Cause(err))
	}
	return e, nil
}

// Commit puts everything in place. A new folder appears by one rename. Of one that is there the
// table of traces comes last: what is in it is there as a whole.
func (e *Export) Commit() error {
	tables := append(report.TableNames(), report.TracesTable)
	for _, table := range tables {
		os.Remove(filepath.Join(e.stage, table)) // fails if there is something in it
	}
	if err := os.WriteFile(filepath.Join(e.stage, Mark), []byte(markText), 0o666); err != nil {
		return fmt.Errorf("writing to %s: %w", e.dir, atomicfile.Cause(err))
	}
	if _, err := os.Stat(e.dir); errors.Is(err, os.ErrNotExist) && atomicfile.Finish(func() error { return os.Rename(e.stage, e.dir) }) == nil {
		return nil
	}
	var set atomicfile.Set
	defer set.Abort()
	set.Move(filepath.Join(e.stage, Mark), filepath.Join(e.dir, Mark))
	for _, table := range tables {
		traces, _ := os.ReadDir(filepath.Join(e.stage, table)) // not there: it was not asked for
		for _, trace := range traces {
			folder := filepath.Join(table, trace.Name())
			if err := set.MkdirAll(filepath.Join(e.dir, folder)); err != nil {
				return fmt.Errorf("creating %s: %w", filepath.Join(e.dir, folder), atomicfile.Cause(err))
			}
			set.Move(filepath.Join(e.stage, folder, part), filepath.Join(e.dir, folder, part))
		}
	}
	return set.Finish()
}

const part = "part-0.parquet"

// File is a file of an Export.
type File struct {
	f    *os.File
	path string // where it will be
	done bool
}

// Create begins the file of a trace's table.
func (e *Export) Create(table, id string) (*File, error) {
	folder := filepath.Join(table, "trace="+id)
	f := &File{path: filepath.Join(e.dir, folder, part)}
	err := atomicfile.Make(func() (err error) {
		if err = os.MkdirAll(filepath.Join(e.stage, folder), 0o777); err == nil {
			f.f, err = os.Create(filepath.Join(e.stage, folder, part))
		}
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
	if err != nil {
		err = fmt.Errorf("writing %s: %w", f.path, atomicfile.Cause(err))
	}
	return n, err
}

// Close completes the file.
func (f *File) Close() error {
	f.done = true
	if err := f.f.Close(); err != nil {
		return fmt.Errorf("writing %s: %w", f.path, atomicfile.Cause(err))
	}
	return nil
}

// Abort drops the file, unless it is complete.
func (f *File) Abort() {
	if !f.done {
		f.f.Close()
		os.RemoveAll(filepath.Dir(f.f.Name()))
	}
}

// TraceID returns what a trace is called in the names of folders: its file's name, as far
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

// IDs ensures that no two traces have the same id. Of equal ones the first has
// it, whichever is read first.
type IDs struct {
	names map[string]string // by id
	turns []chan struct{}   // closed when it is the turn of a trace
	done  []bool            // it had its turn
}

// NewIDs returns the ids of n traces.
func NewIDs(n int) *IDs {
	t := &IDs{names: map[string]string{}, turns: make([]chan struct{}, n+1), done: make([]bool, n)}
	for i := range t.turns {
		t.turns[i] = make(chan struct{})
	}
	close(t.turns[0])
	return t
}

// Claim takes an id for trace i, after all before it had their turn.
func (t *IDs) Claim(i int, id, name string) error {
	<-t.turns[i]
	defer t.Pass(i)
	id = strings.ToLower(id) // some file systems make no difference
	if other, ok := t.names[id]; ok {
		return fmt.Errorf("%s has the name and the content of %s", name, other)
	}
	t.names[id] = name
	return nil
}

// Pass gives the turn of trace i to the next.
func (t *IDs) Pass(i int) {
	<-t.turns[i]
	if !t.done[i] {
		t.done[i] = true
		close(t.turns[i+1])
	}
}
