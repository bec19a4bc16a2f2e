package perfetto

import (
	"github.com/schedscope/schedscope/analyze/causes"
	"github.com/schedscope/schedscope/model"
)

// causeFeed is the feed with what each wait was lost to, too. The Explainer
// works in parallel; it is waited for from time to time, to write what it found.
type causeFeed struct {
	teller
	explainer *causes.Explainer
	events    int
	write     func(*[]byte)
	written   slice // being written
}

// pauseEvents is after how many events the Explainer is waited for.
const pauseEvents = 1 << 16

func newCauseFeed(t *model.Tables, version int, write func(*[]byte)) (*causeFeed, error) {
	f := &causeFeed{write: write}
	var err error
	f.explainer, err = causes.NewExplainer(t, version, f.explained, &f.teller)
	return f, err
}

func (f *causeFeed) steps(m *model.Machine) { f.explainer.ObserveSteps(m) }

func (f *causeFeed) start(m *model.Machine, enc *encoder, from model.Time) {
	f.explainer.Pause()
	f.begin(enc, from)
	f.explainer.Observe(m)
}

func (f *causeFeed) event(ev *model.Event) {
	f.explainer.Event(ev)
	if f.events++; f.events%pauseEvents == 0 {
		f.explainer.Pause()
		f.flush(f.write, flushSize)
	}
}

func (f *causeFeed) finish(end model.Time) {
	f.explainer.Finish()
	f.end(end)
	f.flush(f.write, 0)
}

// explained writes a wait: a slice that is named after its greatest cause.
func (f *causeFeed) explained(x *causes.ExplainedWait) {
	if f.enc == nil || len(x.Cells) == 0 {
		return
	}
	s := &f.written
	*s = slice{track: track{trackGoroutine, int64(x.Span.G)}, name: causeLabel(x.Cells[0].Cause),
		start: x.Span.Start, end: x.Span.End, args: s.args[:0]}
	for _, c := range x.Cells {
		s.args = append(s.args, arg{key: causeLabel(c.Cause), number: int64(c.Total)})
	}
	s.args = append(s.args, arg{key: keyOrigin, text: x.Span.Origin.String()}, arg{key: keySource, text: x.Source.String()},
		arg{key: keyGrade, text: x.Grade.String()})
	f.enc.slice(s)
}
