package view

// MetricsHelp explains the numbers of reports.
const MetricsHelp = `Scheduling latency  From runnable to running, of each wait of the program's own
    goroutines. Waits that the trace shows only in part and those of the runtime's
    goroutines are counted apart, in the notes.
Times  "at" is when the longest one ended, "from" when it began, both from the start of
    the trace. Only for the burst that the verdict names "at" is its beginning.
Functions  Where a goroutine started, unless it says where it stopped. Directories of
    packages are left out, except in the verdict, JSON, CSV and exported tables.
Origins  How the goroutine became runnable: created by a go statement; readied by a
    goroutine (channel, mutex, ...), a timer, the network poller or the runtime; back
    from a system call that had cost it its proc; preempted; or it gave way itself.
Percentiles  By nearest rank: p99 is a wait that really happened. Exact up to 5 million
    samples, then within 0.4%; counts, totals and maxima always exact.
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
    estimated from the trace itself, and printed at the end of the report.
    Once the thread that ran the goroutine had begun to look for work, which is its last
    event before the start:
      stop-the-world       the world was being stopped, or was
      pick-up              the scheduler's own time: up to the limit for where it came from
      runnext back-off     beyond that, of a goroutine stolen from a runnext: the thief
                           sleeps, so that the owner can run it
      OS in scheduler      beyond those (suspected), or unresolved if nothing explains
                           from where the thread took the goroutine
    Before, the first of these that is true:
      stop-the-world       the same
      waking an idle proc  a proc was idle and a thread for it on its way, up to the limit
      OS in wake-up        the same beyond the limit (suspected)
      idle proc, runnext   a proc was idle, but the goroutine was in a runnext, which
                           thieves leave alone at first
      idle proc, locked thread  a proc was idle, but the goroutine was bound to a thread,
                           which had to be given a proc
      idle proc, spinner   a proc was idle, but a thread was searching: the runtime wakes
                           no second one meanwhile
      idle proc, unexplained  a proc was idle, and none of these
      searching            no proc was idle, one was without a goroutine, up to the limit
      OS gap               no thread of the program had any event for longer than a time
                           slice explains (suspected)
    All procs were taken, and the goroutine's own, in whose queue it last stood, or that
    took it from the global queue,
      proc held by syscall    was held by a goroutine in a system call
      behind GC (dedicated, fractional, idle)  ran a mark worker of that kind
      behind GC assist        ran a goroutine of the program that had to help marking
      behind the runtime      ran another goroutine of the runtime
      behind a goroutine      ran another goroutine of the program
      OS in scheduler         was without a goroutine beyond the limit (suspected)
      switching               was between two goroutines
      unresolved              is not known, or not what it did
Reference  How long goroutines of the program would have waited, in all, had a model of the
    Go scheduler scheduled the same work (schedscope help replay-model), and had an ideal
    one: one queue, first come, first served, no cost, nobody waits while a proc is idle.
    The latter is not a lower bound: whom to run first matters, too. Of the first 50,000
    starts (fewer if goroutines do much without starting again) and the first minute; the
    beginning, until the queues are known, does not count. Left out where the model does
    not reproduce what was measured; the JSON has it then, too.
Who ran while goroutines waited  The antagonists: goroutines that held the proc in the
    cells "behind" and "held by syscall", by start function. A turn counts once for each
    wait behind it. "stopped in" is the innermost function of the program (else of the
    standard library) in which the turns stopped that took the most: a trace has no stacks
    of running code, so they may have spent their time elsewhere. "(earlier)" sums up
    goroutines at the beginning of waits so long that they are not kept by name.
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
    to 10 ms late; longer ones did not follow it, or the operating system paused them.`
