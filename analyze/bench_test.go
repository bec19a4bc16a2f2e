package analyze_test

import (
	"bytes"
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

// BenchmarkAnalyze measures a trace from its bytes to the finished report, with
// and without run queues and causes. Together they may cost as much as all the
// rest.
func BenchmarkAnalyze(b *testing.B) {
	paths := []string{fixtures.Path("http.trace")}
	if *largeTrace != "" {
		paths = append(paths, *largeTrace)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		for _, with := range []string{"without", "with"} {
			b.Run(filepath.Base(path)+"/"+with, func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				for b.Loop() {
					analyzeBytes(b, data, with == "without")
				}
			})
		}
	}
}

func analyzeBytes(b *testing.B, data []byte, noCauses bool) {
	in, err := ingest.NewReader(bytes.NewReader(data), ingest.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer in.Close()
	version := in.Header().Version
	m := model.NewMachine(in.Tables(), model.Config{Version: version})
	r := analyze.New(in.Tables(), analyze.Options{Version: version, NoCauses: noCauses})
	r.Observe(m)
	err = ingest.Each(in, func(ev *model.Event) error {
		r.Event(ev)
		return m.Apply(ev)
	})
	if err != nil {
		b.Fatal(err)
	}
	if err := m.Finish(m.Now()); err != nil {
		b.Fatal(err)
	}
	r.Finish(m.Start(), m.Now())
}
