package ingest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/schedscope/schedscope/model/ingest/wire"
)

// streamSource cuts a stream into generations. It holds one at a time; those
// that it has handed out are the decoder's.
type streamSource struct {
	r      *bufio.Reader
	header []byte

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
	b := net.Buffers{s.header} // gives memory back as it is read
	before := len(s.walk.done)
	for len(s.walk.done) == before {
		more, err := s.batch(&b)
		if err != nil {
			s.damage(err)
		}
		if !more || err != nil {
			s.mu.Lock()
			s.walk.finish(err != nil)
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
	return &job{gen: s.walk.done[before], data: &b}
}

// batch moves one batch from the stream to b, or closes the current generation
// if the batch belongs to the next one. It returns false at the stream's end.
func (s *streamSource) batch(b *net.Buffers) (more bool, err error) {
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
	data := make([]byte, h.Length+h.Size)
	n, err := io.ReadFull(s.r, data)
	s.size += int64(n)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = errCutOff
	}
	if err != nil {
		return false, err
	}
	*b = append(*b, data)
	s.walk.add(&h, data[h.Length:])
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
