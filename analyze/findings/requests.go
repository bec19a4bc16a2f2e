package findings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// SlowRequests is the kind of diagnoses that say what the slowest requests have.
const SlowRequests = "slow-requests"

const (
	// slowRequests take so many times as long as those of the middle.
	slowRequests = 1.5
	// codelessShare of the time on paths without a function makes what is named doubtful.
	codelessShare = 0.2
	// againstShare of the difference is worth a word where other parts take it off.
	againstShare = 0.1
	// leastTold of the time of all is worth a word.
	leastTold = 0.03
)

// requestWords are the words for a kind of time: what a request did, with where; what somebody
// did for whom it waited; and what can be done, of [Symptoms] if it is the name of one.
var requestWords = map[string]struct{ did, meanwhile, do string }{
	"running":    {"running %s", "ran", "Make it faster, cache or precompute what it computes, or take it out of the request. A CPU profile shows its lines."},
	"runnable":   {"waiting for a proc", "had the proc", "busy-procs"},
	"lock":       {"waiting for the lock in %s", "waited for a lock", "lock"},
	"waitgroup":  {"waiting for a WaitGroup in %s", "waited for a WaitGroup", "Make the last of those faster that are waited for, divide its work, or start it first."},
	"cond":       {"waiting for a Cond in %s", "waited for a Cond", "Make what comes before its Signal or Broadcast faster, do it earlier, or let fewer requests wait for it."},
	"channel":    {"waiting for a channel in %s", "waited for a channel", "Look at who is at the other end: more workers, less work for each, a larger buffer, or a deadline."},
	"connection": {"waiting for a free connection in %s", "waited for a connection", "Allow more connections (MaxConnsPerHost, SetMaxOpenConns), hold each for a shorter time, or ask less often."},
	"timer":      {"waiting for a timer in %s", "waited for a timer", "Shorten the time-out or the interval, or end the wait by an event."},
	"sleep":      {"sleeping in %s", "slept", "Replace the sleep by waiting for the event itself."},
	"network":    {"waiting for the network in %s", "waited for the network", "Look at the other end: ask it less often, in parallel or in advance, keep connections, set a deadline."},
	"syscall":    {"in system calls in %s", "was in a system call", "blocking-system-calls"},
	"gc":         {"helping or waiting for the garbage collector in %s", "waited for the garbage collector", "garbage-collection"},
	"stw":        {"ready to run while the world was stopped", "stood still", "stop-the-world"},
	"coroutine":  {"switching coroutines in %s", "switched coroutines", ""},
	"queued":     {"handed over and not taken up by %s", "was busy", "More workers, less work for each, or shed load before it queues."},
	"unknown":    {"doing what the trace does not show", "did what the trace does not show", ""},
}

