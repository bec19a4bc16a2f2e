package model_test

import (
	"strings"
	"testing"

	"github.com/schedscope/schedscope/model"
)

// framesOf makes a stack of functions, outermost first. A function may have a number for where
// in it the next one is called: main.run@2.
func framesOf(funcs string) []model.Frame {
	var list []model.Frame
	for _, f := range strings.Fields(funcs) {
		name, at, _ := strings.Cut(f, "@")
		list = append([]model.Frame{{Func: name, PC: uint64(len(at)) * uint64(len(name))}}, list...)
	}
	return list
}

func TestRoleOf(t *testing.T) {
	const preempted = " runtime.asyncPreempt runtime.asyncPreempt2"
	for _, c := range []struct {
		stack, called string
		waits, vague  bool
	}{
		{"main.main", "", false, false},
		{"sync.(*WaitGroup).Go.func1 main.work.func1 time.Sleep", "main.work.func1", false, false},
		{"sync.(*WaitGroup).Go.func1 net/http.(*Server).Serve", "net/http.(*Server).Serve", false, false},
		{"sync.(*WaitGroup).Go.func1 sync.(*WaitGroup).Done sync.(*WaitGroup).Add", "", false, false},
		{"sync.(*WaitGroup).Go.func1 main.work.func1" + preempted, "main.work.func1", false, true},
		{"sync.(*WaitGroup).Go.func1 main.work.func1 main.a main.b" + preempted, "main.work.func1", false, false},
		{"golang.org/x/sync/errgroup.(*Group).Go.func1 main.run.func2 os.Open", "main.run.func2", false, false},
		{"golang.org/x/sync/errgroup.(*Group).Go.func1 golang.org/x/sync/errgroup.(*Group).done runtime.chanrecv1", "", false, false},
		{"net/http.(*http2serverConn).runHandler net/http.serverHandler.ServeHTTP net/http.(*ServeMux).ServeHTTP net/http.HandlerFunc.ServeHTTP main.report os.Open", "main.report", false, false},
		{"net/http.(*http2serverConn).runHandler net/http.serverHandler.ServeHTTP net/http.HandlerFunc.ServeHTTP main.logged.func1 net/http.HandlerFunc.ServeHTTP main.report time.Sleep", "main.report", false, false},
		{"net/http.(*http2serverConn).runHandler net/http.serverHandler.ServeHTTP net/http.(*ServeMux).ServeHTTP net/http.(*ServeMux).findHandler runtime.mallocgc", "", false, false},
		{"net/http.(*conn).serve bufio.(*Reader).Peek", "", false, false},
		{"google.golang.org/grpc.(*Server).serveStreams.func2.1 google.golang.org/grpc.(*Server).handleStream google.golang.org/grpc.(*Server).processUnaryRPC " +
			"hello/pb._Greeter_SayHello_Handler main.(*server).SayHello time.Sleep", "main.(*server).SayHello", false, false},
		{"main.worker runtime.chanrecv2 runtime.chanrecv", "", true, false},
		{"main.worker main.job time.Sleep", "main.job", false, false},
		{"main.accept net.(*TCPListener).Accept", "", false, false},
		{"runtime.main main.main", "", false, false},
	} {
		r := model.RoleOf(framesOf(c.stack))
		if r.Start != strings.Fields(c.stack)[0] || r.Called != c.called || r.Waits != c.waits || r.Vague != c.vague {
			t.Errorf("%s: got %+v, want Called %q, Waits %v, Vague %v", c.stack, r, c.called, c.waits, c.vague)
		}
	}
	for _, stack := range []string{"", "runtime.goexit1", "runtime.asyncPreempt runtime.asyncPreempt2"} { // without the start function
		if r := model.RoleOf(framesOf(stack)); r != (model.Role{}) {
			t.Errorf("%q: got %+v", stack, r)
		}
	}
}

// TestNameOfSpinner names a goroutine that was seen at preemptions only, whose stacks hide their callers: by a CPU sample.
func TestNameOfSpinner(t *testing.T) {
	ts := model.NewTables()
	preempted, sample := ts.AddStack(framesOf("runtime.asyncPreempt runtime.asyncPreempt2")), ts.AddStack(framesOf("runtime.goexit main.spin main.spun"))
	m := model.NewMachine(ts, model.Config{Version: 26})
	for _, ev := range []model.Event{
		{Time: 10, Kind: model.EventGoTransition, ID: 7, From: uint8(model.GoUndetermined), To: uint8(model.GoRunning), G: 7, M: 1, P: 0},
		{Time: 20, Kind: model.EventGoTransition, ID: 7, From: uint8(model.GoRunning), To: uint8(model.GoRunnable), G: 7, M: 1, P: 0, Stack: preempted, SubjectStack: preempted},
		{Time: 30, Kind: model.EventGoTransition, ID: 7, From: uint8(model.GoRunnable), To: uint8(model.GoRunning), G: model.NoGoroutine, M: 1, P: 0},
	} {
		if err := m.Apply(&ev); err != nil {
			t.Fatal(err)
		}
	}
	g := m.Goroutine(7)
	if g.Func != 0 || g.System {
		t.Errorf("by preemptions: %q, of the runtime: %v", ts.String(g.Func), g.System)
	}
	if err := m.Apply(&model.Event{Time: 40, Kind: model.EventStackSample, G: 7, M: 1, P: 0, Stack: sample}); err != nil {
		t.Fatal(err)
	}
	if name := ts.String(g.Func); name != "main.spin" || g.System {
		t.Errorf("by a sample: %q, of the runtime: %v", name, g.System)
	}
}

