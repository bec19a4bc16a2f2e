package workload

import (
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
	// user numbers the innermost frame outside of packages runtime and sync, by
	// program counter: two places in one function differ.
	user  int32
	frame string // its function
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
	if p.users == nil {
		p.users = numbers[userKey]{}
	}
	if len(frames) > 0 {
		if f := frames[0].Func; strings.HasPrefix(f, "runtime.chansend") {
			x.flags |= placeSend
		} else if strings.HasPrefix(f, "runtime.chanrecv") {
			x.flags |= placeReceive
		}
	}
	found := false
	for _, f := range frames {
		x.flags |= flagsOf(f.Func)
		if !found && !isRuntime(f.Func) {
			found = true
			x.frame = f.Func
			x.user = p.users.of(userKey{f.Func, f.Line}) + 1
		}
	}
	if !found && len(frames) > 0 {
		x.frame = frames[len(frames)-1].Func
	}
}

// isRuntime reports whether a function is one of those that wait on behalf of the
// program.
func isRuntime(fn string) bool {
	for _, p := range []string{"runtime.", "sync.", "internal/", "time.Sleep"} {
		if strings.HasPrefix(fn, p) {
			return true
		}
	}
	return false
}

func flagsOf(fn string) placeFlags {
	switch {
	case fn == "internal/poll.(*FD).Accept":
		return placeAccept
	case fn == "syscall.connect":
		return placeConnect
	}
	return 0
}
