package ingest

import (
	"sync"

	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest/wire"
)

// chunkEvents is the number of events that travel from a worker to the stitcher
// at once: enough to make the transfer cheap, few enough (128 KiB) to stay in a
// processor's cache.
const chunkEvents = 2048

// costOf returns what a chunk occupies of the pipeline's budget, in bytes.
func costOf(c *wire.Chunk) int64 { return int64(cap(c.Events)) * eventSize }

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

// leftChunks and leftDecoders are what closed pipelines left.
var leftChunks, leftDecoders sync.Pool

// chunkPool recycles chunks.
type chunkPool struct{ freeList[wire.Chunk] }

func (p *chunkPool) take() *wire.Chunk {
	if c := p.get(); c != nil {
		return c
	}
	return &wire.Chunk{Events: make([]model.Event, 0, chunkEvents)}
}

func (p *chunkPool) takeBack(c *wire.Chunk) {
	clear(c.Strings)
	clear(c.Stacks)
	clear(c.Frames)
	*c = wire.Chunk{Events: c.Events[:0], Strings: c.Strings[:0], Stacks: c.Stacks[:0], Frames: c.Frames[:0]}
	p.put(c)
}
