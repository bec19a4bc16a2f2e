package findings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// How a report is diagnosed
//
//  1. What was lost is the time that goroutines of the program waited to run, and that
//     during which they were held up: by locks, by whoever was slow to receive from them, by
//     system calls of [result.SlowSyscall] or more, by the garbage collector. Waits that idle goroutines
//     make by design (to receive, for the network, for a WaitGroup) are not counted.
//  2. Each diagnosis explains some of it. Its share of the sum is its part of all that was
//     lost; its share of the tail is its part of the waits beyond the p99 of all of them, each
//     of which counts for the cause that it lost most to. They are ranked by the mean of both.
//  3. Waits to run are diagnosed only if their p99 is 5 ms, or waits of 1 ms and more are slowShare
//     of the time that the program's goroutines ran or could have run, and have a p99 of 1 ms or are
//     slowSpan of all, and not if the procs were idle (idleProcsShare); the rest by limits of their
//     own. Less than leastShare is not worth a diagnosis.
//  4. More procs than CPUs comes first if threads had a CPU for less than starvedOfCPU of the time, or the program
//     used less than spareShare of its procs: it makes whatever runs look slow. What stands still in a stopped world
//     is due to that all the same. What slow requests wait for behind code that they do not run is due to that, if CPU
//     samples show jobSampled of it, or as much of it as of all that ran. Before that comes a batch which most of the waiting
//     is due to, and what ran alone: with all CPUs they would still be so.
//  5. In a program without requests, what ran alone matters from aloneShare of the time on: nobody waits
//     for it to give way, but the program takes longer by it. If others wait for a lock, that is why. A lack of procs
//     for less than that matters only to goroutines that were woken.
const (
	slowShare = 0.05
	slowSpan  = 0.02
	slowWait  = 5_000_000
	// idleProcsShare of the procs' time in use leaves a proc for whoever can run, if less than
	// idleWaiting goroutines wait on average.
	idleProcsShare = 0.1
	idleWaiting    = 0.25
	leastShare     = 0.10
	maxDiagnoses   = 3
	// batchShare of the waiting is that of new goroutines, where very many were runnable at
	// once.
	batchShare = 0.3
	// heldShare of the time somebody waits for a lock; heldSenders goroutines wait at a time
	// on average for who receives. One that feeds a pool of workers is not a fault.
	heldShare   = 0.05
	heldSenders = 1.5
	heldAlone   = 0.8 // of the time a batch waits at its limit
	fewHeld     = 20
	// aloneShare of the time in which one goroutine runs alone is worth a diagnosis.
	aloneShare = 0.25
	aloneTurn  = 100_000 // at a time: less is one of many that take turns
	manyLeft   = 1000    // goroutines of one function that do not end
	mostEnd    = 0.55    // of as many as are created: half where one of two answers is taken, with some of before the trace
	fewBins    = 20      // of time, with a heap and its goal
	// suspectedShare of the waiting to run is laid to the operating system.
	suspectedShare = 0.25
	// onCPU is the part of the running time that CPU samples must show: less means that
	// threads ran goroutines without a CPU.
	onCPU        = 0.7
	allInUse     = 0.9    // of the procs' time
	mostIdle     = 0.5    // of it: what waits behind turns of less than a millisecond has come at once
	spinTurn     = 10_000 // between two calls of runtime.Gosched
	spinShare    = 0.5    // of samples of code that has the procs
	starvedOfCPU = 0.4    // so little comes first
	spareShare   = 0.25   // of two procs both are busy for a sixteenth of the time then
	jobSampled   = 0.25   // of jobs of 40 ms at a fifth of a CPU 0.35 and more; of requests of 1 ms at most 0.2
	oneCPU       = 0.75   // recordings had up to a quarter fewer samples
	fewSamples   = 30
	samplePeriod = result.SamplePeriod
)

const lostInAll = "lost in all"

// loss is what was lost, in all and in the tail.
type loss struct{ sum, tail model.Duration }

func (l *loss) add(o loss) { l.sum, l.tail = l.sum+o.sum, l.tail+o.tail }

// part returns a part of a loss.
func (l loss) part(of, whole model.Duration) loss {
	x := result.Ratio(of, whole)
	return loss{model.Duration(float64(l.sum) * x), model.Duration(float64(l.tail) * x)}
}

// diagnostician collects diagnoses.
type diagnostician struct {
	r       *result.Report
	beyond  model.Duration // from which a wait is in the tail
	causes  map[string]loss
	waiting loss // to run
	all     loss
	job     bool     // slow requests wait behind it
	batched float64  // share of the waiting to run that is explained by a batch
	kinds   []string // of the blame that was looked at last
	list    []diagnosis
}

