package compare

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/internal/stat"
	"github.com/schedscope/schedscope/internal/textui"
)

// Warning says what makes two sides hard to compare.
type Warning struct {
	Kind string // such as "gomaxprocs", "load", "whole", "noise", "mix"
	Text string
}

// Limits beyond which sides are said to differ.
const (
	loadLimit   = 0.05 // of ops per second
	mixLimit    = 0.10 // of wakes per op
	lengthLimit = 1.5  // of the window's length
	partLimit   = 0.10 // of the machine's time, to others or the hypervisor
	delayLimit  = 1.5  // of the time for which threads waited for a CPU
	outlier     = 3    // of a side's median waiting
)

func (r *Result) warnf(kind, format string, args ...any) {
	r.Warnings = append(r.Warnings, Warning{kind, fmt.Sprintf(format, args...)})
}

// warn fills in the warnings.
func (r *Result) warn() {
	r.warnIdentity()
	r.warnWhole()
	r.warnLoad()
	r.warnLength()
	r.warnNoise()
	r.warnOutliers()
	r.warnMix()
}

// warnIdentity compares what traces were recorded on.
func (r *Result) warnIdentity() {
	for _, x := range []struct {
		kind, name string
		of         func(*sample.Identity) string
	}{
		{"gomaxprocs", "GOMAXPROCS", procsOf},
		{"go", "The Go version", r.goVersion()},
		{"arch", "The platform", func(i *sample.Identity) string { return strings.Trim(i.OS+"/"+i.Arch, "/") }},
		{"cpu", "The CPU", func(i *sample.Identity) string { return i.CPU }},
		{"ncpu", "The number of CPUs", func(i *sample.Identity) string { return known(i.NumCPU) }},
		{"gogc", "GOGC", func(i *sample.Identity) string { return i.GOGC }},
		{"memlimit", "GOMEMLIMIT", func(i *sample.Identity) string { return i.Memlimit }},
		{"workload", "The workload", func(i *sample.Identity) string { return i.Workload }},
	} {
		base, cand := identities(&r.Base, x.of), identities(&r.Cand, x.of)
		if len(base) == 0 || len(cand) == 0 || slices.Equal(base, cand) && len(base) == 1 {
			continue
		}
		r.warnf(x.kind, "%s is not the same: %s in %s, %s in %s.", x.name,
			strings.Join(base, " and "), r.Base.Name, strings.Join(cand, " and "), r.Cand.Name)
	}
}

// formatVersion is what is known of the Go version of a trace without an environment
// record: that of its format.
var formatVersion = regexp.MustCompile(`^go1\.[0-9]+`)

// goVersion returns what to compare of Go versions: what is known of all traces.
func (r *Result) goVersion() func(*sample.Identity) string {
	for _, s := range []*Side{&r.Base, &r.Cand} {
		for _, t := range s.Traces {
			if v := t.Sample.Identity.Go; v != "" && formatVersion.FindString(v) == v {
				return func(i *sample.Identity) string { return cmp.Or(formatVersion.FindString(i.Go), i.Go) }
			}
		}
	}
	return func(i *sample.Identity) string { return i.Go }
}

