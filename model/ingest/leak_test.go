package ingest

import (
	"bytes"
	"errors"
	"io"
	"os"
	"runtime"
	"testing"
	"testing/iotest"
	"time"

	"github.com/schedscope/schedscope/fixtures"
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

// stuckStream is a stream of which a read lasts, once so many bytes have been read, until release.
type stuckStream struct {
	io.Reader
	left    int
	stuck   chan struct{} // closed when it is
	release chan struct{}
}

func (s *stuckStream) Read(p []byte) (int, error) {
	if s.left == 0 {
		s.left = -1
		close(s.stuck)
		<-s.release
	}
	if s.left < 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := s.Reader.Read(p[:min(len(p), s.left)])
	s.left -= n
	return n, err
}

// TestCloseStream: Close waits for a read of a stream only if that is of a regular file, and Stop ends
// Next while one lasts, with an error.
func TestCloseStream(t *testing.T) {
	for _, name := range []string{"generations.go1.26.p4.trace", "foreign/trace.go1.19.trace"} {
		data, err := os.ReadFile(fixtures.Path(name))
		if err != nil {
			t.Fatal(err)
		}
		for _, regular := range []bool{false, true} {
			s := &stuckStream{bytes.NewReader(data), len(data) * 3 / 4, make(chan struct{}), make(chan struct{})}
			r, err := NewReader(s, Options{Regular: regular})
			if err != nil {
				t.Fatal(err)
			}
			ended := make(chan error)
			go func() {
				<-s.stuck
				r.Stop()
			}()
			go func() {
				var err error
				for err == nil {
					_, err = r.Next()
				}
				r.Close()
				ended <- err
			}()
			<-s.stuck
			if regular {
				select {
				case <-ended:
					t.Errorf("%s: closed although a read goes on", name)
				case <-time.After(20 * time.Millisecond):
				}
				close(s.release)
			}
			if err := <-ended; err != errStopped {
				t.Errorf("%s: error %v", name, err)
			}
			if !regular {
				close(s.release)
			}
		}
	}
}
