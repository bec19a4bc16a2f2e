package result

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/schedscope/schedscope/internal/savedfile"
	"github.com/schedscope/schedscope/internal/textui"
)

// InfoSchema is the format of [InfoReport]. Within it fields are only ever added.
const InfoSchema = "schedscope/info/v2"

type (
	// InfoReport is the JSON of schedscope info: see [Report] for its conventions.
	InfoReport struct {
		Schema string  `json:"schema"`
		Traces []About `json:"traces"`
	}

	// About describes one trace.
	About struct {
		Name        string       `json:"name"`
		Format      string       `json:"format"`     // "go 1.26"
		Bytes       int64        `json:"size_bytes"` // as stored; -1 if not known
		Compression string       `json:"compression,omitempty"`
		Recorded    string       `json:"recorded,omitempty"` // wall clock at the start, RFC 3339, UTC
		Span        int64        `json:"span_ns"`            // by the index: up to the last batch
		Generations []Generation `json:"generations"`
		Damage      string       `json:"damage,omitempty"`
		Missing     []string     `json:"missing"` // what the trace does not record
	}

	// Generation is a self-contained part of a trace.
	Generation struct {
		Number      uint64 `json:"number"`
		Offset      int64  `json:"offset"`
		Bytes       int64  `json:"bytes"`
		Start       int64  `json:"start_ns"` // its first batch
		End         int64  `json:"end_ns"`   // the beginning of its last batch
		EventBytes  int64  `json:"event_bytes"`
		StackBytes  int64  `json:"stack_bytes"`
		StringBytes int64  `json:"string_bytes"`
		SampleBytes int64  `json:"cpu_sample_bytes"`
		Complete    bool   `json:"complete"`
	}
)

// Lacks sets the list of what the trace does not record. Version is that of its format.
func (v *About) Lacks(version int) {
	v.Missing = []string{}
	add := func(format string, args ...any) { v.Missing = append(v.Missing, fmt.Sprintf(format, args...)) }
	if v.Damage != "" {
		add("what comes after the damage: %s", v.Damage)
	}
	if version < 22 {
		add("generations, states of threads, ways out of system calls: the format of Go 1.%d does not have them", version)
	}
	if version < 23 {
		add("coroutine switches of iter.Pull: recorded from Go 1.23 on")
	}
	if version < 25 {
		add("the wall clock: recorded from Go 1.25 on")
	}
	sampled := func(g Generation) bool { return g.SampleBytes > 0 }
	if version >= 22 && !slices.ContainsFunc(v.Generations, sampled) {
		add("CPU samples: they need a CPU profile (runtime/pprof) at the same time")
	}
}

// WriteInfo writes an [InfoReport] of traces.
func WriteInfo(w io.Writer, traces []About) error {
	return savedfile.WriteJSON(w, InfoReport{InfoSchema, traces}, true)
}

// WallClock returns a time in Unix nanoseconds as reports print it, "" for 0.
func WallClock(unixNano int64) string {
	return textui.If(unixNano != 0, time.Unix(0, unixNano).UTC().Format("2006-01-02T15:04:05.000Z"))
}
