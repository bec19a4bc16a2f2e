package requests

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// Spec selects requests.
type Spec struct {
	// Kind is http (net/http, also over HTTP/2, and fasthttp), grpc, rpc (net/rpc), task, tcp (what is
	// asked for over other connections), message (goroutines that are started for what another one reads
	// from a connection), region, goroutine or func. Label restricts the others, or all if there are none.
	Kind string
	Name string         // of a task or region
	expr *regexp.Regexp // of a goroutine's start function, a function, or a label or name
}

// ParseSpec parses http, grpc, rpc, tcp, message, task:NAME, region:NAME, goroutine:REGEXP, func:REGEXP or
// label:REGEXP.
func ParseSpec(text string) (s Spec, err error) {
	kind, name, ok := strings.Cut(text, ":")
	s = Spec{Kind: kind, Name: name}
	switch kind {
	case "http", "grpc", "rpc", "tcp", "message":
		if ok {
			return s, fmt.Errorf("%q: %s takes no name", text, kind)
		}
		return s, nil
	case "task", "region", "goroutine", "func", "label":
		if name == "" {
			return s, fmt.Errorf("%q: want %s:NAME", text, kind)
		}
		if kind != "task" && kind != "region" {
			if strings.Contains(name, "(*") || strings.Contains(name, "[...]") { // as Go writes methods and what is generic
				name = regexp.QuoteMeta(name)
			}
			s.expr, err = regexp.Compile(name)
		}
		return s, err
	}
	return s, fmt.Errorf("unknown kind of request %q (want http, grpc, rpc, tcp, message, task:NAME, region:NAME, goroutine:REGEXP, func:REGEXP or label:REGEXP)", text)
}

// role is what a goroutine serves.
type role uint8

const (
	roleNone   role = iota
	roleConn        // a connection, one request after the other
	roleLife        // its life is a request
	roleFunc        // some of its functions are
	roleAccept      // it accepts connections
	roleStream      // a connection, of which nothing is known but what is read and written
	roleRelay       // a connection, of which others write the answers
)

// doing is where a goroutine of roleConn is.
type doing uint8

const (
	doingElse doing = iota
	doingIdle       // waits for the first byte of the next request
	doingRead       // reads the head of a request
	doingHandshake
	doingHandle // calls the handler
	doingFinish // writes the end of a response
)

// seenIn is what a stack shows. What is asked for at each event comes first.
type seenIn struct {
	role    role
	doing   doing
	write   bool          // to a connection
	pool    bool          // it takes a connection from a pool
	sql     bool          // of database/sql
	accept  bool          // it accepts a connection
	connect bool          // it connects
	fn      bool          // it is in a function that a spec names
	read    bool          // from a connection, of one that may serve it
	reads   bool          // it is of the creation of who reads in the background while a handler runs
	depth   uint8         // of the handler
	timed   bool          // it is in a handler that net/http calls in a goroutine of its own, with a time-out
	wait    Kind          // of sync
	parked  model.Wait    // of a wait that is older than the trace
	conn    bool          // accept, connect, write or read
	sends   bool          // to a channel
	relays  bool          // what is read here may be a message, or be handed on
	asks    bool          // who waits here has asked for something before
	after   model.StackID // what was looked at for that last

	messages int                  // that were read here, or given to such a goroutine; see [leastMessages]
	kept     int                  // of those read here since this counts, that woke nobody though who takes them waited
	handed   int                  // of those read here, that woke somebody
	answers  votes[model.StackID] // where these were answered
	queue    []*message           // that were read here, and woke nobody, as those who take them were busy

	served  early // of those read here, and answered by who reads
	relayed early // or by others

	kind    string
	name    string               // of the handler
	sources votes[model.StackID] // of what is read there: where others write
	placed  bool
	place   *Place // if placed
}

const maxThrough = 1 << 18 // stacks that are kept to be named again

// finder looks requests up by stacks, each of them once.
type finder struct {
	tables  *model.Tables
	stacks  []*seenIn
	waits   model.Waits
	kinds   map[string]bool // that are wanted
	user    bool            // tasks or regions are
	all     bool            // tasks are
	names   map[Spec]bool   // those that are, and regions
	lives   []*regexp.Regexp
	living  map[model.StringID]bool // whether one of those matches the name of a goroutine
	funcs   []*regexp.Regexp
	labels  []*regexp.Regexp        // of which a request must have one
	orders  map[pair]bool           // see inOrder
	calling map[string]string       // names of functions that were seen to call a handler, as middleware does
	callees map[model.Frame]*callee // of function literals, by the call
	through int                     // stacks that these have, in all
	again   []handling              // to be named again
}

