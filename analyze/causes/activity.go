package causes

import (
	"cmp"
	"math"
	"slices"

	"github.com/schedscope/schedscope/model"
)

// activity follows what the whole program and each proc do, and writes it to tracks.
type activity struct {
	now    model.Time // up to which the tracks are known
	began  bool
	global programTrack
	// The latest phase of that: its class, since when, and the time in classTaken before.
	class uint8
	since model.Time
	taken model.Duration
	procs []*procActivity // by id; nil: not seen
	n     int             // GOMAXPROCS; 0: not known yet
	busy  int             // procs below that are not idle
	// Procs below that with a goroutine, and the sum of their ids: of a single one, its id.
	held, heldIDs int
	// How long no proc had a goroutine, only one had, or else; which of these it is, and since when.
	widths     [3]model.Duration
	width      int
	widthSince model.Time
	lone       model.GoID // the latest goroutine that ran alone
	// How many procs run code of the program; how long several did, and since when they do.
	users        int
	several      model.Duration
	severalSince model.Time
	finds        int  // procs that search
	stuck        int  // procs that do so for too long
	gap          bool // all threads are silent
	stw          bool
	// Who stops the world.
	stopper phase
	runs    model.Time // since when the world has not been stopped
	// grace is how long a proc that lost its goroutine needs at most to get the
	// next one from its own queue: after that it is searching. search is how long
	// that lasts at most: after that it is stuck. In nanoseconds.
	grace, search int32
	// Stacks of CPU samples in segments that are kept: lists, the first of which is not used.
	samples     []sampleNode
	freeSamples int32 // list of those not used
	sampled     func(p *point, stack model.StackID)
	// Wakeups of idle procs in flight, and those of them that take too long.
	fresh, stale int

	looking []*procActivity // procs with an until
	alarms  fifo[alarm]     // of wakeups, in order
	next    model.Time      // before it none of these is due
}

type sampleNode struct {
	stack model.StackID
	next  int32
}

// procActivity is one proc.
type procActivity struct {
	procTrack
	id        model.ProcID
	idle      bool
	searching bool
	stuck     bool
	early     bool // a change showed its state before the step did
	state     model.ProcState
	class     uint8 // except for a gap
	g         model.GoID
	fn        model.StringID
	// Without a goroutine, it is taken to be on its way to the next one in its own queue until then; or,
	// if it is searching, to search as usual. Search is as in a change.
	until  model.Time
	search int32
	looks  int // its place in looking, from 1; 0: it is not there
}

// change is a change other than that of a proc by a step in order.
type change struct {
	at            model.Time
	after         int // so many steps
	g             model.GoID
	p             model.ProcID
	stack         model.StackID
	kind          changeKind
	step          *model.Step
	grace, search int32 // as in an activity
}

type changeKind uint8

const (
	changeProc   changeKind = iota // step is late
	changeStack                    // g runs on p, in stack
	changeSample                   // a CPU sample of g on p in stack
	changeGap                      // all threads are silent from now
	changeGapEnd
)

// fold takes a change. Changes come in order.
func (w *activity) fold(c *change) {
	w.advance(c.at)
	switch c.kind {
	case changeProc:
		p, grace, search := w.proc(c.step.P), w.grace, w.search
		w.grace, w.search, p.early = c.grace, c.search, true
		w.procStep(c.step)
		w.grace, w.search = grace, search
	case changeStack:
		w.endTurn(c.at, c.p, c.stack, endedOtherwise)
	case changeSample:
		w.sample(c)
	case changeGap, changeGapEnd:
		if gap := c.kind == changeGap && w.running(); gap != w.gap {
			w.setGap(gap)
		}
	}
	w.update()
}

// advance moves the clock to t.
func (w *activity) advance(t model.Time) {
	if w.next <= t {
		w.ringUntil(t)
	}
	w.now = max(w.now, t)
}

func (w *activity) ringUntil(t model.Time) {
	if !w.began {
		w.began = true
		w.now, w.since, w.widthSince, w.class = t, t, t, w.classOf()
		w.global.begin(t, w.class)
	}
	for w.next <= t && w.ring(t) {
		w.update()
	}
}

