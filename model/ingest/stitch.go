package ingest

import (
	"fmt"

	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest/wire"
)

// stitcher makes one stream of generations that were decoded alone. For that it
// follows the states of goroutines, procs and threads, in the same way as a
// reader of the whole trace does (internal/trace/order.go, Go 1.26):
//
//  1. A generation alone does not know in which state its first mention found a
//     goroutine or proc. That is the state carried over. If the trace says
//     otherwise it is corrupt. A proc nobody knew did not exist before.
//  2. Nor does it know what a thread had before its first mention; events get
//     the goroutine and proc carried over.
//  3. A proc that was about to be taken out of a system call when the generation
//     began (ProcSyscallAbandoned) seems Idle. If it is known to be Running
//     it still is, on the thread that has it, until it is stolen.
//  4. The end of a task that began earlier gets name and parent; the end of a
//     region must fit the beginning carried over.
//  5. Sync events are numbered through.
//  6. Each generation names each goroutine that lives when it begins, and as many procs as
//     GOMAXPROCS is at the least (runtime/trace.go: traceAdvance, Go 1.22 to 1.26). If not, a
//     batch is missing. If its events and samples do not refer to all of its stacks, one may be.
type stitcher struct {
	tables  *model.Tables
	namer   model.Namer
	strings []model.StringID // of the generation, by its own numbers
	stacks  []model.StackID

	v1      bool
	initial bool // the first generation that is read: nothing is carried over
	syncs   int64

	// Of the generation, for rule 6:
	unnamed    int   // goroutines carried over that it has not named
	named      int   // procs that it has
	fewest     int64 // least GOMAXPROCS, 0 if it does not say
	unused     int   // stacks that nothing refers to
	gomaxprocs model.StringID

	gos     goStates
	procs   table[procState]
	threads table[threadState]
	tasks   map[int64]taskState
	regions map[int64][]region

	alive, most int64 // see fewAlive
}

// fewAlive and perAlive bound the memory of what is alive at once by the length of the trace: a
// task takes so many bytes on average, goroutines and regions take twice as many, goroutines that
// could run four times, and those with numbers far apart twice more, except for a few. The runtime
// writes more than that: a task takes 8 bytes, each generation lists all goroutines with 16 each,
// and one that is woken and runs takes 30.
const fewAlive, perAlive = 1 << 18, 7

// goWeight is what a goroutine counts in a state.
var goWeight = [8]int64{model.GoRunnable: 4, model.GoRunning: 2, model.GoWaiting: 2, model.GoSyscall: 2}

type procState struct {
	status model.ProcStatus
	thread model.ThreadID // that has it, while Running
}

type threadState struct {
	g model.GoID
	p model.ProcID
}

type taskState struct {
	name   model.StringID
	parent int64
}

type region struct {
	task int64
	name model.StringID
}

func newStitcher(tables *model.Tables) *stitcher {
	return &stitcher{
		tables:  tables,
		initial: true,
		tasks:   map[int64]taskState{},
		regions: map[int64][]region{},

		gomaxprocs: tables.AddString("/sched/gomaxprocs:threads"),
	}
}

// begin prepares for the next generation, which ends so many bytes into the trace.
func (s *stitcher) begin(v1 bool, end int64) {
	s.v1 = v1
	s.most = fewAlive + end/perAlive
	s.initial = s.syncs == 0
	s.unnamed, s.named, s.fewest, s.unused = s.gos.alive, 0, 0, 0
	s.strings = append(s.strings[:0], 0)
	s.stacks = append(s.stacks[:0], 0)
}

// end returns what the generation lacks, nil if nothing (rule 6).
func (s *stitcher) end(number uint64) error {
	switch {
	case s.v1:
	case s.unnamed > 0:
		return decodeError(fmt.Sprintf("generation %d does not name %d goroutines of the one before: a batch is missing", number, s.unnamed))
	case int64(s.named) < s.fewest:
		return decodeError(fmt.Sprintf("generation %d names %d procs although GOMAXPROCS is %d: a batch is missing", number, s.named, s.fewest))
	}
	return nil
}

// lives returns how many goroutines, procs, threads, tasks and regions there are at the most.
// Before Go 1.22 only goroutines are followed.
func (s *stitcher) lives() uint64 {
	const unseen = 1 << 12
	return uint64(max(s.alive, 0)) + uint64(len(s.procs.values)+len(s.threads.values)+unseen)
}

