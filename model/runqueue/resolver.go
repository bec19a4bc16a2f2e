package runqueue

import (
	"fmt"

	"github.com/schedscope/schedscope/model"
)

// OldFormatError is returned for a trace of a Go version that records too little.
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
	lookahead
	pool pool
	obs  observers
}

// New returns a Resolver for a trace of Go 1.version whose strings are in t. The
// error is an [*OldFormatError].
func New(t *model.Tables, version int) (*Resolver, error) {
	if version < 22 {
		return nil, &OldFormatError{version}
	}
	r := &Resolver{}
	r.lookahead = newLookahead(t, rulesOf(version), &r.pool)
	r.line = line{ops: make([]op, 4*leastAhead), due: leastAhead, replay: newReplay(r.rules, &r.waits, &r.obs, &r.pool)}
	return r, nil
}

// Finish reports pending starts. Call it after [model.Machine.Finish].
func (r *Resolver) Finish() {
	for l := &r.line; l.head < l.end; l.head++ {
		if o := &l.ops[l.head]; !l.replay.usual(o) {
			l.replay.apply(o)
		}
	}
	r.line.replay.finish()
}

// line holds the operations between the look-ahead and the replay.
type line struct {
	ops    []op // from head up to end
	head   int  // the oldest
	end    int  // where the next one comes
	gone   int  // operations that were in front of ops
	count  int  // of what was pushed, with the searches that are part of a start
	due    int  // when more was pushed, the oldest is far enough behind
	replay *replay
}

// push adds an operation.
func (l *line) push(o op) {
	o.count = l.count
	*l.next(o.kind, o.at) = o
	l.pushed()
}

// next returns the place of an operation for those who fill in the rest of what its kind has, and then
// call pushed.
func (l *line) next(kind opKind, at model.Time) *op {
	o := &l.ops[l.end]
	l.end++
	o.kind, o.on, o.count, o.at = kind, false, l.count, at
	return o
}

// pushed counts an operation, and replays the oldest as far as enough is known.
func (l *line) pushed() {
	l.count++
	if l.count > l.due || l.end == len(l.ops) {
		l.advance()
	}
}

// advance is the rest of pushed. It makes room for one more.
func (l *line) advance() {
	for l.count > l.due {
		o := &l.ops[l.head]
		if !o.known() && l.count <= l.due+mostAhead-leastAhead {
			break
		}
		if l.head++; l.head < l.end {
			l.due = l.ops[l.head].count + leastAhead
		} else {
			l.due = l.count + leastAhead
		}
		if !l.replay.usual(o) {
			l.replay.apply(o)
		}
	}
	switch {
	case l.end < len(l.ops):
	case 2*l.head < len(l.ops):
		l.ops = append(l.ops, make([]op, len(l.ops))...)
	default:
		l.gone += l.head
		l.end, l.head = copy(l.ops, l.ops[l.head:]), 0
	}
}

// search pushes that the thread of a proc begins to look for work. If its latest start is
// still here, it is noted there: until then nobody asks.
func (l *line) search(p *proc, id model.ProcID, at model.Time) {
	i := p.began - l.gone
	if p.began = 0; i <= l.head {
		l.push(op{kind: opSearch, at: at, p: id})
		return
	}
	o := &l.ops[i-1]
	o.on, o.at = true, at
	l.pushed()
}

// known reports whether the trace has shown how the runnable ends, if the operation
// begins one.
func (o *op) known() bool { return o.kind != opReady || o.runnable.started }
