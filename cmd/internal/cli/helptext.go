package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/schedscope/schedscope/analyze/replay"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/report"
	"github.com/schedscope/schedscope/report/figures"
	"github.com/schedscope/schedscope/report/parquet"
	"github.com/schedscope/schedscope/report/perfetto"
	"github.com/schedscope/schedscope/report/profile"
	"github.com/schedscope/schedscope/report/verdict"
	"github.com/schedscope/schedscope/report/view"
)

// helpTemplate puts the examples first: most people need no more. The overview of all
// commands is one screen, without flags.
const helpTemplate = `{{.Short}}.
{{if .HasExample}}{{if .HasParent}}
Examples:{{end}}
{{.Example}}
{{end}}{{with .Long}}
{{. | trimTrailingWhitespaces}}
{{end}}{{if and .HasParent (or .Runnable .HasSubCommands)}}{{.UsageString}}{{end}}`

const usageTemplate = `{{if .Runnable}}
Usage:
  {{.UseLine}}
{{end}}{{if .HasAvailableSubCommands}}
Verbs:{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name 12}} {{.Short}}{{end}}{{end}}
{{end}}{{if .HasAvailableLocalFlags}}
Flags:
{{flags .LocalNonPersistentFlags}}{{end}}{{if .HasAvailableInheritedFlags}}
Flags of all commands:
{{flags .InheritedFlags}}{{end}}`

// overview lists commands and topics.
func overview(root *cobra.Command) string {
	var b strings.Builder
	var others, topics []string
	b.WriteString(root.Long + "\n\nCommands (schedscope help COMMAND):\n")
	for _, c := range root.Commands() {
		switch {
		case c.IsAdditionalHelpTopicCommand():
			topics = append(topics, c.Name())
		case c.Hidden || c.Name() == "help":
		case c.Annotations[rare] != "" || c.Name() == "completion":
			others = append(others, c.Name())
		default:
			fmt.Fprintf(&b, "  %-9s%s\n", c.Name(), c.Short)
		}
	}
	fmt.Fprintf(&b, "  also     %s\n\n", strings.Join(others, ", "))
	b.WriteString(textui.Columns("Topics (schedscope help TOPIC): "+strings.Join(topics, ", "), 80, ""))
	return b.String()
}

// rare is the annotation of commands that the overview only names.
const rare = "rare"

// flagUsages lists flags in the order in which they were defined, the most used
// first, in at most 100 columns.
func flagUsages(f *pflag.FlagSet) string {
	f.SortFlags = false
	return strings.TrimRight(f.FlagUsagesWrapped(100), "\n") + "\n"
}

// checkHelp has schedscope help refuse what is neither a command nor a topic,
// for which cobra would show the help of the whole program.
func checkHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "help" {
			c.Example = "  schedscope help metrics"
			c.Args = func(_ *cobra.Command, args []string) error { return checkTopic(root, args) }
		}
	}
}

// checkTopic returns an error unless args lead from c to a command or topic below it.
func checkTopic(c *cobra.Command, args []string) error {
	for _, word := range args {
		i := slices.IndexFunc(c.Commands(), func(x *cobra.Command) bool { return x.Name() == word || x.HasAlias(word) })
		if i < 0 {
			return unknownTopic(c, "help topic", word)
		}
		c = c.Commands()[i]
	}
	return nil
}

func unknownTopic(c *cobra.Command, kind, word string) error {
	var names []string
	for _, x := range c.Commands() {
		if !x.Hidden {
			names = append(names, x.Name())
		}
	}
	if len(names) == 0 {
		return usagef("", "unknown %s %q: %s has none", kind, word, c.CommandPath())
	}
	return usagef(didYouMean(word, names), "unknown %s %q (want %s)", kind, word, strings.Join(names, ", "))
}

// helpTopics returns the topics of schedscope help.
func helpTopics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "exit-codes", Short: "The exit codes", Long: exitCodesHelp},
		{Use: "metrics", Short: "What the numbers of a report mean", Long: view.MetricsHelp() + "\nFigures of schedscope export, a line for each distribution (which has several) or number:\n\n" + figures.Help()},
		{Use: "formats", Short: "Formats of traces, reports, pictures and tables", Long: formatsHelp()},
		{Use: "tables", Short: "Tables of schedscope export and their columns", Long: report.TablesHelp()},
		{Use: "parquet", Short: "Tables of many traces, and queries in DuckDB", Long: parquet.Help},
		{Use: "fleet", Short: "Many thousands of traces, on Apache Beam", Long: fleetHelp},
		{Use: "profiles", Short: "Profiles of schedscope export --format pprof, for go tool pprof", Long: profile.Help()},
		{Use: "timelines", Short: "Timelines of schedscope export for Perfetto, and queries", Long: perfetto.Help},
		{Use: "replay-model", Short: "What schedscope replay simulates, and how far to trust it", Long: replay.Help()},
		{Use: "gate-rules", Short: "Budgets of schedscope gate, and how they are judged", Long: gateHelp()},
	}
}

