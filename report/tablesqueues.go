package report

import (
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// The observers below write one row of their table for each call of a Resolver.

type startRows struct{ *rows }

func (r startRows) Start(s *runqueue.Start) {
	if !r.holds(s.Time) {
		return
	}
	r.time(s.Time)
	r.int(int64(s.G))
	r.int(int64(s.M))
	r.int(int64(s.P))
	r.text(s.Source.String())
	r.text(s.Via.String())
	r.int(int64(s.FromP))
	r.int(int64(s.Batch))
	r.time(s.Since)
	r.text(s.Origin.String())
	r.text(s.Grade.String())
	r.text(s.Enqueued.String())
	r.int(int64(s.QueueP))
	r.int(int64(s.LastP))
	r.int(int64(s.Choices))
	r.int(int64(s.Tick))
	r.time(s.Search)
	r.str(s.Func)
	r.text(pseudoName(s.Pseudo))
	r.bool(s.System)
	r.bool(s.OpenStart)
	r.end()
}

// pseudoName returns what passed for a wait, "" if it was one.
func pseudoName(p model.Pseudo) string {
	switch p {
	case model.PseudoSyscall:
		return "syscall"
	case model.PseudoCoroutine:
		return "coroutine"
	}
	return ""
}

type stealRows struct{ *rows }

func (r stealRows) Steal(s *runqueue.Steal) {
	if !r.holds(s.Time) {
		return
	}
	r.time(s.Time)
	r.int(int64(s.G))
	r.int(int64(s.Thief))
	r.int(int64(s.M))
	r.int(int64(s.Victim))
	r.int(int64(s.Size))
	r.bool(s.Runnext)
	r.text(s.Grade.String())
	r.end()
}

type queueRows struct{ *rows }

func (r queueRows) Lengths(l *runqueue.Lengths) {
	if !r.holds(l.Time) {
		return
	}
	r.time(l.Time)
	r.int(int64(l.P))
	r.int(int64(l.Len))
	r.int(int64(l.Next))
	r.end()
}
