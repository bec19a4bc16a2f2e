package source

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// SniffLen is the number of bytes that Sniff needs from the start of some data.
const SniffLen = 4096

// A Format is a class of data that is opened in one way.
type Format int

const (
	Unknown Format = iota // something that is not read
	Trace                 // a Go execution trace of a version that can be read
	Gzip
	Zstd
	JSON // a document, perhaps a saved report
)

// A Guess is the guessed format of some data. As an error it means that the data is not a
// readable Go execution trace.
type Guess struct {
	Format Format
	Seems  string // what follows "it seems to be": "an HTML page"
	Hint   string // what the user can do about it, one line; empty for a readable Trace
}

func (g *Guess) Error() string {
	if g.Hint == hintReport {
		return "it is " + seemsReport + ", not a trace"
	}
	return "not a readable Go execution trace: it seems to be " + g.Seems
}

// readable holds the versions that golang.org/x/exp/trace reads
// (trace/internal/version/version.go, v0.0.0-20260908205506-85c1c2202aba): N of
// "go 1.N trace", in order. A release whose format did not change writes the
// version of an earlier one: Go 1.24 writes 23.
var readable = []int{11, 19, 21, 22, 23, 25, 26}

// headerLen is the length of the header of every trace, which is text filled
// up with zero bytes (runtime/trace.go: traceHeader; same since Go 1.5).
const headerLen = 16

// traceHeader matches the header of a trace of any version.
var traceHeader = regexp.MustCompile(`^go (\d+)\.(\d+) trace\x00*$`)

// Sniff guesses the format of data from prefix, its first SniffLen bytes or all of it if it is
// shorter. More bytes can only improve the guess.
func Sniff(prefix []byte) *Guess {
	if len(prefix) == 0 {
		return &Guess{Seems: "empty", Hint: hintEmpty}
	}
	if len(prefix) < headerLen {
		for _, v := range readable {
			header := "go 1." + strconv.Itoa(v) + " trace\x00\x00\x00"
			if len(prefix) >= len("go 1.") && strings.HasPrefix(header, string(prefix)) {
				return &Guess{Seems: "a Go execution trace cut off inside its header", Hint: hintEmpty}
			}
		}
	} else if m := traceHeader.FindSubmatch(prefix[:headerLen]); m != nil {
		return sniffVersion(string(m[1]), string(m[2]))
	}
	for i := range signatures {
		s := &signatures[i]
		if bytes.HasPrefix(prefix, []byte(s.magic)) && (s.also == nil || s.also(prefix)) {
			return &Guess{Format: s.format, Seems: s.seems, Hint: s.hint}
		}
	}
	return sniffText(prefix)
}

// sniffVersion says whether traces of Go major.minor can be read.
func sniffVersion(major, minor string) *Guess {
	v, _ := strconv.Atoi(minor) // at most 7 digits
	oldest, newest := readable[0], readable[len(readable)-1]
	g := &Guess{Seems: "a trace in the format of Go " + major + "." + minor}
	switch {
	case major != "1" || v > newest:
		g.Seems += ", newer than Go 1." + strconv.Itoa(newest)
		g.Hint = hintNewer
	case v < oldest:
		g.Seems += ", older than Go 1." + strconv.Itoa(oldest)
		g.Hint = "read it with go tool trace of that Go release, or " + hintRecord
	case !slices.Contains(readable, v):
		g.Seems += ", which no release of Go writes"
		g.Hint = "the file may be damaged; " + hintRecord
	default:
		g.Format, g.Seems = Trace, "a Go execution trace"
	}
	return g
}

// sniffText recognizes text among data that nothing else recognized.
func sniffText(prefix []byte) *Guess {
	if len(bytes.Trim(prefix, "\x00")) == 0 {
		return &Guess{Seems: "nothing but zero bytes", Hint: "the file was not written to the end, by a crash or on a full disk; " + hintRecord}
	}
	if !isText(prefix) {
		return &Guess{Seems: "unknown binary data", Hint: hintRecord}
	}
	if line := firstLine(string(prefix), 60); line != "" {
		return &Guess{Seems: "text that starts with " + strconv.Quote(line), Hint: hintRecord}
	}
	return &Guess{Seems: "text", Hint: hintRecord}
}
