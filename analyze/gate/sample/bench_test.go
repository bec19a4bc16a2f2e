package sample

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
)

// BenchmarkRead reads a trace as a gate does; BenchmarkAnalyze only analyses it, for
// comparison. Both tell nanoseconds per event. Compare with one processor: -cpu 1.
func BenchmarkRead(b *testing.B) {
	data := benchTrace(b)
	spec := &Spec{Window: "all", Op: "region:*"}
	for _, text := range []string{"p50(runnable)", "p99(runnable)", "mean(wait/op)", "mean(wakes/op)", "p99(blocked{reason=sync})", "p99(runnable{func=main.*})"} {
		q, err := rule.ParseQuantity(text)
		if err != nil {
			b.Fatal(err)
		}
		spec.Quantities = append(spec.Quantities, q)
	}
	var events int64
	for b.Loop() {
		x, err := readBytes(data, Input{}, spec, Options{Workers: 1})
		if err != nil {
			b.Fatal(err)
		}
		events = x.Events
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(events), "ns/event")
}

func BenchmarkAnalyze(b *testing.B) {
	data := benchTrace(b)
	var events int64
	for b.Loop() {
		in, err := ingest.NewReaderAt(bytes.NewReader(data), int64(len(data)), ingest.Options{Workers: 1})
		if err != nil {
			b.Fatal(err)
		}
		m := model.NewMachine(in.Tables(), model.Config{Version: in.Header().Version})
		r := analyze.New(in.Tables(), analyze.Options{Version: in.Header().Version})
		r.Observe(m)
		events = 0
		err = ingest.Each(in, func(ev *model.Event) error {
			events++
			r.Event(ev)
			return m.Apply(ev)
		})
		if err != nil {
			b.Fatal(err)
		}
		m.Finish(m.Now())
		r.Finish(m.Start(), m.Now())
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(events), "ns/event")
}

// benchTrace returns the trace that SAMPLE_BENCH_TRACE names, else a fixture.
func benchTrace(b *testing.B) []byte {
	name := os.Getenv("SAMPLE_BENCH_TRACE")
	if name == "" {
		name = filepath.Join("..", "..", "..", "fixtures", "http.trace")
	}
	data, err := os.ReadFile(name)
	if err != nil {
		b.Fatal(err)
	}
	return data
}
