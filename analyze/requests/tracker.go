package requests

import (
	"iter"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/schedscope/schedscope/model"
)

// Tracker finds requests. Give it each event after the [model.Machine] has applied it, at once, or, once Event has reported
// true, as [Tracker.See] keeps it. Call Finish at the end.
type Tracker struct {
	// Done is called with each request when its end is known, in the order of that. Its
	// argument is valid during the call only.
	Done func(*Request)
	// Unfollowed are the tasks that began while 131,072 were open. They are not requests.
	Unfollowed int64
	// Unanswered are messages that were read while those who answer others were busy, and that were not seen to be
	// answered. They are not requests.
	Unanswered int64

	tables  *model.Tables
	machine *model.Machine
	event   *Seen // the one that is taken; nil: none yet
	scratch Seen  // of Event
	active  bool
	serving map[model.StringID]bool // start functions of those whom acceptors start
	now     model.Time
	open    []*pending // in the order in which they began, some of them done
	unused  []*pending // to be used again
	stale   bool       // the horizon is, perhaps: open has changed, or there is none
	horizon model.Time // what was before is not needed
	forced  model.Time // what was before is not kept
	bytes   int        // of what is kept, about
	sweepAt int        // at how many to look through all goroutines
	limit   int        // of bytes
	stopped model.Time // when the last of stops ends
	polled  model.Time // when the network was polled the latest, as far as that shows
	polling poll
	gs      model.GoTable[goroutine]
	turns   [][]turn     // by proc
	dead    []*goroutine // in the order in which they ended
	spare   [][]segment  // of goroutines that are forgotten
	depth   int
	tasks   map[model.TaskID]*task
	ended   []*task // to be used again
	stops   []stop  // of the world
	inStop  int     // stops that are going on, as the last of stops
	writes  [writesKept]write
	wrote   uint
	dials   [dialsKept]dial
	dialed  int
	finder  finder
	walker  walker
	request Request // the one that is reported

	earlyParts int // that are kept
}

// stop is a time in which the world was stopped, up to [math.MaxInt64] while it is.
type stop struct{ from, to model.Time }

// turn is when a goroutine began to run on a proc.
type turn struct {
	at model.Time
	g  *goroutine
}

const (
	goroutineBytes = 1 << 10
	turnBytes      = 16 // also of a stop, and a sample
	mostUnused     = 1 << 10
	stopsKept      = 1 << 12
)

// New returns a Tracker for the requests that specs name, of all kinds if there are none.
func New(m *model.Machine, specs []Spec) *Tracker {
	t := &Tracker{tables: m.Tables(), machine: m, tasks: map[model.TaskID]*task{}, serving: map[model.StringID]bool{}, limit: maxBytes, sweepAt: maxBytes / 2}
	t.finder = newFinder(m.Tables(), specs)
	t.walker.t = t
	t.walker.pairs, t.walker.ran, t.walker.starts = map[pair]*Place{}, map[alike]*ran{}, map[model.StringID]*Place{}
	m.Waiting(func(g *model.Goroutine, reason model.StringID) { // when a window begins: what waits all the time has no event in it
		if t.finder.stack(g.LastStop).role == roleNone && !t.finder.life(g.Func) {
			return
		}
		if !t.active {
			t.activate(m.Now())
		}
		t.enter(t.get(g.ID, model.GoWaiting), model.GoWaiting, reason)
	})
	return t
}

// other takes an event other than the transition of a goroutine.
func (t *Tracker) other(ev *model.Event) {
	switch ev.Kind {
	case model.EventTaskBegin, model.EventTaskEnd, model.EventRegionBegin, model.EventRegionEnd, model.EventLog:
		if t.active || t.finder.user {
			t.mark(ev)
		}
	case model.EventStackSample:
		if t.active && ev.G != model.NoGoroutine {
			if g := t.gs.Get(ev.G); g != nil && ev.Stack != 0 {
				t.sample(g, max(ev.Time, t.now), ev.Stack)
				if g.server != nil && g.req != nil && ev.Time >= g.req.at {
					g.calls(t.finder.stack(ev.Stack))
				}
			}
		}
	case model.EventRangeBegin, model.EventRangeEnd, model.EventRangeActive:
		if t.active {
			t.ranges(ev)
		}
	case model.EventProcTransition:
		if model.ProcStatus(ev.To) == model.ProcStatusRunning {
			t.polled = ev.Time
		}
		if t.stopped == math.MaxInt64 { // perhaps procs run again, which the Machine forgets at the end of the stop
			t.advance(ev.Time)
		}
	}
}

