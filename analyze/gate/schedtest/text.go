package schedtest

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// judge returns "" for a rule that is kept, else what is wrong, in lines. Op is what an op
// is.
func judge(x *rule.Rule, s *sample.Sample, op string) string {
	q := x.Quantity
	v, ok := s.Values[q.String()]
	if !ok {
		why := cmp.Or(s.Missing[q.String()], "the trace has no data for it")
		if (q.Per == rule.PerOp || q.Metric == "ops") && op == "count" {
			why += "; call Ops with their number, or say what an op is: schedtest.Op(\"region:NAME\")"
		}
		return fmt.Sprintf("%s: cannot be judged: %s", x, why)
	}
	bound := x.Bound.At(0)
	thin := tooShort(q, v)
	if x.Op.Holds(v.X, bound) {
		if thin != "" {
			return fmt.Sprintf("%s: cannot be judged: the trace is too short for %s: record for longer", x, thin)
		}
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: it is %s", x, rule.FormatValue(v.X, q.Unit()))
	if bound > 0 && x.Op.HigherIsWorse() {
		fmt.Fprintf(&b, ", x%s of the limit", rule.FormatValue(v.X/bound, rule.Number))
	}
	if v.N > 0 {
		fmt.Fprintf(&b, ", of %s", textui.Plural(v.N, "value"))
	}
	if thin != "" {
		fmt.Fprintf(&b, "\n    note:    the trace is too short for %s: record for longer", thin)
	}
	explain(&b, q.Metric, s)
	return b.String()
}

// tooShort says of a quantile that too few values lie beyond it, "" if enough do, by the
// same count as the gate's. Whoever asks for the greatest or smallest value means that one.
func tooShort(q rule.Quantity, v sample.Value) string {
	if !v.Few(q) || q.Q == 0 || q.Q == 1 {
		return ""
	}
	return fmt.Sprintf("p%.6g: of %s only %.3g lie beyond it, and %d are needed", 100*q.Q, textui.Plural(v.N, "value"), v.Beyond(q), sample.EnoughBeyond)
}

// maxClasses is how many classes are shown.
const maxClasses = 3

// explain says where the time went that a metric is about.
func explain(b *strings.Builder, metric string, s *sample.Sample) {
	name, classes := "waits", s.Waits
	switch metric {
	case "blocked":
		name, classes = "blocked", s.Blocked
	case "running", "run", "cpu", "starts", "preemptions":
		name, classes = "runs", s.Runs
	}
	writeClasses(b, name, classes)
	if name == "waits" {
		writeClasses(b, "behind", s.Blame)
		if len(s.Worst) > 0 {
			w := s.Worst[0]
			fmt.Fprintf(b, "\n    worst:   from %s to %s: %s of waiting", textui.Duration(w.From), textui.Duration(w.To), textui.Duration(w.Total))
		}
	}
	if why := disturbed(s); why != "" {
		fmt.Fprintf(b, "\n    note:    the machine was disturbed: %s; record again on a quiet one", why)
	}
}

func writeClasses(b *strings.Builder, name string, classes []sample.Class) {
	total := result.Sum(classes, func(c *sample.Class) model.Duration { return c.Total })
	if total == 0 {
		return
	}
	for i, c := range classes[:min(len(classes), maxClasses)] {
		if i == 0 {
			fmt.Fprintf(b, "\n    %-8s ", name+":")
		} else {
			b.WriteString("\n             ")
		}
		fmt.Fprintf(b, "%s %s", textui.Percent(float64(c.Total)/float64(total)), describe(c))
	}
}

// describe returns a class in one line: "main.serve (chan receive) at server.go:120, woken
// at server.go:99: 312ms, 1,204 times".
func describe(c sample.Class) string {
	var b strings.Builder
	b.WriteString(textui.Clean(c.Func))
	if c.Detail != "" {
		fmt.Fprintf(&b, " (%s)", textui.Clean(c.Detail))
	}
	if c.At != nil {
		fmt.Fprintf(&b, " at %s", place(c.At))
	}
	if c.By != nil {
		fmt.Fprintf(&b, ", woken at %s", place(c.By))
	}
	fmt.Fprintf(&b, ": %s", textui.Duration(c.Total))
	if c.Count > 0 {
		fmt.Fprintf(&b, ", %s", textui.Plural(c.Count, "time"))
	}
	return b.String()
}

// place returns file and line as go test writes them, so that editors find them.
func place(f *sample.Frame) string {
	if f.File == "" {
		return textui.Clean(f.Func)
	}
	if f.Line == 0 {
		return fmt.Sprintf("%s (%s)", textui.Clean(f.Func), textui.Clean(f.File))
	}
	return fmt.Sprintf("%s:%d", textui.Clean(f.File), f.Line)
}
