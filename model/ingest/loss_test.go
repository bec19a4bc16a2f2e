package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest/wire"
)

// TestLostGeneration: a gap between generations ends the trace, whether or not
// states contradict each other beyond it.
func TestLostGeneration(t *testing.T) {
	data, err := os.ReadFile(fixtures.Path("broken/lost-generation.trace"))
	if err != nil {
		t.Fatal(err)
	}
	r := openBytes(t, data, Options{})
	got, first := drainReader(r), r.Index().Generations[0]
	loss := r.Loss()
	if loss == nil || got.err != "<nil>" || loss.Generation != 3 || loss.Delivered != 0 || loss.Offset != first.Offset+first.Length ||
		!strings.Contains(loss.Cause.Error(), "generation 3 follows generation 1") {
		t.Errorf("loss %+v, error %s; want generation 3, which follows 1", loss, got.err)
	}
}

// TestSound: where a batch is missing, threads that do not need it go on; the
// loss says how far all of them came.
func TestSound(t *testing.T) {
	data, err := os.ReadFile(fixtures.Path("broken/lost-batch.trace"))
	if err != nil {
		t.Fatal(err)
	}
	r := openBytes(t, data, Options{})
	got := drainReader(r)
	loss := r.Loss()
	if loss == nil || got.err != "<nil>" || loss.Sound >= loss.LastTime || loss.Generation != 3 {
		t.Fatalf("loss %+v, error %s; want one that is sound less far than it goes", loss, got.err)
	}
	gen := r.Index().Generations[2]
	if loss.Sound < gen.First || loss.Sound > gen.Last {
		t.Errorf("sound until %d, want in generation 3, %d to %d", loss.Sound, gen.First, gen.Last)
	}
}

// TestSoundInWindow: what a thread was stuck at is missing from a window that goes on
// beyond it, though not from one that ends before.
func TestSoundInWindow(t *testing.T) {
	data, err := os.ReadFile(fixtures.Path("broken/lost-batch.trace"))
	if err != nil {
		t.Fatal(err)
	}
	r := openBytes(t, data, Options{})
	drainReader(r)
	sound := r.Loss().Sound.Sub(r.Index().Generations[0].First)
	beyond := r.Loss().LastTime.Sub(r.Loss().Sound)
	for _, to := range []model.Duration{sound - 1, sound, sound + 1, sound + beyond/2} {
		w := openBytes(t, data, Options{To: to})
		got := drainReader(w)
		if lost := to > sound; (w.Loss() != nil) != lost || got.err != "<nil>" {
			t.Errorf("until %d, sound until %d: loss %+v, error %s", to, sound, w.Loss(), got.err)
		}
		if l := w.Loss(); l != nil {
			if end := r.Index().Generations[0].First + model.Time(to); l.Sound != r.Loss().Sound || l.LastTime > end {
				t.Errorf("until %d: sound until %d of %d, want %d of at most %d", to, l.Sound, l.LastTime, r.Loss().Sound, end)
			}
		}
	}
}

