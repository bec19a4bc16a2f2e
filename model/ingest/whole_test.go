package ingest

import (
	"bytes"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest/wire"
)

var cuts = flag.Int("cuts", 20, "number of places at which TestEveryCut cuts each trace, 0 for all")

// content is everything that a reading delivers, and whether that is complete.
func content(r *Reader) (all everything, whole bool) {
	all = drainReader(r)
	return all, all.err == "<nil>" && all.loss == ""
}

// partsOf returns where batches of a trace begin, or before Go 1.22 its last events.
func partsOf(data []byte) (at []int) {
	version, _ := parseHeader(data)
	for pos := headerLen; pos < len(data); {
		at = append(at, pos)
		if version >= wire.OldestVersion {
			h, err := wire.ParseHeader(data[pos:], version)
			if err != nil {
				return at
			}
			pos += h.Length + h.Size
			continue
		}
		_, _, rest, ok := nextV1(data[pos:], nil)
		if !ok {
			return at
		}
		pos = len(data) - len(rest)
	}
	const most = 60
	return at[max(0, len(at)-most):]
}

// TestEveryCut: a trace that is cut off anywhere is complete only if nothing is missing, or at the
// end of a generation, which is the end of a trace.
func TestEveryCut(t *testing.T) {
	names := slices.Concat(fixtures.Foreign(), fixtures.HandMade(), []string{"mixed.go1.22.p2.trace", "syscalls.go1.24.p4.trace", "mixed.go1.25.p2.trace", "quiet.go1.26.p4.trace"})
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			data := fixture(t, name)
			r := openBytes(t, data, Options{Workers: 1})
			var ends []int
			for _, g := range r.Index().Generations {
				ends = append(ends, int(g.Offset))
			}
			want, whole := content(r)
			if failure, err := fixtures.Expect(name); !whole && err == nil && failure == "" {
				t.Fatal("the trace is not complete")
			}
			step, complete := 1, 0
			if *cuts > 0 {
				step = max(1, len(data) / *cuts)
			}
			at := partsOf(data)
			for size := headerLen; size < len(data); size += step {
				at = append(at, size)
			}
			for _, size := range at {
				for _, stream := range []bool{false, true} {
					r, err := NewReaderAt(bytes.NewReader(data[:size]), int64(size), Options{Workers: 1})
					if stream {
						r, err = NewReader(bytes.NewReader(data[:size]), Options{Workers: 1})
					}
					if err != nil {
						continue
					}
					got, whole := content(r)
					if whole {
						complete++
					}
					if whole && !slices.Contains(ends, size) && got.diff(&want) != nil {
						t.Errorf("%d of %d bytes: complete, with %d of %d events", size, len(data), len(got.events), len(want.events))
					}
				}
			}
			t.Logf("%d cuts, %d of them complete", len(at), complete)
		})
	}
}

// TestTailV1: what a trace before Go 1.22 refers to and lacks is counted, and all events are delivered.
func TestTailV1(t *testing.T) {
	data := fixture(t, "foreign/fgprof.go1.21.trace")
	whole := drainReader(openBytes(t, data, Options{}))
	at := partsOf(data)
	r := openBytes(t, data[:at[len(at)-20]], Options{})
	got, l := drainReader(r), r.Loss()
	if l == nil || l.LostBytes != 0 || len(got.events) != len(whole.events) || !strings.Contains(l.String(), "are not defined") {
		t.Errorf("%d of %d events, loss %v", len(got.events), len(whole.events), l)
	}
}

// unsteady is a file that becomes another at some call.
type unsteady struct {
	mu            sync.Mutex
	before, after []byte
	calls         int // until then
}

func (u *unsteady) ReadAt(p []byte, off int64) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.calls--
	data := u.before
	if u.calls < 0 {
		data = u.after
	}
	return bytes.NewReader(data).ReadAt(p, off)
}

