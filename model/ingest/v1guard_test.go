package ingest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/schedscope/schedscope/fixtures"

	"github.com/schedscope/schedscope/model/ingest/wire"
)

// appendV1 adds an event before Go 1.22 to a trace.
func appendV1(b []byte, typ byte, args ...uint64) []byte {
	var values []byte
	for _, v := range args {
		values = binary.AppendUvarint(values, v)
	}
	if len(args) > 3 {
		b = append(b, typ|3<<6)
		b = binary.AppendUvarint(b, uint64(len(values)))
	} else {
		b = append(b, typ|byte(len(args)-1)<<6)
	}
	return append(b, values...)
}

// idleV1 is a trace of n goroutines that were Runnable when tracing began.
func idleV1(n int) []byte {
	b := appendV1([]byte("go 1.21 trace\x00\x00\x00"), v1Batch, 0, 1000)
	for i := range n {
		b = appendV1(b, v1GoCreate, 1, uint64(i)+2, 0, 0)
	}
	return appendV1(b, v1Frequency, 1_000_000)
}

// TestTooDeepV1: a trace that would overflow the decoder's stack is refused.
func TestTooDeepV1(t *testing.T) {
	for _, n := range []int{1000, maxLeftOut, maxLeftOut + 1} {
		if n == maxLeftOut && testing.Short() {
			continue // seconds
		}
		data := idleV1(n)
		r, err := NewReader(bytes.NewReader(data), Options{})
		if err == nil {
			_, err = r.Next()
			r.Close()
		}
		if got, want := errors.Is(err, errTooDeepV1), n > maxLeftOut; got != want {
			t.Errorf("%d goroutines: refused %t (%v), want %t", n, got, err, want)
		}
	}
}

// TestLeftOutRow: a row goes on over batches and over what is not an event of
// its proc; rows of several procs add up.
func TestLeftOutRow(t *testing.T) {
	const goStart = 14
	type event struct {
		typ  byte
		proc uint64 // of a batch
	}
	create, start := event{typ: v1GoCreate}, event{typ: goStart}
	tests := []struct {
		name   string
		events []event
		want   int
	}{
		{"broken", []event{create, create, start, create}, 2},
		{"of two procs", []event{create, {v1Batch, 1}, create, create}, 3},
		{"over two batches", []event{create, {v1Batch, 0}, create}, 2},
		{"around others", []event{create, {typ: v1GoSysExit}, {typ: v1CPUSample}, {typ: v1GoSysBlock}, start}, 2},
	}
	for _, test := range tests {
		data := appendV1(nil, v1Batch, 0, 1)
		for _, e := range test.events {
			data = appendV1(data, e.typ, e.proc, 1)
		}
		if got, _ := scanV1(data); got != test.want {
			t.Errorf("%s: got %d, want %d", test.name, got, test.want)
		}
	}
	for _, name := range fixtures.Names() {
		data := fixture(t, name)
		if version, err := parseHeader(data); err != nil || version >= wire.OldestVersion {
			continue
		}
		if got, cut := scanV1(data[headerLen:]); cut != nil || got == 0 || got > 1000 {
			t.Errorf("%s: a row of %d events, %v", name, got, cut)
		}
	}
}
