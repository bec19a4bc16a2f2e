package causes

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/sums"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// attribution cuts waits into cells. It hears of two things: steps of the
// model in order; and, late, what a [runqueue.Resolver] makes of the same steps.
//
//  1. Steps are held back until the resolver has reported all starts, and with them all
//     wakeups of idle procs, of that time. Then they are followed.
//  2. What they change is written to the tracks of an [activity].
//  3. A wait is settled when the tracks have gone past its end: its start is known by then.
//     Where the thread that ran it was not yet looking for work, its cells are
//     differences on the tracks of the program and of one proc: the one in whose
//     queue it last stood, else the one that ran it. After that they follow from
//     how long the thread took.
//  4. What is older than every wait that is open is forgotten.
type attribution struct {
	c        *Analysis
	tables   *model.Tables
	limits   limits
	activity activity

	sums  []turnSum // scratch of nameBlockers
	where map[turnKey]int

	// As far as steps have come.
	begun     bool
	counts    bool       // waits do
	first     model.Time // of the first step
	now       model.Time // of the latest step
	count     int        // of steps
	steps     int        // since waits were last settled, those of procs counted apart
	procs     int        // GOMAXPROCS
	seen      int        // procs
	held      fifo[[]model.Step]
	changes   fifo[change]   // apart from those of steps, in order
	latest    model.Time     // of those
	estimates fifo[estimate] // in order
	starts    fifo[wait]     // waits that ended, and all other starts, in order
	resolved  int            // of those in a row

	// As far as steps are followed.
	follows  int            // before held
	offset   int            // after that, of the next one
	done     [][]model.Step // what was held
	at       model.Time     // of the step before
	seenOf   []procSeen     // by proc
	lastStop stackSeen      // the latest stop of a goroutine, fn in lastFn
	lastFn   model.StringID
	open     sums.GoCells[opening] // of goroutines that are Runnable, else zero
	opened   fifo[opening]         // in order, some of them over
	undone   int                   // goroutines that are Runnable

	users []uint8 // by stack: whether it has a function of the program
	// collector is its name. It is known from the beginning: others add names meanwhile.
	collector model.StringID
	cut       cut                  // of the wait that is being settled
	worst     sums.Top[*worstWait] // settled
	// maxPoints is how many points all tracks together may have, in addition to
	// pointsPerWait for each wait that is open.
	maxPoints  int
	feed       *Feed
	only       bool // nobody reads what all waits add up to, and there are spans
	explaining ExplainedWait
	spans      fifo[model.GoSpan] // of the waits in starts, if an Explainer takes them
}

// procSeen is what the steps have shown of a proc.
type procSeen struct {
	seen   bool
	inside stackSeen // the latest stack of the program in the turn
}

// estimate is what changes go by from a step on.
type estimate struct {
	from          int
	grace, search int32 // as in a change
}

// opening is when a goroutine became Runnable.
type opening struct {
	at model.Time
	g  model.GoID
}

// wait is a wait of a goroutine to run, from when it became Runnable, or a start that ended none.
type wait struct {
	start, end model.Time
	g          model.GoID
	fn         model.StringID
	origin     model.Origin
	clamped    bool
	counts     bool // it is a wait
	pending    bool // the resolver is to report the start
	// From its start, if known.
	known   bool
	contra  bool // the start contradicts what was known of the queues
	source  runqueue.Source
	grade   runqueue.Grade
	proc    model.ProcID // on which it depends
	from    model.ProcID // from which it was stolen
	search  model.Time   // when the thread that ran it began to look for work
	pickup  model.Duration
	backoff model.Duration
}

// cut is what a wait is cut into.
type cut struct {
	cells    Totals
	causes   uint32 // set of those that may have cells
	blockers []result.Blocker
	bin      *Totals // of the series, in which all of the wait lies; nil: it lies in several
}

// worstWait is one of the worst waits.
type worstWait struct {
	wait
	cut
	named bool // all blockers are set
}

