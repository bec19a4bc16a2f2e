package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/schedscope/schedscope/internal/source"
)

// Exit codes, the same for every command and format.
const (
	exitOK          = 0
	exitViolated    = 1   // a rule was violated: gate, --check
	exitUnusable    = 2   // wrong usage, or nothing could be read or written
	exitUndecided   = 3   // gate or --check could not judge
	exitInterrupted = 130 // ^C, SIGTERM
)

// interrupted is said when ^C or SIGTERM has ended the work.
const interrupted = "interrupted; nothing was written"

// patience is for how long work may go on after ^C or SIGTERM.
const patience = 250 * time.Millisecond

// run is the program: args are those after its name. It returns the exit code.
func (a *app) run(ctx context.Context, args []string) int {
	over := make(chan struct{})
	defer close(over)
	context.AfterFunc(ctx, func() {
		select {
		case <-over:
		case <-time.After(patience):
			if a.late != nil && !a.patient.Load() {
				a.late()
			}
		}
	})
	root := newRoot(a)
	root.SetArgs(normalize(root, args))
	cmd, err := root.ExecuteContextC(ctx)
	if err = cmp.Or(err, a.help.err); err == nil {
		return exitOK
	}
	a.progress.clear()
	if readerLeft(err) {
		return exitOK
	}
	var e *exitError
	if errors.As(err, &e) && e.silent {
		return e.code
	}
	if e != nil && e.code == exitInterrupted || errors.Is(err, context.Canceled) {
		a.say(interrupted)
		return exitInterrupted
	}
	a.say("%v", err)
	if hint := hintOf(err); hint != "" {
		a.hint("%s", hint)
	}
	if e != nil {
		return e.code
	}
	if u, ok := errors.AsType[*usageError](err); ok && u.hint == "" {
		a.hint("see %s --help", cmd.CommandPath())
	}
	return exitUnusable
}

// readerLeft reports whether the reader of stdout or stderr, such as head, has seen enough. Broken
// pipes of connections, or that -o names, are errors.
func readerLeft(err error) bool {
	var e *fs.PathError
	return errors.As(err, &e) && e.Err == syscall.EPIPE && (e.Path == os.Stdout.Name() || e.Path == os.Stderr.Name())
}

// exitError ends the program with a code other than exitUnusable.
type exitError struct {
	code   int
	err    error
	silent bool // all was said already
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usageError is a mistake in the command line.
type usageError struct {
	err  error
	hint string // what to write instead; empty: see the help
}

func (e *usageError) Error() string { return e.err.Error() }

func (e *usageError) Unwrap() error { return e.err }

func usagef(hint, format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...), hint}
}

// hintOf returns what the user can do about err, or "".
func hintOf(err error) string {
	if u, ok := errors.AsType[*usageError](err); ok && u.hint != "" {
		return u.hint
	}
	return source.Hint(err)
}