// serves reports whether a transition is the first of a goroutine that may serve requests.
func (t *Tracker) serves(ev *model.Event) bool {
	if ev.SubjectStack == 0 && model.GoState(ev.From) != model.GoNotExist {
		return false
	}
	if s := t.finder.stack(ev.SubjectStack); s.role == roleNone && !s.accept && !s.connect && !s.read && !t.finder.life(t.about(model.GoID(ev.ID)).fn) {
		return false
	}
	t.activate(ev.Time)
	return true
}

func (t *Tracker) activate(at model.Time) {
	t.active, t.now, t.horizon, t.stale = true, at, at, true
}

// Follow keeps all that happens from a time on, the present, for [Tracker.Between].
func (t *Tracker) Follow(at model.Time) {
	t.activate(at)
	t.open = append(t.open, &pending{mark: mark{at: at}})
}

// Between returns the critical path of a goroutine from one time in the past to another, as
// [Request.Parts] does.
func (t *Tracker) Between(id model.GoID, from, to model.Time) iter.Seq[*Part] {
	r := &Request{t: t}
	if g := t.gs.Get(id); g != nil {
		r.legs = []leg{{g: g, from: from, to: to}}
	}
	return r.Parts()
}

// advance takes the time of an event.
func (t *Tracker) advance(at model.Time) {
	t.now = max(t.now, at)
	if t.stale || t.stopped == math.MaxInt64 || t.bytes > t.sweepAt {
		t.move()
	}
}

// move moves the horizon.
func (t *Tracker) move() {
	if t.stopped == math.MaxInt64 && t.event.restarted { // the runtime records the end of a stop some time after procs run again
		t.restarts(t.event.restart)
	}
	for len(t.open) > 0 {
		p := t.open[0]
		if x := p.early; x != nil && !x.known && (t.bytes > t.sweepAt || t.now.Sub(p.at) > earlyTime*model.Duration(1+len(x.list))) {
			p.done = true // lest all be kept for what may be no request
		}
		if !p.done {
			break
		}
		t.reuse(p)
		t.open = t.open[1:]
	}
	if t.horizon, t.stale = t.now, len(t.open) == 0; !t.stale {
		t.horizon = max(t.open[0].at, t.forced)
	}
	t.bury()
	if t.bytes > t.sweepAt {
		t.sweep()
	}
}

// bury forgets goroutines that ended before the horizon.
func (t *Tracker) bury() {
	for len(t.dead) > 0 && t.dead[0].endedAt < t.horizon {
		t.forget(t.dead[0])
		t.dead = t.dead[1:]
	}
}

// forget drops what is kept of a goroutine that has ended, before the horizon.
func (t *Tracker) forget(g *goroutine) {
	t.trim(g)
	t.bytes -= goroutineBytes + len(g.segs)*segmentBytes + len(g.sums)*sumBytes + len(g.samples)*turnBytes
	for i := range g.segs {
		if g.segs[i].linked {
			t.unlink(g, i)
		}
	}
	if cap(g.segs) <= 64 && len(t.spare) < 64 {
		clear(g.segs)
		t.spare = append(t.spare, g.segs[:0])
	}
	g.segs, g.sums, g.samples, g.links, g.creator, g.peers, g.ends, g.relay = nil, nil, nil, nil, nil, nil, nil, nil
}

// sweep forgets what is not needed, and if too much is left, the older half of that, once the
// open requests have summed it up.
func (t *Tracker) sweep() {
	for {
		t.gs.All(t.trim)
		t.bury()
		for _, g := range t.dead {
			t.trim(g)
		}
		// Intervals that began before the horizon and are not over may have stops in them.
		i := min(sort.Search(len(t.stops), func(i int) bool { return t.stops[i].to >= t.horizon }), max(len(t.stops)-stopsKept, 0))
		t.stops = slices.Delete(t.stops, 0, i)
		t.bytes -= i * turnBytes
		for p := range t.turns {
			t.trimTurns(&t.turns[p])
		}
		if t.bytes < t.limit || t.horizon >= t.now {
			break
		}
		t.forced = t.horizon + (t.now-t.horizon+1)/2
		t.horizon = t.forced
		for _, p := range t.open {
			if g := p.g; g != nil && !p.done {
				to := min(t.horizon, g.since)
				if g.server != nil && p == g.req && (g.wrote || g.role == roleFunc) {
					to = min(to, g.until.at)
				}
				t.sum(p, to)
			}
		}
	}
	t.sweepAt = max(2*t.bytes, t.limit/2)
}

