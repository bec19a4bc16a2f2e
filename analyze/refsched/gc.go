package refsched

import (
	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// Modes of mark workers.
const (
	dedicated uint8 = iota
	fractional
	idle
)

// workerCheck is how long fractional and idle workers go on before they look whether to
// stop (runtime/mgcmark.go: gcDrain; there it is after so much scan work).
const workerCheck model.Duration = 100_000

// gc is the state of the garbage collector.
type gc struct {
	on        bool // marking (gcBlackenEnabled)
	cycle     int32
	work      int64 // ns of marking left
	at        int64 // as of then
	active    int64 // workers that run
	gen       uint32
	began     int64
	dedicated int // workers still wanted
	fraction  float64
	idlers    int     // idle workers that run
	maxIdlers int     // that may
	spent     []int64 // by fractional workers, by proc
	free      []int32 // workers that wait
	assists   []int32 // goroutines that wait for credit
}

// startCycle begins a GC cycle: the world is stopped for sweep termination. If none is
// wanted, or another one still marks, its end is now; the other one takes over its work.
func (s *sim) startCycle(c where, i int32) bool {
	cy := &s.w.Cycles[i]
	if s.rules.NoGC || s.gc.on {
		if s.gc.on {
			s.settleMarking(0)
			s.gc.work += int64(cy.Work)
			s.settleMarking(0)
		}
		s.cycleEnds(c, i)
		return false
	}
	s.gc.cycle = i
	s.stopWorld(c, s.w.Tables.AddString("stop-the-world (GC sweep termination)"), cy.Sweep, stwSweep)
	return true
}

// beginMark starts marking (runtime/mgc.go: gcStart).
func (s *sim) beginMark(c where) {
	cy := &s.w.Cycles[s.gc.cycle]
	g := &s.gc
	g.work += max(1000, int64(cy.Work))
	g.on, g.at, g.began, g.active = true, s.now, s.now, 0
	g.dedicated, g.fraction = GCWorkers(s.n)
	if s.rules.Ideal {
		g.dedicated, g.fraction = max(1, g.dedicated), 0
	}
	g.idlers, g.maxIdlers = 0, s.n-g.dedicated
	g.spent = make([]int64, s.n)
	s.event(model.EventRangeBegin, c, 0, uint8(model.ScopeGlobal), 0, 0, 0)
}

// cycleTries is how often a cycle that nobody in the workload began is tried to begin,
// before it is taken to find nothing to do.
const cycleTries = 1000

// periodicCycle begins a cycle that nobody in the workload began (runtime/proc.go:
// forcegchelper). It takes the first proc that runs a goroutine.
func (s *sim) periodicCycle(i, tries int32) {
	if s.rules.NoGC || tries > cycleTries {
		s.cycleEnds(nobody, i)
		return
	}
	for p := range int32(s.n) {
		x := &s.ps[p]
		if !s.stw.on && !s.gc.on && x.status == pRunning && x.g >= 0 && s.gs[x.g].state == gRunning && x.step == stepRun && !x.frozen {
			s.gs[x.g].off += s.now - x.since
			s.startCycle(s.of(x.g), i)
			return
		}
	}
	if s.left > 0 {
		s.at(s.now+int64(workerCheck), evCycle, i, tries+1, 0)
	}
}

// gcWorkerFor returns a mark worker that p must run now, -1 for none
// (runtime/mgcpacer.go: findRunnableGCWorker).
func (s *sim) gcWorkerFor(p int32) int32 {
	g := &s.gc
	switch {
	case !s.gcWants(p):
		return -1
	case g.dedicated > 0:
		g.dedicated--
		return s.worker(dedicated)
	}
	return s.worker(fractional)
}

// gcWants reports whether p is given a worker (runtime/mgcpacer.go: findRunnableGCWorker).
func (s *sim) gcWants(p int32) bool {
	g := &s.gc
	if !g.on || g.dedicated > 0 {
		return g.on
	}
	total := s.now - g.began
	return g.fraction > 0 && (total <= 0 || float64(g.spent[p])/float64(total) <= g.fraction)
}

// idleWorker returns a worker for a proc that has found nothing else to do
// (runtime/mgcpacer.go: addIdleMarkWorker).
func (s *sim) idleWorker() int32 {
	if !s.gcNeedsIdle() {
		return -1
	}
	s.gc.idlers++
	return s.worker(idle)
}

func (s *sim) gcNeedsIdle() bool { return s.gc.on && s.gc.idlers < s.gc.maxIdlers }

// worker takes a waiting mark worker, or makes one.
func (s *sim) worker(mode uint8) int32 {
	g := &s.gc
	if len(g.free) == 0 {
		// The Machine takes a new one to have waited since the beginning.
		i := int32(len(s.gs))
		s.gs = append(s.gs, goroutine{prog: &workload.Goroutine{System: true}, span: model.GoSpan{System: true}, p: -1, m: -1, locked: -1, worker: true, state: gWaiting})
		s.goEvent(nobody, i, model.GoUndetermined, model.GoWaiting, 0, 0)
		g.free = append(g.free, i)
	}
	w := g.free[len(g.free)-1]
	g.free = g.free[:len(g.free)-1]
	s.gs[w].mode = mode
	return w
}

// pickWorker has p run a mark worker; whoever runs one, except for an idle one, wakes another thread
// for the other goroutines (runtime/proc.go: schedule, tryWakeP).
func (s *sim) pickWorker(p, w int32) {
	s.goEvent(s.onProc(p), w, model.GoWaiting, model.GoRunnable, 0, 0)
	s.gs[w].state = gRunnable
	s.pick(p, w, runqueue.SourceSystem)
	if s.gs[w].mode != idle {
		s.wakep()
	}
}

// workerStarts begins a worker's marking (runtime/mgc.go: gcBgMarkWorker).
func (s *sim) workerStarts(p, i int32) {
	g := &s.gc
	mode := s.gs[i].mode
	s.event(model.EventLabel, s.of(i), i, 0, mode, 0, 0)
	if !g.on {
		s.workerStops(p, i)
		return
	}
	s.settleMarking(+1)
	s.gs[i].marks, s.gs[i].begun, s.gs[i].drained = true, s.now, false
	if s.stw.on {
		s.requestPreempt(p, s.costs.Single[CostPreempt])
	}
	if mode != dedicated {
		s.plan(p, stepRun, workerCheck)
	}
}

// settleMarking accounts for the marking so far, and for n workers more.
func (s *sim) settleMarking(n int64) {
	g := &s.gc
	g.work -= g.active * (s.now - g.at)
	g.at = s.now
	g.active += n
	g.gen++
	if g.active > 0 && g.on {
		s.at(s.now+max(0, (g.work+g.active-1)/g.active), evMarked, 0, 0, g.gen)
	}
}

// workerRuns is the look that fractional and idle workers take (runtime/mgc.go:
// pollFractionalWorkerExit; runtime/proc.go: pollWork, which polls the network).
func (s *sim) workerRuns(p, i int32) {
	g := &s.gc
	stop := false
	switch s.gs[i].mode {
	case idle:
		if s.poller < 0 && len(s.ready) > 0 {
			s.inject(s.pollNow(), s.of(i), 0)
		}
		stop = s.ps[p].busy() || s.global.len() > 0
	case fractional:
		spent := g.spent[p] + s.now - s.gs[i].begun
		stop = float64(spent) > 1.2*g.fraction*float64(s.now-g.began)
	}
	if stop || s.stw.on {
		s.workerStops(p, i)
		return
	}
	s.plan(p, stepRun, workerCheck)
}

// workerPreempted: a dedicated worker goes on, but the first time gives its proc's queue away
// (runtime/mgc.go: gcBgMarkWorker); others stop.
func (s *sim) workerPreempted(p, i int32) {
	x := &s.ps[p]
	if s.stw.on || s.gs[i].mode != dedicated {
		s.workerStops(p, i)
		return
	}
	if s.gs[i].drained {
		return
	}
	s.gs[i].drained = true
	if x.next >= 0 {
		s.putGlobal(x.next)
		x.next = -1
	}
	for x.q.len() > 0 {
		s.putGlobal(x.q.pop())
	}
}

// workerStops has a worker wait again.
func (s *sim) workerStops(p, i int32) {
	g, x := &s.gc, &s.gs[i]
	if x.marks {
		s.settleMarking(-1)
		if x.mode == fractional {
			g.spent[p] += s.now - x.begun
		}
		x.marks = false
	}
	switch x.mode {
	case idle:
		g.idlers--
	case dedicated:
		if g.on {
			g.dedicated++ // stopped for a stop-the-world: wanted again
		}
	}
	s.cancel(p)
	s.stopWaiting(i, 0, 0)
	g.free = append(g.free, i)
	s.next(p)
}

// marked ends marking: all workers stop, and one of them stops the world for mark termination
// (runtime/mgc.go: gcMarkDone).
func (s *sim) marked(gen uint32) {
	g := &s.gc
	if gen != g.gen || !g.on {
		return
	}
	if s.stw.on {
		s.at(s.now+int64(s.costs.Single[CostPreempt])+1000, evMarked, 0, 0, gen)
		return
	}
	s.settleMarking(0)
	g.on = false
	for p := range int32(s.n) {
		if x := &s.ps[p]; !x.frozen && x.g >= 0 && s.gs[x.g].worker && s.gs[x.g].state == gRunning {
			s.stopWorld(s.of(x.g), s.w.Tables.AddString("stop-the-world (GC mark termination)"), s.w.Cycles[g.cycle].Mark, stwMark)
			return
		}
	}
	g.on = true
	s.at(s.now+int64(workerCheck), evMarked, 0, 0, g.gen)
}

// endCycle is what the last worker does when the world goes on (runtime/mgc.go:
// gcMarkTermination; gcWakeAllAssists).
func (s *sim) endCycle(p int32, c where) {
	g := &s.gc
	g.work = 0
	s.event(model.EventRangeEnd, c, 0, uint8(model.ScopeGlobal), 0, 0, 0)
	for _, i := range g.assists {
		if x := &s.gs[i]; x.state == gWaiting && !x.midway && x.segment().End == workload.EndAssist {
			s.inject([]int32{i}, c, 0)
		}
	}
	g.assists = g.assists[:0]
	s.cycleEnds(c, g.cycle)
	s.workerStops(p, c.g)
}

func (s *sim) cycleEnds(c where, i int32) {
	ends := s.w.Cycles[i].Ends
	for j := range ends {
		s.do(c, &ends[j])
	}
}
