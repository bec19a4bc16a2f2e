package report

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/model"
)

// Merge merges saved reports into one, which takes over what is in them: they are not to
// be used afterwards. See [Merger].
func Merge(list []*V1) (*V1, error) {
	var m Merger
	for _, v := range list {
		if err := m.Add(v); err != nil {
			return nil, err
		}
	}
	return m.Report()
}

// Merger merges saved reports one after another, so that only one of them and the result
// are in memory. Counts, totals and extremes become those of the analysis of all traces
// together, percentiles are within 0.4 %, and unknown if a report does not hold what they
// need. What follows from a whole report cannot be merged: findings are those of single
// reports, and pathologies have the cases of the reports that found them.
type Merger struct {
	v       *V1 // the reports so far
	reports int
	procs   float64 // time of procs in all, in nanoseconds
	covered float64 // time in which they were counted
	busy    float64 // of procs
	running float64 // runnable goroutines by time
	sums    sums
	twice   twice
	notes   noteList
}

// What lists hold at most, as those of an analysis.
const (
	maxMergedNames = 4096
	maxSteps       = 1024
	maxLongest     = 20 // goroutines, bursts
	maxWorst       = 1000
	fewWorst       = 10 // worst waits, where none is left out of any report
	maxParties     = 10
)

// Add adds a report, which it takes over. After an error all is as it was before.
func (m *Merger) Add(v *V1) error {
	if err := unpackAll(v); err != nil {
		return err
	}
	if m.v != nil {
		if err := binsFit(m.v, v); err != nil {
			return err
		}
	}
	var own sums
	if err := own.add(reflect.ValueOf(v)); err != nil {
		return err
	}
	if err := m.sums.join(&own); err != nil {
		return err
	}
	m.addMeans(v)
	m.notes.add(v)
	m.reports++
	perTrace := v.PerTrace
	if len(v.Traces) == 1 {
		perTrace = []V1TraceFigures{savedFigures(v)}
	}
	v.PerTrace = perTrace
	m.mark(v)
	of := title(v)
	v.Findings = slices.DeleteFunc(v.Findings, func(f V1Finding) bool { return f.Kind == worstTraceKind })
	for i := range v.Findings {
		v.Findings[i].credit(of)
	}
	if m.v == nil {
		m.v = v
		return nil
	}
	shift(v, len(m.v.Traces))
	merge(m.v, v)
	return nil
}

// mark finds the traces of v that were in a report before.
func (m *Merger) mark(v *V1) {
	for i := range v.PerTrace {
		m.twice.add(&v.PerTrace[i], v.Traces[v.PerTrace[i].Trace].Name)
	}
}

// Twice says which traces seem to be in several reports.
func (m *Merger) Twice() []string { return m.twice.texts }

// addMeans adds what means of procs are made of.
func (m *Merger) addMeans(v *V1) {
	procs, covered := sumOf(v.Series.Procs), sumOf(v.Series.Covered)
	if covered == 0 {
		covered = float64(v.Totals.Span)
		procs = v.Procs.Mean * covered
	}
	m.procs += procs
	m.covered += covered
	m.busy += v.Procs.Utilisation * procs
	m.running += v.Procs.MeanRunnable * covered
}

func sumOf(list []int64) float64 {
	sum := int64(0)
	for _, n := range list {
		sum += n
	}
	return float64(sum)
}

// title names the traces of a report.
func title(v *V1) string {
	if n := len(v.Traces); n > 1 {
		return fmt.Sprintf("%s and %d more", v.Traces[0].Name, n-1)
	}
	return v.Traces[0].Name
}

// errNothing says that there is no report.
var errNothing = errors.New("no report to merge")

// Report returns the merged report. The Merger is not to be used afterwards.
func (m *Merger) Report() (*V1, error) {
	if m.v == nil {
		return nil, errNothing
	}
	v := m.v
	m.v = nil
	if m.reports == 1 {
		forgetAll(v)
		if len(v.Traces) == 1 {
			v.PerTrace = nil
			v.Findings = uncredited(v.Findings)
		}
		return v, nil
	}
	m.setMeans(v)
	v.Spread = spreadOf(v.PerTrace)
	mergedSpectra(&v.Latency)
	sealAll(v)
	sortAll(v)
	v.Findings = v.withWorstTrace()
	v.Notes = m.notes.list(v, m.twice.texts)
	return v, nil
}

