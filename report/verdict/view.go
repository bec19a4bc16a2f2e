package verdict

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/gate"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/report/document"
)

// text writes what an engineer reads first in a failed job: the verdict, then the figures
// of each rule, failures first, and then where, why, what to look at and what to do next.
func text(w io.Writer, c *gate.Result, o Options) error {
	v := newView(c, o)
	return v.text(w, v.document())
}

// markdown writes a job summary: the same, with what passed folded.
func markdown(w io.Writer, c *gate.Result, o Options) error {
	v := newView(c, o)
	v.marks = true
	var b bytes.Buffer
	word := headWord(v.r.Verdict)
	fmt.Fprintf(&b, "## %sschedscope gate: %s\n\n", signs[word], word)
	if err := document.Markdown(&b, v.document()); err != nil {
		return err
	}
	_, err := io.WriteString(w, cut(b.String(), maxMarkdown))
	return err
}

// view makes a document of a result.
type view struct {
	o     Options
	r     *gate.Result
	rules []*gate.RuleResult // failures first
	seen  map[note]bool      // shown for rules before
	marks bool               // signs stand before verdicts
}

func newView(c *gate.Result, o Options) *view {
	refer(c)
	return &view{o: o, r: c, rules: ranked(c), seen: map[note]bool{}}
}

// document has the verdict first; then what decided it: the warnings of an unusable check,
// guards that failed, or the rules.
func (v *view) document() *document.Document {
	d := &document.Document{}
	head := document.New("verdict", "")
	if v.marks { // its heading says so
		head.Paragraphs(v.r.Headline, about(v.r))
	} else {
		head.Add(document.Paragraph{Strong: headWord(v.r.Verdict), Text: "  " + v.r.Headline}, document.Paragraph{Text: about(v.r)})
	}
	d.Add(head)
	quiet := len(v.rules)
	for quiet > 0 && stateOf(v.rules[quiet-1]) >= unseen {
		quiet--
	}
	passes := fmt.Sprintf("%d of %d rules passed", len(v.rules)-quiet, len(v.rules))
	rules := []*document.Section{v.table("rules", "Rules", v.rules[:quiet]), v.table("passed", passes, v.rules[quiet:])}
	for _, r := range v.rules {
		rules = append(rules, v.details(r))
	}
	notes := []*document.Section{document.Statements("warnings", "Warnings", v.r.Warnings), document.Statements("next", "Next", v.r.Next)}
	guardsFirst := v.r.Verdict != gate.Fail && slices.ContainsFunc(v.r.Guards, func(g gate.Guard) bool {
		return g.Status == gate.GuardFailed || g.Blocks != "" && g.Status == gate.GuardUnknown
	})
	guards := []*document.Section{v.guards()}
	switch {
	case v.r.Verdict == gate.Unusable:
		d.Add(slices.Concat(notes, rules, guards)...)
	case guardsFirst:
		d.Add(slices.Concat(guards, rules, notes)...)
	default:
		d.Add(slices.Concat(rules, guards, notes)...)
	}
	return d
}

var signs = map[string]string{"FAIL": "❌ ", "UNUSABLE": "❌ ", "WARN": "⚠️ ", "WAIVED": "⚠️ ", "INCONCLUSIVE": "❔ ", "PASS": "✅ "}

// table has rules with their figures. Columns that no rule has are left out.
func (v *view) table(id, title string, rules []*gate.RuleResult) *document.Section {
	s := document.New(id, title)
	s.Fold = id == "passed"
	columns := []document.Column{document.Word("verdict"), document.Name("rule")}
	number := func(name string) document.Column { return document.Number(name, 0) }
	all := result.Each(rules, func(r **gate.RuleResult) figures { return figuresOf(*r) })
	type figure struct {
		column document.Column
		of     func(*figures) string
	}
	optional := []figure{
		{number("base").Drop(4), func(f *figures) string { return f.base }}, {number("cand"), func(f *figures) string { return f.cand }},
		{number("limit").Drop(3), func(f *figures) string { return f.limit }}, {document.Word("cand/base"), func(f *figures) string { return f.ratio }},
		{document.Word("p").Drop(1), func(f *figures) string { return strings.TrimLeft(f.p, "p=") }},
		{document.Word("n").Drop(2), func(f *figures) string { return strings.TrimPrefix(f.n, "n=") }},
	}
	optional = slices.DeleteFunc(optional, func(x figure) bool {
		return !slices.ContainsFunc(all, func(f figures) bool { return x.of(&f) != "" })
	})
	for _, x := range optional {
		columns = append(columns, x.column)
	}
	t := s.Table("t-"+id, append(columns, document.Words(""))...)
	t.Fixed = true
	for i, r := range rules {
		word := words[stateOf(r)]
		word = textui.If(v.marks, signs[word]) + word
		cells := []any{word, r.Rule}
		for _, x := range optional {
			cells = append(cells, x.of(&all[i]))
		}
		t.Row(append(cells, remark(r))...)
	}
	return s.OrNil()
}

