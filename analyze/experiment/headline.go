package experiment

import (
	"fmt"
	"math"
	"strings"

	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
)

// headline fills in the sentences to read first.
func (r *Result) headline() {
	row := r.Row(quantity("mean(wait/U)", r.Op).String())
	if row == nil || len(row.Base.X) == 0 || len(row.Cand.X) == 0 {
		r.Headline = r.nothing()
		return
	}
	base, cand := row.text(row.Base.Median), row.text(row.Cand.Median)
	switch {
	case row.P == nil || !CanDiffer(len(row.Base.X), len(row.Cand.X)):
		chance := ""
		if row.P != nil {
			chance = ": with so few traces this may be chance"
		}
		r.Headline = fmt.Sprintf("Waiting to run: %s per %s in %s, %s in %s%s%s", base, r.Per, r.Base.Name, cand, r.Cand.Name, row.brackets(), chance)
		if code := r.code(); code != "" && r.Single() {
			r.Headline += code
		} else {
			r.Headline += "."
		}
	case row.Differs:
		r.Headline = fmt.Sprintf("Waiting to run %s from %s to %s per %s%s%s", roseOrFell(row), base, cand, r.Per, row.brackets(), r.mostly())
	default:
		r.Headline = fmt.Sprintf("Waiting to run per %s does not differ more than chance explains: %s in %s, %s in %s%s.",
			r.Per, base, r.Base.Name, cand, r.Cand.Name, row.brackets())
	}
	r.Headline = r.requests() + r.Headline + r.single(row) + r.ops() + r.contention()
	r.Why = r.why(row)
}

// explaining are totals that are often why waiting changed, with what they are called.
// Of a group just the first that differs is told.
var explaining = [][]struct{ quantity, more, less string }{
	{{"mean(run/U)", "more work", "less work"}, {"mean(cpu/U)", "more processor time", "less processor time"}},
	{{"mean(wakes/U)", "more hand-offs", "fewer hand-offs"}},
	{{"mean(gc/U)", "more garbage collection", "less garbage collection"}},
	{{"mean(blocked/U)", "blocked longer", "blocked less"}},
	{{"mean(preemptions/U)", "more preemptions", "fewer preemptions"}},
}

// why says which of those differ, "" if nothing is known of chance.
func (r *Result) why(wait *Row) string {
	if wait.P == nil || !CanDiffer(len(wait.Base.X), len(wait.Cand.X)) {
		return ""
	}
	var said []string
	sure := true
	say := func(row *Row, more, less string) {
		said = append(said, row.explain(more, less))
		sure = sure && *row.PAdj < Alpha
	}
	for _, group := range explaining {
		for _, x := range group {
			if row := r.Row(quantity(x.quantity, r.Op).String()); row != nil && row.matters() {
				say(row, x.more, x.less)
				break
			}
		}
	}
	if r.PerOp() {
		if row := r.Row("mean(ops/s)"); row != nil && row.matters() {
			say(row, "more ops per second", "fewer ops per second")
		}
	}
	switch {
	case len(said) > 0:
		if sure {
			return fmt.Sprintf("per %s, beyond chance: %s.", r.Per, strings.Join(said, "; "))
		}
		return fmt.Sprintf("per %s, of %d of %s with p < %g (by chance alone about %.1f): %s.",
			r.Per, r.Differ, textui.Plural(r.Tested, "row"), Alpha, Alpha*float64(r.Tested), strings.Join(said, "; "))
	case wait.Differs:
		return fmt.Sprintf("neither work nor hand-offs per %s differ notably beyond chance: the same work in another shape, or the machine.", r.Per)
	}
	return ""
}

// matters reports whether a row differs, and by enough to explain anything.
func (row *Row) matters() bool {
	const least = 0.03
	return row.Differs && (row.Ratio == nil || math.Abs(row.Ratio.Est-1) >= least)
}

// Explains reports whether there is a change that Why can be of: of the waiting in all or
// of single waits.
func (r *Result) Explains() bool {
	wait, single := r.Row(quantity("mean(wait/U)", r.Op).String()), r.Row("p99(runnable)")
	return wait != nil && wait.Differs || single != nil && single.Differs
}

