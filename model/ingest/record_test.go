package ingest

import (
	"os"
	"sync"
	"testing"
)

var boundaries = sync.OnceValues(func() ([]byte, error) { return os.ReadFile("testdata/boundaries.go1.26.p4.trace") })

// recordedTrace returns a trace of eight short generations with everything in it that crosses
// their boundaries: see fixtures/programs/boundaries.
func recordedTrace(t testing.TB) []byte {
	t.Helper()
	data, err := boundaries()
	if err != nil {
		t.Fatal(err)
	}
	return data
}
