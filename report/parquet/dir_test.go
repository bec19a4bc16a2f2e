package parquet

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/capture"
	"github.com/schedscope/schedscope/analyze/gate/env"
)

func TestTraceID(t *testing.T) {
	sum := strings.Repeat("0123456789abcdef", 4)
	for _, tt := range []struct{ name, want string }{
		{"traces/checkout.trace", "checkout.trace-x0123456789ab"},
		{"t.out.gz", "t.out-x0123456789ab"},
		{`a=b/../c:d%2F é"'.trace`, "c_d_2F____.trace-x0123456789ab"},
		{"http://host:6060/debug", "debug-x0123456789ab"},
		{"..", "..-x0123456789ab"},
		{"2026-11-22", "2026-11-22-x0123456789ab"},
		{strings.Repeat("é", 200), strings.Repeat("_", 80) + "-x0123456789ab"},
	} {
		if got := TraceID(tt.name, sum); got != tt.want {
			t.Errorf("TraceID(%q) = %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestScan checks that records are found wherever they lie, and nothing else is
// taken for one.
func TestScan(t *testing.T) {
	record := env.Encode(&env.Record{Schema: env.Schema, Point: env.Begin, Go: "go1.26.8", Workload: strings.Repeat("w", 200)})
	note := `{"schema":"` + capture.NoteSchema + `","name":"shop","time":"2026-11-22T00:00:00Z","reason":"call"}`
	for _, at := range []int{0, 1, 100, scanBytes - 1200, scanBytes - 1000, scanBytes - 999, scanBytes - 300, scanBytes - 1, scanBytes, 3*scanBytes + 5} {
		data := bytes.Repeat([]byte{'{'}, 4*scanBytes)
		copy(data[at:], `{"schema":"schedscope.env/v1" and more`)
		copy(data[at+50:], record)
		copy(data[at+600:], note)
		s := Scan(bytes.NewReader(data))
		if s.Record == nil || s.Record.Go != "go1.26.8" || s.Service != "shop" {
			t.Errorf("at %d: record %v, service %q", at, s.Record, s.Service)
		}
		if cut := Scan(bytes.NewReader(data[:at+100])); cut.Record != nil || cut.Service != "" || cut.Sum == s.Sum {
			t.Errorf("at %d: found in what is cut off: %v, %q", at, cut.Record, cut.Service)
		}
	}
	if s := Scan(strings.NewReader("abc")); s.Sum != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Errorf("sum %s", s.Sum)
	}
	many := strings.NewReader(strings.Repeat(string(recordStart), scanAttempts+1) + record)
	if s := Scan(many); s.Record != nil {
		t.Error("looked at " + strconv.Itoa(scanAttempts) + " texts and more")
	}
}
