package refsched

import "github.com/schedscope/schedscope/model"

// cores is the operating system beneath: fewer cores than procs, or a CPU quota. Threads in
// the scheduler and in goroutines need a core, those in system calls do not. A thread
// without one stands still, whatever it does.
type cores struct {
	on        []bool // by proc
	used      int
	queue     ring // procs that wait for a core
	waits     []bool
	turns     []uint32       // how many a proc has had
	left      model.Duration // of the quota
	throttled bool
}

// coreTurn is for how long a thread has its core while others wait, and quotaPeriod in which a quota may be used.
const (
	coreTurn    model.Duration = 3_000_000
	quotaPeriod model.Duration = 100_000_000
)

// quotaStep is how often the use of a quota is looked at; the kernel hands it out in slices of
// 5 ms.
const quotaStep model.Duration = 1_000_000

func (s *sim) limited() bool { return s.cfg.Cores < s.n || s.cfg.Quota > 0 }

func (s *sim) initCores() {
	if !s.limited() {
		return
	}
	s.os.on, s.os.waits, s.os.turns = make([]bool, s.n), make([]bool, s.n), make([]uint32, s.n)
	if s.cfg.Quota > 0 {
		s.os.left = s.cfg.Quota
		s.at(int64(quotaStep), evQuota, 0, 0, 0)
	}
}

// onCore has a proc's thread wait for a core if there is none.
func (s *sim) onCore(p int32) {
	if !s.limited() || s.os.on[p] || s.os.waits[p] {
		return
	}
	if s.os.used < s.cfg.Cores && !s.os.throttled {
		s.giveCore(p)
		return
	}
	s.freeze(p)
	s.awaitCore(p)
}

func (s *sim) awaitCore(p int32) {
	s.os.waits[p] = true
	s.os.queue.push(p)
}

func (s *sim) giveCore(p int32) {
	s.os.on[p] = true
	s.os.used++
	s.os.turns[p]++
	s.at(s.now+int64(coreTurn), evTurn, p, 0, s.os.turns[p])
}

// offCore frees the core of a proc whose thread sleeps or blocks.
func (s *sim) offCore(p int32) {
	if !s.limited() {
		return
	}
	if s.os.waits[p] {
		s.os.waits[p] = false // it stays in the queue and is passed over
		s.ps[p].frozen = false
	}
	if s.os.on[p] {
		s.os.on[p] = false
		s.os.used--
		s.nextOnCore()
	}
}

// nextOnCore gives free cores to those who wait longest.
func (s *sim) nextOnCore() {
	for s.os.queue.len() > 0 && s.os.used < s.cfg.Cores && !s.os.throttled {
		p := s.os.queue.pop()
		if !s.os.waits[p] {
			continue
		}
		s.os.waits[p] = false
		s.giveCore(p)
		s.thaw(p)
	}
}

// turn has a thread that has had its core for long make room for others.
func (s *sim) turn(p int32, gen uint32) {
	if !s.os.on[p] || gen != s.os.turns[p] {
		return
	}
	if !s.someoneWaits() {
		s.at(s.now+int64(coreTurn), evTurn, p, 0, gen)
		return
	}
	s.os.on[p] = false
	s.os.used--
	s.freeze(p)
	s.awaitCore(p)
	s.nextOnCore()
}

func (s *sim) someoneWaits() bool {
	for _, w := range s.os.waits {
		if w {
			return true
		}
	}
	return false
}

// freeze stops the clock for what a proc's thread does.
func (s *sim) freeze(p int32) {
	x := &s.ps[p]
	if x.frozen {
		return
	}
	x.frozen = true
	x.gen++
	if x.step != stepNone {
		x.remains = x.due - s.now
	}
	if x.g < 0 || s.gs[x.g].state != gRunning {
		return
	}
	if s.gs[x.g].worker {
		if _, ok := s.gc.started[x.g]; ok {
			s.settleMarking(-1)
		}
	} else if x.step == stepRun {
		s.gs[x.g].off += s.now - x.since
	}
}

func (s *sim) thaw(p int32) {
	x := &s.ps[p]
	if !x.frozen {
		return
	}
	x.frozen = false
	x.since = s.now
	if x.g >= 0 && s.gs[x.g].worker && s.gs[x.g].state == gRunning {
		if _, ok := s.gc.started[x.g]; ok {
			s.settleMarking(+1)
		}
	}
	if x.step != stepNone {
		s.plan(p, x.step, model.Duration(x.remains))
	}
	if x.preempt {
		s.requestPreempt(p, s.costs.Single[CostNotice])
	}
}

// quota takes off what was used of the quota and stops all threads when nothing is left of
// it, until the period ends.
func (s *sim) quota() {
	s.at(s.now+int64(quotaStep), evQuota, 0, 0, 0)
	if s.now%int64(quotaPeriod) < int64(quotaStep) {
		s.os.left = s.cfg.Quota
		if s.os.throttled {
			s.os.throttled = false
			s.nextOnCore()
		}
		return
	}
	s.os.left -= quotaStep * model.Duration(s.os.used)
	if s.os.left > 0 || s.os.throttled {
		return
	}
	s.os.throttled = true
	for p := range int32(s.n) {
		if s.os.on[p] {
			s.os.on[p] = false
			s.os.used--
			s.freeze(p)
			s.awaitCore(p)
		}
	}
}
