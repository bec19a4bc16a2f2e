package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Types of events that structure a generation (internal/trace/tracev2/events.go,
// Go 1.26).
const (
	evEventBatch        = 1
	EvStacks            = 2
	evStack             = 3
	EvStrings           = 4
	evString            = 5
	EvCPUSamples        = 6
	evCPUSample         = 7
	evFrequency         = 8
	evExperimentalBatch = 49
	evSync              = 50
	evClockSnapshot     = 51
	evEndOfGeneration   = 52
)

// Limits of the format (internal/trace/tracev2/spec.go, events.go, Go 1.26).
const (
	MaxBatchSize  = 64 << 10
	maxStringSize = 1 << 10
	maxFrames     = 128
)

// Versions of the format, named by the minor version of Go that introduced them.
const (
	OldestVersion  = 22 // older ones have no generations
	syncVersion    = 25 // a sync batch with frequency and clocks begins the generation
	EndMarkVersion = 26 // a byte marks the generation's end
	NewestVersion  = 26
)

// Header is the header of one batch and the first byte of its data.
type Header struct {
	End          bool // not a batch but the mark that ends a generation
	Experimental bool
	Generation   uint64
	Thread       uint64
	Time         uint64 // in ticks of the trace's clock
	Size         int    // of the data after the header
	Length       int    // of the header itself
}

// MaxHeader is the longest possible header: type, experiment, four varints.
const MaxHeader = 2 + 4*binary.MaxVarintLen64

// ParseHeader reads the header at the beginning of b, which holds the rest
// of the input or at least MaxHeader bytes of it. An input that ends within
// the header is an io.ErrUnexpectedEOF.
func ParseHeader(b []byte, version int) (h Header, err error) {
	switch {
	case len(b) == 0:
		return h, io.EOF
	case b[0] == evEndOfGeneration && version >= EndMarkVersion:
		return Header{End: true, Length: 1}, nil
	case b[0] == evEventBatch:
		h.Length = 1
	case b[0] == evExperimentalBatch:
		h.Experimental, h.Length = true, 2
	default:
		return h, fmt.Errorf("reading batch header: unexpected event type %d", b[0])
	}
	var size uint64
	for _, field := range []*uint64{&h.Generation, &h.Thread, &h.Time, &size} {
		if h.Length >= len(b) {
			return h, io.ErrUnexpectedEOF
		}
		v, n := binary.Uvarint(b[h.Length:])
		if n == 0 {
			return h, io.ErrUnexpectedEOF
		}
		if n < 0 {
			return h, errors.New("reading batch header: number too large")
		}
		*field = v
		h.Length += n
	}
	if size > MaxBatchSize {
		return h, fmt.Errorf("reading batch header: invalid size %d, maximum is %d", size, MaxBatchSize)
	}
	if h.Generation == 0 {
		return h, errors.New("reading batch header: invalid generation 0")
	}
	h.Size = int(size)
	return h, nil
}

// IsSync reports whether the data of a batch, which begins with first, is clock data.
func IsSync(first byte, version int) bool {
	return first == evFrequency && version < syncVersion || first == evSync && version >= syncVersion
}

// Sync is the clock data of a batch. Absent fields are 0.
type Sync struct {
	Frequency uint64 // in ticks per second
	Wall      int64  // Unix nanoseconds at a number of Ticks after the batch's time
	Ticks     uint64
	HasWall   bool
}

// ParseSync parses the data of a batch for which [IsSync] holds. Ok is false if it holds
// anything else (internal/trace/generation.go: setSyncBatch).
func ParseSync(data []byte, version int) (s Sync, ok bool) {
	pos := 0
	if version >= syncVersion {
		pos = 1
	}
	for pos < len(data) {
		typ := data[pos]
		pos++
		var args [4]uint64 // of a snapshot: ticks, monotonic, seconds, nanoseconds
		switch {
		case typ == evFrequency && s.Frequency == 0:
			if args[0], pos = number(data, pos); args[0] == 0 || pos > len(data) {
				return s, false
			}
			s.Frequency = args[0]
		case typ == evClockSnapshot && version >= syncVersion && !s.HasWall:
			for i := range args {
				args[i], pos = number(data, pos)
			}
			if pos > len(data) {
				return s, false
			}
			s.HasWall, s.Wall, s.Ticks = true, int64(args[2])*1e9+int64(args[3]), args[0]
		default:
			return s, false
		}
	}
	return s, true
}
