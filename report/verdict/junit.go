package verdict

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/schedscope/schedscope/analyze/gate"
	"github.com/schedscope/schedscope/internal/textui"
)

type junitSuites struct {
	XMLName  xml.Name   `xml:"testsuites"`
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Errors   int        `xml:"errors,attr"`
	Suite    junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Time       string          `xml:"time,attr"`
	Properties []junitProperty `xml:"properties>property,omitempty"`
	Cases      []junitCase     `xml:"testcase"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	File    string        `xml:"file,attr,omitempty"`
	Line    int           `xml:"line,attr,omitempty"`
	Time    string        `xml:"time,attr"`
	Failure *junitOutcome `xml:"failure"`
	Error   *junitOutcome `xml:"error"`
	Skipped *junitOutcome `xml:"skipped"`
	Out     string        `xml:"system-out,omitempty"`
}

type junitOutcome struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// junit writes a testcase per rule, and one more for the check as a whole if that could
// not be done. Times are 0: a rule takes none.
func junit(w io.Writer, c *gate.Result, o Options) error {
	s := junitSuite{Name: workload(c), Time: "0", Properties: junitProperties(c)}
	if c.Verdict == gate.Unusable || len(c.Rules) == 0 {
		s.Cases = append(s.Cases, wholeCase(c))
	}
	seen := map[string]int{}
	for _, rr := range ranked(c) {
		s.Cases = append(s.Cases, o.junitCase(c, rr, seen))
	}
	for _, k := range s.Cases {
		s.Tests++
		s.Failures += one(k.Failure != nil)
		s.Errors += one(k.Error != nil)
		s.Skipped += one(k.Skipped != nil)
	}
	doc := junitSuites{Name: "schedscope gate", Tests: s.Tests, Failures: s.Failures, Errors: s.Errors, Suite: s}
	out, err := xml.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, xml.Header+string(out)+"\n")
	return err
}

// workload is the name under which others file a result.
func workload(r *gate.Result) string { return cmp.Or(r.Workload, "schedscope") }

func one(b bool) int { return textui.Either(b, 1, 0) }

func junitProperties(r *gate.Result) []junitProperty {
	p := []junitProperty{
		{"verdict", string(r.Verdict)}, {"headline", r.Headline}, {"design", string(r.Design)},
		{"alpha", strconv.FormatFloat(r.Alpha, 'g', 3, 64)}, {"traces", traces(r)},
	}
	for _, g := range r.Guards {
		if g.Status != gate.GuardOK {
			p = append(p, junitProperty{"guard " + g.Name, string(g.Status) + ": " + g.Text})
		}
	}
	return p
}

// wholeCase stands for the check as a whole.
func wholeCase(r *gate.Result) junitCase {
	k := junitCase{Class: workload(r), Name: "schedscope gate", Time: "0"}
	switch r.Verdict {
	case gate.Unusable:
		k.Error = &junitOutcome{Message: r.Headline, Type: "unusable"}
	case gate.Inconclusive:
		k.Skipped = &junitOutcome{Message: r.Headline}
	case gate.Fail:
		k.Failure = &junitOutcome{Message: r.Headline, Type: "violated"}
	}
	return k
}

func (o *Options) junitCase(c *gate.Result, r *gate.RuleResult, seen map[string]int) junitCase {
	k := junitCase{Class: workload(c), Name: r.Rule, Time: "0"}
	// Readers drop cases of the same name.
	if seen[r.Rule]++; seen[r.Rule] > 1 {
		k.Name = fmt.Sprintf("%s (%d)", r.Rule, seen[r.Rule])
	}
	if p, _, ok := o.top(r); ok {
		k.File, k.Line = p.path, p.line
	}
	k.Out = o.message(c, r)
	switch stateOf(r) {
	case failed:
		k.Failure, k.Out = &junitOutcome{title(r), "violated", k.Out}, ""
	case unusable:
		k.Error, k.Out = &junitOutcome{short(r), "unusable", k.Out}, ""
	case warned:
		k.Skipped = &junitOutcome{Message: "violated, but of level warn: " + title(r)}
	case waived:
		k.Skipped = &junitOutcome{Message: "violated, but " + waiverText(r.Waiver)}
	case inconclusive:
		k.Skipped = &junitOutcome{Message: "inconclusive: " + short(r)}
	}
	return k
}

// short is why a rule could not be judged.
func short(r *gate.RuleResult) string {
	s := r.Why
	if n := needs(r); n != "" {
		s = strings.TrimPrefix(s+"; needs "+n, "; ")
	}
	return cmp.Or(s, "not judged")
}
