package causes

import (
	"sync"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// Feed hands the steps of a Machine to what reconstructs run queues and causes, on a
// goroutine of its own. It collects them in batches, cut by their number, so that results
// depend on the trace alone.
type Feed struct {
	// Explained, if not nil, is called with each wait that counts, in the order in which they end, and takes Least if there is
	// one. Of its Span only the goroutine, its function, start, end and origin are set.
	Explained func(*ExplainedWait)
	Least     *model.Duration
	// Judge, if not nil, hears of the beginning of each batch, and of generations.
	Judge interface {
		Begin(at model.Time)
		Generation(at model.Time)
	}
	// Also, if not nil, observes the steps on the same goroutine, each before the run queues do.
	Also model.StepObserver

	log      model.StepLog // of what filling is to hold
	filling  *stepBatch    // but its steps
	line     *model.Line[*stepBatch]
	resolver *runqueue.Resolver
	causes   *attribution
	followed bool
	assist   model.StringID // name of the ranges of mark assists
	procs    model.StringID // name of the metric with which generations begin
}

// stepRecords is the number of steps in a batch, stepAhead that of the batches that may be on
// their way: the two goroutines take turns in being the slower one.
const (
	stepRecords = 1 << 12
	stepAhead   = 3
)

type stepBatch struct {
	steps []model.Step
	// What lies between steps, each after so many of them.
	silences []silence
	begins   []generation
	stacks   []stackSeen
	spans    []model.GoSpan // of the waits that end, if somebody takes each
}

// stackSeen is where a goroutine was on a proc, while it went on running.
type stackSeen struct {
	at     model.Time
	g      model.GoID
	p      model.ProcID
	stack  model.StackID
	sample bool // of the CPU profile; else a mark assist begins
	after  int
}

// generation is when a generation of the trace begins.
type generation struct {
	at    model.Time
	after int
}

// silence is a time in which no thread did anything.
type silence struct {
	from, to model.Time
	after    int
}

// NewFeed returns a Feed for a trace of Go 1.version, which adds the waits to c and keeps so many of the worst in full. The error is
// a [*runqueue.OldFormatError].
func NewFeed(t *model.Tables, version int, c *Analysis, worst int) (*Feed, error) {
	r, err := runqueue.New(t, version)
	if err != nil {
		return nil, err
	}
	f := &Feed{resolver: r, causes: newAttribution(c, t, worst), assist: t.AddString("GC mark assist"),
		procs: t.AddString("/sched/gomaxprocs:threads")}
	f.causes.feed = f
	f.log.Full = f.send
	empty := make([]*stepBatch, stepAhead)
	for i := range empty {
		empty[i] = stepBatches.Get().(*stepBatch)
	}
	f.line = model.NewLine(f.deliver, empty...)
	f.log.Wait = f.line.Wait
	f.fill(stepBatches.Get().(*stepBatch))
	r.Observe(f.causes)
	return f, nil
}

// Observe registers an observer of the run queues: any of the interfaces of package [runqueue].
func (f *Feed) Observe(o any) { f.resolver.Observe(o) }

// Follow makes the feed take the steps of m from now on. Waits that end before [Feed.Count] do not count.
func (f *Feed) Follow(m *model.Machine) {
	if !f.followed {
		f.followed = true
		m.Log(&f.log)
		m.Observe(f)
	}
}

// Explain says of waits what they were lost to, as far as they are among the worst. Call it after Finish, and then nothing more.
func (f *Feed) Explain(waits []result.Wait) {
	f.causes.explain(waits)
	f.causes.recycle()
}

// fill makes b the batch to be filled.
func (f *Feed) fill(b *stepBatch) { f.filling, f.log.Steps = b, b.steps }

// Event notes the stacks of goroutines that went on running, and where generations begin. It comes
// after the steps that the event made.
func (f *Feed) Event(ev *model.Event) {
	if f.Judge != nil && ev.Kind == model.EventMetric && ev.Str == f.procs {
		f.filling.begins = append(f.filling.begins, generation{ev.Time, len(f.log.Steps)})
	}
	sample := ev.Kind == model.EventStackSample
	if ev.Stack != 0 && ev.P != model.NoProc && (sample || ev.Kind == model.EventRangeBegin && ev.Str == f.assist) {
		b := f.filling
		b.stacks = append(b.stacks, stackSeen{ev.Time, ev.G, ev.P, ev.Stack, sample, len(f.log.Steps)})
		if len(b.stacks) >= stepRecords { // there may be few steps
			f.send()
		}
	}
}

// Silence implements [model.SilenceObserver].
func (f *Feed) Silence(from, to model.Time) {
	if to.Sub(from) >= osGapMin {
		f.filling.silences = append(f.filling.silences, silence{from, to, len(f.log.Steps)})
	}
}

// ended takes a wait that is to be explained. Its step is still to come.
func (f *Feed) ended(s *model.GoSpan) { f.filling.spans = append(f.filling.spans, *s) }

// Count makes the waits count that end from now on.
func (f *Feed) Count() {
	f.Pause()
	f.causes.counts = true
}

// send has another goroutine deliver the batch, after those before it.
func (f *Feed) send() {
	f.filling.steps = f.log.Steps
	f.fill(f.line.Send(f.filling))
}

// Pause waits until all records have arrived.
func (f *Feed) Pause() {
	f.send()
	f.line.Wait()
}

// stepBatches are empty ones for the next trace: most of what analysing a small one allocates.
var stepBatches = sync.Pool{New: func() any { return &stepBatch{steps: make([]model.Step, 0, stepRecords)} }}

// Finish settles the remaining waits. Call it after [model.Machine.Finish].
func (f *Feed) Finish() {
	f.Pause()
	stepBatches.Put(f.filling)
	for _, b := range f.line.Empty() {
		stepBatches.Put(b)
	}
	f.resolver.Finish()
	f.causes.Finish()
	for _, steps := range f.causes.done {
		stepBatches.Put(&stepBatch{steps: steps[:0]})
	}
}

// deliver takes the records where they belong and empties the batch.
func (f *Feed) deliver(b *stepBatch) {
	if f.Judge != nil && len(b.steps) > 0 {
		f.Judge.Begin(b.steps[0].Time)
	}
	rest, steps, causes := *b, b.steps, f.causes
	causes.hold(steps)
	causes.spans.items = append(causes.spans.items, b.spans...)
	var part [2]model.Step
	for i, next := 0, f.between(&rest, 0); i < len(steps) && !f.log.Stopped(); next = f.between(&rest, i) {
		for ; i < next; i++ {
			s := &steps[i]
			causes.count++
			if causes.steps == settleSteps-1 && s.Proc(&part[0]) { // waits are settled between the two
				f.step(&part[0])
				part[1] = *s
				part[1].Flags &^= model.StepWithProc
				s = &part[1]
			}
			f.step(s)
		}
	}
	*b = stepBatch{steps: causes.room(), silences: b.silences[:0], begins: b.begins[:0], stacks: b.stacks[:0], spans: b.spans[:0]}
}

// step takes a step, or one of the two that it consists of.
func (f *Feed) step(s *model.Step) {
	f.causes.note(s)
	if f.Also != nil {
		f.Also.Step(s)
	}
	f.resolver.Step(s)
	f.causes.catchUp()
}

// between takes out of rest what lies after i steps. It returns the number of steps after which
// there is more, or of all.
func (f *Feed) between(rest *stepBatch, i int) int {
	for ; len(rest.silences) > 0 && rest.silences[0].after == i; rest.silences = rest.silences[1:] {
		f.causes.Silence(rest.silences[0].from, rest.silences[0].to)
	}
	for ; len(rest.begins) > 0 && rest.begins[0].after == i; rest.begins = rest.begins[1:] {
		f.Judge.Generation(rest.begins[0].at)
	}
	for ; len(rest.stacks) > 0 && rest.stacks[0].after == i; rest.stacks = rest.stacks[1:] {
		f.causes.seenAt(&rest.stacks[0])
	}
	next := len(rest.steps)
	if len(rest.silences) > 0 {
		next = min(next, rest.silences[0].after)
	}
	if len(rest.begins) > 0 {
		next = min(next, rest.begins[0].after)
	}
	if len(rest.stacks) > 0 {
		next = min(next, rest.stacks[0].after)
	}
	return next
}
