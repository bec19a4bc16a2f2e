package refsched

import "github.com/schedscope/schedscope/model"

// quota is a CPU quota, as a cgroup's limit: once the time of a period is used up, threads in the
// scheduler and in goroutines stand still until the next one, whatever they do. Those in system
// calls use it as well, but go on. In standstills that were recorded it is the same.
type quota struct {
	on     []bool         // by proc: its thread has a processor
	used   int            // of them
	queue  ring           // procs whose threads stand still
	waits  []bool         // by proc: it is in the queue
	rate   model.Duration // what one thread uses of it in each step
	left   model.Duration
	spent  bool // nothing is left
	halted bool // all threads stand still (workload.Standstill)
}

// quotaPeriod is the time in which a quota may be used, and quotaStep how often its use is looked
// at; the kernel hands it out in slices of 5 ms.
const (
	quotaPeriod model.Duration = 100_000_000
	quotaStep   model.Duration = 1_000_000
	// quotaUse is what goroutines, system calls and the scheduler use of it, in percent of their time, and quotaWake what
	// a thread that wakes up does in addition: 17 servers used 0.99 to 1.9 times the time that their traces show, 1.15 times
	// and 10 us for each start in the middle.
	quotaUse                 = 105
	quotaWake model.Duration = 5_000
)

// onCore has a proc's thread use the quota, or stand still if nothing is left of it.
func (s *sim) onCore(p int32) {
	q := &s.quota
	switch {
	case q.on[p] || q.waits[p]:
	case q.spent || q.halted:
		s.freeze(p)
	default:
		q.on[p] = true
		q.used++
		q.left -= quotaWake
	}
}

// offCore ends the use of the quota by a proc whose thread sleeps or blocks.
func (s *sim) offCore(p int32) {
	q := &s.quota
	switch {
	case q.waits[p]:
		q.waits[p] = false // it stays in the queue and is passed over
		s.ps[p].frozen = false
	case q.on[p]:
		q.on[p] = false
		q.used--
	}
}

// freeze stops the clock for what a proc's thread does.
func (s *sim) freeze(p int32) {
	s.quota.waits[p] = true
	s.quota.queue.push(p)
	x := &s.ps[p]
	if x.frozen {
		return
	}
	x.frozen = true
	s.plans.drop(p)
	if x.step != stepNone {
		x.remains = x.due - s.now
	}
	if x.g < 0 || s.gs[x.g].state != gRunning {
		return
	}
	if s.gs[x.g].worker {
		if s.gs[x.g].marks {
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
	if x.g >= 0 && s.gs[x.g].marks && s.gs[x.g].state == gRunning {
		s.settleMarking(+1)
	}
	if x.step != stepNone {
		s.plan(p, x.step, model.Duration(x.remains))
	}
	if x.preempt {
		s.requestPreempt(p, s.costs.Single[CostNotice])
	}
}

// useQuota takes off what was used of the quota and stops all threads when nothing is left of
// it, until the period ends.
func (s *sim) useQuota() {
	q := &s.quota
	s.at(s.now+int64(quotaStep), evQuota, 0, 0, 0)
	if s.now%int64(quotaPeriod) < int64(quotaStep) {
		q.left, q.spent = s.cfg.Quota, false
		s.resume()
		return
	}
	used := q.used
	for p := range s.ps {
		if s.ps[p].status == pSyscall {
			used++
		}
	}
	q.left -= q.rate * model.Duration(used)
	if q.left <= 0 && !q.spent {
		q.spent = true
		s.standStill()
	}
}

// halt begins or ends a standstill.
func (s *sim) halt(begins bool) {
	if s.quota.halted = begins; begins {
		s.standStill()
	}
	s.resume()
}

// standStill stops all threads.
func (s *sim) standStill() {
	for p := range int32(s.n) {
		if s.quota.on[p] {
			s.offCore(p)
			s.freeze(p)
		}
	}
}

// resume lets all threads go on, if they may.
func (s *sim) resume() {
	q := &s.quota
	for q.queue.len() > 0 && !q.spent && !q.halted {
		if p := q.queue.pop(); q.waits[p] {
			q.waits[p], q.on[p] = false, true
			q.used++
			s.thaw(p)
		}
	}
}
