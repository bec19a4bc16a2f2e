package causes

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/sums"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// settle cuts a wait into cells, in [attribution.cut].
func (a *attribution) settle(w *wait) {
	from, search := w.start, w.end
	if w.known {
		search = w.search
	}
	if a.cut.bin = nil; from < w.end {
		a.cut.bin = a.c.bins.In(from, w.end)
	}
	base := min(a.activity.global.at(a.activity.global.first), w.end)
	if from < base {
		search = max(search, base)
		a.settleOld(w, base)
		from = base
	}
	if from < search {
		a.settleQueued(w, from, search)
	}
	if search < w.end {
		a.settleSearch(w, search)
	}
}

// add adds to a wait's cells.
func (x *cut) add(c Cause, d model.Duration) {
	if d != 0 {
		x.cells[c] += d
		x.causes |= 1 << c
	}
}

// part adds a part of the wait to its cells and to the series.
func (a *attribution) part(c Cause, from, to model.Time) {
	if d := to.Sub(from); d > 0 {
		a.cut.cells[c] += d
		a.cut.causes |= 1 << c
		a.place(c, from, to)
	}
}

// place adds a part of the wait to the series.
func (a *attribution) place(c Cause, from, to model.Time) {
	if b := a.cut.bin; b != nil { // nearly always
		b[c] += to.Sub(from)
		return
	}
	a.c.bins.add(c, from, to, 1)
}

// settleQueued finds the causes of the wait until the thread that ran it
// began to look for work.
func (a *attribution) settleQueued(w *wait, from, to model.Time) {
	p, grp := a.procOf(w), w.group()
	if p == nil {
		grp = groupUnresolved
	}
	k, causes := &a.activity.global, &globalCauses[grp]
	j := k.find(to, &k.to)
	if y := k.point(j); k.at(j) <= from && y.class != classTaken { // short, as most are
		a.part(causes[y.class], from, to)
		if y.class == classSTW {
			a.c.antagonists.stop(y, to.Sub(from), 1)
		}
		return
	}
	i := k.find(from, &k.from)
	a.placeGlobal(i, j, from, to, grp)
	x, y := k.point(i), k.point(j)
	taken := y.sums[classTaken] - x.sums[classTaken]
	for class := range classTaken {
		a.cut.add(causes[class], y.sums[class]-x.sums[class])
	}
	if before := from.Sub(k.at(i)); x.class == classTaken {
		taken -= before
	} else {
		a.cut.add(causes[x.class], -before)
	}
	if within := to.Sub(k.at(j)); y.class == classTaken {
		taken += within
	} else {
		a.cut.add(causes[y.class], within)
	}
	switch {
	case taken == 0:
	case p == nil:
		a.cut.add(result.CauseUnresolved, taken)
	default:
		before := a.activity.takenIn(i, from)
		a.settleBehind(p, from, to, before, before+taken)
	}
}

// placeGlobal notes which segments of the program's track the wait covers.
func (a *attribution) placeGlobal(i, j int, from, to model.Time, g group) {
	if i == j {
		a.placePhase(i, from, to, g)
		return
	}
	k := &a.activity.global
	k.cover(i, j, g)
	a.placePhase(i, from, k.at(i+1), g)
	a.placePhase(j, k.at(j), to, g)
}

// placePhase notes a part of a segment of the program's track.
func (a *attribution) placePhase(i int, from, to model.Time, g group) {
	p := a.activity.global.point(i)
	if p.class != classTaken || g == groupUnresolved {
		a.place(globalCauses[g][p.class], from, to)
	}
	if p.class == classSTW {
		a.c.antagonists.stop(p, to.Sub(from), 1)
	}
}

// settleBehind finds the causes of the wait while all procs were taken. The
// times are before and after on the proc's clock.
func (a *attribution) settleBehind(p *procActivity, from, to model.Time, before, after model.Duration) {
	i, j := p.find(from, &p.from), p.find(to, &p.to)
	x, y := p.point(i), p.point(j)
	p.cutBetween(&a.cut, x, y, before, after)
	if i == j {
		a.placeBehind(x, from, to, before, after)
		return
	}
	p.cover(i, j)
	a.placeBehind(x, from, p.at(i+1), before, p.point(i+1).clock)
	a.placeBehind(y, p.at(j), to, y.clock, after)
}

