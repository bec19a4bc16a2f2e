package source

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// SniffLen is how many bytes from the start of some data Sniff wants to see.
const SniffLen = 4096

// A Format is a class of data that calls for a way of its own to go on.
type Format int

const (
	Unknown Format = iota // something that is not read
	Empty                 // no data at all
	Trace                 // a Go execution trace of a version that can be read
	Gzip
	Zstd
	Profile // a pprof profile, compressed or not
	JSON    // a document, perhaps a saved report
)

// A Guess is what the first bytes of some data say about it.
type Guess struct {
	Format  Format
	Version int    // of a Go trace, readable or not: 26 for "go 1.26 trace"; else 0
	Seems   string // what follows "it seems to be": "a CPU profile (pprof)"
	Hint    string // what to do about it; empty for a readable Trace
}

// A FormatError says that data is not a Go execution trace that can be read.
type FormatError struct {
	Seems string // as in Guess
	Hint  string // what the user can do, one line
}

func (e *FormatError) Error() string {
	return "not a readable Go execution trace: it seems to be " + e.Seems
}

func (g Guess) formatError() *FormatError { return &FormatError{Seems: g.Seems, Hint: g.Hint} }

// readable holds the versions that golang.org/x/exp/trace reads
// (trace/internal/version/version.go, v0.0.0-20260908205506-85c1c2202aba): N of
// "go 1.N trace", in order. A release whose format did not change writes the
// version of an earlier one: Go 1.24 writes 23.
var readable = []int{11, 19, 21, 22, 23, 25, 26}

// headerLen is the length of the header of every trace, which is text filled
// up with zero bytes (runtime/trace.go: traceHeader; same since Go 1.5).
const headerLen = 16

// Sniff says what data seems to be. prefix is its first SniffLen bytes, or all
// of it if it is shorter; more bytes can only make the guess better.
func Sniff(prefix []byte) Guess {
	if len(prefix) == 0 {
		return Guess{Format: Empty, Seems: "empty", Hint: hintEmpty}
	}
	if g, ok := sniffHeader(prefix); ok {
		return g
	}
	for i := range signatures {
		s := &signatures[i]
		if s.matches(prefix) {
			return Guess{Format: s.format, Seems: s.seems, Hint: s.hint}
		}
	}
	if g, ok := sniffProfile(prefix); ok {
		return g
	}
	return sniffText(prefix)
}

// sniffHeader recognizes the header of a Go trace of any version.
func sniffHeader(prefix []byte) (Guess, bool) {
	if len(prefix) < headerLen {
		return sniffCutHeader(prefix)
	}
	header := string(prefix[:headerLen])
	text := strings.TrimRight(header, "\x00")
	number, ok := strings.CutPrefix(text, "go ")
	if !ok {
		return Guess{}, false
	}
	number, ok = strings.CutSuffix(number, " trace")
	if !ok {
		return Guess{}, false
	}
	major, minor, ok := strings.Cut(number, ".")
	if !ok || !isNumber(major) || !isNumber(minor) {
		return Guess{}, false
	}
	v, _ := strconv.Atoi(minor) // at most 7 digits
	g := Guess{Version: v, Seems: "a trace in the format of Go " + number}
	newest := readable[len(readable)-1]
	switch {
	case major != "1" || v > newest:
		g.Seems += ", newer than Go 1." + strconv.Itoa(newest)
		g.Hint = hintNewer
	case v < readable[0]:
		g.Seems += ", older than Go 1." + strconv.Itoa(readable[0])
		g.Hint = "read it with go tool trace of that Go release, or " + hintRecord
	case !slices.Contains(readable, v):
		g.Seems += ", which no release of Go writes"
		g.Hint = "the file may be damaged; " + hintRecord
	default:
		g.Format, g.Seems = Trace, "a Go execution trace"
	}
	return g, true
}

// sniffCutHeader recognizes the first bytes of a header.
func sniffCutHeader(prefix []byte) (Guess, bool) {
	const least = len("go 1.")
	for _, v := range readable {
		header := "go 1." + strconv.Itoa(v) + " trace\x00\x00\x00"
		if len(prefix) >= least && strings.HasPrefix(header, string(prefix)) {
			return Guess{Version: v, Seems: "a Go execution trace cut off inside its header", Hint: hintEmpty}, true
		}
	}
	return Guess{}, false
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// sniffText recognizes text among data that nothing else recognized.
func sniffText(prefix []byte) Guess {
	if len(bytes.Trim(prefix, "\x00")) == 0 {
		return Guess{Seems: "nothing but zero bytes", Hint: "the file was not written to the end, by a crash or on a full disk; " + hintRecord}
	}
	if !isText(prefix) {
		return Guess{Seems: "unknown binary data", Hint: hintRecord}
	}
	if line := FirstLine(string(prefix), 60); line != "" {
		return Guess{Seems: "text that starts with " + strconv.Quote(line), Hint: hintRecord}
	}
	return Guess{Seems: "text", Hint: hintRecord}
}
