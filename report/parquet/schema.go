package parquet

import (
	"path/filepath"
	"strings"
	"time"
)

// Origin is the source of the rows of a file. Its fields become columns after those of the
// table, equal in each row. "" and zero become null.
type Origin struct {
	Host, Service string
	GoVersion     string
	File          string    // name of the trace
	Recorded      time.Time // wall clock at the beginning of the trace
	Trace         string    // [TraceID]
}

// OriginColumns are the names of an Origin's columns.
var OriginColumns = []string{"host", "service", "go_version", "file", "recorded", "trace"}

// value is a value of an Origin: "" and 0 are null.
type value struct {
	text   string
	number int64
}

// values returns the values of OriginColumns.
func (o *Origin) values() []value {
	recorded := value{}
	if !o.Recorded.IsZero() {
		recorded.number = o.Recorded.UnixMicro()
	}
	return []value{{text: o.Host}, {text: o.Service}, {text: o.GoVersion}, {text: o.File}, recorded, {text: o.Trace}}
}

// TraceID returns what a trace is called in the names of files: its file's name, as far
// as its characters are harmless everywhere, and digits of its content. It never looks
// like a number or a date, which engines would make of it what it is not.
func TraceID(name, sum string) string {
	base := filepath.Base(filepath.ToSlash(name))
	for _, ext := range []string{".gz", ".zst"} {
		base = strings.TrimSuffix(base, ext)
	}
	harmless := func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '-', r == '_':
			return r
		}
		return '_'
	}
	base = strings.Map(harmless, base)
	return base[:min(len(base), 80)] + "-x" + sum[:12]
}

// nameValue returns a name, in which U+FFFD stands for each byte that is not UTF-8.
func nameValue(s string) []byte { return []byte(string([]rune(s))) }
