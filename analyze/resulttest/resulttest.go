// Package resulttest reads fixtures into results, for tests. This package promises
// nothing to other modules.
package resulttest

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
)

// Read returns the report of fixtures, as schedscope analyze makes it without a reference.
func Read(t testing.TB, names ...string) *result.Report {
	t.Helper()
	v := Try(t, names...)
	if v == nil {
		t.Fatalf("cannot read one of %q", names)
	}
	return v
}

// Try is Read for fixtures that may be damaged: nil if nothing of one can be read.
func Try(t testing.TB, names ...string) *result.Report {
	t.Helper()
	var m result.Merger
	for _, name := range names {
		v := one(t, name)
		if v == nil {
			return nil
		}
		if err := m.Add(v); err != nil {
			t.Fatal(err)
		}
	}
	v, err := m.Report()
	if err != nil {
		t.Fatal(err)
	}
	findings.Judge(v)
	return v
}

func one(t testing.TB, name string) *result.Report {
	f, err := fixtures.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := ingest.NewReader(f, ingest.Options{})
	if err != nil {
		return nil
	}
	version := r.Header().Version
	m := model.NewMachine(r.Tables(), model.Config{Version: version})
	rep := analyze.New(r.Tables(), analyze.Options{Version: version})
	rep.Observe(m)
	trace := result.Trace{Name: name, Format: fmt.Sprintf("go 1.%d", version), Bytes: -1, Complete: true}
	ingest.Each(r, func(ev *model.Event) error {
		rep.Event(ev)
		if err := m.Apply(ev); err != nil {
			if trace.Inconsistent++; trace.Inconsistent == 1 {
				trace.FirstInconsistency = err.Error()
			}
		}
		return nil
	})
	if err := m.Finish(m.Now()); err != nil {
		trace.Violation = err.Error()
	}
	rep.Finish(m.Start(), m.Now())
	trace.Span = m.Now().Sub(m.Start())
	v := rep.Result()
	v.Traces = []result.Trace{trace}
	findings.Judge(v)
	return v
}

// Saved returns v as it is read back after it was saved.
func Saved(t testing.TB, v *result.Report) *result.Report {
	t.Helper()
	var b bytes.Buffer
	if err := result.Write(&b, v); err != nil {
		t.Fatal(err)
	}
	read, err := result.Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	return read
}
