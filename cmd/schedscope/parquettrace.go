package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
	"github.com/schedscope/schedscope/report"
	"github.com/schedscope/schedscope/report/parquet"
)

// outputError is an error of writing: no other trace could be written either.
type outputError struct{ error }

func (e *outputError) Unwrap() error { return e.error }

// parquetTrace writes the tables of one trace.
type parquetTrace struct {
	dir    parquet.Dir
	flags  *exportFlags
	tables []string
	all    bool // tables are all that there are, not chosen: help says which old traces lack

	id      string
	record  env.Record // zero: there is none
	service string     // as package capture noted it
	origin  parquet.Origin
	open    []*openTable
	tooOld  []string // tables that the trace is too old for
	why     error    // what it does not contain
}

// openTable is a table while it is written.
type openTable struct {
	name  string
	table *report.Table
	w     *parquet.Writer
	file  *parquet.File
}

// write reads the trace and writes its tables: all of them or, if it fails before the
// end, none. It returns the number of rows. Claim says whether the id is free.
func (p *parquetTrace) write(ctx context.Context, a *app, ref source.Ref, workers int, claim func(id string) error) (rows int64, err error) {
	in, err := a.open(ctx, ref, &p.flags.read)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	if in.Interrupted {
		ctx = context.WithoutCancel(ctx) // ^C has ended the recording, not the work
	}
	if err := p.identify(ctx, a, ref, in); err != nil {
		return 0, err
	}
	if err := claim(p.id); err != nil {
		return 0, err
	}
	o := p.flags.read.ingestOptions()
	o.Workers = workers
	rd, err := a.newReading(in, o)
	if err != nil {
		return 0, err
	}
	p.describe(rd)
	defer p.abort()
	totals, err := p.fill(ctx, a, rd)
	if err != nil {
		return 0, err
	}
	return p.commit(a, rd, totals)
}

// identify looks at all bytes of the trace: they are read twice.
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
	p.id, p.service = parquet.TraceID(in.Name, s.Sum), s.Service
	if s.Record != nil {
		p.record = *s.Record
		return nil
	}
	if ref.Kind != source.File {
		return nil
	}
	run, err := env.ReadRun(ref.Path)
	if err != nil {
		a.warn("%s: %v", in.Name, err)
	}
	if run != nil {
		p.record = run.Begin
	}
	return nil
}

// describe sets the origin, except the time.
func (p *parquetTrace) describe(rd *reading) {
	p.origin = parquet.Origin{Host: p.flags.host, Service: cmp.Or(p.flags.service, p.service), GoVersion: cmp.Or(p.record.Go, fmt.Sprintf("go1.%d", rd.Version)), File: rd.in.Name}
}

// date says when the trace was recorded, which is known from its first event on.
func (p *parquetTrace) date(rd *reading) {
	x := rd.Index()
	if wall := x.WallAt(rd.Origin); wall > 0 {
		p.origin.Recorded = time.Unix(0, wall)
	}
}

// fill reads the trace into the tables, and closes those.
func (p *parquetTrace) fill(ctx context.Context, a *app, rd *reading) (*analyze.Totals, error) {
	for _, name := range p.tables {
		if err := p.begin(rd, name); err != nil {
			return nil, err
		}
	}
	if len(p.open) == 0 {
		rd.Close()
		return nil, rd.notRecorded(p.why)
	}
	if len(p.tooOld) > 0 && !p.all {
		a.note("%s: without %s: %v", rd.in.Name, strings.Join(p.tooOld, ", "), p.why)
	}
	totals := analyze.NewTotals()
	begin := func() {
		p.date(rd)
		totals.Begin(rd.Origin)
		rd.Machine.Observe(totals)
		for _, t := range p.open {
			t.table.Begin(rd.Machine)
		}
	}
	err := rd.run(ctx, begin, func(ev *model.Event) {
		totals.Event(ev)
		for _, t := range p.open {
			t.table.Event(ev)
		}
	})
	if err != nil {
		return nil, err
	}
	totals.Finish(rd.Machine.Start(), rd.Machine.Now())
	for _, t := range p.open {
		if err := t.table.Close(); err != nil {
			return nil, &outputError{err}
		}
	}
	return totals, nil
}

// begin begins a table. There is no file of what the trace is too old to contain.
func (p *parquetTrace) begin(rd *reading, name string) error {
	t, err := p.create(name, report.TableColumns(name))
	if err != nil {
		return err
	}
	if t.table, err = report.NewTableTo(name, t.w); err != nil {
		return err
	}
	if t.table.NeedsPast() {
		rd.restrict(t.table) // steps do not show where the window begins
	}
	err = t.table.Follow(rd.Machine, rd.Version)
	if old := new(runqueue.OldFormatError); errors.As(err, &old) {
		p.open = p.open[:len(p.open)-1]
		p.tooOld, p.why = append(p.tooOld, name), err
		t.abort()
		return nil
	}
	return err
}

// create begins the file of a table.
func (p *parquetTrace) create(name string, columns []report.Column) (*openTable, error) {
	file, err := p.dir.Create(name, p.id)
	if err != nil {
		return nil, &outputError{err}
	}
	t := &openTable{name: name, file: file, w: parquet.NewWriter(file, columns, &p.origin)}
	p.open = append(p.open, t)
	return t, nil
}

// commit puts the files in place, that of the table of traces last: what is in it is there
// as a whole.
func (p *parquetTrace) commit(a *app, rd *reading, totals *analyze.Totals) (rows int64, err error) {
	t, err := p.create(report.TracesTable, report.TracesColumns())
	if err != nil {
		return 0, err
	}
	row := p.row(rd, totals)
	report.WriteTraceRow(t.w, &row)
	if err := t.w.Close(); err != nil {
		return 0, &outputError{err}
	}
	for _, t := range p.open {
		if err := t.file.Commit(); err != nil {
			return 0, &outputError{err}
		}
		if t.table != nil {
			rows += t.table.Rows()
		}
	}
	a.warnAbout(&row.Trace)
	a.detail("wrote %s as trace=%s: %s", rd.in.Name, p.id, countOf(rows, "row"))
	return rows, nil
}

func (p *parquetTrace) row(rd *reading, totals *analyze.Totals) report.TraceRow {
	row := report.TraceRow{
		Trace: rd.trace(), Clock: p.flags.read.clock, Origin: rd.Origin, Events: totals.Events, Goroutines: totals.Goroutines,
		Workload: p.record.Workload, Commit: p.record.Commit, OS: p.record.OS, Arch: p.record.Arch, CPU: p.record.CPU, NumCPU: p.record.NumCPU,
	}
	for _, s := range totals.MaxProcs {
		row.MaxProcs = max(row.MaxProcs, s.Procs)
	}
	return row
}

// abort drops what was not committed.
func (p *parquetTrace) abort() {
	for i := len(p.open) - 1; i >= 0; i-- {
		p.open[i].abort()
	}
}

func (t *openTable) abort() {
	t.w.Abort()
	t.file.Abort()
}
