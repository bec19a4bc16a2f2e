package refsched

import (
	"slices"

	"github.com/schedscope/schedscope/analyze/workload"
)

// object is what goroutines wait for where waits are served by class.
type object struct {
	class workload.Class
	early ring // wakes that nobody waited for, by the segments at whose ends they were waited for
	queue ring
	parts int // of a join, that are not done
}

// take takes a wake that came before the wait for it at the end of a segment, if any did.
func (s *sim) take(i, k int32) bool {
	o := &s.objects[i]
	if o.early.len() == 0 {
		return false
	}
	s.swap(o, k, o.early.pop())
	return true
}

// swap has who waits in a queue (see workload: pools) at the end of segment a go on behind b, and who would have gone on there where
// that one would have.
func (s *sim) swap(o *object, a, b int32) {
	if o.class != workload.ClassJoin && o.class != workload.ClassSemaphore {
		c, d := b+s.before[b], a+s.after[a]
		s.after[a], s.before[b], s.after[c], s.before[d] = b-a, a-b, d-c, c-d
	}
}

// byClass reports whether waits on the object, -1 for none, are served by its class.
func (s *sim) byClass(o int32) bool { return o >= 0 && !s.cfg.AsRecorded }

func (s *sim) newObjects() {
	s.objects = make([]object, len(s.w.Objects))
	for i := range s.w.Objects {
		w, o := &s.w.Objects[i], &s.objects[i]
		o.class, o.early = w.Class, make(ring, w.Room)
		o.parts = len(w.Children) + len(w.Parts) + 1
		for _, c := range w.Children {
			k := s.first[c+1] - 1
			s.parts[k] = append(s.parts[k], int32(i))
		}
		for _, x := range w.Parts {
			k := s.first[x.G] + x.Seg
			s.parts[k] = append(s.parts[k], int32(i))
		}
	}
}

// release serves a wait on an object: that of a join when all its parts are done, of which this is one and
// ends that of its goroutine, else the longest.
func (s *sim) release(c where, o int32, op *workload.Op) {
	if s.objects[o].class != workload.ClassJoin {
		s.serve(c, o, op)
		return
	}
	if c.g >= 0 {
		g := &s.gs[c.g]
		if k := g.first + int32(len(g.prog.Segments)) - 1; slices.Contains(s.parts[k], o) {
			s.parts[k] = slices.DeleteFunc(s.parts[k], func(j int32) bool { return j == o })
			s.objects[o].parts--
		}
	}
	s.partDone(c, o, op)
}

// partDone counts that a part of a join is done.
func (s *sim) partDone(c where, o int32, op *workload.Op) {
	x := &s.objects[o]
	if x.parts--; x.parts == 0 {
		s.serve(c, o, op)
	}
}

func (s *sim) serve(c where, o int32, op *workload.Op) {
	x, k := &s.objects[o], s.first[op.G]+op.Seg
	if x.queue.len() == 0 {
		x.early.push(k)
		return
	}
	g := x.queue.pop()
	s.swap(x, s.gs[g].first+s.gs[g].seg, k)
	s.wakeFrom(c, g, op.Stack, !op.Tail)
}

// acquirePlace takes a place of a semaphore. It reports whether the goroutine waits for one.
func (s *sim) acquirePlace(c where, op *workload.Op) bool {
	if !s.byClass(op.G) || s.take(op.G, 0) {
		return false
	}
	s.objects[op.G].queue.push(c.g)
	s.gs[c.g].midway = true
	s.block(c.p, c.g, s.w.Objects[op.G].Reason, op.Stack)
	return true
}
