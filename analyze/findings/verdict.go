package findings

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// How a report is judged
//
//  1. Requests are judged by groups of [enough] or more: by all of them, and from [enoughTail] on by
//     the slowest. Of [fewest] the least is below the median in 31 of 32 cases: if that is slow, all are. Slow is
//     what misses an objective. Without one, which for the slowest is one of p90 or more, the slowest are slow if
//     they take slowRequests times as long as the middle and a part of what they add is worth an item, as a call
//     that takes a little longer now and then is not; all are slow if the typical one spends worthTime or more waiting for others within the program, in many small
//     waits or on a connection that it dials itself, dialTime and typicalShare of its time on dialling it, or outsideTime
//     for whatever it is, and a part of that is worth an item. Where more show no handler, those that are seen and slow must be tailShare of all.
//  2. What slows requests by waiting for a proc is explained by the diagnosis of that. What they do for the
//     collector is due to it, whether waits to run matter or not.
//  3. Other diagnoses matter where requests are slow, too, or a goroutine was held up for heldUpShare
//     of the time. In a program without requests they are all there is. Short waits to run while the procs were idle matter to nobody.
//  4. One culprit is one item: a later item about the same function goes. Work and the queue before
//     it are two, since more workers shorten the queue alone.
//  5. Missed objectives come first. What all requests spend outside of the program or asleep comes after what can be
//     changed of the slowest, and what has no cause comes last, with what recording would show it.
//     The word is that of the first item: STARVED if it is about waiting to run, DISTURBED if it is
//     about the machine, SLOW if it is about all requests or what has none, else SLOW TAIL: also where
//     more requests show no handler than are seen of the slow one.
//  6. What the machine explains is not an item: waits to run while the procs were idle, tails that are
//     no longer than threads had no CPU at times, and sleeps and answers that take longer than others do. If
//     nothing else is left, the word is DISTURBED.
const (
	fewest, enough, enoughTail = 5, 10, 20
	// worthTime is the least time in a slow request that is worth an item, in nanoseconds.
	worthTime   = 2_000_000
	outsideTime = 10_000_000
	// dialTime is the least of a connection that each request dials: it need not.
	dialTime    = 1_000_000
	heldUpShare = 0.2
	// jitter times the middle is what answers from outside of the program may take longer now and then.
	jitter = 3
	// stretch times as long as others are sleeps that the machine may have stretched.
	stretch = 3
	// collectorShare of the procs' time makes timers late.
	collectorShare = 0.1
	// stoppedShare of the time is much for a stopped world.
	stoppedShare = 0.02
	// takenShare of the time that goroutines ran is much if their threads had no CPU.
	takenShare = 0.2
	// mostTaken of it makes answers from outside of the program seem late.
	mostTaken = 0.5
	// ranShare of the time is the least that a program must run on all procs together for what it does
	// to be judged.
	ranShare = 0.005
	fewTurns = 3 // again and again
)

// The words of verdicts.
const (
	Healthy   = "HEALTHY"
	SlowTail  = "SLOW TAIL"
	Slow      = "SLOW"
	Starved   = "STARVED"
	Disturbed = "DISTURBED"
	Unknown   = "UNKNOWN"
)

// ExitCode returns the exit code of a verdict: 0 if nothing is to be changed, 1 if something
// is slow, 3 if that cannot be judged. If there are objectives, they decide.
func ExitCode(v *result.Verdict) int {
	state := func(word string) bool {
		return slices.ContainsFunc(v.Objectives, func(o result.Objective) bool { return o.State == word })
	}
	switch {
	case state("missed"):
		return 1
	case state("unknown"):
		return 3
	case len(v.Objectives) > 0:
		return 0
	case v.Word == Slow, v.Word == SlowTail, v.Word == Starved:
		return 1
	case v.Word != Healthy:
		return 3
	}
	return 0
}

// judge is what a verdict is made of.
type judge struct {
	r         *result.Report
	questions []*question // about all groups, in pairs: the slowest, all
	items     []item
	codeless  *question // what is slow by code that no stack shows
	note      string    // of what may be meant, or not
	doubt     string    // the same, where only the program's author knows
	open      unended
}

// item is an item of the verdict.
type item struct {
	result.Finding
	q      *question            // what it answers; nil: none about requests
	parts  []*result.RequestRow // of the requests, without the culprit they go
	remedy remedy
	// diagnosed reports whether goroutines are held up by the same, whether of requests or not.
	diagnosed bool
	tail      bool // it is about the slowest, too
}

// remedy is what an item advises, as far as its gain and its place depend on that.
type remedy uint8

const (
	otherwise    remedy = iota
	askOnce             // instead of many times
	raiseLimit          // of how many may do something at a time
	moreWorkers         // at the other end of a channel
	startWorkers        // before which a queue is
	shareLess           // of the procs, among goroutines that the request started itself
)

// advise sets the remedy, and the text of it.
func (x *item) advise(r remedy, text string) { x.remedy, x.Advice = r, text }

// verdict sets the verdict and returns the items, at most maxDiagnoses.
func verdict(r *result.Report, objectives []result.Objective) (list []result.Finding) {
	j := &judge{r: r, open: findUnended(r)}
	r.Verdict = result.Verdict{RuledOut: []string{}}
	for k := range result.Refs(r.Requests) {
		sets, unseen := k.Sets(), unseen(k)
		for n := range sets {
			if s := &sets[n]; (s.Count >= enough || s.Count >= fewest && s.Min >= outsideTime) && len(s.Tails) > 0 && s.Tails[0].Middle.Count > 0 {
				all := &question{kind: k.Kind, sets: sets, RequestGroup: s, RequestTail: &s.Tails[0], all: true}
				if len(sets) > 1 && result.Handled(s.Name) {
					all.others, all.half = others(s, unseen)
				}
				j.questions = append(j.questions, &question{kind: k.Kind, sets: sets, RequestGroup: s, RequestTail: &s.Tails[0]}, all)
			}
		}
	}
	j.measure(objectives)
	diagnoses := diagnose(r, j.job())
	if !slices.ContainsFunc(diagnoses, func(d diagnosis) bool { return ofScheduling(d.Kind) }) && waitsMatter(r) {
		j.idle()
	}
	j.requests(&diagnoses)
	j.others(diagnoses)
	slices.SortStableFunc(j.items, func(a, b item) int { return cmp.Compare(j.yields(&a), j.yields(&b)) })
	if f, ok := j.open.item(r); ok {
		j.items = slices.Insert(j.items, 0, f)
	}
	if len(j.items) > 0 {
		j.r.Verdict.Machine = cmp.Or(j.recorded(), j.r.Verdict.Machine)
	} else if waitsMatter(r) && slices.ContainsFunc(r.Traces, func(t result.Trace) bool { return t.Machine == nil }) { // else the records say whether it was busy
		j.r.Verdict.Machine = cmp.Or(j.r.Verdict.Machine, Suspected(suspected(r), r.Causes.Total, r.Totals.Span))
	}
	j.disturbed()
	j.items = j.items[:min(len(j.items), maxDiagnoses)]
	j.word()
	for x := range result.Refs(j.items) {
		if len(x.parts) > 0 {
			most := x.q.most(r, x)
			if x.Kind == "more-procs-than-cpus" { // with CPUs they still wait behind what had some
				had := hadCPU(r)
				if r.Blame.KeptSpan > 0 {
					had = min(had, result.Ratio(model.Duration(r.Blame.KeptSamples)*samplePeriod, r.Blame.KeptSpan))
				}
				most *= max(0, 1-had)
			}
			if x.Gain = x.q.gain(most); x.remedy == shareLess {
				x.Gain = "not known: all of its work remains"
			} else if intended(x) == asleep || intended(x) == awaited { // what it waits for, if anything, takes its time
				x.Gain = strings.Replace(x.Gain, "about", "at least", 1)
			}
		}
		list = append(list, x.Finding)
	}
	return list
}

// Unseen reports whether requests whose handler is not seen may change what is typical of a group next to them.
func Unseen(r *result.Report) bool {
	return slices.ContainsFunc(r.Requests, func(k result.RequestKind) bool {
		return slices.ContainsFunc(k.Groups, func(s result.RequestGroup) bool {
			n, _ := others(&s, unseen(&k))
			return n > 0 && s.Count >= enough && result.Handled(s.Name)
		})
	})
}

