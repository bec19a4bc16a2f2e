package refsched

import "github.com/schedscope/schedscope/model"

// sysmon is the state of the thread that watches all procs without having one
// (runtime/proc.go: sysmon).
type sysmon struct {
	gen    uint32
	rounds int // in succession in which there was nothing to do
	delay  model.Duration
	deep   bool // sleeps until a timer is due or somebody wakes it
}

// sysmonSleep plans sysmon's next round: after 20 us, and twice as long each time once there has
// been nothing to do for 50 rounds, but not longer than 10 ms (runtime/proc.go: sysmon).
func (s *sim) sysmonSleep() {
	y := &s.sysmon
	if y.rounds == 0 {
		y.delay = SysmonMin
	} else if y.rounds > 50 {
		y.delay *= 2
	}
	y.delay = min(y.delay, SysmonMax)
	y.gen++
	s.at(s.now+int64(y.delay+s.costs.Single[CostSlack]), evSysmon, 0, 0, y.gen)
}

// sysmonRound looks after all procs, or sleeps deeply if all are idle or the world stops: until
// a timer is due or wakeSysmon (runtime/proc.go: sysmon).
func (s *sim) sysmonRound(gen uint32) {
	y := &s.sysmon
	if gen != y.gen {
		return
	}
	if !y.deep && (s.stw.on || len(s.idlePs) == s.n) {
		y.deep = true
		y.gen++
		if t := s.nextTimer(); t < never {
			s.at(max(s.now, t)+int64(s.costs.Single[CostSlack]), evSysmon, 0, 0, y.gen)
		}
		return
	}
	y.deep = false
	// It polls the network if nobody has slept in the poller for 10 ms: polls without waiting do not count
	// (sched.lastpoll).
	if s.poller < 0 && s.now-s.polls.last > int64(SysmonPoll) {
		s.polls.last = s.now
		if list := s.pollNow(); len(list) > 0 {
			s.inject(list, where{-1, SysmonThread, -1}, 0)
		}
	}
	if s.retake() {
		y.rounds = 0
	} else {
		y.rounds++
	}
	s.sysmonSleep()
}

// wakeSysmon ends a deep sleep: whoever enters or leaves a system call does, and whoever starts
// the world. The cadence begins again, which it does not after a timer (runtime/proc.go: sysmon,
// entersyscallWakeSysmon, exitsyscallTryGetP, startTheWorldWithSema).
func (s *sim) wakeSysmon() {
	y := &s.sysmon
	if !y.deep || s.rules.Ideal {
		return
	}
	y.gen++
	y.rounds, y.delay = 0, SysmonMin
	s.at(s.now+int64(s.costs.Single[CostWake]), evSysmon, 0, 0, y.gen)
}

// retake asks goroutines that run for long to give way, and takes procs from system
// calls, for which it finds another thread (runtime/proc.go: retake, takeP, handoffp). It reports whether it took any.
func (s *sim) retake() bool {
	taken := false
	for p := range int32(s.n) {
		x := &s.ps[p]
		if x.status != pRunning && x.status != pSyscall {
			continue
		}
		force := false
		switch {
		case x.tick != x.seen.tick:
			x.seen.tick, x.seen.at = x.tick, s.now
		case x.seen.at+int64(ForcePreempt) <= s.now && (s.now >= x.spared[1] || x.began < x.spared[0]):
			if x.status == pRunning {
				s.requestPreempt(p, s.costs.Single[CostNotice])
			}
			force = true
		}
		switch {
		case x.status != pSyscall || s.now < x.held:
		case !force && x.seen.sysTick != x.sysTick: // it sees the call for the first time
			x.seen.sysTick, x.seen.sysAt = x.sysTick, s.now
		case RetakeDue(!x.busy(), s.nspin, len(s.idlePs), model.Duration(s.now-x.seen.sysAt)):
			taken = true
			s.procEvent(where{-1, SysmonThread, -1}, p, model.ProcStatusRunning, model.ProcStatusIdle)
			s.ms[x.m].p = -1
			x.sysTick++
			s.handoff(p)
		}
	}
	return taken
}

// see has sysmon look when the recording shows that it did, at the system call that p has been in since tick: where the operating
// system stops threads in bursts, sysmon looks often, and a simulated one has backed off.
func (s *sim) see(p int32, tick uint32) {
	if x := &s.ps[p]; x.sysTick == tick && !s.sysmon.deep {
		x.seen.sysTick, x.seen.sysAt = tick, s.now
		s.sysmonRound(s.sysmon.gen)
	}
}

// late has sysmon spare the time slice that begins on p from now on until it ends in the recording, and look then: it is late
// there, because the operating system stopped it, or its request came when the goroutine was about to stop by itself.
func (s *sim) late(p, i int32) {
	l, x := &s.w.Late[i], &s.ps[p]
	if end := int64(l.At + l.Length - s.costs.Single[CostNotice]); s.now < end {
		x.spared = [2]int64{s.now, end}
		s.at(end, evLate, p, i, 0)
	} else if x.began >= x.spared[0] && !s.sysmon.deep {
		s.sysmonRound(s.sysmon.gen)
	}
}

// requestPreempt asks the goroutine that runs on p to give way (runtime/proc.go: preemptone); it
// does after that time if it still runs.
func (s *sim) requestPreempt(p int32, after model.Duration) {
	s.ps[p].preempt = true
	s.at(s.now+int64(after), evPreempt, p, 0, 0)
}

// preemptLands stops the running goroutine, unless it is the one that stops the world
// (runtime/preempt.go: asyncPreempt2; runtime/proc.go: gopreempt_m).
func (s *sim) preemptLands(p int32) {
	x := &s.ps[p]
	if !x.preempt || x.frozen || x.status != pRunning || x.g < 0 || s.gs[x.g].state != gRunning || s.stw.on && s.stw.p == p {
		return
	}
	x.preempt = false
	i := x.g
	g := &s.gs[i]
	if g.worker {
		s.workerPreempted(p, i)
		return
	}
	if x.step == stepRun {
		g.off += s.now - x.since
	}
	s.cancel(p)
	s.goEvent(s.of(i), i, model.GoRunning, model.GoRunnable, 0, 0)
	s.leave(g, gRunnable)
	s.put(PreemptedTo(p, s.stw.on, s.rules.Version), i, true)
	s.wakep()
	s.next(p)
}
