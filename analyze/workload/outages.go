package workload

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/model"
)

// A trace does not show when the operating system ran something else on a thread: the goroutine just seems to compute,
// or to be in a system call, for longer. It can be suspected:
//
//  1. What lies between two operations of goroutines with the same start function at the same two stacks is a kind of
//     piece, and so are system calls at one stack. Of outageLikes or more pieces the median is what the kind takes.
//  2. A piece is too long if it takes outageFactor medians, and outageLeast.
//  3. Other programs take a thread away in any code alike, as often as it runs for long. So pieces of a kind are too long for
//     that reason only if those of the other kinds are about as often, and as often as long, counted in kinds that take
//     little (outageShort), whose pieces have no reason of their own. Else they are doubted: a function that now and then has
//     more to do looks like that. System calls of connections are not doubted, as they never wait.
//  4. Fewer than outageFew, or in fewer than outageKinds kinds, are chance.
//  5. What is too much is an outage. Pieces of kinds that take long may well differ, and many have an outage, so that
//     they are compared with the lower quartile; but of all their time at most as large a part is outages as of
//     the kinds that take little, whose rest counts half as much again.
//
// Of goroutines that compute, CPU samples show how much was taken: the rest of their time has one in each samplePeriod. It is
// an equal part of what pieces take beyond the lower quartile of their kind, or beyond the part of its mean that is left,
// whichever is less. One sample does not show from which: at its ticks the kernel both takes them and runs something else.
// Of two in a piece at least samplePeriod between them is its own. Where all samples are too few, those in pieces that are too
// long show how much of these goes.
const (
	outageLikes  = 20
	outageFactor = 20
	outageLeast  = 200_000
	outageShort  = 50_000
	outageFew    = 5
	outageKinds  = 3

	enoughSamples = 20
	samplePeriod  = 10_000_000 // runtime/pprof: 100 Hz
)

// standstillLeast is longer than a goroutine runs before it is preempted: sysmon wants to see it run for 10 ms, looks every
// 10 ms at the least often (runtime/proc.go: sysmon, forcePreemptNS), and both are late by a little. What cannot be
// preempted, as long loops in assembly code, looks the same if nothing else happens (runtime/preempt.go: isAsyncSafePoint).
const standstillLeast = 30_000_000

// heldLeast is longer than a system call keeps its proc while sysmon watches: it sees the call twice, in rounds 20 us and
// the timer slack apart (runtime/proc.go: sysmon, retake).
const heldLeast = 200_000

// held returns [Segment.Held] of the system call that f is in, up to now. While a proc is idle sysmon leaves others in
// calls (runtime/proc.go: retake), which does not count.
func (e *Extractor) held(f *follower) model.Duration {
	d := e.clock.now.Sub(max(f.since, e.w.Start)) - (e.clock.free - f.free)
	if d < heldLeast {
		return 0
	}
	return d
}

// Standstill is a time in which the operating system seems to have run no thread of the program: a goroutine ran, and
// nobody did anything for longer than it may.
type Standstill struct {
	At, Length model.Duration // since the window's start
}

// standstill takes that nothing happened until the step at a time.
func (e *Extractor) standstill(at model.Time) {
	c := &e.clock
	if !c.begun || c.stopped || at.Sub(c.now) < standstillLeast || !slices.ContainsFunc(e.procs, func(p procState) bool {
		return p.g != nil && p.g.state == model.GoRunning && !p.g.worker
	}) {
		return
	}
	if e.w != nil {
		x := Standstill{e.w.since(c.now), at.Sub(c.now)}
		e.w.Standstills = append(e.w.Standstills, x)
		e.w.Outages.Standstills++
		e.w.Outages.StoodStill += x.Length
	}
	c.stopped = true
	c.advance(at)
	c.stopped = false
}

// Late is a time slice of Proc that lasted for longer than sysmon lets it, until the goroutine that ran then was preempted. What
// came from runnext has run in the slice of its waker.
type Late struct {
	At, Length model.Duration // since the window's start
	Proc       model.ProcID
}

