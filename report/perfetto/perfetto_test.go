package perfetto_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
	. "github.com/schedscope/schedscope/report/perfetto"
)

// States of threads, as Perfetto's table thread_state shows them.
var stateOf = map[uint64]model.GoState{
	2: model.GoRunnable, 3: model.GoRunning, 4: model.GoWaiting, 5: model.GoSyscall, 6: model.GoSyscallBlocked, 8: model.GoNotExist,
}

// Perfetto has so many CPUs; from nowhere on they are of goroutines that run on no proc
// that is known.
const (
	allCPUs = 4096
	nowhere = allCPUs - 64
)

// A machine adds up what the packets tell, in the order of their times, by the rules
// of Perfetto's importer.
type machine struct {
	t       *testing.T
	threads map[uint64]*threadTimes
	cpus    map[uint64]*cpuTimes
}

type threadTimes struct {
	state model.GoState // GoUndetermined before the first
	since uint64
	times [model.NumGoStates]model.Duration
}

type cpuTimes struct {
	tid   uint64 // that runs on it, 0 if none does
	since uint64
	busy  model.Duration
}

func (m *machine) apply(p *packet) {
	tid, at := p.state.n(3), p.at
	to, ok := stateOf[p.state.n(4)]
	if !ok || tid == 0 {
		m.t.Fatalf("at %d: thread %d to state %d", at, tid, p.state.n(4))
	}
	x := m.threads[tid]
	if x == nil {
		x = &threadTimes{}
		m.threads[tid] = x
	}
	cpu, known := p.state.has(1)
	if (to == model.GoRunning || x.state == model.GoRunning) != known {
		m.t.Fatalf("at %d: thread %d from %v to %v: has a cpu: %v", at, tid, x.state, to, known)
	}
	if to == model.GoRunning && x.state == model.GoRunning {
		m.t.Fatalf("at %d: thread %d is told twice to be running", at, tid)
	}
	if known {
		m.run(cpu.n, tid, at, to)
	}
	x.times[x.state] += model.Duration(at - x.since)
	x.state, x.since = to, at
	if to == model.GoNotExist {
		x.state = model.GoUndetermined // the next with this id is another one
	}
}

// run begins or ends a run on a cpu. Of two that change at the same time the next may be
// told first.
func (m *machine) run(cpu, tid, at uint64, to model.GoState) {
	if cpu >= allCPUs {
		m.t.Fatalf("at %d: thread %d on cpu %d, at which the importer ends", at, tid, cpu)
	}
	c := m.cpus[cpu]
	if c == nil {
		c = &cpuTimes{}
		m.cpus[cpu] = c
	}
	if to != model.GoRunning && c.tid != tid {
		if c.since != at {
			m.t.Fatalf("at %d: thread %d leaves cpu %d, on which is %d", at, tid, cpu, c.tid)
		}
		return
	}
	if c.tid != 0 {
		c.busy += model.Duration(at - c.since)
	}
	c.tid, c.since = 0, at
	if to == model.GoRunning {
		c.tid = tid
	}
}

func (m *machine) finish(at uint64) {
	for _, x := range m.threads {
		x.times[x.state] += model.Duration(at - x.since)
	}
	for _, c := range m.cpus {
		if c.tid != 0 {
			c.busy += model.Duration(at - c.since)
		}
	}
}

// TestPerfetto reads back what was written of every fixture: the times of all goroutines
// and procs add up to the Machine's, and slices, flows and counters are all there.
func TestPerfetto(t *testing.T) {
	n, total := 0, map[string]int{}
	for _, name := range fixtures.Chosen(fixtures.Names()) {
		t.Run(name, func(t *testing.T) {
			x := export(t, fixture(t, name), NewWriter, ingest.Options{})
			if x == nil {
				return
			}
			n++
			f := readFile(t, x.data)
			checkStates(t, x, f)
			checkEvents(t, x, f, total)
		})
	}
	if n < 40 {
		t.Errorf("only %d traces were read", n)
	}
	for what, least := range map[string]int{"flows": 1000, "steals": 500, "handoffs": 50, "slices": 500, "counters": 1000, "logs": 10} {
		if total[what] < least {
			t.Errorf("%d %s in all fixtures, want at least %d", total[what], what, least)
		}
	}
}

func checkStates(t *testing.T, x *exported, f *traceFile) {
	t.Helper()
	m := &machine{t: t, threads: map[uint64]*threadTimes{}, cpus: map[uint64]*cpuTimes{}}
	end := uint64(x.end - x.want.origin)
	named := map[uint64]bool{}
	for i := range f.packets {
		p := &f.packets[i]
		if p.at > end {
			t.Fatalf("a packet of time %d after the end %d", p.at, end)
		}
		for _, th := range p.tree {
			named[th.tid] = true
			if th.name == "" {
				t.Errorf("thread %d has no name", th.tid)
			}
		}
		if p.state != nil {
			if !named[p.state.n(3)] {
				t.Fatalf("thread %d is not named before its first state", p.state.n(3))
			}
			m.apply(p)
		}
	}
	m.finish(end)
	for _, g := range slices.Sorted(maps.Keys(x.want.states)) {
		want := x.want.states[g]
		var got [model.NumGoStates]model.Duration
		if th := m.threads[uint64(g)]; th != nil {
			got = th.times
		}
		got[model.GoUndetermined], want[model.GoUndetermined] = 0, 0
		got[model.GoNotExist], want[model.GoNotExist] = 0, 0
		if got != want {
			t.Errorf("goroutine %d: got times %v, want %v", g, got, want)
		}
	}
	for p, want := range x.want.running {
		c := m.cpus[uint64(p)]
		if c == nil || c.busy != want || want != x.want.procs[p] {
			t.Errorf("proc %d: ran for %v, want %v; by the proc %v", p, c, want, x.want.procs[p])
		}
	}
	var strayed model.Duration
	for cpu, c := range m.cpus {
		if cpu >= nowhere {
			strayed += c.busy
		}
	}
	if strayed != x.want.nowhere {
		t.Errorf("%d ns on no proc, want %d", strayed, x.want.nowhere)
	}
}