// asked reports whether requests of q are slow.
func (j *judge) asked(q *question) bool {
	if len(j.r.Verdict.Objectives) > 0 && slices.ContainsFunc(j.r.Verdict.Objectives, func(o result.Objective) bool {
		return j.decides(&o, q) && !(o.State == "unknown" && o.Most > 0)
	}) {
		return q.limit > 0
	}
	if !q.all {
		return q.RequestGroup.Count >= enoughTail && min(q.slowest(), float64(q.From)) >= slowRequests*q.middle()
	}
	slow := q.RequestGroup.Count
	if q.Min < outsideTime {
		slow /= 2
	}
	if tailShare*float64(q.RequestGroup.Count+q.others) > float64(slow) {
		return false // those that waited are not half of all, and too few for a tail
	}
	var own, outside float64
	dials := q.dials()
	for x := range result.Refs(q.Groups) {
		if q.streams(x) {
			continue
		}
		within := slices.Contains([]string{"lock", "channel", "connection", "cond", "queued", "runnable", "gc", "stw"}, x.Kind) && !x.Called() && !q.atOnce(x)
		if within || q.many(x) > 0 || x.Kind == "network" && dials != nil {
			own += q.cost(x)
		}
		outside += q.cost(x)
	}
	return own >= max(worthTime, q.middle()/2) || outside >= outsideTime || dials != nil && q.cost(dials) >= max(dialTime, typicalShare*q.middle())
}

// job reports whether slow requests wait for a proc mostly behind the function that most is behind, which is not their
// own and had CPUs: what runs for a short time, and waits for a CPU, is rarely sampled.
func (j *judge) job() bool {
	rows := j.r.Blame.Of(result.CauseGoroutine.String())
	return len(rows) > 0 && rows[0].Sampled > 0 && result.Ratio(rows[0].Sampled, rows[0].Total) >= min(jobSampled, hadCPU(j.r)) && slices.ContainsFunc(j.questions, func(q *question) bool {
		var behind, waits float64
		for i := range q.Rows {
			if x := &q.Rows[i]; x.Kind == "runnable" {
				waits += q.cost(x)
				if x.Function == rows[0].Function && !q.computes(x) {
					behind += q.cost(x)
				}
			}
		}
		return behind >= max(worthTime, waits/2) && j.asked(q)
	})
}

// requests adds the items about requests, those first that cost all slow requests together the most.
func (j *judge) requests(diagnoses *[]diagnosis) {
	type candidate struct {
		q    *question
		part *result.RequestRow
		lost float64 // in all
	}
	var list []candidate
	lack := len(*diagnoses) > 0 && (*diagnoses)[0].before() && (*diagnoses)[0].Kind == "more-procs-than-cpus"
	for _, q := range j.questions {
		if !j.asked(q) {
			continue
		}
		parts := q.parts()
		for _, x := range parts {
			n := textui.Either(q.all, float64(q.RequestGroup.Count), float64(q.RequestTail.Count))
			list = append(list, candidate{q, x, n * q.cost(x)})
		}
		if len(parts) == 0 && j.codeless == nil && (q.limit > 0 || !q.all) {
			for x := range result.Refs(q.Groups) {
				switch {
				case x.Kind != "running" || x.Function != "" || q.cost(x) < max(worthTime, q.whole()/2):
				case !q.all && j.lost(q.cost(x), x.Have):
					j.r.Verdict.Machine = j.lostText(q, explains)
				default:
					j.codeless = q
				}
			}
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(b.lost, a.lost) })
	for _, c := range list {
		if note := c.q.meant(j.r, c.part); c.q.limit == 0 && (note != "" || c.q.streams(c.part)) {
			j.note = cmp.Or(note, j.note)
			continue
		}
		if doubt := c.q.awaits(j.r, c.part); c.q.limit == 0 && doubt != "" {
			j.doubt = strings.Replace(doubt, "nothing here needs fixing;", "nothing here needs fixing ("+j.slo(c.q)+" accepts that);", 1)
			continue
		}
		f := c.q.item(j.r, c.part)
		if (!c.q.all || c.part.Called() && c.q.dials() != nil) && c.q.limit == 0 && intended(&f) == outside && c.q.many(c.part) == 0 && c.q.cost(c.part) < min(outsideTime, jitter*c.q.middle()) {
			continue
		}
		lost := !c.q.all && j.lost(c.q.cost(c.part), c.part.Have)
		switch rows := c.q.within(c.part); {
		case slices.Contains(scheduling, c.part.Kind):
			if !j.due(&f, c.q, c.part, diagnoses) {
				j.idle()
				continue // nothing says whom it is due to
			}
		case len(rows) > 0 && rows[0].Kind == "runnable" && 2*c.q.waits(rows) >= c.q.cost(c.part):
			if !j.due(&f, c.q, c.part, diagnoses) && !c.q.all && j.idle() {
				continue
			}
		case j.late(c.q, c.part) && j.joins(&f):
			continue
		case j.late(c.q, c.part) && (j.due(&f, c.q, c.part, diagnoses) || j.collected(&f.Finding)):
			f.Advice = sleepsLate(j.r, c.part) + f.Advice
		case j.overdue(c.q, c.part):
			j.r.Verdict.Machine = j.lostText(c.q, "and the slowest %s wait for longer than others at the same place")
			continue
		case lost && (c.part.Kind == "syscall" && !strings.HasSuffix(way(c.part).Callee, ".Sync") || c.part.Kind == "running" && j.r.Blame.Samples == 0):
			j.r.Verdict.Machine = j.lostText(c.q, explains)
			continue
		case lost && lack && c.part.Kind == "running":
			continue // see [judge.others]
		}
		if least, _ := taken(j.r); least >= mostTaken && !c.q.all && intended(&f) == outside {
			f.Advice = "Record again with CPUs: threads had none for most of the time, and an answer that waits for one seems to come late. Else: " + f.Advice
		}
		f.Advice = strings.Replace(f.Advice, "(--slo)", "("+j.slo(c.q)+")", 1)
		j.add(f)
	}
}

// joins adds what ends late to the item about the same requests that says what kept the procs: who would have looked at timers and
// sockets waited for one. It reports whether there is one.
func (j *judge) joins(f *item) bool {
	x := result.Find(j.items, func(x *item) bool { return x.q == f.q && ofScheduling(x.Kind) })
	if x != nil {
		c := f.Where[0]
		c.Role += ", and that ends late"
		x.Where = append(x.Where, c)
		x.join(f)
	}
	return x != nil
}

// waits returns how long requests wait for a proc in some parts.
func (q *question) waits(rows []*result.RequestRow) float64 {
	return result.Sum(rows, func(x **result.RequestRow) float64 { return textui.Either((*x).Kind == "runnable", q.cost(*x), 0) })
}

// yields returns 2 for an item without a cause, 1 for one about what all requests of a group spend outside of
// the program or asleep, if there is another about what the slowest of any spend within (of this group, if only this one
// misses an objective), -1 for one about a missed objective or goroutines that become more and more, else 0: the least comes first.
func (j *judge) yields(x *item) int {
	switch {
	case x.Kind == result.SymptomName(result.CauseUnresolved.String()):
		return 2
	case x.q != nil && x.q.all && intended(x) != "" && slices.ContainsFunc(j.items, func(y item) bool {
		return y.q != nil && (!y.q.all || y.tail) && intended(&y) == "" && (x.q.limit == 0 || y.q.limit > 0 || y.q.RequestGroup == x.q.RequestGroup)
	}):
		return 1
	case x.q != nil && x.q.limit > 0, x.Kind == "goroutine-leak":
		return -1
	}
	return 0
}

