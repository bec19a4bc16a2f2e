package findings

import (
	"fmt"
	"strconv"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// found returns a finding.
func found(kind string, severity result.Severity, grade result.Grade, evidence []result.Evidence, format string, args ...any) (result.Finding, bool) {
	return result.Finding{Kind: kind, Severity: severity, Grade: grade, Text: fmt.Sprintf(format, args...), Evidence: evidence}, true
}

// starving finds goroutines that still waited when the trace ended, longer than
// any wait that ended.
func starving(r *result.Report) (result.Finding, bool) {
	open := &r.Latency.Censored.AtEnd
	if open.Max < result.SeriousWait || open.Max <= r.Latency.All.Max {
		return result.Finding{}, false
	}
	who := textui.Either(open.Count != 1, textui.Plural(open.Count, "goroutine")+" were waiting to run, one of them", "1 goroutine was waiting to run,")
	return found("starving", result.Serious, result.Certain, []result.Evidence{{Name: "waiting at the end", Value: float64(open.Count), Unit: "count"}, {Name: "longest so far", Value: float64(open.Max), Unit: "ns"}},
		"When the %s ended, %s for %s already: longer than any wait that ended. Percentiles do not include such waits.", subject(r), who, textui.Duration(open.Max))
}

// minPeak is the number of runnable goroutines from which on it is noted who readied them.
const minPeak = 100

// saturated finds that there were not enough procs for the work.
func saturated(r *result.Report) (result.Finding, bool) {
	x := &r.Procs
	share := result.Ratio(x.Saturated, r.Totals.Span)
	if share < saturatedShare {
		return result.Finding{}, false
	}
	f, _ := found("procs-saturated", WaitSeverity(&r.Latency), result.Certain, []result.Evidence{{Name: "saturated", Value: share, Unit: "share"}, {Name: "utilisation", Value: x.Utilisation, Unit: "share"}, {Name: "mean runnable", Value: x.MeanRunnable, Unit: "goroutines"}, {Name: "procs", Value: x.Mean, Unit: "procs"}},
		"For %s of the time no proc was idle while goroutines waited: %s of the procs' time (GOMAXPROCS %s) was in use, %.1f goroutines waited on average, %d at most.", textui.Percent(share), textui.Percent(x.Utilisation), maxProcs(r), x.MeanRunnable, x.MaxRunnable)
	if syscall := x.Uses[result.UseSyscall]; syscall > running(r) {
		part := result.Ratio(syscall, running(r)+syscall)
		f.Text += fmt.Sprintf(" System calls took %s of that.", textui.Percent(part))
		f.Evidence = append(f.Evidence, result.Evidence{Name: "system calls in the time in use", Value: part, Unit: "share"})
	}
	return f, true
}

// running is the time in which procs ran goroutines.
func running(r *result.Report) model.Duration {
	u := &r.Procs.Uses
	return u[result.UseUser] + u[result.UseGC] + u[result.UseAssist] + u[result.UseRuntime]
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
	f, _ := found("long-bursts", result.Info, result.Certain, []result.Evidence{{Name: "bursts over 10ms", Value: float64(b.Long.Count), Unit: "count"}, {Name: "bursts over 20ms", Value: float64(b.VeryLong.Count), Unit: "count"}, {Name: "longest burst", Value: float64(longest[0].Duration), Unit: "ns"}},
		"%s ran longer than %s without giving way%s; the longest was %s (%s, proc %d, at %s%s).", textui.Plural(b.Long.Count, "burst"), than, veryLong, textui.Duration(longest[0].Duration), plain(longest[0].Function), longest[0].Proc, textui.Duration(longest[0].Start), in(r, longest[0].Trace))
	if b.VeryLong.Count > 0 && r.Latency.All.Max >= result.SeriousWait {
		f.Severity = result.Notable
	}
	return f, true
}

// idleProcs finds that goroutines waited although procs were idle.
func idleProcs(r *result.Report) (result.Finding, bool) {
	x := &r.Procs.IdleRunnable
	share := result.Ratio(x.Episodes.Total, r.Totals.Span)
	long := x.Episodes.P99 >= result.NotableWait && share >= longEpisodeShare
	if !long && (share < idleShare || x.Episodes.Count < 10) {
		return result.Finding{}, false
	}
	lengths := fmt.Sprintf("%s at p50 and %s at p99", textui.Duration(x.Episodes.P50), textui.Duration(x.Episodes.P99))
	if x.Episodes.Count < fewValues {
		lengths = between(&x.Episodes)
	}
	f, _ := found("idle-while-runnable", result.Info, result.Inferred, []result.Evidence{{Name: "idle while runnable", Value: share, Unit: "share"}, {Name: "p99 episode", Value: float64(x.Episodes.P99), Unit: "ns"}, {Name: "idle while another proc was overloaded", Value: result.Ratio(x.Wall, r.Totals.Span), Unit: "share"}},
		"For %s of the time a proc was idle while a goroutine was runnable, in %s of %s.", textui.Percent(share), textui.Plural(x.Episodes.Count, "episode"), lengths)
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

// between says from where to where a few values go.
func between(d *result.Dist) string {
	return textui.If(d.Min != d.Max, textui.Duration(d.Min)+" to ") + textui.Duration(d.Max)
}

// number returns a mean without decimals if it is whole.
func number(x float64) string {
	return strconv.FormatFloat(float64(int(float64(x*10)+0.5))/10, 'f', -1, 64)
}

// maxName is how much of a name a sentence takes.
const maxName = 80

// plain returns a name from a trace, which may hold anything, as text that is
// safe to print on a line.
func plain(name string) string { return textui.Shorten(textui.Clean(name), maxName) }