// details has what follows the figures of a rule that needs attention, nil if nothing does.
func (v *view) details(r *gate.RuleResult) *document.Section {
	var facts document.Facts
	facts.Add("note", reason(r))
	if s := stateOf(r); s == inconclusive || s == unusable {
		facts.Add("needs", needs(r))
	}
	if violated(r) {
		facts.Add("owner", r.Owner)
	}
	if r.Explain != nil {
		left, same := fresh(v.o.notes(v.r, r), v.seen)
		for i, n := range left {
			if i > 0 && n.label == left[i-1].label && !v.marks { // Markdown has no columns
				n.label = ""
			}
			facts.Add(n.label, n.text)
		}
		if len(same) > 0 {
			facts.Add("", strings.Join(same, ", ")+" as above")
		}
	}
	if len(facts) == 0 {
		return nil
	}
	s := document.New("rule-"+r.Slug, words[stateOf(r)]+" "+r.Rule)
	s.Add(facts)
	return s
}

// maxDropped is how many dropped traces are shown by name.
const maxDropped = 8

// guards has the guards that did not hold, and which traces were dropped.
func (v *view) guards() *document.Section {
	dropped := drops(v.r)
	if len(v.r.Guards) == 0 && len(dropped) == 0 {
		return nil
	}
	s := document.New("guards", "Guards")
	var facts document.Facts
	var ok []string
	for _, g := range v.r.Guards {
		if g.Status == gate.GuardOK {
			ok = append(ok, g.Name)
			continue
		}
		facts = append(facts, document.Pair{Name: cmp.Or(guardWords[g.Status], string(g.Status)) + " " + g.Name, Value: textui.Join("; ", g.Text, blocked(&g))})
	}
	facts.Add("ok", strings.Join(ok, ", "))
	for _, d := range dropped[:min(maxDropped, len(dropped))] {
		facts.Add("dropped", d)
	}
	if n := len(dropped) - maxDropped; n > 0 {
		facts.Add("dropped", fmt.Sprintf("%d more", n))
	}
	s.Add(facts)
	return s
}

var (
	// verdictWord is a verdict or an outcome at the start of a line.
	verdictWord = regexp.MustCompile(`(?m)^((?:\x1b\[1m)? *)(FAIL|UNUSABLE|FAILED|WARN|WAIVED|INCONCLUSIVE|PASS|ok|unknown)( |\x1b|$)`)
	// command is what a CI system takes for a command of its own. Another is "##[" anywhere.
	command = regexp.MustCompile(`(?m)^( *)::`)
)

var colours = map[string]string{
	"FAIL": "1;31", "UNUSABLE": "1;31", "FAILED": "1;31", "WARN": "1;33", "WAIVED": "1;33", "INCONCLUSIVE": "1;33", "unknown": "33", "PASS": "1;32", "ok": "32",
}

// text writes a document as text for logs, in colours if asked.
func (v *view) text(w io.Writer, d *document.Document) error {
	t := document.NewTextWriter(v.o.TextOptions)
	if v.o.Width <= 0 {
		t.TableWidth = 1000 // logs have room
	}
	t.Sections(d.Sections...)
	var b bytes.Buffer
	if err := t.Flush(&b); err != nil {
		return err
	}
	out := strings.ReplaceAll(command.ReplaceAllString(b.String(), "$1: :"), "##[", "## [")
	if v.o.Color {
		out = verdictWord.ReplaceAllStringFunc(out, func(s string) string {
			m := verdictWord.FindStringSubmatch(s)
			return m[1] + "\x1b[" + colours[m[2]] + "m" + m[2] + "\x1b[0m" + m[3]
		})
	}
	_, err := io.WriteString(w, out)
	return err
}

// maxMarkdown is how many bytes Markdown writes at most: GitHub refuses job summaries
// above 1024 KiB.
const maxMarkdown = 900_000

// cut returns the first lines of s, at most limit bytes, with a note if that is not all.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	const note = "\nThe rest is cut off here: it is too long for a job summary. The report as text or JSON has all.\n"
	const closing = "\n</details>\n"
	s = s[:limit-len(note)-len(closing)]
	s = s[:strings.LastIndexByte(s, '\n')+1]
	if strings.Count(s, "<details>") > strings.Count(s, "</details>") {
		s += closing
	}
	return s + note
}
