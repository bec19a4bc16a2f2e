package report

import (
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// Capture is why a program kept a trace of itself, as it noted in the trace.
type Capture struct {
	At     model.Time // of the note, from the trace's beginning
	Reason string     // "slow", as package capture names it
	Text   string     // in words; a program's, which may hold anything
	// Earlier counts notes before this one: other traces were taken of what this one shows.
	Earlier int
	Request *Request // the slow request; nil if its goroutine is not known
}

// Request is what the goroutine of a slow request did from its beginning to its end.
type Request struct {
	G        model.GoID
	From, To model.Time     // from the trace's beginning
	Running  model.Duration // and so on: in this state
	Runnable model.Duration
	Syscall  model.Duration
	Waiting  model.Duration
	Most     string // the reason for which it waited longest, as the runtime names it
	MostTime model.Duration
}

// NewCapture returns c in the form of the JSON, nil for nil.
func NewCapture(c *Capture) *result.Capture {
	if c == nil {
		return nil
	}
	v := &result.Capture{At: c.At, Reason: c.Reason, Text: c.Text, Earlier: c.Earlier}
	if r := c.Request; r != nil {
		v.Request = &result.Request{Goroutine: r.G, From: r.From, To: r.To, Running: r.Running, Runnable: r.Runnable,
			Syscall: r.Syscall, Waiting: r.Waiting, Most: r.Most, MostTime: r.MostTime}
	}
	return v
}

// captureNotes say of which traces the numbers are not those of the program, and which show
// that another one was captured.
func (d *Document) captureNotes(add addNote) {
	for i := range d.Traces {
		t := &d.Traces[i]
		if t.Taken != nil {
			add("%s: while it was recorded, the program captured a trace of its own, because %s.", t.Name, NewCapture(t.Taken))
		}
		if t.Capture != nil {
			add("%s was captured because %s. Its numbers describe what led to that, not the program in general.", t.Name, NewCapture(t.Capture))
			if r := NewCapture(t.Capture).Request; r != nil {
				add("The slow request of %s: %s.", t.Name, r)
			}
		}
	}
}