// due adds to an item which code kept the procs from it, as the first diagnosis of that says, which is
// used up. A part that requests spent on the collector themselves is due to that, whether waits to run matter or
// not, unless a lack of CPUs comes first.
func (j *judge) due(f *item, q *question, x *result.RequestRow, diagnoses *[]diagnosis) bool {
	i := slices.IndexFunc(*diagnoses, func(d diagnosis) bool { return x.Kind == "stw" && d.Kind == "stop-the-world" })
	if i < 0 {
		i = slices.IndexFunc(*diagnoses, func(d diagnosis) bool {
			return ofScheduling(d.Kind) && (x.Kind != "gc" || d.Kind == "garbage-collection" || d.first && d.Kind != "busy-procs")
		})
	}
	switch {
	case i >= 0:
	case x.Kind != "gc":
		return false
	default:
		c := &diagnostician{r: j.r}
		c.collector()
		i, *diagnoses = len(*diagnoses), append(*diagnoses, c.list...)
	}
	d := (*diagnoses)[i]
	*diagnoses = slices.Delete(*diagnoses, i, i+1)
	behind := append(q.within(x), x)[0]
	if d.Kind != "more-procs-than-cpus" && callsCollector(x) {
		d.Title, d.Advice = "it calls "+plain(textui.ShortFunc(way(x).Callee)), "Do not collect in it: the collector starts by itself when the heap has grown. Remove the call, or make it in the background, once."
	}
	f.Kind, f.Grade, f.Look = d.Kind, d.Grade, cmp.Or(f.Look, d.Look)
	f.advise(otherwise, d.Advice)
	if d.Kind == "batch" && d.startedIn(x) {
		f.advise(shareLess, "Its goroutines wait for each other: few at once (errgroup's SetLimit, a semaphore) help all others, and are not done sooner. Let them do less: cache or precompute the result, or split it among requests; or give the program more procs and CPUs.")
	}
	busy := len(d.Where) > 0 && d.Kind == "busy-procs" && d.Where[0].Function == behind.Function
	if busy && q.computes(behind) && !q.hub(&result.RequestRow{Kind: "running", Function: behind.Function}) {
		f.Advice = "Requests run it: if several compute the same, let one do it and share the result (singleflight), or do it ahead, in the background. Else: " + f.Advice
	}
	f.Title += " (" + d.Title + ")"
	if f.Where[0].Function == "" { // all there is says what the title does
		f.Where = nil
	}
	for i, c := range d.Where {
		if x.Kind == "gc" && len(f.Where) > 0 && c.Function == f.Where[0].Function && c.Line == f.Where[0].Line { // said
			continue
		}
		if list := callers(behind); busy && i == 0 && len(list) > 0 { // in the slow ones
			c.Callers = list
		}
		c.Depth += len(f.Where)
		f.Where = append(f.Where, c)
	}
	f.Sum, f.Tail = d.Sum, d.Tail
	return true
}

// startedIn reports whether what started the goroutines of a batch is where requests wait, or calls that.
func (d *diagnosis) startedIn(x *result.RequestRow) bool {
	return len(d.Where) > 0 && (d.Where[0].Function == x.Function || slices.ContainsFunc(way(x).Callers, func(f result.Frame) bool { return f.Function == d.Where[0].Function }))
}

// callsCollector reports whether requests call the collector themselves.
func callsCollector(x *result.RequestRow) bool {
	return slices.Contains([]string{"runtime.GC", "runtime/debug.FreeOSMemory"}, way(x).Callee)
}

// late reports whether a part of the slowest is long because a timer or the network poller was late,
// as the same part of others is shorter, and half as many wake-ups may be late by half as much. A part of all requests is where
// the procs are in use nearly all the time, and half of the timers that are bounded may be late by nearly as much.
func (j *judge) late(q *question, x *result.RequestRow) bool {
	l := &j.r.Lateness
	var b *result.Bounds
	switch x.Kind {
	case "sleep", "timer":
		b = &l.Timers
	case "network":
		b = &l.Network
	default:
		return false
	}
	if q.all {
		return b == &l.Timers && j.r.Procs.Utilisation >= allInUse && b.Count >= enough && float64(b.P50) >= (1-likeMedian)*q.cost(x)
	}
	n := int64(0)
	above(b, model.Duration(q.cost(x)/2), func(_ model.Duration, k int64) { n += k })
	return x.Middle > 0 && 2*n >= max(x.Have, 1) && q.cost(x) >= 3*float64(x.Middle)/float64(max(q.Middle.Count, 1))
}

// collected adds to an item that the garbage collector kept the procs from it, if it did.
func (j *judge) collected(f *result.Finding) bool {
	if j.r.GC.Share < collectorShare {
		return false
	}
	f.Title += " (timers and sockets wait while the garbage collector has the procs)"
	f.Kind, f.Advice = "garbage-collection", fix("garbage-collection")
	if r := collections(j.r); r != nil {
		for _, c := range allocators(r)[:min(1, len(allocators(r)))] {
			c.Depth = len(f.Where)
			f.Where = append(f.Where, c)
		}
	}
	return true
}

// idle reports whether waits to run are laid to the machine, because the procs were idle; the verdict says so.
func (j *judge) idle() bool {
	if !idle(j.r) {
		return false
	}
	j.r.Verdict.Machine = cmp.Or(j.r.Verdict.Machine, fmt.Sprintf("goroutines waited up to %s to run, but procs were %s busy: their threads probably had no CPU",
		textui.Duration(j.r.Latency.All.Max), textui.Percent(j.r.Procs.Utilisation)))
	return true
}

// Suspected says how much of the waiting to run is laid to the operating system, "" if that is little, or less than a tenth of a
// goroutine waits for it on average.
func Suspected(of, all, span model.Duration) string {
	const least = 0.1
	if x := result.Ratio(of, all); x >= suspectedShare && result.Ratio(of, span) >= least {
		return textui.Percent(x) + " of the waiting to run is laid to the operating system" + suspicion
	}
	return ""
}

// suspicion ends what is said of a machine that is not known.
const suspicion = ", suspected"

// suspected returns how long goroutines waited to run for what is laid to the operating system.
func suspected(r *result.Report) model.Duration {
	return result.Sum(r.Causes.Rows, func(x *result.CauseRow) model.Duration { return textui.Either(x.Suspected, x.Total, 0) })
}

// standstill is a time in which a thread had no CPU, or several that were as long.
type standstill struct {
	model.Duration
	times int64
}

// noCPU returns when threads had no CPU for [result.NotableWait] or more.
// Four things show it: long calls on sockets, which do not block; waits that are laid to the operating
// system; waits in which a proc was idle while a thread was looking for work; and times in which all threads stood still.
func (j *judge) noCPU() (list []standstill) {
	add := func(n int64, total, longest model.Duration) {
		rest := longest // bounds have no total
		if total > 0 {
			rest = (total - longest) / model.Duration(max(n-1, 1))
		}
		list = append(list, standstill{longest, min(n, 1)}, standstill{rest, max(n-1, 0)})
	}
	for _, b := range j.r.Blame.Of(result.BlameInSlow) {
		if ofSocket(b) && !copies(j.r, b) {
			add(b.Turns, b.Total, b.Longest)
		}
	}
	for i := range j.r.Causes.Rows {
		if x := &j.r.Causes.Rows[i]; x.Suspected || x.Cause == result.CauseSpinner.String() {
			above(&x.Dominated, result.NotableWait, func(v model.Duration, n int64) { list = append(list, standstill{v, n}) })
		}
	}
	for i := range j.r.Pathologies {
		if x := &j.r.Pathologies[i]; x.Name == "frozen-process" || x.Name == "cpu-throttling" {
			add(x.Count, x.Total, x.Worst)
		}
	}
	return list
}

// standstills returns how many a list has, and the longest.
func standstills(list []standstill) (times int64, longest model.Duration) {
	for _, x := range list {
		times, longest = times+x.times, max(longest, x.Duration)
	}
	return times, longest
}

// taken returns bounds of the part of the time in which goroutines ran that their threads had no CPU. A thread is
// sampled once per samplePeriod of its CPU time, and the kernel looks for that at its ticks: recordings had up to a
// quarter fewer samples. Where there would be less than fewSamples, or are none, nothing is known, nor of a program
// that has itself sampled more often.
func taken(r *result.Report) (least, most float64) {
	b := &r.Blame
	n := float64(b.Samples)
	sampled := min(1, (n+1)/(n-1)*result.Ratio(b.SampledSpan, r.Totals.Span)) // part of the trace
	each := float64(samplePeriod) / (sampled * float64(running(r)))
	if !(n > 1 && each*fewSamples <= 1) {
		return 0, 1
	}
	off := 1 + math.Sqrt(n)
	if (n-off)*each > 1.5 {
		return 0, 1
	}
	return max(0, 1-(1.25*n+off)*each), max(0, min(1, 1-(n-off)*each))
}

