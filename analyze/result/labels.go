package result

import (
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// origins are the words for how goroutines become runnable: a name for tables
// and legends, a clause for sentences, and how the clause goes on if a goroutine
// had a part in it.
var origins = [model.NumOrigins]struct{ name, clause, with string }{
	model.OriginUnknown:   {"unknown", "made runnable in an unknown way", "in"},
	model.OriginCreated:   {"created", "created", "by"},
	model.OriginGoroutine: {"readied by a goroutine", "readied", "by"},
	model.OriginTimer:     {"timer", "readied by a timer", "in"},
	model.OriginNetpoll:   {"network poller", "readied by the network poller", "in"},
	model.OriginSyscall:   {"end of a syscall", "back from a system call without a proc", "in"},
	model.OriginPreempted: {"preempted", "preempted", "by"},
	model.OriginGosched:   {"runtime.Gosched", "called runtime.Gosched", "in"},
	model.OriginGoyield:   {"yielded a lock", "yielded to the goroutine it handed a lock to", "in"},
	model.OriginSTW:       {"stop-the-world", "preempted for a stop-the-world", "by"},
	model.OriginGC:        {"GC", "readied by the garbage collector", "in"},
	model.OriginInjected:  {"the runtime", "readied by the runtime", "in"},
	model.OriginCoroutine: {"coroutine switch", "switched to as a coroutine", "by"},
	model.OriginExternal:  {"external", "readied by a timer or the network poller", "in"},
}

// Parse returns the value below limit with the String name, or limit.
func Parse[T interface {
	~uint8
	String() string
}](name string, limit T) T {
	for v := range limit {
		if v.String() == name {
			return v
		}
	}
	return limit
}

// OriginName returns the name of an origin in tables, legends and pictures.
func OriginName(o model.Origin) string {
	if o < model.NumOrigins {
		return origins[o].name
	}
	return o.String()
}

// OriginClause returns a clause for what made a goroutine runnable. Waker names the goroutine
// that did it, or in which the runtime did; it is "" if there is none.
func OriginClause(o model.Origin, waker string) string {
	if o >= model.NumOrigins {
		o = model.OriginUnknown
	}
	x := &origins[o]
	return x.clause + textui.If(waker != "", " "+x.with+" "+waker)
}

// Label returns the use's name as reports and pictures for people have it.
func (u Use) Label() string {
	switch u {
	case UseUser:
		return "user code"
	case UseSyscall:
		return "in syscalls"
	}
	return u.String()
}