func (m *Merger) setMeans(v *V1) {
	p := &v.Procs
	p.Utilisation = min(part(m.busy, m.procs), 1)
	p.Mean = part(m.procs, m.covered)
	p.MeanRunnable = part(m.running, m.covered)
	gc := &v.GC
	gc.Share = min(part(float64(gc.Dedicated+gc.Fractional+gc.Idle+gc.Assist), m.procs), 1)
	for i := range v.Causes.Rows {
		r := &v.Causes.Rows[i]
		r.Share = min(part(float64(r.Total), float64(v.Causes.Total)), 1)
	}
	q := &v.Queues
	q.Global.Mean = part(float64(q.Global.Sum), float64(q.Span))
	for i := range q.Local {
		q.Local[i].Mean = part(float64(q.Local[i].Sum), float64(q.Span))
	}
}

// part returns a/b, 0 if b is not positive.
func part(a, b float64) float64 {
	if b <= 0 {
		return 0
	}
	return a / b
}

// shift makes the numbers of v's traces those that they have behind n others.
func shift(v *V1, n int) {
	for i := range v.PerTrace {
		v.PerTrace[i].Trace += n
	}
	for i := range v.Totals.GOMAXPROCS {
		v.Totals.GOMAXPROCS[i].Trace += n
	}
	for i := range v.Latency.ByGoroutine {
		v.Latency.ByGoroutine[i].Trace += n
	}
	for i := range v.WorstWaits {
		v.WorstWaits[i].Trace += n
	}
	for i := range v.Bursts.Longest {
		v.Bursts.Longest[i].Trace += n
	}
	for i := range v.Causes.Thresholds {
		v.Causes.Thresholds[i].Trace += n
	}
	for i := range v.Pathologies {
		v.Pathologies[i].Trace += n
	}
}

// merge adds o, whose traces are numbered on, to v.
func merge(v, o *V1) {
	// What is left out depends on the sums so far.
	v.WorstWaits = mergeWorst(v, o)
	v.Traces = append(v.Traces, o.Traces...)
	v.Skipped = append(v.Skipped, o.Skipped...)
	v.PerTrace = append(v.PerTrace, o.PerTrace...)
	v.Totals.merge(&o.Totals)
	v.Findings = mergeFindings(v.Findings, o.Findings)
	v.Series.merge(&o.Series)
	v.Heat.merge(&o.Heat)
	v.Latency.merge(&o.Latency)
	v.Causes.merge(&o.Causes)
	v.Queues.merge(&o.Queues)
	v.Pathologies = mergePathologies(v.Pathologies, o.Pathologies)
	v.Lateness.merge(&o.Lateness)
	v.Bursts.merge(&o.Bursts)
	v.Waiting.All.merge(&o.Waiting.All)
	mergeNamed(&v.Waiting.ByReason, o.Waiting.ByReason)
	v.Waiting.Censored.merge(&o.Waiting.Censored)
	v.Syscalls.merge(&o.Syscalls)
	v.mergeRuntime(o)
	v.mergeUser(o)
}

func (t *V1Totals) merge(o *V1Totals) {
	t.Span += o.Span
	t.Events += o.Events
	t.Goroutines += o.Goroutines
	t.SystemGoroutines += o.SystemGoroutines
	t.Threads += o.Threads
	t.Procs = max(t.Procs, o.Procs)
	t.GOMAXPROCS = append(t.GOMAXPROCS, o.GOMAXPROCS...)
	t.GOMAXPROCS = t.GOMAXPROCS[:min(len(t.GOMAXPROCS), maxSteps)]
}

