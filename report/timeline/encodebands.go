package timeline

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

func (e *encoder) depth() {
	d := &e.r.depth
	e.time(d.quantum)
	e.int(int64(len(d.steps)))
	from := e.r.start
	for _, s := range d.steps {
		e.signed(int64(s.start.Sub(from)))
		e.time(s.end.Sub(s.start))
		e.int(int64(s.most))
		e.int(int64(s.most)*int64(s.end-s.start) - s.area)
		e.int(s.idle)
		e.int(int64(s.count))
		from = s.end
	}
}

func (e *encoder) bands() {
	r := e.r
	byTime := func(*band, *band) int { return 0 }
	e.list(&r.stws, byTime, func(x *band) {
		e.int(x.more[0])
		e.int(x.more[1])
		e.time(x.end.Sub(x.start))
		e.put(e.refs.string(x.name))
		e.put(e.refs.goroutine(x.g))
		e.put(uint64(x.open))
	})
	e.list(&r.marks, byTime, func(x *band) { e.time(x.end.Sub(x.start)) })
	e.list(&r.tasks, func(a, b *band) int { return cmp.Compare(uint64(a.more[0]), uint64(b.more[0])) }, func(x *band) {
		e.time(x.end.Sub(x.start))
		e.put(uint64(x.more[0]))
		e.put(uint64(x.more[1]))
		e.put(e.refs.goroutine(x.g))
		e.put(e.refs.string(x.name))
		e.put(uint64(x.open))
	})
	byDepth := func(a, b *band) int { return cmp.Or(cmp.Compare(a.g, b.g), cmp.Compare(a.more[0], b.more[0])) }
	e.list(&r.regions, byDepth, func(x *band) {
		e.time(x.end.Sub(x.start))
		e.put(e.refs.goroutine(x.g))
		e.put(e.refs.string(x.name))
		e.int(x.more[0])
		e.put(uint64(x.open))
	})
}

// list writes bands in the order of their beginnings, and of order where those are equal.
func (e *encoder) list(b *bands, order func(a, b *band) int, rest func(*band)) {
	e.int(b.lost)
	e.int(int64(len(b.list)))
	slices.SortStableFunc(b.list, func(x, y band) int { return cmp.Or(cmp.Compare(x.start, y.start), order(&x, &y)) })
	from := e.r.origin
	for i := range b.list {
		x := &b.list[i]
		e.time(x.start.Sub(from))
		rest(x)
		from = x.start
	}
}

func (e *encoder) steals() {
	list := e.r.steals.within(e.r.start, e.r.end)
	e.int(int64(e.r.steals.every))
	e.int(int64(len(list)))
	from := e.r.origin
	for _, s := range list {
		e.time(s.Time.Sub(from))
		e.put(uint64(s.Thief + 1))
		e.put(uint64(s.Victim + 1))
		e.int(int64(s.Size))
		e.put(e.refs.goroutine(s.G))
		e.flag(s.Runnext)
		from = s.Time
	}
}

// refs are the strings, stacks, goroutines and threads that the body refers to. Numbers
// of strings and stacks are in the order of first use. Those of goroutines and threads
// are in the order of their ids and must be known before.
type refs struct {
	r       *Recorder
	strings numbers[string]
	stacks  []model.StackID
	frames  numbers[frame]
	// The numbers by StringID and StackID: most are asked for often.
	ofStrings, ofStacks []uint64
	goroutines          numbers[model.GoID]
	threads             numbers[model.ThreadID]
	names               map[model.GoID]model.StringID // of those that procs ran
}

// A frame holds numbers of strings.
type frame struct{ fn, file, line uint64 }

// numbers numbers keys from 1, so that 0 stands for none.
type numbers[K comparable] struct {
	of   map[K]uint64
	list []K
}

// add returns the number of k, which is the next one if k has none.
func (n *numbers[K]) add(k K) uint64 {
	if id := n.of[k]; id != 0 {
		return id
	}
	if n.of == nil {
		n.of = map[K]uint64{}
	}
	n.list = append(n.list, k)
	n.of[k] = uint64(len(n.list))
	return n.of[k]
}

