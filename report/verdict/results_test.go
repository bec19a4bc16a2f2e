package verdict

import (
	"fmt"
	"strings"

	"github.com/schedscope/schedscope/analyze/gate"
	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/internal/stat"
	"github.com/schedscope/schedscope/model"
)

const ms = 1e6

const msec = model.Duration(ms)

func ptr[T any](x T) *T { return &x }

// spread returns n values round a median, which is the middle one for odd n.
func spread(median float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = median * (1 + 0.02*float64(i-n/2))
	}
	return out
}

func values(median float64, n int) *gate.Values {
	return &gate.Values{N: n, Median: median, Values: spread(median, n)}
}

func ratio(est, low, high float64) *stat.Interval {
	return &stat.Interval{Est: est, Low: low, High: high, Confidence: 0.957}
}

func names(side string, n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("%s-%02d.trace", side, i+1))
	}
	return out
}

func identity(commit string) sample.Identity {
	return sample.Identity{Workload: "checkout", Op: "region:request", MetricDefs: rule.MetricDefs, Go: "go1.26.8", OS: "linux", Arch: "amd64",
		CPU: "Intel(R) Xeon(R) @ 2.50GHz", NumCPU: 2, MinProcs: 2, MaxProcs: 2, Commit: commit}
}

func sidesOf(n int) (*gate.Side, gate.Side) {
	base := &gate.Side{Name: "base", Traces: names("base", n), Identity: identity("4f1c2d9e8b7a65"), Commit: "4f1c2d9e8b7a65",
		OpRate: ptr(3021.0), Events: ptr(13.8), Busy: ptr(0.51), Noise: &env.Noise{Nivcsw: ptr(1.2)}}
	cand := gate.Side{Name: "cand", Traces: names("cand", n), Identity: identity("a90b11c2d3e4f5"), Commit: "a90b11c2d3e4f5",
		OpRate: ptr(3033.0), Events: ptr(13.9), Busy: ptr(0.58), Noise: &env.Noise{Nivcsw: ptr(1.4)}}
	return base, cand
}

func okGuards() []gate.Guard {
	return []gate.Guard{
		{Name: "identity", Status: gate.GuardOK, Text: "workload, metrics, go, goarch and gomaxprocs are equal"},
		{Name: "whole", Status: gate.GuardOK, Text: "all traces are whole"},
		{Name: "load", Status: gate.GuardOK, Text: "3021 and 3033 ops/s"},
		{Name: "machine", Status: gate.GuardOK, Text: "1.2 and 1.4 involuntary context switches per second and proc"},
	}
}

func newRule(text string, v gate.Verdict, base, cand *gate.Values, r *stat.Interval) gate.RuleResult {
	parsed, err := rule.Parse(text)
	if err != nil {
		panic(err)
	}
	out := gate.RuleResult{Rule: text, Slug: parsed.Slug(), Level: budget.Error, Unit: parsed.Quantity.Unit(), Relative: parsed.Bound.Relative, LowerIsWorse: !parsed.Op.HigherIsWorse(), Verdict: v,
		Base: base, Cand: cand, Bound: parsed.Bound.Add, Ratio: r}
	if base != nil {
		out.Bound = parsed.Bound.At(base.Median)
		out.Test = "permutation"
	}
	return out
}

func tested(r gate.RuleResult, p, adj float64) gate.RuleResult {
	r.P, r.PAdj = ptr(p), ptr(adj)
	return r
}

func frameOf(fn, file string, line int) *sample.Frame {
	return &sample.Frame{Func: fn, File: "/home/ci/src/shop/shop/" + file, Line: line}
}

func explanation() *gate.Explain {
	return &gate.Explain{
		Where: []gate.Part{
			{Class: sample.Class{Func: "example.com/shop/server.(*pool).worker", At: frameOf("example.com/shop/server.(*pool).worker", "server/server.go", 88),
				By: frameOf("example.com/shop/server.(*queue).push", "server/queue.go", 41), Total: 188000, Count: 31},
				Base: 102_000, Cand: 188_000, Share: 0.71, BaseCount: 3.1, CandCount: 3.12},
			{Class: sample.Class{Func: "net/http.(*conn).serve", At: &sample.Frame{Func: "net/http.(*conn).readRequest", File: "/usr/local/go/src/net/http/server.go", Line: 1001}},
				Base: 51_000, Cand: 71_000, Share: 0.17},
		},
		Behind: []gate.Part{{Class: sample.Class{Func: "example.com/shop/img.resize", Detail: "behind a goroutine", At: frameOf("example.com/shop/img.resize", "img/img.go", 120)},
			Base: 40_000, Cand: 130_000, Share: 0.8, BaseLongest: 0.4 * ms, CandLongest: 5.1 * ms}},
		Origin: "program",
		Why: []string{"the program: more work per op", "cpu/op x1.20 [1.15, 1.25]; wakes/op x1.00 [0.99, 1.01]",
			"load: 3021 and 3033 ops/s", "machine: nothing disturbed the recordings (involuntary context switches 1.4/s/P, limit 20)"},
		See: []gate.Look{
			{Trace: "cand-07.trace", Stretch: sample.Stretch{From: 412 * msec, To: 437 * msec, Total: 61 * msec}},
			{Trace: "base-03.trace", Base: true, Stretch: sample.Stretch{From: 401 * msec, To: 426 * msec, Total: 9 * msec}},
		},
		Next: []string{"reproduce: schedscope gate record -n 10 --base OLD --cand NEW -o runs/", "accept: a waiver in the budget, with a day on which it ends",
			"this gate sees x1.31 or more with 80% probability"},
	}
}

