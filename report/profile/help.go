package profile

import (
	"fmt"
	"strings"

	"github.com/schedscope/schedscope/internal/textui"
)

// Help explains profiles, the kinds from the table that makes them.
func Help() string {
	var kinds strings.Builder
	for _, name := range Kinds() {
		k, _ := KindOf(name)
		const width, indent = 84, "            "
		fmt.Fprintf(&kinds, "  %-9s %s\n", name, textui.Columns(k.Doc(), width, indent))
		fmt.Fprintf(&kinds, "%sValues: %s\n", indent, strings.Join(k.Values(), ", "))
		fmt.Fprintf(&kinds, "%sLabels: %s\n", indent, strings.Join(k.Labels(), ", "))
	}
	return fmt.Sprintf(helpText, kinds.String())
}

const helpText = `schedscope export --format pprof writes a profile that go tool pprof reads. Extensions of -o
that ask for it are .pb.gz and .pprof. Several traces are added up, and the
profiles of two sides can be compared:

  schedscope export -o waits.pb.gz trace.out
  go tool pprof -http=: waits.pb.gz                               flame graph in the browser
  go tool pprof -top -tagfocus='cause=^idle proc' waits.pb.gz     only what was lost to that
  go tool pprof -http=: -tagroot=cause waits.pb.gz                causes as the roots
  go tool pprof -top -sample_index=waits waits.pb.gz              how many, not how long
  schedscope export --profile blame -o blame.pb.gz trace.out      what kept others waiting
  go tool pprof -http=: -sample_index=blocked -tagignore='kind=select|chan receive' blame.pb.gz
                                                                  who held up, not who had no work
  schedscope export -o old.pb.gz old/
  go tool pprof -http=: -diff_base=old.pb.gz waits.pb.gz          what changed

--profile KIND, of which the first value is what pprof shows by default:

%s
--stack waiter, the default: where the goroutine had stopped; one that had not run yet is
under its start function alone. --stack waker: where it was made runnable, which is where
its go statement stands, where somebody sent, unlocked or closed, or where it was preempted;
what wakes without a stack of its own stands in parentheses, such as (network poller). Syscalls,
handoffs and blame have their own stacks only. Unknown ones are (unknown). The profile of blame
can be made of saved reports, too.

All of a kind adds up to the report, to the nanosecond: runnable to latency.all of the JSON,
waiting to waiting.all, syscalls to syscalls.all, handoffs to the counts of handoffs, blame to
its kinds except created, whose time is in others, too. So the time is that of goroutines, and
of several at once it is more than has passed. What the report leaves out is left out: of
runnable and waiting the runtime's own goroutines, and what was open when the trace or window
began or ended. Where goroutines wait that had not ended by then, as those that pile up, is in
schedscope export --table blame, of kind "blocked at the end".

Labels
  cause     of runnable: what the time was lost to, as in the report. A wait with several causes
            is several samples that share out its time; it is counted in that of the greatest.
            Of handoffs: why the proc was lost. Traces of before Go 1.22 have no causes of waits.
  origin    what made the goroutine runnable
  reason    why it had stopped: what it waited for, or preempted, created, syscall
  source    where it was taken from to run: runnext, local, global, steal, netpoll...
  proc      in whose queue it last stood, or which ran it (Go before 1.22: which ran it); of
            handoffs the one that was lost. P3 is written so; -tagfocus='proc=^P3$'
  function  start function of the goroutine
  exit      of syscalls: the way out
  kind      of blame: what was waited for, as in the report: behind a goroutine, sync.(*Mutex).Lock
  basis     of blame: how the code is known: sampled, seen, estimated, unknown (schedscope help
            metrics). What has no stack, or a small one, is at a frame of the function alone
  waiter    of blame: where goroutines waited for a lock, a channel or the like
Values of labels are those of schedscope help tables. -tagfocus takes a regular expression:
cause=behind GC finds all that begin so; parentheses need a backslash, commas separate several.

What comes beyond 262,144 different stacks and labels is counted under (other stacks).

go tool trace -pprof=sched is by the waker's stack, too. It leaves out all that a goroutine
waited before it first ran in the trace, and counts the runtime's own goroutines, waits that
began before the trace, and instants between two states that are not waits.`
