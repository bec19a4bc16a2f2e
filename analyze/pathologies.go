package analyze

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/model"
)

// Pathology is a known way of scheduling going wrong, found in a trace, with the
// numbers that show it.
type Pathology struct {
	Name     string // stable and machine-readable, such as "netpoll-starvation"
	Severity Severity
	Grade    Grade
	// Count are the single cases, Total the time that they cost together, Worst
	// the longest of them and At where it ended, in trace number Trace. What is
	// counted and what time it costs the first Evidence names say.
	Count        int64
	Total, Worst model.Duration
	At           model.Time
	Trace        int
	// Evidence are the numbers, those that made the analysis speak first.
	Evidence []Evidence
	// Who took part, greatest total first, at most 10.
	Who []Party
	// Meaning is a sentence on what happens, Advice one or two on what to do.
	Meaning, Advice string
}

// Party is who took part in a pathology: the goroutines of one start function at
// one place in the code.
type Party struct {
	Role  string // such as "waited", "ran", "in a system call"
	Func  string // start function; "" if it does not matter
	Place string // function where it was, see [Bursts.Places]; "" if not known
	Stack []model.Frame
	Proc  model.ProcID // of its worst case; NoProc if none or not known
	Count int64
	Total model.Duration
}

// Pathologies looks for known ways of scheduling going wrong.
//
// It observes a [model.Machine] and a resolver of package runqueue. Step and
// what the resolver tells must come from one goroutine, the steps of a time
// before its starts; Handoff and ThreadStart may come from a second and Event
// from a third one, as they share nothing with the rest.
type Pathologies struct {
	traceClock
	// Span is the time analysed. Queues says whether the resolver was heard:
	// without, nothing is known of chains through runnext, of the global queue, of
	// locked threads and of waits behind mark workers.
	Span   model.Duration
	Queues bool
}

// NewPathologies returns a Pathologies for a trace with these tables.
func NewPathologies(t *model.Tables) *Pathologies { return &Pathologies{} }

// Finish looks at what was collected of a trace that was accounted from start to
// end. Call it after the last record.
func (p *Pathologies) Finish(start, end model.Time) { p.Span = end.Sub(start) }

// Found returns the pathologies, worst first.
func (p *Pathologies) Found() []Pathology { return nil }

// Merge adds what o found in another trace. What was found in either of them is
// found in both together, with the numbers of both. Both must be finished.
func (p *Pathologies) Merge(o *Pathologies) {
	p.Span += o.Span
	p.Queues = p.Queues || o.Queues
	p.joined(&o.traceClock)
}

// sortPathologies orders by severity, then by what they cost.
func sortPathologies(list []Pathology) {
	slices.SortFunc(list, func(a, b Pathology) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(b.Total, a.Total), cmp.Compare(a.Name, b.Name))
	})
}
