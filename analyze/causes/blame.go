package causes

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/sums"
	"github.com/schedscope/schedscope/model"
)

// Blame attributes waiting to code. Time behind goroutines and in stopped worlds comes from
// [Analysis], see antagonists; this adds what blocked goroutines of the program:
//
//  1. A wait for a lock, a channel or the like is due to who ended it: the goroutine that
//     made the waiter runnable, at its stack then. It held the lock, or was late to send or
//     to receive. A wait that a timer ended is unknown.
//     Only the time since the one before got the lock is due to who released it: in a
//     queue each hands it to the next, but the first of them made all of them wait. The
//     one before is who released it, if that had waited itself; else who last stopped
//     waiting at the same stack. The time before that is due to whom it had waited for
//     the longest. Locks of the same code are taken for one, so that is inferred.
//     What it was meanwhile in that ended the wait shows in its own waits, see [blamedGo.waited], and in its CPU samples.
//  2. A wait of a new goroutine to run is due to who created it, by its start function, one after
//     a timer to where it slept. A wait that began and did not end is due to where it is, by start function.
//  3. The time in a system call is due to who called.
type Blame struct {
	tables *model.Tables
	waits  model.Waits
	causes *Analysis
	gos    sums.GoCells[blamedGo]
	gone   [64]model.GoID // those that ended last: whom they have woken may not run yet
	goes   int
	latest map[model.StackID]endedWait // for a lock, by where it waited
	sums   blameSums
	calls  blameCalls
	// All of the time that this divides: of waits that others end, by reason, of new goroutines
	// until they run, of those that timers woke, and of waits at the end.
	heldUp               []model.Duration
	created, timed, open model.Duration
	syscall              model.StringID
}

// Of waits from leastOwn on it is known what whoever ended them waited for meanwhile: at maxOwn places for each pair of stacks. Of
// its CPU samples the last are kept, up to maxRan.
const (
	leastOwn = 100_000 * model.Duration(1)
	maxOwn   = 8
	maxRan   = 256
)

// maxBlamed is how many pairs of stacks blame distinguishes; the rest is unknown.
const maxBlamed = 1 << 16

// blameSums are sums of time by what they are due to.
type blameSums struct {
	byID map[blockedID]*antagonist
	// latest are those counted last, by a part of their IDs: the same few follow each other,
	// and are found here at a fifth of what the map takes.
	latest [64]struct {
		id  blockedID
		sum *antagonist
	}
}

func newBlameSums() blameSums { return blameSums{byID: map[blockedID]*antagonist{}} }

// blameCalls are the system calls, which the Machine reports itself.
type blameCalls struct {
	blameSums
	of *Blame
}

// blamedGo is what is known of a goroutine.
type blamedGo struct {
	endedWait               // the latest one
	own       [3]ownWait    // see [blamedGo.waited]
	ran       []ranAt       // where CPU samples saw it
	woke      model.Time    // when it ended a wait last
	wokeAt    model.StackID // where that was
	ended     bool          // it has
}

// ownWait is a wait of any kind, or a system call, or several at the same place.
type ownWait struct {
	ownPlace
	start, end model.Time
	gaps       model.Duration
}

type ranAt struct {
	at    model.Time
	stack model.StackID
}

type ownPlace struct {
	what  model.StringID // reason to wait, "syscall" or "running"
	stack model.StackID
}

type ownTime struct {
	ownPlace
	d model.Duration
}

// endedWait is a wait for an event that has ended.
type endedWait struct {
	reason     model.StringID
	start, end model.Time
	holder     model.StackID // of a lock: to whom most of it is due; 0: not known
	lock       bool
}

// blockedID identifies a sum of time.
type blockedID struct {
	kind   blockedKind
	reason model.StringID // to wait
	// Where the wait was ended, the goroutine created, or the system called.
	stack  model.StackID
	waiter model.StackID  // where it waited for an event
	fn     model.StringID // start function of who called the system, of what was created, or of who is blocked at the end
}

type blockedKind uint8

const (
	blockedWait blockedKind = iota
	blockedCreated
	blockedTimer
	blockedOpen
	blockedSlow
	blockedShort
)

// NewBlame returns a Blame. What goroutines waited behind comes from c.
func NewBlame(t *model.Tables, c *Analysis) *Blame {
	b := &Blame{tables: t, waits: model.NewWaits(t), causes: c, latest: map[model.StackID]endedWait{}, sums: newBlameSums(),
		syscall: t.AddString(result.MeanwhileSyscall)}
	b.calls = blameCalls{newBlameSums(), b}
	return b
}

