package workloadtest

import (
	"errors"
	"fmt"

	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// Conserving judges whether a scheduler that wastes nothing keeps all procs busy
// while goroutines wait to run.
type Conserving struct {
	Checker *Checker // that takes the same events after this one
	Procs   int
	last    model.Time
	first   error
}

// Event takes the next event, before the Checker does. Events that share a time count as
// one: what is between them takes none.
func (c *Conserving) Event(ev *model.Event) {
	if n := c.Checker; ev.Flags&model.EventSyntheticTime == 0 && ev.Time > c.last && n.Runnable > 0 && n.Running < c.Procs && c.first == nil && c.last > 0 {
		c.first = fmt.Errorf("from %d to %d: %d goroutines wait while %d of %d procs run one", c.last, ev.Time, n.Runnable, n.Running, c.Procs)
	}
	c.last = ev.Time
}

// Err returns the first violation.
func (c *Conserving) Err() error { return c.first }

// Slices judges how long goroutines run at a stretch, while sysmon watches: when all procs are
// idle it goes to sleep until a system call begins or ends, the world restarts or a timer is
// due (runtime/proc.go: sysmon), and whoever runs first after that may run for long.
type Slices struct {
	Most    model.Duration // that a goroutine may run
	Exempt  func(model.GoID) bool
	Checker *Checker // that takes the same events after this one
	Longest model.Duration
	since   map[model.GoID]model.Time
	asleep  bool       // sysmon may be
	awake   model.Time // when it was last seen to be woken
	errs    []error
}

// Event takes the next event.
func (s *Slices) Event(ev *model.Event) {
	if s.since == nil {
		s.since = map[model.GoID]model.Time{}
	}
	if s.Checker.Held == 0 {
		s.asleep = true
	}
	switch from, to := model.GoState(ev.From), model.GoState(ev.To); {
	case ev.Kind == model.EventRangeEnd && s.asleep:
		s.asleep, s.awake = false, ev.Time
	case ev.Kind != model.EventGoTransition || from == to:
		return
	case (from == model.GoSyscall || to == model.GoSyscall) && s.asleep && from != model.GoUndetermined:
		s.asleep, s.awake = false, ev.Time
	}
	s.transition(ev)
}

func (s *Slices) transition(ev *model.Event) {
	id := model.GoID(ev.ID)
	if from, ok := s.since[id]; ok && model.GoState(ev.From) == model.GoRunning {
		if d := ev.Time.Sub(max(from, s.awake)); !s.asleep && (s.Exempt == nil || !s.Exempt(id)) {
			s.Longest = max(s.Longest, d)
			if d > s.Most && len(s.errs) < 5 {
				s.errs = append(s.errs, fmt.Errorf("goroutine %d runs from %d to %d, for %d, want at most %d", id, from, ev.Time, d, s.Most))
			}
		}
	}
	if ev.Kind != model.EventGoTransition {
		return
	}
	if model.GoState(ev.To) == model.GoRunning {
		s.since[id] = ev.Time
	} else {
		delete(s.since, id)
	}
}

// Err returns what was found wrong.
func (s *Slices) Err() error { return errors.Join(s.errs...) }

// Fair judges, from all starts in order and where they came from, whether the global queue's
// head is taken before a proc has picked Most times since it became the head: every 61st pick
// of each proc begins there (runtime/proc.go: findRunnable). A start for which nothing was
// looked for counts as well and may be that 61st: the turn is missed then.
type Fair struct {
	Most    int
	Longest int        // picks that were seen
	log     []pick     // since the global queue was last taken from
	taken   model.Time // when it was
	errs    []error
}

// pick is a start that counts as one of its proc's scheduler ticks.
type pick struct {
	at    model.Time
	p     model.ProcID
	blind bool // nothing was looked for
}

// Start takes the next start.
func (f *Fair) Start(s *runqueue.Start) {
	if s.Source == runqueue.SourceGlobal {
		if s.Enqueued == runqueue.PlaceGlobal {
			f.judge(s)
		}
		f.log, f.taken = f.log[:0], s.Time
		return
	}
	switch s.Source {
	case runqueue.SourceLocked:
		if s.Batch > 0 && s.FromP == model.NoProc { // it may have been the head
			f.log, f.taken = f.log[:0], s.Time
		} else {
			f.log = append(f.log, pick{s.Time, s.P, true})
		}
	case runqueue.SourceLocal, runqueue.SourceSteal, runqueue.SourceStealRunnext, runqueue.SourceNetpoll:
		f.log = append(f.log, pick{s.Time, s.P, false})
	case runqueue.SourceSyscall, runqueue.SourceSystem:
		f.log = append(f.log, pick{s.Time, s.P, true})
	}
}

// judge counts the picks of each proc while the goroutine was the queue's head.
func (f *Fair) judge(s *runqueue.Start) {
	picks, turns := map[model.ProcID]int{}, map[model.ProcID]int{}
	for _, x := range f.log {
		switch {
		case x.at <= s.Since:
		case x.blind:
			turns[x.p]++
		default:
			picks[x.p]++
			f.Longest = max(f.Longest, picks[x.p])
		}
	}
	for _, x := range f.log {
		if n := picks[x.p]; n > f.Most*(1+turns[x.p]) && len(f.errs) < 5 {
			f.errs = append(f.errs, fmt.Errorf("goroutine %d, first of the global queue from %d to %d: proc %d picked %d others meanwhile", s.G, max(s.Since, f.taken), s.Time, x.p, n))
			return
		}
	}
}

// Err returns what was found wrong.
func (f *Fair) Err() error { return errors.Join(f.errs...) }

// Queues judges, from all starts in order and where they came from, whether run queues
// are first in, first out: the global one, and of each proc's own what runnext kicked there.
type Queues struct {
	// Late is by how much starts may come in another order than goroutines were taken from the
	// global queue by different procs.
	Late   model.Duration
	global []runqueue.Start // taken no longer ago than Late
	since  model.Time       // the latest that those taken before became runnable
	kicked map[model.ProcID]runqueue.Start
	errs   []error
}

// Start takes the next start.
func (q *Queues) Start(s *runqueue.Start) {
	if s.Since == 0 {
		return // runnable since before the window
	}
	switch {
	case s.Source == runqueue.SourceGlobal && s.Enqueued == runqueue.PlaceGlobal:
		for len(q.global) > 0 && q.global[0].Time+model.Time(q.Late) < s.Time {
			q.since = max(q.since, q.global[0].Since)
			q.global = q.global[1:]
		}
		if s.Since < q.since {
			q.errorf("goroutine %d leaves the global queue at %d, in which it stood since %d, after one that came at %d", s.G, s.Time, s.Since, q.since)
		}
		q.global = append(q.global, *s)
	case s.Source == runqueue.SourceLocal && s.Via == runqueue.ViaOwn && s.Enqueued == runqueue.PlaceRunnext && s.QueueP == s.P && s.Batch == 0:
		if q.kicked == nil {
			q.kicked = map[model.ProcID]runqueue.Start{}
		}
		if was := q.kicked[s.P]; s.Since < was.Since {
			q.errorf("goroutine %d, runnable since %d, leaves proc %d's queue at %d, after goroutine %d, runnable since %d", s.G, s.Since, s.P, s.Time, was.G, was.Since)
		}
		q.kicked[s.P] = *s
	}
}

func (q *Queues) errorf(format string, args ...any) {
	if len(q.errs) < 5 {
		q.errs = append(q.errs, fmt.Errorf(format, args...))
	}
}

// Err returns what was found wrong.
func (q *Queues) Err() error { return errors.Join(q.errs...) }
