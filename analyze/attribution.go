package analyze

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// attribution cuts waits into cells. It hears of three things: steps of the
// model in order; waits as they end, each right before the step that ends it;
// and, late, what a [runqueue.Resolver] makes of the same steps.
//
//  1. Steps become changes, which are held back until the resolver has reported all
//     starts, and with them all wakeups of idle procs, of that time.
//  2. Changes are folded into the tracks of a [activity].
//  3. A wait is settled when its start is known and the tracks have gone past it.
//     Where the thread that ran it was not yet looking for work, its cells are
//     differences on the tracks of the program and of one proc: the one in whose
//     queue it last stood, else the one that ran it. After that they follow from
//     how long the thread took.
//  4. What is older than every wait that is open or not settled is forgotten.
type attribution struct {
	c        *Causes
	tables   *model.Tables
	limits   limits
	activity activity

	sums  []turnSum // scratch of nameBlockers
	where map[turnKey]int

	begun   bool
	first   model.Time // of the first step
	now     model.Time // of the latest step
	steps   int        // since changes were last folded
	running int        // procs that run a goroutine
	procs   int        // GOMAXPROCS
	seenOf  []procSeen // by proc
	seen    int
	changes fifo[change]
	latest  model.Time // of the changes
	// grace and search are as in a change, estimated again when changes are folded.
	grace, search int32

	users  []uint8   // by stack: whether it has a function of the program
	last   stackSeen // the latest stop of a goroutine, fn in lastFn
	lastFn model.StringID
	// collector is its name. It is known from the beginning: others add names meanwhile.
	collector model.StringID

	waits  []wait          // open or not settled, by waitID; the first stands for none
	free   []waitID        // those that nobody needs any more
	open   goCells[waitID] // of goroutines that are Runnable, else 0
	opened fifo[waitID]    // in order
	undone int             // of those
	ended  waitID          // whose step is to follow; 0: none
	over   fifo[waitID]    // ended, in order, not settled
	starts fifo[start]     // seen in steps, in order, some of them resolved
	cut    cut             // of the wait that is being settled
	worst  top[*worstWait] // settled
	// maxPoints is how many points all tracks together may have, in addition to
	// pointsPerWait for each wait that is open.
	maxPoints int
	// onWait, if not nil, is called with each wait that is settled, in order.
	onWait     func(*ExplainedWait)
	explaining ExplainedWait
	spans      fifo[model.GoSpan] // of the waits in over, if somebody takes them
}

// procSeen is what the steps have shown of a proc.
type procSeen struct {
	state  model.ProcState // undetermined: the proc was not seen
	inside stackSeen       // the latest stack of the program in the turn
}

// start is a start of a goroutine that the steps have shown.
type start struct {
	at       model.Time
	g        model.GoID
	wait     waitID // that it ended, 0 if none that counts
	resolved bool   // by the resolver
}

// waitID is a wait in [attribution.waits].
type waitID int32

