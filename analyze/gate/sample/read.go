package sample

import (
	"context"
	"errors"
	"io"

	"github.com/schedscope/schedscope/analyze"
)

// Options say how to read a trace. The zero value is fine.
type Options struct {
	// Workers is how many parts of the trace are decoded, and how many simulations run, at
	// the same time; 0: as many as Go may use processors. Samples do not depend on it.
	Workers int
	// Report, if not nil, is given the finished analyses of the window.
	Report func(*analyze.Report)
}

// Read makes a sample of a trace of size bytes. Quantities that the trace has no data
// for are in Missing. The error says why there is no sample: it is no trace, nothing of
// it is in the window, or the context's.
func Read(ctx context.Context, r io.ReaderAt, size int64, in Input, spec *Spec, o Options) (*Sample, error) {
	return nil, errors.New("not yet")
}
