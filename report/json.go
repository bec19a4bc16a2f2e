package report

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/model"
)

// JSON writes the report as a [V1], indented.
func JSON(w io.Writer, d *Document) error { return WriteV1(w, NewV1(d)) }

// WriteV1 writes a report as JSON writes it.
func WriteV1(w io.Writer, v *V1) error {
	compact, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(indentJSON(compact))
	return err
}

// NewV1 returns the report in the form of its JSON.
func NewV1(d *Document) *V1 {
	r := d.Report
	perTrace := d.figures()
	return &V1{
		Schema:      Schema,
		Traces:      each(d.Traces, v1Trace),
		Skipped:     each(d.Skipped, func(s *Skipped) V1Skipped { return V1Skipped(*s) }),
		Totals:      v1Totals(r.Totals),
		Findings:    each(d.Findings, v1Finding),
		PerTrace:    perTrace,
		Spread:      spreadOf(perTrace),
		Series:      v1Series(r.Timeline),
		Heat:        v1Heat(r.Heat),
		Latency:     v1Latency(r.Latency),
		WorstWaits:  each(r.Worst.Waits(), func(w **analyze.Wait) V1Wait { return v1Wait(*w) }),
		Bursts:      v1Bursts(r.Bursts),
		Causes:      v1Causes(r.Causes, &r.Latency.All),
		Queues:      v1Queues(r.Queues),
		Pathologies: each(r.Pathologies.Found(), v1Pathology),
		Lateness:    v1Lateness(r.Pathologies.Late),
		Waiting:     V1Waiting{v1Dist(&r.Waits.All), each(r.Waits.ByReason(), v1Row), v1Censored(&r.Waits.Censored)},
		Syscalls:    v1Syscalls(r.Syscalls),
		Handoffs:    v1Handoffs(r.Handoffs),
		Netpoll:     v1Netpoll(r.Netpoll),
		STW:         v1STW(r.STWs),
		GC:          v1GC(r.GC),
		Procs:       v1Procs(r),
		Threads:     v1Threads(r.Threads),
		Tasks: each(r.Tasks.ByName(), func(t *analyze.TaskRow) V1Task {
			return V1Task{v1Named(t.Name, t.Whole), v1Tally(t.Censored), t.Inside.Count, v1States(&t.Inside.Times)}
		}),
		Regions:    each(r.Regions.ByName(), v1Region),
		Goroutines: each(r.Goroutines.ByFunc(), v1Group),
		Notes:      d.Notes(),
	}
}

// each maps a list; the result is never nil, so that JSON has [] and not null.
func each[S, T any](list []S, f func(*S) T) []T {
	out := make([]T, 0, len(list))
	for i := range list {
		out = append(out, f(&list[i]))
	}
	return out
}

func v1Trace(t *Trace) V1Trace {
	v := V1Trace{
		Name: t.Name, Format: fmt.Sprintf("go 1.%d", t.Version), Bytes: t.Bytes, Compression: t.Compression,
		Generations: t.Generations, Start: int64(t.Start), Span: int64(t.Span),
		Complete:   t.Loss == nil && t.EndedEarly == "",
		EndedEarly: t.EndedEarly, Inconsistent: t.Inconsistent,
		Captured: NewV1Capture(t.Capture),
	}
	if l := t.Loss; l != nil {
		v.Loss = &V1Loss{l.Bytes, l.Size, l.Generation, int64(l.After), l.Patchy, l.Cause}
	}
	if r := t.Reference; r != nil {
		v.Reference = &V1Reference{int64(r.From), int64(r.Length), r.Whole, r.Waits, int64(r.Measured), int64(r.Rules), int64(r.Low), int64(r.High), r.Poor, int64(r.Ideal), v1ReferenceSpectra(r)}
	}
	return v
}

func v1Totals(t *analyze.Totals) V1Totals {
	return V1Totals{
		Span: int64(t.Span), Events: t.Events, Goroutines: t.Goroutines, SystemGoroutines: t.SystemGoroutines,
		Threads: t.Threads, Procs: t.Procs,
		GOMAXPROCS: each(t.MaxProcs, func(s *analyze.ProcsStep) V1Step { return V1Step{s.Trace, int64(s.Time), s.Procs} }),
	}
}

func v1Finding(f *analyze.Finding) V1Finding {
	return V1Finding{Kind: f.Kind, Severity: f.Severity.String(), Grade: f.Grade.String(), Text: f.Text,
		Evidence: each(f.Evidence, func(e *analyze.Evidence) V1Evidence { return V1Evidence(*e) })}
}

func v1Dist(d *analyze.Dist) V1Dist {
	q := d.Quantiles(0.5, 0.9, 0.99, 0.999)
	return V1Dist{
		Count: d.Count(), Total: int64(d.Total()), Min: int64(d.Min()),
		P50: int64(q[0]), P90: int64(q[1]), P99: int64(q[2]), P999: int64(q[3]),
		Max: int64(d.Max()), MaxAt: int64(d.MaxAt()), Exact: d.Exact(), V1Sketch: v1Sketch(d),
	}
}