type diagnosis struct {
	result.Finding
	loss
	first  bool
	spare  bool           // the program has procs to spare: it comes first, too, except for what requests do for the collector
	causes []result.Cause // of waits to run that show it
	kinds  []string       // of the blame that names its code
}

func (d *diagnosis) before() bool { return d.first || d.spare }

// diagnose returns the diagnoses, most important first.
func diagnose(r *result.Report, job bool) []diagnosis {
	d := &diagnostician{r: r, job: job, causes: map[string]loss{}}
	d.measure()
	if WaitSeverity(&r.Latency) > result.Info && d.short() {
		d.batch()
	}
	if d.slow() {
		d.overcommitted()
		if d.short() {
			computes := d.computes()
			if !computes {
				d.busy()
			}
			if !computes && d.inRounds() == 0 || d.r.GC.Share >= collectorShare { // what it takes of the procs makes a batch longer, not who waits for it
				d.collector()
			}
			d.stops()
			d.calls()
			d.others()
		}
	}
	d.spins()
	d.locks()
	d.receivers()
	d.accepts()
	d.connections()
	d.blockingCalls()
	d.leaks()
	d.alone()
	d.marks()
	return d.ranked()
}

// heldUp are the distributions of what is lost apart from waiting to run.
func (d *diagnostician) heldUp() []*result.Named {
	var list []*result.Named
	for i := range d.r.Waiting.ByReason {
		if x := &d.r.Waiting.ByReason[i]; isLock(x.Name) || isSend(x.Name) || strings.HasPrefix(x.Name, "GC mark assist") {
			list = append(list, x)
		}
	}
	return list
}

// lockWaits is how long goroutines waited for locks.
func lockWaits(r *result.Report) model.Duration {
	return result.Sum(r.Waiting.ByReason, func(x *result.Named) model.Duration { return textui.Either(isLock(x.Name), x.Total, 0) })
}

func isLock(reason string) bool { return model.WaitOf(reason).Lock() }
func isSend(reason string) bool { return model.WaitOf(reason) == model.WaitSend }

// measure adds up what was lost.
func (d *diagnostician) measure() {
	counts := map[model.Duration]int64{}
	count := func(x *result.Dist, least model.Duration) {
		above(x, least, func(v model.Duration, n int64) { counts[v] += n })
	}
	count(&d.r.Latency.All, 0)
	held := d.heldUp()
	for _, x := range held {
		count(&x.Dist, 0)
	}
	count(&d.r.Syscalls.All, result.SlowSyscall)
	d.beyond = p99(counts)
	for c := range result.Refs(d.r.Causes.Rows) {
		d.causes[c.Cause] = loss{c.Total, d.lossOf(&c.Dominated, 0).tail}
	}
	d.waiting = d.lossOf(&d.r.Latency.All, 0)
	d.all = d.waiting
	for _, x := range held {
		d.causes[x.Name] = d.lossOf(&x.Dist, 0)
		d.all.add(d.causes[x.Name])
	}
	calls := d.lossOf(&d.r.Syscalls.All, result.SlowSyscall)
	for _, b := range d.r.Blame.Of(result.BlameInSlow) {
		if waitsInCall(d.r, b) {
			calls.sum, calls.tail = max(0, calls.sum-b.Total), max(0, calls.tail-b.Total)
		}
	}
	d.causes[result.BlameInSlow] = calls
	d.all.add(calls)
}

// above calls f for the values of x from least on, if they are known.
func above(x interface{ Values() *dist.Dist }, least model.Duration, f func(v model.Duration, n int64)) {
	if values := x.Values(); values != nil {
		values.Each(func(v model.Duration, n int64) {
			if v >= least {
				f(v, n)
			}
		})
	}
}

// lossOf adds up waits from least on.
func (d *diagnostician) lossOf(x *result.Dist, least model.Duration) loss {
	var l loss
	above(x, least, func(v model.Duration, n int64) {
		l.sum += v * model.Duration(n)
		if v >= d.beyond {
			l.tail += v * model.Duration(n)
		}
	})
	return l
}

// p99 returns the value that 99 % of the counted values do not exceed.
func p99(counts map[model.Duration]int64) model.Duration {
	values, n := make([]model.Duration, 0, len(counts)), int64(0)
	for v, k := range counts {
		values = append(values, v)
		n += k
	}
	slices.Sort(values)
	seen := int64(0)
	for _, v := range values {
		if seen += counts[v]; seen*100 >= n*99 {
			return v
		}
	}
	return 0
}

// slow reports whether waiting to run matters.
func (d *diagnostician) slow() bool {
	return d.r.Causes.Refused == "" && waitsMatter(d.r) && !idle(d.r)
}

// waitsMatter reports whether waits to run are long, or many.
func waitsMatter(r *result.Report) bool { return matter(r, &r.Latency.All, cutMatters(&r.Latency)) }

