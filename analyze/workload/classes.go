package workload

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/model"
)

// classify gives each wait on a recorded wake its class, and collects what pools
// and joins are waited for.
//
// Which channel a goroutine waits for is not in the trace. It is guessed: wakes from one
// place (stack frame of the waker) of goroutines that wait at one place belong
// to one object if wakers or wakees are linked by them. Thus eight pairs of
// goroutines made by the same code are eight objects, and workers that several
// producers serve are one.
func (w *window) classify(p *places) {
	c := classifier{w: w, p: p, kinds: numbers[edgeKind]{},
		selectWord: w.Tables.AddString("select"), selects: map[model.StackID]int{}, from: map[selectFrom]int{}, objects: map[int32]int32{}}
	for i := range w.Goroutines {
		g := &w.Goroutines[i]
		for k := range g.Segments {
			c.plain(g, &g.Segments[k])
		}
	}
	// Of wakes by a goroutine from a wait that may have an object.
	w.wakes = w.wakes[:0]
	var recent recentWakes
	w.eachWake(func(at opRef, o *Op, x *Segment) {
		if x.Class != ClassNone {
			return
		}
		if c.isSelect(x) {
			c.selects[x.Stack]++
			c.from[selectFrom{x.Stack, p.of(o.Stack).user}]++
		}
		w.wakes = append(w.wakes, wake{o, x, recent.node(at.g, o, x, c.connect)})
	})
	for i := range w.wakes {
		c.decide(&w.wakes[i])
	}
	c.sift()
	w.fillJoins()
}

// A pool is one queue, so its wakes must be in the order of the waits. Where more than
// so many in a hundred of those that had a choice are not, each goroutine waits
// for something of its own, such as the reply to its own request.
const outOfOrder = 15

// boundTo is how many of a hundred waits in a pool may lead to something for a
// certain goroutine. With more, members are not alike: if another one is served,
// the wrong reply goes out.
const boundTo = 5

// sift leaves those objects that may be served in another order than recorded: pools that are
// none are hand-offs, and pools whose members are not alike are served as recorded.
func (c *classifier) sift() {
	c.drop(c.w.disordered(), ClassHandoff)
	bad := c.w.bound()
	for n := range bad {
		bad[n] = bad[n] || c.twoSided[n]
	}
	c.drop(bad, ClassPool)
}

// disordered returns which pools are not served in order.
func (w *window) disordered() []bool {
	type order struct {
		first          model.Time // earliest beginning of the waits that end later
		any            bool
		chosen, passed int // wakes with others waiting; with others that waited longer
	}
	list := make([]order, len(w.Objects))
	for i := len(w.waits) - 1; i >= 0; i-- {
		x := &w.waits[i]
		if x.seg < 0 {
			continue // see trim
		}
		seg := &w.Goroutines[x.g].Segments[x.seg]
		if seg.Object < 0 || seg.Class != ClassPool {
			continue
		}
		o := &list[seg.Object]
		if o.any && o.first < x.to {
			o.chosen++
			if o.first < x.from {
				o.passed++
			}
		}
		if !o.any || x.from < o.first {
			o.any, o.first = true, x.from
		}
	}
	bad := make([]bool, len(list))
	for i := range list {
		bad[i] = list[i].passed*100 > list[i].chosen*outOfOrder
	}
	return bad
}

// bound returns which pools have members that do something for certain goroutines
// between one wait and the next.
func (w *window) bound() []bool {
	count := make([]int64, len(w.Objects))
	for i := range w.Goroutines {
		g := &w.Goroutines[i]
		in, first, told := int32(-1), int32(0), true
		for k := range g.Segments {
			x := &g.Segments[k]
			for j := first; j < x.Ops && !told; j++ {
				if told = w.certain(&g.Ops[j]); told {
					count[in]++
				}
			}
			if first = x.Ops; x.Object >= 0 && x.Class == ClassPool {
				in, told = x.Object, false
			}
		}
	}
	bad := make([]bool, len(count))
	for n := range count {
		bad[n] = count[n]*100 > w.Objects[n].Waits*boundTo
	}
	return bad
}

