package sample

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/replay"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
)

// Options say how to read a trace. The zero value is fine.
type Options struct {
	// Workers is how many parts of the trace are decoded, and how many simulations run, at
	// the same time; 0: as many as Go may use processors. Samples do not depend on it.
	Workers int
	// Report, if not nil, is given the finished analyses of the window.
	Report func(*analyze.Report)
}

// Read makes a sample of a trace of size bytes. Quantities that the trace has no data
// for are in Missing. The error says why there is no sample: it is no trace, nothing of
// it is in the window, or the context's.
//
// The trace is read twice: first to find the window and the environment records, then,
// with the model of the scheduler, for the numbers.
func Read(ctx context.Context, r io.ReaderAt, size int64, in Input, spec *Spec, o Options) (*Sample, error) {
	s, err := scanTrace(ctx, r, size, spec, o.Workers)
	if err != nil {
		return nil, err
	}
	w, err := s.windowOf(spec)
	if err != nil {
		return nil, err
	}
	rd, err := newReading(ctx, r, size, s, w, spec, o)
	if err != nil {
		return nil, err
	}
	defer rd.in.Close()
	if err := rd.run(ctx); err != nil {
		return nil, err
	}
	x := rd.sample(s.environment(in.Env))
	x.Name = filepath.Base(filepath.ToSlash(in.Name))
	if o.Report != nil {
		o.Report(rd.report)
	}
	return x, nil
}

// reading is the second time that a trace is read.
type reading struct {
	scan   *scan
	window window
	spec   *Spec

	in        *ingest.Reader
	m         *model.Machine
	report    *analyze.Report
	collector *collector
	replay    *replay.Replay // nil: nothing is simulated
	simWhy    string         // nothing can be

	origin, start, end model.Time // end: of the window, if it is not the trace's
	begun              bool
	events             int64
	contradictions     int64
	first              error
}

func newReading(ctx context.Context, r io.ReaderAt, size int64, s *scan, w window, spec *Spec, o Options) (*reading, error) {
	opts := ingest.Options{Workers: o.Workers, From: w.from, Index: &s.index}
	if !w.toEnd {
		opts.To = w.to
	}
	in, err := ingest.NewReaderAt(r, size, opts)
	if err != nil {
		return nil, err
	}
	rd := &reading{scan: s, window: w, spec: spec, in: in, origin: s.origin}
	rd.start, rd.end = s.origin+model.Time(w.from), s.origin+model.Time(w.to)
	t := in.Tables()
	rd.m = model.NewMachine(t, model.Config{Version: s.version})
	rd.report = analyze.New(t, analyze.Options{Window: rd.windowed(), Version: s.version})
	rd.report.ObserveSteps(rd.m)
	src := newSources()
	for i := range spec.Quantities {
		src.need(&spec.Quantities[i])
	}
	rd.collector = newCollector(t, src, spec.Op)
	if rd.replay, err = newReplay(ctx, t, s.version, spec, o.Workers); err != nil {
		rd.simWhy = "it cannot be simulated: " + err.Error()
	}
	if rd.replay != nil {
		rd.replay.Observe(rd.m)
	}
	return rd, nil
}

// windowed reports whether something before the window's beginning is left out, or after
// its end.
func (rd *reading) windowed() bool { return rd.window.from > 0 || !rd.window.toEnd }

// errEmptyWindow says that there is nothing to measure.
var errEmptyWindow = errors.New("no event in the window")

// run feeds the trace to the model.
func (rd *reading) run(ctx context.Context) error {
	for {
		events, err := rd.in.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !rd.feed(events) {
			break
		}
	}
	if !rd.begun {
		return errEmptyWindow
	}
	rd.scan.loss = cmp.Or(rd.scan.loss, rd.in.Loss()) // the file may have changed meanwhile
	rd.finish()
	return ctx.Err()
}

// feed reports whether the window goes on. The reader ends it by itself where the
// format has generations.
func (rd *reading) feed(events []model.Event) bool {
	for i := range events {
		ev := &events[i]
		if !rd.window.toEnd && ev.Time > rd.end {
			return false
		}
		if !rd.begun && ev.Time >= rd.start {
			rd.begin()
		}
		if err := rd.m.Apply(ev); err != nil {
			rd.contradicts(err)
		}
		if rd.begun {
			rd.events++
			rd.report.Event(ev)
			if rd.replay != nil {
				rd.replay.Event(ev)
			}
		}
	}
	return true
}

// begin starts accounting.
func (rd *reading) begin() {
	rd.begun = true
	if rd.window.from > 0 {
		rd.m.Begin(rd.start)
	}
	rd.report.Begin(rd.origin)
	rd.report.Observe(rd.m)
	rd.m.Observe(rd.collector)
	if rd.replay != nil {
		rd.replay.Begin(rd.start)
	}
}