// lateLeast is longer than sysmon lets a time slice last: it looks every 10 ms at the least often, and asks when it has seen
// the same schedtick for 10 ms (runtime/proc.go: sysmon, retake, forcePreemptNS). Both are late by a little.
const lateLeast = 20_500_000

// preempted notes that a goroutine was preempted on a proc.
func (e *Extractor) preempted(id model.ProcID) {
	if p := e.proc(id); p != nil && e.w != nil {
		if d := e.clock.now.Sub(max(p.slice, e.w.Start)); d >= lateLeast {
			e.w.Late = append(e.w.Late, Late{e.w.since(p.slice), d, id})
		}
	}
}

// Outage is a time in which the operating system is suspected not to have run the thread of goroutine G.
type Outage struct {
	G, Seg int32
	InCall bool           // in the system call that ends the segment
	At     model.Duration // else after this much CPU time of the segment, which has it
	Length model.Duration
}

// Outages counts outages and standstills.
type Outages struct {
	List        []Outage       `json:"-"` // by goroutine and segment
	Count       int            `json:"count"`
	Total       model.Duration `json:"total_ns"`
	Blind       model.Duration `json:"-"`             // of Total, seems computing, and no CPU samples can show whether it is
	Kinds       int            `json:"kinds_of_code"` // of pieces that have outages
	Standstills int            `json:"standstills"`
	StoodStill  model.Duration `json:"standstills_ns"`
	// Doubted are pieces that are too long for their kind, for reasons of the program's own as it seems.
	Doubted      int            `json:"doubted"`
	DoubtedTotal model.Duration `json:"doubted_ns"`
}

// Add adds the counts of another window.
func (o *Outages) Add(x *Outages) {
	o.Count += x.Count
	o.Total += x.Total
	o.Blind += x.Blind
	o.Kinds = max(o.Kinds, x.Kinds)
	o.Standstills += x.Standstills
	o.StoodStill += x.StoodStill
	o.Doubted += x.Doubted
	o.DoubtedTotal += x.DoubtedTotal
}

// pieceKind is what pieces have in common that take about as long.
type pieceKind struct {
	fn       model.StringID
	from, to model.StackID
	call     bool
}

// length is that of a piece, with what CPU samples in it show to be computing.
type length struct{ all, shown model.Duration }

// pieces are those of a kind.
type pieces struct {
	lengths []length       // in order
	times   model.Duration // of what is typical, beyond which a piece is too long
	typical model.Duration // the median, and at last the lower quartile of a kind that takes long
	usual   model.Duration // of those that are not too long, and of what is typical of the others
	long    longs          // that are too long
	over    model.Duration // by which they are
	dark    model.Duration // of that, what samples do not show to be computing, piece by piece
	shown   model.Duration // by samples in them
	part    float64        // of dark that is outages
}

// longs are numbers of pieces that are too long by outageLeast, twice that, and so on.
type longs [32]int

// measure counts the pieces that are longer than a number of typical ones.
func (p *pieces) measure(typical, times model.Duration) {
	*p = pieces{lengths: p.lengths, times: times, typical: typical}
	for _, d := range p.lengths {
		if p.tooLong(d.all) {
			for c := range bits.Len(uint((d.all - typical) / outageLeast)) {
				p.long[min(c, len(p.long)-1)]++
			}
			p.over += d.all - typical
			p.dark += p.darkOf(d)
			p.shown += d.shown
			d.all = typical
		}
		p.usual += d.all
	}
}

// darkOf leaves out the first sample: what interrupts the piece often comes with one, at the same tick.
func (p *pieces) darkOf(d length) model.Duration {
	return max(0, d.all-p.typical-max(0, d.shown-samplePeriod))
}

func (p *pieces) tooLong(d model.Duration) bool {
	return d > max(p.times*p.typical, p.typical+outageLeast)
}

