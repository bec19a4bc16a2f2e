package workload_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/modeltest"
)

const ms = 1000 * 1000 / modeltest.Tick // ticks in a millisecond

// segments returns the segments of a goroutine.
func segments(t *testing.T, w *workload.Workload, id model.GoID) []workload.Segment {
	t.Helper()
	for i := range w.Goroutines {
		if w.Goroutines[i].ID == id {
			return w.Goroutines[i].Segments
		}
	}
	t.Fatalf("no goroutine %d", id)
	return nil
}

// TestLost counts the time in system calls that lost their procs: not in one that gave its proc up, as the reader of a CPU
// profile does, nor in one that began before the window, such as the wait for signals.
func TestLost(t *testing.T) {
	b := modeltest.NewBuilder()
	m := b.M(1).Proc(0).IdleProc(1).Running(1, "main.main")
	b.M(3).InSyscall(3, "os/signal.loop")
	b.At(10)
	m.Syscall()
	b.At(15)
	b.M(9).ProcSteal(0)
	b.At(30)
	m.SyscallEndBlocked()
	n := b.M(2).ProcStart(0)
	n.Start(1)
	b.At(40)
	n.Syscall().ProcStop()
	b.At(90)
	n.SyscallEndBlocked()
	b.At(95)
	b.M(3).SyscallEndBlocked()
	b.At(96)
	if w := work(t, b); w.Recorded.Lost != modeltest.Ticks(20) {
		t.Errorf("%d, want %d: %s, %s", w.Recorded.Lost, modeltest.Ticks(20), program(w, 1), program(w, 3))
	}
}

// TestSleeps infers what timers were set for.
func TestSleeps(t *testing.T) {
	late := []int{800, 3, 900, 20, 15000, 400, 90, 250, 700, 10, 130, 500} // ticks
	tests := []struct {
		name   string
		frames []string
		reason string
		// wait returns how long the i-th wait is, in ticks, at the given time.
		wait func(i, now int) int
		want func(i int, x *workload.Segment) bool
	}{
		{"one sleep for all", []string{"time.Sleep", "main.f"}, "sleep",
			func(i, now int) int { return 5*ms + late[i%len(late)] },
			func(i int, x *workload.Segment) bool { return x.Delay == 5e6 }},
		{"times of their own", []string{"time.Sleep", "main.f"}, "sleep",
			func(i, now int) int { return (1 + i*i) * ms },
			func(i int, x *workload.Segment) bool { return x.Delay == modeltest.Ticks((1+i*i)*ms) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := modeltest.NewBuilder()
			m := b.M(1).Proc(0).Running(1, "main.f")
			now := 0
			for i := range 60 {
				now += 3
				b.At(now)
				m.With(tt.frames...).Block(tt.reason)
				now += tt.wait(i, now)
				b.At(now)
				m.Unblock(1)
				m.Start(1)
			}
			w := work(t, b)
			for i, x := range segments(t, w, 1)[:60] {
				if x.End != workload.EndSleep || x.Class != workload.ClassTimer || !tt.want(i, &x) {
					t.Errorf("segment %d: got %v", i, x.Delay)
				}
			}
		})
	}
}

// echo has goroutine 1 make a call and goroutine 2 wait for it, n times, the wake gap ticks later.
// The operation that waits is tried before each wait, and succeeds after it.
func echo(n, gap int, client, call, wait string) *modeltest.Builder {
	b := modeltest.NewBuilder()
	b.Metric("/sched/gomaxprocs:threads", 2)
	m := b.M(1).Proc(0).Running(1, client)
	r := b.M(2)
	b.At(1)
	r.Proc(1).Running(2, "main.server")
	now := 1
	read := func() {
		r.With("syscall.read", wait, "main.server").Syscall()
		b.At(now + 2)
		r.SyscallEnd()
		now += 3
		b.At(now)
	}
	for range n {
		now += 97
		b.At(now)
		read()
		r.With(wait, "main.server").Block("network").ProcStop()
		now += 200
		b.At(now)
		m.With(call, "main.write", client).Syscall()
		b.At(now + 20)
		m.SyscallEnd()
		now += gap
		b.At(now)
		r.ProcStart(1).Unblock(2).Start(2)
		read()
	}
	return b
}

