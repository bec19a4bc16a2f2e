package requests

import (
	"cmp"
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
//  5. A place to read, or a start function, counts after leastMessages of these; then all who are there do. These
//     are kept, with their paths, and are reported then.
const leastMessages = 8

const (
	maxEarly      = 64      // messages of a place that may be requests
	maxEarlyParts = 1 << 14 // of the paths of all those
	earlyTime     = 1e8     // how long the first one of a place may take, the second one twice that, and so on
)

// early are messages of a place that does not count yet.
type early struct {
	known bool // it does
	tried int16
	list  []*Request // those that have ended
}

// try begins to follow a message of g that may be a request. It returns nil if there were enough at the place.
func (t *Tracker) try(g *goroutine, x *early, from mark) *pending {
	if !x.known {
		if x.tried == maxEarly {
			return nil
		}
		x.tried++
	}
	p := t.holdFrom(g, from)
	if !x.known {
		p.early = x
	}
	return p
}

// keep keeps what may be a request, with its path.
func (t *Tracker) keep(r *Request, list *[]*Request) {
	var parts []Part
	for p := range r.Parts() {
		parts = append(parts, *p)
	}
	if t.earlyParts+len(parts) > maxEarlyParts {
		return
	}
	t.earlyParts += len(parts)
	x := *r
	x.parts, x.legs = parts, nil
	*list = append(*list, &x)
}

// known reports those that were kept of a place that counts now. Unless most messages are handed to many, who wrote
// first of many may have answered another one.
func (t *Tracker) known(x *early) {
	many := result.CountOf(x.list, func(r **Request) bool { return (*r).many })
	for _, r := range x.list {
		if t.earlyParts -= len(r.parts); !r.many || 2*many > len(x.list) {
			t.Done(r)
		}
	}
	*x = early{known: true}
}

const mostParts = 4 // of an answer that are waited for, each

// reading is what a goroutine has done since it began to wait for a message.
type reading struct {
	at     model.StackID // where it waited
	wrote  model.StackID // where it has written since; 0: it has not
	starts *seenIn       // what it has started since; nil: nothing
	req    *pending      // the message; nil: it is not followed
	asked  int8          // it had written before, which this answers, and so do what it reads then, up to so many times
	reread bool          // it has read there since it wrote: if it writes again, there were several messages
}

// reads notes that a goroutine of which nothing is known, or which an acceptor started, waits or begins a
// system call.
func (t *Tracker) reads(g *goroutine) {
	x := g.reading
	switch {
	case g.state == model.GoSyscall:
		switch {
		case x == nil:
		case g.view.write:
			if x.wrote = g.stack; x.reread {
				t.forgets(x)
			}
		case x.wrote != 0 && g.view.read:
			x.reread = x.reread || t.finder.rereads(x.at, g.stack)
		}
		return
	case g.kind != Network || !g.view.read || g.ends != nil && g.dials():
		return
	case x == nil:
		g.reading = &reading{at: g.stack}
	case x.wrote == 0 && x.starts == nil: // the same message still, or handed on
		if g.stack == x.at {
			t.forgets(x)
		}
		x.asked = max(x.asked-1, 0)
		return
	case g.stack == x.at && x.wrote == 0:
		if x.starts.messages++; x.starts.messages == leastMessages {
			t.known(&x.starts.served)
		}
	case g.stack == x.at && t.finder.answers(x.at, x.wrote, g.view.name):
		g.view.messages++
		if x.req != nil {
			t.report("tcp", t.loop(g, x.wrote), g, x.req, t.here(g), true)
		}
	}
	t.forgets(x)
	var wrote model.StackID
	if x != nil {
		wrote = x.wrote
		if *x = (reading{at: g.stack}); wrote != 0 {
			x.asked = mostParts
		}
	}
	if g.view.messages < leastMessages || !t.mayServe(g) {
		return
	}
	s := server{role: roleStream, serves: "tcp", name: t.loop(g, wrote)}
	if g.server != nil {
		t.release(g)
		s.taken, s.regions = true, g.regions
	}
	g.server = &s
	t.known(&g.view.served)
}

// mayServe reports whether a goroutine may serve a connection, as far as others are known to do.
func (t *Tracker) mayServe(g *goroutine) bool {
	if g.server == nil {
		return len(t.serving) == 0 || t.serving[g.fn]
	}
	return g.role == roleConn && (g.reader == nil || g.reader.ended)
}

// forgets drops a message of which it is not known that it is a request.
func (t *Tracker) forgets(x *reading) {
	if x != nil && x.req != nil {
		t.drop(x.req)
		x.req = nil
	}
}

// loop returns the name of what g does with messages that it reads here: the handler, or its start function, or of
// main.main the function with the loop, if g has written at another place, else the one of the program that reads.
func (t *Tracker) loop(g *goroutine, wrote model.StackID) string {
	name := cmp.Or(g.view.name, t.tables.String(g.fn))
	if g.server != nil && g.name != "" {
		name = g.name
	}
	if name != "main.main" {
		return name
	}
	if wrote != 0 {
		if loop, _ := t.finder.inLoop(g.stack, wrote); loop != "" && loop != name {
			return loop
		}
	}
	for _, f := range t.tables.Stack(g.stack) {
		if result.Programs(&f) {
			return f.Func
		}
	}
	return name
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
	} else if t.finder.stack(x.at).relays {
		g.begun = t.try(g, &x.starts.served, t.here(g))
	}
}

// dials reports whether a goroutine has an end of a connection that it, or its creator, has dialled.
func (e *ends) dials() bool {
	return slices.ContainsFunc(e.of[:e.n], func(x *end) bool { return x.dialled })
}

// rereads reports whether a system call reads where a wait for the network was.
func (f *finder) rereads(wait, call model.StackID) bool {
	r, w := f.tables.Stack(wait), f.tables.Stack(call)
	read := func(x model.Frame) bool { return strings.HasPrefix(x.Func, "net.(*netFD).") }
	i, j := slices.IndexFunc(r, read), slices.IndexFunc(w, read)
	return i >= 0 && j >= 0 && slices.EqualFunc(r[i:], w[j:], func(a, b model.Frame) bool { return a.Func == b.Func && a.Line == b.Line })
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
