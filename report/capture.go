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
}

// V1Capture is a Capture in JSON.
type V1Capture struct {
	At      int64  `json:"at_ns"`
	Reason  string `json:"reason"` // latency, slow, signal, call, http
	Text    string `json:"text"`
	Earlier int    `json:"earlier,omitempty"` // traces taken before, of what this one shows
}

// NewV1Capture returns c in the form of the JSON, nil for nil.
func NewV1Capture(c *Capture) *V1Capture {
	if c == nil {
		return nil
	}
	return &V1Capture{int64(c.At), c.Reason, c.Text, c.Earlier}
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
		t.wrap("  ", "captured: %s", NewV1Capture(t.doc.Traces[0].Capture))
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
		}
	}
}