// placeBehind notes a part of a segment that the wait was behind.
func (a *attribution) placeBehind(x *point, from, to model.Time, before, after model.Duration) {
	if after > before {
		x.waited += after - before
		x.turns++
		a.addTaken(heldCauses[x.class], from, to, before, after-before, 1)
	}
}

// procOf returns the proc on which the wait depended, nil if unknown.
func (a *attribution) procOf(w *wait) *procActivity {
	if !w.known || w.contra || w.source == runqueue.SourceUnknown || w.proc < 0 || int(w.proc) >= len(a.activity.procs) {
		return nil
	}
	return a.activity.procs[w.proc]
}

// group returns what the wait's cause depends on while a proc is idle.
func (w *wait) group() group {
	switch w.source {
	case runqueue.SourceLocked:
		return groupLocked
	case runqueue.SourceRunnext, runqueue.SourceStealRunnext:
		return groupRunnext
	}
	return groupPlain
}

// settleSearch finds the causes of the wait from when the thread that ran it
// began to look for work.
func (a *attribution) settleSearch(w *wait, from model.Time) {
	slow := result.CauseOSScheduler
	if w.clamped || w.contra || w.source == runqueue.SourceUnknown {
		slow = result.CauseUnresolved // the end may be moved, or the thread may have slept
	}
	k := &a.activity.global
	stopped := from < a.activity.runs && k.between(k.find(from, &k.from), k.find(w.end, &k.to), from, w.end)[classSTW] > 0
	picked := from + model.Time(min(w.pickup, w.end.Sub(from)))
	a.searched(result.CausePickup, from, picked, stopped)
	slept := picked
	if !w.contra && w.backoff > 0 {
		slept += model.Time(min(w.backoff, w.end.Sub(picked)))
		a.searched(result.CauseBackoff, picked, slept, stopped)
	}
	a.searched(slow, slept, w.end, stopped)
}

// searched adds a part, except for what the world was stopped in it, if it was.
func (a *attribution) searched(c Cause, from, to model.Time, stopped bool) {
	if !stopped || to <= from {
		a.part(c, from, to)
		return
	}
	k := &a.activity.global
	i, j := k.find(from, &k.from), k.find(to, &k.to)
	d := k.between(i, j, from, to)[classSTW]
	a.cut.add(result.CauseSTW, d)
	a.cut.add(c, to.Sub(from)-d)
	for ; i <= j; i++ {
		p, begin, end, cause := k.point(i), max(from, k.at(i)), to, c
		if i < j {
			end = k.at(i + 1)
		}
		if p.class == classSTW {
			cause = result.CauseSTW
			a.c.antagonists.stop(p, end.Sub(begin), 1)
		}
		a.place(cause, begin, end)
	}
}

// settleOld finds the causes of the wait before the time from which the
// tracks are kept. Its place in time, and who was there, are known no more.
func (a *attribution) settleOld(w *wait, base model.Time) {
	var cells Totals
	k := &a.activity.global
	v, ok := k.oldAt(w.start)
	if !ok || base != k.at(k.first) {
		cells[result.CauseUnresolved] = base.Sub(w.start)
	} else {
		p, grp := a.procOf(w), w.group()
		if p == nil {
			grp = groupUnresolved
		}
		sums := k.sumsAt(k.first, base).minus(&v)
		for class := range classTaken {
			cells[globalCauses[grp][class]] += sums[class]
		}
		a.oldBehind(w.start, p, &cells, sums[classTaken])
	}
	for c, d := range cells {
		a.cut.add(Cause(c), d)
		a.c.bins.spread(Cause(c), w.start, base, d)
	}
}