// TestReasons has a goroutine wait from before the trace, and then do what the case says.
func TestReasons(t *testing.T) {
	const read = "internal/poll.(*FD).Read"
	for _, tt := range []struct {
		call string // that follows, "": none
		want workload.EndKind
	}{{read, workload.EndExternal}, {"os.(*File).Stat", workload.EndSleep}, {"", workload.EndSleep}} {
		b := modeltest.NewBuilder()
		m := b.M(1).Proc(0)
		m.Status(1, model.GoWaiting, "main.server")
		b.At(1000)
		m.Unblock(1).Start(1)
		if tt.call != "" {
			m.With("syscall.call", tt.call, "main.server").Syscall()
			b.At(1010)
			m.SyscallEnd()
		}
		m.With(read, "main.server").Block("network")
		b.At(2000)
		m.Unblock(1).Start(1)
		b.At(2010)
		x := segments(t, work(t, b), 1)[0]
		if x.End != tt.want || x.Delay != modeltest.Ticks(1000) {
			t.Errorf("%q: the wait ends by %d, %v long; want %d", tt.call, x.End, x.Delay, tt.want)
		}
	}
}

// TestLateness has a goroutine sleep a few times, of no length in common, while another one keeps the only proc
// for 3 ms after it looked for timers: half of that is taken off.
func TestLateness(t *testing.T) {
	b := modeltest.NewBuilder()
	m := b.M(1).Proc(0).Running(1, "main.f")
	m.Create(2, "main.hog")
	now, waits := 10, []int{4, 9, 17}
	for _, d := range waits {
		b.At(now)
		m.With("time.Sleep", "main.f").Block("sleep")
		now += (d - 3) * ms
		b.At(now)
		m.Start(2)
		now += 3 * ms
		b.At(now)
		m.Stop("preempted").Unblock(1).Start(1)
		now += 10
	}
	b.At(now)
	for i, x := range segments(t, work(t, b), 1)[:len(waits)] {
		want := modeltest.Ticks(waits[i]*ms) - modeltest.Ticks(3*ms)/2
		if off := x.Delay - want; x.End != workload.EndSleep || max(off, -off) > 1 {
			t.Errorf("sleep %d: got %v, want %v", i, x.Delay, want)
		}
	}
}

// TestLoopback has calls end waits, whatever either is called.
func TestLoopback(t *testing.T) {
	for _, tt := range []struct {
		client, call, wait string
		gap                int
		want               workload.EndKind
	}{
		{"main.client", "syscall.write", "internal/poll.(*FD).Read", 50, workload.EndNetwork},
		{"main.client", "syscall.Splice", "internal/poll.spliceDrain", 50, workload.EndNetwork},
		{"main.client", "syscall.sendmsg", "internal/poll.(*FD).RawRead", 50, workload.EndNetwork},
		{"main.client", "example.com/tap.push", "example.com/tap.await", 50, workload.EndNetwork},
		{"main.client", "syscall.recvfrom", "internal/poll.(*FD).Read", 50, workload.EndExternal},   // both take
		{"main.client", "syscall.write", "internal/poll.(*FD).Read", 5000, workload.EndExternal},    // the poller was idle
		{"main.server", "syscall.write", "internal/poll.(*FD).Read", 500 / 2, workload.EndExternal}, // alike, and not close
	} {
		w := work(t, echo(10, tt.gap, tt.client, tt.call, tt.wait))
		waits, sends := 0, 0
		for _, x := range segments(t, w, 2) {
			if x.End == workload.EndNetwork || x.End == workload.EndExternal {
				if waits++; x.End != tt.want {
					t.Errorf("%+v: wait %d: got end %d, class %v", tt, waits, x.End, x.Class)
				}
			}
		}
		for i := range w.Goroutines[0].Ops {
			if o := &w.Goroutines[0].Ops[i]; o.Kind == workload.OpSend && o.At == 0 && w.Goroutines[o.G].ID == 2 {
				sends++
			}
		}
		if want := map[workload.EndKind]int{workload.EndNetwork: 10}[tt.want]; waits != 10 || sends != want {
			t.Errorf("%+v: got %d waits, want 10; %d sends, want %d", tt, waits, sends, want)
		}
		// The first call ends segment 0 of the client, so it is sent from segment 1.
		if x := segments(t, w, 1); tt.want == workload.EndNetwork && (x[0].Ops != 0 || x[1].Ops != 1) {
			t.Errorf("%+v: operations end at %d, %d; want 0, 1", tt, x[0].Ops, x[1].Ops)
		}
	}
}

