package result

import (
	"fmt"

	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// Capture is why a program kept a trace of itself, as it noted in the trace.
type Capture struct {
	At     model.Time `json:"at_ns"`  // When it noted that.
	Reason string     `json:"reason"` // latency, slow, signal, call or http.
	Text   string     `json:"text"`   // In words of the program.
	// Number of traces taken before, of what this one shows; left out if none.
	Earlier int `json:"earlier,omitempty"`
	// What the goroutine of a slow request did; left out if that is not the reason or not
	// known.
	Request *Request `json:"request,omitempty"`
}

// Request is what the goroutine of a slow request did from its beginning to its end.
type Request struct {
	Goroutine model.GoID     `json:"goroutine"`   // Its number.
	From      model.Time     `json:"from_ns"`     // Beginning of the request, or of the trace if that is later.
	To        model.Time     `json:"to_ns"`       // End of the request.
	Running   model.Duration `json:"running_ns"`  // How long it ran.
	Runnable  model.Duration `json:"runnable_ns"` // How long it waited to run.
	Syscall   model.Duration `json:"syscall_ns"`  // How long it was in system calls.
	Waiting   model.Duration `json:"waiting_ns"`  // How long it waited for something.
	// For what it waited longest, as the runtime names it; left out if it did not wait.
	Most     string         `json:"most,omitempty"`
	MostTime model.Duration `json:"most_ns,omitempty"` // How long for that; left out if it did not wait.
}

// String says in words what the goroutine did, cleaned.
func (r *Request) String() string {
	length := r.To.Sub(r.From)
	share := func(d model.Duration) string { return textui.Percent(float64(d) / float64(max(length, 1))) }
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
func (c *Capture) String() string {
	s := fmt.Sprintf("%s, at %s", textui.Clean(c.Text), textui.Instant(c.At))
	if c.Earlier > 0 {
		s += fmt.Sprintf(" (%s before it)", textui.Plural(c.Earlier, "other trace"))
	}
	return s
}
