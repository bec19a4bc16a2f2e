package verdict

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/schedscope/schedscope/analyze/gate"
	"github.com/schedscope/schedscope/internal/textui"
)

// Text writes what an engineer reads first in a failed job: the verdict, then per rule
// the figures that it rests on, failures first with where, why, what to look at and what
// to do next.
func Text(w io.Writer, r *gate.Result, o Options) error {
	c, err := printable(r)
	if err != nil {
		return err
	}
	refer(c)
	t := &text{o: o, r: c, rules: ranked(c), seen: map[note]bool{}}
	t.head()
	switch {
	case c.Verdict == gate.Unusable:
		t.tail()
		t.judged()
		t.guards()
	case guardsFirst(c):
		t.guards()
		t.judged()
		t.tail()
	default:
		t.judged()
		t.guards()
		t.tail()
	}
	_, err = io.WriteString(w, t.finish())
	return err
}

// text is a text being written. Lines hold no line ends.
type text struct {
	o     Options
	r     *gate.Result
	rules []*gate.RuleResult
	lines []string
	seen  map[note]bool // told of rules before
}

func (t *text) line(s string) { t.lines = append(t.lines, strings.TrimRight(s, " ")) }

func (t *text) head() {
	word := headWord(t.r.Verdict)
	t.line(t.paint(word, word) + "  " + t.wrap(t.r.Headline, len(word)+2))
	t.line(strings.Repeat(" ", len(word)+2) + t.wrap(about(t.r), len(word)+2))
}

// finish returns the text with nothing in it that a CI system takes for a command of its
// own: those stand at the start of a line, or are "##[" anywhere.
func (t *text) finish() string {
	var b strings.Builder
	for _, l := range strings.Split(strings.Join(t.lines, "\n"), "\n") {
		l = strings.ReplaceAll(l, "##[", "## [")
		if rest := strings.TrimLeft(l, " "); strings.HasPrefix(rest, "::") {
			l = l[:len(l)-len(rest)] + ": :" + rest[2:]
		}
		b.WriteString(l + "\n")
	}
	if t.o.Unicode {
		return b.String()
	}
	return textui.ASCII(b.String())
}

// judged writes the rules.
func (t *text) judged() {
	l := t.layout()
	for i, r := range t.rules {
		if i == 0 || violated(r) || violated(t.rules[i-1]) {
			t.line("")
		}
		t.rule(r, l)
	}
}

// layout says how wide the columns are, and whether a rule and its figures are on one line.
type layout struct {
	word, rule                     int
	base, limit, cand, ratio, p, n int
	oneLine                        bool
}

// widestRule is how wide rules may be to have their figures beside them.
const widestRule = 56

func (t *text) layout() layout {
	var l layout
	for _, r := range t.rules {
		f := figuresOf(r)
		l.word = max(l.word, len(words[stateOf(r)]))
		if w := textui.Width(r.Rule); w <= widestRule {
			l.rule = max(l.rule, w)
		}
		l.base = max(l.base, textui.Width(f.base))
		l.limit = max(l.limit, textui.Width(f.limit))
		l.cand = max(l.cand, textui.Width(f.cand))
		l.ratio = max(l.ratio, textui.Width(f.ratio))
		l.p = max(l.p, textui.Width(f.p))
		l.n = max(l.n, textui.Width(f.n))
	}
	total := l.word + 2 + l.rule + 2 + textui.Width(l.figures(figures{}))
	l.oneLine = t.o.Width <= 0 || total <= t.o.Width
	return l
}

// figures returns the figures in their columns. Columns that no rule has are left out.
func (l *layout) figures(f figures) string {
	var b strings.Builder
	column := func(name, value string, width int, right bool) {
		if width == 0 {
			return
		}
		gap := strings.Repeat(" ", max(0, width-textui.Width(value)))
		switch {
		case value == "":
			b.WriteString(strings.Repeat(" ", textui.Width(name)) + gap)
		case right:
			b.WriteString(name + gap + value)
		default:
			b.WriteString(name + value + gap)
		}
		b.WriteString("  ")
	}
	column("base ", f.base, l.base, true)
	column("cand ", f.cand, l.cand, true)
	column("limit ", f.limit, l.limit, true)
	column("", f.ratio, l.ratio, false)
	column("", f.p, l.p, false)
	column("", f.n, l.n, false)
	return b.String()
}

func (t *text) rule(r *gate.RuleResult, l layout) {
	word := words[stateOf(r)]
	start := t.paint(word, word) + strings.Repeat(" ", l.word-len(word)+2) + t.paint("rule", r.Rule)
	indent := strings.Repeat(" ", l.word+2)
	gap := l.rule - textui.Width(r.Rule) + 2
	switch {
	case l.oneLine && gap >= 2:
		t.line(start + strings.Repeat(" ", gap) + l.figures(figuresOf(r)) + remark(r))
	case l.oneLine:
		t.line(start)
		t.line(indent + strings.Repeat(" ", l.rule+2) + l.figures(figuresOf(r)) + remark(r))
	default:
		t.line(start)
		for _, s := range pack(append(list(r), remark(r)), t.o.Width-len(indent)) {
			t.line(indent + s)
		}
	}
	t.details(r, indent)
}