// oldBehind is settleOld for the time in which all procs were taken.
func (a *attribution) oldBehind(start model.Time, p *procActivity, cells *Totals, taken model.Duration) {
	if p == nil {
		cells[result.CauseUnresolved] += taken
		return
	}
	sums := p.sumsAt(p.first, p.point(p.first).clock)
	if v, ok := p.oldAt(start); ok {
		sums = sums.minus(&v)
	} else {
		cells[result.CauseUnresolved] += taken - sums.total()
	}
	for class, cause := range heldCauses {
		cells[cause] += sums[class]
		if d := sums[class]; cause.Behind() && d > 0 {
			a.c.antagonists.addEarlier(uint8(class), d)
			a.cut.blockers = append(a.cut.blockers, result.Blocker{Goroutine: model.NoGoroutine, Function: earlierName, Work: workOfClass(uint8(class)).String(),
				Syscall: class == heldSyscall, Total: d})
		}
	}
}

func (v *vector) total() model.Duration {
	var sum model.Duration
	for _, d := range v {
		sum += d
	}
	return sum
}

// maxBlockers is how many blockers of a wait are named.
const maxBlockers = 10

// turnKey is who had a proc, and in which way, and turnSum for how long.
type (
	turnKey struct {
		g     model.GoID
		class uint8
	}
	turnSum struct {
		turnKey
		fn    model.StringID
		total model.Duration
	}
)

// nameBlockers finds out whom the wait was behind: the only walk over all that
// happened while it lasted, for the worst waits alone.
func (a *attribution) nameBlockers(w *worstWait) {
	if w.named {
		return
	}
	w.named = true
	p := a.procOf(&w.wait)
	from := max(w.start, a.activity.global.at(a.activity.global.first))
	if p == nil || w.search <= from {
		return
	}
	if a.where == nil {
		a.where = map[turnKey]int{}
	}
	clear(a.where)
	turns, where := a.sums[:0], a.where // there may be 100,000 of them
	for i := p.find(from, &p.from); i < p.end && p.at(i) < w.search; i++ {
		x := p.point(i)
		begin := x.clock
		if p.at(i) < from {
			begin = a.activity.takenAt(from)
		}
		d := p.clockUntil(i, w.search, &a.activity) - begin
		if d <= 0 || !heldCauses[x.class].Behind() {
			continue
		}
		k := turnKey{x.g, x.class}
		n, ok := where[k]
		if !ok {
			n = len(turns)
			where[k] = n
			turns = append(turns, turnSum{turnKey: k, fn: x.fn})
		}
		turns[n].total += d
	}
	best := sums.Top[result.Blocker]{Limit: maxBlockers, Compare: func(x, y result.Blocker) int {
		return cmp.Or(cmp.Compare(y.Total, x.Total), cmp.Compare(x.Goroutine, y.Goroutine), cmp.Compare(x.Work, y.Work), compareBools(x.Syscall, y.Syscall))
	}}
	for _, b := range w.blockers {
		best.Add(b)
	}
	a.sums = turns
	for _, s := range turns {
		if last, full := best.Full(); full && s.total < last.Total {
			continue
		}
		best.Add(result.Blocker{Goroutine: s.g, Function: sums.NameOf(a.tables, s.fn), Work: workOfClass(s.class).String(), Syscall: s.class == heldSyscall, Total: s.total})
	}
	w.blockers = best.Items
}

// explain says of the worst waits what they were lost to.
func (a *attribution) explain(waits []result.Wait) {
	type key struct {
		start model.Time
		g     model.GoID
	}
	known := map[key]*worstWait{}
	for _, w := range a.worst.Items {
		known[key{a.c.Offset(w.start), w.g}] = w
	}
	for i := range waits {
		x := &waits[i]
		w := known[key{x.Start, x.Goroutine}]
		if w == nil {
			continue
		}
		x.Causes = w.cells.Cells()
		x.Blockers = append(x.Blockers, w.blockers...)
	}
}

// clockUntil returns the proc's clock at the end of segment i or at t, whichever
// is earlier.
func (p *procActivity) clockUntil(i int, t model.Time, w *activity) model.Duration {
	if i+1 < p.end && p.at(i+1) <= t {
		return p.point(i + 1).clock
	}
	return w.takenAt(t)
}

// workOfClass returns the kind of work of a proc's class, WorkUser if it has none.
func workOfClass(class uint8) model.WorkKind {
	return model.WorkKind(max(int(model.WorkUser), slices.Index(workClasses[:], class)))
}
