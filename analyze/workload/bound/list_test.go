package bound_test

import (
	"container/heap"
	"math/rand/v2"

	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/model"
)

// lister is a scheduler with one queue and nothing else: who can run goes to its tail,
// cores that are free take from its head. GC cycles and stops take no time.
type lister struct {
	w       *workload.Workload
	cores   int
	quantum int64                 // after which a goroutine goes back to the tail
	cost    func() model.Duration // of a switch
	now     int64
	free    int
	queue   []int32
	agenda  happenings
	at      []where
	woken   map[[2]int32]bool
	lastCut int64 // end of the last segment
	last    int64 // end of the last that the window shows whole
}

type where struct {
	seg, op int32
	off     int64
	state   string // "", ready, wait, delay, passive, done
}

type happening struct {
	at   int64
	seq  int
	what func()
}

type happenings struct {
	list []happening
	n    int
}

func (h *happenings) Len() int      { return len(h.list) }
func (h *happenings) Swap(i, j int) { h.list[i], h.list[j] = h.list[j], h.list[i] }
func (h *happenings) Less(i, j int) bool {
	return h.list[i].at < h.list[j].at || h.list[i].at == h.list[j].at && h.list[i].seq < h.list[j].seq
}
func (h *happenings) Push(x any) { h.list = append(h.list, x.(happening)) }
func (h *happenings) Pop() any {
	x := h.list[len(h.list)-1]
	h.list = h.list[:len(h.list)-1]
	return x
}

func (l *lister) after(at int64, what func()) {
	l.agenda.n++
	heap.Push(&l.agenda, happening{max(at, l.now), l.agenda.n, what})
}

// list runs a workload and returns when the last segment of the program's own goroutines that
// is whole ended, and the last of all. The order in which the queue is served is random if rnd
// is not nil.
func list(w *workload.Workload, cores int, quantum int64, cost func() model.Duration, rnd *rand.Rand) (whole, all model.Duration) {
	l := &lister{w: w, cores: cores, free: cores, quantum: quantum, cost: cost, at: make([]where, len(w.Goroutines)), woken: map[[2]int32]bool{}}
	for i := range w.Goroutines {
		if w.Goroutines[i].Begin != workload.BeginAbsent {
			l.ready(int32(i))
		}
	}
	for _, a := range w.Arrivals {
		l.after(int64(a.At), func() {
			if a.Kind == workload.ArriveCreate {
				l.ready(a.G)
			} else {
				l.wake(a.G, a.Seg)
			}
		})
	}
	for i := range w.Cycles {
		if w.Cycles[i].Periodic {
			l.after(int64(w.Cycles[i].At), func() { l.cycle(int32(i)) })
		}
	}
	l.dispatch(rnd)
	for l.agenda.Len() > 0 {
		h := heap.Pop(&l.agenda).(happening)
		l.now = h.at
		h.what()
		for l.agenda.Len() > 0 && l.agenda.list[0].at == l.now {
			heap.Pop(&l.agenda).(happening).what()
		}
		l.dispatch(rnd)
	}
	return model.Duration(l.last), model.Duration(l.lastCut)
}

func (l *lister) dispatch(rnd *rand.Rand) {
	for l.free > 0 && len(l.queue) > 0 {
		i := 0
		if rnd != nil {
			i = rnd.IntN(len(l.queue))
		}
		g := l.queue[i]
		l.queue = append(l.queue[:i], l.queue[i+1:]...)
		l.free--
		if l.cost == nil {
			l.run(g, l.quantum)
		} else {
			l.after(l.now+int64(l.cost()), func() { l.run(g, l.quantum) })
		}
	}
}

func (l *lister) ready(g int32) {
	l.at[g].state = "ready"
	l.queue = append(l.queue, g)
}

func (l *lister) wake(g, seg int32) {
	l.woken[[2]int32{g, seg}] = true
	if p := &l.at[g]; p.state == "wait" && p.seg == seg {
		p.next()
		l.ready(g)
	}
}

func (p *where) next() { p.seg, p.off = p.seg+1, 0 }

func (l *lister) cycle(i int32) {
	for _, op := range l.w.Cycles[i].Ends {
		l.wake(op.G, op.Seg)
	}
}

// run lets g run until something happens, for at most the rest of its quantum.
func (l *lister) run(i int32, rest int64) {
	g, p := &l.w.Goroutines[i], &l.at[i]
	s := &g.Segments[p.seg]
	for p.op < s.Ops && int64(g.Ops[p.op].At) <= p.off {
		op := &g.Ops[p.op]
		p.op++
		switch op.Kind {
		case workload.OpCreate:
			l.ready(op.G)
		case workload.OpBlocked:
			l.at[op.G].state = "passive"
		case workload.OpWake, workload.OpSend:
			l.wake(op.G, op.Seg)
		case workload.OpCycle:
			l.cycle(op.G)
		}
	}
	until := int64(s.CPU)
	if p.op < s.Ops {
		until = int64(g.Ops[p.op].At)
	}
	d := until - p.off
	switch {
	case d == 0 && p.op >= s.Ops:
		l.free++
		l.end(i, s)
	case rest <= 0:
		l.free++
		l.ready(i)
	default:
		d = min(d, rest)
		l.after(l.now+d, func() {
			p.off += d
			l.run(i, rest-d)
		})
	}
}

func (l *lister) end(i int32, s *workload.Segment) {
	p := &l.at[i]
	if g := &l.w.Goroutines[i]; !g.System && !g.Tracer {
		l.lastCut = l.now
		if s.End != workload.EndCut {
			l.last = l.now
		}
	}
	switch s.End {
	case workload.EndExit, workload.EndCut, workload.EndForever:
		p.state = "done"
		if s.End == workload.EndExit && s.Target >= 0 {
			l.ready(s.Target)
		}
	case workload.EndWait, workload.EndNetwork:
		if !l.woken[[2]int32{i, p.seg}] {
			p.state = "wait"
			return
		}
		p.next()
		l.ready(i)
	case workload.EndSwitch:
		p.next()
		p.state = "passive"
		l.ready(s.Target)
	case workload.EndSleep, workload.EndExternal, workload.EndSyscall, workload.EndAssist:
		due := l.now + int64(s.Delay)
		if s.Absolute {
			due = int64(s.Delay)
		}
		p.state = "delay"
		p.next()
		l.after(due, func() { l.ready(i) })
	default:
		p.next()
		l.ready(i)
	}
}
