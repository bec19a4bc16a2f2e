package workloadtest

import (
	"fmt"

	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/model"
)

// begin makes the goroutines that exist when the window begins.
func (b *random) begin() {
	n := 1
	if b.has(Begun) {
		n += b.rnd.IntN(3 * b.w.Procs)
	}
	taken := make([]bool, b.w.Procs)
	for i := range n {
		fn := "main.main"
		if i > 0 {
			fn = b.function()
		}
		proc := model.ProcID(b.rnd.IntN(b.w.Procs))
		kind := workload.Begin(1 + b.rnd.IntN(4))
		switch {
		case i == 0 && kind > workload.BeginRunning:
			kind = workload.BeginRunning
		case kind == workload.BeginSyscall && !b.has(Syscalls):
			kind = workload.BeginRunnable
		}
		if kind == workload.BeginRunning && taken[proc] {
			kind = workload.BeginRunnable
		}
		p := b.add(kind, fn)
		b.lock(p)
		switch kind {
		case workload.BeginRunnable:
			p.g.Order = int32(i)
		case workload.BeginRunning:
			p.g.Proc, taken[proc] = proc, true
		case workload.BeginWaiting:
			b.waitFirst(p)
		case workload.BeginSyscall:
			if s := b.syscall(p); !s.Blocking && !taken[proc] && b.chance(2) {
				p.g.Proc, taken[proc] = proc, true
			}
		}
	}
	if b.has(GC) {
		b.sweep = b.add(workload.BeginWaiting, "runtime.bgsweep")
		b.sweep.g.System = true
		b.sweeperWaits()
	}
}

// waitFirst makes p wait when the window begins.
func (b *random) waitFirst(p *prog) {
	switch {
	case b.has(Timers) && b.chance(3):
		b.sleep(p)
	case b.has(Network) && b.chance(2):
		b.external(p)
	case b.has(Network) && b.chance(3):
		b.waitFor(p, awaitSend)
	default:
		b.waitFor(p, awaitWake)
	}
}

func (b *random) function() string {
	return []string{"main.worker", "main.producer", "main.consumer", "main.serve.func1", "net/http.(*conn).serve"}[b.rnd.IntN(5)]
}

// lock locks some goroutines to their threads.
func (b *random) lock(p *prog) {
	if b.has(Locks) && b.chance(4) {
		p.g.Locked = true
	}
}

// child makes a goroutine that p creates where it stands.
func (b *random) child(p *prog, kind workload.OpKind, fn string) *prog {
	c := b.add(workload.BeginAbsent, fn)
	op := b.do(p, kind, c.index, 0, "main.spawn")
	c.g.CreateStack = op.Stack
	return c
}

func (b *random) create(p *prog) {
	if len(b.progs) < b.most {
		b.lock(b.child(p, workload.OpCreate, b.function()))
	}
}

// crowd makes p create more goroutines than a local queue can hold.
func (b *random) crowd(p *prog) {
	if len(b.progs) > 900 {
		return
	}
	n, fn := 150+b.rnd.IntN(400), b.function()
	yield := b.has(Yields) && b.chance(2)
	for range n {
		c := b.child(p, workload.OpCreate, fn)
		p.cur.CPU += b.span(64, 4*us)
		c.cur.CPU = b.span(128, 20*us)
		if yield {
			b.end(c, workload.EndYield, workload.ClassNone, "runtime.Gosched", "runtime.Gosched")
			c.cur.CPU = b.span(128, 20*us)
		}
		b.exit(c)
	}
}

// wait makes p wait for somebody, from now on or, if it was woken early, as the trace
// of another schedule would show it.
func (b *random) wait(p *prog) {
	if len(p.early) > 0 {
		b.takeEarly(p)
		return
	}
	if b.has(Network) && b.chance(4) {
		b.waitFor(p, awaitSend)
		return
	}
	b.waitFor(p, awaitWake)
}

// waitFor ends p's segment in a wait that somebody must end.
func (b *random) waitFor(p *prog, what await) {
	switch what {
	case awaitSend:
		b.read(p)
		b.end(p, workload.EndNetwork, workload.ClassLoopback, "network", pollStack...)
	case awaitWake:
		b.endWait(p)
	}
	b.waitsNow(p, what)
	if what == awaitSend {
		b.read(p)
	}
}

// waitsNow notes that p waits at the end of its latest segment.
func (b *random) waitsNow(p *prog, what await) {
	p.waits, p.order, p.seg = what, b.stamp(), int32(len(p.g.Segments)-1)
}

var pollStack = []string{"internal/poll.runtime_pollWait", "internal/poll.(*pollDesc).wait", "internal/poll.(*FD).Read"}

