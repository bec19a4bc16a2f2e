package ingest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// The wire format, as far as the walk over batch headers needs it
// (internal/trace/tracev2/events.go, internal/trace/batch.go, Go 1.26).
const (
	headerLen    = 16       // "go 1.26 trace\x00\x00\x00"
	maxBatchSize = 64 << 10 // tracev2.MaxBatchSize

	evEventBatch        = 1
	evStacks            = 2
	evStrings           = 4
	evCPUSamples        = 6
	evFrequency         = 8
	evExperimentalBatch = 49
	evSync              = 50
	evClockSnapshot     = 51
	evEndOfGeneration   = 52
)

// Versions of the format that the decoder reads; 24 wrote the format of 23.
const (
	firstGenerational = 22 // older ones have no generations
	syncBatchVersion  = 25 // frequency and clock snapshot begin the generation
	endMarkVersion    = 26 // a byte marks a generation's end
	newestVersion     = 26
)

var versions = []int{11, 19, 21, 22, 23, 25, 26}

// parseHeader returns the version n of a file that begins with "go 1.n trace".
func parseHeader(b []byte) (version int, err error) {
	const prefix, suffix = "go 1.", " trace\x00\x00\x00"
	if len(b) == 0 {
		return 0, errors.New("empty input")
	}
	if len(b) < headerLen || string(b[:len(prefix)]) != prefix || string(b[7:headerLen]) != suffix {
		return 0, errors.New("not a Go execution trace")
	}
	version, err = strconv.Atoi(string(b[len(prefix):7]))
	if err != nil {
		return 0, errors.New("not a Go execution trace")
	}
	for _, v := range versions {
		if v == version {
			return version, nil
		}
	}
	if version > newestVersion {
		return 0, fmt.Errorf("trace format go 1.%d is newer than this program (it reads up to go 1.%d)", version, newestVersion)
	}
	return 0, fmt.Errorf("unknown trace format go 1.%d", version)
}

// BatchKind says what a batch holds.
type BatchKind uint8

// Kinds of batches.
const (
	BatchEvents BatchKind = iota
	BatchStrings
	BatchStacks
	BatchCPUSamples
	BatchSync         // frequency and clocks
	BatchExperimental // data of an experiment, not decoded
	NumBatchKinds
)

// batchHeader is the header of one batch and the first byte of what follows.
type batchHeader struct {
	end        bool // not a batch but the mark that ends a generation
	exp        bool
	generation uint64
	thread     uint64
	time       uint64 // in ticks of the trace's clock
	size       int    // of the data after the header
	length     int    // of the header itself
}

// maxBatchHeader is the longest possible header: type, experiment, four varints.
const maxBatchHeader = 2 + 4*binary.MaxVarintLen64

// parseBatchHeader reads the header at the beginning of b, which holds the rest
// of the input or at least maxBatchHeader bytes of it. An input that ends within
// the header is an io.ErrUnexpectedEOF.
func parseBatchHeader(b []byte, version int) (h batchHeader, err error) {
	switch {
	case len(b) == 0:
		return h, io.EOF
	case b[0] == evEndOfGeneration && version >= endMarkVersion:
		return batchHeader{end: true, length: 1}, nil
	case b[0] == evEventBatch:
		h.length = 1
	case b[0] == evExperimentalBatch:
		h.exp, h.length = true, 2
	default:
		return h, fmt.Errorf("reading batch header: unexpected event type %d", b[0])
	}
	var size uint64
	for _, field := range []*uint64{&h.generation, &h.thread, &h.time, &size} {
		if h.length >= len(b) {
			return h, io.ErrUnexpectedEOF
		}
		v, n := binary.Uvarint(b[h.length:])
		if n == 0 {
			return h, io.ErrUnexpectedEOF
		}
		if n < 0 {
			return h, errors.New("reading batch header: number too large")
		}
		*field = v
		h.length += n
	}
	if size > maxBatchSize {
		return h, fmt.Errorf("reading batch header: invalid size %d, maximum is %d", size, maxBatchSize)
	}
	if h.generation == 0 {
		return h, errors.New("reading batch header: invalid generation 0")
	}
	h.size = int(size)
	return h, nil
}

// kind tells what the batch holds from the first byte of its data.
func (h *batchHeader) kind(data []byte, version int) BatchKind {
	if h.exp {
		return BatchExperimental
	}
	if h.size == 0 || len(data) == 0 {
		return BatchEvents
	}
	switch {
	case data[0] == evStrings:
		return BatchStrings
	case data[0] == evStacks:
		return BatchStacks
	case data[0] == evCPUSamples:
		return BatchCPUSamples
	case data[0] == evFrequency && version < syncBatchVersion, data[0] == evSync && version >= syncBatchVersion:
		return BatchSync
	}
	return BatchEvents
}

// maxSync bounds the data of a sync batch that is looked at: more than the runtime writes.
const maxSync = 64

// parseSync reads the clock's frequency and the wall clock (Unix nanoseconds) so many
// ticks after the batch's time from the data of a sync batch; what is not there is 0.
func parseSync(data []byte, version int) (ticksPerSecond uint64, wall int64, after uint64) {
	if version >= syncBatchVersion && len(data) > 0 {
		data = data[1:]
	}
	for len(data) > 0 {
		typ := data[0]
		data = data[1:]
		var args [4]uint64
		n := 0
		switch typ {
		case evFrequency:
			n = 1
		case evClockSnapshot:
			n = 4
		default:
			return ticksPerSecond, wall, after
		}
		for i := range n {
			v, size := binary.Uvarint(data)
			if size <= 0 {
				return ticksPerSecond, wall, after
			}
			args[i] = v
			data = data[size:]
		}
		if typ == evFrequency {
			ticksPerSecond = args[0]
		} else {
			wall, after = int64(args[2])*1e9+int64(args[3]), args[0]
		}
	}
	return ticksPerSecond, wall, after
}