// callee is what a function literal calls.
type callee struct {
	name    string     // "": several functions
	through []handling // where only one was known
}

// handling is a stack in which a handler is looked for.
type handling struct {
	*seenIn
	frames []model.Frame
}

func newFinder(t *model.Tables, specs []Spec) finder {
	f := finder{tables: t, waits: model.NewWaits(t), kinds: map[string]bool{}, living: map[model.StringID]bool{}, names: map[Spec]bool{}, orders: map[pair]bool{}, calling: map[string]string{}, callees: map[model.Frame]*callee{}}
	for _, s := range specs {
		switch s.Kind {
		case "label":
			f.labels = append(f.labels, s.expr)
			continue
		case "task", "region":
			f.names[s] = true
		case "goroutine":
			f.lives = append(f.lives, s.expr)
		case "func":
			f.funcs = append(f.funcs, s.expr)
		}
		f.kinds[s.Kind] = true
	}
	if f.all = len(f.kinds) == 0; f.all {
		for _, kind := range []string{"http", "grpc", "rpc", "tcp", "message", "task"} {
			f.kinds[kind] = true
		}
	}
	f.user = f.kinds["task"] || f.kinds["region"]
	return f
}

// life reports whether the life of a goroutine of this name is a request. What sync.WaitGroup.Go starts, and the like, has
// the name of what was handed to that, which few of its stacks show.
func (f *finder) life(name model.StringID) bool {
	return len(f.lives) > 0 && name != 0 && f.lifeOf(name) // apart, so that asking costs no call
}

func (f *finder) lifeOf(name model.StringID) bool {
	is, known := f.living[name]
	if !known {
		_, kind := f.start(f.tables.String(name))
		is = kind == "goroutine"
		f.living[name] = is
	}
	return is
}

// stack returns what a stack shows.
func (f *finder) stack(id model.StackID) *seenIn {
	if int(id) < len(f.stacks) && f.stacks[id] != nil {
		return f.stacks[id]
	}
	return f.first(id)
}

// first is the slow path of stack: the first sight of an ID.
func (f *finder) first(id model.StackID) *seenIn {
	s := f.look(f.tables.Stack(id))
	if int(id) >= len(f.stacks) {
		f.stacks = append(f.stacks, make([]*seenIn, f.tables.NumStacks()-len(f.stacks))...)
		if int(id) >= len(f.stacks) {
			return s
		}
	}
	f.stacks[id] = s
	for len(f.again) > 0 {
		x := f.again[0]
		f.again, x.name = f.again[1:], ""
		f.handler(x.seenIn, x.frames)
	}
	return s
}

// outwards returns a stack up to the start function.
func outwards(frames []model.Frame) []model.Frame {
	last := len(frames) - 1
	for ; last > 0 && (frames[last].Func == "runtime.goexit" || model.IsWrapper(frames[last].Func)); last-- { // CPU samples have that
	}
	return frames[:last+1]
}

// start returns the role of a goroutine by its start function, and the kind of its requests.
func (f *finder) start(fn string) (role, string) {
	switch {
	case (f.kinds["http"] || f.kinds["tcp"]) && fn == "net/http.(*conn).serve", f.kinds["http"] && strings.HasPrefix(fn, "github.com/valyala/fasthttp.(*workerPool).getCh.func"):
		return roleConn, "http"
	case f.kinds["http"] && (fn == "net/http.(*http2serverConn).runHandler" || strings.HasSuffix(fn, "http2.(*serverConn).runHandler")):
		return roleLife, "http"
	case f.kinds["grpc"] && strings.HasPrefix(fn, "google.golang.org/grpc.(*Server).serveStreams.func"):
		return roleLife, "grpc"
	case f.kinds["rpc"] && fn == "net/rpc.(*service).call":
		return roleLife, "rpc"
	case fn != "" && slices.ContainsFunc(f.lives, func(x *regexp.Regexp) bool { return x.MatchString(fn) }):
		return roleLife, "goroutine"
	}
	return roleNone, ""
}