const (
	// sourceOwn is the source of the next goroutine of a proc that has one.
	sourceOwn = runqueue.SourceLocal
	// settleDelay is by how much the tracks lag behind the resolver, so that
	// wakeups that had not ended by a start are known when its wait is settled. A
	// wakeup that is reported still later counts from then on.
	settleDelay = 5_000_000
	// statusDelay is for how long the tracks wait at the beginning until all procs
	// were seen: what a proc does at the beginning shows with its first event,
	// which comes after a time slice at the latest.
	statusDelay = osGapMin
	// settleSteps is how many steps come between two looks at what can be settled.
	settleSteps   = 2048
	pointsPerWait = 8
)

// What attributions that are done with leave to the next ones.
var spareWaits recycler[wait]

func newAttribution(c *Analysis, t *model.Tables, worst int) *attribution {
	a := &attribution{c: c, tables: t, feed: new(Feed), maxPoints: 1 << 18, collector: t.AddString(result.CollectorName)}
	a.activity.sampled, a.activity.next = c.antagonists.sample, math.MinInt64
	c.antagonists.ofProgram = a.ofProgram
	a.starts.items = spareWaits.get()
	a.worst = sums.Top[*worstWait]{Limit: worst, Compare: func(x, y *worstWait) int { return compareWaits(&x.wait, &y.wait) }}
	a.estimate()
	return a
}

func compareWaits(x, y *wait) int {
	return cmp.Or(cmp.Compare(y.end-y.start, x.end-x.start), cmp.Compare(x.start, y.start), cmp.Compare(x.g, y.g))
}

// hold takes steps, which it keeps, before note is called with each of them.
func (a *attribution) hold(steps []model.Step) {
	if !a.begun && len(steps) > 0 {
		a.begun, a.first, a.now = true, steps[0].Time, steps[0].Time
	}
	a.held.push(steps)
}

// room returns an empty slice for steps, of those that were held if there is one.
func (a *attribution) room() []model.Step {
	n := len(a.done) - 1
	if n < 0 {
		return make([]model.Step, 0, stepRecords)
	}
	steps := a.done[n]
	a.done = a.done[:n]
	return steps[:0]
}

// note takes that a step comes, or one of the two that it consists of.
func (a *attribution) note(s *model.Step) {
	a.steps++
	if s.Kind != model.StepGo {
		a.noteOther(s)
		return
	}
	if s.Flags&model.StepWithProc != 0 {
		a.steps++
		if a.seen < a.procs || a.procs == 0 {
			a.see(s.P)
		}
	}
	a.now = s.Time
	if starts := model.GoState(s.From) == model.GoRunnable && model.GoState(s.To) == model.GoRunning; starts || s.Flags&model.StepWait != 0 {
		*a.starts.room() = wait{start: s.Since, end: s.Time, g: s.G, fn: s.Func, origin: s.Waited, clamped: s.Flags&model.StepClamped != 0,
			counts: s.Flags&model.StepWait != 0 && a.counts, pending: starts}
	}
}

func (a *attribution) noteOther(s *model.Step) {
	if s.P != model.NoProc {
		a.see(s.P)
	}
	if s.Kind == model.StepProcs {
		a.procs = int(s.N)
		a.estimate()
	}
	if s.Kind == model.StepProc && s.Time < a.now {
		a.change(s.Time, changeProc).step = s
	}
	a.now = max(a.now, s.Time)
}

// see notes that a proc was seen.
func (a *attribution) see(p model.ProcID) {
	if x := a.proc(p); !x.seen {
		x.seen = true
		a.seen++
	}
}

// Silence records an interval without events of any thread. It precedes the event that ends
// it.
func (a *attribution) Silence(from, to model.Time) {
	if to.Sub(from) >= osGapMin {
		a.change(from, changeGap)
		a.change(to, changeGapEnd)
	}
}

