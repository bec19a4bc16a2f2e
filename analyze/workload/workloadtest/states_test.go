package workloadtest

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
)

// TestRealTraces: what the Checker asks of simulated events, real ones fulfil.
func TestRealTraces(t *testing.T) {
	for _, name := range fixtures.Real() {
		if !strings.HasSuffix(name, ".trace") || name == "http.trace" {
			continue
		}
		f, err := fixtures.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := ingest.NewReader(f, ingest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		c := NewChecker()
		n := 0
		err = ingest.Each(r, func(ev *model.Event) error { n++; c.Event(ev); return nil })
		if err != nil && !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", name, err)
		}
		if err := c.Err(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		f.Close()
	}
}
