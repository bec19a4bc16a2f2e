package source

import (
	"fmt"
	"io"
	"slices"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/schedscope/schedscope/internal/textui"
)

// maxWindow bounds the memory of the zstd decoder; the zstd command needs
// --long to write, and to read, anything that asks for more.
const maxWindow = 128 << 20

// A compressor is one compression that is taken off while reading.
type compressor struct {
	format Format
	name   string
	open   func(io.Reader) (io.ReadCloser, error)
}

// compressors work in the goroutine that reads: parallelism is better spent
// on decoding the trace.
var compressors = []compressor{
	{Gzip, "gzip", func(r io.Reader) (io.ReadCloser, error) {
		return gzip.NewReader(r) // concatenated members included
	}},
	{Zstd, "zstd", func(r io.Reader) (io.ReadCloser, error) {
		dec, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
		return dec.IOReadCloser(), nil
	}},
}

func findCompressor(format Format) *compressor {
	if i := slices.IndexFunc(compressors, func(c compressor) bool { return c.format == format }); i >= 0 {
		return &compressors[i]
	}
	return nil
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
