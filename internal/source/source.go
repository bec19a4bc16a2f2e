// Package source turns the operands of a command line into readable traces.
//
// An operand is a file, a directory, a pattern, "-" or the address of a
// net/http/pprof server. Expand finds out what the operands name; Open opens
// one of them, takes gzip and zstd off, and refuses what is not a Go execution
// trace with a message that says what it seems to be and what to do.
// Formats are recognized by content, never by name.
package source

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
)

// A Kind is the kind of source that a Ref names.
type Kind int

const (
	File  Kind = iota // a path
	Stdin             // the operand "-"
	URL               // a trace to be fetched over HTTP
)

// A Ref is one trace that an operand of the command line names.
type Ref struct {
	Kind Kind
	Name string // for reports and messages: printable, without a password
	Path string // the path of a File, the address of a URL as given
}

// Limits that hold where Options leaves them zero.
const (
	DefaultSeconds  = 5
	defaultMaxBytes = 64 << 30 // of decompressed data
	defaultMaxFetch = 4 << 30  // of data sent by a server
	defaultGrace    = time.Minute
)

// Options configures Open. The zero value reads files.
type Options struct {
	Stdin    io.Reader // behind "-"; an *os.File at offset 0 of a regular file is read in parallel
	MaxBytes int64     // most bytes to decompress from one input
	JSON     bool      // open JSON as well, in which a report may be saved; see Input.JSON
	HTTP     HTTPOptions
}

// HTTPOptions configures fetching a trace from a server.
type HTTPOptions struct {
	Length  time.Duration // of the recording; an address with a path keeps its own
	Always  bool          // Length is that of an address with a path, too
	SaveDir string        // where the trace is saved; empty is the current directory
	NoSave  bool          // use a temporary file that Close removes instead
	Samples bool          // have the server take CPU samples, too: see Input.Unsampled

	MaxBytes int64         // most bytes to take from the server
	Grace    time.Duration // how long a trace may take to come after a shorter recording

	// Client replaces the client that bounds the time to connect.
	Client *http.Client
	// Now dates the name of the saved file; nil leaves the date out.
	Now func() time.Time
	// Progress, if not nil, is called with the bytes fetched so far from the
	// goroutine that called Open.
	Progress func(bytes int64)
}

// ErrTooLarge is the cause of errors about inputs that exceed a limit of Options.
var ErrTooLarge = errors.New("too large")

// An Error is the failure of one operand, with a hint.
type Error struct {
	Doing string // what was being done to what: "opening trace.out"; may be empty
	Err   error
	Hint  string // what the user can do; may be empty
}

func (e *Error) Error() string { return strings.TrimPrefix(e.Doing+": "+e.Err.Error(), ": ") }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Hint returns advice for the user about err, one line, or "" if no Error in err has any.
func Hint(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Hint
	}
	return ""
}

// Open opens the trace that ref names. For a URL it returns when the whole
// recording has come; if ctx ends before, what came is kept and the Input says
// so. Errors are of type *Error, and wrap a *Guess if the data is not a
// trace that can be read. The caller closes the Input.
func Open(ctx context.Context, ref Ref, o Options) (*Input, error) {
	if o.MaxBytes <= 0 {
		o.MaxBytes = defaultMaxBytes
	}
	switch ref.Kind {
	case Stdin:
		return openStdin(ref, o)
	case URL:
		o.JSON = false // it was asked for a recording
		return openURL(ctx, ref, o)
	default:
		return openFile(ref.Path, ref.Name, o)
	}
}
