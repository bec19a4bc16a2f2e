package cli

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
)

// copyOf copies a fixture to a file that a test may change.
func copyOf(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(fixtures.Path(name))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestViewOfChangedTrace: a part of a trace that was overwritten after the page was made
// is refused.
func TestViewOfChangedTrace(t *testing.T) {
	path := copyOf(t, "generations.go1.26.p4.trace")
	s, _ := newViewServer(t, path)
	data, err := os.ReadFile(fixtures.Path("mixed.go1.26.p2.trace"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, from := range []model.Duration{1, 15e8} {
		if _, err := s.Record(t.Context(), from, from+1e6); !errors.Is(err, ingest.ErrChanged) {
			t.Errorf("from %d: error %v, want %v", from, err, ingest.ErrChanged)
		}
	}
}
