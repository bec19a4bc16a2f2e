package findings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// Notes are statements about the numbers, one sentence or two each: what is missing, left
// out, inferred or not known.
func Notes(r *result.Report) []string {
	var notes []string
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	lossNotes(r, add)
	copies := Twice(r)
	for _, text := range copies[:min(len(copies), maxCopies)] {
		add("%s", text)
	}
	captureNotes(r, add)
	formatNotes(r, add)
	censoredNotes(r, add)
	certaintyNotes(r, add)
	return notes
}

// maxCopies is how many traces that are there twice the notes name.
const maxCopies = 50

// Lost returns notes on the input that was not read.
func Lost(r *result.Report) []string {
	var notes []string
	lossNotes(r, func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) })
	return notes
}

type addNote func(format string, args ...any)

// lossNotes say what was not read.
func lossNotes(r *result.Report, add addNote) {
	for t := range result.Refs(r.Traces) {
		switch {
		case t.EndedEarly != "":
			add("%s: %s.", t.Name, t.Early())
		case t.Loss != nil:
			add("%s: %s.", t.Name, t.Loss)
		}
		if t.Written {
			add("%s: the file was written to while it was read; its size did not change.", t.Name)
		}
		if t.Inconsistent > 0 {
			add("%s: %s contradict what was before, the first: %s. Numbers around them may be wrong.",
				t.Name, textui.Plural(t.Inconsistent, "event"), t.FirstInconsistency)
		}
		if t.Violation != "" {
			add("%s: the times do not add up, which is a bug of schedscope: %s.", t.Name, t.Violation)
		}
	}
	for _, s := range r.Skipped {
		add("%s was skipped: %s.", s.Name, s.Cause)
	}
}

// formatNotes say what old formats cannot show.
func formatNotes(r *result.Report, add addNote) {
	switch oldest := oldest(r); {
	case oldest < 22:
		add("The format of Go 1.%d does not record system calls that return at once, which way goroutines leave the others, or who retakes their procs: those tables are empty or incomplete, and a goroutine in a system call counts as running until the runtime notices that it blocks. Record with Go 1.22 or newer for all of it.", oldest)
	case oldest < 23:
		add("The format of Go 1.22 does not record coroutine switches (iter.Pull): they look like wakeups.")
	}
}

// manyAtEnd is how many goroutines no scheduler leaves waiting while procs are idle.
const manyAtEnd = 100

// censoredNotes say what the distributions leave out, in numbers.
func censoredNotes(r *result.Report, add addNote) {
	l, tot := &r.Latency, &r.Totals
	if n := l.Censored.AtStart.Count + l.Censored.AtEnd.Count; n > 0 {
		add("Left out of the latency: %s whose true length is not known: %s under way when the trace began, %s not over at its end, the longest at least %s.",
			textui.Plural(n, "wait"), textui.Count(l.Censored.AtStart.Count), textui.Count(l.Censored.AtEnd.Count),
			textui.Duration(max(l.Censored.AtStart.Max, l.Censored.AtEnd.Max)))
	}
	if n, d := l.Censored.AtEnd.Count, r.Procs.IdleRunnable.AtEnd; n >= manyAtEnd && d > 0 {
		add("A part of the trace may be missing, such as the last batch of a thread: %s became runnable and did not run until the end, although procs were idle for the last %s.",
			textui.Plural(n, "goroutine"), textui.Duration(d))
	}
	for i := range r.Requests {
		switch n := r.Requests[i].Unfollowed; {
		case n > 0 && r.Requests[i].Kind == "tcp":
			add("Not counted as requests: about %s more that came while whoever answers was busy. They were answered then, but which writes are the answers is not known.", textui.Count(n))
		case n > 0:
			add("Not counted as requests: %s that began while 131,072 others were open.", textui.Plural(n, "task"))
		}
	}
	if l.Pseudo > 0 {
		add("Not counted as waits: %s in which a goroutine looks runnable but nothing waited (it left a system call with its proc, or a coroutine switched to it).", textui.Plural(l.Pseudo, "moment"))
	}
	if n := l.System.Count; n > 0 {
		add("The runtime's own goroutines (%s) are not part of latency, bursts and waiting: %s to run, %s in all.",
			textui.Count(tot.SystemGoroutines), textui.Plural(n, "wait"), textui.Duration(l.System.Total))
	}
	if x := l.LateSystem; x.Count > 0 {
		add("Counted as the program's because the trace showed only later that their goroutines are the runtime's own: %s, %s in all, the longest %s.",
			textui.Plural(x.Count, "wait"), textui.Duration(x.Total), textui.Duration(x.Max))
	}
	if l.All.Unknown {
		add("Some percentiles are not known: a report does not hold whole distributions, as those of older versions of schedscope. Analyse its traces again, or save its report again.")
	} else if !l.All.Exact && l.All.Count > 0 {
		add("Percentiles of more than 5 million samples, and those of several traces, are within 0.4%% of the true ones; counts, totals and maxima are exact.")
	}
	if tot.DroppedSteps > 0 {
		add("%s of GOMAXPROCS beyond the first 1,024 are not listed.", textui.Plural(tot.DroppedSteps, "change"))
	}
}

