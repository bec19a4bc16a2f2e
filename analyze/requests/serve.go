package requests

import (
	"cmp"
	"iter"
	"slices"

	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// A request of a connection, of net/http (HTTP/1) or fasthttp, is found by what stands above
// the connection's loop in the stacks of its goroutine (Go 1.22 to 1.26, fasthttp 1.72):
//
//  1. It begins when the wait for its first byte ends: the time in the run queue until the
//     goroutine reads it counts. If there was no wait, it begins where the read does; if there
//     was no read either, since the byte came with the end of the TLS handshake, there.
//  2. That there is a request is known when the handler is seen, or the creation of the
//     goroutine that reads in the background meanwhile (net/http: startBackgroundRead), or a
//     write.
//  3. It ends with the last write of (*response).finishRequest, known when the next request is
//     waited for or begins; without one, when the next is waited for.
//
// A goroutine that one that accepts connections starts, and that serves nothing else, is asked by what
// it reads: a request begins when a wait for the network ends, and ends when it waits at the same place
// again, after it has written since. If it reads there and does not wait, the next one has come: that begins there.
//
// A stream of HTTP/2 or gRPC has a goroutine, whose life is the request.

// server is what a goroutine serves.
type server struct {
	role    role
	serves  string // kind of its requests
	name    string
	depth   uint8    // of the stack's frame that gave the name
	req     *pending // nil: none
	woken   bool     // it waited for the first byte
	handled bool
	taken   bool          // a handler of net/http has taken over the connection
	reader  *goroutine    // that read in the background last while a handler ran; nil: none was seen
	settled bool          // what came before its present request is known
	wrote   bool          // the end of a response
	until   mark          // where the latest end may be
	asks    model.StackID // of a stream: where it waits for the next request
	again   mark          // where it has begun to read there after an answer; zero: it has not, or waits
	regions []*pending
}

// pending is a request that has not ended.
type pending struct {
	mark
	cut    bool // it began before
	name   string
	done   bool
	g      *goroutine // whom it is with; nil: nobody, but what happens since is kept
	path   Times      // up to summed
	summed model.Time
	labels labels
	early  *early // where it is kept once it has ended, until it is known to be a request; nil: it is known
	unused bool   // nothing but the list of open ones refers to it any more
}

// mark is a point in a goroutine's time, with the times of its states there.
type mark struct {
	at  model.Time
	own Times
}

// here marks the present.
func (t *Tracker) here(g *goroutine) mark { return mark{g.since, g.own} }

// hold begins a request here.
func (t *Tracker) hold(g *goroutine) *pending { return t.holdFrom(g, t.here(g)) }

func (t *Tracker) holdFrom(g *goroutine, m mark) *pending {
	var p *pending
	if n := len(t.unused); n > 0 {
		p, t.unused = t.unused[n-1], t.unused[:n-1]
	} else {
		p = new(pending)
	}
	*p = pending{mark: m, g: g, summed: m.at}
	if len(t.open) == cap(t.open) {
		t.open = slices.DeleteFunc(t.open, func(p *pending) bool {
			t.reuse(p)
			return p.done
		})
		t.open = slices.Grow(t.open, len(t.open)+1) // lest it be looked through for each of many
	}
	t.open, t.stale = append(t.open, p), true
	for i := len(t.open) - 1; i > 0 && t.open[i-1].at > p.at; i-- {
		t.open[i-1], t.open[i] = p, t.open[i-1]
	}
	return p
}

// reuse takes a request that leaves the list of open ones.
func (t *Tracker) reuse(p *pending) {
	if p.done && p.unused && len(t.unused) < mostUnused {
		t.unused = append(t.unused, p)
	}
}

// sum adds the path up to a time to what was summed up before.
func (t *Tracker) sum(p *pending, to model.Time) {
	t.path(&p.path, p.g, p.summed, to, false)
	p.summed = max(p.summed, to)
	p.g.fixed = max(p.g.fixed, to)
}

// release forgets a request.
func (t *Tracker) release(g *goroutine) {
	if p := g.req; p != nil {
		t.drop(p)
		p.unused, g.req = true, nil
	}
}

// drop marks a request as over.
func (t *Tracker) drop(p *pending) { p.done, t.stale = true, true }

// stands sets the stack of a goroutine.
func (t *Tracker) stands(g *goroutine, stack model.StackID) {
	if stack != g.stack {
		g.stack, g.view = stack, t.finder.stack(stack)
	}
}

// saw looks at the stack of a goroutine.
func (t *Tracker) saw(g *goroutine) {
	if g.view.role != roleNone || g.server != nil || t.finder.life(g.fn) {
		t.shows(g, g.view)
	}
}

func (t *Tracker) shows(g *goroutine, s *seenIn) {
	if g.server != nil && g.taken && s.role == roleConn && s.doing != doingHandle { // the handler has returned
		t.release(g)
		if g.relay != nil {
			t.leaves(g)
		}
		*g.server = server{settled: true, regions: g.regions}
	}
	if g.server == nil || g.role == roleNone || g.role == roleStream && !g.taken && s.role != roleNone && s.role != roleAccept {
		role, kind := s.role, s.kind
		if role == roleNone && t.finder.life(g.fn) {
			role, kind = roleLife, "goroutine"
		}
		if role == roleNone || role == roleAccept && g.server != nil {
			return
		}
		made(&g.server)
		g.role, g.serves = role, kind
		switch {
		case g.role == roleLife:
			m := mark{at: g.created}
			if !g.seen {
				m = t.here(g)
			}
			g.req = t.holdFrom(g, m)
			g.req.cut = !g.seen
			if p := t.finder.stack(g.spawn); g.spawn != 0 && s.role != roleNone && p.role == roleNone { // a wrapper: from now on known at the creation
				p.role, p.kind = s.role, s.kind
			}
		case g.role == roleConn && !g.seen && !g.settled && (s.doing == doingHandle || s.doing == doingFinish):
			g.req, g.handled = t.hold(g), true
			g.req.cut = true
		}
	}
	g.calls(s)
	switch {
	case g.role == roleConn && s.doing == doingHandle && g.req != nil:
		g.handled = true
	case g.role == roleFunc && s.fn:
		if g.req == nil {
			g.req = t.hold(g)
		}
		g.until = t.here(g)
	case g.role == roleFunc && g.req != nil:
		t.finish(g, g.until, true)
	}
}

// calls takes the name of the handler that a stack shows.
func (g *goroutine) calls(s *seenIn) {
	if s.role == g.role && s.depth >= g.depth && s.name != "" {
		g.name, g.depth = s.name, s.depth
	}
}

// timed takes the name of the handler that net/http called in another goroutine, by, from where that was seen lately.
func (t *Tracker) timed(g, by *goroutine) {
	for _, x := range slices.Backward(by.segs[max(0, len(by.segs)-16):]) {
		if s := t.finder.stack(x.stack); s.timed {
			g.name = s.name
			return
		}
	}
}

// blocked notes that a goroutine that serves or has to do with connections waits, or begins a system
// call.
func (t *Tracker) blocked(g *goroutine) {
	if g.server == nil || g.role == roleStream || g.role == roleRelay || g.role == roleConn && g.view.doing == doingHandle {
		t.reads(g)
	}
	s := g.view
	if g.server != nil && g.role == roleStream {
		next := g.kind == Network && g.stack == g.asks
		switch m := g.again; {
		case m.at != 0 && !next:
			t.finish(g, m, true)
			g.req, g.again = t.holdFrom(g, m), mark{}
		case g.req != nil && g.wrote && next:
			t.finish(g, t.here(g), true)
			g.again = mark{}
		case g.req != nil && g.wrote && g.state == model.GoSyscall && t.finder.rereads(g.asks, g.stack):
			g.again = t.here(g)
		}
		if g.state == model.GoSyscall && s.write {
			g.wrote = true
		}
	}
	call := g.state == model.GoSyscall
	if g.accepts && (call || !s.accept) {
		t.accepted(g)
	}
	switch {
	case s.accept && call:
		g.conns().at, g.accepts = t.now, true
	case s.accept: // for nothing
		g.conns().empty, g.accepts = t.now, false
	case s.connect && call:
		x := &end{dialled: true}
		t.dials[t.dialed%dialsKept] = dial{t.now, x}
		g.conns().add(x)
		t.dialed++
	}
	if s.write && call {
		t.writes[t.wrote%writesKept] = write{at: t.now, g: g, stack: g.stack, taken: s.doing == doingFinish && g.answers()}
		t.wrote++
		g.writes, g.lastWrite = true, t.now
		if g.relay != nil {
			t.replies(g)
		}
	}
	if g.server == nil || g.role != roleConn || s.doing != doingIdle && s.doing != doingRead {
		return
	}
	if g.handled {
		m := t.here(g)
		if g.wrote {
			m = g.until
		}
		t.finish(g, m, true)
	}
	if g.state == model.GoWaiting && !g.woken {
		t.release(g)
	} else if g.req == nil {
		m, whole := t.here(g), g.seen || g.settled
		if !whole && g.idled() {
			m.at, whole = g.segs[1].from, true
			own := t.ownBetween(g, m.at, g.since)
			m.own.sub(&own)
		}
		g.req = t.holdFrom(g, m)
		g.req.cut = !whole // it may have waited for this before
	}
}

// idled reports whether all that was seen of a goroutine is the end of a wait that is older than the trace, by nobody, and
// that it ran since. If it reads now, that was the wait for this: after a time-out it would not.
func (g *goroutine) idled() bool {
	return g.first == 0 && len(g.segs) > 1 && g.segs[0].waits && g.segs[0].by == nil && !slices.ContainsFunc(g.segs[1:], func(s segment) bool { return s.kind != Runnable && s.kind != Running })
}

// unblocked notes that a wait of some kind or a system call of a goroutine that serves has ended.
func (t *Tracker) unblocked(g *goroutine, k Kind) {
	if g.role == roleStream && k == Network && g.req == nil {
		g.req, g.wrote, g.asks = t.hold(g), false, g.stack
	}
	if g.role != roleConn {
		return
	}
	switch s := g.view; {
	case s.doing == doingHandshake:
		t.release(g)
		g.req = t.hold(g)
	case k == Network && (s.doing == doingIdle || s.doing == doingRead && !g.woken):
		t.release(g)
		g.req, g.woken, g.settled = t.hold(g), true, true
	case s.write && k == Syscall && g.req != nil && s.doing >= doingHandle:
		g.handled = true
		if s.doing == doingFinish {
			g.wrote, g.until = true, t.here(g)
		}
	}
}

// handling notes that a connection begins to read in the background: a handler is called.
func (t *Tracker) handling(g *goroutine) {
	if g.handled && g.wrote { // the request had come with the one before
		m := g.until
		t.finish(g, m, true)
		g.req = t.holdFrom(g, m)
	}
	if g.req == nil {
		g.req = t.hold(g)
	}
	g.handled = true
}

// ends notes that a goroutine has ended, or (not whole) the trace.
func (t *Tracker) ends(g *goroutine, whole bool) {
	if g.server == nil {
		return
	}
	for _, p := range g.regions {
		if whole {
			t.drop(p)
		} else {
			t.report("region", p.name, g, p, t.here(g), false)
		}
	}
	switch {
	case g.req == nil:
	case g.role == roleStream && g.again.at != 0:
		t.finish(g, g.again, true)
	case g.role == roleConn && !g.handled, g.role == roleStream && whole:
		t.release(g)
	case g.role == roleConn && g.wrote, g.role == roleFunc && (whole || !g.view.fn || g.state == model.GoRunning): // else it is in the function still
		t.finish(g, g.until, whole)
	default:
		t.finish(g, t.here(g), whole)
	}
}

// finish reports the request of a goroutine.
func (t *Tracker) finish(g *goroutine, m mark, whole bool) {
	p := g.req
	name := g.name
	if g.role != roleFunc {
		name = cmp.Or(t.finder.calling[name], name)
	}
	if name == "" && (g.serves == "goroutine" || g.serves == "message") { // of others the start function is the server's own
		name = t.tables.String(g.fn)
	}
	g.req, g.woken, g.handled, g.wrote, g.settled, g.depth = nil, false, false, false, true, 0
	if g.role == roleConn {
		t.forgets(g.reading)
		g.name, g.reading = "", nil
	}
	if p != nil {
		t.report(g.serves, name, g, p, m, whole)
		p.unused = true
	}
}

// report reports a request of one goroutine from p to m.
func (t *Tracker) report(kind, name string, g *goroutine, p *pending, m mark, whole bool) {
	if p.done {
		return
	}
	t.sum(p, m.at)
	r := &t.request
	*r = Request{Kind: kind, Name: name, Complete: whole && !p.cut, Open: !whole && m.at == t.now, Own: m.own, Path: p.path, legs: append(r.legs[:0], leg{g: g, from: p.at, to: m.at}), labels: p.labels, early: p.early}
	r.Own.sub(&p.own)
	t.deliver(r)
	t.drop(p)
}

// deliver reports a request by its legs, unless it is one for a profile or a trace of the program itself.
func (t *Tracker) deliver(r *Request) {
	first, last := &r.legs[0], &r.legs[len(r.legs)-1]
	r.G, r.Start, r.End, r.t = last.g.id, first.from, last.to, t
	if r.Kind != "task" { // which begins where it was created, also if it was queued from then on
		r.From = first.g.id
	}
	if r.End <= r.Start || !t.finder.kinds[r.Kind] || r.Kind != "func" && records(r.Name) || len(t.finder.labels) > 0 && !r.labels.matched && !t.finder.wants(r.Name) {
		return
	}
	r.Truncated = r.Start < t.forced || first.g == nil
	if r.early != nil && r.early.known {
		r.early = nil
	}
	switch x := r.run; {
	case t.Done == nil:
	case x == nil || x.sure:
		t.found(r)
	default:
		if r.early == nil {
			t.Unanswered++
		}
		if len(x.list) == maxQueued {
			t.spoils(x)
		} else if !x.spoilt {
			t.keep(r, &x.list)
		}
	}
}

// found reports a request, once those of its place count.
func (t *Tracker) found(r *Request) {
	if r.early != nil && !r.early.known {
		t.keep(r, &r.early.list)
	} else {
		t.Done(r)
	}
}

// Connections within the program: who reads what a goroutine writes.
//
//  1. Who connects has one end of a connection. Who accepts next has the other one, and so do the
//     goroutines that each creates, until it connects or accepts again. Of those who have the other
//     end the last one to write ends the wait. If most waits of a goroutine that its creator connected
//     do not end within voteWithin after such a write, another process has the other end.
//  2. If none of them did, each wait for the network votes for the last goroutine that began to
//     write within voteWithin before it ended, and for the place where it did. A write counts once.
//  3. Who has more than half of at least two votes of a goroutine is its peer, of at least eight if its
//     creator connected it and nobody accepted. If there is none, as where connections are used in
//     turns, the place with more than half of at least eight votes of a place that reads is its
//     source: the answer to what the goroutine wrote, else the first write there. Who only reads uses
//     none in turns: its own votes decide as soon as they can.
//  4. The path of a wait is that of who wrote, up to then. The rest is the way of the data.
const (
	writesKept = 64
	dialsKept  = 32
	// acceptWithin is how long after a connect it is accepted at most, typically.
	acceptWithin = 1_000_000
	voteWithin   = 200_000
	peerVotes    = 2
	sourceVotes  = 8
	// A write may begin a little before the wait that it ends: the two threads' events are not
	// in exact order.
	writeSlack = 50_000
)

// dial is a connection that nobody has accepted yet, or with end nil, that somebody has.
type dial struct {
	at model.Time
	*end
}

// end is one end of a connection.
type end struct {
	other     *end // nil: not known, or not in this process
	dialled   bool
	all, fits int32 // waits for what comes from the other end, and of them those soon after a write there
}

// paired reports whether the other end is known.
func (x *end) paired() bool { return x.other != nil }

type write struct {
	at    model.Time
	g     *goroutine
	stack model.StackID
	taken bool // it ended a wait, or it answers whoever has the other end or is outside of the program
}

// votes are those for the last few of what was voted for.
type votes[T comparable] struct {
	all int32
	of  [4]struct {
		what T
		n    int32
	}
}

func (v *votes[T]) add(what T) {
	least := 0
	for i := range v.of {
		if v.of[i].what == what {
			v.of[i].n++
			return
		}
		if v.of[i].n < v.of[least].n {
			least = i
		}
	}
	v.of[least].what, v.of[least].n = what, 1
}

// most returns what has more than half of at least so many votes, zero if nothing has.
func (v *votes[T]) most(least int32) (what T) {
	for i := range v.of {
		if x := &v.of[i]; v.all >= least && x.n*2 > v.all {
			return x.what
		}
	}
	return what
}

// ends are those of connections that a goroutine has.
type ends struct {
	of      [4]*end
	n, born int8       // how many, and since its creation
	shared  bool       // with a goroutine that it created
	outside bool       // it serves who is outside of the program: when the request came, nobody had written
	at      model.Time // of the latest call that accepted a connection, and of that for nothing
	empty   model.Time
	asker   *goroutine // whose write it read last
}

// conns returns what is kept of a goroutine's connections.
func (g *goroutine) conns() *ends { return made(&g.ends) }

// made returns what a pointer refers to, something new if that is nothing.
func made[T any](x **T) *T {
	if *x == nil {
		*x = new(T)
	}
	return *x
}

// add adds an end. A goroutine that was born with some has those until it gets its own.
func (e *ends) add(x *end) {
	switch {
	case e.shared:
		e.n, e.shared = e.born, false
	case int(e.n) == len(e.of) && e.born < e.n:
		copy(e.of[e.born:], e.of[e.born+1:])
		e.n--
	}
	if int(e.n) < len(e.of) {
		e.of[e.n] = x
		e.n++
	}
}

// inherit takes the ends of who creates the goroutine, those that it was born with only if it has no
// other: net/http creates a goroutine that connects, in one that has the connection of a request.
func (g *goroutine) inherit(by *goroutine) {
	if by.ends == nil || by.n == 0 {
		return
	}
	by.shared = true
	first := by.born
	if first == by.n {
		first = 0
	}
	g.ends = &ends{n: by.n - first, born: by.n - first}
	copy(g.of[:], by.of[first:by.n])
}

// meets reports whether two goroutines have both ends of a connection, and whether one end.
func (e *ends) meets(o *ends) (both, one bool) {
	if e == nil || o == nil {
		return false, false
	}
	for _, x := range e.of[:e.n] {
		both = both || x.other != nil && slices.Contains(o.of[:o.n], x.other)
		one = one || slices.Contains(o.of[:o.n], x)
	}
	return both, one
}

// answers reports whether who gets the responses of a goroutine is known, or outside of the program.
func (e *ends) answers() bool {
	return e != nil && (e.outside || slices.ContainsFunc(e.of[:e.born], (*end).paired))
}

// accepted pairs what g accepted with the oldest dial that nobody has accepted.
func (t *Tracker) accepted(g *goroutine) {
	if !g.accepts {
		return
	}
	g.accepts = false
	for n := max(t.dialed-dialsKept, 0); n < t.dialed; n++ {
		x := &t.dials[n%dialsKept]
		if at := g.ends.at; x.end != nil && x.at <= at && x.at >= g.empty-writeSlack && x.at >= at-acceptWithin {
			x.other = &end{other: x.end}
			g.add(x.other)
			x.end = nil
			break
		}
	}
}

// peer returns who wrote what a wait of g for the network ends with, and when; nil if that is
// not known.
func (t *Tracker) peer(g *goroutine) (*goroutine, model.Time) {
	waiting := t.written(g, g.since+1)
	var dialled *end // what its creator connected, if it reads nothing else
	if g.ends != nil && g.born == 1 && g.n == 1 && g.of[0].dialled {
		dialled = g.of[0]
	}
	var met *write
	if g.ends != nil && slices.ContainsFunc(g.of[:g.n], (*end).paired) {
		for x := range waiting {
			if both, _ := g.meets(x.g.ends); both {
				met = x
				break
			}
		}
	}
	if dialled != nil && dialled.other != nil {
		dialled.all++
		if met != nil && met.at >= t.now-voteWithin {
			dialled.fits++
		}
		if dialled.all >= 2*dialled.fits+2 {
			dialled.other.other, dialled.other = nil, nil
		}
	}
	if met != nil {
		return met.take()
	}
	sources := &g.view.sources
	made(&g.peers).all++
	sources.all++
	for x := range t.written(g, max(g.since-writeSlack, t.now-voteWithin)) {
		if _, one := g.meets(x.g.ends); !x.taken && !one {
			g.peers.add(x.g)
			sources.add(x.stack)
			break
		}
	}
	least := textui.Either[int32](dialled != nil, sourceVotes, peerVotes)
	if peer := g.peers.most(least); peer != nil {
		if peer.lastWrite > g.since {
			for x := range waiting {
				if x.g == peer && !x.taken {
					return x.take()
				}
			}
		}
		return nil, 0
	}
	source := sources.most(sourceVotes)
	if source == 0 || !g.writes && (dialled != nil || g.peers.all > peerVotes) {
		return nil, 0
	}
	for x := range waiting {
		if x.stack == source && x.g.ends != nil && x.g.asker == g && !x.taken {
			return x.take()
		}
	}
	var first *write // of several who write there the first is read first
	for x := range t.written(g, max(g.since+1, t.now-voteWithin)) {
		if x.stack == source && !x.taken {
			first = x
		}
	}
	if first == nil {
		return nil, 0
	}
	return first.take()
}

// written yields the writes of other goroutines from a time on, the last first.
func (t *Tracker) written(g *goroutine, from model.Time) iter.Seq[*write] {
	return func(yield func(*write) bool) {
		for n := range min(t.wrote, writesKept) {
			x := &t.writes[(t.wrote-1-n)%writesKept]
			if x.at < from || x.g != g && !yield(x) {
				return
			}
		}
	}
}

// take returns who wrote, and when. The write ends no other wait.
func (x *write) take() (*goroutine, model.Time) {
	x.taken = true
	return x.g, x.at
}

// asked reports whether somebody may have written what a wait of g ends with.
func (t *Tracker) asked(g *goroutine) bool {
	for x := range t.written(g, max(g.since-writeSlack, t.now-voteWithin)) {
		if !x.taken {
			return true
		}
	}
	return false
}
