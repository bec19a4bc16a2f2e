// Package workloadtest makes random workloads for tests of whatever runs or
// reads them, and judges the event streams that come out.
//
// A random workload is what a random execution in sequence leaves behind: goroutines
// take turns, and each thing that one does (create, wake, wait, call) is possible when it
// is done. Hence the order of that execution is one in which everything can be carried
// out, and no schedule that serves wakes by the goroutine they name can get stuck.
package workloadtest

import (
	"math/rand/v2"

	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/model"
)

// Feature is a set of things that a random workload may contain.
type Feature uint32

// Features. Creating, waking, waiting and computing are always there.
const (
	Timers      Feature = 1 << iota // sleeps
	Network                         // delays from outside, and data from the program itself
	Syscalls                        // short, long and blocking ones
	Yields                          // runtime.Gosched and goyield
	Switches                        // coroutines, from Go 1.23
	Locks                           // goroutines locked to their threads
	GC                              // cycles, assists, the sweeper
	Stops                           // stop-the-worlds
	Pools                           // pools, locks and conditions: who waits longest is served
	Joins                           // waits for children
	Long                            // bursts of more than 10 ms
	Crowds                          // more goroutines at once than a local queue has slots
	Begun                           // many goroutines that exist when the window begins
	Arrivals                        // creations and wakes by nobody in the workload
	Injects                         // wakes by the runtime on its own account
	Early                           // wakes before the wait
	Ends                            // goroutines that wait for ever, or are cut off
	Meets                           // channels without a buffer: whoever comes first waits
	numFeatures = iota
	All         = 1<<numFeatures - 1
)

// Options bound what [Random] makes. The zero value allows everything.
type Options struct {
	Version int // minor version of Go; 0: any of 22 to 26
	Procs   int // GOMAXPROCS; 0: 1 to 16
	// Steps of the execution in sequence; 0: up to 600.
	Steps int
	// Without lists what is left out; of the rest, each workload contains some.
	Without Feature
}

// Random returns the workload of this seed: the same one for the same options.
// It obeys what package workload says of workloads.
func Random(seed uint64, o Options) *workload.Workload {
	rnd := rand.New(rand.NewPCG(seed, 0x5eed))
	b := newBuilder(rnd, o)
	steps := o.Steps
	if n := 1 + rnd.IntN(1<<(2+rnd.IntN(8))) + rnd.IntN(90); steps == 0 {
		steps = n
	}
	b.begin()
	for range steps {
		b.step()
	}
	b.windDown()
	return b.finish()
}

// random is a workload in the making.
type random struct {
	rnd   *rand.Rand
	words *words
	w     *workload.Workload
	with  Feature
	progs []*prog
	most  int // goroutines, but for crowds
	grain model.Duration
	pools []int32 // objects that are pools
	sweep *prog   // the sweeper, nil if there is none
	// serial: a wake is the last thing before the waker waits itself, at the same time.
	serial bool
}

// await says what a prog waits for.
type await uint8

const (
	awaitNothing await = iota
	awaitWake          // an OpWake
	awaitSend          // an OpSend
	awaitJoin          // the ends of its children
	awaitSwitch        // a coroutine
	awaitCycle         // the end of a GC cycle
	awaitNever         // it has ended
)

// prog is a goroutine's program in the making.
type prog struct {
	index  int32
	fn     string
	g      workload.Goroutine
	cur    workload.Segment // the last one, not yet ended
	waits  await
	seg    int32 // that ends with this wait
	order  int   // when it began to wait
	object int32
	// early are operations of others that wake it from waits still to come.
	early []opAt
	// lead waits for this goroutine's end.
	lead     *prog
	children int // whose ends it still waits for
	pool     int32
	injected bool // it waits for the runtime
	worker   bool // of a pool: it depends on nothing else
	fixed    bool // it may not be left waiting or cut off, others rely on its end
}

// opAt is where an operation stands.
type opAt struct {
	p     *prog
	index int
	send  bool
}

func newBuilder(rnd *rand.Rand, o Options) *random {
	b := &random{rnd: rnd, grain: 1}
	version, procs := 22+rnd.IntN(5), []int{1, 2, 2, 3, 4, 4, 6, 8, 16, 1 + rnd.IntN(16)}[rnd.IntN(10)]
	if o.Version != 0 {
		version = o.Version
	}
	if o.Procs != 0 {
		procs = o.Procs
	}
	b.with = Feature(rnd.Uint32())
	if rnd.IntN(2) == 0 {
		b.with &= Feature(rnd.Uint32()) // few features at once
	}
	b.with &= All &^ o.Without
	if version < 23 {
		b.with &^= Switches
	}
	if rnd.IntN(4) > 0 {
		b.with &^= Crowds // they outnumber all else
	}
	if rnd.IntN(3) == 0 {
		b.grain = 64
	}
	b.most = 2 + rnd.IntN(1<<(1+rnd.IntN(6)))
	tables := model.NewTables()
	b.words = newWords(tables, version)
	b.w = &workload.Workload{Tables: tables, Version: version, Procs: procs,
		Start: model.Time(1_000_000 + 64*rnd.Int64N(1000))}
	return b
}

func (b *random) has(f Feature) bool { return b.with&f != 0 }

// chance is true in one of n cases.
func (b *random) chance(n int) bool { return b.rnd.IntN(n) == 0 }

