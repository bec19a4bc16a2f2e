package analyze

import (
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// Thresholds of locked threads. Each start of a locked goroutine by another
// thread takes two changes of threads in the system, some 10 us; a thousand per
// second, and a tenth of all starts, are a pattern.
const (
	lockedRate  = 1000 * int64(stormWindow) / 1_000_000_000
	lockedShare = 0.10
)

// lockedPingPong finds that goroutines on locked threads are started all the time.
type lockedPingPong struct {
	symptom
	rate   intensity
	starts int64
}

func (x *lockedPingPong) start(t *model.Tables, s *runqueue.Start, at model.Time) {
	if s.System || s.Pseudo != model.NotPseudo {
		return
	}
	x.starts++
	if s.Source != runqueue.SourceLocked {
		return
	}
	x.rate.limit = lockedRate
	x.rate.add(at)
	d := s.Time.Sub(s.Since)
	x.single(d, at, s.G)
	x.party(t, "locked to its thread", s.Func, 0, model.NoProc, d)
}

func (x *lockedPingPong) share() float64 { return float64(x.cases.Count) / float64(max(x.starts, 1)) }

func (x *lockedPingPong) finish() { x.found = x.rate.Windows > 0 && x.share() >= lockedShare }

func (x *lockedPingPong) tell() Pathology {
	p := x.pathology("locked-thread-ping-pong")
	p.Evidence = []Evidence{
		{Name: "starts on locked threads in the worst 100 ms", Value: x.rate.peakRate(), Unit: "per second"},
		{Name: "starts on locked threads", Value: float64(p.Count), Unit: "count"},
		{Name: "share of all starts", Value: x.share(), Unit: "share"},
		{Name: "waits before them, in all", Value: float64(p.Total), Unit: "ns"},
		{Name: "longest", Value: float64(p.Worst), Unit: "ns"},
	}
	p.Meaning = "Goroutines that are locked to threads stop and start all the time, and each time a proc must change from one thread to another, which only the operating system can do."
	p.Advice = "Do not pass small pieces of work to and from a goroutine under runtime.LockOSThread: give it batches, or keep all of the exchange on it."
	return p
}

// Thresholds of lost affinity: stops of the world are rare, so some dozens of
// moved goroutines are many, and a few per stop happen anyway.
const (
	movedCount = 20
	movedShare = 0.5
	movedRate  = 10 // per second
)

// lostAffinity finds that goroutines preempted to stop the world go on elsewhere
// (fixed in part in Go 1.26, which puts them into runnext).
type lostAffinity struct {
	symptom
	stopped map[model.GoID]stopOn
	all     int64
}

// stopOn is where and when a goroutine was preempted.
type stopOn struct {
	proc model.ProcID
	at   model.Time
}

func (x *lostAffinity) step(t *model.Tables, s *model.Step, counts bool, at model.Time) {
	from, to := model.GoState(s.From), model.GoState(s.To)
	switch {
	case from == model.GoRunning && to == model.GoRunnable && s.Origin == model.OriginSTW && s.P != model.NoProc:
		if x.stopped == nil {
			x.stopped = map[model.GoID]stopOn{}
		}
		x.stopped[s.G] = stopOn{s.P, s.Time}
	case from == model.GoRunnable && len(x.stopped) > 0:
		was, ok := x.stopped[s.G]
		if !ok {
			return
		}
		delete(x.stopped, s.G)
		if !counts || to != model.GoRunning || s.Flags&model.StepSystem != 0 {
			return
		}
		x.all++
		if p := was.proc; p != s.P {
			d := s.Time.Sub(s.Since)
			x.single(d, at, s.G)
			x.party(t, "moved", s.Func, 0, p, d)
		}
	}
}

func (x *lostAffinity) share() float64 { return float64(x.cases.Count) / float64(max(x.all, 1)) }

func (x *lostAffinity) finish(span model.Duration) {
	x.found = x.cases.Count >= movedCount && x.share() >= movedShare && float64(x.cases.Count) >= movedRate*float64(span)/1e9
	x.stopped = nil
}

func (x *lostAffinity) tell() Pathology {
	p := x.pathology("affinity-lost-across-stw")
	p.Severity = result.Info
	p.Evidence = []Evidence{
		{Name: "goroutines that went on on another proc after a stop of the world", Value: float64(p.Count), Unit: "count"},
		{Name: "share of those it stopped", Value: x.share(), Unit: "share"},
		{Name: "waits until then, in all", Value: float64(p.Total), Unit: "ns"},
		{Name: "longest", Value: float64(p.Worst), Unit: "ns"},
	}
	p.Meaning = "Goroutines that were running when the world was stopped went on on other procs, with cold caches. Up to Go 1.25 they are put into the global queue, from which any proc takes them."
	p.Advice = "Stop the world less often: fewer collections, no runtime.ReadMemStats in a loop, no changes of GOMAXPROCS at run time. Go 1.26 keeps more of them where they were."
	return p
}
