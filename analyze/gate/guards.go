package gate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/compare"
	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/stat"
	"github.com/schedscope/schedscope/internal/textui"
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

// canaryTolerance is by how much the time of a fixed piece of work may differ between
// the sides before the machine was not the same.
const canaryTolerance = 0.25

// A guarded matter says which traces count, and which guards keep what from being judged.
type guarded struct {
	matter
	used   sides // less disturbed traces
	guards []Guard
	noisy  bool // both sides were disturbed, and alike
}

// guards asks everything that must hold before a test, of both sides alike. The guard of the
// machine comes first: it settles which traces count.
func guards(m matter) guarded {
	machine, used, warnings := m.machine()
	g := guarded{matter: m, used: used, noisy: machine.Blocks == blocksLatency}
	// A trace that lost anything is unusable, as what is missing may be what was slow.
	g.guards = append([]Guard{{Name: "whole", Status: GuardOK, Text: "no trace lost anything"}, machine}, identities(used, m.Budget)...)
	if hang := hanging(used); hang.Text != "" {
		g.guards = slices.Insert(g.guards, 0, hang)
		warnings = append(warnings, hang.Text)
	}
	if m.design != Absolute {
		load, mix, at := g.load(), mix(used), len(g.guards)
		if load.Status == GuardFailed && load.Blocks == blocksRelative {
			at = 0 // whatever else keeps rules from being judged, this is known
		}
		g.guards = append(slices.Insert(g.guards, at, load), mix)
		if load.Status == GuardUnknown && load.Blocks == "" {
			warnings = append(warnings, "whether both sides had the same load is not known: "+load.Text)
		}
		if mix.Status == GuardFlag {
			warnings = append(warnings, mix.Text+": rules per op say more")
		}
	}
	if m.design == Separate {
		text := "it is not known that both sides were recorded in turns on one machine: a difference may be one of sessions, which more traces do not cure"
		g.guards = append(g.guards, Guard{Name: "design", Status: GuardFlag, Text: text})
		warnings = append(warnings, text+". `schedscope gate record` records in turns")
	}
	g.warnings = append(g.warnings, warnings...)
	return g
}

// hanging says in which traces requests hang: rules are about those that ended. If they do in more of the candidate's,
// a rule may be violated, but none is kept by those that ended alone.
func hanging(used sides) (g Guard) {
	count, example := [2]int{}, ""
	for i, s := range used {
		for _, x := range s.samples {
			if o := x.Open; o != nil && o.Hang {
				count[i]++
				example = strings.TrimSpace(fmt.Sprintf("; in %s %d for up to %s: %s %s", x.Name, o.Count, textui.Duration(o.Longest), textui.Clean(textui.ShortFunc(o.Name)), o.Waits))
			}
		}
	}
	if example == "" {
		return g
	}
	g.Name, g.Status = "hang", GuardFlag
	var said []string
	for i, s := range used {
		said = append(said, fmt.Sprintf("%d of %s of the %s", count[i], textui.Plural(len(s.samples), "trace"), s.name))
	}
	if last := len(used) - 1; last > 0 && count[1]*len(used[0].samples) > count[0]*len(used[1].samples) || last == 0 {
		g.Status = GuardFailed
	}
	g.Text = fmt.Sprintf("requests hang in %s, and rules are about those that ended%s", strings.Join(said, ", "), example)
	return g
}

// status returns the outcome of the guard of that name, "" if there is none.
func (g *guarded) status(name string) GuardStatus {
	for _, x := range g.guards {
		if x.Name == name {
			return x.Status
		}
	}
	return ""
}

// disturbed reports whether the machine was.
func (g *guarded) disturbed() bool { return g.status("machine") == GuardFailed }

// blocked says which guard keeps a rule from being judged, and why; "" if none does.
func (g *guarded) blocked(r *subject) string {
	for _, x := range g.guards {
		if x.Blocks == blocksAll || x.Blocks == blocksLatency && !r.counter || x.Blocks == blocksRelative && r.Bound.Relative ||
			x.Blocks == blocksLoaded && r.Bound.Relative && !(r.counter && r.Quantity.Metric == "cpu") {
			return x.Name + ": " + x.Text
		}
	}
	return ""
}

// need is how many traces of a side the rules ask for.
func (m *matter) need(cand bool) int {
	n := 1
	for i := range m.rules {
		switch r := &m.rules[i]; {
		case r.Point:
		case r.Bound.Relative:
			n = max(n, m.minTraces())
		case cand:
			n = max(n, budget.SignTraces(1-r.confidence()))
		}
	}
	return n
}