// TestLoopbackStream has a goroutine write all the time, so that a write shortly before a wake says nothing. That the
// first poll after the first write found it does, unless another poll has passed it over.
func TestLoopbackStream(t *testing.T) {
	for passed, want := range map[bool]workload.EndKind{false: workload.EndNetwork, true: workload.EndExternal} {
		b := modeltest.NewBuilder()
		b.Metric("/sched/gomaxprocs:threads", 3)
		m := b.M(1).Proc(0).Running(1, "main.client")
		b.At(1)
		r := b.M(2).Proc(1).Running(2, "main.server")
		b.At(2)
		other := b.M(3).Proc(2).Running(3, "main.other")
		for i := range 40 {
			now := 10 + 400*i
			b.At(now)
			r.With("internal/poll.(*FD).Read", "main.server").Block("network").ProcStop()
			b.At(now + 1)
			other.With("internal/poll.(*FD).RawRead", "main.other").Block("network").ProcStop()
			for k := range 8 {
				b.At(now + 10 + 40*k)
				m.With("syscall.write", "main.write", "main.client").Syscall()
				b.At(now + 20 + 40*k)
				m.SyscallEnd()
				if passed && k == 4 {
					other.ProcStart(2).Unblock(3).Start(3)
				}
			}
			b.At(now + 350)
			r.ProcStart(1).Unblock(2).Start(2)
			if !passed {
				other.ProcStart(2).Unblock(3).Start(3)
			}
		}
		for i, x := range segments(t, work(t, b), 2)[:40] {
			if x.End != want {
				t.Errorf("passed over: %v: wait %d: got end %d, want %d", passed, i, x.End, want)
			}
		}
	}
}

// TestLoopbackPool has clients send commands over connections that they take from a pool. Who answers is who got the command,
// although others have written later: answers are found in the order in which they were given.
func TestLoopbackPool(t *testing.T) {
	b := modeltest.NewBuilder()
	m := b.M(1).Proc(0)
	clients, handlers := []model.GoID{1, 2, 3, 4, 5, 6, 7, 8}, []model.GoID{11, 12, 13, 14, 15, 16, 17, 18}
	for _, g := range clients {
		m.Status(g, model.GoRunnable, "main.client")
	}
	for _, g := range handlers {
		m.Status(g, model.GoRunnable, "main.handle")
	}
	now := 1
	wait := func(read ...string) { b.At(now); m.With(read...).Block("network"); now += 100 }
	write := func(g model.GoID, write ...string) {
		b.At(now)
		m.Start(g).With(write...).Syscall()
		b.At(now + 200)
		m.SyscallEnd()
		now += 300
	}
	for _, g := range handlers {
		b.At(now)
		m.Start(g)
		wait("internal/poll.(*FD).Read", "main.handle")
	}
	random := rand.New(rand.NewPCG(1, 2))
	answered := map[model.GoID][]model.GoID{}
	for i := range 70 {
		command := fmt.Sprint("main.command", i%4)
		random.Shuffle(8, func(i, j int) { clients[i], clients[j] = clients[j], clients[i] })
		random.Shuffle(8, func(i, j int) { handlers[i], handlers[j] = handlers[j], handlers[i] })
		for k, c := range clients[:3] {
			h := handlers[k]
			answered[c] = append(answered[c], h)
			write(c, "syscall.write", "main.send", command)
			wait("internal/poll.(*FD).Read", "main.receive", command)
			b.At(now)
			m.Unblock(h).Start(h).Stop("runtime.Gosched")
			now += 100
		}
		for _, h := range handlers[:3] {
			write(h, "syscall.write", "main.handle")
			wait("internal/poll.(*FD).Read", "main.handle")
		}
		for _, k := range []int{1, 0, 2} { // as the poller does
			b.At(now)
			m.Unblock(clients[k])
			now++
		}
		now += 100
	}
	right, all := rightSends(t, work(t, b), answered)
	if all != 210 || right*20 < all*17 {
		t.Errorf("got %d answers, want 210; %d of them from who got the command, want 85 %%", all, right)
	}
}

