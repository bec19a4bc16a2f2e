package workload_test

import (
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/modeltest"
)

// TestScale scales stretches of which it is known in each way whether a function is on the stack.
func TestScale(t *testing.T) {
	b := modeltest.NewBuilder()
	m := b.M(1).Proc(0).Running(1, "main.main")
	at := func(tick int, stack ...string) *modeltest.Thread { b.At(tick); return m.With(stack...) }
	at(1000, "main.work", "main.main").Log(0, "", "")           // half of 1000 ticks that begin nobody knows where
	at(3000, "main.f", "main.work", "main.main").Log(0, "", "") // 2000: at both ends
	at(4000, "main.other", "main.main").Log(0, "", "")          // half of 1000
	at(4100, "main.other", "main.main").Sample()
	at(4600, "main.g", "main.work", "main.main").Sample()
	at(5000, "main.third", "main.main").Log(0, "", "") // 650 of 1000
	at(5100, "main.third", "main.main").Block("forever")
	at(6000).Unblock(1).Start(1)
	at(6000, "main.third", "main.main").RegionBegin(0, "r")
	at(6300, "main.third", "main.main").RegionEnd(0, "r")
	at(6500, "time.Sleep", "main.work", "main.main").Block("sleep")
	at(7500)
	m.Unblock(1).Start(1)
	at(7600, "main.third", "main.main").Block("forever")
	w := seen(t, b)
	match := func(name string) func(string) bool { return func(s string) bool { return s == name } }
	for _, tt := range []struct {
		scale workload.Scale
		want  [4]int // certain, sampled, uncertain, all that is computed afterwards
		sleep int
	}{
		{workload.Scale{Match: match("main.work"), By: 0.5}, [4]int{2000, 650, 500 + 500 + 100 + 50, 5700 - 3800/2}, 1900},
		{workload.Scale{Match: match("main.work"), By: 2}, [4]int{2000, 650, 1150, 5700 + 3800}, 1900},
		{workload.Scale{Match: match("main.main"), By: 0}, [4]int{5700, 0, 0, 0}, 1900},
		{workload.Scale{Match: match("main.nobody"), By: 0}, [4]int{0, 0, 0, 5700}, 1900},
		{workload.Scale{Kind: workload.ScaleRegion, Match: match("r"), By: 0}, [4]int{300, 0, 0, 5400}, 1900},
		{workload.Scale{Kind: workload.ScaleWait, Match: match("main.work"), By: 0.5}, [4]int{1000, 0, 0, 5700}, 1400},
	} {
		out, found := w.Scale([]workload.Scale{tt.scale})
		g := &out.Goroutines[0]
		sleep, all := model.Duration(0), model.Duration(0)
		for _, x := range g.Segments {
			if all += x.CPU; x.End == workload.EndSleep {
				sleep += x.Delay
			}
		}
		for i, got := range []model.Duration{found[0].Certain, found[0].Sampled, found[0].Uncertain, all} {
			if want := modeltest.Ticks(tt.want[i]); got < want-300 || got > want+300 {
				t.Errorf("by %v: %d: got %v, want %v", tt.scale.By, i, got, want)
			}
		}
		if want := modeltest.Ticks(tt.sleep); sleep < want-300 || sleep > want+300 || g.Work != all && all != modeltest.Ticks(5700) {
			t.Errorf("got a sleep of %v, want %v; work %v", sleep, want, g.Work)
		}
	}
}