// TestTruncated: of a trace cut off anywhere, all complete generations are
// delivered, with the same events as before, and the loss is stated.
func TestTruncated(t *testing.T) {
	data := recordedTrace(t)
	whole := drainReader(openBytes(t, data, Options{}))
	full := openBytes(t, data, Options{}).Index()
	for size := headerLen + 1; size < len(data); size += len(data) / 23 {
		r := openBytes(t, data[:size], Options{})
		got := drainReader(r)
		var want *Generation // the one that is incomplete
		for i := range full.Generations {
			if g := &full.Generations[i]; g.Offset+g.Length > int64(size) {
				want = g
				break
			}
		}
		loss := r.Loss()
		if loss == nil {
			t.Fatalf("%d bytes: no loss", size)
		}
		// Of less than a batch's header the generation may be unknown.
		known := int64(size)-want.Offset > wire.MaxHeader || loss.Generation != 0
		if known && loss.Generation != want.Number || loss.Offset != want.Offset || loss.Size != int64(size) || loss.LostBytes != int64(size)-want.Offset {
			t.Errorf("%d bytes: loss %+v, want generation %d at %d", size, *loss, want.Number, want.Offset)
		}
		n := len(got.events) - 1 // without the closing Sync
		if want.Number == full.Generations[0].Number {
			if !strings.Contains(got.err, "no readable event") {
				t.Errorf("%d bytes: error %s", size, got.err)
			}
			continue
		}
		if got.err != "<nil>" || n <= 0 || loss.LastTime != got.events[n-1].Time {
			t.Errorf("%d bytes: %d events, error %s, loss %+v", size, n, got.err, *loss)
			continue
		}
		for i := range n {
			// N.B. without the next generation, late statuses cannot be moved back to
			// its beginning.
			a, b := got.events[i], whole.events[i]
			if b.Flags&model.EventClamped != 0 {
				continue
			}
			if a != b {
				t.Fatalf("%d bytes: event %d is %+v, want %+v", size, i, a, b)
			}
		}
	}
}

// TestDamaged: a generation that contradicts itself or the one before ends the
// trace; what is valid before it is delivered.
func TestDamaged(t *testing.T) {
	data := recordedTrace(t)
	x := openBytes(t, data, Options{}).Index()
	g := x.Generations[3]
	tests := []struct {
		name   string
		change func(data []byte) []byte
		cause  string
		within bool // events of the generation before the break can be valid
	}{
		{"not a batch", func(d []byte) []byte { d[g.Offset] = 200; return d }, "unexpected event type 200", false},
		{"generation left out", func(d []byte) []byte {
			return append(d[:g.Offset:g.Offset], d[g.Offset+g.Length:]...)
		}, "", true},
		{"generation twice", func(d []byte) []byte {
			return append(d[:g.Offset+g.Length:g.Offset+g.Length], d[g.Offset:]...)
		}, "", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := test.change(bytes.Clone(data))
			var results []string
			for _, workers := range []int{1, 3} {
				r := openBytes(t, d, Options{Workers: workers})
				got := drainReader(r)
				loss := r.Loss()
				if loss == nil {
					t.Fatal("no loss")
				}
				if loss.Offset < g.Offset || loss.Size != int64(len(d)) || !strings.Contains(loss.Cause.Error(), test.cause) {
					t.Errorf("loss %+v", *loss)
				}
				if !test.within && loss.Delivered != 0 {
					t.Errorf("delivered %d events of the damaged generation", loss.Delivered)
				}
				if len(got.events) < 1000 {
					t.Errorf("only %d events", len(got.events))
				}
				results = append(results, fmt.Sprint(len(got.events), got.loss))
			}
			if results[0] != results[1] {
				t.Errorf("loss depends on the number of workers: %s, %s", results[0], results[1])
			}
		})
	}
}

