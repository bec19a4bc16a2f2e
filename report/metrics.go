package report

// MetricsHelp explains the numbers of reports.
const MetricsHelp = `Scheduling latency  From runnable to running, of each wait of the program's own
    goroutines. Waits that the trace shows only in part and those of the runtime's
    goroutines are counted apart, in the notes. "at" is when the longest one ended,
    from the start of the trace.
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
    to 10 ms late; longer ones did not heed it, or the operating system paused them.`
