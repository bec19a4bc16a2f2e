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

// Resolver replays the run queues. It has two parts: the front turns steps into
// operations on queues and ties each stay in a queue to the start that ends it;
// the replay follows some operations behind, so that it knows of most stays
// where and when they will end.
type Resolver struct {
	front  front
	replay *replay
	ring   []op
	head   int // of the oldest operation in ring
	size   int
	obs    observers
}

// New returns a Resolver for a trace of Go 1.version whose strings are in t. The
// error is an [*OldFormatError].
func New(t *model.Tables, version int) (*Resolver, error) {
	if version < 22 {
		return nil, &OldFormatError{version}
	}
	r := &Resolver{ring: make([]op, 2*leastAhead)}
	r.front = newFront(t, rulesOf(version), r.push)
	r.replay = newReplay(r.front.rules, &r.front.waits, &r.obs, r.front.recycle)
	return r, nil
}

// Step implements [model.StepObserver].
func (r *Resolver) Step(s *model.Step) { r.front.step(s) }

// push appends an operation and replays the oldest as far as enough is known.
func (r *Resolver) push(o op) {
	for r.size == mostAhead || r.size >= leastAhead && r.ring[r.head].known() {
		r.pop()
	}
	if r.size == len(r.ring) { // full: the oldest comes first in a larger one
		larger := make([]op, 2*r.size)
		copy(larger[copy(larger, r.ring[r.head:]):], r.ring[:r.head])
		r.ring, r.head = larger, 0
	}
	i := r.head + r.size
	if i >= len(r.ring) {
		i -= len(r.ring)
	}
	r.ring[i] = o
	r.size++
}

// known reports whether the trace has shown how the stay ends, if the operation
// begins one.
func (o *op) known() bool { return o.kind != opReady || o.stay.started || o.stay.masked }

func (r *Resolver) pop() {
	o := &r.ring[r.head]
	r.replay.apply(o)
	*o = op{} // lets go of what it refers to
	if r.head++; r.head == len(r.ring) {
		r.head = 0
	}
	r.size--
}

// Finish reports what is still held back. Call it after [model.Machine.Finish].
func (r *Resolver) Finish() {
	for r.size > 0 {
		r.pop()
	}
	r.replay.finish()
}
