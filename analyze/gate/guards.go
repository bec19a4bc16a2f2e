package gate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/experiment"
	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/internal/stat"
)

// What a guard can keep from being judged.
const (
	blocksAll      = "all"
	blocksLatency  = "latency"  // all but counters per op
	blocksRelative = "relative" // all that compare with a baseline
	blocksLoaded   = "loaded"   // of these all but processor time per op
)

// mixTolerance is by how much the number of events per op may change before quantiles
// of single events say little.
const mixTolerance = 0.10

// whyDisturbed begins the reason for which a disturbed trace is left out.
const whyDisturbed = "disturbed: "

// canaryTolerance is by how much the time of a fixed piece of work may differ between
// the sides before the machine was not the same.
const canaryTolerance = 0.25

// guard asks everything that must hold before a test, of both sides alike. The guard of the
// machine comes first: it settles which traces count.
func (c *check) guard() {
	// A trace that lost anything is unusable, as what is missing may be what was slow.
	c.res.Guards = append(c.res.Guards, Guard{Name: "whole", Status: GuardOK, Text: "no trace lost anything"}, c.machine())
	c.setSides()
	c.res.Guards = append(c.res.Guards, c.identities()...)
	if c.res.Design != Absolute {
		load, at := c.load(), len(c.res.Guards)
		if load.Status == GuardFailed && load.Blocks == blocksRelative {
			at = 0 // whatever else keeps rules from being judged, this is known
		}
		c.res.Guards = append(slices.Insert(c.res.Guards, at, load), c.mix())
	}
	if c.res.Design == Separate {
		text := "it is not known that both sides were recorded in turns on one machine: a difference may be one of sessions, which more traces do not cure"
		c.res.Guards = append(c.res.Guards, Guard{Name: "design", Status: GuardFlag, Text: text})
		c.warn("%s. `schedscope gate record` records in turns", text)
	}
}

// setSides fills in what the result says of the sides.
func (c *check) setSides() {
	for _, s := range c.sides() {
		s.res.OpRate, s.res.Events = experiment.Median(s.used, experiment.OpRate), experiment.Median(s.used, experiment.EventsPerOp)
		s.res.Busy, s.res.Noise = experiment.Median(s.used, experiment.Busy), noise(s.whole)
	}
	c.res.Cand = *c.cand.res
}

// noise returns the medians of the disturbances, nil if nothing is known.
func noise(samples []*sample.Sample) *env.Noise {
	of := func(f experiment.Figure) *float64 { return experiment.Median(samples, f) }
	n := env.Noise{Nivcsw: of(experiment.Nivcsw), RunDelay: of(experiment.RunDelay), Steal: of(experiment.Steal), Foreign: of(experiment.Foreign),
		Throttled: of(experiment.Throttled), PSI: of(experiment.PSI), Canary: of(experiment.Canary)}
	if n == (env.Noise{}) {
		return nil
	}
	return &n
}

// need is how many traces of a side the rules ask for.
func (c *check) need(s *side) int {
	n := 1
	for _, it := range c.items {
		switch {
		case it.rule.Point:
		case it.rule.Bound.Relative:
			n = max(n, c.minTraces())
		case s == c.cand:
			n = max(n, budget.SignTraces(1-it.confidence()))
		}
	}
	return n
}

func (c *check) minTraces() int { return max(c.b.MinTraces, 1) }

// limitsOf returns the limits for recordings of one side.
func limitsOf(samples []*sample.Sample, g budget.Guards) env.Limits {
	return experiment.Limits(samples, g.Limits())
}