// recorded says what disturbed the program, as the record next to one of the traces has it, or else CPU samples.
func (j *judge) recorded() string {
	for i := range j.r.Traces {
		switch m := j.r.Traces[i].Machine; {
		case m == nil || m.Disturbed == "":
		case m.Others > 0:
			return fmt.Sprintf("other programs used %s of the CPUs%s while it was recorded", textui.Percent(m.Others), in(j.r, i))
		default:
			return m.Disturbed + in(j.r, i)
		}
	}
	if least, most := taken(j.r); least >= takenShare {
		return fmt.Sprintf("threads had no CPU for %s to %s of the time that goroutines seemed to run, by CPU samples", textui.Percent(least), textui.Percent(most))
	}
	return ""
}

// busy reports whether the machine took the CPUs from the program: by the records next to the traces, and
// without one by what the trace shows of it.
func (j *judge) busy() bool {
	if !slices.ContainsFunc(j.r.Traces, func(t result.Trace) bool { return t.Machine == nil }) {
		return j.recorded() != ""
	}
	_, longest := standstills(j.noCPU())
	return longest >= worthTime || j.recorded() != ""
}

// overdue reports whether a part of the slowest waits for an answer, a sleep or a timer that takes others less, hardly more
// often than they do, and threads stood still for half as long, or more: those of the other end may have, too. A sleep that
// is much longer than others at the same place is overdue if the machine is known to have been busy, or one ends with a
// silence of the program that is half of it: else it may be meant. One that is longer is if timers are known to be late by as much and
// the procs were idle. Answers of an end that stood still come together, too: that others were woken at the
// same time says of them only where threads had no CPU more than once.
func (j *judge) overdue(q *question, x *result.RequestRow) bool {
	cost, have := q.cost(x), x.Have
	if rows := q.within(x); x.Kind != "lock" && x.Kind != "connection" && len(rows) > 0 && 2*q.cost(rows[0]) >= cost && !q.limited(x, rows[0]) { // who waits for a lock or a place waits for all before it
		x = rows[0]
	}
	itself := x.Kind == "sleep" || x.Kind == "timer"
	if q.all || !itself && x.Kind != "network" || 2*q.times(x) > 3*max(1, q.usual(x)) || itself && !throttled(j.r) && q.sleepAlike(x) {
		return false
	}
	t, together := &j.r.Lateness.Timers, &j.r.Lateness.Together
	middle := float64(x.Middle) / float64(max(q.Middle.Count, 1))
	still := slices.ContainsFunc(q.Slowest, func(p result.RequestPath) bool {
		end := p.Start
		for y := range result.Refs(p.Parts) {
			end += model.Time(y.Length)
			if y.Kind == x.Kind && y.Function == x.Function && y.Length > 0 && slices.ContainsFunc(j.r.Lateness.Silences, func(s result.Silence) bool {
				return s.Trace == p.Trace && 2*s.Length >= y.Length && s.End <= end && 10*end.Sub(s.End) <= y.Length
			}) {
				return true
			}
		}
		return false
	})
	if itself && middle > 0 && cost >= stretch*middle && still && j.lost(cost/2, have, together) {
		return true
	}
	answers := []*result.Bounds{together}
	if times, _ := standstills(j.noCPU()); times < 2 {
		answers = nil
	}
	return j.busy() && (itself && middle > 0 && (q.cost(x) >= stretch*middle && (still || j.recorded() != "") || idle(j.r) && t.Count >= enough && 2*float64(t.P99) >= q.cost(x) && q.cost(x) >= middle) ||
		(j.r.Procs.Utilisation < idleProcsShare || j.recorded() != "") && (q.shorter(x) && j.lost(cost/2, have, answers...) || itself && j.lost(cost, have)))
}

// sleepAlike reports whether slow requests sleep at a place, the typical one hardly, and all that are listed for about as long: they are
// made to, as the machine does not hold up each for the same time.
func (q *question) sleepAlike(g *result.RequestRow) bool {
	n, least, most := 0, model.Duration(math.MaxInt64), model.Duration(0)
	for _, p := range q.Slowest {
		length := result.Sum(p.Parts, func(x *result.RequestPart) model.Duration {
			return textui.Either(x.Kind == g.Kind && x.Function == g.Function && x.Line == g.Line, x.Length, 0)
		})
		if length > 0 {
			n, least, most = n+1, min(least, length), max(most, length)
		}
	}
	return float64(g.Middle)/float64(max(q.Middle.Count, 1)) < q.cost(g)/10 && n >= fewest && 4*least >= 3*most
}

// shorter reports whether others have a part, too: those of the middle, or one of the slowest for a third of the time.
func (q *question) shorter(g *result.RequestRow) bool {
	return g.Middle > 0 || slices.ContainsFunc(q.Slowest, func(p result.RequestPath) bool {
		return slices.ContainsFunc(p.Parts, func(x result.RequestPart) bool {
			return x.Kind == g.Kind && x.Function == g.Function && x.Line == g.Line && 3*float64(x.Length) <= q.cost(g)
		})
	})
}

// lost reports whether so many requests may be so much longer because threads had no CPU: it was as long on average so
// often. Others that waited at the same time are known by having been woken together.
func (j *judge) lost(cost float64, have int64, together ...*result.Bounds) bool {
	list := j.noCPU()
	for _, b := range together {
		above(b, 0, func(v model.Duration, n int64) { list = append(list, standstill{v, n}) })
	}
	slices.SortFunc(list, func(a, b standstill) int { return cmp.Compare(b.Duration, a.Duration) })
	var sum model.Duration
	left := max(have, 1) // requests may have it for less than a twentieth of their time
	cost *= float64(left)
	for _, x := range list {
		sum += x.Duration * model.Duration(min(x.times, left))
		left -= min(x.times, left)
	}
	return cost <= float64(sum)
}

const explains = "which explains as much as the slowest %s take longer"

// lostText says that the machine took CPUs, and what that comes to.
func (j *judge) lostText(q *question, then string) string {
	if text := j.recorded(); text != "" {
		return text
	}
	times, longest := standstills(j.noCPU())
	if most := j.r.Lateness.Together.Max; longest < worthTime {
		return fmt.Sprintf("nothing of the program happened for up to %s, as where the process is stopped, "+then, textui.Duration(most), q.name())
	}
	return fmt.Sprintf("threads had no CPU %s, for up to %s, "+then, textui.Plural(times, "time"), textui.Duration(longest), q.name())
}

// served reports whether there are requests of which it is certain that they are some.
func (j *judge) served() bool {
	return slices.ContainsFunc(j.questions, func(q *question) bool { return q.kind != "tcp" && q.kind != "message" })
}

// ofScheduling reports whether a diagnosis is about waiting to run.
func ofScheduling(kind string) bool {
	return !slices.Contains([]string{"lock", "slow-receiver", "blocking-system-calls", "goroutine-leak", "locked-thread-ping-pong", "gc-assists", runsAlone, SlowRequests, HangingRequests}, kind)
}

// add adds an item, unless there is one about the same culprit: that one gets its advice to allocate less, unless
// it is about a lack of CPUs. What requests wait for before it, as for a limit, has a remedy of its own where others
// only have the rest.
func (j *judge) add(n item) {
	f, q := &n.Finding, n.q
	for i := range j.items {
		x := &j.items[i]
		is := same(&x.Finding, f) || n.remedy == raiseLimit && x.remedy == raiseLimit && x.Group == f.Group && f.Where[0].Function == x.Where[0].Function && f.Where[0].Line == x.Where[0].Line
		if is && q == nil {
			x.diagnosed = true
		}
		if !is || q != nil && x.q != nil && q != x.q && q.RequestGroup == x.q.RequestGroup && n.contended() != x.contended() {
			continue
		}
		if q != nil && x.q != nil && (q.RequestGroup != x.q.RequestGroup || q == x.q && f.Where[0].Role == requestWords["lock"].does) && intended(&n) == "" &&
			(intended(x) != "" || x.q.all && !q.all && (x.parts[0].Called() || x.q.atOnce(x.parts[0]))) { // that others wait for it is worse
			j.items[i] = n
			return
		}
		x.tail = x.tail || q != nil && x.q != nil && q != x.q && q.RequestGroup == x.q.RequestGroup && !q.all
		if q != nil && q == x.q && (!x.contended() || x.Where[0].Role == f.Where[0].Role) { // without the culprit both parts go
			x.join(&n)
		}
		if x.Kind != f.Kind && !strings.Contains(x.Advice, f.Advice) && f.Kind == "garbage-collection" && x.Kind != "more-procs-than-cpus" && x.Kind != "goroutine-leak" {
			more := f.Advice
			if strings.Contains(x.Advice, "Allocate less") {
				more = strings.TrimPrefix(more, "Allocate less (reuse buffers, sync.Pool), or ")
			}
			x.Advice += " And: " + more
		}
		return
	}
	j.items = append(j.items, n)
}

