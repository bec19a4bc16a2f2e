package parquet

import (
	"slices"
	"testing"
	"time"

	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
	"github.com/schedscope/schedscope/report"
)

// recorded keeps rows of a table, to write them again.
type recorded []report.Rows

func (c *recorded) Rows(r *report.Rows) {
	*c = append(*c, *r)
	*r = report.Rows{}
}

func (c *recorded) Close() error { return nil }

// to gives the rows to a sink.
func (c recorded) to(s report.Sink) (n int) {
	for _, r := range c {
		r = report.Rows{Cells: slices.Clone(r.Cells), Names: c[len(c)-1].Names, Nulls: slices.Clone(r.Nulls), Wide: slices.Clone(r.Wide)}
		n += len(r.Nulls)
		s.Rows(&r)
	}
	return n
}

// record returns the rows of tables of a fixture.
func record(tb testing.TB, name string, tables ...string) map[string]*recorded {
	tb.Helper()
	f, err := fixtures.Open(name)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	r, err := ingest.NewReader(f, ingest.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	m := model.NewMachine(r.Tables(), model.Config{Version: r.Header().Version})
	out := map[string]*recorded{}
	var all report.Tables
	for _, n := range tables {
		out[n] = new(recorded)
		if _, err := all.Add(n, out[n]); err != nil {
			tb.Fatal(err)
		}
	}
	if err := all.Follow(m, r.Header().Version); err != nil {
		tb.Fatal(err)
	}
	all.Begin(m, 0)
	err = ingest.Each(r, func(ev *model.Event) error {
		err := m.Apply(ev)
		all.Event(ev)
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	if err := m.Finish(m.Now()); err != nil {
		tb.Fatal(err)
	}
	if err := all.Close(); err != nil {
		tb.Fatal(err)
	}
	return out
}

var someOrigin = Origin{Host: "web-1", Service: "shop", GoVersion: "go1.26", File: "http.trace", Recorded: time.Unix(1_800_000_000, 0)}

// BenchmarkWrite writes rows of a recorded trace again and again into one file.
func BenchmarkWrite(b *testing.B) {
	all := record(b, "http.trace", "waits", "states")
	for _, name := range []string{"waits", "states"} {
		b.Run(name, func(b *testing.B) {
			var size counter
			w := NewWriter(&size, report.TableColumns(name), &someOrigin)
			n := 0
			for b.Loop() {
				n += all[name].to(w)
			}
			if err := w.Close(); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "rows/s")
			b.ReportMetric(float64(size)/float64(n), "B/row")
		})
	}
}

type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
