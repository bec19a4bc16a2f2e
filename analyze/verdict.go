package analyze

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// Grade says how sure a finding is.
type Grade uint8

// Grades of findings.
const (
	Certain  Grade = iota // follows from what the trace shows
	Inferred              // the likely reading of what happened at the same time
)

// String returns the grade as reports print it.
func (g Grade) String() string {
	if g == Certain {
		return "certain"
	}
	return "inferred"
}

// Severity says how much a finding matters.
type Severity uint8

// Severities of findings.
const (
	Info Severity = iota
	Notable
	Serious
)

// String returns the severity as reports print it.
func (s Severity) String() string {
	names := [...]string{"info", "notable", "serious"}
	if int(s) < len(names) {
		return names[s]
	}
	return "Severity(?)"
}

// Evidence is a number that a finding rests on.
type Evidence struct {
	Name  string  // such as "p99 scheduling latency"
	Value float64 // in Unit
	Unit  string  // "ns", "share" (0 to 1), "procs", "goroutines", "count" or "per second"
}

// Finding is one statement about a trace.
type Finding struct {
	Kind     string // stable and machine-readable, such as "procs-saturated"
	Severity Severity
	Grade    Grade
	Text     string // one or two plain sentences
	Evidence []Evidence
}

// Thresholds of findings. They say from where on something is worth a sentence,
// not that it is wrong.
const (
	// A proc that must first get a thread takes up to some tens of microseconds
	// to run a goroutine; ten times that is not explained by waking up.
	notableWait = 1_000_000
	// A goroutine that waited longer than a time slice (runtime/proc.go:
	// forcePreemptNS) was passed over, or had more than one before it.
	seriousWait = 10_000_000

	// saturatedShare of the time without an idle proc while goroutines wait.
	saturatedShare = 0.5
	// idleShare: ordinary programs have idle procs beside runnable goroutines for
	// some percent of the time, because waking up is not instant.
	idleShare = 0.05
	// longEpisodeShare: a few long episodes matter from a smaller share on.
	longEpisodeShare = 0.01
	// usualWakeup: an idle proc's thread sleeps in a futex or in the network
	// poller; waking it takes some tens of microseconds.
	usualWakeup = 100_000
	// gcShare: while it marks, the collector takes a quarter of the procs by
	// design (runtime/mgcpacer.go: gcBackgroundUtilization); more is notable.
	gcShare = 0.30
	// stoppedShare of the procs' time during the worst waits.
	stoppedShare = 0.25
	// stwShare of the whole time with the world stopped.
	stwShare = 0.01
	// queuedShare of system calls that found no proc when they came back.
	queuedShare = 0.10
	// lateShare of network wakeups by sysmon, which polls only when nobody has
	// for 10 ms (runtime/proc.go: sysmon).
	lateShare = 0.10
	// retakeRate of sysmon, per second.
	retakeRate = 1000
	// victimFactor is how much longer than it runs a goroutine waits.
	victimFactor = 10
	// fewWaits are too few for a p99.
	fewWaits = 100
)

// rule looks for one kind of finding.
type rule func(*Report) (Finding, bool)

// Verdict says in words what waits, how long, and the most likely reason, most
// important first. There is always at least one finding; the first is about
// scheduling latency as a whole. Waits and their surroundings are compared in
// time only: words like "coincides" mean just that.
func Verdict(r *Report) []Finding {
	out := []Finding{headline(r)}
	for _, find := range []rule{starving, saturated, longBursts, stopped, gcCoincides, idleProcs, queuedSyscalls, lateNetpoll, retakes, victim, mostWaiting} {
		if f, ok := find(r); ok {
			out = append(out, f)
		}
	}
	slices.SortStableFunc(out[1:], func(a, b Finding) int { return int(b.Severity) - int(a.Severity) })
	return out
}

// waitSeverity grades scheduling latency by its p99, or by its maximum if there
// are too few waits for one.
func waitSeverity(r *Report) Severity {
	all := &r.Latency.All
	switch p99 := all.Quantile(0.99); {
	case all.Count() < fewWaits:
		if all.Max() >= seriousWait {
			return Notable
		}
		return Info
	case p99 >= seriousWait:
		return Serious
	case p99 >= notableWait || all.Max() >= seriousWait:
		return Notable
	}
	return Info
}

