// Package recorder records programs: one for a given time, or two in turns, again
// and again, each in a process of its own. It keeps what they wrote, next to a record of
// what else the machine did meanwhile.
package recorder

import (
	"fmt"
	"os"

	"github.com/schedscope/schedscope/internal/atomicfile"
	"github.com/schedscope/schedscope/internal/source"
)

// Log receives the messages of a recorder. None of its functions may be nil.
type Log struct {
	Warn   func(format string, args ...any) // what is wrong but does not end the work
	Note   func(format string, args ...any) // what is good to know
	Detail func(format string, args ...any) // what few want to know
	Hint   func(format string, args ...any) // what can be done about a warning
}

// Disturbed is the error for a machine that is not quiet enough.
type Disturbed struct{ error }

// Unwrap returns the cause.
func (e Disturbed) Unwrap() error { return e.error }

// failed returns why nothing can be recorded, with what to do instead, "" if that is not known.
func failed(hint, format string, args ...any) error {
	return &source.Error{Err: fmt.Errorf(format, args...), Hint: hint}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// cause takes the name of a file off an error that the message has already.
func cause(err error) error { return atomicfile.Cause(err) }