// Calls returns what observes system calls, which the Machine reports itself.
func (b *Blame) Calls() model.SyscallExitObserver { return &b.calls }

// Observe registers b with m, for what ends from now on.
func (b *Blame) Observe(m *model.Machine) {
	m.Observe(b)
	m.Observe(&b.calls)
}

// GoSpan implements [model.GoSpanObserver].
func (b *Blame) GoSpan(s *model.GoSpan) {
	if s.System {
		return
	}
	d := s.Duration()
	switch {
	case s.State == model.GoWaiting && s.OpenEnd:
		if !s.OpenStart {
			b.open += d
			b.sums.count(blockedID{kind: blockedOpen, stack: s.Stack, fn: s.Func}, d)
		}
	case s.State == model.GoWaiting:
		what := b.waits.Of(s.Reason)
		held := !s.OpenStart && what.HeldUp()
		if !held && d < leastOwn {
			return
		}
		x := b.gos.Cell(s.G)
		x.ended = false
		x.waited(s.Reason, s.Stack, s.Start, s.End)
		if held {
			x.endedWait = endedWait{reason: s.Reason, start: s.Start, end: s.End, lock: what == model.WaitGroup || what.Lock()}
			if n := int(s.Reason) + 1; n > len(b.heldUp) {
				b.heldUp = append(b.heldUp, make([]model.Duration, n-len(b.heldUp))...)
			}
			b.heldUp[s.Reason] += d
		}
	case s.State == model.GoRunnable:
		if s.WakerStack != 0 {
			if w := b.gos.Get(s.G); w != nil && w.end == s.Start && w.holder == 0 {
				b.released(&w.endedWait, s)
			}
		}
		switch {
		case s.Origin == model.OriginCreated && s.Waits():
			b.created += d
			if s.WakerStack != 0 {
				b.sums.count(blockedID{kind: blockedCreated, stack: s.WakerStack, fn: s.Func}, d)
			}
		case s.Origin == model.OriginTimer && s.Waits():
			b.timed += d
			if s.Stack != 0 {
				b.sums.count(blockedID{kind: blockedTimer, stack: s.Stack}, d)
			}
		}
	}
}

// waited notes a wait of a goroutine that has ended. Three are kept. It takes the place of one that ended longer ago than it
// took, which is less than half of any time that ends from now on, else that of the shortest. Those of a loop, which does
// little else and wakes nobody between them, are one.
func (x *blamedGo) waited(what model.StringID, stack model.StackID, start, end model.Time) {
	at, least, place := 0, model.Duration(math.MaxInt64), ownPlace{what, stack}
	if end.Sub(start) < leastOwn {
		return
	}
	for i := range x.own {
		o := &x.own[i]
		if gap := start.Sub(o.end); o.ownPlace == place && 8*gap <= end.Sub(start) && o.start >= x.woke {
			o.end, o.gaps = end, o.gaps+gap
			return
		}
		d := o.end.Sub(o.start)
		if end.Sub(o.end) > d {
			d = 0
		}
		if d < least {
			at, least = i, d
		}
	}
	x.own[at] = ownWait{ownPlace: place, start: start, end: end}
}

// Sample notes where a CPU sample saw a goroutine.
func (b *Blame) Sample(ev *model.Event) {
	if ev.G == model.NoGoroutine {
		return
	}
	x := b.gos.Cell(ev.G)
	if len(x.ran) == maxRan {
		x.ran = slices.Delete(x.ran, 0, maxRan/2)
	}
	x.ran = append(x.ran, ranAt{ev.Time, ev.Stack})
}

// released counts a wait that another goroutine ended.
func (b *Blame) released(w *endedWait, s *model.GoSpan) {
	id, from := blockedID{kind: blockedWait, reason: w.reason, stack: s.WakerStack, waiter: s.Stack}, w.start
	w.holder = s.WakerStack
	if w.lock {
		one := b.latest[s.Stack]
		if by := b.gos.Get(s.Waker); by != nil && by.holder != 0 && by.reason == w.reason && by.end > w.start {
			one = by.endedWait
		}
		if one.end > w.start && one.end < w.end {
			from = one.end
			b.sums.count(blockedID{kind: blockedWait, reason: w.reason, stack: one.holder, waiter: s.Stack}, from.Sub(w.start))
			if from.Sub(w.start) > w.end.Sub(from) {
				w.holder = one.holder
			}
		}
		b.latest[s.Stack] = *w
	}
	if x := b.sums.count(id, w.end.Sub(from)); w.end.Sub(from) >= leastOwn {
		x.ended(b.gos.Get(s.Waker), ownPlace{w.reason, s.Stack}, from, w.end)
	}
}

