package report

import (
	"strings"

	"github.com/schedscope/schedscope/analyze/requests"
	"github.com/schedscope/schedscope/model"
)

// requestRow is a row of the tables requests and path: a request by its number, and a part of
// its path.
type requestRow struct {
	n int64
	*requests.Request
	part *requests.Part
}

// tracker describes a table of requests, or of their parts.
func tracker(name, doc string, parts bool, list ...cells[*requestRow]) tableDef {
	return tableDef{name: name, doc: doc, columns: columnsOf(list), tracked: func(r *rows) func(*requests.Request) {
		write, n := writer(r, nil, list), int64(0)
		return func(q *requests.Request) {
			n++
			if !parts {
				write(&requestRow{n, q, nil})
				return
			}
			for p := range q.Parts() {
				write(&requestRow{n, q, p})
			}
		}
	}}
}

var requestTables = []tableDef{
	tracker("requests", "a request, in the order in which ends become known; its own_ columns add up to duration, and so do its path_ columns", false,
		col("request", "count", func(r *rows, q *requestRow) { num(r, q.n) }, "number, from 1, as in path"),
		intervalCells(func(q *requestRow) (start, end model.Time) { return q.Start, q.End }),
		col("goroutine", "id", func(r *rows, q *requestRow) { id(r, q.G) }, "where it ends"),
		col("from_goroutine", "id", func(r *rows, q *requestRow) { id(r, q.From) }, "where it began: another one only of tasks"),
		col("kind", "name", func(r *rows, q *requestRow) { r.text(q.Kind) }, "http, grpc, rpc, tcp, message, task, region, goroutine, func"),
		col("name", "name", func(r *rows, q *requestRow) { r.text(q.Name) }, "the group: function of the handler, route, name of the task or region; empty: unknown"),
		col("complete", "bool", func(r *rows, q *requestRow) { r.bool(q.Complete) }, "the trace shows both ends"),
		col("labels", "name", func(r *rows, q *requestRow) {
			if r.noLabels {
				r.text("")
			} else {
				r.text(strings.Join(q.Labels(), "; "))
			}
		}, "messages of trace.Log, tasks and regions of the request: the first 8 that differ, joined by semicolons; … stands for others, and for what is beyond 64 bytes of one"),
		timesCells("own_", "of its goroutine: ", func(q *requestRow) *requests.Times { return &q.Own }),
		timesCells("path_", "of its critical path: ", func(q *requestRow) *requests.Times { return &q.Path }),
		offsetCell("start", func(q *requestRow) model.Time { return q.Start }),
	),
	tracker("path", "a part of a request's critical path; those of a request follow each other without gaps", true,
		col("request", "count", func(r *rows, q *requestRow) { num(r, q.n) }, "number, as in requests"),
		intervalCells(func(q *requestRow) (start, end model.Time) { return q.part.From, q.part.To }),
		col("kind", "name", func(r *rows, q *requestRow) { word(r, q.part.Kind) }, "as of requests; running at any depth"),
		col("goroutine", "id", func(r *rows, q *requestRow) { id(r, q.part.G) }, "whose time it is"),
		col("depth", "count", func(r *rows, q *requestRow) { num(r, q.part.Depth) }, "0: the request's own goroutine; else how many wake-ups away. What lies deeper than 32 is one part for each kind"),
		placeCells("", "that ran, or blocked; of runnable what ran meanwhile on the proc", func(q *requestRow) *requests.Place { return q.part.At }),
		col("wait", "name", func(r *rows, q *requestRow) {
			if q.part.Wait < requests.NumKinds {
				word(r, q.part.Wait)
			} else {
				r.text("")
			}
		}, "kind of the request's own wait that the part explains, also of the time in the run queue after it; empty: none"),
		placeCells("wait_", "where that blocked", func(q *requestRow) *requests.Place { return q.part.WaitAt }),
		col("inferred", "bool", func(r *rows, q *requestRow) { r.bool(q.part.Inferred) }, "that the request waited for this goroutine"),
		col("stack", "name", func(r *rows, q *requestRow) {
			if q.part.At != nil {
				r.text(q.part.At.Stack)
			} else {
				r.text("")
			}
		}, "functions outside the standard library, the outermost first, joined by semicolons; empty: none, or unknown"),
		offsetCell("start", func(q *requestRow) model.Time { return q.part.From }),
	),
}

// timesCells are columns of times by kind.
func timesCells(prefix, of string, times func(*requestRow) *requests.Times) cells[*requestRow] {
	var c cells[*requestRow]
	own := prefix == "own_"
	for k := range requests.NumKinds {
		if k != requests.Others || !own {
			c.columns = append(c.columns, Column{prefix + k.String(), "ns", of + k.Doc()})
		}
	}
	c.add = func(r *rows, q *requestRow) {
		for k, d := range times(q) {
			if requests.Kind(k) != requests.Others || !own {
				num(r, d)
			}
		}
	}
	return c
}

// placeCells are columns of a place in the code.
func placeCells(prefix, what string, of func(*requestRow) *requests.Place) cells[*requestRow] {
	return cells[*requestRow]{[]Column{
		{prefix + "function", "name", "the program's innermost function " + what + "; empty: unknown"},
		{prefix + "source_file", "name", "its source file; empty: unknown"},
		{prefix + "line", "count", "empty: unknown"},
	}, func(r *rows, q *requestRow) {
		p := of(q)
		if p == nil {
			p = &requests.Place{}
		}
		r.text(p.Func)
		r.text(p.File)
		numIf(r, p.Line > 0, p.Line)
	}}
}