// change adds a change that the caller fills in. It comes late if it shows what a
// proc has done since the beginning.
func (a *attribution) change(at model.Time, kind changeKind) *change {
	at = max(at, a.activity.now)
	c := a.changes.room()
	if at < a.latest {
		all := a.changes.all()
		i := len(all) - 1
		for ; i > 0 && all[i-1].at > at; i-- {
			all[i] = all[i-1]
		}
		c = &all[i]
	}
	a.latest = max(a.latest, at)
	last := a.estimates.items[len(a.estimates.items)-1]
	*c = change{at: at, kind: kind, after: a.count, grace: last.grace, search: last.search}
	return c
}

// followOther takes what a step changes that is not that of a goroutine.
func (a *attribution) followOther(s *model.Step, late bool) {
	w := &a.activity
	if late {
		w.proc(s.P).early = false
		return
	}
	w.advance(s.Time)
	switch s.Kind {
	case model.StepProc:
		w.procStep(s)
	case model.StepProcs:
		w.resize(int(s.N))
	case model.StepStopping:
		w.stw, w.stopper, a.lastStop = true, phase{fn: s.Func, stack: s.Stack}, stackSeen{g: model.NoGoroutine}
		if strings.Contains(a.tables.String(s.Reason), "GC") {
			w.stopper.fn = a.collector // when all have stopped it is nobody's code that they wait for
		}
	case model.StepStopped:
		w.stopped(a.lastStop, a.lastFn)
	case model.StepRestarted:
		w.stw = false
	}
	w.update()
}

// follow takes what a step changes, unless a change did because it came late.
func (a *attribution) follow(s *model.Step, late bool) {
	if s.Kind != model.StepGo {
		a.followOther(s, late)
		return
	}
	if s.Flags&model.StepWithProc != 0 {
		a.activity.advance(s.Time)
		a.activity.procStep(s)
		a.activity.update()
	}
	from, to := model.GoState(s.From), model.GoState(s.To)
	if from == model.GoRunning {
		if s.P != model.NoProc {
			a.stopped(s)
		}
	} else if s.Stack != 0 && s.P != model.NoProc && s.By != model.NoGoroutine && a.ofProgram(s.Stack) {
		a.proc(s.P).inside = stackSeen{g: s.By, stack: s.Stack}
	}
	switch {
	case to == model.GoRunnable:
		x := a.open.Cell(s.G)
		if *x == (opening{}) {
			a.undone++
		}
		*x = opening{s.Time, s.G}
		a.opened.push(*x)
	case from == model.GoRunnable, s.Flags&model.StepWait != 0, to == model.GoNotExist: // a trace may contradict itself
		if x := a.open.Get(s.G); x != nil && *x != (opening{}) {
			*x = opening{}
			a.undone--
		}
	}
	if to == model.GoNotExist {
		a.open.Drop(s.G)
	}
}

// stopped notes where a goroutine was when its turn on a proc ended. As a rule that has just
// changed the proc. A stack without a function of the program, such as that of a server that
// reads the next request, says less than an earlier one of the turn that has one.
func (a *attribution) stopped(s *model.Step) {
	stack, inside := s.Stack, &a.proc(s.P).inside
	if inside.stack != 0 {
		if inside.g == s.G && !a.ofProgram(stack) {
			stack = inside.stack
		}
		inside.stack = 0
	}
	if stack == 0 {
		return
	}
	a.lastStop, a.lastFn = stackSeen{g: s.G, stack: stack}, s.Func
	ended := endedOtherwise
	switch {
	case s.Origin == model.OriginPreempted || s.Origin == model.OriginSTW || s.Origin == model.OriginGC:
		ended = endedInterrupted
	case model.GoState(s.To) == model.GoWaiting || model.GoState(s.To) == model.GoNotExist:
		ended = endedWaiting
	}
	a.activity.endTurn(s.Time, s.P, stack, ended)
}

// seenAt takes the stack of a goroutine that goes on running.
func (a *attribution) seenAt(s *stackSeen) {
	c := a.change(s.at, changeStack)
	c.p, c.g, c.stack = s.p, s.g, s.stack
	if s.sample {
		c.kind = changeSample
		x := &a.c.antagonists
		if x.first == 0 {
			x.first = s.at
		}
		x.last = s.at
	}
}