// eachPiece calls f for each piece: of segment seg of g from at on, or the system call that ends it.
func (w *Workload) eachPiece(f func(g, seg int32, k pieceKind, at model.Duration, d length)) {
	samples := w.Recorded.Samples
	for i := range w.Goroutines {
		g, op, from := &w.Goroutines[i], int32(0), model.StackID(0)
		if g.Tracer {
			continue
		}
		for k := range g.Segments {
			x, at := &g.Segments[k], model.Duration(0)
			piece := func(to model.StackID, end model.Duration) {
				d := length{all: end - at}
				for ; len(samples) > 0 && samples[0].compare(Sample{int32(i), int32(k), end}) <= 0; samples = samples[1:] {
					d.shown += samplePeriod
				}
				f(int32(i), int32(k), pieceKind{g.Func, from, to, false}, at, d)
				at, from = end, to
			}
			for ; op < x.Ops; op++ {
				if o := &g.Ops[op]; o.Stack != 0 {
					piece(o.Stack, o.At)
				}
			}
			piece(x.Stack, x.CPU)
			if x.End == EndSyscall {
				f(int32(i), int32(k), pieceKind{0, x.Stack, 0, true}, 0, length{all: x.Delay})
			}
		}
	}
}

// bySamples takes the kinds that compute out of all kinds, and returns those of which CPU samples say that a part is outages,
// and what was left and taken of all.
func (w *Workload) bySamples(kinds map[pieceKind]*pieces) (computing map[pieceKind]*pieces, rest pieces) {
	computing = map[pieceKind]*pieces{}
	var ran, dark model.Duration
	for k, p := range kinds {
		if !k.call {
			computing[k] = p
			delete(kinds, k)
			p.measure(p.lengths[len(p.lengths)-1].all, 1) // none is too long
			ran += p.usual
		}
	}
	rest.usual = min(ran, w.Recorded.Sampled)
	rest.over = ran - rest.usual
	if float64(rest.over) < math.Sqrt(float64(w.Recorded.Sampled)*samplePeriod) { // as far as their number may be off
		return nil, rest
	}
	for _, p := range computing {
		mean := float64(p.usual) / float64(len(p.lengths)) * float64(rest.usual) / float64(ran)
		p.measure(min(p.lengths[len(p.lengths)/4].all, model.Duration(mean)), 0)
		dark += p.dark
	}
	for _, p := range computing {
		p.part = min(1, float64(rest.over)/float64(max(dark, 1)))
	}
	return computing, rest
}

// FindOutages finds outages.
func (w *Workload) FindOutages() {
	kinds := map[pieceKind]*pieces{}
	w.eachPiece(func(_, _ int32, k pieceKind, _ model.Duration, d length) {
		if kinds[k] == nil {
			kinds[k] = &pieces{}
		}
		kinds[k].lengths = append(kinds[k].lengths, d)
	})
	var short pieces // all of the kinds that take little
	sampled := w.Recorded.Sampled > 0
	for k, p := range kinds {
		slices.SortFunc(p.lengths, func(a, b length) int { return cmp.Compare(a.all, b.all) })
		if len(p.lengths) < outageLikes {
			if k.call || !sampled {
				delete(kinds, k)
			}
			continue
		}
		p.measure(p.lengths[len(p.lengths)/2].all, outageFactor)
		if p.typical <= outageShort {
			short.add(p, 1)
		}
	}
	var computing map[pieceKind]*pieces
	var rest pieces // of the kinds that take little, those that are not doubted
	if sampled {
		computing, rest = w.bySamples(kinds)
	}
	found, out := 0, &w.Outages
	for k, p := range kinds {
		p.part = 1
		if p.shown > 0 { // as far as their number may be off
			p.part = min(1, max(0, float64(p.over-p.shown)-math.Sqrt(float64(p.shown)*samplePeriod))/float64(max(p.dark, 1)))
		}
		switch {
		case p.unlike(short) && (p.shown == 0 || p.part == 0) && !(k.call && w.neverWaits(k.from)):
			out.Doubted += p.long[0]
			out.DoubtedTotal += p.over
			delete(kinds, k)
		case p.long[0] > 0 && p.part > 0:
			out.Kinds++
			found += p.long[0]
		}
	}
	if found < outageFew || out.Kinds < outageKinds {
		out.Kinds = 0
		clear(kinds)
	}
	for _, p := range kinds {
		if p.typical <= outageShort {
			rest.usual, rest.over = rest.usual+p.usual, rest.over+model.Duration(p.part*float64(p.dark))
		}
	}
	left := min(1, 1.5*float64(rest.usual)/float64(max(rest.usual+rest.over, 1)))
	for _, p := range kinds {
		if p.typical > outageShort {
			p.measure(p.lengths[len(p.lengths)/4].all, 2)
			p.part = min(1, (1-left)*float64(p.usual+p.over)/float64(max(p.dark, 1)))
		}
	}
	for k, p := range computing {
		if kinds[k] = p; p.long[0] > 0 {
			out.Kinds++
		}
	}
	w.eachPiece(func(g, seg int32, k pieceKind, at model.Duration, d length) {
		p := kinds[k]
		if p == nil || !p.tooLong(d.all) {
			return
		}
		if o := (Outage{g, seg, k.call, at, model.Duration(p.part * float64(p.darkOf(d)))}); o.Length >= outageLeast {
			out.List = append(out.List, o)
			out.Count++
			out.Total += o.Length
			if !k.call && len(w.Recorded.Samples) == 0 {
				out.Blind += o.Length
			}
		}
	})
}