// machine settles which traces count, and says how quiet the machine was:
//
//  1. Traces that it disturbed are left out, if enough are left on both sides.
//  2. If not, nothing is judged, unless both sides were disturbed alike: then all count,
//     for counters per op.
//  3. If a side was disturbed more although no trace is over a limit, nothing is judged.
//  4. What is not known blocks relative rules, unless both sides were recorded in turns:
//     then both had the same machine, and a difference is unlikely to be its doing. Between
//     sessions it is likely: in our experiments up to 60 % of unchanged programs looked
//     slower.
func (c *check) machine() Guard {
	g := Guard{Name: "machine", Status: GuardOK}
	var said []string
	enough := true
	for _, s := range c.sides() { // 1
		s.used = nil
		example := ""
		limits := limitsOf(s.whole, c.b.Guards)
		for _, x := range s.whole {
			why := limits.Disturbed(x.Noise)
			if why == "" {
				s.used = append(s.used, x)
				continue
			}
			if example == "" {
				example = x.Name + ": " + why
			}
			s.res.Dropped = append(s.res.Dropped, Dropped{x.Name, whyDisturbed + why})
		}
		if example == "" {
			continue
		}
		text := fmt.Sprintf("%d of %s of the %s disturbed (%s); %d left", len(s.whole)-len(s.used), count(len(s.whole), "trace"), s.name, example, len(s.used))
		if need := c.need(s); len(s.used) < min(need, len(s.whole)) {
			enough = false
			text += fmt.Sprintf(", %d needed", need)
		}
		said = append(said, text)
	}
	unlike := ""
	if c.base != nil {
		unlike = c.unlike()
	}
	switch {
	case !enough: // 2
		g.Status, g.Blocks = GuardFailed, blocksAll
		why := c.notAlike()
		if why == "" {
			why = "both sides were disturbed alike, so counters per op may fail, or be proved to be kept; latency is not judged"
			g.Blocks, c.noisy = blocksLatency, true
		}
		said = append(said, why)
		for _, s := range c.sides() {
			s.used = s.whole
			if c.noisy { // all count, in spite of it
				s.res.Dropped = slices.DeleteFunc(s.res.Dropped, func(d Dropped) bool { return strings.HasPrefix(d.Why, whyDisturbed) })
			}
		}
	case unlike != "": // 3
		g.Status, g.Blocks = GuardFailed, blocksAll
		said = append(said, unlike)
	default: // 4
		c.quietOrUnknown(&g)
		if len(said) > 0 {
			said = append(said, "else "+g.Text)
			if g.Status == GuardOK {
				g.Status = GuardFlag
			}
		}
	}
	if len(said) > 0 {
		g.Text = strings.Join(said, "; ")
	}
	return g
}

// notAlike says why nothing can be judged on a disturbed machine, "" if counters per op
// can, as both sides had the same disturbance. Noise lowers wakes/op, so a disturbed base
// would make an undisturbed candidate look worse.
func (c *check) notAlike() string {
	if c.res.Design != Interleaved {
		return "nothing can be judged"
	}
	b, d := experiment.Median(c.base.whole, experiment.RunDelay), experiment.Median(c.cand.whole, experiment.RunDelay)
	if b == nil || d == nil {
		return "how equal both sides were disturbed is not known, so nothing can be judged"
	}
	if r := unequal(*b, *d); r > c.b.Guards.RunDelayRatio {
		return fmt.Sprintf("both sides were not disturbed alike (run-queue delay of the system x%.3g), so nothing can be judged", ratio(*d, *b))
	}
	// What run-queue delay does not show may have been over its limit on one side only.
	over := func(s *side, f experiment.Figure, limit float64) bool {
		m := experiment.Median(s.whole, f)
		return m != nil && *m > limit
	}
	text := otherMachine(c.base.whole, c.cand.whole)
	switch steal := c.b.Guards.Steal; {
	case over(c.base, experiment.Steal, steal) != over(c.cand, experiment.Steal, steal):
		text = "the hypervisor took much on one side only"
	case over(c.base, experiment.Throttled, 0) != over(c.cand, experiment.Throttled, 0):
		text = "the CPU quota throttled one side only"
	}
	if text == "" {
		return ""
	}
	return text + ", so nothing can be judged"
}

// otherMachine says if a fixed piece of work took another time beside one side, "" if not.
func otherMachine(base, cand []*sample.Sample) string {
	b, d := experiment.Median(base, experiment.Canary), experiment.Median(cand, experiment.Canary)
	if b == nil || d == nil || unequal(*b, *d) <= 1+canaryTolerance {
		return ""
	}
	return fmt.Sprintf("the machine itself differed between the sides: a fixed piece of work took %s as long next to the candidate", experiment.TimesText(ratio(*d, *b)))
}

// unequal returns how many times the greater one is of the other, at least 1.
func unequal(a, b float64) float64 {
	if a == b {
		return 1
	}
	return max(ratio(a, b), ratio(b, a))
}

// ratio divides, with no more than a huge number for what is divided by nothing.
func ratio(a, b float64) float64 {
	if b <= 0 {
		return 1e9
	}
	return min(a/b, 1e9)
}