// ofProgram reports whether a stack has a function of the program.
func (a *attribution) ofProgram(stack model.StackID) bool {
	if int(stack) < len(a.users) && a.users[stack] != 0 {
		return a.users[stack] == 2
	}
	return a.isOfProgram(stack)
}

func (a *attribution) isOfProgram(stack model.StackID) bool {
	if n := int(stack) + 1; n > len(a.users) {
		a.users = append(a.users, make([]uint8, n-len(a.users))...)
	}
	a.users[stack] = 1
	if f := result.PlaceIn(a.tables.Stack(stack)); f != nil && result.OfProgram(f.Func) {
		a.users[stack] = 2
	}
	return a.users[stack] == 2
}

// proc returns what the steps have shown of a proc.
func (a *attribution) proc(p model.ProcID) *procSeen {
	if n := int(p) + 1; n > len(a.seenOf) {
		a.seenOf = append(a.seenOf, make([]procSeen, n-len(a.seenOf))...)
	}
	return &a.seenOf[p]
}

// Start implements [runqueue.StartObserver]. Starts come in order, and one for
// each that the steps have shown.
func (a *attribution) Start(x *runqueue.Start) {
	list := a.starts.all()[a.resolved:]
	for i := range list {
		w := &list[i]
		if w.end > x.Time {
			break
		}
		if !w.pending || w.end == x.Time && w.g != x.G {
			continue
		}
		if w.pending = false; w.end == x.Time {
			if w.counts {
				a.started(w, x)
			}
			break
		}
	}
	for i := range list {
		if list[i].pending {
			return
		}
		a.resolved++
	}
}

// started takes what is known of the start that ended a wait.
func (a *attribution) started(w *wait, x *runqueue.Start) {
	w.known, w.contra = true, x.Grade == runqueue.GradeContradicted
	w.source, w.proc, w.search = x.Source, x.LastP, min(max(x.Search, w.start), w.end)
	w.grade, w.from = x.Grade, x.FromP
	if w.proc == model.NoProc {
		w.proc = x.P
	}
	w.pickup = a.limits.pickupOf(w.source)
	if w.source == runqueue.SourceStealRunnext {
		w.backoff = a.limits.backoffOf(a.procs)
	}
	if w.clamped || w.contra {
		return
	}
	took := w.end.Sub(w.search)
	if w.source == runqueue.SourceStealRunnext {
		a.limits.backoff.add(took)
	} else {
		a.limits.pickup[w.source].add(took)
	}
}

// Wakeup implements [runqueue.WakeupObserver].
func (a *attribution) Wakeup(x *runqueue.Wakeup) {
	if !x.Caused {
		return
	}
	a.activity.woken(x.Trigger, x.Got, a.limits.wakeLimit())
	a.limits.wake.add(x.Got.Sub(x.Trigger))
}

// catchUp settles what can be, every settleSteps steps.
func (a *attribution) catchUp() {
	if a.steps >= settleSteps {
		a.settleNow() // apart, so that asking costs no call
	}
}

func (a *attribution) settleNow() {
	a.steps = 0
	a.settleUntil(a.horizon())
}

// horizon is up to when all is known.
func (a *attribution) horizon() model.Time {
	if a.seen < a.procs && a.now.Sub(a.first) < statusDelay {
		return a.first - 1
	}
	t := a.now
	if list := a.starts.all(); a.resolved < len(list) {
		t = list[a.resolved].end
	}
	return t - settleDelay
}

// Finish completes the open waits, once the resolver has finished.
func (a *attribution) Finish() {
	a.resolved = len(a.starts.all())
	a.settleUntil(math.MaxInt64)
	for _, w := range a.worst.Items {
		a.nameBlockers(w)
	}
	a.opened = fifo[opening]{} // no wait is settled any more
	if a.activity.began {
		a.activity.credit()
		a.activity.use(0)
		a.forget(a.activity.now)
	}
	for _, p := range a.activity.procs {
		if p == nil {
			continue
		}
		if x := p.point(p.first); x.waited > 0 || x.alone > 0 {
			a.c.antagonists.add(x, 0, &a.activity) // its turn goes on
		}
	}
	a.c.antagonists.widths, a.c.antagonists.several = a.activity.widths, a.activity.several
	a.c.Thresholds = a.limits.thresholds(a.procs)
}

