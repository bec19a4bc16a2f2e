package runqueue_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/modeltest"
	"github.com/schedscope/schedscope/model/runqueue"
)

// A lawless plays a scheduler that takes any Runnable goroutine from anywhere,
// so that no hypothesis about queues holds for long. Its traces are possible for
// the Machine all the same.
type lawless struct {
	b        *modeltest.Builder
	threads  []*lawlessThread
	idle     []model.ProcID
	runnable []model.GoID
	waiting  []model.GoID
	next     model.GoID
	tick     int
	most     int // goroutines alive
	alive    int
}

type lawlessThread struct {
	m      *modeltest.Thread
	p      model.ProcID
	g      model.GoID
	inCall bool
}

func newLawless(threads, procs, goroutines int) *lawless {
	l := &lawless{b: modeltest.NewBuilder(), next: 1, most: goroutines}
	for i := range threads {
		l.threads = append(l.threads, &lawlessThread{m: l.b.M(model.ThreadID(i + 1)), p: model.NoProc, g: model.NoGoroutine})
	}
	for i := range procs {
		p := model.ProcID(i)
		if i < threads-1 {
			t := l.threads[i]
			t.p, t.g = p, l.next
			t.m.Proc(p).Running(l.next, "main.f")
			l.next, l.alive = l.next+1, l.alive+1
		} else {
			l.threads[0].m.IdleProc(p)
			l.idle = append(l.idle, p)
		}
	}
	l.b.Metric("/sched/gomaxprocs:threads", int64(procs))
	return l
}

// take takes the i-th of a list, modulo its length.
func take[T any](list *[]T, i int) T {
	l := *list
	i %= len(l)
	x := l[i]
	l[i] = l[len(l)-1]
	*list = l[:len(l)-1]
	return x
}

// play lets some thread do something that two bytes choose.
func (l *lawless) play(who, what byte) {
	t, n := l.threads[int(who)%len(l.threads)], int(what>>3)
	l.tick += int(who>>4) + 1
	l.b.At(l.tick)
	switch {
	case t.inCall && t.p != model.NoProc:
		t.m.SyscallEnd()
		t.inCall = false
	case t.inCall:
		l.leaveCall(t, what, n)
	case t.p == model.NoProc:
		l.withoutProc(t, what, n)
	case t.g == model.NoGoroutine:
		l.search(t, what, n)
	default:
		l.run(t, what, n)
	}
}

func (l *lawless) leaveCall(t *lawlessThread, what byte, n int) {
	if what&1 == 0 && len(l.idle) > 0 {
		t.p = take(&l.idle, n)
		t.m.ProcStart(t.p)
		t.m.SyscallEndBlocked().Start(t.g)
	} else {
		t.m.SyscallEndBlocked()
		l.runnable = append(l.runnable, t.g)
		t.g = model.NoGoroutine
	}
	t.inCall = false
}

func (l *lawless) withoutProc(t *lawlessThread, what byte, n int) {
	switch {
	case what&3 < 2 && len(l.idle) > 0:
		t.p = take(&l.idle, n)
		t.m.ProcStart(t.p)
	case what&3 == 2:
		for _, o := range l.threads {
			if o.inCall && o.p != model.NoProc {
				t.m.ProcSteal(o.p)
				l.idle = append(l.idle, o.p)
				o.p = model.NoProc
				return
			}
		}
	case len(l.waiting) > 0:
		l.wake(t, n)
	}
}

func (l *lawless) wake(t *lawlessThread, n int) {
	g := take(&l.waiting, n)
	t.m.Unblock(g)
	l.runnable = append(l.runnable, g)
}

func (l *lawless) search(t *lawlessThread, what byte, n int) {
	switch {
	case what&7 < 5 && len(l.runnable) > 0:
		t.g = take(&l.runnable, n)
		t.m.Start(t.g)
	case what&7 < 7 && len(l.waiting) > 0:
		l.wake(t, n)
	default:
		t.m.ProcStop()
		l.idle = append(l.idle, t.p)
		t.p = model.NoProc
	}
}

func (l *lawless) run(t *lawlessThread, what byte, n int) {
	switch what & 7 {
	case 0, 1:
		if l.alive < l.most {
			t.m.Create(l.next, "main.f")
			l.runnable = append(l.runnable, l.next)
			l.next, l.alive = l.next+1, l.alive+1
			return
		}
		fallthrough
	case 2:
		if len(l.waiting) > 0 {
			l.wake(t, n)
			return
		}
		fallthrough
	case 3, 4:
		reasons := []string{"chan receive", "network", "sleep", "GC mark assist wait for work", "preempted", "system goroutine wait"}
		t.m.Block(reasons[n%len(reasons)])
		l.waiting = append(l.waiting, t.g)
		t.g = model.NoGoroutine
	case 5:
		reasons := []string{"preempted", "runtime.Gosched"}
		if n%4 == 3 {
			t.m.With("runtime.goyield")
		}
		t.m.Stop(reasons[n%2])
		l.runnable = append(l.runnable, t.g)
		t.g = model.NoGoroutine
	case 6:
		if n%2 == 0 || l.alive < 4 {
			t.m.Syscall()
			t.inCall = true
			return
		}
		t.m.Exit()
		t.g, l.alive = model.NoGoroutine, l.alive-1
	default:
		t.m.Label([]string{"GC (dedicated)", "GC (idle)", "f"}[n%3])
	}
}

// FuzzSchedule resolves schedules that a Machine accepts but that obey none of
// the scheduler's rules.
func FuzzSchedule(f *testing.F) {
	f.Add([]byte("\x00\x00\x01\x00\x02\x02\x00\x23\x00\x05"), uint8(26), uint8(3))
	f.Add([]byte("gMkQrT0a9ZpLwEuB6hXyD2sVnC8oJ4tF"), uint8(22), uint8(0x21))
	f.Fuzz(func(t *testing.T, data []byte, version, size uint8) {
		l := newLawless(int(size&7)+2, int(size>>3&7)+1, 400)
		for i := 0; i+1 < min(len(data), 8192); i += 2 {
			l.play(data[i], data[i+1])
		}
		list := stepsOf(t, l.b, int(version))
		q, err := runqueue.New(l.b.Tables, int(version))
		if err != nil {
			return
		}
		r := &record{}
		q.Observe(r)
		began := time.Now()
		for i := range list {
			q.Step(&list[i])
		}
		q.Finish()
		checkTold(t, list, r)
		if d := time.Since(began); d > fuzzLimit {
			t.Errorf("%d steps took %v", len(list), d)
		}
	})
}

// short returns n, or less of it in short tests.
func short(n int) int {
	if testing.Short() {
		return n / 5
	}
	return n
}

// TestLawless resolves long schedules of the same kind.
func TestLawless(t *testing.T) {
	for seed := range uint64(6) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		procs := []int{1, 2, 4, 8, 16, 3}[seed]
		l := newLawless(procs+3, procs, 50<<seed)
		for range short(10_000) {
			l.play(byte(rnd.Uint32()), byte(rnd.Uint32()))
		}
		list := stepsOf(t, l.b, 26)
		r := &record{}
		began := time.Now()
		resolve(t, l.b.Tables, 26, list, r)
		d := time.Since(began)
		checkTold(t, list, r)
		t.Logf("seed %d, %d procs: %d steps, %d starts, %d steals in %v", seed, procs, len(list), len(r.starts), len(r.steals), d)
		if d > fuzzLimit {
			t.Errorf("seed %d: %d steps took %v", seed, len(list), d)
		}
	}
}
