package analyze

import (
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// assistShare of the running time of the program's goroutines. The collector
// paces itself so that its workers do all marking and assists none
// (runtime/mgcpacer.go); more is a program that allocates faster than that.
const assistShare = 0.05

// minAssist is the least time in assists, or in waits for them, worth a word.
const minAssist = result.NotableWait

// gcAssists finds goroutines that must mark for what they allocate.
type gcAssists struct {
	symptom                // assists
	user    model.Duration // running time of goroutines of the program else
	waits   symptom        // blocked until there is work to assist with, or credit; without parties
}

// ran takes an assist on a proc until now.
func (x *gcAssists) ran(t *model.Tables, p model.ProcID, was *procNow, d model.Duration, at model.Time) {
	x.single(d, at, was.g)
	x.party(t, "assisted", was.fn, 0, p, d)
}

// waited takes the end of a wait for assist credit.
func (x *gcAssists) waited(t *model.Tables, s *model.Step, d model.Duration, at model.Time) {
	x.waits.single(d, at, s.G)
	x.party(t, "waited for assist credit", s.Func, 0, model.NoProc, d)
}

func (x *gcAssists) finish() {
	lost, share := x.Total+x.waits.Total, ratio(x.Total, x.Total+x.user)
	x.judge("gc-assists", lost >= minAssist && ratio(lost, x.Total+x.user) >= assistShare,
		sharing("share of the running time of goroutines of the program in assists", share),
		lasting("assists, in all", x.Total),
		counted("stretches of assists", x.Count),
		counted("waits for assist credit", x.waits.Count),
		lasting("waits for assist credit, in all", x.waits.Total),
		lasting("longest of either", max(x.Worst, x.waits.Worst)))
	x.Total = lost
	if w := &x.waits; w.Worst > x.Worst {
		x.Worst, x.At, x.G = w.Worst, w.At, w.G
	}
	if share >= 4*assistShare {
		x.Severity = result.Serious
	}
}

// workerWait is from where on a wait behind a mark worker counts.
const workerWait = result.NotableWait

// behindWorker finds goroutines that queued on a proc that a dedicated mark
// worker occupied.
type behindWorker struct {
	symptom
	procs []workerLog
}

// workerLog holds the latest stretches of dedicated workers on a proc.
type workerLog struct {
	past [16]stint
	next int
}

// ran takes a stretch of a dedicated worker on a proc until now.
func (x *behindWorker) ran(p model.ProcID, since, now model.Time) {
	for int(p) >= len(x.procs) {
		x.procs = append(x.procs, workerLog{})
	}
	l := &x.procs[p]
	l.past[l.next] = stint{since, now}
	l.next = (l.next + 1) % len(l.past)
}

// start looks how long what starts now stood behind a worker.
func (x *behindWorker) start(t *model.Tables, s *runqueue.Start, at model.Time) {
	if s.System || s.OpenStart || s.LastP < 0 || int(s.LastP) >= len(x.procs) || s.Grade == runqueue.GradeContradicted || s.Time.Sub(s.Since) < workerWait {
		return
	}
	var behind model.Duration
	for _, w := range x.procs[s.LastP].past {
		behind += max(min(s.Time, w.end).Sub(max(s.Since, w.start)), 0)
	}
	if behind >= workerWait {
		x.single(behind, at, s.G)
		x.party(t, "waited", s.Func, 0, s.LastP, behind)
	}
}

// The collector takes a quarter of the procs while it marks, so single waits
// happen; a pattern is some of them.
func (x *behindWorker) finish(span model.Duration) {
	x.judge("behind-dedicated-gc-worker", x.pattern(5, span) || x.Worst >= result.SeriousWait,
		counted("waits of 1 ms or more behind a dedicated mark worker", x.Count),
		lasting("in all", x.Total),
		lasting("longest", x.Worst))
	x.procs = nil
}

// scanned finds goroutines that were stopped so that their stack could be
// scanned and then put into the runnext of the worker that scanned it, where
// thieves leave them alone at first (runtime/mgcmark.go: markroot; runtime/preempt.go:
// resumeG; runtime/proc.go: runqgrab).
type scanned struct {
	symptom
	scans int64
	woken map[model.GoID]scanWake
}

type scanWake struct {
	at   model.Time
	proc model.ProcID
}

// wake takes the wakeup of a goroutine whose stack was scanned.
func (x *scanned) wake(s *model.Step) {
	if x.woken == nil {
		x.woken = map[model.GoID]scanWake{}
	}
	x.woken[s.G] = scanWake{at: s.Time, proc: s.P}
}

// left takes that a goroutine ceased to be runnable.
func (x *scanned) left(t *model.Tables, s *model.Step, counts bool, at model.Time) {
	w, ok := x.woken[s.G]
	if !ok {
		return
	}
	delete(x.woken, s.G)
	if !counts || model.GoState(s.To) != model.GoRunning || s.Pseudo != model.NotPseudo {
		return
	}
	x.scans++
	if d := s.Time.Sub(w.at); d >= workerWait {
		x.single(d, at, s.G)
		x.party(t, "waited", s.Func, 0, w.proc, d)
	}
}

func (x *scanned) finish(span model.Duration) {
	x.judge("waiting-after-stack-scan", x.pattern(3, span) || x.Worst >= result.SeriousWait,
		counted("waits of 1 ms or more after a stack scan", x.Count),
		sharing("of all that were stopped for one", shareOf(x.Count, x.scans)),
		lasting("in all", x.Total),
		lasting("longest", x.Worst))
	x.woken = nil
}
