package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/report"
	"github.com/schedscope/schedscope/report/parquet"
)

// checkTables checks the directory of --format parquet.
func checkTables(path string) error {
	if path == "-" {
		return usagef("add -o tables, a directory that will be made", "--format parquet writes a directory")
	}
	return checkFolder(filepath.Clean(path))
}

// exportParquet writes the tables of traces, some of them at the same time.
func (a *app) exportParquet(ctx context.Context, f *exportFlags, refs []source.Ref) error {
	out, err := parquet.Begin(f.output)
	if err != nil {
		return err
	}
	defer out.Abort()
	workers := f.read.workersFor(refs)
	var rows, found int64
	names := map[string]string{} // of traces, by id
	_, err = several(ctx, a, refs, workers, func(ctx context.Context, a *app, i int) (*parquetTrace, error) {
		t := &parquetTrace{i: i, out: out, flags: f, tables: f.tables}
		if len(t.tables) == 0 {
			t.tables, t.all = report.TableNames(), true
		}
		return t, t.write(ctx, a, refs[i], max(1, f.read.jobs()/workers))
	}, func(i int, t *parquetTrace) error {
		id := strings.ToLower(t.origin.Trace) // some file systems make no difference
		if other, ok := names[id]; ok {
			return fmt.Errorf("%s has the name and the content of %s", refs[i].Name, other)
		}
		names[id] = refs[i].Name
		for _, x := range t.open { // the table of traces is the last: what is in it is there as a whole
			if err := out.Keep(x.file); err != nil {
				return &outputError{err}
			}
		}
		rows, found = rows+t.rows, found+t.found
		a.detail("wrote %s as %s: %s", refs[i].Name, t.origin.Trace, textui.Plural(t.rows, "row"))
		return nil
	})
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil && (len(f.tables) == 0 || slices.ContainsFunc(f.tables, ofRequests)) {
		err = f.requests.found(found)
	}
	if err == nil {
		err = out.Commit()
	}
	if err != nil {
		return err
	}
	a.detail("%s of %s in %s", textui.Plural(rows, "row"), textui.Plural(len(names), "trace"), f.output)
	return nil
}

// outputError is an error of writing: no other trace could be written either.
type outputError struct{ error }

func (e *outputError) Unwrap() error { return e.error }

// parquetTrace writes the tables of one trace.
type parquetTrace struct {
	i      int
	out    *parquet.Export
	flags  *exportFlags
	tables []string
	all    bool // tables are all that there are, not chosen: help says which old traces lack

	rows   int64
	found  int64      // rows about requests
	record env.Record // zero: there is none
	origin parquet.Origin
	stop   context.CancelCauseFunc // ends the reading
	set    report.Tables
	open   []*openTable
	tooOld []string // tables that the trace is too old for
	why    error    // what it does not contain
}

// openTable is a table while it is written.
type openTable struct {
	name  string
	table *report.Table
	w     *parquet.Writer
	file  *parquet.File
}