// recycle leaves the storage to the next trace, after the last use of what was found.
func (a *attribution) recycle() {
	spareWaits.put(a.starts.items)
	a.starts, a.activity = fifo[wait]{}, activity{}
}

// settleUntil follows steps and settles waits up to t.
func (a *attribution) settleUntil(t model.Time) {
	w := &a.activity
	if !w.began {
		if !a.begun || t < a.first {
			return
		}
		begin := a.first
		if !a.changes.empty() {
			begin = min(begin, a.changes.front().at)
		}
		w.advance(begin)
	}
	a.followUntil(t)
	a.meanwhile(t, math.MaxInt)
	w.advance(min(t, max(a.now, w.now)))
	a.settleEnded(t)
	a.estimate()
	a.tidy()
}

// followUntil follows steps up to t, with what happens meanwhile.
func (a *attribution) followUntil(t model.Time) {
	at := a.at
	for !a.held.empty() {
		steps, i := *a.held.front(), a.offset
		due, newer := a.due(a.follows + i)
		for ; i < len(steps); i++ {
			s := &steps[i]
			if s.Time > t {
				a.offset, a.at = i, at
				return
			}
			if s.Time >= due || i >= newer {
				a.meanwhile(s.Time, a.follows+i)
				due, newer = a.due(a.follows + i)
			}
			a.follow(s, s.Time < at)
			at = max(at, s.Time)
		}
		*a.held.front() = nil
		a.held.pop()
		if len(a.done) < stepAhead { // after a burst there may be many
			a.done = append(a.done, steps)
		}
		a.offset, a.follows, a.at = 0, a.follows+i, at
	}
}

// due sets what a step goes by. It returns until when only steps happen, and the step in the first
// of held from which on they go by something else.
func (a *attribution) due(step int) (at model.Time, newer int) {
	for len(a.estimates.all()) > 1 && a.estimates.all()[1].from <= step {
		a.estimates.pop()
	}
	at, newer = math.MaxInt64, math.MaxInt
	if !a.changes.empty() {
		at = a.changes.front().at
	}
	list := a.estimates.all()
	if len(list) > 1 {
		newer = list[1].from - a.follows
	}
	a.activity.grace, a.activity.search = list[0].grace, list[0].search
	return at, newer
}

// meanwhile takes the changes before t, and those at t that came before a step.
func (a *attribution) meanwhile(t model.Time, step int) {
	for !a.changes.empty() {
		c := a.changes.front()
		if c.at > t || c.at == t && c.after > step {
			break
		}
		a.activity.fold(c)
		a.changes.pop()
	}
}

// settleEnded settles the waits that ended until t.
func (a *attribution) settleEnded(t model.Time) {
	list, n := a.starts.all()[:a.resolved], 0
	for ; n < len(list) && list[n].end <= t; n++ {
		w := &list[n]
		if !w.counts {
			continue
		}
		a.settle(w)
		if a.feed.Explained != nil && (a.feed.Least == nil || w.end.Sub(w.start) >= *a.feed.Least) {
			a.explained(w)
		}
		if last, ok := a.worst.Full(); !ok || w.end-w.start >= last.end-last.start && compareWaits(w, &last.wait) < 0 {
			a.worst.Add(&worstWait{wait: *w, cut: a.cut})
		}
		if a.only {
			a.cut = cut{}
		} else {
			a.c.count(w, &a.cut)
		}
	}
	a.starts.drop(n)
	a.resolved -= n
}

// estimate updates what the next changes go by.
func (a *attribution) estimate() {
	a.estimates.push(estimate{a.count, int32(a.limits.pickupOf(sourceOwn)), int32(min(a.limits.searchOf(a.procs), maxLimit))})
}

