package analyze

import (
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/model"
)

// Result returns what the analyses found as data. Traces and what is said of the whole,
// findings and notes, are left to the caller. Distributions belong to the result from now
// on: the report is not to be merged afterwards.
func (r *Report) Result() *result.Report {
	return &result.Report{
		Schema:      result.Schema,
		Skipped:     []result.Skipped{},
		Totals:      TotalsResult(r.Totals),
		Series:      resultSeries(r.Timeline),
		Heat:        resultHeat(r.Heat),
		Latency:     resultLatency(r.Latency),
		WorstWaits:  result.Each(r.Worst.Waits(), func(w **Wait) result.Wait { return resultWait(*w) }),
		Bursts:      resultBursts(r.Bursts),
		Causes:      resultCauses(r.Causes, &r.Latency.All),
		Queues:      resultQueues(r.Queues),
		Pathologies: result.Each(r.Pathologies.Found(), resultPathology),
		Lateness:    resultLateness(r.Pathologies.Late),
		Waiting:     result.Waiting{All: result.NewDist(&r.Waits.All), ByReason: result.Each(r.Waits.ByReason(), resultRow), Censored: r.Waits.Censored},
		Syscalls:    resultSyscalls(r.Syscalls),
		Handoffs:    resultHandoffs(r.Handoffs),
		Netpoll:     resultNetpoll(r.Netpoll),
		STW:         resultSTW(r.STWs),
		GC:          resultGC(r.GC),
		Procs:       resultProcs(r),
		Threads:     resultThreads(r.Threads),
		Tasks: result.Each(r.Tasks.ByName(), func(t *TaskRow) result.Task {
			return result.Task{Named: resultNamed(t.Name, t.Whole), Censored: t.Censored, Regions: t.Inside.Count, States: t.Inside.Times}
		}),
		Regions:    result.Each(r.Regions.ByName(), resultRegion),
		Goroutines: result.Each(r.Goroutines.ByFunc(), resultGroup),

		LongestTasks:   result.Each(r.Tasks.Longest(), resultInstance),
		LongestRegions: result.Each(r.Regions.Longest(), resultInstance),
	}
}

// TotalsResult returns what was counted as data.
func TotalsResult(t *Totals) result.Totals {
	return result.Totals{
		Span: t.Span, Events: t.Events, Goroutines: t.Goroutines, SystemGoroutines: t.SystemGoroutines,
		Threads: t.Threads, Procs: t.Procs,
		GOMAXPROCS: result.Each(t.MaxProcs, func(s *ProcsStep) result.Step { return result.Step{Trace: s.Trace, At: s.Time, Procs: s.Procs} }),
	}
}

func resultNamed(name string, d *dist.Dist) result.Named {
	return result.Named{Name: name, Dist: result.NewDist(d)}
}

func resultRow(r *DistRow) result.Named { return resultNamed(r.Name, r.Dist) }

func resultLatency(l *Latency) result.Latency {
	v := result.Latency{
		All: result.NewDist(&l.All), ByOrigin: []result.Named{}, ByFunction: result.Each(l.ByFunc(), resultRow),
		ByGoroutine: result.Each(l.ByGoroutine(), func(g *GoroutineWait) result.Goroutine {
			return result.Goroutine{Trace: g.Trace, Goroutine: g.G, Function: g.Func, Tally: g.Tally}
		}),
		Histogram: resultHistogram(&l.All), System: result.NewDist(&l.System), Censored: l.Censored, Pseudo: l.Pseudo,
	}
	for o := range l.ByOrigin {
		if l.ByOrigin[o].Count() > 0 {
			v.ByOrigin = append(v.ByOrigin, resultNamed(model.Origin(o).String(), &l.ByOrigin[o]))
		}
	}
	v.Spectra = []result.Spectrum{result.NewSpectrum("all", &v.All)}
	for i := range v.ByOrigin {
		v.Spectra = append(v.Spectra, result.NewSpectrum(v.ByOrigin[i].Name, &v.ByOrigin[i].Dist))
	}
	return v
}

