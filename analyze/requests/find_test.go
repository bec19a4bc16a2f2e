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

// TestOlderWaits checks that the stack of a state shows a wait for package sync, and nothing else does.
func TestOlderWaits(t *testing.T) {
	for _, tt := range []struct {
		stack string
		sync  bool
		wait  Kind
	}{
		{"runtime.gopark runtime.goparkunlock runtime.semacquire1 internal/sync.runtime_SemacquireMutex internal/sync.(*Mutex).lockSlow internal/sync.(*Mutex).Lock sync.(*Mutex).Lock main.move", true, Lock},
		{"runtime.gopark runtime.goparkunlock runtime.semacquire1 sync.runtime_SemacquireWaitGroup sync.(*WaitGroup).Wait main.all", true, WaitGroup},
		{"runtime.gopark runtime.selectgo main.watch", false, 0},
		{"sync.(*Mutex).Lock main.move", false, Lock}, // of an event, which has its reason
	} {
		var frames []model.Frame
		for fn := range strings.FieldsSeq(tt.stack) {
			frames = append(frames, model.Frame{Func: fn})
		}
		f := newFinder(model.NewTables(), nil)
		if s := f.look(frames); s.sync != tt.sync || tt.wait != 0 && s.wait != tt.wait {
			t.Errorf("%s: %t, %v", tt.stack, s.sync, s.wait)
		}
	}
}
