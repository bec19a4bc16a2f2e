package wire

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/model"
)

// entry stands for a thread in the heap.
type entry struct {
	time   model.Time // of the thread's next event
	thread *thread
}

// start puts the threads into the heap and emits the Sync that begins the
// generation (internal/trace/reader.go: installGen).
func (d *Decoder) start() bool {
	roster := d.roster()
	if !d.samples.sort(&d.clock) {
		return d.refuse("invalid time of a CPU sample")
	}
	for _, t := range d.threads.list {
		t.batch = t.first
		switch d.read(t) {
		case readFailed:
			return false
		case readEvent:
			d.heap = append(d.heap, entry{t.time, t})
			d.up(len(d.heap) - 1)
		}
	}
	begin, ok := d.clock.duration(d.clock.minTicks)
	if !ok {
		return d.refuse("invalid time")
	}
	d.take()
	d.chunk.Roster = roster
	e := d.event(begin, model.EventSync)
	e.Arg = d.clock.wall
	return true
}

// run emits everything else. It returns false if that is not possible.
func (d *Decoder) run() bool {
	for len(d.heap) > 0 || d.samples.time < maxTime {
		if d.n > d.most {
			if !d.pass() {
				return true
			}
			d.take()
		}
		if len(d.heap) == 0 || d.samples.time < d.heap[0].time {
			d.sample()
		} else if !d.turn(d.heap) {
			return false
		}
		if d.failed {
			return d.refuse("unknown string or stack")
		}
	}
	d.chunk.Unused = d.unused()
	d.pass()
	return true
}

// turn emits the earliest events that can have happened by now: nearly always those of the first thread, for as long
// as they are the earliest and the chunk has room.
func (d *Decoder) turn(h []entry) bool {
	t, until := h[0].thread, d.samples.time
	for i := 1; i < min(len(h), 3); i++ {
		until = min(until, h[i].time)
	}
	for {
		switch d.advance(t) {
		case tooEarly:
			return d.search()
		case invalid:
			return d.refuse("inconsistent state")
		}
		r := d.read(t)
		if r != readEvent || t.time > until || d.n > d.most {
			return d.place(0, r)
		}
		h[0].time = t.time
	}
}

// search emits the earliest event that can have happened by now, the first one
// having been tried. A sorted heap is still a heap. N.B. among equal times,
// sorting may put another event first, which is not tried then, as in the
// reader.
func (d *Decoder) search() bool {
	slices.SortFunc(d.heap, func(a, b entry) int { return cmp.Compare(a.time, b.time) })
	for i := 1; i < len(d.heap); i++ {
		switch d.advance(d.heap[i].thread) {
		case advanced:
			return d.place(i, d.read(d.heap[i].thread))
		case invalid:
			return d.refuse("inconsistent state")
		}
	}
	d.stuck = d.heap[0].time
	return d.refuse("no event can come next")
}

// place puts the i-th thread of the heap where it belongs, after its next event was read.
func (d *Decoder) place(i int, r reading) bool {
	switch r {
	case readFailed:
		return false
	case readEnd:
		d.remove(i)
	default:
		d.heap[i].time = d.heap[i].thread.time
		if d.up(i) == i {
			d.down(i)
		}
	}
	return true
}

// up moves the i-th entry towards the root while its parent is later, and
// returns where it ends up.
func (d *Decoder) up(i int) int {
	h := d.heap
	for i > 0 {
		parent := (i - 1) / 2
		if h[parent].time <= h[i].time {
			break
		}
		h[parent], h[i] = h[i], h[parent]
		i = parent
	}
	return i
}

// down moves the i-th entry towards the leaves while a child is earlier, the
// left one if both are equally so.
func (d *Decoder) down(i int) {
	h := d.heap
	for {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if right := child + 1; right < len(h) && h[right].time < h[child].time {
			child = right
		}
		if h[i].time <= h[child].time {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}

// remove removes the i-th entry: it is moved to the root past its parents, which
// then takes the last entry's place in the order (internal/trace/batchcursor.go:
// heapRemove).
func (d *Decoder) remove(i int) {
	h := d.heap
	for ; i > 0; i = (i - 1) / 2 {
		h[(i-1)/2], h[i] = h[i], h[(i-1)/2]
	}
	last := len(h) - 1
	h[0] = h[last]
	h[last] = entry{}
	d.heap = h[:last]
	if last > 0 {
		d.down(0)
	}
}
