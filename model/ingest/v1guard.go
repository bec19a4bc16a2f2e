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
//
// Such a trace ends with its stacks and the names of their functions, and no mark follows
// them. So a trace that was cut off there is known only by what its events refer to.
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
	v1GoStartLabel   = 41
	v1UserTaskCreate = 45
	v1UserRegion     = 47
	v1UserLog        = 48
	v1CPUSample      = 49
)

// v1HasStack holds the types, as bits, whose last argument is a stack.
const v1HasStack = 1<<v1Gomaxprocs | 1<<7 | 1<<11 | 1<<v1GoCreate | 0x1f<<16 | 1<<21 | 0x7f<<22 |
	1<<39 | 1<<42 | 1<<43 | 1<<v1UserTaskCreate | 1<<46 | 1<<v1UserRegion | 1<<v1UserLog | 1<<v1CPUSample

// v1StringArg is where a type has the number of a string among its arguments, 0 if nowhere.
var v1StringArg = [64]int{v1GoStartLabel: 3, v1UserTaskCreate: 3, v1UserRegion: 3, v1UserLog: 2}

// guardV1 reads a whole trace before Go 1.22, file header included, and returns
// a reader of it, or errTooDeepV1. Cut says why the trace is not whole, nil if it is.
func guardV1(r io.Reader) (whole io.Reader, cut, err error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, nil, plainError(err)
	}
	row, cut := scanV1(data[min(len(data), headerLen):])
	if row > maxLeftOut {
		return nil, nil, errTooDeepV1
	}
	return bytes.NewReader(data), cut, nil
}

// numbers notes which numbers of a table are defined and which are referred to. The
// runtime counts from 1 on, so those beyond the length of the trace are not defined.
type numbers struct {
	marks  []uint8
	beyond int // references
}

const (
	referred = 1 + iota
	defined
)

func (n *numbers) mark(id uint64, as uint8, limit int) {
	if id > uint64(limit) {
		n.beyond += int(as & referred)
		return
	}
	if k := int(id) + 1; k > len(n.marks) {
		n.marks = append(n.marks, make([]uint8, k-len(n.marks))...)
	}
	n.marks[id] |= as
}

// missing returns how many are referred to and not defined; 0 stands for none.
func (n *numbers) missing() int {
	count := n.beyond
	for _, m := range n.marks[min(1, len(n.marks)):] {
		if m == referred {
			count++
		}
	}
	return count
}

// scanV1 walks a trace without its file header. It returns an upper bound of the
// longest row of events that the decoder leaves out, and an undefinedError if the trace
// refers to what it does not define. It bounds rows by
// proc, whose events keep their order, and adds those up: in time's order, what
// other procs do can only break a row.
func scanV1(data []byte) (longest int, cut error) {
	type row struct{ now, longest int }
	rows := map[uint64]*row{}
	r := new(row) // of the current batch's proc
	var stacks, strings numbers
	limit := len(data)
	var args []uint64
	for len(data) > 0 {
		typ, values, rest, ok := nextV1(data, args[:0])
		if !ok {
			break // the decoder will say so
		}
		data, args = rest, values
		if n := len(args); n > 0 && uint64(v1HasStack)>>typ&1 != 0 {
			stacks.mark(args[n-1], referred, limit)
		}
		if i := v1StringArg[typ]; i != 0 && i < len(args) {
			strings.mark(args[i], referred, limit)
		}
		switch typ {
		case v1Batch:
			if r = rows[args[0]]; r == nil {
				r = new(row)
				rows[args[0]] = r
			}
		case v1String:
			strings.mark(args[0], defined, limit)
		case v1Stack:
			for i, v := range args {
				if i == 0 {
					stacks.mark(v, defined, limit)
				} else if i%4 == 3 || i%4 == 0 { // id, length, then pc, function, file and line of each frame
					strings.mark(v, referred, limit)
				}
			}
		case v1GoCreate, v1GoSysBlock, v1Gomaxprocs:
			if typ == v1GoCreate && len(args) > 2 {
				stacks.mark(args[2], referred, limit)
			}
			r.now++
			r.longest = max(r.longest, r.now)
		case v1Frequency, v1TimerGoroutine, v1CPUSample:
			// These are no events of the proc.
		case v1GoSysExit, v1GoSysExitLocal:
			// These move to when the system call ended, and so out of the row.
		default:
			r.now = 0
		}
	}
	for _, r := range rows {
		longest += r.longest
	}
	return longest, undefined(stacks.missing(), strings.missing())
}

// nextV1 returns the type of the event at the beginning of data, its arguments, appended
// to args, and what follows it. Of a string that is only its number. Ok is false if the event
// is not whole.
func nextV1(data []byte, args []uint64) (typ byte, values []uint64, rest []byte, ok bool) {
	typ, count := data[0]&0x3f, int(data[0]>>6)+1
	data = data[1:]
	const counted = 4 // the length of the arguments comes first
	number := func() uint64 {
		v, n := binary.Uvarint(data)
		ok = ok && n > 0
		data = data[max(n, 0):]
		return v
	}
	skip := func(n uint64) {
		if ok = ok && n <= uint64(len(data)); ok {
			data = data[n:]
		}
	}
	ok = true
	switch {
	case typ == v1Batch:
		args = append(args, number(), number())
	case typ == v1String:
		args = append(args, number())
		skip(number())
	case count == counted:
		size := number()
		whole := data
		skip(size)
		for rest := whole[:len(whole)-len(data)]; len(rest) > 0; {
			v, n := binary.Uvarint(rest)
			if n <= 0 {
				ok = false
				break
			}
			args, rest = append(args, v), rest[n:]
		}
		if typ == v1UserLog {
			skip(number())
		}
	default:
		for range count {
			args = append(args, number())
		}
	}
	return typ, args, data, ok
}