// resultHistogram counts the samples of a distribution in the rows of the heat map.
// Empty buckets are left out.
func resultHistogram(d *dist.Dist) []result.Bucket {
	out := []result.Bucket{}
	row := 0
	d.Each(func(v model.Duration, n int64) {
		for row+1 < HeatRows {
			if _, hi := HeatBounds(row); v < hi {
				break
			}
			row++
		}
		lo, hi := HeatBounds(row)
		if k := len(out) - 1; k >= 0 && out[k].From == lo {
			out[k].Count += n
			return
		}
		out = append(out, result.Bucket{From: lo, To: hi, Count: n})
	})
	return out
}

func resultWait(w *Wait) result.Wait {
	return result.Wait{
		Trace: w.Trace, Goroutine: w.G, Function: w.Func, Origin: w.Origin.String(),
		Start: w.Start, End: w.End, Duration: w.Duration(),
		Stack: result.Each(w.Stack, resultFrame), Waker: w.Waker, WakerFunction: w.WakerFunc, WakerStack: result.Each(w.WakerStack, resultFrame),
		ReadiedOn: w.ReadiedOn, RanOn: w.RanOn, Uses: w.Uses, Approximate: w.Approximate,
		Meanwhile: result.Each(w.Antagonists, func(a *Antagonist) result.Activity {
			return result.Activity{Goroutine: a.G, Function: a.Func, Use: a.Use.String(), Total: a.Total}
		}),
		Causes:       result.Each(w.Cells, func(c *Cell) result.CauseTotal { return result.CauseTotal{Cause: c.Cause.String(), Total: c.Total} }),
		Blockers:     result.Each(w.Blockers, resultBlocker),
		Unattributed: w.Unattributed, OtherFunctions: w.UnattributedFuncs,
		Functions: result.Each(w.AntagonistFuncs, func(a *AntagonistFunc) result.FuncActivity {
			return result.FuncActivity{Function: a.Func, Use: a.Use.String(), Total: a.Total}
		}),
	}
}

func resultFrame(f *model.Frame) result.Frame {
	return result.Frame{Function: f.Func, File: f.File, Line: f.Line}
}

func resultBursts(b *Bursts) result.Bursts {
	return result.Bursts{
		All: result.NewDist(&b.All), System: result.NewDist(&b.System), ByFunction: result.Each(b.ByFunc(), resultRow),
		Long: b.Long, VeryLong: b.VeryLong, Censored: b.Censored,
		Places: result.Each(b.Places(), func(p *Place) result.Place { return result.Place{Function: p.Func, Tally: p.Tally} }),
		Longest: result.Each(b.Longest(), func(x *Burst) result.Burst {
			return result.Burst{Trace: x.Trace, Goroutine: x.G, Function: x.Func, Place: x.Place, Proc: x.P, Start: x.Start, Duration: x.Duration(), Censored: x.Censored}
		}),
	}
}

func resultSyscalls(s *Syscalls) result.Syscalls {
	v := result.Syscalls{All: result.NewDist(&s.All), WithProc: result.NewDist(&s.WithProc), Blocked: result.NewDist(&s.Blocked),
		ByWayOut: []result.Named{}, ByFunction: result.Each(s.ByFunc(), resultRow)}
	for p := range s.ByPath {
		if s.ByPath[p].Count() > 0 {
			v.ByWayOut = append(v.ByWayOut, resultNamed(model.SyscallExitPath(p).String(), &s.ByPath[p]))
		}
	}
	return v
}

func resultHandoffs(h *Handoffs) []result.Handoff {
	out := []result.Handoff{}
	for c := range h.ByCause {
		if x := &h.ByCause[c]; x.Count > 0 {
			out = append(out, result.Handoff{Cause: model.HandoffCause(c).String(), Count: x.Count, Open: x.Open, Gap: result.NewDist(&x.Gap), InSyscall: result.NewDist(&x.InSyscall)})
		}
	}
	return out
}