// inOrder numbers the keys of n by their order.
func inOrder[K cmp.Ordered](n *numbers[K]) {
	slices.Sort(n.list)
	for i, k := range n.list {
		n.of[k] = uint64(i + 1)
	}
}

func newRefs(r *Recorder) *refs {
	f := &refs{r: r, names: map[model.GoID]model.StringID{}}
	f.collect()
	inOrder(&f.goroutines)
	inOrder(&f.threads)
	return f
}

// collect notes all goroutines and threads.
func (f *refs) collect() {
	r := f.r
	for _, c := range []*class{&r.goroutines, &r.procs, &r.threads} {
		for _, l := range c.lanes {
			switch c {
			case &r.goroutines:
				f.noteG(model.GoID(l.id))
			case &r.threads:
				f.noteM(model.ThreadID(l.id))
			}
			for s := range l.exact {
				f.noteG(s.g)
				f.noteM(s.thread)
				if c == &r.procs && s.reason != 0 {
					f.names[s.g] = s.reason
				}
			}
		}
	}
	for _, b := range []*bands{&r.stws, &r.tasks, &r.regions} {
		for i := range b.list {
			f.noteG(b.list[i].g)
		}
	}
	for i := range r.steals.list {
		f.noteG(r.steals.list[i].G)
	}
}

func (f *refs) noteG(id model.GoID) {
	if id >= 0 {
		f.goroutines.add(id)
	}
}

func (f *refs) noteM(id model.ThreadID) {
	if id >= 0 {
		f.threads.add(id)
	}
}

func (f *refs) goroutine(id model.GoID) uint64  { return f.goroutines.of[id] }
func (f *refs) thread(id model.ThreadID) uint64 { return f.threads.of[id] }

func (f *refs) string(id model.StringID) uint64 {
	if id == 0 {
		return 0
	}
	n := result.Slot(&f.ofStrings, int(id))
	if *n == 0 {
		*n = f.strings.add(f.r.tables.String(id))
	}
	return *n
}

func (f *refs) stack(id model.StackID) uint64 {
	if id == 0 {
		return 0
	}
	n := result.Slot(&f.ofStacks, int(id))
	if *n == 0 {
		f.stacks = append(f.stacks, id)
		*n = uint64(len(f.stacks))
	}
	return *n
}

// write writes the tables.
func (f *refs) write(b *buffer) {
	var stacks, people buffer
	stacks.int(int64(len(f.stacks)))
	for _, id := range f.stacks {
		frames, place := f.r.tables.Stack(id), 0
		if x := result.PlaceIn(frames); x != nil && result.OfProgram(x.Func) {
			place = 1 + slices.Index(frames, *x)
		}
		stacks.int(int64(place))
		stacks.int(int64(len(frames)))
		for _, x := range frames {
			stacks.put(f.frames.add(frame{f.strings.add(x.Func), f.strings.add(x.File), x.Line}) - 1)
		}
	}
	f.writePeople(&people)
	b.int(int64(len(f.strings.list)))
	for _, s := range f.strings.list {
		b.string(s)
	}
	b.int(int64(len(f.frames.list)))
	for _, x := range f.frames.list {
		b.put(x.fn - 1)
		b.put(x.file - 1)
		b.put(x.line)
	}
	b.b = append(append(b.b, stacks.b...), people.b...)
}

func (f *refs) writePeople(b *buffer) {
	b.int(int64(len(f.goroutines.list)))
	last := model.GoID(0)
	for _, id := range f.goroutines.list {
		b.int(int64(id - last))
		name, system := f.person(id)
		b.put(name)
		b.flag(system)
		last = id
	}
	b.int(int64(len(f.threads.list)))
	lastM := model.ThreadID(0)
	for _, id := range f.threads.list {
		b.int(int64(id - lastM))
		lastM = id
	}
}

// person returns the name of a goroutine, if that is known, and whether it is of the runtime.
func (f *refs) person(id model.GoID) (uint64, bool) {
	if l := f.r.goroutines.lanes[int64(id)]; l != nil {
		return f.string(l.name), l.system
	}
	return f.string(f.names[id]), false
}
