package requests

import (
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
