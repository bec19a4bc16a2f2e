package report

import (
	"fmt"
	"strings"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// Notes are statements about the numbers, one sentence or two each: what is
// missing, left out, inferred or not known.
func (d *Document) Notes() []string {
	var notes []string
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	d.lossNotes(add)
	copies := d.Twice()
	for _, text := range copies[:min(len(copies), result.MaxNotes)] {
		add("%s", text)
	}
	d.captureNotes(add)
	d.formatNotes(add)
	d.censoredNotes(add)
	d.certaintyNotes(add)
	return notes
}

type addNote func(format string, args ...any)

// lossNotes say what was not read.
func (d *Document) lossNotes(add addNote) {
	for i := range d.Traces {
		t := &d.Traces[i]
		switch {
		case t.EndedEarly != "":
			add("%s: %s.", t.Name, t.early())
		case t.Loss != nil:
			add("%s: %s.", t.Name, t.Loss)
		}
		if t.Inconsistent > 0 {
			add("%s: %s contradict what was before, the first: %s. Numbers around them may be wrong.",
				t.Name, textui.Plural(t.Inconsistent, "event"), t.FirstInconsistency)
		}
		if t.Check.Violation != "" {
			add("%s: the times do not add up, which is a bug of schedscope: %s.", t.Name, t.Check.Violation)
		}
	}
	for _, s := range d.Skipped {
		add("%s was skipped: %s.", s.Name, s.Cause)
	}
}

// formatNotes say what old formats cannot show.
func (d *Document) formatNotes(add addNote) {
	switch oldest := d.oldest(); {
	case oldest < 22:
		add("The format of Go 1.%d does not record system calls that return at once, which way goroutines leave the others, or who retakes their procs: those tables are empty or incomplete, and a goroutine in a system call counts as running until the runtime notices that it blocks. Record with Go 1.22 or newer for all of it.", oldest)
	case oldest < 23:
		add("The format of Go 1.22 does not record coroutine switches (iter.Pull): they look like wakeups.")
	}
}

// censoredNotes say what the distributions leave out, in numbers.
func (d *Document) censoredNotes(add addNote) {
	l, tot := d.Report.Latency, d.Report.Totals
	if n := l.Censored.AtStart.Count + l.Censored.AtEnd.Count; n > 0 {
		add("Left out of the latency: %s whose true length is not known: %s under way when the trace began, %s not over at its end, the longest at least %s.",
			textui.Plural(n, "wait"), textui.Count(l.Censored.AtStart.Count), textui.Count(l.Censored.AtEnd.Count),
			textui.Duration(max(l.Censored.AtStart.Max, l.Censored.AtEnd.Max)))
	}
	if l.Pseudo > 0 {
		add("Not counted as waits: %s in which a goroutine looks runnable but nothing waited (it left a system call with its proc, or a coroutine switched to it).", textui.Plural(l.Pseudo, "moment"))
	}
	if n := l.System.Count(); n > 0 {
		add("The runtime's own goroutines (%s) are not part of latency, bursts and waiting: %s to run, %s in all.",
			textui.Count(tot.SystemGoroutines), textui.Plural(n, "wait"), textui.Duration(l.System.Total()))
	}
	if x := l.LateSystem; x.Count > 0 {
		add("Counted as the program's because the trace told only later that their goroutines are the runtime's own: %s, %s in all, the longest %s.",
			textui.Plural(x.Count, "wait"), textui.Duration(x.Total), textui.Duration(x.Max))
	}
	if !l.All.Exact() {
		add("Percentiles of more than 5 million samples are within 0.4%% of the true ones; counts, totals and maxima are exact.")
	}
	if tot.DroppedSteps > 0 {
		add("%s of GOMAXPROCS beyond the first 1,024 are not listed.", textui.Plural(tot.DroppedSteps, "change"))
	}
}

// causeNotes say why queues and causes are missing, or how far to trust them.
func (d *Document) causeNotes(add addNote) {
	c, q := d.Report.Causes, d.Report.Queues
	if c.Refused != "" {
		some := ""
		if c.Waits > 0 {
			some = "in part of the traces "
		}
		add("Run queues and the causes of waits are %snot known, and pathologies that show in them are not looked for: %s.", some, c.Refused)
	}
	if q.Starts > 0 {
		add("Evidence for where the %s came from: %s (certain: follows from the trace and the runtime's rules; unique: one explanation fits; chosen: the likeliest of several; contradicted: none fits). Causes of waits rest on it.",
			textui.Plural(q.Starts, "start"), grades(q))
	}
	if n := q.ByGrade[runqueue.GradeContradicted]; n*200 > q.Starts {
		most, shared := q.MostContradicted()
		add("What contradicted starts have most often in common is how the goroutine became runnable: %s (%s of %s). Where another reading is possible, such as a deadline instead of a poll of the network or another number of idle procs, it was tried and does not fit better: what is said of their queues, and of the waits of others there, may be wrong.",
			textui.Clean(most.String()), textui.Count(shared), textui.Count(n))
	}
	for _, t := range c.Thresholds {
		if t.Default {
			add("Limits marked default had too few samples in the trace; they were measured with Go 1.26 on Linux and amd64.")
			break
		}
	}
}

// certaintyNotes say how sure the rest is.
func (d *Document) certaintyNotes(add addNote) {
	add("Certain: states, their lengths and who readied whom, as the trace has them; its clock ticks every 64 ns on most systems. Inferred: run queues and with them the causes of waits, which are reconstructed by the rules of the runtime that recorded the trace; idle procs while goroutines were runnable (short ones are the normal cost of a wakeup), the kind of poller, when a stop-the-world really ended. Suspected: delays by the operating system, which a trace does not show.")
	d.causeNotes(add)
	if n := d.Report.Latency.ByOrigin[model.OriginUnknown].Count(); n > 0 {
		add("Of %s the trace does not tell how the goroutine became runnable.", textui.Plural(n, "wait"))
	}
	if len(d.Traces) > 1 {
		add("Points in time count from the start of each trace; the curves of several traces lie on top of each other.")
	}
}

// grades says how good the evidence is.
func grades(q *analyze.Queues) string {
	var parts []string
	for g, n := range q.ByGrade {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", textui.Ratio(n, q.Starts), runqueue.Grade(g)))
		}
	}
	return strings.Join(parts, ", ")
}