// TestLoopbackFirstPoll has the first poll of a window find what four goroutines have written.
func TestLoopbackFirstPoll(t *testing.T) {
	b := modeltest.NewBuilder()
	m := b.M(1).Proc(0)
	now := 1
	step := func(ticks int) { now += ticks; b.At(now) }
	truth := map[model.GoID][]model.GoID{}
	for g := range model.GoID(4) {
		m.Status(11+g, model.GoRunnable, "main.write")
		m.Status(1+g, model.GoRunnable, "main.read").Start(1 + g)
		step(100)
		m.With("internal/poll.(*FD).Read", "main.read").Block("network")
		truth[1+g] = []model.GoID{11 + g}
	}
	for g := range model.GoID(4) {
		step(100)
		m.Start(11+g).With("syscall.write", "main.write").Syscall()
		step(100)
		m.SyscallEnd()
		step(10)
		m.Stop("runtime.Gosched")
	}
	for _, g := range []model.GoID{3, 2, 1, 4} { // as the poller does
		step(1)
		m.Unblock(g)
	}
	step(100)
	if right, all := rightSends(t, work(t, b), truth); right != 4 || all != 4 {
		t.Errorf("%d of %d waits are ended by who wrote, want 4", right, all)
	}
}

// rightSends counts the waits for the network of goroutines, and those ended by who ended them in truth.
func rightSends(t *testing.T, w *workload.Workload, truth map[model.GoID][]model.GoID) (right, all int) {
	sends := map[[2]int][]model.GoID{} // by goroutine and segment
	for i := range w.Goroutines {
		for _, o := range w.Goroutines[i].Ops {
			if at := [2]int{int(w.Goroutines[o.G].ID), int(o.Seg)}; o.Kind == workload.OpSend {
				sends[at] = append(sends[at], w.Goroutines[i].ID)
			}
		}
	}
	for g, by := range truth {
		n := 0
		for k, x := range segments(t, w, g) {
			if n < len(by) && (x.End == workload.EndNetwork || x.End == workload.EndExternal) {
				if slices.Equal(sends[[2]int{int(g), k}], by[n:n+1]) {
					right++
				}
				n++
			}
		}
		all += n
	}
	return right, all
}

