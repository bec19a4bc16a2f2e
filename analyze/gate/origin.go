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
func (c *check) origin(it *item) (string, []string) {
	if c.against() == nil {
		return OriginUnknown, []string{"not known: there is no baseline to compare with"}
	}
	cpu, wakes := c.changed("cpu"), c.changed("wakes")
	latency := rule.Quantity{Agg: rule.Quantile, Q: 0.99, Metric: "runnable"}.String()
	why := c.facts(cpu, wakes, c.changedIn(latency, latency))
	o, text := c.conclusion(it, cpu, wakes)
	if o == OriginProgram && c.failed("machine") {
		text += "; the machine was disturbed, too"
	}
	return o, append([]string{text}, why...)
}

// conclusion goes through the table of what follows from which change.
func (c *check) conclusion(it *item, cpu, wakes change) (string, string) {
	noisy := c.failed("machine")
	q := it.rule.Quantity
	switch {
	case cpu.up && wakes.up:
		return OriginProgram, "the program: more work and more hand-offs per op"
	case cpu.up:
		return OriginProgram, "the program: more work per op"
	case wakes.up:
		return OriginProgram, "the program: more hand-offs per op"
	case isCounter(q) && it.res.Verdict != Inconclusive:
		return OriginProgram, "the program: a counter that the machine hardly changes"
	case noisy:
		return OriginMachine, "the machine was disturbed, and counters per op do not say that the program changed"
	case q.Metric == "blocked" && cpu.known && wakes.known:
		return OriginTiming, "the program's timing: neither more work nor more hand-offs per op, but longer waits of goroutines for each other or for something outside"
	case !cpu.known && !wakes.known:
		return OriginUnknown, "counters per op and second are not recorded, by which program and machine could be distinguished"
	}
	return OriginUnknown, "unattributed: no more work and no more hand-offs per op. Think of longer runs without a break, wakes in bursts, stop-the-world, system calls, the Go version"
}

// changed compares a counter per op, or per second if ops are not counted.
func (c *check) changed(metric string) change {
	q := rule.Quantity{Agg: rule.Mean, Metric: metric, Per: rule.PerOp}
	if ch := c.changedIn(q.String(), metric+"/op"); ch.known {
		return ch
	}
	q.Per = rule.PerSecond
	return c.changedIn(q.String(), metric+"/s")
}

func (c *check) changedIn(key, name string) change {
	b, d := values(c.against(), key), values(c.cand.used, key)
	r := stat.Ratio(b, d, shown)
	if !r.OK() {
		return change{}
	}
	ch := change{known: true, text: name + " " + experiment.IntervalText(&r)}
	ch.up = r.Est >= leastUp && stat.MannWhitney(b, d) <= 0.05
	return ch
}

// facts are what the conclusion rests on.
func (c *check) facts(changes ...change) []string {
	var seen []string
	for _, ch := range changes {
		if ch.known {
			seen = append(seen, ch.text)
		}
	}
	var why []string
	if len(seen) > 0 {
		why = append(why, strings.Join(seen, "; "))
	}
	for _, g := range c.res.Guards {
		if g.Name == "load" || g.Name == "machine" || g.Name == "mix" && g.Status == GuardFlag {
			why = append(why, g.Name+": "+g.Text)
		}
	}
	return why
}