// wait is a wait of a goroutine to run, from when it became Runnable.
type wait struct {
	start, end model.Time
	g          model.GoID
	fn         model.StringID
	origin     model.Origin
	clamped    bool
	opened     bool // it stands in [attribution.opened]
	done       bool // what is before it is not needed for it any more
	pending    bool // its start is not known yet
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
	cells    CauseTotals
	causes   uint32 // set of those that may have cells
	blockers []result.Blocker
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
var (
	spareChanges recycler[change]
	spareWaits   recycler[wait]
)

func newAttribution(c *Causes, t *model.Tables, worst int) *attribution {
	a := &attribution{c: c, tables: t, maxPoints: 1 << 18, collector: t.AddString(result.CollectorName)}
	a.activity.sampled, a.activity.next = c.antagonists.sampled.add, math.MinInt64
	c.antagonists.ofProgram = a.ofProgram
	a.changes.items = spareChanges.get()
	a.waits = append(spareWaits.get(), wait{})
	a.worst = top[*worstWait]{limit: worst, compare: func(x, y *worstWait) int { return compareWaits(&x.wait, &y.wait) }}
	a.estimate()
	return a
}

func compareWaits(x, y *wait) int {
	return cmp.Or(cmp.Compare(y.end-y.start, x.end-x.start), cmp.Compare(x.start, y.start), cmp.Compare(x.g, y.g))
}

// Wait takes a wait that counts.
func (a *attribution) Wait(s *stepWait) {
	id := waitID(0)
	if cell := a.open.Get(s.g); cell != nil && *cell != 0 && a.waits[*cell].start == s.start {
		id, *cell = *cell, 0
	} else {
		id = a.newWait(s.start)
	}
	w := &a.waits[id]
	w.end, w.g, w.fn, w.origin, w.clamped = s.end, s.g, s.fn, s.origin, s.clamped
	a.ended = id
	a.over.push(id)
}

// newWait returns a wait with a start and nothing else.
func (a *attribution) newWait(at model.Time) waitID {
	n := len(a.free)
	if n == 0 {
		a.waits = append(a.waits, wait{start: at})
		return waitID(len(a.waits) - 1)
	}
	id := a.free[n-1]
	a.free = a.free[:n-1]
	a.waits[id] = wait{start: at}
	return id
}

// close takes that what is before a wait is not needed for it any more.
func (a *attribution) close(id waitID) {
	switch w := &a.waits[id]; {
	case !w.opened:
		a.free = append(a.free, id)
	case !w.done:
		w.done = true
		a.undone--
	}
}

// Step takes a step, with that of a proc which may be part of it.
func (a *attribution) Step(s *model.Step) {
	if !a.begun {
		a.begun, a.first, a.now = true, s.Time, s.Time
	}
	a.now = max(a.now, s.Time)
	a.steps++
	switch s.Kind {
	case model.StepGo:
		if s.Flags&model.StepWithProc != 0 {
			a.steps++
			a.procStep(s)
		}
		a.goStep(s)
	case model.StepMove:
		a.state(s.P)
	case model.StepProc:
		a.procStep(s)
	case model.StepProcs:
		a.procs = int(s.N)
		a.estimate()
		a.change(s.Time, changeProcs).n = s.N
	case model.StepStopping:
		a.last = stackSeen{g: model.NoGoroutine}
		a.stopping(s)
	case model.StepStopped:
		c := a.change(s.Time, changeStopped)
		c.g, c.fn, c.stack = a.last.g, a.lastFn, a.last.stack
	case model.StepRestarted:
		a.change(s.Time, changeRestart)
	}
}

// Silence takes a time in which no thread did anything. It comes before what ended it.
func (a *attribution) Silence(from, to model.Time) {
	if a.running > 0 && to.Sub(from) >= osGapMin {
		a.change(from, changeGap)
		a.change(to, changeGapEnd)
	}
}

// change holds a change back, which the caller fills in. It comes late if it shows what a
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
	*c = change{at: at, kind: kind}
	return c
}

func (a *attribution) goStep(s *model.Step) {
	from, to := model.GoState(s.From), model.GoState(s.To)
	switch {
	case s.P == model.NoProc:
	case from == model.GoRunning:
		a.stopped(s)
	case s.Stack != 0 && s.By != model.NoGoroutine && a.ofProgram(s.Stack):
		a.proc(s.P).inside = stackSeen{g: s.By, stack: s.Stack}
	}
	w := waitID(0)
	if a.ended != 0 && a.waits[a.ended].g == s.G {
		w, a.ended = a.ended, 0
	}
	if from == model.GoRunnable && to == model.GoRunning {
		a.starts.push(start{at: s.Time, g: s.G, wait: w})
		a.waits[w].pending = true
		if a.waits[w].opened {
			return // Wait has taken it
		}
	}
	if from == model.GoRunning && to != model.GoRunnable && to != model.GoNotExist {
		return // it does not wait
	}
	cell := a.open.get(s.G)
	if *cell != 0 {
		a.close(*cell)
		*cell = 0
	}
	switch to {
	case model.GoRunnable:
		*cell = a.newWait(s.Time)
		a.waits[*cell].opened = true
		a.opened.push(*cell)
		a.undone++
	case model.GoNotExist:
		a.open.remove(s.G)
	}
}

