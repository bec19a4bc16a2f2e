package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/schedscope/schedscope/internal/textui"
)

// normalize rewrites a command line as its users meant it: -name becomes --name
// where there is such a flag, as the flag package of Go has it, and a command
// line without a command is one of analyze.
func normalize(root *cobra.Command, args []string) []string {
	flags := allFlags(root)
	out := make([]string, 0, len(args)+1)
	verb := -1 // index in out of the first operand
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" || arg == "-" || !strings.HasPrefix(arg, "-") {
			if verb < 0 {
				verb = len(out)
			}
			out = append(out, arg)
			if arg == "--" || isCompletion(arg) {
				out = append(out, args[i+1:]...) // not ours to rewrite
				break
			}
			continue
		}
		arg, takesValue := rewriteFlag(flags, arg)
		out = append(out, arg)
		if takesValue && i+1 < len(args) {
			i++
			out = append(out, args[i])
		}
	}
	if verb >= 0 && !isCommand(root, out[verb]) {
		return append([]string{"analyze"}, out...)
	}
	return out
}

// allFlags returns the flags of all commands together.
func allFlags(root *cobra.Command) *pflag.FlagSet {
	all := pflag.NewFlagSet("all", pflag.ContinueOnError)
	all.AddFlagSet(root.PersistentFlags())
	addFlags(all, root)
	return all
}

// addFlags adds the flags of the commands below c.
func addFlags(all *pflag.FlagSet, c *cobra.Command) {
	for _, c := range c.Commands() {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			// Shorthands of flags with different names would clash.
			if all.Lookup(f.Name) == nil && (f.Shorthand == "" || all.ShorthandLookup(f.Shorthand) == nil) {
				all.AddFlag(f)
			}
		})
		addFlags(all, c)
	}
}

// rewriteFlag returns a flag with two dashes if it needs them, and whether the
// argument that follows is its value.
func rewriteFlag(flags *pflag.FlagSet, arg string) (rewritten string, takesValue bool) {
	name, _, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	f := flags.Lookup(name)
	if !strings.HasPrefix(arg, "--") {
		switch {
		case len(name) == 1:
			f = flags.ShorthandLookup(name)
		case f != nil || name == "help" || name == "version":
			arg = "-" + arg
		}
	}
	return arg, f != nil && !hasValue && f.NoOptDefVal == ""
}

// isCommand reports whether the first operand of a command line is a command.
func isCommand(root *cobra.Command, word string) bool {
	if word == "help" || word == "completion" || isCompletion(word) {
		return true
	}
	for _, c := range root.Commands() {
		if c.Name() == word || c.HasAlias(word) {
			return true
		}
	}
	return false
}

// isCompletion reports whether a shell asks for completions.
func isCompletion(word string) bool {
	return word == cobra.ShellCompRequestCmd || word == cobra.ShellCompNoDescRequestCmd
}

// closest returns the candidate that word is a misspelling of, or "".
func closest(word string, candidates []string) string { return textui.Closest(word, candidates) }
