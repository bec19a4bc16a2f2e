package main

import (
	"github.com/schedscope/schedscope/analyze/capture"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/report"
)

// notes are those of package capture in a trace. The last one is why the trace was
// written; those before it are of traces that the program wrote earlier.
type notes struct {
	last  *capture.Note
	at    model.Time
	count int
}

// event takes a user message.
func (n *notes) event(t *model.Tables, ev *model.Event) {
	if t.String(ev.Str) != capture.Category {
		return
	}
	note, err := capture.DecodeNote(t.String(ev.Str2))
	if err != nil {
		return // of a newer version, or somebody else's
	}
	n.last, n.at = note, ev.Time
	n.count++
}

// capture returns why the trace was written, nil if it does not tell.
func (n *notes) capture(origin model.Time) *report.Capture {
	if n.last == nil {
		return nil
	}
	return &report.Capture{At: model.Time(n.at.Sub(origin)), Reason: string(n.last.Reason), Text: n.last.Cause.String(), Earlier: n.count - 1}
}