// headline sums up scheduling latency, with the reason that fits the worst waits.
func headline(r *Report) Finding {
	all := &r.Latency.All
	if all.Count() == 0 {
		return Finding{Kind: "no-waits", Text: "The trace shows no goroutine of the program waiting to run from beginning to end."}
	}
	q := all.Quantiles(0.5, 0.99)
	f := Finding{Kind: "no-notable-waiting", Severity: waitSeverity(r), Evidence: []Evidence{
		{"waits", float64(all.Count()), "count"},
		{"p50 scheduling latency", float64(q[0]), "ns"},
		{"p99 scheduling latency", float64(q[1]), "ns"},
		{"longest wait", float64(all.Max()), "ns"},
	}}
	p50, p99, longest := textui.Duration(q[0]), textui.Duration(q[1]), textui.Duration(all.Max())
	switch {
	case f.Severity == Info && all.Count() == 1:
		f.Text = fmt.Sprintf("Nothing waited notably to run: the only wait took %s.", longest)
		return f
	case f.Severity == Info:
		f.Text = fmt.Sprintf("Nothing waited notably to run: half of %s took at most %s, 99%% at most %s, the longest %s.",
			textui.Plural(all.Count(), "wait"), p50, p99, longest)
		return f
	}
	f.Kind, f.Grade = "waiting", Inferred
	f.Text = fmt.Sprintf("Goroutines waited to run: p50 %s, p99 %s, at most %s%s.", p50, p99, longest, worstWhere(r))
	if why, evidence, ok := likelyReason(r); ok {
		f.Text += " " + why
		f.Evidence = append(f.Evidence, evidence)
	}
	return f
}

// worstWhere returns in brackets which goroutine had the worst wait, and when.
func worstWhere(r *Report) string {
	waits := r.Worst.Waits()
	if len(waits) == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s, at %s)", plain(waits[0].Func), textui.Duration(waits[0].End))
}

// during sums up what the procs did during the worst waits, and who ran.
func during(r *Report) (uses Uses, byFunc []AntagonistFunc) {
	at := map[string]int{}
	for _, w := range r.Worst.Waits() {
		uses.merge(&w.Uses)
		for _, a := range w.AntagonistFuncs {
			i, ok := at[a.Func]
			if !ok {
				i = len(byFunc)
				at[a.Func] = i
				byFunc = append(byFunc, AntagonistFunc{Func: a.Func, Use: a.Use})
			}
			byFunc[i].Total += a.Total
		}
	}
	slices.SortStableFunc(byFunc, func(a, b AntagonistFunc) int { return cmp.Compare(b.Total, a.Total) })
	return uses, byFunc
}

// likelyReason says what took most of the procs' time during the worst waits.
func likelyReason(r *Report) (string, Evidence, bool) {
	uses, byFunc := during(r)
	candidates := []struct {
		share         float64
		name          string
		before, after string // of the share
	}{
		{uses.Share(UseUser, UseRuntime), "ran goroutines during the worst waits",
			"During the worst of them the procs were busy with goroutines for ", " of their time" + mostly(byFunc, uses.Total()) + "."},
		{uses.Share(UseGC, UseAssist), "garbage collection during the worst waits",
			"The worst of them coincide with garbage collection, which took ", " of the procs' time meanwhile."},
		{uses.Share(UseStopped), "stopped during the worst waits",
			"The worst of them coincide with a stopped world: the procs were stopped for ", " of the time."},
		{uses.Share(UseIdle, UseSearching), "idle or searching during the worst waits",
			"Procs were idle or looking for work for ", " of the time of the worst of them: not lack of procs, but late or impossible wakeups (a locked thread, the operating system)."},
		{uses.Share(UseSyscall), "kept by system calls during the worst waits",
			"During the worst of them the procs were kept by system calls for ", " of their time."},
	}
	best := candidates[0]
	for _, c := range candidates[1:] {
		if c.share > best.share {
			best = c
		}
	}
	if best.share == 0 {
		return "", Evidence{}, false
	}
	return best.before + textui.Percent(best.share) + best.after, Evidence{best.name, best.share, "share"}, true
}

// mostly names the function that ran longest, if it is a good part.
func mostly(byFunc []AntagonistFunc, total model.Duration) string {
	if len(byFunc) == 0 || ratio(byFunc[0].Total, total) < 0.2 {
		return ""
	}
	return fmt.Sprintf(", most of all %s (%s)", plain(byFunc[0].Func), textui.Percent(ratio(byFunc[0].Total, total)))
}