// requests sums up the requests that a report begins with, and says what makes the slowest slow:
//
//  1. What is diagnosed are the groups of the first tail: the request's own waits as a whole
//     with all that they were for, and else what it did.
//  2. They are ranked by what they add to the mean of the slowest. Less than leastShare of the
//     difference is not worth a diagnosis.
//  3. A wait is named with what took most of it meanwhile.
func requests(r *result.Report) (lead []result.Finding, diagnoses []result.Finding) {
	k := r.MainRequests()
	if k == nil {
		return nil, nil
	}
	cut, spread := "", fmt.Sprintf("p50 %s, ", textui.Duration(k.P50))
	if k.Censored.Count > 0 {
		cut = fmt.Sprintf(" (%s cut)", textui.Count(k.Censored.Count))
	}
	if k.Count >= fewWaits {
		spread += fmt.Sprintf("p99 %s, ", textui.Duration(k.P99))
	}
	if k.Unknown {
		spread = ""
	}
	certain := ratio(k.Certain, k.Listed)
	f := result.Finding{Kind: "requests", Text: fmt.Sprintf("Requests (%s): %s%s, %smax %s; %s of path time is certain.",
		k.Kind, textui.Count(k.Count), cut, spread, textui.Duration(k.Max), textui.Percent(certain)),
		Evidence: []result.Evidence{{Name: "requests", Value: float64(k.Count), Unit: "count"}, {Name: "p50", Value: float64(k.P50), Unit: "ns"},
			{Name: "p99", Value: float64(k.P99), Unit: "ns"}, {Name: "longest", Value: float64(k.Max), Unit: "ns"},
			{Name: "of the time on the path certain", Value: certain, Unit: "share"}}}
	if len(k.Tails) > 0 && k.Tails[0].Count > 0 && k.Tails[0].Middle.Count > 0 {
		t := &k.Tails[0]
		diff, against := t.Diff(), 0.0
		who := "The slowest " + t.Who()
		if slow, middle := float64(t.Total)/float64(t.Count), float64(t.Middle.Total)/float64(t.Middle.Count); diff <= 0 || slow < slowRequests*middle {
			f.Text += " " + who + " are not much slower than the middle fifth. Of the time of all "
			for i, x := range k.Path[:min(maxDiagnoses, len(k.Path))] {
				if i > 0 && ratio(x.Total, k.Total) < leastTold {
					break
				}
				did := strings.TrimSuffix(requestWords[x.Name].did, " %s")
				did = cmp.Or(strings.TrimSuffix(strings.TrimSuffix(did, " in"), " by"), "others that they waited for")
				f.Text += strings.Repeat(", ", min(i, 1)) + textui.Percent(ratio(x.Total, k.Total)) + " is " + did
			}
			f.Text += "."
		} else {
			f.Severity = result.Notable
			f.Text += fmt.Sprintf(" %s take %s longer on average than the middle fifth.", who, textui.Duration(model.Duration(diff)))
			for i := range t.Groups {
				gain := t.Gain(&t.Groups[i])
				against += min(gain, 0)
				if len(diagnoses) < maxDiagnoses && gain >= leastShare*diff {
					diagnoses = append(diagnoses, slowRequest(r, k, &t.Groups[i]))
				}
			}
			if -against >= againstShare*diff {
				f.Text += fmt.Sprintf(" What they have less of takes %s off that.", textui.Duration(model.Duration(-against)))
			}
		}
	}
	var ran model.Duration
	for _, x := range k.Path {
		if x.Name == "running" || x.Name == "others" {
			ran += x.Total
		}
	}
	switch share := ratio(k.Codeless, k.Listed); {
	case share > codelessShare:
		f.Text += fmt.Sprintf(" %s of the time on the paths ran code that no stack shows: ", textui.Percent(share))
		if r.Blame.Samples == 0 {
			f.Text += "record with schedscope record, which takes CPU samples."
		} else {
			f.Text += fmt.Sprintf("%s are too few, record for longer.", textui.Plural(r.Blame.Samples, "CPU sample"))
		}
	case r.Blame.Samples == 0 && len(diagnoses) > 0 && ratio(ran, k.Total) > codelessShare:
		f.Text += " Without CPU samples, which schedscope record takes, what ran is inferred from the stacks around it."
	}
	return []result.Finding{f}, diagnoses
}

// joins gives what is known of a lock to what was said of the slowest requests, if they wait for
// it: one thing is not said twice.
func joins(f result.Finding, slow []result.Finding) bool {
	if f.Kind != "lock" {
		return false
	}
	for _, c := range f.Where {
		for i := range slow {
			if x := &slow[i]; x.Kind == SlowRequests && c.Role == "waits" && 2*c.Share >= 1 && strings.HasPrefix(x.Title, "waiting for the lock in "+plain(textui.Place(c.Function, "", 0))+" ") {
				x.Where, x.Evidence = f.Where, append(x.Evidence, f.Evidence...)
				return true
			}
		}
	}
	return false
}

