package requests

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/model"
)

// Messages that one goroutine reads and another one answers are requests of kind tcp:
//
//  1. From when a goroutine has read a message (see reading) until it waits for the next one there, it carries the
//     message. Who is woken by one that carries it, out of a wait for a channel or a condition, carries it too, until
//     it waits there again or is handed another one; so does who takes it from one that waits to send it. The first
//     write to a connection is the answer, unless the reader writes, who then serves by itself, or who writes then
//     reads, and so has asked for something.
//  2. At each hop the wait comes before what wakes the next one, or writes, in the same function, of the package of the
//     goroutine's start function or handler. A client that shares a connection, and asks again once it is answered, has
//     written or woken somebody before it waits, in the same call; a reader that has written before reads an answer.
//     What net/http and gRPC do for themselves has a kind of its own.
//  3. A place to read counts after leastMessages that were read there and mostly answered at one place, at least half
//     of those that woke somebody. Then all who read there do.
//  4. If most answers to what a goroutine reads are of one that mostly answers it, that one answers all of its
//     messages, in order: also those that woke nobody, as who takes them was busy.
//  5. Others that woke nobody are queued. Who was woken for messages read at a place, and goes on without a wait for the
//     next once it has answered, or wakes the same one again, has taken the first; once it waits there is none.
//  6. A message that woke nobody although who takes it waited was for the reader alone, such as the answer to a ping. If
//     there are many, those of 4 and 5 are not known to be messages, and not found. What is written after a timer
//     has fired does not answer.
//  7. The path of a message that 4 is about is that of who answers, since it could be read: what that one waited for,
//     and so on, leads to the reader. That of others is the way of the message; while it is queued, who takes it.
//  8. A hub hands a message to all who hear its reader, which shows by whom it wakes. What comes to it meanwhile these
//     write in turn: once one of them and the hub wait, what that one has written since it was woken are the messages
//     that came since, in order. If their numbers differ, as where it writes several at once, they were answered by its
//     last write at the latest. That counts as the answer if the first one that it can be was early, too.
//  9. A message without an answer shifts all that 4 and 5 find after it. So these count only if none is left once who
//     answers has nothing to do. If there are more answers, as two messages were read at once, what is found is too
//     short; but it is not known either where messages without an answer are usual.
//  10. What a reader hands to the same hub again without a wait was read at once with the one before, and begins when
//     that came to the hub.
//
// What else queues for one who hands it to many, or to one who writes for all, is not found. It is counted as Unanswered
// once these wait.

const (
	maxHops       = 4
	maxUnanswered = 64 // messages of a reader
	maxQueued     = 256
	maxTakers     = 4 // with so many there may be more
	pairVotes     = 4 // answers until it is known who writes them
	maxHeard      = 16
	keptShare     = 8 // one in so many that woke nobody may be for the reader alone
)

// message is what was read from a connection, to be answered by another goroutine.
type message struct {
	*pending // nil: the place where it was read does not count yet, or it is settled
	reader   *goroutine
	at       model.StackID // where it was read
	answer   model.StackID // where the first answer was written; 0: there is none
	carriers int32         // and the queue
	handed   bool          // its reader has woken somebody
	passed   bool          // its reader waits for the next one
	own      bool          // its reader has written
	counted  bool          // at the place
	done     bool          // nobody hands it on
	spread   bool          // who was handed it has handed it on
	hub      *goroutine    // to which it came; nil: to none
	number   int           // at hub, from 1
	run      *run          // by which it was found; nil: by who was woken
	entered  model.Time    // when it came there
}

