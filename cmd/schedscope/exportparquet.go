package main

import (
	"context"
	"path/filepath"
	"sync/atomic"

	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/report"
	"github.com/schedscope/schedscope/report/parquet"
)

// checkTables checks the directory of --format parquet.
func checkTables(path string) error {
	if path == "-" {
		return usagef("add -o tables, a directory that will be made", "--format parquet writes a directory")
	}
	if err := checkFolder(filepath.Clean(path)); err != nil {
		return err
	}
	return parquet.Dir(path).Check()
}

// exportParquet writes the tables of traces, some of them at the same time.
func (a *app) exportParquet(ctx context.Context, f *exportFlags, refs []source.Ref) error {
	dir, ids := parquet.Dir(f.output), parquet.NewIDs(len(refs))
	if err := dir.Make(); err != nil {
		return err
	}
	defer dir.RemoveEmpty() // if nothing could be read
	workers := f.read.workersFor(refs)
	var written atomic.Int64 // traces
	var rows int64
	_, err := several(ctx, a, refs, workers, func(ctx context.Context, a *app, i int) (int64, error) {
		defer ids.Pass(i)
		t := parquetTrace{dir: dir, flags: f, tables: f.tables}
		if len(t.tables) == 0 {
			t.tables, t.all = report.TableNames(), true
		}
		rows, err := t.write(ctx, a, refs[i], max(1, f.read.jobs()/workers), func(id string) error { return ids.Claim(i, id, refs[i].Name) })
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
