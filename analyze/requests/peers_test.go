package requests_test

import (
	"os"
	"testing"

	"github.com/schedscope/schedscope/analyze/requests"
	"github.com/schedscope/schedscope/model"
)

// TestPeers checks against what programs of fixtures/validation/requests logged of themselves, each
// recorded for 120 or 200 ms: how many of the requests waited for that by others, and for how long in all.
// What "remote" waits for is in another process.
func TestPeers(t *testing.T) {
	for _, c := range []struct {
		trace, spec, name string
		is                func(*requests.Part) bool
		least             int64 // ns of a request that counts
		count             int
		total             int64 // ns
	}{
		{"calls", "http", "main.main.func1.3", func(p *requests.Part) bool {
			return p.Depth > 0 && p.Kind == requests.Sleep && p.At != nil && p.At.Func == "main.quote"
		}, 5e6, 12, 126021704},
		{"remote", "http", "main.main.func1.2", func(p *requests.Part) bool {
			return p.Wait == requests.Channel && p.Kind == requests.Network
		}, 5e6, 7, 285338507},
		{"remote", "http", "main.main.func1.2", func(p *requests.Part) bool { // a client in the process itself
			return p.Kind == requests.Sleep || p.Kind != requests.Runnable && p.At != nil && p.At.Func == "main.poll"
		}, 0, 0, 0},
		{"sqlpool", "http", "main.main.func1.1", func(p *requests.Part) bool {
			return p.Depth > 0 && p.Wait == requests.Connection && p.Kind == requests.Sleep
		}, 0, 7, 6621929},
		{"stages", "task:job", "job", func(p *requests.Part) bool { return p.Kind == requests.Queued }, 0, 50, 47508335},
	} {
		f, err := os.Open("testdata/" + c.trace + ".trace")
		if err != nil {
			t.Fatal(err)
		}
		count, total := 0, int64(0)
		_, err = track(t, f, []string{c.spec}, func(r *requests.Request) {
			var sum int64
			for p := range r.Parts() {
				if c.is(p) {
					sum += int64(p.To.Sub(p.From))
				}
			}
			if r.Name == c.name && sum > c.least {
				count++
				total += sum
			}
		})
		f.Close()
		if err != nil || count != c.count || max(total-c.total, c.total-total) > c.total/20 {
			t.Errorf("%s: %d requests waited for others, %d ns in all, want %d and %d: %v", c.trace, count, total, c.count, c.total, err)
		}
	}
}

// TestPolledByGoroutine checks that waits for the network which a goroutine's poll ended, as when it
// starts the world, are for the peer: of 14.3 ms that others ran meanwhile, nearly all was the poller's.
func TestPolledByGoroutine(t *testing.T) {
	f, err := os.Open("../../fixtures/mixed.go1.26.p2.trace")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var ran, all int64
	_, err = track(t, f, []string{"goroutine:."}, func(r *requests.Request) {
		for p := range r.Parts() {
			if p.Depth > 0 && p.Wait == requests.Network {
				all += int64(p.To.Sub(p.From))
				if p.Kind == requests.Running {
					ran += int64(p.To.Sub(p.From))
				}
			}
		}
	})
	if err != nil || ran > 1e6 || all < 60e6 {
		t.Errorf("others ran for %d of %d ns of waits for the network: %v", ran, all, err)
	}
}

// TestUnpolled checks waits for the network of a server with one proc, which another goroutine has for 30 ms of each
// 200: each of 35 requests calls a server that answers after 3 ms, and gets the answer when the proc polls.
func TestUnpolled(t *testing.T) {
	f, err := os.Open("testdata/unpolled.trace")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var network, runnable, count int64
	_, err = track(t, f, []string{"http"}, func(r *requests.Request) {
		if !r.Complete || r.Name != "main.cron.func2" {
			return
		}
		count++
		for p := range r.Parts() {
			switch d := int64(p.To.Sub(p.From)); {
			case p.Kind == requests.Network:
				network += d
			case p.Kind == requests.Runnable && p.Inferred && p.Wait == requests.Channel && p.At != nil && p.At.Func == "main.work":
				runnable += d
			}
		}
		if err := check(r); err != nil {
			t.Error(err)
		}
	})
	if err != nil || count != 35 || network < 35*26e5 || network > 35*36e5 || runnable < 30e6 {
		t.Errorf("%d requests waited %d ns for the network, want 35 * 3 ms, and %d for a proc to poll it: %v", count, network, runnable, err)
	}
}

// TestFoundWithoutProc checks that sysmon, which finds what nobody has polled, finds it behind who has a proc, and not
// behind who had one that is gone, and that a thread which slept in the poller finds what comes at once.
func TestFoundWithoutProc(t *testing.T) {
	spec, err := requests.ParseSpec("goroutine:^main.ask$")
	if err != nil {
		t.Fatal(err)
	}
	for thread, want := range map[model.ThreadID]string{4: "main.spin", 2: ""} {
		p := newProgram("main.ask")
		p.b.Metric("/sched/gomaxprocs:threads", 2)
		p.b.M(2).Proc(1).Status(3, model.GoRunnable, "main.gone").Start(3).Stop("preempted").ProcStop()
		p.b.Metric("/sched/gomaxprocs:threads", 1)
		p.in("net.(*netFD).Read", "main.get").Block("network").Start(2)
		p.now += 100_000
		p.b.At(p.now)
		p.b.M(thread).Unblock(1)
		p.in().Stop("preempted").Start(1)
		p.in().Exit()
		behind := ""
		p.each(t, []requests.Spec{spec}, func(q *requests.Request) {
			for x := range q.Parts() {
				if x.Kind == requests.Runnable && x.Inferred && x.At != nil {
					behind = x.At.Func
				}
			}
		})
		if behind != want {
			t.Errorf("thread %d: behind %q, want %q", thread, behind, want)
		}
	}
}

// TestDenied checks that who reads what its creator has dialled waits for whoever has the end that was accepted next, unless
// waits at which nobody had written deny that.
func TestDenied(t *testing.T) {
	for denied, want := range map[int]bool{0: true, 1: true, 2: false} {
		p := newProgram("main.main")
		p.Status(4, model.GoRunnable, "main.accept")
		p.calls("syscall.connect", "net.(*netFD).connect")
		p.in("main.dial").Create(3, "main.read").Stop("preempted").Start(4)
		p.calls("syscall.accept4", "net.(*TCPListener).Accept")
		p.in("main.accept").Create(5, "main.serve").Stop("preempted").Start(3)
		waits := func() { p.in("net.(*netFD).Read", "main.read").Block("network") }
		wakes := func() {
			p.in()
			p.b.M(2).Unblock(3)
			p.Stop("preempted").Start(3)
		}
		for range denied {
			waits()
			p.Start(2)
			wakes()
		}
		waits()
		p.Start(5)
		p.calls("net.(*netFD).Write", "main.serve")
		p.now += 1_000_000 // longer than its time alone shows who wrote
		wakes()
		p.in("main.read").Exit().Start(1)
		spec, err := requests.ParseSpec("goroutine:^main.read$")
		if err != nil {
			t.Fatal(err)
		}
		got, n := false, 0
		p.each(t, []requests.Spec{spec}, func(q *requests.Request) {
			n++
			for part := range q.Parts() {
				got = got || part.G == 5
			}
		})
		if got != want || n != 1 {
			t.Errorf("%d denied: waits for who accepted %t in %d requests, want %t in one", denied, got, n, want)
		}
	}
}
