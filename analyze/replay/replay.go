package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/schedscope/schedscope/analyze/refsched"
	"github.com/schedscope/schedscope/analyze/requests"
	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// Defaults of Options.
const (
	DefaultSeeds  = 8
	DefaultStarts = 200_000
)

// fewStarts is how many starts the last of several windows must have: less is
// mostly warm-up.
const fewStarts = 1000

// stepsPerStart bounds what a window holds where goroutines do much but seldom start, as with
// system calls: it ends after so many steps of goroutines for each start it may have. Five are usual.
const stepsPerStart = 16

// longest is after which time a window ends in any case. Since a trace has events in every second,
// one that is much longer has a leap in it, in which nothing was recorded: simulating what seems to
// have been computed in it could take for ever.
const longest model.Duration = 60_000_000_000

// Options configure a [Replay]. The zero value of a field means its default.
type Options struct {
	Seeds   int // simulations of each window and variant
	Starts  int // of goroutines in a window, after which, or 16 times as many steps, or a minute, the next begins
	Workers int // simulations at the same time; default one per processor
	// Variants are simulated as well.
	Variants []Variant
	// Progress, if not nil, gets how many of the simulations of a window, counted from 1, are
	// done. It is called from several goroutines, but not at the same time.
	Progress func(window, done, total int)

	simulate simulator // for tests: replaces refsched.Run
}

// simulator is the signature of [refsched.Run].
type simulator func(context.Context, *workload.Workload, refsched.Config) (*refsched.Result, error)

func (o Options) withDefaults() Options {
	o.Seeds = cmp.Or(o.Seeds, DefaultSeeds)
	o.Starts = cmp.Or(o.Starts, DefaultStarts)
	o.Workers = cmp.Or(o.Workers, runtime.GOMAXPROCS(0))
	if o.simulate == nil {
		o.simulate = refsched.Run
	}
	return o
}

// Replay follows one trace. Use it so:
//
//	r, err := replay.New(ctx, tables, version, options)
//	r.Observe(machine)              // from the trace's first event on
//	r.Origin(start)                 // optional: when the trace begins
//	r.Begin(at)                     // where the part to replay begins
//	... machine.Apply(event), then r.Event(event), for all events ...
//	machine.Finish(end)
//	result, err := r.Finish(end)
//
// It is not safe for concurrent use, but simulates on several goroutines.
type Replay struct {
	ctx context.Context
	o   Options

	log        model.StepLog
	followed   int        // steps in log that the extractor has had; the resolver gets all at once
	proc       model.Step // apart from that of a goroutine
	extractor  *workload.Extractor
	resolver   *runqueue.Resolver
	calibrator calibrator
	recording  recording
	tracker    *requests.Tracker
	groups     groups

	begun, done bool
	start       model.Time // of the window
	steps       int        // of goroutines in the window
	result      *Result
	err         error
	recorded    *Schedule // of the last window
	refused     error     // why the first window without work that can be run has none
}

var errEmpty = errors.New("nothing of it is within the window")

// New returns a Replay of a trace of Go 1.version whose strings are in t. The error is a
// *[runqueue.OldFormatError]. Simulations end when ctx does.
func New(ctx context.Context, t *model.Tables, version int, o Options) (*Replay, error) {
	resolver, err := runqueue.New(t, version)
	if err != nil {
		return nil, err
	}
	r := &Replay{ctx: ctx, o: o.withDefaults(), resolver: resolver}
	r.recording.begin(0)
	r.extractor = workload.NewExtractor(t, version)
	r.groups = groups{index: map[Group]int32{}, kinds: map[string]int{}}
	r.result = newResult(r.o)
	return r, nil
}

// Observe registers with the Machine of the trace.
func (r *Replay) Observe(m *model.Machine) {
	r.resolver.Observe(&r.calibrator)
	r.log = model.StepLog{Steps: make([]model.Step, 0, 256), Full: r.resolve}
	m.Log(&r.log)
	m.Observe(r)
	r.tracker = requests.New(m, nil)
	r.tracker.Done = r.request
}