// seen takes the work out of a trace, with what its events show of where goroutines are.
func seen(t *testing.T, b *modeltest.Builder) *workload.Workload {
	t.Helper()
	events := b.Events()
	machine := model.NewMachine(b.Tables, model.Config{Version: 26})
	e := workload.NewExtractor(b.Tables, 26)
	e.Seeing = true
	machine.Observe(e)
	for i := range events {
		if i == 1 {
			e.Begin(events[0].Time)
		}
		if err := machine.Apply(&events[i]); err != nil {
			t.Fatal(err)
		}
		e.See(&events[i])
	}
	w, err := e.Finish(machine.Now())
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestFollow has a connection get requests, at times of their own or some time after it has answered the one before, and
// checks where these begin and end in its work, and when the next one comes.
func TestFollow(t *testing.T) {
	for _, thinks := range []bool{false, true} {
		b := modeltest.NewBuilder()
		m := b.M(1).Proc(0).Running(1, "main.serve")
		var list []workload.Interval
		now := 10
		for i := range 60 {
			b.At(now)
			m.With("internal/poll.(*FD).Read", "main.serve").Block("network")
			if now += 2000; !thinks {
				now = max(now, 6000*i) + i*i%7*1500
			}
			b.At(now)
			m.Unblock(1)
			start := modeltest.At(now)
			m.Start(1)
			now += 100 + i*37%11*300
			b.At(now)
			m.With("syscall.write", "main.serve").Syscall()
			now += 20
			b.At(now)
			m.SyscallEnd()
			list = append(list, workload.Interval{Start: start, End: modeltest.At(now)})
			now += 30
		}
		b.At(now)
		m.Exit()
		w := seen(t, b)
		begun, ended := 0, 0
		for i, ok := range w.Follow(list) {
			if !ok {
				t.Fatalf("request %d is not found", i)
			}
		}
		w.Pin(nil)
		g, op := &w.Goroutines[0], int32(0)
		for _, x := range g.Segments {
			for ; op < x.Ops; op++ {
				if o := g.Ops[op]; o.Kind != workload.OpRequest || o.Seg != 1 || int(o.G) != ended || o.At != 0 {
					t.Errorf("got %+v, want the end of request %d", o, ended)
				}
				ended++
			}
			if x.Request > 0 {
				begun++
				if x.End != workload.EndExternal || x.Absolute == thinks {
					t.Errorf("thinks %v: request %d: %+v", thinks, x.Request, x)
				}
			}
		}
		if begun != len(list) || ended != len(list) {
			t.Errorf("%d requests begin, %d end", begun, ended)
		}
		work, n := w.Goroutines[0].Work, len(w.Goroutines)
		split := w.Split(list)
		if thinks {
			if len(w.Goroutines) != n {
				t.Errorf("%d goroutines, want %d: the client waits for each answer", len(w.Goroutines), n)
			}
			continue
		}
		for i, x := range list {
			g := &w.Goroutines[split(0, x.Start)]
			if split(0, x.End) != split(0, x.Start) || g.Begin != workload.BeginWaiting || g.Segments[0].Request != int32(i)+1 ||
				len(g.Ops) != 1 || int(g.Ops[0].G) != i || g.CPUAt(x.End)-g.CPUAt(x.Start) != g.Segments[1].CPU {
				t.Errorf("request %d: %+v", i, g)
			}
			work -= g.Work
		}
		if split(0, list[0].Start-1) != 0 || work != w.Goroutines[0].Work {
			t.Errorf("the requests compute all but %v, want %v", work, w.Goroutines[0].Work)
		}
	}
}

// halved checks that exactly what is found is scaled, and that nothing else changes.
func halved(tb testing.TB, name string, w *workload.Workload) {
	tb.Helper()
	out, found := w.Scale([]workload.Scale{{Match: func(s string) bool { return strings.HasPrefix(s, "main.") }, By: 0.5}})
	before, after, points := model.Duration(0), model.Duration(0), 0
	for i := range out.Goroutines {
		g := &out.Goroutines[i]
		before, after, points = before+w.Goroutines[i].Work, after+g.Work, points+len(g.Points)+1
		first, at := int32(0), model.Duration(0)
		for k, x := range g.Segments {
			for o := first; o < x.Ops; o++ {
				if op := g.Ops[o].At; op < 0 || op > x.CPU || o > first && op < g.Ops[o-1].At {
					tb.Errorf("%s: goroutine %d: segment %d: operation at %v of %v", name, g.ID, k, op, x.CPU)
				}
			}
			first = x.Ops
		}
		for _, x := range g.Points {
			if x.At < at || x.At > g.Work+1 {
				tb.Errorf("%s: goroutine %d: a point at %v after %v, of %v", name, g.ID, x.At, at, g.Work)
			}
			at = x.At
		}
	}
	if want := before - found[0].Total()/2; after < want-model.Duration(points) || after > want+model.Duration(points) {
		tb.Errorf("%s: %v of %v halved gives %v", name, found[0].Total(), before, after)
	}
}