// TestLoopbackShared has two clients share each connection. Some write while who reads there is at work, and does not wait: so
// there are more writes before a poll than waits that it ends. Nine of ten are right, and about seven if a client is not known
// to write to one reader only.
func TestLoopbackShared(t *testing.T) {
	b := modeltest.NewBuilder()
	m := b.M(1).Proc(0)
	var clients, readers []model.GoID
	for i := range model.GoID(6) {
		clients, readers = append(clients, 1+i, 7+i), append(readers, 21+i)
	}
	for _, g := range slices.Concat(clients, readers) {
		name := "main.client"
		if g > 20 {
			name = "main.read"
		}
		m.Status(g, model.GoRunnable, name)
	}
	now := 1
	step := func(ticks int) { now += ticks; b.At(now) }
	wait := func(g model.GoID) {
		step(100)
		m.Start(g)
		step(100)
		m.With("internal/poll.(*FD).Read", "main.read").Block("network")
	}
	for _, g := range readers {
		wait(g)
	}
	random := rand.New(rand.NewPCG(1, 2))
	truth, busy := map[model.GoID][]model.GoID{}, map[model.GoID]bool{}
	for range 150 {
		random.Shuffle(6, func(i, j int) { readers[i], readers[j] = readers[j], readers[i] })
		var ready []model.GoID
		for _, r := range readers[:4] {
			c := r - 20 + 6*model.GoID(random.IntN(2))
			step(100)
			m.Start(c).With("syscall.write", "main.send").Syscall()
			step(100)
			m.SyscallEnd()
			step(10)
			m.Stop("runtime.Gosched")
			if !busy[r] {
				ready, truth[r] = append(ready, r), append(truth[r], c)
			}
		}
		step(100)
		for k := len(ready) - 2; k >= 0; k-- {
			m.Unblock(ready[k])
			step(1)
		}
		if n := len(ready); n > 0 {
			m.Unblock(ready[n-1])
		}
		for r := range model.GoID(6) {
			r += 21
			if woken := slices.Contains(ready, r); busy[r] || woken && random.IntN(3) > 0 {
				busy[r] = false
				wait(r)
			} else if woken {
				busy[r] = true
			}
		}
	}
	right, all := rightSends(t, work(t, b), truth)
	if all < 300 || right*10 < all*9 {
		t.Errorf("got %d waits, want 300; %d of them ended by who wrote, want nine of ten", all, right)
	}
}

// TestLoopbackOutside has two kinds of goroutines that serve clients outside: they take turns at random, so that each answer
// is before somebody's next request.
func TestLoopbackOutside(t *testing.T) {
	b := modeltest.NewBuilder()
	m := b.M(1).Proc(0)
	serve := func(g model.GoID) string { return fmt.Sprint("main.serve", g%2) }
	now := 1
	for g := range model.GoID(16) {
		b.At(now)
		m.Status(g+1, model.GoRunnable, serve(g+1)).Start(g+1).With("internal/poll.(*FD).Read", serve(g+1)).Block("network")
		now++
	}
	m.Status(17, model.GoRunnable, "main.spin").Start(17)
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		now += 40 + random.IntN(10000)
		g := model.GoID(1 + random.IntN(16))
		b.At(now)
		m.Stop("preempted").Unblock(g).Start(g).With("syscall.write", serve(g)).Syscall()
		now += 5
		b.At(now)
		m.SyscallEnd().With("internal/poll.(*FD).Read", serve(g)).Block("network").Start(17)
	}
	w := work(t, b)
	for i := range w.Goroutines {
		for k, x := range w.Goroutines[i].Segments {
			if x.End == workload.EndNetwork {
				t.Fatalf("goroutine %d: the program ends wait %d, want somebody outside", w.Goroutines[i].ID, k)
			}
		}
	}
}

// TestLoopbackAnswers has a server that starts a goroutine for each packet, which answers a client outside.
func TestLoopbackAnswers(t *testing.T) {
	b := modeltest.NewBuilder()
	m := b.M(1).Proc(0)
	read := []string{"internal/poll.(*FD).ReadFromInet4", "main.serve"}
	m.Status(1, model.GoRunnable, "main.serve").Start(1).With(read...).Block("network")
	m.Status(2, model.GoRunnable, "main.spin").Start(2)
	now := 1
	for g := range model.GoID(100) {
		now += 500 + int(g*g%89)*20
		b.At(now)
		m.Stop("preempted").Unblock(1).Start(1).Create(10+g, "main.handle").With(read...).Block("network").Start(10 + g).With("syscall.sendto").Syscall()
		now += 5
		b.At(now)
		m.SyscallEnd().Exit().Start(2)
	}
	for k, x := range segments(t, work(t, b), 1) {
		if x.End == workload.EndNetwork {
			t.Fatalf("an answer ends wait %d, want somebody outside", k)
		}
	}
}

