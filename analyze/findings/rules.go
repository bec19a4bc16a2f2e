package findings

import (
	"fmt"
	"strconv"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// starving finds goroutines that still waited when the trace ended, longer than
// any wait that ended.
func starving(r *result.Report) (result.Finding, bool) {
	open := &r.Latency.Censored.AtEnd
	if open.Max < result.SeriousWait || open.Max <= r.Latency.All.Max {
		return result.Finding{}, false
	}
	who := "1 goroutine was waiting to run,"
	if open.Count != 1 {
		who = textui.Plural(open.Count, "goroutine") + " were waiting to run, one of them"
	}
	return result.Finding{
		Kind: "starving", Severity: result.Serious, Grade: result.Certain,
		Text: fmt.Sprintf("When the %s ended, %s for %s already: longer than any wait that ended. Percentiles do not include such waits.",
			subject(r), who, textui.Duration(open.Max)),
		Evidence: []result.Evidence{{Name: "waiting at the end", Value: float64(open.Count), Unit: "count"}, {Name: "longest so far", Value: float64(open.Max), Unit: "ns"}},
	}, true
}

// minPeak is the number of runnable goroutines from which on it is noted who readied them.
const minPeak = 100

// saturated finds that there were not enough procs for the work.
func saturated(r *result.Report) (result.Finding, bool) {
	x := &r.Procs
	share := ratio(x.Saturated, r.Totals.Span)
	if share < saturatedShare {
		return result.Finding{}, false
	}
	f := result.Finding{
		Kind: "procs-saturated", Severity: WaitSeverity(&r.Latency), Grade: result.Certain,
		Text: fmt.Sprintf("For %s of the time no proc was idle while goroutines waited: %s of the procs' time (GOMAXPROCS %s) was in use, %.1f goroutines waited on average, %d at most.",
			textui.Percent(share), textui.Percent(x.Utilisation), maxProcs(r), x.MeanRunnable, x.MaxRunnable),
		Evidence: []result.Evidence{{Name: "saturated", Value: share, Unit: "share"}, {Name: "utilisation", Value: x.Utilisation, Unit: "share"},
			{Name: "mean runnable", Value: x.MeanRunnable, Unit: "goroutines"}, {Name: "procs", Value: x.Mean, Unit: "procs"}},
	}
	if syscall := x.Uses[result.UseSyscall]; syscall > running(r) {
		part := ratio(syscall, running(r)+syscall)
		f.Text += fmt.Sprintf(" System calls took %s of that.", textui.Percent(part))
		f.Evidence = append(f.Evidence, result.Evidence{Name: "system calls in the time in use", Value: part, Unit: "share"})
	} else if who, part := ranMost(r); part > 0 {
		f.Text += fmt.Sprintf(" %s ran the most, %s of all running time.", who, textui.Percent(part))
		f.Evidence = append(f.Evidence, result.Evidence{Name: "running time of " + who, Value: part, Unit: "share"})
		f.Text += longIn(r, who)
	}
	return f, true
}

// running is the time in which procs ran goroutines.
func running(r *result.Report) model.Duration {
	u := &r.Procs.Uses
	return u[result.UseUser] + u[result.UseGC] + u[result.UseAssist] + u[result.UseRuntime]
}

// longIn names the function in which long bursts stopped, if those took a good
// part of all running time, and it is not named already.
func longIn(r *result.Report, named string) string {
	for _, p := range r.Bursts.Places {
		if share := ratio(p.Total, running(r)); share >= 0.2 && plain(p.Function) != named && result.OfProgram(p.Function) {
			return fmt.Sprintf(" Bursts over 10ms that stopped in %s took %s.", plain(textui.ShortFunc(p.Function)), textui.Percent(share))
		}
	}
	return ""
}

// ranMost names what took most of the running time: a function, or garbage
// collection, to which mark assists of the program's goroutines belong.
func ranMost(r *result.Report) (who string, share float64) {
	if rows := r.Bursts.ByFunction; len(rows) > 0 {
		who, share = plain(rows[0].Name), ratio(rows[0].Total, running(r))
	}
	g := &r.GC
	work := g.Dedicated + g.Fractional + g.Idle + g.Assist
	all := ratio(work, running(r))
	if part := ratio(g.Assist, running(r)); all <= share-part {
		return who, share
	}
	return fmt.Sprintf("Garbage collection (%s mark assists)", textui.Percent(ratio(g.Assist, work))), all
}

// longBursts finds goroutines that ran past their time slice.
func longBursts(r *result.Report) (result.Finding, bool) {
	b := &r.Bursts
	longest := b.Longest
	if len(longest) == 0 {
		return result.Finding{}, false
	}
	than, veryLong := "10ms", ""
	switch b.VeryLong.Count {
	case b.Long.Count:
		than = "20ms"
	case 0:
	default:
		veryLong = fmt.Sprintf(", %s of them longer than 20ms", textui.Count(b.VeryLong.Count))
	}
	f := result.Finding{
		Kind: "long-bursts", Severity: result.Info, Grade: result.Certain,
		Text: fmt.Sprintf("%s ran longer than %s without giving way%s; the longest was %s (%s, proc %d, at %s%s).",
			textui.Plural(b.Long.Count, "burst"), than, veryLong, textui.Duration(longest[0].Duration), plain(longest[0].Function), longest[0].Proc, textui.Duration(longest[0].Start), in(r, longest[0].Trace)) + stoppedIn(b),
		Evidence: []result.Evidence{{Name: "bursts over 10ms", Value: float64(b.Long.Count), Unit: "count"}, {Name: "bursts over 20ms", Value: float64(b.VeryLong.Count), Unit: "count"},
			{Name: "longest burst", Value: float64(longest[0].Duration), Unit: "ns"}},
	}
	if b.VeryLong.Count > 0 && r.Latency.All.Max >= result.SeriousWait {
		f.Severity = result.Notable
	}
	return f, true
}

// stoppedIn names the function of the program in which most long bursts stopped.
// The standard library is where a server writes its answer, after all the work.
func stoppedIn(b *result.Bursts) string {
	for _, p := range b.Places {
		switch share := float64(p.Count) / float64(b.Long.Count); {
		case share < 0.5 || !result.OfProgram(p.Function):
		case b.Long.Count == 1:
			return fmt.Sprintf(" It stopped in %s.", plain(p.Function))
		case share == 1:
			return fmt.Sprintf(" All of them stopped in %s.", plain(p.Function))
		default:
			return fmt.Sprintf(" %s of them stopped in %s.", textui.Percent(share), plain(p.Function))
		}
	}
	return ""
}

// idleProcs finds that goroutines waited although procs were idle.
func idleProcs(r *result.Report) (result.Finding, bool) {
	x := &r.Procs.IdleRunnable
	share := ratio(x.Episodes.Total, r.Totals.Span)
	long := x.Episodes.P99 >= result.NotableWait && share >= longEpisodeShare
	if !long && (share < idleShare || x.Episodes.Count < 10) {
		return result.Finding{}, false
	}
	lengths := fmt.Sprintf("%s at p50 and %s at p99", textui.Duration(x.Episodes.P50), textui.Duration(x.Episodes.P99))
	if x.Episodes.Count < fewValues {
		lengths = between(&x.Episodes)
	}
	f := result.Finding{
		Kind: "idle-while-runnable", Severity: result.Info, Grade: result.Inferred,
		Text: fmt.Sprintf("For %s of the time a proc was idle while a goroutine was runnable, in %s of %s.",
			textui.Percent(share), textui.Plural(x.Episodes.Count, "episode"), lengths),
		Evidence: []result.Evidence{{Name: "idle while runnable", Value: share, Unit: "share"}, {Name: "p99 episode", Value: float64(x.Episodes.P99), Unit: "ns"},
			{Name: "idle while another proc was overloaded", Value: ratio(x.Wall, r.Totals.Span), Unit: "share"}},
	}
	switch {
	case long:
		f.Severity = result.Notable
		f.Text += " The longest are longer than waking up takes: a locked thread, or threads that the operating system did not run, would explain them."
	case x.Episodes.P99 <= result.UsualWakeup:
		f.Text += " Each is about as long as it takes to wake up an idle proc."
	case x.Episodes.P50 > result.UsualWakeup:
		f.Text += " Most are longer than it takes to wake up an idle proc."
	default:
		f.Text += " Most are about as long as it takes to wake up an idle proc, the longest are not."
	}
	return f, true
}

// mostWaiting names the function whose goroutines waited the longest in all.
func mostWaiting(r *result.Report) (result.Finding, bool) {
	rows := r.Latency.ByFunction
	if len(rows) < 2 || WaitSeverity(&r.Latency) == result.Info {
		return result.Finding{}, false
	}
	share := ratio(rows[0].Total, r.Latency.All.Total)
	if share < 0.5 {
		return result.Finding{}, false
	}
	return result.Finding{
		Kind: "most-waiting", Severity: result.Info, Grade: result.Certain,
		Text: fmt.Sprintf("%s of all waiting is that of %s: %s, p99 %s.", textui.Percent(share), plain(rows[0].Name),
			textui.Plural(rows[0].Count, "wait"), textui.Duration(rows[0].P99)),
		Evidence: []result.Evidence{{Name: "share of all waiting", Value: share, Unit: "share"}, {Name: "waits", Value: float64(rows[0].Count), Unit: "count"}},
	}, true
}

// victim names the function whose goroutines wait long for little work, as
// those do that serve something urgent next to goroutines that compute. Bursts
// that are short because they end in system calls are not little work.
func victim(r *result.Report) (result.Finding, bool) {
	bursts, calls := map[string]*result.Dist{}, map[string]int64{}
	for i := range r.Bursts.ByFunction {
		bursts[r.Bursts.ByFunction[i].Name] = &r.Bursts.ByFunction[i].Dist
	}
	for i := range r.Syscalls.ByFunction {
		calls[r.Syscalls.ByFunction[i].Name] = r.Syscalls.ByFunction[i].Count
	}
	var worst *result.Named
	var wait, run model.Duration
	var most float64
	for i := range r.Latency.ByFunction {
		row := &r.Latency.ByFunction[i]
		b := bursts[row.Name]
		if b == nil || row.Count < 10 || 2*calls[row.Name] > b.Count {
			continue
		}
		p50 := row.P50
		if factor := float64(p50) / float64(b.P50+1); p50 >= result.NotableWait && factor > most {
			worst, wait, run, most = row, p50, b.P50, factor
		}
	}
	if most < victimFactor {
		return result.Finding{}, false
	}
	behind := "it needs little but queues behind others"
	if m := during(r); len(m.funcs) > 0 && m.funcs[0].Function == worst.Name {
		behind = "each needs little, but they queue behind one another"
	}
	return result.Finding{
		Kind: "waits-long-for-little", Severity: result.Notable, Grade: result.Certain,
		Text: fmt.Sprintf("%s waits %s to run for %s (p50 of %s and of its bursts): %s.",
			plain(worst.Name), textui.Duration(wait), textui.Duration(run), textui.Plural(worst.Count, "wait"), behind),
		Evidence: []result.Evidence{{Name: "p50 wait of " + plain(worst.Name), Value: float64(wait), Unit: "ns"}, {Name: "p50 burst", Value: float64(run), Unit: "ns"}},
	}, true
}

// between says from where to where a few values go.
func between(d *result.Dist) string {
	if d.Min == d.Max {
		return textui.Duration(d.Max)
	}
	return textui.Duration(d.Min) + " to " + textui.Duration(d.Max)
}

// number returns a mean without decimals if it is whole.
func number(x float64) string { return strconv.FormatFloat(float64(int(x*10+0.5))/10, 'f', -1, 64) }

// maxName is how much of a name a sentence takes.
const maxName = 80

// plain returns a name from a trace, which may hold anything, as text that is
// safe to print on a line.
func plain(name string) string { return textui.Shorten(textui.Clean(name), maxName) }
