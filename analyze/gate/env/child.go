package env

import (
	"debug/buildinfo"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Child is a process that has ended, as its parent knows it.
type Child struct {
	State *os.ProcessState
	// Binary is its executable, which has its Go version and commit; "" if not known.
	Binary string
	// Env are its environment variables; nil: those of this process.
	Env []string
	// DelayNS is what [Watcher.Stop] returned.
	DelayNS *int64
}

// FromChild returns the Run of a child from two records that its parent took, before the start
// and after the end. Counters of the process are the child's, over all its life. Properties of
// the parent alone are omitted: GOMAXPROCS is 0.
func FromChild(begin, end Record, c Child) Run {
	p := &Process{UserNS: int64(c.State.UserTime()), SystemNS: int64(c.State.SystemTime()), Nivcsw: switches(c.State.SysUsage())}
	begin.Process, end.Process = &Process{}, p
	if c.DelayNS != nil {
		begin.Process.DelayNS, p.DelayNS = new(int64), c.DelayNS
	}
	begin.Point, end.Point = Begin, End
	for _, r := range []*Record{&begin, &end} {
		c.describe(r)
	}
	return Run{Begin: begin, End: end}
}

// describe replaces what a record says of the parent.
func (c *Child) describe(r *Record) {
	r.GOMAXPROCS, r.Go, r.Commit = 0, "", ""
	r.GOGC, r.Memlimit = c.getenv("GOGC"), c.getenv("GOMEMLIMIT")
	if c.Binary == "" {
		return
	}
	if info, err := buildinfo.ReadFile(c.Binary); err == nil {
		r.Go, r.Commit = info.GoVersion, revision(info)
	}
}

func (c *Child) getenv(name string) string {
	if c.Env == nil {
		return os.Getenv(name)
	}
	value := ""
	for _, s := range c.Env {
		if k, v, _ := strings.Cut(s, "="); k == name {
			value = v // the last one counts
		}
	}
	return value
}

// watchEvery is how often a Watcher looks, in the end.
const watchEvery = 50 * time.Millisecond

// Watcher follows how long the threads of another process wait for a CPU, as long as it
// lives. Up to the last 50 ms of each thread escape it.
type Watcher struct {
	pid  string
	stop chan struct{}
	wg   sync.WaitGroup

	last map[string]int64
	gone int64 // of threads whose number was given to another
}

// Watch begins to follow a process of this machine. Every Watcher must be stopped.
func Watch(pid int) *Watcher {
	w := &Watcher{pid: strconv.Itoa(pid), stop: make(chan struct{}), last: map[string]int64{}}
	w.wg.Go(w.run)
	return w
}

func (w *Watcher) run() {
	for wait := time.Millisecond; ; wait = min(2*wait, watchEvery) { // sooner at first: the process may be short
		w.note(delaysOf(w.pid))
		select {
		case <-time.After(wait):
		case <-w.stop:
			return
		}
	}
}

func (w *Watcher) note(seen map[string]int64) {
	for thread, d := range seen {
		if before := w.last[thread]; d < before {
			w.gone += before
		}
		w.last[thread] = d
	}
}

// Stop ends watching and returns the sum over all threads in nanoseconds, nil if nothing
// could be read. Call it once, before or after the process has ended.
func (w *Watcher) Stop() *int64 {
	close(w.stop)
	w.wg.Wait()
	if len(w.last) == 0 {
		return nil
	}
	sum := w.gone
	for _, d := range w.last {
		sum += d
	}
	return &sum
}
