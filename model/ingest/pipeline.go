package ingest

import (
	"errors"
	"sync"

	"github.com/schedscope/schedscope/model/ingest/wire"
)

// pipeline decodes generations ahead of their turn, in several goroutines, and
// keeps their chunks until then.
//
// What is in flight is bounded by an estimate in bytes: what the decoder needs
// for a generation, its data if that is from a stream, and the chunks that wait. A
// worker that would exceed the bound waits, unless it is the turn of its
// generation and nothing of it is waiting: that one can always go on, so the
// pipeline never gets stuck, and a generation that is larger than the bound is
// decoded as a stream while no other is. No more generations are in flight than
// there are workers (two for one worker): more would only wait.
type pipeline struct {
	src     source
	dec     decoder
	win     *window
	workers int
	limit   int64
	lead    int64 // bound on the chunks that wait

	pool    chunkPool
	busy    sync.WaitGroup // workers on generations
	reading sync.WaitGroup // what may read from a stream: run, and the worker on a trace without generations

	mu      sync.Mutex
	arrived sync.Cond // the consumer waits for it: a job, a chunk, or the end of either
	room    sync.Cond // decoders wait for it, to have a chunk wait
	slot    sync.Cond // run waits for it, to start a job
	jobs    []*job    // started and not finished by the consumer, in order
	used    int64     // bytes in flight
	waiting int64     // of which in chunks
	running int       // jobs whose decoder has not returned
	ended   bool      // no more jobs will come
	closed  bool      // the consumer has gone
	drained bool      // what comes is not to be decoded but only counted
	cut     bool      // the window ended before the trace; final once ended
}

// defaultBudget bounds what is in flight unless Options say otherwise. Decoding
// is several times as fast as what comes after it, so more would only wait.
const defaultBudget = 64 << 20

// flow is the state of a job in the pipeline, guarded by the pipeline's mutex.
type flow struct {
	queue    []*wire.Chunk
	reserved int64 // for the decoder
	finished bool  // the decoder has returned
	err      error // what it returned
}

func newPipeline(src source, dec decoder, win *window, workers int, budget int64) *pipeline {
	p := &pipeline{src: src, dec: dec, win: win, workers: workers, limit: budget, lead: dec.lead(), pool: chunkPool{freeList[wire.Chunk]{left: &leftChunks}}}
	p.arrived.L, p.room.L, p.slot.L = &p.mu, &p.mu, &p.mu
	return p
}

// run takes jobs from the source and starts them, until there are no more. It
// is always one ahead, because a job must know when the next one begins.
//
// Of the generations before the window the last one is decoded as well. Each
// generation states what every goroutine and proc does, but of a goroutine that
// does nothing only at its end, and of a proc not before its next safe point
// (runtime/trace.go: traceAdvance, Go 1.26). Where the next generation begins all
// states are known.
func (p *pipeline) run() {
	var before *job // the latest one that was skipped
	cut := false
	job := p.src.next()
	for job != nil {
		p.win.begin(&job.gen)
		next := p.src.next()
		if next != nil && next.gen.Frequency != 0 {
			job.boundary, job.hasBoundary = next.gen.First, true
		}
		if p.win.skips(job) {
			before = job
		} else {
			if before != nil && !p.start(before) || !p.start(job) {
				break
			}
			before = nil
		}
		if cut = next != nil && p.win.past(&next.gen); cut {
			break
		}
		job = next
	}
	p.win.begin(nil)
	p.mu.Lock()
	p.ended, p.cut = true, cut
	p.mu.Unlock()
	p.arrived.Signal()
}

// start waits for a free worker and enough memory, then decodes the job.
func (p *pipeline) start(j *job) bool {
	cost := p.dec.cost(&j.gen) + j.held
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.closed && !p.drained && (p.running >= p.workers || p.full() || len(p.jobs) > 0 && p.used+cost > p.limit) {
		p.slot.Wait()
	}
	if p.closed || p.drained {
		return !p.closed
	}
	p.used += cost
	p.running++
	j.flow.reserved = cost
	p.jobs = append(p.jobs, j)
	p.arrived.Signal()
	workers := &p.busy
	if j.v1 {
		workers = &p.reading
	}
	workers.Go(func() { p.decode(j) })
	return true
}

