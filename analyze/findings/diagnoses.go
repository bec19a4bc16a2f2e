package findings

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// overcommitted finds that threads ran goroutines without a CPU. CPU samples count the time on
// one; the trace has the time in which the runtime took them to run.
func (d *diagnostician) overcommitted() {
	b, p := &d.r.Blame, &d.r.Procs
	ran, never := running(d.r), ""
	if batch(d.r) {
		never = restless(d.r)
	}
	var suspected loss
	for c := range result.NumCauses {
		if c.Suspected() {
			suspected.add(d.causes[c.String()])
		}
	}
	if b.Samples >= fewSamples && 10*b.SampledSpan >= 9*d.r.Totals.Span {
		had, share, n := model.Duration(b.Samples)*samplePeriod, hadCPU(d.r), float64(b.KeptSamples)
		if share >= onCPU && (n+1+math.Sqrt(n))*float64(samplePeriod) >= onCPU*float64(b.KeptSpan) {
			return
		}
		l := textui.Either(!d.job && (share < starvedOfCPU || d.spare()), d.waiting, suspected)
		d.add("more-procs-than-cpus", l, result.Inferred, nil,
			fmt.Sprintf("%s: on average %.2f threads ran and %.2f waited for a CPU, GOMAXPROCS is %s", d.lack(moreProcs), result.Ratio(had, b.SampledSpan), result.Ratio(max(ran-had, 0), d.r.Totals.Span), maxProcs(d.r)),
			"CPU samples show %s of CPU time, but procs ran goroutines for %s. Threads waited for a CPU with a goroutine in hand, which looks as if it ran long.%s",
			textui.Duration(had), textui.Duration(ran), never).first = share < starvedOfCPU && !d.job
		return
	}
	long := &d.r.Bursts
	stretched := long.Long.Count >= 10 && 2*long.VeryLong.Count >= long.Long.Count
	if p.Mean < 2 || !stretched && result.Ratio(suspected.sum, d.waiting.sum) < suspectedShare {
		return
	}
	text := fmt.Sprintf("%s of the waiting is laid to the operating system (suspected).", textui.Percent(result.Ratio(suspected.sum, d.waiting.sum)))
	if stretched {
		text += fmt.Sprintf(" %s of %s over 10ms lasted more than 20ms: the runtime asks for the proc after 10ms, which a thread without a CPU cannot heed.",
			textui.Count(long.VeryLong.Count), textui.Plural(long.Long.Count, "burst"))
	}
	text += never
	d.add("more-procs-than-cpus", suspected, result.Inferred, nil,
		d.lack(fmt.Sprintf("probably a busy machine, a CPU quota, or %s (GOMAXPROCS %s)", moreProcs, maxProcs(d.r))), "%s", text).first = stretched && !d.job && result.Ratio(suspected.sum, d.waiting.sum) >= leastShare
}

// hadCPU returns the part of the time that goroutines ran in which their threads had a CPU, by CPU samples.
func hadCPU(r *result.Report) float64 {
	return result.Ratio(model.Duration(r.Blame.Samples)*samplePeriod, running(r))
}

// spare reports whether the program used so little of its procs that whoever waits would find one, if threads had CPUs,
// and less than one CPU: its own threads hardly compete.
func (d *diagnostician) spare() bool {
	used, span := running(d.r), d.r.Totals.Span
	if used >= span || d.job {
		return false
	}
	if b := &d.r.Blame; b.Samples >= fewSamples {
		used = min(used, model.Duration(b.Samples)*samplePeriod)
	}
	return result.Ratio(used, span) < spareShare*d.r.Procs.Mean
}

const moreProcs = "more procs than CPUs"

// lack says what the program lacks CPUs for: a quota if it stood still at its pace, others or a quota if its threads had
// less than a CPU, as there is one at least, else what is probable.
func (d *diagnostician) lack(probable string) string {
	b := &d.r.Blame
	switch {
	case throttled(d.r):
		return "a CPU quota"
	case b.Samples >= fewSamples && result.Ratio(model.Duration(b.Samples)*samplePeriod, b.SampledSpan) < oneCPU:
		return "a busy machine, or a CPU quota"
	}
	return probable
}

// throttled reports whether the process stood still at the pace of a CPU quota, or a record next to a trace counts
// that.
func throttled(r *result.Report) bool {
	return slices.ContainsFunc(r.Pathologies, func(p result.Pathology) bool { return p.Name == "cpu-throttling" }) ||
		slices.ContainsFunc(r.Traces, func(t result.Trace) bool {
			return t.Machine != nil && strings.Contains(t.Machine.Disturbed, "by the CPU quota")
		})
}

// crowd returns which part of the waiting to run was while there were so many goroutines for each proc: whoever became runnable
// then waited for all of them, whatever had made it runnable.
func crowd(r *result.Report) float64 {
	s, all, part := &r.Series, 0.0, 0.0
	for i, x := range s.Runnable {
		all += float64(x)
		if float64(x) >= float64(herdFactor*r.Procs.Mean*float64(s.Covered[i])) {
			part += float64(x)
		}
	}
	return part / max(all, 1)
}

// batch finds that very many goroutines were made runnable at once: new ones, or by one other.
func (d *diagnostician) batch() {
	p, crowd := &d.r.Procs.Peak, crowd(d.r)
	of := func(o model.Origin) loss {
		x := named(d.r.Latency.ByOrigin, o.String())
		return d.lossOf(&x.Dist, 0)
	}
	much := func(l loss) bool { return result.Ratio(l.sum, d.waiting.sum) >= batchShare }
	created, woken, timers := of(model.OriginCreated), of(model.OriginGoroutine), of(model.OriginTimer)
	if created.sum > woken.sum+timers.sum {
		for _, o := range []model.Origin{model.OriginPreempted, model.OriginGosched, model.OriginSTW, model.OriginGC, model.OriginInjected} {
			again := of(o) // they had begun, and queue again
			created.add(loss{model.Duration(float64(again.sum) * crowd), model.Duration(float64(again.tail) * crowd)})
		}
	}
	byOne := len(p.Wakers) > 0 && 2*p.Wakers[0].Count >= p.Runnable
	l, ofNew, ofTimers := created, much(created), false
	switch {
	case p.Runnable < minPeak || float64(p.Runnable) < herdFactor*d.r.Procs.Mean:
		return
	case ofNew:
	case byOne && much(woken):
		l = woken
	case much(timers) && (!byOne || crowd >= batchShare): // else the peak is another
		l, ofTimers = timers, true
	default:
		return
	}
	rows, total, unknown := d.known(result.BlameCreated)
	where, title := d.culprits("starts them", rows, 1, total), top(rows, "the program")+" starts very many goroutines at once"
	const spread = "Spread timers that fire together (jitter), make them rarer, or let one serve many."
	advice := "Bound how many run at once: a pool of workers, errgroup's SetLimit, or a semaphore."
	switch {
	case ofNew && 2*unknown > total && len(d.r.Goroutines) > 0: // by no go statement
		g := slices.MaxFunc(d.r.Goroutines, func(a, b result.Group) int { return cmp.Compare(a.Created, b.Created) })
		advice = spread
		where, title = []result.Culprit{{Role: "is what they start", Function: g.Function, Share: result.Ratio(unknown, total), Callers: []string{}}},
			"timers start very many goroutines at once, most of all "+plain(textui.ShortFunc(g.Function))
	case ofTimers:
		advice = spread
		rows, total, _ := d.known(result.BlameTimers)
		where, title = d.culprits("sleeps", rows, 2, total), "very many timers fire at once, most of all in "+top(rows, "the program")
	case !ofNew:
		advice = "Wake one instead of all (sync.Cond.Signal), or let fewer wait for it."
		w := p.Wakers[0]
		c := culprit("wakes them", d.wakes(w.Function), 0)
		c.Share = float64(w.Count) / float64(p.Runnable)
		where, title = []result.Culprit{c}, plain(textui.ShortFunc(c.Function))+" wakes very many goroutines at once"
	}
	d.batched = result.Ratio(l.sum, d.waiting.sum)
	x := d.add("batch", l, result.Certain, where, title,
		"%s goroutines were runnable at once at %s%s. The last of them waits until all others have run (GOMAXPROCS %s): a batch, which the scheduler cannot shorten.",
		textui.Count(p.Runnable), textui.Duration(p.At), in(d.r, p.Trace), maxProcs(d.r))
	x.first, x.Advice = 2*d.batched >= 1, advice
}

// wakes returns where goroutines of a start function wake others most of the times that they do, without a line if nowhere.
func (d *diagnostician) wakes(start string) *result.BlameRow {
	most, turns := &result.BlameRow{Function: start}, int64(0)
	for b := range result.Refs(d.r.Blame.Rows) {
		if k := d.r.Blame.Kind(b.Kind); k != nil && k.Blocked && b.Kind != result.BlameOpen && (b.Function == start || within(b, start)) {
			if turns += b.Turns; b.Turns > most.Turns {
				most = b
			}
		}
	}
	if 2*most.Turns <= turns {
		most = &result.BlameRow{Function: start}
	}
	return most
}

// computes reports whether a program without requests shares the procs among its own work: they are in use nearly all the time, and
// next to no goroutine was woken by a timer or the network. Only more procs or less work make that shorter.
func (d *diagnostician) computes() bool {
	of := func(o model.Origin) int64 { return named(d.r.Latency.ByOrigin, o.String()).Count }
	return batch(d.r) && d.r.Procs.Utilisation >= allInUse && 100*(of(model.OriginTimer)+of(model.OriginNetpoll)) <= d.r.Latency.All.Count
}

