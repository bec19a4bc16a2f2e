package sample

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/requests"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/model"
)

// collector observes the Machine within the window. It keeps what the analyses of a report do
// not: intervals of goroutines by function together with origin or reason, also those that
// the window cuts off, classes of them by place, and parts of requests one by one.
type collector struct {
	tables  *model.Tables
	cells   map[cellKey]*cell
	classes map[classKey]*sums
	wanted  []*rule.Metric // of parts of requests
	parts   map[partKey]*row
	waits   model.Waits
	joins   map[joinKey]*sums // of waits for a WaitGroup those that ended, of other waits for goroutines all
}

// joinKey is where goroutines wait for others that they may have started.
type joinKey struct {
	group bool // for a WaitGroup
	at    model.StackID
}

func newCollector(t *model.Tables, spec *Spec) *collector {
	c := &collector{tables: t, cells: map[cellKey]*cell{}, classes: map[classKey]*sums{}, parts: map[partKey]*row{}, waits: model.NewWaits(t), joins: map[joinKey]*sums{}}
	for i := range spec.Quantities {
		m, ok := rule.Lookup(spec.Quantities[i].Metric)
		if ok && isPart(m) && !slices.Contains(c.wanted, m) {
			c.wanted = append(c.wanted, m)
		}
	}
	return c
}

// cellKey are the functions with the origins or reasons that rules select.
type cellKey struct {
	state      model.GoState
	fn, reason model.StringID
	origin     model.Origin
}

// cell is what intervals come to.
type cell struct {
	whole dist.Dist // unless the goroutine ran, which the analysis of bursts has
	sums
	began, started int64 // that did not begin before the window; after which the goroutine ran
}

// sums are of all intervals.
type sums struct {
	total model.Duration
	count int64
}

func (s *sums) add(d model.Duration) {
	s.total += d
	s.count++
}

// GoSpan implements [model.GoSpanObserver]: it takes the intervals of goroutines of the
// program, of blocking only whole ones.
func (c *collector) GoSpan(s *model.GoSpan) {
	whole := !s.OpenStart && !s.OpenEnd
	key, class := cellKey{state: s.State, fn: s.Func}, classKey{state: s.State, fn: s.Func}
	switch {
	case s.System || s.Pseudo != model.NotPseudo:
		return
	case s.State == model.GoRunnable:
		key.origin = s.Origin
		class.at, class.by = s.Stack, s.WakerStack
	case s.State == model.GoWaiting && whole:
		key.reason, class.detail = s.Reason, s.Reason
		class.at = s.Stack
	case s.State == model.GoWaiting:
		c.join(s)
		return
	case s.State != model.GoRunning:
		return
	}
	if s.State == model.GoWaiting {
		c.join(s)
	}
	d, x := s.Duration(), entry(c.cells, key)
	x.add(d)
	entry(c.classes, class).add(d)
	if whole && s.State != model.GoRunning {
		x.whole.Add(d, 0)
	}
	if !s.OpenStart {
		x.began++
	}
	if !s.OpenEnd && s.Next == model.GoRunning {
		x.started++
	}
}

// join takes a wait that another goroutine ends.
func (c *collector) join(s *model.GoSpan) {
	switch w := c.waits.Of(s.Reason); {
	case s.Stack == 0 || !w.HeldUp() || w == model.WaitReceive || w == model.WaitSelect: // which timers end, too
	default:
		x := entry(c.joins, joinKey{w == model.WaitGroup, s.Stack})
		if x.total += s.Duration(); !s.OpenEnd {
			x.count++
		}
	}
}

// joined returns the functions that wait for a WaitGroup, those that wait for goroutines for the longest time first.
func (c *collector) joined() (list []Join) {
	sum := map[string]*Join{}
	for k, x := range c.joins {
		if f := c.place(k.at); f != nil {
			j := entry(sum, f.Func)
			j.Total += x.total
			if k.group {
				j.Count += x.count
				j.Func = f.Func
			}
		}
	}
	for _, j := range sum {
		if j.Func != "" {
			list = append(list, *j)
		}
	}
	slices.SortFunc(list, func(a, b Join) int { return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Func, b.Func)) })
	return list[:min(len(list), maxJoins)]
}

// maxJoins is how many functions that wait for a WaitGroup a sample keeps.
const maxJoins = 5

// entry returns what a map has by a key, from now on something.
func entry[K comparable, V any](m map[K]*V, key K) *V {
	x := m[key]
	if x == nil {
		x = new(V)
		m[key] = x
	}
	return x
}

// partKey are the parts of one kind of the requests that rules select.
type partKey struct{ metric, name, kind string }

// isPart reports whether a metric is of parts of requests.
func isPart(m *rule.Metric) bool {
	kind, _, ok := m.OfRequests()
	return ok && kind != ""
}

// request takes the parts of a request whose path is known from its beginning.
func (c *collector) request(q *requests.Request) {
	if !q.Complete {
		return
	}
	for _, m := range c.wanted {
		x := entry(c.parts, partKey{m.Name, q.Name, q.Kind})
		kind, path, _ := m.OfRequests()
		of := &q.Own
		if path {
			of = &q.Path
		}
		if x.dist == nil {
			x.name, x.detail, x.dist = q.Name, q.Kind, new(dist.Dist)
		}
		if q.Truncated {
			x.cut++
			continue
		}
		x.dist.Add(of[slices.Index(rule.RequestKinds, kind)], 0)
	}
}
