package parquet

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/schedscope/schedscope/internal/atomicfile"
	"github.com/schedscope/schedscope/internal/savedfile"
	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/report"
)

// Dir is a folder of tables: TABLE/trace=ID/part-0.parquet. Only files of that form
// are ever written there, and none is removed.
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
	entries, err := os.ReadDir(path)
	switch {
	case errors.Is(err, os.ErrNotExist), err == nil && len(entries) == 0:
		return nil
	case err != nil:
		return fail(cause(err), "name a directory that is new, or one that an export made")
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

// cause strips what os puts before an error and the message has already.
func cause(err error) error {
	if pe := new(fs.PathError); errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// Make makes the folder.
func (d Dir) Make() error {
	if err := os.MkdirAll(string(d), 0o777); err != nil {
		return err
	}
	path := filepath.Join(string(d), Mark)
	if text, err := savedfile.ReadFile(path, maxMark); err == nil && string(text) == markText {
		return nil
	}
	return atomicfile.WriteFile(path, func(w io.Writer) error {
		_, err := io.WriteString(w, markText)
		return err
	})
}

// RemoveEmpty removes folders of tables in which there is nothing, and then the whole one
// if there is nothing in it but the mark. Folders of tables are those of all traces: it
// may be called only when none is written any more.
func (d Dir) RemoveEmpty() {
	for _, table := range append(report.TableNames(), report.TracesTable) {
		folder := filepath.Join(string(d), table)
		if info, err := os.Lstat(folder); err == nil && info.IsDir() {
			os.Remove(folder) // fails if there is something in it
		}
	}
	entries, err := os.ReadDir(string(d))
	if err == nil && len(entries) == 1 && entries[0].Name() == Mark {
		os.Remove(filepath.Join(string(d), Mark))
		os.Remove(string(d))
	}
}

// File is a file of a Dir while it is written.
type File struct {
	*atomicfile.File
	folder string // of its own
}

// createAttempts is how often making a folder is tried: another export into the same
// directory may end between the making of a table's folder and of the one in it.
const createAttempts = 10

// Create begins the file of a trace's table.
func (d Dir) Create(table, id string) (*File, error) {
	folder := filepath.Join(string(d), table, "trace="+id)
	err := os.MkdirAll(folder, 0o777)
	for n := 1; n < createAttempts && errors.Is(err, os.ErrNotExist); n++ {
		err = os.MkdirAll(folder, 0o777)
	}
	if err != nil {
		return nil, fmt.Errorf("creating %s: %w", folder, cause(err))
	}
	file, err := atomicfile.Create(filepath.Join(folder, "part-0.parquet"))
	if err != nil {
		os.Remove(folder)
		return nil, err
	}
	return &File{file, folder}, nil
}

// Abort drops the file, and its folder unless there is something in it, such as the file
// of an export before.
func (f *File) Abort() {
	f.File.Abort()
	os.Remove(f.folder)
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
