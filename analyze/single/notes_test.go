package single

import (
	"testing"

	"github.com/schedscope/schedscope/analyze/capture"
	"github.com/schedscope/schedscope/model"
)

// TestNoteAtEnd checks which notes are of the trace that they are in.
func TestNoteAtEnd(t *testing.T) {
	note := &capture.Note{Cause: capture.Cause{Reason: capture.ReasonSignal, What: "SIGUSR2"}}
	for _, tt := range []struct {
		taken bool
		end   model.Time
		own   bool
	}{{false, 1000, true}, {true, 1000, false}, {false, 1000 + 1e9, true}, {false, 1001 + 1e9, false}} {
		n := notes{last: note, at: 1000, count: 2, taken: tt.taken}
		c, own := n.capture(400, tt.end)
		if own != tt.own || c.At != 600 || c.Earlier != 1 || c.Reason != "signal" || c.Text != "the process got SIGUSR2" {
			t.Errorf("%+v: %+v, %t", tt, c, own)
		}
	}
	if c, own := (&notes{}).capture(0, 0); c != nil || own {
		t.Errorf("without a note: %+v, %t", c, own)
	}
}
