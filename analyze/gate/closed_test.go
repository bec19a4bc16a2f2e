package gate

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/compare"
	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/gate/sample"
)

// TestOtherRecording checks that sides of two recordings in turns were not recorded in turns
// with each other, whatever places in the order they had.
func TestOtherRecording(t *testing.T) {
	base, cand := recipe{n: 10, seed: 1}.set("base"), recipe{n: 10, seed: 2}.set("cand")
	for _, c := range []struct {
		base, cand string
		want       Design
	}{{"", "", Interleaved}, {"a", "a", Interleaved}, {"a", "b", Separate}, {"", "b", Separate}} {
		base.Recording, cand.Recording = c.base, c.cand
		if r := must(t, Input{Budget: budgetOf(t, fiveRules[1]), Base: base, Cand: cand}); r.Design != c.want {
			t.Errorf("recordings %q and %q: %s, want %s", c.base, c.cand, r.Design, c.want)
		}
	}
}

// TestNoOpsDeclared checks that without ops in the budget the load is unknown, is told,
// and blocks nothing.
func TestNoOpsDeclared(t *testing.T) {
	b := budgetOf(t, "p99(runnable) <= baseline*1.10")
	b.Op = ""
	none := func(_ int, s *sample.Sample) { s.Ops, s.Identity.Op = 0, "" }
	r := must(t, Input{
		Budget: b, Base: recipe{n: 10, seed: 1, edit: none}.set("base"),
		Cand: recipe{n: 10, seed: 2, edit: none, times: map[string]float64{"p99(runnable)": 9}}.set("cand"),
	})
	if g := guardOf(r, "load"); r.Exit != 1 || g.Status != GuardUnknown || g.Blocks != "" || !strings.Contains(strings.Join(r.Warnings, " "), "same load is not known") {
		t.Errorf("exit %d, %+v, warnings %q", r.Exit, g, r.Warnings)
	}
}

// TestUnevenNoise checks that counters per op are not judged if the sides were disturbed in
// ways that run-queue delay does not show.
func TestUnevenNoise(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*env.Noise)
		says string
	}{
		{"alike", func(*env.Noise) {}, "both sides were disturbed alike"},
		{"hypervisor", func(n *env.Noise) { n.Steal = number(.3) }, "hypervisor took much on one side"},
		{"quota", func(n *env.Noise) { n.Throttled = number(2) }, "throttled one side"},
		{"canary", func(n *env.Noise) { n.Canary = number(2000) }, "x2.00 as long"},
	} {
		for _, swap := range []bool{false, true} {
			edit := func(i int, s *sample.Sample) {
				noisy(i, s)
				s.Noise.RunDelay, s.Noise.Canary = number(.9), number(1000)
			}
			worse := func(i int, s *sample.Sample) { edit(i, s); c.edit(s.Noise) }
			in := Input{Budget: budgetOf(t, "mean(cpu/op) <= baseline*1.10"), Base: recipe{n: 10, seed: 1, edit: edit}.set("base")}
			in.Cand = recipe{n: 10, seed: 2, edit: worse, times: map[string]float64{"mean(cpu/op)": 2}}.set("cand")
			if swap {
				in.Base, in.Cand = recipe{n: 10, seed: 2, edit: worse}.set("base"), recipe{n: 10, seed: 1, edit: edit, times: map[string]float64{"mean(cpu/op)": 2}}.set("cand")
			}
			r := must(t, in)
			want, text := ExitUndecided, guardOf(r, "machine").Text
			if c.name == "alike" {
				want = ExitViolated
			}
			if swap && c.name == "canary" {
				c.says = "x0.50 as long"
			}
			if r.Exit != want || !strings.Contains(text, c.says) {
				t.Errorf("%s, swap %v: exit %d, want %d: %s", c.name, swap, r.Exit, want, text)
			}
		}
	}
}

// TestLacking checks rules that some traces have data for and others not.
func TestLacking(t *testing.T) {
	without := func(n int) func(int, *sample.Sample) {
		return func(i int, s *sample.Sample) {
			if i < n {
				delete(s.Values, "mean(wait/op)")
			}
		}
	}
	for _, c := range []struct {
		rule    string
		without int
		up      float64
		verdict Verdict
		exit    int
		warned  bool
	}{
		{"mean(wait/op) < 1ms @ point", 0, 1, Pass, 0, false},
		{"mean(wait/op) < 1ms @ point", 1, 1, Inconclusive, 3, true},
		{"mean(wait/op) < 1ms @ point", 1, 9, Fail, 1, true},
		{"mean(wait/op) <= baseline*1.10", 4, 2, Fail, 1, true},
		{"mean(wait/op) <= baseline*1.10", 5, 2, Inconclusive, 3, true},
		{"mean(wait/op) < 100us @ 95%", 5, 1, Fail, 1, true},
		{"mean(wait/op) < 100us @ 95%", 6, 1, Inconclusive, 3, true},
	} {
		r := must(t, Input{
			Budget: budgetOf(t, c.rule), Base: recipe{n: 10, seed: 1, sd: .05}.set("base"),
			Cand: recipe{n: 10, seed: 2, sd: .05, edit: without(c.without), times: map[string]float64{"mean(wait/op)": c.up}}.set("cand"),
		})
		warned := slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "of the candidate have no data") })
		if got := r.Rules[0]; got.Verdict != c.verdict || r.Exit != c.exit || warned != c.warned {
			t.Errorf("%s, %d without: %s (%s), exit %d, warnings %q", c.rule, c.without, got.Verdict, got.Why, r.Exit, r.Warnings)
		}
	}
}

