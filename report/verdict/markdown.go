package verdict

import (
	"fmt"
	"io"
	"strings"

	"github.com/schedscope/schedscope/analyze/gate"
	"github.com/schedscope/schedscope/internal/textui"
)

// maxMarkdown is how many bytes Markdown writes at most: GitHub refuses job summaries
// above 1024 KiB.
const maxMarkdown = 900_000

// Markdown writes a job summary: the verdict, failures with their explanation, what was
// not judged, and the rest folded.
func Markdown(w io.Writer, r *gate.Result, o Options) error {
	c, err := printable(r)
	if err != nil {
		return err
	}
	refer(c)
	var b strings.Builder
	m := &markdown{&b, c, o, map[note]bool{}}
	m.head()
	if guardsFirst(c) {
		m.guards()
	}
	rules := ranked(c)
	quiet := len(rules) - count(rules, passed, unseen)
	m.table(rules[:quiet])
	for _, rr := range rules[:quiet] {
		m.details(rr)
	}
	if !guardsFirst(c) {
		m.guards()
	}
	if quiet < len(rules) {
		m.fold(fmt.Sprintf("%d of %d rules passed", len(rules)-quiet, len(rules)), func() { m.table(rules[quiet:]) })
	}
	m.tail()
	_, err = io.WriteString(w, cut(b.String(), maxMarkdown))
	return err
}

type markdown struct {
	*strings.Builder
	r *gate.Result
	o Options
	// seen is what was told of rules before.
	seen map[note]bool
}

var marks = map[string]string{"FAIL": "❌", "UNUSABLE": "❌", "WARN": "⚠️", "WAIVED": "⚠️", "INCONCLUSIVE": "❔", "PASS": "✅"}

func (m *markdown) printf(format string, args ...any) { fmt.Fprintf(m, format, args...) }

func (m *markdown) head() {
	word := headWord(m.r.Verdict)
	m.printf("## %s schedscope gate: %s\n\n%s\n\n%s\n\n", marks[word], word, textui.Markdown(m.r.Headline), textui.Markdown(about(m.r)))
}

// table writes rules with their figures.
func (m *markdown) table(rules []*gate.RuleResult) {
	if len(rules) == 0 {
		return
	}
	m.WriteString("| verdict | rule | base | candidate | limit | candidate / base | p | n | |\n|---|---|--:|--:|--:|--:|---|---|---|\n")
	for _, r := range rules {
		f := figuresOf(r)
		word := words[stateOf(r)]
		cells := []string{marks[word] + " " + word, textui.MarkdownCode(r.Rule)}
		for _, s := range []string{f.base, f.cand, f.limit, f.ratio, strings.TrimPrefix(f.p, "p="), strings.TrimPrefix(f.n, "n="), remark(r)} {
			cells = append(cells, textui.Markdown(s))
		}
		m.printf("| %s |\n", strings.Join(cells, " | "))
	}
	m.WriteString("\n")
}

// details writes what follows the figures of a rule that needs attention, if anything does.
func (m *markdown) details(r *gate.RuleResult) {
	body := &markdown{new(strings.Builder), m.r, m.o, m.seen}
	body.item("note", reason(r))
	if s := stateOf(r); s == inconclusive || s == unusable {
		body.item("needs", needs(r))
	}
	body.item("owner", r.Owner)
	if r.Explain != nil {
		body.notes(r)
	}
	if body.Len() > 0 {
		m.printf("### %s %s\n\n%s\n", words[stateOf(r)], textui.MarkdownCode(r.Rule), body.String())
	}
}

func (m *markdown) notes(r *gate.RuleResult) {
	left, same := fresh(m.o.notes(m.r, r), m.seen)
	for _, n := range left {
		text := textui.Markdown(n.text)
		if n.label == "run" {
			text = textui.MarkdownCode(n.text)
		}
		m.printf("- **%s** %s\n", n.label, text)
	}
	if len(same) > 0 {
		m.printf("- **%s** as above\n", strings.Join(same, ", "))
	}
}

func (m *markdown) item(label, s string) {
	if s != "" {
		m.printf("- **%s** %s\n", label, textui.Markdown(s))
	}
}

func (m *markdown) items(label string, list []string) {
	for _, s := range list {
		m.item(label, s)
	}
}

// guards writes which guards did not hold and which traces were dropped.
func (m *markdown) guards() {
	var ok []string
	rows := ""
	for _, g := range m.r.Guards {
		if g.Status == gate.GuardOK {
			ok = append(ok, g.Name)
			continue
		}
		text := g.Text
		if s := blocked(&g); s != "" {
			text += "; " + s
		}
		rows += fmt.Sprintf("| %s | %s | %s |\n", guardWord(g.Status), textui.Markdown(g.Name), textui.Markdown(text))
	}
	if rows != "" {
		m.WriteString("### Guards\n\n| outcome | guard | what was seen |\n|---|---|---|\n" + rows + "\n")
	}
	if len(ok) > 0 {
		m.printf("Guards that hold: %s.\n\n", textui.Markdown(strings.Join(ok, ", ")))
	}
	if d := drops(m.r); len(d) > 0 {
		m.fold(fmt.Sprintf("%d traces dropped", len(d)), func() {
			for _, d := range d {
				m.printf("- %s of the %s: %s\n", textui.MarkdownCode(d.trace), d.side, textui.Markdown(d.why))
			}
			m.WriteString("\n")
		})
	}
}

func (m *markdown) fold(title string, body func()) {
	m.printf("<details><summary>%s</summary>\n\n", title)
	body()
	m.WriteString("</details>\n\n")
}

func (m *markdown) tail() {
	m.items("warning", m.r.Warnings)
	m.items("next", m.r.Next)
}

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
