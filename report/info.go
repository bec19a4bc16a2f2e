package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// InfoSchema names the format of [InfoV1]. Within it fields are only ever added.
const InfoSchema = "schedscope/info/v1"

type (
	// InfoV1 is what schedscope info tells, in the form of its JSON: see [result.Report] for
	// its conventions.
	InfoV1 struct {
		Schema string    `json:"schema"`
		Traces []V1About `json:"traces"`
	}

	// V1About describes one trace.
	V1About struct {
		Name        string          `json:"name"`
		Format      string          `json:"format"`     // "go 1.26"
		Bytes       int64           `json:"size_bytes"` // as stored; -1 if not known
		Compression string          `json:"compression,omitempty"`
		Recorded    string          `json:"recorded,omitempty"` // wall clock at the start, RFC 3339, UTC
		Span        int64           `json:"span_ns"`            // by the index: up to the last batch
		Generations []V1Generation  `json:"generations"`
		Damage      string          `json:"damage,omitempty"`
		Captured    *result.Capture `json:"captured,omitempty"` // why the program kept it, if that is noted in it
		Decoded     bool            `json:"decoded"`            // totals and events were counted
		Totals      *result.Totals  `json:"totals,omitempty"`
		Events      []V1Kind        `json:"events,omitempty"` // by kind, in a fixed order
		Missing     []string        `json:"missing"`          // what the trace does not tell
	}

	// V1Generation is a self-contained part of a trace.
	V1Generation struct {
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

	// V1Kind counts events.
	V1Kind struct {
		Kind  string `json:"kind"`
		Count int64  `json:"count"`
	}
)

// Count fills in what decoding has counted.
func (v *V1About) Count(t *analyze.Totals) {
	totals := analyze.TotalsResult(t)
	v.Decoded, v.Totals, v.Span = true, &totals, int64(t.Span)
	v.Events = []V1Kind{}
	for k, n := range t.EventsByKind {
		if n > 0 {
			v.Events = append(v.Events, V1Kind{model.EventKind(k).String(), n})
		}
	}
}

// Lacks fills in what the trace does not tell. version is that of its format.
func (v *V1About) Lacks(version int) {
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
	if !v.Decoded {
		add("counts of goroutines and events: schedscope info --events decodes the whole trace")
		return
	}
	if !v.has(model.EventStackSample) {
		add("CPU samples: they need a CPU profile (runtime/pprof) at the same time")
	}
	if !v.has(model.EventTaskBegin) && !v.has(model.EventRegionBegin) && !v.has(model.EventLog) {
		add("tasks, regions and logs: the program does not use those of runtime/trace")
	}
}

func (v *V1About) has(k model.EventKind) bool {
	for _, e := range v.Events {
		if e.Kind == k.String() {
			return true
		}
	}
	return false
}

// InfoJSON writes what is known of traces as an [InfoV1].
func InfoJSON(w io.Writer, traces []V1About) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(InfoV1{InfoSchema, traces})
}

// InfoText writes what is known of a trace for people.
func InfoText(w io.Writer, v *V1About, o Options) error {
	var b strings.Builder
	line := func(label, format string, args ...any) {
		fmt.Fprintf(&b, "%-12s %s\n", label, textui.Columns(fmt.Sprintf(format, args...), noWidth-13, strings.Repeat(" ", 13)))
	}
	b.WriteString(textui.Clean(v.Name) + "\n")
	size := "unknown size"
	if v.Bytes >= 0 {
		size = textui.Bytes(v.Bytes)
	}
	if v.Compression != "" {
		size += ", " + v.Compression
	}
	line("format", "%s (%s)", v.Format, size)
	if v.Recorded != "" {
		line("recorded", "%s", v.Recorded)
	}
	line("span", "%s", textui.Duration(v.Span))
	if v.Captured != nil {
		line("captured", "%s", v.Captured)
	}
	if t := v.Totals; t != nil {
		line("goroutines", "%s, %s of them of the runtime", textui.Count(t.Goroutines), textui.Count(t.SystemGoroutines))
		line("threads", "%s", textui.Count(t.Threads))
		line("procs", "%d seen, GOMAXPROCS %s", t.Procs, v.gomaxprocs())
		line("events", "%s", textui.Count(t.Events))
	}
	v.kinds(&b, o)
	v.generations(&b, o)
	if len(v.Missing) > 0 {
		b.WriteString("\nnot in it\n")
		for _, m := range v.Missing {
			fmt.Fprintf(&b, "  - %s\n", textui.Columns(textui.Clean(m), noWidth-4, "    "))
		}
	}
	text := b.String()
	if !o.Unicode {
		text = textui.ASCII(text)
	}
	_, err := io.WriteString(w, text)
	return err
}

// gomaxprocs lists the values that GOMAXPROCS had.
func (v *V1About) gomaxprocs() string {
	const most = 8
	var values []string
	for i, s := range v.Totals.GOMAXPROCS {
		if i == most {
			values = append(values, "…")
			break
		}
		value := fmt.Sprint(s.Procs)
		if i > 0 {
			value += " from " + textui.Instant(s.At) + " on"
		}
		values = append(values, value)
	}
	if len(values) == 0 {
		return "not recorded"
	}
	return strings.Join(values, ", ")
}

func (v *V1About) kinds(b *strings.Builder, o Options) {
	if len(v.Events) == 0 {
		return
	}
	t := textui.NewTable("lrr", "events by kind", "count", "share")
	t.Indent, t.Limit = "", o.Width
	for _, k := range v.Events {
		t.Row("  "+k.Kind, textui.Count(k.Count), textui.Ratio(k.Count, v.Totals.Events))
	}
	b.WriteString("\n" + t.String())
}

// generationsShown is how many generations the text lists from either end.
const generationsShown = 10

func (v *V1About) generations(b *strings.Builder, o Options) {
	n := len(v.Generations)
	if n == 0 {
		return
	}
	t := textui.NewTable("rrrrrrrrl", "generation", "start", "length", "bytes", "events", "stacks", "strings", "samples", "")
	t.Indent, t.Limit = "", o.Width
	for i, g := range v.Generations {
		if n > 2*generationsShown && i >= generationsShown && i < n-generationsShown {
			if i == generationsShown {
				t.Row("…")
			}
			continue
		}
		end := g.End
		if i+1 < n && v.Generations[i+1].Start > 0 {
			end = v.Generations[i+1].Start
		}
		state := ""
		if !g.Complete {
			state = "incomplete"
		}
		t.Row(fmt.Sprint(g.Number), textui.Instant(g.Start), textui.Duration(end-g.Start), textui.Bytes(g.Bytes),
			textui.Bytes(g.EventBytes), textui.Bytes(g.StackBytes), textui.Bytes(g.StringBytes), textui.Bytes(g.SampleBytes), state)
	}
	b.WriteString("\n" + t.String())
}

// WallClock returns a time in Unix nanoseconds as reports print it, "" for 0.
func WallClock(unixNano int64) string {
	if unixNano == 0 {
		return ""
	}
	return time.Unix(0, unixNano).UTC().Format("2006-01-02T15:04:05.000Z")
}
