package calibrate

import (
	"strings"

	"github.com/schedscope/schedscope/model"
)

// sends follows what the program itself writes to the network: on a loopback
// connection the kernel delivers within the writer's system call, and wakes who sleeps
// in epoll for it.
type sends struct {
	tables *model.Tables
	seen   []uint8 // by stack: 0 not looked at, 1 no write, 2 write
	open   map[model.GoID]model.Time
	latest [8]model.Time // when the latest writes began, as a ring
	next   int
	count  int
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
			n.open = map[model.GoID]model.Time{}
		}
		if len(n.open) < maxOpen {
			n.open[s.G] = s.Time
		}
		n.latest[n.next] = s.Time
		n.next = (n.next + 1) % len(n.latest)
		n.count++
	case from == model.GoSyscall:
		if at, ok := n.open[s.G]; ok {
			delete(n.open, s.G)
			c.samples[ofSend].add(s.Time.Sub(at))
		}
	}
}

// polled accounts for a thread that slept in epoll and got a proc at this time: the
// latest write before is likely what woke it.
func (n *sends) polled(c *Calibrator, at model.Time) {
	for i := 1; i <= min(n.count, len(n.latest)); i++ {
		if w := n.latest[(n.next+len(n.latest)-i)%len(n.latest)]; w < at {
			if d := at.Sub(w); d <= sendMost {
				c.samples[ofEpoll].add(d)
			}
			return
		}
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