// TestEmpty: what has no event is an EmptyError that says why.
func TestEmpty(t *testing.T) {
	const v26 = "go 1.26 trace\x00\x00\x00"
	tests := []struct {
		name, data string
		version    int
		cause      string
	}{
		{"nothing", "", 0, "empty input"},
		{"HTML", "<!DOCTYPE html><title>404</title>", 0, "not a Go execution trace"},
		{"short", "go 1.26 tr", 0, "not a Go execution trace"},
		{"newer", "go 1.99 trace\x00\x00\x00\x01\x02", 0, "newer than this program"},
		{"unknown", "go 1.20 trace\x00\x00\x00\x01\x02", 0, "unknown trace format go 1.20"},
		{"header only", v26, 26, "the trace has no events"},
		{"header only, 1.22", "go 1.22 trace\x00\x00\x00", 22, "the trace has no events"},
		{"cut off in the first batch", v26 + "\x01\x01\x01\x01\x05x", 26, "ends in the middle"},
		{"huge batch", v26 + "\x01\x01\x01\x01\xff\xff\xff\xff\x0fx", 26, "invalid size"},
		{"no number", v26 + "\x01" + strings.Repeat("\xff", 20), 26, "number too large"},
		{"garbage", v26 + "garbage", 26, "unexpected event type"},
		{"mark only", v26 + "\x34", 26, "ends that has not begun"},
		{"marks only", v26 + strings.Repeat("\x34", 1000), 26, "ends that has not begun"},
		{"v1, header only", "go 1.21 trace\x00\x00\x00", 21, ""},
		{"v1, garbage", "go 1.21 trace\x00\x00\x00garbage", 21, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			read := func(r *Reader, err error) error {
				if err != nil {
					return err
				}
				return Each(r, func(e *model.Event) error {
					if e.Kind != model.EventSync {
						t.Errorf("unexpected event %+v", e)
					}
					return nil
				})
			}
			fileErr := read(NewReaderAt(strings.NewReader(test.data), int64(len(test.data)), Options{}))
			streamErr := read(NewReader(strings.NewReader(test.data), Options{}))
			for _, err := range []error{fileErr, streamErr} {
				var empty *EmptyError
				if !errors.As(err, &empty) {
					t.Fatalf("error %v, want an EmptyError", err)
				}
				if empty.Version != test.version || !strings.Contains(err.Error(), test.cause) {
					t.Errorf("version %d, error %q, want %d, %q", empty.Version, err, test.version, test.cause)
				}
			}
		})
	}
}

// TestBrokenFixtures reads the damaged fixtures, twice.
func TestBrokenFixtures(t *testing.T) {
	for _, name := range fixtures.Broken() {
		t.Run(name, func(t *testing.T) {
			data := fixture(t, name)
			var results []string
			for range 2 {
				r, err := NewReaderAt(bytes.NewReader(data), int64(len(data)), Options{})
				if err != nil {
					results = append(results, err.Error())
					continue
				}
				got := drainReader(r)
				if got.err == "<nil>" && got.loss == "" {
					t.Error("neither loss nor error")
				}
				results = append(results, fmt.Sprint(len(got.events), got.loss, got.err))
			}
			if results[0] != results[1] {
				t.Errorf("read as %s, then as %s", results[0], results[1])
			}
		})
	}
}

// failingReader returns an error after its bytes.
type failingReader struct {
	r   io.Reader
	err error
}

func (f *failingReader) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err == io.EOF {
		err = f.err
	}
	return n, err
}

// TestReadError: an error of the input ends the trace like any other damage and
// is the cause of the loss.
func TestReadError(t *testing.T) {
	data := recordedTrace(t)
	r, err := NewReader(&failingReader{bytes.NewReader(data[:len(data)/2]), os.ErrDeadlineExceeded}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := drainReader(r)
	if got.err != "<nil>" || len(got.events) == 0 || r.Loss() == nil || !errors.Is(r.Loss().Cause, os.ErrDeadlineExceeded) {
		t.Errorf("%d events, error %s, loss %v", len(got.events), got.err, r.Loss())
	}
}

func TestPlainError(t *testing.T) {
	tests := []struct{ in, want string }{
		{"broken trace: failed to advance: frontier:\n[gen=1]\n\nM 1", "an event that others depend on is missing or damaged"},
		{"found unknown pc 4d5e for stack 12", missingFrame},
		{"found invalid func string ID 7 for stack 12", missingFrame},
		{"found invalid file string ID 7 for stack 12", missingFrame},
		{"name \x1b[31m", "name ?[31m"},
		{strings.Repeat("x", 300), strings.Repeat("x", 200) + "..."},
	}
	for _, test := range tests {
		if got := plainError(test.in).Error(); got != test.want {
			t.Errorf("plainError(%q) = %q, want %q", test.in, got, test.want)
		}
	}
}
