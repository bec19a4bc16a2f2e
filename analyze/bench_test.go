package analyze_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
)

// Short traces show the cost of setting up and finishing as well.
var largeTrace = flag.String("large_trace", "", "measure on the trace in `file` too")

// load reads all events of a trace.
func load(b testing.TB, path string) (*model.Tables, int, []model.Event) {
	b.Helper()
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	in, err := ingest.NewReader(f, ingest.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer in.Close()
	var events []model.Event
	err = ingest.Each(in, func(ev *model.Event) error {
		events = append(events, *ev)
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return in.Tables(), in.Header().Version, events
}

// BenchmarkReport measures the Machine alone, with all analyses but run queues
// and causes, and with these: what they cost per event of the trace are the
// differences.
func BenchmarkReport(b *testing.B) {
	paths := []string{fixtures.Path("http.trace"), fixtures.Path("goroutines.go1.26.p4.trace")}
	if *largeTrace != "" {
		paths = append(paths, *largeTrace)
	}
	for _, path := range paths {
		tables, version, events := load(b, path)
		for _, with := range []string{"machine", "report", "causes"} {
			b.Run(filepath.Base(path)+"/"+with, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					m := model.NewMachine(tables, model.Config{Version: version})
					r := analyze.New(tables, analyze.Options{Version: version, NoCauses: with != "causes"})
					if with != "machine" {
						r.Observe(m)
					}
					var failed error
					for i := range events {
						r.Event(&events[i])
						failed = errors.Join(failed, m.Apply(&events[i]))
					}
					if failed != nil {
						b.Fatal(failed)
					}
					if err := m.Finish(m.Now()); err != nil {
						b.Fatal(err)
					}
					r.Finish(m.Start(), m.Now())
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(events)), "ns/event")
			})
		}
	}
}
