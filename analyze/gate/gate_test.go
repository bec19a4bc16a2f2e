package gate

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/model"
)

// today is the day of all tests.
var today = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// fiveRules are those of the experiments that the gate's design rests on.
var fiveRules = []string{
	"p99(runnable) <= baseline*1.10",
	"mean(wait/op) <= baseline*1.10",
	"p90(runnable) <= baseline*1.10",
	"mean(cpu/op) <= baseline*1.10",
	"mean(wakes/op) <= baseline*1.10",
}

// budgetOf returns a budget with rules of level error.
func budgetOf(t testing.TB, rules ...string) *budget.Budget {
	t.Helper()
	b := budget.Default()
	b.Workload, b.Op = "checkout", "region:request"
	for _, text := range rules {
		r, err := rule.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		b.Rules = append(b.Rules, budget.Rule{Rule: r, Level: budget.Error})
	}
	return b
}

// spreads are those of the logarithms between traces of a quiet machine.
var spreads = map[string]float64{
	"p99(runnable)": .3, "mean(wait/op)": .15, "p90(runnable)": .10, "mean(cpu/op)": .05,
	"mean(wakes/op)": .009, "p99(blocked{reason=sync})": .2, "mean(ops/s)": .01,
}

var centres = map[string]float64{
	"p99(runnable)": 1.1e6, "mean(wait/op)": 216e3, "p90(runnable)": 700e3, "mean(cpu/op)": 340e3,
	"mean(wakes/op)": 3.16, "p99(blocked{reason=sync})": 2e6, "mean(ops/s)": 3000,
}

// A recipe makes a set.
type recipe struct {
	n      int
	seed   uint64
	times  map[string]float64 // what the values are multiplied with
	edit   func(i int, s *sample.Sample)
	design Design // of the set; "" is interleaved
	sd     float64
}

// keys are those of centres, sorted: the order in which random numbers are drawn.
var keys = []string{"mean(cpu/op)", "mean(ops/s)", "mean(wait/op)", "mean(wakes/op)", "p99(blocked{reason=sync})", "p99(runnable)", "p90(runnable)"}

func (r recipe) set(side string) *sample.Set {
	rng := rand.New(rand.NewPCG(r.seed, uint64(len(side))))
	set := &sample.Set{Design: string(Interleaved)}
	if r.design != "" {
		set.Design = string(r.design)
	}
	for i := range r.n {
		s := trace(side, i)
		for _, k := range keys {
			f := 1.0
			if r.times[k] != 0 {
				f = r.times[k]
			}
			sd := spreads[k]
			if r.sd != 0 {
				sd = r.sd
			}
			s.Values[k] = sample.Value{X: centres[k] * f * math.Exp(sd*rng.NormFloat64()), N: 11000}
		}
		if r.edit != nil {
			r.edit(i, &s)
		}
		set.Samples = append(set.Samples, s)
	}
	return set
}

// trace returns the sample of a quiet machine, without values.
func trace(side string, i int) sample.Sample {
	place := 2*i + 1
	if side == "cand" {
		place++
	}
	return sample.Sample{
		Name: fmt.Sprintf("%s-%02d.trace", side, i), Order: place, Whole: true,
		Identity: sample.Identity{
			Workload: "checkout", Op: "region:request", MetricDefs: rule.MetricDefs, Go: "go1.26.8", OS: "linux",
			Arch: "amd64", CPU: "model", NumCPU: 2, MinProcs: 2, MaxProcs: 2,
		},
		Noise: &env.Noise{Nivcsw: number(1), RunDelay: number(0.02), Steal: number(0), Foreign: number(0.02), Throttled: number(0)},
		From:  0, To: 1e9, Ops: 3000, Events: 42000 + int64(place), Running: 1e9 + model.Duration(place), CPU: 1e9, Capacity: 2e9,
		Values: map[string]sample.Value{},
		Waits: []sample.Class{
			{Func: "main.worker", At: frame("main.(*pool).worker", 88), By: frame("main.push", 41), Total: 500e6, Count: 6000},
			{Func: "main.serve", At: frame("main.serve", 10), Total: 100e6, Count: 3000},
		},
		Blocked: []sample.Class{{Func: "main.worker", Detail: "sync", At: frame("main.lock", 7), Total: 200e6, Count: 100}},
		Runs:    []sample.Class{{Func: "main.resize", Total: 600e6, Count: 3000}, {Func: "main.worker", Total: 400e6, Count: 3000}},
		Blame:   []sample.Class{{Func: "main.resize", Detail: "behind a goroutine", At: frame("main.resize", 120), Total: 400e6, Count: 4000, Longest: 4e5}},
		Worst:   []sample.Stretch{{From: 412e6, To: 437e6, Total: 9e6}},
	}
}

