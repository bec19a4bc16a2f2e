package verdict

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/schedscope/schedscope/analyze/compare"
	"github.com/schedscope/schedscope/analyze/gate"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// headWord is the verdict on all rules.
func headWord(v gate.Verdict) string {
	if v == gate.Unseen {
		v = gate.Pass
	}
	return strings.ToUpper(string(v))
}

// figures are the numbers of a rule as texts; "" where there is none.
type figures struct {
	base, limit, cand, ratio, p, n string
}

func figuresOf(r *gate.RuleResult) figures {
	var f figures
	if r.Base != nil && r.Base.N > 0 {
		f.base = value(r.Base.Median, r.Unit)
	}
	if r.Cand != nil && r.Cand.N > 0 {
		f.cand = value(r.Cand.Median, r.Unit)
	}
	if f.base != "" || !r.Relative {
		f.limit = value(r.Bound, r.Unit)
	}
	switch {
	case r.Ratio != nil:
		f.ratio = compare.IntervalText(r.Ratio)
	case r.Cand != nil && r.Cand.Bounds != nil:
		b := r.Cand.Bounds
		f.ratio = fmt.Sprintf("median in [%s, %s]", value(b.Low, r.Unit), value(b.High, r.Unit))
	}
	if x, ok := worst(r); ok {
		f.ratio = "worst " + value(x, r.Unit)
	}
	if stateOf(r) != passed {
		f.p = pText(r)
	}
	f.n = sizes(r)
	return f
}

// value returns a value with its unit and three digits that matter, and no more of shares
// than can be read.
func value(x float64, u rule.Unit) string {
	return textui.Either(u == rule.Fraction && x >= 0, textui.Percent(x), rule.FormatValue(x, u))
}

// pText returns "p=0.0004 (Holm 0.002)".
func pText(r *gate.RuleResult) string {
	if r.P == nil {
		return ""
	}
	s := compare.PText(*r.P)
	if r.PAdj != nil {
		s += " (Holm " + strings.TrimLeft(compare.PText(*r.PAdj), "p=") + ")"
	}
	return s
}

// sizes returns how many values were compared: "n=10+10".
func sizes(r *gate.RuleResult) string {
	cand := 0
	if r.Cand != nil {
		cand = r.Cand.N
	}
	switch {
	case r.Base == nil && cand == 0:
		return ""
	case r.Base == nil:
		return "n=" + strconv.Itoa(cand)
	}
	return fmt.Sprintf("n=%d+%d", r.Base.N, cand)
}

// remark is what limits or explains the verdict of a rule, in a few words; "" if nothing.
func remark(r *gate.RuleResult) string {
	point, said := "", ""
	switch {
	case r.Point && r.Cand != nil && r.Cand.N > 1:
		point = "each trace by itself, no error rate"
	case r.Point:
		point = "one process, no error rate"
	}
	switch stateOf(r) {
	case unseen:
		if r.MDE > 0 {
			said = "would have seen " + reach(r)
			said += textui.If(r.Detect != 0, ", wants to see "+compare.TimesText(r.Detect))
		}
	case passed:
		if !r.Point {
			said = "proved"
		}
	case waived:
		said = waiverText(r.Waiver)
	case inconclusive, unusable:
		if isBrief(r) {
			said = r.Why
		}
	}
	return textui.Join("; ", point, said)
}

// isBrief reports whether the reason for no verdict is short enough to stand next to the
// figures.
func isBrief(r *gate.RuleResult) bool { return textui.Width(r.Why) <= 40 }

// worst is the value of a rule without statistics that is judged.
func worst(r *gate.RuleResult) (float64, bool) {
	if !r.Point || r.Cand == nil || len(r.Cand.Values) < 2 {
		return 0, false
	}
	if r.LowerIsWorse {
		return slices.Min(r.Cand.Values), true
	}
	return slices.Max(r.Cand.Values), true
}

// reason is why the verdict is what it is, without what the remark says.
func reason(r *gate.RuleResult) string {
	s := stateOf(r)
	switch {
	case r.Point && strings.Contains(r.Why, "no error rate"): // which the remark says
		_, rest, _ := strings.Cut(r.Why, "no error rate")
		return strings.TrimPrefix(rest, "; ")
	case (s == inconclusive || s == unusable) && isBrief(r):
		return ""
	}
	return r.Why
}

// reach is the smallest change that shows: ">= x1.31", of the limit if the rule is absolute.
func reach(r *gate.RuleResult) string {
	s := textui.Either(r.MDE < 1, "<= ", ">= ") + compare.TimesText(r.MDE)
	return s + textui.If(r.Test == "sign", " of the limit")
}

func waiverText(w *gate.Waiver) string {
	if w == nil {
		return "waived"
	}
	return "waived until " + w.Until + textui.If(w.Ceiling != "", ", up to "+w.Ceiling) + textui.If(w.Issue != "", ", see "+w.Issue)
}

