package requests

import (
	"slices"

	"github.com/schedscope/schedscope/model"
)

// Messages that one goroutine reads and another one answers are requests of kind tcp, of who writes the answer:
//
//  1. From when a goroutine has read a message (see reading) until it waits for the next one, it carries the message.
//     Who is woken by one that carries it, out of a wait for a channel or a condition, carries it too, until it
//     waits there again; so does who takes it from one that waits to send it. The first write to a connection by one
//     of them ends it, unless that is the reader, who then serves by itself.
//  2. At each hop the wait comes before what wakes the next one, or writes, in the same function of the package of the
//     goroutine's start function, or of the handler: a client that has an answer and asks again does so the other way
//     around, or in a package that it calls. What net/http and gRPC do for themselves has a kind of its own.
//  3. A place to read counts after leastMessages that were read there and answered at one place, at least half of those
//     that woke somebody. Then all who read there do.
//  4. If most answers to what a goroutine reads are written by one that mostly answers it, that one has the answers to
//     all of its messages, in order: also to those that woke nobody as who takes them was busy. A message that woke
//     nobody though that one was idle was for the reader alone, such as the answer to a ping; and what is written
//     after a timer has fired is no answer.
//  5. Its path is that of who writes the answer, from when the message could be read: what that one waited for, and so
//     on, leads to the reader.

const (
	maxHops       = 4
	maxUnanswered = 64 // messages of a reader
)

// message is what was read from a connection, to be answered by another goroutine.
type message struct {
	*pending // nil: the place where it was read does not count yet, or it is settled
	reader   *goroutine
	at       model.StackID // where it was read
	answer   model.StackID // where the first answer was written; 0: there is none
	carriers int32
	handed   bool // its reader has woken somebody
	passed   bool // its reader waits for the next one
	own      bool // its reader has written
	counted  bool
	done     bool // nobody hands it on
}

// relay is the part that a goroutine takes in handing messages on.
type relay struct {
	carries *message
	waited  model.StackID // where, before it carried that
	hops    int
	timed   bool // its last wait for a channel ended with nobody's doing

	taker      *goroutine // whom it has woken for its last message
	writers    votes[*goroutine]
	unanswered []*message // the first was read first

	readers votes[*goroutine]
	answers *message // that it writes the answer to
}

func (g *goroutine) relays() *relay {
	if g.relay == nil {
		g.relay = &relay{}
	}
	return g.relay
}

// woken takes the end of a wait of g, for which by may have been the reason.
func (t *Tracker) woken(g, by *goroutine, kind Kind) {
	switch kind {
	case Network:
		if x := g.reading; x != nil && x.at == g.stack && g.view.relays {
			t.received(g)
		}
	case Channel, Cond:
		if g.relay != nil {
			g.relay.timed = by == nil
		}
		switch {
		case by == nil || by == g:
		case g.view.sends:
			if g.relay != nil {
				t.pass(by, g, g.stack, by.stack)
			}
		case by.relay != nil:
			t.pass(g, by, by.stack, g.stack)
		}
	}
}

// received notes that g has a message.
func (t *Tracker) received(g *goroutine) {
	if g.server != nil && g.role == roleConn && g.reader != nil && !g.reader.ended {
		return // it is another connection's
	}
	r := g.relays()
	t.drops(g)
	m := &message{reader: g, at: g.stack, carriers: 1}
	if r.carries, r.waited, r.hops = m, g.stack, 0; !g.view.relayed {
		return
	}
	switch {
	case g.server == nil:
	case g.role == roleConn:
		t.release(g)
		*g.server = server{role: roleRelay, name: g.view.name, taken: true, regions: g.regions}
	case g.role == roleStream:
		t.release(g)
		g.role = roleRelay
	}
	if n := len(r.unanswered); n > 0 && (n == maxUnanswered || r.taker.rests() && g.writer().rests()) {
		t.settle(r.unanswered[n-1], true)
	}
	m.pending = t.hold(g)
	m.g, m.name = nil, t.tables.String(g.fn)
	if g.server != nil && g.server.name != "" {
		m.name = g.server.name
	}
	r.unanswered = append(r.unanswered, m)
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
	if w := g.relay.writers.most(peerVotes); w != nil && w.answered() == g {
		return w
	}
	return nil
}

