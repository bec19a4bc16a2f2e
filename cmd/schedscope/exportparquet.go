package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/spf13/cobra"

	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/report"
)

var parquetExporter = exporter{
	name: "parquet", doc: "tables of many traces as a directory for DuckDB and the like: schedscope help parquet",
	extensions: []string{".parquet"}, directory: true,
	flags: registerParquetFlags, check: checkParquetFlags, run: (*app).exportParquet,
}

// parquetFlags are the flags of tables of many traces.
type parquetFlags struct{ host, service string }

func registerParquetFlags(cmd *cobra.Command, f *exportFlags) {
	cmd.Flags().StringVar(&f.parquet.host, "host", "", "of parquet: `NAME` of the machine that the traces are of, for the column host")
	cmd.Flags().StringVar(&f.parquet.service, "service", "", "of parquet: `NAME` of the program that the traces are of, for the column service")
}

func checkParquetFlags(f *exportFlags) error {
	for _, name := range f.rows.tables {
		if err := checkChoice("table", name, report.TableNames()); err != nil {
			return err
		}
	}
	return tableDir(f.output).check()
}

// parquetRun writes the tables of several traces, some of them at the same time.
type parquetRun struct {
	dir     tableDir
	flags   *exportFlags
	refs    []source.Ref
	ids     traceIDs
	results []parquetResult
}

// parquetResult is what became of one trace.
type parquetResult struct {
	rows int64
	err  error
	said *bytes.Buffer // aside
	done chan struct{}
}

// exportParquet writes the tables of traces. One that cannot be read is reported and
// skipped as long as another can.
func (a *app) exportParquet(ctx context.Context, f *exportFlags, refs []source.Ref) error {
	p := &parquetRun{dir: tableDir(f.output), flags: f, refs: refs, ids: newTraceIDs(len(refs)), results: make([]parquetResult, len(refs))}
	if err := p.dir.make(); err != nil {
		return err
	}
	defer p.dir.removeEmpty() // if nothing could be read
	ctx, cancel := context.WithCancel(ctx)
	procs := f.read.workers
	if procs == 0 {
		procs = runtime.GOMAXPROCS(0)
	}
	atOnce := min(procs, len(refs))
	for i := range p.results {
		p.results[i].done = make(chan struct{})
	}
	next := make(chan int)
	go func() {
		defer close(next)
		for i := range refs {
			next <- i
		}
	}()
	var workers sync.WaitGroup
	defer workers.Wait() // also if one failed: nothing is written after this
	defer cancel()
	for range atOnce {
		workers.Go(func() {
			for i := range next {
				p.one(ctx, a, i, procs/atOnce)
			}
		})
	}
	return p.collect(ctx, a)
}

// one writes the tables of one trace.
func (p *parquetRun) one(ctx context.Context, a *app, i, workers int) {
	r := &p.results[i]
	defer close(r.done)
	defer p.ids.pass(i)
	if r.err = ctx.Err(); r.err != nil {
		return
	}
	if len(p.refs) > 1 {
		a, r.said = a.aside()
	}
	t := parquetTrace{dir: p.dir, flags: p.flags, tables: p.flags.rows.tables}
	if len(t.tables) == 0 {
		t.tables, t.all = report.TableNames(), true
	}
	claim := func(id string) error { return p.ids.claim(i, id, p.refs[i].Name) }
	r.rows, r.err = t.write(ctx, a, p.refs[i], workers, claim)
}

// collect says, trace by trace, what became of them.
func (p *parquetRun) collect(ctx context.Context, a *app) error {
	written, rows := 0, int64(0)
	a.progress.begin()
	defer a.progress.clear()
	for i := range p.results {
		r := &p.results[i]
		<-r.done
		if r.said != nil {
			a.repeat(r.said)
			a.progress.step("exporting", i+1, len(p.refs))
		}
		var failed *outputError
		switch {
		case r.err == nil:
			written++
			rows += r.rows
		case ctx.Err() != nil:
			a.say("interrupted; %d of %s written", written, countOf(int64(len(p.refs)), "trace"))
			return &exitError{code: exitInterrupted, err: ctx.Err(), silent: true}
		case len(p.refs) == 1, errors.As(r.err, &failed):
			return r.err
		default:
			a.skip(r.err)
		}
	}
	if written == 0 {
		return errNoneRead(len(p.refs))
	}
	a.detail("%s of %s in %s", countOf(rows, "row"), countOf(int64(written), "trace"), p.dir)
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
