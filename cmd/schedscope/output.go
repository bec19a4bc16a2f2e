package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/internal/atomicfile"
	"github.com/schedscope/schedscope/internal/source"
)

// output is one place that a result goes to.
type output struct {
	path   string // "-" is stdout
	format string
}

// formats are the formats of reports, by the extension that asks for them.
var formats = []string{"text", "html", "json", "csv", "markdown", "png", "svg"}

var extensions = map[string]string{
	".txt": "text", ".text": "text", ".json": "json", ".csv": "csv", ".png": "png", ".svg": "svg", ".md": "markdown", ".html": "html", ".htm": "html",
}

func isPicture(format string) bool { return format == "png" || format == "svg" }

// planOutputs decides on the format of each output; none means stdout. An
// explicit format is that of all outputs, but for pictures, whose extension
// stays what counts unless the format is one of a picture, too. Choices are the formats that there are.
func planOutputs(paths []string, format string, choices []string) ([]output, error) {
	if byName, ok := extensions["."+format]; ok && slices.Contains(choices, byName) {
		format = byName // md, txt
	}
	if format != "" {
		if err := checkChoice("format", format, choices); err != nil {
			return nil, err
		}
	}
	if len(paths) == 0 {
		paths = []string{"-"}
	}
	var outs []output
	for _, path := range paths {
		byName := extensions[strings.ToLower(filepath.Ext(path))]
		if (byName == "markdown" || byName == "html") && !slices.Contains(choices, byName) {
			byName = ""
		}
		o := output{path, format}
		switch {
		case path == "":
			return nil, errNoName
		case isDir(path):
			return nil, directoryError(path)
		case slices.ContainsFunc(outs, func(x output) bool { return sameOutput(x.path, path) }):
			return nil, usagef("leave one out, or give them different names", "-o %s is given twice", path)
		case isPicture(byName) && !isPicture(format):
			o.format = byName
		case format == "" && path == "-":
			o.format = "text"
		case format == "" && byName == "":
			return nil, usagef("use a name with "+extensionsOf(choices)+", or add --format", "-o %s: the extension does not tell the format", path)
		case format == "":
			o.format = byName
		}
		outs = append(outs, o)
	}
	return outs, nil
}

// extensionsOf names the extensions of formats.
func extensionsOf(formats []string) string {
	var list []string
	for _, f := range formats {
		switch f {
		case "text":
			f = "txt"
		case "markdown":
			f = "md"
		}
		list = append(list, "."+f)
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " or " + list[last]
}

func sameOutput(a, b string) bool {
	return a == b || a != "-" && b != "-" && place(a) == place(b)
}

// place returns where a file will be: links are followed, also to what is not
// there yet, as far as that can be told.
func place(path string) string {
	if target, err := atomicfile.Resolve(path); err == nil {
		path = target
	}
	dir := filepath.Dir(path)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return filepath.Join(dir, filepath.Base(path))
}

var errNoName = usagef("add one, such as -o report.json", "-o without a file name")

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func directoryError(path string) error {
	return usagef("name a file in it", "-o %s is a directory", path)
}

// checkOutput refuses, before anything is read, what could not be written
// afterwards: over an input, into a folder that is not there, as bytes to a
// terminal.
func (a *app) checkOutput(path string, binary bool, inputs []source.Ref) error {
	if path == "-" {
		if binary && isTerminal(a.stdout) {
			return usagef("write to a file with -o, or pipe it on", "will not write binary data to a terminal")
		}
		return nil
	}
	if path == "" {
		return errNoName
	}
	if err := checkFolder(path); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil // new
	}
	if info.IsDir() {
		return directoryError(path)
	}
	for _, ref := range inputs {
		if ref.Kind != source.File {
			continue
		}
		if in, err := os.Stat(ref.Path); err == nil && os.SameFile(info, in) {
			return usagef("choose another name", "-o %s would overwrite the input %s", path, ref.Name)
		}
	}
	return nil
}

func checkFolder(path string) error {
	dir := filepath.Dir(path)
	info, err := os.Stat(dir)
	switch {
	case os.IsNotExist(err):
		return &usageError{fmt.Errorf("creating %s: no directory %s", path, dir), "create it first: mkdir -p " + dir}
	case err != nil:
		return fmt.Errorf("creating %s: %w", path, cause(err))
	case !info.IsDir():
		return &usageError{err: fmt.Errorf("creating %s: %s is no directory", path, dir)}
	}
	return nil
}

// write fills one output. Files appear complete or not at all.
func (a *app) write(path string, fill func(io.Writer) error) error {
	if path == "-" {
		return fill(a.stdout)
	}
	if err := atomicfile.WriteFile(path, fill); err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil {
		a.detail("wrote %s (%s)", path, formatSize(info.Size()))
	}
	return nil
}

// stdoutLast sorts outputs so that files are complete before a reader of
// stdout, such as head, can end the program by leaving.
func stdoutLast(outs []output) []output {
	sorted := slices.Clone(outs)
	slices.SortStableFunc(sorted, func(x, y output) int {
		switch {
		case x.path == "-" && y.path != "-":
			return 1
		case x.path != "-" && y.path == "-":
			return -1
		}
		return 0
	})
	return sorted
}

// cause strips what os puts before an error and the message says already.
func cause(err error) error {
	if pe, ok := err.(*fs.PathError); ok {
		return pe.Err
	}
	return err
}
