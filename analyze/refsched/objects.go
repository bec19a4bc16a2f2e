package refsched

import (
	"slices"

	"github.com/schedscope/schedscope/analyze/workload"
)

// object is what goroutines wait for where waits are served by class.
type object struct {
	tokens   int // wakes that nobody waited for
	queue    ring
	children int // of a join, that are not done
	join     bool
}

func (o *object) take() bool {
	if o.tokens == 0 {
		return false
	}
	o.tokens--
	return true
}

// byClass reports whether waits on the object, -1 for none, are served by its class.
func (s *sim) byClass(o int32) bool { return o >= 0 && !s.cfg.AsRecorded }

func (s *sim) newObjects() {
	if s.cfg.AsRecorded {
		return
	}
	s.objects = make([]object, len(s.w.Objects))
	for i := range s.w.Objects {
		w, o := &s.w.Objects[i], &s.objects[i]
		o.join, o.tokens = w.Class == workload.ClassJoin, int(w.Room)
		if !o.join {
			continue
		}
		o.children = len(w.Children) + len(w.Parts) + 1
		for _, c := range w.Children {
			s.joins[c] = append(s.joins[c], int32(i))
		}
		for _, x := range w.Parts {
			k := s.gs[x.G].first + x.Seg
			s.parts[k] = append(s.parts[k], int32(i))
		}
	}
}

// release serves a wait on an object: that of a join when all its parts are done, of which this is one and
// ends that of its goroutine, else the longest.
func (s *sim) release(c where, o int32, op *workload.Op) {
	if !s.objects[o].join {
		s.serve(c, o, op)
		return
	}
	if list := s.joins[c.g]; slices.Contains(list, o) {
		s.joins[c.g] = slices.DeleteFunc(list, func(j int32) bool { return j == o })
		s.objects[o].children--
	}
	s.partDone(c, o, op)
}

// partDone counts that a part of a join is done.
func (s *sim) partDone(c where, o int32, op *workload.Op) {
	x := &s.objects[o]
	if x.children--; x.children == 0 {
		s.serve(c, o, op)
	}
}

func (s *sim) serve(c where, o int32, op *workload.Op) {
	x := &s.objects[o]
	if x.queue.len() == 0 {
		x.tokens++
		return
	}
	s.wakeFrom(c, x.queue.pop(), op.Stack, !op.Tail)
}

// acquirePlace takes a place of a semaphore. It reports whether the goroutine waits for one.
func (s *sim) acquirePlace(c where, op *workload.Op) bool {
	if !s.byClass(op.G) || s.objects[op.G].take() {
		return false
	}
	s.objects[op.G].queue.push(c.g)
	s.gs[c.g].midway = true
	s.block(c.p, c.g, s.w.Objects[op.G].Reason, op.Stack)
	return true
}