// TestLoopbackOnce has a single call of one who looks like the one that waits.
func TestLoopbackOnce(t *testing.T) {
	for _, gap := range []int{50, 5000} {
		w := work(t, echo(1, gap, "main.server", "syscall.connect", "internal/poll.(*FD).Accept"))
		if x := segments(t, w, 2); len(x) == 0 {
			t.Errorf("gap %d: the reader has no segments", gap)
		}
	}
}

// TestClasses wakes goroutines in several ways.
func TestClasses(t *testing.T) {
	b := modeltest.NewBuilder()
	m := b.M(1).Proc(0).Running(1, "main.main")
	r := b.M(2)
	r.Proc(1).Running(9, "main.r")
	for id := model.GoID(2); id <= 8; id++ {
		m.Create(id, "main.worker")
	}
	now := 0
	// each has goroutine id wait at its place and main wake it from another.
	each := func(id model.GoID, reason string, wait, wake []string) {
		now += 10
		b.At(now)
		r.Block("forever").Start(id).With(wait...).Block(reason)
		now += 10
		b.At(now)
		m.With(wake...).Unblock(id)
		now += 10
		b.At(now)
		r.Start(id)
	}
	each(2, "chan receive", []string{"runtime.chanrecv1", "main.pool"}, []string{"runtime.chansend1", "main.produce"})
	each(3, "chan receive", []string{"runtime.chanrecv1", "main.pool"}, []string{"runtime.chansend1", "main.produce"})
	each(4, "chan receive", []string{"runtime.chanrecv1", "main.one"}, []string{"runtime.chansend1", "main.other"})
	each(5, "sync", []string{"sync.(*Mutex).lockSlow", "main.lock"}, []string{"sync.(*Mutex).Unlock", "main.unlock"})
	each(6, "sync.(*Cond).Wait", []string{"sync.(*Cond).Wait", "main.cond"}, []string{"sync.(*Cond).Signal", "main.signal"})
	each(8, "sync", []string{"runtime.gcMarkDone", "main.make"}, []string{"runtime.gcMarkDone", "main.make"})
	each(7, "select", []string{"runtime.selectgo", "main.choose"}, []string{"runtime.chansend1", "main.a"})
	now += 10
	b.At(now)
	r.With("runtime.selectgo", "main.choose").Block("select")
	m.With("runtime.chansend1", "main.b").Unblock(7)
	r.Start(7)
	b.At(now + 10)
	w := work(t, b)
	want := map[model.GoID]workload.Class{2: workload.ClassHandoff, 3: workload.ClassHandoff, 4: workload.ClassHandoff,
		5: workload.ClassLock, 6: workload.ClassCond, 7: workload.ClassSelect, 8: workload.ClassRuntime}
	for id, class := range want {
		if x := segments(t, w, id)[0]; x.Class != class {
			t.Errorf("goroutine %d: got class %v, want %v", id, x.Class, class)
		}
	}
	if x := segments(t, w, 8)[0]; x.End != workload.EndAssist || x.Delay < modeltest.Ticks(9) || x.Delay > modeltest.Ticks(11) {
		t.Errorf("the collector's semaphore: %+v", x)
	}
}

