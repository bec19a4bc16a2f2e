package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// removal is what the release before this one had: a command ("gate explain"), a flag of
// one ("gate check --looks") or of several ("--looks"), a value of one ("--report otava"),
// and what to use instead.
type removal struct{ name, hint string }

// removed lists removals. Each release begins with an empty list.
var removed = []removal{
	{"merge", "schedscope analyze merges saved reports and traces: schedscope analyze -o all.json a.json b.trace"},
	{"report", "schedscope analyze -o report.html writes the page, also of a saved report"},
	{"--reference", "schedscope replay says what a model of the scheduler makes of the work"},
	{"info --events", "schedscope analyze counts goroutines, threads, procs and events"},
	{"--no-color", "use --color never"},
	{"--progress", "progress is shown on terminals only; -q leaves it out"},
	{"schema --output", "redirect stdout: schedscope schema report > report.schema.json"},
	{"replay --starts", "windows have 200,000 starts; --from and --to replay a part of a trace"},
	{"replay --cores", "--what-if procs=N or quota=TIME is nearest to it"},
	{"replay --cost", "what scheduling costs is taken from the trace"},
	{"replay --with", "schedscope compare shows how recordings with different GOMAXPROCS differ"},
	{"replay --window", "use --from and --to"},
	{"gate baseline migrate", "nothing has to be done: every version so far writes the same format"},
	{"gate baseline prune", "gate baseline add keeps the newest 30 sessions"},
	{"gate calibrate", "record the program on both sides (gate record -base P -cand P -o runs); gate check runs then reports how far its traces differ"},
	{"gate explain", "schedscope help gate-rules has the language of rules and how they are judged"},
	{"gate selftest", "schedscope gate plan says what each rule can see"},
	{"gate summarize", "keep the traces: gate check and gate plan read them, and gate baseline add keeps their samples"},
	{"gate check --alpha", "the budget has the key alpha"},
	{"gate baseline add --id", "sessions are known by a hash of their samples, and by --commit and --time"},
	{"gate check --picture", "schedscope compare -o FILE.png draws both sides; its --limit draws a limit"},
	{"gate check --time", "it was for --report otava; --report json has the figures"},
	{"--report benchfmt", "--report json has all values; schedscope export --format benchfmt writes those of traces"},
	{"--report codequality", "use junit or sarif"},
	{"--report openmetrics", "--report json has all values; schedscope export --format openmetrics writes those of traces"},
	{"--report otava", "--report json has all values"},
	{"--profile steals", "schedscope export --table steals has every steal; analyze counts them"},
	{"--format chrome", "write .pftrace: ui.perfetto.dev opens it"},
}

// addRemoved adds a hidden command for each removed one, which refuses to run and gives
// the hint.
func addRemoved(root *cobra.Command) {
	for _, r := range removed {
		if strings.Contains(r.name, "--") {
			continue
		}
		parent, verb := root, r.name
		if words := strings.Fields(r.name); len(words) > 1 {
			verb = words[len(words)-1]
			parent, _, _ = root.Find(words[:len(words)-1])
		}
		c := &cobra.Command{
			Use: verb, Hidden: true, DisableFlagParsing: true,
			RunE: func(*cobra.Command, []string) error {
				return usagef(r.hint, "schedscope %s has been removed", r.name)
			},
		}
		c.SetHelpFunc(func(c *cobra.Command, _ []string) {
			fmt.Fprintf(c.OutOrStdout(), "schedscope %s has been removed: %s.\n", r.name, r.hint)
		})
		parent.AddCommand(c)
	}
}

// removedFlag returns the hint for a flag that a command no longer has, or "".
func removedFlag(cmd *cobra.Command, flag string) string {
	verb := strings.TrimPrefix(cmd.CommandPath(), "schedscope ")
	return cmp.Or(removedHint(verb+" --"+flag), removedHint("--"+flag))
}

// removedHint returns the hint for what had this name, or "".
func removedHint(name string) string {
	for _, r := range removed {
		if r.name == name {
			return r.hint
		}
	}
	return ""
}