// WhyText returns Why with what it is, "" if there is none.
func (r *Result) WhyText() string {
	switch {
	case r.Why == "":
		return ""
	case r.Explains():
		return "why: " + r.Why
	}
	return "else: " + r.Why
}

// explain says in which direction a row differs.
func (row *Row) explain(more, less string) string {
	word := more
	if row.Cand.Median < row.Base.Median {
		word = less
	}
	change := row.times()
	if change == "" {
		change = row.text(row.Base.Median) + " to " + row.text(row.Cand.Median)
	}
	return fmt.Sprintf("%s (%s %s, %s)", word, row.Quantity, change, PText(*row.P))
}

// nothing says that neither side waited, or that it is not known.
func (r *Result) nothing() string {
	for _, s := range []*Side{&r.Base, &r.Cand} {
		if r.counted(s) == 0 {
			return fmt.Sprintf("There is nothing to compare per %s: %s has none.", r.Per, s.Name)
		}
	}
	return "Nothing waited to run."
}

// times returns the factor of a change, "" if there is none. Of several traces it need not
// be the ratio of the medians.
func (row *Row) times() string {
	switch {
	case row.Ratio == nil:
		return ""
	case len(row.Base.X) == 1 && len(row.Cand.X) == 1:
		return TimesText(row.Ratio.Est)
	}
	return "pairwise " + TimesText(row.Ratio.Est)
}

