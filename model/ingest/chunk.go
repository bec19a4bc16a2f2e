package ingest

import (
	"sync"

	"github.com/schedscope/schedscope/model"
)

// chunkEvents is the number of events that travel from a worker to the stitcher
// at once: enough to make the transfer cheap, few enough (256 KiB) to stay in a
// processor's cache.
const chunkEvents = 4096

// chunk is a part of a generation's events. Strings and stacks are numbered in
// order of appearance within the generation, from 1 on; the chunk brings those
// that its events are the first to use.
type chunk struct {
	events  []model.Event
	strings []string
	stacks  [][]model.Frame
	frames  []model.Frame // backs stacks
}

// cost is what the chunk occupies of the pipeline's budget, in bytes.
func (c *chunk) cost() int64 { return int64(cap(c.events)) * eventSize }

// eventSize is that of a model.Event in bytes.
const eventSize = 64

// freeList keeps what can be used again. Unlike a sync.Pool it keeps all of it:
// there are never more than a pipeline had in flight, and giving them up at each
// garbage collection would make the next one come sooner. Only what is left when
// the pipeline closes goes to a sync.Pool, for the next trace.
type freeList[T any] struct {
	mu   sync.Mutex
	free []*T
	left *sync.Pool // of *T, by closed pipelines
}

// get returns one that put took back, now or in another pipeline, or nil.
func (l *freeList[T]) get() *T {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.free)
	if n == 0 {
		x, _ := l.left.Get().(*T)
		return x
	}
	x := l.free[n-1]
	l.free = l.free[:n-1]
	return x
}

func (l *freeList[T]) put(x *T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free = append(l.free, x)
}

// close leaves to others what is free.
func (l *freeList[T]) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, x := range l.free {
		l.left.Put(x)
	}
	l.free = nil
}

// leftChunks and leftNatives are what closed pipelines left.
var leftChunks, leftNatives sync.Pool

// chunkPool recycles chunks.
type chunkPool struct{ list freeList[chunk] }

func newChunkPool() chunkPool { return chunkPool{freeList[chunk]{left: &leftChunks}} }

func (p *chunkPool) get() *chunk {
	if c := p.list.get(); c != nil {
		return c
	}
	return &chunk{events: make([]model.Event, 0, chunkEvents)}
}

func (p *chunkPool) put(c *chunk) {
	clear(c.strings)
	clear(c.stacks)
	clear(c.frames)
	c.events, c.strings, c.stacks, c.frames = c.events[:0], c.strings[:0], c.stacks[:0], c.frames[:0]
	p.list.put(c)
}