// inRounds returns the part of the waiting to run that goroutines which a program without requests starts in rounds wait for each
// other, when they are new or preempted, 0 if it starts none: a round ends with its last one, in whatever order they run, and only
// more procs or less work make it shorter.
func (d *diagnostician) inRounds() float64 {
	started, woken := named(d.r.Latency.ByOrigin, model.OriginCreated.String()).Total, model.Duration(0)
	for _, o := range []model.Origin{model.OriginGoroutine, model.OriginTimer, model.OriginNetpoll, model.OriginSyscall} {
		woken += named(d.r.Latency.ByOrigin, o.String()).Total
	}
	if started > woken && batch(d.r) && slices.ContainsFunc(d.r.Blame.Rows, func(b result.BlameRow) bool {
		return model.WaitOf(b.Kind) == model.WaitGroup && b.Turns >= fewTurns && 2*b.Total >= d.r.Procs.Saturated
	}) {
		return 1 - result.Ratio(woken, d.r.Latency.All.Total)
	}
	return 0
}

// busy finds whose code kept the procs.
func (d *diagnostician) busy() {
	rows, total, unknown := d.known(result.CauseGoroutine.String())
	// A row without a line is only where goroutines began to wait after they had run: one that
	// was seen to run, if it has at least half as much, says more.
	if i := slices.IndexFunc(rows, func(r *result.BlameRow) bool { return r.Line != 0 }); i > 0 && 2*rows[i].Total >= rows[0].Total {
		rows = slices.Insert(slices.Delete(slices.Clone(rows), i, i+1), 0, rows[i])
	}
	l, rest := d.causes[result.CauseGoroutine.String()], 1-max(d.batched, d.inRounds())
	l = loss{model.Duration(float64(l.sum) * rest), model.Duration(float64(l.tail) * rest)}
	kept := fmt.Sprintf("%s of the waiting to run is behind other goroutines (procs: %s busy).", textui.Ratio(d.causes[result.CauseGoroutine.String()].sum, d.waiting.sum), textui.Percent(d.r.Procs.Utilisation))
	record := " CPU samples would show it: schedscope record takes them."
	switch {
	case len(rows) == 0 || rows[0].Total < unknown:
		who := "goroutines"
		if rows := d.r.Blame.Of(result.CauseGoroutine.String()); len(rows) > 0 {
			who = plain(textui.ShortFunc(rows[0].Function))
		}
		d.add("busy-procs", l, result.Inferred, d.culprits("runs", rows, 1, total), who+" keeps the procs busy, in functions that the trace does not show", "%s", kept+record)
	case 5*rows[0].Total < total:
		d.add("busy-procs", l, result.Inferred, d.culprits("runs", rows, 3, total), "many functions keep the procs busy, none of them most of the time", "%s", kept)
	default:
		text := kept
		if 2*rows[0].Estimated < rows[0].Total { // estimates have no turns
			text += fmt.Sprintf(" Others waited behind it %s; it ran for up to %s at a time.", times(rows[0].Turns), textui.Duration(rows[0].Longest))
		}
		if 5*unknown > total && d.r.Blame.Samples == 0 {
			text += fmt.Sprintf(" Of %s of the waiting the function is not known.", textui.Ratio(unknown, total)) + record
		}
		looks := slices.DeleteFunc(slices.Clone(asks), func(s string) bool { return strings.Contains(s, "sync") }) // who locks or counts works with that, unless it never waits
		allocates, spins := allocating(rows[0]), calling(rows[0], false, d.looks(rows[0], looks)...)
		if d.r.Blame.Samples == 0 { // stacks of events show where goroutines stop, not what they do
			allocates, spins = 0, 0
		}
		if allocates >= 0.3 {
			text += fmt.Sprintf(" In %s of its CPU samples it was allocating.", textui.Percent(allocates))
		}
		kind, does := "busy-procs", " keeps the procs busy"
		if spins >= spinShare {
			kind, does = "spin", " spins: it looks for something to do, again and again"
			text += fmt.Sprintf(" It was in that in %s of its CPU samples.", textui.Percent(spins))
		}
		bursts := kind == "busy-procs" && d.r.Procs.Utilisation < mostIdle && rows[0].Total < model.Duration(rows[0].Turns)*result.NotableWait
		if bursts {
			does = " runs while others wait, although the procs are idle at other times"
		}
		x := d.add(kind, l.part(rows[0].Total, total), result.Inferred, d.culprits("runs", rows, 2, total), top(rows, "")+does, "%s", text)
		if bursts {
			x.Advice = "Let what it works for not come at once: spread it over time, or take it in smaller batches. Or make its work shorter."
		}
		if allocates >= 0.3 {
			x.Advice = "Allocate less in it: reuse buffers (sync.Pool), allocate ahead, avoid short-lived objects. " + x.Advice
		}
	}
	x := &d.list[len(d.list)-1]
	x.causes, x.first = []result.Cause{result.CauseGoroutine}, d.job
}

// spins finds code that takes a proc to look for something to do, again and again. It calls runtime.Gosched until something has
// come: most waits to run are those after it, and goroutines run for less than spinTurn between them, which is not enough to have
// done something. Or it has procs that others wait for, or runs alone, and half of its stacks are in a single load or attempt, which
// takes no time where it does something in between. Or it never waits, and most of its stacks are in what it looks with: of a program
// without requests, whose work may be with atomics, under locks or in turns, in others. However many CPUs there are, it takes them.
// What never waits and is seen elsewhere may compute: it has a proc, and others share the rest.
func (d *diagnostician) spins() {
	yields, ran, text := named(d.r.Latency.ByOrigin, model.OriginGosched.String()), running(d.r), ""
	var rows []*result.BlameRow
	var g *result.Group
	role, how, advice := "spins", " spins: it looks and calls runtime.Gosched, again and again", spinAdvice
	if yields.Count >= fewWaits && 2*yields.Count >= d.r.Latency.All.Count && ran <= spinTurn*model.Duration(yields.Count) && result.Ratio(ran, d.r.Totals.Span) >= heldShare {
		text = fmt.Sprintf("It yielded %s, and ran for %s each time on average.", times(yields.Count), textui.Duration(ran/model.Duration(yields.Count)))
		rows, _, _ = d.known(result.CauseGoroutine.String())
		rows = slices.DeleteFunc(rows, func(r *result.BlameRow) bool {
			return len(r.Stacks) == 0 || len(r.Stacks[0].Stack) == 0 || r.Stacks[0].Stack[0].Function != "runtime.Gosched"
		})
		if g = unceasing(d.r, func(g *result.Group) bool { // half of the yields are its own
			return named(d.r.Latency.ByFunction, g.Function).Count >= d.r.Latency.All.Count-yields.Count/2
		}); len(rows) == 0 && g != nil { // others hardly wait behind it, as it gives way
			rows = []*result.BlameRow{{Function: g.Function, Total: ran}}
		}
	}
	if len(rows) == 0 {
		yields, text = result.Named{}, ""
		list, all, _ := d.known(result.CauseGoroutine.String(), result.BlameAlone)
		list = byFunction(list)
		rows = slices.DeleteFunc(slices.Clone(list), func(r *result.BlameRow) bool {
			return r.Turns < fewTurns || result.Ratio(r.Total, all) < leastShare || calling(r, true, asks[:trying]...) < spinShare
		})
		of := func(g *result.Group) []*result.BlameRow { // a start function without a frame of its own is in no stack (runtime/tracestack.go: traceStack, Go 1.26)
			return slices.DeleteFunc(slices.Clone(list), func(r *result.BlameRow) bool {
				return r.Function != g.Function && (r.Line == 0 || !within(r, g.Function))
			})
		}
		if len(rows) > 0 {
			how, text = " spins: it tries again and again, and does not wait", fmt.Sprintf("It has the proc for %s of what others wait behind, or of what runs alone.", textui.Ratio(rows[0].Total, all))
		} else if g = unceasing(d.r, func(g *result.Group) bool { return len(of(g)) > 0 }); g == nil ||
			batch(d.r) && slices.ContainsFunc(d.list, func(x diagnosis) bool { return x.Kind == "spin" }) {
			return
		} else {
			rows = of(g)
		}
		looks := textui.Either(batch(d.r), asks[:looking], asks)
		switch {
		case text != "":
		case calling(rows[0], true, d.looks(rows[0], looks)...) >= spinShare:
			how = " spins: it looks for something to do, again and again, and does not wait"
		case batch(d.r) || !d.slow() || 2*g.States[model.GoRunning] < ran:
			return
		default:
			role, how, advice = "runs", " runs all the time and does not wait: it spins, or computes", "If it looks for something to do, let it wait for that: see schedscope explain spin. If it computes, do that less often, keep the result, or give the program one more proc and CPU."
		}
		if text == "" {
			text = fmt.Sprintf("It runs for %s of the time.", textui.Ratio(g.States[model.GoRunning], d.r.Totals.Span))
		}
	}
	d.list = slices.DeleteFunc(d.list, func(x diagnosis) bool { return x.Kind == "busy-procs" || x.Kind == "spin" })
	for i := range d.list { // now it is known
		d.list[i].Text = strings.TrimSuffix(d.list[i].Text, restless(d.r))
	}
	x := d.add("spin", loss{sum: yields.Total}, result.Inferred, d.culprits(role, rows, 1, rows[0].Total), top(rows, "")+how, "%s", text)
	x.first, x.Advice = true, advice
}