// v1Sketch is left empty where the greatest value tells all.
func v1Sketch(d *analyze.Dist) V1Sketch {
	if d.Count() < 2 {
		return V1Sketch{}
	}
	return V1Sketch{HDR: d.Histogram().Encode()}
}

func v1Named(name string, d *analyze.Dist) V1Named { return V1Named{name, v1Dist(d)} }

func v1Row(r *analyze.DistRow) V1Named { return v1Named(r.Name, r.Dist) }

func v1Tally(t analyze.Tally) V1Tally {
	return V1Tally{t.Count, int64(t.Total), int64(t.Max), int64(t.MaxAt)}
}

func v1Censored(c *analyze.Censored) V1Censored {
	return V1Censored{v1Tally(c.AtStart), v1Tally(c.AtEnd)}
}

func v1Latency(l *analyze.Latency) V1Latency {
	v := V1Latency{
		All: v1Dist(&l.All), ByOrigin: []V1Named{}, ByFunction: each(l.ByFunc(), v1Row), Spectra: v1Spectra(l),
		ByGoroutine: each(l.ByGoroutine(), func(g *analyze.GoroutineWait) V1Goroutine {
			return V1Goroutine{g.Trace, int64(g.G), g.Func, v1Tally(g.Tally)}
		}),
		Histogram: v1Histogram(&l.All), System: v1Dist(&l.System), Censored: v1Censored(&l.Censored), Pseudo: l.Pseudo,
	}
	for o := range l.ByOrigin {
		if l.ByOrigin[o].Count() > 0 {
			v.ByOrigin = append(v.ByOrigin, v1Named(model.Origin(o).String(), &l.ByOrigin[o]))
		}
	}
	return v
}

// v1Histogram counts the samples of a distribution in the rows of the heat map.
// Empty buckets are left out.
func v1Histogram(d *analyze.Dist) []V1Bucket {
	out := []V1Bucket{}
	row := 0
	d.Each(func(v model.Duration, n int64) {
		for row+1 < analyze.HeatRows {
			if _, hi := analyze.HeatBounds(row); v < hi {
				break
			}
			row++
		}
		lo, hi := analyze.HeatBounds(row)
		if k := len(out) - 1; k >= 0 && out[k].From == int64(lo) {
			out[k].Count += n
			return
		}
		out = append(out, V1Bucket{int64(lo), int64(hi), n})
	})
	return out
}

func v1Wait(w *analyze.Wait) V1Wait {
	return V1Wait{
		Trace: w.Trace, Goroutine: int64(w.G), Function: w.Func, Origin: w.Origin.String(),
		Start: int64(w.Start), End: int64(w.End), Duration: int64(w.Duration()),
		Stack: each(w.Stack, v1Frame), Waker: int64(w.Waker), WakerFunction: w.WakerFunc, WakerStack: each(w.WakerStack, v1Frame),
		ReadiedOn: int64(w.ReadiedOn), RanOn: int64(w.RanOn), Uses: v1Uses(&w.Uses), Approximate: w.Approximate,
		Meanwhile: each(w.Antagonists, func(a *analyze.Antagonist) V1Activity {
			return V1Activity{int64(a.G), a.Func, a.Use.String(), int64(a.Total)}
		}),
		Causes:       each(w.Cells, func(c *analyze.Cell) V1CauseTotal { return V1CauseTotal{c.Cause.String(), int64(c.Total)} }),
		Blockers:     each(w.Blockers, v1Blocker),
		Unattributed: int64(w.Unattributed), OtherFunctions: int64(w.UnattributedFuncs),
		Functions: each(w.AntagonistFuncs, func(a *analyze.AntagonistFunc) V1FuncActivity {
			return V1FuncActivity{a.Func, a.Use.String(), int64(a.Total)}
		}),
	}
}

func v1Frame(f *model.Frame) V1Frame { return V1Frame{f.Func, f.File, f.Line} }

func v1Uses(u *analyze.Uses) V1Uses {
	return V1Uses{
		User: int64(u[analyze.UseUser]), GC: int64(u[analyze.UseGC]), Assist: int64(u[analyze.UseAssist]),
		Runtime: int64(u[analyze.UseRuntime]), Syscall: int64(u[analyze.UseSyscall]), Searching: int64(u[analyze.UseSearching]),
		Stopped: int64(u[analyze.UseStopped]), Idle: int64(u[analyze.UseIdle]), Unknown: int64(u[analyze.UseUnknown]),
	}
}

func v1Bursts(b *analyze.Bursts) V1Bursts {
	return V1Bursts{
		All: v1Dist(&b.All), System: v1Dist(&b.System), ByFunction: each(b.ByFunc(), v1Row),
		Long: v1Tally(b.Long), VeryLong: v1Tally(b.VeryLong), Censored: v1Censored(&b.Censored),
		Places: each(b.Places(), func(p *analyze.Place) V1Place { return V1Place{p.Func, v1Tally(p.Tally)} }),
		Longest: each(b.Longest(), func(x *analyze.Burst) V1Burst {
			return V1Burst{x.Trace, int64(x.G), x.Func, x.Place, int64(x.P), int64(x.Start), int64(x.Duration()), x.Censored}
		}),
	}
}

