package cli

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/klauspost/compress/gzip"
)

func TestGzipped(t *testing.T) {
	var out bytes.Buffer
	var want []byte
	err := gzipped(&out, func(w io.Writer) error {
		buf := make([]byte, 1000)
		for i := range 1000 {
			for j := range buf {
				buf[j] = byte(i * j)
			}
			want = append(want, buf...)
			if n, err := w.Write(buf); n != len(buf) || err != nil {
				t.Fatal(n, err)
			}
			clear(buf) // the writer has a copy
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, want) {
		t.Errorf("read back %d bytes and %v, want %d", len(got), err, len(want))
	}
}

// full is a device without space.
type full struct{}

var errFull = errors.New("no space left")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestGzippedFails(t *testing.T) {
	err := gzipped(full{}, func(w io.Writer) error {
		for range 100 {
			if _, err := w.Write(make([]byte, 100_000)); err != nil {
				return err
			}
		}
		return errors.New("100 writes did not fail")
	})
	if !errors.Is(err, errFull) {
		t.Errorf("error %v, want %v", err, errFull)
	}
	if err := gzipped(full{}, func(io.Writer) error { return nil }); !errors.Is(err, errFull) {
		t.Errorf("of nothing: error %v, want %v", err, errFull)
	}
	mine := errors.New("mine")
	if err := gzipped(io.Discard, func(io.Writer) error { return mine }); err != mine {
		t.Errorf("error %v, want %v", err, mine)
	}
}
