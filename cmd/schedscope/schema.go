package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/report/verdict"
)

// schemas are the JSON Schemas of formats, by the name of what is in them.
var schemas = []struct {
	name, doc string
	text      []byte
}{
	{"report", "what analyze --json writes, schedscope.report/v1", result.SchemaJSON},
	{"gate", "what gate check --report json writes, schedscope.gate/v1", verdict.SchemaJSON},
	{"budget", "budgets of the gate, schedscope.budget/v1", budget.SchemaJSON},
}

func schemaNames() []string {
	var names []string
	for _, s := range schemas {
		names = append(names, s.name)
	}
	return names
}

func newSchema(a *app) *cobra.Command {
	var about strings.Builder
	about.WriteString("With it editors and validators know the fields, their types and units. The formats:\n")
	for _, s := range schemas {
		fmt.Fprintf(&about, "  %-8s %s\n", s.name, s.doc)
	}
	return &cobra.Command{
		Use:         "schema FORMAT",
		Short:       "Print the JSON Schema of a format",
		Annotations: map[string]string{rare: "yes"},
		Long:        about.String(),
		Example:     "  schedscope schema report | jq .properties.latency",
		ValidArgs:   schemaNames(),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("give one of "+strings.Join(schemaNames(), ", "), "schema takes one format, not %d", len(args))
			}
			i := slices.Index(schemaNames(), args[0])
			if i < 0 {
				return usagef("give one of "+strings.Join(schemaNames(), ", "), "no schema of %q", args[0])
			}
			_, err := a.stdout.Write(schemas[i].text)
			return err
		},
	}
}
