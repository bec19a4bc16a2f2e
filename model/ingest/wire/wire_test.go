package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"testing"

	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
)

// N.B. that what is decoded is right is tested against the library, which only
// package ingest may import.

// throwaway is a sink that reuses one chunk.
type throwaway struct{ c Chunk }

func (s *throwaway) Chunk() *Chunk {
	if s.c.Events == nil {
		s.c.Events = make([]model.Event, 0, 4096)
	}
	s.c = Chunk{Events: s.c.Events[:0], Strings: s.c.Strings[:0], Stacks: s.c.Stacks[:0], Frames: s.c.Frames[:0]}
	return &s.c
}

func (s *throwaway) Emit(*Chunk) bool { return true }

// firstGeneration returns the first generation of a trace of Go 1.26.
func firstGeneration(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(fixtures.Path(name))
	if err != nil {
		t.Fatal(err)
	}
	data = data[16:]
	pos := 0
	for data[pos] != evEndOfGeneration {
		h, err := ParseHeader(data[pos:], 26)
		if err != nil {
			t.Fatal(err)
		}
		pos += h.Length + h.Size
	}
	return data[:pos+1]
}

func (d *Decoder) decodeBytes(data []byte, out Sink) (Progress, error) {
	return d.Decode(bytes.NewReader(data), int64(len(data)), 26, out)
}

func TestNumber(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	values := []uint64{0, 1, 0x7f, 0x80, 0x3fff, 0x4000, 1<<56 - 1, 1 << 56, math.MaxInt64, math.MaxUint64}
	for range 10000 {
		values = append(values, rnd.Uint64()>>rnd.IntN(64))
	}
	for _, want := range values {
		for _, rest := range []int{0, 1, 20} { // bytes that follow
			b := binary.AppendUvarint([]byte{0xff}, want)
			end := len(b)
			b = append(b, make([]byte, rest)...)
			if v, next := number(b, 1); v != want || next != end {
				t.Fatalf("number(%x) = %d, %d, want %d, %d", b, v, next, want, end)
			}
		}
	}
}

func TestInvalidNumber(t *testing.T) {
	for _, b := range [][]byte{
		{},
		{0x80},
		{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02},
		{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01},
	} {
		if v, next := number(b, 0); next != none {
			t.Errorf("number(%x) = %d, %d, want no number", b, v, next)
		}
	}
	if _, next := number([]byte{1}, none); next != none {
		t.Error("a number follows one that is not there")
	}
}

// TestGoroutines compares the table with a map.
func TestGoroutines(t *testing.T) {
	numbering := map[string]func(rnd *rand.Rand) uint64{
		"dense":  func(rnd *rand.Rand) uint64 { return rnd.Uint64N(5000) },
		"sparse": func(rnd *rand.Rand) uint64 { return rnd.Uint64N(5000) << 20 },
		"wild":   func(rnd *rand.Rand) uint64 { return rnd.Uint64() >> rnd.IntN(64) },
	}
	for name, id := range numbering {
		t.Run(name, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(3, 4))
			var s goroutines
			s.reset()
			want := map[uint64]uint8{}
			for range 50000 {
				id := id(rnd)
				g, _ := s.find(id)
				switch status, ok := want[id]; {
				case ok != (g != nil) || ok && g.status != status:
					t.Fatalf("goroutine %d is %v, want %v, %v", id, g, status, ok)
				case ok:
					g.status = 0
					delete(want, id)
				default:
					status := uint8(1 + rnd.IntN(4))
					if i, ok := s.add(id, status); ok != (id < maxGoID) || ok && s.list[i].id != model.GoID(id) {
						t.Fatalf("add(%d) = %d, %v", id, i, ok)
					} else if ok {
						want[id] = status
					}
				}
			}
		})
	}
}

// TestCollisions: numbers chosen to fall into one slot at any size of the table
// are refused rather than searched for long.
func TestCollisions(t *testing.T) {
	inverse := uint64(1) // of the factor of the hash
	for range 6 {
		inverse *= 2 - golden*inverse
	}
	var s goroutines
	s.reset()
	added, refused := 0, 0
	for k := uint64(0); k < 1<<19; k++ {
		block := k * inverse
		if block >= maxGoID>>4 {
			continue
		}
		if s.home(model.GoID(block<<4)) != 0 {
			t.Fatalf("goroutine %d does not collide", block<<4)
		}
		if _, ok := s.add(block<<4, goRunnable); ok {
			added++
		} else {
			refused++
		}
	}
	if added > maxProbes || refused == 0 {
		t.Errorf("added %d, refused %d, want at most %d and the rest", added, refused, maxProbes)
	}
}

