package cli

import (
	"context"
	"io"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/report"
)

// exportFigures returns what writes the figures of traces or of a saved report.
func exportFigures(write func(io.Writer, *result.Report) error) func(*app, context.Context, *exportFlags, []source.Ref) error {
	return func(a *app, ctx context.Context, f *exportFlags, refs []source.Ref) error {
		l, err := a.load(ctx, refs, &analyzeFlags{read: f.read, worst: defaultWorst, requests: f.requests})
		if err != nil {
			return err
		}
		return a.write(f.output, func(w io.Writer) error { return write(w, l.v) })
	}
}

// exportTable returns what writes a table in a format, or the figures if none was asked for.
func exportTable(format report.RowFormat, summary func(io.Writer, *result.Report) error) func(*app, context.Context, *exportFlags, []source.Ref) error {
	return func(a *app, ctx context.Context, f *exportFlags, refs []source.Ref) error {
		if len(f.tables) == 0 {
			return exportFigures(summary)(a, ctx, f, refs)
		}
		return a.exportOne(ctx, f, refs, func(ctx context.Context, rd *reading, w io.Writer) error {
			sink, err := report.NewTextSink(f.tables[0], format, w)
			if err != nil {
				return err
			}
			tables := report.Tables{Requests: f.requests.specs, NoLabels: f.requests.noLabels}
			table, err := tables.Add(f.tables[0], sink)
			if err == nil {
				err = rd.fill(ctx, &tables)
			}
			if err != nil {
				return err
			}
			if err := f.requests.found(table.Rows()); err != nil && ofRequests(f.tables[0]) {
				return err
			}
			a.detail("%s; the trace begins at %d", textui.Plural(table.Rows(), "row"), rd.Origin)
			return nil
		})
	}
}

// ofRequests reports whether a table has those that --request names.
func ofRequests(table string) bool { return table == "requests" || table == "path" }

// fill reads the trace into tables and closes them.
func (rd *reading) fill(ctx context.Context, tables *report.Tables) error {
	if tables.NeedPast() {
		rd.Past = true
		if rd.Windowed {
			tables.Within(rd.Start, rd.End)
		}
	}
	if err := tables.Follow(rd.Machine, rd.Version); err != nil {
		return rd.notRecorded(err)
	}
	err := rd.run(ctx, func() { tables.Begin(rd.Machine, rd.Origin) }, tables.Event)
	if err != nil {
		return err
	}
	return tables.Close()
}

// notRecorded says that a table is about what the trace is too old to contain.
func (rd *reading) notRecorded(err error) error {
	return &source.Error{Doing: "reading " + rd.in.Name, Err: err, Hint: "tables that are not about run queues or causes can be written of this trace"}
}