func resultNetpoll(n *Netpoll) result.Netpoll {
	v := result.Netpoll{All: result.NewDist(&n.All), ByPoller: []result.Poller{}}
	for p := range n.ByPoller {
		if x := &n.ByPoller[p]; x.Count > 0 {
			v.ByPoller = append(v.ByPoller, result.Poller{Poller: model.Poller(p).String(), Count: x.Count, Direct: x.Direct, Open: x.Open, ToRun: result.NewDist(&x.ToRun)})
		}
	}
	return v
}

func resultSTW(s *STWs) result.STW {
	return result.STW{
		Count: s.Count, Effective: result.NewDist(&s.Effective), Traced: result.NewDist(&s.Traced), ToStop: result.NewDist(&s.ToStop), Censored: s.Censored,
		ByReason: result.Each(s.ByReason(), func(r *STWRow) result.STWReason {
			return result.STWReason{Reason: r.Reason, Effective: result.NewDist(r.Effective), Traced: result.NewDist(r.Traced), ToStop: result.NewDist(r.ToStop)}
		}),
	}
}

func resultGC(g *GC) result.GC {
	return result.GC{
		Share: g.Share(), Dedicated: g.Work[model.WorkGCDedicated], Fractional: g.Work[model.WorkGCFractional],
		Idle: g.Work[model.WorkGCIdle], Assist: g.Work[model.WorkGCAssist],
		Marks: result.NewDist(&g.Marks), CensoredMarks: g.CensoredMarks, Assists: g.Assists,
		Sweeps: g.Sweeps, Stops: g.Stops,
	}
}

func resultProcs(r *Report) result.Procs {
	x, uses := r.Idle, r.Timeline.Uses(0, len(r.Timeline.Bins()))
	return result.Procs{
		Utilisation: x.Utilisation(), Mean: x.MeanProcs(), Uses: uses,
		MeanRunnable: x.MeanRunnable(), MaxRunnable: x.MaxRunnable, MaxRunnableAt: x.MaxRunnableAt, Saturated: x.Saturated,
		IdleRunnable: result.Idle{Episodes: result.NewDist(&x.Episodes), Wall: x.Wall, PerProc: x.PerProc, PerGoroutine: x.PerGoroutine},
	}
}

func resultThreads(t *Threads) result.Threads {
	return result.Threads{
		Count: t.Count, Created: t.Created, SeenCreated: t.SeenCreated, Starts: t.Starts, Acquired: t.Acquired,
		Unknown: t.Times[model.ThreadUnknown], Running: t.Times[model.ThreadRunning],
		Searching: t.Times[model.ThreadSearching], Syscall: t.Times[model.ThreadSyscall],
		SyscallBlocked: t.Times[model.ThreadSyscallBlocked], NoProc: t.Times[model.ThreadNoProc],
	}
}

func resultRegion(r *RegionRow) result.Region {
	return result.Region{Named: resultNamed(r.Name, r.Whole), Censored: r.Censored, States: r.Times}
}

func resultInstance(x *Instance) result.Instance {
	return result.Instance{Trace: x.Trace, Name: x.Name, Task: x.Task, Goroutine: x.G, Start: x.Start, Duration: x.Duration(), Censored: x.Censored}
}

func resultGroup(r *FuncRow) result.Group {
	return result.Group{
		Function: r.Func, System: r.System, Count: r.Count, Created: r.Created, Ended: r.Ended,
		Lifetime: r.Lifetime, States: r.Times,
		Waiting: result.Each(r.Blocks, func(b *ReasonTotal) result.Reason {
			return result.Reason{Reason: b.Reason, Count: b.Count, Total: b.Total}
		}),
	}
}

// EventCounts returns how many events there are of each kind, in a fixed order.
func (t *Totals) EventCounts() []result.EventCount {
	out := []result.EventCount{}
	for k, n := range t.EventsByKind {
		if n > 0 {
			out = append(out, result.EventCount{Kind: model.EventKind(k).String(), Count: n})
		}
	}
	return out
}