// mergeWorst returns the longest waits of both: no more than that none which a report
// left out would have been among them.
func mergeWorst(v, o *V1) []V1Wait {
	limit := maxWorst + 1
	for _, x := range []*V1{v, o} {
		if n := len(x.WorstWaits); int64(n) < x.Latency.All.Count {
			limit = min(limit, n)
		}
	}
	if limit > maxWorst {
		limit = max(fewWorst, len(v.WorstWaits), len(o.WorstWaits))
	}
	all := append(v.WorstWaits, o.WorstWaits...)
	slices.SortStableFunc(all, func(a, b V1Wait) int {
		return cmp.Or(cmp.Compare(b.Duration, a.Duration), cmp.Compare(a.Trace, b.Trace),
			cmp.Compare(a.Start, b.Start), cmp.Compare(a.Goroutine, b.Goroutine))
	})
	return all[:min(len(all), limit)]
}

func (l *V1Latency) merge(o *V1Latency) {
	l.All.merge(&o.All)
	mergeNamed(&l.ByOrigin, o.ByOrigin)
	mergeNamed(&l.ByFunction, o.ByFunction)
	mergeList(&l.Spectra, o.Spectra, func(s *V1Spectrum) string { return s.Name }, nil, func(into, from *V1Spectrum) {
		if len(into.Points) == 0 {
			*into = *from // drawn anew if both have waits
		}
	})
	l.ByGoroutine = append(l.ByGoroutine, o.ByGoroutine...)
	slices.SortStableFunc(l.ByGoroutine, func(a, b V1Goroutine) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Trace, b.Trace), cmp.Compare(a.Goroutine, b.Goroutine))
	})
	l.ByGoroutine = l.ByGoroutine[:min(len(l.ByGoroutine), maxLongest)]
	mergeList(&l.Histogram, o.Histogram, func(b *V1Bucket) [2]int64 { return [2]int64{b.From, b.To} }, nil, func(into, from *V1Bucket) { into.Count += from.Count })
	l.System.merge(&o.System)
	l.Censored.merge(&o.Censored)
	l.Pseudo += o.Pseudo
}

func (b *V1Bursts) merge(o *V1Bursts) {
	b.All.merge(&o.All)
	b.System.merge(&o.System)
	mergeNamed(&b.ByFunction, o.ByFunction)
	b.Long.merge(&o.Long)
	b.VeryLong.merge(&o.VeryLong)
	mergeList(&b.Places, o.Places, func(p *V1Place) string { return p.Function }, func(p *V1Place) { p.Function = analyze.OtherNames },
		func(into, from *V1Place) { into.V1Tally.merge(&from.V1Tally) })
	b.Longest = append(b.Longest, o.Longest...)
	slices.SortStableFunc(b.Longest, func(x, y V1Burst) int {
		return cmp.Or(cmp.Compare(y.Duration, x.Duration), cmp.Compare(x.Trace, y.Trace), cmp.Compare(x.Start, y.Start), cmp.Compare(x.Goroutine, y.Goroutine))
	})
	b.Longest = b.Longest[:min(len(b.Longest), maxLongest)]
	b.Censored.merge(&o.Censored)
}

func (s *V1Syscalls) merge(o *V1Syscalls) {
	s.All.merge(&o.All)
	s.WithProc.merge(&o.WithProc)
	s.Blocked.merge(&o.Blocked)
	mergeNamed(&s.ByWayOut, o.ByWayOut)
	mergeNamed(&s.ByFunction, o.ByFunction)
}

// mergeRuntime merges what the runtime did.
func (v *V1) mergeRuntime(o *V1) {
	mergeList(&v.Handoffs, o.Handoffs, func(h *V1Handoff) string { return h.Cause }, nil, func(into, from *V1Handoff) {
		into.Count += from.Count
		into.Open += from.Open
		into.Gap.merge(&from.Gap)
		into.InSyscall.merge(&from.InSyscall)
	})
	v.Netpoll.All.merge(&o.Netpoll.All)
	mergeList(&v.Netpoll.ByPoller, o.Netpoll.ByPoller, func(p *V1Poller) string { return p.Poller }, nil, func(into, from *V1Poller) {
		into.Count += from.Count
		into.Direct += from.Direct
		into.Open += from.Open
		into.ToRun.merge(&from.ToRun)
	})
	v.STW.merge(&o.STW)
	v.GC.merge(&o.GC)
	v.Procs.merge(&o.Procs)
	v.Threads.merge(&o.Threads)
}