// relay is the part that a goroutine takes in handing messages on.
type relay struct {
	carries *message
	got     *message      // that it was handed last
	waited  model.StackID // where, before it carried one
	hops    int
	route   [maxHops]leg  // of that, up to here; where a leg begins is where the one before ends
	did     model.StackID // where it has written or woken somebody since it waited; 0: nowhere
	timed   bool          // its last wait for a channel ended with nobody's doing

	// Of a reader.
	takers     []*goroutine      // whom it has woken for messages, at most maxTakers, the last one first
	writers    votes[*goroutine] // who answers
	unanswered []*message        // the first was read first
	overrun    bool              // there were too many of these; until all wait nobody knows what its writer answers
	ordered    *run              // what its writer has answered since
	runs, lost int               // of these, those that have ended and those with a message that was not answered

	// Of others.
	takes   *seenIn           // where what it was woken for by readers was read
	queued  *run              // what it has taken of that since it waited
	readers votes[*goroutine] // of what it answers
	answers *message          // that it writes the answer to, or has written the answer to last
	place   model.StackID     // where
	end     model.Time        // of the last one, or when it was handed on; 0: it writes
	hub     *goroutine        // that woke it last
	from    int               // the number at hub of what that was for, if it has not waited since
	ends    []model.Time      // of what it has written since
	hears   []*goroutine      // who has read what it was woken for, at most maxHeard, with which there may be more

	// Of a hub, which hands what it is handed to those who write.
	hands  bool       // it has
	log    []*message // what came to it, until those who write have nothing to do, at most maxUnanswered
	came   int        // how many came
	second int        // how often it woke another one for the same
}

// run is what was answered by order alone, until it is known whether each answer is to its message.
type run struct {
	spoilt, sure bool
	list         []*Request // at most maxQueued
}

// spoils notes that answers are not to the messages that order says.
func (t *Tracker) spoils(x *run) {
	for _, r := range x.list {
		t.earlyParts -= len(r.parts)
	}
	*x = run{spoilt: true}
}

// closes ends a run: there is nothing left to answer.
func (t *Tracker) closes(x **run) {
	r := *x
	if r == nil {
		return
	}
	r.sure, *x = !r.spoilt, nil
	for _, q := range r.list {
		t.earlyParts -= len(q.parts)
		if q.early == nil {
			t.Unanswered--
		}
		t.found(q)
	}
	r.list = nil
}

// relaying returns g's part, a new one if it has none.
func (g *goroutine) relaying() *relay { return made(&g.relay) }

// woken takes the end of a wait of g, for which by may have been the reason.
func (t *Tracker) woken(g, by *goroutine, kind Kind) {
	switch kind {
	case Network:
		if x := g.reading; x != nil && x.at == g.stack && g.view.relays {
			if x.req == nil && t.mayServe(g) {
				x.req = t.try(g, &g.view.served, t.here(g))
			}
			if t.finder.kinds["tcp"] {
				t.received(g)
			}
		}
	case Channel, Cond:
		if g.relay != nil {
			g.relay.timed = by == nil
		}
		if by != nil && by.relay != nil {
			by.relay.did = by.stack
		}
		switch {
		case by == nil || by == g:
		case g.view.sends:
			if g.relay != nil {
				waited := by.stack // unless it is known where it waits
				if by.relay != nil {
					waited = cmp.Or(by.relay.waited, waited)
				}
				t.pass(by, g, g.stack, waited)
			}
		case by.relay != nil:
			t.pass(g, by, by.stack, g.stack)
		}
	}
}

// received notes that g has a message.
func (t *Tracker) received(g *goroutine) {
	if g.reading.asked > 0 || g.server != nil && g.role == roleConn && !t.mayServe(g) { // it is another connection's
		return
	}
	r := g.relaying()
	t.drops(g)
	r.waited, r.hops = g.stack, 0
	switch {
	case g.server == nil, !g.view.relayed.known:
	case g.role == roleConn:
		t.release(g)
		*g.server = server{role: roleRelay, name: g.view.name, taken: true, regions: g.regions}
	case g.role == roleStream:
		t.release(g)
		g.role = roleRelay
	}
	t.quiet(g)
	t.gets(g, g.stack, t.here(g))
}

