package analyze

import (
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
	x.rate.add(at, lockedRate)
	d := s.Time.Sub(s.Since)
	x.single(d, at, s.G)
	x.party(t, "locked to its thread", s.Func, 0, model.NoProc, d)
}

func (x *lockedPingPong) finish() {
	share := shareOf(x.Count, x.starts)
	x.judge("locked-thread-ping-pong", x.rate.windows > 0 && share >= lockedShare,
		perSecond("starts on locked threads in the worst 100 ms", x.rate.peakRate()),
		counted("starts on locked threads", x.Count),
		sharing("share of all starts", share),
		lasting("waits before them, in all", x.Total),
		lasting("longest", x.Worst))
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

// stop takes the preemption of a goroutine on a proc to stop the world.
func (x *lostAffinity) stop(s *model.Step) {
	if x.stopped == nil {
		x.stopped = map[model.GoID]stopOn{}
	}
	x.stopped[s.G] = stopOn{s.P, s.Time}
}

// left takes that a goroutine ceased to be runnable.
func (x *lostAffinity) left(t *model.Tables, s *model.Step, counts bool, at model.Time) {
	was, ok := x.stopped[s.G]
	if !ok {
		return
	}
	delete(x.stopped, s.G)
	if !counts || model.GoState(s.To) != model.GoRunning {
		return
	}
	x.all++
	if p := was.proc; p != s.P {
		d := s.Time.Sub(s.Since)
		x.single(d, at, s.G)
		x.party(t, "moved", s.Func, 0, p, d)
	}
}

func (x *lostAffinity) finish(span model.Duration) {
	share := shareOf(x.Count, x.all)
	x.judge("affinity-lost-across-stw", x.Count >= movedCount && share >= movedShare && float64(x.Count) >= movedRate*float64(span)/1e9,
		counted("goroutines that went on on another proc after a stop of the world", x.Count),
		sharing("share of those it stopped", share),
		lasting("waits until then, in all", x.Total),
		lasting("longest", x.Worst))
	x.stopped = nil
}