// unlike says how the machine differed between the sides although no trace is over a
// limit. The delay of the operating system's run queue alone says nothing: a program
// that does more work has more of it. It takes another sign on the same side: over half of
// its limit, and half as much again as on the other side. Context switches are one only
// where the load of others is not known: more work has more of them.
func (c *check) unlike() string {
	if text := otherMachine(c.base.used, c.cand.used); text != "" {
		return text
	}
	b, d := experiment.Median(c.base.used, experiment.RunDelay), experiment.Median(c.cand.used, experiment.RunDelay)
	if b == nil || d == nil || !(unequal(*b, *d) > c.b.Guards.RunDelayRatio) {
		return ""
	}
	worse, better := c.cand, c.base
	if *b > *d {
		worse, better = c.base, c.cand
	}
	var signs []string
	look := func(f experiment.Figure, limit float64, text string, show func(float64) string) bool {
		w, b := experiment.Median(worse.used, f), experiment.Median(better.used, f)
		if w != nil && b != nil && *w > limit/2 && ratio(*w, *b) > 1.5 {
			signs = append(signs, fmt.Sprintf("%s %s (other side %s)", text, show(*w), show(*b)))
		}
		return w != nil && b != nil
	}
	l := c.b.Guards
	if !look(experiment.Foreign, l.Foreign, "use by other processes", percent) {
		look(experiment.Nivcsw, l.Nivcsw, "involuntary context switches/s/P", func(x float64) string { return fmt.Sprintf("%.1f", x) })
	}
	look(experiment.Steal, l.Steal, "taken by the hypervisor", percent)
	if len(signs) == 0 {
		return ""
	}
	return fmt.Sprintf("the %s was disturbed more: run-queue delay of the system x%.3g, %s", worse.name, unequal(*b, *d), strings.Join(signs, ", "))
}

// quietOrUnknown says that nothing disturbed, or that nobody knows.
func (c *check) quietOrUnknown(g *Guard) {
	var blind []string
	known := 0
	for _, s := range c.sides() {
		n := 0
		for _, x := range s.used {
			if unknownNoise(x) {
				n++
			}
		}
		if n > 0 {
			blind = append(blind, fmt.Sprintf("%d of %s of the %s", n, count(len(s.used), "trace"), s.name))
		} else {
			known++
		}
	}
	if len(blind) == 0 {
		g.Text = "nothing disturbed the recordings" + c.quietFigures()
		return
	}
	g.Status = GuardUnknown
	g.Text = "what disturbed the recording of " + strings.Join(blind, " and ") + " is not recorded"
	turns := c.res.Design == Interleaved
	if c.res.Design != Absolute && !(turns && known == 0) {
		g.Blocks = blocksRelative
		g.Text += ", and the sides may differ in it"
		return
	}
	if turns {
		g.Text += "; the sides were recorded in turns, so it is likely to be the same for both"
	}
	c.warn("%s: a violation may be the machine's doing. Record with `schedscope gate record` or package schedtest, which note it", g.Text)
}

// unknownNoise says whether no disturbance of a sample could have been seen.
func unknownNoise(s *sample.Sample) bool {
	return s.Noise == nil || s.Noise.Nivcsw == nil && s.Noise.Foreign == nil
}

// quietFigures are those of a quiet machine, and why what is over its limit does not count,
// see [env.Limits.Disturbed].
func (c *check) quietFigures() string {
	n, f := experiment.Median(c.cand.used, experiment.Nivcsw), experiment.Median(c.cand.used, experiment.Foreign)
	if n == nil {
		return ""
	}
	text := fmt.Sprintf("involuntary context switches %.1f/s/P", *n)
	if f != nil {
		text += fmt.Sprintf(", other processes %s", percent(*f))
	}
	switch l := c.b.Guards; {
	case f != nil && *f > l.Foreign:
		text += fmt.Sprintf("; over their limit of %s, which counts only where threads are displaced or kept waiting, too", percent(l.Foreign))
	case f != nil && *n > l.Nivcsw:
		text += fmt.Sprintf("; the switches are over their limit of %.4g, which counts only with other processes: a program's own threads displace each other, too", l.Nivcsw)
	}
	return " (" + text + ")"
}

