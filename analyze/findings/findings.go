// Package findings says in words what is in a report: the verdict with its diagnoses, and the notes.
// This package promises nothing to other modules.
package findings

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
)

// Thresholds of findings. They say from where on something is worth a sentence,
// not that it is wrong.
const (
	// saturatedShare of the time without an idle proc while goroutines wait.
	saturatedShare = 0.5
	// idleShare: ordinary programs have idle procs next to runnable goroutines for
	// some percent of the time, because waking up is not instant.
	idleShare = 0.05
	// longEpisodeShare: a few long episodes matter from a smaller share on.
	longEpisodeShare = 0.01
	// queuedShare of system calls that found no proc when they came back.
	queuedShare = 0.10
	// lateShare of network wakeups by sysmon, which polls only when nobody has
	// for 10 ms (runtime/proc.go: sysmon).
	lateShare = 0.10
	// herdFactor: more runnable goroutines for each proc are a crowd.
	herdFactor = 50
	// assistShare of the running time of the program's goroutines.
	assistShare = 0.05
	// Above lockedRate per second and lockedShare of all starts, starts on locked threads are a
	// pattern: one main loop on a locked thread stays far below.
	lockedRate, lockedShare = 1000, 0.10
	// timeSlice of a goroutine (runtime/proc.go: forcePreemptNS): so late is a timer behind one.
	timeSlice = 10_000_000
	// fewLateTimers, and lateTimerShare of all timers: some are late whenever something computes.
	fewLateTimers, lateTimerShare = 5, 0.10
	// fewWaits are too few for a p99.
	fewWaits  = 100
	manyLives = 100 // goroutines of one start function that may be requests
	// fewValues are too few for any percentile.
	fewValues = 20
)

// Judge sets the verdict, findings and notes of a report, and the incidents of its waits.
// Objectives are those of requests.
func Judge(r *result.Report, objectives ...result.Objective) {
	r.Findings = Verdict(r, objectives...)
	for i := range r.Findings {
		r.Findings[i].Evidence = append([]result.Evidence{}, r.Findings[i].Evidence...)
	}
	r.Notes = Notes(r)
	r.SetIncidents()
}

// rule looks for one kind of finding.
type rule func(*result.Report) (result.Finding, bool)

// Verdict sets the verdict of a report and says in words how long requests took and goroutines waited to run, then
// what is to be changed, then what else was found, most important first. There is always at least
// one finding: about scheduling latency as a whole, after that about requests; see [Lead]. Those that
// have a Title are the items of the verdict. Waits and their surroundings are compared in time only:
// words like "coincides" mean just that. Of several traces one finding names the worst, which their
// common numbers may hide.
func Verdict(r *result.Report, objectives ...result.Objective) (out []result.Finding) {
	for _, find := range []rule{requests, func(r *result.Report) (result.Finding, bool) { return headline(r), true }, worstTrace, starving} {
		if f, ok := find(r); ok {
			out = append(out, f)
		}
	}
	out = append(out, verdict(r, objectives)...)
	diagnoses := len(out)
	for _, find := range []rule{saturated, longBursts, idleProcs, queuedSyscalls, lateNetpoll, lateTimers, retakes, collects, assists, lockedThreads, otherRules} {
		if f, ok := find(r); ok && !slices.ContainsFunc(out, func(o result.Finding) bool { return o.Kind == f.Kind }) {
			out = append(out, f)
		}
	}
	slices.SortStableFunc(out[diagnoses:], func(a, b result.Finding) int { return int(b.Severity) - int(a.Severity) })
	return out
}

// Lead returns the findings that come before the diagnoses: requests, scheduling latency as a
// whole, the worst of several traces, and goroutines that still waited at the end.
func Lead(list []result.Finding) []result.Finding {
	n := 0
	for n < len(list) && (n == 0 || slices.Contains([]string{"no-notable-waiting", "waiting", "no-waits", "worst-trace", "starving"}, list[n].Kind)) {
		n++
	}
	return list[:n]
}

// Also returns the kinds of notable findings that are neither diagnoses nor about latency as a whole,
// except those that say how busy the procs were, and not what went wrong.
func Also(r *result.Report) (kinds []string) {
	for _, f := range r.Findings[len(Lead(r.Findings)):] {
		if f.Title == "" && f.Severity >= result.Notable && f.Kind != "procs-saturated" && f.Kind != "long-bursts" {
			kinds = append(kinds, f.Kind)
		}
	}
	return kinds
}

// subject says in a sentence what was analysed.
func subject(r *result.Report) string {
	return textui.Either(slices.ContainsFunc(r.Traces, func(t result.Trace) bool { return t.Windowed }), "window", "trace")
}

// in says in which trace something was, if there are several.
func in(r *result.Report, trace int) string {
	if len(r.Traces) < 2 || trace >= len(r.Traces) {
		return ""
	}
	return " of " + plain(traceNames(r)[trace])
}

// traceNames returns the names of the traces, short.
func traceNames(r *result.Report) []string {
	return result.TraceNames(result.Each(r.Traces, func(t *result.Trace) string { return t.Name }))
}

// maxProcs returns GOMAXPROCS: the mean of one trace, where several begin and end.
func maxProcs(r *result.Report) string {
	steps := r.Totals.GOMAXPROCS
	if len(r.Traces) < 2 || len(steps) == 0 {
		return number(r.Procs.Mean)
	}
	lo, hi := steps[0].Procs, steps[0].Procs
	for _, s := range steps {
		lo, hi = min(lo, s.Procs), max(hi, s.Procs)
	}
	return textui.Either(lo == hi, strconv.FormatUint(lo, 10), fmt.Sprintf("%d..%d", lo, hi))
}
