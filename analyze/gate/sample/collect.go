package sample

import (
	"strings"

	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/model"
)

// collector observes the Machine within the window. It keeps what quantities ask for as
// exact values.
type collector struct {
	tables *model.Tables
	src    *sources
	places places

	// Sources by what feeds them.
	waits, wait, wakes, starts, preempted, created []*source
	blocked, running, run                          []*source
	syscalls, regions, tasks, ops, stw, handoffs   []*source
	gcCycles                                       int64

	opKind  string // "region", "task", "goroutine", "" or another
	opNames nameCache
	opCount int64

	runningTotal       model.Duration // of all goroutines
	waitTotal          model.Duration // of the program's, cut off ones too
	minProcs, maxProcs int

	waitList     []waited
	waitClasses  classes
	blockClasses classes
	runClasses   classes

	funcs []bool // start functions of the program's goroutines, by StringID
}

func newCollector(t *model.Tables, src *sources, op string) *collector {
	c := &collector{tables: t, src: src, places: places{tables: t, frames: map[Frame]*Frame{}},
		waitClasses: newClasses(), blockClasses: newClasses(), runClasses: newClasses()}
	by := src.by
	for _, s := range by["runnable"] {
		if s.selector("cause") == nil {
			c.waits = append(c.waits, s)
		}
	}
	for _, s := range by["wait"] {
		if s.selector("cause") == nil {
			c.wait = append(c.wait, s)
		}
	}
	c.wakes, c.starts, c.preempted, c.created = by["wakes"], by["starts"], by["preemptions"], by["created"]
	c.blocked, c.running, c.run = by["blocked"], by["running"], by["run"]
	c.syscalls, c.regions, c.tasks, c.ops = by["syscall"], by["region"], by["task"], by["op"]
	c.stw, c.handoffs = by["stw"], by["handoffs"]
	var name string
	c.opKind, name, _ = strings.Cut(op, ":")
	c.opNames = globbed(name)
	return c
}

// woken says which origins count as being created or woken: the goroutine did not want to
// run before, or was not there.
var woken = [model.NumOrigins]bool{
	model.OriginCreated:   true,
	model.OriginGoroutine: true,
	model.OriginTimer:     true,
	model.OriginNetpoll:   true,
	model.OriginGC:        true,
	model.OriginInjected:  true,
}

// GoSpan implements [model.GoSpanObserver].
func (c *collector) GoSpan(s *model.GoSpan) {
	switch s.State {
	case model.GoRunnable:
		if s.Pseudo == model.NotPseudo && !s.System {
			c.runnable(s)
		}
	case model.GoRunning:
		c.runningTotal += s.Duration()
		if !s.System {
			c.ran(s)
		}
	case model.GoWaiting:
		if !s.System && !s.OpenStart && !s.OpenEnd {
			c.waited(s)
		}
	}
}

// runnable takes a true wait of a goroutine of the program.
func (c *collector) runnable(s *model.GoSpan) {
	d, whole := s.Duration(), !s.OpenStart && !s.OpenEnd
	c.waitTotal += d
	c.waitList = append(c.waitList, waited{s.Start, s.End})
	c.waitClasses.add(classKey{fn: s.Func, at: c.places.place(s.Stack), by: c.places.place(s.WakerStack)}, d, whole)
	c.addWait(c.wait, s, d)
	if whole {
		c.addWait(c.waits, s, d)
	}
	if !s.OpenStart {
		c.became(s)
	}
	if !s.OpenEnd && s.Next == model.GoRunning {
		c.addNamed(c.starts, s.Func, 0)
	}
}

// became takes that a goroutine became runnable.
func (c *collector) became(s *model.GoSpan) {
	if woken[s.Origin] {
		c.addWait(c.wakes, s, 0)
	}
	switch s.Origin {
	case model.OriginCreated:
		c.addNamed(c.created, s.Func, 0)
	case model.OriginPreempted:
		c.addNamed(c.preempted, s.Func, 0)
	}
}

// addWait adds a value to the sources that take the function and the origin.
func (c *collector) addWait(list []*source, s *model.GoSpan, d model.Duration) {
	for _, x := range list {
		if x.origins[s.Origin] && x.names.has(c.tables, s.Func) {
			x.add(d)
		}
	}
}