// brackets returns the factor of a change and its p, where anything may be chance, in
// brackets; "" if there is neither.
func (row *Row) brackets() string {
	var parts []string
	if row.Ratio != nil {
		parts = append(parts, row.times())
	}
	if row.P != nil && CanDiffer(len(row.Base.X), len(row.Cand.X)) {
		parts = append(parts, PText(*row.P))
	}
	if parts == nil {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

func roseOrFell(row *Row) string {
	if row.Cand.Median < row.Base.Median {
		return "fell"
	}
	return "rose"
}

// code names the code behind which most of the change was waited, "" if there is none.
func (r *Result) code() string {
	p, change := r.Behind.Most(), r.Waits.Cand-r.Waits.Base
	if p == nil || p.At == nil || change == 0 {
		return ""
	}
	const most, notable = 0.5, 0.1 // of the change, and of what was
	share := p.Change() / change
	if share < most || share > 1.005 || math.Abs(change) < notable*r.Waits.Base {
		return ""
	}
	how := ""
	if p.Detail != result.CauseGoroutine.String() {
		how = " (" + p.Detail + ")"
	}
	return fmt.Sprintf("; most of the change (%s) is waiting behind %s%s.", textui.Percent(share), FrameText(p.At), how)
}

// mostly names the code that most of the change is due to, else the class that changed most.
func (r *Result) mostly() string {
	if s := r.code(); s != "" {
		return s
	}
	p := r.Waits.Most()
	if p == nil {
		return "."
	}
	share := r.Waits.ShareOf(p)
	var s string
	switch {
	case r.Waits.Mixed():
		s = fmt.Sprintf("; what changed most (from %s to %s, means) is ", rule.FormatValue(p.Base, rule.Nanoseconds), rule.FormatValue(p.Cand, rule.Nanoseconds))
	case share < 0.5:
		s = fmt.Sprintf("; the greatest part (%s) is ", textui.Percent(share))
	default:
		s = fmt.Sprintf("; most of it (%s) is ", textui.Percent(share))
	}
	return s + ClassText(p) + "."
}

// ClassText names a class in a sentence: whose waits, of whom they were woken.
func ClassText(p *Part) string {
	s := textui.Clean(textui.ShortFunc(p.Func))
	if p.At != nil {
		s += ", stopped in " + FrameText(p.At)
	}
	if p.By != nil {
		s += ", woken by " + FrameText(p.By)
	}
	return s
}

// FrameText names a place: "main.(*T).run (server.go:88)", without a line that is unknown.
func FrameText(f *sample.Frame) string { return textui.Place(f.Func, f.File, f.Line) }

// requests says by how much the p99 of requests changed, if that is more than chance or nothing
// is known of chance, and what the slowest have more or less of: at most three parts, of a tenth
// of the change or more.
func (r *Result) requests() string {
	row := r.TotalOf(&r.Slowest)
	const least = 0.03
	if row == nil || row.Ratio == nil || math.Abs(row.Ratio.Est-1) < least || row.P == nil && row.Few > 0 || row.P != nil && !row.Differs {
		return ""
	}
	base, cand := row.text(row.Base.Median), row.text(row.Cand.Median)
	s := fmt.Sprintf("The p99 of requests (%s): %s in %s, %s in %s%s", r.RequestKind, base, r.Base.Name, cand, r.Cand.Name, row.brackets())
	if row.P != nil {
		s = fmt.Sprintf("The p99 of requests (%s) %s from %s to %s%s", r.RequestKind, roseOrFell(row), base, cand, row.brackets())
	}
	const shown, notable = 3, 0.1
	var parts []string
	for i := range r.Slowest.Parts {
		p := &r.Slowest.Parts[i]
		if d := p.Change(); len(parts) < shown && !p.others() && d*float64(row.Cand.Median-row.Base.Median) > 0 && math.Abs(d) >= notable*math.Abs(r.Slowest.Cand-r.Slowest.Base) {
			parts = append(parts, SignedValue(d, rule.Nanoseconds)+" "+p.Detail)
		}
	}
	if len(parts) > 0 {
		s += "; mean of the slowest: " + strings.Join(parts, ", ")
	}
	return s + ". "
}

// SignedValue writes a change with its sign.
func SignedValue(x float64, u rule.Unit) string {
	if x > 0 {
		return "+" + rule.FormatValue(x, u)
	}
	return rule.FormatValue(x, u)
}

// single adds what single waits did, if they did something else than the total.
func (r *Result) single(total *Row) string {
	row := r.Row("p99(runnable)")
	if row == nil || row.Ratio == nil || row.P == nil || !row.Differs {
		return ""
	}
	if total.Differs && (row.Ratio.Est > 1) == (total.Cand.Median > total.Base.Median) {
		return ""
	}
	return fmt.Sprintf(" The p99 of single waits %s from %s to %s%s.", roseOrFell(row), row.text(row.Base.Median),
		row.text(row.Cand.Median), row.brackets())
}

// ops adds how long ops took, if that differs.
func (r *Result) ops() string {
	row := r.Row("mean(op)")
	if row == nil || !row.Differs || row.Ratio == nil {
		return ""
	}
	return fmt.Sprintf(" An op took %s on average in %s, %s in %s%s.", row.text(row.Base.Median), r.Base.Name,
		row.text(row.Cand.Median), r.Cand.Name, row.brackets())
}

// contention adds how much goroutines were blocked on each other, if that differs: it is no
// waiting to run, and may lessen that.
func (r *Result) contention() string {
	s := ""
	for _, reason := range []string{"sync", "chan send"} {
		q := rule.Quantity{Agg: rule.Mean, Metric: "blocked", Per: r.per(), Select: []rule.Selector{{Key: "reason", Pattern: reason}}}
		if row := r.Row(q.String()); row != nil && row.Differs {
			s += fmt.Sprintf(" Goroutines were blocked (%s) for %s per %s, %s before%s.", reason, row.text(row.Cand.Median), r.Per,
				row.text(row.Base.Median), row.brackets())
		}
	}
	return s
}

// TimesText writes a ratio: "x1.60", "x0.87".
func TimesText(x float64) string {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return "x?"
	case x >= 99.5:
		return "x" + rule.FormatValue(math.Round(x), rule.Number)
	case x < 0.0005:
		return "x0"
	case x >= 9.95:
		return fmt.Sprintf("x%.1f", x)
	case x < 0.0995:
		return fmt.Sprintf("x%.3f", x)
	}
	return fmt.Sprintf("x%.2f", x)
}

// PText writes a p as benchstat does: "p=0.042", "p<0.001".
func PText(p float64) string {
	if p < 0.0005 {
		return "p<0.001"
	}
	s := fmt.Sprintf("p=%.3f", p)
	if p < Alpha && s == fmt.Sprintf("p=%.3f", Alpha) {
		return fmt.Sprintf("p<%.3f", Alpha)
	}
	return s
}