// trimTurns forgets turns that ended before the horizon.
func (t *Tracker) trimTurns(l *[]turn) {
	i := sort.Search(len(*l), func(i int) bool { return (*l)[i].at >= t.horizon }) - 1
	if i > 0 {
		*l = slices.Delete(*l, 0, i)
		t.bytes -= i * turnBytes
	}
}

// get returns a goroutine. If it is new here, it has been in this state all the time.
func (t *Tracker) get(id model.GoID, state model.GoState) *goroutine {
	if g := t.gs.Get(id); g != nil {
		return g
	}
	g := t.add(&goroutine{id: id, since: t.horizon})
	t.stands(g, t.about(id).stop)
	t.enter(g, state, 0)
	t.saw(g)
	return g
}

// add adds a goroutine that there was not.
func (t *Tracker) add(g *goroutine) *goroutine {
	g.proc, g.view = -1, t.finder.stack(g.stack)
	g.fn = t.about(g.id).fn
	t.gs.Put(g.id, g)
	t.bytes += goroutineBytes
	return g
}

// enter sets the state that a goroutine is in from now on.
func (t *Tracker) enter(g *goroutine, state model.GoState, reason model.StringID) {
	g.state, g.kind = state, stateKinds[state]
	if state == model.GoWaiting || g.assist {
		t.enterAt(g, reason)
	}
}

// enterAt is enter where the kind depends on more than the state.
func (t *Tracker) enterAt(g *goroutine, reason model.StringID) {
	if g.state != model.GoWaiting {
		if g.state == model.GoRunning {
			g.kind = GC
		}
		return
	}
	w := t.finder.waits.Of(reason)
	if reason == 0 {
		w = g.view.parked
	}
	if g.kind, g.selects = waitKinds[w], w == model.WaitSelect; g.selects {
		g.ticked = 0
	}
	switch {
	case w == model.WaitSync:
		g.kind = g.view.wait
	case g.kind == Channel && g.view.pool:
		g.kind = Connection
	}
}

// sample keeps that a goroutine was seen at a stack while it ran.
func (t *Tracker) sample(g *goroutine, at model.Time, stack model.StackID) {
	g.samples = append(g.samples, sample{at, stack})
	t.bytes += turnBytes
}

// split cuts the running interval of who emits an event, where its stack is seen. It returns
// nil if that is nobody.
func (t *Tracker) split(id model.GoID, stack model.StackID) *goroutine {
	if id == model.NoGoroutine {
		return nil
	}
	g := t.get(id, model.GoRunning)
	if stack != 0 && g.state == model.GoRunning {
		t.stands(g, stack)
		t.close(g)
		t.saw(g)
	}
	return g
}

// known is what a Machine knows of a goroutine.
type known struct {
	fn   model.StringID // its start function
	stop model.StackID  // where it stopped last
}

// Seen is an event with what the Machine knows once it has applied it: the Tracker may take it later.
type Seen struct {
	model.Event
	subject   model.GoID // the goroutine that it is about, if there is one
	of, by    known      // that one, and the one that emitted it
	restart   model.Time
	free      int // procs
	restarted bool
	polled    bool // that the goroutine became runnable was found by a poll of the network
	poller    model.Poller
}

// See puts into s what there is to know of an event, which the Machine has applied just now. It reports whether Take
// needs it. It does not change the Tracker.
func (t *Tracker) See(ev *model.Event, s *Seen) bool {
	if ev.Kind == model.EventMetric || ev.Kind == model.EventLabel || ev.Kind == model.EventSync {
		return false
	}
	m, g := t.machine, (*model.Goroutine)(nil)
	s.Event, s.of, s.by, s.polled, s.free, s.subject = *ev, known{}, known{}, false, m.Free(), model.NoGoroutine
	if ev.Kind == model.EventGoTransition || ev.Kind >= model.EventRangeBegin && ev.Kind <= model.EventRangeEnd && model.Scope(ev.From) == model.ScopeGoroutine {
		s.subject = model.GoID(ev.ID)
		if g = m.Goroutine(s.subject); g != nil {
			s.of, s.polled, s.poller = known{g.Func, g.LastStop}, g.Polled(), g.Poller()
		}
	}
	if ev.G != model.NoGoroutine && ev.G != s.subject {
		if g = m.Goroutine(ev.G); g != nil {
			s.by = known{g.Func, g.LastStop}
		}
	}
	s.restart, s.restarted = m.Restarted()
	return true
}

