package report

import (
	"fmt"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// Document is what a report is rendered from: one or several traces, read and
// analysed.
type Document struct {
	Traces   []Trace
	Skipped  []Skipped
	Report   *analyze.Report // of all traces together; nil if there is none
	Findings []result.Finding
	// NoReference: there are so many traces that no reference was simulated.
	NoReference bool
}

// Trace says what was read of one trace, and what not.
type Trace struct {
	Name        string // printable
	Version     int    // n of the format's Go 1.n
	Bytes       int64  // as stored; -1 if not known
	Compression string // "gzip", "zstd" or ""
	Generations int    // 0 before Go 1.22
	// Windowed: only a part was asked for, Span from Start on. Points in time
	// count from the beginning of the whole trace.
	Windowed bool
	Start    model.Time
	Span     model.Duration
	Loss     *Loss // nil if the trace is whole
	// EndedEarly says why a recording over HTTP ended before its time, if it did.
	EndedEarly string
	Capture    *Capture // nil if the trace does not say why a program captured it
	Taken      *Capture // of another trace, the last that the program captured while this one went on; nil: none
	// Inconsistent counts events that contradict those before them.
	Inconsistent       int64
	FirstInconsistency string
	Check              Check
	Reference          *Reference // nil if it was not asked for or cannot be told
	// Figures are set by [Document.Add], but for their trace number.
	Figures result.TraceFigures
}

// Reference is what became of the work of a part of a trace under the reference
// scheduler: how long goroutines of the program waited, in all.
type Reference struct {
	From     model.Time     // of the part, from the trace's beginning
	Length   model.Duration // of the part
	Whole    bool           // the part is all that was analysed
	Waits    int64          // measured
	Measured model.Duration
	Rules    model.Duration // under the rules of Go: the median of some simulations
	Low      model.Duration // the least of them
	High     model.Duration // and the greatest
	Poor     bool           // the simulations do not reproduce the measured waits
	Ideal    model.Duration // under a scheduler that costs nothing and lets nobody wait while a proc is idle
	// The waits themselves, RulesWaits of all simulations together.
	MeasuredWaits, RulesWaits, IdealWaits *dist.Dist
}

// Loss says what of a trace could not be read. All before it was analysed.
type Loss struct {
	Bytes, Size int64      // lost, in all
	Generation  uint64     // in which reading broke off; 0 if not known
	After       model.Time // up to where it was read, from the trace's beginning
	Patchy      bool       // but less far for some threads, whose times are wrong towards the end
	Cause       string
}

// String says in one line what is lost.
func (l *Loss) String() string {
	where := ""
	if l.Generation != 0 {
		where = fmt.Sprintf(" in generation %d", l.Generation)
	}
	s := fmt.Sprintf("lost the last %s of %s (%s)%s: %s; analysed the first %s",
		textui.Bytes(l.Bytes), textui.Bytes(l.Size), textui.Ratio(l.Bytes, l.Size), where, l.Cause, textui.Duration(l.After))
	if l.Patchy {
		s += ", towards whose end some threads are missing"
	}
	return s
}

// early says of a recording that ended early how much of it there is. That its
// last part is not complete is no damage but what ending early means.
func (t *Trace) early() string {
	s := "the recording ended early: " + t.EndedEarly
	if t.Loss != nil {
		s += fmt.Sprintf("; analysed the first %s, up to the last complete part", textui.Duration(t.Loss.After))
	}
	return s
}

// Skipped is an input that could not be read.
type Skipped struct{ Name, Cause string }

// Check is the result of checking conservation: that the times of each
// goroutine, proc and thread add up exactly to its lifetime.
type Check struct {
	Goroutines, Threads, Intervals int64
	Violation                      string
}

// Add adds a trace and its finished report.
func (d *Document) Add(t Trace, r *analyze.Report) {
	t.Figures = traceFigures(r)
	d.Traces = append(d.Traces, t)
	if d.Report == nil {
		d.Report = r
		return
	}
	d.Report.Merge(r)
}

// Title names what the report is about, in few words.
func (d *Document) Title() string {
	switch n := len(d.Traces); n {
	case 0:
		return ""
	case 1:
		return d.Traces[0].Name
	default:
		return fmt.Sprintf("%s and %d more", d.Traces[0].Name, n-1)
	}
}

// oldest returns the oldest format among the traces.
func (d *Document) oldest() int {
	oldest := d.Traces[0].Version
	for _, t := range d.Traces {
		oldest = min(oldest, t.Version)
	}
	return oldest
}

// read is what was read, in the form of a result.
func (d *Document) read() *result.Report {
	return &result.Report{Traces: result.Each(d.Traces, traceResult), Skipped: result.Each(d.Skipped, func(s *Skipped) result.Skipped { return result.Skipped(*s) })}
}