// needs is what would make a rule decidable; "" if that is not known, or said by its Why.
func needs(r *gate.RuleResult) string {
	if r.Needed <= 0 || r.Why != "" {
		return ""
	}
	s := textui.Plural(r.Needed, "trace") + " per side" + textui.If(r.Detect > 0, " to see "+compare.TimesText(r.Detect))
	if r.Cand != nil {
		s += fmt.Sprintf(" at 80%% (there are %s)", strings.TrimPrefix(sizes(r), "n="))
	}
	return s
}

// shown is how many parts and stretches texts name.
const shown = 3

// note is a line about a violated rule, with what it is about.
type note struct{ label, text string }

// notes say what an engineer needs to know of a violated rule, in the order of reading.
func (o *Options) notes(res *gate.Result, r *gate.RuleResult) []note {
	e := r.Explain
	m := measure{unit: r.Unit, per: "per second", alone: res.Base == nil || e.Alone}
	if res.Cand.OpRate != nil && (res.Base == nil || res.Base.OpRate != nil) {
		m.per = "per op"
	}
	var out []note
	add := func(label, text string) { out = append(out, note{label, text}) }
	for i := range e.Where[:min(shown, len(e.Where))] {
		s := m.growth(&e.Where[i])
		if i == 0 && len(res.Cand.Traces) > 1 && firstPlaced(res) == r {
			s += "; means over traces, the figures above are medians"
		}
		add("where", s)
	}
	for i := range e.Behind[:min(shown, len(e.Behind))] {
		add("behind", m.behind(&e.Behind[i]))
	}
	if len(e.Why) == 0 {
		add("why", e.Origin)
	}
	for _, s := range e.Why {
		add("why", s)
	}
	for i := range e.See[:min(shown, len(e.See))] {
		add("see", see(&e.See[i]))
	}
	if len(e.See) > 0 {
		add("run", o.command(&e.See[0]))
	}
	for _, s := range e.Next {
		add("next", s)
	}
	return out
}

// firstPlaced is the first rule in texts that names parts, nil if none does.
func firstPlaced(res *gate.Result) *gate.RuleResult {
	for _, r := range ranked(res) {
		if r.Explain != nil && len(r.Explain.Where) > 0 {
			return r
		}
	}
	return nil
}

// measure is how parts are written.
type measure struct {
	unit  rule.Unit // of the rule
	per   string    // what totals are divided by
	alone bool      // there is no baseline
}

// fresh returns the notes that no rule before had, and the labels of those that are left
// out: related rules are often violated for the same reasons. Seen is what rules before
// had.
func fresh(notes []note, seen map[note]bool) (left []note, same []string) {
	isNew := map[string]bool{}
	for _, n := range notes {
		isNew[n.label] = isNew[n.label] || !seen[n]
	}
	for _, n := range notes {
		// What belongs together stays together, but each thing to do stands for itself.
		if isNew[n.label] && (n.label != "next" || !seen[n]) {
			left = append(left, n)
		} else if n.label != "next" && !slices.Contains(same, n.label) {
			same = append(same, n.label)
		}
	}
	for _, n := range notes {
		seen[n] = true
	}
	return left, same
}

// growth returns "71% of the increase is in main.worker (server.go:88), woken by main.push
// (queue.go:41): 120µs -> 210µs per op".
func (m measure) growth(p *gate.Part) string {
	did := textui.If(p.Detail != "", ", reason "+p.Detail)
	s := who(p, did)
	if p.By != nil && p.By.Func != "" {
		s += ", woken by " + frame(p.By)
	}
	switch {
	case p.Share <= 0:
	case m.alone:
		s = fmt.Sprintf("%.0f%% of the total is in %s", 100*p.Share, s)
	default:
		s = fmt.Sprintf("%.0f%% of the increase is in %s", 100*p.Share, s)
	}
	return s + ": " + m.change(p, m.unit)
}

// change returns "120µs -> 210µs per op (3.10 -> 3.12 times)", or of a rule on counts
// these first.
func (m measure) change(p *gate.Part, u rule.Unit) string {
	times := m.both(value(p.Base, rule.Nanoseconds), value(p.Cand, rule.Nanoseconds))
	if p.BaseCount == 0 && p.CandCount == 0 {
		return times + " " + m.per
	}
	counts := m.both(value(p.BaseCount, rule.Number), value(p.CandCount, rule.Number))
	return textui.Either(u == rule.Number, fmt.Sprintf("%s %s (%s)", counts, m.per, times), fmt.Sprintf("%s %s (%s times)", times, m.per, counts))
}

func (m measure) both(base, cand string) string { return textui.If(!m.alone, base+" -> ") + cand }

// longest is how many columns of a name are shown.
const longest = 100

