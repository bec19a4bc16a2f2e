package workload

import (
	"math/bits"
	"slices"
	"sort"
	"strings"

	"github.com/schedscope/schedscope/model"
)

// Point is where a goroutine was at a point of its computing, or when.
type Point struct {
	Time   model.Time
	At     model.Duration // CPU time since the beginning of its program
	Seg    int32          // the segment; between two of them, while it waits, the one before
	Stack  model.StackID  // 0: not known
	Region model.StringID // of a user region that begins (Depth 1) or ends (-1) here
	Depth  int8
	Sample bool // a CPU sample
	Waits  bool // it waits, or is in a system call
}

// See adds what an event shows of where its goroutine is, after the Machine got the event: only
// what is seen can be scaled.
func (e *Extractor) See(ev *model.Event) {
	if e.w == nil {
		return
	}
	e.clock.advance(ev.Time)
	x := Point{Stack: ev.Stack}
	switch ev.Kind {
	case model.EventGoTransition:
		if id := model.GoID(ev.ID); id != ev.G {
			e.see(e.get(id), Point{})
		}
	case model.EventStackSample:
		x.Sample = true
	case model.EventRegionBegin:
		x.Region, x.Depth = ev.Str, 1
	case model.EventRegionEnd:
		x.Region, x.Depth = ev.Str, -1
	}
	e.see(e.get(ev.G), x)
}

func (e *Extractor) see(f *follower, x Point) {
	if f == nil || f.index < 0 || f.worker || x.Sample && (f.state != model.GoRunning || x.Stack == 0) {
		return
	}
	e.settle(f)
	g := &e.w.Goroutines[f.index]
	x.Time, x.At, x.Seg = e.clock.now, e.w.side[f.index].cpu+f.cpu, int32(len(g.Segments))
	if f.state == model.GoSyscall || f.state == model.GoWaiting && !f.suspended {
		x.Seg--
		x.Waits = true
	}
	g.Points = append(g.Points, x)
}

// Scale has what some functions compute, or wait for, take another time.
type Scale struct {
	Kind ScaleKind
	// Match reports whether a function is one of them, by its name; of ScaleRegion whether a user
	// region is.
	Match func(name string) bool
	By    float64 // 0.5: half as long
}

// ScaleKind says what of functions is scaled.
type ScaleKind uint8

// Kinds of scales.
const (
	ScaleFunc   ScaleKind = iota // computing with the function on the stack
	ScaleRegion                  // computing in a user region
	ScaleWait                    // waits for the network and timers with the function on the stack
)

// Scaled is how much time was found to scale, by how that is known, before it is scaled.
type Scaled struct {
	Certain   model.Duration `json:"certain_ns"`   // on the stack of the events at both ends, or a wait or region
	Sampled   model.Duration `json:"sampled_ns"`   // by CPU samples
	Uncertain model.Duration `json:"uncertain_ns"` // half of each stretch with the function at one of its ends
}

// Total returns all of it.
func (s Scaled) Total() model.Duration { return s.Certain + s.Sampled + s.Uncertain }

// Add adds another window's.
func (s *Scaled) Add(o Scaled) {
	s.Certain += o.Certain
	s.Sampled += o.Sampled
	s.Uncertain += o.Uncertain
}

// kindSamples is from how many CPU samples of stretches that begin and end at the same stacks the
// part of a function in these is taken.
const kindSamples = 3

// kind is what stretches have in common that are alike: the stacks at their ends, 0 where they are
// not known, and how long they are, as a power of two; 0: however long.
type kind struct {
	ends [2]model.StackID
	size int
}

// stretch is the computing between two events with stacks of a goroutine, of which points may be
// samples.
type stretch struct {
	kind     kind
	from, to model.Duration
	samples  []Point
}

// stretches calls f for what a goroutine computes, in order.
func (g *Goroutine) stretches(f func(stretch)) {
	all := model.Duration(0)
	for i := range g.Segments {
		all += g.Segments[i].CPU
	}
	x, first := stretch{}, 0
	for i := 0; i <= len(g.Points); i++ {
		end := Point{At: all}
		if i < len(g.Points) {
			end = g.Points[i]
		}
		if end.Sample || end.Stack == 0 && end.Region == 0 && i < len(g.Points) {
			continue
		}
		if x.to, x.kind.ends[1] = max(min(end.At, all), x.from), end.Stack; x.to > x.from {
			x.kind.size, x.samples = bits.Len64(uint64(x.to-x.from)), x.samples[:0]
			for _, y := range g.Points[first:i] {
				if y.Sample {
					x.samples = append(x.samples, y)
				}
			}
			f(x)
		}
		x.from, x.kind.ends[0], first = x.to, end.Stack, i+1
	}
}

