package model_test

import (
	"testing"

	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/modeltest"
)

// TestPoller has one case per kind of poller. Goroutine 2 waits for the network
// from tick 1, and is made runnable at tick 100. Proc 1 is free.
func TestPoller(t *testing.T) {
	cases := []struct {
		name   string
		build  func(b *modeltest.Builder, m *modeltest.Thread)
		want   model.Poller
		direct bool
	}{
		{"findRunnable", func(b *modeltest.Builder, m *modeltest.Thread) {
			b.At(99)
			m.Block("sleep")
			b.At(100)
			m.Unblock(2).Start(2)
		}, model.PollerNonBlocking, true},
		{"blocking", func(b *modeltest.Builder, m *modeltest.Thread) {
			b.At(95)
			b.M(2).ProcStart(1)
			b.At(100)
			b.M(2).Unblock(2).Start(2)
		}, model.PollerBlocking, true},
		{"just woken", func(b *modeltest.Builder, m *modeltest.Thread) {
			b.At(3)
			b.M(2).ProcStart(1)
			b.At(100)
			b.M(2).Unblock(2).Start(2)
		}, model.PollerNonBlocking, true},
		{"one or the other", func(b *modeltest.Builder, m *modeltest.Thread) {
			b.At(37)
			b.M(2).ProcStart(1)
			b.At(100)
			b.M(2).Unblock(2).Start(2)
		}, model.PollerAmbiguous, true},
		{"blocking, no idle proc", func(b *modeltest.Builder, m *modeltest.Thread) {
			b.At(10)
			b.M(2).ProcStart(1).Start(4)
			b.At(12)
			b.M(2).Block("sleep").ProcStop()
			b.At(100)
			b.M(2).Unblock(2)
			b.At(110)
			m.Stop("preempted").Start(2)
		}, model.PollerBlockingNoProc, false},
		{"sysmon", func(b *modeltest.Builder, m *modeltest.Thread) {
			b.At(10)
			m.Syscall()
			b.At(12)
			b.M(9).ProcSteal(0)
			b.At(100)
			b.M(9).Unblock(2)
			b.At(110)
			b.M(2).ProcStart(1).Start(2)
		}, model.PollerSysmon, false},
		{"mark worker", func(b *modeltest.Builder, m *modeltest.Thread) {
			b.At(10)
			b.M(2).ProcStart(1).Start(3).Label("GC (idle)")
			b.At(100)
			b.M(2).With("runtime.systemstack_switch").Unblock(2)
			b.At(110)
			m.Stop("preempted").Start(2)
		}, model.PollerGCWorker, false},
		{"end of a stop-the-world", func(b *modeltest.Builder, m *modeltest.Thread) {
			b.At(99)
			m.STWBegin("GC mark termination")
			b.At(100)
			m.Unblock(2).STWEnd("GC mark termination")
			b.At(110)
			m.Stop("preempted").Start(2)
		}, model.PollerSTW, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := modeltest.NewBuilder()
			m := b.M(1).Proc(0).IdleProc(1).Status(3, model.GoRunnable, "runtime.gcBgMarkWorker").Status(4, model.GoRunnable, "main.g").Running(1, "runtime.main")
			waiting(b, m, "network", "main.reader")
			c.build(b, m)
			b.At(120)
			r := replay(t, b)
			w := only(t, "network wakeups", r.polls)
			if w.Poller != c.want || w.Direct != c.direct {
				t.Errorf("got %v, direct %t; want %v, direct %t", w.Poller, w.Direct, c.want, c.direct)
			}
			if w.G != 2 || w.Open || w.Waited < modeltest.Ticks(97) || w.Started < w.Time {
				t.Errorf("got %+v; want goroutine 2 after 98 ticks, started", w)
			}
			s := only(t, "Runnable intervals after the wait", r.of(2, model.GoRunnable)[1:])
			if s.Origin != model.OriginNetpoll || s.Start != w.Time || s.End != w.Started {
				t.Errorf("got origin %v in [%d, %d); want netpoll in [%d, %d)", s.Origin, s.Start, s.End, w.Time, w.Started)
			}
		})
	}
}

// A poll may find several: all but the one that runs at once go to a queue.
func TestPollerList(t *testing.T) {
	b := modeltest.NewBuilder()
	m := b.M(1).Proc(0).Status(3, model.GoRunnable, "main.reader").Running(1, "runtime.main")
	waiting(b, m, "network", "main.reader")
	b.At(10)
	m.Stop("preempted").Start(3).Block("network")
	b.At(20)
	m.Unblock(2).Unblock(3).Start(3)
	b.At(30)
	r := replay(t, b)
	if len(r.polls) != 2 {
		t.Fatalf("got %d wakeups, want 2", len(r.polls))
	}
	first, second := r.polls[0], r.polls[1]
	if first.G != 3 || !first.Direct || first.Poller != model.PollerNonBlocking {
		t.Errorf("got %+v; want goroutine 3, run at once by its poller", first)
	}
	if second.G != 2 || second.Direct || !second.Open || second.Poller != model.PollerNonBlocking {
		t.Errorf("got %+v; want goroutine 2, still queued at the end", second)
	}
}