// gets has g carry a message that it has read at a place.
func (t *Tracker) gets(g *goroutine, at model.StackID, from mark) *message {
	r := g.relay
	m := &message{reader: g, at: at, carriers: 1}
	r.carries = m
	if n := len(r.unanswered); n == maxUnanswered {
		t.settle(r.unanswered[n-1], true)
		r.overrun = true
	}
	if r.overrun && g.writer() != nil {
		return m
	}
	if m.pending = t.try(g, &t.finder.stack(at).relayed, from); m.pending != nil {
		m.g, m.name = nil, t.loop(g, 0)
		r.unanswered = append(r.unanswered, m)
	}
	return m
}

// quiet forgets what g has read that will not be answered: nobody has it, and all wait.
func (t *Tracker) quiet(g *goroutine) {
	r := g.relay
	if len(r.unanswered) == 0 && !r.overrun && r.ordered == nil || len(r.takers) == 0 || !r.takers[0].rests() || !g.writer().rests() {
		return
	}
	r.overrun = false
	for _, m := range slices.Backward(r.unanswered) {
		if m.carriers == 0 {
			t.misses(r)
			t.settle(m, false)
		}
	}
	if len(r.unanswered) == 0 {
		r.runs++
		t.closes(&r.ordered)
	}
}

// misses notes that a message that a reader has read was not answered.
func (t *Tracker) misses(r *relay) {
	if x := made(&r.ordered); !x.spoilt {
		r.lost++
		t.spoils(x)
	}
}

// rests reports whether a goroutine waits where it was when it was handed a message.
func (g *goroutine) rests() bool {
	return g != nil && (g.ended || g.state == model.GoWaiting && g.relay != nil && g.stack == g.relay.waited)
}

// writer returns who answers what g reads, nil if that is not known.
func (g *goroutine) writer() *goroutine {
	if g.relay == nil {
		return nil
	}
	if w := g.relay.writers.most(pairVotes); w != nil && w.answered() == g {
		return w
	}
	return nil
}

// answered returns who mostly reads what g answers.
func (g *goroutine) answered() *goroutine {
	if g.relay == nil {
		return nil
	}
	return g.relay.readers.most(pairVotes)
}

// pass hands what by carries, or is to send, on at a place to g, which waited at another one.
func (t *Tracker) pass(g, by *goroutine, at, waited model.StackID) {
	b := by.relay
	if r := g.relay; r != nil && b.takes != nil && b.carries != nil && r.got == b.carries { // again: that was the one before
		t.takes(by)
	}
	m := b.carries
	if m != nil && m.reader == by && m.hub == g { // it has read two at once
		t.drops(by)
		m = t.gets(by, m.at, mark{at: m.entered})
	}
	switch {
	case m == nil || m.done || m.reader == g || b.hops == maxHops || !t.finder.inOrder(b.waited, at) || t.finder.stack(waited).asks:
		return
	case g.server != nil && (g.role == roleLife || g.role == roleConn && !g.taken && !g.hijacked()):
		return // it has a request of its own
	case m.reader != by:
	case by.reading == nil || by.reading.wrote != 0 || by.reading.starts != nil:
		return
	default:
		r := g.relaying()
		r.takes = t.finder.stack(m.at)
		m.handed = true
		if i := slices.Index(b.takers, g); i >= 0 {
			b.takers = slices.Delete(b.takers, i, i+1)
		}
		b.takers = slices.Insert(b.takers, 0, g)
		b.takers = b.takers[:min(len(b.takers), maxTakers)]
		t.enters(g, m)
	}
	r := g.relaying()
	if m.reader != by {
		if b.answers == nil {
			b.end = t.now
		}
		second := m.spread
		b.hands, m.spread = true, true
		if r.hub != by || m.hub != by {
			r.hub, r.from, r.ends, r.hears = m.hub, m.number, nil, nil
		}
		if r.hub != nil {
			if len(r.hears) < maxHeard && !slices.Contains(r.hears, m.reader) {
				r.hears = append(r.hears, m.reader)
			}
			if len(r.ends) == 0 {
				r.from = m.number
				if second {
					b.second++
				}
			}
		}
	}
	if r.carries == m {
		return
	}
	t.drops(g)
	m.carriers++
	r.carries, r.got, r.waited, r.hops, r.route = m, m, waited, b.hops+1, b.route
	r.route[b.hops] = leg{g: by, to: t.now}
	if by.state == model.GoWaiting { // to send
		r.route[b.hops] = leg{g: g, to: t.now, queued: true}
	}
}