// causeNotes say why queues and causes are missing, or how far to trust them.
func causeNotes(r *result.Report, add addNote) {
	c, q := &r.Causes, &r.Queues
	if c.Refused != "" {
		some := textui.If(c.Waits > 0, "in part of the traces ")
		add("Run queues and the causes of waits are %snot known, and pathologies that show in them are not looked for: %s.", some, c.Refused)
	}
	if q.Starts > 0 {
		add("Evidence for where the %s came from: %s (certain: follows from the trace and the runtime's rules; unique: one explanation fits; chosen: the likeliest of several; contradicted: none fits). Causes of waits rest on it.",
			textui.Plural(q.Starts, "start"), Grades(q))
	}
	contradicted := result.Sum(q.ByGrade, func(g *result.Count) int64 {
		return textui.Either(g.Name == runqueue.GradeContradicted.String(), g.Count, 0)
	})
	if contradicted*200 > q.Starts && len(q.Contradicted) > 0 {
		most := q.Contradicted[0]
		add("What contradicted starts have most often in common is how the goroutine became runnable: %s (%s of %s). Where another reading is possible, such as a deadline instead of a poll of the network or another number of idle procs, it was tried and does not fit better: what is said of their queues, and of the waits of others there, may be wrong.",
			textui.Clean(most.Name), textui.Count(most.Count), textui.Count(contradicted))
	}
	if slices.ContainsFunc(c.Thresholds, func(t result.Threshold) bool { return t.Default }) {
		add("Limits marked default had too few samples in the trace; they were measured with Go 1.26 on Linux and amd64.")
	}
}

// certaintyNotes say how sure the rest is.
func certaintyNotes(r *result.Report, add addNote) {
	add("Certain: states, their lengths and who readied whom, as the trace has them; its clock ticks every 64 ns on most systems. Inferred: run queues and with them the causes of waits, which are reconstructed by the rules of the runtime that recorded the trace; idle procs while goroutines were runnable (short ones are the normal cost of a wakeup), the kind of poller, when a stop-the-world really ended. Suspected: delays by the operating system, which a trace does not show without CPU samples (schedscope record takes them).")
	causeNotes(r, add)
	if n := named(r.Latency.ByOrigin, model.OriginUnknown.String()).Count; n > 0 {
		add("Of %s the trace does not show how the goroutine became runnable.", textui.Plural(n, "wait"))
	}
	if len(r.Traces) > 1 {
		add("Points in time count from the start of each trace; the curves of several traces lie on top of each other.")
	}
}

// captureNotes say of which traces the numbers are not those of the program, and which show
// that another one was captured.
func captureNotes(r *result.Report, add addNote) {
	for t := range result.Refs(r.Traces) {
		if t.Taken != nil {
			add("%s: while it was recorded, the program captured a trace of its own, because %s.", t.Name, t.Taken)
		}
		if t.Captured != nil {
			add("%s was captured because %s. Its numbers describe what led to that, not the program in general.", t.Name, t.Captured)
			if request := t.Captured.Request; request != nil {
				add("The slow request of %s: %s.", t.Name, request)
			}
		}
	}
}

// oldest returns the oldest format among the traces.
func oldest(r *result.Report) int { return slices.Min(result.Each(r.Traces, (*result.Trace).Version)) }

// Grades returns the grades of evidence for starts, with the share of each.
func Grades(q *result.Queues) string {
	return strings.Join(result.Each(q.ByGrade, func(g *result.Count) string { return textui.Ratio(g.Count, q.Starts) + " " + g.Name }), ", ")
}