// read is what a goroutine does before it waits for the network, in vain, and again when
// the poller has woken it. It is how a poll can be told from a deadline.
func (b *random) read(p *prog) {
	if p.g.Begin == workload.BeginWaiting && len(p.g.Segments) == 0 {
		return // it waits when the window begins
	}
	p.cur.CPU += b.span(128, us)
	s := b.end(p, workload.EndSyscall, workload.ClassSyscall, "", "syscall.Syscall", "syscall.read", "internal/poll.(*FD).Read")
	s.Delay = b.span(200, 2*us)
	p.cur.CPU += b.span(128, us)
}

// stamp tells the order of waits.
func (b *random) stamp() int {
	n := 0
	for _, p := range b.progs {
		n = max(n, p.order)
	}
	return n + 1
}

func (b *random) endWait(p *prog) {
	p.injected = false
	switch b.rnd.IntN(4) {
	case 0:
		b.end(p, workload.EndWait, workload.ClassSelect, "select", "runtime.selectgo", "main.loop")
	case 1:
		b.end(p, workload.EndWait, workload.ClassHandoff, "chan send", "runtime.chansend1", "main.put")
	case 2:
		if p.injected = b.has(Injects); p.injected {
			b.end(p, workload.EndWait, workload.ClassRuntime, "wait until GC ends", "runtime.goparkunlock", "runtime.gcWaitOnMark", "runtime.GC")
			return
		}
		fallthrough
	default:
		b.end(p, workload.EndWait, workload.ClassHandoff, "chan receive", "runtime.chanrecv1", "main.get")
	}
}

// takeEarly makes p wait for what has already come.
func (b *random) takeEarly(p *prog) {
	e := p.early[0]
	p.early = p.early[1:]
	what := awaitWake
	if e.send {
		what = awaitSend
	}
	b.waitFor(p, what)
	e.p.g.Ops[e.index].Seg = p.seg
	if p.waits = awaitNothing; p.injected && !e.send {
		b.byRuntime(e.p, &e.p.g.Ops[e.index])
	}
}

// wakeEarly makes p wake somebody who does not wait yet.
func (b *random) wakeEarly(p *prog) {
	list := b.ready()
	q := list[b.rnd.IntN(len(list))]
	if q == p || q.worker || q == b.sweep {
		return
	}
	send := b.has(Network) && b.chance(4)
	kind, frame := workload.OpWake, "runtime.chansend1"
	if send {
		kind, frame = workload.OpSend, "internal/poll.(*FD).Write"
	}
	b.do(p, kind, q.index, -1, frame)
	q.early = append(q.early, opAt{p, len(p.g.Ops) - 1, send})
}

// waiting returns who waits for this, longest first.
func (b *random) waiting(what await) []*prog {
	var list []*prog
	for _, p := range b.progs {
		if p.waits == what {
			i := len(list)
			list = append(list, p)
			for ; i > 0 && list[i-1].order > p.order; i-- {
				list[i] = list[i-1]
			}
			list[i] = p
		}
	}
	return list
}

// wakeSomebody makes p wake one who waits, if there is one.
func (b *random) wakeSomebody(p *prog) *workload.Op {
	what := awaitWake
	if b.chance(3) {
		what = awaitSend
	}
	list := b.waiting(what)
	if len(list) == 0 {
		return nil
	}
	q := list[b.rnd.IntN(len(list))]
	if q.pool >= 0 {
		q = b.longest(q.pool)
	}
	return b.wake(p, q)
}

// longest returns who waits longest in a pool, in the execution in sequence.
func (b *random) longest(pool int32) *prog {
	for _, q := range b.waiting(awaitWake) {
		if q.pool == pool {
			return q
		}
	}
	return nil
}

// wake makes p end the wait of q.
func (b *random) wake(p, q *prog) *workload.Op {
	kind, frame := workload.OpWake, "runtime.chansend1"
	switch {
	case q.waits == awaitSend:
		kind, frame = workload.OpSend, "internal/poll.(*FD).Write"
	case q.waits == awaitJoin:
		frame = "sync.(*WaitGroup).Done"
	case q.pool >= 0 && b.w.Objects[q.pool].Class == workload.ClassLock:
		frame = "sync.(*Mutex).Unlock"
	}
	byRuntime := q.waits == awaitWake && q.injected
	meets := b.has(Meets) && q.waits == awaitWake && q.pool < 0 && !byRuntime && b.chance(2)
	q.waits = awaitNothing
	op := b.do(p, kind, q.index, q.seg, frame)
	if byRuntime {
		b.byRuntime(p, op)
	}
	if meets {
		s := &q.g.Segments[q.seg]
		s.Meet, s.Sends, op.Meet = true, b.w.Tables.String(s.Reason) == "chan send", true
	}
	if !b.serial {
		p.cur.CPU += b.span(64, us)
	}
	return op
}

