package findings

import (
	"fmt"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// queuedSyscalls finds that goroutines queued after system calls.
func queuedSyscalls(r *result.Report) (result.Finding, bool) {
	queued := named(r.Syscalls.ByWayOut, model.ExitQueued.String()).Count
	share := float64(queued) / float64(max(r.Syscalls.All.Count, 1))
	wait := named(r.Latency.ByOrigin, model.OriginSyscall.String()).P99
	if share < queuedShare || wait < result.NotableWait {
		return result.Finding{}, false
	}
	return result.Finding{
		Kind: "syscall-exits-queue", Severity: result.Notable, Grade: result.Certain,
		Text: fmt.Sprintf("%s of system calls found no idle proc when they came back and queued; goroutines then waited %s at p99.",
			textui.Percent(share), textui.Duration(wait)),
		Evidence: []result.Evidence{{Name: "queued after a system call", Value: float64(queued), Unit: "count"}, {Name: "of system calls", Value: share, Unit: "share"},
			{Name: "p99 wait after a system call", Value: float64(wait), Unit: "ns"}},
	}, true
}

// lateNetpoll finds that network events were noticed late, or run late.
func lateNetpoll(r *result.Report) (result.Finding, bool) {
	count, bySysmon := int64(0), int64(0)
	for i := range r.Netpoll.ByPoller {
		p := &r.Netpoll.ByPoller[i]
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
	f := result.Finding{Kind: "netpoll-late", Severity: result.Notable, Evidence: []result.Evidence{
		{Name: "network wakeups", Value: float64(count), Unit: "count"}, {Name: "by sysmon", Value: share, Unit: "share"}, {Name: "p99 wakeup to run", Value: float64(p99), Unit: "ns"}}}
	switch {
	case share >= lateShare && bySysmon >= 10:
		f.Grade = result.Inferred
		f.Text = fmt.Sprintf("%s of network wakeups came from sysmon, which polls only when no proc has for 10ms: these events had probably been ready for a while, which the trace does not show.", textui.Percent(share))
	case p99 >= result.NotableWait && count >= fewWaits:
		f.Text = fmt.Sprintf("Goroutines woken by the network waited %s at p99 until they ran.", textui.Duration(p99))
	default:
		return result.Finding{}, false
	}
	return f, true
}

// retakes finds that sysmon takes procs from system calls all the time.
func retakes(r *result.Report) (result.Finding, bool) {
	at := slices.IndexFunc(r.Handoffs, func(h result.Handoff) bool { return h.Cause == model.HandoffSysmon.String() })
	if at < 0 || r.Totals.Span <= 0 {
		return result.Finding{}, false
	}
	h := &r.Handoffs[at]
	rate := float64(h.Count) / (float64(r.Totals.Span) / 1e9)
	if rate < result.RetakeRate || h.Count < fewWaits {
		return result.Finding{}, false
	}
	return result.Finding{
		Kind: "sysmon-retakes", Severity: result.Info, Grade: result.Certain,
		Text: fmt.Sprintf("sysmon took procs from system calls %.0f times per second, after %s in the call at p50: system calls are slow enough to be noticed, and each costs a change of threads.",
			rate, textui.Duration(h.InSyscall.P50)),
		Evidence: []result.Evidence{{Name: "sysmon retakes", Value: rate, Unit: "per second"}},
	}, true
}

// named returns the distribution of that name, an empty one if there is none.
func named(list []result.Named, name string) result.Named {
	if i := slices.IndexFunc(list, func(n result.Named) bool { return n.Name == name }); i >= 0 {
		return list[i]
	}
	return result.Named{}
}