// follow has the extractor follow the steps so far.
func (r *Replay) follow() {
	for ; r.followed < len(r.log.Steps); r.followed++ {
		s := &r.log.Steps[r.followed]
		if r.begun && s.Kind == model.StepGo {
			r.steps++
		}
		if s.Proc(&r.proc) {
			r.extractor.Step(&r.proc)
		}
		r.extractor.Step(s)
	}
}

// resolve has the resolver take the steps so far, too.
func (r *Replay) resolve() {
	if !r.done {
		r.follow()
		for i := range r.log.Steps {
			r.resolver.Step(&r.log.Steps[i])
		}
	}
	r.log.Steps, r.followed = r.log.Steps[:0], 0
}

// GoSpan implements [model.GoSpanObserver].
func (r *Replay) GoSpan(s *model.GoSpan) {
	if !r.done {
		r.recording.GoSpan(s)
	}
}

// Origin sets from where points in time of the measured waits count; without, they are those
// of the trace's clock.
func (r *Replay) Origin(at model.Time) { r.recording.origin = at }

// Begin begins the first window. What the Machine reported before is known, but not
// replayed.
func (r *Replay) Begin(at model.Time) {
	if r.done {
		return
	}
	r.follow()
	r.begun, r.start, r.steps = true, at, 0
	r.extractor.Begin(at)
	r.recording.begin(at)
}

// Event records an event that the Machine has applied. At the limit of starts, steps or length
// it ends the window and simulates it.
func (r *Replay) Event(ev *model.Event) {
	if !r.done {
		r.follow()
	}
	r.tracker.Event(ev)
	if r.done || !r.begun {
		return
	}
	r.extractor.Event(ev)
	if r.extractor.Starts() < r.o.Starts && r.steps < stepsPerStart*r.o.Starts && ev.Time.Sub(r.start) < longest {
		return
	}
	r.err = r.simulate(r.window(ev.Time))
	if r.done = r.err != nil; !r.done {
		r.Begin(ev.Time)
	}
}

// Finish ends and simulates the last window and returns the result. The error is the
// context's, or says why there is nothing to replay.
func (r *Replay) Finish(end model.Time) (*Result, error) {
	r.resolve()
	if !r.done {
		r.resolver.Finish()
	}
	if r.begun && !r.done {
		few := min(fewStarts, r.o.Starts)
		only := r.result.Windows == 0 && r.refused == nil
		if only || r.extractor.Starts() >= few || r.steps >= stepsPerStart*few {
			r.err = r.simulate(r.window(end))
		} else {
			r.result.LeftOut += end.Sub(r.start)
		}
	}
	r.done = true
	if r.err == nil && r.result.Windows == 0 {
		r.err = fmt.Errorf("taking the work out of the trace: %w", cmp.Or(r.refused, errEmpty))
	}
	if r.err != nil {
		return nil, r.err
	}
	r.result.finish()
	return r.result, nil
}

// window ends the window and returns its work, nil if it has none that can be run.
func (r *Replay) window(end model.Time) *workload.Workload {
	r.resolve()
	w, err := r.extract(end)
	if length := end.Sub(r.start); err == nil && length > 2*longest {
		err = fmt.Errorf("its time leaps by up to %s, in which nothing was recorded", textui.Duration(length))
	}
	if err != nil {
		r.refused = cmp.Or(r.refused, err)
		r.result.LeftOut += end.Sub(r.start)
		return nil
	}
	if len(r.o.Variants) > 0 {
		w.FindOutages()
	}
	from := compareFrom(w)
	recorded := r.recording.schedule(from, end)
	recorded.Starts = w.Recorded.Starts
	recorded.Span = w.Recorded.LastEnd
	for _, q := range w.Requests {
		if q.Start >= from.Sub(w.Start) {
			recorded.group(r.groups.list[q.Group]).Add(q.End-q.Start, 0)
		}
	}
	for _, d := range w.Recorded.Wakers { // only the work shows them
		r.calibrator.add(refsched.CostWaker, d)
	}
	r.result.window(w, recorded)
	r.recorded = recorded
	return w
}

