package rule

import (
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
)

const grammar = `A rule compares one number per trace with a bound:

  p99(runnable) < 5ms                       an absolute limit, judged over traces
  p99(runnable) < 5ms @ 99%                 with this confidence instead of 95%
  p99(runnable{func=*.handle}) < 2ms @ point  each trace by itself, no statistics
  p99(runnable) <= baseline*1.10 + 50us     10% and 50us more than the baseline
  mean(wait/op) <= baseline*1.10            total of waits per op
  mean(wakes/op) <= baseline*1.02           wake-ups per op
  mean(cpu/op) <= baseline*1.05             processor time per op
  p99(blocked{reason=sync}) <= baseline*1.25
  share(cause=behind-gc) <= 10%             part of the waits lost behind the GC
  mean(wait{behind=main.score}/op) <= baseline*1.25  waiting while this function ran
  mean(ops/s) >= baseline*0.95              throughput: lower is worse
  p99(request) <= baseline*1.10             whole requests, as analyze shows them
  p99(request.lock{name=*.serve}) < 1ms     what locks are of those of one handler

  rule     = agg "(" metric [ "{" key=pattern { "," key=pattern } "}" ]
             [ "/op" | "/s" ] ")" op bound [ "@" ( percentage | "point" ) ]
  agg      = "p0" ... "p100" | "mean" | "max" | "sum" | "share"
  op       = "<" | "<=" | ">" | ">="
  bound    = literal | "baseline" [ "*" factor ] [ "+" literal ]
  literal  = a duration (5ms, 50us, 1m30s) for times, a number for counts,
             a percentage for shares

Quantiles and max are of single values, by nearest rank. sum is the total of the
window; mean(METRIC/op) and mean(METRIC/s) are that total per op and per second.
share is the selected part of the total; share(KEY=...) is of runnable.

In patterns * stands for any text, and the whole name must match. A star of the
name matches a star, so main.(*pool).worker is itself. Causes, origins and reasons
are written in lower case with a dash for everything else: behind-gc-dedicated,
chan-receive. A cause or origin without * also takes what goes on with a dash:
behind-gc takes all of behind-gc-*. Patterns with commas, braces or blanks stand in
double quotes.

A rule that is not violated passes only if its interval lies within the bound, or if a
violation of the size that it wants to see would have been seen: one and a half times
what the bound allows (x1.65 for baseline*1.10), or detect of the rule in the budget, a
ratio to the baseline such as 1.3.
`

// Help explains the language and lists all metrics.
func Help() string {
	var b strings.Builder
	b.WriteString(grammar + "\nMetrics:\n")
	for m := range result.Refs(Metrics) {
		if m.Doc == "" { // that of request has it
			continue
		}
		b.WriteString("\n  " + m.Name + "  " + m.facts() + "\n")
		b.WriteString("      " + textui.Columns(m.Doc, 74, "      ") + "\n")
	}
	return b.String()
}

// facts says in a few words what a rule can do with the metric.
func (m *Metric) facts() string {
	return "(" + [...]string{"time", "count", "share"}[m.Unit] + textui.If(m.Kind == Total, ", one per trace") +
		textui.If(len(m.Keys) > 0, "; selectors "+strings.Join(m.Keys, ", ")) + textui.If(m.Env, "; needs an environment record") + ")"
}
