package ingest

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/schedscope/schedscope/model"
)

// Loss describes the part of a trace that could not be read. Everything before it was
// delivered.
type Loss struct {
	// Generation is the runtime's number of the generation in which reading
	// broke off, 0 if it is not known.
	Generation uint64
	// Delivered is the number of events of that generation that were handed out
	// nevertheless: those before the break, which are valid.
	Delivered int64
	// Offset is where that generation begins, or where the input's structure
	// breaks off if everything before could be used. LostBytes are missing from
	// there on, of Size bytes in all. Bytes of Delivered events are counted as
	// lost as well. LostBytes is 0 if all was read but the trace is not whole, or its size changed
	// meanwhile.
	Offset, LostBytes, Size int64
	// LastTime is the time of the last event that was handed out; it has a
	// meaning only if there was one.
	LastTime model.Time
	// Sound is the time up to which no thread was stuck: LastTime, or earlier if
	// the break left one at an event that never became possible, while others went
	// on. Beyond it events are missing for certain.
	Sound model.Time
	Cause error
}

// stuckError is an error of a decoder that could not place an event of this time.
type stuckError struct {
	err error
	at  model.Time
}

func (e *stuckError) Error() string { return e.err.Error() }

// String returns the loss and its cause in one line.
func (l *Loss) String() string {
	if l.LostBytes == 0 {
		return fmt.Sprintf("all %d bytes were read, but the trace is not complete: %v", l.Size, l.Cause)
	}
	share := 100.0
	if l.Size > 0 {
		share = 100 * float64(l.LostBytes) / float64(l.Size)
	}
	where := fmt.Sprintf("offset %d", l.Offset)
	if l.Generation != 0 {
		where = fmt.Sprintf("generation %d at %s", l.Generation, where)
	}
	return fmt.Sprintf("lost %.1f%% of the trace (%d of %d bytes, from %s on): %v", share, l.LostBytes, l.Size, where, l.Cause)
}

// EmptyError is returned for an input without a readable event.
type EmptyError struct {
	Size    int64 // of the input in bytes, as far as it was read
	Version int   // n of the header's Go 1.n; 0 if there is no valid header
	Cause   error
}

// Error returns why the input has no readable event.
func (e *EmptyError) Error() string { return "no readable event: " + e.Cause.Error() }

// Unwrap returns the cause.
func (e *EmptyError) Unwrap() error { return e.Cause }

// undefinedError says that all of a trace was read but refers to what it does not contain.
type undefinedError string

func (e undefinedError) Error() string { return string(e) }

// undefined returns an undefinedError if any stack or string is missing.
func undefined(stacks, strings int) error {
	if stacks+strings == 0 {
		return nil
	}
	return undefinedError(fmt.Sprintf("the trace refers to stacks (%d) and strings (%d) that are not defined: it was cut off, or a part is missing", stacks, strings))
}

// decodeError is an error of the decoder with a text fit to be printed.
type decodeError string

func (e decodeError) Error() string { return string(e) }

// panicError makes an error of what the decoder panicked with: it does so where an event
// refers to something that its tables do not have (internal/trace/base.go: mustGet).
func panicError(v any) error {
	what := "something"
	if text := fmt.Sprint(v); strings.HasSuffix(text, "in string table") {
		what = "a string"
	} else if strings.HasSuffix(text, "in trace.stack table") {
		what = "a stack"
	} else if _, ok := v.(runtime.Error); !ok {
		return plainError("decoding: " + text)
	}
	return decodeError("an event refers to " + what + " that is not defined")
}

// unstableErrors are the beginnings of those texts of the decoder that depend on
// the order of a Go map, and what to say instead. It stops at the first missing
// entry of its tables, and one damage can leave several of different kinds.
var unstableErrors = []struct{ start, instead string }{
	{"found unknown pc", missingFrame},
	{"found invalid func string ID", missingFrame},
	{"found invalid file string ID", missingFrame},
	{"failed to find sched context", "failed to find sched context"},
	{"broken trace: failed to advance", "an event that others depend on is missing or damaged"},
}

const missingFrame = "a stack names a pc, function or file that its tables lack"

// plainError makes a decodeError from the text of an error or panic: the first
// line, of bounded length and printable, the same whenever the input is. (The
// decoder goes on with dumps of its state, in the order of a Go map.)
func plainError(v any) error {
	text, _, _ := strings.Cut(fmt.Sprint(v), "\n")
	for _, u := range unstableErrors {
		if strings.HasPrefix(text, u.start) {
			text = u.instead
		}
	}
	text = strings.TrimRight(strings.ToValidUTF8(text, "?"), " :")
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, text)
	const longest = 200
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "..."
	}
	return decodeError(text)
}
