package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/schedscope/schedscope/internal/textui"
)

// normalize rewrites a command line as its users meant it: -name becomes --name
// where there is such a flag, as the flag package of Go has it, and a command
// line without a command is one of analyze.
func normalize(root *cobra.Command, args []string) []string {
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		return args // a shell asks for completions
	}
	names := append(flagNames(root), "help", "version")
	out, operands := slices.Clone(args), false
	for i, arg := range args {
		name, single := strings.CutPrefix(arg, "-")
		if !single || name == "" || arg == "--" {
			operands = true
		}
		if arg == "--" {
			break
		}
		if name, _, _ = strings.Cut(name, "="); single && len(name) > 1 && slices.Contains(names, name) {
			out[i] = "-" + arg
		}
	}
	if cmd, _, err := root.Find(out); operands && err == nil && cmd == root {
		return append([]string{"analyze"}, out...)
	}
	return out
}

// flagNames returns the long names of all flags of a command and those below it.
func flagNames(c *cobra.Command) []string {
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	c.PersistentFlags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	for _, c := range c.Commands() {
		names = append(names, flagNames(c)...)
	}
	return names
}

// didYouMean returns a hint at the candidate that word is a misspelling of, or "".
func didYouMean(word string, candidates []string) string {
	return strings.TrimSpace(textui.DidYouMean(word, candidates))
}

// checkChoice returns an error unless value is one of the choices of a flag.
func checkChoice(flag, value string, choices []string) error {
	if slices.Contains(choices, value) {
		return nil
	}
	return usagef(didYouMean(value, choices), "unknown --%s %q (want %s)", flag, value, strings.Join(choices, ", "))
}

// orList joins names: a, b or c.
func orList(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// runs returns what a verb does with its flags and arguments.
func runs[F any](do func(*cobra.Command, *F, []string) error, f *F) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error { return do(cmd, f, args) }
}
