package analyze

import (
	"github.com/schedscope/schedscope/analyze/requests"
	"github.com/schedscope/schedscope/model"
)

// longestShown is how many goroutines with the greatest latency in all, longest bursts, tasks
// and regions a [Report] lists.
const longestShown = 20

// Options say how much detail a [Report] keeps. The zero value of a field means
// its default.
type Options struct {
	Worst int // worst waits shown in full; default 10. Verdicts rest on 10 in any case
	// Version is the minor Go version of the trace. The run queues, and with them
	// the causes of waits, are reconstructed by that version's rules.
	Version int
	// NoCauses leaves that out, and with it the pathologies, which need most of it.
	NoCauses bool
	// Requests are those to look for, all kinds if there are none. Slow, if not 0, takes all
	// that last as long for the slowest.
	Requests []requests.Spec
	Slow     model.Duration
	// Request, if not nil, is called with each request that [Requests] sees, when its end is known.
	Request func(*requests.Request)
	// Explained, if not nil, is called with each wait that [Causes] counts, and each
	// of Queues observes the run queues. [NewExplainer] does no more than that.
	Explained func(*ExplainedWait)
	Queues    []any
}
