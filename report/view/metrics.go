package view

import (
	"fmt"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
)

// MetricsHelp explains the numbers of reports.
func MetricsHelp() string {
	var causes strings.Builder
	for i := range result.NumCauses {
		c := (i + 1) % result.NumCauses // what is unresolved comes last
		fmt.Fprintf(&causes, "      %-28s %s\n", c, textui.Columns(c.Meaning(), 64, strings.Repeat(" ", 35)))
	}
	return metricsHelpHead + causes.String() + metricsHelpTail
}

const metricsHelpHead = `Requests  What schedscope finds by itself: requests of HTTP, gRPC and other protocols (help
    requests), and tasks of runtime/trace; --request names others. One lasts from where its
    first bytes made its goroutine runnable to the end of its last write, or as long as its
    task, region or goroutine. Those that the trace shows only in part are counted as cut.
handler  The function that a request blocks, is preempted or is sampled in. URLs are not in a
    trace. A request that does none of that shows no handler, and is mostly fast: figures
    by handler are those of the slower ones.
own time  What the request's goroutine did, by state, and waits by what they were for. It is
    certain, and adds up to the duration.
critical path  Own time with waits resolved: while the goroutine waited, the path is that of
    whoever ended the wait, for as long as it lasted, and so on. It adds up to the duration,
    to the nanosecond. "others" ran meanwhile; a wait that stays is one that nobody's
    wake-up explains: timers, sleep, the network. "queued" is handed over, not taken up;
    "queue" in a path is a wait for a proc behind nobody whose code is known.
certain  The share of the listed paths that rests on the trace alone. For locks, conditions,
    select and connections within the program, it is inferred that a wait was for whoever
    ended it; that is right most of the time, not always.
tail  The slowest 1% and 5%, of fewer than 500 requests the slowest five, or what --slow says.
    Part by part their mean is compared with that of a sample of the middle fifth. Parts add
    up to the difference; some are negative, so that others may be more than 100%. Of few
    requests the middle is a small sample.
Scheduling latency  From runnable to running, of each wait of the program's own
    goroutines. Waits that the trace shows only in part and those of the runtime's
    goroutines are counted apart, in the notes.
Times  "at" is when the longest one ended, "from" when it began, both from the start of
    the trace. Only for the burst that the verdict names "at" is its beginning.
Functions  Where a goroutine started, unless it says where it stopped. If that function only
    calls what it is given (WaitGroup.Go, errgroup, a library's own), the name is that of
    what it calls, if the trace shows that for this goroutine, or for all others that were
    created by the same calls. Directories of packages are left out, except in the verdict,
    JSON, CSV and exported tables.
Origins  How the goroutine became runnable: created by a go statement; readied by a
    goroutine (channel, mutex, ...), a timer, the network poller or the runtime; back
    from a system call that had cost it its proc; preempted; or it gave way itself.
Percentiles  By nearest rank: p99 is a wait that really happened. Exact up to 5 million
    samples of one trace; beyond, and of several traces, within 0.4%. Counts, totals and
    maxima are always exact.
procs  Busy is running a goroutine, or kept by one in a system call. Searching is a
    thread in the scheduler without a goroutine; stopped, by a stop-the-world.
idle procs  Times in which at least one proc was idle and one goroutine runnable. Some
    microseconds are the normal cost of waking a thread; judge by the p99.
run queue  Goroutines runnable, wherever they are queued.
Where the waiting went  Each wait is cut into cells, and each cell has one cause. Cells
    add up to their wait, and all of them to the latency, to the nanosecond. "mainly"
    counts the waits that lost most of all to a cause; p99 and max are theirs. As the run
    queues are reconstructed (see there), causes are inferred, except that an idle proc
    or a stopped world is in the trace. Suspected causes rest on a limit that was
    exceeded: the trace does not show what the operating system does. Limits are
    estimated from the trace itself, and printed at the end of the report. How each is
    recognised, and what to do: schedscope explain CAUSE. At every moment one holds:
`

const metricsHelpTail = `What kept goroutines waiting, by code  Each nanosecond behind somebody, by the innermost
    function of the program that ran then, else of the standard library. Kinds explain the
    causes of the same name; "short system call" is of calls below 20us, behind which the
    proc was not lost. "created" counts the time of new goroutines, which is in other kinds,
    too, and "blocked at the end" that of waits which have begun and not ended. "alone" is not
    waiting but when one goroutine ran and no other could, of programs in which that is much. Blocked time goes to the function that ended it: unlocked, sent, called. How it is known:
      sampled    CPU samples were taken in the same stretch of the turn (record takes them)
      seen       the stack of an event in or at the end of the stretch
      estimated  divided as the samples, else the preemptions, of goroutines of the same start
                 function; with the number of stacks and the standard error
      unknown    no stack has a function of the program: named by the start function
    A turn counts once for each wait behind it. Only what ran has code: the rest of the
    waiting was lost to idle procs, the scheduler or the operating system.
Run queues  Not recorded in a trace, but replayed by the rules of the Go version that
    wrote it (1.22 and newer). The source is where a start took its goroutine from: the
    proc's own runnext or local queue, the global queue, another proc's queue or runnext
    (a steal), a poll of the network, and so on. For an own queue, via (in tables) is how
    the goroutine last came there: readied there, in a batch from the global queue or
    from a steal, or injected with others by a poll. The grade is the evidence for it:
      certain       follows from the trace and the runtime's rules alone
      unique        one explanation fits, given when threads' operations usually take effect
      chosen        the likeliest of several that fit
      contradicted  none fits; this one breaks the fewest rules
    Lengths leave out runnext. A pick by the 61st tick is one from the global queue that a
    proc makes before it looks at its own.
Found  Known ways of scheduling going wrong, each with the numbers that made the analysis
    speak. "at most": the cases are bounds and have no total.
Wake-up delay  Upper bounds for how late the network poller or a timer made a goroutine
    runnable. They are not part of any latency and must not be added up.
GC  The share of the procs' time that mark workers and mark assists took.
STW  Stop-the-world phases. Their effective length ends when the world was seen running
    again; the traced end is stamped later, under load by milliseconds.
System calls  With a proc: the part in which the goroutine kept its proc. The way out says
    whether it still had its proc, took the old or another idle one, or had to queue.
Handoffs  How procs left threads in system calls: sysmon's retake after 20us to 10ms, the
    goroutine itself before a call known to block, a stop-the-world, and so on; and
    how long the proc then had no thread.
Network wakeups  From the poller finding an event until the goroutine ran.
Bursts  Running without a pause. The runtime asks to give way after 10 ms and notices up
    to 10 ms late; longer ones did not follow it, or the operating system paused them.
CPU samples  What threads were executing, 100 times per second of their processor time, if a
    CPU profile ran during the recording, as record has it. They alone show in which line
    a goroutine was while it ran; all other stacks show where it stopped. Fewer than the time
    that goroutines ran would have are time that threads had no CPU. A server that was
    busy for 40% of the time took x1.004 [0.998, 1.012] of the processor time with them, and
    the p99 of its requests was x1.014 [0.982, 1.037] (medians of 24 rounds with their 95%
    intervals: go -C fixtures/validation run . samplecost -rounds 24 -seconds 2 -priority).`
