package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/internal/atomicfile"
	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/report"
	"github.com/schedscope/schedscope/report/parquet"
)

// exportParquet writes the tables of traces, some of them at the same time. The files of each trace
// get their names when it is read: a second export replaces them.
func (a *app) exportParquet(ctx context.Context, f *exportFlags, refs []source.Ref) error {
	tables, all := f.tables, len(f.tables) == 0
	if all {
		tables = report.TableNames()
	}
	dir, err := atomicfile.Resolve(filepath.Clean(f.output))
	if err != nil {
		return fmt.Errorf("creating %s: %w", f.output, err)
	}
	var folders atomicfile.Set
	defer folders.Abort() // leaves those with files
	for _, name := range append([]string{report.TracesTable}, tables...) {
		path := filepath.Join(dir, name)
		if err := folders.MkdirAll(path); err != nil {
			return fmt.Errorf("creating %s: %w", path, cause(err))
		}
	}
	files := make([]atomicfile.Set, len(refs))
	defer func() {
		for i := range files {
			files[i].Abort()
		}
	}()
	workers := f.read.workersFor(refs)
	var rows, found int64
	var ready []*atomicfile.Set
	ofRequested := len(f.requests.specs) > 0 && slices.ContainsFunc(tables, ofRequests)
	names := map[string]string{} // of traces, by id
	_, err = several(ctx, a, refs, workers, func(ctx context.Context, a *app, i int) (*parquetTrace, error) {
		t := &parquetTrace{dir: dir, files: &files[i], flags: f, tables: tables, all: all}
		return t, t.write(ctx, a, refs[i], max(1, f.read.workers/workers))
	}, func(i int, t *parquetTrace) error {
		id := strings.ToLower(t.Origin.Trace) // some file systems make no difference
		if other, ok := names[id]; ok {
			return fmt.Errorf("%s has the name and the content of %s", refs[i].Name, other)
		}
		names[id] = refs[i].Name
		rows, found = rows+t.rows, found+t.found
		ready = append(ready, t.files)
		if ofRequested && found == 0 {
			return nil // if no trace has any, nothing is written
		}
		for _, files := range ready {
			if err := files.Finish(); err != nil { // the table of traces is the last: what is in it is there as a whole
				return &outputError{err}
			}
		}
		ready = nil
		a.detail("wrote %s as %s: %s", refs[i].Name, t.Origin.Trace, textui.Plural(t.rows, "row"))
		return nil
	})
	if err != nil && ctx.Err() != nil {
		if len(names) > 0 && len(ready) == 0 {
			a.say("interrupted; the tables of %s were written", textui.Plural(len(names), "trace"))
			return &exitError{code: exitInterrupted, silent: true}
		}
		return ctx.Err()
	}
	if err == nil && ofRequested {
		err = f.requests.found(found)
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
	parquet.Trace
	dir    string
	flags  *exportFlags
	tables []string
	all    bool // tables are all that there are, not chosen: help says which old traces lack

	rows  int64
	found int64                   // rows about requests
	stop  context.CancelCauseFunc // ends the reading
	files *atomicfile.Set
	open  []*parquet.Writer
}

// write reads the trace and writes its tables.
//
//  1. Identify the trace by all its bytes.
//  2. Begin the files of the tables that it is not too old for.
//  3. Read it into them.
//  4. Complete them, except for their names.
func (p *parquetTrace) write(ctx context.Context, a *app, ref source.Ref, workers int) (err error) {
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
	defer func() { // drop what is not complete, after who writes it has ended
		rd.Close()
		for _, w := range p.open {
			w.Abort()
		}
		if err != nil {
			p.files.Abort()
		}
	}()
	p.Tables.Requests, p.Tables.NoLabels, p.Create = p.flags.requests.specs, p.flags.requests.noLabels, p.create
	if err := p.Follow(rd.Reading.Reading, p.tables); err != nil {
		return err
	}
	if len(p.open) == 0 {
		return rd.notRecorded(p.Why)
	}
	if len(p.TooOld) > 0 && !p.all {
		a.note("%s: without %s: %v", in.Name, strings.Join(p.TooOld, ", "), p.Why)
	}

	if err := rd.run(ctx, p.Begin, p.Event); err != nil { // 3
		return err
	}
	if err := p.End(); err != nil { // 4
		return &outputError{err}
	}
	about := rd.Describe()
	if err := p.About(about, p.flags.read.clock); err != nil {
		return &outputError{err}
	}
	for name, t := range p.Rows {
		p.rows += t.Rows()
		if ofRequests(name) {
			p.found += t.Rows()
		}
	}
	rd.warnAbout(&about)
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
	var next *env.Record
	if s.Record == nil && ref.Kind == source.File {
		run, err := sample.ReadRun(ref.Path)
		if err != nil {
			a.warn("%s: %v", in.Name, err)
		}
		if run != nil {
			next = &run.Begin
		}
	}
	p.Origin = parquet.Origin{Host: p.flags.host, Service: p.flags.service}
	p.Identify(in.Name, s, next)
	return nil
}

// create begins the file of a table.
func (p *parquetTrace) create(name string, columns []report.Column) (report.Sink, error) {
	file, err := p.files.Create(filepath.Join(p.dir, name, p.Origin.Trace+".parquet"))
	if err != nil {
		return nil, &outputError{err}
	}
	w := parquet.NewWriter(&stopWriter{file, p.stop}, columns, &p.Origin)
	p.open = append(p.open, w)
	return w, nil
}