func frame(fn string, line int) *sample.Frame {
	return &sample.Frame{Func: fn, File: "server.go", Line: line}
}

func number(x float64) *float64 { return &x }

// noisy makes a sample one of a machine with other work on it.
func noisy(_ int, s *sample.Sample) {
	s.Noise = &env.Noise{Nivcsw: number(250), RunDelay: number(0.9), Steal: number(0), Foreign: number(0.6), Throttled: number(0)}
}

// noisyTimes is what noise did in the experiments.
var noisyTimes = map[string]float64{
	"p99(runnable)": 223, "mean(wait/op)": 40, "p90(runnable)": 152, "mean(cpu/op)": .95, "mean(wakes/op)": .70,
}

func must(t testing.TB, in Input) *Result {
	t.Helper()
	if in.Today.IsZero() {
		in.Today = today
	}
	r := Check(in)
	checkResult(t, r)
	return r
}

// checkResult checks what must hold of every result.
func checkResult(t testing.TB, r *Result) {
	t.Helper()
	if _, err := json.Marshal(r); err != nil {
		t.Errorf("a result is not JSON: %v", err)
	}
	if r.Headline == "" || r.Schema != Schema || r.Verdict == "" {
		t.Errorf("incomplete result: %q %q %q", r.Headline, r.Schema, r.Verdict)
	}
	want := map[Verdict][]int{Fail: {1}, Unusable: {2}, Inconclusive: {0, 3}, Pass: {0}, Unseen: {0}, Waived: {0}}
	ok := false
	for _, exit := range want[r.Verdict] {
		ok = ok || exit == r.Exit
	}
	if !ok {
		t.Errorf("verdict %s with exit %d", r.Verdict, r.Exit)
	}
	for _, rr := range r.Rules {
		if (rr.Verdict == Inconclusive || rr.Verdict == Unusable) && rr.Why == "" {
			t.Errorf("%s is %s and does not say why", rr.Rule, rr.Verdict)
		}
		if (rr.Verdict == Fail) != (rr.Explain != nil) && rr.Verdict == Fail {
			t.Errorf("%s failed without explanation", rr.Rule)
		}
	}
}

func ruleOf(t testing.TB, r *Result, prefix string) RuleResult {
	t.Helper()
	for _, rr := range r.Rules {
		if strings.HasPrefix(rr.Rule, prefix) {
			return rr
		}
	}
	t.Fatalf("no rule %q among %d", prefix, len(r.Rules))
	return RuleResult{}
}

func guardOf(r *Result, name string) Guard {
	for _, g := range r.Guards {
		if g.Name == name {
			return g
		}
	}
	return Guard{}
}

