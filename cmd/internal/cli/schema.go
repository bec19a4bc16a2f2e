package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedscope/schedscope/internal/schemas"
)

// published are the formats of which there is a JSON Schema, by the names of what is in them.
var published = []struct{ name, doc string }{
	{"report", "what analyze --json writes, schedscope.report/v2"},
	{"compare", "what compare --json writes, schedscope.compare/v1"},
	{"gate", "what gate check --report json writes, schedscope.gate/v1"},
	{"budget", "budgets of the gate, schedscope.budget/v1"},
	{"order", "order.json of gate record, schedscope.order/v1"},
	{"env", "environment records, schedscope.env/v1: TRACE.env.json"},
	{"note", "why a trace was captured, a message in it, schedscope.capture/v1"},
}

func newSchema(a *app) *cobra.Command {
	about, names := "With it editors and validators know the fields, their types and units. The formats:\n", []string{}
	for _, s := range published {
		about += fmt.Sprintf("  %-8s %s\n", s.name, s.doc)
		names = append(names, s.name)
	}
	return &cobra.Command{
		Use:         "schema FORMAT",
		Short:       "Print the JSON Schema of a format",
		Annotations: map[string]string{rare: "yes"},
		Long:        about,
		Example:     "  schedscope schema report | jq .properties.latency",
		ValidArgs:   names,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("give one of "+strings.Join(names, ", "), "schema takes one format, not %d", len(args))
			}
			text := schemas.Of(args[0])
			if text == nil {
				return usagef("give one of "+strings.Join(names, ", "), "no schema of %q", args[0])
			}
			_, err := a.stdout.Write(text)
			return err
		},
	}
}
