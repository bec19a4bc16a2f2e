package perfetto

import "github.com/schedscope/schedscope/model"

// A track is where slices, moments and counters stand.
type track struct {
	kind trackKind
	id   int64 // of the goroutine, the proc, the task
}

type trackKind uint8

const (
	trackProgram    trackKind = iota + 1 // the process
	trackGoroutine                       // by goroutine
	trackProc                            // steals and handoffs, by proc
	trackSTW                             // stop-the-world
	trackGC                              // the collector's phases
	trackSweep                           // sweeping, by proc
	trackTask                            // by task
	trackOpen                            // what began before the trace, each on its own
	trackRunnable                        // counters from here on
	trackIdle                            // idle procs
	trackProcs                           // GOMAXPROCS
	trackHeap                            // live heap
	trackGoal                            // the collector's goal
	trackGlobal                          // global run queue
	trackLocal                           // local run queue with runnext, by proc
	firstCounter    = trackRunnable
	numTrackKinds   = trackLocal + 1
	maxTrackKindBit = 4 // bits of a kind in a track's uuid
)

// trackNames names the tracks that are not named by what is on them.
var trackNames = [numTrackKinds]string{
	trackProc: "proc", trackSTW: "stop-the-world", trackGC: "GC", trackSweep: "GC sweep of proc",
	trackRunnable: "runnable goroutines", trackIdle: "idle procs", trackProcs: "GOMAXPROCS", trackHeap: "live heap",
	trackGoal: "GC heap goal", trackGlobal: "global run queue", trackLocal: "run queue of proc",
}

// perProc reports whether there is a track of the kind for each proc.
func (k trackKind) perProc() bool { return k == trackProc || k == trackSweep || k == trackLocal }

// A slice lasts. Its track holds no other that overlaps it, except such as lie
// within one another.
type slice struct {
	track      track
	of         string // names the track, if it is one of a task or an open one
	name       label
	start, end model.Time
	args       []arg
}

// An arg is a detail of a slice.
type arg struct {
	key    label
	text   string
	number int64
}

// A moment is a point in time on a track.
type moment struct {
	track track
	at    model.Time
	name  label
	args  []arg
}
