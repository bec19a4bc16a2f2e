package refsched

import "github.com/schedscope/schedscope/model/runqueue"

// put makes a goroutine stand in p's runnext or at its local queue's tail
// (runtime/proc.go: runqput).
func (s *sim) put(p, g int32, next bool) {
	if p < 0 || s.rules.Ideal {
		s.putGlobal(g)
		return
	}
	x := &s.ps[p]
	if next {
		kicked := x.next
		x.next = g
		s.stands(g, runqueue.PlaceRunnext, p, runqueue.ViaOwn)
		if g = kicked; g < 0 {
			return
		}
	}
	if x.q.len() >= RunqSize {
		// Half of a full local queue, and g, go to the global one (runtime/proc.go: runqputslow).
		s.res.Overflows++
		for range RunqSize / 2 {
			s.putGlobal(x.q.pop())
		}
		s.putGlobal(g)
		return
	}
	x.q.push(g)
	s.stands(g, runqueue.PlaceLocal, p, runqueue.ViaOwn)
}

func (s *sim) putGlobal(g int32) {
	s.global.push(g)
	s.stands(g, runqueue.PlaceGlobal, -1, runqueue.ViaNone)
}

// putBatch puts a goroutine that came with others at the tail of p's local queue
// (runtime/proc.go: runqputbatch).
func (s *sim) putBatch(p, g int32, via runqueue.Via) {
	if s.ps[p].q.len() >= RunqSize || s.rules.Ideal {
		s.putGlobal(g)
		return
	}
	s.ps[p].q.push(g)
	s.stands(g, runqueue.PlaceLocal, p, via)
}

// busy reports whether the proc's own queues hold anything (runqempty).
func (p *proc) busy() bool { return p.next >= 0 || p.q.len() > 0 }

// takeGlobal takes a batch from the global queue to p, whose local queue is empty, and
// returns the first of it.
func (s *sim) takeGlobal(p int32) int32 {
	n := GlobalBatch(s.global.len(), s.n)
	if s.rules.Ideal {
		n = 1
	}
	first := s.global.pop()
	s.moved(first, -1, n)
	for range n - 1 {
		g := s.global.pop()
		s.moved(g, -1, n)
		s.putBatch(p, g, runqueue.ViaGlobal)
	}
	return first
}
