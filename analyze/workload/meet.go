package workload

import "github.com/schedscope/schedscope/model"

// A channel without a buffer makes sender and receiver meet: whoever comes first
// waits, and the trace shows who that was. Under another schedule it may be the
// other one. With a buffer only a receiver who comes first has to wait for a
// sender, and a trace does not show which channels have one.
//
// What shows it is that operations on a channel without a buffer always show: one either waits or
// ends somebody's wait. Thus if a goroutine does this and that in turn, none is
// ever missing. Operations on a buffer that is neither full nor empty do not show, and the
// turns become irregular.
const (
	// meetLeast is how many operations at a place must show before it is judged.
	meetLeast = 8
	// meetMissing is in how many of a hundred operations one may seem to be missing.
	meetMissing = 3
)

// turns counts the operations that goroutines were seen to do at a place, of those that do
// so at other places as well, and how many followed on one at the same place.
type turns struct{ seen, repeated int }

func (t turns) regular() bool { return t.seen >= meetLeast && t.repeated*100 <= t.seen*meetMissing }

func (t turns) irregular() bool { return t.seen >= meetLeast && !t.regular() }

// meetings finds the waits on channels at which sender and receiver meet.
type meetings struct {
	w        *window
	p        *places
	channels [2]model.StringID // reasons of receivers and of senders
	turns    []turns           // by place
}

func (w *window) meet(p *places) {
	m := meetings{w: w, p: p, channels: [2]model.StringID{w.Tables.AddString("chan receive"), w.Tables.AddString("chan send")}}
	for i := range w.Goroutines {
		m.count(&w.Goroutines[i])
	}
	w.eachWake(func(_ opRef, o *Op, x *Segment) {
		if !m.onChannel(x, o) || x.Class != ClassHandoff {
			return
		}
		// They meet if the operations of one side show all, and nothing says that those of the other do not.
		a, b := *m.turnsAt(p.of(o.Stack).user), *m.turnsAt(p.of(x.Stack).user)
		switch {
		case a.irregular() || b.irregular():
			x.Class = ClassBuffered
		case a.regular() || b.regular():
			o.Meet, x.Meet = true, true
		}
	})
}

// count follows the operations on channels of one goroutine.
func (m *meetings) count(g *Goroutine) {
	var list []int32
	op := int32(0)
	for k := range g.Segments {
		x := &g.Segments[k]
		for ; op < x.Ops; op++ {
			if o := &g.Ops[op]; o.Kind == OpWake && m.onChannel(&m.w.Goroutines[o.G].Segments[o.Seg], o) {
				list = append(list, m.p.of(o.Stack).user)
			}
		}
		if x.End == EndWait && (x.Reason == m.channels[0] || x.Reason == m.channels[1]) {
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
		t := m.turnsAt(p)
		t.seen++
		if i > 0 && list[i-1] == p {
			t.repeated++
		}
	}
}

// turnsAt returns the turns at a place, until the next call.
func (m *meetings) turnsAt(place int32) *turns {
	if n := int(place) + 1 - len(m.turns); n > 0 {
		m.turns = append(m.turns, make([]turns, n)...)
	}
	return &m.turns[place]
}

// onChannel reports whether a wake ends a wait on a channel by the opposite operation: not by
// closing it, nor out of a select.
func (m *meetings) onChannel(x *Segment, o *Op) bool {
	switch {
	case x.End != EndWait:
	case x.Reason == m.channels[0]:
		return m.p.of(o.Stack).flags&placeSend != 0
	case x.Reason == m.channels[1]:
		return m.p.of(o.Stack).flags&placeReceive != 0
	}
	return false
}
