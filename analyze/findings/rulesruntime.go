package findings

import (
	"cmp"
	"fmt"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// queuedSyscalls finds that goroutines queued after system calls.
func queuedSyscalls(r *result.Report) (result.Finding, bool) {
	queued := named(r.Syscalls.ByWayOut, model.ExitQueued.String()).Count
	share := float64(queued) / float64(max(r.Syscalls.All.Count, 1))
	wait := named(r.Latency.ByOrigin, model.OriginSyscall.String()).P99
	if share < queuedShare || wait < result.NotableWait {
		return result.Finding{}, false
	}
	return found("syscall-exits-queue", result.Notable, result.Certain, []result.Evidence{{Name: "queued after a system call", Value: float64(queued), Unit: "count"}, {Name: "of system calls", Value: share, Unit: "share"}, {Name: "p99 wait after a system call", Value: float64(wait), Unit: "ns"}},
		"%s of system calls found no idle proc when they came back and queued; goroutines then waited %s at p99.", textui.Percent(share), textui.Duration(wait))
}

// lateNetpoll finds that network events were noticed late, or run late.
func lateNetpoll(r *result.Report) (result.Finding, bool) {
	count, bySysmon := int64(0), int64(0)
	for p := range result.Refs(r.Netpoll.ByPoller) {
		count += p.Count
		if p.Poller == model.PollerSysmon.String() {
			bySysmon = p.Count
		}
	}
	if count == 0 {
		return result.Finding{}, false
	}
	share := float64(bySysmon) / float64(count)
	p99 := r.Netpoll.All.P99
	f := result.Finding{Kind: "netpoll-late", Severity: result.Notable, Grade: result.Inferred, Evidence: []result.Evidence{
		{Name: "network wakeups", Value: float64(count), Unit: "count"}, {Name: "by sysmon", Value: share, Unit: "share"}, {Name: "p99 wakeup to run", Value: float64(p99), Unit: "ns"}}}
	switch {
	case share >= lateShare && bySysmon >= 10:
		f.Text = fmt.Sprintf("%s of network wakeups came from sysmon, which polls only when no proc has for 10ms: these events had probably been ready for a while, which the trace does not show.", textui.Percent(share))
	case p99 >= result.NotableWait && count >= fewWaits: // waiting, by the kind of its wakeup
		f.Severity, f.Grade = result.Info, result.Certain
		f.Text = fmt.Sprintf("Goroutines woken by the network waited %s at p99 until they ran.", textui.Duration(p99))
	default:
		return result.Finding{}, false
	}
	return f, true
}

// retakes finds that sysmon takes procs from system calls all the time.
func retakes(r *result.Report) (result.Finding, bool) {
	h := result.Find(r.Handoffs, func(h *result.Handoff) bool { return h.Cause == model.HandoffSysmon.String() })
	if h == nil || r.Totals.Span <= 0 {
		return result.Finding{}, false
	}
	rate := float64(h.Count) / (float64(r.Totals.Span) / 1e9)
	if rate < result.RetakeRate || h.Count < fewWaits {
		return result.Finding{}, false
	}
	return found("sysmon-retakes", result.Notable, result.Certain, []result.Evidence{{Name: "sysmon retakes", Value: rate, Unit: "per second"}},
		"sysmon took procs from system calls %.0f times per second, after %s in the call at p50: system calls are slow enough to be noticed, and each costs a change of threads.", rate, textui.Duration(h.InSyscall.P50))
}

// unexplainedShare is the share of the decisions of a scheduler that the reconstruction of the
// queues gets wrong at the most. Of recordings of stock runtimes it is up to 30 in a million.
const unexplainedShare = 1e-4

// otherRules finds that the runtime does not decide as the reference scheduler would.
func otherRules(r *result.Report) (result.Finding, bool) {
	judged, unexplained, waited := r.Queues.Judged()
	if !differs(judged, unexplained) {
		return result.Finding{}, false
	}
	share := float64(unexplained) / float64(judged)
	return found("scheduler-differs", result.Notable, result.Inferred, []result.Evidence{{Name: "decisions", Value: float64(judged), Unit: "count"}, {Name: "unexplained", Value: share, Unit: "share"}, {Name: "waited before", Value: float64(waited), Unit: "ns"}},
		"%s of the %s that run queues determine (%s) are unexplained: with the same queues the reference scheduler decides differently. The goroutines that were started so had waited %s in all.", textui.Count(unexplained), textui.Plural(judged, "decision"), textui.Percent(share), textui.Duration(waited))
}

// leastUnexplained is more than one error of the reconstruction makes with what follows from it.
const leastUnexplained = 5

// differs reports whether so many decisions are unexplained that the runtime has other rules.
func differs(judged, unexplained int64) bool {
	return unexplained >= leastUnexplained && float64(unexplained) > unexplainedShare*float64(judged)
}

// collects finds that the garbage collector takes much of the procs' time, whether anybody waits for it or not.
func collects(r *result.Report) (result.Finding, bool) {
	if r.GC.Share < allocatesShare {
		return result.Finding{}, false
	}
	d := &diagnostician{r: r}
	d.collector()
	f := d.list[0].Finding
	f.Severity, f.Text, f.Title = result.Notable, f.Title+". "+f.Text, ""
	f.Evidence = append(f.Evidence, result.Evidence{Name: "of the procs' time", Value: r.GC.Share, Unit: "share"})
	return f, true
}

// assists finds goroutines that must mark for what they allocate. The collector paces itself so
// that its workers do all marking and assists none (runtime/mgcpacer.go); more is a program that
// allocates faster than that.
func assists(r *result.Report) (result.Finding, bool) {
	credit := named(r.Waiting.ByReason, "GC mark assist wait for work").Total
	assist, ran := r.Procs.Uses[result.UseAssist], r.Procs.Uses[result.UseUser]+r.Procs.Uses[result.UseAssist]
	share := result.Ratio(assist, ran)
	if assist+credit < result.NotableWait || result.Ratio(assist+credit, ran) < assistShare {
		return result.Finding{}, false
	}
	f, _ := found("gc-assists", result.Notable, result.Certain, []result.Evidence{{Name: "assists", Value: float64(assist), Unit: "ns"}, {Name: "waits for assist credit", Value: float64(credit), Unit: "ns"}, {Name: "assists of the running time", Value: share, Unit: "share"}},
		"Goroutines of the program spent %s on marking for the collector, %s of the time in which they ran, and waited %s for credit.", textui.Duration(assist), textui.Percent(share), textui.Duration(credit))
	if share >= 4*assistShare {
		f.Severity = result.Serious
	}
	return f, true
}

// lockedThreads finds that goroutines on locked threads are started all the time. Each start by
// another thread takes two changes of threads in the system, some 10 us.
func lockedThreads(r *result.Report) (result.Finding, bool) {
	locked := result.Find(r.Queues.BySource, func(c *result.Count) bool { return c.Name == runqueue.SourceLocked.String() })
	if locked == nil || r.Totals.Span <= 0 {
		return result.Finding{}, false
	}
	n := float64(locked.Count)
	rate, share := n/(float64(r.Totals.Span)/1e9), n/float64(max(r.Queues.Starts, 1))
	if rate < lockedRate || n < fewWaits || share < lockedShare {
		return result.Finding{}, false
	}
	f, _ := found("locked-thread-ping-pong", result.Notable, result.Certain, []result.Evidence{{Name: "starts on locked threads", Value: rate, Unit: "per second"}, {Name: "of all starts", Value: share, Unit: "share"}},
		"Goroutines that are locked to a thread started %.0f times per second, %s of all starts: each takes a proc from one thread to another.", rate, textui.Percent(share))
	f.Where = ofLocked(r)
	return f, true
}

// ofLocked returns where those stop who waited most for their own thread while a proc was idle, and who wakes them there most often.
func ofLocked(r *result.Report) (where []result.Culprit) {
	most, all := model.Duration(0), model.Duration(0)
	for _, f := range r.Causes.ByFunction {
		for _, c := range f.Causes {
			if c.Cause != result.CauseHandoff.String() {
				continue
			}
			if all += c.Total; c.Total > most {
				most, where = c.Total, []result.Culprit{{Role: "stops and starts", Function: f.Function, Callers: []string{}}}
			}
		}
	}
	if where == nil {
		return nil
	}
	where[0].Share = result.Ratio(most, all)
	var by *result.BlameRow
	for b := range result.Refs(r.Blame.Rows) {
		if k := r.Blame.Kind(b.Kind); b.Waiter == where[0].Function && b.Function != "" && k != nil && k.Blocked && (by == nil || b.Turns > by.Turns) {
			by = b
		}
	}
	if by != nil {
		where[0].File, where[0].Line = by.WaiterFile, by.WaiterLine
		c := culprit("wakes it", by, 0)
		c.Depth = 1
		where = append(where, c)
	}
	return where
}

// lateTimers finds timers that fired only when a long burst on their proc ended.
func lateTimers(r *result.Report) (result.Finding, bool) {
	t := &r.Lateness.Timers
	late := int64(0)
	above(t, timeSlice, func(_ model.Duration, n int64) { late += n })
	share := float64(late) / float64(max(t.Count+r.Lateness.UnboundedTimers, 1))
	if late < fewLateTimers || share < lateTimerShare {
		return result.Finding{}, false
	}
	return found("timers-late-behind-busy-proc", result.Notable, result.Inferred, []result.Evidence{{Name: "timers on procs that had not looked for 10 ms", Value: float64(late), Unit: "count"}, {Name: "of all timers", Value: share, Unit: "share"}, {Name: "greatest lateness, at most", Value: float64(t.Max), Unit: "ns"}},
		"%s, %s of all, fired on procs that had not looked at their timers for 10ms, at most %s late: a proc looks at them only between two goroutines.", textui.Plural(late, "timer"), textui.Percent(share), textui.Duration(t.Max))
}

// named returns the distribution of that name, an empty one if there is none.
func named(list []result.Named, name string) result.Named {
	return *cmp.Or(result.Find(list, func(n *result.Named) bool { return n.Name == name }), &result.Named{})
}
