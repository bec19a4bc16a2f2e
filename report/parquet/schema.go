package parquet

import (
	"encoding/binary"
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

// values returns the values of OriginColumns, nil for what is null.
func (o *Origin) values() [][]byte {
	var recorded []byte
	if !o.Recorded.IsZero() {
		recorded = binary.LittleEndian.AppendUint64(nil, uint64(o.Recorded.UnixMicro()))
	}
	return [][]byte{nameValue(o.Host), nameValue(o.Service), nameValue(o.GoVersion), nameValue(o.File), recorded, nameValue(o.Trace)}
}

// nameValue returns a name, in which U+FFFD stands for each byte that is not UTF-8; nil: it is "".
func nameValue(s string) []byte {
	if s == "" {
		return nil
	}
	return []byte(string([]rune(s)))
}