// asks are the names of functions with which code looks whether there is something to do, or how they begin, and after … end:
// they return at once where there is not. Of package sync these are the locks around what it looks at; who is in a Map or a Pool
// most of the time works with it.
var asks = []string{"sync/atomic.Load", "sync/atomic.…Load", "sync/atomic.CompareAndSwap", "sync/atomic.…CompareAndSwap", "sync.…TryLock", "internal/sync.…TryLock",
	"runtime.selectgo", "runtime.selectnbrecv", "runtime.selectnbsend", "time.Now", "time.Since",
	"runtime.Gosched", "sync.(*Mutex).", "sync.(*RWMutex).", "internal/sync.(*Mutex).", "internal/sync.runtime_", "sync/atomic."}

// The first of asks do nothing but look: trying, for what takes no time where there is something else to do, and looking.
const trying, looking = 6, 11

// looks returns the names with which a row's function looks for something to do: without select where it has waited in that, as
// nobody does in one with a default. Such a select finds something, most of the time.
func (d *diagnostician) looks(row *result.BlameRow, names []string) []string {
	if slices.ContainsFunc(d.r.Blame.Rows, func(b result.BlameRow) bool {
		return b.Waiter == row.Function && model.WaitOf(b.Kind) == model.WaitSelect
	}) {
		return slices.DeleteFunc(slices.Clone(names), func(s string) bool { return s == "runtime.selectgo" })
	}
	return names
}

// restless says which goroutine never waits, "" if none does: if it does not compute, it spins, which no stack may show. In a program
// without requests that is of interest while main sleeps, or where timers and the network start others more often than it is preempted
// and than goroutines wake each other: it takes no part in that, and wakes nobody. The main function is the work itself.
func restless(r *result.Report) string {
	g := unceasing(r, func(g *result.Group) bool { return g.Count == int64(len(r.Traces)) && g.Function != "main.main" })
	if g == nil || 10*g.States[model.GoRunning] < 9*r.Totals.Span {
		return ""
	}
	wants := g.States[model.GoRunning] + g.States[model.GoRunnable]
	for _, x := range g.Waiting {
		if x.Reason == "preempted" { // the collector stopped it
			wants += x.Total
		}
	}
	if wants != g.Lifetime {
		return ""
	}
	of := func(o model.Origin) int64 { return named(r.Latency.ByOrigin, o.String()).Count }
	reason, most, _ := (&judge{r: r}).mainWaits()
	if batch(r) && !(reason == "sleep" && 2*most > r.Totals.Span) && of(model.OriginTimer)+of(model.OriginNetpoll) <= max(named(r.Latency.ByFunction, g.Function).Count, of(model.OriginGoroutine), fewWaits) {
		return ""
	}
	does := ""
	if places := r.Bursts.Places; len(places) > 0 && places[0].Function != g.Function && result.OfProgram(places[0].Function) && 2*places[0].Total > g.States[model.GoRunning] {
		does = fmt.Sprintf(", most of all in %s", plain(textui.ShortFunc(places[0].Function)))
	}
	return fmt.Sprintf(" %s runs all the time and never waits%s: it computes, or it spins.", plain(textui.ShortFunc(g.Function)), does)
}

// unceasing returns of some goroutines those of one function that hardly ever wait, live for half of the time or longer, and run for
// the longest; nil if there are none.
func unceasing(r *result.Report, of func(*result.Group) bool) (most *result.Group) {
	for g := range result.Refs(r.Goroutines) {
		ran := g.States[model.GoRunning]
		if !g.System && result.Ratio(ran+g.States[model.GoRunnable], g.Lifetime) >= 0.95 && float64(g.Lifetime)*float64(len(r.Traces)) >= float64(g.Count)*float64(r.Totals.Span)/2 &&
			result.Ratio(ran, r.Totals.Span) >= heldUpShare && (most == nil || ran > most.States[model.GoRunning]) && of(g) {
			most = g
		}
	}
	return most
}

const spinAdvice = "Let it wait instead of spinning: receive without a default, call Lock, or use a sync.Cond, a timer or a ticker."

// allocating is the part of a row's samples in which its function called the allocator.
func allocating(r *result.BlameRow) float64 {
	return calling(r, false, "runtime.mallocgc", "runtime.newobject", "runtime.makeslice", "runtime.growslice", "runtime.gcAssistAlloc")
}

// calling is the part of a row's samples in which its function called one of some, by how their names
// begin. Where it was seen to stop counts too if seen is set: not where it stops to wait.
func calling(r *result.BlameRow, seen bool, names ...string) float64 {
	var all, part model.Duration
	for _, s := range r.Stacks {
		if s.Basis == "seen" && !seen { // by what ended it, such as a mark assist
			continue
		}
		all += s.Total
		i := slices.IndexFunc(s.Stack, func(f result.Frame) bool { return f.Function == r.Function })
		if i > 0 && slices.ContainsFunc(s.Stack[:i], func(f result.Frame) bool {
			return slices.ContainsFunc(names, func(n string) bool {
				begins, ends, _ := strings.Cut(n, "…")
				return strings.HasPrefix(f.Function, begins) && strings.HasSuffix(f.Function, ends)
			})
		}) {
			part += s.Total
		}
	}
	return result.Ratio(part, all)
}

func times(n int64) string { return textui.Plural(n, "time") }

// collector finds that garbage collection cost the time.
func (d *diagnostician) collector() {
	_, stopped, _ := d.known(result.CauseSTW.String())
	var l loss
	for _, c := range []result.Cause{result.CauseGCDedicated, result.CauseGCFractional, result.CauseGCIdle, result.CauseAssist} {
		l.add(d.causes[c.String()])
	}
	for _, x := range d.heldUp() {
		if strings.HasPrefix(x.Name, "GC ") {
			l.add(d.causes[x.Name])
		}
	}
	rows, total, _ := d.known(result.CauseAssist.String())
	where := d.culprits("allocates, and marks for that", rows, 2, total)
	if r := collections(d.r); r != nil {
		l.add(d.causes[result.CauseSTW.String()].part(r.Total, stopped))
		where, rows = append(where, allocators(r)...), append(rows, r)
	}
	where = where[:min(len(where), 2)]
	cycles := d.r.GC.Marks.Count + d.r.GC.CensoredMarks.Count
	title := fmt.Sprintf("garbage collection, %s in %s", textui.Plural(cycles, "cycle"), textui.Duration(d.r.Totals.Span))
	if len(where) > 0 {
		title += ", as " + plain(textui.ShortFunc(where[0].Function)) + " allocates"
	}
	text := fmt.Sprintf("It took %s of the procs' time, of that %s in mark assists.", textui.Percent(d.r.GC.Share), textui.Ratio(d.r.GC.Assist, d.r.GC.Dedicated+d.r.GC.Fractional+d.r.GC.Idle+d.r.GC.Assist))
	if heap, goal := slices.Max(append(slices.Clip(d.r.Series.Heap), 0)), slices.Max(append(slices.Clip(d.r.Series.Goal), 0)); goal > 0 {
		text += fmt.Sprintf(" The heap has at most %s, its goal is at most %s.", textui.Bytes(int64(heap)), textui.Bytes(int64(goal)))
	}
	x := d.add("garbage-collection", l, result.Inferred, where, title, "%s", text)
	x.causes = []result.Cause{result.CauseGCDedicated, result.CauseGCFractional, result.CauseGCIdle, result.CauseAssist, result.CauseSTW}
	if makeTimers(rows) {
		x.Advice = timerAdvice
	}
	if noRoom(d.r) {
		x.Advice = "The heap is at its goal all the time: a memory limit, or a small GOGC, leaves no room above what is live. Raise the limit (GOMEMLIMIT, debug.SetMemoryLimit), or keep less; GOGC does not help against a limit."
	}
}

// marks finds that a program without requests spends much of its own time on marking for the collector.
func (d *diagnostician) marks() {
	f, ok := assists(d.r)
	if !ok || f.Severity < result.Serious || !batch(d.r) || slices.ContainsFunc(d.list, func(x diagnosis) bool {
		return x.Kind == "garbage-collection" && result.Ratio(x.sum, d.all.sum) >= leastShare
	}) {
		return
	}
	var where []result.Culprit
	if r := collections(d.r); r != nil {
		where = allocators(r)
	}
	x := d.add(f.Kind, loss{}, f.Grade, where[:min(len(where), 2)], "goroutines that allocate mark for the collector", "%s", f.Text)
	x.Evidence, x.kinds, x.first = f.Evidence, nil, true
}

// noRoom reports whether the heap was at its goal all the time, so that each collection is followed by the next.
func noRoom(r *result.Report) bool {
	n, least := 0, math.Inf(1)
	for i, goal := range r.Series.Goal {
		if goal > 0 && i < len(r.Series.Heap) && r.Series.Heap[i] > 0 {
			n, least = n+1, min(least, float64(r.Series.Heap[i])/float64(goal))
		}
	}
	return n >= fewBins && least >= 0.995
}

