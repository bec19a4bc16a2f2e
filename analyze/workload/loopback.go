package workload

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/schedscope/schedscope/model"
)

// A trace shows that the network poller woke a goroutine, not which file it waited for nor
// what made that ready. What the program itself does is inferred from evidence: names of
// functions decide nothing except what accepts and what connects.
//
//  1. The operation that waits is the innermost frame of the wait's stack, as the trace
//     leaves out the poller's own (runtime/netpoll.go: netpollblock). A system call
//     belongs to the operation that is innermost on its stack, of those that ever waited.
//  2. A call that is followed by a wait in its own operation has failed and did nothing. If
//     it came after such a wait, too, that one ended for nothing (the poller is
//     edge-triggered and reports what has been read meanwhile), and has no cause.
//  3. Any other call may have ended the wait of another goroutine in another operation: a write
//     that of a reader, a read that of a writer who had found no room, a close that of
//     either. Not if the names of the system calls show that both take data, or both
//     give.
//  4. Where nearly every wait of a goroutine at one place ends shortly after the last
//     call of one kind, by its innermost function, of one other goroutine, that call is
//     taken for the cause.
//  5. Of what is left: the same for calls from one place of all goroutines that one has created,
//     such as those that answer a request each. From here on, what a goroutine has created does not
//     end its own waits: it answers what that one has read, as in a server of DNS.
//  6. Of what is left: where nearly every wait at one place, of any goroutine, ends
//     shortly after a call from one place, by whichever goroutine. This finds
//     connections that do not last.
//  7. Of what is left: the same for waits in one operation of goroutines with one start function, and calls of one kind of
//     those with one. This finds connections of a pool, which each kind of request uses from a stack of its own.
//  8. Which of several goroutines' calls ended which wait, of kinds that 5 to 7 have tied to each other: a poll finds what has
//     become ready since the one before, and wakes in the opposite order, but the latest last
//     (runtime/netpoll_epoll.go: netpoll; runtime/proc.go: findRunnable, injectglist). So waits are matched in this order
//     with what each goroutine called first since the poll before, as many as can be. One whose calls one reader follows
//     much more often than others has a connection with that one only.
//
// For goroutines that accept connections connects count, of any goroutine. Who connects to the
// program itself is connected when the call returns. A call is the cause of one wake at most.
//
// It can be wrong where independent streams run in step, and where data was
// found late, when the writer had written again: then the wake hangs on a later
// call. What is not explained stays external.
const (
	loopbackWakes = 3   // of a reader at a place
	loopbackScan  = 512 // calls looked at before each wake
	// A call counts only if it ended after the reader began to wait, to this
	// much: the two threads' events are not in exact order.
	loopbackSlack = 10 * 1000 * model.Duration(1)
	// loopbackGap stands for the gap of a wake without a call, and is the most that
	// counts.
	loopbackGap = 100 * 1000 * 1000 * model.Duration(1)
	anyDialer   = -1 // in place of a writer: all that connect
	// idleMost is for how long a proc is idle at most, typically, between a call and the wake that it causes: who
	// sleeps in the poller then is woken at once.
	idleMost = 200 * 1000 * model.Duration(1)
	// surelyMore is by how many standard deviations the waits with a write in them must be more
	// than by chance.
	surelyMore = 5
	// sameList is more than passes between two wakes of one list of the poller, as a rule.
	sameList = 2000
	// surelyFound are so many wakes that it cannot be by chance that no poll came between a write and any of them.
	surelyFound = 20
	// acceptGap is how long after a connect it is accepted at most, typically.
	acceptGap = 1000 * 1000 * model.Duration(1)
)

// linker finds the system calls behind network wakes.
type linker struct {
	w       *window
	places  *places
	ops     numbers[string]         // operations that wait, from 1; 0: none
	dirs    []direction             // by operation
	opAt    map[model.StackID]int32 // that system calls belong to, by stack; 0: none
	kinds   numbers[string]         // of calls
	writes  []netWrite              // by beginning
	waits   []netWait
	writers []writer        // of the present round
	scores  []score         // by writer
	accepts int             // goroutines that accept connections
	single  bool            // the present round is about the calls of one goroutine
	found   map[tied]bool   // see rematch
	only    map[int32]int32 // the only reader of a goroutine that writes
	lengths []int32         // see match
}

