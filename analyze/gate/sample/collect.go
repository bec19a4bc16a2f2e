package sample

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/requests"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/sums"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// collector observes the Machine within the window. It keeps what the analyses of a report do
// not: intervals of goroutines by place, also those that the window cuts off, and parts of
// requests one by one.
type collector struct {
	tables  *model.Tables
	classes map[classKey]*class
	wanted  []*rule.Metric // of parts of requests
	parts   map[partKey]*row
	waits   model.Waits
}

func newCollector(t *model.Tables, spec *Spec) *collector {
	c := &collector{tables: t, classes: map[classKey]*class{}, parts: map[partKey]*row{}, waits: model.NewWaits(t)}
	for i := range spec.Quantities {
		if m, ok := rule.Lookup(spec.Quantities[i].Metric); ok && !slices.Contains(c.wanted, m) {
			if kind, _, of := m.OfRequests(); of && kind != "" {
				c.wanted = append(c.wanted, m)
			}
		}
	}
	return c
}

// classKey distinguishes classes while a trace is read; those of equal places are joined later.
type classKey struct {
	state      model.GoState
	origin     model.Origin
	fn, reason model.StringID
	at, by     model.StackID
}

// class is what intervals come to, those of blocking without the ones that the window cuts off.
type class struct {
	total          model.Duration
	count          int64
	began, started int64          // that did not begin before the window; after which the goroutine ran
	whole          dist.Dist      // of blocking
	cut            model.Duration // the intervals that the window cuts off, of blocking
	ended          int64          // of these that ended in it
}

// GoSpan implements [model.GoSpanObserver]: it takes the intervals of goroutines of the
// program.
func (c *collector) GoSpan(s *model.GoSpan) {
	if s.System || s.Pseudo != model.NotPseudo {
		return
	}
	key, d := classKey{state: s.State, fn: s.Func}, s.Duration()
	switch s.State {
	case model.GoRunnable:
		key.origin, key.at, key.by = s.Origin, s.Stack, s.WakerStack
	case model.GoWaiting:
		key.reason, key.at = s.Reason, s.Stack
	case model.GoRunning:
	default:
		return
	}
	x := sums.Entry(c.classes, key)
	if s.State == model.GoWaiting {
		if s.OpenStart || s.OpenEnd {
			if x.cut += d; !s.OpenEnd {
				x.ended++
			}
			return
		}
		x.whole.Add(d, 0)
	}
	x.total += d
	x.count++
	if !s.OpenStart {
		x.began++
	}
	if !s.OpenEnd && s.Next == model.GoRunning {
		x.started++
	}
}

// joined returns the functions that wait for a WaitGroup, those that wait for goroutines for the longest time first.
func (c *collector) joined() (list []Join) {
	sum := map[string]*Join{}
	for k, x := range c.classes {
		w := c.waits.Of(k.reason)
		if k.state != model.GoWaiting || !w.HeldUp() || w == model.WaitReceive || w == model.WaitSelect { // which timers end, too
			continue
		}
		if f := c.place(k.at); f != nil {
			j := sums.Entry(sum, f.Func)
			if j.Total += x.total + x.cut; w == model.WaitGroup {
				j.Count += x.count + x.ended
				j.Func = f.Func
			}
		}
	}
	for _, j := range sum {
		if j.Func != "" {
			list = append(list, *j)
		}
	}
	return result.First(list, maxJoins, func(a, b Join) int { return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Func, b.Func)) })
}

// maxJoins is how many functions that wait for a WaitGroup a sample keeps.
const maxJoins = 5

// partKey are the parts of one kind of the requests that rules select.
type partKey struct{ metric, name, kind string }

// request takes the parts of a request whose path is known from its beginning.
func (c *collector) request(q *requests.Request) {
	if !q.Complete {
		return
	}
	for _, m := range c.wanted {
		x := sums.Entry(c.parts, partKey{m.Name, q.Name, q.Kind})
		kind, path, _ := m.OfRequests()
		of := textui.Either(path, &q.Path, &q.Own)
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
