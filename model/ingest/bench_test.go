package ingest

import (
	"bytes"
	"flag"
	"io"
	"math"
	"os"
	"testing"

	"golang.org/x/exp/trace"

	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest/wire"
)

var largeTrace = flag.String("large_trace", "", "a trace of Go 1.22 or newer, at least 50 MB, for the benchmarks (default: a fixture)")

// benchTrace returns the trace to measure with.
func benchTrace(b *testing.B) []byte {
	b.Helper()
	if *largeTrace == "" {
		return fixture(b, "http.trace")
	}
	data, err := os.ReadFile(*largeTrace)
	if err != nil {
		b.Fatal(err)
	}
	return data
}

// perEvent reports the time per event of a benchmark that reads n events in
// each iteration.
func perEvent(b *testing.B, n int, data []byte) {
	b.SetBytes(int64(len(data)))
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n*b.N), "ns/event")
}

// BenchmarkSequential is the yardstick: a bare loop over the library's reader.
func BenchmarkSequential(b *testing.B) {
	data := benchTrace(b)
	n := 0
	for b.Loop() {
		n = 0
		r, err := trace.NewReader(bytes.NewReader(data))
		if err != nil {
			b.Fatal(err)
		}
		for {
			if _, err := r.ReadEvent(); err == io.EOF {
				break
			} else if err != nil {
				b.Fatal(err)
			}
			n++
		}
	}
	perEvent(b, n, data)
}

// BenchmarkReader decodes, converts and stitches.
func BenchmarkReader(b *testing.B) {
	for _, workers := range []int{1, 2, 4} {
		b.Run("workers="+string(rune('0'+workers)), func(b *testing.B) {
			data := benchTrace(b)
			n := 0
			for b.Loop() {
				n = 0
				r := openBytes(b, data, Options{Workers: workers})
				for {
					events, err := r.Next()
					if err == io.EOF {
						break
					} else if err != nil {
						b.Fatal(err)
					}
					n += len(events)
				}
			}
			perEvent(b, n, data)
		})
	}
}

// BenchmarkConvert measures a worker alone, on one generation after another.
func BenchmarkConvert(b *testing.B) {
	data := benchTrace(b)
	x, err := NewIndex(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		b.Fatal(err)
	}
	out := newCountSink()
	for b.Loop() {
		out.n = 0
		src, err := newIndexedSource(bytes.NewReader(data), x)
		if err != nil {
			b.Fatal(err)
		}
		for j := src.next(); j != nil; j = src.next() {
			if err := (libraryDecoder{}).decode(j.header, j.data, &j.gen, out); err != nil {
				b.Fatal(err)
			}
		}
	}
	perEvent(b, out.n, data)
}

// countSink counts events and throws them away.
type countSink struct {
	pool chunkPool
	n    int
}

func newCountSink() *countSink {
	return &countSink{pool: chunkPool{freeList[wire.Chunk]{left: &leftChunks}}}
}

func (s *countSink) Chunk() *wire.Chunk { return s.pool.take() }

func (s *countSink) Emit(c *wire.Chunk) bool {
	s.n += len(c.Events)
	s.pool.takeBack(c)
	return true
}

// BenchmarkStitch measures what is done on the consumer's goroutine, with
// events decoded beforehand.
func BenchmarkStitch(b *testing.B) {
	data := benchTrace(b)
	x, err := NewIndex(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		b.Fatal(err)
	}
	src, err := newIndexedSource(bytes.NewReader(data), x)
	if err != nil {
		b.Fatal(err)
	}
	keep := &keepSink{}
	if j := src.next(); j == nil {
		b.Fatal("no generation")
	} else if err := (libraryDecoder{}).decode(j.header, j.data, &j.gen, keep); err != nil {
		b.Fatal(err)
	}
	n := 0
	scratch := make([]model.Event, 0, chunkEvents)
	for b.Loop() {
		n = 0
		s, c := newStitcher(model.NewTables()), newClock(ClockRaw)
		s.begin(false, math.MaxInt64)
		for _, k := range keep.chunks {
			s.learn(k)
			scratch = append(scratch[:0], k.Events...)
			for i := range scratch {
				status := isStatus(&scratch[i])
				if err := s.apply(&scratch[i]); err != nil {
					b.Fatal(err)
				}
				c.set(&scratch[i], status)
			}
			n += len(scratch)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n*b.N), "ns/event")
}

// keepSink keeps all chunks.
type keepSink struct{ chunks []*wire.Chunk }

func (s *keepSink) Chunk() *wire.Chunk {
	return &wire.Chunk{Events: make([]model.Event, 0, chunkEvents)}
}

func (s *keepSink) Emit(c *wire.Chunk) bool {
	s.chunks = append(s.chunks, c)
	return true
}

// BenchmarkIndex walks the batch headers.
func BenchmarkIndex(b *testing.B) {
	data := benchTrace(b)
	for b.Loop() {
		if _, err := NewIndex(bytes.NewReader(data), int64(len(data))); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(len(data)))
}