func (m *matter) minTraces() int { return max(m.Budget.MinTraces, 1) }

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
//
// The texts are warnings.
func (m *matter) machine() (g Guard, used sides, warnings []string) {
	g.Name = "machine"
	var said []string
	enough := true
	for i, s := range m.all { // 1
		kept, example := side{name: s.name}, ""
		limits := compare.Limits(s.samples, m.Budget.Guards.Limits())
		for _, x := range s.samples {
			if why := limits.Disturbed(x.Noise); why != "" {
				kept.dropped = append(kept.dropped, Dropped{x.Name, "disturbed: " + why})
				example = cmp.Or(example, x.Name+": "+why)
			} else {
				kept.samples = append(kept.samples, x)
			}
		}
		used = append(used, kept)
		if example == "" {
			continue
		}
		all, left := len(s.samples), len(kept.samples)
		text := fmt.Sprintf("%d of %s of the %s disturbed (%s); %d left", all-left, textui.Plural(all, "trace"), s.name, example, left)
		if need := m.need(i == len(m.all)-1); left < min(need, all) {
			enough = false
			text += fmt.Sprintf(", %d needed", need)
		}
		said = append(said, text)
	}
	switch unlike := unlikeMachine(used, m.Budget.Guards); {
	case !enough: // 2
		g.Status, g.Blocks = GuardFailed, blocksAll
		why := m.notAlike()
		for i, s := range m.all { // all count, in spite of it
			used[i].samples = s.samples
			if why == "" {
				used[i].dropped = nil
			}
		}
		if why == "" {
			why = "both sides were disturbed alike, so counters per op may fail, or be proved to be kept; latency is not judged"
			g.Blocks = blocksLatency
		}
		said = append(said, why)
	case unlike != "": // 3
		g.Status, g.Blocks = GuardFailed, blocksAll
		said = append(said, unlike)
	default: // 4
		g.Status, g.Blocks, g.Text, warnings = quiet(used, m.design, m.Budget.Guards)
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
	return g, used, warnings
}

// notAlike says why nothing can be judged on a disturbed machine, "" if counters per op
// can, as both sides had the same disturbance. Noise lowers wakes/op, so a disturbed base
// would make an undisturbed candidate look worse.
func (m *matter) notAlike() string {
	if m.design != Interleaved {
		return "nothing can be judged"
	}
	limits := m.Budget.Guards
	b, d := m.all.medians(compare.RunDelay)
	if b == nil || d == nil {
		return "how equal both sides were disturbed is not known, so nothing can be judged"
	}
	if r := unequal(*b, *d); r > limits.RunDelayRatio {
		return fmt.Sprintf("both sides were not disturbed alike (run-queue delay of the system x%.3g), so nothing can be judged", ratio(*d, *b))
	}
	// What run-queue delay does not show may have been over its limit on one side only.
	onOne := func(f compare.Figure, limit float64) bool {
		b, d := m.all.medians(f)
		return (b != nil && *b > limit) != (d != nil && *d > limit)
	}
	text := otherMachine(m.all)
	switch {
	case onOne(compare.Steal, limits.Steal):
		text = "the hypervisor took much on one side only"
	case onOne(compare.Throttled, 0):
		text = "the CPU quota throttled one side only"
	}
	return textui.If(text != "", text+", so nothing can be judged")
}

// medians returns those of a figure on both sides, nil where a trace does not have it.
func (s sides) medians(f compare.Figure) (base, cand *float64) {
	return compare.Median(s.base(), f), compare.Median(s.cand(), f)
}

// otherMachine says if a fixed piece of work took another time next to one side, "" if not.
func otherMachine(s sides) string {
	b, d := s.medians(compare.Canary)
	if b == nil || d == nil || unequal(*b, *d) <= 1+canaryTolerance {
		return ""
	}
	return fmt.Sprintf("the machine itself differed between the sides: a fixed piece of work took %s as long next to the candidate", compare.TimesText(ratio(*d, *b)))
}

// unequal returns how many times the greater one is of the other, at least 1.
func unequal(a, b float64) float64 {
	if a == b {
		return 1
	}
	return max(ratio(a, b), ratio(b, a))
}

// ratio divides, with a huge number for what is divided by nothing.
func ratio(a, b float64) float64 {
	if b <= 0 {
		return 1e9
	}
	return min(a/b, 1e9)
}

// unlikeMachine says how the machine differed between the sides although no trace is over a
// limit. The delay of the operating system's run queue alone says nothing: a program
// that does more work has more of it. It takes another sign on the same side: over half of
// its limit, and half as much again as on the other side. Context switches are one only
// where the load of others is not known: more work has more of them.
func unlikeMachine(s sides, l budget.Guards) string {
	if text := otherMachine(s); text != "" {
		return text
	}
	b, d := s.medians(compare.RunDelay)
	if b == nil || d == nil || !(unequal(*b, *d) > l.RunDelayRatio) {
		return ""
	}
	worse, better := s[1], s[0]
	if *b > *d {
		worse, better = s[0], s[1]
	}
	var signs []string
	look := func(f compare.Figure, limit float64, text string, show func(float64) string) bool {
		w, b := compare.Median(worse.samples, f), compare.Median(better.samples, f)
		if w != nil && b != nil && *w > limit/2 && ratio(*w, *b) > 1.5 {
			signs = append(signs, fmt.Sprintf("%s %s (other side %s)", text, show(*w), show(*b)))
		}
		return w != nil && b != nil
	}
	if !look(compare.Foreign, l.Foreign, "use by other processes", percent) {
		look(compare.Nivcsw, l.Nivcsw, "involuntary context switches/s/P", func(x float64) string { return fmt.Sprintf("%.1f", x) })
	}
	look(compare.Steal, l.Steal, "taken by the hypervisor", percent)
	if len(signs) == 0 {
		return ""
	}
	return fmt.Sprintf("the %s was disturbed more: run-queue delay of the system x%.3g, %s", worse.name, unequal(*b, *d), strings.Join(signs, ", "))
}

// quiet says that nothing disturbed, or that nobody knows.
func quiet(used sides, design Design, limits budget.Guards) (s GuardStatus, blocks, text string, warnings []string) {
	var blind []string
	for _, s := range used {
		n := result.CountOf(s.samples, func(x **sample.Sample) bool { n := (*x).Noise; return n == nil || n.Nivcsw == nil && n.Foreign == nil })
		if n > 0 {
			blind = append(blind, fmt.Sprintf("%d of %s of the %s", n, textui.Plural(len(s.samples), "trace"), s.name))
		}
	}
	if len(blind) == 0 {
		return GuardOK, "", "nothing disturbed the recordings" + quietFigures(used.cand(), limits), nil
	}
	text = "what disturbed the recording of " + strings.Join(blind, " and ") + " is not recorded"
	turns := design == Interleaved
	if design != Absolute && !(turns && len(blind) == 2) {
		return GuardUnknown, blocksRelative, text + ", and the sides may differ in it", nil
	}
	text += textui.If(turns, "; the sides were recorded in turns, so it is likely to be the same for both")
	return GuardUnknown, "", text, []string{text + ": a violation may be the machine's doing. Record with `schedscope gate record` or package schedtest, which note it"}
}

// quietFigures are those of a quiet machine, and why what is over its limit does not count,
// see [env.Limits.Disturbed].
func quietFigures(samples []*sample.Sample, l budget.Guards) string {
	n, f := compare.Median(samples, compare.Nivcsw), compare.Median(samples, compare.Foreign)
	if n == nil {
		return ""
	}
	text := fmt.Sprintf("involuntary context switches %.1f/s/P", *n)
	if f != nil {
		text += fmt.Sprintf(", other processes %s", percent(*f))
	}
	switch {
	case f != nil && *f > l.Foreign:
		text += fmt.Sprintf("; over their limit of %s, which counts only where threads are displaced or kept waiting, too", percent(l.Foreign))
	case f != nil && *n > l.Nivcsw:
		text += fmt.Sprintf("; the switches are over their limit of %.4g, which counts only with other processes: a program's own threads displace each other, too", l.Nivcsw)
	}
	return " (" + text + ")"
}

// identities compares what must be the same. GOMAXPROCS must not change in a trace, either.
func identities(used sides, b *budget.Budget) (guards []Guard) {
	for _, s := range used {
		for _, x := range s.samples {
			if id := x.Identity; id.MinProcs != id.MaxProcs && len(guards) == 0 {
				text := fmt.Sprintf("GOMAXPROCS changed in %s of the %s, between %d and %d: pin it", x.Name, s.name, id.MinProcs, id.MaxProcs)
				guards = append(guards, Guard{Name: "constant gomaxprocs", Status: GuardFailed, Blocks: blocksAll, Text: text})
			}
		}
	}
	for _, name := range budget.Identities {
		if g := same(used, name); slices.Contains(b.Guards.Same, name) && g.Status != "" {
			guards = append(guards, g)
		}
	}
	return guards
}

// same compares one part of the identity over all traces. It has nothing to say of samples
// that no trace has or knows of: older recorders did not write that down.
func same(used sides, name string) Guard {
	g := Guard{Name: name, Status: GuardOK}
	var all [][]string // what each side has
	for i, s := range used {
		var seen []string
		unknown := false
		for _, x := range s.samples {
			v := compare.Identity(&x.Identity, name)
			if v == "" {
				unknown = true
			} else if !slices.Contains(seen, v) {
				seen = append(seen, v)
			}
		}
		slices.Sort(seen)
		if name == "goversion" && len(seen) == 2 && compare.SameRelease(seen[0], seen[1]) {
			seen, unknown = seen[1:], true
		}
		if len(seen) > 1 {
			g.Status, g.Text = GuardFailed, fmt.Sprintf("traces of the %s differ: %s", s.name, strings.Join(seen, ", "))
			g.Blocks = blocksRelative
			if i == len(used)-1 {
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
		if name == "goversion" && compare.SameRelease(all[0][0], all[1][0]) {
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

// throughput returns the rule that the throughput of requests does not fall by more than the
// tolerance of the load: where all traces have requests, the budget does not say that the load is
// given nor what rate is wanted, and so many rules can be violated by so few traces.
func (m *matter) throughput() []subject {
	b, key := m.Budget, requestRate.String()
	if m.design == Absolute || b.Load == budget.Open || b.Load == budget.Fixed || b.Guards.LoadTolerance >= 1 {
		return nil
	}
	family := 1
	for i := range m.rules {
		switch r := &m.rules[i]; {
		case r.key == key:
			return nil
		case r.ofFamily():
			family++
		}
	}
	n := [2]int{}
	for i, s := range m.all {
		if n[i] = len(having(s.samples, key)); n[i] < max(len(s.samples), m.minTraces()) {
			return nil
		}
	}
	if stat.MinP(n[0], n[1]) > b.Alpha/float64(family) {
		return nil
	}
	r := subjectOf(budget.Rule{Rule: &rule.Rule{Quantity: requestRate, Op: rule.GreaterEqual, Bound: rule.Bound{Relative: true, Factor: 1 - b.Guards.LoadTolerance}}, Level: budget.Error})
	r.added = true
	return []subject{r}
}

// load compares how much work there was.
func (m *guarded) load() Guard {
	g := Guard{Name: "load", Status: GuardOK}
	f, what := compare.Figure(compare.OpRate), "ops/s"
	if m.Budget.Load == budget.Fixed {
		f, what = compare.Ops, "ops"
	}
	if m.Budget.Op == "" {
		what = strings.Replace(what, "ops", "requests", 1)
	}
	b, d := m.used.medians(f)
	// Requests are sent as fast as they are served, if the budget does not say.
	closed := m.Budget.Load == "" && (m.Budget.Op == "" || slices.ContainsFunc(m.rules, func(r subject) bool { return r.added }))
	switch {
	case (b == nil || d == nil) && m.Budget.Op != "":
		// A program that does none of its work waits for nothing, and would pass.
		g.Status, g.Blocks = GuardUnknown, blocksRelative
		g.Text = fmt.Sprintf("not every trace has an op in its window (%s), so whether both sides had the same load is not known", m.Budget.Op)
	case b == nil || d == nil:
		g.Status, g.Text = GuardUnknown, "ops are not counted"
		if b, d := m.used.medians(compare.EventRate); b != nil && d != nil {
			g.Text += fmt.Sprintf("; events of the trace per second %s", compare.TimesText(ratio(*d, *b)))
		}
	case closed || m.Budget.Load == budget.Closed:
		g.Text = fmt.Sprintf("closed loop: %s %.4g in the base, %.4g in the candidate (%s)", what, *b, *d, compare.TimesText(ratio(*d, *b)))
	case math.Abs(relative(b, d)) > m.Budget.Guards.LoadTolerance*(1+1e-9):
		g.Status, g.Blocks = GuardFailed, blocksRelative
		g.Text = fmt.Sprintf("not comparable: %s %.4g in the base, %.4g in the candidate (%+.1f%%, tolerance %s)", what, *b, *d, 100*relative(b, d), percent(m.Budget.Guards.LoadTolerance))
		switch {
		case m.noisy && slices.ContainsFunc(m.used.base(), func(x *sample.Sample) bool { return *f(x) <= *d }) &&
			slices.ContainsFunc(m.used.base(), func(x *sample.Sample) bool { return *f(x) >= *d }):
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
func mix(used sides) Guard {
	f, what := compare.Figure(compare.EventsPerOp), "events per op"
	b, d := used.medians(f)
	if b == nil || d == nil {
		f, what = compare.EventRate, "events per second"
		b, d = used.medians(f)
	}
	g := Guard{Name: "mix", Status: GuardOK}
	switch {
	case b == nil || d == nil:
		g.Status, g.Text = GuardUnknown, "events are not counted"
	case math.Abs(relative(b, d)) > mixTolerance:
		g.Status = GuardFlag
		g.Text = fmt.Sprintf("mix changed: %s %.4g in the base, %.4g in the candidate (%s); quantiles of single events are of other events than before", what, *b, *d, compare.TimesText(ratio(*d, *b)))
	default:
		g.Text = fmt.Sprintf("%s equal (%+.1f%%)", what, 100*relative(b, d))
	}
	return g
}