// join adds the parts of an item about the same requests.
func (x *item) join(n *item) {
	x.parts = append(x.parts, n.parts...)
	x.Evidence[0].Value += n.Evidence[0].Value
	x.Evidence[1].Value = min(x.Evidence[1].Value+n.Evidence[1].Value, 1)
	x.Gain = x.q.gain(x.Evidence[0].Value)
}

// same reports whether two items are about the same culprit: that of requests is at the end of the
// chain, and what else is said of functions in that chain is said there.
func same(x, f *result.Finding) bool {
	if x.Kind == SlowRequests && f.Kind != SlowRequests {
		return f.Kind != "goroutine-leak" && slices.ContainsFunc(x.Where, func(c result.Culprit) bool {
			return slices.ContainsFunc(f.Where, func(d result.Culprit) bool {
				return c.Function == d.Function || model.LiteralOf(c.Function, d.Function)
			})
		})
	}
	switch {
	case x.Kind == f.Kind && x.Kind == "garbage-collection": // whoever works for it
		return true
	case len(x.Where) > 0 && len(f.Where) > 0 && x.Group == f.Group && x.Advice == f.Advice && x.Where[0].Role == f.Where[0].Role && x.Where[0].Function == f.Where[0].Function:
		return true // it would read alike
	case len(x.Where) == 0 || len(f.Where) == 0:
		return x.Kind == f.Kind && len(x.Where) == len(f.Where)
	}
	at := func(f *result.Finding) string {
		if f.Kind == SlowRequests {
			return f.Where[len(f.Where)-1].Function
		}
		return f.Where[0].Function
	}
	queued := func(f *result.Finding) bool { return f.Where[0].Role == keepsWorker }
	return at(x) == at(f) && queued(x) == queued(f)
}

// locked adds to the items about requests that wait for what is done with a lock that others wait for all the time: each waits for
// those before it. It reports whether there are any.
func (j *judge) locked(f *diagnosis) (is bool) {
	for i := range j.items {
		x := &j.items[i].Finding
		if f.Kind == "lock" && f.sum >= j.r.Totals.Span && x.Kind == SlowRequests && len(x.Where) > 1 && slices.ContainsFunc(x.Where[len(x.Where)-1].Callers, func(c string) bool {
			return c == f.Where[0].Function || strings.HasPrefix(c, f.Where[0].Function+" (") // with its line
		}) {
			x.Title, x.Advice, is = x.Title+" ("+f.Title+")", f.Advice, true
		}
	}
	return is
}

// stopping adds to the items about requests that run where the world is stopped that all others stand still meanwhile. It reports
// whether there are any.
func (j *judge) stopping(f *diagnosis) (is bool) {
	for i := range j.items {
		x := &j.items[i].Finding
		if f.Kind == "stop-the-world" && f.Where[0].Role == stopsWorld && x.Kind == SlowRequests && f.Where[0].Function == x.Where[len(x.Where)-1].Function && f.Where[0].Line == x.Where[len(x.Where)-1].Line {
			x.Title, x.Advice, is = x.Title+" (that stops the world, for all)", f.Advice, true
		}
	}
	return is
}

// others adds the items that are not about requests. Where these are fast enough, that is what makes them slow only later.
func (j *judge) others(diagnoses []diagnosis) {
	met := j.met()
	for f := range result.Refs(diagnoses) {
		if met && f.Kind != "goroutine-leak" || j.stopping(f) {
			continue
		}
		if ofScheduling(f.Kind) && f.Kind != "spin" && severity(&j.r.Latency.All, false) == result.Info && j.r.Procs.Utilisation < idleProcsShare { // nobody sees it
			continue
		}
		if j.served() {
			switch {
			case f.Kind == "more-procs-than-cpus":
				j.r.Verdict.Machine = f.Title + ": " + f.Text
				continue
			case f.Kind == "goroutine-leak":
			case !ofScheduling(f.Kind) && j.kept(): // those who are held up are fast enough
				continue
			case ofScheduling(f.Kind) && f.Kind != "spin" && (j.r.Latency.All.Count < fewWaits || j.r.Latency.All.P99 < result.SeriousWait) &&
				!slices.ContainsFunc(j.items, func(x item) bool { return x.Kind == "more-procs-than-cpus" }): // it slows no requests, or what does is named
				continue
			case !ofScheduling(f.Kind) && len(j.items) == 0 && result.Ratio(f.sum, j.r.Totals.Span) < heldUpShare:
				continue
			}
		}
		codeInTraces(j.r, &f.Finding, f.kinds)
		if !j.locked(f) {
			j.add(item{Finding: f.Finding})
		}
	}
	if f, ok := lockedThreads(j.r); ok && !met && len(j.items) == 0 && !j.served() && result.Ratio(j.r.Latency.All.Total, j.r.Totals.Span) >= heldShare {
		f.Title, f.Advice = "goroutines that are locked to threads stop and start all the time", fix(f.Kind)
		j.add(item{Finding: f})
	}
}

// disturbed drops items that together explain less than half of what the slowest requests take longer, if the machine
// disturbed the program: that may explain all of it. What they wait for a proc behind stays, and so does what they do for
// the collector, unless a record says what disturbed the program and they do not call it themselves.
func (j *judge) disturbed() {
	if j.r.Verdict.Machine == "" {
		return
	}
	explained := map[*question]float64{}
	for i := range j.items {
		if f := &j.items[i]; f.q != nil {
			explained[f.q] += f.Evidence[1].Value // the share of what is to be explained
		}
	}
	j.items = slices.DeleteFunc(j.items, func(f item) bool {
		return f.q != nil && !f.q.all && f.q.limit == 0 && !f.diagnosed && (f.Kind == SlowRequests || f.ofCollector() && !callsCollector(f.parts[0]) && j.recorded() != "") && explained[f.q] < 0.5
	})
}

