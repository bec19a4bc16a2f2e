package runqueue

import "testing"

// heard keeps the starts that are reported to it.
type heard []Start

// Start implements [StartObserver].
func (h *heard) Start(s *Start) { *h = append(*h, *s) }

// TestDoubt: a start that a hypothesis about as likely as the best explains in another way
// is not reported as certain, however that hypothesis ends.
func TestDoubt(t *testing.T) {
	for _, c := range []struct {
		name  string
		other Source
		cost  cost
		end   func(r *replay)
		want  Grade
	}{
		{"given up at the end", SourceGlobal, likely, (*replay).finish, GradeChosen},
		{"too unlikely", SourceGlobal, likely + 1, (*replay).finish, GradeCertain},
		{"of the same opinion", SourceLocal, 1, (*replay).finish, GradeCertain},
		{"equal to the best from here on", SourceGlobal, likely, func(r *replay) {
			for _, h := range r.hypotheses {
				h.global = fifo{}
			}
			r.settle(nil)
		}, GradeChosen},
		{"overtaken by what it must assume next", SourceGlobal, likely, func(r *replay) {
			r.hypotheses[1].cost += maxBehind + 1
			r.settle(nil)
		}, GradeCertain},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got heard
			r := newReplay(rules{}, &waitOps{}, &observers{start: []StartObserver{&got}}, &pool{})
			r.grow(0)
			s := &runnable{slot: noSlot}
			r.admit(s)
			h := r.hypotheses[0]
			o := r.fork(h)
			o.cost = c.cost
			o.global.push(s.slot) // so that they differ in what stands where
			h.positions[s.slot].source, h.positions[s.slot].via = SourceLocal, ViaOwn
			o.positions[s.slot].source, o.positions[s.slot].via = c.other, ViaOwn
			h.started(s)
			o.started(s)
			r.settle(s)
			if len(got) > 0 {
				t.Fatal("reported while there are two opinions")
			}
			c.end(r)
			if len(got) != 1 || got[0].Source != SourceLocal || got[0].Grade != c.want {
				t.Errorf("got %+v, want one local start, %v", got, c.want)
			}
		})
	}
}