// ring lets the first thing happen that was to happen by t without a step. At the same time alarms go
// first, then ends of searches.
func (w *activity) ring(t model.Time) bool {
	w.next = math.MaxInt64
	if !w.alarms.empty() {
		w.next = w.alarms.front().at
	}
	var due *procActivity
	for _, p := range w.looking {
		if p.until < w.next || p.until == w.next && due != nil && p.searching {
			w.next, due = p.until, p
		}
	}
	if w.next > t {
		return false
	}
	w.now = max(w.now, w.next)
	switch {
	case due == nil:
		w.endAlarm()
	case due.searching:
		w.endSearch(due)
	default:
		w.setSearching(due, true, false)
		due.until += model.Time(due.search)
	}
	return true
}

// endSearch takes a proc for stuck that has searched for too long. It will not
// find anything, but until it is gone no other is woken to search.
func (w *activity) endSearch(p *procActivity) {
	w.looksNoMore(p)
	w.setSearching(p, false, true)
	p.class = heldStuck
	w.occupy(p)
}

// looksNoMore takes a proc out of those with an until.
func (w *activity) looksNoMore(p *procActivity) {
	last := w.looking[len(w.looking)-1]
	w.looking[p.looks-1], last.looks = last, p.looks
	w.looking, p.looks = w.looking[:len(w.looking)-1], 0
}

func (w *activity) endAlarm() {
	a := *w.alarms.front()
	w.alarms.pop()
	w.fresh += a.fresh
	w.stale += a.stale
}

func (w *activity) setSearching(p *procActivity, searching, stuck bool) {
	if searching != p.searching {
		w.finds += change01(searching)
	}
	if stuck != p.stuck {
		w.stuck += change01(stuck)
	}
	p.searching, p.stuck = searching, stuck
}

// change01 returns by how much a number of what is so changes if something
// becomes so, or ceases to be.
func change01(so bool) int {
	if so {
		return 1
	}
	return -1
}

// classOf derives the program's class.
func (w *activity) classOf() uint8 {
	n := w.n
	if n == 0 {
		n = len(w.procs)
	}
	switch idle := n > w.busy; {
	case w.stw:
		return classSTW
	case idle && w.fresh > 0:
		return classWaking
	case idle && w.stale > 0:
		return classOSWake
	case idle && w.finds+w.stuck > 0:
		return classIdleSpin
	case idle:
		return classIdleQuiet
	case w.finds > 0:
		return classSearching
	}
	return classTaken
}

func (w *activity) update() {
	if class := w.classOf(); class != w.class {
		w.pushGlobal(class)
	}
	if w.held < widthMore || w.width != widthMore {
		w.widen()
	}
}

// How many procs have a goroutine: none, one, or more than that, which is also all time in which no other proc could have one, or
// one is being woken for a goroutine.
const (
	widthNone = iota
	widthOne
	widthMore
)

// widen notes how many procs have goroutines from now on.
func (w *activity) widen() {
	width := widthMore
	if w.class >= classIdleSpin && w.class < classTaken {
		width = min(w.held, widthMore)
	}
	if width != w.width {
		w.credit()
		w.width = width
	}
}

// credit counts the time since the last call, also for what ran alone in it.
func (w *activity) credit() {
	d := w.now.Sub(w.widthSince)
	w.widths[w.width] += d
	if w.width == widthOne && d > 0 {
		if p := w.procs[w.heldIDs].last(); p.class == heldUser {
			p.alone += d
			p.lone = p.lone || w.lone != p.g
			w.lone = p.g
		}
	}
	w.widthSince = w.now
}

// pushGlobal begins a segment of the program's track.
func (w *activity) pushGlobal(class uint8) {
	w.taken = w.takenNow()
	w.since, w.class = w.now, class
	p := w.global.push(w.now, class)
	if class == classSTW {
		p.fn, p.stack = w.stopper.fn, w.stopper.stack
		w.runs = math.MaxInt64
	} else {
		w.runs = min(w.runs, w.now)
	}
}

// takenAt returns how long the program was classTaken until t, in a segment.
func (w *activity) takenAt(t model.Time) model.Duration {
	return w.takenIn(w.global.find(t, &w.global.from), t)
}