// shown is a goroutine: its stacks, where it was created (0: before the trace), and the name
// that it must get; "-" is that of its start function.
type shown struct {
	site   uint64
	stacks []string
	want   string
}

// TestNames: what goroutines show of themselves and of each other names them.
func TestNames(t *testing.T) {
	const (
		wg     = "sync.(*WaitGroup).Go.func1"
		stream = "net/http.(*http2serverConn).runHandler net/http.HandlerFunc.ServeHTTP"
		raft   = "example.org/raft.(*Raft).goFunc.func1"
	)
	for name, generations := range map[string][][]shown{
		"start function": {{{0, []string{"main.worker main.job"}, "main.worker"}, {1, []string{"main.worker"}, "-"}, {0, nil, "-"}}},
		"what WaitGroup.Go was handed": {{
			{1, []string{wg, wg + " main.a"}, "main.a"},
			{0, []string{wg + " main.b"}, "main.b"},
			{1, []string{wg}, "main.a"}, // created where main.a was
			{2, []string{wg}, "-"},
		}, {
			{1, []string{wg}, "main.a"}, // known since the first generation
		}},
		"one statement, several functions, one goroutine without any": {{
			{1, []string{wg, wg + " main.a"}, "-"},
			{1, []string{wg, wg + " main.b"}, "-"},
			{1, []string{wg}, "-"},
		}},
		"one statement, several functions, all known": {{
			{1, []string{wg, wg + " main.a"}, "main.a"},
			{1, []string{wg, wg + " main.b"}, "main.b"},
		}},
		"a frame is missing": {{
			{0, []string{wg, wg + " main.leaf runtime.asyncPreempt runtime.asyncPreempt2", wg + " main.a main.leaf"}, "main.a"},
			{1, []string{wg, "main.a runtime.asyncPreempt runtime.asyncPreempt2"}, "main.a"},
		}},
		"spawner": {{
			{0, []string{raft + "@1 example.org/raft.(*Raft).run"}, "example.org/raft.(*Raft).run"},
			{0, []string{raft + "@1 example.org/raft.(*Raft).runFSM"}, "example.org/raft.(*Raft).runFSM"},
		}},
		"calls of different functions at different places": {{
			{0, []string{"main.handle@1 main.parse"}, "main.handle"},
			{0, []string{"main.handle@12 main.compute"}, "main.handle"},
		}},
		"worker that waits": {{
			{0, []string{"main.worker@1 main.jobA"}, "main.worker"},
			{0, []string{"main.worker@1 main.jobB", "main.worker@12 runtime.chanrecv2"}, "main.worker"},
		}},
		"worker that never waits": {{
			{0, []string{"main.worker@1 main.jobA", "main.worker@1 main.jobB"}, "main.worker"},
			{0, []string{"main.worker@1 main.jobA"}, "main.worker"},
		}},
		"server, all handlers known": {{
			{1, []string{stream, stream + " main.report"}, "main.report"},
			{1, []string{stream, stream + " main.other"}, "main.other"},
		}},
		"server, a request without a handler": {{
			{1, []string{stream, stream + " main.report"}, "-"},
			{1, []string{stream}, "-"},
		}},
		"connection": {{{0, []string{"net/http.(*conn).serve net/http.serverHandler.ServeHTTP net/http.HandlerFunc.ServeHTTP main.report"}, "net/http.(*conn).serve"}}},
		"wrapper": {{
			{1, []string{"main.run.gowrap1", "main.run.func2 time.Sleep"}, "main.run.func2"},
			{1, []string{"main.run.gowrap1", "runtime.goexit1"}, "main.run.func2"},
			{2, []string{"main.run.gowrap2"}, "-"},
		}},
		"two goroutines with one number": {{{0, []string{"main.a", "main.b"}, "-"}}},
		"stack too deep":                 {{{1, []string{wg, wg + " main.a", "main.deep main.deep"}, "main.a"}}},
	} {
		t.Run(name, func(t *testing.T) {
			tables, namer := model.NewTables(), model.Namer{}
			for _, generation := range generations {
				r := &model.Roster{Roles: make([]model.Role, 1)}
				for i, g := range generation {
					m := model.Member{G: model.GoID(i), Creation: g.site}
					for j, s := range g.stacks {
						r.Roles = append(r.Roles, model.RoleOf(framesOf(s)))
						id := int32(len(r.Roles) - 1)
						if g.site != 0 && j == 0 {
							m.Created = id
						} else if r.Roles[id] != (model.Role{}) {
							m.Add(id)
						}
					}
					r.Enter(m)
				}
				names := namer.Names(r, tables)
				for i, g := range generation {
					if got := tables.String(names[model.GoID(i)]); got != strings.TrimPrefix(g.want, "-") {
						t.Errorf("%+v: got %q", g, got)
					}
				}
			}
		})
	}
}

func TestLiteralOf(t *testing.T) {
	for _, c := range []struct {
		fn, of string
		want   bool
	}{
		{"main.(*group).Go.func1", "main.(*group).Go", true},
		{"main.(*group).Go.func1.2", "main.(*group).Go", true},
		{"main.main.func1.(*group).Go.2.1", "main.(*group).Go", true}, // inlined in main.main.func1
		{"example.com/a.Serve.limit.func3", "example.com/b.limit", true},
		{"main.(*group).Go", "main.(*group).Go", false},
		{"main.(*group).Gone.func1", "main.(*group).Go", false},
		{"main.(*server).run.func1", "main.run", false},
		{"other.run.func1", "main.run", false},
	} {
		if got := model.LiteralOf(c.fn, c.of); got != c.want {
			t.Errorf("LiteralOf(%q, %q) = %v", c.fn, c.of, got)
		}
	}
}