func checkEvents(t *testing.T, x *exported, f *traceFile, total map[string]int) {
	t.Helper()
	open := map[uint64]int{} // slices by track
	flows := map[uint64]int{}
	counters := map[string][]sample{}
	got := map[string]int{}
	for i := range f.packets {
		p := &f.packets[i]
		e := p.event
		if e == nil {
			continue
		}
		tr := f.tracks[e.track]
		if tr.counter != (e.kind == 4) {
			t.Fatalf("an event of kind %d on track %q", e.kind, tr.name)
		}
		switch e.kind {
		case 1:
			open[e.track]++
			got["slices"]++
			if e.name == "" {
				t.Errorf("a slice without a name on %q", tr.name)
			}
			if tr.name == "stop-the-world" && open[e.track] == 1 {
				got["stws"]++
			}
		case 2:
			if open[e.track]--; open[e.track] < 0 {
				t.Fatalf("at %d: a slice ends on %q that did not begin", p.at, tr.name)
			}
		case 3:
			if e.args["message"] != "" {
				got["logs"]++
			}
		case 4:
			counters[tr.name] = append(counters[tr.name], sample{model.Time(p.at) + x.want.origin, e.value})
		default:
			t.Fatalf("an event of kind %d", e.kind)
		}
		if e.flow != 0 {
			if flows[e.flow]++; flows[e.flow] != 1 {
				t.Errorf("flow %d begins twice", e.flow)
			}
			switch e.name {
			case "ready":
				got["wakes"]++
			case "proc lost":
				got["handoffs"]++
			case "stolen from", "stolen from runnext":
				got["steals"]++
			}
		}
		if e.until != 0 {
			if flows[e.until]++; flows[e.until] != 2 {
				t.Errorf("flow %d ends but does not begin", e.until)
			}
		}
	}
	for id, n := range open {
		if n != 0 {
			t.Errorf("%d slices do not end on %+v", n, f.tracks[id])
		}
	}
	for id, n := range flows {
		if n != 2 {
			t.Errorf("flow %d has %d ends", id, n)
		}
	}
	w := x.want
	for what, want := range map[string]int{"wakes": w.wakes, "steals": w.steals, "handoffs": w.handoffs, "logs": w.logs} {
		if got[what] != want {
			t.Errorf("got %d %s, want %d", got[what], what, want)
		}
		total[what] += got[what]
	}
	if got["stws"] < w.stws {
		t.Errorf("got %d stop-the-worlds, want %d", got["stws"], w.stws)
	}
	total["slices"] += got["slices"]
	total["flows"] += len(flows)
	checkCounter(t, x, counters, "runnable goroutines", w.runnable, total)
	checkCounter(t, x, counters, "idle procs", w.idle, total)
	for p, list := range w.lengths {
		checkCounter(t, x, counters, queueName(p), list, total)
	}
}

func checkCounter(t *testing.T, x *exported, counters map[string][]sample, name string, list []sample, total map[string]int) {
	t.Helper()
	got, want := counters[name], lasting(list, x.end)
	if !slices.Equal(got, want) {
		t.Errorf("%s: %d values, want %d", name, len(got), len(want))
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Errorf("the first that differs is %d: got %v, want %v", i, got[i], want[i])
				break
			}
		}
	}
	total["counters"] += len(got)
}

// TestPerfettoWindow checks that a part of a trace is told as exactly as the whole, at
// the times that it has there.
func TestPerfettoWindow(t *testing.T) {
	for name, o := range map[string]ingest.Options{
		"http.trace":                  {From: model.Duration(200 * time.Millisecond), To: model.Duration(400 * time.Millisecond)},
		"generations.go1.26.p4.trace": {From: model.Duration(1500 * time.Millisecond), To: model.Duration(2500 * time.Millisecond)},
		"tasks.go1.26.p4.trace":       {From: model.Duration(20 * time.Millisecond)},
		"gc.go1.26.p4.trace":          {From: model.Duration(20 * time.Millisecond), To: model.Duration(60 * time.Millisecond)},
	} {
		t.Run(name, func(t *testing.T) {
			x := export(t, fixture(t, name), NewWriter, o)
			f := readFile(t, x.data)
			checkStates(t, x, f)
			lo, hi := uint64(o.From), uint64(0)
			for _, p := range f.packets {
				if p.event != nil || p.state != nil {
					if p.at < lo {
						t.Fatalf("a packet of time %d, before the window", p.at)
					}
					hi = max(hi, p.at)
				}
			}
			if hi != uint64(x.end-x.want.origin) {
				t.Errorf("the last packet is of %d, want %d", hi, x.end-x.want.origin)
			}
		})
	}
}
