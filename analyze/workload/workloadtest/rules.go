package workloadtest

import (
	"errors"
	"fmt"

	"github.com/schedscope/schedscope/model"
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

// Slices judges how long goroutines run at a stretch.
type Slices struct {
	Most    model.Duration // that a goroutine may run
	Exempt  func(model.GoID) bool
	Longest model.Duration
	since   map[model.GoID]model.Time
	errs    []error
}

// Event takes the next event.
func (s *Slices) Event(ev *model.Event) {
	if ev.Kind != model.EventGoTransition || ev.From == ev.To {
		return
	}
	if s.since == nil {
		s.since = map[model.GoID]model.Time{}
	}
	id := model.GoID(ev.ID)
	if from, ok := s.since[id]; ok && model.GoState(ev.From) == model.GoRunning {
		d := ev.Time.Sub(from)
		if s.Exempt == nil || !s.Exempt(id) {
			s.Longest = max(s.Longest, d)
			if d > s.Most && len(s.errs) < 5 {
				s.errs = append(s.errs, fmt.Errorf("goroutine %d runs from %d to %d, for %d, want at most %d", id, from, ev.Time, d, s.Most))
			}
		}
	}
	if model.GoState(ev.To) == model.GoRunning {
		s.since[id] = ev.Time
	} else {
		delete(s.since, id)
	}
}

// Err returns what was found wrong.
func (s *Slices) Err() error { return errors.Join(s.errs...) }

// Fair judges, from the starts and where they came from, whether the global queue's head is
// taken before any proc has picked 61 times since it became the head.
type Fair struct {
	Most  int // picks, 61 or more where other things come first
	picks map[model.ProcID]int
	marks map[model.ProcID]int // at the latest taking from the global queue
	log   []pick
	taken model.Time
	errs  []error
}

type pick struct {
	at model.Time
	p  model.ProcID
}