// TestVerdicts checks each verdict of one relative rule.
func TestVerdicts(t *testing.T) {
	wait := "mean(wait/op)"
	for _, c := range []struct {
		name    string
		rule    string
		key     string
		ratio   float64
		n       int
		sd      float64
		verdict Verdict
		exit    int
	}{
		{"half as much again", wait + " <= baseline*1.10", wait, 1.5, 10, .1, Fail, 1},
		{"the same", wait + " <= baseline*1.10", wait, 1, 10, .02, Pass, 0},
		{"less", wait + " <= baseline*1.10", wait, .7, 10, .1, Pass, 0},
		{"near the bound", wait + " <= baseline*1.10", wait, 1.04, 10, .1, Unseen, 0},
		{"beyond it by chance", wait + " <= baseline*1.10", wait, 1.09, 10, .1, Inconclusive, 0},
		{"too far apart to tell", wait + " <= baseline*1.10", wait, 1, 10, .6, Inconclusive, 0},
		{"five of six", wait + " <= baseline*1.10", wait, 3, 5, .1, Inconclusive, 3},
		{"six", wait + " <= baseline*1.10", wait, 3, 6, .1, Fail, 1},
		{"absolute room", wait + " <= baseline*1.10 + 200us", wait, 1.5, 10, .1, Pass, 0},
		{"throughput fell", "mean(ops/s) >= baseline*0.95", "mean(ops/s)", .8, 10, .05, Fail, 1},
		{"throughput rose", "mean(ops/s) >= baseline*0.95", "mean(ops/s)", 1.2, 10, .05, Pass, 0},
		{"throughput near the bound", "mean(ops/s) >= baseline*0.95", "mean(ops/s)", .96, 10, .05, Unseen, 0},
		{"throughput too far apart", "mean(ops/s) >= baseline*0.95", "mean(ops/s)", 1, 10, .6, Inconclusive, 0},
		{"absolute, over", wait + " < 100us @ 95%", wait, 1, 10, .1, Fail, 1},
		{"absolute, under", wait + " < 1ms @ 95%", wait, 1, 10, .1, Pass, 0},
		{"absolute, near", wait + " < 230us @ 95%", wait, 1, 10, .1, Unseen, 0},
		{"absolute, at", wait + " < 217us @ 95%", wait, 1, 10, .1, Inconclusive, 0},
		{"absolute, four traces", wait + " < 100us @ 95%", wait, 1, 4, .1, Inconclusive, 3},
		{"absolute, five traces", wait + " < 100us @ 95%", wait, 1, 5, .1, Fail, 1},
		{"absolute from below", "mean(ops/s) > 4000 @ 95%", "mean(ops/s)", 1, 10, .05, Fail, 1},
		{"point", wait + " < 100us @ point", wait, 1, 1, .1, Fail, 1},
		{"point, one of ten over", wait + " < 300us @ point", wait, 1, 10, .4, Fail, 1},
		{"point, one of ten under", "mean(ops/s) > 2500 @ point", "mean(ops/s)", 1, 10, .2, Fail, 1},
		{"point, kept", wait + " < 1ms @ point", wait, 1, 1, .1, Pass, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := budgetOf(t, c.rule)
			b.Load = budget.Closed
			r := must(t, Input{
				Budget: b, Base: recipe{n: c.n, seed: 1, sd: c.sd}.set("base"),
				Cand: recipe{n: c.n, seed: 2, sd: c.sd, times: map[string]float64{c.key: c.ratio}}.set("cand"),
			})
			if got := r.Rules[0]; got.Verdict != c.verdict || r.Exit != c.exit {
				t.Errorf("%s (%s), exit %d, want %s and %d; p %v, ratio %+v, mde %v", got.Verdict, got.Why, r.Exit, c.verdict, c.exit, deref(got.P), got.Ratio, got.MDE)
			}
		})
	}
}

func deref(p *float64) float64 {
	if p == nil {
		return math.NaN()
	}
	return *p
}

// TestNoise checks that what a disturbed machine does to one side never fails or
// passes any rule.
func TestNoise(t *testing.T) {
	rules := append([]string{"p99(runnable) < 5ms @ 95%", "p99(runnable) < 5ms @ point", "mean(cpu/op) < 1ms @ 95%"}, fiveRules...)
	for seed := range uint64(20) {
		quietSet := recipe{n: 10, seed: seed}
		noisySet := recipe{n: 10, seed: seed + 100, times: noisyTimes, edit: noisy}
		for _, swap := range []bool{false, true} {
			in := Input{Budget: budgetOf(t, rules...), Base: quietSet.set("base"), Cand: noisySet.set("cand")}
			if swap {
				in.Base, in.Cand = noisySet.set("base"), quietSet.set("cand")
			}
			r := must(t, in)
			if r.Exit != ExitUndecided || r.Verdict != Inconclusive || !strings.Contains(r.Headline, "machine") {
				t.Fatalf("seed %d, swap %v: exit %d, %s", seed, swap, r.Exit, r.Headline)
			}
			for _, rr := range r.Rules {
				if rr.Verdict != Inconclusive || !strings.Contains(rr.Why, "context switches") {
					t.Errorf("seed %d, swap %v: %s: %s (%s)", seed, swap, rr.Rule, rr.Verdict, rr.Why)
				}
			}
		}
	}
}

