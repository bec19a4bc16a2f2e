package gate

import (
	"strings"

	"github.com/schedscope/schedscope/analyze/experiment"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/internal/stat"
)

// Origins of a violation.
const (
	OriginProgram = "program" // more work or more hand-offs per op
	OriginMachine = "machine" // it was disturbed, and nothing in the program changed
	OriginTiming  = "timing"  // the same work, and longer waits for each other
	OriginUnknown = "unknown"
)

// A change is how a diagnostic quantity differs between the sides.
type change struct {
	known bool
	up    bool
	text  string
}

// leastUp is the ratio from which a counter counts as having changed; what is certain
// but less explains nothing.
const leastUp = 1.03

// origin says whether the program changed or the machine was disturbed, and from what
// that is concluded.
func (g *guarded) origin(j *judged) (string, []string) {
	if g.design == Absolute {
		return OriginUnknown, []string{"not known: there is no baseline to compare with"}
	}
	cpu, wakes := g.used.changed("cpu"), g.used.changed("wakes")
	latency := rule.Quantity{Agg: rule.Quantile, Q: 0.99, Metric: "runnable"}.String()
	o, text := conclusion(j, g.disturbed(), cpu, wakes)
	if o == OriginProgram && g.disturbed() {
		text += "; the machine was disturbed, too"
	}
	return o, append([]string{text}, g.facts(cpu, wakes, g.used.changedIn(latency, latency))...)
}

// conclusion goes through the table of what follows from which change.
func conclusion(j *judged, noisy bool, cpu, wakes change) (origin, why string) {
	switch {
	case cpu.up && wakes.up:
		return OriginProgram, "the program: more work and more hand-offs per op"
	case cpu.up:
		return OriginProgram, "the program: more work per op"
	case wakes.up:
		return OriginProgram, "the program: more hand-offs per op"
	case isCounter(j.Quantity) && j.res.Verdict != Inconclusive:
		return OriginProgram, "the program: a counter that the machine hardly changes"
	case noisy:
		return OriginMachine, "the machine was disturbed, and counters per op do not say that the program changed"
	case j.Quantity.Metric == "blocked" && cpu.known && wakes.known:
		return OriginTiming, "the program's timing: neither more work nor more hand-offs per op, but longer waits of goroutines for each other or for something outside"
	case !cpu.known && !wakes.known:
		return OriginUnknown, "counters per op and second are not recorded, by which program and machine could be distinguished"
	}
	return OriginUnknown, "unattributed: no more work and no more hand-offs per op. Think of longer runs without a break, wakes in bursts, stop-the-world, system calls, the Go version"
}

// changed compares a counter per op, or per second if ops are not counted.
func (s sides) changed(metric string) change {
	q := rule.Quantity{Agg: rule.Mean, Metric: metric, Per: rule.PerOp}
	if ch := s.changedIn(q.String(), metric+"/op"); ch.known {
		return ch
	}
	q.Per = rule.PerSecond
	return s.changedIn(q.String(), metric+"/s")
}

func (s sides) changedIn(key, name string) change {
	b, d := values(s.base(), key), values(s.cand(), key)
	r := stat.Ratio(b, d, shown)
	if !r.OK() {
		return change{}
	}
	return change{known: true, up: r.Est >= leastUp && stat.MannWhitney(b, d) <= 0.05, text: name + " " + experiment.IntervalText(&r)}
}

// facts are what the conclusion rests on.
func (g *guarded) facts(changes ...change) (why []string) {
	var seen []string
	for _, ch := range changes {
		if ch.known {
			seen = append(seen, ch.text)
		}
	}
	if len(seen) > 0 {
		why = append(why, strings.Join(seen, "; "))
	}
	for _, x := range g.guards {
		if x.Name == "load" || x.Name == "machine" || x.Name == "mix" && x.Status == GuardFlag {
			why = append(why, x.Name+": "+x.Text)
		}
	}
	return why
}