// enters notes that a message comes to g.
func (t *Tracker) enters(g *goroutine, m *message) {
	r := g.relay
	if !r.hands || m.hub != nil {
		return
	}
	r.came++
	m.hub, m.number, m.entered = g, r.came, t.now
	if r.shows() {
		t.queues(&r.log, m, maxUnanswered)
	}
}

// queues adds a message to a queue of at most so many, lest many be looked through for each of many.
func (t *Tracker) queues(list *[]*message, m *message, most int) {
	if len(*list) == most {
		t.loses((*list)[0])
		*list = slices.Delete(*list, 0, 1)
	}
	m.carriers++
	*list = append(*list, m)
}

// heard reports whether who writes what a hub is handed may write a message.
func (r *relay) heard(m *message) bool {
	return len(r.hears) == maxHeard || slices.Contains(r.hears, m.reader)
}

// shows reports whether a hub hands each message to all who hear its reader, as far as that shows.
func (r *relay) shows() bool { return 2*r.second > r.came }

// pushes notes that a write has ended.
func (t *Tracker) pushes(r *relay) {
	r.end = t.now
	if r.hub != nil && r.carries != nil && len(r.ends) < maxUnanswered {
		r.ends = append(r.ends, t.now)
	}
}

// due returns what r has written since it waited, or has to.
func (r *relay) due() (list []*message) {
	if h := r.hub; h != nil && h.relay != nil && h.relay.shows() {
		for _, m := range h.relay.log {
			if m.number >= r.from && r.heard(m) {
				list = append(list, m)
			}
		}
	}
	return list
}

// ebbs takes what g has written since it waited, when it and its hub h have nothing to do.
func (t *Tracker) ebbs(g *goroutine, h *relay) {
	r := g.relay
	list := r.due()
	for i, m := range list {
		if m.pending == nil || len(r.ends) == 0 {
			continue
		}
		end := r.ends[len(r.ends)-1]
		if len(list) == len(r.ends) {
			end = r.ends[i]
		} else {
			first := slices.IndexFunc(r.ends, func(at model.Time) bool { return at > m.entered })
			x := t.finder.stack(m.at)
			if first < 0 || x.kept*keptShare > x.handed || end.Sub(r.ends[first])*keptShare > end.Sub(m.pending.at) {
				continue
			}
		}
		t.delivers(m, leg{g: m.reader, to: m.entered}, leg{g: g, to: end})
		t.settle(m, false)
	}
	h.log = slices.DeleteFunc(h.log, func(m *message) bool { return (m.number < r.from || r.heard(m)) && t.loses(m) })
	r.from, r.ends = h.came+1, r.ends[:0]
}

// waits notes that g waits where it did before it carried its message.
func (t *Tracker) waits(g *goroutine) {
	r := g.relay
	if m := r.carries; m != nil && m.reader == g {
		m.passed = true
		t.counts(m)
		x := t.finder.stack(m.at)
		switch {
		case m.handed || m.pending == nil:
		case m.own, len(r.takers) == 0: // it was answered, or nobody is known who takes it
			t.settle(m, false)
		case r.takers[0].rests():
			x.kept++
			t.settle(m, false)
		case x.kept*keptShare > x.handed:
			t.settle(m, false)
		case g.writer() == nil:
			if len(r.takers) == 1 {
				t.enters(r.takers[0], m)
			}
			t.queues(&x.queue, m, maxQueued)
		}
	}
	if m := r.carries; m != nil && len(r.log) == 1 && r.log[0] == m && !m.spread {
		t.finder.stack(m.at).kept++
		m.carriers--
		r.log = nil
	}
	t.drops(g)
	if r.hub.rests() && r.hub.relay != nil {
		t.ebbs(g, r.hub.relay)
	}
	if r.takes != nil {
		t.empties(r.takes, g)
	}
	if by := g.answered(); by != nil && by.writer() == g {
		t.quiet(by)
	}
}