// about returns what the Machine knows of a goroutine of the present event.
func (t *Tracker) about(id model.GoID) known {
	switch {
	case t.event == nil:
		if g := t.machine.Goroutine(id); g != nil {
			return known{g.Func, g.LastStop}
		}
		return known{}
	case id == t.event.subject:
		return t.event.of
	}
	return t.event.by
}

// Event records an event that the Machine has applied just now. It reports whether something was seen that may serve requests:
// until then nothing is kept, so events need not be.
func (t *Tracker) Event(ev *model.Event) bool {
	t.event = nil
	if ev.Kind == model.EventGoTransition && !t.active && !t.serves(ev) {
		return false
	}
	if t.See(ev, &t.scratch) {
		t.Take(&t.scratch)
	}
	return t.active
}

// Take records an event that was seen, after [Tracker.Event] has reported true.
func (t *Tracker) Take(s *Seen) {
	ev := &s.Event
	t.event = s
	if ev.Kind != model.EventGoTransition {
		t.other(ev)
		return
	}
	t.advance(ev.Time)
	id, from, to := model.GoID(ev.ID), model.GoState(ev.From), model.GoState(ev.To)
	if from == to || from <= model.GoNotExist {
		t.appears(ev, id, from, to)
		return
	}
	var by *goroutine
	if ev.G != id && ev.G != model.NoGoroutine {
		by = t.split(ev.G, ev.Stack)
	}
	g := t.gs.Get(id)
	if g == nil {
		g = t.get(id, from)
	}
	switch g.state {
	case model.GoWaiting:
		kind, waker := g.kind, by
		by, until := t.resolve(g, by)
		if kind == Network && by == nil {
			t.unpolled(g, ev.P)
		}
		t.close(g)
		switch {
		case by != nil:
			t.resolved(g, by, until)
		case g.kind == Timer && g.selects:
			g.ticked = g.first + len(g.segs)
		}
		if g.server != nil {
			if by != nil && kind == Channel && g.role == roleConn && g.name == "" {
				t.timed(g, by)
			}
			t.unblocked(g, kind)
		}
		if g.relay != nil || waker != nil && waker.relay != nil || g.reading != nil && kind == Network {
			t.woken(g, waker, kind)
		}
	case model.GoSyscall:
		t.close(g)
		if g.relay != nil && g.relay.end == 0 {
			t.pushes(g.relay)
		}
		if g.server != nil {
			t.unblocked(g, Syscall)
		}
	case model.GoRunnable:
		on := procNumber(ev.P)
		if to == model.GoRunning && g.proc >= 0 && g.proc != on {
			t.polled = t.now
		}
		g.proc = on
		t.close(g)
	default:
		if ev.SubjectStack != 0 || to == model.GoNotExist {
			t.stands(g, ev.SubjectStack)
		}
		if to == model.GoRunnable && t.finder.waits.Of(ev.Str) == model.WaitPreempted { // at no place of its own choice: as good as a sample
			t.sample(g, t.now, g.stack)
		}
		t.close(g)
		t.saw(g)
	}
	if to == model.GoNotExist {
		t.end(g)
		return
	}
	t.enter(g, to, ev.Str)
	switch to {
	case model.GoRunnable:
		if g.proc = -1; from == model.GoWaiting {
			g.proc = procNumber(ev.P)
		}
	case model.GoRunning:
		if from == model.GoRunnable && g.proc >= 0 {
			if n := int(g.proc) + 1 - len(t.turns); n > 0 {
				t.turns = append(t.turns, make([][]turn, n)...)
			}
			l := &t.turns[g.proc]
			if len(*l) == cap(*l) {
				t.trimTurns(l)
			}
			*l = append(*l, turn{t.now, g})
			t.bytes += turnBytes
		}
	case model.GoSyscall, model.GoWaiting:
		if g.relay != nil {
			t.goesOn(g)
		}
		if g.server != nil || g.accepts || g.view.conn {
			t.blocked(g)
		}
		if r := g.relay; r != nil && to == model.GoWaiting && g.stack == r.waited {
			t.waits(g)
		}
	}
}