// span returns a duration whose logarithm is evenly distributed.
func (b *random) span(least, most model.Duration) model.Duration {
	d := least
	for r := most / least; r > 1; r /= 4 {
		if b.chance(3) {
			break
		}
		d *= 4
	}
	d += model.Duration(b.rnd.Int64N(int64(d) + 1))
	d = min(d, most)
	return d - d%b.grain
}

const (
	us = model.Duration(1000)
	ms = 1000 * us
)

// burst returns a piece of computing time.
func (b *random) burst() model.Duration {
	switch k := b.rnd.IntN(100); {
	case k < 10:
		return 0
	case k < 12 && b.has(Long):
		return b.span(10*ms, 45*ms)
	case k < 20:
		return b.span(50*us, 3*ms)
	}
	return b.span(128, 80*us)
}

// add makes a program whose goroutine begins as told.
func (b *random) add(begin workload.Begin, fn string) *prog {
	p := &prog{index: int32(len(b.progs)), fn: fn, object: -1, pool: -1}
	p.g = workload.Goroutine{ID: model.GoID(b.id(len(b.progs))), Func: b.words.name(fn), Begin: begin, Proc: model.NoProc}
	p.cur = b.fresh()
	b.progs = append(b.progs, p)
	return p
}

// id returns the id of the i-th goroutine: they grow, with gaps, as the runtime's do.
func (b *random) id(i int) int { return 1 + i + i/7*3 }

func (b *random) fresh() workload.Segment {
	return workload.Segment{Object: -1, Target: -1}
}

// end ends the current segment of p.
func (b *random) end(p *prog, kind workload.EndKind, class workload.Class, reason string, frames ...string) *workload.Segment {
	if n := len(p.g.Segments); n > 0 && p.cur.CPU < 500 && skippable(p.g.Segments[n-1].End) && skippable(kind) {
		p.cur.CPU += 512 // so that a judge can tell in which of two waits it stops
	}
	s := p.cur
	s.End, s.Class = kind, class
	if reason != "" {
		s.Reason = b.words.name(reason)
	}
	s.Stack = b.words.stack(p.fn, frames...)
	s.Ops = int32(len(p.g.Ops))
	p.g.Segments = append(p.g.Segments, s)
	p.cur = b.fresh()
	return &p.g.Segments[len(p.g.Segments)-1]
}

// skippable reports whether a segment may end like this without a stop: what it would
// wait for has come.
func skippable(kind workload.EndKind) bool {
	switch kind {
	case workload.EndWait, workload.EndNetwork, workload.EndSleep, workload.EndExternal, workload.EndAssist:
		return true
	}
	return false
}

// do adds an operation to p where it stands.
func (b *random) do(p *prog, kind workload.OpKind, g, seg int32, frames ...string) *workload.Op {
	p.g.Ops = append(p.g.Ops, workload.Op{At: p.cur.CPU, Stack: b.words.stack(p.fn, frames...), G: g, Seg: seg, Kind: kind})
	return &p.g.Ops[len(p.g.Ops)-1]
}

// ready returns the programs that can go on.
func (b *random) ready() []*prog {
	var list []*prog
	for _, p := range b.progs {
		if p.waits == awaitNothing {
			list = append(list, p)
		}
	}
	return list
}

// step lets a program that can go on do something.
func (b *random) step() {
	list := b.ready()
	if len(list) == 0 {
		b.arrive()
		return
	}
	p := list[b.rnd.IntN(len(list))]
	p.cur.CPU += b.burst()
	if p.worker {
		b.work(p)
		return
	}
	if p == b.sweep {
		b.sweeperWaits()
		return
	}
	switch k := b.rnd.IntN(20); {
	case k < 3:
		b.create(p)
	case k < 7:
		b.wakeSomebody(p)
	case k < 11:
		b.wait(p)
	case k < 12:
		b.exit(p)
	default:
		b.special(p)
	}
}

// special does one of the things that not every workload contains.
func (b *random) special(p *prog) {
	switch f := Feature(1) << b.rnd.IntN(numFeatures); f & b.with {
	case Joins:
		b.fork(p)
	case Pools:
		b.serve(p)
	case GC:
		b.collect(p)
	case Stops:
		b.stop(p)
	case Switches:
		b.iterate(p)
	case Crowds:
		b.crowd(p)
	case Arrivals:
		b.arrive()
	case Early:
		b.wakeEarly(p)
	case Injects:
		b.inject(p)
	case Timers, Network, Syscalls, Yields:
		b.pause(p, f)
	}
}

// finish sums the workload up.
func (b *random) finish() *workload.Workload {
	w := b.w
	span := ms
	for _, p := range b.progs {
		w.Goroutines = append(w.Goroutines, p.g)
		for i := range p.g.Segments {
			s := &p.g.Segments[i]
			w.Recorded.Work += s.CPU
			span += s.CPU + s.Delay
		}
		for _, op := range p.g.Ops {
			switch op.Kind {
			case workload.OpCreate:
				w.Recorded.Created++
			case workload.OpWake:
				w.Recorded.Wakes[b.progs[op.G].g.Segments[op.Seg].Class]++
			}
		}
	}
	for i := range w.Cycles {
		span += w.Cycles[i].Work + w.Cycles[i].At
	}
	for _, a := range w.Arrivals {
		span += a.At
	}
	w.End = w.Start + model.Time(span)
	w.Recorded.LastEnd = span
	w.Recorded.Running = w.Recorded.Work
	return w
}
