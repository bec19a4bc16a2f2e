package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/schedscope/schedscope/internal/atomicfile"
	"github.com/schedscope/schedscope/internal/savedfile"
	"github.com/schedscope/schedscope/report"
	"github.com/schedscope/schedscope/report/parquet"
)

// tableDir is a folder of tables: TABLE/trace=ID/part-0.parquet. Only files of that form
// are ever written there, and none is removed.
type tableDir string

// tableMark is the name of the file that says that a folder is a tableDir. Engines leave
// out names that begin so.
const tableMark = "_schedscope.json"

// markText is its content.
const markText = `{"schema":"` + parquet.Schema + `"}` + "\n"

// maxMark bounds that of any version, in bytes.
const maxMark = 1 << 10

// check returns an error unless the folder can be made, is empty or is a tableDir.
func (d tableDir) check() error {
	path := string(d)
	if path == "-" {
		return usagef("add -o tables, a directory that will be made", "--format parquet writes a directory")
	}
	if path == "" {
		return errNoName
	}
	entries, err := os.ReadDir(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return checkFolder(filepath.Clean(path))
	case err != nil:
		return &usageError{fmt.Errorf("writing to %s: %w", path, cause(err)), "name a directory that is new, or one that an export made"}
	case len(entries) == 0:
		return nil
	}
	mark, err := savedfile.ReadFile(filepath.Join(path, tableMark), maxMark)
	switch {
	case err != nil:
		return usagef("name a directory that is new, or one that an export made", "-o %s has files in it and was not made by an export", path)
	case string(mark) != markText:
		return usagef("export into a new directory", "-o %s was made by another version of schedscope", path)
	}
	return nil
}

// make makes the folder.
func (d tableDir) make() error {
	if err := os.MkdirAll(string(d), 0o777); err != nil {
		return err
	}
	path := filepath.Join(string(d), tableMark)
	if text, err := savedfile.ReadFile(path, maxMark); err == nil && string(text) == markText {
		return nil
	}
	return atomicfile.WriteFile(path, func(w io.Writer) error {
		_, err := io.WriteString(w, markText)
		return err
	})
}

// removeEmpty removes folders of tables in which there is nothing, and then the whole one
// if there is nothing in it but the mark. Folders of tables are those of all traces: it
// may be called only when none is written any more.
func (d tableDir) removeEmpty() {
	for _, table := range append(report.TableNames(), report.TracesTable) {
		folder := filepath.Join(string(d), table)
		if info, err := os.Lstat(folder); err == nil && info.IsDir() {
			os.Remove(folder) // fails if there is something in it
		}
	}
	entries, err := os.ReadDir(string(d))
	if err == nil && len(entries) == 1 && entries[0].Name() == tableMark {
		os.Remove(filepath.Join(string(d), tableMark))
		os.Remove(string(d))
	}
}

// tableFile is a file of a tableDir while it is written.
type tableFile struct {
	*atomicfile.File
	folder string // of its own
}

// createAttempts is how often making a folder is tried: another export into the same
// directory may end between the making of a table's folder and of the one in it.
const createAttempts = 10

// create begins the file of a trace's table.
func (d tableDir) create(table, id string) (*tableFile, error) {
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
	return &tableFile{file, folder}, nil
}

// abort drops the file, and its folder unless there is something in it, such as the file
// of an export before.
func (f *tableFile) abort() {
	f.File.Abort()
	os.Remove(f.folder)
}

// traceID returns what a trace is called in the names of folders: its file's name, as far
// as its characters are harmless everywhere, and digits of its content. It never looks
// like a number or a date, which engines would make of it what it is not.
func traceID(name, sum string) string {
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
