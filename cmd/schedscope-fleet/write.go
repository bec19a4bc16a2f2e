package main

import (
	"context"
	"errors"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/result"
)

func init() {
	beam.RegisterDoFn(&mergeFn{})
	beam.RegisterDoFn(&reportFn{})
	beam.RegisterDoFn(&linesFn{})
	register.Iter1[string]()
}

// mergeFn merges reports.
type mergeFn struct{}

// MergeAccumulators merges b into a and returns it.
func (*mergeFn) MergeAccumulators(a, b Reports) (Reports, error) { return a, a.Merge(b.Merger) }

// reportFn writes the report of each key that has one.
type reportFn struct{ Folder string }

// ProcessElement writes one.
func (f *reportFn) ProcessElement(ctx context.Context, key string, r Reports) error {
	v, err := r.Report()
	if errors.Is(err, result.ErrNoReport) { // of what cannot be read
		return nil
	} else if err != nil {
		return err
	}
	if len(v.Traces) > 1 || len(v.Skipped) > 0 {
		findings.Judge(v)
	}
	return write(ctx, f.Folder, folder(key)+reportFile, func(w io.Writer) error { return result.Write(w, v) })
}

// linesFn writes files of lines, sorted: by name, which comes first.
type linesFn struct{ Folder string }

// ProcessElement writes one.
func (f *linesFn) ProcessElement(ctx context.Context, name string, next func(*string) bool) error {
	var list []string
	for line := ""; next(&line); {
		list = append(list, line)
	}
	slices.Sort(list)
	return write(ctx, f.Folder, name, func(w io.Writer) error {
		_, err := io.WriteString(w, headings[path.Base(name)]+strings.Join(list, ""))
		return err
	})
}

// write writes a file of results. What it writes at once is there before the file is opened: what cannot be
// encoded leaves none.
func write(ctx context.Context, folder, name string, to func(io.Writer) error) error {
	f := resultFile{ctx: ctx, name: under(folder, name)}
	return errors.Join(to(&f), f.Close())
}

// resultFile is a file that is opened when it is written to.
type resultFile struct {
	ctx  context.Context
	name string
	fs   filesystem.Interface
	w    io.WriteCloser
}

func (f *resultFile) Write(p []byte) (n int, err error) {
	if f.w == nil {
		if f.fs, err = filesystem.New(f.ctx, f.name); err != nil {
			return 0, err
		}
		if f.w, err = f.fs.OpenWrite(f.ctx, f.name); err != nil {
			f.fs.Close()
			return 0, err
		}
	}
	return f.w.Write(p)
}

// Close closes the file if there is one.
func (f *resultFile) Close() error {
	if f.w == nil {
		return nil
	}
	return errors.Join(f.w.Close(), f.fs.Close())
}

// under returns the path of a file of results.
func under(folder, name string) string { return strings.TrimSuffix(folder, "/") + "/" + name }
