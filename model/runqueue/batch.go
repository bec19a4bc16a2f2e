package runqueue

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/model"
)

// batchOf returns how many a proc with nothing of its own takes from a global queue of
// n (runtime/proc.go: globrunqgetbatch).
func (r *replay) batchOf(n int) int { return min(batchMax, n, n/r.count()+1) }

// batchSizes returns how many are taken with s, itself included: as the length of the
// queue says, and with their costs the sizes if some of what came while p was looking came
// too late after all, or in time.
func (h *hypothesis) batchSizes(s *runnable) (n int, others []split) {
	items := h.global.items()
	size := h.r.batchOf
	n = len(items)
	for i := len(items) - 1; i > 0 && h.positions[items[i]].from > s.Time-tookBefore; i-- {
		if h.positions[items[i]].mover != s.M && !h.together(items[i-1], items[i]) {
			n = i
		}
	}
	for i := len(items) - 1; i > 0 && h.positions[items[i]].moved > s.earliest && len(others) < maxSizes; i-- {
		switch {
		case h.positions[items[i]].mover == s.M || h.together(items[i-1], items[i]):
		case i >= n: // in time after all, and those before it as well
			others = append(others, split{size(i + 1), costOrder})
		default:
			others = append(others, split{size(i), costLate})
		}
	}
	if n = size(n); n < size(len(items)) {
		others = append(others, split{size(len(items)), costOrder})
	}
	slices.SortFunc(others, func(a, b split) int { return cmp.Or(cmp.Compare(a.k, b.k), cmp.Compare(a.cost, b.cost)) })
	others = slices.CompactFunc(others, func(a, b split) bool { return a.k == b.k })
	return n, slices.DeleteFunc(others, func(o split) bool { return o.k == n })
}

// maxSizes bounds how many sizes of a batch are tried.
const maxSizes = 12

// tookBefore is about what passes from when a thread takes a goroutine out of the
// global queue to when it starts.
const tookBefore = 300

// forkBatch tries other batches than the n that the lengths suggest: a single
// one, if this may be the 61st tick; the others that the queue leaves open; and one
// more or less where the end of the batch does not fit what runs where.
func (h *hypothesis) forkBatch(p model.ProcID, s *runnable, n int, others []split, then func(*hypothesis)) {
	if n == 1 && len(others) == 0 {
		return
	}
	if t := &h.proc(p).tick; !t.known() && h.mayFork() {
		c := h.r.fork(h)
		c.pay(costTick, &c.positions[s.slot])
		c.proc(p).tick.vote()
		c.positions[s.slot].fair = true
		c.done(s, then)
	}
	items := h.global.items()
	for i := range n - 1 {
		if !h.begins(i, s) {
			continue
		}
		if j, sure := h.behind(p, i, s); j >= 0 && !sure && h.mayFork() {
			c := h.r.fork(h)
			c.bring(i, j)
			c.pay(costOrder, &c.positions[s.slot])
			c.batch(p, s, n)
			c.done(s, then)
			break
		}
	}
	try := func(m int, c cost) {
		if h.mayFork() {
			f := h.r.fork(h)
			f.pay(c, &f.positions[s.slot])
			f.batch(p, s, m)
			f.done(s, then)
		}
	}
	tried := func(m int) bool { return slices.ContainsFunc(others, func(o split) bool { return o.k == m }) }
	for _, o := range others {
		try(o.k, o.cost)
	}
	elsewhere := func(i int) bool { x := h.runnable(items[i]); return x.started && x.P != p }
	here := func(i int) bool { x := h.runnable(items[i]); return x.started && x.P == p }
	if n > 1 && elsewhere(n-2) && !tried(n-1) {
		try(n-1, costBroken)
	}
	if n > 1 && n <= len(items) && n < batchMax && here(n-1) && !tried(n+1) {
		try(n+1, costBroken)
	}
}

// behind finds one behind the i-th in the global queue that may have been put there
// before it and that better fits a batch of p, which begins with s: it runs on p, and the
// i-th runs elsewhere, or later. What p will take by the 61st tick says nothing about
// the order. Else, if the i-th runs elsewhere, one that runs later than that, which is
// not sure. It returns -1 if there is none.
func (h *hypothesis) behind(p model.ProcID, i int, s *runnable) (j int, sure bool) {
	items := h.global.items()
	x, until := h.runnable(items[i]), h.positions[items[i]].until
	j = -1
	if !x.started {
		return j, false
	}
	for k := i + 1; k < len(items) && h.positions[items[k]].from <= until; k++ {
		h.r.spend(1)
		if y := h.runnable(items[k]); !h.unordered(items[i], items[k]) {
			continue
		} else if y.started && y.P == p && (x.P != p || y.Time < x.Time) && !h.proc(p).tick.fairAfter(int(y.onProc)-int(s.onProc)+fairnessOf) {
			return k, true
		} else if j < 0 && x.P != p && (!y.started || y.Time > x.Time) {
			j = k
		}
	}
	return j, false
}

// bring puts the j-th in the global queue in front of the i-th, with all that came
// there together with it from a queue that overflowed.
func (h *hypothesis) bring(i, j int) {
	items := h.global.items()
	k := j + 1
	for k < len(items) && h.together(items[j], items[k]) {
		k++
	}
	block := append([]slot(nil), items[j:k]...)
	copy(items[i+len(block):k], items[i:j])
	copy(items[i:], block)
}

