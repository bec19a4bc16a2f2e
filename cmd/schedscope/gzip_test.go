package main

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/klauspost/compress/gzip"
)

func TestGzipWriter(t *testing.T) {
	var out bytes.Buffer
	z := newGzip(&out)
	var want []byte
	buf := make([]byte, 1000)
	for i := range 100 {
		for j := range buf {
			buf[j] = byte(i * j)
		}
		want = append(want, buf...)
		if n, err := z.Write(buf); n != len(buf) || err != nil {
			t.Fatal(n, err)
		}
		clear(buf) // the writer has a copy
	}
	if err := z.Close(); err != nil {
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

func TestGzipWriterFails(t *testing.T) {
	z := newGzip(full{})
	told := 0
	for range 100 {
		if _, err := z.Write(make([]byte, 100_000)); err != nil {
			if told++; !errors.Is(err, errFull) {
				t.Fatal(err)
			}
		}
	}
	if told < 50 {
		t.Errorf("%d writes of 100 failed, want all but the first", told)
	}
	if err := z.Close(); !errors.Is(err, errFull) {
		t.Errorf("closed with %v, want %v", err, errFull)
	}
}
