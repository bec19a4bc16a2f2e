package result

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// Capture is the reason why a program kept a trace of itself, as recorded in the trace.
type Capture struct {
	At     model.Time `json:"at_ns"`  // When it noted that.
	Reason string     `json:"reason"` // latency, slow, signal, call or http.
	Text   string     `json:"text"`   // In words of the program.
	// Number of traces taken before, of what this one shows; left out if none.
	Earlier int `json:"earlier,omitempty"`
	// The slow request with what it did; left out if that is not the reason or not
	// known.
	Request *Request `json:"request,omitempty"`
}

// Request is a slow request with its critical path.
type Request struct {
	Goroutine model.GoID `json:"goroutine"` // Its number.
	From      model.Time `json:"from_ns"`   // Beginning of the request, or of the trace if that is later.
	To        model.Time `json:"to_ns"`     // End of the request.
	// Its critical path, in order, without gaps; at most 1000.
	Parts []RequestPart `json:"parts,omitempty"`
}

// String returns where most of the request's time went, safe for a terminal.
func (r *Request) String() string {
	rest := r.To.Sub(r.From)
	s := fmt.Sprintf("G%d, %s from %s to %s", r.Goroutine, textui.Duration(rest), textui.Instant(r.From), textui.Instant(r.To))
	var rows []RequestRow
	for _, p := range r.Parts {
		key := RequestRow{Kind: p.Kind, Function: p.Function, File: p.File, Wait: p.Wait, Waiter: p.Waiter, Inferred: p.Inferred}
		j := slices.IndexFunc(rows, func(x RequestRow) bool { x.Slow = 0; return x == key })
		if j < 0 {
			j = len(rows)
			rows = append(rows, key)
		}
		rows[j].Slow += p.Length
	}
	slices.SortStableFunc(rows, func(a, b RequestRow) int { return cmp.Compare(b.Slow, a.Slow) })
	const shown = 3
	for i := range rows[:min(len(rows), shown)] {
		s += textui.Either(i == 0, ": ", "; ") + textui.Duration(rows[i].Slow) + " " + rows[i].String() + textui.If(rows[i].Inferred, " (inferred)")
		rest -= rows[i].Slow
	}
	return s + textui.If(len(rows) > 0 && rest > 0, "; "+textui.Duration(rest)+" else")
}

// String returns why and when the trace was captured, safe for a terminal.
func (c *Capture) String() string {
	return fmt.Sprintf("%s, at %s", textui.Clean(c.Text), textui.Instant(c.At)) + textui.If(c.Earlier > 0, fmt.Sprintf(" (%s before it)", textui.Plural(c.Earlier, "other trace")))
}
