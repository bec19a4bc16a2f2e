package refsched

import (
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// poll is the state of the network poller.
type poll struct {
	gen   uint32 // of the thread's sleep
	spun  bool   // it was searching before
	until int64  // when it wakes up for a timer
	last  int64  // when sysmon polled, or a sleep in the poller ended, last
	busy  bool   // somebody polls without waiting
	hits  []int32
}

// dataReady notes that data has come for a goroutine, or will have when it waits.
func (s *sim) dataReady(g int32, seg uint32) {
	x := &s.gs[g]
	if x.state != gWaiting || !x.polled || uint32(x.seg) != seg {
		if x.state != gDone && int(seg) < len(x.prog.Segments) && int32(seg) >= x.seg {
			s.woken[x.first+int32(seg)] = true
		}
		return
	}
	if s.rules.Ideal {
		s.wakeFrom(nobody, g, 0, true)
		return
	}
	s.ready = append(s.ready, g)
	if s.poller >= 0 {
		s.wakePollerAt(s.now + int64(s.costs.Single[CostEpoll]))
	}
}

// pickNetwork polls without waiting, unless a thread sleeps in the poller: it will see to
// what is there; nor, since Go 1.25, while another one polls (runtime/proc.go: findRunnable,
// sched.pollingNet). A poll that finds nothing is part of the search.
func (s *sim) pickNetwork(p int32) bool {
	if s.poller >= 0 || len(s.ready) == 0 || s.polls.busy && s.rules.Version >= 25 {
		return false
	}
	s.polls.busy = true
	s.plan(p, stepPolled, s.drawn(CostPoll, p))
	return true
}

// polled goes on when a poll returns: with what it has found, or else the search.
func (s *sim) polled(p int32) {
	s.polls.busy = false
	list := s.pollNow()
	switch {
	case s.stw.on && len(list) == 0:
		s.find(p)
	case len(list) == 0:
		s.seek(p)
	default:
		s.runList(p, list)
	}
}

// pollNow takes what is ready, latest first (runtime/netpoll.go: netpollready pushes to
// the head of a list).
func (s *sim) pollNow() []int32 {
	n := min(len(s.ready), NetpollEvents)
	list := s.polls.hits[:0]
	for i := n - 1; i >= 0; i-- {
		list = append(list, s.ready[i])
	}
	s.ready = append(s.ready[:0], s.ready[n:]...)
	s.polls.hits = list
	return list
}

// runList runs the first of a list on p and puts the rest into queues.
func (s *sim) runList(p int32, list []int32) {
	if len(list) > 1 {
		s.inject(list[1:], s.onProc(p), 0)
	}
	s.unblock(s.onProc(p), list[0], 0)
	s.pick(p, list[0], runqueue.SourceNetpoll)
}

// inject puts a list into queues: as many as there are idle procs into the global
// one, for these to find, the rest into the local queue (runtime/proc.go: injectglist).
//
// Since Go 1.23 it wakes one more thread at its end.
func (s *sim) inject(list []int32, c where, stack model.StackID) {
	for _, g := range list {
		s.unblock(c, g, stack)
	}
	if c.p < 0 || s.rules.Ideal {
		for _, g := range list {
			s.putGlobal(g)
		}
		s.startIdle(len(list))
		return
	}
	k := min(len(s.idlePs), len(list))
	for _, g := range list[:k] {
		s.putGlobal(g)
	}
	s.startIdle(k)
	for _, g := range list[k:] {
		s.putBatch(c.p, g, runqueue.ViaNetpoll)
	}
	if s.rules.Version >= 23 {
		s.wakep()
	}
}

// sleepInPoll has a thread without a proc sleep in the poller until data comes or a timer is
// due, unless one does already: then that is woken if it would sleep for too long
// (runtime/proc.go: findRunnable).
func (s *sim) sleepInPoll(m int32, spun bool) bool {
	until := s.nextTimer()
	if s.poller >= 0 {
		if until < s.polls.until {
			s.wakePollerAt(s.now + int64(s.costs.Single[CostEpoll]))
		}
		return false
	}
	if until == never && s.netWaiters == 0 {
		return false
	}
	s.poller = m
	s.polls.spun, s.polls.until = spun, until
	s.polls.gen++
	switch {
	case len(s.ready) > 0:
		s.at(s.now+int64(s.costs.Single[CostEpoll]), evPoll, 0, 0, s.polls.gen)
	case until < never:
		s.at(s.now+epollSleep(until-s.now)+int64(s.costs.Single[CostSlack]), evPoll, 0, 0, s.polls.gen)
	}
	return true
}

// wakePollerAt has the sleeping poller return at that time, if not sooner.
func (s *sim) wakePollerAt(t int64) {
	s.polls.until = min(s.polls.until, t)
	s.at(t, evPoll, 0, 0, s.polls.gen)
}

// wakePoller sees to it that somebody wakes up for a timer (runtime/proc.go:
// wakeNetPoller).
func (s *sim) wakePoller(when int64) {
	if s.poller < 0 {
		s.wakep()
		return
	}
	if when < s.polls.until {
		s.wakePollerAt(s.now + int64(s.costs.Single[CostEpoll]))
	}
}

// pollReturns is the end of a sleep in the poller: without an idle proc, what it has found goes to
// the global queue (runtime/proc.go: findRunnable).
func (s *sim) pollReturns(gen uint32) {
	if s.poller < 0 || gen != s.polls.gen {
		return
	}
	m := s.poller
	s.poller, s.polls.last = -1, s.now
	s.polls.gen++
	list := s.pollNow()
	p := s.popIdle()
	if p < 0 {
		if len(list) > 0 {
			s.inject(list, where{-1, m, -1}, 0)
		}
		s.park(m)
		return
	}
	s.acquire(m, p)
	if len(list) > 0 {
		s.runList(p, list)
		return
	}
	if s.polls.spun {
		s.spin(m)
	}
	s.find(p)
}
