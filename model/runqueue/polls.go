package runqueue

import (
	"math"
	"strings"

	"github.com/schedscope/schedscope/model"
)

// waitOps follows the operations for which goroutines wait for the network poller.
// An operation is the function that called the poller's wait, whatever its name, as
// called from one place: the innermost frame of the stack of the wait that is not the
// poller's own, and all frames around it.
type waitOps struct {
	tables *model.Tables
	ops    []waitOp // by id of the stack of the wait
	inside map[[2]model.StackID]bool
}

// waitOp is what the trace has shown of an operation so far.
type waitOp struct {
	retried int // waits after which a goroutine went on with it
	missed  int // waits after which it did not, or only to wait again
	// Starts of those that it was seen to wait in, and how many no hypothesis explains.
	starts, contradicted int
}

// doubtful reports whether the starts after an operation contradict how it is read so
// often that both readings are worth trying, however unlikely one looks.
func (o *waitOp) doubtful() bool { return o.contradicted > 4 && o.contradicted*200 > o.starts }

// of returns what is known of the operation that waits with a stack.
func (o *waitOps) of(wait model.StackID) *waitOp {
	if int(wait) >= len(o.ops) {
		o.ops = append(o.ops, make([]waitOp, max(int(wait)+1, o.tables.NumStacks())-len(o.ops))...)
	}
	return &o.ops[wait]
}

// within reports whether a system call is made inside the operation that waited:
// whether its stack goes through the same function, called from the same place.
func (o *waitOps) within(call, wait model.StackID) bool {
	if call == 0 || wait == 0 {
		return false
	}
	key := [2]model.StackID{call, wait}
	is, ok := o.inside[key]
	if !ok {
		is = goesThrough(o.tables.Stack(call), operation(o.tables.Stack(wait)))
		if len(o.inside) >= maxPairs {
			clear(o.inside)
		}
		o.inside[key] = is
	}
	return is
}

// maxPairs bounds the pairs of stacks that are remembered.
const maxPairs = 1 << 16

// operation leaves out the frames of the poller itself, which most versions of Go
// do not record.
func operation(wait []model.Frame) []model.Frame {
	for len(wait) > 1 && (strings.HasPrefix(wait[0].Func, "runtime.") || strings.HasPrefix(wait[0].Func, "internal/poll.runtime_") ||
		strings.HasPrefix(wait[0].Func, "internal/poll.(*pollDesc).")) {
		wait = wait[1:]
	}
	return wait
}

// goesThrough reports whether a stack goes through the innermost function of op,
// called from the same place.
func goesThrough(stack, op []model.Frame) bool {
	i := len(stack) - len(op)
	if i < 0 || len(op) == 0 || stack[i].Func != op[0].Func {
		return false
	}
	for j := 1; j < len(op); j++ {
		if a, b := &stack[i+j], &op[j]; a.PC != b.PC || a.Func != b.Func {
			return false
		}
	}
	return true
}

// then is what a goroutine does next that was woken, as it seems, by a poll of the
// network.
type then uint8

const (
	thenUnknown then = iota
	thenRetries      // it goes on with the operation that it waited in, and gets somewhere
	thenAgain        // it tries that once, and waits in it again
	thenElse         // anything else
	// Of one that was woken blindly:
	thenNetwork // waits for the network
	thenSleeps
)

// watch notes what a goroutine does that a poll of the network seems to have woken,
// until that speaks for or against it: see [then].
func (f *lookahead) watch(s *model.Step, g *goroutine) {
	x := g.watched.get()
	if x != nil {
		x.then = f.thenOf(x, s, model.GoState(s.To))
	}
	if x == nil || x.then != thenUnknown || x.wait == 0 && !x.blind {
		g.watched = handle{}
	}
	if x != nil && x.wait != 0 {
		switch op := f.waits.of(x.wait); x.then {
		case thenRetries:
			op.retried++
		case thenAgain, thenElse:
			op.missed++
		}
	}
}

func (f *lookahead) thenOf(x *runnable, s *model.Step, to model.GoState) then {
	network := to == model.GoWaiting && s.Reason == f.words.network
	switch {
	case x.blind && to == model.GoSyscall:
		return thenUnknown
	case x.blind && network:
		return thenNetwork
	case x.blind && to == model.GoWaiting && s.Reason == f.words.sleep:
		return thenSleeps
	case x.blind:
		return thenElse
	case to == model.GoSyscall && s.Stack == 0:
		return thenUnknown
	case (to == model.GoSyscall || network) && f.waits.within(s.Stack, x.wait):
		if x.calls == 0 {
			x.calledAfter = uint16(min(max(s.Time.Sub(x.Time), 0), math.MaxUint16))
		}
		x.calls++ // the wait counts too
		switch {
		case !network && x.calls == 1:
			return thenUnknown
		case network && x.calls == 1:
			return thenElse
		case network && x.calls == 2:
			return thenAgain
		}
		return thenRetries
	case x.calls > 0:
		return thenRetries
	}
	return thenElse
}