// TestJoin waits twice: for two goroutines, then for one.
func TestJoin(t *testing.T) {
	b := modeltest.NewBuilder()
	m := b.M(1).Proc(0).Running(1, "main.main")
	b.At(10)
	m.Create(2, "main.w").Create(3, "main.w").Create(4, "main.forever")
	b.At(20)
	m.With("sync.(*WaitGroup).Wait", "main.main").Block("sync")
	b.At(30)
	m.Start(4).Block("chan receive")
	b.At(40)
	m.Start(2).Exit()
	b.At(50)
	m.Start(3).With("sync.(*WaitGroup).Done", "main.w").Unblock(1)
	b.At(55)
	m.Exit().Start(1)
	b.At(60)
	m.Create(5, "main.w").With("sync.(*WaitGroup).Wait", "main.main").Block("sync")
	b.At(70)
	m.Start(5).With("sync.(*WaitGroup).Done", "main.w").Unblock(1)
	b.At(71)
	m.Exit().Start(1)
	b.At(80)
	w := work(t, b)
	var got [][]model.GoID
	for _, x := range segments(t, w, 1) {
		if x.Class != workload.ClassJoin {
			continue
		}
		var ids []model.GoID
		for _, c := range w.Objects[x.Object].Children {
			ids = append(ids, w.Goroutines[c].ID)
		}
		got = append(got, ids)
	}
	if len(got) != 2 || !slices.Equal(got[0], []model.GoID{2}) || len(got[1]) > 0 {
		t.Errorf("got joins %v in addition to their wakers, want [2] and none", got)
	}
}

// TestKnownSleeps compares with what the programs of the fixtures ask for.
func TestKnownSleeps(t *testing.T) {
	tests := []struct {
		fixture, function string
		want              []int // us
	}{
		{"timers.go1.26.p4.trace", "main.sleeper", []int{7000}},
		{"timers.go1.26.p4.trace", "main.afterFunc", []int{20000}},
		{"starve.go1.26.p1.trace", "main.wake", []int{3000}},
		{"mixed.go1.22.p2.trace", "main.stat", []int{1000}},
		{"mixed.go1.26.p2.trace", "main.annotate.func1", []int{2000}},
		{"http.trace", "main.client", []int{3000, 4000, 5000, 6000}},
		{"http.trace", "main.(*counter).addSlowly", []int{2000}},
		{"rpc.go1.26.p4.trace", "main.serve", []int{5000}},
		{"leases.go1.26.p4.trace", "main.work", []int{250}},
		{"tasks.go1.26.p4.trace", "main.bake.func1", []int{30000}},
		{"generations.go1.26.p4.trace", "main.readPipe.func1", []int{400000}},
	}
	for _, tt := range tests {
		t.Run(tt.fixture+" "+tt.function, func(t *testing.T) {
			w := extract(t, tt.fixture, 0)[0]
			n, right := 0, 0
			for i := range w.Goroutines {
				for _, x := range w.Goroutines[i].Segments {
					if x.End != workload.EndSleep || !slices.ContainsFunc(w.Tables.Stack(x.Stack), func(f model.Frame) bool { return f.Func == tt.function }) {
						continue
					}
					n++
					if slices.Contains(tt.want, int(x.Delay/1000)) && x.Delay%1000 == 0 {
						right++
					}
				}
			}
			if n < 5 || right*10 < n*9 {
				t.Errorf("%d of %d sleeps are for %v us", right, n, tt.want)
			}
		})
	}
}

// TestKnownLinks counts the waits for data that are linked to writes, in programs that talk to
// themselves.
func TestKnownLinks(t *testing.T) {
	for _, tt := range []struct {
		fixture string
		percent int64
	}{{"echo.go1.26.p4.trace", 98}, {"rpc.go1.26.p4.trace", 97}, {"http.trace", 85}, {"mixed.go1.22.p2.trace", 95}, {"relay.go1.26.p4.trace", 60}, {"proxy.go1.26.p4.trace", 60}} {
		r := extract(t, tt.fixture, 0)[0].Recorded
		in, out := r.Wakes[workload.ClassLoopback], r.Wakes[workload.ClassExternal]
		if in*100 < (in+out)*tt.percent {
			t.Errorf("%s: %d waits for data linked, %d not; want %d %%", tt.fixture, in, out, tt.percent)
		}
	}
}
