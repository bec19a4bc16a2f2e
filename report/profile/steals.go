package profile

import (
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// steals counts steals. A Resolver tells of them some time after the goroutine
// that the thief ran has started: until then its last wait is held.
type steals struct {
	c        *Collector
	resolver *runqueue.Resolver
	follows  bool
	from     model.Time // what is earlier does not count
	counts   bool

	held  []ready // in the order of time
	first int
	last  runqueue.Start // the steal is told right after the start

	grades         []model.StringID
	queue, runnext model.StringID
}

// ready is the end of a Runnable interval.
type ready struct {
	g          model.GoID
	end        model.Time
	origin     model.Origin
	own, waker model.StackID
}

func newSteals(c *Collector, version int) (*steals, error) {
	r, err := runqueue.New(c.tables, version)
	if err != nil {
		return nil, err
	}
	s := &steals{c: c, resolver: r, grades: words(c, runqueue.NumGrades), queue: c.word("local"), runnext: c.word("runnext")}
	r.Observe(s)
	return s, nil
}

func (x *steals) observeSteps(m *model.Machine) {
	if !x.follows {
		x.follows = true
		m.Observe(x)
		m.Observe(x.resolver)
	}
}

func (x *steals) observe(m *model.Machine) { x.from, x.counts = m.Start(), true }
func (x *steals) event(*model.Event)       {}
func (x *steals) finish()                  { x.resolver.Finish() }

// GoSpan implements [model.GoSpanObserver].
func (x *steals) GoSpan(s *model.GoSpan) {
	if s.State != model.GoRunnable || s.OpenEnd {
		return
	}
	x.held = append(x.held, ready{s.G, s.End, s.Origin, s.Stack, s.WakerStack})
}

// Start implements [runqueue.StartObserver].
func (x *steals) Start(s *runqueue.Start) {
	x.last = *s
	for x.first < len(x.held) && x.held[x.first].end < s.Time {
		x.first++
	}
	if x.first >= 1024 && 2*x.first >= len(x.held) {
		x.held = x.held[:copy(x.held, x.held[x.first:])]
		x.first = 0
	}
}

// Steal implements [runqueue.StealObserver].
func (x *steals) Steal(s *runqueue.Steal) {
	if !x.counts || s.Time < x.from {
		return
	}
	from := x.queue
	if s.Runnext {
		from = x.runnext
	}
	x.c.add(x.stack(s), values{int64(s.Size), 1},
		x.c.proc(s.Victim), x.c.proc(s.Thief), from, x.grades[s.Grade], x.c.name(x.last.Func))
}

func (x *steals) stack(s *runqueue.Steal) model.StackID {
	r := ready{origin: x.last.Origin} // that it became Runnable and started at the same time leaves no interval
	for i := x.first; i < len(x.held) && x.held[i].end == s.Time; i++ {
		if x.held[i].g == s.G {
			r = x.held[i]
		}
	}
	return x.c.either(r.own, r.waker, r.origin, x.last.Func)
}