// byRuntime makes a wake one that the runtime does on its own account, from a list.
func (b *random) byRuntime(p *prog, op *workload.Op) {
	op.Inject = true
	op.Stack = b.words.stack(p.fn, "runtime.systemstack_switch", "runtime.gcStart", "runtime.mallocgc")
}

// inject makes p wake several in a row of those whom the runtime wakes for itself.
func (b *random) inject(p *prog) {
	n := 1 + b.rnd.IntN(4)
	for _, q := range b.waiting(awaitWake) {
		if q.injected && n > 0 {
			b.wake(p, q)
			n--
		}
	}
}

// pause ends p's segment in something that ends by itself.
func (b *random) pause(p *prog, f Feature) {
	switch f {
	case Timers:
		b.sleep(p)
	case Network:
		b.external(p)
	case Syscalls:
		b.syscall(p)
	case Yields:
		b.yield(p)
	}
}

func (b *random) yield(p *prog) {
	if b.chance(3) {
		b.wakeSomebody(p)
		b.end(p, workload.EndGoyield, workload.ClassNone, "preempted", b.words.goyield()...)
		return
	}
	b.end(p, workload.EndYield, workload.ClassNone, "runtime.Gosched", "runtime.Gosched", "main.spin")
}

func (b *random) sleep(p *prog) {
	s := b.end(p, workload.EndSleep, workload.ClassTimer, "sleep", "time.Sleep", "main.nap")
	b.delay(s)
}

func (b *random) external(p *prog) {
	b.read(p)
	s := b.end(p, workload.EndExternal, workload.ClassExternal, "network", pollStack...)
	b.delay(s)
	b.read(p)
}

// delay sets a delay: after the stop, or some time in the window, which may have passed.
func (b *random) delay(s *workload.Segment) {
	s.Delay = b.span(us, 5*ms)
	if b.chance(8) {
		s.Delay = b.span(ms, 60*ms)
	}
	if s.Absolute = b.chance(4); s.Absolute {
		s.Delay *= 4
	}
}

func (b *random) syscall(p *prog) *workload.Segment {
	s := b.end(p, workload.EndSyscall, workload.ClassSyscall, "", "syscall.Syscall", "os.(*File).Read")
	switch b.rnd.IntN(4) {
	case 0:
		s.Delay = b.span(100*us, 30*ms)
	case 1:
		s.Delay = b.span(10*us, 400*us)
	default:
		s.Delay = b.span(200, 10*us)
	}
	if s.Blocking = b.chance(5); s.Blocking {
		s.Stack = b.words.stack(p.fn, "runtime.notetsleepg", "os/signal.signal_recv")
	}
	return s
}

// exit ends p, after the waits for which others have already woken it.
func (b *random) exit(p *prog) {
	for len(p.early) > 0 {
		b.takeEarly(p)
		p.cur.CPU += b.span(128, 10*us)
	}
	if lead := p.lead; lead != nil {
		p.lead = nil
		if lead.children--; lead.children == 0 {
			b.wake(p, lead)
			p.cur.CPU += b.span(64, us)
		}
	}
	kind, class := workload.EndExit, workload.ClassNone
	if b.has(Ends) && !p.fixed && b.chance(5) {
		kind = workload.EndForever
		if b.chance(2) {
			kind = workload.EndCut
		}
	}
	switch kind {
	case workload.EndForever:
		b.end(p, kind, class, "chan receive", "runtime.chanrecv1", "main.hang")
	default:
		s := b.end(p, kind, class, "")
		s.Stack = 0
	}
	p.waits = awaitNever
}

// fork makes p create children and wait until all have ended.
func (b *random) fork(p *prog) {
	if len(p.early) > 0 || len(b.progs) > 2*b.most+40 {
		return
	}
	n := 1 + b.rnd.IntN(8)
	o := workload.Object{Class: workload.ClassJoin, Frame: "sync.(*WaitGroup).Wait", Waits: 1}
	fn := fmt.Sprintf("%s.func%d", p.fn, 1+b.rnd.IntN(3))
	if b.words.tooDeep(fn) {
		fn = "main.worker.func1"
	}
	for range n {
		c := b.child(p, workload.OpCreate, fn)
		p.cur.CPU += b.span(64, 2*us)
		c.lead, c.fixed = p, true
		o.Children = append(o.Children, c.index)
	}
	s := b.end(p, workload.EndWait, workload.ClassJoin, "sync", "sync.runtime_SemacquireWaitGroup", "sync.(*WaitGroup).Wait")
	s.Object = b.object(o)
	b.waitsNow(p, awaitJoin)
	p.children = n
}