// appears takes the creation of a goroutine, or the state of one that is said again.
func (t *Tracker) appears(ev *model.Event, id model.GoID, from, to model.GoState) {
	if from != model.GoNotExist || from == to { // said again in each generation
		now := t.horizon
		if from == model.GoUndetermined && to == model.GoWaiting { // without an event before it has waited since the beginning
			t.horizon = t.machine.Start()
		}
		g := t.get(id, to)
		t.horizon = now
		if g.stack == 0 && ev.SubjectStack != 0 {
			t.stands(g, ev.SubjectStack)
			t.enter(g, to, ev.Str)
			t.saw(g)
		}
		return
	}
	by := t.split(ev.G, ev.Stack)
	if old := t.gs.Get(id); old != nil { // C threads have the ids of others before them
		t.end(old)
	}
	g := t.add(&goroutine{id: id, since: t.now, created: t.now, seen: true, creator: by, timed: by == nil, stack: ev.SubjectStack, spawn: ev.SubjectStack})
	t.enter(g, to, 0)
	t.saw(g)
	if by != nil {
		t.flushes(by)
		t.accepted(by)
		g.inherit(by)
	}
	if by != nil && by.server != nil && by.role == roleAccept && g.server == nil {
		t.serving[g.fn] = true
		g.server = &server{role: roleStream, serves: "tcp", name: t.tables.String(g.fn)}
	}
	if by != nil {
		t.started(g, by)
	}
	if by != nil && by.server != nil && by.role == roleConn && g.view.reads {
		by.reader = g
		t.handling(by)
	}
}

// procNumber returns a proc's id, -1 if there is none. The Machine refuses larger ones.
func procNumber(id model.ProcID) int16 {
	if id < 0 || id > math.MaxInt16 {
		return -1
	}
	return int16(id)
}

// resolve returns who ended the wait of g, by if that is what was waited for, and up to when the path
// is that one's; nil if nobody did.
func (t *Tracker) resolve(g *goroutine, by *goroutine) (*goroutine, model.Time) {
	until := t.now
	switch g.kind {
	case GC, STW, Sleep:
		return nil, 0
	case Connection:
		// One of database/sql is handed over by who had it. One of net/http comes from the loop of an
		// idle connection, of which nobody knows who used it last, or is dialled for the request.
		switch {
		case by == nil:
			return nil, 0
		case strings.HasPrefix(t.tables.String(by.fn), "net/http.(*Transport).startDialConnForLocked"):
			g.kind = Dial
		case !g.view.sql:
			return nil, 0
		default:
			t.passed(g, by)
		}
	case Network:
		if g.view.doing == doingIdle {
			if out := by == nil && !t.asked(g); out || g.ends != nil {
				g.conns().outside = out
			}
			return nil, 0
		}
		if by == nil || t.event.polled { // else a deadline, or a close, that by has set
			by, until = t.peer(g)
			if by != nil {
				g.conns().asker = by
			}
		}
	case Channel:
		if by == nil {
			g.kind = Timer
		}
	}
	if by == nil || by == g || t.now <= g.since {
		return nil, 0
	}
	return by, until
}

// passed divides the wait of g for a connection, which by gives back, where by got it from another one while g waited, and that one
// from another, up to mostPassed: before that the path is that of whoever had it then.
func (t *Tracker) passed(g, by *goroutine) {
	type turn struct {
		by    *goroutine
		until model.Time
	}
	now, turns := t.now, []turn(nil)
	for end := now; len(turns) < mostPassed; {
		i := min(by.at(end-1), len(by.segs)-1)
		for i >= 0 && by.end(i) > g.since && (by.segs[i].kind != Connection || by.segs[i].by == nil || by.end(i) >= end) {
			i--
		}
		if i < 0 || by.end(i) <= g.since {
			break
		}
		by, end = by.segs[i].by, by.end(i)
		turns = append(turns, turn{by, end})
	}
	for _, x := range slices.Backward(turns) {
		t.now = x.until
		t.close(g)
		w := &g.segs[len(g.segs)-1]
		w.by, w.inferred = x.by, true
	}
	t.now = now
}

// mostPassed bounds the parts of a wait.
const mostPassed = 16

// poll is a poll of the network that found something.
type poll struct {
	at     model.Time // the latest wake
	before model.Time // when the network was polled the time before
}

// pollEvery is how often sysmon polls the network at least, if nobody else does (runtime/proc.go: sysmon, Go 1.26), and
// leastUnpolled how long nobody must have for that to count: less is what each of many quick answers waits.
const pollEvery, leastUnpolled = 10_000_000, 1_000_000