// netWrite is a system call that may have sent something: a write, as a rule.
type netWrite struct {
	waiting
	latest  model.Time // end of this one and all before it
	writer  int32      // index of whose it is in the present round
	op      int32
	kind    int32
	dir     direction
	dial    bool
	claimed bool
}

// netWait is a wait for the network.
type netWait struct {
	waiting
	since     model.Time // what had been sent by then would have been found
	calls     int        // that had begun by its end
	stack     model.StackID
	op        int32
	explained bool
	cause     *netWrite
	sure      bool // by the only goroutine that can be
	poll      poll
}

// poll is the place of a wait in what a poll found.
type poll struct {
	number int32
	place  int32      // in the order in which it was ready
	since  model.Time // when the poll before found something
}

// reader is whoever waits for data in the present round: a goroutine at a place, or
// all goroutines there.
type reader struct {
	first  bool // of one goroutine's calls the first since the wait began counts, else the last of all
	accept bool
	waits  []int32 // in order of time
	best   float64 // share of wakes explained, less the mean gap in parts of loopbackGap
}

// writer sums up the writes of a writer.
type writer struct {
	writes      int
	fn          model.StringID // start function of all who did, 0 if they have several
	first, last model.Time
}

// inferLoopback makes network waits that the program itself ends EndNetwork and puts
// an OpSend behind the calls that end them. A few writes return long after they
// have sent, because the reader's thread took the processor from the writer's: where the
// wake came before, the OpSend stands in front of the end of the call.
func (w *window) inferLoopback(p *places) {
	if len(w.nets) == 0 || len(w.calls) == 0 {
		return
	}
	l := linker{w: w, places: p, ops: numbers[string]{"": 0}, dirs: make([]direction, 1), opAt: map[model.StackID]int32{},
		kinds: numbers[string]{}}
	for _, x := range w.nets {
		f := innermost(w.Tables.Stack(w.Goroutines[x.g].Segments[x.seg].Stack))
		if int(l.ops.of(f)) == len(l.dirs) {
			l.dirs = append(l.dirs, 0)
		}
	}
	network := w.Tables.AddString("network")
	caused := map[[2]int32]bool{}      // waits that nobody else's call ended
	tried := map[[2]int32]model.Time{} // when what is waited for was last tried
	var dials []*Segment               // the waits that follow them
	connects, accepted := 0, 0
	accepting := map[int32]bool{}
	for _, x := range w.calls {
		g := &w.Goroutines[x.g]
		if g.Tracer || g.System {
			continue
		}
		stack := g.Segments[x.seg].Stack
		f := innermost(w.Tables.Stack(stack))
		c := netWrite{waiting: x, op: l.opOf(stack), kind: l.kinds.of(f), dir: directionOf(f), dial: p.of(stack).flags&placeConnect != 0}
		if int(x.seg)+1 < len(g.Segments) {
			next := &g.Segments[x.seg+1]
			if c.dial && next.Reason == network {
				caused[[2]int32{x.g, x.seg + 1}] = true
				dials = append(dials, next)
			}
			if c.op > 0 && next.Reason == network && l.ops[innermost(w.Tables.Stack(next.Stack))] == c.op {
				l.dirs[c.op] |= c.dir
				caused[[2]int32{x.g, x.seg - 1}] = true
				tried[[2]int32{x.g, x.seg + 1}] = x.from
				continue
			}
		} else {
			c.claimed = true // behind the last segment there is nothing to send from
		}
		if c.dial {
			connects++
		} else if c.op > 0 && p.of(stack).flags&placeAccept != 0 {
			accepted++
			accepting[x.g] = true
		}
		l.writes = append(l.writes, c)
	}
	l.accepts = len(accepting)
	if 2*accepted >= connects {
		for _, x := range dials {
			if x.End == EndExternal {
				x.Class, x.Delay = ClassLoopback, min(x.Delay, 1)
			}
		}
	}
	slices.SortStableFunc(l.writes, func(a, b netWrite) int { return cmp.Compare(a.from, b.from) })
	latest := model.Time(math.MinInt64)
	for i := range l.writes {
		latest = max(latest, l.writes[i].to)
		l.writes[i].latest = latest
	}
	polls := w.polls()
	for i, x := range w.nets {
		stack := w.Goroutines[x.g].Segments[x.seg].Stack
		if k := [2]int32{x.g, x.seg}; !caused[k] {
			since, ok := tried[k]
			if !ok {
				since = x.from - model.Time(loopbackSlack)
			}
			calls := sort.Search(len(l.writes), func(i int) bool { return l.writes[i].from > x.to })
			l.waits = append(l.waits, netWait{waiting: x, since: since, calls: calls, stack: stack, op: l.ops[innermost(w.Tables.Stack(stack))], poll: polls[i]})
		}
	}
	stackOf := func(x *netWrite) model.StackID { return w.Goroutines[x.g].Segments[x.seg].Stack }
	single := func(x *netWait) waitSite { return waitSite{x.g, x.stack} }
	l.round(true, single, func(x *netWrite) [2]int32 { return [2]int32{x.g, x.kind} })
	l.round(false, single, func(x *netWrite) [2]int32 { return [2]int32{w.side[x.g].creator, int32(stackOf(x))} })
	l.round(false, func(x *netWait) waitSite { return waitSite{-1, x.stack} }, func(x *netWrite) [2]int32 { return [2]int32{int32(stackOf(x))} })
	l.round(false, func(x *netWait) waitSite { return waitSite{int32(w.Goroutines[x.g].Func), model.StackID(x.op)} },
		func(x *netWrite) [2]int32 { return [2]int32{int32(w.Goroutines[x.g].Func), x.kind} })
	l.rematch()
	for i := range l.waits {
		if x := &l.waits[i]; x.cause != nil {
			l.send(x.cause, x)
		}
	}
}