// collections returns the row of the stops for collections, nil if there is none.
func collections(r *result.Report) *result.BlameRow {
	list := r.Blame.Of(result.CauseSTW.String())
	if i := slices.IndexFunc(list, func(r *result.BlameRow) bool { return r.Function == result.CollectorName }); i >= 0 {
		return list[i]
	}
	return nil
}

// makeTimers reports whether most stacks of allocations are of new timers.
func makeTimers(rows []*result.BlameRow) bool {
	with := func(is func(string) bool) (sum model.Duration) {
		for _, r := range rows {
			sum += result.Sum(r.Stacks, func(s *result.BlameStack) model.Duration {
				return textui.Either(slices.ContainsFunc(s.Stack, func(f result.Frame) bool { return is(f.Function) }), s.Total, 0)
			})
		}
		return sum
	}
	return 2*with(newTimer) > with(result.OfProgram)
}

// allocators are the functions in which collections began: where so much had been allocated.
func allocators(r *result.BlameRow) []result.Culprit {
	var list []result.Culprit
	for _, s := range r.Stacks {
		i := slices.IndexFunc(s.Stack, func(f result.Frame) bool { return result.OfProgram(f.Function) })
		if i < 0 || slices.ContainsFunc(list, func(c result.Culprit) bool { return c.Function == s.Stack[i].Function }) {
			continue
		}
		row := *r
		f := s.Stack[i]
		row.Function, row.File, row.Line, row.Total, row.Stacks = f.Function, f.File, f.Line, s.Total, []result.BlameStack{s}
		list = append(list, culprit("a collection begins here", &row, r.Total))
	}
	return list
}

// ofRuntime reports whether a function is one of the runtime's for programs to call, such as
// runtime.ReadMemStats: who calls that while the world stops has stopped it.
func ofRuntime(fn string) bool {
	name, ok := strings.CutPrefix(fn, "runtime.")
	return strings.HasPrefix(fn, "runtime/") || ok && name != "" && name[0] >= 'A' && name[0] <= 'Z'
}

// stopsWorld is the role of who stops the world; others run on.
const stopsWorld = "stops the world"

// stops finds who did not stop when the world was to be stopped, and who stopped it.
func (d *diagnostician) stops() {
	rows, total, _ := d.known(result.CauseSTW.String())
	rows = slices.DeleteFunc(rows, func(r *result.BlameRow) bool { return r.Function == result.CollectorName })
	if len(rows) == 0 {
		return
	}
	sum := result.Sum(rows, func(r **result.BlameRow) model.Duration { return (*r).Total })
	l := d.causes[result.CauseSTW.String()].part(sum, total)
	s := &d.r.STW
	text := fmt.Sprintf("%s, for %s in all and at most %s; until all procs had stopped it took at most %s.",
		times(s.Effective.Count), textui.Duration(s.Effective.Total), textui.Duration(s.Effective.Max), textui.Duration(s.ToStop.Max))
	where := d.culprits("", rows, 2, total)
	for i := range where {
		where[i].Role = "runs on"
		if ofRuntime(rows[i].Callee()) {
			where[i].Role = stopsWorld
		}
	}
	title, reason, advice := top(rows, "")+" does not stop when the world is to be stopped", "All others stood still and waited for it. ", "Split what cannot be interrupted (large copies, clears and searches, assembly) into smaller pieces."
	long, n := model.Duration(0), int64(0)
	above(&s.ToStop, result.NotableWait, func(v model.Duration, k int64) { long, n = long+v*model.Duration(k), n+k })
	switch lost := (&judge{r: d.r}).lost(result.Ratio(long, model.Duration(n))/2, n); {
	case where[0].Role != "runs on":
		title, reason, advice = top(rows, "")+" stops the world", "", "Call runtime.ReadMemStats, runtime.Stack of all goroutines and GOMAXPROCS less often; runtime/metrics does not stop the world."
	case n > 0 && lost: // it cannot stop without a CPU; where nobody waits for it, that does not show
		d.add("more-procs-than-cpus", l, result.Inferred, nil, "probably a busy machine: "+top(rows, "")+" was late to stop when the world was to be stopped",
			"Threads had no CPU as often, for half as long or more. The world was stopped %s", text).causes = []result.Cause{result.CauseSTW}
		return
	}
	x := d.add("stop-the-world", l, result.Certain, where, title, "%sThe world was stopped %s", reason, text)
	x.causes, x.Advice = []result.Cause{result.CauseSTW}, advice
}

// calls finds whose system calls kept procs from the rest.
func (d *diagnostician) calls() {
	held, short := result.CauseSyscall.String(), result.BlameShortSyscall
	_, all, _ := d.known(held, short)
	for _, kind := range []string{held, short} {
		rows, total, _ := d.known(kind)
		l := d.causes[held].part(total, all)
		if len(rows) == 0 {
			continue
		}
		called := callOf(rows[0])
		if kind == short {
			d.add("short-system-calls", l, result.Inferred, d.culprits("calls", rows, 2, total), "short system calls of "+top(rows, "")+called,
				"Each is over before the runtime could take the proc: it is work of the kernel. Goroutines waited %s behind one.", times(rows[0].Turns))
			continue
		}
		if ofSocket(rows[0]) && !copies(d.r, rows[0]) {
			d.add("more-procs-than-cpus", l, result.Inferred, nil, "probably a busy machine: calls on sockets held procs",
				"Such calls do not block: one of %s%s took up to %s because its thread had no CPU, and goroutines waited %s behind one.", top(rows, ""), called, textui.Duration(rows[0].Longest), times(rows[0].Turns)).causes = []result.Cause{result.CauseSyscall}
			continue
		}
		d.add("procs-held-by-system-calls", l, result.Inferred, d.culprits("calls", rows, 2, total), "system calls of "+top(rows, "")+called+" hold procs",
			"Others waited behind them %s, for a call of up to %s: the runtime takes the proc away only after 20us to 10ms.", times(rows[0].Turns), textui.Duration(rows[0].Longest)).causes = []result.Cause{result.CauseSyscall}
	}
}

// callOf returns in brackets what a row of blame called, outside of the program.
func callOf(r *result.BlameRow) string {
	if c := r.Callee(); c != "" {
		return " (" + plain(textui.ShortFunc(c)) + ")"
	}
	return ""
}

// others finds what else took most of the waiting: one cause without a function to blame.
func (d *diagnostician) others() {
	for _, c := range []result.Cause{result.CauseHandoff, result.CauseRunnext, result.CauseSpinner, result.CauseUnexplained, result.CauseRuntime, result.CauseUnresolved} {
		l := d.causes[c.String()]
		if result.Ratio(l.sum, d.waiting.sum) < 2*leastShare {
			continue
		}
		x := d.add(result.SymptomName(c.String()), l, result.Inferred, nil, c.String(), "%s", c.Meaning())
		x.causes = []result.Cause{c}
		if s := result.Find(result.CauseSymptoms(), func(s *result.Symptom) bool { return s.Name == x.Kind }); s != nil {
			x.Advice = s.Advice
		}
		if c == result.CauseUnresolved {
			x.Title, x.Advice = "behind what is not known", d.resolve()
		}
	}
}

// resolve says what recording would show what the longest waits were behind that have no cause.
func (d *diagnostician) resolve() string {
	var last model.Time
	for i := range d.r.WorstWaits {
		if w := &d.r.WorstWaits[i]; len(w.Causes) > 0 && w.Causes[0].Cause == result.CauseUnresolved.String() {
			last = max(last, w.End)
		}
	}
	waiting, t := d.r.Latency.Censored.AtStart.Count, &d.r.Traces[0]
	if len(d.r.Traces) > 1 || waiting == 0 || last == 0 || last > t.Start+model.Time(t.Span/2) {
		return "Record again when load is steady, for longer: what came before the trace decides who waits for whom at its beginning."
	}
	return fmt.Sprintf("Leave out the beginning with --from %v: %s waited already when the trace began.", roundUp(model.Duration(last)), textui.Plural(waiting, "goroutine"))
}

// held returns the blame for waits for some reasons, if they were many, long and somebody
// waited for at least a part of the time.
func (d *diagnostician) held(part float64, match func(reason string) bool) (rows []*result.BlameRow, l loss, total model.Duration, count int64, worst *result.Dist) {
	var reasons []string
	for x := range result.Refs(d.r.Waiting.ByReason) {
		if !match(x.Name) {
			continue
		}
		reasons = append(reasons, x.Name)
		l.add(d.causes[x.Name])
		count += x.Count
		if worst == nil || x.Max > worst.Max {
			worst = &x.Dist
		}
	}
	if worst == nil || count < fewHeld || worst.P99 < result.NotableWait || result.Ratio(l.sum, d.r.Totals.Span) < part {
		return nil, loss{}, 0, 0, nil
	}
	rows, total, _ = d.known(reasons...)
	return d.atEnd(rows), l, total, count, worst
}

// atEnd puts first who holds up the first of rows: where that one itself waited for another, for
// at least half as long as others waited for it, the other is the reason.
func (d *diagnostician) atEnd(rows []*result.BlameRow) []*result.BlameRow {
	for range rows {
		i := slices.IndexFunc(rows, func(r *result.BlameRow) bool {
			return r.Waiter == rows[0].Function && r.Function != rows[0].Function && 2*r.Total >= rows[0].Total
		})
		if i <= 0 {
			break
		}
		next := rows[i]
		rows = append([]*result.BlameRow{next}, slices.DeleteFunc(slices.Clone(rows), func(r *result.BlameRow) bool { return r == next || r.Function == next.Waiter })...)
	}
	return rows
}

