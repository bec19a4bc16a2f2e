package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/atomicfile"
	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/report/chart"
	"github.com/schedscope/schedscope/report/document"
	"github.com/schedscope/schedscope/report/view"
)

// format is what results can be written as.
type format struct {
	name       string
	extensions []string // of file names that ask for it; help shows the first
	by         string   // a command that writes it, for who asked another one
	binary     bool     // not for terminals
	directory  bool     // -o names one
}

// formats are the formats of all commands.
var formats = []format{
	{name: "text", extensions: []string{".txt", ".text"}, by: "analyze"},
	{name: "html", extensions: []string{".html", ".htm"}, by: "analyze"},
	{name: "json", extensions: []string{".json"}, by: "analyze"},
	{name: "csv", extensions: []string{".csv"}, by: "export"},
	{name: "markdown", extensions: []string{".md"}, by: "analyze"},
	{name: "png", extensions: []string{".png"}, by: "analyze", binary: true},
	{name: "svg", extensions: []string{".svg"}, by: "analyze"},
	{name: "ndjson", extensions: []string{".ndjson"}, by: "export"},
	{name: "benchfmt", extensions: []string{".bench"}, by: "export"},
	{name: "openmetrics", extensions: []string{".openmetrics", ".prom"}, by: "export"},
	{name: "pprof", extensions: []string{".pb.gz", ".pprof"}, by: "export", binary: true},
	{name: "perfetto", extensions: []string{".pftrace", ".pftrace.gz", ".perfetto-trace", ".perfetto-trace.gz"}, by: "export", binary: true},
	{name: "parquet", extensions: []string{".parquet"}, by: "export", directory: true},
}

func isPicture(format string) bool { return format == "png" || format == "svg" }

// formatNamed returns the format with a name, which is one of the table.
func formatNamed(name string) *format {
	return &formats[slices.IndexFunc(formats, func(f format) bool { return f.name == name })]
}

// formatOfName returns the name of the format that the longest extension of a path asks
// for, "" if none does.
func formatOfName(path string) string {
	name, found, longest := strings.ToLower(filepath.Base(path)), "", 0
	for _, f := range formats {
		for _, ext := range f.extensions {
			if len(ext) > longest && strings.HasSuffix(name, ext) {
				found, longest = f.name, len(ext)
			}
		}
	}
	return found
}

// output is one place that a result goes to.
type output struct {
	path   string // "-" is stdout
	format string
}

// outputs are the flags of commands that write reports, and what follows from them.
type outputs struct {
	choices []string // the formats of the command, that of stdout first
	paths   []string
	format  string
	json    bool
	named   bool // names have a say, as --json came without --format
	top     int  // rows of tables, if a format is text
	dpi     int  // of PNG pictures, if one is a picture

	list []output
}

// register adds the flags for the formats that a command has.
func (o *outputs) register(cmd *cobra.Command, choices ...string) {
	o.choices = choices
	flags := cmd.Flags()
	flags.StringArrayVarP(&o.paths, "output", "o", nil, "write to `FILE`, in the format of its extension: "+strings.Join(o.extensions(), " ")+"; - is stdout; may be repeated")
	flags.BoolVar(&o.json, "json", false, "write JSON, to stdout unless -o has a name for it")
	flags.StringVar(&o.format, "format", "", "use `FORMAT`, whatever the extension: "+orList(choices)+" (default "+choices[0]+")")
	if slices.Contains(choices, "text") {
		flags.IntVar(&o.top, "top", cmp.Or(o.top, view.DefaultTop), "show at most `N` rows of each table in the text; 0 shows all")
	}
	if slices.Contains(choices, "png") {
		flags.IntVar(&o.dpi, "dpi", chart.DefaultDPI, "draw PNG pictures with `N` pixels per inch")
	}
	complete(cmd, "format", choices)
}

// extensions returns those of the choices.
func (o *outputs) extensions() []string {
	return result.Each(o.choices, func(name *string) string { return formatNamed(*name).extensions[0] })
}

// plan checks the flags and decides on the format of each output; none means stdout. An
// explicit format is that of all outputs, except pictures, whose extension stays what
// counts unless the format is one of a picture, too. With --json all extensions count.
func (o *outputs) plan() error {
	if o.choices == nil {
		return nil // a command without outputs
	}
	if o.json {
		if o.format != "" && o.format != "json" {
			return usagef("", "--json and --format %s contradict each other", o.format)
		}
		o.named, o.format = o.format == "", "json"
	}
	switch {
	case o.top < 0:
		return usagef("", "--top %d: want a positive number, or 0 for all", o.top)
	case slices.Contains(o.choices, "png") && (o.dpi < 18 || o.dpi > 1200):
		return usagef("", "--dpi %d: want 18 to 1200", o.dpi)
	}
	if byName := formatOfName("x." + o.format); slices.Contains(o.choices, byName) {
		o.format = byName // md, txt
	}
	if o.format != "" {
		err := checkChoice("format", o.format, o.choices)
		if u := new(usageError); errors.As(err, &u) && u.hint == "" {
			if i := slices.IndexFunc(formats, func(f format) bool { return f.name == o.format }); i >= 0 {
				u.hint = fmt.Sprintf("schedscope %s --format %s writes %s", formats[i].by, o.format, o.format)
			}
		}
		if err != nil {
			return err
		}
	}
	paths := textui.Either(len(o.paths) == 0, []string{"-"}, o.paths)
	o.list = nil
	for _, path := range paths {
		if err := o.add(path); err != nil {
			return err
		}
	}
	if o.named && !o.has(func(format string) bool { return format == "json" }) {
		return o.add("-")
	}
	return nil
}

