package replay

import "fmt"

// Help explains replaying.
func Help() string { return fmt.Sprintf(helpText, ChangesHelp()) }

const helpText = `schedscope replay takes the work out of a trace of Go 1.22 or newer and has a model of the
Go scheduler schedule it again, by the rules of the version that recorded it. Taken as
recorded: how long goroutines compute and what they do at which point of it, delays from
outside, lengths of system calls, the amount of GC work. Simulated: run queues, placement,
stealing, preemption, movements of procs, waking of threads, lateness of timers and polls.

Output (--mode free)
  First the requests, all of a kind, then by handler or task as in schedscope analyze: p50, p99 and
  mean of how long they take, and how many end per second, as recorded and under each what-if. Waits
  in run queues count. Requests that lie in two windows or begin in a warm-up are left out, as are
  groups with fewer than 100 requests, handlers if more than 1%% of the requests take as long and show
  none, and groups which the reference has wrong: W1 more than 25%% of the mean, or 75%% where all that
  is asked has intervals.
  Then waits to run. All figures, p90 too, with their ranges over --seeds, are in --json.
  The reference is the median over --seeds of what the model makes of the work. W1, the Wasserstein
  distance, is how far a wait must be moved on average to make one distribution of the other. The
  reference reproduces a trace closely if W1 is at most 10%% of the mean wait, or at most twice what
  recordings differ by, if that is at most 25%%; roughly up to 25%%.
  "work" is time on procs, even while the operating system does not run their threads.
  The ideal scheduler is not a lower bound: whom to run first matters, too.
  The first part of each window, 10 ms but at most a quarter, is not compared: what the
  queues held at its beginning is not known in full.

Classes of wakes (--json)
  join, semaphore        simulated: waits for others to end, and for one of a number of places
  hand-off               one goroutine wakes another, as over a channel: as recorded
  lock, cond, select,    as recorded, but with another schedule others may be served. A channel is
  buffered               buffered if operations on it do not show, since they neither wait nor wake
  timer, external        decided outside of the program: as long after the wait began as recorded, or
                         at the recorded times if it makes no difference how many wait
  loopback               data that the program sends to itself: which write a read waits for is
                         inferred from places and times, and then carried over
  runtime                the runtime's own: GC, finalizers, the scavenger
  syscall                ends of system calls, which nobody wakes; not counted among the wakes

--what-if CHANGE[,CHANGE...]
  Changes with commas between them are made together; repeat the flag for another variant.
  With ideal only procs, gc and quiet have an effect.
%s
  The figures of waits are the run time, the mean, p90 and p99, and the part of them that is longer
  than 10 µs. Each is the measured one, changed as the variant changes the simulation: twice as long
  if simulations are. Simulations that do not come to the end of the work are left out.
  What a figure is worth depends on the variant:
    80%% interval  of two procs from a trace with one, of one and of a quiet machine from a trace with two,
                  without other changes; of requests with two procs also under a quota. As wide as such
                  figures were off for other programs: four of five should contain the measured value.
                  Of another number of procs there is none where most wakes are by locks, of two none
                  where system calls that lost their procs take 5%% of the time, and where the operating
                  system seems to have taken a tenth of the computing, of waits on a quiet machine alone.
                  More procs seldom make requests slower, and fewer seldom faster: where simulations
                  have that, intervals reach to what was recorded.
    no range      any other variant: how far that is from the truth has not been measured. "No change"
                  is less of one than what simulations with other seeds differ by.
  No figure is given where the reference does not reproduce the trace or has fewer than 100 waits,
  and no run time where more than 90%% of the wakes come from timers or from outside. Where only quiet
  is asked, and has intervals, W1 may be up to 75%% of the mean. Intervals are half as wide again beyond
  25%%, and of requests where the operating system took a tenth of the computing.

--what-if quiet
  Where the operating system ran something else, goroutines and calls seem to take longer: suspected
  is what takes at least 20 times, and 200 µs, as long as usual between two points, if found in
  three kinds of code, as often as they run for long. What is so in one kind only is the program's
  own and stays, but not calls of connections, which never wait. CPU samples (schedscope record
  takes them) show how much of the computing goes, in all code alike but between two samples.
  Without any, it looks like rare computing: intervals of requests reach up to what was recorded.
  Where nothing at all happens for 30 ms while a goroutine runs, all threads are taken to have stood
  still: sysmon would have preempted it, except in assembly code. The reference has that, too.
  Short outages, and those of the garbage collector's workers and of threads that sleep in the poller,
  stay. Where the busy machine could not keep up, requests are faster by far than quiet says: if their
  mean is ten times the median, intervals reach down to a twentieth, and others to a third.

Limits
  Contention for the scheduler's locks, caches, and other programs are not simulated. A program
  that works for a given time, or reacts to how fast it is, would have done other work.`
