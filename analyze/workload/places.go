package workload

import (
	"slices"
	"strings"

	"github.com/schedscope/schedscope/model"
)

// placeFlags say what a stack shows of what a goroutine does there.
type placeFlags uint8

const (
	placeAccept  placeFlags = 1 << iota // waits for connections
	placeConnect                        // connects
	placeSend                           // sends on a channel
	placeReceive                        // receives from one
)

// place is what the rules need to know of a stack.
type place struct {
	seen  bool
	flags placeFlags
	// user numbers the innermost frame outside of packages runtime and sync, from 1, by
	// line: two places in one function differ.
	user int32
}

// places caches the places of stacks.
type places struct {
	tables *model.Tables
	list   []place
	users  numbers[userKey]
}

type userKey struct {
	fn   string
	line uint64
}

func (p *places) of(id model.StackID) *place {
	if int(id) >= len(p.list) {
		n := max(int(id)+1, p.tables.NumStacks())
		if int(id) > p.tables.NumStacks() {
			id, n = 0, max(len(p.list), 1) // not of these tables
		}
		p.list = append(p.list, make([]place, n-len(p.list))...)
	}
	x := &p.list[id]
	if !x.seen {
		p.see(x, p.tables.Stack(id))
	}
	return x
}

func (p *places) see(x *place, frames []model.Frame) {
	x.seen = true
	for i, f := range frames {
		switch {
		case i == 0 && strings.HasPrefix(f.Func, "runtime.chansend"):
			x.flags |= placeSend
		case i == 0 && strings.HasPrefix(f.Func, "runtime.chanrecv"):
			x.flags |= placeReceive
		case f.Func == "internal/poll.(*FD).Accept":
			x.flags |= placeAccept
		case f.Func == "syscall.connect":
			x.flags |= placeConnect
		}
		if x.user == 0 && !isRuntime(f.Func) {
			x.user = p.users.of(userKey{f.Func, f.Line}) + 1
		}
	}
}

// isRuntime reports whether a function is one of those that wait on behalf of the
// program.
func isRuntime(fn string) bool {
	return slices.ContainsFunc([]string{"runtime.", "sync.", "internal/", "time.Sleep"}, func(p string) bool { return strings.HasPrefix(fn, p) })
}

// numbers gives things numbers from 0, in the order in which they come.
type numbers[K comparable] map[K]int32

func (m numbers[K]) of(k K) int32 {
	n, ok := m[k]
	if !ok {
		n = int32(len(m))
		m[k] = n
	}
	return n
}
