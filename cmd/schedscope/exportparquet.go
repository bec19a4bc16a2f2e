package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/report"
)

var parquetExporter = exporter{
	name: "parquet", doc: "tables of many traces as a directory for DuckDB and the like: schedscope help parquet",
	extensions: []string{".parquet"}, directory: true,
	flags: registerParquetFlags, takes: []string{"table", "host", "service"}, check: checkParquetFlags, run: (*app).exportParquet,
}

// parquetFlags are the flags of tables of many traces.
type parquetFlags struct{ host, service string }

func registerParquetFlags(cmd *cobra.Command, f *exportFlags) {
	cmd.Flags().StringVar(&f.parquet.host, "host", "", "of parquet: `NAME` of the machine that the traces are of, for the column host")
	cmd.Flags().StringVar(&f.parquet.service, "service", "", "of parquet: `NAME` of the program that the traces are of, for the column service")
}

func checkParquetFlags(f *exportFlags) error {
	for _, name := range f.rows.tables {
		if err := checkTable(name); err != nil {
			return err
		}
	}
	return tableDir(f.output).check()
}

// parquetRun writes the tables of several traces, some of them at the same time.
type parquetRun struct {
	app     *app
	dir     tableDir
	flags   *exportFlags
	refs    []source.Ref
	workers int // of each trace
	ids     traceIDs
	written atomic.Int64 // traces
}

// parquetResult is what became of one trace.
type parquetResult struct {
	said *bytes.Buffer // on stderr
	rows int64
	err  error
}

// exportParquet writes the tables of traces. One that cannot be read is reported and
// skipped as long as another can.
func (a *app) exportParquet(ctx context.Context, f *exportFlags, refs []source.Ref) error {
	atOnce := f.read.workersFor(refs)
	p := &parquetRun{app: a, dir: tableDir(f.output), flags: f, refs: refs, workers: max(1, f.read.jobs()/atOnce), ids: newTraceIDs(len(refs))}
	if err := p.dir.make(); err != nil {
		return err
	}
	defer p.dir.removeEmpty() // if nothing could be read
	a.progress.begin()
	defer a.progress.clear()
	rows, done := int64(0), 0
	var failed error
	inOrder(ctx, len(refs), atOnce, p.one, func(i int, r *parquetResult) bool {
		a.repeat(r.said)
		a.progress.step("traces", i+1, len(refs))
		done++
		rows += r.rows
		var unwritable *outputError
		switch {
		case r.err == nil:
		case ctx.Err() != nil, len(refs) == 1, errors.As(r.err, &unwritable):
			failed = r.err
			return false
		default:
			a.skip(r.err)
		}
		return true
	})
	return p.result(ctx, failed, rows, done)
}

// one writes the tables of one trace.
func (p *parquetRun) one(ctx context.Context, i int) *parquetResult {
	defer p.ids.pass(i)
	r := &parquetResult{said: new(bytes.Buffer)}
	a := p.app
	if len(p.refs) > 1 {
		a, r.said = a.aside()
	}
	t := parquetTrace{dir: p.dir, flags: p.flags, tables: p.flags.rows.tables}
	if len(t.tables) == 0 {
		t.tables, t.all = report.TableNames(), true
	}
	claim := func(id string) error { return p.ids.claim(i, id, p.refs[i].Name) }
	if r.rows, r.err = t.write(ctx, a, p.refs[i], p.workers, claim); r.err == nil {
		p.written.Add(1)
	}
	return r
}

// result says what became of all traces, of which so many were looked at.
func (p *parquetRun) result(ctx context.Context, failed error, rows int64, done int) error {
	written := p.written.Load()
	switch {
	case ctx.Err() != nil && (failed != nil || done < len(p.refs)):
		p.app.say("interrupted; %d of %s written", written, countOf(int64(len(p.refs)), "trace"))
		return &exitError{code: exitInterrupted, err: ctx.Err(), silent: true}
	case failed != nil:
		return failed
	case written == 0:
		return errNoneRead(len(p.refs))
	}
	p.app.detail("%s of %s in %s", countOf(rows, "row"), countOf(written, "trace"), p.dir)
	return nil
}

// traceIDs sees to it that no two traces have the same id. Of equal ones the first has
// it, whichever is read first.
type traceIDs struct {
	names map[string]string // by id
	turns []chan struct{}   // closed when it is the turn of a trace
	done  []bool            // it had its turn
}

func newTraceIDs(n int) traceIDs {
	t := traceIDs{names: map[string]string{}, turns: make([]chan struct{}, n+1), done: make([]bool, n)}
	for i := range t.turns {
		t.turns[i] = make(chan struct{})
	}
	close(t.turns[0])
	return t
}

// claim takes an id for trace i, after all before it had their turn.
func (t *traceIDs) claim(i int, id, name string) error {
	<-t.turns[i]
	defer t.pass(i)
	id = strings.ToLower(id) // some file systems make no difference
	if other, ok := t.names[id]; ok {
		return fmt.Errorf("%s has the name and the content of %s", name, other)
	}
	t.names[id] = name
	return nil
}

// pass gives the turn of trace i to the next.
func (t *traceIDs) pass(i int) {
	<-t.turns[i]
	if !t.done[i] {
		t.done[i] = true
		close(t.turns[i+1])
	}
}
