package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// Warning is a reason why two sides are hard to compare.
type Warning struct {
	Kind string `json:"kind"` // such as "gomaxprocs", "whole", "noise"
	Text string `json:"text"`
}

// lengthLimit is from which ratio on the lengths of windows are said to differ.
const lengthLimit = 1.5

func (r *Result) warnf(kind, format string, args ...any) {
	r.Warnings = append(r.Warnings, Warning{kind, fmt.Sprintf(format, args...)})
}

// identities are what should be the same: the kind of the warning, its name, and that of
// [Identity].
var identities = []struct{ kind, name, of string }{
	{"gomaxprocs", "GOMAXPROCS", "gomaxprocs"}, {"go", "The Go version", "goversion"}, {"arch", "The platform", "goarch"}, {"cpu", "The CPU", "cpu_model"},
	{"ncpu", "The number of CPUs", "ncpu"}, {"gogc", "GOGC", "gogc"}, {"memlimit", "GOMEMLIMIT", "gomemlimit"}, {"workload", "The workload", "workload"}, {"samples", "Whether CPU samples were taken", "samples"},
}

// warn fills in the warnings: what differs between the sides that should not (1), what is
// missing or cut off (2), another length (3), and a disturbed machine (4).
func (r *Result) warn() {
	r.warnSame()
	for _, x := range identities { // 1
		base, cand := r.known(&r.Base, x.of), r.known(&r.Cand, x.of)
		if len(base) > 0 && len(cand) > 0 && (len(base) > 1 || !slices.Equal(base, cand)) {
			r.warnf(x.kind, "%s is not the same: %s in %s, %s in %s.", x.name,
				strings.Join(base, " and "), r.Base.Name, strings.Join(cand, " and "), r.Cand.Name)
		}
	}
	if base, cand := r.Base.functions(), r.Cand.functions(); len(base) > 0 && len(cand) > 0 && !slices.ContainsFunc(base, func(f string) bool { return slices.Contains(cand, f) }) {
		r.warnf("program", "No function of the program is seen on both sides, such as %s in %s and %s in %s: they may be of different programs.",
			textui.Clean(textui.ShortFunc(base[0])), r.Base.Name, textui.Clean(textui.ShortFunc(cand[0])), r.Cand.Name)
	}
	if r.unlike != "" {
		r.warnf("behind", "Which code goroutines waited behind is not compared: %s.", r.unlike)
	}
	sides := []*Side{&r.Base, &r.Cand}
	for i, s := range sides { // 2
		r.warnIncomplete(s)
		other := sides[1-i]
		if kind := s.serves(); kind != "" && other.serves() == "" {
			none, rest := "none", "only what goroutines wait for is compared"
			if slices.ContainsFunc(other.whole(), func(t *Trace) bool { return t.Sample.Open != nil }) {
				none, rest = "none that ended", "how long they take is not compared"
			}
			r.warnf("requests", "%s has requests (%s), %s has %s: %s.", s.Name, kind, other.Name, none, rest)
		}
	}
	if r.Saved() {
		r.warnSaved()
	} else if !r.PerOp() { // 3
		r.hintOps()
	}
	if base, cand, ok := r.medians(length); ok && max(base/cand, cand/base) >= lengthLimit {
		r.warnf("length", "The traces are of different lengths, %s in %s and %s in %s: maxima and high percentiles grow with the length.",
			rule.FormatValue(base*1e9, rule.Nanoseconds), r.Base.Name, rule.FormatValue(cand*1e9, rule.Nanoseconds), r.Cand.Name)
	}
	for _, s := range sides { // 4
		r.warnDisturbed(s)
	}
	const most = 1.5
	if base, cand, ok := r.medians(RunDelay); ok && base > 0 && cand > 0 && max(base/cand, cand/base) > most {
		r.warnf("delay", "Threads waited for a CPU for %s per second and proc in %s, %s in %s: the operating system's part of the latencies is not the same.",
			rule.FormatValue(base*1e9, rule.Nanoseconds), r.Base.Name, rule.FormatValue(cand*1e9, rule.Nanoseconds), r.Cand.Name)
	}
}

// functions returns which functions of the program start goroutines, or have them stop, most first. Each program has a main.main.
func (s *Side) functions() (list []string) {
	for _, t := range s.Traces {
		for _, c := range slices.Concat(t.Sample.Runs, t.Sample.Blocked) {
			fns := []string{c.Func}
			if c.At != nil {
				fns = append(fns, c.At.Func)
			}
			for _, f := range fns {
				if result.OfProgram(f) && !strings.HasPrefix(f, "main.main") && f != sample.Others && !slices.Contains(list, f) {
					list = append(list, f)
				}
			}
		}
	}
	return list
}

// serves returns the kind of a side's requests, "" if it has none.
func (s *Side) serves() string {
	for _, t := range s.Traces {
		if x := t.Sample.Requests; x != nil {
			return x.Kind
		}
	}
	return ""
}

// warnSaved says what saved reports do not have.
func (r *Result) warnSaved() {
	part := func(t *Trace) bool { return !t.pooled && t.Sample.From > 0 }
	if slices.ContainsFunc(r.Base.Traces, part) || slices.ContainsFunc(r.Cand.Traces, part) {
		r.warnf("window", "A saved report is of all of its traces, and of the other traces the beginning is left out: --window all compares all of them.")
	}
	r.Hints = append(r.Hints, "A saved report does not have, and not compared are: ops, batches, processor time, what disturbed the machine, and where goroutines stopped before they waited to run. Give the traces for these.")
}

