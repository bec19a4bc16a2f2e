package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/internal/savedfiletest"
	"github.com/schedscope/schedscope/internal/schemas"
)

// TestPublished checks that the schemas are those that there are, and that what commands write is
// valid by them.
func TestPublished(t *testing.T) {
	files, err := filepath.Glob("../../../internal/schemas/*.json")
	if err != nil || len(files) != len(published) {
		t.Errorf("%d schemas, %d listed, %v", len(files), len(published), err)
	}
	for _, s := range published {
		if schemas.Of(s.name) == nil {
			t.Errorf("no schema of %s", s.name)
		}
	}
	one, other := fixtures.Path("tasks.go1.26.p4.trace"), fixtures.Path("mixed.go1.22.p2.trace")
	old, changed := filepath.Join(t.TempDir(), "old"), filepath.Join(t.TempDir(), "new")
	for dir, names := range map[string][]string{old: {"syscalls.go1.24.p4.trace", "syscalls.go1.25.p4.trace"}, changed: {"syscalls.go1.26.p4.trace", "syscalls.go1.23.p4.trace"}} {
		for _, name := range names {
			data, err := os.ReadFile(fixtures.Path(name))
			if err == nil {
				err = os.MkdirAll(dir, 0o777)
			}
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, name), data, 0o666)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, tt := range []struct {
		schema string
		args   []string
	}{
		{"report", []string{"analyze", "--json", one}},
		{"compare", []string{"compare", "--json", one, other}},
		{"compare", []string{"compare", "--json", old, changed}},
		{"gate", []string{"gate", "check", "--budget", fixtures.Path("programs/gated/schedscope.yaml"), "--report", "json", "--base", stored(t, "same"), stored(t, "hop")}},
	} {
		_, stdout, stderr := execute(t, t.Context(), nil, tt.args...)
		if err := savedfiletest.Validate(savedfiletest.Compile(t, tt.schema), strings.NewReader(stdout)); err != nil {
			t.Errorf("%q: %v\n%s", tt.args, err, stderr)
		}
	}
}