// TestEqualNoise checks that counters per op are judged if both sides were disturbed
// alike, and only then.
func TestEqualNoise(t *testing.T) {
	noisySet := func(side string, seed uint64, cpu, delay float64, design Design) *sample.Set {
		return recipe{n: 10, seed: seed, design: design, times: map[string]float64{"mean(cpu/op)": cpu}, edit: func(i int, s *sample.Sample) {
			noisy(i, s)
			s.Noise.RunDelay = number(delay)
		}}.set(side)
	}
	for _, c := range []struct {
		name   string
		cpu    float64
		delay  float64
		design Design
		exit   int
		cpuIs  Verdict
	}{
		{"unchanged", 1, .9, "", 3, Pass},
		{"a little more", 1.13, .9, "", 3, Inconclusive},
		{"more work", 1.25, .9, "", 1, Fail},
		{"more work and noise", 1.25, 1.8, "", 3, Inconclusive},
		{"other session", 1.25, .9, Separate, 3, Inconclusive},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := must(t, Input{Budget: budgetOf(t, fiveRules...), Base: noisySet("base", 1, 1, .9, c.design), Cand: noisySet("cand", 2, c.cpu, c.delay, c.design)})
			if got := ruleOf(t, r, "mean(cpu/op)"); r.Exit != c.exit || got.Verdict != c.cpuIs {
				t.Errorf("exit %d, cpu/op %s (%s)", r.Exit, got.Verdict, got.Why)
			}
			if got := ruleOf(t, r, "p99(runnable)"); got.Verdict != Inconclusive {
				t.Errorf("latency is %s", got.Verdict)
			}
		})
	}
}

// TestHang checks that nothing passes by requests that ended if others of the candidate hang, unless those of the base do, too.
func TestHang(t *testing.T) {
	set := func(side string, seed uint64, hang bool) *sample.Set {
		return recipe{n: 10, seed: seed, edit: func(i int, s *sample.Sample) {
			s.Open = &findings.Open{Name: "main.a", Count: 8, Longest: 1e9, Hang: hang}
		}}.set(side)
	}
	for base, want := range map[bool]Verdict{false: Inconclusive, true: Pass} {
		r := must(t, Input{Budget: budgetOf(t, "p99(runnable) <= baseline*1.5"), Base: set("base", 1, base), Cand: set("cand", 2, true)})
		if got := ruleOf(t, r, "p99(runnable)"); got.Verdict != want || (r.Exit == 0) != base {
			t.Errorf("base hangs %t: %s, exit %d: %s", base, got.Verdict, r.Exit, got.Why)
		}
	}
}

// TestSubtleNoise checks noise that is below each limit but on one side only, and that
// a program with more work does not look like that.
func TestSubtleNoise(t *testing.T) {
	for _, c := range []struct {
		name    string
		n       env.Noise
		blocked bool
	}{
		{"run-queue delay alone", env.Noise{Nivcsw: number(2), RunDelay: number(.05), Foreign: number(.02), Steal: number(0)}, false},
		{"and its own context switches", env.Noise{Nivcsw: number(15), RunDelay: number(.05), Foreign: number(.02), Steal: number(0)}, false},
		{"and other processes", env.Noise{Nivcsw: number(2), RunDelay: number(.05), Foreign: number(.15), Steal: number(0)}, true},
		{"and the hypervisor", env.Noise{Nivcsw: number(2), RunDelay: number(.05), Foreign: number(.02), Steal: number(.04)}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			slow := recipe{n: 10, seed: 2, times: map[string]float64{"p99(runnable)": 4}, edit: func(_ int, s *sample.Sample) { n := c.n; s.Noise = &n }}
			r := must(t, Input{Budget: budgetOf(t, fiveRules[0]), Base: recipe{n: 10, seed: 1}.set("base"), Cand: slow.set("cand")})
			want := 1
			if c.blocked {
				want = 3
			}
			if r.Exit != want {
				t.Errorf("exit %d, want %d: %+v", r.Exit, want, guardOf(r, "machine"))
			}
			r = must(t, Input{Budget: budgetOf(t, fiveRules[0]), Base: slow.set("base"), Cand: recipe{n: 10, seed: 1}.set("cand")})
			if want = 0; c.blocked {
				want = 3
			}
			if r.Exit != want {
				t.Errorf("turned round: exit %d, want %d: %+v", r.Exit, want, guardOf(r, "machine"))
			}
		})
	}
}

