package verdict

import (
	"fmt"
	"io"
	"strings"

	"github.com/schedscope/schedscope/analyze/gate"
	"github.com/schedscope/schedscope/internal/textui"
)

// maxAnnotations is how many errors, and how many warnings, of a step GitHub shows.
const maxAnnotations = 10

// github writes workflow commands that annotate violated rules, the worst first, and says
// in one more if nothing could be judged. Rules that hold are left out.
func github(w io.Writer, c *gate.Result, o Options) error {
	var b strings.Builder
	errors, warnings := 0, 0
	switch c.Verdict {
	case gate.Unusable:
		errors++
		b.WriteString(annotation("error", "", 0, "schedscope gate: unusable", c.Headline))
	case gate.Inconclusive:
		warnings++
		b.WriteString(annotation("warning", "", 0, "schedscope gate: inconclusive", c.Headline))
	}
	for _, rr := range ranked(c) {
		kind, n := "error", &errors
		switch stateOf(rr) {
		case failed:
		case warned, waived:
			kind, n = "warning", &warnings
		default:
			continue
		}
		if *n++; *n > maxAnnotations {
			continue
		}
		p, _, _ := o.top(rr)
		b.WriteString(annotation(kind, p.path, p.line, title(rr), o.message(c, rr)))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// title is a violated rule in a few words: "p99(runnable) x1.60 [1.43, 1.81]".
func title(r *gate.RuleResult) string {
	f := figuresOf(r)
	what, _, _ := strings.Cut(r.Rule, " ")
	switch {
	case r.Ratio != nil:
		return what + " " + f.ratio
	case f.cand == "":
		return what
	case f.ratio != "":
		f.cand += ", " + f.ratio
	}
	return what + " is " + f.cand + ", limit " + f.limit
}

// message describes a violated rule in lines: what was seen, where, why and what to do.
func (o *Options) message(c *gate.Result, r *gate.RuleResult) string {
	lines := []string{words[stateOf(r)] + "  " + r.Rule, named(r), remark(r), reason(r)}
	if r.Explain != nil {
		for _, n := range o.notes(c, r) {
			lines = append(lines, n.label+": "+n.text)
		}
	}
	return textui.Join("\n", lines...)
}

// annotation returns a workflow command. What it holds cannot end it or begin another.
func annotation(kind, file string, line int, title, message string) string {
	props := textui.If(file != "", fmt.Sprintf("file=%s,line=%d,", property(file), line))
	return fmt.Sprintf("::%s %stitle=%s::%s\n", kind, props, property(textui.Shorten(title, 200)), dataEscapes.Replace(message))
}

var (
	dataEscapes     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	propertyEscapes = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

func property(s string) string { return propertyEscapes.Replace(s) }

// named returns the figures that there are, with their names.
func named(r *gate.RuleResult) string {
	f := figuresOf(r)
	out := []string{f.base, f.cand, f.limit, f.ratio, f.p, f.n}
	for i, name := range []string{"base ", "cand ", "limit "} {
		if out[i] != "" {
			out[i] = name + out[i]
		}
	}
	return textui.Join("  ", out...)
}
