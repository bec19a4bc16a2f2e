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
	var b blocks
	b.add(s.header)
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
func (s *streamSource) batch(b *blocks) (more bool, err error) {
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
	data, n, err := b.fill(s.r, h.Length+h.Size)
	s.size += int64(n)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = errCutOff
	}
	if err != nil {
		return false, err
	}
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

// blocks is a queue of bytes that gives memory back as it is read and never
// moves what it holds.
type blocks struct {
	full [][]byte // to be read, in order
	last []byte   // to be added to
}

const maxBlock = 1 << 20

// space returns n bytes at the end of the queue.
func (b *blocks) space(n int) []byte {
	if len(b.last)+n > cap(b.last) {
		size := min(max(4<<10, 2*cap(b.last)), maxBlock)
		if len(b.last) > 0 {
			b.full = append(b.full, b.last)
		}
		b.last = make([]byte, 0, max(size, n))
	}
	b.last = b.last[:len(b.last)+n]
	return b.last[len(b.last)-n:]
}

func (b *blocks) add(p []byte) { copy(b.space(len(p)), p) }

// fill adds n bytes from r and returns them, and how many r had. If these are
// fewer than n, it adds none.
func (b *blocks) fill(r io.Reader, n int) (p []byte, got int, err error) {
	p = b.space(n)
	if got, err = io.ReadFull(r, p); err != nil {
		b.last = b.last[:len(b.last)-n]
		return nil, got, err
	}
	return p, got, nil
}

// Read takes bytes out of the queue.
func (b *blocks) Read(p []byte) (int, error) {
	if len(b.full) == 0 {
		if len(b.last) == 0 {
			return 0, io.EOF
		}
		b.full, b.last = append(b.full, b.last), nil
	}
	n := copy(p, b.full[0])
	if b.full[0] = b.full[0][n:]; len(b.full[0]) == 0 {
		b.full[0] = nil
		b.full = b.full[1:]
	}
	return n, nil
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