// isOpen reports whether a goroutine still is Runnable since then.
func (a *attribution) isOpen(o opening) bool {
	x := a.open.Get(o.g)
	return x != nil && *x == o
}

// counted reports whether that is a wait that counts, as far as is known.
func (a *attribution) counted(o opening) bool {
	for i, list := 0, a.starts.all(); i < len(list); i++ {
		if list[i].g == o.g {
			return list[i].counts
		}
	}
	return true
}

// tidy forgets what no wait needs any more; and if there is too much of the
// rest, its older half, except for what is needed to settle waits.
func (a *attribution) tidy() {
	for !a.opened.empty() && !(a.isOpen(*a.opened.front()) && a.counted(*a.opened.front())) {
		a.opened.pop()
	}
	if n := len(a.opened.all()); n > 64 && n > 2*a.undone {
		a.opened.filter(a.isOpen)
	}
	oldest := a.activity.now
	if !a.opened.empty() {
		oldest = min(oldest, a.opened.front().at)
	}
	k := &a.activity.global
	points, longest, middle := k.size(), k.size(), k.at(k.first+k.size()/2)
	for _, p := range a.activity.procs {
		if p == nil {
			continue
		}
		points += p.size()
		if p.size() > longest {
			longest, middle = p.size(), p.at(p.first+p.size()/2)
		}
	}
	if middle < oldest { // not for less: whoever waits meanwhile may have to be named each time
		a.forget(oldest)
		return
	}
	if points > a.maxPoints+pointsPerWait*a.undone {
		a.forget(middle)
	}
}

// forget forgets what was before t.
func (a *attribution) forget(t model.Time) {
	for _, w := range a.worst.Items {
		if w.start < t {
			a.nameBlockers(w)
		}
	}
	var times []model.Time
	for _, o := range a.opened.all() {
		if o.at >= t {
			break
		}
		if a.isOpen(o) {
			times = append(times, o.at)
		}
	}
	times = slices.Compact(times)
	w := &a.activity
	taken := w.takenAt(t)
	for _, p := range w.procs {
		if p == nil {
			continue
		}
		p.remember(times, t, func(t model.Time) vector { return p.sumsAt(p.find(t, &p.from), w.takenAt(t)) })
		p.forget(t, taken, a)
	}
	k := &w.global
	k.remember(times, t, func(t model.Time) vector { return k.sumsAt(k.find(t, &k.from), t) })
	k.forget(t, a.phaseOver)
}

// turnOver counts a segment of a proc's track, or a part of one, which n waits cover whole.
func (a *attribution) turnOver(p *point, from, to model.Time, length model.Duration, n int64, whole bool) {
	if n > 0 && length > 0 {
		p.waited += length * model.Duration(n)
		if b := a.c.bins.In(from, to); b != nil { // nearly always
			b[heldCauses[p.class]] += length * model.Duration(n)
		} else {
			a.addTaken(heldCauses[p.class], from, to, p.clock, length, n)
		}
		if whole {
			p.turns += int32(n)
		}
	}
	if whole {
		a.c.antagonists.add(p, to.Sub(from), &a.activity)
	}
}

// phaseOver counts a segment of the program's track.
func (a *attribution) phaseOver(p *phase, from, to model.Time, cover *[numGroups]int64, whole bool) {
	for g, n := range cover {
		if n == 0 {
			continue
		}
		if p.class == classSTW {
			turns := n
			if !whole {
				turns = 0
			}
			a.c.antagonists.stop(p, to.Sub(from)*model.Duration(n), turns)
		}
		if p.class != classTaken || group(g) == groupUnresolved {
			a.c.bins.add(globalCauses[g][p.class], from, to, n)
		}
	}
}

// addTaken adds time on the proc's clock to the series.
func (a *attribution) addTaken(cause Cause, from, to model.Time, clock, length model.Duration, weight int64) {
	if length == to.Sub(from) { // the clock went all the time
		a.c.bins.add(cause, from, to, weight)
		return
	}
	a.c.bins.addClock(cause, from, to, length, weight, func(t model.Time) model.Duration { return a.activity.takenAt(t) - clock })
}