// addNamed adds a value to the sources that take the name.
func (c *collector) addNamed(list []*source, name model.StringID, d model.Duration) {
	for _, x := range list {
		if x.names.has(c.tables, name) {
			x.add(d)
		}
	}
}

// ran takes a turn of a goroutine of the program.
func (c *collector) ran(s *model.GoSpan) {
	d, whole := s.Duration(), !s.OpenStart && !s.OpenEnd
	c.runClasses.add(classKey{fn: s.Func}, d, whole)
	c.addNamed(c.run, s.Func, d)
	if whole {
		c.addNamed(c.running, s.Func, d)
	}
}

// waited takes a whole interval in which a goroutine of the program was blocked.
func (c *collector) waited(s *model.GoSpan) {
	d := s.Duration()
	c.blockClasses.add(classKey{fn: s.Func, detail: s.Reason, at: c.places.place(s.Stack)}, d, true)
	for _, x := range c.blocked {
		if x.reasons.has(c.tables, s.Reason) && x.names.has(c.tables, s.Func) {
			x.add(d)
		}
	}
}

// SyscallExit implements [model.SyscallExitObserver].
func (c *collector) SyscallExit(s *model.SyscallExit) {
	c.addNamed(c.syscalls, s.Func, s.End.Sub(s.Start))
}

// STW implements [model.STWObserver].
func (c *collector) STW(s *model.STW) {
	if s.OpenStart || s.OpenEnd {
		return
	}
	for _, x := range c.stw {
		if x.reasons.match(s.Reason) {
			x.add(s.Effective.Sub(s.Start))
		}
	}
}

// Region implements [model.RegionObserver].
func (c *collector) Region(x *model.Region) {
	whole := !x.OpenStart && !x.OpenEnd
	if whole {
		c.addNamed(c.regions, x.Name, x.End.Sub(x.Start))
	}
	if c.opKind == "region" {
		c.op(x.Name, x.End.Sub(x.Start), whole, !x.OpenEnd)
	}
}

// Task implements [model.TaskObserver].
func (c *collector) Task(x *model.Task) {
	whole := !x.OpenStart && !x.OpenEnd
	if whole {
		c.addNamed(c.tasks, x.Name, x.End.Sub(x.Start))
	}
	if c.opKind == "task" {
		c.op(x.Name, x.End.Sub(x.Start), whole, !x.OpenEnd)
	}
}

// op takes a region or task that may be an op. It counts if it ended in the window.
func (c *collector) op(name model.StringID, d model.Duration, whole, ended bool) {
	if !ended || !c.opNames.has(c.tables, name) {
		return
	}
	c.opCount++
	if whole {
		for _, s := range c.ops {
			s.add(d)
		}
	}
}

// GoEnd implements [model.GoEndObserver].
func (c *collector) GoEnd(g *model.Goroutine) {
	if g.System {
		return
	}
	if n := int(g.Func) + 1; n > len(c.funcs) {
		c.funcs = append(c.funcs, make([]bool, n-len(c.funcs))...)
	}
	c.funcs[g.Func] = true
	if c.opKind == "goroutine" && g.HasEnded && c.opNames.has(c.tables, g.Func) {
		c.opCount++
	}
}

// Handoff implements [model.HandoffObserver].
func (c *collector) Handoff(h *model.Handoff) {
	for _, s := range c.handoffs {
		if h.Cause < model.NumHandoffCauses && s.handoffs[h.Cause] {
			s.add(0)
		}
	}
}

// Range implements [model.RangeObserver].
func (c *collector) Range(s *model.RangeSpan) {
	// The name is the runtime's: runtime/traceevent.go, Go 1.26.
	if !s.OpenStart && c.tables.String(s.Name) == "GC concurrent mark phase" {
		c.gcCycles++
	}
}

// Metric implements [model.MetricObserver].
func (c *collector) Metric(s *model.MetricSample) {
	if s.Name != "/sched/gomaxprocs:threads" || s.Value > 1<<20 {
		return
	}
	n := int(s.Value)
	if c.maxProcs == 0 || n < c.minProcs {
		c.minProcs = n
	}
	c.maxProcs = max(c.maxProcs, n)
}

// selects reports whether a name that the program has is selected by func.
func (c *collector) selects(x *rule.Selector) bool {
	for id, used := range c.funcs {
		if used && x.Match(nameOf(c.tables, model.StringID(id))) {
			return true
		}
	}
	return false
}