// TestUnsteady: a file whose size changes while it is read is never complete. One of
// which a part is overwritten is damaged, or complete as it was before or after.
func TestUnsteady(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 3))
	names := []string{"generations.go1.26.p4.trace", "quiet.go1.26.p4.trace", "mixed.go1.25.p2.trace", "foreign/fgprof.go1.21.trace"}
	for _, name := range names {
		data := fixture(t, name)
		steady := &unsteady{before: data, calls: 1 << 30}
		read := func(u *unsteady) (everything, bool) {
			r, err := NewReaderAt(u, int64(len(data)), Options{Workers: 1})
			if err != nil {
				return everything{}, false
			}
			return content(r)
		}
		want, _ := read(steady)
		calls, kinds := 1<<30-steady.calls, map[string]int{}
		for n := range 75 {
			u := &unsteady{before: data, calls: rnd.IntN(calls - 1)} // the last looks for the end
			from := headerLen + rnd.IntN(len(data)-headerLen)
			switch n % 3 {
			case 0:
				u.after = data[:from]
			case 1:
				u.after = append(bytes.Clone(data), data[from:]...)
			case 2:
				u.after = bytes.Clone(data)
				copy(u.after[from:min(from+64, len(data))], data[rnd.IntN(len(data)):])
			}
			got, whole := read(u)
			if !whole {
				continue
			}
			kinds[[]string{"shrinks", "grows", "changes"}[n%3]]++
			if n%3 < 2 {
				t.Errorf("%s, variant %d: complete although its size changed", name, n)
			} else if after, _ := read(&unsteady{after: u.after}); got.diff(&want) != nil && got.diff(&after) != nil {
				t.Errorf("%s, variant %d: complete, but neither as before nor as after", name, n)
			}
		}
		t.Logf("%s: complete %v", name, kinds)
	}
}

// TestManyGenerations: an index does not grow beyond the bytes that it describes.
func TestManyGenerations(t *testing.T) {
	b := []byte("go 1.26 trace\x00\x00\x00")
	for range 1 << 17 {
		b = append(b, 1, 1, 1, 1, 0, 52) // an empty batch, and the end of its generation
	}
	x, err := NewIndex(bytes.NewReader(b), int64(len(b)))
	if err != nil || x.Damage == nil || !strings.Contains(x.Damage.Cause.Error(), "more than one in 256") || len(x.Generations) > len(b)/minGeneration+fewGenerations+1 {
		t.Errorf("%d generations of %d bytes, damage %v, error %v", len(x.Generations), len(b), x.Damage, err)
	}
}

// TestManyBatches: the library, which keeps hundreds of bytes for each batch, does not get more than
// the generation has room for; package wire decodes them if they are valid.
func TestManyBatches(t *testing.T) {
	data := fixture(t, "quiet.go1.26.p4.trace")
	many := bytes.Repeat([]byte{1, 1, 1, 1, 0}, 2*fewBatches)
	valid := slices.Concat(data[:headerLen], many, data[headerLen:])
	if r := openBytes(t, valid, Options{}); drainReader(r).err != "<nil>" || r.Loss() != nil {
		t.Errorf("valid: loss %v", r.Loss())
	}
	got := drainReader(openBytes(t, append(valid[:headerLen+len(many):headerLen+len(many)], 52), Options{}))
	if !strings.Contains(got.err, "more than one in 64") {
		t.Errorf("without a clock: error %s", got.err)
	}
}