// certain reports whether an operation is for a certain goroutine.
func (w *window) certain(o *Op) bool {
	switch o.Kind {
	case OpSend:
		return true
	case OpWake:
		x := &w.Goroutines[o.G].Segments[o.Seg]
		return x.Object < 0 && (x.Class == ClassHandoff || x.Class == ClassSelect)
	}
	return false
}

// drop takes out objects, whose waits get the class.
func (c *classifier) drop(bad []bool, class Class) {
	w := c.w
	to := make([]int32, len(w.Objects))
	kept := w.Objects[:0]
	for i := range bad {
		if to[i] = int32(len(kept)); bad[i] {
			to[i] = -1
			continue
		}
		c.twoSided[len(kept)] = c.twoSided[i]
		kept = append(kept, w.Objects[i])
	}
	w.Objects, c.twoSided = kept, c.twoSided[:len(kept)]
	for i := range w.Goroutines {
		for k := range w.Goroutines[i].Segments {
			x := &w.Goroutines[i].Segments[k]
			if x.Object < 0 {
				continue
			}
			if x.Object = to[x.Object]; x.Object < 0 {
				x.Class = class
			}
		}
	}
}

// edgeKind is the kind of a wake: by whom from which place, of whom at which place.
type edgeKind struct{ wakee, waker int32 }

// node is a goroutine in its part in wakes of a kind.
type node struct {
	kind, g int32
	waker   bool
}

// wake is an operation that ends the wait of a segment, with the number of the wakee in what joins them.
type wake struct {
	o     *Op
	x     *Segment
	wakee int32
}

// selectFrom is a stack that waits in a select and a place from which it is woken.
type selectFrom struct {
	stack model.StackID
	waker int32
}

// selectMostly is in how many of a hundred waits a select must be woken from one
// place to count as a wait for that one alone.
const selectMostly = 90

type classifier struct {
	w     *window
	p     *places
	kinds numbers[edgeKind]
	// Waits in select, by stack, and those of them by place of the waker.
	selects    map[model.StackID]int
	selectWord model.StringID
	from       map[selectFrom]int
	sets       sets[node]
	wakees     []int32         // by what stands for a set
	objects    map[int32]int32 // by root
	// By object: at its place goroutines also wake those that wait at their wakers'.
	twoSided []bool
}

// plain gives a class to ends that need no more than their own segment.
func (c *classifier) plain(g *Goroutine, x *Segment) {
	switch x.End {
	case EndWait:
		if x.Class == ClassNone {
			x.Class = c.waitClass(g, x)
		}
	case EndSyscall:
		x.Class = ClassSyscall
	case EndForever:
		x.Class = ClassNone
	}
}

// waitClass returns the class of a wait as its own stack shows it: ClassNone for
// channels, whose class depends on who wakes.
func (c *classifier) waitClass(g *Goroutine, x *Segment) Class {
	if g.System {
		return ClassRuntime
	}
	switch c.w.waitOf(x) {
	case model.WaitGC, model.WaitRuntime, model.WaitSystem:
		return ClassRuntime
	case model.WaitGroup:
		return ClassJoin
	case model.WaitLock:
		return ClassLock
	case model.WaitCond, model.WaitSync:
		return ClassCond
	case model.WaitNetwork:
		return ClassExternal // its connection was closed
	}
	return ClassNone
}

// waitOf returns what the wait at the end of a segment is for.
func (w *window) waitOf(x *Segment) model.Wait { return model.WaitOf(w.Tables.String(x.Reason)) }

// connect notes a kind of wakes for the guess of objects. It returns the node of the wakee.
func (c *classifier) connect(waker int32, o *Op, x *Segment) int32 {
	kind := c.kinds.of(edgeKind{c.p.of(x.Stack).user, c.p.of(o.Stack).user})
	a, b := c.node(node{kind, waker, true}), c.node(node{kind, o.G, false})
	if a, gone := c.sets.join(a, b); a != gone {
		c.wakees[a] += c.wakees[gone]
	}
	return b
}

func (c *classifier) isSelect(x *Segment) bool {
	return x.Class == ClassNone && x.Reason == c.selectWord
}