// locks finds who holds a lock that others wait for.
func (d *diagnostician) locks() {
	rows, l, total, count, worst := d.held(heldShare, isLock)
	if worst == nil {
		return
	}
	title := top(rows, "the program") + " holds a lock that others wait for"
	if len(rows) > 0 && rows[0].Waiter != "" && rows[0].Waiter != rows[0].Function {
		w := rows[0].Waiter
		title = fmt.Sprintf("%s holds the lock that %s waits for", top(rows, ""), plain(textui.ShortFunc(w)))
	}
	where := d.heldBy("releases it", "waits", rows, total)
	advice, record := d.meanwhile("holds it and %s", where, rows, total)
	released := len(rows) > 0 && where[0].Role == "releases it"
	x := d.add("lock", l, result.Certain, where, title, "Not the scheduler: goroutines waited %s for locks, %s in all, p99 %s, at most %s.%s",
		times(count), textui.Duration(l.sum), textui.Duration(worst.P99), textui.Duration(worst.Max), cmp.Or(record, textui.If(released, " Waits end where the lock is released.")))
	if len(rows) == 0 || rows[0].Callee() != "sync.(*Cond).Wait" {
		if x.Advice = cmp.Or(advice, x.Advice); released && rows[0].Waiter == rows[0].Function && batch(d.r) { // it is released at the end of what they do
			x.Advice += fmt.Sprintf(" --request 'func:%s' shows what is done with it held.", plain(textui.ShortFunc(rows[0].Waiter)))
		}
		return
	}
	// Who holds it looks for something that is not there, and waits again: it was woken for nothing.
	for _, r := range d.r.Blame.Of("sync.(*Cond).Wait") {
		if r.Waiter == rows[0].Function && r.Callee() == "sync.(*Cond).Broadcast" {
			c := culprit("wakes all that wait", r, r.Total)
			c.Basis = ""
			x.Where, x.kinds = append([]result.Culprit{c}, x.Where...), []string{r.Kind}
			x.Title = fmt.Sprintf("%s wakes all that wait in %s, and each takes the lock to look", plain(textui.ShortFunc(r.Function)), plain(textui.ShortFunc(r.Waiter)))
			x.Advice = "Wake only the one that there is something for: Signal instead of Broadcast, or a Cond or a channel for each. " + x.Advice
			return
		}
	}
}

// Held is what holds goroutines up that no request shows: who holds a lock, or waits before it accepts connections.
type Held struct {
	Title string  `json:"title,omitempty"` // "": all for locks, or most of them before they accept, however few
	Share float64 `json:"share"`           // goroutines that wait at a time on average
	Lock  bool    `json:"lock,omitempty"`
}

// HeldUp returns what holds goroutines up, and how many wait where nothing does, to compare with.
func HeldUp(r *result.Report) []Held {
	d := &diagnostician{r: r, causes: map[string]loss{}}
	d.measure()
	d.locks()
	d.accepts()
	locks, accepts := loss{}, loss{}
	for i := range r.Waiting.ByReason {
		if x := &r.Waiting.ByReason[i]; isLock(x.Name) {
			locks.add(d.causes[x.Name])
		}
	}
	if b := d.acceptor(0); b != nil {
		accepts.sum = b.Total
	}
	list := []Held{{"", result.Ratio(locks.sum, r.Totals.Span), true}, {"", result.Ratio(accepts.sum, r.Totals.Span), false}}
	for _, x := range d.list {
		list = append(list, Held{x.Title, result.Ratio(x.sum, r.Totals.Span), x.Kind == "lock"})
	}
	return list
}

// Leak are goroutines of one function that pile up.
type Leak struct {
	Func    string `json:"func"`
	Left    int64  `json:"left"`  // that wait at the end
	Added   int64  `json:"added"` // of these
	Waiting string `json:"waiting"`

	timed  bool // a timer wakes them, again and again
	starts []*result.BlameRow
}

// LeakOf returns the goroutines of which most pile up, nil if none do: of one function many wait all the time, and more come.
// At most about half as many end, by more than chance: connections that last for long come and go, too. Of those that requests
// which ended have started, and that wait for other goroutines, fewer are enough. Or few of many do not end, see [remain].
// Those of connections last as long as clients like: see [connected] and [attached]. Those of a pool work: see [pool].
func LeakOf(r *result.Report) *Leak {
	var most *Leak
	for g := range result.Refs(r.Goroutines) {
		rest, added := g.Count-g.Ended, g.Created-g.Ended
		few := float64(g.Ended) <= mostEnd*float64(g.Created) && float64(added) >= 3*math.Sqrt(float64(g.Created+g.Ended)) && (rest >= manyLeft || outlives(r, g))
		if g.System || rest < manyLives || g.Created < fewHeld || !few && !remain(r, g) || connected(r, g) || attached(r, g) || pool(r, g) || result.Ratio(g.States[model.GoWaiting], g.Lifetime) < 0.99 || most != nil && rest <= most.Left {
			continue
		}
		most = &Leak{Func: g.Function, Left: rest, Added: added, starts: creators(r, g)}
		if w := mostly(g); w != nil {
			most.Waiting, most.timed = w.Reason, ticks(r, g)
		}
	}
	return most
}

// ticks reports whether a timer wakes goroutines that do not end out of most of their waits, again and again.
func ticks(r *result.Report, g *result.Group) bool {
	w := mostly(g)
	return w != nil && w.Count >= 2*(g.Count-g.Ended) && slices.ContainsFunc(r.Blame.Of(result.BlameTimers), func(b *result.BlameRow) bool {
		return 2*b.Turns >= w.Count && (b.Function == g.Function || within(b, g.Function))
	})
}

// mostly returns what goroutines wait for most of the time, nil if that is not known.
func mostly(g *result.Group) *result.Reason {
	return result.Find(g.Waiting, func(x *result.Reason) bool { return x.Reason != result.NoName })
}

// connected reports whether goroutines mostly wait for the network, and a function started them that accepts connections, or may
// have, see [startsOf].
func connected(r *result.Report, g *result.Group) bool {
	w := mostly(g)
	return w != nil && model.WaitOf(w.Reason) == model.WaitNetwork && (len(startsOf(r, g)) == 0 || slices.ContainsFunc(creators(r, g), func(b *result.BlameRow) bool { return accepts(r, b) }))
}

// attached reports whether goroutines are of connections that last, or may be: what started them has started as many others that
// live, and wait for the network. Of these as great a part has not ended, except for chance: else they stay when connections end.
func attached(r *result.Report, g *result.Group) bool {
	return slices.ContainsFunc(r.Goroutines, func(h result.Group) bool {
		w, live := mostly(&h), func(x *result.Group) float64 { return float64(x.Count-x.Ended) / float64(x.Count) }
		all := result.Group{Count: g.Count + h.Count, Ended: g.Ended + h.Ended}
		chance := 3 * math.Sqrt(live(&all)*(1-live(&all))*(1/float64(g.Count)+1/float64(h.Count)))
		return h.Function != g.Function && w != nil && model.WaitOf(w.Reason) == model.WaitNetwork && 2*(h.Count-h.Ended) > g.Count-g.Ended && live(g) <= live(&h)+chance &&
			(len(startsOf(r, g)) == 0 || slices.ContainsFunc(creators(r, &h), func(b *result.BlameRow) bool {
				return slices.ContainsFunc(creators(r, g), func(c *result.BlameRow) bool { return b.Function == c.Function && b.File == c.File })
			}))
	})
}

// creators returns which of [startsOf] are of the program, if the function is: all of another.
func creators(r *result.Report, g *result.Group) []*result.BlameRow {
	return slices.DeleteFunc(startsOf(r, g), func(b *result.BlameRow) bool { return result.OfProgram(g.Function) && !result.OfProgram(b.Function) })
}

// startsOf returns where goroutines of a function were started, nothing if that is not known: rows of reports that older releases
// saved do not say what was started.
func startsOf(r *result.Report, g *result.Group) []*result.BlameRow {
	return slices.DeleteFunc(r.Blame.Of(result.BlameCreated), func(b *result.BlameRow) bool { return b.Waiter != g.Function })
}

// accepts reports whether a row's function, or one that called it, is seen to accept connections.
func accepts(r *result.Report, b *result.BlameRow) bool {
	return slices.ContainsFunc(r.Blame.Rows, func(x result.BlameRow) bool {
		return slices.ContainsFunc(x.Stacks, func(s result.BlameStack) bool {
			i := slices.IndexFunc(s.Stack, func(f result.Frame) bool {
				return strings.HasPrefix(f.Function, "net.(*") && strings.HasSuffix(f.Function, ".Accept")
			})
			return i >= 0 && slices.ContainsFunc(s.Stack[i:], func(f result.Frame) bool { return f.Function == b.Function || within(b, f.Function) })
		})
	})
}

// left reports whether a timer wakes goroutines out of a select again and again whose creators are gone: none that has started some
// accepts connections, unless it has started others for these, most of which have ended, or is one of as many that live. What
// sleeps may be a client, or work at its pace.
func left(r *result.Report, g *result.Group) bool {
	w, list := mostly(g), creators(r, g)
	return w != nil && model.WaitOf(w.Reason) == model.WaitSelect && ticks(r, g) && len(list) > 0 && !slices.ContainsFunc(list, func(b *result.BlameRow) bool {
		others := func(so func(h *result.Group) bool) bool {
			return slices.ContainsFunc(r.Goroutines, func(h result.Group) bool { return h.Function != g.Function && so(&h) })
		}
		return accepts(r, b) && !others(func(h *result.Group) bool { return 2*h.Ended > g.Created && connected(r, h) }) ||
			others(func(h *result.Group) bool { return 2*(h.Count-h.Ended) > g.Count-g.Ended && within(b, h.Function) })
	})
}

