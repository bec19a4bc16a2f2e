package sample

import (
	"maps"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/requests"
	"github.com/schedscope/schedscope/model"
)

// collector observes the Machine within the window. It keeps what the analyses of a
// report do not: exact values in the order in which they ended, selected by functions,
// origins and reasons at once, waits that the window cuts off, and classes by place.
type collector struct {
	tables *model.Tables
	src    *sources
	places places

	// Sources by what feeds them.
	waits, wait, wakes, starts, preempted, created []*source
	blocked, running, run                          []*source
	syscalls, regions, tasks, ops, stw, requests   []*source

	requestTime  map[string]model.Duration // by kind
	requestCount map[string]int64

	opKind  string // "region", "task", "goroutine", "" or another
	opNames nameCache
	opCount int64

	waitList     []waited
	waitClasses  classes
	blockClasses classes
	runClasses   classes
}

func newCollector(t *model.Tables, src *sources, op string) *collector {
	c := &collector{tables: t, src: src, places: places{tables: t, frames: map[Frame]*Frame{}}, requestTime: map[string]model.Duration{}, requestCount: map[string]int64{},
		waitClasses: newClasses(), blockClasses: newClasses(), runClasses: newClasses()}
	by := src.by
	byCause := func(s *source) bool { return s.selector("cause", "behind") != nil } // its total is that of the analysis
	c.waits, c.wait = slices.DeleteFunc(by["runnable"], byCause), slices.DeleteFunc(by["wait"], byCause)
	c.wakes, c.starts, c.preempted, c.created = by["wakes"], by["starts"], by["preemptions"], by["created"]
	c.blocked, c.running, c.run = by["blocked"], by["running"], by["run"]
	c.syscalls, c.regions, c.tasks, c.ops, c.stw = by["syscall"], by["region"], by["task"], by["op"], by["stw"]
	for _, x := range src.key {
		if _, _, ok := x.metric.OfRequests(); ok {
			c.requests = append(c.requests, x)
		}
	}
	var name string
	c.opKind, name, _ = strings.Cut(op, ":")
	c.opNames = globbed(name)
	return c
}

// woken are the origins that count as being created or woken: the goroutine did not want to
// run before, or was not there.
var woken = [model.NumOrigins]bool{
	model.OriginCreated:   true,
	model.OriginGoroutine: true,
	model.OriginTimer:     true,
	model.OriginNetpoll:   true,
	model.OriginGC:        true,
	model.OriginInjected:  true,
}

// GoSpan implements [model.GoSpanObserver]: it takes the intervals of goroutines of the
// program, of blocking only whole ones.
func (c *collector) GoSpan(s *model.GoSpan) {
	if s.System {
		return
	}
	d, whole := s.Duration(), !s.OpenStart && !s.OpenEnd
	switch s.State {
	case model.GoRunnable:
		if s.Pseudo == model.NotPseudo {
			c.runnable(s, d, whole)
		}
	case model.GoRunning:
		c.runClasses.add(classKey{fn: s.Func}, d, whole)
		c.addNamed(c.run, s.Func, d)
		if whole {
			c.addNamed(c.running, s.Func, d)
		}
	case model.GoWaiting:
		if !whole {
			return
		}
		c.blockClasses.add(classKey{fn: s.Func, detail: s.Reason, at: c.places.place(s.Stack)}, d, true)
		for _, x := range c.blocked {
			if x.reasons.has(c.tables, s.Reason) && x.names.has(c.tables, s.Func) {
				x.add(d)
			}
		}
	}
}

// runnable takes a true wait.
func (c *collector) runnable(s *model.GoSpan, d model.Duration, whole bool) {
	c.waitList = append(c.waitList, waited{s.Start, s.End})
	c.waitClasses.add(classKey{fn: s.Func, at: c.places.place(s.Stack), by: c.places.place(s.WakerStack)}, d, whole)
	c.addWait(c.wait, s, d)
	if whole {
		c.addWait(c.waits, s, d)
	}
	if !s.OpenStart { // it became runnable
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
	if !s.OpenEnd && s.Next == model.GoRunning {
		c.addNamed(c.starts, s.Func, 0)
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
	c.instance("region", c.regions, x.Name, x.End.Sub(x.Start), x.OpenStart, x.OpenEnd)
}

// Task implements [model.TaskObserver].
func (c *collector) Task(x *model.Task) {
	c.instance("task", c.tasks, x.Name, x.End.Sub(x.Start), x.OpenStart, x.OpenEnd)
}

// instance takes a region or task. It is an op if the op says so and it ended in the window.
func (c *collector) instance(kind string, list []*source, name model.StringID, d model.Duration, openStart, openEnd bool) {
	whole := !openStart && !openEnd
	if whole {
		c.addNamed(list, name, d)
	}
	if c.opKind != kind || openEnd || !c.opNames.has(c.tables, name) {
		return
	}
	c.opCount++
	if whole {
		for _, s := range c.ops {
			s.add(d)
		}
	}
}

// request takes a request. Of one whose path is not known from its beginning it takes the length.
func (c *collector) request(q *requests.Request) {
	if !q.Complete {
		return
	}
	c.requestTime[q.Kind] += q.Duration()
	c.requestCount[q.Kind]++
	for _, x := range c.requests {
		kind, name := x.selector("kind"), x.selector("name")
		switch {
		case kind != nil && !kind.Match(q.Kind), name != nil && !name.Match(q.Name):
		case x.part == requests.NumKinds:
			x.add(q.Duration())
		case q.Truncated:
			x.cut++
		case x.path:
			x.add(q.Path[x.part])
		default:
			x.add(q.Own[x.part])
		}
	}
}

// requestKind returns the kind of requests with the most time, "" if there are none.
func (c *collector) requestKind() (most string) {
	for _, kind := range slices.Sorted(maps.Keys(c.requestTime)) {
		if most == "" || c.requestTime[kind] > c.requestTime[most] {
			most = kind
		}
	}
	return most
}
