package ingest

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"testing"
	"testing/iotest"
	"time"

	"github.com/schedscope/schedscope/model"
)

// failingReaderAt fails from an offset on.
type failingReaderAt struct {
	data *bytes.Reader
	from int64
}

var errDisk = errors.New("the disk is on fire")

func (r failingReaderAt) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > r.from {
		return 0, errDisk
	}
	return r.data.ReadAt(p, off)
}

// indexThenFail lets the index be built and then fails from an offset on.
func indexThenFail(data []byte, from int64, opts Options) (*Reader, error) {
	x, err := NewIndex(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	src, err := newIndexedSource(failingReaderAt{bytes.NewReader(data), from}, x)
	if err != nil {
		return nil, err
	}
	return start(src, x.Version, x.Size, nil, opts), nil
}

// TestNothingLeft: however reading ends, the goroutines that did it end, too,
// and an input's error in the middle is a loss.
func TestNothingLeft(t *testing.T) {
	data := recordedTrace(t)
	middle := int64(len(data) / 2)
	ways := []struct {
		name string
		lost bool
		open func(Options) (*Reader, error)
	}{
		{"file", false, func(o Options) (*Reader, error) { return NewReaderAt(bytes.NewReader(data), int64(len(data)), o) }},
		{"truncated file", true, func(o Options) (*Reader, error) { return NewReaderAt(bytes.NewReader(data), middle, o) }},
		{"failing file", true, func(o Options) (*Reader, error) { return indexThenFail(data, middle, o) }},
		{"stream", false, func(o Options) (*Reader, error) { return NewReader(bytes.NewReader(data), o) }},
		{"failing stream", true, func(o Options) (*Reader, error) {
			return NewReader(io.MultiReader(bytes.NewReader(data[:middle]), iotest.ErrReader(errDisk)), o)
		}},
	}
	second := model.Duration(1e9)
	options := []Options{
		{Workers: 1, MaxInFlight: 1}, {Workers: 4, MaxInFlight: 1}, {Workers: 4}, {Workers: 1, Decoder: DecoderLibrary},
		{Workers: 2, From: second / 10, To: second / 5}, {Workers: 2, From: 1000 * second},
	}
	before := runtime.NumGoroutine()
	for _, way := range ways {
		for i, opts := range options {
			for _, chunks := range []int{0, 1, 3, -1} {
				r, err := way.open(opts)
				if err != nil {
					t.Fatal(err)
				}
				for n := 0; n != chunks && err == nil; n++ {
					_, err = r.Next()
				}
				r.Close()
				whole := chunks < 0 && opts.From == 0
				if whole && err != io.EOF || whole && (r.Loss() != nil) != way.lost {
					t.Errorf("%s, options %d: error %v, loss %v; want end of file, loss %t", way.name, i, err, r.Loss(), way.lost)
				}
			}
		}
	}
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			buf := make([]byte, 64<<10)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
	}
}
