package lockstep

import (
	"math"
	"strings"

	"github.com/schedscope/schedscope/internal/hdr"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// procs follows what the trace shows of procs, threads and phases, and judges the
// decisions that need no queues, or only whether one is empty.
type procs struct {
	c             *Checker
	list          []proc
	threads       map[model.ThreadID]*lastTwo
	recent        [64]*lastTwo // those of the latest steps, by id
	count         int          // GOMAXPROCS
	idle          int
	searching     int
	stopping      bool
	stop          stopping
	marking       bool // a mark phase goes on
	markEnd       model.Time
	restart       model.Time // when the world went on last
	lastIdle      model.Time // when a proc became idle last
	wake          waking
	runs          map[model.GoID]model.Time // since when what has a proc, or is in a system call, was started
	run           longRun
	deaf          int        // procs that have not heard yet
	advancer      model.GoID // the goroutine that begins a new generation, while it runs
	now           model.Time
	asked         model.Time    // when all procs were asked to stop for some other reason than a slice last
	came, latency hdr.Histogram // of wakes: decisions for which somebody came, and all by the resolver
	requests      []request     // that the resolver has not come to
	passed        []request     // that wait for what becomes of idle procs
	exits         []exit
}

type proc struct {
	deaf  bool // asked to stop for an instant, and has not heard
	seen  bool
	state model.ProcState
	since model.Time // in that state
	work  model.WorkKind
	g     model.GoID
	// The latest system call during which it was held: its beginning, goroutine, and end.
	call     model.Time
	callG    model.GoID
	callOver model.Time
	ran      model.Time // start of g
	slice    model.Time // by the resolver: since when it has the same schedtick,
	before   model.Time // and had the one before
	queued   int        // by the resolver
}

// maxProcs bounds the procs that are followed.
const maxProcs = 1 << 12

func (p *procs) proc(id model.ProcID) *proc {
	if id < 0 || id >= maxProcs {
		return new(proc)
	}
	for int(id) >= len(p.list) {
		p.list = append(p.list, proc{g: model.NoGoroutine})
	}
	return &p.list[id]
}

// thread returns what is known of a thread.
func (p *procs) thread(id model.ThreadID) *lastTwo {
	recent := &p.recent[uint64(id)%uint64(len(p.recent))]
	if t := *recent; t != nil && t.id == id {
		return t
	}
	t := p.threads[id]
	if t == nil {
		t = &lastTwo{id: id}
		p.threads[id] = t
	}
	*recent = t
	return t
}

// lastTwo is when a thread did something last, and before that.
type lastTwo struct {
	id           model.ThreadID
	last, before model.Time
	inCall       bool // its goroutine is in a system call
}

// step follows one step.
func (p *procs) step(s *model.Step) {
	if s.Time.Sub(p.wake.at) > wakeLost {
		p.endWake(s.Time, false) // nobody came
	}
	p.settle(s.Time)
	p.now = s.Time
	p.noteAsked(s)
	switch s.Kind {
	case model.StepProc:
		p.procStep(s)
	case model.StepGo:
		p.goStep(s)
	case model.StepMove:
		if s.ToM == model.NoThread && s.M != s.FromM && s.By == model.NoGoroutine && s.M != model.NoThread {
			p.retaken(s)
		}
	case model.StepProcs:
		p.count = int(s.N)
		p.assumeIdle(s.Time)
	case model.StepStopping:
		p.stopping = true
		p.stop = stopping{at: s.Time, g: s.G}
		if strings.Contains(p.c.tables.String(s.Reason), "GC mark termination") {
			p.marking, p.markEnd, p.stop.marked = false, s.Time, true
		}
		if strings.Contains(p.c.tables.String(s.Reason), "GC sweep termination") {
			p.marking = true
		}
		p.wake = waking{}
	case model.StepStopped:
		p.stop.stopped = s.Time
	case model.StepRestarted:
		if p.stopping {
			p.judgeStop()
		}
		p.stopping, p.restart = false, s.Time
		if p.stop.marked {
			p.ask() // to flush caches (runtime/mgc.go: gcMarkTermination)
		}
		p.wake = waking{}
	}
	if s.M != model.NoThread {
		t := p.thread(s.M)
		if t.last != s.Time {
			t.last, t.before = s.Time, t.last
		}
		if s.Kind == model.StepGo && s.Flags&model.StepStatus == 0 {
			switch {
			case model.GoState(s.To) == model.GoSyscall:
				t.inCall = true
			case model.GoState(s.From) == model.GoSyscall || model.GoState(s.From) == model.GoSyscallBlocked, model.GoState(s.To) == model.GoRunning:
				t.inCall = false
			}
		}
	}
}

// assumeIdle takes procs that have not been seen so far to be idle: what runs since
// before the trace shows with its first event.
func (p *procs) assumeIdle(at model.Time) {
	for i := range min(p.count, maxProcs) {
		if q := p.proc(model.ProcID(i)); !q.seen {
			*q = proc{seen: true, state: model.ProcIdle, since: at, g: model.NoGoroutine}
			p.idle++
		}
	}
}

// idleOnes returns procs that have been idle long enough that everybody knows, the first
// of them if there are many.
func (p *procs) idleOnes(at model.Time) (idle []model.ProcID) {
	if p.idle == 0 {
		return nil
	}
	for i := range p.list {
		if o := &p.list[i]; o.seen && o.state == model.ProcIdle && at.Sub(o.since) > idleFor {
			if idle = append(idle, model.ProcID(i)); len(idle) == 64 {
				break
			}
		}
	}
	return idle
}

func (p *procs) procStep(s *model.Step) {
	q := p.proc(s.P)
	from, to := model.ProcState(s.From), model.ProcState(s.To)
	if !q.seen {
		q.seen, from = true, model.ProcUndetermined
	}
	if from == model.ProcIdle && to != model.ProcIdle {
		p.idle--
		if !p.thread(s.M).inCall { // what a thread takes that comes out of a system call was idle indeed
			p.endWake(s.Time, true)
			p.got(s.P)
		}
	}
	if from == model.ProcSearching {
		p.searching--
	}
	if to == model.ProcSearching {
		p.searching++
	}
	if from == model.ProcSyscall && to != model.ProcSyscall {
		q.call, q.callG, q.callOver = q.since, q.g, s.Time
		p.endCall(s, q)
	}
	if from == model.ProcRunning && (to != model.ProcRunning || s.G != q.g) {
		p.endRun(s, q)
	}
	if to == model.ProcIdle && from != model.ProcIdle {
		p.idle++
		p.lastIdle = s.Time
	}
	if to == model.ProcRunning && s.Work.IsGC() && s.Work != model.WorkGCAssist {
		if !p.marking && s.Time.Sub(p.markEnd) > GenerationGap {
			p.marking = true // since before the trace
		}
		p.worker(s, q)
	}
	if from != to {
		q.since = s.Time
	}
	q.state, q.work, q.g = to, s.Work, s.G
}

func (p *procs) goStep(s *model.Step) {
	from, to := model.GoState(s.From), model.GoState(s.To)
	if p.run.on && from == model.GoRunning {
		p.judgeRun(s)
	}
	switch {
	case s.Flags&model.StepStatus != 0:
	case from == model.GoRunnable && to == model.GoRunning:
		p.proc(s.P).ran = s.Time
		if s.Pseudo == model.NotPseudo && s.Origin != model.OriginSyscall {
			p.runs[s.G] = s.Time
		}
		if p.stopping && s.Pseudo == model.NotPseudo && s.G != p.stop.g && p.stop.stopped == 0 {
			t := p.thread(s.M)
			began := textui.Either(t.last == s.Time, t.before, t.last)
			if began != 0 && began.Sub(p.stop.at) > Epsilon && s.Origin != model.OriginSyscall {
				p.stop.started++
				p.stop.d = Divergence{Time: s.Time, P: s.P, M: s.M, G: s.G}
				p.stop.search = s.Time.Sub(began)
			}
		}
	case to == model.GoWaiting || to == model.GoNotExist:
		delete(p.runs, s.G)
	case to == model.GoRunnable:
		switch s.Origin {
		case model.OriginPreempted:
			p.preempted(s)
		case model.OriginCreated, model.OriginGoroutine:
			p.mustWake(s)
		}
	}
}

// finish judges what is left.
func (p *procs) finish() {
	p.until(math.MaxInt64)
	p.settle(math.MaxInt64)
	p.judgeWakes()
}