// learn interns what a chunk brings.
func (s *stitcher) learn(c *wire.Chunk) {
	if c.Roster != nil {
		s.tables.SetNames(s.namer.Names(c.Roster, s.tables))
	}
	for _, str := range c.Strings {
		s.strings = append(s.strings, s.tables.AddString(str))
	}
	s.unused += c.Unused
	for _, frames := range c.Stacks {
		s.stacks = append(s.stacks, s.tables.AddStack(frames))
	}
}

// apply completes an event in place. An error means that it contradicts what
// came before, or that too much is alive.
func (s *stitcher) apply(e *model.Event) error {
	before := s.alive
	s.refer(e)
	var err error
	if e.Kind == model.EventGoTransition && !s.v1 {
		err = s.goTransition(e)
	} else {
		err = s.complete(e)
	}
	if s.alive > before && s.crowded(0) && err == nil {
		err = decodeError("more goroutines, tasks and regions are alive at once than a trace of this length can have")
	}
	return err
}

// refer makes an event refer to the tables in place of the generation's own.
func (s *stitcher) refer(e *model.Event) {
	if e.Stack != 0 {
		e.Stack = s.stacks[e.Stack]
	}
	if e.SubjectStack != 0 {
		e.SubjectStack = s.stacks[e.SubjectStack]
	}
	if e.Str != 0 {
		e.Str = s.strings[e.Str]
	}
}

// crowded reports whether too much is alive, or would be if that grew so much.
func (s *stitcher) crowded(more int64) bool {
	return s.alive+more+2*int64(len(s.gos.far)) > s.most
}

// complete does so for an event other than the transition of a goroutine, or one of a trace
// before Go 1.22.
func (s *stitcher) complete(e *model.Event) error {
	e.Str2 = s.strings[e.Str2]
	switch {
	case e.Kind == model.EventSync:
		s.syncs++
		e.ID = s.syncs
		return nil
	case s.v1:
		if e.Kind == model.EventGoTransition || e.Kind == model.EventProcTransition {
			markStatus(e)
		}
		if e.Kind == model.EventGoTransition {
			s.alive += goWeight[e.To%8] - goWeight[e.From%8]
		}
		return nil
	case e.Kind == model.EventStackSample:
		return nil // taken by a signal handler: its context is its own
	}
	m := s.thread(e.M)
	if e.Kind == model.EventProcTransition {
		return s.procTransition(e, m)
	}
	m.complete(e)
	switch e.Kind {
	case model.EventMetric:
		if e.Str == s.gomaxprocs && (s.fewest == 0 || e.ID < s.fewest) {
			s.fewest = e.ID
		}
	case model.EventTaskBegin: // rule 4
		if _, ok := s.tasks[e.ID]; ok {
			return fmt.Errorf("task %d: begins although it has not ended", e.ID)
		}
		s.tasks[e.ID] = taskState{e.Str, e.Arg}
		s.alive++
	case model.EventTaskEnd:
		if t, ok := s.tasks[e.ID]; ok {
			e.Str, e.Arg = t.name, t.parent
			delete(s.tasks, e.ID)
			s.alive--
		}
	case model.EventRegionBegin:
		s.regions[int64(e.G)] = append(s.regions[int64(e.G)], region{e.ID, e.Str})
		s.alive += 2
	case model.EventRegionEnd:
		return s.regionEnd(e)
	}
	return nil
}

// thread returns the state of a thread, nil for NoThread.
func (s *stitcher) thread(id model.ThreadID) *threadState {
	if id == model.NoThread {
		return nil
	}
	m := s.threads.get(int64(id))
	if m == nil {
		m, _ = s.threads.getOrAdd(int64(id))
		*m = threadState{model.NoGoroutine, model.NoProc}
	}
	return m
}

// complete gives an event the context that its generation did not know (rule 2).
func (m *threadState) complete(e *model.Event) {
	if m == nil {
		return
	}
	if e.G == model.NoGoroutine {
		e.G = m.g
	}
	if e.P == model.NoProc {
		e.P = m.p
	}
}

// markStatus flags a transition that changes nothing.
func markStatus(e *model.Event) {
	if e.From == e.To {
		e.Flags |= model.EventStatus
	}
}

