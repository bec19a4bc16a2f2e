package cli

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedscope/schedscope/analyze/compare"
	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/requests"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/report/view"
)

// catalogue is what reports name, by where they do.
var catalogue = []struct {
	where   string
	entries []result.Symptom
}{
	{"Verdicts, the first words of a report", findings.Verdicts},
	{"Findings, what a report says of a trace", findings.Symptoms},
	{"Causes of waiting, in the table of where it went", result.CauseSymptoms()},
}

func newExplain(a *app) *cobra.Command {
	var names []string
	for _, part := range catalogue {
		for _, x := range part.entries {
			if !slices.Contains(names, x.Name) {
				names = append(names, x.Name)
			}
		}
	}
	return &cobra.Command{
		Use:   "explain [SYMPTOM]",
		Short: "Explain a symptom that a report names, and its remedy",
		Long:  "A SYMPTOM is a name from a report: a finding or a cause of waiting, as the text or\nthe JSON has it, or a word of its tables. Without one, explain lists all.",
		Example: `  schedscope explain
  schedscope explain long-bursts
  schedscope explain behind GC assist`,
		ValidArgs: names,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listSymptoms(a.stdout)
			}
			name := result.SymptomName(strings.Join(args, " "))
			name = cmp.Or(findings.Renamed[name], longer[name], name)
			all := words()
			if _, err := rule.ParseQuantity(strings.Join(args, " ")); err == nil {
				all[name] = "A figure of comparisons and budgets: schedscope help gate-rules says what each is. Those per second (/s) are of all goroutines, in each second of a trace."
			}
			for _, x := range []string{name, "the-" + name, strings.TrimSuffix(name, "s"), name + "s"} { // or a verb in the third person: spins
				if slices.Contains(names, x) && x != name+"s" { // which may be a slip
					return explain(a.stdout, x)
				}
				if text := cmp.Or(all[x], clause(x)); text != "" {
					_, err := fmt.Fprintf(a.stdout, "%s\nA word of tables and items.\n\nmeans      %s\n", x, textui.Columns(text, 89, strings.Repeat(" ", 11)))
					return err
				}
			}
			return usagef(cmp.Or(didYouMean(name, append(slices.Sorted(maps.Keys(all)), names...)), "schedscope explain lists all"), "no symptom %q is known", strings.Join(args, " "))
		},
	}
}

// longer are words as the first screen has them, and what they are listed as.
var longer = map[string]string{"decisions-unexplained": "unexplained", "not-checked-the-machine": "not-checked", "slowest-1": "slowest", "batches": "batch"}