func (s *V1STW) merge(o *V1STW) {
	s.Count += o.Count
	s.Effective.merge(&o.Effective)
	s.Traced.merge(&o.Traced)
	s.ToStop.merge(&o.ToStop)
	s.Censored.merge(&o.Censored)
	mergeList(&s.ByReason, o.ByReason, func(r *V1STWReason) string { return r.Reason }, func(r *V1STWReason) { r.Reason = analyze.OtherNames },
		func(into, from *V1STWReason) {
			into.Effective.merge(&from.Effective)
			into.Traced.merge(&from.Traced)
			into.ToStop.merge(&from.ToStop)
		})
}

func (g *V1GC) merge(o *V1GC) {
	g.Dedicated += o.Dedicated
	g.Fractional += o.Fractional
	g.Idle += o.Idle
	g.Assist += o.Assist
	g.Marks.merge(&o.Marks)
	g.CensoredMarks.merge(&o.CensoredMarks)
	g.Assists.merge(&o.Assists)
	g.Sweeps.merge(&o.Sweeps)
	g.Stops.merge(&o.Stops)
}

// merge leaves the means to [Merger.setMeans].
func (p *V1Procs) merge(o *V1Procs) {
	p.Uses.merge(&o.Uses)
	if o.MaxRunnable > p.MaxRunnable {
		p.MaxRunnable, p.MaxRunnableAt = o.MaxRunnable, o.MaxRunnableAt
	}
	p.Saturated += o.Saturated
	x, y := &p.IdleRunnable, &o.IdleRunnable
	x.Episodes.merge(&y.Episodes)
	x.Wall += y.Wall
	x.PerProc += y.PerProc
	x.PerGoroutine += y.PerGoroutine
}

func (u *V1Uses) merge(o *V1Uses) {
	u.User += o.User
	u.GC += o.GC
	u.Assist += o.Assist
	u.Runtime += o.Runtime
	u.Syscall += o.Syscall
	u.Searching += o.Searching
	u.Stopped += o.Stopped
	u.Idle += o.Idle
	u.Unknown += o.Unknown
}

func (t *V1Threads) merge(o *V1Threads) {
	t.Count += o.Count
	t.Created += o.Created
	t.SeenCreated += o.SeenCreated
	t.Starts += o.Starts
	t.Acquired += o.Acquired
	t.Unknown += o.Unknown
	t.Running += o.Running
	t.Searching += o.Searching
	t.Syscall += o.Syscall
	t.SyscallBlocked += o.SyscallBlocked
	t.NoProc += o.NoProc
}

// mergeUser merges what the program named.
func (v *V1) mergeUser(o *V1) {
	mergeList(&v.Tasks, o.Tasks, func(t *V1Task) string { return t.Name }, func(t *V1Task) { t.Name = analyze.OtherNames },
		func(into, from *V1Task) {
			into.V1Dist.merge(&from.V1Dist)
			into.Censored.merge(&from.Censored)
			into.Regions += from.Regions
			into.States.merge(&from.States)
		})
	mergeList(&v.Regions, o.Regions, func(r *V1Region) string { return r.Name }, func(r *V1Region) { r.Name = analyze.OtherNames },
		func(into, from *V1Region) {
			into.V1Dist.merge(&from.V1Dist)
			into.Censored.merge(&from.Censored)
			into.States.merge(&from.States)
		})
	mergeList(&v.Goroutines, o.Goroutines, func(g *V1Group) string { return g.Function }, func(g *V1Group) { g.Function = analyze.OtherNames },
		(*V1Group).merge)
}

func (s *V1States) merge(o *V1States) {
	s.Undetermined += o.Undetermined
	s.Running += o.Running
	s.Runnable += o.Runnable
	s.Waiting += o.Waiting
	s.Syscall += o.Syscall
	s.SyscallBlocked += o.SyscallBlocked
}

