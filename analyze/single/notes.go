package single

import (
	"time"

	"github.com/schedscope/schedscope/analyze/capture"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/strict"
	"github.com/schedscope/schedscope/model"
)

// notes are those of package capture in a trace. The last one is why the trace was
// written, unless it is of one that the program wrote meanwhile; those before it are of
// traces that it wrote earlier.
type notes struct {
	last  *capture.Note
	at    model.Time
	count int
	taken bool // this trace went on after that of the last note was complete
	slow  []slowRequest
	of    slowRequest // the request of the last note, if its goroutine is known
}

// slowRequest is a request that the program reported when it ended.
type slowRequest struct {
	text string
	g    model.GoID
	end  model.Time
}

const (
	// maxSlow is how many slow requests are kept until the note of one comes.
	maxSlow = 256
	// noteSlack is how long a trace may go on after the note at its end: the goroutine
	// that ends it may have to wait to run.
	noteSlack = model.Duration(time.Second)
)

// event takes a user message.
func (n *notes) event(t *model.Tables, ev *model.Event) {
	switch t.String(ev.Str) {
	case capture.SlowCategory:
		if len(n.slow) == maxSlow {
			n.slow = n.slow[1:]
		}
		n.slow = append(n.slow, slowRequest{t.String(ev.Str2), ev.G, ev.Time})
	case capture.TakenCategory:
		n.taken = n.taken || n.last != nil && t.String(ev.Str2) == n.last.Time
	case capture.Category:
		note, err := strict.Decode[capture.Note]([]byte(t.String(ev.Str2)), capture.NoteSchema)
		if err != nil {
			return // of a newer version, or somebody else's
		}
		n.last, n.at, n.taken = note, ev.Time, false
		n.count++
		n.of = n.request(note)
	}
}

// request returns the slow request that a note is of.
func (n *notes) request(note *capture.Note) slowRequest {
	if note.Reason != capture.ReasonSlow {
		return slowRequest{}
	}
	text := note.Cause.String()
	for i := len(n.slow) - 1; i >= 0; i-- {
		if n.slow[i].text == text {
			return n.slow[i]
		}
	}
	return slowRequest{}
}

// capture returns what the last note contains, nil if there is none, and whether the trace,
// which ends at end, is the one that it is of.
func (n *notes) capture(origin, end model.Time) (c *result.Capture, own bool) {
	if n.last == nil {
		return nil, false
	}
	c = &result.Capture{At: model.Time(n.at.Sub(origin)), Reason: string(n.last.Reason), Text: n.last.Cause.String(), Earlier: n.count - 1}
	return c, !n.taken && end.Sub(n.at) <= noteSlack
}