// word sets the word and the sentence of the verdict, and what is ruled out.
func (j *judge) word() {
	v := &j.r.Verdict
	missed, none := slices.ContainsFunc(v.Objectives, func(o result.Objective) bool { return o.State == "missed" }), len(j.questions) == 0 && j.r.MainRequests() == nil
	runs, open, halted := restless(j.r), "", j.halted()
	if j.open.handler != nil {
		open = " " + j.open.text()
	}
	switch {
	case j.open.hangs:
		v.Word, v.Text = Slow, j.open.text()
	case len(j.items) > 0:
		f, q := &j.items[0].Finding, j.items[0].q
		switch {
		case f.Kind == "more-procs-than-cpus":
			v.Word = Disturbed
		case f.Kind != SlowRequests && ofScheduling(f.Kind) && !j.items[0].ofCollector() && (q != nil || f.Kind != "spin" || waitsMatter(j.r)):
			v.Word = Starved
		case q != nil && (!q.all || q.others > q.RequestGroup.Count): // the typical one may be among the others
			v.Word = SlowTail
		default:
			v.Word = Slow
		}
		v.Text = j.what(&j.items[0]) + textui.If(len(j.questions) == 0, open)
	case halted != "": // not by the machine, for so long
		v.Word, v.Text, v.Machine = Unknown, halted, ""
	case !missed && j.r.Verdict.Machine != "" && j.codeless == nil && !j.met() && !(none && j.open.handler != nil):
		v.Word, v.Text = Disturbed, "Nothing of the program stands out, but "+textui.Either(throttled(j.r), "a CPU quota held it up: raise the limit, and record again to be sure.",
			"the machine "+textui.If(strings.HasSuffix(v.Machine, suspicion), "may have ")+"disturbed it: record again on a quiet one to be sure.")+open
	case missed, j.codeless != nil:
		v.Word, v.Text = j.unexplained(missed)
	case len(v.Objectives) > 0 && slices.ContainsFunc(v.Objectives, func(o result.Objective) bool { return o.State == "unknown" }):
		v.Word, v.Text = Unknown, "There are too few requests to judge the objective."
		for _, o := range v.Objectives {
			switch seen := j.named(&o); {
			case o.State != "unknown":
			case o.Open > 0:
				v.Text = "Requests that did not end may miss the objective."
			case o.Most > 0:
				v.Text = "Requests of which the handler is not seen may be among those that the objective is for: schedscope help requests says how to name them."
			case o.Group == "":
			case seen > 0:
				v.Text = fmt.Sprintf("There are too few requests of %s to judge the objective: %s.", plain(o.Group), textui.Count(seen))
			case j.misnamed(&o) != "":
				v.Text = j.misnamed(&o)
			}
		}
		v.Text += open
	case none && j.open.handler != nil:
		v.Word, v.Text = Unknown, j.open.text()
	case len(j.questions) == 0 && j.r.Latency.All.Count == 0 && len(j.r.Requests) == 0:
		v.Word, v.Text = Unknown, "No goroutine of the program waited to run from beginning to end, and there are no requests: record for longer, under load."
	case none && named(j.r.Waiting.ByReason, "network").Count >= fewWaits:
		v.Word, v.Text = Unknown, fmt.Sprintf("No goroutine waited more than %s to run, but the program waits for the network.", textui.Duration(j.r.Latency.All.Max))
	case none && slices.ContainsFunc(j.r.Blame.Of(result.BlameInSlow), func(b *result.BlameRow) bool { return b.Turns >= fewHeld && ofInput(j.r, b) }):
		v.Word, v.Text = Unknown, fmt.Sprintf("No goroutine waited more than %s to run, but the program waits for input.", textui.Duration(j.r.Latency.All.Max))
	case none && result.Ratio(running(j.r), j.r.Totals.Span) < ranShare:
		v.Word, v.Text = Unknown, fmt.Sprintf("The program ran for %s of the time: record it under load.", textui.Ratio(running(j.r), j.r.Totals.Span))
		if _, _, awaited := j.mainWaits(); awaited != nil {
			v.Text = fmt.Sprintf("The program ran for %s of the time, while main waited for goroutines.", textui.Ratio(running(j.r), j.r.Totals.Span))
		}
	default:
		if v.Word, v.Text = Healthy, j.healthy(); len(v.Objectives) == 0 && j.main() != nil && j.main().Kind == "func" {
			v.Word = Unknown
		}
		if text, rounds := pause(j.r); rounds > 0 {
			v.Word, v.Text = Unknown, fmt.Sprintf("Between its rounds %s, while procs are %s busy: if that is meant, nothing here needs fixing.", text, textui.Percent(j.r.Procs.Utilisation))
		} else if late := cmp.Or(straggles(j.r), j.doubt); late != "" {
			v.Word, v.Text = Unknown, late
		} else if runs != "" && batch(j.r) {
			v.Word, v.Text, runs = Unknown, runs[1:]+" If it computes, nothing here needs fixing; a CPU profile shows its lines.", ""
		} else if text != "" {
			v.Text += " Note that " + text + "."
		}
		v.Text += open
	}
	for _, o := range v.Objectives {
		if text := j.misnamed(&o); !strings.Contains(v.Text, text) {
			v.Text += " " + text
		}
	}
	if len(j.items) == 0 {
		v.Text += runs + j.note
	}
	n, longest := int64(0), model.Duration(0)
	for i := range j.r.Requests {
		n, longest = n+j.r.Requests[i].Count, max(longest, j.r.Requests[i].Max)
	}
	switch {
	case len(j.questions) > 0 || len(v.Objectives) > 0 || n == 0 && len(j.r.Requests) > 0 && v.Word == Unknown || j.open.hangs:
	case n > 0:
		v.Text += fmt.Sprintf(" This is about the whole program; there are too few requests to judge: %s, the longest %s; see schedscope requests.", textui.Count(n), textui.Duration(longest))
	case v.Word == Healthy, v.Word == Disturbed && len(j.items) == 0, v.Word == Unknown && j.r.Latency.All.Count > 0 && halted == "":
		v.Text += " No requests were found, so that slow answers would not show: " + j.candidate()
	}
	j.ruledOut()
}

// ofCollector reports whether an item is about what requests spent on the collector themselves: they did not wait to run.
func (x *item) ofCollector() bool {
	return x.Kind == "garbage-collection" && len(x.parts) > 0 && x.parts[0].Kind == "gc"
}

// candidate says what may be requests: of goroutines that were started and ended many times, those that
// lived longest in all, else those for which main waits. Calls are none: only those with a wait are seen. Those of a round begin together,
// so that they wait for each other whatever they do, and those that wait to be stopped answer nobody.
func (j *judge) candidate() string {
	i := slices.IndexFunc(j.r.Goroutines, func(g result.Group) bool {
		round := slices.ContainsFunc(j.r.Blame.Rows, func(b result.BlameRow) bool {
			return model.WaitOf(b.Kind) == model.WaitGroup && b.Function == g.Function
		})
		reason, most := longestWait(&g)
		w := model.WaitOf(reason)
		return !g.System && min(g.Created, g.Ended) >= manyLives && !round && !(10*most > 9*g.Lifetime && (w == model.WaitReceive || w == model.WaitSelect))
	})
	_, _, g := j.mainWaits()
	if i >= 0 {
		g = &j.r.Goroutines[i]
	} else if g != nil && (2*(g.States[model.GoRunning]+g.States[model.GoRunnable]) > g.Lifetime || 2*g.Lifetime > model.Duration(g.Count)*j.r.Totals.Span) { // they compute, or are clients or workers
		g = nil
	}
	if g == nil {
		return cmp.Or(handsOn(j.r), "trace.NewTask marks some.")
	}
	return fmt.Sprintf("--request 'goroutine:%s' takes each of its %s as one.", plain(textui.ShortFunc(g.Function)), textui.Plural(max(g.Created, g.Count), "goroutine"))
}

// calls reports whether a function calls one of some others, in a system call.
func calls(r *result.Report, function string, others ...string) bool {
	return slices.ContainsFunc(r.Blame.Rows, func(b result.BlameRow) bool {
		return (b.Kind == result.BlameInSlow || b.Kind == result.BlameInShort) && within(&b, function, others...)
	})
}

// handsOn says which goroutines hand what they read to others through a channel, or which write what others may have read and hardly
// wait for more, "" if none do. While those are busy that wakes nobody, so that nothing shows who takes what.
func handsOn(r *result.Report) string {
	const read = "net.(*netFD).Read"
	for x := range result.Refs(r.Blame.Rows) {
		if w := model.WaitOf(x.Kind); (w == model.WaitReceive || w == model.WaitSelect) && x.Waiter != "" && calls(r, x.Function, read) {
			return fmt.Sprintf("what %s reads for %s while that is busy wakes nobody, and cannot be followed. trace.NewTask marks it.", plain(textui.ShortFunc(x.Function)), plain(textui.ShortFunc(x.Waiter)))
		}
	}
	for i := range r.Goroutines {
		g, idle := &r.Goroutines[i], model.Duration(0)
		for _, x := range g.Waiting {
			if w := model.WaitOf(x.Reason); w != model.WaitSleep && !w.Lock() {
				idle += x.Total
			}
		}
		if !g.System && 2*g.Lifetime > model.Duration(g.Count)*r.Totals.Span && 20*idle <= g.Lifetime && calls(r, g.Function, "net.(*netFD).Write") && !calls(r, g.Function, read) {
			reason, most := longestWait(g)
			return fmt.Sprintf("%s writes to connections that others read, and hardly waits for more to do (%s of its time: %s). If it answers them, what they have read queues for it: trace.NewTask marks each from its beginning.",
				plain(textui.ShortFunc(g.Function)), textui.Ratio(most, g.Lifetime), plain(reason))
		}
	}
	return ""
}

// longestWait returns what goroutines waited for the longest, and for how long.
func longestWait(g *result.Group) (reason string, most model.Duration) {
	for _, x := range g.Waiting {
		if x.Total > most {
			reason, most = x.Reason, x.Total
		}
	}
	return reason, most
}

// mainWaits returns what main waited for the longest in a program without requests, for how long, and the goroutines for
// which it waits most of the time, nil if it does not, or they are not known.
func (j *judge) mainWaits() (reason string, most model.Duration, awaited *result.Group) {
	span := j.r.Totals.Span
	main := result.Find(j.r.Goroutines, func(g *result.Group) bool { return g.Function == "main.main" && g.Count == int64(len(j.r.Traces)) })
	if main == nil || !batch(j.r) {
		return "", 0, nil
	}
	if reason, most = longestWait(main); 2*most < span || model.WaitOf(reason) != model.WaitGroup {
		return reason, most, nil
	}
	for _, b := range j.r.Blame.Of(reason) {
		if g := result.Find(j.r.Goroutines, func(g *result.Group) bool { return g.Function == b.Function && g.Function != "main.main" }); g != nil && 2*b.Total > span {
			return reason, most, g
		}
	}
	return reason, most, nil
}

