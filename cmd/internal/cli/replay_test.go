package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/schedscope/schedscope/fixtures"
)

// TestReplayInterrupted checks that ^C ends simulations, and that nothing is written then.
func TestReplayInterrupted(t *testing.T) {
	for _, after := range []time.Duration{0, 300 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(t.Context(), after)
		defer cancel()
		out := filepath.Join(t.TempDir(), "replay.json")
		begun := time.Now()
		code, stdout, stderr := execute(t, ctx, nil, "replay", "--seeds", "1000", "--what-if", "procs=1..100", "-o", out, fixtures.Path("http.trace"))
		if code != exitInterrupted || stdout != "" || !strings.Contains(stderr, "interrupted; nothing was written") {
			t.Errorf("after %v: exit code %d, stdout %q, stderr %q; want 130 and a message", after, code, stdout, stderr)
		}
		if _, err := os.Stat(out); !os.IsNotExist(err) {
			t.Errorf("after %v: the output exists (%v)", after, err)
		}
		if took := time.Since(begun); took > 20*time.Second {
			t.Errorf("after %v: it took %v to end", after, took)
		}
	}
}

// TestDistinct checks which variants are left out, and that a range stays whole.
func TestDistinct(t *testing.T) {
	for want, lists := range map[string][]string{
		"ideal procs=2":                  {"ideal", "procs=2", "ideal"},
		"procs=1 gc=off procs=2":         {"procs=1", "gc=off", "procs=1..2"},
		"procs=1 procs=2 procs=3":        {"procs=1..2", "procs=2", "procs=2..3"},
		"procs=1 procs=1,gc=off procs=3": {"procs=1", "procs=1,gc=off", "procs=3"},
	} {
		f := replayFlags{whatIf: lists}
		o, err := f.options()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, v := range o.Variants {
			names = append(names, v.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%q: got %q, want %q", lists, got, want)
		}
	}
}
