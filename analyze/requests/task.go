package requests

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/model"
)

// A task of runtime/trace may be handed from goroutine to goroutine. It is with the one before until
// that wakes or creates the next one for it, else until its last event, and with the next one from when
// that takes it up: when it runs after it was idle, or was created, in the meantime; one that was busy
// all the time, with its first event of it. In between the task is queued.

// task is a task that has not ended.
type task struct {
	*pending
	name   string
	from   model.GoID // where it began
	since  mark
	before Times // states in the legs before
	legs   []leg
	seen   model.Time // its latest event
}

// routeDepth is that of a region of runtime/trace with a slash in its name, in a request of another
// kind: it names the route and goes before handlers.
const routeDepth = math.MaxUint8

// maxLegs is how many legs of a task are kept. With more, the older half is forgotten.
const maxLegs = 1 << 12

// maxTasks is how many open tasks are followed at once.
const maxTasks = 1 << 17

// leg is a part of a request's time with one goroutine.
type leg struct {
	g        *goroutine // nil: forgotten
	from, to model.Time
	queued   bool // it was waiting to be taken up
}

// mark takes an event of a task or region.
func (t *Tracker) mark(ev *model.Event) {
	f, name := &t.finder, ""
	region := ev.Kind == model.EventRegionBegin || ev.Kind == model.EventRegionEnd
	if ev.Kind == model.EventTaskBegin || region {
		name = t.tables.String(ev.Str)
	}
	wanted := region && f.names[Spec{Kind: "region", Name: name}]
	id := model.TaskID(ev.ID)
	x := t.tasks[id]
	begins := ev.Kind == model.EventTaskBegin && (f.all || f.names[Spec{Kind: "task", Name: name}])
	switch {
	case ev.G == model.NoGoroutine, x == nil && !begins && !wanted && !t.active:
		return
	case begins && x == nil && len(t.tasks) == maxTasks:
		t.Unfollowed++
		return
	case !t.active:
		t.activate(ev.Time)
	}
	t.advance(ev.Time)
	g := t.split(ev.G, ev.Stack)
	t.close(g)
	t.label(ev, g, x)
	switch {
	case begins && x == nil:
		if n := len(t.ended) - 1; n < 0 {
			x = new(task)
		} else {
			x, t.ended = t.ended[n], t.ended[:n]
		}
		*x = task{pending: t.hold(g), name: name, from: g.id, since: t.here(g), seen: t.now, legs: x.legs[:0]}
		t.tasks[id] = x
		return
	case ev.Kind == model.EventRegionBegin && g.server != nil && g.req != nil && g.role != roleFunc && strings.Contains(name, "/") && g.depth < routeDepth:
		g.name, g.depth = name, routeDepth
	case ev.Kind == model.EventRegionBegin && wanted:
		p := t.hold(g)
		p.name = name
		made(&g.server)
		g.regions = append(g.regions, p)
	case ev.Kind == model.EventRegionEnd && wanted && g.server != nil:
		for i, p := range slices.Backward(g.regions) {
			if p.name == name {
				g.regions = slices.Delete(g.regions, i, i+1)
				t.report("region", name, g, p, t.here(g), true)
				p.unused = true
				break
			}
		}
	}
	if x != nil && g != x.g {
		t.hand(x, g)
	}
	if id != 0 && ev.Kind != model.EventTaskBegin {
		g.marked = t.now
	}
	if x == nil {
		return
	}
	x.seen = t.now
	if ev.Kind == model.EventTaskEnd {
		delete(t.tasks, id)
		t.endTask(x, true)
	}
}

// hand gives a task to a goroutine that was seen to work on it.
func (t *Tracker) hand(x *task, to *goroutine) {
	c, woken, taken := x.g, x.seen, t.now
	i, by := to.idle(x)
	if by == c {
		woken = max(woken, to.end(i))
	}
	if i < len(to.segs) {
		for i++; i < len(to.segs) && to.segs[i].kind == Runnable; {
			i++
		}
		if taken = to.since; i < len(to.segs) {
			taken = to.segs[i].from
		}
	}
	if woken = max(woken, x.summed); woken > x.since.at {
		own := t.ownBetween(c, x.since.at, woken)
		x.before.add(&own)
		t.sum(x.pending, woken)
		x.legs = append(x.legs, leg{g: c, from: x.since.at, to: woken})
	}
	if taken = max(taken, woken); taken > woken {
		x.before[Queued] += taken.Sub(woken)
		x.path[Queued] += taken.Sub(woken)
		x.legs = append(x.legs, leg{g: to, from: woken, to: taken, queued: true})
	}
	if half := maxLegs / 2; len(x.legs) > maxLegs {
		x.legs = slices.Replace(x.legs, 0, half, leg{from: x.at, to: x.legs[half].from})
	}
	x.g, x.since, x.summed = to, mark{taken, to.own}, taken
	own := t.ownBetween(to, taken, t.now)
	x.since.own.sub(&own)
}

// idle returns the number of the wait in which a goroutine was idle before it took a task up, and who ended
// it: the first since the task was handed over, or since the goroutine's latest event of another task. A
// goroutine that was created since then was idle before its first interval.
func (g *goroutine) idle(x *task) (i int, by *goroutine) {
	from := max(x.seen, g.marked)
	if g.seen && g.created >= from && len(g.segs) > 0 && g.segs[0].from == g.created {
		return -1, g.creator
	}
	for i = g.at(from); i < len(g.segs) && !g.segs[i].waits; {
		i++
	}
	if i == len(g.segs) {
		return i, nil
	}
	if s := &g.segs[i]; s.by != nil && (s.by == x.g || s.from <= from || from == g.marked && (s.kind == Channel || s.kind == Cond)) {
		return i, s.by
	}
	return len(g.segs), nil
}

// ownBetween returns a goroutine's states in a part of its past.
func (t *Tracker) ownBetween(g *goroutine, from, to model.Time) (v Times) {
	if front := g.front(); from < front {
		v[Unknown] += min(to, front).Sub(from)
		from = front
	}
	for i := g.at(from); i < len(g.segs) && from < to; i++ {
		s, e := &g.segs[i], min(g.end(i), to)
		t.spend(&v, s.kind, from, e)
		from = e
	}
	if from < to {
		t.spend(&v, g.kind, from, to)
	}
	return v
}

// endTask reports a task.
func (t *Tracker) endTask(x *task, whole bool) {
	m := t.here(x.g)
	m.own.sub(&x.since.own)
	m.own.add(&x.before)
	t.sum(x.pending, m.at)
	r := &t.request
	*r = Request{Kind: "task", Name: x.name, From: x.from, Complete: whole, Open: !whole && m.at == t.now && !x.g.ended, Own: m.own, Path: x.path, legs: append(r.legs[:0], x.legs...), labels: x.labels}
	if m.at > x.since.at {
		r.legs = append(r.legs, leg{g: x.g, from: x.since.at, to: m.at})
	}
	if len(r.legs) > 0 {
		t.deliver(r)
	}
	t.drop(x.pending)
	x.unused = true
	if cap(x.legs) < 64 {
		t.ended = append(t.ended, x)
	}
}

// endTasks reports the tasks that the trace leaves open.
func (t *Tracker) endTasks() {
	for _, id := range slices.Sorted(maps.Keys(t.tasks)) {
		t.endTask(t.tasks[id], false)
	}
}