// TestGuards checks what each guard blocks.
func TestGuards(t *testing.T) {
	all := func(f func(*sample.Sample)) func(int, *sample.Sample) {
		return func(_ int, s *sample.Sample) { f(s) }
	}
	first := func(n int, f func(*sample.Sample)) func(int, *sample.Sample) {
		return func(i int, s *sample.Sample) {
			if i < n {
				f(s)
			}
		}
	}
	tooNoisy := func(s *sample.Sample) { s.Noise.Nivcsw, s.Noise.Foreign = number(90), number(.4) }
	for _, c := range []struct {
		name   string
		cand   func(int, *sample.Sample)
		design Design
		exit   int
		guard  string
		status GuardStatus
		blocks string
		says   string
	}{
		{"nothing", nil, "", 1, "machine", GuardOK, "", "nothing disturbed"},
		{"hang", all(func(s *sample.Sample) {
			s.Open = &findings.Open{Name: "main.a", Count: 8, Longest: 1e9, Hang: true, Waits: "waits for a lock in main.get"}
		}), "", 1, "hang", GuardFailed, "", "requests hang in 0 of 10 traces of the base, 10 of 10 traces of the candidate"},
		{"procs", all(func(s *sample.Sample) { s.Identity.MinProcs, s.Identity.MaxProcs = 4, 4 }), "", 3, "gomaxprocs", GuardFailed, blocksRelative, "2 in the base, 4 in the candidate"},
		{"procs change", all(func(s *sample.Sample) { s.Identity.MinProcs = 1 }), "", 3, "constant gomaxprocs", GuardFailed, blocksAll, "between 1 and 2"},
		{"mixed procs", first(3, func(s *sample.Sample) { s.Identity.MinProcs, s.Identity.MaxProcs = 4, 4 }), "", 3, "gomaxprocs", GuardFailed, blocksAll, "differ: 2, 4"},
		{"go", all(func(s *sample.Sample) { s.Identity.Go = "go1.25.3" }), "", 3, "goversion", GuardFailed, blocksRelative, "go1.25.3"},
		{"go as the format tells it", all(func(s *sample.Sample) { s.Identity.Go = "go1.26" }), "", 1, "goversion", GuardUnknown, "", "go1.26.8"},
		{"go of one trace as its format says it", first(1, func(s *sample.Sample) { s.Identity.Go = "go1.26" }), "", 1, "goversion", GuardUnknown, "", "not recorded in all"},
		{"arch", all(func(s *sample.Sample) { s.Identity.Arch = "arm64" }), "", 3, "goarch", GuardFailed, blocksRelative, "arm64"},
		{"cpu not known", all(func(s *sample.Sample) { s.Identity.CPU = "" }), "", 1, "cpu_model", GuardUnknown, "", "not recorded"},
		{"load", all(func(s *sample.Sample) { s.Ops = 3300; s.Events = s.Events * 11 / 10 }), "", 3, "load", GuardFailed, blocksRelative, "not comparable"},
		{"load within", all(func(s *sample.Sample) { s.Ops = 3120 }), "", 1, "load", GuardOK, "", "+4.0%"},
		{"no ops", all(func(s *sample.Sample) { s.Ops = 0 }), "", 3, "load", GuardUnknown, blocksRelative, "region:request"},
		{"one trace without ops", first(1, func(s *sample.Sample) { s.Ops = 0 }), "", 3, "load", GuardUnknown, blocksRelative, "not every trace"},
		{"mix", all(func(s *sample.Sample) { s.Events = s.Events * 13 / 10 }), "", 1, "mix", GuardFlag, "", "x1.30"},
		{"mix of fewer events", all(func(s *sample.Sample) { s.Events = s.Events * 7 / 10 }), "", 1, "mix", GuardFlag, "", "x0.70"},
		{"four noisy of ten", first(4, tooNoisy), "", 1, "machine", GuardFlag, "", "6 left"},
		{"five noisy of ten", first(5, tooNoisy), "", 3, "machine", GuardFailed, "", "5 left, 6 needed"},
		{"throttled", all(func(s *sample.Sample) { s.Noise.Throttled = number(3) }), "", 3, "machine", GuardFailed, "", "throttled 3 times"},
		{"steal", all(func(s *sample.Sample) { s.Noise.Steal = number(.2) }), "", 3, "machine", GuardFailed, "", "hypervisor took 20%"},
		{"others that make threads wait", first(5, func(s *sample.Sample) { s.Noise.Foreign, s.Noise.RunDelay = number(.5), number(.3) }), "", 3, "machine", GuardFailed, "", "waited for a CPU 0.3s/s/P (limit 0.1"},
		{"others on other CPUs", all(func(s *sample.Sample) { s.Noise.Foreign = number(.5) }), "", 1, "machine", GuardOK, "", "other processes 50%"},
		{"threads of its own", all(func(s *sample.Sample) { s.Noise.Nivcsw = number(140) }), "", 1, "machine", GuardOK, "", "140.0/s/P"},
		{"others, switches not known", all(func(s *sample.Sample) { s.Noise.Foreign, s.Noise.Nivcsw = number(.5), nil }), "", 3, "machine", GuardFailed, "", "other processes used 50%"},
		{"switches, others not known", all(func(s *sample.Sample) { s.Noise.Foreign, s.Noise.Nivcsw = nil, number(90) }), "", 3, "machine", GuardFailed, "", "90 involuntary"},
		{"some noisy, some without records", func(i int, s *sample.Sample) {
			switch i {
			case 0:
				tooNoisy(s)
			case 1:
				s.Noise = nil
			}
		}, "", 3, "machine", GuardUnknown, blocksRelative, "1 of 9 traces of the candidate is not recorded"},
		{"no records on one side", all(func(s *sample.Sample) { s.Noise = nil }), "", 3, "machine", GuardUnknown, blocksRelative, "not recorded"},
		{"canary", all(func(s *sample.Sample) { s.Noise.Canary = number(1400) }), "", 3, "machine", GuardFailed, blocksAll, "x1.40 as long"},
		{"separate", nil, Separate, 1, "design", GuardFlag, "", "sessions"},
	} {
		t.Run(c.name, func(t *testing.T) {
			canaryBase := func(_ int, s *sample.Sample) { s.Noise.Canary = number(1000) }
			base := recipe{n: 10, seed: 1, design: c.design, edit: canaryBase}.set("base")
			cand := recipe{n: 10, seed: 2, design: c.design, times: map[string]float64{"mean(wait/op)": 2}, edit: c.cand}.set("cand")
			r := must(t, Input{Budget: budgetOf(t, fiveRules[1]), Base: base, Cand: cand})
			g := guardOf(r, c.guard)
			if r.Exit != c.exit || g.Status != c.status || c.blocks != "" && g.Blocks != c.blocks || !strings.Contains(g.Text, c.says) {
				t.Errorf("exit %d (%s), want %d; guard %+v", r.Exit, r.Headline, c.exit, g)
			}
			if c.exit == 3 && !strings.Contains(r.Headline, c.guard) {
				t.Errorf("the headline does not name %s: %s", c.guard, r.Headline)
			}
		})
	}
}

