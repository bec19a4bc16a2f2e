package analyze

import (
	"sync"

	"github.com/schedscope/schedscope/model"
)

// relay collects records in batches, and another goroutine delivers each batch while the
// next one fills. Batches are cut by the number of records, so that results depend on the
// trace alone.
type relay[B any] struct {
	filling *B
	spare   *B
	idle    chan struct{} // holds a token while no batch is on its way
	deliver func(*B)      // delivers the records of a batch and empties it
	pool    *sync.Pool    // empty batches for the next trace: most of what analysing a small one allocates
}

func newRelay[B any](pool *sync.Pool, deliver func(*B)) relay[B] {
	f := relay[B]{filling: pool.Get().(*B), spare: pool.Get().(*B), idle: make(chan struct{}, 1), deliver: deliver, pool: pool}
	f.idle <- struct{}{}
	return f
}

// send has another goroutine deliver the batch, once it is done with the one before.
func (f *relay[B]) send() {
	<-f.idle
	b := f.filling
	f.filling, f.spare = f.spare, b
	go func() {
		f.deliver(b)
		f.idle <- struct{}{}
	}()
}

// pause waits until all records have arrived.
func (f *relay[B]) pause() {
	f.send()
	<-f.idle
	f.idle <- struct{}{}
}

// close delivers the last records and leaves the batches to the next trace.
func (f *relay[B]) close() {
	f.pause()
	f.pool.Put(f.filling)
	f.pool.Put(f.spare)
	f.filling, f.spare = nil, nil
}

// feed hands what the Machine reports to the analyses of intervals and counts, on a
// goroutine of their own. These records and what must stay in step with them are relayed.
type feed struct {
	relay[batch]
	steps *stepFeed // takes waits at once; nil: nobody does
}

// batchRecords is the number of records in a batch: about a millisecond of work, so
// that waking the other goroutine is cheap in comparison.
const batchRecords = 1 << 15

// batch holds records by kind, each kind in order. That leaves open which of two
// records of different kinds came first. It matters for ends of goroutines only:
// what else an analysis observes in several kinds adds up in any order.
type batch struct {
	n         int
	goSpans   []model.GoSpan
	goEnds    []goEnd
	procSpans []model.ProcSpan
	counts    []model.Counts
	metrics   []model.MetricSample
	stws      []model.STW
	ranges    []model.RangeSpan
}

// goEnd is the end of a goroutine, after so many of the batch's intervals.
type goEnd struct {
	g      model.GoID
	fn     model.StringID
	system bool
	after  int
}

var batches = sync.Pool{New: func() any { return new(batch) }}

// newFeed returns a feed of the analyses of r.
func newFeed(r *Report) *feed {
	return &feed{relay: newRelay(&batches, func(b *batch) { b.deliver(r) }), steps: r.steps}
}

// relayed returns the analyses that get their records from deliver. All others follow the
// Machine themselves.
func (r *Report) relayed() []any {
	return []any{r.GC, r.Timeline, r.Idle, r.Peak, r.Latency, r.Heat, r.Worst, r.Bursts, r.Waits, r.Blame}
}

// deliver takes the records to their analyses, which it calls directly: there are millions
// of them. Counts come first: [Peak] asks for it.
func (b *batch) deliver(r *Report) {
	for i := range b.counts {
		c := &b.counts[i]
		r.GC.Counts(c)
		r.Timeline.Counts(c)
		r.Idle.Counts(c)
		r.Peak.Counts(c)
	}
	ends := b.goEnds
	for i := range b.goSpans {
		for ; len(ends) > 0 && ends[0].after == i; ends = ends[1:] {
			r.Latency.end(ends[0].g, ends[0].fn, ends[0].system)
			r.Blame.end(ends[0].g)
		}
		switch s := &b.goSpans[i]; s.State {
		case model.GoRunnable:
			r.Latency.GoSpan(s)
			r.Heat.GoSpan(s)
			r.Worst.GoSpan(s)
			r.Peak.GoSpan(s)
			r.Blame.GoSpan(s)
		case model.GoRunning:
			r.Bursts.GoSpan(s)
		case model.GoWaiting:
			r.Waits.GoSpan(s)
			r.Blame.GoSpan(s)
		}
	}
	for _, e := range ends {
		r.Latency.end(e.g, e.fn, e.system)
		r.Blame.end(e.g)
	}
	for i := range b.procSpans {
		s := &b.procSpans[i]
		r.GC.ProcSpan(s)
		r.Timeline.ProcSpan(s)
		r.Worst.ProcSpan(s)
	}
	for i := range b.metrics {
		r.Timeline.Metric(&b.metrics[i])
	}
	for i := range b.stws {
		r.GC.STW(&b.stws[i])
	}
	for i := range b.ranges {
		r.GC.Range(&b.ranges[i])
	}
	*b = batch{goSpans: b.goSpans[:0], goEnds: b.goEnds[:0], procSpans: b.procSpans[:0], counts: b.counts[:0]}
}

// next makes room for a record and returns the batch that takes it. It is short enough to
// be inlined.
func (f *feed) next() *batch {
	if f.filling.n >= batchRecords {
		f.send()
	}
	f.filling.n++
	return f.filling
}

func (f *feed) GoSpan(s *model.GoSpan) {
	if s.State == model.GoRunnable || s.State == model.GoRunning || s.State == model.GoWaiting {
		b := f.next()
		b.goSpans = append(b.goSpans, *s)
		if f.steps != nil && countsAsWait(s) {
			f.steps.wait(s)
		}
	}
}

func (f *feed) ProcSpan(s *model.ProcSpan) {
	b := f.next()
	b.procSpans = append(b.procSpans, *s)
}

func (f *feed) Counts(c *model.Counts) {
	b := f.next()
	b.counts = append(b.counts, *c)
}

func (f *feed) GoEnd(g *model.Goroutine) {
	b := f.next()
	b.goEnds = append(b.goEnds, goEnd{g.ID, g.Func, g.System, len(b.goSpans)})
}

func (f *feed) Metric(s *model.MetricSample) {
	b := f.next()
	b.metrics = append(b.metrics, *s)
}

func (f *feed) STW(s *model.STW) {
	b := f.next()
	b.stws = append(b.stws, *s)
}

func (f *feed) Range(s *model.RangeSpan) {
	b := f.next()
	b.ranges = append(b.ranges, *s)
}