func v1Syscalls(s *analyze.Syscalls) V1Syscalls {
	v := V1Syscalls{All: v1Dist(&s.All), WithProc: v1Dist(&s.WithProc), Blocked: v1Dist(&s.Blocked),
		ByWayOut: []V1Named{}, ByFunction: each(s.ByFunc(), v1Row)}
	for p := range s.ByPath {
		if s.ByPath[p].Count() > 0 {
			v.ByWayOut = append(v.ByWayOut, v1Named(model.SyscallExitPath(p).String(), &s.ByPath[p]))
		}
	}
	return v
}

func v1Handoffs(h *analyze.Handoffs) []V1Handoff {
	out := []V1Handoff{}
	for c := range h.ByCause {
		if x := &h.ByCause[c]; x.Count > 0 {
			out = append(out, V1Handoff{model.HandoffCause(c).String(), x.Count, x.Open, v1Dist(&x.Gap), v1Dist(&x.InSyscall)})
		}
	}
	return out
}

func v1Netpoll(n *analyze.Netpoll) V1Netpoll {
	v := V1Netpoll{All: v1Dist(&n.All), ByPoller: []V1Poller{}}
	for p := range n.ByPoller {
		if x := &n.ByPoller[p]; x.Count > 0 {
			v.ByPoller = append(v.ByPoller, V1Poller{model.Poller(p).String(), x.Count, x.Direct, x.Open, v1Dist(&x.ToRun)})
		}
	}
	return v
}

func v1STW(s *analyze.STWs) V1STW {
	return V1STW{
		Count: s.Count, Effective: v1Dist(&s.Effective), Traced: v1Dist(&s.Traced), ToStop: v1Dist(&s.ToStop), Censored: v1Tally(s.Censored),
		ByReason: each(s.ByReason(), func(r *analyze.STWRow) V1STWReason {
			return V1STWReason{r.Reason, v1Dist(r.Effective), v1Dist(r.Traced), v1Dist(r.ToStop)}
		}),
	}
}

func v1GC(g *analyze.GC) V1GC {
	return V1GC{
		Share: g.Share(), Dedicated: int64(g.Work[model.WorkGCDedicated]), Fractional: int64(g.Work[model.WorkGCFractional]),
		Idle: int64(g.Work[model.WorkGCIdle]), Assist: int64(g.Work[model.WorkGCAssist]),
		Marks: v1Dist(&g.Marks), CensoredMarks: v1Tally(g.CensoredMarks), Assists: v1Tally(g.Assists),
		Sweeps: v1Tally(g.Sweeps), Stops: v1Tally(g.Stops),
	}
}

func v1Procs(r *analyze.Report) V1Procs {
	x, uses := r.Idle, totalUses(r.Timeline)
	return V1Procs{
		Utilisation: x.Utilisation(), Mean: x.MeanProcs(), Uses: v1Uses(&uses),
		MeanRunnable: x.MeanRunnable(), MaxRunnable: x.MaxRunnable, MaxRunnableAt: int64(x.MaxRunnableAt), Saturated: int64(x.Saturated),
		IdleRunnable: V1Idle{v1Dist(&x.Episodes), int64(x.Wall), int64(x.PerProc), int64(x.PerGoroutine)},
	}
}

func v1Threads(t *analyze.Threads) V1Threads {
	return V1Threads{
		Count: t.Count, Created: t.Created, SeenCreated: t.SeenCreated, Starts: t.Starts, Acquired: t.Acquired,
		Unknown: int64(t.Times[model.ThreadUnknown]), Running: int64(t.Times[model.ThreadRunning]),
		Searching: int64(t.Times[model.ThreadSearching]), Syscall: int64(t.Times[model.ThreadSyscall]),
		SyscallBlocked: int64(t.Times[model.ThreadSyscallBlocked]), NoProc: int64(t.Times[model.ThreadNoProc]),
	}
}

func v1Region(r *analyze.RegionRow) V1Region {
	return V1Region{v1Named(r.Name, r.Whole), v1Tally(r.Censored), v1States(&r.Times)}
}

func v1States(t *[model.NumGoStates]model.Duration) V1States {
	return V1States{
		Undetermined: int64(t[model.GoUndetermined]), Running: int64(t[model.GoRunning]), Runnable: int64(t[model.GoRunnable]),
		Waiting: int64(t[model.GoWaiting]), Syscall: int64(t[model.GoSyscall]), SyscallBlocked: int64(t[model.GoSyscallBlocked]),
	}
}

func v1Group(r *analyze.FuncRow) V1Group {
	return V1Group{
		Function: r.Func, System: r.System, Count: r.Count, Created: r.Created, Ended: r.Ended,
		Lifetime: int64(r.Lifetime), States: v1States(&r.Times),
		Waiting: each(r.Blocks, func(b *analyze.ReasonTotal) V1Reason { return V1Reason{b.Reason, b.Count, int64(b.Total)} }),
	}
}
