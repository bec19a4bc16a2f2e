package requests

import (
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// Messages of connections that nobody was seen to accept, as they are older than the trace or belong to
// a protocol without connections, are requests of kind tcp or message:
//
//  1. A goroutine waits for the network where it reads, and then waits at the same place again: it has
//     read a message. Waits at other places in between are for the rest of the message.
//  2. If it has written to a connection in between, it may be a server that has answered, or a client
//     that has asked. A client calls what writes and what reads at one line, in a package that is not
//     its own, or it writes and then reads; a server's loop reads and then writes. So it serves if the two
//     stacks part in a function of its start function's package, and what reads is called further up there.
//  3. If it has not written, and has started a goroutine, that one has the message: its life is the request.
//     Who has connected is a client. Where an acceptor has started goroutines, only those with the same
//     start function serve.
//  4. A handler of net/http that reads and writes itself, again and again within one request, has taken over
//     the connection, as for WebSockets, unless net/http still reads from it in the background: then it uses
//     another one. Until it returns each message is a request instead.
//  5. A place to read, or a start function, counts after leastMessages of these; then all who are there do.
const leastMessages = 8

const mostParts = 4 // of an answer that are waited for, each

// reading is what a goroutine has done since it began to wait for a message.
type reading struct {
	at     model.StackID // where it waited
	wrote  model.StackID // where it has written since; 0: it has not
	starts *seenIn       // what it has started since; nil: nothing
	asked  int8          // it had written before, which this answers, and so do what it reads then, up to so many times
}

// reads notes that a goroutine of which nothing is known, or which an acceptor started, waits or begins a
// system call.
func (t *Tracker) reads(g *goroutine) {
	x := g.reading
	switch {
	case g.state == model.GoSyscall:
		if x != nil && g.view.write {
			x.wrote = g.stack
		}
		return
	case g.kind != Network || !g.view.read || g.ends != nil && g.dials():
		return
	case x == nil:
		g.reading = &reading{at: g.stack}
	case x.wrote == 0 && x.starts == nil: // the same message still, or handed on
		if r := g.relay; r != nil && r.carries != nil && r.carries.reader == g && r.carries.handed {
			x.at = g.stack
		}
		x.asked = max(x.asked-1, 0)
		return
	case g.stack == x.at && x.wrote == 0:
		x.starts.messages++
	case g.stack == x.at && t.finder.answers(x.at, x.wrote, g.view.name):
		g.view.messages++
	}
	if x != nil {
		wrote := x.wrote != 0
		if *x = (reading{at: g.stack}); wrote {
			x.asked = mostParts
		}
	}
	switch {
	case g.view.messages < leastMessages:
	case g.server == nil && (len(t.serving) == 0 || t.serving[g.fn]):
		g.server = &server{role: roleStream, serves: "tcp", name: t.tables.String(g.fn)}
	case g.server != nil && g.role == roleConn && (g.reader == nil || g.reader.ended):
		t.release(g)
		*g.server = server{role: roleStream, serves: "tcp", name: g.view.name, taken: true, regions: g.regions}
	}
}

// started takes the creation of g by a goroutine that reads messages: it may be for the last one.
func (t *Tracker) started(g, by *goroutine) {
	x := by.reading
	if x == nil || x.wrote != 0 || g.view.role != roleNone || g.server != nil {
		return
	}
	x.starts = g.view
	if x.starts.messages >= leastMessages {
		g.server = &server{role: roleLife, serves: "message"}
		g.req = t.hold(g)
	}
}

// dials reports whether a goroutine has an end of a connection that it, or its creator, has dialled.
func (e *ends) dials() bool {
	return slices.ContainsFunc(e.of[:e.n], func(x *end) bool { return x.dialled })
}

// answers reports whether who reads and writes at two places has one loop of its own that does, in that order, in
// the handler itself, if it is called: a handler's own client of a backend is in functions that it calls.
func (f *finder) answers(read, write model.StackID, handler string) bool {
	loop, start := f.inLoop(read, write)
	return loop != "" && (loop == handler || handler == "" && model.PackageOf(loop) == model.PackageOf(start))
}

// inLoop returns the function in which two stacks part, if the first place comes before the second one there, and the
// start function; "" if it does not.
func (f *finder) inLoop(read, write model.StackID) (loop, start string) {
	r, w := f.tables.Stack(read), f.tables.Stack(write)
	i, j := len(r)-1, len(w)-1
	for i > 0 && j > 0 && model.IsWrapper(r[i].Func) {
		i, j = i-1, j-1
	}
	start = r[i].Func
	for i > 0 && j > 0 && r[i] == w[j] {
		i, j = i-1, j-1
	}
	if r[i].Func != w[j].Func || r[i].Line >= w[j].Line {
		return "", ""
	}
	return r[i].Func, start
}

// inOrder reports whether a place in a loop comes before another one there, see rule 2 of relays.
func (f *finder) inOrder(first, second model.StackID) bool {
	x := pair{first, second}
	ok, known := f.orders[x]
	if known || first == 0 || second == 0 {
		return ok
	}
	loop, start := f.inLoop(first, second)
	for _, frame := range slices.Backward(f.tables.Stack(first)) {
		if result.OfProgram(frame.Func) { // unlike net/http's, or that of a WaitGroup
			start = frame.Func
			break
		}
	}
	if s := f.stack(first); s.name != "" {
		start = s.name
	}
	ok = relays(loop) && model.PackageOf(loop) == model.PackageOf(start)
	if len(f.orders) < maxPairs {
		f.orders[x] = ok
	}
	return ok
}

// relays reports whether a function may hand messages on: those of net/http and gRPC do for what has another kind.
func relays(fn string) bool {
	return result.OfProgram(fn) && !strings.HasPrefix(fn, "google.golang.org/grpc") && !strings.HasPrefix(fn, "golang.org/x/net/http2.")
}
