package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/internal/source"
)

func refsOf(paths string) []source.Ref {
	var refs []source.Ref
	for p := range strings.FieldsSeq(paths) {
		refs = append(refs, source.Ref{Kind: source.File, Name: p, Path: p})
	}
	return refs
}

// TestSideNames checks that names of sides differ and mean something.
func TestSideNames(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ base, cand, want string }{
		{"old.trace", "new.trace", "old new"},
		{"long/1.trace", "pool8/01.trace", "long/1 pool8/01"},
		{"a/x.trace", "b/x.trace", "a/x b/x"},
		{"a/old.trace.gz", "b/new.out", "old new"},
		{"1.trace", "2.trace", "1.trace 2.trace"},
		{"/1.trace", "/2.trace", "1.trace 2.trace"},
		{"runs/1/a.trace runs/1/b.trace", "runs/2/a.trace runs/2/b.trace", "runs/1 runs/2"},
		{"old/1 old/2", "new/1", "old new/1"},
		{"x.trace", "x.out", "x.trace x.out"},
		{"./1 ./2", "../b/1 ../b/2", filepath.Base(here) + " b"},
		{"./1 ./2", "../1 ../2", filepath.Base(here) + " " + filepath.Base(filepath.Dir(here))},
		{"same", "same", "old new"},
	} {
		a, b := sideNames(refsOf(tt.base), refsOf(tt.cand))
		if got := a + " " + b; got != tt.want {
			t.Errorf("%s and %s: got %s, want %s", tt.base, tt.cand, got, tt.want)
		}
	}
}

// TestSameContent checks that copies are found, and only those.
func TestSameContent(t *testing.T) {
	dir := t.TempDir()
	var refs []source.Ref
	for name, text := range map[string]string{"a": "one", "b": "two", "c": "one", "d": "three"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		refs = append(refs, source.Ref{Kind: source.File, Name: name, Path: path})
	}
	same := sameContent(append(refs, source.Ref{Kind: source.Stdin, Path: "-"}, source.Ref{Kind: source.File, Path: "none"}))
	if len(same) != 1 || same[0] != "a = c" && same[0] != "c = a" {
		t.Errorf("got %q", same)
	}
}
