package runqueue

import (
	"math"
	"math/bits"
	"slices"

	"github.com/schedscope/schedscope/model"
)

// injected is a list of goroutines that one thread made runnable in a row.
type injected struct {
	runnables []*runnable
	first     [4]*runnable // where they are, if there are so few
	closed    bool         // the thread has done something else since
	done      bool
	reported  int       // so many have started
	hand      *runnable // of a poll: the one that it runs at once, if the trace has come to it
	// What it costs that a poll of the network found them, and that their deadlines
	// had passed; for lists of a poll, as it seems.
	weighed    bool
	poll, dead cost
}

// weigh compares two readings of a list that a poll of the network found, as it
// seems. A deadline wakes who waits for the network, too, and nothing in the event
// shows which it was. So both are hypotheses, and what the trace shows of each
// goroutine afterwards speaks for one or the other:
//
//  1. Who is woken by a poll goes on with the operation that it waited in: it makes
//     the system call again, at once, in the same function called from the same place.
//     Who is woken by a deadline returns an error instead.
//  2. A program may try again after a deadline, but does so later, and usually waits
//     again.
//  3. No further call speaks for a deadline where the same operation was seen to
//     go on after other waits: there are some whose system calls are not in the trace.
//  4. A poll with a proc ends with a goroutine that runs at once.
//  5. Deadlines that pass are rare, unless the same operation was seen to end so.
//
// The costs are rounded from how often each was seen of polls and of deadlines in
// the traces of fixtures/truth and of programs like them.
func (l *injected) weigh(ops *waitOps) {
	if l.weighed {
		return
	}
	l.weighed, l.dead = true, 5
	if l.closed {
		l.hand = l.runnables[len(l.runnables)-1]
	}
	soonest := model.Duration(math.MaxInt64)
	for _, s := range l.runnables {
		op := ops.of(s.wait)
		if s == l.runnables[0] {
			l.dead += 30 + 3*cost(bits.Len(uint(op.retried)))
			if op.missed > 0 {
				l.dead = 5 + 7*cost(min(4, max(0, bits.Len(uint(op.retried))-bits.Len(uint(op.missed)))))
			}
		}
		switch s.then {
		case thenRetries:
			l.dead += 17
		case thenAgain:
			l.poll += 80
			l.dead += 5
		case thenElse:
			if s.blind && len(l.runnables) == 1 {
				l.poll += 35
			} else if !s.blind {
				l.poll += 15 * cost(min(5, bits.Len(uint(op.retried))))
				l.dead += 14
			}
		case thenNetwork:
			l.dead += 30
		case thenSleeps:
			l.poll += 60
		}
		if s.calls > 0 {
			soonest = min(soonest, model.Duration(s.calledAfter))
		}
	}
	switch {
	case soonest < 400:
		l.dead += 30
	case soonest < 600:
		l.dead += 15
	case soonest == math.MaxInt64:
	case soonest > 2000:
		l.poll += 30
	case soonest > 1000:
		l.poll += 15
	}
	switch {
	case l.hand == nil:
	case l.hand.how == SourceDirect:
		l.dead += costNever
	case !l.hand.started:
		l.poll += 40
	case l.hand.how != SourceNetpoll && !l.hand.handed:
		l.poll += costNever
	}
}

// costNever is what it costs that a poll did not end so.
const costNever cost = 150

// complete reports whether none of the list that passes through a queue comes after s.
func (l *injected) complete(s *runnable) bool {
	for i := len(l.runnables) - 1; i >= 0; i-- {
		if l.queues(l.runnables[i]) {
			return slices.Contains(l.runnables[i:], s)
		}
	}
	return false
}

// queues reports whether one of the list passes through a queue, unless a timer has
// woken it, and stands in it.
func (l *injected) queues(s *runnable) bool { return s != l.hand && s.how == SourceUnknown && !s.over }

// queued appends those of the list that do.
func (l *injected) queued(out []*runnable) []*runnable {
	for _, s := range l.runnables {
		if l.queues(s) {
			out = append(out, s)
		}
	}
	return out
}

// injectedGap is more than passes between two of a list: some 100 ns. Only sysmon and
// pollers without a proc make two lists with nothing between.
const injectedGap model.Duration = 20_000

// maxInjected bounds a list; a poll returns at most 128 (runtime/netpoll_epoll.go).
const maxInjected = 1024

// left reports whether the list is complete, so that what its thread makes
// runnable at this time belongs to another one. A poll with a proc ends with
// the goroutine that runs at once, reported after the others were queued, which
// takes a while where threads are to be woken.
func (l *injected) left(at model.Time) bool {
	last := l.runnables[len(l.runnables)-1]
	if last.entry == entryPoll && last.proc != model.NoProc {
		return false
	}
	return at.Sub(last.Since) > injectedGap || slices.ContainsFunc(l.runnables, func(s *runnable) bool { return s.started })
}
