package hdr

import (
	"encoding/base64"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	hdrhistogram "github.com/HdrHistogram/hdrhistogram-go"
)

// decode returns the histogram that s encodes.
func decode(s string) (*Histogram, error) {
	p, err := Unpack(s)
	h := &Histogram{}
	h.MergePacked(p)
	return h, err
}

func TestBuckets(t *testing.T) {
	for b := range maxBuckets {
		if got := bucketOf(bucketMiddle(b)); got != b {
			t.Fatalf("bucketOf(bucketMiddle(%d)) = %d", b, got)
		}
	}
	values := []int64{0, math.MaxInt64}
	for shift := range 63 {
		values = append(values, 1<<shift, 1<<shift-1, 1<<shift+1, 3<<shift/2)
	}
	for _, v := range values {
		lo, hi := Bounds(v)
		if uint64(v) < lo || uint64(v) >= hi {
			t.Errorf("Bounds(%d) = %d, %d", v, lo, hi)
		}
		if m := float64(bucketMiddle(bucketOf(v))); v > 0 && math.Abs(m-float64(v)) > 0.004*float64(v) {
			t.Errorf("the bucket of %d has the middle %v", v, m)
		}
	}
}

// random returns a histogram of n values up to 2^maxBits.
func random(rnd *rand.Rand, n, maxBits int) (*Histogram, []int64) {
	h, values := &Histogram{}, []int64{}
	for range n {
		v := rnd.Int64N(1 << (1 + rnd.IntN(maxBits)))
		h.Add(v, 1)
		values = append(values, v)
	}
	return h, values
}

// TestOracle has HdrHistogram's own library read what Encode writes: each bucket has the
// same bounds and the same count.
func TestOracle(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 100, 5000} {
		for _, maxBits := range []int{1, 8, 9, 30, 62} {
			h, values := random(rnd, n, maxBits)
			theirs, err := hdrhistogram.Decode([]byte(h.Encode()))
			if err != nil {
				t.Fatal(err)
			}
			if theirs.TotalCount() != int64(n) {
				t.Errorf("%d values up to 2^%d: they have %d", n, maxBits, theirs.TotalCount())
			}
			own := hdrhistogram.New(1, theirs.HighestTrackableValue(), 2)
			for _, v := range values {
				if err := own.RecordValue(v); err != nil {
					t.Fatal(err)
				}
			}
			if !own.Equals(theirs) {
				t.Errorf("%d values up to 2^%d: another histogram than theirs of the same values", n, maxBits)
			}
		}
	}
}

func TestDecodeTheirs(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	want, values := random(rnd, 3000, 40)
	theirs := hdrhistogram.New(1, 1<<41, 2)
	for _, v := range values {
		if err := theirs.RecordValue(v); err != nil {
			t.Fatal(err)
		}
	}
	text, err := theirs.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		t.Fatal(err)
	}
	got, err := decode(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if got.Encode() != want.Encode() {
		t.Error("their histogram is decoded to another one")
	}
}

func TestRoundTrip(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{0, 1, 1000} {
		h, _ := random(rnd, n, 62)
		text := h.Encode()
		got, err := decode(text)
		if err != nil {
			t.Fatal(err)
		}
		if got.Total() != int64(n) || got.Encode() != text {
			t.Errorf("%d values: %d after decoding", n, got.Total())
		}
	}
}

func TestMerge(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	a, va := random(rnd, 500, 20)
	b, vb := random(rnd, 900, 40)
	both := &Histogram{}
	for _, v := range append(va, vb...) {
		both.Add(v, 1)
	}
	before := b.Encode()
	a.Merge(b)
	if a.Encode() != both.Encode() {
		t.Error("merging is not counting all")
	}
	if b.Encode() != before {
		t.Error("merging changed what was merged")
	}
}

func TestDecodeRejects(t *testing.T) {
	wrap := func(edit func([]byte) []byte) string {
		raw := make([]byte, headerSize)
		copy(raw, "\x1c\x84\x93\x13")
		raw[15], raw[23] = digits, 1
		raw = edit(raw)
		if len(raw) >= headerSize {
			raw[6], raw[7] = byte((len(raw)-headerSize)>>8), byte(len(raw)-headerSize)
		}
		return base64.StdEncoding.EncodeToString(compress(raw))
	}
	if _, err := decode(wrap(func(b []byte) []byte { return append(b, 2) })); err != nil {
		t.Fatalf("what the bad ones are made of is bad itself: %v", err)
	}
	huge := strings.Repeat("\x00", 1<<20)
	for name, tt := range map[string]struct{ text, want string }{
		"base64":    {"!", "illegal base64"},
		"empty":     {"", "not in the V2 compressed encoding"},
		"cookie":    {base64.StdEncoding.EncodeToString([]byte("12345678")), "not in the V2 compressed encoding"},
		"length":    {base64.StdEncoding.EncodeToString([]byte("\x1c\x84\x93\x14\x00\x00\x00\x09x")), "1 bytes where it says 9"},
		"zlib":      {base64.StdEncoding.EncodeToString([]byte("\x1c\x84\x93\x14\x00\x00\x00\x02xx")), "zlib"},
		"short":     {wrap(func(b []byte) []byte { return b[:10] }), "not in the V2 encoding"},
		"digits":    {wrap(func(b []byte) []byte { b[15] = 3; return b }), "of 3 significant digits"},
		"run":       {wrap(func(b []byte) []byte { return append(b, "\xff\xff\xff\xff\x0f"...) }), "more buckets than there are"},
		"count":     {wrap(func(b []byte) []byte { return append(b, "\xff\xff\xff\xff\xff\xff\xff\xff\x0f"...) }), "a count that cannot be"},
		"cut count": {wrap(func(b []byte) []byte { return append(b, 0x80) }), "a count that cannot be"},
		"bomb":      {wrap(func(b []byte) []byte { return append(b, huge...) }), "bytes of counts where it says"},
	} {
		if _, err := decode(tt.text); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, tt.want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	h, _ := random(rand.New(rand.NewPCG(9, 10)), 100, 30)
	f.Add(h.Encode())
	f.Fuzz(func(t *testing.T, s string) {
		h, err := decode(s)
		if err != nil {
			return
		}
		again, err := decode(h.Encode())
		if err != nil || again.Total() != h.Total() {
			t.Errorf("decoded %d values, after encoding %v, error %v", h.Total(), again, err)
		}
	})
}
