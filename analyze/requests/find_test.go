package requests

import (
	"strings"
	"testing"

	"github.com/schedscope/schedscope/model"
)

// TestRPC checks that a call of net/rpc is a request, with the name of the method once it is seen.
func TestRPC(t *testing.T) {
	f := newFinder(&model.Tables{}, nil)
	for _, x := range []struct{ leaf, name string }{{"main.(*Store).Get", "main.(*Store).Get"}, {"net/rpc.(*Server).sendResponse", ""}} {
		frames := []model.Frame{{Func: "sync.(*Mutex).Lock"}, {Func: x.leaf}}
		if x.name != "" {
			frames = append(frames, model.Frame{Func: "reflect.Value.call"}, model.Frame{Func: "reflect.Value.Call"})
		}
		s := f.look(append(frames, model.Frame{Func: "net/rpc.(*service).call"}))
		if s.role != roleLife || s.kind != "rpc" || s.name != x.name {
			t.Errorf("role %d, kind %q, name %q, want %q", s.role, s.kind, s.name, x.name)
		}
	}
}

// TestParseSpec checks that names as Go writes them stand for themselves.
func TestParseSpec(t *testing.T) {
	for _, name := range []string{"main.run.func1", "main.(*T).run", "main.run[...]", "main.(*T[...]).run.func1"} {
		s, err := ParseSpec("goroutine:" + name)
		if err != nil || !s.expr.MatchString("example.com/a/"+name) || s.expr.MatchString("main.(*T).other") {
			t.Errorf("%s: %v, %v", name, s.expr, err)
		}
	}
}

// TestOlderWaits checks that the stack of a state shows what a wait is for, and nothing else does.
func TestOlderWaits(t *testing.T) {
	for stack, want := range map[string]model.Wait{
		"runtime.gopark runtime.goparkunlock runtime.semacquire1 internal/sync.runtime_SemacquireMutex internal/sync.(*Mutex).lockSlow internal/sync.(*Mutex).Lock sync.(*Mutex).Lock main.move": model.WaitLock,
		"runtime.gopark runtime.goparkunlock runtime.semacquire1 sync.runtime_SemacquireWaitGroup sync.(*WaitGroup).Wait main.all":                                                               model.WaitGroup,
		"runtime.gopark runtime.goparkunlock sync.runtime_notifyListWait sync.(*Cond).Wait main.take":                                                                                            model.WaitCond,
		"runtime.gopark runtime.selectgo main.watch":                                                  model.WaitSelect,
		"runtime.gopark runtime.chanrecv runtime.chanrecv1 main.next":                                 model.WaitReceive,
		"runtime.gopark runtime.netpollblock internal/poll.runtime_pollWait net.(*netFD).Read main.x": model.WaitNetwork,
		"runtime.gopark time.Sleep main.pace":                                                         model.WaitSleep,
		"runtime.gopark runtime.bgsweep":                                                              model.WaitOther,
		"sync.(*Mutex).Lock main.move":                                                                model.WaitOther, // of an event, which has its reason
	} {
		var frames []model.Frame
		for fn := range strings.FieldsSeq(stack) {
			frames = append(frames, model.Frame{Func: fn})
		}
		f := newFinder(model.NewTables(), nil)
		if s := f.look(frames); s.parked != want {
			t.Errorf("%s: %v", stack, s.parked)
		}
	}
}