// screenWords are those of the first screen that are neither findings nor causes nor kinds of time.
var screenWords = map[string]string{
	"typical":      "The median of the requests of a group, or of the waits of a function.",
	"typical-seen": "The median of those requests of a group of which the handler is seen: they waited, or were sampled. Others may be of the group, too.",
	"tail-mean":    "The mean of the slowest 1% of the requests of a group, of fewer than 500 of the slowest five.",
	"slowest":      "The slowest 1% of the requests of a group, of fewer than 500 the slowest five; of times their mean, of waits their p99.",
	"per-s":        "Per second of the trace.",
	"most-of-it":   "The part that takes the most of the slowest requests beyond the typical ones, or of all if these are alike: a kind of time, and the function in which the request waits or runs.",
	"http-call":    "Of a request: waited for a call of net/http's client, which waits in select for the goroutines of its connection.",
	"behind":       "The function had the proc that the goroutine waited for.",
	"suspected":    "The trace does not show what the operating system did. A gap in which a thread should have gone on is laid to it.",
	"scheduling":   "Waits to run: goroutines that were runnable and did not run.",
	"inferred":     "It follows from rules of the runtime or from times that fit, and may be wrong.",
	"seen":         "Of code that was laid to a wait: an event in that code ended the stretch in which it ran.",
	"estimated":    "Of code that was laid to a wait: shared out by the stacks that the same goroutines have elsewhere.",
	"by-the-rules": "Decisions of the scheduler, such as which queue a goroutine comes from, that are as the rules of the recorded Go version have them.",
	"not-checked":  "What the trace does not show, so that it is neither ruled out nor found.",
	"starts-them":  "The function whose go statement starts the goroutines.",
	"notable":      "An item that matters. Serious matters more, info less.",
	"serious":      "An item that matters most: long waits, or a great part of the time.",
	"worse":        "Of a comparison: see schedscope help compare for what counts as a change.",
	"incomplete":   "A part of the input was not read, or the trace ends early. The figures are of the rest; the notes at the end say what is missing.",
	"n":            "The number of requests of a group, or of waits of a function.",
	"run":          "A goroutine runs while it has a proc. One that could, and has none, waits to run: it is runnable.",
	"rest":         "Of a request's path: the parts that are too small to be listed, together.",
	"no-change":    "Of a replay: what differs depends on the random choices of the simulation.",
	"as-simulated": "The recorded schedule, simulated again: what changes is compared with that, not with the recording.",
	"the-machine":  "What the operating system took from the program's threads, of all waiting to run, at most: it is suspected.",
	"ruled-out":    "What was checked and is fine.",
	"run-queues":   "Decisions of the scheduler that can be judged: all follow the rules of the runtime, except those that are called unexplained.",
	"also":         "Findings that are worth a look but do not explain what is slow.",
	"mainly":       "The number of waits that lost most of all to the cause. p99 and max are theirs.",
	"middle-fifth": "The requests of about median length. Their mean is given where it differs from the median.",
	"fix":          "What to change, and where: in the code that causes the wait, which may be another than the one that waits.",
	"why":          "The figures on which an item rests.",
	"see":          "A command that shows where it happens in the timeline.",
	"each-alone":   "The verdicts that the traces, or the reports, would have had one by one.",
	"gain":         "How long requests would still take, the slowest if they had no more of the part than the typical one, the typical one without it. All else is the same: nothing comes in its place, and queues stay as long as they are.",
	"longest":      "The longest wait to run of the function's goroutines.",
	"p99":          "The value that 99% are at or below, by nearest rank: it is one that happened. p50 is the median.",
	"alone":        "Of code: it ran while no other goroutine could. See schedscope explain runs-alone.",
	"proc":         "What a thread needs to run Go code. There are GOMAXPROCS of them, each with a queue of goroutines.",
	"gogc":         "By how many percent the heap may grow beyond what is live until the next collection; 100 if it is not set. More makes collections rarer, and the heap larger.",
	"sysmon":       "A thread of the runtime without a proc. It takes procs out of long system calls, stops goroutines that have run for 10 ms, and polls the network if nobody else does.",
	"semaphore":    "A limit of how many goroutines do something at a time, as a channel with a buffer of places. Who finds none waits until another gives one back.",
	"gomaxprocs":   "The number of procs: so many goroutines can run at a time.",
	"busy":         "Of procs: the part of their time in which they ran goroutines, or one that had it was in a system call.",
	"unexplained":  "Of decisions of the scheduler: neither the rules of the runtime nor a known reason to differ explains them.",
	"next":         "Commands that show more.",
	"objective":    "A limit that --slo gives to a percentile of the requests, of all or of a group. Objectives decide what is slow: see schedscope analyze --help.",
	"truncated":    "The trace shows it only in part, as it began before or had not ended at the end. It is counted apart, without a length.",
	"cut":          "Seen only in part, because the trace begins or ends in it. Its length is a lower bound.",
	"burst":        "The time from when a goroutine starts on a proc until it gives the proc up. See schedscope explain long-bursts.",
	"pool":         "Connections that goroutines share, as in database/sql or an http.Transport. A request waits until another one gives its connection back, if there is a limit.",
	"deadline":     "A time after which a wait ends, of a context or a connection. A request that waits until then waited for what did not come.",
	"queue":        "Goroutines that are ready to run wait in the queue of a proc, or in the global one. Requests and jobs that nobody takes up are queued.",
	"select":       "A goroutine waits in a select statement for the first of several channels, timers among them.",
	"blocked":      "A goroutine waits for others, for a time or the network: a proc would not help. Sums are of all goroutines, so that they may be longer than the trace.",
	"preempted":    "The runtime took the proc from a goroutine that had run for 10 ms, which is ready to run at once, or stopped it for the garbage collector until that has read its stack.",
	"not-tested":   "Of a comparison with one trace on a side: what is chance is not known, so that only large changes count.",
	"pairwise":     compare.ChangeHelp,
	"long-poll":    "A request that waits for news, or until a time that is set. How long it takes says nothing of the server: accept it with --slo.",
	"stream":       "An answer that is sent in parts, as long as there are some. What passes between parts is not latency.",
	"middleware":   "A function that calls handlers. A request has its name where the handler is not seen in it.",
}