// failing is a check with violations, an explanation and passes.
func failing() *gate.Result {
	base, cand := sidesOf(10)
	latency := tested(newRule("p99(runnable) <= baseline*1.10", gate.Fail, values(1.1*ms, 10), values(1.76*ms, 10), ratio(1.6, 1.43, 1.81)), 0.0004, 0.002)
	latency.MDE, latency.Owner, latency.Explain = 1.31, "sched-team", explanation()
	wakes := tested(newRule("mean(wakes/op) <= baseline*1.02", gate.Fail, values(3.16, 10), values(5.12, 10), ratio(1.62, 1.61, 1.63)), 0.0000054, 0.000027)
	wakes.Level, wakes.Explain = budget.Warn, explanation()
	wakes.Explain.Next[2] = "this gate sees x1.03 or more with 80% probability"
	cpu := tested(newRule("mean(cpu/op) <= baseline*1.05", gate.Pass, values(339_930, 10), values(341_200, 10), ratio(1.004, 0.991, 1.018)), 0.99996, 1)
	cpu.MDE = 1.08
	sync := tested(newRule("p99(blocked{reason=sync}) <= baseline*1.25", gate.Unseen, values(2.2*ms, 10), values(2.31*ms, 10), ratio(1.05, 0.88, 1.27)), 0.81, 1)
	sync.MDE, sync.Detect = 1.62, 1.875
	limit := newRule("p99(runnable) < 5ms @ 95%", gate.Pass, nil, values(1.76*ms, 10), nil)
	limit.P, limit.Test = ptr(1.0), "sign"
	limit.Cand.Bounds = &stat.Interval{Est: 1.76 * ms, Low: 1.69 * ms, High: 1.84 * ms, Confidence: 0.989}
	return &gate.Result{
		Schema: gate.Schema, MetricDefs: rule.MetricDefs, Workload: "checkout", BudgetHash: "00ff",
		Verdict: gate.Fail, Exit: gate.ExitViolated, Headline: "1 of 5 rules violated: p99(runnable) <= baseline*1.10",
		Design: gate.Interleaved, Alpha: 0.05, Base: base, Cand: cand, Guards: okGuards(),
		Rules:    []gate.RuleResult{limit, latency, sync, cpu, wakes},
		Warnings: []string{"1 rule of level warn violated"},
	}
}

func passing() *gate.Result {
	r := failing()
	r.Verdict, r.Exit, r.Headline = gate.Unseen, gate.ExitOK, "no violation shown in 3 rules, and one of x1.88 would have been with 80% probability"
	r.Rules = []gate.RuleResult{r.Rules[0], r.Rules[2], r.Rules[3]}
	r.Next, r.Warnings = nil, nil
	return r
}

// noisy is a check that a disturbed machine keeps from judging latency.
func noisy() *gate.Result {
	r := passing()
	r.Verdict, r.Exit = gate.Inconclusive, gate.ExitUndecided
	r.Guards[3] = gate.Guard{Name: "machine", Status: gate.GuardFailed, Blocks: "latency",
		Text: "candidate: 214 involuntary context switches per second and proc, 20 are accepted; other processes used 61% of the machine"}
	r.Headline = "cannot judge 2 of 3 rules: machine: " + r.Guards[3].Text
	r.Guards = append(r.Guards, gate.Guard{Name: "runner", Status: gate.GuardUnknown, Blocks: "relative", Text: "the environment record has no runner"},
		gate.Guard{Name: "mix", Status: gate.GuardFlag, Text: "events per op rose by 14%: quantiles of single waits are of another mix"})
	r.Base.Dropped = []gate.Dropped{{Trace: "base-04.trace", Why: "321 involuntary context switches per second and proc"}}
	r.Cand.Dropped = []gate.Dropped{{Trace: "cand-02.trace", Why: "truncated at 1.8MB"}, {Trace: "cand-09.trace", Why: "other processes used 61% of the machine"}}
	for i := range r.Rules {
		if strings.Contains(r.Rules[i].Rule, "cpu") {
			continue
		}
		rr := &r.Rules[i]
		rr.Verdict, rr.Why, rr.P, rr.PAdj = gate.Inconclusive, "machine: "+r.Guards[3].Text, nil, nil
	}
	r.Rules[1].Why = "no violation shown, but only one of x1.72 or more would have been, and the rule wants to see x1.50: about 17 traces per side"
	r.Rules[1].Needed, r.Rules[1].Detect = 17, 1.5
	r.Warnings = []string{"the baseline file was changed in the same commit"}
	r.Next = []string{"record again on a quiet machine: schedscope gate record -n 20"}
	return r
}