func (a *attribution) procStep(s *model.Step) {
	before, state, _ := s.ProcStates()
	known := a.state(s.P)
	if *known == model.ProcRunning {
		a.running--
	}
	if state == model.ProcRunning {
		a.running++
	}
	*known = state
	c := a.change(s.Time, changeProc)
	c.p, c.g, c.fn = s.P, s.G, s.Func
	if s.Kind == model.StepGo && !state.Held() {
		c.g, c.fn = model.NoGoroutine, 0
	}
	c.class, c.state, c.before = heldClass(state, s.Work), state, before
	c.grace, c.search = a.grace, a.search
}

// stopping takes that the world begins to stop. When all have stopped for the garbage
// collector it is nobody's code that they wait for.
func (a *attribution) stopping(s *model.Step) {
	c := a.change(s.Time, changeStop)
	c.g, c.fn, c.stack = s.G, s.Func, s.Stack
	if strings.Contains(a.tables.String(s.Reason), "GC") {
		c.fn = a.collector
	}
}

// stopped notes where a goroutine was when its turn on a proc ended. As a rule that has just
// changed the proc. A stack without a function of the program, such as that of a server that
// reads the next request, says less than an earlier one of the turn that has one.
func (a *attribution) stopped(s *model.Step) {
	stack, inside := s.Stack, &a.proc(s.P).inside
	if inside.stack != 0 && inside.g == s.G && !a.ofProgram(stack) {
		stack = inside.stack
	}
	inside.stack = 0
	if stack == 0 {
		return
	}
	a.last, a.lastFn = stackSeen{g: s.G, stack: stack}, s.Func
	ended := endedOtherwise
	switch {
	case s.Origin == model.OriginPreempted || s.Origin == model.OriginSTW || s.Origin == model.OriginGC:
		ended = endedInterrupted
	case model.GoState(s.To) == model.GoWaiting || model.GoState(s.To) == model.GoNotExist:
		ended = endedWaiting
	}
	if list := a.changes.all(); len(list) > 0 {
		if c := &list[len(list)-1]; c.kind == changeProc && c.p == s.P && c.at == s.Time {
			c.stack, c.ended = stack, ended
			return
		}
	}
	c := a.change(s.Time, changeStack)
	c.p, c.stack, c.ended = s.P, stack, ended
}

