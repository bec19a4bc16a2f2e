package requests

import (
	"iter"
	"math/bits"
	"slices"
	"sort"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// Request is a request that has ended, or that the trace cut off.
type Request struct {
	Kind     string // http, grpc, rpc, tcp, message, task, region, goroutine or func
	Name     string // of the handler, task, region or function; "" if not known
	From, G  model.GoID
	Start    model.Time
	End      model.Time
	Complete bool // the trace shows both ends
	Open     bool // it had not ended when the trace did
	// Truncated: what happened near its beginning was not kept, so that Parts are unknown there.
	Truncated bool
	Own, Path Times // each adds up to End - Start

	t      *Tracker
	legs   []leg
	labels labels
	early  *early
	parts  []Part // nil: they are to be listed
	many   bool   // several had the message when one answered
	run    *run
}

// Duration returns the request's length.
func (r *Request) Duration() model.Duration { return r.End.Sub(r.Start) }

// Part is an interval of a request's critical path.
type Part struct {
	From, To model.Time
	Kind     Kind       // Running at any depth; never Others
	G        model.GoID // NoGoroutine: not known, or several
	Depth    int        // 0: the request's own goroutine
	// At is what ran, or where it blocked, or if that is not in the program where the one is that
	// waited for it; of Runnable what ran meanwhile on the proc that it waited for. Nil if not
	// known.
	At *Place
	// Wait is the request's own wait that the part explains, also the time in the run queue
	// after it, and WaitAt where that blocked; NumKinds and nil if there is none.
	Wait     Kind
	WaitAt   *Place
	Inferred bool // that the request waited for this goroutine, or of Runnable that it could have run
	// Via is where in the program whoever the request waited for waited in turn, if it did, and
	// ViaKind for what: the last such wait on the way.
	Via     *Place
	ViaKind Kind
	// Polls: of Sleep, the goroutine has slept there just before, and all that it did in between was to run.
	Polls bool
	// Expires: of Network, a deadline ended it: the goroutine was to read, and did not.
	Expires bool
}

// Place is code.
type Place struct {
	Func, File string
	Line       int // 0: not known
	// Stack has the functions outside the standard library, the outermost first, joined by ";".
	Stack   string
	Callee  string        // what it called, outside of the program; "": not known
	Frames  []model.Frame // of the stack from there on outwards, or what of it is certain; nil: not known
	ID      int32         // of the Tracker's places, from 1
	program bool          // it is the program's own
}

// maxPairs bounds how many pairs of stacks are kept, with what they have in common, and what ran
// between them. Of others nothing is known.
const maxPairs = 1 << 14

// pair is two stacks.
type pair struct{ a, b model.StackID }

// Parts returns the request's critical path. The parts follow each other without gaps from
// Start to End, and those of a kind add up to Path. It may be called by Done only; a part is
// valid until the next.
func (r *Request) Parts() iter.Seq[*Part] {
	return func(yield func(*Part) bool) {
		for i := range r.parts {
			if !yield(&r.parts[i]) {
				return
			}
		}
		if r.parts != nil {
			return
		}
		w := &r.t.walker
		w.yield, w.part = yield, Part{}
		for _, l := range r.legs {
			w.queued = l.queued
			w.wait, w.waitAt = NumKinds, nil
			if l.g == nil {
				w.emit(&Part{From: l.from, To: l.to, Kind: Unknown, G: model.NoGoroutine})
				continue
			}
			w.walk(l.g, l.from, l.to, 0, false)
		}
		if w.yield != nil && w.part.To > w.part.From {
			yield(&w.part)
		}
		w.yield = nil
	}
}

// walker lists critical paths.
type walker struct {
	t      *Tracker
	yield  func(*Part) bool // nil: nobody wants more
	part   Part             // the latest, which the next may continue
	placed int32
	pairs  map[pair]*Place
	ran    map[alike]*ran
	recent [256]*ran // of ran, by hash
	starts map[model.StringID]*Place
	wait   Kind
	waitAt *Place
	via    *Place     // in the program, where the latest wait on the way from the request to here is
	viaOf  Kind       // what that wait is for
	holds  model.Time // when the goroutine that is walked released the lock; 0: none
	queued bool
}

// holdsLock stands for the stack at the beginning of an interval that ended with the release of a
// lock, which was held all the time.
const holdsLock = ^model.StackID(0)

// maxDepth is how deep a path is listed. What lies deeper is summed up by kinds.
const maxDepth = 32

func (w *walker) emit(p *Part) {
	if p.To <= p.From {
		return
	}
	kind, l := p.Kind, &w.part
	if w.queued {
		kind = Queued
	}
	if l.Kind == kind && l.G == p.G && l.At == p.At && l.Depth == p.Depth && l.Wait == w.wait && l.WaitAt == w.waitAt && l.Inferred == p.Inferred && l.To == p.From {
		l.To = p.To
		return
	}
	if w.yield != nil && l.To > l.From && !w.yield(l) {
		w.yield = nil
	}
	*l = *p
	l.Kind, l.Wait, l.WaitAt, l.Via, l.ViaKind = kind, w.wait, w.waitAt, w.via, w.viaOf
}

// walk lists g's path from x to y, at a depth.
func (w *walker) walk(g *goroutine, x, y model.Time, depth int, inferred bool) {
	if w.yield == nil {
		return
	}
	if depth > maxDepth {
		w.sum(g, x, y, depth)
		return
	}
	p := Part{G: g.id, Depth: depth, Inferred: inferred}
	if front := g.front(); x < front {
		c := min(front, y)
		if g.creator != nil && g.seen && g.created == front {
			w.walk(g.creator, x, c, depth, inferred)
		} else {
			p.From, p.To, p.Kind = x, c, g.before(front)
			w.emit(&p)
		}
		x = c
	}
	after := -1 // the own wait after which it still is runnable
	for i := g.at(x); i <= len(g.segs) && x < y; i++ {
		s := segment{from: g.since, stack: g.stack, proc: g.proc, kind: g.kind, waits: g.state == model.GoWaiting}
		end, begin := y, model.StackID(0)
		if i < len(g.segs) {
			s, end = g.segs[i], min(g.end(i), y)
		} else if g.ended {
			s.kind = Unknown
		}
		if i > 0 {
			begin = g.segs[i-1].stack
		}
		waits := s.waits && s.kind != Unknown
		if depth == 0 {
			switch {
			case waits:
				w.wait, w.waitAt, after = s.kind, w.single(s.stack), i
			case s.kind == Runnable && after == i-1:
				after = i
			default:
				w.wait, w.waitAt = NumKinds, nil
			}
		}
		p.From, p.To, p.Kind, p.At, p.Inferred = x, end, s.kind, nil, inferred
		switch {
		case s.by != nil:
			until := min(max(g.upTo(i), x), end)
			holds := w.holds
			if w.holds = 0; s.kind == Lock {
				w.holds = g.upTo(i)
			}
			via, of := w.via, w.viaOf
			if at := w.single(s.stack); depth > 0 && at != nil && at.program {
				w.via, w.viaOf = at, s.kind
			}
			w.walk(s.by, x, until, depth+1, inferred || s.inferred)
			w.holds, w.via, w.viaOf = holds, via, of
			p.From, p.At = until, w.single(s.stack)
			w.emit(&p)
		case s.kind == Running || s.kind == GC && !waits:
			whole := stretch{from: s.from, to: y, begin: begin, end: s.stack}
			if i < len(g.segs) {
				whole.to = g.end(i)
			}
			if whole.to == w.holds {
				whole.begin = holdsLock // all the time in the function that then released it
			}
			w.running(g, &p, &whole)
		case s.kind == Runnable:
			p.Inferred = inferred || s.inferred
			w.runnable(&p, s.proc)
		default:
			if p.At = w.single(s.stack); w.via != nil && (p.At == nil || !p.At.program) {
				p.At = w.via
			}
			p.Polls, p.Expires = s.kind == Sleep && g.slept(i, s.stack), s.kind == Network && w.expires(g, i)
			w.emit(&p)
			p.Polls, p.Expires = false, false
		}
		x = end
	}
}

// slept reports whether a goroutine slept at the same place before an interval, and only ran in between: it
// woke nobody, and made no system call.
func (g *goroutine) slept(i int, stack model.StackID) bool {
	return i >= 3 && g.segs[i-1].kind == Running && g.segs[i-2].kind == Runnable && g.segs[i-3].kind == Sleep && g.segs[i-3].stack == stack
}

// expires reports whether a wait to read ended without anything to read. Who has been woken up for that reads before it does
// anything else (internal/poll/fd_unix.go: Read, Go 1.22 to 1.26).
func (w *walker) expires(g *goroutine, i int) bool {
	reads := func(stack model.StackID) bool {
		return slices.ContainsFunc(w.t.tables.Stack(stack), func(f model.Frame) bool { return strings.HasPrefix(f.Func, "internal/poll.(*FD).Read") })
	}
	if i >= len(g.segs) || !reads(g.segs[i].stack) {
		return false
	}
	for i++; i < len(g.segs) && (g.segs[i].kind == Runnable || g.segs[i].kind == Running || g.segs[i].kind == GC && !g.segs[i].waits); i++ {
	}
	if i < len(g.segs) {
		return g.segs[i].kind != Unknown && !reads(g.segs[i].stack)
	}
	return (g.state == model.GoWaiting || g.state == model.GoSyscall) && !reads(g.stack)
}

// sum lists g's path from x to y as one part for each kind. It may lead through any number of goroutines.
func (w *walker) sum(g *goroutine, x, y model.Time, depth int) {
	var v Times
	w.t.path(&v, g, x, y, false)
	v[Running] += v[Others]
	v[Others] = 0
	for k := range NumKinds {
		to := min(x+model.Time(max(v[k], 0)), y)
		w.emit(&Part{From: x, To: to, Kind: k, G: model.NoGoroutine, Depth: depth, Inferred: true})
		x = to
	}
}

// stretch is a running interval between two stacks, which may be part of the path only in part.
type stretch struct {
	from, to   model.Time
	begin, end model.StackID
}

// running lists a running interval by what ran: what the CPU samples in it show, each up to the
// middle between it and the next. Without any, it is what most samples show in others between
// the same two stacks and of similar length; else the innermost function of the program's own
// that was there at both ends.
func (w *walker) running(g *goroutine, p *Part, s *stretch) {
	from, to := p.From, p.To
	i := sort.Search(len(g.samples), func(i int) bool { return g.samples[i].at >= from })
	j := i
	for j < len(g.samples) && g.samples[j].at <= to {
		j++
	}
	if i == j {
		p.At = w.unsampled(s)
		w.emit(p)
		return
	}
	for ; i < j; i++ {
		p.To = to
		if i+1 < j {
			p.To = g.samples[i].at + model.Time(g.samples[i+1].at.Sub(g.samples[i].at)/2)
		}
		p.At = w.single(g.samples[i].stack)
		w.emit(p)
		p.From = p.To
	}
}

// alike identifies stretches between the same two stacks and of similar length.
type alike struct {
	begin, end model.StackID
	size       int // of the length, in bits
}

func (s *stretch) alike() alike {
	return alike{s.begin, s.end, bits.Len64(uint64(s.to.Sub(s.from))) / 2}
}

// ran is what ran in stretches that are alike.
type ran struct {
	alike alike
	Place // by the samples so far; without any, what both ends have in common
	most  *Place
	seen  map[*Place]int // samples
}

// unsampled returns what ran in a stretch without samples. Later samples may change what it
// points to.
func (w *walker) unsampled(s *stretch) *Place {
	r := w.alikes(s)
	if r.Func == "" {
		return nil
	}
	return &r.Place
}

func (w *walker) alikes(s *stretch) *ran {
	id := s.alike()
	recent := &w.recent[(uint32(id.begin)*5+uint32(id.end)*3+uint32(id.size))%uint32(len(w.recent))]
	if *recent != nil && (*recent).alike == id {
		return *recent
	}
	r := w.ran[id]
	if r == nil {
		r = &ran{alike: id}
		if len(w.ran) == maxPairs {
			return r
		}
		if p := w.common(s.begin, s.end); p != nil {
			r.Place = *p
		}
		r.Place.ID = w.add(Place{}).ID
		w.ran[id] = r
	}
	*recent = r
	return r
}

// sampled takes the samples in a running interval of g that is over.
func (w *walker) sampled(g *goroutine, s *stretch) {
	for i := len(g.samples) - 1; i >= 0 && g.samples[i].at >= s.from; i-- {
		p := w.single(g.samples[i].stack)
		if p == nil || g.samples[i].at > s.to {
			continue
		}
		r := w.alikes(s)
		if r.seen == nil {
			r.seen = map[*Place]int{}
		}
		r.seen[p]++
		if most := r.seen[r.most]; r.most == nil || r.seen[p] > most {
			id := r.ID
			r.most, r.Place = p, *p
			r.ID, r.Line = id, 0
		}
	}
}

// leastBehind is how long a goroutine waits at least behind another one. Less is the time to wake
// up.
const leastBehind = 10_000

// runnable lists a wait for a proc, with what ran on it the longest, and times in which the
// world was stopped.
func (w *walker) runnable(p *Part, proc int16) {
	from, to := p.From, p.To
	var l []turn
	if proc >= 0 && int(proc) < len(w.t.turns) && to.Sub(from) >= leastBehind {
		l = w.t.turns[proc]
	}
	i := max(sort.Search(len(l), func(i int) bool { return l[i].at > from })-1, 0)
	var who *goroutine // that had the proc the longest, and there its longest stretch
	var turn, longest model.Duration
	var turnFrom, turnTo model.Time
	for ; i < len(l) && l[i].at < to; i++ {
		from, end := max(l[i].at, from), to
		if i+1 < len(l) {
			end = min(l[i+1].at, to)
		}
		if d := end.Sub(from); d > turn {
			turn, who, turnFrom, turnTo = d, l[i].g, from, end
		}
	}
	what := -1
	if who != nil {
		for k := max(who.at(turnFrom), 0); k < len(who.segs) && who.segs[k].from < turnTo; k++ {
			if d := min(who.end(k), turnTo).Sub(max(who.segs[k].from, turnFrom)); who.segs[k].kind == Running && d > longest {
				longest, what = d, k
			}
		}
	}
	if what >= 0 {
		s := stretch{from: who.segs[what].from, to: who.end(what), end: who.segs[what].stack}
		if what > 0 {
			s.begin = who.segs[what-1].stack
		}
		if p.At = w.unsampled(&s); p.At == nil {
			p.At = w.start(who.fn)
		}
	}
	for _, s := range w.t.stopsIn(from, to) {
		p.To = max(s.from, p.From)
		w.emit(p)
		stopped := *p
		stopped.From, stopped.To, stopped.Kind, stopped.At = p.To, min(s.to, to), STW, nil
		w.emit(&stopped)
		p.From = stopped.To
	}
	p.To = to
	w.emit(p)
}

// single returns where a stack is, nil if it is in no code of the program or its libraries.
func (w *walker) single(stack model.StackID) *Place {
	s := w.t.finder.stack(stack)
	if !s.placed {
		s.placed = true
		frames := w.t.tables.Stack(stack)
		if f := result.PlaceIn(frames); f != nil {
			outwards := from(frames, f)
			callee, inner := "", frames[:len(frames)-len(outwards)]
			if n := len(inner); n > 0 {
				callee = inner[n-1].Func
			}
			if slices.ContainsFunc(inner, func(f model.Frame) bool { return f.Func == result.ReadsPipe }) && strings.HasPrefix(inner[0].Func, "internal/poll.") {
				callee = result.ReadsPipe
			}
			s.place = w.add(Place{Func: f.Func, File: f.File, Line: int(f.Line), Stack: programs(frames), Callee: callee, Frames: outwards, program: result.Programs(f)})
		}
	}
	return s.place
}

// add numbers a place.
func (w *walker) add(p Place) *Place {
	w.placed++
	p.ID = w.placed
	return &p
}

// start returns a start function as a place, nil if it is not known.
func (w *walker) start(fn model.StringID) *Place {
	p := w.starts[fn]
	if p == nil && fn != 0 {
		p = w.add(Place{Func: w.t.tables.String(fn)})
		w.starts[fn] = p
	}
	return p
}

// common returns what was running all the time between two stacks: the innermost function of
// the program that both have in the same call. Its line is not known.
func (w *walker) common(a, b model.StackID) *Place {
	p, ok := w.pairs[pair{a, b}]
	if ok || len(w.pairs) == maxPairs {
		return p
	}
	x, y := w.t.tables.Stack(a), w.t.tables.Stack(b)
	if a == holdsLock {
		x = y
	}
	n := 0
	switch {
	case b == 0 || len(x) == 1 && len(y) > 0 && x[0].Func == y[len(y)-1].Func: // to the end, or from the creation
		if b != 0 {
			x = y
		}
		for n < len(x) && (n == 0 || !result.Programs(&x[len(x)-n])) {
			n++ // a function that a library's start function was handed
		}
	default:
		for n < min(len(x), len(y)) {
			f, g := &x[len(x)-1-n], &y[len(y)-1-n]
			if f.Func != g.Func {
				break
			}
			n++
			if f.Line != g.Line {
				break
			}
		}
	}
	frames := x[len(x)-n:]
	if f := result.PlaceIn(frames); f != nil && result.Ours(f) {
		p = w.add(Place{Func: f.Func, File: f.File, Stack: programs(frames), Frames: from(frames, f)})
	}
	w.pairs[pair{a, b}] = p
	return p
}

// from returns the frames from one of them on outwards.
func from(frames []model.Frame, f *model.Frame) []model.Frame {
	for i := range frames {
		if &frames[i] == f {
			return frames[i:]
		}
	}
	return nil
}

// Callers returns the program's frames outside of p, or those of its libraries if there are none,
// the innermost first, at most a few.
func (p *Place) Callers() (list []model.Frame) {
	const most = 4
	for i := range p.Frames {
		if f := &p.Frames[i]; i > 0 && result.Ours(f) && len(list) < most && (result.Programs(f) || !p.program) {
			list = append(list, *f)
		}
	}
	return list
}

// programs returns the functions of a stack that are outside the standard library.
func programs(frames []model.Frame) string {
	var list []string
	for _, f := range slices.Backward(frames) {
		if result.Ours(&f) {
			list = append(list, f.Func)
		}
	}
	return strings.Join(list, ";")
}
