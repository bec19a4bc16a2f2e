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

// chunkPool recycles chunks.
type chunkPool struct{ pool sync.Pool }

func (p *chunkPool) get() *chunk {
	if c, ok := p.pool.Get().(*chunk); ok {
		return c
	}
	return &chunk{events: make([]model.Event, 0, chunkEvents)}
}

func (p *chunkPool) put(c *chunk) {
	clear(c.strings)
	clear(c.stacks)
	clear(c.frames)
	c.events, c.strings, c.stacks, c.frames = c.events[:0], c.strings[:0], c.stacks[:0], c.frames[:0]
	p.pool.Put(c)
}