// TestNoAllocations: decoding another generation of the same kind allocates
// nothing per event, only copies of strings.
func TestNoAllocations(t *testing.T) {
	data := firstGeneration(t, "pipeline.go1.26.p4.trace")
	var d Decoder
	out := &throwaway{}
	events := 0
	allocs := testing.AllocsPerRun(5, func() {
		sent, err := d.decodeBytes(data, out)
		if err != nil {
			t.Fatal(err)
		}
		events = sent.Events
	})
	if events < 1000 || allocs > float64(events)/20 {
		t.Errorf("%v allocations for %d events", allocs, events)
	}
}

// TestReuse: a decoder is as good as new after it gave up.
func TestReuse(t *testing.T) {
	data := firstGeneration(t, "mixed.go1.26.p2.trace")
	var d Decoder
	want, err := d.decodeBytes(data, &throwaway{})
	if err != nil {
		t.Fatal(err)
	}
	for cut := 1; cut < len(data); cut += len(data) / 20 {
		var unsupported *UnsupportedError
		if _, err := d.decodeBytes(data[:cut], &throwaway{}); !errors.As(err, &unsupported) || unsupported.Reason == "" {
			t.Errorf("cut off at %d: error %v, want a reason", cut, err)
		}
		if got, err := d.decodeBytes(data, &throwaway{}); err != nil || got != want {
			t.Errorf("whole again: %v, %v, want %v", got, err, want)
		}
	}
}

// panicking is a sink that fails.
type panicking struct{ throwaway }

func (*panicking) Emit(*Chunk) bool { panic("sink") }

// stopping is a sink that wants no more.
type stopping struct{ throwaway }

func (*stopping) Emit(*Chunk) bool { return false }

func TestSinks(t *testing.T) {
	data := firstGeneration(t, "mixed.go1.26.p2.trace")
	var d Decoder
	var unsupported *UnsupportedError
	if _, err := d.decodeBytes(data, &panicking{}); !errors.As(err, &unsupported) {
		t.Errorf("panic: error %v, want an UnsupportedError", err)
	}
	if sent, err := d.decodeBytes(data, &stopping{}); err != nil || sent.Events > 4096 {
		t.Errorf("stop: %v, %v, want one chunk and no error", sent, err)
	}
}

// TestMemory: what little bytes can ask for is bounded.
func TestMemory(t *testing.T) {
	batch := func(data ...byte) []byte {
		b := []byte{evEventBatch, 1, 1, 1}
		return append(binary.AppendUvarint(b, uint64(len(data))), data...)
	}
	huge := binary.AppendUvarint(nil, 1<<40)
	cases := map[string][]byte{
		"string number": batch(append([]byte{EvStrings, evString}, append(huge, 0)...)...),
		"stack number":  batch(append([]byte{EvStacks, evStack}, append(huge, 0)...)...),
		"proc number":   batch(append([]byte{evProcStatus, 1}, append(huge, procIdle)...)...),
		"goroutine":     batch(append([]byte{evGoStatus, 1}, append(huge, 1, goRunnable)...)...),
	}
	sync := batch(evSync, evFrequency, 1, evClockSnapshot, 1, 1, 1, 1)
	for name, b := range cases {
		t.Run(name, func(t *testing.T) {
			data := append(append([]byte{}, sync...), b...)
			data = append(data, evEndOfGeneration)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			var d Decoder
			_, err := d.decodeBytes(data, &throwaway{})
			runtime.ReadMemStats(&after)
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 1<<20 {
				t.Errorf("allocated %d bytes for %d (%v)", allocated, len(data), err)
			}
		})
	}
}

// TestRosterOfDamage zeroes a few bytes of events, which ends what can be read of their
// thread: goroutines have no names then, or their own.
func TestRosterOfDamage(t *testing.T) {
	data := firstGeneration(t, "starve.go1.26.p1.trace")
	var d Decoder
	names := func(data []byte) map[model.GoID]string {
		d.reset(bytes.NewReader(data), int64(len(data)), 26, &throwaway{})
		if !d.load() {
			t.Fatal(d.reason)
		}
		r, names := d.roster(), map[model.GoID]string{}
		for i := range r.Len() {
			names[r.Member(i).G] = r.Start(r.Member(i))
		}
		return names
	}
	want := names(data)
	for _, b := range slices.Clone(d.batches[1:]) {
		for at := int(b.at) + 1; at+16 < int(b.at)+int(b.size); at += 1 + int(b.size)/8 {
			damaged := slices.Clone(data)
			clear(damaged[at : at+16])
			for g, name := range names(damaged) {
				if name != "" && name != want[g] {
					t.Errorf("damaged at %d: goroutine %d is %s, want %s", at, g, name, want[g])
				}
			}
		}
	}
}