// empties notes that nothing is queued for g.
func (t *Tracker) empties(x *seenIn, g *goroutine) {
	x.queue = slices.DeleteFunc(x.queue, func(m *message) bool { return (m.pending == nil || m.isFor(g)) && t.loses(m) })
	t.closes(&g.relay.queued)
}

// loses takes a message out of a queue, and forgets it if nobody has it. It returns true.
func (t *Tracker) loses(m *message) bool {
	if m.carriers--; m.carriers <= 0 {
		if m.pending != nil && t.finder.stack(m.at).relayed.known {
			t.Unanswered++
		}
		if r := m.reader.relay; m.pending != nil && r != nil {
			for _, g := range r.takers {
				if g.relay != nil {
					t.spoils(made(&g.relay.queued))
				}
			}
		}
		t.settle(m, false)
	}
	return true
}

// hijacked reports whether a handler of net/http, in which g is, has perhaps taken over the connection: nobody reads
// from it in the background.
func (g *goroutine) hijacked() bool {
	if g.reader == nil {
		return g.req != nil && g.req.cut
	}
	return g.reader.ended
}

// isFor reports whether a message that is queued may be for g: its reader has handed some to g, or to many.
func (m *message) isFor(g *goroutine) bool {
	r := m.reader.relay
	return r == nil || len(r.takers) == maxTakers || slices.Contains(r.takers, g)
}

// drops notes that g does not carry its message any longer.
func (t *Tracker) drops(g *goroutine) {
	m := g.relay.carries
	if m == nil {
		return
	}
	g.relay.carries = nil
	if m.carriers--; m.carriers == 0 && m.reader.writer() == nil {
		t.settle(m, false)
	}
}

// counts counts a message that its reader has handed on, and one that was answered.
func (t *Tracker) counts(m *message) {
	x := t.finder.stack(m.at)
	if !m.handed || !m.passed {
		return
	}
	if !m.counted {
		m.counted = true
		x.handed++
	}
	if x.relayed.known {
		return
	}
	if m.answer != 0 && !m.own {
		x.answers.all++
		x.answers.add(m.answer)
		if x.answers.most(leastMessages) != 0 && int(x.answers.all)*2 >= x.handed {
			t.known(&x.relayed)
		}
	}
}

// settle forgets a message, and those that its reader has read before if older is set.
func (t *Tracker) settle(m *message, older bool) {
	m.done = true
	r := m.reader.relay
	if m.pending == nil || r == nil {
		return
	}
	i := slices.Index(r.unanswered, m)
	from := i
	if older && i > 0 {
		from = 0
		t.misses(r)
	}
	for _, m := range r.unanswered[from : i+1] {
		t.drop(m.pending)
		m.pending, m.done = nil, true
	}
	r.unanswered = slices.Delete(r.unanswered, from, i+1)
}

// leaves notes that g has ended, or does not serve any longer.
func (t *Tracker) leaves(g *goroutine) {
	if g.relay.answers != nil {
		t.replied(g)
	}
	t.drops(g)
	for _, m := range g.relay.log {
		t.loses(m)
	}
	g.relay.log = nil
	t.spoils(made(&g.relay.queued))
	if len(g.relay.unanswered) == 0 {
		t.closes(&g.relay.ordered)
	}
	if n := len(g.relay.unanswered); n > 0 {
		t.settle(g.relay.unanswered[n-1], true)
	}
}

