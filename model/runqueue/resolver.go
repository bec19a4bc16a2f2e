package runqueue

import (
	"fmt"

	"github.com/schedscope/schedscope/model"
)

// OldFormatError says that the trace is of a Go version whose traces do not
// contain enough.
type OldFormatError struct{ Version int }

func (e *OldFormatError) Error() string {
	return fmt.Sprintf("run queues cannot be reconstructed from a trace of Go 1.%d: want Go 1.22 or newer", e.Version)
}

// The replay stays behind the trace by leastAhead operations, so that it knows
// what happens next, and by up to mostAhead where the next goroutine to be queued
// has not started yet by then: a thousand may stand in line before it.
const (
	leastAhead = 512
	mostAhead  = 1 << 16
)

// Resolver replays the run queues. It has two parts: the look-ahead turns steps into
// operations on queues and ties each runnable in a queue to the start that ends it;
// the replay follows some operations behind, so that it knows of most runnables
// where and when they will end.
type Resolver struct {
	lookahead lookahead
	ring      ring
	pool      pool
	obs       observers
}

// New returns a Resolver for a trace of Go 1.version whose strings are in t. The
// error is an [*OldFormatError].
func New(t *model.Tables, version int) (*Resolver, error) {
	if version < 22 {
		return nil, &OldFormatError{version}
	}
	r := &Resolver{}
	r.lookahead = newLookahead(t, rulesOf(version), &r.ring, &r.pool)
	r.ring = ring{ops: make([]op, 2*leastAhead), replay: newReplay(r.lookahead.rules, &r.lookahead.waits, &r.obs, &r.pool)}
	return r, nil
}

// Step implements [model.StepObserver].
func (r *Resolver) Step(s *model.Step) { r.lookahead.step(s) }

// Finish reports what is still held back. Call it after [model.Machine.Finish].
func (r *Resolver) Finish() {
	for r.ring.head < r.ring.end {
		r.ring.pop()
	}
	r.ring.replay.finish()
}

// ring holds the operations between the look-ahead and the replay.
type ring struct {
	ops       []op   // a power of two
	head, end uint   // of the operations so far, the oldest here and the next to come
	count     uint32 // of what was pushed, with the searches that are part of a start
	replay    *replay
}

// advance makes room for one more operation: it replays the oldest as far as enough is known.
func (r *ring) advance() {
	for r.head != r.end {
		o := r.at(r.head)
		if n := r.count - o.count; n < leastAhead || n < mostAhead && !o.known() {
			break
		}
		r.pop()
	}
	r.count++
}

// push appends an operation.
func (r *ring) push(o op) {
	r.advance()
	r.append(o)
}

// search pushes that the thread of a proc begins to look for work. If its latest start is
// still here, it is noted there: until then nobody asks.
func (r *ring) search(p *proc, id model.ProcID, at model.Time) {
	r.advance()
	if i := p.began; i > r.head {
		o := r.at(i - 1)
		o.search, o.at = true, at
	} else {
		r.append(op{kind: opSearch, at: at, p: id})
	}
	p.began = 0
}

// append adds an operation that was counted.
func (r *ring) append(o op) {
	o.count = r.count - 1
	if r.end-r.head == uint(len(r.ops)) {
		larger := ring{ops: make([]op, 2*len(r.ops))}
		for i := r.head; i < r.end; i++ {
			*larger.at(i) = *r.at(i)
		}
		r.ops = larger.ops
	}
	*r.at(r.end) = o
	r.end++
}

func (r *ring) at(i uint) *op { return &r.ops[i&uint(len(r.ops)-1)] }

// known reports whether the trace has shown how the runnable ends, if the operation
// begins one.
func (o *op) known() bool { return o.kind != opReady || o.runnable.started || o.runnable.masked }

func (r *ring) pop() {
	r.replay.apply(r.at(r.head))
	r.head++
}