// ended notes where a goroutine, nil if it is not known, waited for more than half of a time at whose end it ended another's
// wait at a place, and where it ran.
func (x *antagonist) ended(by *blamedGo, at ownPlace, from, to model.Time) {
	if by == nil {
		x.own += to.Sub(from)
		return
	}
	if by.wokeAt == at.stack { // others in the queue had it before
		from = max(from, by.woke)
	}
	for i := range by.own {
		if by.own[i].ownPlace == at { // it was in the queue itself
			from = max(from, by.own[i].end)
		}
	}
	if from >= to { // it has gone on since
		return
	}
	by.woke, by.wokeAt = to, at.stack
	x.own += to.Sub(from)
	x.sampled(by, from, to)
	at.stack = 0
	most := to.Sub(from) / 2
	for i := range by.own {
		o := &by.own[i]
		d := min(o.end, to).Sub(max(o.start, from))
		if d > most { // in it gaps have the part that they have in all of it
			d -= share(o.gaps, int64(d), int64(o.end.Sub(o.start)))
		}
		if d > most {
			most, at = d, o.ownPlace
		}
	}
	if at.stack == 0 {
		return
	}
	for i := range x.meanwhile {
		if x.meanwhile[i].ownPlace == at {
			x.meanwhile[i].d += most
			return
		}
	}
	if len(x.meanwhile) < maxOwn {
		x.meanwhile = append(x.meanwhile, ownTime{at, most})
	}
}

// sampled counts where CPU samples saw a goroutine in a time.
func (x *antagonist) sampled(of *blamedGo, from, to model.Time) {
	for _, r := range slices.Backward(of.ran) {
		if r.at < from {
			break
		}
		if r.at < to {
			if x.ran == nil {
				x.ran = map[model.StackID]int64{}
			}
			x.ran[r.stack]++
		}
	}
}

// SyscallExit implements [model.SyscallExitObserver].
func (b *blameCalls) SyscallExit(s *model.SyscallExit) {
	id, d := blockedID{kind: blockedShort, stack: s.Stack, fn: s.Func}, s.End.Sub(s.Start)
	if d >= result.SlowSyscall {
		id.kind = blockedSlow
	}
	sum := b.count(id, d)
	if d >= leastOwn {
		x := b.of.gos.Cell(s.G)
		x.ended = false
		if id.kind == blockedSlow {
			sum.sampled(x, s.Start, s.End)
		}
		x.waited(b.of.syscall, s.Stack, s.Start, s.End)
	}
}

func (b *blameSums) count(id blockedID, d model.Duration) *antagonist {
	l := &b.latest[(3*id.waiter+id.stack)%model.StackID(len(b.latest))]
	if l.sum == nil || l.id != id {
		l.id, l.sum = id, b.find(id)
	}
	l.sum.count(d, 1, d)
	return l.sum
}

// find returns the sum with an ID, new if need be.
func (b *blameSums) find(id blockedID) *antagonist {
	if len(b.byID) >= maxBlamed && b.byID[id] == nil {
		id.stack, id.waiter = 0, 0
	}
	return sums.Entry(b.byID, id)
}

// GoEnd implements [model.GoEndObserver].
func (b *Blame) GoEnd(g *model.Goroutine) {
	last := &b.gone[b.goes%len(b.gone)]
	if x := b.gos.Get(*last); x != nil && x.ended { // else threads of C have called again
		b.gos.Drop(*last)
	}
	if x := b.gos.Get(g.ID); x != nil {
		x.ended = true
	}
	*last = g.ID
	b.goes++
}