// add adds what another kind has, times sign.
func (p *pieces) add(o *pieces, sign int) {
	p.usual += model.Duration(sign) * o.usual
	for c, n := range o.long {
		p.long[c] += sign * n
	}
}

// neverWaits reports whether system calls at a stack are of a connection: that does not block, and the network poller waits for
// it (internal/poll/fd_unix.go: FD.Init).
func (w *Workload) neverWaits(stack model.StackID) bool {
	return slices.ContainsFunc(w.Tables.Stack(stack), func(f model.Frame) bool { return strings.HasPrefix(f.Func, "net.(*netFD).") })
}

// unlike reports whether more pieces are too long, by any length, than is usual in the kinds that take little.
func (p *pieces) unlike(others pieces) bool {
	if p.typical <= outageShort {
		others.add(p, -1)
	}
	for c, n := range p.long {
		if float64(n) > outageKinds+4*float64(others.long[c]+1)/float64(max(others.usual, 1))*float64(p.usual) {
			return true
		}
	}
	return false
}

// Quiet returns the work without outages and standstills, and with a sysmon that sees all in time. It shares what they do
// not touch.
func (w *Workload) Quiet() *Workload {
	q := *w
	q.Standstills, q.Late, q.Outages = nil, nil, Outages{}
	q.Goroutines = slices.Clone(w.Goroutines)
	for i := range q.Goroutines {
		if g := &q.Goroutines[i]; slices.ContainsFunc(g.Segments, func(x Segment) bool { return x.Held > 0 }) {
			g.Segments = slices.Clone(g.Segments)
			for k := range g.Segments {
				g.Segments[k].Held = 0
			}
		}
	}
	last := int32(-1)
	for _, o := range slices.Backward(w.Outages.List) { // of those of a segment the last first: offsets stay
		g := &q.Goroutines[o.G]
		if o.G != last {
			g.Segments, g.Ops, last = slices.Clone(g.Segments), slices.Clone(g.Ops), o.G
		}
		x := &g.Segments[o.Seg]
		if o.InCall {
			x.Delay -= o.Length
			continue
		}
		x.CPU -= o.Length
		g.Work -= o.Length
		for i := x.Ops - 1; i >= 0 && (o.Seg == 0 || i >= g.Segments[o.Seg-1].Ops) && g.Ops[i].At > o.At; i-- {
			g.Ops[i].At = max(g.Ops[i].At-o.Length, o.At)
		}
	}
	return &q
}
