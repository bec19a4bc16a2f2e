package report

import (
	"fmt"

	"github.com/schedscope/schedscope/model"
)

// TracesTable is the name of the table that has a row for each trace. It is not
// one of [TableNames], which are about what is in a trace.
const TracesTable = "traces"

// TraceRow is a row of TracesTable.
type TraceRow struct {
	Trace
	Clock      string     // raw or reader
	Origin     model.Time // the trace's beginning
	MaxProcs   uint64     // greatest GOMAXPROCS; 0: not known
	Events     int64
	Goroutines int64
	// What an environment record tells, "" and 0 if there is none.
	Workload, Commit, OS, Arch, CPU string
	NumCPU                          int
}

var tracesColumns = []Column{
	{"format", "name", "go 1.26: of the trace"},
	{"size", "count", "bytes as stored; empty: unknown"},
	{"compression", "name", "gzip, zstd; empty: none"},
	{"clock", "name", "which one times are of: raw or reader, see --clock"},
	{"origin", "time", "when the trace begins; recorded is the wall clock then"},
	{"start", "time", "of what was read, see --from"},
	{"end", "time", "of what was read, see --to"},
	{"span", "ns", "from start to end"},
	{"generations", "count", "parts of the trace; 0 before Go 1.22"},
	{"gomaxprocs", "count", "the greatest; empty: unknown"},
	{"events", "count", "from start to end"},
	{"goroutines", "count", "goroutines that were there"},
	{"complete", "bool", "nothing of the trace was lost and no event contradicts those before"},
	{"lost", "count", "bytes that could not be read"},
	{"contradictions", "count", "events that contradict those before"},
	{"workload", "name", "of the environment record, as all that follow; empty: unknown"},
	{"commit", "name", "of the program; empty: unknown"},
	{"os", "name", "operating system; empty: unknown"},
	{"arch", "name", "architecture; empty: unknown"},
	{"cpu", "name", "model of the processor; empty: unknown"},
	{"cpus", "count", "processors; empty: unknown"},
}

// TracesColumns returns the columns of TracesTable.
func TracesColumns() []Column { return tracesColumns }

// WriteTraceRow gives the row to a sink for TracesColumns, which it does not close.
func WriteTraceRow(sink Sink, t *TraceRow) {
	r := newRows(sink)
	r.text(fmt.Sprintf("go 1.%d", t.Version))
	r.id(t.Bytes)
	r.text(t.Compression)
	r.text(t.Clock)
	r.time(t.Origin)
	start := t.Origin + t.Start
	r.interval(start, start+model.Time(t.Span))
	r.int(int64(t.Generations))
	r.uintIf(t.MaxProcs)
	r.int(t.Events)
	r.int(t.Goroutines)
	r.bool(t.Loss == nil && t.Inconsistent == 0)
	lost := int64(0)
	if t.Loss != nil {
		lost = t.Loss.Bytes
	}
	r.int(lost)
	r.int(t.Inconsistent)
	for _, s := range []string{t.Workload, t.Commit, t.OS, t.Arch, t.CPU} {
		r.text(s)
	}
	r.uintIf(uint64(t.NumCPU))
	r.end()
}

// uintIf adds a count that is not known if it is 0.
func (r *rows) uintIf(n uint64) {
	if n == 0 {
		r.none()
		return
	}
	r.uint(n)
}
