package single_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"testing"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/single"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model/session"
)

// Each trace has a report; those of several are merged.
func Example() {
	var all result.Merger
	for _, name := range []string{"gc.go1.26.p4.trace", "hogs.go1.26.p2.trace"} {
		f, err := os.Open(fixtures.Path(name))
		if err != nil {
			log.Fatal(err)
		}
		defer f.Close()
		v, err := single.Trace(context.Background(), name, f, single.Options{MaxBytes: 1 << 30})
		switch {
		case errors.Is(err, single.ErrNoTrace), errors.Is(err, single.ErrDamaged):
			continue
		case err != nil:
			log.Fatal(err)
		}
		fmt.Printf("%s: %s, %d waits\n", name, v.Verdict.Word, v.Latency.All.Count)
		if err := all.Add(v); err != nil {
			log.Fatal(err)
		}
	}
	v, err := all.Report()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d traces: %d waits\n", len(v.Traces), v.Latency.All.Count)
	// Output:
	// gc.go1.26.p4.trace: DISTURBED, 872 waits
	// hogs.go1.26.p2.trace: STARVED, 197 waits
	// 2 traces: 1069 waits
}

func packed(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestErrors checks that errors are of their kinds, and name the trace once.
func TestErrors(t *testing.T) {
	data, err := os.ReadFile(fixtures.Path("quiet.go1.26.p4.trace"))
	if err != nil {
		t.Fatal(err)
	}
	gz := packed(t, data)
	size := int64(len(data))
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tt := range map[string]struct {
		ctx  context.Context
		data []byte
		o    single.Options
		want error
	}{
		"a trace":               {t.Context(), data, single.Options{MaxBytes: size}, nil},
		"packed":                {t.Context(), gz, single.Options{MaxBytes: size}, nil},
		"no trace":              {t.Context(), []byte("hello"), single.Options{}, single.ErrNoTrace},
		"empty":                 {t.Context(), nil, single.Options{}, single.ErrNoTrace},
		"packed text":           {t.Context(), packed(t, []byte("hello")), single.Options{}, single.ErrNoTrace},
		"a header alone":        {t.Context(), data[:16], single.Options{}, single.ErrDamaged},
		"the header of packed":  {t.Context(), gz[:8], single.Options{}, single.ErrNoTrace},
		"too large":             {t.Context(), data, single.Options{MaxBytes: size - 1}, single.ErrTooLarge},
		"too large when packed": {t.Context(), gz, single.Options{MaxBytes: size - 1}, single.ErrTooLarge},
		"beyond the trace":      {t.Context(), data, single.Options{From: 1e15}, session.ErrNoEvent},
		"after its context":     {canceled, data, single.Options{}, context.Canceled},
		"packed, after it":      {canceled, gz, single.Options{}, context.Canceled},
	} {
		for kind, r := range map[string]io.Reader{"at": bytes.NewReader(tt.data), "stream": io.MultiReader(bytes.NewReader(tt.data))} {
			if kind == "stream" && name == "too large" {
				continue // the size of a stream is not known
			}
			v, err := single.Trace(tt.ctx, "a.trace", r, tt.o)
			if !errors.Is(err, tt.want) || (v != nil) != (err == nil) {
				t.Errorf("%s, %s: error %v, want %v", name, kind, err, tt.want)
			}
			if err != nil && tt.ctx == t.Context() && bytes.Count([]byte(err.Error()), []byte("a.trace")) != 1 {
				t.Errorf("%s, %s: error %q", name, kind, err)
			}
		}
	}
}