// TestAtLimit checks counts that lie at an absolute limit, which < and > forbid.
func TestAtLimit(t *testing.T) {
	at := func(_ int, s *sample.Sample) {
		s.Values["mean(wakes/op)"] = sample.Value{X: 5}
		s.Values["sum(preemptions)"] = sample.Value{X: 0}
	}
	for rule, want := range map[string]Verdict{
		"mean(wakes/op) < 5": Fail, "mean(wakes/op) <= 5": Pass, "mean(wakes/op) > 5": Fail, "mean(wakes/op) >= 5": Pass,
		"sum(preemptions) <= 0": Pass, "sum(preemptions) > 0": Fail, "sum(preemptions) < 1": Pass,
	} {
		r := must(t, Input{Budget: budgetOf(t, rule), Cand: recipe{n: 10, seed: 1, edit: at}.set("cand")})
		if got := r.Rules[0]; got.Verdict != want {
			t.Errorf("%s: %s (%s), want %s", rule, got.Verdict, got.Why, want)
		}
	}
}

// TestSuspectWithoutEstimate checks that no number of traces is named where nothing says
// how far beyond the bound the candidate is.
func TestSuspectWithoutEstimate(t *testing.T) {
	j := untested(t, "mean(wait/op) <= baseline*1.10")
	j.spread, j.alpha, j.res.Cand = .2, .01, &Values{N: 10}
	for _, off := range []float64{0, .5, 1, math.NaN()} {
		j.off = off
		if n := j.wouldShow(); n != 0 {
			t.Errorf("an estimate of %v times the bound: %d traces", off, n)
		}
	}
	j.off = 1.2
	if n := j.wouldShow(); n < 11 {
		t.Errorf("1.2 times the bound: %d traces", n)
	}
}

// TestSaturated checks that of two sides that a disturbed machine keeps from doing their
// work, and one more than the other, processor time per op is judged, and nothing else: where
// traces of the base have as few ops.
func TestSaturated(t *testing.T) {
	b := budgetOf(t, "mean(cpu/op) <= baseline*1.10", "mean(wakes/op) <= baseline*1.10", "mean(wait/op) <= baseline*1.10")
	disturbed := func(i int, s *sample.Sample) {
		noisy(i, s)
		s.Noise.RunDelay = number(.9)
	}
	uneven := func(i int, s *sample.Sample) {
		disturbed(i, s)
		s.Ops = s.Ops * int64(12-i) / 10
	}
	slow := func(i int, s *sample.Sample) {
		disturbed(i, s)
		s.Ops = s.Ops * 6 / 10
	}
	twice := map[string]float64{"mean(cpu/op)": 2, "mean(wakes/op)": 2, "mean(wait/op)": 2}
	for _, test := range []struct {
		name string
		edit func(int, *sample.Sample)
		want Verdict // of cpu/op; all else is not judged
	}{
		{"both disturbed", uneven, Fail},
		{"base quiet", nil, Inconclusive},
		{"both disturbed, and the base as much everywhere", disturbed, Inconclusive},
		{"both disturbed, and a third of the load", func(i int, s *sample.Sample) {
			uneven(i, s)
			s.Ops *= 3
		}, Inconclusive},
	} {
		r := must(t, Input{Budget: b, Base: recipe{n: 10, seed: 1, edit: test.edit}.set("base"),
			Cand: recipe{n: 10, seed: 2, edit: slow, times: twice}.set("cand")})
		for i, want := range []Verdict{test.want, Inconclusive, Inconclusive} {
			if got := r.Rules[i].Verdict; got != want {
				t.Errorf("%s: %s is %s, want %s", test.name, r.Rules[i].Rule, got, want)
			}
		}
		if guardOf(r, "load").Status != GuardFailed {
			t.Errorf("%s: guard load is %v", test.name, guardOf(r, "load"))
		}
	}
}

// TestAtOneRate checks that what a process does per second fails no program that has fewer
// ops, and hides none that needs more for each.
func TestAtOneRate(t *testing.T) {
	const key = "mean(cpu/op)"
	b := budgetOf(t, key+" <= baseline*1.10")
	side := func(name string, seed uint64, load, times float64) *sample.Set {
		return recipe{n: 10, seed: seed, edit: func(i int, s *sample.Sample) {
			noisy(i, s)
			s.Noise.RunDelay = number(.9)
			s.Ops = int64(float64(s.Ops) * load * float64(15-i) / 10)
			rate := *compare.OpRate(s)
			v := s.Values[key]
			// A tenth of a millisecond for each op, and 0.4 s in each second.
			v.X = times * (1e5 + 4e8/rate) * (1 + float64((i*7)%10)/200)
			s.Values[key] = v
		}}.set(name)
	}
	for _, test := range []struct {
		name        string
		load, times float64
		fails       bool
	}{{"as much", 1, 1, false}, {"fewer ops", .6, 1, false}, {"more ops", 1.3, 1, false}, {"fewer ops, more for each", .6, 1.25, true}, {"more ops, more for each", 1.3, 1.25, true}} {
		r := must(t, Input{Budget: b, Base: side("base", 1, 1, 1), Cand: side("cand", 2, test.load, test.times)})
		x := r.Rules[0]
		if (x.Verdict == Fail) != test.fails || x.P == nil || !strings.Contains(x.Why, "at one rate of ops: ") && x.Verdict == Fail {
			t.Errorf("%s: %s, ratio %v, p %v: %s", test.name, x.Verdict, x.Ratio, x.P, x.Why)
		}
	}
}