// unusableResult is a check that could not be done.
func unusableResult() *gate.Result {
	return &gate.Result{Schema: gate.Schema, MetricDefs: rule.MetricDefs, Verdict: gate.Unusable, Exit: gate.ExitUnusable,
		Headline: "unusable: 1 of 1 rule cannot be judged at all: p99(region{name=chekout}) < 5ms: no region named chekout ended in the window", Design: gate.Absolute, Alpha: 0.05,
		Cand: gate.Side{Name: "cand", Traces: names("cand", 1), Identity: identity("")},
		Rules: []gate.RuleResult{func() gate.RuleResult {
			r := newRule("p99(region{name=chekout}) < 5ms", gate.Unusable, nil, nil, nil)
			r.Why = "no region named chekout ended in the window; there are checkout and pay"
			return r
		}()}}
}

// point is a check of one trace.
func point() *gate.Result {
	bad := newRule("p99(runnable{func=*server.handle}) < 2ms @ point", gate.Fail, nil, values(2.9*ms, 1), nil)
	bad.Point, bad.Why, bad.Explain = true, "one process, no error rate", explanation()
	bad.Explain.See = bad.Explain.See[:1]
	good := newRule("share(cause=behind-gc) < 20% @ point", gate.Pass, nil, values(0.081, 1), nil)
	good.Point = true
	_, cand := sidesOf(1)
	return &gate.Result{Schema: gate.Schema, MetricDefs: rule.MetricDefs, Workload: "checkout", Verdict: gate.Fail, Exit: gate.ExitViolated,
		Headline: "1 of 2 rules violated: p99(runnable{func=*server.handle}) < 2ms @ point", Design: gate.Absolute, Alpha: 0.05, Cand: cand,
		Guards: okGuards()[1:2], Rules: []gate.RuleResult{bad, good}}
}

// points is a check of three traces without statistics.
func points() *gate.Result {
	r := point()
	r.Cand.Traces = names("cand", 3)
	for i := range r.Rules {
		rr := &r.Rules[i]
		rr.Cand, rr.Why = values(rr.Cand.Median, 3), "every trace for itself, no error rate"
	}
	return r
}

func waivedResult() *gate.Result {
	r := failing()
	r.Verdict, r.Exit, r.Headline = gate.Waived, gate.ExitOK, "1 of 3 rules violated with a waiver, no other violation shown"
	r.Rules = r.Rules[1:4]
	r.Rules[0].Verdict = gate.Waived
	r.Rules[0].Waiver = &gate.Waiver{Until: "2027-01-31", Issue: "#123", Ceiling: "baseline*1.5"}
	return r
}

// cases are results of all kinds, by name.
var cases = []struct {
	name string
	make func() *gate.Result
}{
	{"fail", failing}, {"pass", passing}, {"noisy", noisy}, {"unusable", unusableResult}, {"point", point}, {"points", points},
	{"waived", waivedResult},
}

// evil are names that mean something to terminals, CI systems, browsers or tables.
var evil = strings.Join([]string{"\x1b[31m", "\n::error file=x::pwned", "\r\n##[add-mask]x", "<script>alert(1)</script>", "a|b`c`", "\xff\xfe", "\u202egnp.exe", "]]>", "@everyone", "*_x_*", "%0A::warning::x", "\x00"}, " ")

// hostile is a failing check with evil in each text that traces and budgets can set.
func hostile() *gate.Result {
	r, err := tidy(failing(), false)
	if err != nil {
		panic(err)
	}
	r.Workload, r.Headline, r.Base.Commit = evil, evil, evil
	r.Guards = append(r.Guards, gate.Guard{Name: evil, Status: gate.GuardFailed, Blocks: evil, Text: evil})
	r.Cand.Dropped = []gate.Dropped{{Trace: evil, Why: evil}}
	r.Warnings, r.Next = []string{evil}, []string{evil}
	r.Base.Identity.CPU, r.Cand.Identity.CPU = evil, evil
	rr := &r.Rules[1]
	rr.Rule, rr.Owner, rr.Why = "p99(runnable{func=\"*"+strings.NewReplacer("\x00", "", "\n", "", "\r", "").Replace("x|<b>`y` ::error::")+"\"}) <= baseline", evil, evil
	rr.Verdict, rr.Waiver = gate.Fail, &gate.Waiver{Until: evil, Issue: evil, Ceiling: evil}
	e := rr.Explain
	e.Origin, e.Why, e.Next = evil, []string{evil}, []string{evil}
	e.Where[0].Func, e.Where[0].Detail = evil, evil
	e.Where[0].At.Func, e.Where[0].By.Func, e.Where[0].By.File = evil, evil, evil
	e.Where[0].At.File = "/home/ci/src/shop/shop/a,b:c::d%<x>.go"
	e.See[0].Trace = evil
	r.Rules[4].Rule = evil // no rule at all
	return r
}

func frameAt(file string) *sample.Frame { return &sample.Frame{Func: "f", File: file, Line: 1} }
