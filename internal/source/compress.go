package source

import (
	"fmt"
	"io"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/schedscope/schedscope/internal/textui"
)

// maxWindow bounds the memory of the zstd decoder; the zstd command needs
// --long to write, and to read, anything that asks for more.
const maxWindow = 128 << 20

// packed reports whether data of the format is decompressed while it is read.
func (f Format) packed() bool { return f == Gzip || f == Zstd }

// decompress takes a compression off, and returns its name. It works in the goroutine that reads: parallelism is
// better spent on decoding the trace.
func decompress(format Format, r io.Reader) (name string, out io.ReadCloser, err error) {
	if format == Gzip {
		out, err = gzip.NewReader(r) // concatenated members included
		return "gzip", out, err
	}
	dec, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return "zstd", nil, err
	}
	return "zstd", dec.IOReadCloser(), nil
}

// A limited reads at most limit bytes, of which left are to come, and fails
// if there are more. Errors name the compression.
type limited struct {
	r           io.Reader
	left, limit int64
	name        string
	over        *atomic.Bool // set when there are more
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		var one [1]byte
		n, err := l.r.Read(one[:])
		if n > 0 {
			l.over.Store(true)
			err = fmt.Errorf("%w: more than %s", ErrTooLarge, textui.Bytes(l.limit))
		}
		return 0, l.wrap(err)
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, l.wrap(err)
}

func (l *limited) wrap(err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	return &PackedError{l.name, err}
}

// PackedError is returned for compressed data that is damaged or exceeds a limit.
type PackedError struct {
	Compression string // gzip or zstd
	Err         error
}

func (e *PackedError) Error() string { return "decompressing " + e.Compression + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *PackedError) Unwrap() error { return e.Err }