// slowRequest says of a group how much of the slowest requests it is, and who is to blame.
func slowRequest(r *result.Report, k *result.RequestKind, g *result.RequestRow) result.Finding {
	t, words := &k.Tails[0], requestWords[g.Kind]
	gain := t.Gain(g)
	f := result.Finding{Kind: SlowRequests, Severity: result.Notable, Advice: words.do, Evidence: []result.Evidence{
		{Name: "added to the mean of the slowest", Value: gain, Unit: "ns"}, {Name: "of the difference", Value: gain / t.Diff(), Unit: "share"},
		{Name: "of the slowest that have it", Value: float64(g.Have), Unit: "count"}, {Name: "slowest", Value: float64(t.Count), Unit: "count"}}}
	f.Text = fmt.Sprintf("+%s on average, %s of the difference, %s of %s have it", textui.Duration(model.Duration(gain)), textui.Percent(gain/t.Diff()), textui.Count(g.Have), textui.Count(t.Count))
	if i := slices.IndexFunc(Symptoms, func(s result.Symptom) bool { return s.Name == words.do }); i >= 0 {
		f.Advice = Symptoms[i].Advice
	}
	f.Title = strings.Replace(words.did, "%s", plain(textui.Place(g.Function, g.File, g.Line)), 1)
	if g.Function == "" {
		f.Title = strings.TrimSuffix(words.did, " in %s")
		if g.Kind == "running" {
			f.Title, f.Advice = "running code that no stack shows", "Record it for longer: a CPU sample is taken every 10 ms."
			if r.Blame.Samples == 0 {
				f.Advice = "Record it with schedscope record, which takes CPU samples."
			}
		}
	}
	// What it was waited for, most first; code before what has no name, unless it is much less.
	var rows []*result.RequestRow
	for i := range t.Rows {
		if x := &t.Rows[i]; x.InGroup(g) && t.Gain(x) > 0 && (x.Wait != "" || x.Kind == "runnable") {
			rows = append(rows, x)
		}
	}
	if i := slices.IndexFunc(rows, func(x *result.RequestRow) bool { return x.Function != "" }); i > 0 && 3*t.Gain(rows[i]) >= t.Gain(rows[0]) {
		rows[0], rows[i] = rows[i], rows[0]
	}
	for i, x := range rows {
		name, did := plain(textui.Place(x.Function, x.File, x.Line)), requestWords[x.Kind].meanwhile
		if i == 0 && (x.Kind != g.Kind || x.Function != g.Function || x.Kind == "queued") {
			switch {
			case x.Kind == "queued":
				f.Title += ", which " + requestWords[x.Wait].meanwhile
			case x.Kind == "timer":
				f.Title += ", ended by a timer"
			case x.Wait == "":
				f.Title += ", behind " + cmp.Or(name, "others")
			case name != "":
				f.Title += map[bool]string{true: ", held", false: ","}[g.Kind == "lock"] + " while " + name + " " + did
			case x.Kind == "running":
				f.Title += ", while code ran that no stack shows"
			case x.Kind == "runnable":
				f.Title += ", while it waited for a proc"
			}
			if x.Inferred {
				f.Title += " (inferred)"
				f.Grade = result.Inferred
			}
		}
		if name != "" && len(f.Where) < maxDiagnoses && 5*t.Gain(x) >= t.Gain(rows[0]) {
			f.Where = append(f.Where, result.Culprit{Role: did, Function: x.Function, File: x.File, Line: uint64(max(x.Line, 0)), Share: min(t.Gain(x)/gain, 1), Callers: []string{}})
		}
	}
	for i := range k.Slowest {
		q := &k.Slowest[i]
		var in model.Duration
		for _, p := range q.Parts {
			if (&result.RequestRow{Kind: p.Kind, Function: p.Function, File: p.File, Wait: p.Wait, Waiter: p.Waiter, WaitFile: g.File}).InGroup(g) {
				in += p.Length
			}
		}
		if 5*in >= q.Duration {
			f.Look = &result.Moment{Trace: q.Trace, At: q.Start, Length: q.Duration, Goroutine: q.Goroutine}
			break
		}
	}
	return f
}