// add adds an output.
func (o *outputs) add(path string) error {
	byName := formatOfName(path)
	known := slices.Contains(o.choices, byName)
	out := output{path, o.format}
	switch {
	case path == "":
		return errNoName
	case isDir(path) && cmp.Or(o.format, byName) != "parquet":
		return directoryError(path)
	case slices.ContainsFunc(o.list, func(x output) bool { return sameOutput(x.path, path) }):
		return usagef("leave one out, or give them different names", "-o %s is given twice", path)
	case known && (isPicture(byName) && !isPicture(o.format) || o.named):
		out.format = byName
	case o.format == "" && path == "-":
		out.format = o.choices[0]
	case o.format == "" && !known:
		hint := "use a name with " + orList(o.extensions()) + ", or add --format"
		if byName != "" {
			hint += fmt.Sprintf("; schedscope %s -o %s writes %s", formatNamed(byName).by, path, byName)
			return usagef(hint, "-o %s: %s is not a format of this command", path, byName)
		}
		if strings.HasSuffix(path, "/") && slices.ContainsFunc(o.choices, isPicture) {
			hint = "schedscope plot draws all pictures into a directory; for one file, " + hint
		}
		return usagef(hint, "cannot infer the format from -o %s", path)
	case o.format == "":
		out.format = byName
	}
	o.list = append(o.list, out)
	return nil
}

// has reports whether one of the outputs has a format that f reports true for.
func (o *outputs) has(f func(format string) bool) bool {
	return slices.ContainsFunc(o.list, func(x output) bool { return f(x.format) })
}

// check refuses, before anything is read, what could not be written afterwards.
func (o *outputs) check(a *app, inputs []source.Ref) error {
	for _, x := range o.list {
		if x.path == "-" && x.format == "html" && isTerminal(a.stdout) {
			return usagef("name a file: -o report.html", "cannot write a page to a terminal")
		}
		if err := a.checkOutput(x.path, formatNamed(x.format).binary, inputs); err != nil {
			return err
		}
	}
	return nil
}

// write fills the outputs.
func (o *outputs) write(a *app, fill func(io.Writer, output) error) error {
	return a.writeAll(new(atomicfile.Set), result.Each(o.list, func(x *output) destination {
		return destination{x.path, func(w io.Writer) error { return fill(w, *x) }}
	}))
}

// notDrawn is the error of a picture that the report has nothing for.
type notDrawn struct{ error }

// draw draws the picture that the base name of an output asks for, or else the first.
func (o *outputs) draw(w io.Writer, x output, pictures []*chart.Picture) error {
	chosen := chart.Choose(pictures, x.path)
	if chosen.Missing != "" {
		return notDrawn{fmt.Errorf("%s is not drawn: %s", x.path, chosen.Missing)}
	}
	return chosen.Write(w, x.format, o.dpi)
}

// text returns how the text of an output is laid out.
func (o *outputs) text(a *app, w io.Writer, x output) document.TextOptions {
	opts := a.textOptions(w)
	opts.Top = o.top
	if x.path != "-" {
		opts.Color = a.color == "always" // the environment is that of terminals
	}
	return opts
}

func sameOutput(a, b string) bool { return a == b || a != "-" && b != "-" && place(a) == place(b) }

// place returns where a file will be: links are followed, also to what is not
// there yet, if they can be followed.
func place(path string) string {
	if target, err := atomicfile.Resolve(path); err == nil {
		path = target
	}
	dir := filepath.Dir(path)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return filepath.Join(abs(dir), filepath.Base(path))
}

// abs returns an absolute path, if the working directory is known.
func abs(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
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
			return usagef("write to a file with -o, or pipe it on", "cannot write binary data to a terminal")
		}
		return nil
	}
	if path == "" {
		return errNoName
	}
	if err := checkFolder(path); err != nil {
		return err
	}
	if _, err := atomicfile.Resolve(path); err != nil {
		return usagef("", "-o %s: %w", path, err)
	}
	atomicfile.Sweep(filepath.Dir(path))
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
		return &usageError{err: fmt.Errorf("creating %s: %s is not a directory", path, dir)}
	}
	return nil
}

// destination is a place that fill writes to.
type destination struct {
	path string // "-" is stdout
	fill func(io.Writer) error
}

// write fills one output.
func (a *app) write(path string, fill func(io.Writer) error) error {
	return a.writeAll(new(atomicfile.Set), []destination{{path, fill}})
}

// writeAll fills outputs, of which set's files appear together once all are complete. Stdout comes last:
// what was written there cannot be taken back. If its reader leaves, such as head, the
// files appear. A picture that cannot be drawn keeps none of the others back.
func (a *app) writeAll(set *atomicfile.Set, list []destination) error {
	defer set.Abort()
	var missing, left error
	for _, stdout := range []bool{false, true} {
		for _, d := range list {
			if (d.path == "-") != stdout {
				continue
			}
			var err error
			if stdout {
				err = d.fill(a.stdout)
			} else {
				err = set.WriteFile(d.path, d.fill)
			}
			switch {
			case errors.As(err, new(notDrawn)):
				missing = cmp.Or(missing, err)
			case readerLeft(err):
				left = err
			case err != nil:
				return err
			}
		}
	}
	if err := set.Finish(); err != nil {
		return err
	}
	for _, d := range list {
		if info, err := os.Stat(d.path); a.verbose && d.path != "-" && err == nil {
			a.detail("wrote %s (%s)", d.path, textui.Bytes(info.Size()))
		}
	}
	return cmp.Or(missing, left)
}

// cause strips what os puts before an error and the message has already.
func cause(err error) error { return atomicfile.Cause(err) }