// matter reports whether some waits to run are long, or many; or one is that is seen in part.
func matter(r *result.Report, x *result.Dist, cut bool) bool {
	if x.Count >= fewWaits && x.P99 < slowWait {
		var long model.Duration
		above(x, result.NotableWait, func(v model.Duration, n int64) { long += v * model.Duration(n) })
		return result.Ratio(long, r.Bursts.All.Total+r.Latency.All.Total) >= slowShare && (x.P99 >= result.NotableWait || result.Ratio(long, r.Totals.Span) >= slowSpan)
	}
	return x.Count > 0 && severity(x, cut) > result.Info
}

// batch reports whether a program has no requests: none that certainly is one, and of those that are inferred none whole.
func batch(r *result.Report) bool {
	return !slices.ContainsFunc(r.Requests, func(k result.RequestKind) bool { return k.Count > 0 || k.Kind != "tcp" && k.Kind != "message" })
}

// short reports whether procs were short. In a program without requests more procs save at most the time in which none was
// idle while goroutines waited. If that is little, waits of new goroutines, which are for those that were started with
// them, of those that were preempted, and of those that go on late by a small part of what the network took make nothing
// late. Nor does what is less than the sleep between rounds.
func (d *diagnostician) short() bool {
	if !batch(d.r) {
		return true
	}
	saturated, network := result.Ratio(d.r.Procs.Saturated, d.r.Totals.Span), named(d.r.Waiting.ByReason, "network").Total
	if _, rounds := pause(d.r); rounds > saturated {
		return false
	}
	return saturated >= aloneShare || slices.ContainsFunc(d.r.Latency.ByOrigin, func(x result.Named) bool {
		small := x.Name == model.OriginCreated.String() || x.Name == model.OriginPreempted.String() || x.Name == model.OriginNetpoll.String() && float64(x.Total) < leastShare*float64(network)
		return !small && matter(d.r, &x.Dist, false)
	})
}

// idle reports whether the procs were idle nearly all the time and most waits to run short: the few
// long ones are then not for want of a proc.
func idle(r *result.Report) bool {
	l := &r.Latency.All
	return r.Procs.Utilisation < idleProcsShare && l.Count >= fewWaits && l.P99 < slowWait && result.Ratio(l.Total, r.Totals.Span) < idleWaiting
}

// add adds a diagnosis. Its advice is that of the catalogue.
func (d *diagnostician) add(kind string, l loss, grade result.Grade, where []result.Culprit, title, text string, args ...any) *diagnosis {
	f := result.Finding{Kind: kind, Grade: grade, Title: title, Text: fmt.Sprintf(text, args...), Where: where, Evidence: []result.Evidence{}}
	f.Severity = max(result.Notable, WaitSeverity(&d.r.Latency))
	f.Advice = Symptom(kind).Advice
	if procs := maxProcs(d.r); kind == "busy-procs" && procs == "1" {
		f.Advice = "Cache or precompute the result, or split the work into smaller pieces, between which others run; else give the program more procs and CPUs."
	}
	if kind == "more-procs-than-cpus" {
		switch procs := maxProcs(d.r); {
		case throttled(d.r) && d.r.Procs.Mean > 2:
			f.Advice = fmt.Sprintf("Raise the CPU limit, or set GOMAXPROCS to it, rounded up: it is %s. Go 1.25 does so by itself where GOMAXPROCS is not set.", procs)
		case throttled(d.r):
			f.Advice = fmt.Sprintf("Raise the CPU limit: GOMAXPROCS is %s, and fewer procs would use up the quota as well.", procs)
		case procs == "1":
			f.Advice = "Move what else runs there, or give the program more CPU: GOMAXPROCS is 1 already."
		case !strings.HasPrefix(title, moreProcs):
			f.Advice = "Move what else runs there, or raise the CPU limit if there is one, and record again."
			if strings.Contains(title, moreProcs) {
				f.Advice = "Move what else runs there, raise the CPU limit if there is one, or set GOMAXPROCS to the CPUs that the program really has."
			}
		}
	}
	d.list = append(d.list, diagnosis{Finding: f, loss: l, kinds: d.kinds, spare: kind == "more-procs-than-cpus" && d.spare()})
	return &d.list[len(d.list)-1]
}

