package sample

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
	"github.com/schedscope/schedscope/model/session"
)

// Options configures Read. The zero value is valid.
type Options struct {
	// Workers is how many parts of the trace are decoded at the same time; 0: as many as Go
	// may use processors. Samples do not depend on it.
	Workers int
	// Report, if not nil, is given the finished analyses of the window.
	Report func(*analyze.Report)
	// Progress is called now and then.
	Progress func()
}

// Read returns the sample of a trace of size bytes. Quantities without data are in Missing. It
// returns an error if the input is not a trace, if nothing of the trace lies in the window, or
// if the context is done.
//
// A trace is read once if its window lies in its first two generations, and is known or is
// marked, by a region or by environment records: what is before it is dropped when it is seen.
// Else it is read a second time: where the window turns out to be another than it seemed, where
// it depends on the trace's length, and where something is lost.
func Read(ctx context.Context, r io.ReaderAt, size int64, in Input, spec *Spec, o Options) (*Sample, error) {
	t := session.File(r, size)
	rd, err := scanTrace(ctx, t, r, spec, o)
	if err != nil {
		return nil, err
	}
	defer func() { rd.Close() }()
	s := rd.scan
	w, err := s.windowOf(spec)
	if err != nil {
		return nil, err
	}
	if !rd.is(w) {
		rd.Close()
		again, err := s.measure(ctx, t, w, spec, o)
		if err != nil {
			return nil, err
		}
		rd = again
	}
	rd.window = w
	if err := rd.finish(ctx); err != nil {
		return nil, err
	}
	x := rd.sample(s.environment(in.Env))
	x.Name = filepath.Base(filepath.ToSlash(in.Name))
	if o.Report != nil {
		o.Report(rd.report)
	}
	return x, nil
}

// reading is a reading of a trace that measures its window.
type reading struct {
	*session.Reading
	scan   *scan
	window window
	spec   *Spec

	report    *analyze.Report
	collector *collector
	begun     bool
	events    int64 // of the window
}

func (s *scan) reading(in *session.Reading, spec *Spec) *reading {
	rd := &reading{Reading: in, scan: s, spec: spec, collector: newCollector(in.Tables(), spec)}
	rd.report = analyze.New(in.Tables(), analyze.Options{Version: in.Version, Request: rd.collector.request, Requests: spec.Requests})
	return rd
}

// begin has all observe the Machine from now on.
func (rd *reading) begin() {
	rd.begun = true
	rd.report.Begin(rd.scan.origin)
	rd.report.Observe(rd.Machine)
	rd.Machine.Observe(rd.collector)
}

func (rd *reading) event(ev *model.Event) {
	if rd.begun {
		rd.events++
		rd.report.Event(ev)
	}
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
	in.Progress = o.Progress
	rd := s.reading(in, spec)
	rd.Start, rd.End, rd.KnownEnd = s.origin+model.Time(w.from), s.origin+model.Time(w.to), s.end
	rd.Past = w.from == 0
	rd.report.ObserveSteps(in.Machine)
	if err := in.Run(ctx, rd.begin, rd.event); err != nil {
		return nil, err
	}
	s.loss = cmp.Or(s.loss, in.Reader.Loss()) // the file may have changed meanwhile
	return rd, nil
}

// finish completes the analyses.
func (rd *reading) finish(ctx context.Context) error {
	if err := rd.Machine.Check(); err != nil {
		rd.First = cmp.Or(rd.First, err)
		rd.Contradictions++
	}
	rd.report.Finish(rd.Machine.Start(), rd.Machine.Now())
	if rd.report.Idle.Procs == 0 && ctx.Err() == nil { // only what is listed where a trace begins
		return session.ErrNoEvent
	}
	return ctx.Err()
}

