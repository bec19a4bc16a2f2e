package analyze

import (
	"fmt"
	"strconv"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// starving finds goroutines that still waited when the trace ended, longer than
// any wait that ended.
func starving(r *Report) (Finding, bool) {
	open := &r.Latency.Censored.AtEnd
	if open.Max < seriousWait || open.Max <= r.Latency.All.Max() {
		return Finding{}, false
	}
	who := "1 goroutine was waiting to run,"
	if open.Count != 1 {
		who = textui.Plural(open.Count, "goroutine") + " were waiting to run, one of them"
	}
	return Finding{
		Kind: "starving", Severity: result.Serious, Grade: result.Certain,
		Text: fmt.Sprintf("When the %s ended, %s for %s already: longer than any wait that ended. Percentiles do not include such waits.",
			r.subject(), who, textui.Duration(open.Max)),
		Evidence: []Evidence{{Name: "waiting at the end", Value: float64(open.Count), Unit: "count"}, {Name: "longest so far", Value: float64(open.Max), Unit: "ns"}},
	}, true
}

// herd finds that very many goroutines were runnable at once.
func herd(r *Report) (Finding, bool) {
	p := r.Peak
	if p.Runnable < minPeak || float64(p.Runnable) < herdFactor*r.Idle.MeanProcs() || waitSeverity(r) == result.Info {
		return Finding{}, false
	}
	f := Finding{
		Kind: "herd", Severity: result.Notable, Grade: result.Certain,
		Text:     fmt.Sprintf("%s goroutines were runnable at once at %s%s", textui.Count(p.Runnable), textui.Duration(p.At), r.in(p.Trace)),
		Evidence: []Evidence{{Name: "most runnable", Value: float64(p.Runnable), Unit: "goroutines"}},
	}
	if len(p.Wakers) > 0 && 2*p.Wakers[0].Count > p.Runnable {
		w := p.Wakers[0]
		f.Text += fmt.Sprintf(", %s of them readied by goroutine %d %s", textui.Count(w.Count), w.G, plain(w.Func))
		f.Evidence = append(f.Evidence, Evidence{Name: "readied by one goroutine", Value: float64(w.Count), Unit: "goroutines"})
	}
	f.Text += fmt.Sprintf(": the last of them waits until %s procs have run the others.", r.maxProcs())
	return f, true
}

// saturated finds that there were not enough procs for the work.
func saturated(r *Report) (Finding, bool) {
	x := r.Idle
	share := ratio(x.Saturated, x.Span)
	if share < saturatedShare {
		return Finding{}, false
	}
	f := Finding{
		Kind: "procs-saturated", Severity: waitSeverity(r), Grade: result.Certain,
		Text: fmt.Sprintf("For %s of the time no proc was idle while goroutines waited: %s of the procs' time (GOMAXPROCS %s) was in use, %.1f goroutines waited on average, %d at most.",
			textui.Percent(share), textui.Percent(x.Utilisation()), r.maxProcs(), x.MeanRunnable(), x.MaxRunnable),
		Evidence: []Evidence{{Name: "saturated", Value: share, Unit: "share"}, {Name: "utilisation", Value: x.Utilisation(), Unit: "share"},
			{Name: "mean runnable", Value: x.MeanRunnable(), Unit: "goroutines"}, {Name: "procs", Value: x.MeanProcs(), Unit: "procs"}},
	}
	if x.Syscall > x.Running {
		part := ratio(x.Syscall, x.Running+x.Syscall)
		f.Text += fmt.Sprintf(" System calls took %s of that.", textui.Percent(part))
		f.Evidence = append(f.Evidence, Evidence{Name: "system calls in the time in use", Value: part, Unit: "share"})
	} else if who, part := ranMost(r); part > 0 {
		f.Text += fmt.Sprintf(" %s ran the most, %s of all running time.", who, textui.Percent(part))
		f.Evidence = append(f.Evidence, Evidence{Name: "running time of " + who, Value: part, Unit: "share"})
		f.Text += longIn(r, who)
	}
	return f, true
}

// longIn names the function in which long bursts stopped, if those took a good
// part of all running time, and it is not named already.
func longIn(r *Report, named string) string {
	for _, p := range r.Bursts.Places() {
		if share := ratio(p.Total, r.Idle.Running); share >= 0.2 && plain(p.Func) != named && owner(p.Func) == ofProgram {
			return fmt.Sprintf(" Bursts over 10ms that stopped in %s took %s.", plain(textui.ShortFunc(p.Func)), textui.Percent(share))
		}
	}
	return ""
}

// ranMost names what took most of the running time: a function, or garbage
// collection, to which mark assists of the program's goroutines belong.
func ranMost(r *Report) (who string, share float64) {
	rows := r.Bursts.ByFunc()
	if len(rows) > 0 {
		who, share = plain(rows[0].Name), ratio(rows[0].Dist.Total(), r.Idle.Running)
	}
	assists := r.GC.Work[model.WorkGCAssist]
	all := ratio(r.GC.Total(), r.Idle.Running)
	if part := ratio(assists, r.Idle.Running); all <= share-part {
		return who, share
	}
	return fmt.Sprintf("Garbage collection (%s mark assists)", textui.Percent(ratio(assists, r.GC.Total()))), all
}

// blocked finds that goroutines of the program waited for one another rather
// than to run.
func blocked(r *Report) (Finding, bool) {
	var life model.Duration
	for _, row := range r.Goroutines.ByFunc() {
		if !row.System {
			life += row.Lifetime
		}
	}
	for _, row := range r.Waits.ByReason() {
		total, n := row.Dist.Total(), row.Dist.Count()
		share := ratio(total, life)
		if row.Name != "sync" && row.Name != "chan send" {
			continue // idle goroutines wait for the rest, to receive
		}
		if share < blockedShare || n < fewWaits || total < blockedFactor*r.Latency.All.Total() {
			return Finding{}, false
		}
		where := "sync: look at locks, not at the scheduler"
		if row.Name != "sync" {
			where = row.Name + ": look at who is slow to receive, not at the scheduler"
		}
		return Finding{
			Kind: "blocked", Severity: result.Info, Grade: result.Certain,
			Text: fmt.Sprintf("The program's goroutines were blocked for %s of their time (%s, %s) in %s.",
				textui.Percent(share), textui.Duration(total), textui.Plural(n, "wait"), where),
			Evidence: []Evidence{{Name: "blocked in " + row.Name, Value: share, Unit: "share"}, {Name: "in all", Value: float64(total), Unit: "ns"}, {Name: "waits", Value: float64(n), Unit: "count"}},
		}, true
	}
	return Finding{}, false
}

// longBursts finds goroutines that ran past their time slice.
func longBursts(r *Report) (Finding, bool) {
	b := r.Bursts
	longest := b.Longest()
	if len(longest) == 0 {
		return Finding{}, false
	}
	veryLong := ""
	if b.VeryLong.Count > 0 {
		veryLong = fmt.Sprintf(", %s of them longer than 20ms", textui.Count(b.VeryLong.Count))
	}
	f := Finding{
		Kind: "long-bursts", Severity: result.Info, Grade: result.Certain,
		Text: fmt.Sprintf("%s ran longer than 10ms without giving way%s; the longest was %s (%s, proc %d, at %s%s).",
			textui.Plural(b.Long.Count, "burst"), veryLong, textui.Duration(longest[0].Duration()), plain(longest[0].Func), longest[0].P, textui.Duration(longest[0].Start), r.in(longest[0].Trace)) + stoppedIn(b),
		Evidence: []Evidence{{Name: "bursts over 10ms", Value: float64(b.Long.Count), Unit: "count"}, {Name: "bursts over 20ms", Value: float64(b.VeryLong.Count), Unit: "count"},
			{Name: "longest burst", Value: float64(longest[0].Duration()), Unit: "ns"}},
	}
	if b.VeryLong.Count > 0 && r.Latency.All.Max() >= seriousWait {
		f.Severity = result.Notable
	}
	return f, true
}

// stoppedIn names the function of the program in which most long bursts stopped.
// The standard library is where a server writes its answer, after all the work.
func stoppedIn(b *Bursts) string {
	for _, p := range b.Places() {
		if share := float64(p.Count) / float64(b.Long.Count); share >= 0.5 && owner(p.Func) == ofProgram {
			return fmt.Sprintf(" %s of them stopped in %s.", textui.Percent(share), plain(p.Func))
		}
	}
	return ""
}

// idleProcs finds that goroutines waited although procs were idle.
func idleProcs(r *Report) (Finding, bool) {
	x := r.Idle
	share := ratio(x.Episodes.Total(), x.Span)
	q := x.Episodes.Quantiles(0.5, 0.99)
	long := q[1] >= notableWait && share >= longEpisodeShare
	if !long && (share < idleShare || x.Episodes.Count() < 10) {
		return Finding{}, false
	}
	lengths := fmt.Sprintf("%s at p50 and %s at p99", textui.Duration(q[0]), textui.Duration(q[1]))
	if x.Episodes.Count() < fewValues {
		lengths = between(&x.Episodes)
	}
	f := Finding{
		Kind: "idle-while-runnable", Severity: result.Info, Grade: result.Inferred,
		Text: fmt.Sprintf("For %s of the time a proc was idle while a goroutine was runnable, in %s of %s.",
			textui.Percent(share), textui.Plural(x.Episodes.Count(), "episode"), lengths),
		Evidence: []Evidence{{Name: "idle while runnable", Value: share, Unit: "share"}, {Name: "p99 episode", Value: float64(q[1]), Unit: "ns"},
			{Name: "idle while another proc was overloaded", Value: ratio(x.Wall, x.Span), Unit: "share"}},
	}
	switch {
	case long:
		f.Severity = result.Notable
		f.Text += " The longest are longer than waking up takes: a locked thread, or threads that the operating system did not run, would explain them."
	case q[1] <= usualWakeup:
		f.Text += " Each is about as long as it takes to wake up an idle proc."
	case q[0] > usualWakeup:
		f.Text += " Most are longer than it takes to wake up an idle proc."
	default:
		f.Text += " Most are about as long as it takes to wake up an idle proc, the longest are not."
	}
	return f, true
}

// mostWaiting names the function whose goroutines waited the longest in all.
func mostWaiting(r *Report) (Finding, bool) {
	rows := r.Latency.ByFunc()
	if len(rows) < 2 || waitSeverity(r) == result.Info {
		return Finding{}, false
	}
	share := ratio(rows[0].Dist.Total(), r.Latency.All.Total())
	if share < 0.5 {
		return Finding{}, false
	}
	return Finding{
		Kind: "most-waiting", Severity: result.Info, Grade: result.Certain,
		Text: fmt.Sprintf("%s of all waiting is that of %s: %s, p99 %s.", textui.Percent(share), plain(rows[0].Name),
			textui.Plural(rows[0].Dist.Count(), "wait"), textui.Duration(rows[0].Dist.Quantile(0.99))),
		Evidence: []Evidence{{Name: "share of all waiting", Value: share, Unit: "share"}, {Name: "waits", Value: float64(rows[0].Dist.Count()), Unit: "count"}},
	}, true
}

// victim names the function whose goroutines wait long for little work, as
// those do that serve something urgent beside goroutines that compute. Bursts
// that are short because they end in system calls are not little work.
func victim(r *Report) (Finding, bool) {
	bursts, calls := map[string]*Dist{}, map[string]int64{}
	for _, row := range r.Bursts.ByFunc() {
		bursts[row.Name] = row.Dist
	}
	for _, row := range r.Syscalls.ByFunc() {
		calls[row.Name] = row.Dist.Count()
	}
	var worst DistRow
	var wait, run model.Duration
	var most float64
	for _, row := range r.Latency.ByFunc() {
		b := bursts[row.Name]
		if b == nil || row.Dist.Count() < 10 || 2*calls[row.Name] > b.Count() {
			continue
		}
		p50 := row.Dist.Quantile(0.5)
		if factor := float64(p50) / float64(b.Quantile(0.5)+1); p50 >= notableWait && factor > most {
			worst, wait, run, most = row, p50, b.Quantile(0.5), factor
		}
	}
	if most < victimFactor {
		return Finding{}, false
	}
	behind := "it needs little but queues behind others"
	if m := during(r); len(m.funcs) > 0 && m.funcs[0].Func == worst.Name {
		behind = "each needs little, but they queue behind one another"
	}
	return Finding{
		Kind: "waits-long-for-little", Severity: result.Notable, Grade: result.Certain,
		Text: fmt.Sprintf("%s waits %s to run for %s (p50 of %s and of its bursts): %s.",
			plain(worst.Name), textui.Duration(wait), textui.Duration(run), textui.Plural(worst.Dist.Count(), "wait"), behind),
		Evidence: []Evidence{{Name: "p50 wait of " + plain(worst.Name), Value: float64(wait), Unit: "ns"}, {Name: "p50 burst", Value: float64(run), Unit: "ns"}},
	}, true
}

// between says from where to where a few values go.
func between(d *Dist) string {
	if d.Min() == d.Max() {
		return textui.Duration(d.Max())
	}
	return textui.Duration(d.Min()) + " to " + textui.Duration(d.Max())
}

// number returns a mean without decimals if it is whole.
func number(x float64) string { return strconv.FormatFloat(float64(int(x*10+0.5))/10, 'f', -1, 64) }

// maxName is how much of a name a sentence takes.
const maxName = 80

// plain returns a name from a trace, which may hold anything, as text that is
// safe to print on a line.
func plain(name string) string { return textui.Shorten(textui.Clean(name), maxName) }
