package parquet

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"

	"github.com/schedscope/schedscope/analyze/capture"
	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/internal/strict"
	"github.com/schedscope/schedscope/internal/textui"
)

// TraceScan is what a trace shows before decoding.
type TraceScan struct {
	Sum     string      // hexadecimal digits: of equal bytes they are equal
	Record  *env.Record // the first in the trace; nil: there is none
	Service string      // of the first note of package capture; empty: there is none
}

const (
	scanBytes    = 1 << 20
	scanAttempts = 1000 // at something that looks like a record or a note
)

// Strings lie in a trace as they are. So begin an encoded [env.Record] and a
// [capture.Note].
var (
	recordStart = []byte(`{"schema":"` + env.Schema + `"`)
	noteStart   = []byte(`{"schema":"` + capture.NoteSchema + `"`)
)

// Scan reads a trace, decompressed, to the end, or to where that cannot be done: to
// say so is for those who decode it.
func Scan(r io.Reader) TraceScan {
	var found TraceScan
	sum := sha256.New()
	records := finder{start: recordStart, take: func(text string) bool {
		r, err := strict.Decode[env.Record]([]byte(text), env.Schema)
		found.Record = r
		return err == nil
	}}
	notes := finder{start: noteStart, take: func(text string) bool {
		n, err := strict.Decode[capture.Note]([]byte(text), capture.NoteSchema)
		if err == nil {
			found.Service = n.Name
		}
		return err == nil
	}}
	buf := make([]byte, scanBytes)
	kept := 0 // bytes at the beginning of buf that were looked at only in part
	for {
		n, err := io.ReadFull(r, buf[kept:])
		sum.Write(buf[kept : kept+n])
		data := buf[:kept+n]
		whole := textui.Either(err != nil, len(data), len(data)-env.MaxMessage) // what begins later may go on beyond the buffer
		records.look(data, whole)
		notes.look(data, whole)
		if err != nil {
			found.Sum = hex.EncodeToString(sum.Sum(nil))
			return found
		}
		kept = copy(buf, data[whole:])
	}
}

// finder looks for the first text of a kind, which is JSON.
type finder struct {
	start    []byte
	take     func(text string) bool // false: it is somebody else's, after all
	attempts int
	found    bool
}

// look looks for a text that begins before limit.
func (f *finder) look(data []byte, limit int) {
	for at := 0; !f.found && f.attempts < scanAttempts; at++ {
		i := bytes.Index(data[at:], f.start)
		if i < 0 || at+i >= limit {
			return
		}
		at += i
		f.attempts++
		var text json.RawMessage
		d := json.NewDecoder(bytes.NewReader(data[at:min(len(data), at+env.MaxMessage)]))
		f.found = d.Decode(&text) == nil && f.take(string(text))
	}
}