func (w *words) tooDeep(fn string) bool { return len(fn) > 40 }

func (b *random) object(o workload.Object) int32 {
	b.w.Objects = append(b.w.Objects, o)
	return int32(len(b.w.Objects) - 1)
}

// serve makes p create the workers of a pool.
func (b *random) serve(p *prog) {
	if len(b.pools) > 3 || len(b.progs) > b.most+40 {
		return
	}
	class := []workload.Class{workload.ClassPool, workload.ClassPool, workload.ClassLock, workload.ClassCond}[b.rnd.IntN(4)]
	frame := map[workload.Class]string{workload.ClassPool: "main.poolWorker", workload.ClassLock: "sync.(*Mutex).Lock", workload.ClassCond: "sync.(*Cond).Wait"}[class]
	o := b.object(workload.Object{Class: class, Frame: frame})
	b.pools = append(b.pools, o)
	for range 1 + b.rnd.IntN(6) {
		c := b.child(p, workload.OpCreate, "main.poolWorker")
		c.worker, c.pool, c.fixed = true, o, true
	}
}

// work makes a worker of a pool do something that depends on nobody, or wait again.
// Any of its like can stand in for it, so that a pool cannot get stuck if whoever waits
// longest is served.
func (b *random) work(p *prog) {
	switch k := b.rnd.IntN(12); {
	case k < 1:
		b.exit(p)
	case k < 2 && b.has(Syscalls):
		b.syscall(p)
	case k < 3 && b.has(Timers):
		b.sleep(p)
	case k < 4 && b.has(Yields):
		b.end(p, workload.EndYield, workload.ClassNone, "runtime.Gosched", "runtime.Gosched")
	case k < 9:
		b.poolWait(p)
	}
}

func (b *random) poolWait(p *prog) {
	o := &b.w.Objects[p.pool]
	o.Waits++
	reason, frames := "chan receive", []string{"runtime.chanrecv1"}
	switch o.Class {
	case workload.ClassLock:
		reason, frames = "sync", []string{"internal/sync.runtime_SemacquireMutex", "sync.(*Mutex).Lock"}
	case workload.ClassCond:
		reason, frames = "sync", []string{"sync.runtime_notifyListWait", "sync.(*Cond).Wait"}
	}
	s := b.end(p, workload.EndWait, o.Class, reason, frames...)
	s.Object = p.pool
	p.injected = false
	b.waitsNow(p, awaitWake)
}

// iterate makes p draw values from a coroutine (iter.Pull).
func (b *random) iterate(p *prog) {
	if p.g.Locked || len(b.progs) > b.most+20 {
		return
	}
	c := b.child(p, workload.OpBlocked, "runtime.corostart")
	for n := 1 + b.rnd.IntN(6); n > 0; n-- {
		p.cur.CPU += b.span(64, 2*us)
		b.switchTo(p, c)
		if !b.chance(4) {
			c.cur.CPU += b.span(128, 20*us)
		}
		switch {
		case b.chance(4):
			b.wakeSomebody(c)
		case b.chance(6) && b.has(Timers):
			b.sleep(c)
		case b.chance(6) && b.has(Syscalls):
			b.syscall(c)
		case b.chance(6) && b.has(Long):
			c.cur.CPU += b.span(10*ms, 25*ms)
		}
		if n == 1 && b.chance(2) {
			s := b.end(c, workload.EndExit, workload.ClassNone, "")
			s.Stack, s.Target = 0, p.index // the coroutine returns
		} else {
			b.switchTo(c, p)
		}
		p.cur.CPU += b.span(128, 10*us)
	}
	c.waits = awaitNever // nobody asks it for more
}

func (b *random) switchTo(p, q *prog) {
	s := b.end(p, workload.EndSwitch, workload.ClassHandoff, "coroutine", "runtime.coroswitch", "iter.Pull[...].func2")
	s.Target = q.index
}

// collect makes p begin a GC cycle, or wait for assist credit.
func (b *random) collect(p *prog) {
	if len(b.w.Cycles) == 0 || len(b.w.Cycles) < 5 && b.chance(4) {
		b.cycle(p)
		return
	}
	s := b.end(p, workload.EndAssist, workload.ClassRuntime, "GC mark assist wait for work", "runtime.gcParkAssist", "runtime.mallocgc")
	s.Delay = b.span(5*us, 500*us)
}