func (w *activity) takenIn(i int, t model.Time) model.Duration {
	p := w.global.point(i)
	d := p.sums[classTaken]
	if p.class == classTaken {
		d += t.Sub(w.global.at(i))
	}
	return d
}

// takenNow is takenAt of the present.
func (w *activity) takenNow() model.Duration {
	if w.class == classTaken {
		return w.taken + w.now.Sub(w.since)
	}
	return w.taken
}

// proc returns a proc, from now on known.
func (w *activity) proc(id model.ProcID) *procActivity {
	if int(id) < len(w.procs) && w.procs[id] != nil {
		return w.procs[id]
	}
	return w.newProc(id)
}

func (w *activity) newProc(id model.ProcID) *procActivity {
	w.procs = append(w.procs, make([]*procActivity, max(0, int(id)+1-len(w.procs)))...)
	p := &procActivity{id: id, idle: true, g: model.NoGoroutine}
	first := w.global.first
	p.begin(w.global.at(first), w.global.point(first).sums[classTaken], heldUnknown)
	w.procs[id] = p
	return p
}

// exists reports whether a proc is one of those that GOMAXPROCS allows.
func (w *activity) exists(p *procActivity) bool { return w.n == 0 || int(p.id) < w.n }

// procStep takes the step of a proc, or that which is part of a goroutine's. Update is to follow.
func (w *activity) procStep(s *model.Step) {
	p := w.proc(s.P)
	if w.width == widthOne {
		w.credit()
	}
	if p.looks > 0 {
		w.looksNoMore(p)
	}
	if p.searching || p.stuck {
		w.setSearching(p, false, false)
	}
	before, state, _ := s.ProcStates()
	class, g, fn := uint8(heldNobody), model.NoGoroutine, model.StringID(0)
	switch state {
	case model.ProcRunning:
		class, g, fn = workClasses[s.Work], s.G, s.Func
	case model.ProcSyscall:
		class, g, fn = heldSyscall, s.G, s.Func
	case model.ProcSearching:
		w.loses(p, before)
	}
	// One that GOMAXPROCS did away with is stopped for good.
	if idle := state == model.ProcIdle || state == model.ProcStopped && !w.exists(p); idle != p.idle {
		p.idle = idle
		if w.exists(p) {
			w.busy += change01(!idle)
		}
	}
	if held := state.Held(); held != p.state.Held() && w.exists(p) {
		w.held += change01(held)
		w.heldIDs += change01(held) * int(p.id)
	}
	if user := class == heldUser; user != (p.class == heldUser) {
		w.use(change01(user))
	}
	p.state, p.class, p.g, p.fn = state, class, g, fn
	w.occupy(p)
}

// use changes how many procs run code of the program.
func (w *activity) use(by int) {
	if w.users > 1 {
		w.several += w.now.Sub(w.severalSince)
	}
	w.users += by
	w.severalSince = w.now
}

// workClasses are the classes of procs that run goroutines.
var workClasses = [model.NumWorkKinds]uint8{model.WorkUser: heldUser, model.WorkGCDedicated: heldGCDedicated, model.WorkGCFractional: heldGCFractional,
	model.WorkGCIdle: heldGCIdle, model.WorkGCAssist: heldAssist, model.WorkSystem: heldRuntime}

// endTurn notes where the latest turn of a goroutine on a proc ended.
func (w *activity) endTurn(at model.Time, id model.ProcID, stack model.StackID, ended ending) {
	w.advance(at)
	if uint(id) < uint(len(w.procs)) && w.procs[id] != nil {
		w.procs[id].endTurn(stack, ended)
	}
}

// running reports whether a proc runs a goroutine, as far as steps have shown.
func (w *activity) running() bool {
	return slices.ContainsFunc(w.procs, func(p *procActivity) bool { return p != nil && p.state == model.ProcRunning && !p.early })
}