// replies notes that g begins to write to a connection.
func (t *Tracker) replies(g *goroutine) {
	r := g.relay
	m := r.carries
	r.did, r.end = g.stack, 0
	if m != nil && m.reader == g {
		m.own = true
	}
	if m != nil && (m.done || m.reader == g || !t.finder.inOrder(r.waited, g.stack)) {
		m = nil
	}
	if m != nil {
		if w := m.reader.writer(); w != nil && w != g {
			m = nil
		}
	}
	if by := g.answered(); m == nil && by != nil && by.writer() == g && !r.timed {
		switch b := by.relay; {
		case len(b.unanswered) > 0:
			m = b.unanswered[0]
			m.run = made(&b.ordered)
		case b.lost*keptShare > b.runs:
			t.spoils(made(&b.ordered))
		case b.ordered != nil: // it has read two at once
			t.Unanswered++
		}
	}
	if m != nil {
		r.answers, r.place, m.done = m, g.stack, true
	}
}

// goesOn notes that g begins a system call or waits. If it has written and reads now, it has asked for something, or
// else it has answered. If it has nothing to do, and does not wait for that, it has taken what is queued.
func (t *Tracker) goesOn(g *goroutine) {
	r := g.relay
	if r.answers != nil {
		if g.view.read {
			r.answers.done = false
			r.answers = nil
		} else {
			t.replied(g)
		}
	}
	if r.did != 0 && g.kind == Channel {
		if s := g.view; !s.asks && s.after != r.did {
			loop, _ := t.finder.inLoop(r.did, g.stack)
			s.after, s.asks = r.did, loop != ""
		}
		r.did = 0
	}
	x := r.takes
	if x == nil || r.carries != nil && !r.carries.done || len(x.queue) == 0 || g.stack == r.waited || g.view.write && x.answers.most(leastMessages) != g.stack {
		return
	}
	t.takes(g)
}

// takes notes that g has taken what is queued.
func (t *Tracker) takes(g *goroutine) {
	r := g.relay
	x := r.takes
	if i := slices.IndexFunc(x.queue, func(m *message) bool { return m.pending != nil && m.isFor(g) }); i >= 0 {
		t.drops(g)
		r.carries, r.hops = x.queue[i], 1
		r.carries.run = made(&r.queued)
		r.route[0] = leg{g: g, to: r.end, queued: true}
		x.queue = slices.Delete(x.queue, i, i+1)
	}
}

// votes counts that g has answered a message at a place.
func (t *Tracker) votes(m *message, g *goroutine, at model.StackID) {
	if from := m.reader.relay; from != nil && m.answer == 0 {
		m.answer = at
		g.relay.readers.all++
		g.relay.readers.add(m.reader)
		from.writers.all++
		from.writers.add(g)
		t.counts(m)
	}
}

// replied notes that g has written an answer.
func (t *Tracker) replied(g *goroutine) {
	r := g.relay
	m := r.answers
	if r.answers = nil; r.end == 0 {
		r.end = t.now
	}
	var legs [maxHops + 1]leg
	n := 0
	if r.carries == m && m.reader.writer() == nil {
		n = copy(legs[:], r.route[:r.hops])
	}
	legs[n] = leg{g: g, to: r.end}
	t.delivers(m, legs[:n+1]...)
	if r.carries == m {
		t.votes(m, g, r.place)
	}
	t.settle(m, m.reader.writer() == g)
}

// delivers reports a message that was answered, by its legs, of which each begins where the one before ends.
func (t *Tracker) delivers(m *message, legs ...leg) {
	p := m.pending
	if p == nil || p.done {
		return
	}
	q := &t.request
	*q = Request{Kind: "tcp", Name: p.name, Complete: true, legs: append(q.legs[:0], legs...), labels: p.labels, early: p.early, many: m.carriers > 2, run: m.run}
	for i := range q.legs {
		l := &q.legs[i]
		l.from = p.summed
		l.to = max(l.to, l.from)
		if l.queued {
			q.Own[Queued] += l.to.Sub(l.from)
			p.path[Queued] += l.to.Sub(l.from)
		} else {
			own := t.ownBetween(l.g, l.from, l.to)
			q.Own.add(&own)
			p.g = l.g
			t.sum(p, l.to)
		}
		p.summed = l.to
	}
	q.Path = p.path
	t.deliver(q)
}
