package workload

import "github.com/schedscope/schedscope/model"

// Which channels have a buffer is not in a trace. Operations on one without a buffer always show: each either waits or
// ends somebody's wait. Thus if a goroutine does this and that in turn, none is ever missing. Operations on a
// buffer that is neither full nor empty do not show, and the turns become irregular.
const (
	// turnsLeast is how many operations at a place must show before it is judged.
	turnsLeast = 8
	// turnsMissing is in how many of a hundred operations one may seem to be missing.
	turnsMissing = 3
)

// turns counts the operations that goroutines were seen to do at a place, of those that do
// so at other places as well, and how many followed on one at the same place.
type turns struct{ seen, repeated int }

func (t turns) irregular() bool { return t.seen >= turnsLeast && t.repeated*100 > t.seen*turnsMissing }

// channels finds the waits on channels with a buffer.
type channels struct {
	w       *window
	p       *places
	reasons [2]model.StringID // of receivers and of senders
	turns   []turns           // by place
}

func (w *window) buffered(p *places) {
	m := channels{w, p, [2]model.StringID{w.Tables.AddString("chan receive"), w.Tables.AddString("chan send")}, make([]turns, w.Tables.NumStacks()+2)}
	for i := range w.Goroutines {
		m.count(&w.Goroutines[i])
	}
	w.eachWake(func(_ opRef, o *Op, x *Segment) {
		if m.onChannel(x, o) && x.Class == ClassHandoff && (m.turns[p.of(o.Stack).user].irregular() || m.turns[p.of(x.Stack).user].irregular()) {
			x.Class = ClassBuffered
		}
	})
}

// count follows the operations on channels of one goroutine.
func (m *channels) count(g *Goroutine) {
	var list []int32
	op := int32(0)
	for k := range g.Segments {
		x := &g.Segments[k]
		for ; op < x.Ops; op++ {
			if o := &g.Ops[op]; o.Kind == OpWake && m.onChannel(&m.w.Goroutines[o.G].Segments[o.Seg], o) {
				list = append(list, m.p.of(o.Stack).user)
			}
		}
		if x.End == EndWait && (x.Reason == m.reasons[0] || x.Reason == m.reasons[1]) {
			list = append(list, m.p.of(x.Stack).user)
		}
	}
	several := false
	for _, p := range list {
		several = several || p != list[0]
	}
	if !several {
		return
	}
	for i, p := range list {
		m.turns[p].seen++
		if i > 0 && list[i-1] == p {
			m.turns[p].repeated++
		}
	}
}

// onChannel reports whether a wake ends a wait on a channel by the opposite operation: not by
// closing it, nor out of a select.
func (m *channels) onChannel(x *Segment, o *Op) bool {
	switch {
	case x.End != EndWait:
	case x.Reason == m.reasons[0]:
		return m.p.of(o.Stack).flags&placeSend != 0
	case x.Reason == m.reasons[1]:
		return m.p.of(o.Stack).flags&placeReceive != 0
	}
	return false
}
