package analyze

import "github.com/schedscope/schedscope/analyze/result"

// kinds are the pathologies by name, which is stable and for programs: how bad one is
// at least, what happens, and what to do.
var kinds = map[string]struct {
	severity        Severity
	grade           Grade
	meaning, advice string
}{
	"netpoll-starvation": {result.Notable, result.Certain,
		"No proc looked at the network for 10 ms at a time, because each had goroutines to run; only sysmon's emergency poll found what had arrived.",
		"Shorten the stretches of computing between two waits, move them behind a limit below GOMAXPROCS, or give the program more procs and CPUs. Requests see the lateness before any scheduling latency begins."},
	"handoff-storm": {result.Notable, result.Certain,
		"System calls are so slow, and so many, that sysmon keeps taking procs away from them and other threads must take over each time.",
		"Make fewer and larger calls (buffer, batch), limit how many goroutines call at once, or use what does not block a thread, such as files and sockets that the network poller can watch."},
	"runnext-chain": {result.Notable, result.Inferred,
		"Goroutines that were woken into runnext, by one another or by timers, shared one time slice after another, while what stood in the proc's queue did not get its turn.",
		"Let goroutines that talk to each other exchange more at a time (a buffered channel, batches), or have one do the work of both; let short timers fire less often."},
	"global-queue-aging": {result.Serious, result.Inferred,
		"Goroutines in the global queue (preempted, after Gosched or a system call) were passed over by many more starts than the runtime's every-61st rule should allow, because starts through runnext do not count for it.",
		"Look for goroutines that wake each other all the time and break their chain: exchange more at a time, or give the program more procs. Do not call runtime.Gosched where others chat."},
	"timers-late-behind-busy-proc": {result.Notable, result.Inferred,
		"Timers are kept by the proc where they were set and fire only when it looks at them between two goroutines, so these were late by up to the length of what ran before.",
		"Do not rely on timers finer than 10 to 20 ms next to goroutines that compute; keep a proc free for them (fewer computing goroutines than GOMAXPROCS, and enough CPUs)."},
	"gc-assists": {result.Notable, result.Certain,
		"The program allocates faster than the collector's workers mark, so goroutines that allocate must mark themselves, or wait until others did, before they may go on.",
		"Allocate less (reuse buffers, avoid short-lived garbage on the hot path), or give the collector room: raise GOGC, or GOMEMLIMIT if that is what forces it."},
	"behind-dedicated-gc-worker": {result.Notable, result.Inferred,
		"A dedicated mark worker keeps its proc until marking ends or it is asked to give way, and what waits in that proc's queue depends on thieves.",
		"Make collections rarer or shorter (fewer pointers, less garbage, a higher GOGC), or have more procs, of which a quarter marks."},
	"waiting-after-stack-scan": {result.Notable, result.Certain,
		"Goroutines that were running were stopped for the collector to scan their stacks, and then queued behind the very worker that scanned them.",
		"It is the runtime's doing; make collections rarer (less garbage, a higher GOGC). It befalls goroutines that compute without pause."},
	"long-bursts-without-preemption": {result.Notable, result.Inferred,
		"Sysmon asks a goroutine to give way within 20 ms; these did not for much longer, because code cannot be interrupted there or because the operating system did not run their thread, or sysmon.",
		"Look at where they stopped: assembly, huge copies, and GODEBUG=asyncpreemptoff=1 keep a goroutine from being interrupted. If it is ordinary code, the machine is overcommitted: look at CPU limits, steal time and neighbours."},
	"idle-procs-beside-runnable": {result.Notable, result.Inferred,
		"Goroutines waited to run while a proc stood idle, for longer than waking it takes: its thread got no CPU, or the goroutine was tied to another thread or proc.",
		"Compare GOMAXPROCS with the CPUs that the process really has (limits, neighbours): an idle proc beyond those adds no capacity. Look for runtime.LockOSThread."},
	"locked-thread-ping-pong": {result.Notable, result.Certain,
		"Goroutines that are locked to threads stop and start all the time, and each time a proc must change from one thread to another, which only the operating system can do.",
		"Do not pass small pieces of work to and from a goroutine under runtime.LockOSThread: give it batches, or keep all of the exchange on it."},
	"affinity-lost-across-stw": {result.Info, result.Certain,
		"Goroutines that were running when the world was stopped went on on other procs, with cold caches. Up to Go 1.25 they are put into the global queue, from which any proc takes them.",
		"Stop the world less often: fewer collections, no runtime.ReadMemStats in a loop, no changes of GOMAXPROCS at run time. Go 1.26 keeps more of them where they were."},
	"frozen-process": {result.Notable, result.Inferred,
		"No thread did anything for a while although procs had work: the operating system, or the machine under it, did not run the process.",
		"Look outside of the program: stopped or paused containers, a debugger, swapping, an overcommitted host."},
	"cpu-throttling": {result.Serious, result.Inferred,
		"The whole process stood still again and again, and went on at the pace at which CPU quotas are renewed: it used up its quota before the period was over.",
		"Set GOMAXPROCS to the quota (Go 1.25 does so by itself where it sees one), or raise the limit. Bursts of parallel work such as garbage collection exhaust it first."},
}