// ranked returns the diagnoses that explain enough.
func (d *diagnostician) ranked() []diagnosis {
	score := func(x *diagnosis) float64 { return (x.Sum + x.Tail) / 2 }
	rank := func(x *diagnosis) int {
		switch {
		case x.first && (x.Kind == "batch" || x.Kind == runsAlone || x.Kind == "spin"):
			return 0
		case x.before():
			return 1
		}
		return 2
	}
	for x := range result.Refs(d.list) {
		if len(x.Evidence) > 0 { // it has its own
			continue
		}
		x.Sum, x.Tail = min(result.Ratio(x.sum, d.all.sum), 1), min(result.Ratio(x.tail, d.all.tail), 1)
		x.Evidence = append(x.Evidence, result.Evidence{Name: lostInAll, Value: float64(x.sum), Unit: "ns"}, result.Evidence{Name: "of all that was lost", Value: x.Sum, Unit: "share"}, result.Evidence{Name: "of the waits beyond p99", Value: x.Tail, Unit: "share"})
	}
	slices.SortStableFunc(d.list, func(a, b diagnosis) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), cmp.Compare(score(&b), score(&a)))
	})
	// Where much of the waiting is for want of CPUs, the rest of it says nothing of the program, except of the collector
	// if it works all the time.
	lack := slices.IndexFunc(d.list, func(x diagnosis) bool {
		return x.before() && x.Kind == "more-procs-than-cpus" && result.Ratio(x.sum, d.waiting.sum) >= suspectedShare
	})
	var out []diagnosis
	for i := range d.list {
		if x := &d.list[i]; len(out) < maxDiagnoses && (x.first || score(x) >= leastShare) && !(lack >= 0 && i > lack && ofScheduling(x.Kind) && x.Kind != "stop-the-world" && x.Kind != "batch" && !(x.Kind == "garbage-collection" && d.r.GC.Share >= allocatesShare)) {
			x.Look = d.look(x.causes)
			out = append(out, *x)
		}
	}
	return out
}

// look returns the longest wait that one of the causes dominates, nil if none is shown.
func (d *diagnostician) look(causes []result.Cause) *result.Moment {
	for w := range result.Refs(d.r.WorstWaits) {
		if len(w.Causes) > 0 && slices.Contains(causes, result.Parse(w.Causes[0].Cause, result.NumCauses)) {
			return &result.Moment{Trace: w.Trace, At: w.Start, Length: w.Duration, Goroutine: w.Goroutine}
		}
	}
	return nil
}

// culprits describes rows of blame: at most n, of at least a fifth of the first. Who sees one of the program cannot change those of others.
func (d *diagnostician) culprits(role string, rows []*result.BlameRow, n int, total model.Duration) []result.Culprit {
	var list []result.Culprit
	for i, r := range rows {
		if len(list) == n || 5*r.Total < rows[0].Total {
			break
		}
		if i > 0 && result.OfProgram(rows[0].Function) && !result.OfProgram(r.Function) {
			continue
		}
		list = append(list, culprit(role, r, total))
	}
	return list
}

func culprit(role string, r *result.BlameRow, total model.Duration) result.Culprit {
	c := result.Culprit{Role: role, Function: r.Function, File: r.File, Line: r.Line, Share: result.Ratio(r.Total, total), Basis: Basis(&r.BlameBasis, r), Callers: []string{}}
	if len(r.Stacks) > 0 {
		stack := r.Stacks[0].Stack
		at := slices.IndexFunc(stack, func(f result.Frame) bool { return f.Function == r.Function && f.File == r.File })
		for _, f := range stack[at+1:] {
			if result.OfProgram(f.Function) && len(c.Callers) < 3 {
				c.Callers = append(c.Callers, f.Function)
			}
		}
	}
	return c
}

// Basis returns in words how a share is known.
func Basis(b *result.BlameBasis, r *result.BlameRow) string {
	var parts []string
	sum := b.Sum()
	for _, x := range []struct {
		d    model.Duration
		word string
	}{{b.Sampled, "by CPU samples"}, {b.Seen, "seen"}, {b.Estimated, fmt.Sprintf("estimated by %s", textui.Plural(r.Samples, "stack"))}, {b.Unknown, "unknown"}} {
		if share := result.Ratio(x.d, sum); share >= 0.05 {
			parts = append(parts, textui.Percent(share)+" "+x.word)
		}
	}
	if r.Line == 0 && b.Seen > 0 && b.Sampled+b.Estimated == 0 && !within(r, "runtime.asyncPreempt") {
		parts = append(parts, "where it then waited")
	}
	return strings.Join(parts, ", ")
}

// top is the function of the first row, short; other stands where none is known.
func top(rows []*result.BlameRow, other string) string {
	if len(rows) == 0 {
		return other
	}
	return plain(textui.ShortFunc(rows[0].Function))
}

// known returns the rows of a kind with a function of the program, and how much of the kind
// has none.
func (d *diagnostician) known(kinds ...string) (rows []*result.BlameRow, total, unknown model.Duration) {
	d.kinds = kinds
	for _, kind := range kinds {
		if k := d.r.Blame.Kind(kind); k != nil {
			total += k.Total
			unknown += k.Unknown
		}
		for _, r := range d.r.Blame.Of(kind) {
			if r.Unknown < r.Total {
				rows = append(rows, r)
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b *result.BlameRow) int { return cmp.Compare(b.Total, a.Total) })
	return rows, total, unknown
}