// halted says that nothing ran for half of the time or longer while main waited for others, "" if it is not so.
func (j *judge) halted() string {
	reason, most, _ := j.mainWaits()
	s := &j.r.Series
	n, longest := 0, 0
	for _, ran := range s.Uses[result.UseUser] {
		if n++; ran > 0 {
			n = 0
		}
		longest = max(longest, n)
	}
	d := s.Width * model.Duration(longest)
	if w := model.WaitOf(reason); d < hangTime || 2*d < j.r.Totals.Span || most < d || w == model.WaitSleep || w == model.WaitNetwork {
		return ""
	}
	text := fmt.Sprintf("Nothing ran for %s, while main waited (%s): if nothing should take that long, it hangs", textui.Duration(d), plain(reason))
	var at []string
	for _, b := range j.r.Blame.Of(result.BlameOpen) {
		if b.Line > 0 && 2*b.Total >= model.Duration(b.Turns)*d && len(at) < 3 {
			at = append(at, fmt.Sprintf("%s in %s", textui.Count(b.Turns), plain(textui.Place(b.Function, b.File, b.Line))))
		}
	}
	if len(at) > 0 {
		return text + ". Goroutines that waited until the end: " + strings.Join(at, ", ") + "."
	}
	return text + "; /debug/pprof/goroutine?debug=2 shows where all are."
}

// pause says where the goroutine of a batch that waits for others in rounds sleeps between them, and for which part of the
// time; or where main sleeps without rounds, again and again while nothing else runs: rounds is 0 then. It is "" if none
// does. What a round has started has ended when the sleep begins, so that it is idle time as far as the procs have any.
// Nobody but the program's author knows whether that is meant.
func pause(r *result.Report) (text string, rounds float64) {
	for g := range result.Refs(r.Goroutines) {
		reason, most := longestWait(g)
		rows := r.Blame.Of(result.BlameTimers)
		n := slices.IndexFunc(rows, func(b *result.BlameRow) bool { return b.Turns >= fewTurns && within(b, g.Function) })
		if x := result.Find(g.Waiting, func(x *result.Reason) bool { return x.Reason == "sleep" }); x != nil && model.WaitOf(reason) == model.WaitGroup {
			reason, most = "sleep", x.Total // between rounds
		}
		if reason != "sleep" || n < 0 || g.Count != int64(len(r.Traces)) || !batch(r) {
			continue
		}
		slept := result.Ratio(most, r.Totals.Span)
		joins := slices.ContainsFunc(g.Waiting, func(x result.Reason) bool { return model.WaitOf(x.Reason) == model.WaitGroup && x.Count >= fewTurns })
		if joins && min(slept, 1-r.Procs.Utilisation) < aloneShare || !joins && (g.Function != "main.main" || slept-r.Procs.Utilisation*r.Procs.Mean < aloneShare) {
			continue
		}
		who := strings.TrimSuffix(plain(textui.ShortFunc(g.Function)), ".main")
		said := fmt.Sprintf("%s sleeps for %s of the time, most of all in %s", who, textui.Percent(slept), plain(textui.Place(rows[n].Function, rows[n].File, rows[n].Line)))
		if joins {
			return said, slept
		}
		text = said
	}
	return text, 0
}

// straggles says for which of its goroutines a batch waits in rounds, for half of the time, "" if it does not: for a late one.
// Of n that take at random times as long as they do, whatever they have taken before (exponential), the last takes on average
// 1 + 1/2 + ... + 1/n times the mean, and of a round that deviates by 1.28 times the mean at most. Rounds that take longer
// by three deviations of their average have goroutines that are not alike.
func straggles(r *result.Report) string {
	for _, b := range r.Blame.Rows {
		g := result.Find(r.Goroutines, func(g *result.Group) bool { return g.Function == b.Function })
		if model.WaitOf(b.Kind) != model.WaitGroup || g == nil || b.Turns < fewHeld || 2*b.Total < r.Totals.Span || !batch(r) {
			continue
		}
		starts, chance := startsOf(r, g), 3*1.28/math.Sqrt(float64(b.Turns))
		if len(starts) == 0 || slices.ContainsFunc(starts, func(c *result.BlameRow) bool { return c.Function != b.Waiter }) {
			continue // others start some, too, or may
		}
		n := g.Count / b.Turns
		for k := range n {
			chance += 1 / float64(k+1)
		}
		if x := float64(b.Total) / float64(b.Turns) / result.Ratio(g.Lifetime, model.Duration(g.Count)); n >= 3 && x > chance {
			return fmt.Sprintf("Each of %s of %s takes %.2g times as long as its %d goroutines (%s) do on average, and waits for a late one: if that is meant, nothing here needs fixing.",
				textui.Plural(b.Turns, "round"), plain(textui.ShortFunc(b.Waiter)), x, n, plain(textui.ShortFunc(g.Function)))
		}
	}
	return ""
}

// what says in a sentence who is slow.
func (j *judge) what(f *item) string {
	q := f.q
	if q == nil {
		l := &j.r.Latency.All
		switch {
		case f.Kind == "spin" && l.P99 < slowWait:
			return "Code of the program looks for something to do all the time, which takes CPUs."
		case ofScheduling(f.Kind) && l.Count >= fewWaits:
			return fmt.Sprintf("1%% of %s to run take %s and more, the longest %s, half at most %s.", textui.Plural(l.Count, "wait"), textui.Duration(l.P99), textui.Duration(l.Max), textui.Duration(l.P50))
		case ofScheduling(f.Kind):
			return fmt.Sprintf("%s to run took up to %s.", textui.Plural(l.Count, "wait"), textui.Duration(l.Max))
		}
		switch f.Kind {
		case "goroutine-leak":
			return "Goroutines pile up, and do not end."
		case runsAlone:
			return fmt.Sprintf("For %s of %s only one goroutine ran, and no other could.", textui.Duration(j.r.Blame.Kind(result.BlameAlone).Total), textui.Duration(j.r.Totals.Span))
		case "gc-assists":
			return fmt.Sprintf("For %s of the time that goroutines of the program ran they worked for the collector.", textui.Percent(f.Evidence[2].Value))
		case "locked-thread-ping-pong":
			return "Procs go from thread to thread all the time."
		}
		lost := result.Find(f.Evidence, func(e *result.Evidence) bool { return e.Name == lostInAll })
		return fmt.Sprintf("Goroutines are held up for %s in all, not by the scheduler.", duration(lost.Value))
	}
	n, name, where := textui.Count(q.RequestGroup.Count), "requests", ""
	if result.Handled(q.Name) && len(j.questions) > 2 {
		name = plain(textui.ShortFunc(q.Name))
	}
	accepts := ""
	if where = intended(f); where != "" && q.limit > 0 {
		where = ", " + where
	} else if where != "" {
		where, accepts = ", "+where, "; "+j.slo(q)+" accepts that"
	}
	switch {
	case q.all && q.others > 0:
		seen := "waited"
		if len(f.Where) > 0 && f.Where[0].Role == requestWords["running"].does {
			seen = "ran long"
		}
		return fmt.Sprintf("Of the %s %s that %s half take %s and more%s; of %s others the handler is not seen%s.", n, name, seen, textui.Duration(q.P50), where, textui.Count(q.others), accepts)
	case q.all && accepts != "":
		return fmt.Sprintf("Half of %s %s take %s and more%s%s.", n, name, textui.Duration(q.P50), where, accepts)
	case q.all:
		if whole, _, _ := q.typical(); len(j.r.Traces) > 1 && whole != float64(q.P50) { // those of some traces
			return fmt.Sprintf("Of %s %s those in the middle fifth of each trace take %s on average, not only the slowest.", n, name, duration(whole))
		}
		return fmt.Sprintf("Half of %s %s take %s and more, not only the slowest.", n, name, textui.Duration(q.P50))
	}
	share := textui.Either(q.Share > 0, textui.Percent(q.Share), "The slowest "+textui.Count(q.RequestTail.Count))
	return fmt.Sprintf("%s of %s %s take %s and more, half at most %s.", share, n, name, textui.Duration(q.From), textui.Duration(q.P50))
}

