package report

import (
	"fmt"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// TracesTable is the name of the table that has a row for each trace. It is not
// one of [TableNames], which are about what is in a trace.
const TracesTable = "traces"

// TraceRow is a row of TracesTable.
type TraceRow struct {
	result.Trace
	Clock      string     // raw or reader
	Origin     model.Time // the trace's beginning
	MaxProcs   uint64     // greatest GOMAXPROCS; 0: not known
	Events     int64
	Goroutines int64
	// What an environment record says, "" and 0 if there is none.
	Workload, Commit, OS, Arch, CPU string
	NumCPU                          int
}

var traceCells = []cells[*TraceRow]{
	col("format", "name", func(r *rows, t *TraceRow) { r.text(fmt.Sprintf("go 1.%d", t.Version())) }, "go 1.26: of the trace"),
	col("size", "count", func(r *rows, t *TraceRow) { id(r, t.Bytes) }, "bytes as stored; empty: unknown"),
	col("compression", "name", func(r *rows, t *TraceRow) { r.text(t.Compression) }, "gzip, zstd; empty: none"),
	col("clock", "name", func(r *rows, t *TraceRow) { r.text(t.Clock) }, "which one times are of: raw or reader, see --clock"),
	col("origin", "time", func(r *rows, t *TraceRow) { num(r, t.Origin) }, "when the trace begins; recorded is the wall clock then"),
	col("start", "time", func(r *rows, t *TraceRow) { num(r, t.Origin+t.Start) }, "of what was read, see --from"),
	col("end", "time", func(r *rows, t *TraceRow) { num(r, t.Origin+t.Start+model.Time(t.Span)) }, "of what was read, see --to"),
	col("span", "ns", func(r *rows, t *TraceRow) { num(r, t.Span) }, "from start to end"),
	col("generations", "count", func(r *rows, t *TraceRow) { num(r, t.Generations) }, "parts of the trace; 0 before Go 1.22"),
	col("gomaxprocs", "count", func(r *rows, t *TraceRow) { numIf(r, t.MaxProcs > 0, t.MaxProcs) }, "the greatest; empty: unknown"),
	col("events", "count", func(r *rows, t *TraceRow) { num(r, t.Events) }, "from start to end"),
	col("goroutines", "count", func(r *rows, t *TraceRow) { num(r, t.Goroutines) }, "goroutines that were there"),
	col("complete", "bool", func(r *rows, t *TraceRow) { r.bool(t.Loss == nil && t.Inconsistent == 0) }, "nothing of the trace was lost and no event contradicts those before"),
	col("lost", "count", func(r *rows, t *TraceRow) { num(r, t.lost()) }, "bytes that could not be read"),
	col("contradictions", "count", func(r *rows, t *TraceRow) { num(r, t.Inconsistent) }, "events that contradict those before"),
	col("workload", "name", func(r *rows, t *TraceRow) { r.text(t.Workload) }, "of the environment record, as all that follow; empty: unknown"),
	col("commit", "name", func(r *rows, t *TraceRow) { r.text(t.Commit) }, "of the program; empty: unknown"),
	col("os", "name", func(r *rows, t *TraceRow) { r.text(t.OS) }, "operating system; empty: unknown"),
	col("arch", "name", func(r *rows, t *TraceRow) { r.text(t.Arch) }, "architecture; empty: unknown"),
	col("cpu", "name", func(r *rows, t *TraceRow) { r.text(t.CPU) }, "model of the processor; empty: unknown"),
	col("cpus", "count", func(r *rows, t *TraceRow) { numIf(r, t.NumCPU > 0, t.NumCPU) }, "processors; empty: unknown"),
}

func (t *TraceRow) lost() int64 {
	if t.Loss == nil {
		return 0
	}
	return t.Loss.Bytes
}

// TracesColumns returns the columns of TracesTable.
func TracesColumns() []Column { return columnsOf(traceCells) }

// WriteTraceRow writes the row to a sink for TracesColumns. It does not close the sink.
func WriteTraceRow(sink Sink, t *TraceRow) {
	r := newRows(sink)
	writer(r, nil, traceCells)(t)
	r.flush()
}
