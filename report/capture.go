package report

import (
	"fmt"

	"github.com/schedscope/schedscope/internal/textui"
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

// V1Capture is a Capture in JSON.
type V1Capture struct {
	At      int64  `json:"at_ns"`
	Reason  string `json:"reason"` // latency, slow, signal, call, http
	Text    string `json:"text"`
	Earlier int    `json:"earlier,omitempty"` // traces taken before, of what this one shows
	// Request is left out if the reason is not a slow one, or its goroutine is not known.
	Request *V1Request `json:"request,omitempty"`
}

// V1Request is a Request in JSON.
type V1Request struct {
	Goroutine int64  `json:"goroutine"`
	From      int64  `json:"from_ns"`
	To        int64  `json:"to_ns"`
	Running   int64  `json:"running_ns"`
	Runnable  int64  `json:"runnable_ns"`
	Syscall   int64  `json:"syscall_ns"`
	Waiting   int64  `json:"waiting_ns"`
	Most      string `json:"most,omitempty"` // why it waited longest
	MostTime  int64  `json:"most_ns,omitempty"`
}

// NewV1Capture returns c in the form of the JSON, nil for nil.
func NewV1Capture(c *Capture) *V1Capture {
	if c == nil {
		return nil
	}
	v := &V1Capture{At: int64(c.At), Reason: c.Reason, Text: c.Text, Earlier: c.Earlier}
	if r := c.Request; r != nil {
		v.Request = &V1Request{int64(r.G), int64(r.From), int64(r.To), int64(r.Running), int64(r.Runnable),
			int64(r.Syscall), int64(r.Waiting), r.Most, int64(r.MostTime)}
	}
	return v
}

// String says in words what the goroutine did, cleaned.
func (r *V1Request) String() string {
	length := r.To - r.From
	share := func(d int64) string { return textui.Percent(float64(d) / float64(max(length, 1))) }
	s := fmt.Sprintf("G%d, %s from %s to %s: %s waiting", r.Goroutine, textui.Duration(length), textui.Instant(r.From), textui.Instant(r.To), share(r.Waiting))
	if r.MostTime > 0 {
		s += fmt.Sprintf(" (most of it: %s)", textui.Clean(r.Most))
	}
	s += fmt.Sprintf(", %s in system calls, %s runnable, %s running", share(r.Syscall), share(r.Runnable), share(r.Running))
	if rest := length - r.Waiting - r.Syscall - r.Runnable - r.Running; rest > 0 {
		s += fmt.Sprintf(", %s not known", share(rest))
	}
	return s
}

// String says in words why and when, cleaned.
func (c *V1Capture) String() string {
	s := fmt.Sprintf("%s, at %s", textui.Clean(c.Text), textui.Instant(c.At))
	if c.Earlier > 0 {
		s += fmt.Sprintf(" (%s before it)", textui.Plural(c.Earlier, "other trace"))
	}
	return s
}

// captured says why the only trace was kept.
func (t *text) captured() {
	if len(t.doc.Traces) == 1 && t.doc.Traces[0].Capture != nil {
		c := NewV1Capture(t.doc.Traces[0].Capture)
		t.wrap("  ", "captured: %s", c)
		if c.Request != nil {
			t.wrap("  ", "the request: %s", c.Request)
		}
	}
}

// captureNotes say of which traces the numbers are not those of the program, and which show
// that another one was captured.
func (d *Document) captureNotes(add addNote) {
	for i := range d.Traces {
		t := &d.Traces[i]
		if t.Taken != nil {
			add("%s: while it was recorded, the program captured a trace of its own, because %s.", t.Name, NewV1Capture(t.Taken))
		}
		if t.Capture != nil {
			add("%s was captured because %s. Its numbers describe what led to that, not the program in general.", t.Name, NewV1Capture(t.Capture))
			if r := NewV1Capture(t.Capture).Request; r != nil {
				add("The slow request of %s: %s.", t.Name, r)
			}
		}
	}
}