// move is a change of a goroutine from one state to another that exists. The zero move is none.
type move struct {
	weight int64 // what it adds to what is alive
	simple bool
	begins bool // the thread has the goroutine from now on
	ends   bool // the thread has had it
}

// moves are those from one known state to another, by both.
var moves = func() (all [8 * 8]move) {
	onThread := func(s model.GoState) bool { return s == model.GoRunning || s == model.GoSyscall }
	for from := model.GoRunnable; from <= model.GoSyscall; from++ {
		for to := model.GoRunnable; to <= model.GoSyscall; to++ {
			if from != to {
				all[8*from+to] = move{goWeight[to] - goWeight[from], true, onThread(to), onThread(from) && !onThread(to)}
			}
		}
	}
	return all
}()

// pass completes the first of the events as long as they are transitions of goroutines from one known state to
// another, each less than step after the one before, as nearly all are. It returns how many those are, and sets the time of
// the last of them.
func (s *stitcher) pass(events []model.Event, last *model.Time, step uint64) int {
	at, stacks, strings := *last, s.stacks, s.strings
	for i := range events {
		e := &events[i]
		move := &moves[(e.From*8+e.To)%64]
		if e.Kind != model.EventGoTransition || uint64(e.Time-at) >= step || !move.simple {
			*last = at
			return i
		}
		p, m := s.gos.pages.get(e.ID>>goPageBits), s.threads.get(int64(e.M))
		if p == nil || m == nil || p.states[e.ID&(goPageSize-1)] != e.From || move.weight > 0 && s.crowded(move.weight) {
			*last = at
			return i
		}
		at = e.Time
		s.alive += move.weight
		p.states[e.ID&(goPageSize-1)] = e.To
		if e.Stack != 0 {
			e.Stack = stacks[e.Stack]
		}
		if e.SubjectStack != 0 {
			e.SubjectStack = stacks[e.SubjectStack]
		}
		if e.Str != 0 {
			e.Str = strings[e.Str]
		}
		m.complete(e)
		if move.begins {
			m.g = model.GoID(e.ID)
		} else if move.ends {
			m.g = model.NoGoroutine
		}
	}
	*last = at
	return len(events)
}

func (s *stitcher) goTransition(e *model.Event) error {
	m := s.thread(e.M)
	if err := s.otherGo(e, m); err != nil {
		return err
	}
	s.alive += goWeight[e.To%8] - goWeight[e.From%8]
	if m != nil {
		m.follow(e)
	}
	return nil
}

// follow gives the transition of a goroutine its context, and follows it on the thread.
func (m *threadState) follow(e *model.Event) {
	m.complete(e)
	switch from, to := model.GoState(e.From), model.GoState(e.To); {
	case to == model.GoRunning, to == model.GoSyscall:
		m.g = model.GoID(e.ID)
	case from != to && (from == model.GoRunning || from == model.GoSyscall):
		m.g = model.NoGoroutine
	}
}

// otherGo follows the state of a goroutine through a transition.
func (s *stitcher) otherGo(e *model.Event, m *threadState) error {
	from, to := model.GoState(e.From), model.GoState(e.To)
	old := model.GoState(s.gos.get(e.ID))
	switch {
	case from == model.GoUndetermined:
		if err := s.goStatus(e, m, old); err != nil {
			return err
		}
	case from == model.GoNotExist && old != model.GoUndetermined:
		return fmt.Errorf("goroutine %d: created although it is %v", e.ID, old)
	case from != model.GoNotExist && from != old:
		return fmt.Errorf("goroutine %d: inconsistent state: got %v, want %v", e.ID, from, known(old))
	}
	markStatus(e)
	switch {
	case to == model.GoNotExist:
		if old != model.GoUndetermined {
			s.gos.remove(e.ID)
		}
		s.alive -= 2 * int64(len(s.regions[e.ID]))
		delete(s.regions, e.ID)
	case to != model.GoUndetermined && to != old:
		s.gos.set(e.ID, uint8(old), e.To)
	}
	return nil
}

// known returns the state of a goroutine for an error message; one that is not
// in the table does not exist.
func known(old model.GoState) model.GoState {
	if old == model.GoUndetermined {
		return model.GoNotExist
	}
	return old
}

