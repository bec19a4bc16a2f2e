package ingest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"sync"

	"github.com/schedscope/schedscope/model/ingest/wire"
)

// streamSource cuts a stream into generations. It holds one at a time; those
// that it has handed out are the decoder's.
type streamSource struct {
	r        *bufio.Reader
	header   []byte
	expected int // bytes of the next generation: a little more than the one before

	mu   sync.Mutex // guards what index returns
	walk walker
	bad  *Damage
	size int64
}

// maxDrain bounds how much is read beyond a damage just to know its size.
const maxDrain = 1 << 30

func newStreamSource(r *bufio.Reader, header []byte, version int) *streamSource {
	return &streamSource{r: r, header: header, walk: walker{version: version, offset: headerLen}, size: headerLen}
}

func (s *streamSource) index() Index {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Index{Version: s.walk.version, Size: s.size, Generations: s.walk.done[:len(s.walk.done):len(s.walk.done)], Damage: s.bad}
}

func (s *streamSource) next() *job {
	if s.bad != nil {
		return nil
	}
	b := bytes.NewBuffer(make([]byte, 0, s.expected))
	before := len(s.walk.done)
	for len(s.walk.done) == before {
		more, err := s.batch(b)
		if err != nil {
			s.damage(err)
		}
		if !more || err != nil {
			s.mu.Lock()
			s.walk.finish(s.bad)
			if err == nil && len(s.walk.done) > before && !s.walk.done[before].Complete {
				s.bad = &Damage{Offset: s.walk.offset, Cause: errCutOff}
			}
			s.mu.Unlock()
			break
		}
	}
	if len(s.walk.done) == before {
		return nil
	}
	s.expected = b.Len() + b.Len()/8
	return &job{gen: s.walk.done[before], header: s.header, data: bytes.NewReader(b.Bytes()), held: int64(b.Cap())}
}

// batch moves one batch from the stream to b, or closes the current generation
// if the batch belongs to the next one. It returns false at the stream's end.
func (s *streamSource) batch(b *bytes.Buffer) (more bool, err error) {
	head, peekErr := s.r.Peek(wire.MaxHeader)
	if len(head) == 0 && peekErr == io.EOF {
		return false, nil
	}
	if peekErr != nil && peekErr != io.EOF {
		return false, fmt.Errorf("reading at offset %d: %w", s.walk.offset, peekErr)
	}
	h, err := s.walk.header(head)
	if err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.walk.begins(&h) {
		s.walk.end(true)
		return true, nil
	}
	from := b.Len()
	n, err := io.CopyN(b, s.r, int64(h.Length+h.Size))
	s.size += n
	if err == io.EOF {
		err = errCutOff
	}
	if err != nil {
		b.Truncate(from)
		return false, err
	}
	s.walk.add(&h, b.Bytes()[from+h.Length:])
	return true, nil
}

// damage notes where the stream's structure is lost, and finds out how much
// comes after.
func (s *streamSource) damage(cause error) {
	offset := s.walk.offset
	rest, _ := io.CopyN(io.Discard, s.r, maxDrain) // N.B. any error ends the stream all the same
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bad = &Damage{Offset: offset, Cause: cause}
	s.size += rest
}

// peekHeader reads the file header of a stream.
func peekHeader(r *bufio.Reader) (header []byte, version int, err error) {
	head, err := r.Peek(headerLen)
	if err != nil && err != io.EOF {
		return nil, 0, fmt.Errorf("reading the header: %w", err)
	}
	version, err = parseHeader(head)
	if err != nil {
		return nil, 0, &EmptyError{Size: int64(len(head)), Cause: err}
	}
	return bytes.Clone(head), version, nil
}