func (g *V1Group) merge(o *V1Group) {
	g.System = o.System
	g.Count += o.Count
	g.Created += o.Created
	g.Ended += o.Ended
	g.Lifetime += o.Lifetime
	g.States.merge(&o.States)
	mergeList(&g.Waiting, o.Waiting, func(r *V1Reason) string { return r.Reason }, func(r *V1Reason) { r.Reason = analyze.OtherNames },
		func(into, from *V1Reason) {
			into.Count += from.Count
			into.Total += from.Total
		})
}

// sortAll puts lists into the order in which an analysis tells them.
func sortAll(v *V1) {
	sortNamed(v.Latency.ByFunction)
	sortOrigins(v.Latency.ByOrigin, func(n *V1Named) string { return n.Name })
	sortOrigins(v.Latency.Spectra[min(1, len(v.Latency.Spectra)):], func(s *V1Spectrum) string { return s.Name })
	slices.SortFunc(v.Latency.Histogram, func(a, b V1Bucket) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	sortNamed(v.Bursts.ByFunction)
	slices.SortFunc(v.Bursts.Places, func(a, b V1Place) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Function, b.Function))
	})
	sortNamed(v.Waiting.ByReason)
	sortByName(v.Syscalls.ByWayOut, func(n *V1Named) string { return n.Name }, int(model.NumSyscallExitPaths), func(i int) string { return model.SyscallExitPath(i).String() })
	sortNamed(v.Syscalls.ByFunction)
	sortByName(v.Handoffs, func(h *V1Handoff) string { return h.Cause }, int(model.NumHandoffCauses), func(i int) string { return model.HandoffCause(i).String() })
	pollers := func(i int) string { return model.Poller(i).String() }
	sortByName(v.Netpoll.ByPoller, func(p *V1Poller) string { return p.Poller }, int(model.NumPollers), pollers)
	sortByName(v.Lateness.ByPoller, func(p *V1PollerBound) string { return p.Poller }, int(model.NumPollers), pollers)
	slices.SortFunc(v.STW.ByReason, func(a, b V1STWReason) int {
		return cmp.Or(cmp.Compare(b.Effective.Total, a.Effective.Total), cmp.Compare(a.Reason, b.Reason))
	})
	slices.SortFunc(v.Tasks, func(a, b V1Task) int {
		return cmp.Or(cmp.Compare(b.Total+b.Censored.Total, a.Total+a.Censored.Total), cmp.Compare(a.Name, b.Name))
	})
	slices.SortFunc(v.Regions, func(a, b V1Region) int {
		return cmp.Or(cmp.Compare(b.Total+b.Censored.Total, a.Total+a.Censored.Total), cmp.Compare(a.Name, b.Name))
	})
	slices.SortFunc(v.Goroutines, func(a, b V1Group) int {
		return cmp.Or(cmp.Compare(b.Lifetime, a.Lifetime), cmp.Compare(a.Function, b.Function))
	})
	for i := range v.Goroutines {
		slices.SortFunc(v.Goroutines[i].Waiting, func(a, b V1Reason) int {
			return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Reason, b.Reason))
		})
	}
	sortCauses(&v.Causes)
	sortQueues(&v.Queues)
	sortFindings(v.Findings)
	sortPathologies(v.Pathologies)
}

func sortNamed(list []V1Named) {
	slices.SortFunc(list, func(a, b V1Named) int { return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Name, b.Name)) })
}

// sortByName sorts by the places of names among n known ones; others come last.
func sortByName[T any](list []T, name func(*T) string, n int, known func(int) string) {
	place := map[string]int{}
	for i := range n {
		place[known(i)] = i - n // below that of names not known, 0
	}
	slices.SortStableFunc(list, func(a, b T) int {
		return cmp.Or(cmp.Compare(place[name(&a)], place[name(&b)]), cmp.Compare(name(&a), name(&b)))
	})
}

func sortOrigins[T any](list []T, name func(*T) string) {
	sortByName(list, name, int(model.NumOrigins), func(i int) string { return model.Origin(i).String() })
}
