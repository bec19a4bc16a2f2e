package cli

import (
	"slices"
	"strings"
	"testing"
)

// TestRemoved checks that what is no longer there is answered with what to use instead.
func TestRemoved(t *testing.T) {
	defer func(list []removal) { removed = list }(slices.Clone(removed))
	removed = append(removed, removal{"old", "use new"}, removal{"gate old", "use gate new"}, removal{"gate check --old", "use --new"}, removal{"--old", "use --other"})
	for args, want := range map[string][2]string{
		"old -x trace.out":       {"schedscope old has been removed", "use new"},
		"gate old x":             {"schedscope gate old has been removed", "use gate new"},
		"gate check --old=3 x":   {"schedscope gate check --old has been removed", "use --new"},
		"analyze --old 3 x.json": {"schedscope analyze --old has been removed", "use --other"},
	} {
		code, stdout, stderr := execute(t, t.Context(), nil, strings.Fields(args)...)
		if code != exitUnusable || stdout != "" || stderr != "schedscope: "+want[0]+"\nschedscope: hint: "+want[1]+"\n" {
			t.Errorf("%s: exit code %d, stdout %q, stderr %q", args, code, stdout, stderr)
		}
	}
	if _, help, _ := execute(t, t.Context(), nil, "help"); strings.Contains(help, "\n  old") {
		t.Error("help lists what has been removed")
	}
}