// slo returns the flag that accepts how long requests take.
func (j *judge) slo(q *question) string {
	slo, name := fmt.Sprintf("p50=%v", roundUp(max(q.P50, q.half))), plain(textui.ShortFunc(q.Name))
	if !q.all {
		slo = fmt.Sprintf("p99=%v", roundUp(q.RequestGroup.P99))
	}
	switch head, _, _ := strings.Cut(name, "["); {
	case len(j.questions) <= 2:
	case !result.Handled(q.Name):
		slo = q.kind + ":" + slo
	case strings.Contains(head, "/"): // a route
		slo = name + ":" + slo
	default:
		slo = name[strings.LastIndex(model.Enclosing(head), ".")+1:] + ":" + slo
	}
	return "--slo " + textui.ShellWord(slo)
}

const outside, asleep, awaited = "outside this program", "in time.Sleep", "for a timer"

// intended says where requests spend what may be meant to last as long: outside of the program, or waiting
// for a time. It is "" if they wait for others.
func intended(f *item) string {
	n := len(f.Where)
	does := func(i int, kind string) bool { return f.Where[i].Role == requestWords[kind].does }
	last := func(kind string) bool { return does(n-1, kind) }
	switch {
	case n == 0, n > 1 && !does(0, "channel") && !does(0, "cond"), f.remedy == askOnce, f.remedy == raiseLimit:
	case last("call"), last("network"), last("pipe"):
		return outside
	case last("timer"):
		return awaited
	case last("sleep") && n == 1:
		return asleep
	}
	return ""
}

// roundUp rounds up to two digits.
func roundUp(d model.Duration) time.Duration {
	step := model.Duration(1)
	for d/step >= 100 {
		step *= 10
	}
	return time.Duration((d + step - 1) / step * step)
}

// unexplained is the verdict on what is slow for a reason that the trace does not show.
func (j *judge) unexplained(missed bool) (word, text string) {
	why := "no part of their time stands out; see schedscope requests."
	if j.codeless != nil {
		why = "most of what they take longer runs code that no stack shows. Record with schedscope record, which takes CPU samples."
		if j.r.Blame.Samples > 0 {
			why = fmt.Sprintf("most of what they take longer runs code that no stack shows: %s are too few, record for longer.", textui.Plural(j.r.Blame.Samples, "CPU sample"))
		}
	}
	if missed {
		for _, q := range j.questions {
			if q.limit > 0 {
				return textui.Either(q.all, Slow, SlowTail), fmt.Sprintf("The objective for %s (%s) is missed, and %s", q.name(), textui.Count(q.RequestGroup.Count), why)
			}
		}
		return Slow, "Requests miss the objective, and " + why
	}
	return Unknown, fmt.Sprintf("The slowest %s take %s and more: %s", j.codeless.name(), textui.Duration(j.codeless.From), why)
}

// main returns the kind of requests that the verdict is about, nil if there are too few of each group to judge, however many in all.
func (j *judge) main() *result.RequestKind {
	k := j.r.MainRequests()
	if len(j.questions) == 0 {
		return nil
	} else if k != nil {
		return k
	}
	return &j.r.Requests[slices.IndexFunc(j.r.Requests, func(k result.RequestKind) bool { return k.Kind == j.questions[0].kind })]
}

// healthy says what is fast enough.
func (j *judge) healthy() string {
	k, share, gc := j.main(), j.r.Procs.Utilisation, j.r.GC.Share
	collects := share > 0 && gc >= allocatesShare*share
	busy := fmt.Sprintf("procs %s busy%s.", textui.Percent(share), textui.If(collects, fmt.Sprintf(", %s of that with garbage collection", textui.Percent(gc/max(share, gc)))))
	switch {
	case k != nil && k.Kind == "func":
		return fmt.Sprintf("None of %s calls that were seen took more than %s. Calls without a wait are not seen, nor is what waits for a call.", textui.Count(k.Count), textui.Duration(k.Max))
	case k != nil && k.Count >= fewWaits && !k.Unknown:
		return fmt.Sprintf("Nothing here needs fixing: 99%% of %s requests within %s, none over %s, %s", textui.Count(k.Count), textui.Duration(k.P99), textui.Duration(k.Max), busy)
	case k != nil:
		return fmt.Sprintf("Nothing here needs fixing: %s requests, none over %s, %s", textui.Count(k.Count), textui.Duration(k.Max), busy)
	case (share >= allInUse || 2*j.r.Procs.Saturated >= j.r.Totals.Span) && j.r.Procs.MeanRunnable >= 1:
		return fmt.Sprintf("Nothing here needs fixing: procs %s busy, and %s goroutines wait for one at a time; only more procs (GOMAXPROCS %s) or less work shorten the run.",
			textui.Percent(share), number(j.r.Procs.MeanRunnable), maxProcs(j.r))
	case j.r.Latency.All.Count == 0:
		return "Nothing here needs fixing: no goroutine of the program waited to run, " + busy
	}
	if l := &j.r.Latency.All; l.Count >= fewWaits && l.Max >= result.NotableWait && !l.Unknown {
		return fmt.Sprintf("Nothing here needs fixing: 99%% of %s to run within %s, none over %s, %s", textui.Plural(l.Count, "wait"), textui.Duration(l.P99), textui.Duration(l.Max), busy)
	}
	return fmt.Sprintf("Nothing here needs fixing: no goroutine waited more than %s to run, %s", textui.Duration(j.r.Latency.All.Max), busy)
}

// ruledOut says how little the usual suspects took that no item names, and what was not checked.
func (j *judge) ruledOut() {
	r := j.r
	named := func(kinds ...string) bool {
		return slices.ContainsFunc(j.items, func(f item) bool {
			return slices.ContainsFunc(kinds, func(k string) bool { return f.Kind == k || len(f.Where) > 0 && f.Where[0].Role == requestWords[k].does })
		})
	}
	add := func(text string, args ...any) {
		r.Verdict.RuledOut = append(r.Verdict.RuledOut, fmt.Sprintf(text, args...))
	}
	locks, suspected := j.open.locks+lockWaits(r), suspected(r)
	if j.open.handler == nil && !named("lock") && result.Ratio(locks, r.Totals.Span) < heldShare {
		add("locks (%s blocked)", textui.Duration(locks))
	}
	if !named("garbage-collection", "gc") && r.GC.Share < collectorShare {
		add("GC (%s)", textui.Percent(r.GC.Share))
	}
	if !named("stop-the-world", "stw") && result.Ratio(r.STW.Effective.Total, r.Totals.Span) < stoppedShare {
		add("STW (%s)", textui.Ratio(r.STW.Effective.Total, r.Totals.Span))
	}
	scheduling := slices.ContainsFunc(j.items, func(f item) bool { return f.Kind != SlowRequests && ofScheduling(f.Kind) })
	switch l := &r.Latency.All; {
	case scheduling || l.Count == 0 || l.Count >= fewWaits && l.P99 >= result.SeriousWait ||
		slices.ContainsFunc(r.PerTrace, func(f result.TraceFigures) bool { return f.Waits >= fewWaits && f.P99 >= result.SeriousWait }):
	case l.Count >= fewWaits && !l.Unknown:
		add("scheduling (p99 %s)", textui.Duration(l.P99))
	default:
		add("scheduling (at most %s)", textui.Duration(l.Max))
	}
	switch {
	case r.Causes.Refused != "":
		r.Verdict.Unchecked = fmt.Sprintf("causes of waiting and run queues, as %s", strings.TrimSuffix(r.Causes.Refused, "."))
	case r.Verdict.Machine != "" || j.recorded() != "" || result.Ratio(suspected, r.Causes.Total) >= suspectedShare || named("more-procs-than-cpus"):
	case slices.ContainsFunc(r.Traces, func(t result.Trace) bool { return t.Machine == nil }):
		if _, most := taken(r); most < suspectedShare {
			add("the machine (at most %s)", textui.Percent(most))
		} else {
			r.Verdict.Unchecked = "the machine"
		}
	default:
		add("the machine (at most %s)", textui.Ratio(suspected, max(r.Causes.Total, 1)))
	}
	if judged, unexplained, _ := r.Queues.Judged(); judged > 0 && !differs(judged, unexplained) {
		if unexplained > 0 {
			add("run queues (%s of %s unexplained)", textui.Count(unexplained), textui.Plural(judged, "decision"))
		} else {
			add("run queues (%s by the rules)", textui.Count(judged))
		}
	}
}