// identities returns the different values that a side's traces know of something.
func identities(s *Side, of func(*sample.Identity) string) []string {
	var out []string
	for _, t := range s.Traces {
		if v := of(&t.Sample.Identity); v != "" {
			out = append(out, textui.Clean(textui.Shorten(v, 60)))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func known(n int) string {
	if n == 0 {
		return ""
	}
	return textui.Count(n)
}

func procsOf(i *sample.Identity) string {
	if i.MinProcs == i.MaxProcs {
		return known(i.MaxProcs)
	}
	return fmt.Sprintf("%d to %d", i.MinProcs, i.MaxProcs)
}

// warnWhole names the traces of which parts are lost.
func (r *Result) warnWhole() {
	for _, s := range []*Side{&r.Base, &r.Cand} {
		for _, t := range s.Traces {
			if !t.Sample.Whole {
				r.warnf("whole", "%s is not whole: %s.", t.Name, strings.TrimSuffix(orUnknown(t.Sample.Loss), "."))
			}
		}
		r.warnNoOps(s)
	}
}

// warnNoOps names the traces in which nothing can be told per op.
func (r *Result) warnNoOps(s *Side) {
	if !r.PerOp() || r.counted(s) == len(s.Traces) {
		return
	}
	if r.counted(s) == 0 {
		r.warnf("op", "No trace of %s has an op %s in its window: nothing can be told per op.", s.Name, textui.Clean(r.Op))
		return
	}
	for _, t := range s.Traces {
		if t.Sample.Ops == 0 {
			r.warnf("op", "%s has no op %s in its window; it is missing from what is told per op.", t.Name, textui.Clean(r.Op))
		}
	}
}

func orUnknown(s string) string {
	if s == "" {
		return "a part is lost"
	}
	return textui.Clean(s)
}

// median returns the median of a number over those traces of a side that know it.
func median(s *Side, of func(*sample.Sample) (float64, bool)) (float64, bool) {
	var xs []float64
	for _, t := range s.Traces {
		if x, ok := of(t.Sample); ok {
			xs = append(xs, x)
		}
	}
	return stat.Median(xs), len(xs) > 0
}

func seconds(s *sample.Sample) float64 { return float64(s.To-s.From) / 1e9 }

// warnLoad compares the offered load, without which nothing else can be compared.
func (r *Result) warnLoad() {
	if !r.PerOp() {
		r.hintOps()
		return
	}
	rate := func(s *sample.Sample) (float64, bool) {
		return float64(s.Ops) / seconds(s), s.Ops > 0 && seconds(s) > 0
	}
	base, ok := median(&r.Base, rate)
	cand, ok2 := median(&r.Cand, rate)
	if !ok || !ok2 || math.Abs(cand/base-1) <= loadLimit {
		return
	}
	r.warnf("load", "The load is not the same: %s ops per second in %s, %s in %s (%s). Waiting rises and falls with load, and more than in proportion.",
		rule.FormatValue(base, rule.Number), r.Base.Name, rule.FormatValue(cand, rule.Number), r.Cand.Name, TimesText(cand/base))
}

// hintOps names what could be counted, if both sides have it.
func (r *Result) hintOps() {
	counts := map[string]int{}
	for _, s := range []*Side{&r.Base, &r.Cand} {
		for _, t := range s.Traces {
			for _, o := range t.Ops {
				counts[o.Op]++
			}
		}
	}
	all := len(r.Base.Traces) + len(r.Cand.Traces)
	for _, o := range r.Cand.Traces[0].Ops { // the commonest first
		if counts[o.Op] == all && o.Count > 1 {
			r.Hints = append(r.Hints, fmt.Sprintf("Totals are per second, which compares only under equal load: --op %s tells them per op.", shellWord(o.Op)))
			return
		}
	}
	r.Hints = append(r.Hints, "Totals are per second, which compares only under equal load: --op tells them per region, task or goroutine.")
}

// warnLength compares the windows: the longer one has the greater maximum.
func (r *Result) warnLength() {
	length := func(s *sample.Sample) (float64, bool) { return seconds(s), seconds(s) > 0 }
	base, ok := median(&r.Base, length)
	cand, ok2 := median(&r.Cand, length)
	if !ok || !ok2 || max(base/cand, cand/base) < lengthLimit {
		return
	}
	r.warnf("length", "The traces are of different lengths, %s in %s and %s in %s: maxima and high percentiles grow with the length.",
		rule.FormatValue(base*1e9, rule.Nanoseconds), r.Base.Name, rule.FormatValue(cand*1e9, rule.Nanoseconds), r.Cand.Name)
}

// disturbances are what environment records tell of the machine. Where other processes
// take nothing, involuntary context switches and waits for a CPU are the program's own.
var disturbances = []struct {
	name  string
	limit float64
	unit  rule.Unit
	of    func(*sample.Noise) *float64
}{
	{"of its time was used by other processes", partLimit, rule.Fraction, func(n *sample.Noise) *float64 { return n.Foreign }},
	{"of its time was taken by the hypervisor", partLimit, rule.Fraction, func(n *sample.Noise) *float64 { return n.Steal }},
	{"times the CPU quota ended early", 0, rule.Number, func(n *sample.Noise) *float64 { return n.Throttled }},
}

// noiseOf returns the median of a disturbance over a side's traces.
func noiseOf(s *Side, of func(*sample.Noise) *float64) (float64, bool) {
	return median(s, func(s *sample.Sample) (float64, bool) {
		if s.Noise == nil || of(s.Noise) == nil {
			return 0, false
		}
		return *of(s.Noise), true
	})
}

// calm is the time for which threads wait for a CPU, per second and proc, up to which
// what other processes use does no harm.
const calm = 0.1

// warnNoise says where the machine was disturbed, and where more on one side.
func (r *Result) warnNoise() {
	delay := func(n *sample.Noise) *float64 { return n.RunDelay }
	base, ok := noiseOf(&r.Base, delay)
	cand, ok2 := noiseOf(&r.Cand, delay)
	if !(ok && ok2 && base <= calm && cand <= calm) {
		r.warnDisturbed()
	}
	if ok && ok2 && base > 0 && cand > 0 && max(base/cand, cand/base) > delayLimit {
		r.warnf("delay", "Threads waited for a CPU for %s per second and proc in %s, %s in %s: the operating system's part of the latencies is not the same.",
			rule.FormatValue(base*1e9, rule.Nanoseconds), r.Base.Name, rule.FormatValue(cand*1e9, rule.Nanoseconds), r.Cand.Name)
	}
}

func (r *Result) warnDisturbed() {
	for _, d := range disturbances {
		base, ok := noiseOf(&r.Base, d.of)
		cand, ok2 := noiseOf(&r.Cand, d.of)
		if ok && base > d.limit || ok2 && cand > d.limit {
			r.warnf("noise", "The machine was disturbed: %s %s in %s, %s in %s. Latencies are in part the machine's.",
				textOr(base, ok, d.unit), d.name, r.Base.Name, textOr(cand, ok2, d.unit), r.Cand.Name)
		}
	}
}

func textOr(x float64, known bool, u rule.Unit) string {
	if !known {
		return "an unknown part"
	}
	return rule.FormatValue(x, u)
}

// warnOutliers names traces that weigh much in means.
func (r *Result) warnOutliers() {
	key := quantity("mean(wait/U)", r.Op).String()
	for _, s := range []*Side{&r.Base, &r.Cand} {
		wait := func(s *sample.Sample) (float64, bool) { v, ok := s.Values[key]; return v.X, ok }
		middle, ok := median(s, wait)
		if !ok || len(s.Traces) < 3 || middle <= 0 {
			continue
		}
		for _, t := range s.Traces {
			if x, ok := wait(t.Sample); ok && x > outlier*middle {
				r.warnf("outlier", "%s waited %s per %s, %s the median of %s: it weighs much in what is a mean below.",
					t.Name, rule.FormatValue(x, rule.Nanoseconds), r.Unit(), TimesText(x/middle), s.Name)
			}
		}
	}
}

// warnMix says that percentiles of waits are of other waits.
func (r *Result) warnMix() {
	row := r.Row(quantity("mean(wakes/U)", r.Op).String())
	if row == nil || row.Ratio == nil || !r.PerOp() {
		return
	}
	if x := row.Ratio.Est - 1; math.Abs(x) > mixLimit && (row.Differs || r.Single()) {
		r.warnf("mix", "The number of wakes per op is not the same (%s): percentiles are of other waits than before. An op's wait, mean(wait/op), compares.", TimesText(x+1))
	}
}

// shellWord quotes what a shell would take apart.
func shellWord(s string) string {
	s = textui.Clean(s)
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:._/-") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