// extract takes the work out of a window. A panic ends there: a trace must not be able to end the program.
func (r *Replay) extract(end model.Time) (w *workload.Workload, err error) {
	defer func() {
		if p := recover(); p != nil {
			w, err = nil, fmt.Errorf("taking the work out of the trace failed, which is a bug of schedscope: %v", p)
		}
	}()
	return r.extractor.Finish(end)
}

// compareFrom returns from when on waits are compared: after the warm-up, but not
// after the first quarter.
func compareFrom(w *workload.Workload) model.Time {
	return w.Start + model.Time(min(workload.Warmup, w.End.Sub(w.Start)/4))
}

// simulate runs all simulations of a window, nil for none, several at the same time, and adds up what they gave. After an
// error, or when the context is done, it begins no more.
func (r *Replay) simulate(w *workload.Workload) error {
	if w == nil {
		return nil
	}
	costs, next, done := r.calibrator.costs(), 0, 0
	list := make([]*Schedule, len(r.result.runs))
	ctx, cancel := context.WithCancelCause(r.ctx)
	defer cancel(nil)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range min(max(r.o.Workers, 1), len(list)) {
		wg.Go(func() {
			mu.Lock()
			defer mu.Unlock()
			for next < len(list) && ctx.Err() == nil {
				i, v, what := next, (*Variant)(nil), "the trace"
				if k := i/r.o.Seeds - 1; k >= 0 {
					v = &r.o.Variants[k]
					what = v.Name
				}
				seed := i%r.o.Seeds + 1
				next++
				mu.Unlock()
				s, err := r.one(ctx, w, v, refsched.Config{Seed: uint64(seed), Costs: costs})
				mu.Lock()
				if err != nil {
					cancel(fmt.Errorf("simulating %s with seed %d: %w", what, seed, err))
				}
				list[i] = s
				if done++; r.o.Progress != nil && err == nil {
					r.o.Progress(r.result.Windows, done, len(list))
				}
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	for i, s := range list {
		r.result.runs[i].merge(s)
	}
	return nil
}

// one simulates a window once, under a variant or, if that is nil, as recorded. A panic ends there, as in extract.
func (r *Replay) one(ctx context.Context, w *workload.Workload, v *Variant, cfg refsched.Config) (s *Schedule, err error) {
	defer func() {
		if p := recover(); p != nil {
			s, err = nil, fmt.Errorf("the simulator failed, which is a bug of schedscope: %v", p)
		}
	}()
	if v != nil {
		v.apply(&cfg)
		if v.changes("quiet") {
			w = w.Quiet()
		}
		if v.changes("gc") {
			w = w.WithoutAssists()
		}
	}
	s = newSchedule()
	from := compareFrom(w)
	cfg.Span = &gauge{schedule: s, from: from}
	cfg.Request = func(i int32, took model.Duration) {
		if q := &w.Requests[i]; q.Start >= from.Sub(w.Start) {
			s.group(r.groups.list[q.Group]).Add((took+grain/2)/grain*grain, 0)
		}
	}
	res, err := r.o.simulate(ctx, w, cfg)
	if err != nil {
		return nil, err
	}
	s.Starts, s.Span = res.Starts, res.Span
	if s.Work = workOf(w); res.Finished {
		s.Ran = max(s.Ran, s.Work)
	}
	return s, nil
}

// workOf returns the CPU time of the program's goroutines.
func workOf(w *workload.Workload) model.Duration {
	var sum model.Duration
	for i := range w.Goroutines {
		if g := &w.Goroutines[i]; !g.System {
			sum += g.Work
		}
	}
	return sum
}
