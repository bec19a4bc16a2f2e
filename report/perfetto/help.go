package perfetto

// Help explains timelines.
const Help = `schedscope export --format perfetto writes a timeline for https://ui.perfetto.dev: open the
page and drop the file on it. The page works in the browser; the file is not uploaded.
Extensions of -o that ask for it are .pftrace and .perfetto-trace, with .gz behind them for
a compressed file, which the page opens as well and which is a third of the size. On
stdout it is always compressed.

  schedscope export -o trace.pftrace.gz trace.out
  schedscope export -o trace.pftrace.gz --from 1.5s --to 2s trace.out

What becomes what
  procs          CPUs, with what runs on them
  goroutines     threads: tid is the goroutine's id, the name its start function (beyond
                 2,147,483,647 tid is another number, and the name has the id). States:
                 R runnable, Running, S waiting, D in a system call with its proc, T in a
                 system call while its proc is elsewhere, X ended
  wakeups        arrows from "ready" on the goroutine that woke to where the woken one runs,
                 which is named after what it had waited for. What a timer or the network woke
                 has the name without an arrow
  steals         arrows from "stolen from" on the victim's track to "steal" on the thief's, with
                 the number of goroutines and the grade of the evidence
  handoffs       arrows from "proc lost" on the goroutine in a system call to the proc's track
  counters       runnable goroutines, idle procs, each run queue with its runnext, GOMAXPROCS, live
                 heap and its goal. Of queues and idle procs values are left out that lasted less
                 than a microsecond: states of goroutines show them to the nanosecond
  slices         stop-the-world with its phases, GC phases, sweeps, mark assists, tasks, regions;
                 log messages. Regions that began before the trace have tracks of their own

--causes adds a slice for each wait to run, on the goroutine's track: it is named after what the
wait was lost to most of all (schedscope help metrics), and its arguments are the nanoseconds
lost to each cause, how the goroutine became runnable, where it was taken from to run, and
how good the evidence for that is. It takes about twice as long.

Times count from the start of the trace. Steals and run queues need Go 1.22 or newer. The
page needs a release of Perfetto from 2025 or later.

Queries, for the page's query tab and for trace_processor. They are written after the documentation
of its tables and were not run by the tests of schedscope:

  Scheduling latency by function, in microseconds:
    SELECT t.name, COUNT(*) AS waits, SUM(s.dur) / 1e3 AS total, MAX(s.dur) / 1e3 AS worst
    FROM thread_state s JOIN thread t USING (utid)
    WHERE s.state = 'R' AND s.dur > 0 GROUP BY t.name ORDER BY total DESC;

  The 20 longest waits to run:
    SELECT s.ts, s.dur, t.tid AS goroutine, t.name FROM thread_state s JOIN thread t USING (utid)
    WHERE s.state = 'R' AND s.dur > 0 ORDER BY s.dur DESC LIMIT 20;

  Who kept each proc busy:
    SELECT cpu AS proc, t.name, SUM(s.dur) / 1e6 AS ms FROM sched s JOIN thread t USING (utid)
    WHERE s.dur > 0 GROUP BY cpu, t.name ORDER BY cpu, ms DESC;

  What waits were lost to, in milliseconds (--causes):
    SELECT a.key AS cause, SUM(a.int_value) / 1e6 AS ms, COUNT(*) AS waits FROM slice s JOIN args a USING (arg_set_id)
    WHERE a.int_value > 0 AND EXTRACT_ARG(s.arg_set_id, 'debug.source') IS NOT NULL GROUP BY 1 ORDER BY ms DESC;

  Who woke whom how often:
    SELECT a.name AS waker, b.name AS woken, COUNT(*) AS n FROM flow f
    JOIN slice x ON f.slice_out = x.id JOIN thread_track xt ON x.track_id = xt.id JOIN thread a ON xt.utid = a.utid
    JOIN slice y ON f.slice_in = y.id JOIN thread_track yt ON y.track_id = yt.id JOIN thread b ON yt.utid = b.utid
    WHERE x.name = 'ready' GROUP BY 1, 2 ORDER BY n DESC;`