// full reports whether as many jobs are in flight as may be.
func (p *pipeline) full() bool { return len(p.jobs) >= max(p.workers, 2) }

// decode is one worker's work on one job.
func (p *pipeline) decode(j *job) {
	var err error
	if j.v1 {
		err = convert(j.whole, nil, &jobSink{p, j})
	} else {
		err = p.dec.decode(j.header, j.data, &j.gen, &jobSink{p, j})
	}
	p.mu.Lock()
	p.used -= j.flow.reserved
	p.running--
	j.flow.finished, j.flow.err = true, err
	j.data = nil
	p.mu.Unlock()
	p.arrived.Signal()
	p.slot.Signal()
}

// jobSink connects the decoder of one job to the pipeline.
type jobSink struct {
	p *pipeline
	j *job
}

func (s *jobSink) Chunk() *wire.Chunk { return s.p.pool.take() }

func (s *jobSink) Emit(c *wire.Chunk) bool {
	p, j := s.p, s.j
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.closed && !p.drained && !p.mayWait(c, j) {
		p.room.Wait()
	}
	if p.closed || p.drained {
		return false
	}
	p.used += costOf(c)
	p.waiting += costOf(c)
	j.flow.queue = append(j.flow.queue, c)
	p.arrived.Signal()
	return true
}

// mayWait reports whether the chunk may wait to be taken. Those of generations
// whose turn is yet to come leave half of the room to the one whose turn it is.
func (p *pipeline) mayWait(c *wire.Chunk, j *job) bool {
	current, room := p.jobs[0] == j, p.lead
	if current && len(j.flow.queue) == 0 {
		return true
	}
	if !current {
		room /= 2
	}
	return p.waiting+costOf(c) <= room && p.used+costOf(c) <= p.limit
}

// current returns the job whose turn it is, nil if there is none any more.
func (p *pipeline) current() (*job, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.jobs) == 0 && !p.ended {
		p.arrived.Wait()
	}
	switch {
	case p.closed:
		return nil, errStopped
	case len(p.jobs) == 0:
		return nil, nil
	}
	return p.jobs[0], nil
}

// take returns the next chunk of the job whose turn it is, or nil and the
// decoder's error after the last.
func (p *pipeline) take(j *job) (*wire.Chunk, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := &j.flow
	for len(f.queue) == 0 && !f.finished && !p.closed {
		p.arrived.Wait()
	}
	if p.closed {
		return nil, errStopped
	}
	if len(f.queue) == 0 {
		return nil, f.err
	}
	c := f.queue[0]
	f.queue[0] = nil
	f.queue = f.queue[1:]
	return c, nil
}

// recycle takes a chunk back that take gave out.
func (p *pipeline) recycle(c *wire.Chunk) {
	p.mu.Lock()
	p.used -= costOf(c)
	p.waiting -= costOf(c)
	full := p.full()
	p.mu.Unlock()
	p.room.Broadcast()
	if !full {
		p.slot.Signal()
	}
	p.pool.takeBack(c)
}

// advance gives the turn to the next job.
func (p *pipeline) advance() {
	p.mu.Lock()
	p.jobs[0] = nil
	p.jobs = p.jobs[1:]
	p.mu.Unlock()
	p.room.Broadcast()
	p.slot.Signal()
}

// drain stops decoding and waits until the source has come to its end, so that
// its index is complete.
func (p *pipeline) drain() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drained = true
	p.room.Broadcast()
	p.slot.Signal()
	for !p.ended {
		p.arrived.Wait()
	}
}

// stop makes all workers stop at their next chunk, and the consumer.
func (p *pipeline) stop() {
	p.mu.Lock()
	p.closed, p.ended = true, true
	p.mu.Unlock()
	p.arrived.Signal()
	p.room.Broadcast()
	p.slot.Signal()
}

// errStopped is what the consumer gets after stop.
var errStopped = errors.New("reader is closed")

// close stops all workers and waits for them and, if asked to, for what reads.
func (p *pipeline) close(wait bool) {
	p.stop()
	p.busy.Wait()
	if wait {
		p.reading.Wait()
	}
	p.mu.Lock()
	p.jobs = nil
	p.mu.Unlock()
	p.pool.close()
	p.dec.close()
}
