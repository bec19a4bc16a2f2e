package gate

import (
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/compare"
	"github.com/schedscope/schedscope/internal/stat"
	"github.com/schedscope/schedscope/internal/textui"
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
	up   bool
	text string // "": not known
}

// leastUp is the ratio from which a counter counts as having changed; what is certain
// but less explains nothing.
const leastUp = 1.03

// origin says whether the program changed or the machine was disturbed, and from what
// that is concluded.
func (g *guarded) origin(j *judged) (origin string, why []string) {
	if g.design == Absolute {
		return OriginUnknown, []string{"not known: there is no baseline to compare with"}
	}
	cpu, wakes := g.used.changed("mean(cpu/op)", "mean(cpu/s)"), g.used.changed("mean(wakes/op)", "mean(wakes/s)")
	origin, text := conclusion(j, g.disturbed(), cpu, wakes)
	why = append(why, text+textui.If(origin == OriginProgram && g.disturbed(), "; the machine was disturbed, too"))
	seen := []string{cpu.text, wakes.text, g.used.changed("p99(runnable)").text}
	if seen = slices.DeleteFunc(seen, func(s string) bool { return s == "" }); len(seen) > 0 {
		why = append(why, strings.Join(seen, "; "))
	}
	for _, x := range g.guards {
		if x.Name == "load" || x.Name == "machine" || x.Name == "mix" && x.Status == GuardFlag {
			why = append(why, x.Name+": "+x.Text)
		}
	}
	return origin, why
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
	case j.Quantity.Metric == "blocked" && cpu.text != "" && wakes.text != "":
		return OriginTiming, "the program's timing: neither more work nor more hand-offs per op, but longer waits of goroutines for each other or for something outside"
	case cpu.text == "" && wakes.text == "":
		return OriginUnknown, "counters per op and second are not recorded, by which program and machine could be distinguished"
	}
	return OriginUnknown, "unattributed: no more work and no more hand-offs per op. Think of longer runs without a break, wakes in bursts, stop-the-world, system calls, the Go version"
}

// changed compares the first of some quantities that both sides have.
func (s sides) changed(keys ...string) change {
	for _, key := range keys {
		b, d := values(s.base(), key), values(s.cand(), key)
		if r := stat.Ratio(b, d, shown); r.OK() {
			name := strings.TrimPrefix(key, "mean(")
			if name != key {
				name = strings.TrimSuffix(name, ")")
			}
			return change{up: r.Est >= leastUp && stat.MannWhitney(b, d) <= 0.05, text: name + " " + compare.IntervalText(&r)}
		}
	}
	return change{}
}
