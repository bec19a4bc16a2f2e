package cli

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/internal/textui"
)

// newRoot returns the command with all its verbs.
func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "schedscope [command] [flags] TRACE...",
		Short: "Find out why goroutines wait to run, from Go execution traces",
		Long: `A TRACE is a file of runtime/trace or net/http/pprof (Go 1.11 to 1.26), a
directory or quoted pattern of such files, - for stdin, or http://HOST:PORT.`,
		Example: `  schedscope trace.out                                   # the report
  schedscope analyze -o report.html trace.out            # as one page
  schedscope analyze http://localhost:6060 --seconds 5   # record, then analyse`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return usagef("schedscope trace.out analyses a trace; schedscope --help lists all commands", "no trace given")
		},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			a.progress.on = a.progress.on && !a.quiet
			return cmp.Or(checkTimes(cmd.Flags()), checkChoice("color", a.color, colorModes))
		},
	}
	root.SetIn(a.stdin)
	root.SetOut(&a.help)
	root.SetErr(a.stderr)
	flags := root.PersistentFlags()
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "print only errors and warnings")
	flags.BoolVarP(&a.verbose, "verbose", "v", false, "print what is read, skipped and written")
	flags.StringVar(&a.color, "color", "auto", "colour the text `WHEN`: auto, always or never; auto follows NO_COLOR and CLICOLOR_FORCE")
	complete(root, "color", colorModes)

	root.AddCommand(newAnalyze(a), newRequests(a), newView(a), newPlot(a), newInfo(a), newCompare(a), newReplay(a), newRecord(a), newExport(a), newCut(a), newGate(a), newExplain(a), newSchema(a), newVersion(a))
	root.AddCommand(helpTopics()...)
	for list := []*cobra.Command{root}; len(list) > 0; list = append(list[1:], list[0].Commands()...) {
		list[0].Flags().SortFlags, list[0].PersistentFlags().SortFlags = false, false // as they are defined
	}
	checkHelp(root)
	root.Long = overview(root)
	root.SetFlagErrorFunc(flagError)
	root.SetHelpTemplate(helpTemplate)
	root.SetUsageTemplate(usageTemplate)
	root.SetVersionTemplate("schedscope {{.Version}}\n")
	cobra.AddTemplateFunc("flags", flagUsages)
	root.CompletionOptions.HiddenDefaultCmd = false
	return root
}

// checkTimes refuses times that nothing lasts, so that a bit more than a time is one, too.
func checkTimes(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		if t, e := flags.GetDuration(f.Name); e == nil && (t > rule.Longest || t < -rule.Longest) {
			err = cmp.Or(err, usagef("", "--%s %v: want at most %v", f.Name, t, rule.Longest))
		}
	})
	return err
}

var colorModes = []string{"auto", "always", "never"}

// flagError makes a usageError of what pflag says, with the flag that was
// perhaps meant.
func flagError(cmd *cobra.Command, err error) error {
	word, ok := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !ok {
		_, word, ok = strings.Cut(err.Error(), "' in -") // with one dash
	}
	word, _, _ = strings.Cut(word, "=")
	if (word == "d" || word == "duration") && cmd.Flags().Lookup("seconds") != nil {
		return &usageError{err, "how long to record is --seconds N"}
	}
	if !ok || len(word) < 2 {
		return &usageError{err: err}
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if near := textui.Closest(word, names); near != "" {
		return &usageError{err, "did you mean --" + near + "?"}
	}
	return &usageError{err: err}
}

// complete has a shell complete the values of a flag.
func complete(cmd *cobra.Command, flag string, values []string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic("schedscope: completing --" + flag + ": " + err.Error())
	}
}

// completeTraces has a shell complete operands with what is named as traces
// usually are, and directories.
func completeTraces(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"out", "trace", "gz", "zst"}, cobra.ShellCompDirectiveFilterFileExt
}