// warnSame names traces that are there more than once.
func (r *Result) warnSame() {
	first := map[Content]string{}
	var same []string
	for _, t := range slices.Concat(r.Base.Traces, r.Cand.Traces) {
		c := ContentOf(t.Sample)
		if name, ok := first[c]; !ok {
			first[c] = t.Name
		} else if t.Sample.Events > 0 && len(same) < 3 {
			same = append(same, name+" = "+t.Name)
		}
	}
	if len(same) > 0 {
		r.warnf("same", "The same trace is there more than once: %s. A copy is not a second sample.", textui.Clean(strings.Join(same, ", ")))
	}
}

// known returns the different values that a side's traces have of something. Go versions
// without a patch number are left out if others have the rest.
func (r *Result) known(s *Side, name string) []string {
	out := valuesOf(s.Traces, name)
	if name == "goversion" {
		for _, g := range valuesOf(slices.Concat(r.Base.Traces, r.Cand.Traces), name) {
			for i, v := range out {
				if strings.HasPrefix(v, g+".") && strings.Count(g, ".") == 1 {
					out[i] = g
				}
			}
		}
	}
	for i, v := range out {
		out[i] = textui.Clean(textui.Shorten(v, 60))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// valuesOf returns the different values that traces have of something, sorted.
func valuesOf(traces []*Trace, name string) []string {
	seen := map[string]bool{}
	for _, t := range traces {
		id := &t.Sample.Identity
		v := textui.Either(name == "gomaxprocs" && id.MinProcs != id.MaxProcs, fmt.Sprintf("%d to %d", id.MinProcs, id.MaxProcs), Identity(id, name))
		if v != "" {
			seen[v] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// warnIncomplete names the traces of which parts are lost, or in which nothing can be said
// per op.
func (r *Result) warnIncomplete(s *Side) {
	const most = 10 // that are named
	n := 0
	for _, t := range s.Traces {
		if t.Sample.Whole {
			continue
		}
		if n++; n <= most {
			r.warnf("whole", "%s is not whole: %s.", t.Name, cmp.Or(strings.TrimSuffix(textui.Clean(t.Sample.Loss), "."), "a part is lost"))
		}
	}
	if n -= most; n > 0 {
		r.warnf("whole", "%d more traces of %s are not whole.", n, s.Name)
	}
	op := textui.Clean(r.Op)
	if r.PerOp() && !r.counted(s) {
		r.warnf("op", "No trace of %s has an op %s in its window: nothing can be said per op.", s.Name, op)
		return
	}
	for _, t := range s.Traces {
		if r.PerOp() && t.Sample.Ops == 0 {
			r.warnf("op", "%s has no op %s in its window; it is missing from what is per op.", t.Name, op)
		}
	}
}

// medians returns the medians of a figure, if both sides have it.
func (r *Result) medians(f Figure) (base, cand float64, ok bool) {
	b, c := Median(r.Base.samples(), f), Median(r.Cand.samples(), f)
	if b == nil || c == nil {
		return 0, 0, false
	}
	return *b, *c, true
}

// commonOp is what could be counted, if both sides have it: the commonest, as a word of a command; "" if there is none.
func (r *Result) commonOp() string {
	traces := slices.Concat(r.Base.Traces, r.Cand.Traces)
	counts := map[string]int{}
	for _, t := range traces {
		for _, o := range t.Ops {
			counts[o.Op]++
		}
	}
	for _, o := range r.Cand.Traces[0].Ops {
		if counts[o.Op] == len(traces) && o.Count > 1 {
			return textui.ShellWord(textui.Clean(o.Op))
		}
	}
	return ""
}

// hintOps says how to count ops.
func (r *Result) hintOps() {
	what := "--op gives them per region, task or goroutine"
	if op := r.commonOp(); op != "" {
		what = fmt.Sprintf("--op %s gives them per op", op)
	}
	r.Hints = append(r.Hints, "Totals are per second, which compares only under equal load: "+what+".")
}

// warnDisturbed says in how many traces of a side the machine was disturbed, by the rule
// of the gate, or without a record by what of the waiting is laid to the operating system.
func (r *Result) warnDisturbed(s *Side) {
	limits, n, was, example := Limits(s.samples(), env.DefaultLimits), 0, "was perhaps", ""
	for _, t := range s.Traces {
		known := limits.Disturbed(t.Sample.Noise)
		if why := cmp.Or(known, suspected(t.Sample)); why != "" {
			if n++; n == 1 || known != "" && was != "was" {
				example = t.Name + ": " + why
			}
			if known != "" {
				was = "was"
			}
		}
	}
	if n > 0 {
		r.warnf("noise", "The machine %s disturbed in %d of %s of %s (%s). Latencies are in part the machine's.", was, n, textui.Plural(len(s.Traces), "trace"), s.Name, example)
	}
}

// suspected says how much of the waiting is laid to the operating system where nothing was recorded of it, see [findings.Suspected].
func suspected(s *sample.Sample) string {
	var all, of model.Duration
	for _, x := range s.Causes {
		if all += x.Total; strings.HasPrefix(x.Name, "OS ") {
			of += x.Total
		}
	}
	if s.Noise != nil {
		return ""
	}
	return findings.Suspected(of, all, s.To-s.From)
}

// length returns the length of a trace's window, in seconds.
func length(s *sample.Sample) *float64 { return quotient(Seconds(s), 1) }