// sample adds a CPU sample to the segment in which it falls.
func (w *activity) sample(c *change) {
	if c.p < 0 || int(c.p) >= len(w.procs) || w.procs[c.p] == nil {
		return
	}
	p := w.procs[c.p].last()
	if p.g != c.g || c.g == model.NoGoroutine {
		return
	}
	i := w.freeSamples
	if i == 0 {
		w.samples = append(w.samples, sampleNode{})
		if len(w.samples) == 1 {
			w.samples = append(w.samples, sampleNode{})
		}
		i = int32(len(w.samples) - 1)
	} else {
		w.freeSamples = w.samples[i].next
	}
	w.samples[i] = sampleNode{c.stack, p.samples}
	p.samples = i
	w.sampled(p, c.stack)
}

// stopped notes who was the last to stop, and cuts the segment: what follows is due to who
// stopped the world.
func (w *activity) stopped(last stackSeen, fn model.StringID) {
	p := w.global.last()
	if p.class != classSTW || w.global.at(w.global.end-1) >= w.now || last.g == model.NoGoroutine {
		return
	}
	p.fn, p.stack = fn, last.stack
	for _, q := range w.procs { // a sample shows where it ran on, the stop where it was after that
		if q == nil {
			continue
		}
		for i := q.end - 1; i >= max(q.end-4, q.first); i-- {
			if x := q.point(i); x.g == last.g && x.samples != 0 {
				p.stack = w.samples[x.samples].stack
				break
			}
		}
	}
	w.pushGlobal(classSTW)
}

// loses begins the time of a proc without a goroutine.
func (w *activity) loses(p *procActivity, before model.ProcState) {
	p.until, p.search = w.now+model.Time(w.grace), w.search
	if before == model.ProcIdle { // woken to search
		w.setSearching(p, true, false)
		p.until = w.now + model.Time(w.search)
	}
	w.looking = append(w.looking, p)
	p.looks = len(w.looking)
	w.next = min(w.next, p.until)
}

// occupy writes who has the proc.
func (w *activity) occupy(p *procActivity) {
	class := p.class
	if w.gap && class != heldUnknown {
		class = heldOSGap
	}
	p.push(w.now, w.takenNow(), class)
}

// endTurn notes where the latest turn of a goroutine ended, which assists may
// have cut. If it went on in a system call, that was the place too.
func (p *procActivity) endTurn(stack model.StackID, ended ending) {
	i := p.end - 1
	for i > p.first && p.point(i).g == model.NoGoroutine {
		i--
	}
	for g := p.point(i).g; i >= p.first; i-- {
		x := p.point(i)
		if x.g != g || x.stack != 0 {
			break
		}
		x.stack, x.ended = stack, ended
	}
}

// resize follows GOMAXPROCS.
func (w *activity) resize(n int) {
	w.credit()
	w.n, w.busy, w.held, w.heldIDs = n, 0, 0, 0
	for _, p := range w.procs {
		if p == nil {
			continue
		}
		if !w.exists(p) && p.state == model.ProcStopped {
			p.idle = true
		}
		if w.exists(p) && !p.idle {
			w.busy++
		}
		if w.exists(p) && p.state.Held() {
			w.held++
			w.heldIDs += int(p.id)
		}
	}
}

func (w *activity) setGap(gap bool) {
	w.credit()
	w.gap = gap
	for _, p := range w.procs {
		if p != nil {
			w.occupy(p)
		}
	}
}

// woken takes a wakeup of an idle proc, from its cause until the thread got it.
// What is past already stays as it was taken for.
func (w *activity) woken(trigger, got model.Time, limit model.Duration) {
	if got <= w.now && w.began || got <= trigger {
		return
	}
	late := trigger + model.Time(min(limit, got.Sub(trigger)))
	w.next = min(w.next, trigger)
	w.alarms.insert(alarm{at: trigger, fresh: +1}, compareAlarms)
	if late < got {
		w.alarms.insert(alarm{at: late, fresh: -1, stale: +1}, compareAlarms)
		w.alarms.insert(alarm{at: got, stale: -1}, compareAlarms)
	} else {
		w.alarms.insert(alarm{at: got, fresh: -1}, compareAlarms)
	}
}

// alarm changes the numbers of wakeups in flight.
type alarm struct {
	at           model.Time
	fresh, stale int
}

func compareAlarms(a, b *alarm) int { return cmp.Compare(a.at, b.at) }
