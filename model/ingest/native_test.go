package ingest

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest/wire"
)

var compareTraces = flag.String("compare_traces", "", "a pattern of trace files to compare decoders on, beside the fixtures")

// decoded is all that a decoder makes of a generation.
type decoded struct {
	events  []model.Event
	strings []string
	stacks  [][]model.Frame
	err     error
}

func (d *decoded) Chunk() *wire.Chunk { return &wire.Chunk{Events: make([]model.Event, 0, 4)} }

func (d *decoded) Emit(c *wire.Chunk) bool {
	d.events = append(d.events, c.Events...)
	d.strings = append(d.strings, c.Strings...)
	d.stacks = append(d.stacks, c.Stacks...)
	return true
}

// prefix reports how d is not the beginning of want, nil if it is.
func (d *decoded) prefix(want *decoded) error {
	for i := range min(len(d.events), len(want.events)) {
		if d.events[i] != want.events[i] {
			return fmt.Errorf("event %d:\n got %+v\nwant %+v", i, d.events[i], want.events[i])
		}
	}
	switch {
	case len(d.events) > len(want.events):
		return fmt.Errorf("%d events, but the library decodes %d (%v)", len(d.events), len(want.events), want.err)
	case len(d.strings) > len(want.strings) || !slices.Equal(d.strings, want.strings[:len(d.strings)]):
		return fmt.Errorf("strings %q, want %q", d.strings, want.strings)
	case len(d.stacks) > len(want.stacks) || !slices.EqualFunc(d.stacks, want.stacks[:len(d.stacks)], slices.Equal):
		return fmt.Errorf("stacks %v, want %v", d.stacks, want.stacks)
	}
	return nil
}

// tally counts generations by what the native decoder did.
type tally struct {
	whole    int // decoded
	invalid  int // given up, and the library gave up, too
	needless int // given up, but not by the library
}

// compareDecoders decodes one generation in all ways, adds it to a tally and
// returns the first difference.
func (n *tally) compareDecoders(header, body []byte, version int, g *Generation) error {
	data := bytes.NewReader(body)
	var lib, own, both decoded
	lib.err = libraryDecoder{}.decode(header, data, g, &lib)
	var w wire.Decoder
	sent, gaveUp := w.Decode(data, g.Length, version, &own)
	switch {
	case gaveUp == nil && lib.err != nil:
		return fmt.Errorf("no error, but the library says %v", lib.err)
	case gaveUp == nil:
		n.whole++
	case lib.err != nil:
		n.invalid++
	default:
		n.needless++
	}
	if err := own.prefix(&lib); err != nil {
		return err
	}
	if got := (wire.Progress{Events: len(own.events), Strings: len(own.strings), Stacks: len(own.stacks)}); got != sent {
		return fmt.Errorf("emitted %v, but claims %v", got, sent)
	}
	both.err = newDecoder(version, &Options{}).decode(header, data, g, &both)
	if err := both.prefix(&lib); err != nil {
		return fmt.Errorf("with fallback: %w", err)
	}
	if len(both.events) != len(lib.events) || len(both.strings) != len(lib.strings) || len(both.stacks) != len(lib.stacks) {
		return fmt.Errorf("with fallback: %d events, want %d", len(both.events), len(lib.events))
	}
	if (both.err == nil) != (lib.err == nil) {
		return fmt.Errorf("with fallback: error %v, want %v", both.err, lib.err)
	}
	return nil
}

// compareAll compares the decoders on each generation of a trace, which may be
// anything.
func (n *tally) compareAll(t *testing.T, data []byte) {
	t.Helper()
	x, err := NewIndex(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return
	}
	for i := range x.Generations {
		g := &x.Generations[i]
		if err := n.compareDecoders(data[:headerLen], data[g.Offset:g.Offset+g.Length], x.Version, g); err != nil {
			t.Errorf("generation %d: %v", g.Number, err)
		}
	}
}

// TestNative: the native decoder does exactly what the library and converter do,
// on all there is of all traces, and gives up on no valid generation.
func TestNative(t *testing.T) {
	check := func(t *testing.T, data []byte) tally {
		var n tally
		n.compareAll(t, data)
		if n.needless > 0 {
			t.Errorf("needlessly gave up on %d generations", n.needless)
		}
		t.Logf("%+v", n)
		return n
	}
	for _, name := range slices.Concat(fixtures.HandMade(), fixtures.Broken()) {
		t.Run(name, func(t *testing.T) { check(t, fixture(t, name)) })
	}
	for _, name := range fixtures.Chosen(fixtures.Real()) {
		t.Run(name, func(t *testing.T) {
			if n := check(t, fixture(t, name)); n.whole == 0 || n.invalid > 0 {
				t.Errorf("%+v, want all generations whole", n)
			}
		})
	}
	t.Run("recorded", func(t *testing.T) { check(t, recordedTrace(t)) })
	files, err := filepath.Glob(*compareTraces)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			check(t, data)
		})
	}
}