// remain reports whether some of many goroutines of a function, which one of the program starts, wait for others, in select
// for those of the program, and do not end: of these are left at least half of what an even rate would leave, from the first
// quarter and from the second half. What is started at once is of one of these, and what lives long enough to be left, but ends,
// of the latter. If as many ended as come, their number would be what it was, except for chance.
func remain(r *result.Report, g *result.Group) bool {
	before, added := float64(g.Count-g.Created), float64(g.Created-g.Ended)
	selects := slices.ContainsFunc(r.Blame.Of("select"), func(b *result.BlameRow) bool { return b.Waiter == g.Function && result.OfProgram(b.Function) })
	return result.OfProgram(g.Function) && (waitsForOthers(g) || selects && waitsForOthers(g, model.WaitSelect) || left(r, g)) && added >= max(fewHeld, 3*math.Sqrt(2*before)) &&
		grows(g) && len(creators(r, g)) > 0
}

// grows reports whether goroutines that do not end were created all along, not only at one time.
func grows(g *result.Group) bool {
	added := g.Created - g.Ended
	return 8*g.LeftEarly >= added && 4*g.LeftLate >= added
}

// pool reports whether goroutines that were created at one time are woken where most of them wait at the end, and wait there again: as
// many as leastShare of them or more. Whoever wakes them takes them in turn, so that each that waits there is of use.
func pool(r *result.Report, g *result.Group) bool {
	w := mostly(g)
	p, _ := waitAtEnd(r, g.Function)
	if w == nil || p == nil || grows(g) {
		return false
	}
	woken := int64(0)
	for _, b := range r.Blame.Of(w.Reason) {
		if b.Waiter == p.Function && b.WaiterFile == p.File && b.WaiterLine == p.Line {
			woken += b.Turns
		}
	}
	rest := g.Count - g.Ended
	return float64(min(woken, w.Count-rest)-g.Ended) >= leastShare*float64(rest)
}

// waitAtEnd returns where most of the goroutines of a function that wait at the end do, nil if that is not known.
func waitAtEnd(r *result.Report, fn string) (most *result.BlameRow, turns int64) {
	for _, b := range r.Blame.Of(result.BlameOpen) {
		if b.Waiter == fn {
			if turns += b.Turns; b.Line > 0 && (most == nil || b.Turns > most.Turns) {
				most = b
			}
		}
	}
	if most != nil && 2*most.Turns <= turns {
		most = nil
	}
	return most, turns
}

// leaks finds goroutines that pile up, where they wait, and who starts them.
func (d *diagnostician) leaks() {
	l := LeakOf(d.r)
	if l == nil {
		return
	}
	x := d.add("goroutine-leak", loss{}, result.Inferred, nil, fmt.Sprintf("goroutines of %s pile up", plain(textui.ShortFunc(l.Func))),
		"%s of them waited at the end (%s), %s more than at the beginning.", textui.Count(l.Left), plain(cmp.Or(l.Waiting, "not known for what")), textui.Count(l.Added))
	waits := result.Culprit{Role: "waits for ever", Function: l.Func, Share: 1, Callers: []string{}}
	if l.timed {
		waits.Role = "waits for a timer, again and again"
		x.Advice = "Let them end: leave the loop when what they serve ends, as by a select on the timer and a context that is cancelled, and stop the ticker. Or let one goroutine do it for all."
		if model.WaitOf(l.Waiting) == model.WaitSelect {
			x.Advice = "Let them end: cancel or close what the select waits for next to the timer when what they serve ends. Or let one goroutine do it for all."
		}
	}
	x.kinds = []string{result.BlameOpen}
	if b, turns := waitAtEnd(d.r, l.Func); b != nil {
		waits.Function, waits.File, waits.Line, waits.Share = b.Function, b.File, b.Line, float64(b.Turns)/float64(turns)
	}
	x.Where = []result.Culprit{waits}
	if len(l.starts) > 0 {
		c := culprit("starts them", slices.MaxFunc(l.starts, func(x, y *result.BlameRow) int { return cmp.Compare(x.Turns, y.Turns) }), 0)
		c.Basis, c.Depth = "", 1
		x.Where = append(x.Where, c)
	}
	x.first = true
}

// waitsForOthers reports whether goroutines mostly wait for what others do with a channel, a lock and the like, or in one more way.
func waitsForOthers(g *result.Group, or ...model.Wait) bool {
	w := mostly(g)
	return w != nil && slices.Contains(append(or, model.WaitSend, model.WaitReceive, model.WaitForever, model.WaitLock, model.WaitCond, model.WaitGroup), model.WaitOf(w.Reason))
}

// outlives reports whether goroutines wait for others, and requests of one handler, most of which ended, started as many.
func outlives(r *result.Report, g *result.Group) bool {
	if !waitsForOthers(g) && !left(r, g) {
		return false
	}
	return slices.ContainsFunc(r.Requests, func(k result.RequestKind) bool {
		return slices.ContainsFunc(k.Handlers, func(h result.RequestHandler) bool {
			return 2*h.Count >= g.Created && slices.ContainsFunc(creators(r, g), func(b *result.BlameRow) bool { return within(b, h.Name) })
		})
	})
}

// heldBy describes who held up, and who waited for the first of them.
func (d *diagnostician) heldBy(role, waits string, rows []*result.BlameRow, total model.Duration) []result.Culprit {
	list := d.culprits(role, byFunction(rows), 2, total)
	if len(rows) > 0 && rows[0].Waiter != "" {
		w := rows[0]
		list = append(list, result.Culprit{Role: waits, Function: w.Waiter, File: w.WaiterFile, Line: w.WaiterLine, Share: result.Ratio(w.Total, total), Callers: []string{}})
	}
	return list
}

// meanwhile says what the first that held up others did itself, if a function or what it called did the same for half of the time or
// more, instead of where it ended their waits: where it was blocked, or ran. It returns what to do about it if they waited for a lock,
// and what would show it.
func (d *diagnostician) meanwhile(role string, where []result.Culprit, rows []*result.BlameRow, total model.Duration) (advice, record string) {
	if len(rows) == 0 {
		return "", ""
	}
	all, blocked := byFunction(rows)[0], model.Duration(0)
	list := slices.SortedStableFunc(slices.Values(all.Meanwhile), func(x, y result.BlameMeanwhile) int { return cmp.Compare(y.Total, x.Total) })
	for m := range result.Refs(list) {
		word := doing(m)
		words, known := requestWords[word]
		blocked += m.Total
		for i, f := range m.Stack {
			if !known || !result.OfProgram(f.Function) {
				continue
			}
			var same model.Duration
			for _, x := range list {
				if doing(&x) == word && slices.ContainsFunc(x.Stack, func(o result.Frame) bool { return o.Function == f.Function && o.File == f.File }) {
					same += x.Total
				}
			}
			own, least, basis := all.Own, float64(same), ""
			if word == result.MeanwhileRunning { // as far as threads had a CPU, and the samples are not there by chance
				if basis = "by CPU samples"; d.r.Blame.Samples >= fewSamples {
					own = model.Duration(float64(own) * min(hadCPU(d.r), 1))
				}
				least -= math.Sqrt(float64(same) * float64(samplePeriod))
			}
			if 2*least < float64(own) {
				continue
			}
			where[0] = result.Culprit{Role: fmt.Sprintf(role, words.does), Function: f.Function, File: f.File, Line: f.Line, Basis: basis, Share: float64(result.Ratio(min(same, own), own) * result.Ratio(all.Total, total)),
				Callers: append([]string{}, places(slices.DeleteFunc(slices.Clone(m.Stack[i+1:]), func(f result.Frame) bool { return !result.OfProgram(f.Function) }))...)}
			return withoutLock(word, rows[0], m.Stack), ""
		}
	}
	return "", textui.If(2*blocked < all.Own && d.r.Blame.Samples == 0, " CPU samples would show what it runs.")
}

// doing is the name in requestWords of what a goroutine did.
func doing(m *result.BlameMeanwhile) string {
	return cmp.Or(waitWords[model.WaitOf(m.What)], m.What)
}

// withoutLock says what to do about what whoever others waited for did with a lock held, and where.
func withoutLock(word string, r *result.BlameRow, stack []result.Frame) string {
	who, line := callBy(stack, r.Function, r.Waiter)
	what, taken := fmt.Sprintf("Call %s (%s) outside the lock", who, line), "is taken"
	switch {
	case word == "lock" || word == "gc":
		return ""
	case r.Waiter == r.Function && locks(r.Callee()):
		return ownLock(r.Callee())
	case r.Waiter != r.Function:
		taken = plain(textui.ShortFunc(r.Waiter)) + " waits for"
	}
	switch inside := strings.HasPrefix(who, "runtime."); {
	case inside && word == "channel":
		what = fmt.Sprintf("Do not wait for the channel (%s) with the lock held", line)
	case word == result.MeanwhileRunning && (inside || stack[0].Function == r.Function):
		what = fmt.Sprintf("Do what runs at %s outside the lock", line)
	}
	return outOfLock(what, taken+" at "+lineOf(&result.Frame{File: r.WaiterFile, Line: r.WaiterLine}), "")
}