// pollMost is what a poll finds at most (runtime/netpoll_epoll.go: netpoll).
const pollMost = 128

// polls returns which poll found each wait for the network.
func (w *window) polls() []poll {
	out := make([]poll, len(w.nets))
	since := model.Time(math.MinInt64 / 2) // something is subtracted
	for i, j, n := 0, 0, int32(0); i < len(w.nets); i, n = j, n+1 {
		for j = i + 1; j < len(w.nets) && j-i < pollMost && w.nets[j].to.Sub(w.nets[j-1].to) <= sameList; j++ {
		}
		last := j - 1
		for k := i; k < j; k++ {
			out[k] = poll{n, int32(last - 1 - k), since}
		}
		out[last].place = int32(last - i)
		if j < len(w.nets) && w.nets[j].to.Sub(w.nets[last].to) > sameList {
			since = w.nets[last].to // else the next one found what was ready as long ago
		}
	}
	return out
}

// tied is what ties have in common: reader and operation, writer and kind of call, by start functions; or one side of it.
type tied struct {
	reader, writer model.StringID
	op, kind       int32
}

func (l *linker) tied(w *netWrite, x *netWait) tied {
	return tied{l.w.Goroutines[x.g].Func, l.w.Goroutines[w.g].Func, x.op, w.kind}
}

// ofReader and ofWriter are the sides of a tie.
func (l *linker) ofReader(x *netWait) tied {
	return tied{reader: l.w.Goroutines[x.g].Func, op: x.op, kind: -1}
}
func (l *linker) ofWriter(w *netWrite) tied {
	return tied{writer: l.w.Goroutines[w.g].Func, op: -1, kind: w.kind}
}

