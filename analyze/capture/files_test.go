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
	// Leftovers count: one of the name, one of another.
	left := []string{".shop-20260102T030400.000Z-slow.trace.schedscope-1-0", ".other-http.schedscope-1-0"}
	others := []string{left[0], left[1], "shop-x.trace", "shop2-20260102T030400.000Z-slow.trace", "shop-20260102T030400.000Z-slow.txt", "notes"}
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
			if err := os.WriteFile(filepath.Join(dir, name), make([]byte, 7), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if err := prune(dir, "shop", tt.keep+1, tt.bytes+7, []string{filepath.Join(dir, left[0]), filepath.Join(dir, left[1]), filepath.Join(dir, "gone")}); err != nil {
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