// goStatus gives a status its origin (rule 1). A goroutine in a system call may
// be on another thread than the one that wrote the status; the event is that
// thread's.
func (s *stitcher) goStatus(e *model.Event, m *threadState, old model.GoState) error {
	to := model.GoState(e.To)
	switch {
	case s.initial && old == model.GoUndetermined:
		return nil
	case old != to:
		return fmt.Errorf("goroutine %d: inconsistent state: status says %v, carried over is %v", e.ID, to, known(old))
	}
	s.unnamed--
	e.From = e.To
	if to != model.GoSyscall || m == nil {
		return nil
	}
	if m.g != model.GoID(e.ID) && m.g != model.NoGoroutine {
		return fmt.Errorf("goroutine %d: inconsistent thread: status says thread %d, which has goroutine %d", e.ID, e.M, m.g)
	}
	e.G = m.g
	return nil
}

func (s *stitcher) procTransition(e *model.Event, m *threadState) error {
	from, to := model.ProcStatus(e.From), model.ProcStatus(e.To)
	p, isNew := s.procs.getOrAdd(e.ID)
	if from == model.ProcStatusUndetermined {
		s.named++
		if !isNew && to == model.ProcStatusIdle && s.abandoned(p, e.ID) {
			// Rule 3: it is a status of the thread that has it.
			e.From, e.To = uint8(model.ProcStatusRunning), uint8(model.ProcStatusRunning)
			e.M, e.P, e.G = p.thread, model.ProcID(e.ID), s.threads.get(int64(p.thread)).g
			markStatus(e)
			return nil
		}
		if err := s.procStatus(e, p, isNew); err != nil {
			return err
		}
	} else if isNew || from != p.status {
		if isNew || from != model.ProcStatusIdle || to != model.ProcStatusIdle || !s.abandoned(p, e.ID) {
			return fmt.Errorf("proc %d: inconsistent state: got %s, want %s", e.ID, from, p.status)
		}
		e.From = uint8(model.ProcStatusRunning) // rule 3: stolen at last
	}
	m.complete(e)
	markStatus(e)
	s.bind(e, p, m)
	return nil
}

// procStatus gives a status its origin (rule 1).
func (s *stitcher) procStatus(e *model.Event, p *procState, isNew bool) error {
	switch to := model.ProcStatus(e.To); {
	case isNew && s.initial:
		e.From = uint8(model.ProcStatusUndetermined)
	case isNew:
		e.From = uint8(model.ProcStatusNotExist)
	case p.status != to:
		return fmt.Errorf("proc %d: inconsistent state: status says %s, carried over is %s", e.ID, to, p.status)
	default:
		e.From = e.To
	}
	return nil
}

// bind follows a proc to and from threads.
func (s *stitcher) bind(e *model.Event, p *procState, m *threadState) {
	id := model.ProcID(e.ID)
	if model.ProcStatus(e.To) == model.ProcStatusRunning {
		if m != nil {
			m.p = id
		}
		p.thread = e.M
	} else if p.status == model.ProcStatusRunning {
		if m != nil && m.p == id {
			m.p = model.NoProc
		} else if holder := s.threads.get(int64(p.thread)); holder != nil && holder.p == id {
			holder.p = model.NoProc
		}
	}
	p.status = model.ProcStatus(e.To)
}

// abandoned reports whether a proc is held for a goroutine in a system call, so
// that rule 3 applies to it.
func (s *stitcher) abandoned(p *procState, id int64) bool {
	if p.status != model.ProcStatusRunning {
		return false
	}
	holder := s.threads.get(int64(p.thread))
	return holder != nil && holder.p == model.ProcID(id) && holder.g != model.NoGoroutine &&
		model.GoState(s.gos.get(int64(holder.g))) == model.GoSyscall
}

// regionEnd checks that the innermost region known is the one that ends. None
// is known of those that began before the trace.
func (s *stitcher) regionEnd(e *model.Event) error {
	open := s.regions[int64(e.G)]
	if len(open) == 0 {
		return nil
	}
	last := open[len(open)-1]
	if last != (region{e.ID, e.Str}) {
		return fmt.Errorf("goroutine %d: region %q of task %d ends, but the innermost is %q of task %d",
			e.G, s.tables.String(e.Str), uint64(e.ID), s.tables.String(last.name), uint64(last.task))
	}
	s.alive -= 2
	if open = open[:len(open)-1]; len(open) == 0 {
		delete(s.regions, int64(e.G))
	} else {
		s.regions[int64(e.G)] = open
	}
	return nil
}