// identities compares what must be the same. GOMAXPROCS must not change in a trace, either.
func (c *check) identities() (guards []Guard) {
	for _, s := range c.sides() {
		for _, x := range s.used {
			if id := x.Identity; id.MinProcs != id.MaxProcs && len(guards) == 0 {
				text := fmt.Sprintf("GOMAXPROCS changed in %s of the %s, between %d and %d: pin it", x.Name, s.name, id.MinProcs, id.MaxProcs)
				guards = append(guards, Guard{Name: "constant gomaxprocs", Status: GuardFailed, Blocks: blocksAll, Text: text})
			}
		}
	}
	for _, name := range budget.Identities {
		if g := c.same(name); slices.Contains(c.b.Guards.Same, name) && g.Status != "" {
			guards = append(guards, g)
		}
	}
	return guards
}

// same compares one part of the identity over all traces. It has nothing to say of samples
// that no trace has or knows of: older recorders did not write that down.
func (c *check) same(name string) Guard {
	g := Guard{Name: name, Status: GuardOK}
	var all [][]string // what each side has
	for _, s := range c.sides() {
		var seen []string
		unknown := false
		for _, x := range s.used {
			v := experiment.Identity(&x.Identity, name)
			if v == "" {
				unknown = true
			} else if !slices.Contains(seen, v) {
				seen = append(seen, v)
			}
		}
		slices.Sort(seen)
		if name == "goversion" && len(seen) == 2 && experiment.SameRelease(seen[0], seen[1]) {
			seen, unknown = seen[1:], true
		}
		if len(seen) > 1 {
			g.Status, g.Text = GuardFailed, fmt.Sprintf("traces of the %s differ: %s", s.name, strings.Join(seen, ", "))
			g.Blocks = blocksRelative
			if s == c.cand {
				g.Blocks = blocksAll
				return g
			}
		}
		if unknown && g.Status == GuardOK {
			g.Status, g.Text = GuardUnknown, fmt.Sprintf("not recorded in all traces of the %s", s.name)
		}
		all = append(all, seen)
	}
	switch {
	case g.Status == GuardFailed:
	case name == "samples" && len(slices.Concat(all...)) == 0:
		return Guard{}
	case len(all) == 2 && len(all[0]) == 1 && len(all[1]) == 1 && all[0][0] != all[1][0]:
		g.Text = fmt.Sprintf("%s in the base, %s in the candidate", all[0][0], all[1][0])
		g.Status, g.Blocks = GuardFailed, blocksRelative
		if name == "goversion" && experiment.SameRelease(all[0][0], all[1][0]) {
			g.Status, g.Blocks = GuardUnknown, ""
			g.Text += ", if no more is recorded"
		}
	case g.Status == GuardOK && len(all[0]) == 1:
		g.Text = all[0][0] + " throughout"
	}
	return g
}

// relative returns d by b, less 1.
func relative(b, d *float64) float64 { return *d / *b - 1 }

// arrival is how work arrives: requests as fast as they are served, if the budget does not say.
func (c *check) arrival() budget.Load {
	switch {
	case c.b.Load != "":
		return c.b.Load
	case c.b.Op == "", slices.ContainsFunc(c.items, func(it *item) bool { return it.added }):
		return budget.Closed
	}
	return budget.Open
}

// addThroughput adds, before all others, the rule that the throughput of requests does not fall by
// more than the tolerance of the load: where all traces have requests, the budget does not say
// that the load is given nor what rate is wanted, and so many rules can be violated by so few traces.
func (c *check) addThroughput() {
	key := requestRate.String()
	if c.base == nil || c.b.Load == budget.Open || c.b.Load == budget.Fixed || c.b.Guards.LoadTolerance >= 1 {
		return
	}
	family := 1
	for _, it := range c.items {
		if it.key == key {
			return
		}
		if it.rule.Bound.Relative && it.rule.Level == budget.Error {
			family++
		}
	}
	n := [2]int{}
	for i, s := range c.sides() {
		if n[i] = len(having(s.whole, key)); n[i] < max(len(s.whole), c.minTraces()) {
			return
		}
	}
	if stat.MinP(n[0], n[1]) > c.b.Alpha/float64(family) {
		return
	}
	added := newItem(budget.Rule{Rule: &rule.Rule{Quantity: requestRate, Op: rule.GreaterEqual, Bound: rule.Bound{Relative: true, Factor: 1 - c.b.Guards.LoadTolerance}}, Level: budget.Error})
	added.added = true
	c.items = slices.Insert(c.items, 0, added)
}

