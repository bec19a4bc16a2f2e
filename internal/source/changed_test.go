package source

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/schedscope/schedscope/fixtures"
)

// TestChanged: a file that is written to while it is open is seen to change, compressed or not.
func TestChanged(t *testing.T) {
	data, err := os.ReadFile(fixtures.Path("quiet.go1.26.p4.trace"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.trace")
	for name, tt := range map[string]struct {
		size    int64
		touched time.Duration
	}{"as it was": {0, 0}, "written": {0, time.Hour}, "grown": {1, time.Hour}, "shortened": {-1, time.Hour}} {
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		in, err := Open(t.Context(), Ref{Kind: File, Path: path, Name: path}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if tt.size != 0 {
			err = os.Truncate(path, int64(len(data))+tt.size)
		}
		if at := time.Now().Add(tt.touched); err == nil && tt.touched > 0 {
			err = os.Chtimes(path, at, at)
		}
		if err != nil {
			t.Fatal(err)
		}
		if size, written := in.Changed(); size != (tt.size != 0) || written != (tt.touched > 0) {
			t.Errorf("%s: size %t, written %t", name, size, written)
		}
		in.Close()
	}
}
