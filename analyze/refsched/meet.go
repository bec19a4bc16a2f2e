package refsched

import "github.com/schedscope/schedscope/analyze/workload"

// meet is an operation on a channel without a buffer whose other side came first in the
// recording (runtime/chan.go: chansend, chanrecv). If that is so here, too, it is woken; else
// the goroutine waits for it. It reports whether it waits.
func (s *sim) meet(c where, op *workload.Op) bool {
	x := &s.gs[op.G]
	seg := &x.prog.Segments[op.Seg]
	if x.state == gWaiting && x.seg == op.Seg && !x.midway || x.state == gDone || x.seg > op.Seg {
		s.wakeOp(c, op)
		return false
	}
	if s.met == nil {
		s.met = map[int32]int32{}
	}
	s.met[x.first+op.Seg] = c.g
	s.gs[c.g].midway = true
	reason := s.out.words.sends
	if seg.Reason == reason {
		reason = s.out.words.receives
	}
	s.block(c.p, c.g, reason, op.Stack)
	return true
}

// meetWaiting has a goroutine that comes to a wait on a channel without a buffer wake the
// other side, if that came first. It reports whether it did, and goes on.
func (s *sim) meetWaiting(i int32, seg *workload.Segment) bool {
	g := &s.gs[i]
	other, ok := s.met[g.first+g.seg]
	if !ok {
		return false
	}
	delete(s.met, g.first+g.seg)
	s.wakeFrom(s.of(i), other, seg.Stack, true)
	s.nextSegment(g)
	return true
}