// finish ends accounting: where the window ends, if the trace goes on beyond.
func (rd *reading) finish() {
	end := rd.m.Now()
	if !rd.window.toEnd && rd.end > end && rd.scan.end >= rd.end && rd.in.Loss() == nil {
		end = rd.end
	}
	if err := rd.m.Finish(end); err != nil {
		rd.contradicts(err)
	}
	rd.report.Finish(rd.m.Start(), rd.m.Now())
}

func (rd *reading) contradicts(err error) {
	if rd.contradictions == 0 {
		rd.first = err
	}
	rd.contradictions++
}

// sample computes all that a sample holds.
func (rd *reading) sample(e environment) *Sample {
	c, from, to := rd.collector, rd.m.Start(), rd.m.Now()
	m := &measured{collector: c, report: rd.report, length: to.Sub(from)}
	m.ops, m.opsWhy = rd.ops(&e, from, to)
	x := &Sample{From: from.Sub(rd.origin), To: to.Sub(rd.origin), Ops: m.ops, Events: rd.events,
		Running: c.runningTotal, Capacity: rd.report.GC.Procs, Values: map[string]Value{}}
	x.Identity = e.identity(rd.scan.version, rd.spec, m)
	var usage *env.Usage
	if e.run != nil {
		u := e.run.Usage(x.Identity.MaxProcs)
		usage = &u
	}
	x.Noise = noise(usage)
	m.cpu = e.cpuOf(usage, rd.scan, m, [2]model.Time{from, to})
	if m.cpu.why == "" && e.about(from, to) {
		x.CPU = m.cpu.total
	}
	m.sim = rd.simulated()
	if e.run != nil || rd.spec.asksSim() {
		x.Sim = contamination(e.ran, &m.cpu)
	}
	x.Loss = rd.loss()
	x.Whole = x.Loss == ""
	rd.values(x, m)
	x.Waits = c.waitClasses.list(c.tables, &c.places)
	x.Blocked = c.blockClasses.list(c.tables, &c.places)
	x.Runs = c.runClasses.list(c.tables, &c.places)
	x.Causes, x.Behind = causes(rd.report.Causes), behind(rd.report.Causes)
	x.Worst = worst(c.waitList, from, to, rd.origin, worstLength)
	return x
}

// values computes the quantities.
func (rd *reading) values(x *Sample, m *measured) {
	for i := range rd.spec.Quantities {
		q := &rd.spec.Quantities[i]
		v, err := m.value(q)
		if err == nil {
			x.Values[q.String()] = v
			continue
		}
		if x.Missing == nil {
			x.Missing = map[string]string{}
		}
		x.Missing[q.String()] = err.Error()
	}
}

// ops returns how many ops ended in the window, or why that is not known.
func (rd *reading) ops(e *environment, from, to model.Time) (n int64, why string) {
	c := rd.collector
	switch c.opKind {
	case "":
		return 0, "the budget does not say what an op is"
	case "region", "task", "goroutine":
		if c.opCount == 0 {
			return 0, fmt.Sprintf("no op ended in the window: the op is %s", rd.spec.Op)
		}
		return c.opCount, ""
	case "count":
		return countedOps(e, from, to)
	}
	return 0, fmt.Sprintf("op %q is none of region:NAME, task:NAME, goroutine:FUNC and count", rd.spec.Op)
}

// countedOps returns the number of ops that the environment record tells.
func countedOps(e *environment, from, to model.Time) (int64, string) {
	switch {
	case e.run == nil:
		return 0, "ops are to be counted by the program: " + e.why
	case e.ops == nil:
		return 0, "the environment record does not tell how many ops there were"
	case *e.ops <= 0:
		return 0, "the environment record says that there were no ops"
	case !e.about(from, to):
		return 0, "the environment record, which tells the number of ops, is of another stretch than the window"
	}
	return *e.ops, ""
}

// simulated ends simulations.
func (rd *reading) simulated() simulated {
	if rd.replay == nil {
		return simulated{why: rd.simWhy}
	}
	r, err := rd.replay.Finish(rd.m.Now())
	switch {
	case err != nil:
		return simulated{why: "it cannot be simulated: " + err.Error()}
	case r.Unfinished() == r.Seeds:
		return simulated{why: "no simulation came to the end of the work"}
	}
	return simulated{result: r}
}

// loss says what of the trace is not whole, be it outside of the window; "" if nothing.
func (rd *reading) loss() string {
	switch {
	case rd.scan.cut:
		return fmt.Sprintf("%v; used up to %v, where no event is missing yet", rd.scan.loss, time.Duration(rd.scan.length()).Round(time.Microsecond))
	case rd.scan.loss != nil:
		return rd.scan.loss.String()
	case rd.contradictions > 0:
		return fmt.Sprintf("%d events contradict what was before, the first: %v", rd.contradictions, rd.first)
	}
	return rd.window.fault
}