// begins reports whether the i-th in the global queue, or s before the first, came
// there alone or as the first of several.
func (h *hypothesis) begins(i int, s *runnable) bool {
	before := s.slot
	if i > 0 {
		before = h.global.items()[i-1]
	}
	return !h.together(before, h.global.items()[i])
}

// together reports whether two came into the global queue at once.
func (h *hypothesis) together(a, b slot) bool {
	x, y := &h.positions[a], &h.positions[b]
	return x.from == y.from && x.until == y.until && x.mover == y.mover
}

// batch moves n-1 more from the global to p's local queue.
func (h *hypothesis) batch(p model.ProcID, s *runnable, n int) {
	h.positions[s.slot].batch = int16(n)
	h.proc(p).of = h.global.len() + 1
	h.takesEffect(s.earliest, s.Time, s.M)
	for i := range n - 1 {
		if !h.begins(i, s) {
			continue
		}
		if j, sure := h.behind(p, i, s); sure {
			h.bring(i, j)
			h.pay(costOrder, &h.positions[s.slot])
		}
	}
	for _, a := range h.global.items()[:n-1] {
		y := h.put(a, PlaceLocal, p)
		y.via, y.batch, y.fromP = ViaGlobal, int16(n), model.NoProc
		y.grade = max(y.grade, h.positions[s.slot].grade)
		h.proc(p).q.push(a)
	}
	h.global.drop(n - 1)
	h.touch(model.NoProc)
}

// cameLater reports whether a may have come into the global queue after b although it
// became runnable before: the operating system may stop a thread between that event and
// the moment that puts the goroutine into the queue.
func (h *hypothesis) cameLater(a, b slot) bool {
	x, y := &h.positions[a], &h.positions[b]
	return x.from == h.runnable(a).Since && x.mover != y.mover && y.from <= h.runnable(a).until
}

// comesLater takes a, which is not in the global queue yet though it is to go there, for
// on the way to it until its thread goes on. It came there after from.
func (h *hypothesis) comesLater(a slot, from model.Time) {
	x, y := &h.positions[a], h.runnable(a)
	x.from, x.until, x.moved, x.mover = from, y.until, y.until, y.by
	if y.until > h.r.now {
		h.coming = append(h.coming, a)
		return
	}
	items := h.global.items()
	h.r.spend(len(items))
	i := slices.IndexFunc(items, func(b slot) bool { return h.positions[b].from > y.until })
	if i < 0 {
		i = len(items)
	}
	h.global.set(slices.Concat(items[:i], []slot{a}, items[i:]))
}

// come puts what was on the way into the global queue there once its thread has gone on.
func (h *hypothesis) come() {
	h.coming = slices.DeleteFunc(h.coming, func(a slot) bool {
		if h.runnable(a).until > h.r.now {
			return false
		}
		h.global.push(a)
		h.touch(model.NoProc)
		return true
	})
}

// late returns how many stand before s in the local queue of p that it took with its latest
// batch and that may have come later than s, and how many more than it seems p took then, if
// they did; if s is not in the local queue, it must be the first of those. It returns
// false if that cannot be.
func (h *hypothesis) late(p model.ProcID, s *runnable) (late, more int, ok bool) {
	q := h.proc(p)
	items := q.q.items()
	here := q.q.index(s.slot)
	absent := 0
	for late < len(items) && late != here && h.positions[items[late]].via == ViaGlobal {
		a := items[late]
		if !h.cameLater(a, s.slot) {
			return 0, 0, false
		}
		if late++; h.runnable(a).until >= h.positions[a].moved {
			absent++
		}
	}
	if late == 0 || here >= 0 && late < here {
		return 0, 0, false
	}
	first := &h.positions[items[0]]
	more = h.r.batchOf(q.of-absent) - (int(first.batch) - late)
	if here >= 0 {
		return late, more, more >= 0 && h.positions[s.slot].via == ViaGlobal
	}
	return late, more, more > 0 && h.positions[s.slot].from <= first.moved
}

// regrab corrects the latest batch of p, which s belongs to: the first ones in the local
// queue were not in it, and more others were. If s does not stand in that queue, it has
// been taken from where it stood.
func (h *hypothesis) regrab(p model.ProcID, s *runnable, late, more int) {
	local, x := &h.proc(p).q, &h.positions[s.slot]
	absent := slices.Clone(local.items()[:late])
	at, n := h.positions[absent[0]].moved, h.positions[absent[0]].batch+int16(more-late)
	h.pay(costLate, x)
	if x.place != PlaceLocal {
		more--
		x.source, x.via, x.batch, x.fromP, x.lastP = SourceLocal, ViaGlobal, n, model.NoProc, p
	}
	h.takesEffect(at, at, s.M)
	rest := local.items()[late:]
	mine := slices.IndexFunc(rest, func(a slot) bool { return h.positions[a].via != ViaGlobal })
	if mine < 0 {
		mine = len(rest)
	}
	more = min(more, h.global.len())
	for _, a := range h.global.items()[:more] {
		y := h.put(a, PlaceLocal, p)
		y.via, y.batch, y.fromP, y.grade = ViaGlobal, n, model.NoProc, max(y.grade, GradeUnique)
	}
	local.set(slices.Concat(rest[:mine], h.global.items()[:more], rest[mine:]))
	h.global.drop(more)
	for _, a := range absent {
		h.put(a, PlaceGlobal, model.NoProc).via = ViaNone
		h.comesLater(a, x.from)
	}
	h.touch(p)
	h.touch(model.NoProc)
}
