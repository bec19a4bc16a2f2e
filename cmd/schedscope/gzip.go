package main

import (
	"io"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
)

// gzipWriter compresses on a goroutine of its own what is written to it.
type gzipWriter struct {
	full  chan []byte
	empty chan []byte
	done  chan error
	err   atomic.Pointer[error] // the first, for Write
}

// gzipBuffers is how many writes may wait to be compressed.
const gzipBuffers = 4

// newGzip returns a writer that compresses to w, fast rather than well. Close it
// before w.
func newGzip(w io.Writer) *gzipWriter {
	z := &gzipWriter{full: make(chan []byte, gzipBuffers), empty: make(chan []byte, gzipBuffers), done: make(chan error, 1)}
	for range gzipBuffers {
		z.empty <- nil
	}
	go func() { z.done <- z.compress(w) }()
	return z
}

func (z *gzipWriter) compress(w io.Writer) error {
	gz, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	for b := range z.full {
		if err == nil {
			if _, err = gz.Write(b); err != nil {
				z.err.Store(&err)
			}
		}
		z.empty <- b
	}
	if err != nil {
		return err
	}
	return gz.Close()
}

// Write implements [io.Writer]. An error is that of an earlier Write.
func (z *gzipWriter) Write(p []byte) (int, error) {
	if err := z.err.Load(); err != nil {
		return 0, *err
	}
	z.full <- append((<-z.empty)[:0], p...)
	return len(p), nil
}

// Close waits until all is compressed and returns the first error.
func (z *gzipWriter) Close() error {
	close(z.full)
	return <-z.done
}
