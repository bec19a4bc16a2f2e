package gate

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/gate/sample"
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

// saturatedTolerance is by how much the ops of two sides that a disturbed machine keeps from
// their work may differ for processor time per op to be judged. What a process does per
// second, not per op, is shared by fewer ops: a fifth of its time makes 7 % of a quarter less.
const saturatedTolerance = 0.25

// guard asks everything that must hold before a test, of both sides alike.
func (c *check) guard() {
	c.guardWhole()
	c.guardMachine()
	c.setSides()
	c.guardIdentity()
	c.guardHistory()
	if c.res.Design != Absolute {
		c.guardLoad()
		c.guardMix()
	}
	c.guardDesign()
}

func (c *check) add(g Guard) { c.res.Guards = append(c.res.Guards, g) }

// setSides fills in what the result says of the sides.
func (c *check) setSides() {
	for _, s := range c.sides() {
		s.res.OpRate = medianOf(s.used, opRate)
		s.res.Events = medianOf(s.used, eventsPerOp)
		s.res.Busy = medianOf(s.used, busy)
		s.res.Noise = noise(s.whole)
	}
	c.res.Cand = *c.cand.res
	if b := c.res.Base; c.base == nil && b != nil {
		b.OpRate, b.Events, b.Busy = c.before(opRate), c.before(eventsPerOp), c.before(busy)
	}
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
			n = max(n, signNeeds(1-it.confidence()))
		}
	}
	return n
}

func (c *check) minTraces() int {
	return max(c.b.MinTraces, 1)
}

