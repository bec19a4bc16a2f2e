// Package recorder records programs: one that is told for how long, or two in turns, again
// and again, each in a process of its own. It keeps what they wrote, next to a record of
// what else the machine did meanwhile.
package recorder

import (
	"fmt"
	"os"

	"github.com/schedscope/schedscope/internal/atomicfile"
)

// Log is how a recorder speaks to whoever watches. None of its functions may be nil.
type Log struct {
	Warn   func(format string, args ...any) // what is wrong but does not end the work
	Note   func(format string, args ...any) // what is good to know
	Detail func(format string, args ...any) // what few want to know
	Hint   func(format string, args ...any) // what can be done about a warning
}

// Error is why nothing can be recorded, with what to do instead, "" if that is not known.
type Error struct {
	err  error
	Hint string
	// Machine: the machine is to blame, not what was asked for.
	Machine bool
}

func (e *Error) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.err }

func failed(hint, format string, args ...any) error {
	return &Error{err: fmt.Errorf(format, args...), Hint: hint}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// cause takes the name of a file off an error that the message has already.
func cause(err error) error { return atomicfile.Cause(err) }