// rematch ties waits to calls of the kinds that were found, poll by poll (8). What it cannot match keeps its call, if no other
// wait has got that, or gets the latest of the kind.
func (l *linker) rematch() {
	l.found = map[tied]bool{}
	before := make([]*netWrite, len(l.waits))
	for i := range l.waits {
		x := &l.waits[i]
		if x.cause == nil || x.sure {
			continue
		}
		before[i] = x.cause
		l.found[l.tied(x.cause, x)], l.found[l.ofReader(x)], l.found[l.ofWriter(x.cause)] = true, true, true
		x.cause.claimed, x.cause = false, nil
	}
	if len(l.found) == 0 {
		return
	}
	l.pairUp()
	var list []int32
	for i, j := 0, 0; i < len(l.waits); i = j {
		list = list[:0]
		for ; j < len(l.waits) && l.waits[j].poll.number == l.waits[i].poll.number; j++ {
			if x := &l.waits[j]; x.cause == nil && l.found[l.ofReader(x)] {
				list = append(list, int32(j))
			}
		}
		l.match(list)
		for _, k := range list {
			if x := &l.waits[k]; x.cause == nil && before[k] != nil && !before[k].claimed {
				l.tie(before[k], x)
			}
		}
	}
	for i := range l.waits {
		x := &l.waits[i]
		if x.cause != nil || before[i] == nil {
			continue
		}
		l.each(false, x, func(w *netWrite) bool {
			if l.fits(w, x) > 0 {
				l.tie(w, x)
			}
			return x.cause == nil
		})
	}
}

// A goroutine has a connection with one reader only if the poll after its calls, at least pairCalls, woke that one in
// pairLeast of a hundred cases, and pairMore percent more often than any other.
const (
	pairCalls = 10
	pairLeast = 60
	pairMore  = 30
)

// pairUp finds the goroutines that have a connection with one reader only.
func (l *linker) pairUp() {
	calls, woken := map[int32]int{}, map[[2]int32]int{}
	for i := range l.writes {
		w := &l.writes[i]
		k := sort.Search(len(l.waits), func(k int) bool { return l.waits[k].to >= w.to })
		if w.dial || k == len(l.waits) || !l.found[l.ofWriter(w)] {
			continue
		}
		calls[w.g]++
		for n := l.waits[k].poll.number; k < len(l.waits) && l.waits[k].poll.number == n; k++ {
			if x := &l.waits[k]; w.to >= x.since && l.found[l.tied(w, x)] {
				woken[[2]int32{w.g, x.g}]++
			}
		}
	}
	type most struct {
		reader    int32
		n, second int
	}
	of := map[int32]most{}
	for k, n := range woken {
		switch m := of[k[0]]; {
		case n > m.n || n == m.n && k[1] < m.reader:
			of[k[0]] = most{k[1], n, m.n}
		case n > m.second:
			m.second = n
			of[k[0]] = m
		}
	}
	l.only = map[int32]int32{}
	for g, m := range of {
		if n := calls[g]; n >= pairCalls && m.n*100 >= n*pairLeast && m.n*100 >= m.second*(100+pairMore) {
			l.only[g] = m.reader
		}
	}
}

// match ties as many waits that one poll found as can be to the calls since the one before, in order: the longest common
// subsequence, where pairs that are likelier count for more.
func (l *linker) match(waits []int32) {
	if len(waits) == 0 {
		return
	}
	var calls []*netWrite // of each goroutine the first, latest first
	x := &l.waits[waits[len(waits)-1]]
	since, first := x.poll.since-model.Time(sameList), map[int32]int{}
	for k := x.calls - 1; k >= max(0, x.calls-8*loopbackScan) && l.writes[k].latest >= since && len(calls) < loopbackScan; k-- {
		w := &l.writes[k]
		if w.claimed || w.dial || w.to < since || !l.found[l.ofWriter(w)] {
			continue
		}
		if n, ok := first[w.g]; ok {
			calls[n] = nil
		}
		first[w.g] = len(calls)
		calls = append(calls, w)
	}
	calls = slices.DeleteFunc(calls, func(w *netWrite) bool { return w == nil })
	slices.Reverse(calls)
	slices.SortFunc(waits, func(a, b int32) int { return cmp.Compare(l.waits[a].poll.place, l.waits[b].poll.place) })
	n := len(calls) + 1
	l.lengths = append(l.lengths[:0], make([]int32, (len(waits)+1)*n)...)
	best := func(a, b int) *int32 { return &l.lengths[a*n+b] }
	for a := len(waits) - 1; a >= 0; a-- {
		for b := len(calls) - 1; b >= 0; b-- {
			*best(a, b) = max(*best(a+1, b), *best(a, b+1))
			if fits := l.fits(calls[b], &l.waits[waits[a]]); fits > 0 {
				*best(a, b) = max(*best(a, b), fits+*best(a+1, b+1))
			}
		}
	}
	for a, b := 0, 0; a < len(waits) && b < len(calls); {
		switch fits := l.fits(calls[b], &l.waits[waits[a]]); {
		case fits > 0 && *best(a, b) == fits+*best(a+1, b+1):
			l.tie(calls[b], &l.waits[waits[a]])
			a, b = a+1, b+1
		case *best(a, b) == *best(a+1, b):
			a++
		default:
			b++
		}
	}
}

