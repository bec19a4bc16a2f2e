// Package verdict renders the outcome of a gate: as text for whoever reads a failed
// job, as Markdown and annotations for the pages of a CI system, and in formats that
// other tools read. It computes no statistics: every figure is one of a [gate.Result].
// This package promises nothing to other modules.
//
// Names in results come from traces and budgets, which are untrusted. Every format but
// JSON shows them with control characters escaped, and each escapes what has a meaning
// in it.
package verdict

import (
	"io"
	"slices"

	"github.com/schedscope/schedscope/analyze/gate"
	"github.com/schedscope/schedscope/internal/savedfile"
	"github.com/schedscope/schedscope/report/document"
)

// Options configures rendering. Formats use the ones that concern them.
type Options struct {
	document.TextOptions // of text, which does not wrap without a width

	// BaseDir and CandDir are the folders of the traces, for commands that can be pasted;
	// "" if not known.
	BaseDir, CandDir string

	// Root is the folder of the repository and Module the path of its module. Files in
	// traces are named relative to Root by formats that point into the source; others are
	// left out. ModuleDir is where the module lies below Root, slash-separated; "" is at it.
	Root      string
	Module    string
	ModuleDir string
	// Budget is the budget file relative to Root, slash-separated, and Lines has the lines of
	// its rules by slug: there violations are shown that no line of the source explains.
	Budget string
	Lines  map[string]int
}

// Format is a way to render a result.
type Format struct {
	Name string
	Ext  string // of files, with the dot
	Doc  string // one line for help

	write func(w io.Writer, r *gate.Result, o Options) error // of a result of its own
}

// Write renders r, all or, if r cannot be written in this format, nothing.
func (f *Format) Write(w io.Writer, r *gate.Result, o Options) error {
	c, err := tidy(r, f.Name != "json")
	if err != nil {
		return err
	}
	return f.write(w, c, o)
}

// Formats are all formats, in the order in which help shows them.
var Formats = []Format{
	{"text", ".txt", "for people: the verdict, then each rule with what it rests on, failures first", text},
	{"json", ".json", "all there is, schema " + gate.Schema + "; every other format derives from it", func(w io.Writer, r *gate.Result, _ Options) error {
		r.Schema = gate.Schema
		return savedfile.WriteJSON(w, r, false)
	}},
	{"markdown", ".md", "for job summaries ($GITHUB_STEP_SUMMARY): failures first, passes folded, at most 900 kB", markdown},
	{"github", ".github.txt", "annotations of GitHub Actions: violated rules at the source line of the worst class, at most 10 errors and 10 warnings", github},
	{"junit", ".xml", "JUnit XML: a testcase per rule; inconclusive and waived ones are skipped, unusable ones errors", junit},
	{"sarif", ".sarif", "SARIF 2.1.0 for code scanning: violated rules that have a place in the source", sarif},
}

// Lookup returns the format of that name, which must be one.
func Lookup(name string) Format {
	return Formats[slices.IndexFunc(Formats, func(f Format) bool { return f.Name == name })]
}
