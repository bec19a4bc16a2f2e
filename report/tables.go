package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/schedscope/schedscope/model"
)

// Table writes one kind of the intervals of a trace, a row each, as the Machine
// establishes them: nothing is kept, so the trace may be of any length. Give
// [Table.Observer] to [model.Machine.Observe]; call Close after the end.
//
// Times are nanoseconds from the beginning of the trace, lengths nanoseconds,
// and what is not known is empty (null in JSON). In CSV a name that a spreadsheet
// would take for a formula begins with an apostrophe. Rows are in the order in which
// the intervals end; those that end with the trace are last, by id.
type Table struct {
	rows *rows
	def  *tableDef
}

// tableDef is an entry of the catalogue of tables.
type tableDef struct {
	name, doc string
	columns   string // separated by commas
	observer  func(*rows) any
}

// TableNames returns the names of all tables.
func TableNames() []string {
	names := make([]string, len(tableDefs))
	for i, d := range tableDefs {
		names[i] = d.name
	}
	return names
}

// TableDoc returns what a row of the table is and its columns, separated by
// commas, both empty if there is no such table.
func TableDoc(name string) (doc, columns string) {
	for _, d := range tableDefs {
		if d.name == name {
			return d.doc, d.columns
		}
	}
	return "", ""
}

// NewTable returns the table of this name (see [TableNames]), which writes to w.
func NewTable(name string, format RowFormat, w io.Writer) (*Table, error) {
	for i := range tableDefs {
		if d := &tableDefs[i]; d.name == name {
			return &Table{rows: newRows(w, format, strings.Split(d.columns, ",")), def: d}, nil
		}
	}
	return nil, fmt.Errorf("unknown table %q (want %s)", name, strings.Join(TableNames(), ", "))
}

// Observer returns what is to be given to the Machine: t are the tables of its
// reader, origin is the time that becomes 0.
func (t *Table) Observer(tables *model.Tables, origin model.Time) any {
	t.rows.tables, t.rows.origin = tables, origin
	return t.def.observer(t.rows)
}

// Rows returns the number of rows written so far.
func (t *Table) Rows() int64 { return t.rows.count }

// Close writes what is still buffered. It returns the first error of writing.
func (t *Table) Close() error { return t.rows.flush() }

// tableDefs is the catalogue, in the order in which help lists it.
var tableDefs = []tableDef{
	{"goroutines", "a goroutine with its totals per state, which add up to total unless its state was undetermined at first",
		"goroutine,function,created,started,ended,total,running,runnable,waiting,syscall,syscall_blocked",
		func(r *rows) any { return goroutineRows{r} }},
	{"waits", "a goroutine's wait for a proc: runnable until running",
		"goroutine,function,start,end,duration,origin,waker,waker_function,proc,thread,complete,system",
		func(r *rows) any { return waitRows{r} }},
	{"states", "an interval in which a goroutine was in one state, and where it stopped before (running: after) it",
		"goroutine,function,state,reason,start,end,duration,proc,thread,at_function,open_start,open_end,system",
		func(r *rows) any { return stateRows{r} }},
	{"procs", "an interval in which a proc was in one state with one goroutine and one thread",
		"proc,state,work,goroutine,function,thread,start,end,duration,open_start,open_end",
		func(r *rows) any { return procRows{r} }},
	{"threads", "an interval in which a thread was in one state",
		"thread,state,proc,goroutine,start,end,duration,open_start,open_end",
		func(r *rows) any { return threadRows{r} }},
	{"syscalls", "a system call whose end the trace shows; blocked is the part without a proc",
		"goroutine,function,thread,call,start,end,duration,blocked,exit,old_proc,new_proc",
		func(r *rows) any { return syscallRows{r} }},
	{"handoffs", "a proc's way from a thread in a system call to its next thread",
		"proc,cause,from_thread,from_goroutine,call,in_syscall,lost,got,gap,to_thread",
		func(r *rows) any { return handoffRows{r} }},
	{"netpoll", "a goroutine made runnable by the network poller",
		"goroutine,function,time,poller,direct,thread,proc,started,waited",
		func(r *rows) any { return netpollRows{r} }},
	{"stw", "a stop-the-world; effective_end is when the world was seen running again, at most end",
		"reason,goroutine,start,stopped,effective_end,end,open_start,open_end",
		func(r *rows) any { return stwRows{r} }},
	{"ranges", "a range of the runtime: GC phases, mark assist, sweep, stop-the-world",
		"name,goroutine,proc,start,end,duration,open_start,open_end",
		func(r *rows) any { return rangeRows{r} }},
	{"tasks", "a user task",
		"task,parent,name,goroutine,start,end,duration,open_start,open_end",
		func(r *rows) any { return taskRows{r} }},
	{"regions", "a user region with what its goroutine did inside",
		"task,name,goroutine,function,depth,start,end,duration,running,runnable,waiting,syscall,syscall_blocked,open_start,open_end",
		func(r *rows) any { return regionRows{r} }},
	{"counts", "a longest interval in which no number of procs or goroutines changed",
		"start,end,duration,procs,idle,searching,syscall,stopped,running,gc,runnable,overloaded",
		func(r *rows) any { return countRows{r} }},
	{"metrics", "a new value of a runtime metric",
		"time,name,value",
		func(r *rows) any { return metricRows{r} }},
}