// waitWords are the names in requestWords of what goroutines wait for.
var waitWords = map[model.Wait]string{model.WaitSleep: "sleep", model.WaitNetwork: "network", model.WaitGC: "gc", model.WaitPreempted: "gc", model.WaitSync: "lock", model.WaitLock: "lock",
	model.WaitGroup: "waitgroup", model.WaitCond: "cond", model.WaitSend: "channel", model.WaitReceive: "channel", model.WaitSelect: "channel"}

// byFunction adds up rows that differ in who waited.
func byFunction(rows []*result.BlameRow) []*result.BlameRow {
	var list []*result.BlameRow
	for _, r := range rows {
		i := slices.IndexFunc(list, func(o *result.BlameRow) bool { return o.Function == r.Function && o.File == r.File })
		if i < 0 {
			own := *r
			list = append(list, &own)
			continue
		}
		list[i].Total += r.Total
		list[i].BlameBasis.Add(&r.BlameBasis)
		list[i].Turns += r.Turns
		list[i].Own += r.Own
		list[i].Meanwhile = slices.Concat(list[i].Meanwhile, r.Meanwhile)
	}
	return list
}

// receivers finds who is slow to receive; and a limit that a batch waits for, of which each sends for a place, or takes one
// out of a channel and gives it back.
func (d *diagnostician) receivers() {
	rows, l, total, count, worst := d.held(heldShare, isSend)
	ends, waits, why, tail := "receives", "sends", "to send", ""
	if worst != nil {
		tail = fmt.Sprintf(", p99 %s, at most %s", textui.Duration(worst.P99), textui.Duration(worst.Max))
	} else if rows = slices.DeleteFunc(d.r.Blame.Of("chan receive"), func(r *result.BlameRow) bool { return !ofSemaphore(r) || r.Turns < fewHeld }); len(rows) > 0 && batch(d.r) {
		rows = []*result.BlameRow{slices.MaxFunc(rows, func(a, b *result.BlameRow) int { return cmp.Compare(a.Total, b.Total) })}
		l, total, count = loss{sum: rows[0].Total}, rows[0].Total, rows[0].Turns
		ends, waits, why = "gives a place back", "waits for one", "for a place"
	} else {
		return
	}
	head := worst != nil && len(rows) > 0 && d.headOfLine(rows[0])
	semaphore := len(rows) > 0 && ofSemaphore(rows[0])
	least, lets := heldSenders, ""
	if semaphore && batch(d.r) {
		n := 0.0
		if lets, n = d.limit(rows[0]); lets != "" {
			least = heldAlone
		} else if n > 0 || worst == nil {
			return
		}
	}
	if !head && result.Ratio(l.sum, d.r.Totals.Span) < least {
		return
	}
	title := top(rows, "a goroutine") + " is slow to receive"
	if len(rows) > 0 && rows[0].Waiter != "" {
		title += " what " + plain(textui.ShortFunc(rows[0].Waiter)) + " sends"
	}
	where := d.heldBy(ends, waits, rows, total)
	_, record := d.meanwhile("%s meanwhile", where, rows, total)
	x := d.add("slow-receiver", l, result.Certain, where, title, "Not the scheduler: goroutines waited %s %s, %s in all (%s of them at a time on average)%s.%s",
		times(count), why, textui.Duration(l.sum), number(result.Ratio(l.sum, d.r.Totals.Span)), tail, record)
	if semaphore {
		who := plain(textui.ShortFunc(rows[0].Waiter))
		if x.Title = "goroutines of " + who + " wait until others receive"; lets != "" {
			x.Title = who + " lets " + lets
		}
		x.Advice = fmt.Sprintf("Raise the limit in %s, if the channel is a semaphore, or hold it for less time. In a pipeline, make the next stage faster.",
			plain(textui.Place(rows[0].Waiter, rows[0].WaiterFile, rows[0].WaiterLine)))
	}
	if head {
		x.Title, x.Grade, x.first = x.Title+", and others wait for that one meanwhile", result.Inferred, true
		x.Advice = oneReceiver(rows[0].Waiter)
	}
}

// ofSemaphore reports whether who waits and who ends the wait are in the same function, as where a channel is a
// semaphore (nearly always).
func ofSemaphore(r *result.BlameRow) bool {
	return r.Waiter != "" && (r.Function == r.Waiter || model.LiteralOf(r.Function, r.Waiter))
}

// within reports whether a function called what a row of blame is about, and one of others if there are some.
func within(r *result.BlameRow, function string, others ...string) bool {
	return slices.ContainsFunc(r.Stacks, func(s result.BlameStack) bool {
		return slices.ContainsFunc(s.Stack, func(f result.Frame) bool { return f.Function == function }) &&
			(len(others) == 0 || slices.ContainsFunc(s.Stack, func(f result.Frame) bool { return slices.Contains(others, f.Function) }))
	})
}

// limit says how many goroutines a semaphore lets in, if that is what a batch waits for: it waits at its limit by design,
// unless this is one, or at most the number of procs, as for goroutines that compute, and those that are let in mostly
// wait while the procs are idle. It returns how many are in at a time on average; 0 if that is not known.
func (d *diagnostician) limit(row *result.BlameRow) (lets string, n float64) {
	for g := range result.Refs(d.r.Goroutines) {
		if g.Created < fewHeld || g.Function != row.Function && g.Function != row.Waiter && !within(row, g.Function) {
			continue
		}
		in, waits := g.Lifetime, g.States[model.GoWaiting]
		for _, x := range g.Waiting {
			if x.Reason == row.Kind {
				in, waits = in-x.Total, waits-x.Total
			}
		}
		switch n = result.Ratio(in, d.r.Totals.Span); {
		case n > 0 && n <= 1/heldAlone:
			lets = oneAtATime
		case n <= d.r.Procs.Mean/heldAlone && 2*waits >= in && 2*d.r.Procs.Utilisation < 1:
			lets = fmt.Sprintf("%.0f goroutines run at a time, which mostly wait", max(n, 2))
		}
		break
	}
	return lets, n
}

const oneAtATime = "one goroutine run at a time"

// accepts finds what accepts connections waiting for others before it does: new connections wait in the queue of the socket
// then, which no request shows. A function accepts if it is seen to call the listener, or is a method Accept with system calls
// of which no stack is kept, and so do all methods of a type whose Accept does: it is a listener around another. Other types
// have methods for connections, too, which may wait.
func (d *diagnostician) accepts() {
	b := d.acceptor(fewHeld)
	if b == nil || result.Ratio(b.Total, d.r.Totals.Span) < heldUpShare {
		return
	}
	x := d.add("slow-receiver", loss{sum: b.Total}, result.Certain, d.heldBy("lets it go on", "waits, and accepts no connection meanwhile", []*result.BlameRow{b}, b.Total),
		plain(textui.ShortFunc(b.Waiter))+" waits before it accepts connections", "%s, %s in all: new connections wait meanwhile, which no request shows.", times(b.Turns), textui.Duration(b.Total))
	x.first, x.Advice = true, fmt.Sprintf("Raise the limit of connections in %s, if it is one, or let them end sooner: answers that take less time, an idle time-out (http.Server.IdleTimeout).",
		plain(textui.Place(b.Waiter, b.WaiterFile, b.WaiterLine)))
}

// acceptor returns where what accepts connections waits longest, so often at least.
func (d *diagnostician) acceptor(turns int64) (most *result.BlameRow) {
	var accept []string
	for b := range result.Refs(d.r.Blame.Rows) {
		if strings.HasPrefix(b.Callee(), "net.(*") && strings.HasSuffix(b.Callee(), ".Accept") || strings.HasSuffix(b.Function, ").Accept") && len(b.Stacks) == 0 && b.Kind == result.BlameInShort {
			accept = append(accept, b.Function)
		}
	}
	for b := range result.Refs(d.r.Blame.Rows) {
		if (most == nil || b.Total > most.Total) && model.WaitOf(b.Kind).HeldUp() && b.Waiter != "" && b.Turns >= turns && slices.ContainsFunc(accept, func(f string) bool {
			listener, ok := strings.CutSuffix(f, ").Accept")
			return f == b.Waiter || ok && strings.HasPrefix(b.Waiter, listener+").")
		}) {
			most = b
		}
	}
	return most
}