// TestEveryBatch: a trace of the runtime that lacks a batch is not complete, or in doubt. What cannot be
// known to be missing are goroutines that waited all through the first generation, and what a
// thread did last on its own, or samples, whose stacks others have, too.
func TestEveryBatch(t *testing.T) {
	const goStatus, goStatusStack = 25, 48 // internal/trace/tracev2/events.go: EvGoStatus ...
	silent := map[string]int{"convoy.go1.26.p4.trace": 1, "fanout.go1.26.p4.trace": 1, "goroutines.go1.26.p4.trace": 1,
		"hogs.go1.26.p2.trace": 1}
	batches := 0
	for _, name := range fixtures.Real() {
		data := fixture(t, name)
		version, err := parseHeader(data)
		if r := openBytes(t, data, Options{}); drainReader(r).err == "" || r.Doubt() != "" {
			t.Errorf("%s: %s", name, r.Doubt())
		}
		if err != nil || version < wire.OldestVersion || testing.Short() && len(data) > 64<<10 {
			continue
		}
		first, found := uint64(0), 0
		for pos := headerLen; pos < len(data); {
			h, err := wire.ParseHeader(data[pos:], version)
			if err != nil {
				t.Fatal(err)
			}
			if first == 0 {
				first = h.Generation
			}
			waited := h.Generation == first && h.Thread == math.MaxUint64
			begin, body := pos, data[pos+h.Length:][:h.Size]
			pos += h.Length + h.Size
			if h.Size == 0 || waited && (body[0] == goStatus || body[0] == goStatusStack) {
				continue
			}
			batches++
			less := slices.Concat(data[:begin], data[pos:])
			r, err := NewReaderAt(bytes.NewReader(less), int64(len(less)), Options{Workers: 1})
			if err != nil {
				continue
			}
			if _, whole := content(r); whole && r.Doubt() == "" {
				found++
				t.Logf("%s: without the %d bytes at %d complete", name, pos-begin, begin)
			}
		}
		if found != silent[name] {
			t.Errorf("%s: %d batches can be missing unseen, want %d", name, found, silent[name])
		}
	}
	t.Logf("%d batches", batches)
}

// TestDamagedTime: a step of the clock after which times could not be added up is damage, and so
// are several that are too long together.
func TestDamagedTime(t *testing.T) {
	s := newStitcher(model.NewTables())
	const year = model.Time(365 * 24 * time.Hour)
	for _, tt := range []struct {
		times []model.Time
		want  bool
	}{{[]model.Time{year / 365}, true}, {[]model.Time{year}, false}, {[]model.Time{year / 100, 2 * year / 100, 8 * year / 100}, false}, {[]model.Time{1 << 62}, false}} {
		c := newClock(ClockRaw)
		c.set(&model.Event{}, false)
		var err error
		for _, at := range tt.times {
			e := &model.Event{Time: at}
			if err = c.check(e, s); err != nil {
				break
			}
			c.set(e, false)
		}
		if (err == nil) != tt.want {
			t.Errorf("%v: error %v", tt.times, err)
		}
	}
}

// TestSecondTrace: of two traces in one input, all of the first is read as if it were alone, and
// what is said of the rest is that it is a second trace, also of the middle of a generation.
func TestSecondTrace(t *testing.T) {
	second, err := os.ReadFile(fixtures.Path("quiet.go1.26.p4.trace"))
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"22", "23", "25", "26"} {
		first, err := os.ReadFile(fixtures.Path("syscalls.go1." + version + ".p4.trace"))
		if err != nil {
			t.Fatal(err)
		}
		want := drainReader(openBytes(t, first, Options{}))
		part := partsOf(first)[2]
		for _, at := range []int{len(first), part} {
			data := slices.Concat(first[:at], second)
			stream, err := NewReader(bytes.NewReader(data), Options{})
			if err != nil {
				t.Fatal(err)
			}
			for kind, r := range map[string]*Reader{"file": openBytes(t, data, Options{}), "stream": stream} {
				got := drainReader(r)
				got.err = want.err
				loss := r.Loss()
				if loss == nil || loss.Cause != errSecond || loss.LostBytes == 0 {
					t.Errorf("%s of go 1.%s, second trace at %d: loss %v", kind, version, at, loss)
					continue
				}
				if at == part {
					continue
				}
				if got.loss = want.loss; got.diff(&want) != nil || loss.Offset != int64(at) || loss.LostBytes != int64(len(second)) {
					t.Errorf("%s of go 1.%s: %v, loss %v", kind, version, got.diff(&want), loss)
				}
			}
		}
	}
}