// look finds out what a stack shows.
func (f *finder) look(frames []model.Frame) *seenIn {
	s := &seenIn{}
	if len(frames) == 0 {
		return s
	}
	s.reads = startsRead(frames)
	s.sends = frames[0].Func == "runtime.chansend1"
	s.wait, s.parked = waitKinds[model.WaitOf(model.SyncReason(frames))], model.WaitOf(model.ParkReason(frames))
	last := len(outwards(frames)) - 1
	for i := range frames {
		switch fn := frames[i].Func; {
		case strings.HasPrefix(fn, "net.(*netFD).Write"), fn == "net.(*netFD).writev", strings.HasPrefix(fn, "net.sendFile"),
			strings.HasPrefix(fn, "net.splice"):
			s.write = true
		case strings.HasPrefix(fn, "net.(*netFD).Read"), strings.HasPrefix(fn, "net.(*netFD).read"), fn == "os.(*File).Read":
			s.read = f.kinds["tcp"] || f.kinds["message"]
		case fn == "net.(*TCPListener).Accept", fn == "net.(*UnixListener).Accept":
			if s.accept = frames[0].Func != "syscall.setsockopt"; f.kinds["tcp"] {
				s.role = roleAccept
			}
		case fn == "net.(*netFD).connect":
			s.connect = frames[0].Func == "syscall.connect"
		case fn == "net/http.(*Transport).getConn", fn == "database/sql.(*DB).conn":
			s.pool, s.sql = true, fn == "database/sql.(*DB).conn"
		case slices.ContainsFunc(f.funcs, func(x *regexp.Regexp) bool { return x.MatchString(fn) }):
			s.fn = true
			if r, _ := f.start(frames[last].Func); r == roleNone {
				s.name = fn
			}
		}
	}
	s.relays = s.read && slices.ContainsFunc(frames, func(x model.Frame) bool { return relays(x.Func) })
	s.conn = s.write || s.accept || s.connect || s.read
	if r, kind := f.start(frames[last].Func); r != roleNone {
		s.role, s.kind = r, kind
	}
	switch {
	case s.role == roleAccept:
	case s.role != roleNone:
		f.handler(s, frames[:last+1])
	case s.fn:
		s.role, s.kind = roleFunc, "func"
	case frames[last].Func == "net/http.(*timeoutHandler).ServeHTTP.func1":
		f.handler(s, frames[:last+1])
		s.timed = s.name != ""
	}
	return s
}

// fastServe begins the names of the loop over the requests of a connection of fasthttp.
const fastServe = "github.com/valyala/fasthttp.(*Server).serveConn"

// frameworks are the routers that have handlers of a type of their own: how the names of their functions begin,
// and how the names of those end that call handlers and middleware. Nothing of theirs is a handler.
var frameworks = []struct {
	prefix string
	calls  []string
}{
	{"github.com/gin-gonic/", []string{".(*Context).Next"}},
	{"github.com/labstack/", []string{".(*Echo).add.func1", ".(*Echo).buildRouterChains.func1"}}, // v4, v5
	{"github.com/gofiber/", []string{".(*App).next", ".(*Ctx).Next", ".(*DefaultCtx).Next"}},
	{"github.com/kataras/iris/", []string{"/context.(*Context).Do", "/context.(*Context).Next"}},
	{"github.com/julienschmidt/httprouter.", []string{".(*Router).ServeHTTP"}},
	{"github.com/fasthttp/router.", []string{".(*Router).Handler", ".(*Router).saveMatchedRoutePath.func1"}},
	{"github.com/emicklei/go-restful/", []string{".(*Container).dispatch", ".(*FilterChain).ProcessFilter"}},
	{"github.com/grpc-ecosystem/grpc-gateway/", []string{"/runtime.(*ServeMux).handleHandler"}},
	{"github.com/go-chi/chi/", nil},
	{"github.com/gorilla/mux.", nil},
	{"connectrpc.com/connect.", []string{"Handler[...].func1"}},
}

// framework returns the prefix of the names of a framework's functions if fn is one of them, or "", and whether that
// calls handlers.
func framework(fn string) (prefix string, calls bool) {
	for _, f := range frameworks {
		if strings.HasPrefix(fn, f.prefix) {
			return f.prefix, slices.ContainsFunc(f.calls, func(end string) bool { return strings.HasSuffix(fn, end) })
		}
	}
	return "", false
}

