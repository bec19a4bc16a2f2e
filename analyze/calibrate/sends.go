package calibrate

import (
	"strings"

	"github.com/schedscope/schedscope/model"
)

// sends follows what the program itself writes to the network: on a loopback
// connection the kernel delivers within the writer's system call, and wakes who sleeps
// in epoll for it. A workload sends when the call has returned.
type sends struct {
	tables *model.Tables
	seen   []uint8 // by stack: 0 not looked at, 1 no write, 2 write
	open   map[model.GoID]int
	latest [8]write // the latest writes, as a ring
	count  int      // of writes
}

type write struct {
	begin, end model.Time
	ended      bool
}

// maxOpen bounds the writes that are followed at a time.
const maxOpen = 1 << 14

// sendMost is longer than a write takes to wake a poller: its data was for
// somebody else.
const sendMost model.Duration = 1_000_000

func (n *sends) step(c *Calibrator, s *model.Step, from, to model.GoState) {
	switch {
	case from == model.GoRunning && to == model.GoSyscall && n.writes(s.Stack):
		if n.open == nil {
			n.open = map[model.GoID]int{}
		}
		if len(n.open) < maxOpen {
			n.open[s.G] = n.count
		}
		n.latest[n.count%len(n.latest)] = write{begin: s.Time}
		n.count++
	case from == model.GoSyscall && len(n.open) > 0:
		i, ok := n.open[s.G]
		if !ok {
			return
		}
		delete(n.open, s.G)
		c.samples[ofSend].add(0)
		if i >= n.count-len(n.latest) {
			w := &n.latest[i%len(n.latest)]
			w.end, w.ended = s.Time, true
		}
	}
}

// polled accounts for a thread that slept in epoll and got a proc at this time: the
// latest write that had begun is likely what woke it.
func (n *sends) polled(c *Calibrator, at model.Time) {
	for i := n.count - 1; i >= max(0, n.count-len(n.latest)); i-- {
		w := &n.latest[i%len(n.latest)]
		switch {
		case w.begin >= at:
			continue
		case !w.ended || w.end >= at:
			c.samples[ofEpoll].add(0)
		case at.Sub(w.end) <= sendMost:
			c.samples[ofEpoll].add(at.Sub(w.end))
		}
		return
	}
}

// writes reports whether a stack is one of writing to a network connection.
func (n *sends) writes(id model.StackID) bool {
	if int(id) >= len(n.seen) {
		n.seen = append(n.seen, make([]uint8, max(int(id)+1, n.tables.NumStacks())-len(n.seen))...)
	}
	if n.seen[id] == 0 {
		n.seen[id] = 1
		for _, f := range n.tables.Stack(id) {
			if name, ok := strings.CutPrefix(f.Func, "net.(*netFD)."); ok && strings.HasPrefix(strings.ToLower(name), "write") {
				n.seen[id] = 2
			}
		}
	}
	return n.seen[id] == 2
}
