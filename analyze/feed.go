package analyze

import (
	"sync"

	"github.com/schedscope/schedscope/model"
)

// feed hands what the Machine reports to those analyses that observe intervals or counts.
//
// These records and what must stay in step with them are collected in batches, and
// another goroutine takes each batch to its analyses while the Machine goes on. The other
// analyses are called by the Machine. Batches are cut by the number of records, so that
// results depend on the trace alone.
type feed struct {
	observers
	steps   *stepFeed // hears of waits at once; nil: nobody does
	filling *batch
	spare   *batch
	idle    chan struct{} // holds a token while no batch is on its way
}

// observers are the analyses by what they observe.
type observers struct {
	goSpans [model.NumGoStates][]model.GoSpanObserver
	goEnds  []interface {
		end(model.GoID, model.StringID, bool)
	}
	procSpans []model.ProcSpanObserver
	counts    []model.CountsObserver
	metrics   []model.MetricObserver
	stws      []model.STWObserver
	ranges    []model.RangeObserver
}

// observe registers an analysis. One that implements states observes only intervals in those.
func (o *observers) observe(a any) {
	if x, ok := a.(model.GoSpanObserver); ok {
		of := []model.GoState{model.GoRunnable, model.GoRunning, model.GoWaiting}
		if some, ok := a.(interface{ states() []model.GoState }); ok {
			of = some.states()
		}
		for _, s := range of {
			o.goSpans[s] = append(o.goSpans[s], x)
		}
	}
	register(&o.goEnds, a)
	register(&o.procSpans, a)
	register(&o.counts, a)
	register(&o.metrics, a)
	register(&o.stws, a)
	register(&o.ranges, a)
}

func register[T any](list *[]T, a any) {
	if x, ok := a.(T); ok {
		*list = append(*list, x)
	}
}

// batchRecords is the number of records in a batch: about a millisecond of work, so
// that waking the other goroutine is cheap beside it.
const batchRecords = 1 << 15

// batch holds records by kind, each kind in order. That leaves open which of two
// records of different kinds came first. It matters for ends of goroutines only:
// what else an analysis hears of in several kinds adds up in any order.
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

func newFeed() *feed {
	f := &feed{filling: batches.Get().(*batch), spare: batches.Get().(*batch), idle: make(chan struct{}, 1)}
	f.idle <- struct{}{}
	return f
}

// batches keeps empty batches for the next trace: they are most of what the analysis of
// a small one allocates.
var batches = sync.Pool{New: func() any { return new(batch) }}

// next makes room for a record and returns the batch that takes it. It is short enough to
// be inlined.
func (f *feed) next() *batch {
	if f.filling.n >= batchRecords {
		f.send()
	}
	f.filling.n++
	return f.filling
}

// send has another goroutine take the batch to its analyses, once it is done
// with the one before.
func (f *feed) send() {
	<-f.idle
	b := f.filling
	f.filling, f.spare = f.spare, b
	go func() {
		b.deliver(&f.observers)
		f.idle <- struct{}{}
	}()
}

// finish waits until all records have arrived.
func (f *feed) finish() {
	f.send()
	<-f.idle
	f.idle <- struct{}{}
	batches.Put(f.filling)
	batches.Put(f.spare)
	f.filling, f.spare = nil, nil
}

// deliver takes the records to their analyses and empties the batch. Counts come first:
// [Peak] asks for it.
func (b *batch) deliver(to *observers) {
	for i := range b.counts {
		for _, o := range to.counts {
			o.Counts(&b.counts[i])
		}
	}
	ends := b.goEnds
	for i := range b.goSpans {
		for ; len(ends) > 0 && ends[0].after == i; ends = ends[1:] {
			to.end(&ends[0])
		}
		s := &b.goSpans[i]
		for _, o := range to.goSpans[s.State] {
			o.GoSpan(s)
		}
	}
	for i := range ends {
		to.end(&ends[i])
	}
	for i := range b.procSpans {
		for _, o := range to.procSpans {
			o.ProcSpan(&b.procSpans[i])
		}
	}
	for i := range b.metrics {
		for _, o := range to.metrics {
			o.Metric(&b.metrics[i])
		}
	}
	for i := range b.stws {
		for _, o := range to.stws {
			o.STW(&b.stws[i])
		}
	}
	for i := range b.ranges {
		for _, o := range to.ranges {
			o.Range(&b.ranges[i])
		}
	}
	*b = batch{goSpans: b.goSpans[:0], goEnds: b.goEnds[:0], procSpans: b.procSpans[:0], counts: b.counts[:0]}
}

func (o *observers) end(e *goEnd) {
	for _, x := range o.goEnds {
		x.end(e.g, e.fn, e.system)
	}
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