// fits says how likely it is that a call ended a wait, 0 if it cannot have.
func (l *linker) fits(w *netWrite, x *netWait) int32 {
	if w.from > x.to || !l.mayEnd(w, x) || !l.found[l.tied(w, x)] {
		return 0
	}
	reader, ok := l.only[w.g]
	switch {
	case ok && reader != x.g:
		return 0
	case ok:
		return 15
	case x.explained:
		return 10
	}
	return 9
}

// direction says whether a system call takes data, or connections, or gives them: 0 if its name shows
// neither.
type direction uint8

const (
	takes direction = 1 << iota
	gives
)

func directionOf(call string) direction {
	call = strings.ToLower(call[strings.LastIndexByte(call, '.')+1:])
	switch {
	case strings.Contains(call, "read"), strings.Contains(call, "recv"), strings.Contains(call, "accept"):
		return takes
	case strings.Contains(call, "write"), strings.Contains(call, "send"), strings.Contains(call, "connect"):
		return gives
	}
	return 0
}

// innermost returns the function of a stack's innermost frame, without the poller's own.
func innermost(frames []model.Frame) string {
	for _, f := range frames {
		if !strings.HasPrefix(f.Func, "internal/poll.(*pollDesc).") && !strings.HasPrefix(f.Func, "internal/poll.runtime_") {
			return f.Func
		}
	}
	return ""
}

// opOf returns the operation that a system call belongs to, 0 for none that ever waited.
func (l *linker) opOf(stack model.StackID) int32 {
	op, ok := l.opAt[stack]
	if !ok {
		for _, f := range l.w.Tables.Stack(stack) {
			if op = l.ops[f.Func]; op > 0 {
				break
			}
		}
		l.opAt[stack] = op
	}
	return op
}

// round explains what is left, for each reader by one writer, best explained first.
func (l *linker) round(first bool, readerOf func(*netWait) waitSite, writerOf func(*netWrite) [2]int32) {
	l.writers, l.single = l.writers[:0], first
	number := numbers[[2]int32]{}
	for i := range l.writes {
		x := &l.writes[i]
		key := writerOf(x)
		if x.dial {
			key = [2]int32{anyDialer}
		}
		n := number.of(key)
		if int(n) == len(l.writers) {
			l.writers = append(l.writers, writer{fn: l.w.Goroutines[x.g].Func})
		}
		x.writer = n
		if x.claimed {
			continue
		}
		if l.writers[n].fn != l.w.Goroutines[x.g].Func {
			l.writers[n].fn = 0
		}
		if l.writers[n].writes == 0 {
			l.writers[n].first = x.from
		}
		l.writers[n].writes++
		l.writers[n].last = x.from
	}
	l.scores = make([]score, len(l.writers))
	list := l.group(first, readerOf)
	ranked := list[:0]
	for _, r := range list {
		if best := l.best(&r); best != nil {
			n := float64(len(r.waits))
			r.best = float64(best.wakes)/n - float64(best.gap)/n/float64(loopbackGap)
			ranked = append(ranked, r)
		}
	}
	slices.SortStableFunc(ranked, func(a, b reader) int { return cmp.Compare(b.best, a.best) })
	for i := range ranked {
		l.claim(&ranked[i])
	}
}