// Result adds the results to v. What of a sum of the report has no row is unknown.
func (b *Blame) Result(v *result.Report) {
	rows := blameRows{tables: b.tables, rows: map[blameRowKey]*blameRow{}}
	a := &b.causes.antagonists
	maps.Copy(b.sums.byID, b.calls.byID)
	for id, x := range b.sums.byID {
		k := blameRowKey{kind: b.tables.String(id.reason)}
		switch id.kind {
		case blockedCreated:
			k.kind, k.waiter = result.BlameCreated, sums.NameOf(b.tables, id.fn)
		case blockedTimer:
			k.kind = result.BlameTimers
		case blockedOpen:
			k.kind, k.waiter = result.BlameOpen, sums.NameOf(b.tables, id.fn)
		case blockedSlow, blockedShort:
			k.kind, k.function = result.BlameInSlow, sums.NameOf(b.tables, id.fn)
			if id.kind == blockedShort {
				k.kind = result.BlameInShort
			}
		}
		rows.add(k, id.stack, id.waiter, basisSeen, x)
	}
	a.blame(&rows)
	v.Blame = result.Blame{Kinds: []result.BlameKind{}, Rows: []result.BlameRow{}}
	if v.Blame.Samples, v.Blame.SampledSpan = a.samples, a.last.Sub(a.first); a.samples > 0 {
		v.Blame.KeptSpan, v.Blame.KeptSamples = a.kept, a.keptSamples
	}
	rows.result(&v.Blame)
	complete := func(kind string, blocked bool, whole model.Duration) {
		if whole > 0 {
			v.Blame.Complete(kind, blocked, whole)
		}
	}
	for reason, d := range b.heldUp {
		complete(b.tables.String(model.StringID(reason)), true, d)
	}
	complete(result.BlameCreated, false, b.created)
	complete(result.BlameTimers, false, b.timed)
	complete(result.BlameOpen, true, b.open)
	for _, kind := range []string{result.BlameInSlow, result.BlameInShort} { // every call has a row
		if k := v.Blame.Kind(kind); k != nil {
			k.Blocked = true
		}
	}
	complete(result.CauseSTW.String(), false, b.causes.ByCause[result.CauseSTW].Total)
	v.Blame.Trim()
}

// Behind returns all the code that goroutines waited behind, runnable, as rows of a result
// in their order.
func (b *Blame) Behind() []result.BlameRow {
	rows := blameRows{tables: b.tables, rows: map[blameRowKey]*blameRow{}}
	b.causes.antagonists.blame(&rows)
	var v result.Blame
	rows.result(&v)
	v.Sort()
	return slices.DeleteFunc(v.Rows, func(r result.BlameRow) bool { return r.Kind == result.BlameAlone })
}

// blameRows collects rows.
type blameRows struct {
	tables *model.Tables
	rows   map[blameRowKey]*blameRow
}

// blameRowKey identifies a row. Names are texts: several IDs may be of one.
type blameRowKey struct{ kind, function, file, waiter, waiterFile string }

type blameRow struct {
	result.BlameRow
	variance float64 // of the estimate, in square nanoseconds
	stacks   map[basedStack]*antagonist
	lines    [2]map[uint64]model.Duration // of the function and of the waiter
	own      map[ownPlace]model.Duration  // where it was in waits, and in CPU samples
}

// basedStack is a stack on one basis.
type basedStack struct {
	model.StackID
	basis string
}

// add adds a time to the row of a stack, or to that of the function in k if the stack has none
// of the program.
func (b *blameRows) add(k blameRowKey, stack, waiter model.StackID, by basis, x *antagonist) *blameRow {
	var lines [2]uint64
	frames := b.tables.Stack(stack)
	switch f := result.PlaceIn(frames); {
	case k.function == result.CollectorName: // its stacks show where collections began
	case f != nil && k.function != "" && strings.HasPrefix(f.Func, "runtime."): // the runtime's own goroutine
	case f != nil && (by != basisWaits || result.OfProgram(f.Func)):
		k.function, k.file = f.Func, f.File
		if by != basisWaits {
			lines[0] = f.Line
		}
	case f == nil && isName(k.function) && result.OfProgram(k.function): // it was in its start function, as when it returned
		if by == basisUnknown {
			by = basisSeen
		}
	default:
		by = basisUnknown
	}
	if f := result.PlaceIn(b.tables.Stack(waiter)); f != nil {
		k.waiter, k.waiterFile, lines[1] = f.Func, f.File, f.Line
	}
	r := b.rows[k]
	if r == nil {
		r = &blameRow{BlameRow: result.BlameRow{Kind: k.kind, Function: k.function, File: k.file, Waiter: k.waiter, WaiterFile: k.waiterFile},
			stacks: map[basedStack]*antagonist{}, lines: [2]map[uint64]model.Duration{{}, {}}, own: map[ownPlace]model.Duration{}}
		b.rows[k] = r
	}
	r.Total += x.waited
	r.Turns += x.turns
	r.Longest = max(r.Longest, x.longest)
	r.Own += x.own
	for _, m := range x.meanwhile {
		r.own[m.ownPlace] += m.d
	}
	for stack, n := range x.ran {
		r.own[ownPlace{b.tables.AddString(result.MeanwhileRunning), stack}] += model.Duration(n) * result.SamplePeriod
	}
	*r.Of(by.String()) += x.waited
	if stack != 0 && by != basisUnknown {
		sums.Entry(r.stacks, basedStack{stack, by.String()}).count(x.waited, x.turns, 0)
	}
	for i, line := range lines {
		if line != 0 {
			r.lines[i][line] += x.waited
		}
	}
	return r
}

