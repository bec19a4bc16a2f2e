package analyze

import "github.com/schedscope/schedscope/analyze/result"

// kinds are the pathologies: how bad one is at least, what follows from the trace alone, and
// what the catalogue has of it. Traces that show one are in the repository.
var kinds = []struct {
	severity Severity
	grade    Grade
	result.Symptom
}{
	{result.Notable, result.Certain, result.Symptom{Name: "netpoll-starvation", Example: "fixtures/truth/traces/mixed.p2.trace.zst",
		Meaning: "No proc looked at the network for 10 ms at a time. Each had goroutines to run; only sysmon's emergency poll found what had arrived.",
		Sign:    "At least 3 polls by sysmon found something, and at least 5% of all network wakeups are theirs. How late the events were is an upper bound: since the last poll.",
		Advice:  "Shorten the stretches of computing between two waits, move them behind a limit below GOMAXPROCS, or give the program more procs and CPUs. Requests see the lateness before any scheduling latency begins."}},
	{result.Notable, result.Certain, result.Symptom{Name: "handoff-storm", Example: "fixtures/checks/recordings/blocked.trace.zst",
		Meaning: "sysmon keeps taking procs away from slow system calls. The calls are so many that other threads must take over all the time.",
		Sign:    "At least 100 procs were taken from system calls within 100 ms. The total is how long those procs then had no thread.",
		Advice:  "Make fewer and larger calls (buffer, batch), limit how many goroutines call at once, or use what does not block a thread, such as files and sockets that the network poller can watch."}},
	{result.Notable, result.Inferred, result.Symptom{Name: "runnext-chain", Example: "fixtures/convoy.go1.26.p4.trace",
		Meaning: "Goroutines that wake one another kept a proc's queue waiting. Woken into runnext, by one another or by timers, they shared one time slice after another, while what stood in the queue did not get its turn.",
		Sign:    "A goroutine waited for 10 ms or more behind at least 10 starts through runnext, at least three times, or once for 20 ms. Run queues are replayed, so it is inferred.",
		Advice:  "Let goroutines that talk to each other exchange more at a time (a buffered channel, batches), or have one do the work of both; let short timers fire less often."}},
	{result.Serious, result.Inferred, result.Symptom{Name: "global-queue-aging", Example: "fixtures/starve.go1.26.p1.trace",
		Meaning: "Goroutines in the global queue were passed over. They were preempted, or came from Gosched or a system call, and many more started before them than the runtime's every-61st rule should allow, because starts through runnext do not count for it.",
		Sign:    "A goroutine waited there for 10 ms or more, and twice as many starts as the rule allows, for all ahead of it, went past it.",
		Advice:  "Look for goroutines that wake each other all the time and break their chain: exchange more at a time, or give the program more procs. Do not call runtime.Gosched where others chat."}},
	{result.Notable, result.Inferred, result.Symptom{Name: "timers-late-behind-busy-proc", Example: "fixtures/syscalls.go1.26.p4.trace",
		Meaning: "Timers fired late because their procs were busy. A proc looks at the timers set on it between two goroutines only, so these were late by up to the length of what ran before.",
		Sign:    "At least 5 timers, and 10% of all, fired on procs that had not looked at their timers for 10 ms. How late each was is an upper bound: the trace does not have the time for which it was set.",
		Advice:  "Do not rely on timers finer than 10 to 20 ms next to goroutines that compute; keep a proc free for them (fewer computing goroutines than GOMAXPROCS, and enough CPUs)."}},
	{result.Notable, result.Certain, result.Symptom{Name: "gc-assists", Example: "fixtures/assist.go1.26.p4.trace",
		Meaning: "The program allocates faster than the collector marks. Goroutines that allocate must mark themselves, or wait until others did, before they may go on.",
		Sign:    "Assists, and waits for them, are at least 5% of the running time of the program's goroutines, and 1 ms.",
		Advice:  "Allocate less (reuse buffers, avoid short-lived garbage on the hot path), or give the collector room: raise GOGC, or GOMEMLIMIT if that is what forces it."}},
	{result.Notable, result.Inferred, result.Symptom{Name: "behind-dedicated-gc-worker", Example: "fixtures/rpc.go1.26.p4.trace",
		Meaning: "Goroutines queued on a proc that a mark worker occupied. A dedicated worker keeps its proc until marking ends or it is asked to give way, and what waits in that proc's queue depends on thieves.",
		Sign:    "At least 5 waits of 1 ms or more behind such a worker, or one of 10 ms. Run queues are replayed, so it is inferred.",
		Advice:  "Make collections rarer or shorter (fewer pointers, less garbage, a higher GOGC), or have more procs, of which a quarter marks."}},
	{result.Notable, result.Certain, result.Symptom{Name: "waiting-after-stack-scan", Example: "fixtures/truth/traces/gc.p4.trace.zst",
		Meaning: "Running goroutines were stopped for the collector and then waited. It scanned their stacks, and they queued behind the very worker that did so.",
		Sign:    "At least 3 goroutines waited for 1 ms or more after a stack scan, or one for 10 ms. The trace has all of it.",
		Advice:  "It is the runtime's doing; make collections rarer (less garbage, a higher GOGC). It befalls goroutines that compute without pause."}},
	{result.Notable, result.Inferred, result.Symptom{Name: "long-bursts-without-preemption", Example: "fixtures/echo.go1.26.p4.trace",
		Meaning: "Goroutines ran on long after sysmon asks them to give way. It does so within 20 ms; these could not be interrupted where they were, or the operating system did not run their thread, or sysmon.",
		Sign:    "At least 3 bursts of 30 ms or more, or one of 120 ms, less the time in which the whole process stood still. A trace does not show whether the thread had a CPU.",
		Advice:  "Look at where they stopped: assembly, huge copies, and GODEBUG=asyncpreemptoff=1 keep a goroutine from being interrupted. If it is ordinary code, the machine is overcommitted: look at CPU limits, steal time and neighbours."}},
	{result.Notable, result.Inferred, result.Symptom{Name: "idle-procs-beside-runnable", Example: "fixtures/rpc.go1.26.p4.trace",
		Meaning: "Goroutines waited to run while a proc stood idle. They did for longer than waking it takes: its thread got no CPU, or the goroutine was tied to another thread or proc.",
		Sign:    "Such times, less what waking a proc takes in this trace (100us to 1ms), are at least 2% of the time and 5 ms. What kept the proc idle is not in the trace.",
		Advice:  "Compare GOMAXPROCS with the CPUs that the process really has (limits, neighbours): an idle proc beyond those adds no capacity. Look for runtime.LockOSThread."}},
	{result.Notable, result.Certain, result.Symptom{Name: "locked-thread-ping-pong", Example: "fixtures/lockthread.go1.26.p4.trace",
		Meaning: "Goroutines that are locked to threads stop and start all the time. Each time a proc must change from one thread to another, which only the operating system can do.",
		Sign:    "At least 100 starts on locked threads within 100 ms, and 10% of all starts.",
		Advice:  "Do not pass small pieces of work to and from a goroutine under runtime.LockOSThread: give it batches, or keep all of the exchange on it."}},
	{result.Info, result.Certain, result.Symptom{Name: "affinity-lost-across-stw", Example: "fixtures/truth/traces/resize.p4.trace.zst",
		Meaning: "Goroutines went on on other procs after the world was stopped. Their caches are cold there. Up to Go 1.25 they are put into the global queue, from which any proc takes them.",
		Sign:    "At least 20 goroutines, 10 per second and half of those that were stopped went on on another proc.",
		Advice:  "Stop the world less often: fewer collections, no runtime.ReadMemStats in a loop, no changes of GOMAXPROCS at run time. Go 1.26 keeps more of them where they were."}},
	{result.Notable, result.Inferred, result.Symptom{Name: "frozen-process", Example: "fixtures/generations.go1.26.p4.trace",
		Meaning: "No thread did anything for a while although procs had work. The operating system, or the machine under it, did not run the process.",
		Sign:    "Silences of all threads, of 5 ms or more and ten times what is usual, while there was work that takes microseconds, or several goroutines ran past the time at which the runtime stops them: at least 3, or one of 10 ms.",
		Advice:  "Look outside of the program: stopped or paused containers, a debugger, swapping, an overcommitted host."}},
	{result.Serious, result.Inferred, result.Symptom{Name: "cpu-throttling", Example: "fixtures/checks/recordings/convoy-quota.trace.zst",
		Meaning: "The whole process stood still at the pace of CPU quotas. It used up its quota before the period was over, again and again.",
		Sign:    "At least 5 silences of all threads as for frozen-process, of which 80% end 100 ms, or a multiple, after the one before. Quotas with another period are not recognised.",
		Advice:  "Set GOMAXPROCS to the quota (Go 1.25 does so by itself where it sees one), or raise the limit. Bursts of parallel work such as garbage collection exhaust it first."}},
}

// Symptoms returns what the catalogue has of each kind of pathology.
func Symptoms() []result.Symptom {
	var list []result.Symptom
	for i := range kinds {
		list = append(list, kinds[i].Symptom)
	}
	return list
}
