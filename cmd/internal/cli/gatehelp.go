package cli

import (
	"github.com/schedscope/schedscope/analyze/gate/rule"
)

// gateHelp is the help topic on budgets and verdicts.
func gateHelp() string { return gateHelpHead + "\n\n" + rule.Help() + "\n\n" + gateHelpTail }

const gateHelpHead = `A gate fails a change that makes requests slower, fewer per second, or scheduling latency
worse, and nothing else: not a noisy machine, not another load, not chance. Begin with

  rules:
    - p50(request) <= baseline*1.10
    - p99(request) <= baseline*1.20

Requests (help requests) and tasks are found without a word in the program; name= chooses
those of a handler or task. A fall of their throughput beyond load_tolerance is a violation
without a rule, and named first, unless the budget says that the load is given (load: open, or
fixed-work); mean(requests/s) >= baseline*0.9 sets another limit.

One trace of one process is one sample, however many
waits it has: waits of a process depend on each other, and processes differ. (Tests that pool
the waits of several traces raise a false alarm in half of all cases and more.) So record at
least six of each side, better ten, in turns on one machine: schedscope gate record.
"go test -count=10 -trace" is one process.

A budget is a file schedscope.yaml:

  schema: schedscope.budget/v1
  workload: checkout         # the name that recordings carry, if they carry one
  op: region:request         # what /op counts: region:NAME, task:NAME, goroutine:FUNC, count;
                             # default: requests, of the kind with the most time
  load: closed               # open: equal rates of ops; fixed-work: equal numbers; closed: neither;
                             # default: closed if there are requests or no op is named, else open
  window: region:measure     # or FROM..TO such as 1s..5s, or all; default: region
                             # schedscope.window, else between environment records in the
                             # trace, else all but the first tenth
  min_traces: 6              # per side: with fewer nothing is judged by a baseline
  alpha: 0.05                # probability of a false alarm, of all rules of level error together
  guards:                    # these are the defaults
    load_tolerance: 5%       # by which throughput may fall, or loads that are given may differ
    nivcsw_per_s_per_p: 20   # involuntary context switches; more count if others had load, too
    run_delay_ratio: 1.5     # by which threads of the sides may have waited for CPUs differently
    foreign: 10%             # of the machine used by other programs
    steal: 5%                # of the machine taken by the hypervisor
    same: [gomaxprocs, goversion, goarch, cpu_model, samples] # also ncpu, gogc, gomemlimit, kernel, runner
  rules:
    - p50(request) <= baseline*1.10
    - p99(request{name=*handleOrder}) <= baseline*1.20
    - p99(runnable) <= baseline*1.10 + 50us
    - mean(wait/op) <= baseline*1.10
    - {rule: "mean(cpu/op) <= baseline*1.05", level: warn, owner: sched-team, detect: 1.3}
    - p99(runnable) < 5ms @ 95%                          # absolute, of the median trace
    - p99(runnable{func=*server.handle}) < 2ms @ point   # each trace by itself: no error rate
  waivers:
    - {rule: "p99(runnable) <= *", until: 2027-01-31, issue: "#123", ceiling: baseline*1.5 + 50us}

Only schema and rules must be there, and op where traces have no requests and a rule counts by
it. Levels are error, warn
and off. A waiver lets a rule be violated until its last day, at most 180 days from now, up to
its ceiling; "ceiling: none" sets no limit. Unknown keys are errors.`

const gateHelpTail = `How it is judged, in this order:

  1  Guards. Traces must be whole and comparable: the same workload, definitions,
     GOMAXPROCS, Go version, architecture and CPU, with CPU samples or without. If the load
     is given it must be the same within load_tolerance: a candidate that does not keep up
     is not judged, exit code 3. The machine must have been quiet: few involuntary context
     switches, no CPU quota that ended early, nobody else's load, no steal by a hypervisor.
     An environment record shows that, which gate record keeps next to each trace
     (NAME.env.json) and package schedtest inside of it. Without it, as in traces of
     net/http/pprof, no rule against a baseline is judged unless both sides were recorded in
     turns. Disturbed traces are left out; if too few remain nothing is judged: exit code 3,
     with the cause. Between two sides that were equally disturbed, and recorded in turns,
     counters per op (cpu/op, wakes/op) may fail nevertheless; the check as a whole does not
     pass. cpu/op is then compared at one rate of ops: less what the base does per second,
     whatever its ops. If requests hang in more traces of the candidate than of the base,
     no rule passes: rules are about those that ended.
  2  A rule against a baseline: an exact one-sided permutation test of the traces' values
     (their logarithms; of zeros the ranks) against the bound. It asks whether the candidate is
     beyond the budget, not whether it differs; where the bound allows more than the baseline,
     an unchanged program fails with at most half of alpha. Ratios are of Hodges and Lehmann,
     with an exact interval. Holm's correction over the rules of level error keeps false alarms
     of all of them together below alpha.
     A rule against a limit, "@ 95%": order statistics of the median trace.
  3  Verdicts: FAIL; PASS, where the interval lies within the bound; PASS (unseen), where
     nothing was seen, a violation of the size that the rule wants to see would have been with
     a probability of 80 %, and the interval does not reach beyond that size; else
     INCONCLUSIVE, with the number of traces that it takes. The size is the rule's detect, or
     one and a half times what the bound allows: x1.65 for baseline*1.10.

To learn what a machine is good for, record one program on both sides (gate record --base P
--cand P): gate check then says how far its traces differ, and a violation is a false alarm.

Exit codes are in schedscope help exit-codes; 2 wins over 1, and 1 over 3. 2 is also a rule
without data, a waiver that has expired or holds for too long, and a rule that needs a baseline
without one (--absolute leaves such rules out). 3 is also a trace with too few values for a
quantile: ten must lie beyond it, or, of a limit, a lower one that has as many be above it.
With --on-inconclusive fail it is 3, too, if traces are too few to see what a rule wants to
detect, with pass 0 where it cannot be judged.`