// onStack numbers what is on stacks down to the outermost function that a scale matches, 0 for
// stacks without one: stacks with the same number are in the same call of it, or in another from
// the same line.
type onStack struct {
	scale  *Scale
	tables *model.Tables
	of     map[model.StackID]int32
	ways   numbers[string]
}

func (o *onStack) at(id model.StackID) int32 {
	n, ok := o.of[id]
	if !ok {
		var way strings.Builder
		for _, f := range slices.Backward(o.tables.Stack(id)) {
			if o.scale.Match(f.Func) {
				n = o.ways.of(way.String()) + 1
				break
			}
			way.WriteString(f.Func)
			way.WriteByte(0)
			way.WriteString(f.File)
			way.WriteRune(rune(f.Line))
		}
		o.of[id] = n
	}
	return n
}

// Scale returns the workload with the scales applied, each on what those before made of it, and how
// much time each found. The workload, of which it shares what does not change, stays as it is.
//
// A function is on the stack in a stretch between two events of a goroutine (see Point)
//
//  1. for all of it, if it is on the stacks of both, called from the same lines, or started the
//     goroutine;
//  2. else, of a stretch with two or more CPU samples, for what lies nearest to those that have it;
//  3. else for the part of the samples that have it, of those in all stretches between the same two
//     stacks that are about as long, or else however long, if they are three or more, or it has one
//     itself;
//  4. else for half of it, if it is on one of the two stacks.
//
// What is scaled of a stretch is taken out of it, or put in, evenly.
func (w *Workload) Scale(scales []Scale) (*Workload, []Scaled) {
	out := *w
	out.Goroutines = slices.Clone(w.Goroutines)
	found := make([]Scaled, len(scales))
	for k := range scales {
		s := &scales[k]
		on := &onStack{scale: s, tables: w.Tables, of: map[model.StackID]int32{}, ways: numbers[string]{}}
		if s.Kind == ScaleWait {
			for i := range out.Goroutines {
				found[k].Certain += out.Goroutines[i].scaleWaits(s, on)
			}
			continue
		}
		changes := make([]change, len(out.Goroutines))
		type part struct{ with, all int }
		parts := map[kind]part{}
		if s.Kind == ScaleFunc {
			for i := range out.Goroutines {
				out.Goroutines[i].stretches(func(x stretch) {
					for _, k := range [2]kind{x.kind, {ends: x.kind.ends}} {
						for _, y := range x.samples {
							p := parts[k]
							if p.all++; on.at(y.Stack) > 0 {
								p.with++
							}
							parts[k] = p
						}
					}
				})
			}
		}
		for i := range out.Goroutines {
			g := &out.Goroutines[i]
			if g.System || g.Tracer {
				continue
			}
			c := change{}
			inside, root := g.inside(s, w.Tables), s.Match(w.Tables.String(g.Func))
			g.stretches(func(x stretch) {
				long, p, n := x.to-x.from, parts[x.kind], len(x.samples)
				part, into := 0.0, &found[k].Certain
				if p.all < kindSamples {
					p = parts[kind{ends: x.kind.ends}]
				}
				from, to := on.at(x.kind.ends[0]), on.at(x.kind.ends[1])
				switch {
				case s.Kind == ScaleRegion:
					part = inside(x.from)
				case root, from > 0 && from == to:
					part = 1
				case n > 1:
					into = &found[k].Sampled
					lo := x.from
					for j, y := range x.samples {
						hi := x.to
						if j+1 < n {
							hi = (y.At + x.samples[j+1].At) / 2
						}
						if hi = min(max(hi, lo), x.to); on.at(y.Stack) > 0 {
							part += float64(hi-lo) / float64(long)
						}
						lo = hi
					}
				case p.all >= kindSamples:
					part, into = float64(p.with)/float64(p.all), &found[k].Sampled
				case n == 1 && on.at(x.samples[0].Stack) > 0:
					part, into = 1, &found[k].Sampled
				case n == 0 && (from > 0) != (to > 0):
					part, into = 0.5, &found[k].Uncertain
				}
				if part > 0 {
					*into += model.Duration(float64(long) * part)
					c = append(c, changed{from: x.from, to: x.to, takes: model.Duration(float64(long) * (1 + part*(s.By-1)))})
				}
			})
			g.change(c)
			changes[i] = c
		}
		out.changes = append(out.changes, changes)
	}
	return &out, found
}