func (b *random) cycle(p *prog) {
	c := workload.Cycle{Work: b.span(20*us, 20*ms), Sweep: b.span(us, 60*us), Mark: b.span(us, 90*us),
		SweepReason: b.words.name("stop-the-world (GC sweep termination)"), MarkReason: b.words.name("stop-the-world (GC mark termination)")}
	if q := b.sweep; q.waits == awaitCycle {
		c.Ends = append(c.Ends, workload.Op{Kind: workload.OpWake, G: q.index, Seg: q.seg,
			Stack: b.words.stack("runtime.gcBgMarkWorker", "runtime.gcSweep", "runtime.gcMarkTermination", "runtime.gcMarkDone")})
		q.waits = awaitNothing
	}
	if c.Periodic = b.chance(5); c.Periodic {
		c.At = b.span(100*us, 20*ms)
		for _, o := range b.w.Cycles {
			c.At = max(c.At, o.At)
		}
	} else {
		b.do(p, workload.OpCycle, int32(len(b.w.Cycles)), 0, "runtime.gcStart", "runtime.mallocgc")
	}
	b.w.Cycles = append(b.w.Cycles, c)
}

// sweeperWaits makes the sweeper wait for the end of the next cycle.
func (b *random) sweeperWaits() {
	b.end(b.sweep, workload.EndWait, workload.ClassRuntime, "GC background sweeper wait", "runtime.goparkunlock")
	b.waitsNow(b.sweep, awaitCycle)
}

// stop makes p stop the world.
func (b *random) stop(p *prog) {
	if len(b.w.Stops) > 4 {
		return
	}
	b.do(p, workload.OpStop, int32(len(b.w.Stops)), 0, "runtime.stopTheWorld", "runtime.ReadMemStats")
	b.w.Stops = append(b.w.Stops, workload.Stop{Hold: b.span(us, 300*us), Reason: b.words.name("stop-the-world (read mem stats)")})
}

// arrive makes something happen that nobody in the workload does.
func (b *random) arrive() {
	a := workload.Arrival{At: b.span(us, 40*ms), G: -1, Proc: model.NoProc}
	for _, o := range b.w.Arrivals {
		a.At = max(a.At, o.At)
	}
	if b.chance(2) {
		a.Proc = model.ProcID(b.rnd.IntN(b.w.Procs))
	}
	if list := b.waiting(awaitWake); len(list) > 0 && (b.chance(2) || len(b.ready()) == 0) {
		q := list[b.rnd.IntN(len(list))]
		a.Kind, a.G, a.Seg = workload.ArriveWake, q.index, q.seg
		q.waits = awaitNothing
	} else if len(b.progs) < b.most {
		a.Kind, a.G = workload.ArriveCreate, b.add(workload.BeginAbsent, "time.goFunc").index
	} else {
		return
	}
	b.w.Arrivals = append(b.w.Arrivals, a)
}

// windDown ends what is left.
func (b *random) windDown() {
	for {
		if list := b.ready(); len(list) > 0 {
			p := list[b.rnd.IntN(len(list))]
			p.cur.CPU += b.burst()
			switch {
			case p == b.sweep:
				b.sweeperWaits()
			case !p.worker && b.wakeOne(p):
			default:
				b.exit(p)
			}
			continue
		}
		if !b.release() {
			break
		}
	}
	if q := b.sweep; q != nil {
		s := &q.g.Segments[len(q.g.Segments)-1]
		s.End, s.Class = workload.EndForever, workload.ClassNone
	}
}

// wakeOne makes p wake one who waits and reports whether there was one.
func (b *random) wakeOne(p *prog) bool {
	for _, what := range []await{awaitWake, awaitSend} {
		if list := b.waiting(what); len(list) > 0 {
			b.wake(p, list[0])
			return true
		}
	}
	return false
}

// release lets somebody unknown end a wait when nobody is left who could, and
// reports whether anybody waited.
func (b *random) release() bool {
	if list := b.waiting(awaitWake); len(list) > 0 {
		q := list[0]
		a := workload.Arrival{Kind: workload.ArriveWake, G: q.index, Seg: q.seg, Proc: model.NoProc, At: b.span(us, 5*ms)}
		for _, o := range b.w.Arrivals {
			a.At = max(a.At, o.At)
		}
		b.w.Arrivals = append(b.w.Arrivals, a)
		q.waits = awaitNothing
		return true
	}
	if list := b.waiting(awaitSend); len(list) > 0 {
		s := &list[0].g.Segments[list[0].seg]
		s.End, s.Class = workload.EndExternal, workload.ClassExternal
		b.delay(s)
		list[0].waits = awaitNothing
		return true
	}
	return false
}