// seenAt takes the stack of a goroutine that goes on running.
func (a *attribution) seenAt(s *stackSeen) {
	c := a.change(s.at, changeStack)
	c.p, c.g, c.stack = s.p, s.g, s.stack
	if s.sample {
		c.kind = changeSample
		x := &a.c.antagonists
		if x.samples++; x.samples == 1 {
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

// state returns the state of a proc, which is seen now.
func (a *attribution) state(p model.ProcID) *model.ProcState {
	x := &a.proc(p).state
	if *x == model.ProcUndetermined {
		*x = model.ProcIdle
		a.seen++
	}
	return x
}

// heldClass returns the class of a proc.
func heldClass(state model.ProcState, work model.WorkKind) uint8 {
	switch state {
	case model.ProcSyscall:
		return heldSyscall
	case model.ProcRunning:
		switch work {
		case model.WorkUser:
			return heldUser
		case model.WorkGCDedicated:
			return heldGCDedicated
		case model.WorkGCFractional:
			return heldGCFractional
		case model.WorkGCIdle:
			return heldGCIdle
		case model.WorkGCAssist:
			return heldAssist
		}
		return heldRuntime
	}
	return heldNobody
}

// Start implements [runqueue.StartObserver]. Starts come in order, and one for
// each that the steps have shown.
func (a *attribution) Start(x *runqueue.Start) {
	list := a.starts.all()
	for i := range list {
		s := &list[i]
		if s.at > x.Time {
			return
		}
		if s.resolved || s.at == x.Time && s.g != x.G {
			continue
		}
		s.resolved = true
		a.waits[s.wait].pending = false
		if s.at == x.Time {
			if s.wait != 0 {
				a.started(&a.waits[s.wait], x)
			}
			break
		}
	}
	for !a.starts.empty() && a.starts.front().resolved {
		a.starts.pop()
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
	if !a.starts.empty() {
		t = a.starts.front().at
	}
	return t - settleDelay
}

// Finish settles what is left, once the resolver has finished.
func (a *attribution) Finish() {
	for _, s := range a.starts.all() {
		a.waits[s.wait].pending = false
	}
	if !a.begun && !a.over.empty() { // there was no step
		a.first = a.waits[*a.over.front()].start
		a.activity.advance(a.first)
	}
	a.settleUntil(math.MaxInt64)
	for _, w := range a.worst.items {
		a.nameBlockers(w)
	}
	a.opened = fifo[waitID]{} // no wait is settled any more
	if a.activity.began {
		a.forget(a.activity.now)
	}
	for _, p := range a.activity.procs {
		if p == nil {
			continue
		}
		if x := p.point(p.first); x.waited > 0 {
			a.c.antagonists.add(x, 0, &a.activity) // its turn goes on
		}
	}
	a.c.Thresholds = a.limits.thresholds(a.procs)
}

// recycle leaves the storage to the next trace, after the last use of what was found.
func (a *attribution) recycle() {
	spareChanges.put(a.changes.items)
	spareWaits.put(a.waits)
	a.changes, a.waits, a.activity = fifo[change]{}, nil, activity{}
}

// settleUntil folds changes and settles waits up to t.
func (a *attribution) settleUntil(t model.Time) {
	if !a.activity.began && t >= a.first && !a.changes.empty() {
		a.activity.advance(min(a.first, a.changes.front().at))
	}
	changes, n := a.changes.all(), 0
	for n < len(changes) && changes[n].at <= t {
		a.activity.fold(&changes[n])
		n++
	}
	a.changes.drop(n)
	if !a.activity.began {
		return
	}
	a.activity.advance(min(t, max(a.now, a.activity.now)))
	over := a.over.all()
	for n = 0; n < len(over) && a.waits[over[n]].end <= t && !a.waits[over[n]].pending; n++ {
		w := &a.waits[over[n]]
		a.settle(w)
		a.c.count(w, &a.cut)
		if a.onWait != nil {
			a.explained(w, &a.spans.all()[n])
		}
		a.keep(w)
		a.close(over[n])
	}
	a.over.drop(n)
	a.spans.drop(min(n, len(a.spans.all())))
	a.estimate()
	a.tidy()
}

// keep keeps the wait that was settled if it is one of the worst, and empties cut.
func (a *attribution) keep(w *wait) {
	if last, ok := a.worst.full(); !ok || w.end-w.start >= last.end-last.start && compareWaits(w, &last.wait) < 0 {
		a.worst.add(&worstWait{wait: *w, cut: a.cut})
	}
	for set := a.cut.causes; set != 0; set &= set - 1 {
		a.cut.cells[bits.TrailingZeros32(set)] = 0
	}
	a.cut.causes, a.cut.blockers = 0, nil
}

// estimate updates what the next changes go by.
func (a *attribution) estimate() {
	a.grace = int32(a.limits.pickupOf(sourceOwn))
	a.search = int32(min(a.limits.searchOf(a.procs), maxLimit))
}

// tidy forgets what no wait needs any more; and if there is too much of the
// rest, its older half, except for what is needed to settle waits.
func (a *attribution) tidy() {
	opened, n := a.opened.all(), 0
	for n < len(opened) && a.waits[opened[n]].done {
		n++
	}
	a.free = append(a.free, opened[:n]...)
	a.opened.drop(n)
	if n := len(a.opened.all()); n > 64 && n > 2*a.undone {
		a.opened.filter(func(id waitID) bool {
			done := a.waits[id].done
			if done {
				a.free = append(a.free, id)
			}
			return !done
		})
	}
	oldest := a.activity.now
	if !a.opened.empty() {
		oldest = min(oldest, a.waits[*a.opened.front()].start)
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
	for _, w := range a.worst.items {
		if w.start < t {
			a.nameBlockers(w)
		}
	}
	var times []model.Time
	for _, id := range a.opened.all() {
		w := &a.waits[id]
		if w.start >= t {
			break
		}
		if !w.done {
			times = append(times, w.start)
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
		if b := a.c.bins.in(from, to); b != nil { // nearly always
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
	a.c.bins.addClock(cause, from, to, length, weight, func(t model.Time) model.Duration { return a.activity.takenAt(t) - clock })
}