// metricsTerm is an entry of the help of metrics: a term and what it is.
var metricsTerm = regexp.MustCompile(`(?m)^(\S.*?)  (.*(?:\n .*)*)`)

// words returns what words mean that are not in the catalogue.
func words() map[string]string {
	all := maps.Clone(screenWords)
	for _, term := range metricsTerm.FindAllStringSubmatch(view.MetricsHelp(), -1) {
		name := result.SymptomName(term[1])
		all[name] = cmp.Or(all[name], strings.Join(strings.Fields(term[2]), " "))
	}
	for k := range requests.NumKinds {
		all[k.String()] = "Of a request: " + k.Doc() + "."
	}
	all["better"], all["same"] = all["worse"], all["worse"]
	for _, kind := range []string{"http", "grpc", "rpc", "tcp", "message"} {
		all[kind] = "Requests of the kind of which the handler is not seen, or of all handlers if there is one group: schedscope help requests says how they are found and named."
	}
	return all
}

// clause explains the end of what a kind of time is described by, "" if it is of none.
func clause(name string) string {
	for k := range requests.NumKinds {
		ends := func(clause string) bool { return strings.HasSuffix("-"+result.SymptomName(clause), "-"+name) }
		if strings.Contains(name, "-") && slices.ContainsFunc(strings.FieldsFunc(k.Doc(), func(r rune) bool { return r == ',' || r == '(' }), ends) {
			return "Of a request: " + k.Doc() + "."
		}
	}
	return ""
}

// listSymptoms writes the catalogue, a line for each entry, and the other words.
func listSymptoms(w io.Writer) error {
	var b strings.Builder
	all := words()
	for i, part := range catalogue {
		fmt.Fprintf(&b, "%s%s:\n", textui.If(i > 0, "\n"), part.where)
		for _, x := range part.entries {
			first, _, _ := strings.Cut(x.Meaning, ". ")
			fmt.Fprintf(&b, "  %-31s%s\n", x.Name, strings.TrimSuffix(first, "."))
			delete(all, x.Name)
		}
	}
	fmt.Fprintf(&b, "\nWords of tables and items:\n  %s\n", textui.Columns(strings.Join(slices.Sorted(maps.Keys(all)), ", "), 96, "  "))
	_, err := io.WriteString(w, b.String())
	return err
}

// explain writes the entries of that name: a cause may be called like a finding.
func explain(w io.Writer, name string) error {
	var b strings.Builder
	for _, part := range catalogue {
		for _, x := range part.entries {
			if x.Name != name {
				continue
			}
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			fmt.Fprintf(&b, "%s\n%s.\n\n", x.Name, part.where)
			for _, line := range [][2]string{{"means", x.Meaning}, {"known by", x.Sign}, {"fix", x.Advice}, {"example", "schedscope analyze " + x.Example}} {
				fmt.Fprintf(&b, "%-10s %s\n", line[0], textui.Columns(line[1], 89, strings.Repeat(" ", 11)))
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
