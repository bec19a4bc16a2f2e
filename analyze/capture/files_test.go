package capture

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestSafeName(t *testing.T) {
	for name, want := range map[string]string{
		"shop": "shop", "a b/c": "a-b-c", "../..": "program", "": "program", ".hidden": "hidden",
		"\x1b[2Jx": "2Jx", "ä": "program", strings.Repeat("x", 100): strings.Repeat("x", 60), "v1.2_3": "v1.2_3",
	} {
		if got := safeName(name); got != want {
			t.Errorf("%q became %q, want %q", name, got, want)
		}
	}
}

// TestPrune checks that the oldest go, and that nothing else is touched.
func TestPrune(t *testing.T) {
	at := func(i int) time.Time { return time.Date(2026, 1, 2, 3, 4, i, 0, time.UTC) }
	others := []string{"shop-x.trace", "shop2-20260102T030400.000Z-slow.trace", "shop-20260102T030400.000Z-slow.txt", "notes", ".shop-20260102T030400.000Z-slow.trace.tmp-1-0"}
	for _, tt := range []struct {
		keep  int
		bytes int64
		want  []int // of files 0 to 5, of 10 bytes each but file 3 of 100
	}{
		{10, 1000, []int{0, 1, 2, 3, 4, 5}},
		{3, 1000, []int{3, 4, 5}},
		{1, 1000, []int{5}},
		{10, 30, []int{4, 5}}, // 3 is too large, and what is older goes too
		{10, 120, []int{3, 4, 5}},
		{10, 1, []int{5}}, // never the newest
	} {
		dir := t.TempDir()
		for i := range 6 {
			size := 10
			if i == 3 {
				size = 100
			}
			if err := os.WriteFile(filepath.Join(dir, fileName("shop", at(i), ReasonSlow)), make([]byte, size), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range others {
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if err := prune(dir, "shop", tt.keep, tt.bytes); err != nil {
			t.Fatal(err)
		}
		want := slices.Clone(others)
		for _, i := range tt.want {
			want = append(want, fileName("shop", at(i), ReasonSlow))
		}
		slices.Sort(want)
		if got := namesIn(t, dir); !slices.Equal(got, want) {
			t.Errorf("keep %d, %d bytes: left %q, want %q", tt.keep, tt.bytes, got, want)
		}
	}
}

// namesIn lists a folder.
func namesIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestSweep checks that what dead processes left goes, and what live ones write stays.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	for name, age := range map[string]time.Duration{
		".shop-20260102T030400.000Z-slow.trace.tmp-1-0": 2 * time.Hour,
		".shop-http.tmp-123":                            2 * time.Hour,
		".shop-20260102T030401.000Z-slow.trace.tmp-1-0": time.Minute,
		".other-x.tmp-1-0":                              2 * time.Hour,
		"shop-x.tmp-":                                   2 * time.Hour,
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	sweep(dir, "shop", now)
	want := []string{".other-x.tmp-1-0", ".shop-20260102T030401.000Z-slow.trace.tmp-1-0", "shop-x.tmp-"}
	if got := namesIn(t, dir); !slices.Equal(got, want) {
		t.Errorf("left %q, want %q", got, want)
	}
}

func TestLimitWriter(t *testing.T) {
	var b bytes.Buffer
	told := 0
	w := limitWriter(&b, 5)
	w.failed = func(error) { told++ }
	for i, want := range []bool{true, true, false, false} {
		_, err := w.Write([]byte("ab"))
		var large *TooLargeError
		if (err == nil) != want || err != nil && !errors.As(err, &large) {
			t.Errorf("write %d: %v", i, err)
		}
	}
	if _, err := w.Write([]byte("a")); err == nil { // which would fit
		t.Error("it goes on after a failure")
	}
	if b.String() != "abab" || told != 1 {
		t.Errorf("wrote %q, told %d times", b.String(), told)
	}
}
