package env

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
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
			*s = cut(*s, limit)
		}
		x.Sum = savedfile.Sum(&x)
		b, err := json.Marshal(&x)
		if err == nil && len(b) <= MaxMessage || limit == 0 {
			return string(b)
		}
	}
}

// cut returns the first bytes of s at most, ending at a character's end.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// Decode reads a record as Encode returns it, and as files have it.
func Decode(text string) (*Record, error) {
	r := new(Record)
	if err := decode([]byte(text), Schema, r, r.check); err != nil {
		return nil, err
	}
	return r, nil
}

// decode reads JSON, see [savedfile.Decode], and checks it.
func decode(data []byte, schema string, to any, check func() error) error {
	err := savedfile.Decode(data, schema, to)
	if err == nil {
		err = check()
	}
	if err != nil {
		return fmt.Errorf("invalid environment record: %w", err)
	}
	return nil
}

// check reports what is wrong with a record that somebody else wrote.
func (r *Record) check() error {
	switch {
	case r.Schema != Schema:
		return &savedfile.SchemaError{Got: r.Schema, Want: Schema}
	case r.Point != Begin && r.Point != End:
		return fmt.Errorf("point is %q, want %q or %q", cut(r.Point, 40), Begin, End)
	}
	return nil
}

// Beside returns the name of the file that holds the Run of a trace's file.
func Beside(trace string) string { return trace + ".env.json" }

// maxRun is the greatest size of such a file.
const maxRun = 64 << 10

// WriteRun writes the Run of the trace in a file to the file beside it.
func WriteRun(trace string, run *Run) error {
	x := *run
	x.Sum = savedfile.Sum(&x)
	return atomicfile.WriteBeside(Beside(trace), func(w io.Writer) error { return savedfile.WriteJSON(w, &x, false) })
}

// ReadRun returns the Run that lies beside the trace in a file, nil if there is none.
func ReadRun(trace string) (*Run, error) {
	name := Beside(trace)
	data, err := savedfile.ReadFile(name, maxRun)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	run, err := ParseRun(data)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return run, nil
}

// ParseRun reads the content of such a file.
func ParseRun(data []byte) (*Run, error) {
	run := new(Run)
	if err := decode(data, "", run, run.check); err != nil {
		return nil, err
	}
	return run, nil
}

// check reports what is wrong with two records, each and together.
func (r *Run) check() error {
	for _, x := range []*Record{&r.Begin, &r.End} {
		if err := x.check(); err != nil {
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