// TestNoRecords checks plain traces, without environment records on both sides.
func TestNoRecords(t *testing.T) {
	blind := func(_ int, s *sample.Sample) { s.Noise = nil }
	for _, c := range []struct {
		design Design
		exit   int
	}{{Interleaved, 1}, {Separate, 3}} {
		r := must(t, Input{
			Budget: budgetOf(t, fiveRules[1]), Base: recipe{n: 10, seed: 1, design: c.design, edit: blind}.set("base"),
			Cand: recipe{n: 10, seed: 2, design: c.design, edit: blind, times: map[string]float64{"mean(wait/op)": 2}}.set("cand"),
		})
		if r.Exit != c.exit || guardOf(r, "machine").Status != GuardUnknown {
			t.Errorf("%s: exit %d, %+v", c.design, r.Exit, guardOf(r, "machine"))
		}
		if c.exit == 1 && len(r.Warnings) == 0 {
			t.Errorf("%s: fails without a warning that the machine is unknown", c.design)
		}
	}
}

// TestLoads checks what each kind of load compares.
func TestLoads(t *testing.T) {
	slower := func(_ int, s *sample.Sample) { s.To = 1.3e9 }
	more := func(_ int, s *sample.Sample) { s.Ops = 3300 }
	for _, c := range []struct {
		load budget.Load
		edit func(int, *sample.Sample)
		exit int
	}{
		{budget.Closed, slower, 1}, {budget.Closed, more, 1},
		{budget.Fixed, slower, 1}, {budget.Fixed, more, 3},
		{budget.Open, slower, 3}, {budget.Open, more, 3},
	} {
		b := budgetOf(t, fiveRules[1])
		b.Load = c.load
		r := must(t, Input{Budget: b, Base: recipe{n: 10, seed: 1}.set("base"), Cand: recipe{n: 10, seed: 2, edit: c.edit, times: map[string]float64{"mean(wait/op)": 2}}.set("cand")})
		if r.Exit != c.exit {
			t.Errorf("%s: exit %d, want %d: %s", c.load, r.Exit, c.exit, r.Headline)
		}
	}
}

