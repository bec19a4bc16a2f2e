package workload_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/modeltest"
)

// TestArrivals serves clients of two kinds over 16 connections, with up to all of them busy. Requests of the first kind come at
// times of their own, on whatever connection is idle; those of the second a while after the connection's answer.
func TestArrivals(t *testing.T) {
	const conns, requests, serving = 16, 600, 400_000
	for _, open := range []bool{true, false} {
		rnd := rand.New(rand.NewPCG(1, 2))
		b := modeltest.NewBuilder()
		poller := b.M(1).Proc(0).Running(100, "main.poller")
		server := b.M(2)
		server.Proc(1).Running(101, "main.idle")
		b.At(1)
		for g := range model.GoID(conns) {
			poller.Create(g+1, "main.serve")
		}
		// A connection is idle until asked, then waits for a timer until it answers.
		type event struct {
			at   int
			g    model.GoID
			asks bool
		}
		var idle []model.GoID
		var events []event
		add := func(e event) {
			i, _ := slices.BinarySearchFunc(events, e.at, func(x event, at int) int { return x.at - at })
			events = slices.Insert(events, i, e)
		}
		at := 1000
		for g := range model.GoID(conns) {
			b.At(at)
			server.Stop("preempted").Start(g+1).With("internal/poll.(*FD).Read", "main.serve").Block("network").Start(101)
			idle = append(idle, g+1)
			if at += 1000; !open {
				add(event{at: at + int(3e5*rnd.ExpFloat64()), g: g + 1, asks: true})
			}
		}
		next := at
		for n := 0; n < requests; {
			if open {
				next += int(60_000 * rnd.ExpFloat64())
				for len(events) > 0 && events[0].at <= next || len(idle) == 0 {
					e := events[0]
					events = events[1:]
					at = max(at+200, e.at)
					b.At(at)
					server.Stop("preempted").Unblock(e.g).Start(e.g).With("internal/poll.(*FD).Read", "main.serve").Block("network").Start(101)
					idle = append(idle, e.g)
				}
				i := rnd.IntN(len(idle))
				add(event{at: next, g: idle[i], asks: true})
				idle = slices.Delete(idle, i, i+1)
			}
			e := events[0]
			events = events[1:]
			at = max(at+200, e.at)
			b.At(at)
			if !e.asks {
				server.Stop("preempted").Unblock(e.g).Start(e.g).With("internal/poll.(*FD).Read", "main.serve").Block("network").Start(101)
				add(event{at: at + int(3e5*rnd.ExpFloat64()), g: e.g, asks: true})
				continue
			}
			n++
			poller.Stop("preempted")
			poller.Unblock(e.g)
			poller.Start(100)
			server.Stop("preempted").Start(e.g).With("main.work", "main.serve").Block("sync").Start(101)
			add(event{at: at + serving + rnd.IntN(serving), g: e.g})
		}
		w := work(t, b)
		waits, absolute := 0, 0
		for i := range w.Goroutines {
			for _, x := range w.Goroutines[i].Segments {
				if x.End == workload.EndExternal && x.Class == workload.ClassExternal {
					waits++
					if x.Absolute {
						absolute++
					}
				}
			}
		}
		if want := map[bool]int{true: waits}[open]; waits < requests/2 || absolute != want {
			t.Errorf("open %v: %d of %d waits are over at times of their own, want %d", open, absolute, waits, want)
		}
	}
}
