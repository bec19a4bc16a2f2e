package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/gate"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/atomicfile"
	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/report/verdict"
)

// reportFile is a report that was asked for.
type reportFile struct {
	format verdict.Format
	path   string // "-": stdout
	append bool   // to what is there: a job summary
	stderr bool   // instead of stdout, which another report has
}

func verdictFormats() []string {
	return result.Each(verdict.Formats, func(f *verdict.Format) string { return f.Name })
}

// planReports understands --report. In a GitHub job annotations and the job summary are
// written without being asked for. Files come before stdout; none may be one of the inputs.
func (a *app) planReports(lists []string, inputs []source.Ref) ([]reportFile, error) {
	var out []reportFile
	for _, list := range lists {
		for part := range strings.SplitSeq(list, ",") {
			r, err := a.planReport(strings.TrimSpace(part), inputs)
			if err != nil {
				return nil, err
			}
			if err := r.checkPlace(out); err != nil {
				return nil, err
			}
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		out = append(out, reportFile{format: verdict.Lookup("text"), path: "-"})
	}
	if os.Getenv("GITHUB_ACTIONS") == "true" {
		out = withGitHub(out, os.Getenv("GITHUB_STEP_SUMMARY"))
	}
	slices.SortStableFunc(out, func(x, y reportFile) int { return toStdout(x) - toStdout(y) })
	return out, nil
}

func toStdout(r reportFile) int { return textui.Either(r.path == "-", 1, 0) }

func (a *app) planReport(text string, inputs []source.Ref) (reportFile, error) {
	name, path, ok := strings.Cut(text, "=")
	if err := checkChoice("report", name, verdictFormats()); err != nil {
		return reportFile{}, err
	}
	r := reportFile{format: verdict.Lookup(name), path: "-"}
	if ok {
		r.path = path
		return r, forFlag("--report "+name+"=", a.checkOutput(path, false, inputs))
	}
	return r, nil
}

// forFlag has an error name the flag that it is of instead of -o.
func forFlag(flag string, err error) error {
	u, ok := errors.AsType[*usageError](err)
	if !ok {
		return err
	}
	rest, ok := strings.CutPrefix(u.Error(), "-o ")
	switch {
	case !ok:
		return err
	case err == errNoName:
		return usagef("add one, such as "+flag+"gate.out", "%s without a file name", flag)
	}
	return &usageError{errors.New(flag + rest), u.hint}
}

// checkPlace refuses two reports in one place, except for annotations below a text: both are
// lines of a log.
func (r *reportFile) checkPlace(others []reportFile) error {
	for _, o := range others {
		if !sameOutput(o.path, r.path) || r.path == "-" && o.format.Name != r.format.Name && isLog(&o) && isLog(r) {
			continue
		}
		if r.path == "-" {
			return usagef("give one a file: "+r.format.Name+"=gate"+r.format.Ext, "--report %s and %s both go to stdout", o.format.Name, r.format.Name)
		}
		return usagef("give them different files", "--report %s and %s both go to %s", o.format.Name, r.format.Name, r.path)
	}
	return nil
}

func isLog(r *reportFile) bool { return r.format.Name == "text" || r.format.Name == "github" }

// withGitHub adds what a GitHub job shows, if it is not among the reports: annotations, which
// are read from stderr, too, and the job summary.
func withGitHub(out []reportFile, summary string) []reportFile {
	if !slices.ContainsFunc(out, func(r reportFile) bool { return r.format.Name == "github" }) {
		r := reportFile{format: verdict.Lookup("github"), path: "-"}
		r.stderr = slices.ContainsFunc(out, func(r reportFile) bool { return r.path == "-" && !isLog(&r) })
		out = append(out, r)
	}
	if summary != "" && !slices.ContainsFunc(out, func(r reportFile) bool { return sameOutput(r.path, summary) }) {
		out = append(out, reportFile{format: verdict.Lookup("markdown"), path: summary, append: true})
	}
	return out
}

// reportVerdict writes all reports and turns the verdict into the exit code.
func (a *app) reportVerdict(r *gate.Result, reports []reportFile, o verdict.Options) error {
	var list []destination
	for _, rep := range reports {
		list = append(list, a.verdictTo(rep, func(w io.Writer) error {
			o := o
			if rep.path == "-" {
				o.TextOptions = a.textOptions(w)
			}
			return rep.format.Write(w, r, o)
		}))
	}
	// If the reader of stdout has left, he has seen enough, but the verdict stands.
	if err := a.writeAll(new(atomicfile.Set), list); err != nil && !readerLeft(err) {
		return err
	}
	if r.Exit == exitOK {
		return nil
	}
	return &exitError{code: r.Exit, silent: true}
}

// folder returns the folder of a side's traces, "" if there is not one of all.
func folder(operands []string) string {
	dir := ""
	for i, o := range operands {
		d := textui.Either(isDir(o), o, filepath.Dir(o))
		if i > 0 && d != dir {
			return "" // the traces may be anywhere
		}
		dir = d
	}
	return dir
}

// verdictTo returns where a report goes. A job summary holds what other steps wrote, too: it
// is written like stdout, after the files.
func (a *app) verdictTo(rep reportFile, fill func(io.Writer) error) destination {
	switch {
	case rep.stderr:
		return destination{"-", func(io.Writer) error { return fill(a.stderr) }}
	case !rep.append:
		return destination{rep.path, fill}
	}
	return destination{"-", func(io.Writer) error {
		var b bytes.Buffer
		if err := fill(&b); err != nil {
			return err
		}
		f, err := os.OpenFile(rep.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err == nil {
			_, err = f.Write(b.Bytes())
			err = cmp.Or(err, f.Close())
		}
		if err != nil {
			return fmt.Errorf("writing the job summary %s: %w", rep.path, cause(err))
		}
		return nil
	}}
}