// group sorts the waits that are not explained yet by reader.
func (l *linker) group(first bool, readerOf func(*netWait) waitSite) (list []reader) {
	at := map[waitSite]int{}
	for i := range l.waits {
		x := &l.waits[i]
		if x.explained {
			continue
		}
		site := readerOf(x)
		k, ok := at[site]
		if !ok {
			k = len(list)
			at[site] = k
			list = append(list, reader{first: first, accept: l.places.of(x.stack).flags&placeAccept != 0})
		}
		list[k].waits = append(list[k].waits, int32(i))
	}
	return list
}

// each calls f with the calls that may have ended a wait, latest first, until f
// returns false.
func (l *linker) each(accept bool, x *netWait, f func(*netWrite) bool) {
	least, earliest := max(0, x.calls-8*loopbackScan), x.from-model.Time(loopbackGap)
	for i, n := x.calls, 0; i > least && n < loopbackScan; {
		i--
		w := &l.writes[i]
		if w.from < earliest || w.latest < x.since {
			return
		}
		if w.claimed || w.dial != accept || !l.mayEnd(w, x) {
			continue
		}
		n++
		if !f(w) {
			return
		}
	}
}

// mayEnd reports whether nothing is known that speaks against a call's having ended a wait.
func (l *linker) mayEnd(w *netWrite, x *netWait) bool {
	return w.g != x.g && w.op != x.op && w.to >= x.since && (w.dir == 0 || w.dir != l.dirs[x.op]) && (l.single || w.dial || l.w.side[w.g].creator != x.g)
}

// score is how well the writes of one writer explain the wakes of a reader.
type score struct {
	writer int32
	wakes  int
	gap    model.Duration // sum
	stamp  int
	gaps   []model.Duration
	of     []int32          // the waits
	sent   []model.Time     // by when what they waited for was sent
	idle   []model.Duration // for how long procs were idle in the gaps
}

// best returns the writer that explains a reader's wakes best, nil if none does well
// enough.
func (l *linker) best(r *reader) *score {
	if len(r.waits) < loopbackWakes && !r.accept {
		return nil
	}
	var order []*score
	for k, i := range r.waits {
		x := &l.waits[i]
		l.each(r.accept, x, func(w *netWrite) bool {
			s := &l.scores[w.writer]
			if s.wakes == 0 {
				*s = score{writer: w.writer, stamp: -1, gaps: s.gaps[:0], idle: s.idle[:0], of: s.of[:0], sent: s.sent[:0]}
				order = append(order, s)
			}
			gap, idle := min(x.to.Sub(w.from), loopbackGap), max(x.idle-w.idle, 0)
			sent := max(w.to, w.from+model.Time(loopbackSlack))
			if last := s.wakes - 1; s.stamp != k {
				s.stamp = k
				s.wakes++
				s.gap += gap
				s.gaps, s.idle, s.of, s.sent = append(s.gaps, gap), append(s.idle, idle), append(s.of, i), append(s.sent, sent)
			} else if r.first {
				s.gap += gap - s.gaps[last]
				s.gaps[last], s.idle[last], s.sent[last] = gap, idle, sent
			}
			return !w.dial
		})
	}
	var best *score
	for _, s := range order {
		if s.wakes*10 >= len(r.waits)*9 && l.plausible(r, s) {
			s.gap += loopbackGap * model.Duration(len(r.waits)-s.wakes)
			if best == nil || s.gap < best.gap {
				c := *s
				best = &c
			}
		}
		s.wakes = 0 // for the next reader
	}
	return best
}

