package sample

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
	"github.com/schedscope/schedscope/model/session"
)

// Options say how to read a trace. The zero value is fine.
type Options struct {
	// Workers is how many parts of the trace are decoded at the same time; 0: as many as Go
	// may use processors. Samples do not depend on it.
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
	t := session.File(r, size)
	s, err := scanTrace(ctx, t, spec, o.Workers)
	if err != nil {
		return nil, err
	}
	w, err := s.windowOf(spec)
	if err != nil {
		return nil, err
	}
	rd, err := s.measure(ctx, t, w, spec, o)
	if err != nil {
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
	*session.Reading
	scan   *scan
	window window
	spec   *Spec

	report    *analyze.Report
	collector *collector
	events    int64
}

// measure reads the window of a trace that has been scanned.
func (s *scan) measure(ctx context.Context, t *session.Trace, w window, spec *Spec, o Options) (*reading, error) {
	opts := ingest.Options{Workers: o.Workers, From: w.from}
	if !w.toEnd {
		opts.To = w.to
	}
	in, err := t.Read(opts)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	rd := &reading{Reading: in, scan: s, window: w, spec: spec}
	rd.Start, rd.End, rd.KnownEnd = s.origin+model.Time(w.from), s.origin+model.Time(w.to), s.end
	rd.Past = w.from == 0
	src := newSources()
	for i := range spec.Quantities {
		src.need(&spec.Quantities[i])
	}
	rd.collector = newCollector(in.Tables(), src, spec.Op)
	rd.report = analyze.New(in.Tables(), analyze.Options{Version: s.version, Request: rd.collector.request})
	rd.report.ObserveSteps(in.Machine)
	begin := func() {
		rd.report.Begin(s.origin)
		rd.report.Observe(in.Machine)
		in.Machine.Observe(rd.collector)
	}
	err = in.Run(ctx, begin, func(ev *model.Event) {
		rd.events++
		rd.report.Event(ev)
	})
	if err != nil {
		return nil, err
	}
	s.loss = cmp.Or(s.loss, in.Reader.Loss()) // the file may have changed meanwhile
	if err := in.Machine.Check(); err != nil {
		rd.First = cmp.Or(rd.First, err)
		rd.Contradictions++
	}
	rd.report.Finish(in.Machine.Start(), in.Machine.Now())
	if rd.report.Idle.Procs == 0 && ctx.Err() == nil { // only what is listed where a trace begins
		return nil, session.ErrNoEvent
	}
	return rd, ctx.Err()
}

// sample computes all that a sample holds.
func (rd *reading) sample(e environment) *Sample {
	c, from, to := rd.collector, rd.Machine.Start(), rd.Machine.Now()
	m := &measured{collector: c, report: rd.report, length: to.Sub(from), blame: rd.report.Blame.Behind()}
	x := &Sample{From: from.Sub(rd.scan.origin), To: to.Sub(rd.scan.origin), Events: rd.events,
		Capacity: rd.report.Idle.Procs, Values: map[string]Value{}}
	for _, g := range rd.report.Goroutines.ByFunc() {
		x.Running += g.States[model.GoRunning]
		if g.System {
			continue
		}
		m.funcs = append(m.funcs, g.Function)
		if c.opKind == "goroutine" && c.opNames.match(g.Function) {
			c.opCount += g.Ended
		}
	}
	m.ops, m.opsWhy = rd.ops(&e, from, to)
	x.Ops = m.ops
	x.Identity = e.identity(rd.scan, rd.spec, m)
	var usage *env.Usage
	if e.run != nil {
		u := e.run.Usage(x.Identity.MaxProcs)
		usage, x.Noise = &u, &u.Noise
	}
	m.cpu = e.cpuOf(usage, rd.scan, m, [2]model.Time{from, to})
	if m.cpu.why == "" && e.about(from, to) {
		x.CPU = m.cpu.total
	}
	x.Loss = rd.loss()
	x.Whole = x.Loss == ""
	for i := range rd.spec.Quantities {
		q := &rd.spec.Quantities[i]
		if v, err := m.value(q); err == nil {
			x.Values[q.String()] = v
		} else {
			if x.Missing == nil {
				x.Missing = map[string]string{}
			}
			x.Missing[q.String()] = err.Error()
		}
	}
	x.Waits = c.waitClasses.list(c.tables)
	x.Blocked = c.blockClasses.list(c.tables)
	x.Runs = c.runClasses.list(c.tables)
	x.Causes, x.Blame = causes(rd.report.Causes), blame(m.blame)
	x.Requests = requestsOf(rd.report.Requests)
	x.Worst = worst(c.waitList, from, to, rd.scan.origin, worstLength)
	return x
}

// ops returns how many ops ended in the window, or why that is not known.
func (rd *reading) ops(e *environment, from, to model.Time) (n int64, why string) {
	c := rd.collector
	switch c.opKind {
	case "":
		if n := c.requestCount[c.requestKind()]; n > 0 {
			return n, ""
		}
		return 0, "the budget does not say what an op is, and there are no requests"
	case "region", "task", "goroutine":
		if c.opCount == 0 {
			return 0, fmt.Sprintf("no op ended in the window: the op is %s", rd.spec.Op)
		}
		return c.opCount, ""
	case "count":
	default:
		return 0, fmt.Sprintf("op %q is none of region:NAME, task:NAME, goroutine:FUNC and count", rd.spec.Op)
	}
	switch {
	case e.run == nil:
		return 0, "ops are to be counted by the program: " + e.why
	case e.ops == nil:
		return 0, "the environment record does not contain the number of ops"
	case *e.ops <= 0:
		return 0, "the environment record says that there were no ops"
	case !e.about(from, to):
		return 0, "the environment record, which has the number of ops, is of another stretch than the window"
	}
	return *e.ops, ""
}

// loss says what of the trace is not whole, be it outside of the window; "" if nothing.
func (rd *reading) loss() string {
	switch {
	case rd.scan.cut:
		return fmt.Sprintf("%v; used up to %v, where no event is missing yet", rd.scan.loss, time.Duration(rd.scan.length()).Round(time.Microsecond))
	case rd.scan.loss != nil:
		return rd.scan.loss.String()
	case rd.Contradictions > 0:
		return fmt.Sprintf("%d events contradict what was before, the first: %v", rd.Contradictions, rd.First)
	}
	return rd.window.fault
}