// TestThroughput checks when a fall of the throughput of requests is a violation, and when a guard.
func TestThroughput(t *testing.T) {
	const added = "mean(requests/s) >= baseline*0.95"
	rate := func(by float64) func(int, *sample.Sample) {
		return func(i int, s *sample.Sample) {
			s.Values["mean(requests/s)"] = sample.Value{X: by * (500 + float64(i)), N: 500}
			s.Ops = int64(by * 3000)
		}
	}
	for name, c := range map[string]struct {
		load   budget.Load
		op     string
		by     float64
		exit   int
		names  bool // the throughput first
		guards bool // that the candidate does not keep up
	}{
		"not said": {"", "", 0.3, 1, true, false}, "closed": {budget.Closed, "", 0.3, 1, true, false}, "another op": {"", "region:request", 0.3, 1, true, false},
		"open": {budget.Open, "", 0.3, 3, false, true}, "fixed work": {budget.Fixed, "", 0.3, 3, false, true},
		"little": {"", "", 0.97, 0, false, false}, "more": {"", "", 2, 0, false, false}, "more, open": {budget.Open, "", 2, 3, false, false},
	} {
		b := budgetOf(t, "p99(runnable) <= baseline*1.5")
		b.Load, b.Op = c.load, c.op
		base, cand := recipe{n: 10, seed: 1, edit: rate(1)}.set("base"), recipe{n: 10, seed: 2, edit: rate(c.by)}.set("cand")
		r := must(t, Input{Budget: b, Base: base, Cand: cand})
		if r.Exit != c.exit {
			t.Errorf("%s: exit %d: %s", name, r.Exit, r.Headline)
		}
		if got := strings.HasPrefix(r.Headline, "1 of 2 rules violated: the throughput of requests fell (x0.30), "+added); got != c.names || got && r.Rules[0].Rule != added {
			t.Errorf("%s: %s", name, r.Headline)
		}
		if got := strings.Contains(r.Headline, "load: the candidate does not keep up; not comparable: requests"); got != c.guards {
			t.Errorf("%s: %s", name, r.Headline)
		}
	}
	// The budget's own rule on it stays alone.
	b := budgetOf(t, "mean(requests/s) >= baseline*0.5")
	b.Load, b.Op = "", ""
	in := Input{Budget: b, Base: recipe{n: 10, seed: 1, edit: rate(1)}.set("base"), Cand: recipe{n: 10, seed: 2, edit: rate(.8)}.set("cand")}
	if r := must(t, in); r.Exit != 0 || len(r.Rules) != 1 {
		t.Errorf("a rule of its own: exit %d, %d rules: %s", r.Exit, len(r.Rules), r.Headline)
	}
}