// isName reports whether a function is not a word for several or unknown ones.
func isName(function string) bool { return function != "" && function[0] != '(' }

// result writes the rows, and the sums of their kinds.
func (b *blameRows) result(v *result.Blame) {
	b.fold()
	for _, r := range b.rows {
		r.Line, r.WaiterLine = sums.Longest(r.lines[0]), sums.Longest(r.lines[1])
		r.StdErr = model.Duration(math.Sqrt(r.variance))
		byText := map[string]*result.BlameStack{}
		for id, x := range r.stacks {
			frames := result.Frames(b.tables.Stack(id.StackID))
			text := result.FramesText(frames) + id.basis
			if byText[text] == nil {
				byText[text] = &result.BlameStack{Stack: frames, Basis: id.basis}
			}
			byText[text].Total += x.waited
			byText[text].Turns += x.turns
		}
		texts := slices.SortedFunc(maps.Keys(byText), func(x, y string) int {
			return cmp.Or(cmp.Compare(byText[y].Total, byText[x].Total), cmp.Compare(x, y))
		})
		r.Stacks = make([]result.BlameStack, 0, len(texts))
		for _, text := range texts {
			r.Stacks = append(r.Stacks, *byText[text])
		}
		r.Meanwhile = b.meanwhile(r.own)
		v.Rows = append(v.Rows, r.BlameRow)
	}
	v.SumUp()
}

// meanwhile returns what whoever ended waits did before, by function of the program, each with a stack of its longest line.
func (b *blameRows) meanwhile(own map[ownPlace]model.Duration) (list []result.BlameMeanwhile) {
	type lines struct {
		result.BlameMeanwhile
		of     map[uint64]model.Duration
		stacks map[uint64]ownTime
	}
	functions := map[[3]string]*lines{}
	for at, d := range own {
		k, f := [3]string{b.tables.String(at.what)}, model.Frame{}
		if in := result.PlaceIn(b.tables.Stack(at.stack)); in != nil {
			f, k[1], k[2] = *in, in.Func, in.File
		}
		x := functions[k]
		if x == nil {
			x = &lines{result.BlameMeanwhile{What: k[0]}, map[uint64]model.Duration{}, map[uint64]ownTime{}}
			functions[k] = x
		}
		x.Total += d
		x.of[f.Line] += d
		if o := x.stacks[f.Line]; d > o.d || d == o.d && at.stack < o.stack {
			x.stacks[f.Line] = ownTime{at, d}
		}
	}
	for _, x := range functions {
		x.Stack = result.Frames(b.tables.Stack(x.stacks[sums.Longest(x.of)].stack))
		list = append(list, x.BlameMeanwhile)
	}
	return list
}

// fold adds rows of functions whose file no stack showed to those where one did.
func (b *blameRows) fold() {
	files := map[blameRowKey]blameRowKey{} // by the key without a file
	for k := range b.rows {
		bare := k
		bare.file = ""
		if old, ok := files[bare]; k.file != "" && (!ok || k.file < old.file) {
			files[bare] = k
		}
	}
	for bare, k := range files {
		from, into := b.rows[bare], b.rows[k]
		if from == nil {
			continue
		}
		into.Total += from.Total
		into.BlameBasis.Add(&from.BlameBasis)
		into.Turns += from.Turns
		into.Longest = max(into.Longest, from.Longest)
		into.Own += from.Own
		for at, d := range from.own {
			into.own[at] += d
		}
		into.Samples += from.Samples
		into.variance += from.variance
		for id, x := range from.stacks {
			sums.Entry(into.stacks, id).count(x.waited, x.turns, 0)
		}
		for i := range from.lines {
			for line, d := range from.lines[i] {
				into.lines[i][line] += d
			}
		}
		delete(b.rows, bare)
	}
}