// answered returns who mostly reads what g answers.
func (g *goroutine) answered() *goroutine {
	if g.relay == nil {
		return nil
	}
	return g.relay.readers.most(peerVotes)
}

// pass hands what by carries, or is to send, on at a place to g, which waited at another one.
func (t *Tracker) pass(g, by *goroutine, at, waited model.StackID) {
	b := by.relay
	m := b.carries
	if m == nil || m.done || m.reader == g || b.hops == maxHops || !t.finder.inOrder(b.waited, at) {
		return
	}
	if m.reader == by {
		if by.reading == nil || by.reading.wrote != 0 || by.reading.starts != nil {
			return
		}
		m.handed, b.taker = true, g
	}
	if r := g.relays(); r.carries != m {
		t.drops(g)
		m.carriers++
		r.carries, r.waited, r.hops = m, waited, b.hops+1
	}
}

// waits notes that g waits where it did before it carried its message.
func (t *Tracker) waits(g *goroutine) {
	if m := g.relay.carries; m.reader == g {
		m.passed = true
		t.counts(m)
		if !m.handed && g.relay.taker.rests() {
			t.settle(m, false)
		}
	}
	t.drops(g)
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
	if !m.handed || !m.passed || x.relayed {
		return
	}
	if !m.counted {
		m.counted = true
		x.handed++
	}
	if m.answer != 0 && !m.own {
		x.answers.all++
		x.answers.add(m.answer)
		x.relayed = x.answers.most(leastMessages) != 0 && int(x.answers.all)*2 >= x.handed
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
	if older {
		from = 0
	}
	for _, m := range r.unanswered[from : i+1] {
		t.drop(m.pending)
		m.pending, m.done = nil, true
	}
	r.unanswered = slices.Delete(r.unanswered, from, i+1)
}

// leaves notes that g has ended, or does not serve any longer.
func (t *Tracker) leaves(g *goroutine) {
	t.drops(g)
	if n := len(g.relay.unanswered); n > 0 {
		t.settle(g.relay.unanswered[n-1], true)
	}
}

// replies notes that g begins to write to a connection.
func (t *Tracker) replies(g *goroutine) {
	r := g.relay
	m := r.carries
	if m != nil && m.reader == g {
		m.own = true
	}
	if m != nil && (m.done || m.reader == g || !t.finder.inOrder(r.waited, g.stack)) {
		m = nil
	}
	if m != nil && m.reader.relay != nil {
		if m.answer == 0 {
			m.answer = g.stack
			r.readers.all++
			r.readers.add(m.reader)
			m.reader.relay.writers.all++
			m.reader.relay.writers.add(g)
			t.counts(m)
		}
		if w := m.reader.writer(); w != nil && w != g {
			m = nil
		}
	}
	if by := g.answered(); m == nil && by != nil && by.writer() == g && !r.timed && len(by.relay.unanswered) > 0 {
		m = by.relay.unanswered[0]
	}
	if m != nil {
		r.answers, m.done = m, true
	}
}

// replied notes that g has written.
func (t *Tracker) replied(g *goroutine) {
	m := g.relay.answers
	g.relay.answers = nil
	if p := m.pending; p != nil {
		p.g = g
		t.sum(p, t.now)
		r := &t.request
		*r = Request{Kind: "tcp", Name: p.name, Complete: true, Own: t.ownBetween(g, p.at, t.now), Path: p.path, legs: append(r.legs[:0], leg{g: g, from: p.at, to: t.now}), labels: p.labels}
		t.deliver(r)
	}
	t.settle(m, m.reader.writer() == g)
}
