package parquet

import (
	"bytes"
	"testing"
	"time"

	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
	"github.com/schedscope/schedscope/report"
)

// cells keeps rows of a table, to write them anew.
type cells struct {
	kinds []byte
	n     []int64
	names []string
}

func (c *cells) add(kind byte, n int64) { c.kinds, c.n = append(c.kinds, kind), append(c.n, n) }
func (c *cells) Int(n int64)            { c.add('i', n) }
func (c *cells) Uint(n uint64)          { c.add('u', int64(n)) }
func (c *cells) None()                  { c.add('-', 0) }
func (c *cells) End()                   { c.add('e', 0) }
func (c *cells) Close() error           { return nil }

func (c *cells) Bool(b bool) {
	n := int64(0)
	if b {
		n = 1
	}
	c.add('b', n)
}

func (c *cells) Name(i int, s string) {
	if i == len(c.names) {
		c.names = append(c.names, s)
	}
	c.add('s', int64(i))
}

// to gives the rows to a sink.
func (c *cells) to(s report.Sink) {
	for i, k := range c.kinds {
		switch n := c.n[i]; k {
		case 'i':
			s.Int(n)
		case 'u':
			s.Uint(uint64(n))
		case '-':
			s.None()
		case 'b':
			s.Bool(n != 0)
		case 's':
			s.Name(int(n), c.names[n])
		case 'e':
			s.End()
		}
	}
}

// record returns the rows of tables of a fixture.
func record(tb testing.TB, name string, tables ...string) map[string]*cells {
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
	out := map[string]*cells{}
	var open []*report.Table
	for _, n := range tables {
		out[n] = new(cells)
		table, err := report.NewTableTo(n, out[n])
		if err != nil {
			tb.Fatal(err)
		}
		if err := table.Follow(m, r.Header().Version); err != nil {
			tb.Fatal(err)
		}
		table.Begin(m, 0)
		open = append(open, table)
	}
	err = ingest.Each(r, func(ev *model.Event) error {
		err := m.Apply(ev)
		for _, table := range open {
			table.Event(ev)
		}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	if err := m.Finish(m.Now()); err != nil {
		tb.Fatal(err)
	}
	for _, table := range open {
		if err := table.Close(); err != nil {
			tb.Fatal(err)
		}
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
			rows := bytes.Count(all[name].kinds, []byte("e"))
			n := 0
			for b.Loop() {
				all[name].to(w)
				n += rows
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
