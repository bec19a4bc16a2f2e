package ingest

import (
	"fmt"
	"io"
	"sync"

	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest/wire"
)

// source yields the generations of a trace one after another, undecoded.
type source interface {
	// next returns nil after the last one.
	next() *job
	// index returns what is known of the whole so far.
	index() Index
}

// job is one generation on its way through the pipeline.
type job struct {
	gen    Generation
	header []byte
	data   io.ReaderAt // the generation
	held   int64       // bytes of it that are in memory, of a stream
	v1     bool        // a whole trace before Go 1.22: gen is empty
	whole  io.Reader   // all of it
	// boundary is when the next generation begins, if hasBoundary.
	boundary    model.Time
	hasBoundary bool
	flow        flow // the pipeline's
}

// indexedSource reads generations where the index says.
type indexedSource struct {
	r      io.ReaderAt
	header []byte
	x      *Index
	i      int
}

func newIndexedSource(r io.ReaderAt, x *Index) (*indexedSource, error) {
	header := make([]byte, headerLen)
	if _, err := r.ReadAt(header, 0); err != nil {
		return nil, fmt.Errorf("reading the header: %w", err)
	}
	return &indexedSource{r: r, header: header, x: x}, nil
}

func (s *indexedSource) index() Index { return *s.x }

func (s *indexedSource) next() *job {
	if s.i == len(s.x.Generations) {
		return nil
	}
	g := s.x.Generations[s.i]
	s.i++
	return &job{gen: g, header: s.header, data: io.NewSectionReader(s.r, g.Offset, g.Length)}
}

// growing reports whether what is lost from offset on is lost because the trace is
// still being written.
func (s *indexedSource) growing(offset int64) bool {
	n := len(s.x.Generations)
	atEnd := s.x.Damage == nil && s.x.Version < wire.EndMarkVersion || s.x.Damage != nil && s.x.Damage.Truncated()
	if !atEnd || n > 0 && offset < s.x.Generations[n-1].Offset {
		return false
	}
	return resized(s.r, s.x.Size) == errGrown
}

// resized returns an error unless a file has the given size; nil stands for a stream.
func resized(r io.ReaderAt, size int64) error {
	if r == nil {
		return nil
	}
	var b [1]byte
	if n, _ := r.ReadAt(b[:], size); n > 0 {
		return errGrown
	}
	if n, _ := r.ReadAt(b[:], size-1); n == 0 {
		return ErrChanged
	}
	return nil
}

// wholeSource yields a trace before Go 1.22 in one piece.
type wholeSource struct {
	version int
	data    io.Reader
	mu      sync.Mutex
	size    int64 // read so far
	want    int64 // in all; 0 if that is not known
	given   bool
}

// Read counts what the decoder reads from a stream.
func (s *wholeSource) Read(p []byte) (int, error) {
	n, err := s.data.Read(p)
	s.mu.Lock()
	s.size += int64(n)
	if err == io.EOF && s.size < s.want {
		err = ErrChanged
	}
	s.mu.Unlock()
	return n, err
}

func (s *wholeSource) index() Index {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Index{Version: s.version, Size: s.size}
}

func (s *wholeSource) next() *job {
	if s.given {
		return nil
	}
	s.given = true
	return &job{whole: s, v1: true}
}