// write reads the trace and writes its tables.
//
//  1. Identify the trace by all its bytes.
//  2. Begin the files of the tables that it is not too old for.
//  3. Read it into them.
//  4. Complete them. They are put in place with those of all other traces.
func (p *parquetTrace) write(ctx context.Context, a *app, ref source.Ref, workers int) error {
	in, err := a.open(ctx, ref, &p.flags.read) // 1
	if err != nil {
		return err
	}
	defer in.Close()
	ctx = a.working(ctx)
	if err := p.identify(ctx, a, ref, in); err != nil {
		return err
	}

	o := p.flags.read.ingestOptions() // 2
	o.Workers = workers
	rd, err := a.newReading(in, o)
	if err != nil {
		return err
	}
	ctx, p.stop = context.WithCancelCause(ctx)
	defer p.stop(nil)
	p.origin.GoVersion = cmp.Or(p.record.Go, fmt.Sprintf("go1.%d", rd.Version))
	defer func() { // drop what was not committed, after who writes it has ended
		rd.Close()
		for _, t := range slices.Backward(p.open) {
			t.abort()
		}
	}()
	p.set.Requests, p.set.NoLabels = p.flags.requests.specs, p.flags.requests.noLabels
	for _, name := range p.tables {
		if err := p.begin(rd, name); err != nil {
			return err
		}
	}
	if len(p.open) == 0 {
		return rd.notRecorded(p.why)
	}
	if len(p.tooOld) > 0 && !p.all {
		a.note("%s: without %s: %v", in.Name, strings.Join(p.tooOld, ", "), p.why)
	}
	rd.restrict(&p.set) // steps do not show where the window begins
	if err := p.set.Follow(rd.Machine, rd.Version); err != nil {
		return err
	}

	totals := analyze.NewTotals() // 3
	begin := func() {
		if x := rd.Index(); x.WallAt(rd.Origin) > 0 { // known from the first event on
			p.origin.Recorded = time.Unix(0, x.WallAt(rd.Origin))
		}
		totals.Begin(rd.Origin)
		rd.Machine.Observe(totals)
		p.set.Begin(rd.Machine, rd.Origin)
	}
	err = rd.run(ctx, begin, func(ev *model.Event) {
		totals.Event(ev)
		p.set.Event(ev)
	})
	if err != nil {
		return err
	}
	totals.Finish(rd.Machine.Start(), rd.Machine.Now())
	if err := p.set.Close(); err != nil {
		return &outputError{err}
	}
	for _, t := range p.open {
		p.rows += t.table.Rows()
		if ofRequests(t.name) {
			p.found += t.table.Rows()
		}
	}

	r := &p.record // 4
	row := report.TraceRow{
		Trace: rd.Describe(), Clock: p.flags.read.clock, Origin: rd.Origin, Events: totals.Events, Goroutines: totals.Goroutines,
		Workload: r.Workload, Commit: r.Commit, OS: r.OS, Arch: r.Arch, CPU: r.CPU, NumCPU: r.NumCPU,
	}
	for _, s := range totals.GOMAXPROCS {
		row.MaxProcs = max(row.MaxProcs, s.Procs)
	}
	t, err := p.create(report.TracesTable, report.TracesColumns())
	if err != nil {
		return err
	}
	report.WriteTraceRow(t.w, &row)
	if err := t.w.Close(); err != nil {
		return &outputError{err}
	}
	for _, t := range p.open {
		if err := t.file.Close(); err != nil {
			return &outputError{err}
		}
	}
	rd.warnAbout(&row.Trace)
	return nil
}

// identify looks at all bytes of the trace, which is read twice, and sets what is known of it
// before it is decoded.
func (p *parquetTrace) identify(ctx context.Context, a *app, ref source.Ref, in *input) error {
	var s parquet.TraceScan
	switch at, size := in.ReaderAt(); {
	case at != nil:
		s = parquet.Scan(io.NewSectionReader(at, 0, size))
	case ref.Kind == source.File:
		again, err := a.open(ctx, ref, &p.flags.read)
		if err != nil {
			return err
		}
		defer again.Close()
		s = parquet.Scan(again)
	default:
		return usagef("save it to a file and name that", "--format parquet reads a trace twice, %s can be read once", in.Name)
	}
	p.origin = parquet.Origin{Host: p.flags.host, Service: cmp.Or(p.flags.service, s.Service), File: in.Name, Trace: parquet.TraceID(in.Name, s.Sum)}
	if s.Record != nil {
		p.record = *s.Record
	} else if ref.Kind == source.File {
		run, err := sample.ReadRun(ref.Path)
		if err != nil {
			a.warn("%s: %v", in.Name, err)
		}
		if run != nil {
			p.record = run.Begin
		}
	}
	return nil
}

// begin begins a table. There is no file of what the trace is too old to contain.
func (p *parquetTrace) begin(rd *reading, name string) error {
	if err := report.CheckTable(name, rd.Version); err != nil {
		p.tooOld, p.why = append(p.tooOld, name), err
		return nil
	}
	t, err := p.create(name, report.TableColumns(name))
	if err == nil {
		t.table, err = p.set.Add(name, t.w)
	}
	return err
}

// create begins the file of a table.
func (p *parquetTrace) create(name string, columns []report.Column) (*openTable, error) {
	file, err := p.out.Create(p.i, name, p.origin.Trace)
	if err != nil {
		return nil, &outputError{err}
	}
	t := &openTable{name: name, file: file, w: parquet.NewWriter(&stopWriter{file, p.stop}, columns, &p.origin)}
	p.open = append(p.open, t)
	return t, nil
}

func (t *openTable) abort() {
	t.w.Abort()
	t.file.Close()
}