// TestNativeDamaged: on damaged traces, what the native decoder emits is the
// beginning of what the library does, and it gives up wherever the library does.
func TestNativeDamaged(t *testing.T) {
	names, traces := smallFixtures(t, 600<<10)
	var n tally
	for seed := range *corruptions {
		rnd := rand.New(rand.NewPCG(uint64(seed), 1))
		i := rnd.IntN(len(traces))
		n.compareAll(t, fixtures.Damage(rnd, traces[i]))
		if t.Failed() {
			t.Fatalf("seed %d, %s", seed, names[i])
		}
	}
	t.Logf("%+v", n)
	if n.whole == 0 || n.invalid == 0 {
		t.Error("want some of both")
	}
}

// skew returns a trace with the clock of each thread off by up to most ticks, so
// that events have to wait for others of a later time.
func skew(t *testing.T, rnd *rand.Rand, data []byte, most int64) []byte {
	t.Helper()
	version, err := parseHeader(data)
	if err != nil {
		t.Fatal(err)
	}
	skewed := bytes.Clone(data[:headerLen])
	offsets := map[uint64]uint64{}
	for rest := data[headerLen:]; len(rest) > 0; {
		h, err := wire.ParseHeader(rest, version)
		if err != nil {
			t.Fatal(err)
		}
		end := h.Length + h.Size
		if h.End || h.Experimental || kindOf(&h, rest[h.Length:end], version) != BatchEvents {
			skewed = append(skewed, rest[:end]...)
			rest = rest[end:]
			continue
		}
		if _, ok := offsets[h.Thread]; !ok {
			offsets[h.Thread] = uint64(rnd.Int64N(2*most+1) - most)
		}
		skewed = append(skewed, 1) // an event batch
		for _, v := range []uint64{h.Generation, h.Thread, h.Time + offsets[h.Thread], uint64(h.Size)} {
			skewed = binary.AppendUvarint(skewed, v)
		}
		skewed = append(skewed, rest[h.Length:end]...)
		rest = rest[end:]
	}
	return skewed
}

// TestNativeSkewed: the decoders agree on which event comes next when times do
// not tell.
func TestNativeSkewed(t *testing.T) {
	for _, name := range fixtures.Chosen(fixtures.Real()) {
		t.Run(name, func(t *testing.T) {
			data := fixture(t, name)
			for seed, most := range []int64{1, 100, 10000, 10000000} {
				rnd := rand.New(rand.NewPCG(uint64(seed), 2))
				var n tally
				n.compareAll(t, skew(t, rnd, data, most))
				if n.needless > 0 {
					t.Errorf("skewed by %d: needlessly gave up on %d generations", most, n.needless)
				}
			}
		})
	}
}

// FuzzDecode looks for bytes on which the native decoder emits anything that the
// library does not, or panics.
func FuzzDecode(f *testing.F) {
	for _, name := range fixtures.HandMade() {
		f.Add(fixture(f, name))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<20 {
			return
		}
		new(tally).compareAll(t, data)
	})
}

// BenchmarkNative measures the native decoder alone, on one generation after
// another. Compare BenchmarkConvert, which does the same with the library, and
// BenchmarkSequential, which does less.
func BenchmarkNative(b *testing.B) {
	data := benchTrace(b)
	x, err := NewIndex(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		b.Fatal(err)
	}
	var w wire.Decoder
	n := 0
	for b.Loop() {
		n = 0
		for i := range x.Generations {
			g := &x.Generations[i]
			sent, err := w.Decode(io.NewSectionReader(bytes.NewReader(data), g.Offset, g.Length), g.Length, x.Version, &reuseSink{})
			if err != nil {
				b.Fatal(err)
			}
			n += sent.Events
		}
	}
	perEvent(b, n, data)
}

// reuseSink throws events away.
type reuseSink struct{ c wire.Chunk }

func (s *reuseSink) Chunk() *wire.Chunk {
	if s.c.Events == nil {
		s.c.Events = make([]model.Event, 0, chunkEvents)
	}
	s.c = wire.Chunk{Events: s.c.Events[:0], Strings: s.c.Strings[:0], Stacks: s.c.Stacks[:0], Frames: s.c.Frames[:0]}
	return &s.c
}

func (s *reuseSink) Emit(*wire.Chunk) bool { return true }

// ignored is a sink for events that nobody looks at.
type ignored struct{}

func (ignored) Chunk() *wire.Chunk    { return &wire.Chunk{Events: make([]model.Event, 0, chunkEvents)} }
func (ignored) Emit(*wire.Chunk) bool { return true }

// TestEmptyBatch checks that a new decoder takes a batch without events as a used one does.
func TestEmptyBatch(t *testing.T) {
	data := fixture(t, "quiet.go1.26.p4.trace")
	h, err := wire.ParseHeader(data[headerLen:], 26)
	if err != nil {
		t.Fatal(err)
	}
	_, n := binary.Uvarint(data[headerLen+1:])
	empty := append(bytes.Clone(data[headerLen:headerLen+1+n]), 0, 1, 0) // thread, time, size
	at := headerLen + h.Length + h.Size
	generation := slices.Concat(data[headerLen:at], empty, data[at:])
	d := new(wire.Decoder)
	for range 2 {
		if _, err := d.Decode(bytes.NewReader(generation), int64(len(generation)), 26, ignored{}); err != nil {
			t.Error(err)
		}
	}
}