// scaleWaits scales waits for the network and timers whose end does not depend on the schedule, and
// returns how long they were.
func (g *Goroutine) scaleWaits(s *Scale, on *onStack) (sum model.Duration) {
	cloned := false
	for k := range g.Segments {
		x := &g.Segments[k]
		if x.Absolute || x.End != EndExternal && x.End != EndSleep || g.System || g.Tracer || on.at(x.Stack) == 0 {
			continue
		}
		if !cloned {
			g.Segments, cloned = slices.Clone(g.Segments), true
			x = &g.Segments[k]
		}
		sum += x.Delay
		x.Delay = model.Duration(float64(x.Delay) * s.By)
	}
	return sum
}

// inside returns a function that reports, for points in increasing order, 1 within regions that s
// matches, else 0.
func (g *Goroutine) inside(s *Scale, t *model.Tables) func(model.Duration) float64 {
	depth, next := 0, 0
	return func(at model.Duration) float64 {
		for ; next < len(g.Points) && g.Points[next].At <= at; next++ {
			if x := &g.Points[next]; x.Region != 0 && s.Match(t.String(x.Region)) {
				depth = max(0, depth+int(x.Depth))
			}
		}
		return float64(min(depth, 1))
	}
}

// changed is computing that takes another time: from at to up to until, moved by what those before
// take more.
type changed struct{ from, to, takes, moved model.Duration }

// change is what changes of a goroutine's computing, in order.
type change []changed

// at returns where a point of the computing is afterwards.
func (c change) at(at model.Duration) model.Duration {
	i := sort.Search(len(c), func(i int) bool { return c[i].from >= at }) - 1
	if i < 0 {
		return at
	}
	x := &c[i]
	if at >= x.to {
		return at + x.moved + x.takes - (x.to - x.from)
	}
	return x.from + x.moved + model.Duration(float64(at-x.from)/float64(x.to-x.from)*float64(x.takes))
}

// change makes what the goroutine computes take other times.
func (g *Goroutine) change(c change) {
	if len(c) == 0 {
		return
	}
	g.Segments, g.Ops, g.Points = slices.Clone(g.Segments), slices.Clone(g.Ops), slices.Clone(g.Points)
	for i := range c[1:] {
		c[i+1].moved = c[i].moved + c[i].takes - (c[i].to - c[i].from)
	}
	g.Work = 0
	from, to, op := model.Duration(0), model.Duration(0), int32(0) // where the segment begins, before and after
	for k := range g.Segments {
		x := &g.Segments[k]
		end := c.at(from + x.CPU)
		for ; op < x.Ops; op++ {
			g.Ops[op].At = min(max(c.at(from+g.Ops[op].At)-to, 0), end-to)
		}
		from += x.CPU
		x.CPU, to = end-to, end
		g.Work += x.CPU
	}
	for i := range g.Points {
		g.Points[i].At = c.at(g.Points[i].At)
	}
}

// Saved returns by how much less a goroutine computes than before scaling between two points of its
// computing.
func (w *Workload) Saved(g int32, from, to model.Duration) model.Duration {
	saved := to - from
	for _, c := range w.changes {
		from, to = c[g].at(from), c[g].at(to)
	}
	return saved - (to - from)
}

// CPUAt returns how much a goroutine had computed at a time. It must have been seen.
func (g *Goroutine) CPUAt(at model.Time) model.Duration {
	i := sort.Search(len(g.Points), func(i int) bool { return g.Points[i].Time > at })
	if i == 0 {
		return 0
	}
	x := &g.Points[i-1]
	if i == len(g.Points) {
		return x.At
	}
	y := &g.Points[i]
	return x.At + model.Duration(float64(at.Sub(x.Time))/float64(y.Time.Sub(x.Time))*float64(y.At-x.At))
}
