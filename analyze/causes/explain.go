package causes

import (
	"math/bits"

	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// ExplainedWait is a wait of [Analysis] with its breakdown by cause.
type ExplainedWait struct {
	Span  model.GoSpan
	Cells []Cell // greatest first, equal ones in the order of causes; they add up to Span.Duration
	// Where the goroutine was taken from to run, and how good the evidence is;
	// SourceUnknown and GradeContradicted if its start was not explained.
	Source runqueue.Source
	Grade  runqueue.Grade
	// LastP is the proc that it waited for: in whose queue it last stood, else the
	// one that ran it; NoProc if its start was not explained. FromP is the victim if
	// it was stolen, else NoProc.
	LastP, FromP model.ProcID
}

// Explainer reports each wait with its breakdown by cause: one by one what [Analysis]
// adds up. It observes a Machine, by [Explainer.ObserveSteps] from the first event
// on and by [Explainer.Observe] from where waits count; every event goes to
// [Explainer.Event].
type Explainer struct {
	// Reason, if set before Observe, says why the goroutine of a wait had stopped, which becomes the
	// Reason of Span. It is called with the wait on the Machine's goroutine.
	Reason func(*model.GoSpan) model.StringID

	f *Feed
}

// NewExplainer returns an Explainer for a trace of Go 1.version with these
// tables. It calls onWait with each wait, in the order in which they end, on a
// goroutine of its own, one at a time, the last before Finish returns. The
// argument is valid during the call only. Each of queues may implement any of the
// interfaces of package [runqueue] and is called on the same goroutine. The error is a
// [*runqueue.OldFormatError].
func NewExplainer(t *model.Tables, version int, onWait func(*ExplainedWait), queues ...any) (*Explainer, error) {
	f, err := NewFeed(t, version, New(t), 1)
	if err != nil {
		return nil, err
	}
	f.Explained, f.causes.only = onWait, true
	for _, o := range queues {
		f.Observe(o)
	}
	return &Explainer{f: f}, nil
}

// ObserveSteps subscribes the Explainer to the steps of m. Observe calls it unless the caller
// already has.
func (x *Explainer) ObserveSteps(m *model.Machine) { x.f.Follow(m) }

// Observe registers the Explainer with m: waits that end from now on count.
func (x *Explainer) Observe(m *model.Machine) {
	x.ObserveSteps(m)
	x.f.Count()
	m.Observe(explainerWaits{x})
}

// explainerWaits takes the intervals apart from the steps, which are observed
// for longer.
type explainerWaits struct{ x *Explainer }

// GoSpan implements [model.GoSpanObserver].
func (w explainerWaits) GoSpan(s *model.GoSpan) {
	if !s.Waits() {
		return
	}
	w.x.f.ended(s)
	if spans := w.x.f.filling.spans; w.x.Reason != nil {
		spans[len(spans)-1].Reason = w.x.Reason(s)
	}
}

// Causes returns what the waits add up to.
func (x *Explainer) Causes() *Analysis { return x.f.causes.c }

// Event records an event.
func (x *Explainer) Event(ev *model.Event) { x.f.Event(ev) }

// Pause waits until everything observed so far is processed and onWait has returned.
func (x *Explainer) Pause() { x.f.Pause() }

// Finish reports the remaining waits. Call it once, after [model.Machine.Finish].
func (x *Explainer) Finish() { x.f.Finish() }

// explained reports a wait that is settled.
func (a *attribution) explained(w *wait) {
	x := &a.explaining
	x.Cells = x.Cells[:0]
	for set := a.cut.causes; set != 0; set &= set - 1 {
		if c := Cause(bits.TrailingZeros32(set)); a.cut.cells[c] != 0 {
			x.Cells = inOrder(x.Cells, Cell{c, a.cut.cells[c]})
		}
	}
	if a.only {
		x.Span = *a.spans.front()
		a.spans.pop()
	} else {
		x.Span.G, x.Span.Func, x.Span.Origin, x.Span.Start, x.Span.End = w.g, w.fn, w.origin, w.start, w.end
	}
	x.Source, x.Grade, x.LastP, x.FromP = runqueue.SourceUnknown, runqueue.GradeContradicted, model.NoProc, model.NoProc
	if w.known {
		x.Source, x.Grade, x.LastP, x.FromP = w.source, w.grade, w.proc, w.from
	}
	a.feed.Explained(x)
}