// list returns the figures that there are, with their names.
func list(r *gate.RuleResult) []string {
	f := figuresOf(r)
	var out []string
	for _, c := range []struct{ name, value string }{
		{"base ", f.base}, {"cand ", f.cand}, {"limit ", f.limit}, {"", f.ratio}, {"", f.p}, {"", f.n},
	} {
		if c.value != "" {
			out = append(out, c.name+c.value)
		}
	}
	return out
}

// pack joins texts to lines of at most limit columns, two blanks apart.
func pack(texts []string, limit int) []string {
	var out []string
	for _, s := range texts {
		switch last := len(out) - 1; {
		case s == "":
		case last >= 0 && textui.Width(out[last])+2+textui.Width(s) <= limit:
			out[last] += "  " + s
		default:
			out = append(out, s)
		}
	}
	return out
}

// details writes what follows the figures of a rule that needs attention.
func (t *text) details(r *gate.RuleResult, indent string) {
	t.item(indent, "note:", reason(r))
	if s := stateOf(r); s == inconclusive || s == unusable {
		t.item(indent, "needs:", needs(r))
	}
	if violated(r) && r.Owner != "" {
		t.item(indent, "owner:", r.Owner)
	}
	if r.Explain == nil {
		return
	}
	left, same := fresh(t.o.notes(t.r, r), t.seen)
	if len(same) > 0 {
		t.item(indent, "", strings.Join(same, ", ")+" as above")
	}
	last := ""
	for _, n := range left {
		label := n.label + ":"
		if n.label == last {
			label = ""
		}
		last = n.label
		t.item(indent, label, n.text)
	}
}

// labelWidth is the column in which the texts of items begin, after the indent.
const labelWidth = 8

func (t *text) item(indent, label, s string) {
	if s == "" {
		return
	}
	gap := strings.Repeat(" ", max(1, labelWidth-len(label)))
	t.line(indent + t.paint("label", label) + gap + t.wrap(s, len(indent)+labelWidth))
}

// wrap wraps the words of s to what is left of the width at a column.
func (t *text) wrap(s string, column int) string {
	if t.o.Width <= 0 {
		return s
	}
	return textui.Columns(s, max(20, t.o.Width-column), strings.Repeat(" ", column))
}

// guards writes the guards that did not hold, and which traces were dropped.
func (t *text) guards() {
	var ok []string
	var rows []gate.Guard
	width, word := 0, 0
	for _, g := range t.r.Guards {
		if g.Status == gate.GuardOK {
			ok = append(ok, g.Name)
			continue
		}
		rows = append(rows, g)
		width, word = max(width, textui.Width(g.Name)), max(word, len(guardWord(g.Status)))
	}
	if len(t.r.Guards) == 0 && len(drops(t.r)) == 0 {
		return
	}
	t.line("")
	t.line("guards")
	for _, g := range rows {
		w := guardWord(g.Status)
		s := g.Text
		if b := blocked(&g); b != "" {
			s += "; " + b
		}
		start := "  " + t.paint(w, w) + strings.Repeat(" ", word-len(w)+2) + g.Name + strings.Repeat(" ", width-textui.Width(g.Name)+2)
		t.line(start + t.wrap(s, 2+word+2+width+2))
	}
	if len(ok) > 0 {
		t.line("  " + t.paint("ok", "ok") + strings.Repeat(" ", max(0, word-2)+2) + t.wrap(strings.Join(ok, ", "), 2+max(word, 2)+2))
	}
	list := drops(t.r)
	for _, d := range list[:min(maxDropped, len(list))] {
		t.line("  dropped  " + t.wrap(d.trace+" of the "+d.side+": "+d.why, 11))
	}
	if more := len(list) - maxDropped; more > 0 {
		t.line("  dropped  " + strconv.Itoa(more) + " more")
	}
}

// maxDropped is how many dropped traces are told by name.
const maxDropped = 8

// guardsFirst reports whether the guards are what decided.
func guardsFirst(r *gate.Result) bool {
	return r.Verdict != gate.Fail && slices.ContainsFunc(r.Guards, func(g gate.Guard) bool {
		return g.Status == gate.GuardFailed || g.Blocks != "" && g.Status == gate.GuardUnknown
	})
}

// tail writes what concerns the whole check.
func (t *text) tail() {
	if len(t.r.Warnings)+len(t.r.Next) > 0 {
		t.line("")
	}
	for _, s := range t.r.Warnings {
		t.line(t.paint("warning", "warning:") + " " + t.wrap(s, 9))
	}
	for _, s := range t.r.Next {
		t.line(t.paint("label", "next:") + " " + t.wrap(s, 6))
	}
}

// colours by what is painted.
var colours = map[string]string{
	"FAIL": "1;31", "UNUSABLE": "1;31", "FAILED": "1;31",
	"WARN": "1;33", "WAIVED": "1;33", "INCONCLUSIVE": "1;33", "warning": "33", "unknown": "33",
	"PASS": "1;32", "ok": "32",
	"rule": "1", "label": "36",
}

func (t *text) paint(what, s string) string {
	code := colours[what]
	if !t.o.Color || code == "" || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}