// plausible reports whether the poller, where it had nothing else to do, found at once what was written, and mostly did
// not pass it over; and, if that alone does not prove it, whether the writes come closer before the wakes than those of
// somebody independent would (the median gap to the last of them would be 0.7 of
// the mean time between writes), or fall into more of the waits than theirs would by chance.
func (l *linker) plausible(r *reader, s *score) bool {
	x := &l.writers[s.writer]
	slices.Sort(s.idle)
	if !r.accept {
		switch n := l.foundAtOnce(s); {
		case s.idle[len(s.idle)/2] > idleMost, 2*n < s.wakes:
			return false
		case r.first && 20*n >= 19*len(r.waits) && len(r.waits) >= surelyFound:
			return true
		}
	}
	alike := x.fn == l.w.Goroutines[l.waits[r.waits[0]].g].Func // more likely those who serve connections with the outside
	if x.writes <= max(2*len(r.waits), 1) && !alike && x.fn != 0 {
		return true // about one write for each wake
	}
	slices.Sort(s.gaps)
	gap := s.gaps[len(s.gaps)/2]
	every := x.last.Sub(x.first) / model.Duration(max(1, x.writes-1))
	if gap*100 <= every*35 || r.accept && gap <= acceptGap {
		return true
	}
	if alike {
		return false
	}
	var expected, variance float64
	for _, i := range r.waits {
		p := 1 - math.Exp(-float64(l.waits[i].to.Sub(l.waits[i].from)+loopbackSlack)/float64(max(every, 1)))
		expected += p
		variance += float64(p * (1 - p))
	}
	return float64(s.wakes)-expected >= surelyMore*math.Sqrt(variance)
}

// foundAtOnce counts the wakes before which no poll found anything since the write: one would have found what was written
// (runtime/netpoll.go).
func (l *linker) foundAtOnce(s *score) (n int) {
	nets := l.w.nets
	for k, i := range s.of {
		x := &l.waits[i]
		j := sort.Search(len(nets), func(j int) bool { return nets[j].to > s.sent[k] })
		if j == len(nets) || nets[j].to >= x.to-sameList {
			n++
		}
	}
	return n
}

// claim ties the wakes of a reader to writes, if those that are left still explain them.
func (l *linker) claim(r *reader) {
	best := l.best(r)
	if best == nil {
		return
	}
	for _, i := range r.waits {
		x := &l.waits[i]
		var cause *netWrite
		l.each(r.accept, x, func(w *netWrite) bool {
			if r.accept {
				cause = w
				return l.accepts == 1 // the first since it waits, if nobody else may have accepted that
			}
			if w.writer == best.writer {
				cause = w
			}
			return cause == nil || r.first
		})
		if cause != nil {
			x.sure = r.first || r.accept
			l.tie(cause, x)
		}
	}
}

// tie makes a write the cause of a wake.
func (l *linker) tie(w *netWrite, x *netWait) { w.claimed, x.explained, x.cause = true, true, w }

// send has a wake depend on its cause.
func (l *linker) send(w *netWrite, x *netWait) {
	if x.to < w.to && w.seg == 0 && l.w.Goroutines[w.g].Begin == BeginSyscall {
		return // sent before the window began
	}
	stack := l.w.Goroutines[w.g].Segments[w.seg].Stack
	op := Op{Kind: OpSend, G: x.g, Seg: x.seg, Stack: stack}
	at := point{g: w.g, seg: w.seg + 1, op: op}
	if x.to < w.to {
		at = point{w.g, w.seg, l.w.Goroutines[w.g].Segments[w.seg].CPU, true, op}
	}
	l.w.points = append(l.w.points, at)
	s := &l.w.Goroutines[x.g].Segments[x.seg]
	s.End, s.Class, s.Delay = EndNetwork, ClassLoopback, 0
}

// insert puts operations into the program of g.
func (g *Goroutine) insert(list []point) {
	slices.SortStableFunc(list, func(a, b point) int { return cmp.Or(cmp.Compare(a.seg, b.seg), cmp.Compare(a.at, b.at)) })
	ops := make([]Op, 0, len(g.Ops)+len(list))
	op := int32(0)
	for k := range g.Segments {
		x := &g.Segments[k]
		for ; len(list) > 0 && int(list[0].seg) == k; list = list[1:] {
			for ; op < x.Ops && (g.Ops[op].At < list[0].at || list[0].after && g.Ops[op].At == list[0].at); op++ {
				ops = append(ops, g.Ops[op])
			}
			list[0].op.At = list[0].at
			ops = append(ops, list[0].op)
		}
		ops = append(ops, g.Ops[op:x.Ops]...)
		op, x.Ops = x.Ops, int32(len(ops))
	}
	g.Ops = ops
}