// handler finds out what a goroutine that serves is doing, and the handler that it calls: the
// innermost function that a HandlerFunc or a framework calls, or method ServeHTTP; of gRPC what was generated; of
// net/rpc the method.
func (f *finder) handler(s *seenIn, frames []model.Frame) {
	last, named := len(frames)-1, 0
	serve := last // the frame of the loop over requests
	if s.role == roleConn {
		for serve > 0 && frames[serve].Func != "net/http.(*conn).serve" && !strings.HasPrefix(frames[serve].Func, fastServe) {
			serve--
		}
		for serve > 0 && strings.HasPrefix(frames[serve-1].Func, fastServe) { // the innermost of serveConn and serveConnCounted
			serve--
		}
	}
	for i := serve - 1; i >= 0; i-- {
		fn, caller := frames[i].Func, frames[i+1].Func
		ours := strings.HasPrefix(fn, "net/http.")
		theirs, _ := framework(fn)
		_, calls := framework(caller)
		switch {
		case i > 0 && frames[i-1].Func == "runtime.asyncPreempt": // without a frame of its own it hides its caller
		case strings.HasPrefix(fn, "runtime."): // what it calls has no frame yet, or is inline
		case theirs != "":
		case caller == "net/http.HandlerFunc.ServeHTTP" && !ours, calls && !ours,
			strings.HasSuffix(fn, ".ServeHTTP") && !ours, records(fn),
			s.kind == "grpc" && strings.HasSuffix(fn, "_Handler"),
			s.kind == "rpc" && s.name == "" && strings.HasPrefix(caller, "reflect.") && !strings.HasPrefix(fn, "reflect."),
			s.kind == "http" && s.role == roleConn && i == serve-1 && strings.HasPrefix(caller, fastServe) && !strings.HasPrefix(fn, "github.com/valyala/fasthttp.") && !strings.HasPrefix(fn, "bufio."):
			if s.name != "" && s.name != fn && !records(fn) { // which any handler may call
				f.calling[s.name] = s.name + " (middleware)"
			}
			s.name, s.depth = fn, uint8(min(last-i, 255))
			named = i
		}
	}
	if s.kind != "grpc" && s.kind != "rpc" {
		f.called(s, frames, named)
	}
	if s.role != roleConn || serve == 0 {
		return
	}
	switch fn := frames[serve-1].Func; fn {
	case "bufio.(*Reader).Peek":
		s.doing = doingIdle
	case "net/http.(*conn).readRequest", "github.com/valyala/fasthttp.acquireByteReader",
		"github.com/valyala/fasthttp.(*RequestHeader).readLoop", "github.com/valyala/fasthttp.(*RequestHeader).Read":
		s.doing = doingRead
	case "crypto/tls.(*Conn).HandshakeContext":
		s.doing = doingHandshake
	case "net/http.(*response).finishRequest", "bufio.(*Writer).Flush", "github.com/valyala/fasthttp.writeResponse":
		s.doing = doingFinish
	case "net/http.serverHandler.ServeHTTP":
		s.doing = doingHandle
	default:
		if s.name != "" {
			s.doing = doingHandle
		}
	}
}

// records reports whether a function records a profile or a trace of the program itself.
func records(fn string) bool {
	return strings.HasPrefix(fn, "net/http/pprof.") || fn == "runtime/trace.Start"
}

// called takes the name of what a function literal at an index calls, if that was seen to call several functions by one
// call, or if what it calls is such a literal, and so on: middleware that is handed the next handler.
func (f *finder) called(s *seenIn, frames []model.Frame, i int) {
	for first := i; i > 1 && strings.Contains(frames[i].Func, ".func"); i-- {
		fn := frames[i-1].Func
		if theirs, _ := framework(fn); theirs != "" || !result.OfProgram(fn) || frames[i-2].Func == "runtime.asyncPreempt" { // see handler
			return
		}
		x := f.callees[frames[i]]
		if x == nil {
			if len(f.callees) == maxPairs {
				continue
			}
			x = &callee{name: fn}
			f.callees[frames[i]] = x
		}
		if x.name != "" && x.name != fn {
			f.again = append(f.again, x.through...)
			x.name, x.through = "", nil
		}
		switch {
		case x.name == "":
			for _, x := range frames[i : first+1] {
				f.calling[x.Func] = x.Func + " (middleware)"
			}
			s.name, s.depth = fn, uint8(min(len(frames)-i, 255))
		case f.through < maxThrough:
			f.through++
			x.through = append(x.through, handling{s, frames})
		}
	}
}

// startsRead reports whether a goroutine with this stack at its creation reads in the
// background while a handler runs.
func startsRead(frames []model.Frame) bool {
	return strings.HasPrefix(frames[0].Func, "net/http.(*connReader).") &&
		(strings.Contains(frames[0].Func, "backgroundRead") || strings.Contains(frames[0].Func, "startBackgroundRead"))
}
