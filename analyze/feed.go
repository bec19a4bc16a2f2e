package analyze

import (
	"sync"

	"github.com/schedscope/schedscope/model"
)

// feed hands what the Machine tells to those analyses that want it.
//
// The frequent records (intervals, counts) and what must stay in step with them
// are collected in batches, and another goroutine takes each batch to its
// analyses while the Machine goes on. The rare records go to their analyses at
// once. Each analysis hears of one side only, but for [Totals], whose two sides
// share no field. Batches are cut by the number of records, so that results
// depend on the trace alone.
type feed struct {
	r       *Report
	m       *model.Machine
	begun   bool
	filling *batch
	spare   *batch
	idle    chan struct{} // holds a token while no batch is on its way
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

func newFeed(r *Report, m *model.Machine) *feed {
	f := &feed{r: r, m: m, filling: batches.Get().(*batch), spare: batches.Get().(*batch), idle: make(chan struct{}, 1)}
	f.filling.n = batchRecords
	f.idle <- struct{}{}
	return f
}

// batches keeps empty batches for the next trace: they are most of what the analysis of
// a small one allocates.
var batches = sync.Pool{New: func() any { return new(batch) }}

// next makes room for a record and returns the batch that takes it. It is short
// enough to be inlined: before the first record the batch counts as full.
func (f *feed) next() *batch {
	if f.filling.n >= batchRecords {
		f.turn()
	}
	f.filling.n++
	return f.filling
}

// turn replaces a full batch by an empty one.
func (f *feed) turn() {
	if !f.begun {
		f.begin()
	} else {
		f.send()
	}
}

// begin runs before the first record: only then does the Machine know when
// accounting started.
func (f *feed) begin() {
	if !f.begun {
		f.begun = true
		f.filling.n = 0
		f.r.start(f.m.Start())
	}
}

// send has another goroutine take the batch to its analyses, once it is done
// with the one before.
func (f *feed) send() {
	<-f.idle
	b := f.filling
	f.filling, f.spare = f.spare, b
	go func() {
		b.deliver(f.r)
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

// deliver takes the records to their analyses and empties the batch.
func (b *batch) deliver(r *Report) {
	// Counts come first: [Peak] asks for it.
	for i := range b.counts {
		c := &b.counts[i]
		r.Totals.Counts(c)
		r.GC.Counts(c)
		r.Timeline.Counts(c)
		r.Idle.Counts(c)
		r.Peak.Counts(c)
	}
	ends := b.goEnds
	for i := range b.goSpans {
		for len(ends) > 0 && ends[0].after == i {
			r.Latency.end(ends[0].g, ends[0].fn, ends[0].system)
			ends = ends[1:]
		}
		s := &b.goSpans[i]
		switch s.State {
		case model.GoRunnable:
			r.Latency.GoSpan(s)
			r.Heat.GoSpan(s)
			r.Worst.GoSpan(s)
			r.Peak.GoSpan(s)
		case model.GoRunning:
			r.Bursts.GoSpan(s)
		case model.GoWaiting:
			r.Waits.GoSpan(s)
		}
	}
	for _, e := range ends {
		r.Latency.end(e.g, e.fn, e.system)
	}
	for i := range b.procSpans {
		s := &b.procSpans[i]
		r.GC.ProcSpan(s)
		r.Timeline.ProcSpan(s)
		r.Worst.ProcSpan(s)
	}
	b.deliverRare(r)
	*b = batch{goSpans: b.goSpans[:0], goEnds: b.goEnds[:0], procSpans: b.procSpans[:0], counts: b.counts[:0]}
}

func (b *batch) deliverRare(r *Report) {
	for i := range b.metrics {
		r.Timeline.Metric(&b.metrics[i])
	}
	for i := range b.stws {
		r.GC.STW(&b.stws[i])
	}
	for i := range b.ranges {
		r.GC.Range(&b.ranges[i])
	}
}

func (f *feed) GoSpan(s *model.GoSpan) {
	if s.State == model.GoRunnable || s.State == model.GoRunning || s.State == model.GoWaiting {
		b := f.next()
		b.goSpans = append(b.goSpans, *s)
		if f.r.steps != nil && countsAsWait(s) {
			f.r.steps.wait(s)
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
	f.r.Totals.GoEnd(g)
	f.r.Goroutines.GoEnd(g)
}

func (f *feed) Metric(s *model.MetricSample) {
	b := f.next()
	b.metrics = append(b.metrics, *s)
	f.r.Totals.Metric(s)
}

func (f *feed) STW(s *model.STW) {
	b := f.next()
	b.stws = append(b.stws, *s)
	f.r.STWs.STW(s)
}

func (f *feed) Range(s *model.RangeSpan) {
	b := f.next()
	b.ranges = append(b.ranges, *s)
}

func (f *feed) Thread(t *model.Thread) {
	f.r.Totals.Thread(t)
	f.r.Threads.Thread(t)
}

func (f *feed) ThreadStart(t *model.ThreadStart) {
	f.r.Threads.ThreadStart(t)
	f.r.Pathologies.ThreadStart(t)
}

func (f *feed) SyscallExit(s *model.SyscallExit) {
	f.begin()
	f.r.Syscalls.SyscallExit(s)
	f.r.Pathologies.SyscallExit(s)
}

func (f *feed) Handoff(h *model.Handoff) {
	f.begin()
	f.r.Handoffs.Handoff(h)
	f.r.Pathologies.Handoff(h)
}

func (f *feed) Netpoll(w *model.NetpollWake) {
	f.begin()
	f.r.Netpoll.Netpoll(w)
}

func (f *feed) Task(t *model.Task) {
	f.begin()
	f.r.Tasks.Task(t)
}

func (f *feed) Region(x *model.Region) {
	f.begin()
	f.r.Regions.Region(x)
}
