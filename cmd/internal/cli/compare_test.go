package cli

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
		{"long/1.trace", "pool8/01.trace", "long/1.trace pool8/01.trace"},
		{"a/x.trace", "b/x.trace", "a/x.trace b/x.trace"},
		{"a/old.trace.gz", "b/new.out", "old new"},
		{"1.trace", "2.trace", "1.trace 2.trace"},
		{"/1.trace", "/2.trace", "/1.trace /2.trace"},
		{"runs/1/a.trace runs/1/b.trace", "runs/2/a.trace runs/2/b.trace", "runs/1 runs/2"},
		{"old/1 old/2", "new/1", "old new/1"},
		{"x.trace", "x.out", "x.trace x.out"},
		{"./1 ./2", "../b/1 ../b/2", filepath.Base(here) + " b"},
		{"./1 ./2", "../1 ../2", filepath.Base(here) + " " + filepath.Base(filepath.Dir(here))},
		{"key=shop%2Fv12/report.json", "./key=shop%2Fv13/report.json", "v12 v13"},
		{"key=shop%2Fv1/report.json", "key=mail%2Fv1/report.json", "shop/v1 mail/v1"},
		{"same", "same", "old new"},
	} {
		a, b := sideNames(refsOf(tt.base), refsOf(tt.cand))
		if got := a + " " + b; got != tt.want {
			t.Errorf("%s and %s: got %s, want %s", tt.base, tt.cand, got, tt.want)
		}
	}
}