func (c *classifier) node(n node) int32 {
	i := c.sets.of(n)
	if int(i) == len(c.wakees) {
		c.wakees = append(c.wakees, 1)
		if n.waker {
			c.wakees[i] = 0
		}
	}
	return i
}

// decide gives a wait its class and object.
func (c *classifier) decide(k *wake) {
	o, x := k.o, k.x
	if o.Inject && x.Class == ClassNone {
		x.Class = ClassRuntime
		return
	}
	from := c.p.of(o.Stack).user
	place := c.p.of(x.Stack)
	b := c.sets.find(k.wakee)
	switch {
	case c.isSelect(x) && c.from[selectFrom{x.Stack, from}]*100 < c.selects[x.Stack]*selectMostly:
		x.Class = ClassSelect
		return
	case c.wakees[b] > 1:
		x.Class = ClassPool
	default:
		x.Class = ClassHandoff
		return
	}
	n, ok := c.objects[b]
	if !ok {
		n = int32(len(c.w.Objects))
		c.objects[b] = n
		// On a channel where both ends wait now and then, who waits depends on who came first.
		_, other := c.kinds[edgeKind{from, place.user}]
		c.w.Objects = append(c.w.Objects, Object{Class: x.Class})
		c.twoSided = append(c.twoSided, other)
	}
	x.Object = n
	c.w.Objects[n].Waits++
}

// fillJoins gives each wait for a WaitGroup what it waits for: of the goroutines that the waiter
// created since its last such wait those that had ended when it was woken; of those that it woke
// since, and that live on, what they did until they last waited; and its waker, if that is one of
// them. If not, somebody else distributes the work, and only the recorded wake counts.
func (w *window) fillJoins() {
	waker := map[[2]int32]int32{} // by goroutine and segment
	w.eachWake(func(at opRef, o *Op, x *Segment) {
		if x.Class == ClassJoin {
			waker[[2]int32{o.G, o.Seg}] = at.g
		}
	})
	if len(waker) == 0 {
		return
	}
	waits := w.waitsOf()
	begin := map[int32]int32{} // first operation after the join before, by waiter
	for _, n := range w.waits {
		by, ok := waker[[2]int32{n.g, n.seg}]
		if !ok {
			continue
		}
		g := &w.Goroutines[n.g]
		x := &g.Segments[n.seg]
		object := Object{Class: ClassJoin, Waits: 1}
		found := false
		parts := map[int32]int32{} // place in object.Parts, by goroutine
		for _, o := range g.Ops[begin[n.g]:x.Ops] {
			switch {
			case o.Kind != OpCreate && o.Kind != OpWake:
				continue
			case o.G == by:
				found = true
			case o.Kind == OpCreate && w.side[o.G].exited && w.side[o.G].exit <= n.to:
				object.Children = append(object.Children, o.G)
			case o.Kind == OpWake:
				list := waits[o.G]
				k, _ := slices.BinarySearchFunc(list, n.to, func(x waiting, t model.Time) int { return cmp.Compare(x.from, t+1) })
				if k == 0 || list[k-1].seg <= o.Seg {
					continue
				}
				if at, ok := parts[o.G]; ok {
					object.Parts[at].Seg = list[k-1].seg
				} else {
					parts[o.G] = int32(len(object.Parts))
					object.Parts = append(object.Parts, Part{o.G, list[k-1].seg})
				}
			}
		}
		begin[n.g] = x.Ops
		if !found {
			continue
		}
		x.Object = int32(len(w.Objects))
		w.Objects = append(w.Objects, object)
	}
}

// waitsOf returns the waits on recorded wakes by goroutine.
func (w *window) waitsOf() [][]waiting {
	counts := make([]int, len(w.Goroutines))
	for i := range w.waits {
		counts[w.waits[i].g]++
	}
	all, out := make([]waiting, len(w.waits)), make([][]waiting, len(counts))
	for g, n := range counts {
		out[g], all = all[:0:n], all[n:]
	}
	for _, x := range w.waits {
		out[x.g] = append(out[x.g], x)
	}
	return out
}
