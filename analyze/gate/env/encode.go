package env

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/trace"
	"unicode/utf8"

	"github.com/schedscope/schedscope/internal/atomicfile"
	"github.com/schedscope/schedscope/internal/savedfile"
)

// MaxMessage is the greatest length of a record as a message in a trace. The runtime cuts
// messages after 1024 bytes (internal/trace/tracev2: MaxEventTrailerDataSize).
const MaxMessage = 1000

// Log writes a record into the trace that is being recorded, if there is one.
func Log(ctx context.Context, r *Record) {
	if trace.IsEnabled() {
		trace.Log(ctx, Category, Encode(r))
	}
}

// Encode returns a record as one line of at most [MaxMessage] bytes. Names that are too
// long for that are cut.
func Encode(r *Record) string {
	x := *r
	for limit := 256; ; limit /= 2 {
		for _, s := range []*string{&x.Workload, &x.CPU, &x.Kernel, &x.Runner, &x.Commit, &x.GOGC, &x.Memlimit, &x.Go, &x.OS, &x.Arch, &x.Point} {
			*s = Cut(*s, limit)
		}
		x.Sum = savedfile.Sum(&x)
		b, err := json.Marshal(&x)
		if err == nil && len(b) <= MaxMessage || limit == 0 {
			return string(b)
		}
	}
}

// Cut returns the first bytes of s at most, ending at a character's end.
func Cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// Check returns an error if the record, which another program may have written, is invalid.
func (r *Record) Check() error {
	switch {
	case r.Schema != Schema:
		return fmt.Errorf("its schema is %q, not %q", Cut(r.Schema, 40), Schema)
	case r.Point != Begin && r.Point != End:
		return fmt.Errorf("point is %q, want %q or %q", Cut(r.Point, 40), Begin, End)
	}
	return nil
}

// NextTo returns the name of the file that holds the Run of a trace's file.
func NextTo(trace string) string { return trace + ".env.json" }

// WriteRun writes the Run of the trace in a file to the file next to it.
func WriteRun(trace string, run *Run) error {
	x := *run
	x.Sum = savedfile.Sum(&x)
	return atomicfile.WriteNextTo(NextTo(trace), func(w io.Writer) error { return savedfile.WriteJSON(w, &x, false) })
}

// Check returns an error if one of the records is invalid, or if they do not fit together.
func (r *Run) Check() error {
	for _, x := range []*Record{&r.Begin, &r.End} {
		if err := x.Check(); err != nil {
			return err
		}
	}
	switch {
	case r.Begin.Point != Begin || r.End.Point != End:
		return errors.New("begin and end are not a beginning and an end")
	case r.End.MonoNS <= r.Begin.MonoNS:
		return errors.New("the end is not after the beginning")
	}
	return nil
}
