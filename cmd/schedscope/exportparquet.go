package main

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/report"
)

var parquetExporter = exporter{
	name: "parquet", doc: "tables of many traces as a directory for DuckDB and the like: schedscope help parquet",
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

// exportParquet writes the tables of traces, some of them at the same time.
func (a *app) exportParquet(ctx context.Context, f *exportFlags, refs []source.Ref) error {
	dir, ids := tableDir(f.output), newTraceIDs(len(refs))
	if err := dir.make(); err != nil {
		return err
	}
	defer dir.removeEmpty() // if nothing could be read
	workers := f.read.workersFor(refs)
	var written atomic.Int64 // traces
	var rows int64
	_, err := several(ctx, a, refs, workers, func(ctx context.Context, a *app, i int) (int64, error) {
		defer ids.pass(i)
		t := parquetTrace{dir: dir, flags: f, tables: f.rows.tables}
		if len(t.tables) == 0 {
			t.tables, t.all = report.TableNames(), true
		}
		rows, err := t.write(ctx, a, refs[i], max(1, f.read.jobs()/workers), func(id string) error { return ids.claim(i, id, refs[i].Name) })
		if err == nil {
			written.Add(1)
		}
		return rows, err
	}, func(_ int, n int64) error {
		rows += n
		return nil
	})
	switch {
	case err != nil && ctx.Err() != nil:
		a.say("interrupted; %d of %s written", written.Load(), countOf(int64(len(refs)), "trace"))
		return &exitError{code: exitInterrupted, err: ctx.Err(), silent: true}
	case err != nil:
		return err
	}
	a.detail("%s of %s in %s", countOf(rows, "row"), countOf(written.Load(), "trace"), dir)
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
