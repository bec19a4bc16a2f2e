package ingest

import (
	"bytes"
	"encoding/binary"
	"io"
)

// The decoder of traces before Go 1.22 calls itself once for each event in a row
// that it leaves out (internal/trace/tracev1.go: next), and too deep a stack ends
// the program, which nothing can recover from. So traces with too long a row are
// refused before it sees them.

// maxLeftOut is how many events in a row it may leave out: at some 350 bytes of
// stack each, well below what a goroutine can have (runtime: maxstacksize). Real
// traces hold a row of as many events as there were Runnable goroutines when
// tracing began.
const maxLeftOut = 1 << 19

const errTooDeepV1 = decodeError("the trace, of a format before Go 1.22, lists too many goroutines in a row")

// Types of events before Go 1.22 (internal/trace/internal/tracev1/parser.go).
const (
	v1Batch          = 1
	v1Frequency      = 2
	v1Stack          = 3
	v1Gomaxprocs     = 4
	v1GoCreate       = 13
	v1GoSysExit      = 29
	v1GoSysBlock     = 30
	v1TimerGoroutine = 35
	v1String         = 37
	v1GoSysExitLocal = 40
	v1UserLog        = 48
	v1CPUSample      = 49
)

// guardV1 reads a whole trace before Go 1.22, file header included, and returns
// a reader of it, or errTooDeepV1.
func guardV1(r io.Reader) (io.Reader, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, plainError(err)
	}
	if len(data) > headerLen && leftOutRow(data[headerLen:]) > maxLeftOut {
		return nil, errTooDeepV1
	}
	return bytes.NewReader(data), nil
}

// leftOutRow returns an upper bound of the longest row of events that the
// decoder leaves out, of a trace without its file header. It bounds rows by
// proc, whose events keep their order, and adds those up: in time's order, what
// other procs do can only break a row.
func leftOutRow(data []byte) int {
	type row struct{ now, longest int }
	rows := map[uint64]*row{}
	r := new(row) // of the current batch's proc
	for len(data) > 0 {
		typ, proc, rest, ok := nextV1(data)
		if !ok {
			break // the decoder will say so
		}
		data = rest
		switch typ {
		case v1Batch:
			if r = rows[proc]; r == nil {
				r = new(row)
				rows[proc] = r
			}
		case v1GoCreate, v1GoSysBlock, v1Gomaxprocs:
			r.now++
			r.longest = max(r.longest, r.now)
		case v1Frequency, v1Stack, v1String, v1TimerGoroutine, v1CPUSample:
			// These are no events of the proc.
		case v1GoSysExit, v1GoSysExitLocal:
			// These move to when the system call ended, and so out of the row.
		default:
			r.now = 0
		}
	}
	sum := 0
	for _, r := range rows {
		sum += r.longest
	}
	return sum
}

// nextV1 returns the type of the event at the beginning of data, its first
// argument if it has any before a length, and what follows it. Ok is false if
// the event is not whole.
func nextV1(data []byte) (typ byte, arg uint64, rest []byte, ok bool) {
	typ, args := data[0]&0x3f, int(data[0]>>6)+1
	data = data[1:]
	const counted = 4 // the length of the arguments comes first
	skip := func(n uint64) {
		if ok = ok && n <= uint64(len(data)); ok {
			data = data[n:]
		}
	}
	number := func() (v uint64) {
		v, n := binary.Uvarint(data)
		ok = ok && n > 0
		skip(uint64(max(n, 0)))
		return v
	}
	ok = true
	switch {
	case typ == v1Batch:
		arg = number()
		number()
	case typ == v1String:
		number()
		skip(number())
	case args == counted:
		skip(number())
		if typ == v1UserLog {
			skip(number())
		}
	default:
		for range args {
			number()
		}
	}
	return typ, arg, data, ok
}
