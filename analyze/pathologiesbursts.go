package analyze

import (
	"github.com/schedscope/schedscope/model"
)

// Thresholds of bursts without preemption. Sysmon asks after 10 ms in the same
// schedtick and looks every 10 ms at worst, so 20 ms is what a burst may last by
// the rules; a shared machine adds some. Single ones are its doing more often
// than the program's.
const (
	overrunBurst = 3 * timeSlice
	dueBurst     = 2 * timeSlice
	overruns     = 3
	overrunLong  = 10 * timeSlice
)

// overrun finds goroutines that went on long after they should have been
// preempted.
type overrun struct {
	symptom
	list []overrunBurstAt
}

// overrunBurstAt is a burst that is judged at the end, when it is known whether
// the process stood still.
type overrunBurstAt struct {
	start, end model.Time
	at         model.Time
	fn         model.StringID
	stack      model.StackID
	p          model.ProcID
	g          model.GoID
}

// maxOverruns bounds the list; more bursts of 30 ms take a minute on many procs.
const maxOverruns = 1 << 14

func (x *overrun) burst(b overrunBurstAt) {
	if b.end.Sub(b.start) >= overrunBurst && len(x.list) < maxOverruns {
		x.list = append(x.list, b)
	}
}

// finish counts the bursts but for the time in which the process stood still.
func (x *overrun) finish(t *model.Tables, still []stint, span model.Duration) {
	for _, b := range x.list {
		length := b.end.Sub(b.start)
		for _, s := range still {
			length -= max(min(b.end, s.end).Sub(max(b.start, s.start)), 0)
		}
		if length < overrunBurst {
			continue
		}
		x.single(length-dueBurst, b.at, b.g)
		x.party(t, "ran", b.fn, b.stack, b.p, length)
	}
	x.list = nil
	x.judge("long-bursts-without-preemption", x.pattern(overruns, span) || x.Worst >= overrunLong,
		counted("bursts of 30 ms or more", x.Count),
		lasting("beyond 20 ms, in all", x.Total),
		lasting("longest, beyond 20 ms", x.Worst))
}