// who returns a part's function, with what it did and the place.
func who(p *gate.Part, did string) string {
	s := textui.Shorten(textui.ShortFunc(cmp.Or(p.Func, "(unknown function)")), longest) + did
	switch {
	case p.At == nil:
	case p.At.Func != "" && p.At.Func != p.Func:
		s += " at " + frame(p.At)
	case brief(p.At) != "":
		s += " (" + brief(p.At) + ")"
	}
	return s
}

// frame returns "main.(*queue).push (queue.go:41)".
func frame(f *sample.Frame) string { return textui.Shorten(compare.FrameText(f), longest) }

// behind says which code waits stood behind, with the longest stretch that ran.
func (m measure) behind(p *gate.Part) string {
	did := ""
	if p.Detail != result.CauseGoroutine.String() { // goes without saying
		did = ", " + p.Detail
	}
	if p.At == nil && p.Func != sample.Others {
		did = ", where its code is not known" + did
	}
	s := who(p, did) + ": " + m.change(p, rule.Nanoseconds)
	if p.CandLongest > 0 {
		s += ", at most " + value(p.CandLongest, rule.Nanoseconds) + " at a stretch"
		s += textui.If(p.BaseLongest > 0 && !m.alone, ", was "+value(p.BaseLongest, rule.Nanoseconds))
	}
	return s
}

// see names a stretch to look at.
func see(l *gate.Look) string {
	return fmt.Sprintf("%s of the %s, from %s to %s", l.Trace, textui.Either(l.Base, "base", "candidate"), instant(l.From), instant(l.To)) +
		textui.If(l.Total > 0, fmt.Sprintf(": %s of waiting", textui.Duration(l.Total)))
}

// zeros are those at the end of a decimal number, before the unit.
var zeros = regexp.MustCompile(`\.?0+([a-zµ]+)$`)

// instant returns a point of a trace as flags take it: "412ms".
func instant(d model.Duration) string {
	if d >= 600e9 {
		return strconv.FormatFloat(float64(d)/1e9, 'f', 3, 64) + "s" // minutes would say too little
	}
	s := textui.Instant(d)
	return textui.Either(strings.Contains(s, "."), zeros.ReplaceAllString(s, "$1"), s)
}

// command returns how to look at a stretch.
func (o *Options) command(l *gate.Look) string {
	dir := textui.Either(l.Base, o.BaseDir, o.CandDir)
	return fmt.Sprintf("schedscope analyze --from %s --to %s %s", instant(l.From), instant(l.To), textui.ShellWord(path.Join(textui.Clean(dir), l.Trace)))
}

// about says in a line what was compared.
func about(r *gate.Result) string {
	return textui.Join("; ", r.Workload, cmp.Or(designTexts[r.Design], string(r.Design)), traces(r),
		"alpha "+strconv.FormatFloat(r.Alpha, 'g', 3, 64), commits(r), "exit "+strconv.Itoa(r.Exit))
}

var designTexts = map[gate.Design]string{
	gate.Interleaved: "interleaved on one machine",
	gate.Separate:    "sides recorded separately",
	gate.Absolute:    "absolute limits",
}

func traces(r *gate.Result) string {
	if r.Base == nil {
		return textui.Plural(len(r.Cand.Traces), "trace")
	}
	return fmt.Sprintf("%d base + %d candidate traces", len(r.Base.Traces), len(r.Cand.Traces))
}

func commits(r *gate.Result) string {
	switch {
	case r.Base != nil && r.Base.Commit != "" && r.Cand.Commit != "":
		return shortCommit(r.Base.Commit) + " -> " + shortCommit(r.Cand.Commit)
	case r.Cand.Commit != "":
		return "commit " + shortCommit(r.Cand.Commit)
	}
	return ""
}

// shortCommit returns as much of a hash as distinguishes it from others.
func shortCommit(c string) string {
	if strings.Trim(c, "0123456789abcdef") == "" {
		return c[:min(12, len(c))]
	}
	return textui.Shorten(c, longest)
}

// guardWords are how texts name outcomes of a guard that have another word.
var guardWords = map[gate.GuardStatus]string{gate.GuardFailed: "FAILED", gate.GuardFlag: "note"}

// blocked says what a guard keeps from being judged; "" if nothing.
func blocked(g *gate.Guard) string {
	switch says := strings.Contains(g.Text, "judged"); {
	case g.Status == gate.GuardOK, g.Status == gate.GuardFlag, says, g.Blocks == "":
		return ""
	case g.Blocks == "all":
		return "no rule is judged"
	case g.Blocks == "relative":
		return "rules against the baseline are not judged"
	}
	return g.Blocks + " rules are not judged"
}

// drops returns the traces that were dropped, each with the reason.
func drops(r *gate.Result) (list []string) {
	add := func(name string, s *gate.Side) {
		for _, d := range s.Dropped {
			list = append(list, fmt.Sprintf("%s of the %s: %s", d.Trace, name, d.Why))
		}
	}
	if r.Base != nil {
		add("base", r.Base)
	}
	add("candidate", &r.Cand)
	return list
}