// load compares how much work there was.
func (c *check) load() Guard {
	g := Guard{Name: "load", Status: GuardOK}
	f, what := experiment.Figure(experiment.OpRate), "ops/s"
	if c.b.Load == budget.Fixed {
		f, what = experiment.Ops, "ops"
	}
	if c.b.Op == "" {
		what = strings.Replace(what, "ops", "requests", 1)
	}
	b, d := experiment.Median(c.base.used, f), experiment.Median(c.cand.used, f)
	switch {
	case (b == nil || d == nil) && c.b.Op != "":
		// A program that does none of its work waits for nothing, and would pass.
		g.Status, g.Blocks = GuardUnknown, blocksRelative
		g.Text = fmt.Sprintf("not every trace has an op in its window (%s), so whether both sides had the same load is not known", c.b.Op)
	case b == nil || d == nil:
		g.Status, g.Text = GuardUnknown, "ops are not counted"
		if b, d := experiment.Median(c.base.used, experiment.EventRate), experiment.Median(c.cand.used, experiment.EventRate); b != nil && d != nil {
			g.Text += fmt.Sprintf("; events of the trace per second %s", experiment.TimesText(ratio(*d, *b)))
		}
		c.warn("whether both sides had the same load is not known: %s", g.Text)
	case c.arrival() == budget.Closed:
		g.Text = fmt.Sprintf("closed loop: %s %.4g in the base, %.4g in the candidate (%s)", what, *b, *d, experiment.TimesText(ratio(*d, *b)))
	case math.Abs(relative(b, d)) > c.b.Guards.LoadTolerance*(1+1e-9):
		g.Status, g.Blocks = GuardFailed, blocksRelative
		g.Text = fmt.Sprintf("not comparable: %s %.4g in the base, %.4g in the candidate (%+.1f%%, tolerance %s)", what, *b, *d, 100*relative(b, d), percent(c.b.Guards.LoadTolerance))
		switch {
		case c.noisy && slices.ContainsFunc(c.base.used, func(x *sample.Sample) bool { return *f(x) <= *d }) &&
			slices.ContainsFunc(c.base.used, func(x *sample.Sample) bool { return *f(x) >= *d }):
			g.Blocks = blocksLoaded
			g.Text += "; a disturbed machine does not keep up with the work, so this may be the machine's doing (traces of the base have both more and less), and only processor time per op is judged, at one rate"
		case *d < *b:
			g.Text = "the candidate does not keep up; " + g.Text
		}
	default:
		g.Text = fmt.Sprintf("%s equal (%+.1f%%)", what, 100*relative(b, d))
	}
	return g
}

// mix says if an op became another number of events: more short waits hide long ones in a
// quantile.
func (c *check) mix() Guard {
	f, what := experiment.Figure(experiment.EventsPerOp), "events per op"
	b, d := experiment.Median(c.base.used, f), experiment.Median(c.cand.used, f)
	if b == nil || d == nil {
		f, what = experiment.EventRate, "events per second"
		b, d = experiment.Median(c.base.used, f), experiment.Median(c.cand.used, f)
	}
	g := Guard{Name: "mix", Status: GuardOK}
	switch {
	case b == nil || d == nil:
		g.Status, g.Text = GuardUnknown, "events are not counted"
	case math.Abs(relative(b, d)) > mixTolerance:
		g.Status = GuardFlag
		g.Text = fmt.Sprintf("mix changed: %s %.4g in the base, %.4g in the candidate (%s); quantiles of single events are of other events than before", what, *b, *d, experiment.TimesText(ratio(*d, *b)))
		c.warn("%s: rules per op say more", g.Text)
	default:
		g.Text = fmt.Sprintf("%s equal (%+.1f%%)", what, 100*relative(b, d))
	}
	return g
}

// blocked returns the guard that keeps a rule from being judged, nil if none does.
func (c *check) blocked(it *item) *Guard {
	i := slices.IndexFunc(c.res.Guards, func(g Guard) bool {
		switch g.Blocks {
		case blocksAll:
			return true
		case blocksLatency:
			return !it.counter
		case blocksRelative:
			return it.rule.Bound.Relative
		case blocksLoaded:
			return it.rule.Bound.Relative && !(it.counter && it.rule.Quantity.Metric == "cpu")
		}
		return false
	})
	if i < 0 {
		return nil
	}
	return &c.res.Guards[i]
}

// is says whether a guard has this outcome.
func (c *check) is(name string, s GuardStatus) bool {
	return slices.ContainsFunc(c.res.Guards, func(g Guard) bool { return g.Name == name && g.Status == s })
}

func (c *check) failed(name string) bool { return c.is(name, GuardFailed) }