// sample computes all that a sample holds.
func (rd *reading) sample(e environment) *Sample {
	c, from, to := rd.collector, rd.Machine.Start(), rd.Machine.Now()
	v := &result.Report{Totals: result.Totals{Span: to.Sub(rd.scan.origin)}}
	rd.report.Requests.Result(v)
	m := &measured{collector: c, report: rd.report, requests: v.Requests, length: to.Sub(from), blame: rd.report.Blame.Behind(), op: rd.spec.Op,
		chosen: map[string]*selection{}}
	x := &Sample{From: from.Sub(rd.scan.origin), To: to.Sub(rd.scan.origin), Events: rd.events,
		Capacity: rd.report.Idle.Procs, Values: map[string]Value{}}
	for _, g := range rd.report.Goroutines.ByFunc() {
		x.Running += g.States[model.GoRunning]
		if g.System {
			continue
		}
		m.funcs = append(m.funcs, g.Function)
		if name, ok := strings.CutPrefix(m.op, "goroutine:"); ok && rule.Glob(name, g.Function) {
			m.ops += g.Ended
		}
	}
	rd.ops(m, &e, from, to)
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
	for q := range result.Refs(rd.spec.Quantities) {
		if v, err := m.value(*q); err == nil {
			x.Values[q.String()] = v
		} else {
			if x.Missing == nil {
				x.Missing = map[string]string{}
			}
			x.Missing[q.String()] = err.Error()
		}
	}
	x.Waits, x.Blocked, x.Runs = c.list(model.GoRunnable), c.list(model.GoWaiting), c.list(model.GoRunning)
	x.Causes, x.Blame = lostTo(rd.report.Causes), Blame(m.blame)
	if m.requestKind() != "" {
		x.Requests = RequestsOf(&m.requests[0])
	}
	x.Joins = c.joined()
	if x.Whole && rd.scan.wholeRun() {
		x.Run = rd.scan.length()
		x.Paced = 2*rd.scan.main.paced >= x.Run
	}
	x.Open = findings.OpenRequests(v)
	rd.report.Goroutines.Result(v)
	rd.report.Blame.Result(v)
	rd.report.Waits.Result(v)
	v.Totals.Span = m.length // goroutines have lived in the window alone
	x.Leak, x.Held = findings.LeakOf(v), findings.HeldUp(v)
	x.Worst = worst(rd.report.Timeline, x.To)
	return x
}

// ops sets how many ops ended in the window, or why that is not known.
func (rd *reading) ops(m *measured, e *environment, from, to model.Time) {
	kind, _, _ := strings.Cut(m.op, ":")
	switch kind {
	case "":
		if m.requestKind() != "" {
			m.ops = m.requests[0].Count
			return
		}
		m.opsWhy = "the budget does not say what an op is, and there are no requests"
	case "region", "task", "goroutine":
		if kind != "goroutine" {
			m.ops = rd.scan.opsIn(from, to)
		}
		if m.ops == 0 {
			m.opsWhy = "no op ended in the window: the op is " + m.op
		}
	case "count":
		switch {
		case e.run == nil:
			m.opsWhy = "ops are to be counted by the program: " + e.why
		case e.ops == nil:
			m.opsWhy = "the environment record does not contain the number of ops"
		case *e.ops <= 0:
			m.opsWhy = "the environment record says that there were no ops"
		case !e.about(from, to):
			m.opsWhy = "the environment record, which has the number of ops, is of another stretch than the window"
		default:
			m.ops = *e.ops
		}
	default:
		m.opsWhy = fmt.Sprintf("op %q is none of region:NAME, task:NAME, goroutine:FUNC and count", m.op)
	}
}

// worstLength is how long the worst stretch of a trace is that explanations show, about.
const worstLength = 25_000_000

// worst returns the stretch with most waiting to run, of whole bins; nil if there is none.
func worst(t *analyze.Timeline, to model.Duration) []Stretch {
	bins, w := t.Used(), t.Width()
	n := min(len(bins), max(1, int(worstLength/w)))
	var sum, most model.Duration
	end := 0
	for i := range bins {
		sum += bins[i].Runnable
		if i >= n {
			sum -= bins[i-n].Runnable
		}
		if sum > most {
			most, end = sum, i+1
		}
	}
	if most == 0 {
		return nil
	}
	from := model.Duration(t.Start()) + model.Duration(max(0, end-n))*w
	return []Stretch{{From: from, To: min(from+model.Duration(n)*w, to), Total: most}}
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