const fleetHelp = `schedscope-fleet analyses many traces, of a service or of all, on Apache Beam: on this machine or on
a cluster, and merges them by service, version or what their names say. It is a command of its own,
which is built in its folder:

  cd cmd/schedscope-fleet && go install .
  schedscope-fleet --input 's3://traces/*/*/*.trace' --output s3://reports/2026-11-26 --key '{1}/{2}'

schedscope-fleet --help explains inputs, keys, outputs and runners, and has queries in SQL. A report of it
is read, and compared, as any other:

  schedscope analyze key=shop%2Fv12/report.json
  schedscope compare key=shop%2Fv12/report.json key=shop%2Fv13/report.json`

const exitCodesHelp = `The codes are the same for every command and every format:

    0  success, also for a truncated or damaged trace: the readable part is
       analysed, and stderr, the text and the JSON say what is lost. Of several
       traces at least one is readable.
    1  gate check: a rule is violated, whatever the reports are. --check: times
       do not add up, which is a bug of schedscope. --fail: an objective is missed;
       without --slo, the verdict is SLOW, SLOW TAIL or STARVED.
    2  wrong usage, no readable event in any trace, no request of those that
       --request names, or an output that cannot be written. There is then no
       output, with five exceptions: the recordings of gate record, the other
       outputs where a picture has nothing to show, the pictures of plot where their
       names cannot be printed, Parquet tables of the traces before, and of several
       complete outputs those before one that cannot get its name. gate: the
       budget or a recording is unusable; a gate never skips what it cannot read.
    3  gate: no verdict, because traces are not comparable, the machine was
       disturbed, or there are fewer traces than the budget's min_traces. (With
       enough of them, a rule that stays inconclusive is a warning, and the code 0.)
       --check: the trace contradicts itself. --fail: an objective cannot be
       judged; without --slo, the verdict is UNKNOWN or DISTURBED.
  130  interrupted by ^C or SIGTERM. Nothing is written except the recordings of
       gate record and Parquet tables of whole traces. While recording from http://,
       the first ^C ends the recording instead, and what arrived is analysed if it
       has a whole generation. view ends on ^C with 0.

Only record differs: it exits with the code of the program that it ran, as shells
report it (128 plus the number of the signal that ended it). If record itself ended the
program, also on ^C, the code is 0 if there is a trace, else 130.`

// formatsHelp lists formats, those of verdicts from the table that writes them.
func formatsHelp() string {
	var reports strings.Builder
	for _, f := range verdict.Formats {
		fmt.Fprintf(&reports, "  %-12s %s\n", f.Name, textui.Columns(f.Doc, 72, strings.Repeat(" ", 15)))
	}
	return formatsHelpText + reports.String() + formatsHelpTail
}

const formatsHelpText = `Traces are read by content, never by name: Go 1.11 to 1.26, plain, gzip or zstd,
flight-recorder snapshots included. Formats before Go 1.22 contain less; the notes at the
end of a report say what.

The format of an output (-o) is that of its extension. --format is that of stdout, and
of every -o whose extension does not ask for a picture:

  .txt   the text report
  .json  schema schedscope.report/v2: lengths are integer nanoseconds (_ns), points
         in time integer nanoseconds from the start of the trace (_at_ns, _start_ns);
         within a version fields are only added. Of compare: schedscope.compare/v1
  .md    a summary for pages that render Markdown, such as job summaries; of compare, too
  .csv   the figures of the report, a row each, see below
  .html  a page for a browser, one file that needs nothing else
  .png   a picture; .svg likewise. The base name chooses it if it is the name of one
         (spectrum.png); any other name means requests if item 1 is about them, else the
         dashboard. schedscope plot writes all of them.

schedscope schema report prints the JSON Schema of schedscope.report/v2, with a description
of every field; schedscope schema compare and others those of the formats below. The key sum
of a file is a hash of everything else in it: a file that was changed is refused. After an intended
change, remove the key.

A saved report (analyze -o report.json; plain, gzip or zstd) may stand in the place of its
traces for every format of schedscope analyze and plot, except pictures of single waits and
the timeline of a page, and for what schedscope export makes of the figures:

  csv          name, by, of, value, unit, such as latency_p99,origin,timer,534000,ns. Empty by
               and of mean the whole report. Lengths are integer nanoseconds (ns), shares between 0
               and 1; the numbers are those of the JSON. With --table: the rows of that table
  ndjson       the same, one JSON object per line
  benchfmt     for benchstat: a line BenchmarkSched with the figures of the trace, and lines
               such as BenchmarkSched/origin=timer. With several traces there is a line for
               each, in order, so that benchstat compares them; the figures of all together
               are in /traces=all, and lines by origin and the like are left out.
               benchstat -filter .unit:latency-p99-ns shows one of the many figures
  openmetrics  gauges such as schedscope_latency_p99_seconds{origin="timer"}
  markdown     the summary of .md

Topics of their own: the tables of schedscope export (help tables, help parquet), its profiles for
go tool pprof (help profiles) and its timelines (help timelines).

Reports of schedscope gate check, --report FORMAT[=FILE]; without a file to stdout:

`

const formatsHelpTail = `
Files of schedscope gate:

  schedscope.yaml    a budget, schema schedscope.budget/v1: schedscope help gate-rules.
                     Its JSON Schema for editors is internal/schemas/budget.json
  DIR/order.json     how gate record recorded, schema schedscope.order/v1
  NAME.env.json      what process and machine did while NAME was recorded`
