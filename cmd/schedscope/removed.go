package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// removal is what the release before this one had: a command ("gate explain"), a flag of
// one ("gate check --looks") or of several ("--looks"), and what to use instead.
type removal struct{ name, hint string }

// removed lists removals. Each release begins with an empty list.
var removed []removal

// addRemoved adds a hidden command for each removed one, which refuses to run and gives
// the hint.
func addRemoved(root *cobra.Command) {
	for _, r := range removed {
		if strings.Contains(r.name, "--") {
			continue
		}
		parent, verb := root, r.name
		if words := strings.Fields(r.name); len(words) == 2 {
			verb = words[1]
			parent, _, _ = root.Find(words[:1])
		}
		parent.AddCommand(&cobra.Command{
			Use: verb, Hidden: true, DisableFlagParsing: true,
			RunE: func(*cobra.Command, []string) error {
				return usagef(r.hint, "schedscope %s has been removed", r.name)
			},
		})
	}
}

// removedFlag returns the hint for a flag that a command no longer has, or "".
func removedFlag(cmd *cobra.Command, flag string) string {
	verb := strings.TrimPrefix(cmd.CommandPath(), "schedscope ")
	for _, r := range removed {
		if r.name == verb+" --"+flag || r.name == "--"+flag {
			return r.hint
		}
	}
	return ""
}
