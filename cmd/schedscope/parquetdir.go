package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/schedscope/schedscope/internal/atomicfile"
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
	mark, err := os.ReadFile(filepath.Join(path, tableMark))
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
	if text, err := os.ReadFile(path); err == nil && string(text) == markText {
		return nil
	}
	return atomicfile.WriteFile(path, func(w io.Writer) error {
		_, err := io.WriteString(w, markText)
		return err
	})
}

// removeEmpty removes a folder in which there is nothing but the mark.
func (d tableDir) removeEmpty() {
	entries, err := os.ReadDir(string(d))
	if err == nil && len(entries) == 1 && entries[0].Name() == tableMark {
		os.Remove(filepath.Join(string(d), tableMark))
		os.Remove(string(d))
	}
}

// tableFile is a file of a tableDir while it is written.
type tableFile struct {
	*atomicfile.File
	made []string // folders, to be removed again if they stay empty
}

// create begins the file of a trace's table.
func (d tableDir) create(table, id string) (*tableFile, error) {
	f := &tableFile{}
	dir := string(d)
	for _, name := range []string{table, "trace=" + id} {
		dir = filepath.Join(dir, name)
		err := os.Mkdir(dir, 0o777)
		if err == nil {
			f.made = append(f.made, dir)
		} else if !errors.Is(err, os.ErrExist) {
			f.removeFolders()
			return nil, fmt.Errorf("creating %s: %w", dir, cause(err))
		}
	}
	file, err := atomicfile.Create(filepath.Join(dir, "part-0.parquet"))
	if err != nil {
		f.removeFolders()
		return nil, err
	}
	f.File = file
	return f, nil
}

// abort drops the file.
func (f *tableFile) abort() {
	f.File.Abort()
	f.removeFolders()
}

// removeFolders removes what was made for the file, unless there is something in it.
func (f *tableFile) removeFolders() {
	for i := len(f.made) - 1; i >= 0; i-- {
		os.Remove(f.made[i])
	}
	f.made = nil
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