// unpolled ends the wait of g for the network where nobody polled any more. What comes after that is a wait for a
// proc.
//
//  1. A thread polls when there is nothing in the local and the global queue, before it steals and before it gives up
//     its proc (runtime/proc.go: findRunnable). So it has when a goroutine starts on another proc than that on which it
//     became runnable, and when a proc is taken up. Sysmon polls when nobody has for 10 ms. A thread that sleeps in the
//     poller, whether a proc is free or not, finds at once what comes.
//  2. The data came after the poll before the one that found it. Nothing says when: all of that time counts as a wait for
//     a proc, which is too much by pollEvery at the most, and by little for answers that come fast. It is inferred.
func (t *Tracker) unpolled(g *goroutine, p model.ProcID) {
	if !t.event.polled {
		return
	}
	if t.now.Sub(t.polling.at) > leastBehind { // else it is the same poll
		t.polling.before = t.polled
	}
	t.polling.at, t.polled = t.now, t.now
	free, behind := t.event.free, procNumber(p)
	if p != model.NoProc {
		free--
	}
	from := max(t.polling.before, g.since, t.now-pollEvery)
	if free > 0 || t.event.poller == model.PollerBlockingNoProc || t.now.Sub(from) < leastUnpolled {
		return
	}
	if behind < 0 { // sysmon: behind whoever has had a proc for the longest time
		first := t.now
		for p, l := range t.turns {
			if n := len(l); n > 0 && l[n-1].at < first && l[n-1].g.state == model.GoRunning && int(l[n-1].g.proc) == p {
				first, behind = l[n-1].at, int16(p)
			}
		}
	}
	now := t.now
	t.now = from
	t.close(g)
	t.now = now
	g.kind, g.proc, g.state = Runnable, behind, model.GoRunnable
	t.close(g)
	g.segs[len(g.segs)-1].inferred = true
}

// end ends a goroutine.
func (t *Tracker) end(g *goroutine) {
	t.close(g)
	switch {
	case g.begun == nil:
	case g.server == nil || g.role == roleNone:
		t.report("message", t.tables.String(g.fn), g, g.begun, t.here(g), true)
	default: // it had requests of its own
		t.drop(g.begun)
	}
	t.forgets(g.reading)
	t.ends(g, true)
	if g.relay != nil {
		t.leaves(g)
	}
	g.ended, g.endedAt = true, t.now
	t.gs.Remove(g.id)
	t.dead = append(t.dead, g)
}

// ranges takes the begin or end of a range: of a mark assist, or a stop of the world.
func (t *Tracker) ranges(ev *model.Event) {
	if model.Scope(ev.From) != model.ScopeGoroutine {
		return
	}
	begin := ev.Kind != model.EventRangeEnd
	switch name := t.tables.String(ev.Str); {
	case name == "GC mark assist":
		t.advance(ev.Time)
		g := t.get(model.GoID(ev.ID), model.GoRunning)
		if g.assist == begin {
			return
		}
		if ev.Stack != 0 {
			t.stands(g, ev.Stack)
		}
		t.close(g)
		g.assist = begin
		if g.state == model.GoRunning {
			t.enter(g, g.state, 0)
		}
	case strings.HasPrefix(name, "stop-the-world"):
		t.advance(ev.Time)
		if begin {
			if t.inStop++; t.inStop == 1 {
				t.stopped = math.MaxInt64
				t.stops = append(t.stops, stop{t.now, t.stopped})
				t.bytes += turnBytes
			}
		} else if t.inStop > 0 {
			if t.inStop--; t.inStop == 0 && t.stopped == math.MaxInt64 {
				t.restarts(t.now)
			}
		}
	}
}

// restarts ends the last stop of the world.
func (t *Tracker) restarts(at model.Time) {
	t.stopped, t.stops[len(t.stops)-1].to = at, at
}

// stopsIn returns the stops of the world that overlap an interval.
func (t *Tracker) stopsIn(from, to model.Time) []stop {
	if from >= t.stopped {
		return nil
	}
	end := sort.Search(len(t.stops), func(i int) bool { return t.stops[i].from >= to })
	return t.stops[sort.Search(end, func(i int) bool { return t.stops[i].to > from }):end]
}

// Finish reports the requests that have not ended, as incomplete. Nothing must follow.
func (t *Tracker) Finish() {
	t.now = max(t.now, t.machine.Now())
	var live []*goroutine
	t.gs.All(func(g *goroutine) { live = append(live, g) })
	for _, g := range live {
		t.close(g)
	}
	for _, g := range live {
		if g.relay != nil && g.relay.answers != nil {
			t.replied(g)
		}
		t.ends(g, false)
	}
	t.endTasks()
}
