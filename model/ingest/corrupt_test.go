package ingest

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest/wire"
)

var corruptions = flag.Int("corruptions", 300, "number of corrupted traces that TestCorrupted reads")

// slowest is how long reading a small trace may take before it counts as a
// hang, on a busy machine with the race detector.
const slowest = 20 * time.Second

// smallFixtures returns the traces of at most limit bytes.
func smallFixtures(t testing.TB, limit int) (names []string, traces [][]byte) {
	t.Helper()
	for _, name := range fixtures.Names() {
		if data := fixture(t, name); len(data) <= limit {
			names = append(names, name)
			traces = append(traces, data)
		}
	}
	return names, traces
}

// outcome is what reading a trace came to.
type outcome struct {
	text      string // everything that must be the same each time
	kind      string
	allocated uint64
}

// readHostile reads a trace that may be anything, as a file or as a stream.
func readHostile(data []byte, stream bool) (o outcome, err error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var r *Reader
	if stream {
		r, err = NewReader(bytes.NewReader(data), Options{Workers: 2})
	} else {
		r, err = NewReaderAt(bytes.NewReader(data), int64(len(data)), Options{Workers: 2})
	}
	n, last := 0, model.Time(-1<<63)
	var empty *EmptyError
	if err == nil {
		err = Each(r, func(e *model.Event) error {
			n++
			if e.Time < last {
				return fmt.Errorf("event %d at %d after %d", n, e.Time, last)
			}
			last = e.Time
			if e.Kind == model.EventBad || e.Kind >= model.NumEventKinds {
				return fmt.Errorf("event %d of kind %d", n, e.Kind)
			}
			return nil
		})
	}
	switch {
	case errors.As(err, &empty):
		o.kind, o.text = "empty", err.Error()
	case err != nil:
		return o, err
	case r.Loss() != nil:
		o.kind, o.text = "loss", fmt.Sprint(n, last, *r.Loss())
	default:
		o.kind, o.text = "whole", fmt.Sprint(n, last)
	}
	runtime.ReadMemStats(&after)
	o.allocated = after.TotalAlloc - before.TotalAlloc
	return o, nil
}

// readWatched is readHostile with a limit of time.
func readWatched(data []byte, stream bool) (o outcome, err error) {
	done := make(chan bool)
	go func() {
		defer close(done)
		o, err = readHostile(data, stream)
	}()
	select {
	case <-done:
		return o, err
	case <-time.After(slowest):
		return outcome{}, fmt.Errorf("not done after %v", slowest)
	}
}

// allocationLimit is what reading data may allocate in all. The decoder
// allocates some 3 bytes per byte, events are 64 bytes of 2 bytes at the least,
// and the frames of stacks and the texts of errors come on top. For formats
// before Go 1.22 it takes 32 MiB at once (internal/trace/tracev1:
// eventsBucketSize).
func allocationLimit(data []byte) uint64 {
	limit := 8<<20 + 400*uint64(len(data))
	if version, err := parseHeader(data); err == nil && version < wire.OldestVersion {
		limit += 34 << 20
	}
	return limit
}

// TestCorrupted reads corrupted variants of the fixtures. None may panic, hang,
// allocate without bounds or be read in two ways. With -corruptions 100000 it
// takes some minutes.
func TestCorrupted(t *testing.T) {
	names, traces := smallFixtures(t, 64<<10)
	const seed = 1
	rnd := rand.New(rand.NewPCG(seed, seed))
	kinds := map[string]int{}
	var most float64
	for n := range *corruptions {
		k := rnd.IntN(len(traces))
		data := fixtures.Damage(rnd, traces[k])
		fail := func(format string, args ...any) {
			t.Helper()
			path := filepath.Join(os.TempDir(), fmt.Sprintf("corrupted-%d-%d.trace", seed, n))
			if err := os.WriteFile(path, data, 0o644); err != nil {
				t.Error(err)
			}
			t.Fatalf("variant %d of %s, saved as %s: %s", n, names[k], path, fmt.Sprintf(format, args...))
		}
		file, err := readWatched(data, false)
		if err != nil {
			fail("%v", err)
		}
		if limit := allocationLimit(data); file.allocated > limit {
			fail("allocated %d bytes for %d, limit %d", file.allocated, len(data), limit)
		}
		most = max(most, float64(file.allocated)/float64(allocationLimit(data)))
		kinds[file.kind]++
		if n%4 == 0 {
			stream, err := readWatched(data, true)
			if err != nil {
				fail("as a stream: %v", err)
			}
			if stream.text != file.text {
				fail("read as %s, as a stream as %s", file.text, stream.text)
			}
		}
	}
	t.Logf("%d variants: %d whole, %d with a loss, %d empty; at most %.0f%% of the memory allowed",
		*corruptions, kinds["whole"], kinds["loss"], kinds["empty"], 100*most)
}

// FuzzReader looks for input that makes the reader panic, hang, contradict
// itself or allocate without bounds.
func FuzzReader(f *testing.F) {
	_, traces := smallFixtures(f, 8<<10)
	for _, data := range traces {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := readWatched(data, false)
		if err != nil {
			t.Fatal(err)
		}
		if limit := allocationLimit(data); file.allocated > limit {
			t.Fatalf("allocated %d bytes for %d, limit %d", file.allocated, len(data), limit)
		}
		stream, err := readWatched(data, true)
		if err != nil {
			t.Fatal(err)
		}
		if file.text != stream.text {
			t.Fatalf("read as %s, as a stream as %s", file.text, stream.text)
		}
	})
}