// guardWhole says that no trace lost anything: one that did is unusable, as what is missing
// may be what was slow. See [side.strange].
func (c *check) guardWhole() {
	c.add(Guard{Name: "whole", Status: GuardOK, Text: "no trace lost anything"})
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// limitsOf returns the limits for recordings of one side.
func limitsOf(samples []*sample.Sample, g budget.Guards) env.Limits {
	least := math.Inf(1)
	for _, s := range samples {
		if d := runDelay(s); d != nil {
			least = min(least, *d)
		}
	}
	if !finite(least) {
		return g.Limits()
	}
	return g.Limits().Beside(least)
}

// guardMachine leaves out traces that were recorded on a disturbed machine, and says
// whether enough are left and both sides were disturbed alike.
func (c *check) guardMachine() {
	g := Guard{Name: "machine", Status: GuardOK}
	var said []string
	left := true
	for _, s := range c.sides() {
		text, enough := c.dropDisturbed(s)
		if text != "" {
			said = append(said, text)
		}
		left = left && enough
	}
	unlike := ""
	if c.base != nil {
		unlike = c.unlike()
	}
	switch {
	case !left:
		g.Status, g.Blocks = GuardFailed, blocksAll
		said = append(said, c.judgeCounters(&g))
		for _, s := range c.sides() {
			s.used = s.whole
		}
	case unlike != "":
		g.Status, g.Blocks = GuardFailed, blocksAll
		said = append(said, unlike)
	default:
		c.quietOrUnknown(&g)
		if len(said) > 0 {
			said = append(said, "else "+g.Text)
		}
		if len(said) > 0 && g.Status == GuardOK {
			g.Status = GuardFlag
		}
	}
	if len(said) > 0 {
		g.Text = strings.Join(said, "; ")
	}
	c.add(g)
}

// dropDisturbed leaves out the disturbed traces of a side. It says what it saw, and
// whether enough are left.
func (c *check) dropDisturbed(s *side) (text string, enough bool) {
	s.used = nil
	example := ""
	limits := limitsOf(s.whole, c.b.Guards)
	for _, x := range s.whole {
		why := limits.Disturbed(x.Noise.Usage())
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
		return "", true
	}
	need := c.need(s)
	text = fmt.Sprintf("%d of %s of the %s disturbed (%s); %d left", len(s.whole)-len(s.used), count(len(s.whole), "trace"), s.name, example, len(s.used))
	if len(s.used) < min(need, len(s.whole)) {
		return fmt.Sprintf("%s, %d needed", text, need), false
	}
	return text, true
}

// judgeCounters lets counters per op be judged on a disturbed machine if both sides had
// the same disturbance. Noise lowers wakes/op, so a disturbed base would make an
// undisturbed candidate look worse.
func (c *check) judgeCounters(g *Guard) string {
	if c.res.Design != Interleaved && c.res.Design != Paired {
		return "nothing can be judged"
	}
	b, d := medianOf(c.base.whole, runDelay), medianOf(c.cand.whole, runDelay)
	if b == nil || d == nil {
		return "how equal both sides were disturbed is not known, so nothing can be judged"
	}
	if r := unequal(*b, *d); r > c.b.Guards.RunDelayRatio {
		return fmt.Sprintf("both sides were not disturbed alike (run-queue delay of the system x%.3g), so nothing can be judged", ratio(*d, *b))
	}
	if text := c.uneven(); text != "" {
		return text + ", so nothing can be judged"
	}
	g.Blocks, c.noisy = blocksLatency, true
	for _, s := range c.sides() { // all are used, in spite of it
		s.res.Dropped = slices.DeleteFunc(s.res.Dropped, func(d Dropped) bool { return strings.HasPrefix(d.Why, whyDisturbed) })
	}
	return "both sides were disturbed alike, so counters per op may fail, or be proved to be kept; latency is not judged"
}

// uneven says which disturbance that run-queue delay does not show was over its limit on
// one side only, "" if none.
func (c *check) uneven() string {
	for _, x := range []struct {
		f     func(*sample.Sample) *float64
		limit float64
		text  string
	}{
		{steal, c.b.Guards.Steal, "the hypervisor took much on one side only"},
		{throttled, 0, "the CPU quota throttled one side only"},
	} {
		over := func(s *side) bool { m := medianOf(s.whole, x.f); return m != nil && *m > x.limit }
		if over(c.base) != over(c.cand) {
			return x.text
		}
	}
	return otherMachine(c.base.whole, c.cand.whole)
}

// otherMachine says if a fixed piece of work took another time beside one side, "" if not.
func otherMachine(base, cand []*sample.Sample) string {
	b, d := medianOf(base, canary), medianOf(cand, canary)
	if b == nil || d == nil || unequal(*b, *d) <= 1+canaryTolerance {
		return ""
	}
	return fmt.Sprintf("the machine itself differed between the sides: a fixed piece of work took %s as long beside the candidate", times(ratio(*d, *b)))
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
// that does more work has more of it. It takes another sign on the same side.
func (c *check) unlike() string {
	if text := otherMachine(c.base.used, c.cand.used); text != "" {
		return text
	}
	b, d := medianOf(c.base.used, runDelay), medianOf(c.cand.used, runDelay)
	if b == nil || d == nil || !(unequal(*b, *d) > c.b.Guards.RunDelayRatio) {
		return ""
	}
	worse, better := c.cand, c.base
	if *b > *d {
		worse, better = c.base, c.cand
	}
	signs := c.signs(worse.used, better.used)
	if len(signs) == 0 {
		return ""
	}
	return fmt.Sprintf("the %s was disturbed more: run-queue delay of the system x%.3g, %s", worse.name, unequal(*b, *d), strings.Join(signs, ", "))
}

// signs are those of a disturbance of one side beside its run-queue delay: over half of
// the limit, and half as much again as on the other side. Context switches are one only
// where the load of others is not known: more work has more of them.
func (c *check) signs(worse, better []*sample.Sample) []string {
	var signs []string
	look := func(f func(*sample.Sample) *float64, limit float64, text string, show func(float64) string) bool {
		w, b := medianOf(worse, f), medianOf(better, f)
		if w != nil && b != nil && *w > limit/2 && ratio(*w, *b) > 1.5 {
			signs = append(signs, fmt.Sprintf("%s %s (other side %s)", text, show(*w), show(*b)))
		}
		return w != nil && b != nil
	}
	l := c.b.Guards
	if !look(foreign, l.Foreign, "use by other processes", percent) {
		look(nivcsw, l.Nivcsw, "involuntary context switches/s/P", func(x float64) string { return fmt.Sprintf("%.1f", x) })
	}
	look(steal, l.Steal, "taken by the hypervisor", percent)
	return signs
}

// quietOrUnknown says that nothing disturbed, or that nobody knows.
//
// What is not known blocks relative rules, unless both sides were recorded in turns:
// then both had the same machine, and a difference is unlikely to be its doing. Between
// sessions it is likely: in our experiments up to 60 % of unchanged programs looked
// slower.
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
	turns := c.res.Design == Interleaved || c.res.Design == Paired
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

func (c *check) quietFigures() string {
	n, f := medianOf(c.cand.used, nivcsw), medianOf(c.cand.used, foreign)
	if n == nil {
		return ""
	}
	text := fmt.Sprintf("involuntary context switches %.1f/s/P", *n)
	if f != nil {
		text += fmt.Sprintf(", other processes %s", percent(*f))
	}
	return fmt.Sprintf(" (%s%s)", text, c.overLimit(*n, f))
}

// overLimit says why what is over its limit does not count, see [env.Limits.Disturbed].
func (c *check) overLimit(switches float64, others *float64) string {
	switch l := c.b.Guards; {
	case others != nil && *others > l.Foreign:
		return fmt.Sprintf("; over their limit of %s, which counts only where threads are displaced or kept waiting, too", percent(l.Foreign))
	case others != nil && switches > l.Nivcsw:
		return fmt.Sprintf("; the switches are over their limit of %.4g, which counts only beside other processes: a program's own threads displace each other, too", l.Nivcsw)
	}
	return ""
}

// guardIdentity compares what must be the same.
func (c *check) guardIdentity() {
	if g, ok := c.constantProcs(); !ok {
		c.add(g)
	}
	for _, name := range budget.Identities {
		if slices.Contains(c.b.Guards.Same, name) {
			c.add(c.same(name))
		}
	}
}

func (c *check) constantProcs() (Guard, bool) {
	for _, s := range c.sides() {
		for _, x := range s.used {
			if id := x.Identity; id.MinProcs != id.MaxProcs {
				text := fmt.Sprintf("GOMAXPROCS changed in %s of the %s, between %d and %d: pin it", x.Name, s.name, id.MinProcs, id.MaxProcs)
				return Guard{Name: "constant gomaxprocs", Status: GuardFailed, Blocks: blocksAll, Text: text}, false
			}
		}
	}
	return Guard{}, true
}

// same compares one part of the identity over all traces.
func (c *check) same(name string) Guard {
	g := Guard{Name: name, Status: GuardOK}
	var all [][]string
	for _, s := range c.sides() {
		seen, unknown := kinds(s.used, name)
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
	case len(all) == 2 && len(all[0]) == 1 && len(all[1]) == 1 && all[0][0] != all[1][0]:
		if name == "goversion" && sameRelease(all[0][0], all[1][0]) {
			g.Status, g.Text = GuardUnknown, fmt.Sprintf("%s in the base, %s in the candidate, as far as recorded", all[0][0], all[1][0])
			return g
		}
		g.Status, g.Blocks = GuardFailed, blocksRelative
		g.Text = fmt.Sprintf("%s in the base, %s in the candidate", all[0][0], all[1][0])
	case g.Status == GuardOK && len(all[0]) == 1:
		g.Text = all[0][0] + " throughout"
	}
	return g
}

// sameRelease says whether one version is the other without its patch number, which
// is all that a trace's format tells.
func sameRelease(a, b string) bool {
	return strings.HasPrefix(a, b+".") || strings.HasPrefix(b, a+".")
}

// kinds returns which values of an identity there are, and whether some have none.
func kinds(samples []*sample.Sample, name string) (seen []string, unknown bool) {
	for _, s := range samples {
		v := identity(s.Identity, name)
		if v == "" {
			unknown = true
		} else if !slices.Contains(seen, v) {
			seen = append(seen, v)
		}
	}
	slices.Sort(seen)
	return seen, unknown
}

// identity returns what an identity has by a name of [budget.Identities].
func identity(id sample.Identity, name string) string {
	number := func(n int) string {
		if n == 0 {
			return ""
		}
		return strconv.Itoa(n)
	}
	switch name {
	case "gomaxprocs":
		return number(id.MaxProcs)
	case "goversion":
		return id.Go
	case "goarch":
		return id.Arch
	case "cpu_model":
		return id.CPU
	case "ncpu":
		return number(id.NumCPU)
	case "gogc":
		return id.GOGC
	case "gomemlimit":
		return id.Memlimit
	case "kernel":
		return id.Kernel
	case "runner":
		return id.Runner
	}
	return ""
}

// guardLoad compares how much work there was.
func (c *check) guardLoad() {
	g := Guard{Name: "load", Status: GuardOK}
	f, what := opRate, "ops/s"
	if c.b.Load == budget.Fixed {
		f, what = ops, "ops"
	}
	b, d := c.before(f), medianOf(c.cand.used, f)
	switch {
	case (b == nil || d == nil) && c.b.Op != "":
		// A program that does none of its work waits for nothing, and would pass.
		g.Status, g.Blocks = GuardUnknown, blocksRelative
		g.Text = fmt.Sprintf("not every trace has an op in its window (%s), so whether both sides had the same load is not known", c.b.Op)
	case b == nil || d == nil:
		g.Status, g.Text = GuardUnknown, "ops are not counted"+c.eventRates()
		c.warn("whether both sides had the same load is not known: %s", g.Text)
	case c.b.Load == budget.Closed:
		g.Text = fmt.Sprintf("closed loop: %s %.4g in the base, %.4g in the candidate (%s)", what, *b, *d, times(ratio(*d, *b)))
	case math.Abs(*d / *b - 1) > c.b.Guards.LoadTolerance*(1+1e-9):
		g.Status, g.Blocks = GuardFailed, blocksRelative
		g.Text = fmt.Sprintf("not comparable: %s %.4g in the base, %.4g in the candidate (%+.1f%%, tolerance %s)", what, *b, *d, 100*(*d / *b - 1), percent(c.b.Guards.LoadTolerance))
		switch {
		case c.noisy && math.Abs(*d / *b - 1) <= saturatedTolerance:
			g.Blocks = blocksLoaded
			g.Text += "; a disturbed machine does not keep up with the work, so this may be the machine's doing, and only processor time per op is judged"
		case *d < *b:
			g.Text += "; if the work arrives by itself, the candidate does not keep up with it"
		}
	default:
		g.Text = fmt.Sprintf("%s equal (%+.1f%%)", what, 100*(*d / *b - 1))
	}
	c.add(g)
}

func (c *check) eventRates() string {
	b, d := c.before(eventRate), medianOf(c.cand.used, eventRate)
	if b == nil || d == nil {
		return ""
	}
	return fmt.Sprintf("; events of the trace per second %s", times(ratio(*d, *b)))
}

// guardMix tells if an op became another number of events: more short waits hide long
// ones in a quantile.
func (c *check) guardMix() {
	f, what := eventsPerOp, "events per op"
	b, d := c.before(f), medianOf(c.cand.used, f)
	if b == nil || d == nil {
		f, what = eventRate, "events per second"
		b, d = c.before(f), medianOf(c.cand.used, f)
	}
	g := Guard{Name: "mix", Status: GuardOK}
	switch {
	case b == nil || d == nil:
		g.Status, g.Text = GuardUnknown, "events are not counted"
	case math.Abs(*d / *b - 1) > mixTolerance:
		g.Status = GuardFlag
		g.Text = fmt.Sprintf("mix changed: %s %.4g in the base, %.4g in the candidate (%s); quantiles of single events are of other events than before", what, *b, *d, times(ratio(*d, *b)))
		c.warn("%s: rules per op say more", g.Text)
	default:
		g.Text = fmt.Sprintf("%s equal (%+.1f%%)", what, 100*(*d / *b - 1))
	}
	c.add(g)
}

// guardDesign tells if a difference may be one of sessions.
func (c *check) guardDesign() {
	if c.res.Design != Separate {
		return
	}
	text := "it is not known that both sides were recorded in turns on one machine: a difference may be one of sessions, which more traces do not cure"
	c.add(Guard{Name: "design", Status: GuardFlag, Text: text})
	c.warn("%s. `schedscope gate record` records in turns", text)
}

// blocked returns the guard that keeps a rule from being judged, nil if none does.
func (c *check) blocked(it *item) *Guard {
	for i := range c.res.Guards {
		g := &c.res.Guards[i]
		if g.Name == "gomaxprocs" && c.replayed(it) {
			continue
		}
		switch g.Blocks {
		case blocksAll:
			return g
		case blocksLatency:
			if !it.counter {
				return g
			}
		case blocksRelative:
			if it.rule.Bound.Relative {
				return g
			}
		case blocksLoaded:
			if it.rule.Bound.Relative && !(it.counter && it.rule.Quantity.Metric == "cpu") {
				return g
			}
		}
	}
	return nil
}

// replayed says whether the rule is about a simulation with a declared GOMAXPROCS,
// which does not depend on the recorded one.
func (c *check) replayed(it *item) bool {
	return c.b.ReplayProcs > 0 && isSim(it.rule.Quantity)
}

func (c *check) failed(name string) bool {
	return slices.ContainsFunc(c.res.Guards, func(g Guard) bool { return g.Name == name && g.Status == GuardFailed })
}

func (c *check) mixChanged() bool {
	return slices.ContainsFunc(c.res.Guards, func(g Guard) bool { return g.Name == "mix" && g.Status == GuardFlag })
}