// connections finds a limit of connections of an http.Transport: calls wait in getConn, until another gives back its own
// (tryPutIdleConn), for longer than they have one, as more wait at a time than there are. Without a limit each that finds no
// idle connection dials one (net/http: queueForDial), on a goroutine that begins in dialConnFor in older releases.
func (d *diagnostician) connections() {
	n, dials := 0.0, int64(0)
	for i := range d.r.Goroutines {
		switch g := &d.r.Goroutines[i]; {
		case g.Function == "net/http.(*persistConn).readLoop":
			n = result.Ratio(g.Lifetime, d.r.Totals.Span)
		case strings.HasPrefix(g.Function, "net/http.(*Transport).startDialConn"), g.Function == "net/http.(*Transport).dialConnFor":
			dials += g.Created
		}
	}
	for _, b := range d.r.Blame.Of("select") {
		if !within(b, "net/http.(*Transport).tryPutIdleConn") || b.Waiter == "" || b.Turns < fewHeld || b.Turns < 2*dials || result.Ratio(b.Total, d.r.Totals.Span) < max(n, heldSenders) || 2*d.r.Procs.Utilisation >= 1 {
			continue
		}
		x := d.add("slow-receiver", loss{sum: b.Total}, result.Certain, []result.Culprit{{Role: "waits for a connection", Function: b.Waiter, File: b.WaiterFile, Line: b.WaiterLine, Share: 1, Callers: []string{}}},
			plain(textui.ShortFunc(b.Waiter))+" waits for a connection of its http.Transport", "%s, %s in all: %s wait at a time on average for %s, which others have.",
			times(b.Turns), textui.Duration(b.Total), number(result.Ratio(b.Total, d.r.Totals.Span)), textui.Plural(int(max(n, 1)+0.5), "connection"))
		x.first, x.Advice = true, "Raise MaxConnsPerHost of the http.Transport, if the other end can take more at a time, or make each call faster. Else let fewer goroutines call at a time: they only wait."
		return
	}
}

// oneReceiver is the advice where others wait while a sender waits for one receiver.
func oneReceiver(sender string) string {
	return fmt.Sprintf("Do not let %s wait for one receiver while others wait for it: give each a buffer or a goroutine of its own, drop what does not fit (select with default), or set a deadline.", plain(textui.ShortFunc(sender)))
}

// headOfLine reports whether receivers wait for a sender while it waits for one of them, of whatever functions. Of a pool of
// n receivers that share a channel none waits while the sender is held up: on average at most n times the rest of the time
// do, and here leastShare of them wait for the sender meanwhile, too.
func (d *diagnostician) headOfLine(row *result.BlameRow) bool {
	if row.Waiter == "" || row.Total >= d.r.Totals.Span {
		return false
	}
	var waiting model.Duration
	receivers := map[string]bool{row.Function: true}
	for _, kind := range []string{"chan receive", "select"} {
		for _, r := range d.r.Blame.Of(kind) {
			if r.Function == row.Waiter && r.Waiter != "" {
				waiting += r.Total
				receivers[r.Waiter] = true
			}
		}
	}
	n := 0.0
	for i := range d.r.Goroutines {
		if g := &d.r.Goroutines[i]; receivers[g.Function] || within(row, g.Function) {
			n += float64(g.Count) / float64(max(len(d.r.Traces), 1)) // in each trace, as w
		}
	}
	w, held := result.Ratio(waiting, d.r.Totals.Span), result.Ratio(row.Total, d.r.Totals.Span)
	return n >= 3 && w <= n && w > n*(1-(1-leastShare)*held)
}

// ofSocket reports whether the system calls of a row are those of a socket, which do not block: such a
// call is long because its thread has no CPU. Below net/http's own loop the program has no function.
func ofSocket(r *result.BlameRow) bool {
	return strings.HasPrefix(r.Callee(), "net.") || !result.OfProgram(r.Function) && onSocket(r)
}

// copies reports whether CPU samples show that the kernel worked for half of the time of a function's long calls or more, as it does
// for who sends much.
func copies(r *result.Report, b *result.BlameRow) bool {
	return slices.ContainsFunc(r.Blame.Of(result.BlameInSlow), func(x *result.BlameRow) bool {
		ran := float64(result.Sum(x.Meanwhile, func(m *result.BlameMeanwhile) model.Duration { return m.Total }))
		return x.Function == b.Function && x.File == b.File && 2*(ran-math.Sqrt(ran*float64(samplePeriod))) >= float64(x.Total)
	})
}

// onSocket reports whether calls of a row are on a socket, and do not block, whoever makes them for the program, as net/http,
// crypto/tls and bufio do. They take as long as the kernel copies.
func onSocket(r *result.BlameRow) bool {
	return len(r.Stacks) > 0 && slices.ContainsFunc(r.Stacks[0].Stack, func(f result.Frame) bool { return strings.HasPrefix(f.Function, "net.(*netFD).") })
}

// ofInput reports whether the calls of a row are reads of a file that last most of the time, and no longer: one
// goroutine takes what comes through a pipe or from a terminal. Whoever reads without package os, which is there for files, has a
// pipe or a device.
func ofInput(of *result.Report, r *result.BlameRow) bool {
	span := of.Totals.Span
	if callee := r.Callee(); callee == "syscall.Read" || callee == "golang.org/x/sys/unix.Read" {
		return true
	}
	return r.Total <= span && 2*r.Total >= span && len(r.Stacks) > 0 &&
		slices.ContainsFunc(r.Stacks[0].Stack, func(f result.Frame) bool { return f.Function == "os.(*File).Read" })
}

// waitsInCall reports whether the calls of a row wait by design: for a process, for input, or for samples to write.
func waitsInCall(of *result.Report, r *result.BlameRow) bool {
	return ofInput(of, r) || strings.HasPrefix(r.Callee(), "os.(*Process)") || r.Function == "runtime/pprof.profileWriter"
}

// blockingCalls finds who is held up by system calls that block.
func (d *diagnostician) blockingCalls() {
	var rows []*result.BlameRow
	var total model.Duration
	var count int64
	for _, r := range d.r.Blame.Of(result.BlameInSlow) {
		if r.Turns < fewHeld || r.Unknown == r.Total || onSocket(r) || waitsInCall(d.r, r) {
			continue
		}
		rows = append(rows, r)
		total += r.Total
		count += r.Turns
	}
	if len(rows) == 0 || result.Ratio(total, d.r.Totals.Span) < heldShare {
		return
	}
	l := d.causes[result.BlameInSlow].part(total, max(total, d.causes[result.BlameInSlow].sum))
	x := d.add("blocking-system-calls", l, result.Certain, d.culprits("calls", rows, 2, total), top(rows, "")+" blocks in system calls"+callOf(rows[0]),
		"Not the scheduler: %s of %s or more took %s in all, %s on average, at most %s.",
		textui.Plural(count, "call"), textui.Duration(result.SlowSyscall), textui.Duration(total), textui.Duration(total/model.Duration(max(count, 1))), textui.Duration(rows[0].Longest))
	if flocks(rows[0].Callee()) {
		x.Advice = flockAdvice
	}
}

// runsAlone is the kind of the diagnosis of code that runs while no other can.
const runsAlone = "runs-alone"

// alone finds what ran while no other goroutine had anything to do, in a program without requests. Who waits for
// a lock has.
func (d *diagnostician) alone() {
	rows, total, _ := d.known(result.BlameAlone)
	span := d.r.Totals.Span
	if len(rows) == 0 || !batch(d.r) || result.Ratio(total, span) < aloneShare || rows[0].Total < aloneTurn*model.Duration(max(1, rows[0].Turns)) || slices.ContainsFunc(d.list, func(x diagnosis) bool { return x.Kind == "lock" }) {
		return
	}
	who := textui.Either(2*rows[0].Total < total, "one goroutine or another", top(rows, ""))
	w := d.waiter(rows[0], span/2)
	if w != nil { // said here
		d.list = slices.DeleteFunc(d.list, func(x diagnosis) bool {
			return strings.HasSuffix(x.Title, oneAtATime) && slices.ContainsFunc(x.Where, func(c result.Culprit) bool { return c.Function == w.Waiter })
		})
	}
	x := d.add(runsAlone, loss{}, result.Inferred, d.culprits("runs alone", rows, 2, total), who+" runs alone",
		"%s of the time, while the other procs were idle.", textui.Ratio(total, span))
	x.Evidence = []result.Evidence{{Name: "alone", Value: float64(total), Unit: "ns"}, {Name: "of the time", Value: result.Ratio(total, span), Unit: "share"}}
	if w != nil { // for each of them
		x.Where = append(x.Where[:1], result.Culprit{Role: "waits for that", Function: w.Waiter, File: w.WaiterFile, Line: w.WaiterLine, Share: result.Ratio(w.Total, span), Callers: []string{}})
		x.Advice = fmt.Sprintf("Start the next before %s waits for the last: raise the limit that lets in one at a time, if it is a semaphore, or receive later.", plain(textui.Place(w.Waiter, w.WaiterFile, w.WaiterLine)))
	}
	if 2*result.Stages(result.Refs(d.r.Blame.Rows))[rows[0].Function] >= total && !slices.ContainsFunc(d.r.Goroutines, func(g result.Group) bool { // started for each
		return g.Created >= fewHeld && (g.Function == rows[0].Function || within(rows[0], g.Function))
	}) {
		x.Advice = fix("slow-receiver")
	}
	procs := d.r.Procs.Mean
	x.first, x.Gain = true, fmt.Sprintf("%s -> about %s, divided among %s procs", textui.Duration(span), textui.Duration(span-total+model.Duration(float64(total)/procs)), maxProcs(d.r))
}

// waiter returns who waited the longest for what a function does, or for a place of which there is one, for least or longer
// and again and again, nil if nobody did.
func (d *diagnostician) waiter(r *result.BlameRow, least model.Duration) (most *result.BlameRow) {
	for _, x := range d.r.Waiting.ByReason {
		for _, b := range d.r.Blame.Of(x.Name) {
			if b.Waiter == "" || b.Turns < fewHeld || b.Total < least {
				continue
			}
			if lets, _ := d.limit(b); b.Function == r.Function || ofSemaphore(b) && lets == oneAtATime {
				most, least = b, b.Total
			}
		}
	}
	return most
}
