package analyze

import (
	"sort"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// Classes of the program as a whole, in the order of precedence. What a wait was
// lost to while it was classTaken depends on its proc.
const (
	classSTW       = iota // the world is stopped or stopping
	classWaking           // a proc is idle, and being woken
	classOSWake           // the same for too long
	classIdleSpin         // a proc is idle, another searches
	classIdleQuiet        // a proc is idle
	classSearching        // no proc is idle, one searches, and may find the goroutine
	classTaken            // no proc is to be had
)

// Classes of one proc.
const (
	heldUnknown = iota // before it was first seen
	heldOSGap          // any of the rest, while all threads are silent
	heldSyscall
	heldGCDedicated
	heldGCFractional
	heldGCIdle
	heldAssist
	heldRuntime
	heldUser
	heldNobody
	heldStuck // by nobody, and its thread searches for longer than it can
	numClasses
)

// heldCauses are the causes of waiting behind a proc in each class.
var heldCauses = [numClasses]Cause{result.CauseUnresolved, result.CauseOSGap, result.CauseSyscall, result.CauseGCDedicated, result.CauseGCFractional, result.CauseGCIdle,
	result.CauseAssist, result.CauseRuntime, result.CauseGoroutine, result.CauseSwitching, result.CauseOSScheduler}

// group says what else the cause of a wait depends on while a proc is idle, and
// whether its proc is known.
type group uint8

const (
	groupPlain group = iota
	groupRunnext
	groupLocked
	groupUnresolved
	numGroups
)

// globalCauses are the causes of waiting while the program is in each class, but
// for classTaken of waits whose proc is known.
var globalCauses = [numGroups][classTaken + 1]Cause{
	groupPlain:      {result.CauseSTW, result.CauseWaking, result.CauseOSWake, result.CauseSpinner, result.CauseUnexplained, result.CauseSearching, result.CauseUnresolved},
	groupRunnext:    {result.CauseSTW, result.CauseWaking, result.CauseOSWake, result.CauseRunnext, result.CauseRunnext, result.CauseSearching, result.CauseUnresolved},
	groupLocked:     {result.CauseSTW, result.CauseWaking, result.CauseOSWake, result.CauseHandoff, result.CauseHandoff, result.CauseSearching, result.CauseUnresolved},
	groupUnresolved: {result.CauseSTW, result.CauseWaking, result.CauseOSWake, result.CauseSpinner, result.CauseUnexplained, result.CauseSearching, result.CauseUnresolved},
}

// vector is time by class.
type vector [numClasses]model.Duration

func (v vector) minus(o *vector) vector {
	for i := range v {
		v[i] -= o[i]
	}
	return v
}

// track is the past of the program, or of one proc: which class it was in when.
// A wait is a difference of two cumulative vectors, found by binary search, so
// that its cost does not depend on how much happened while it lasted. Each
// segment also counts the waits that cover it whole, as differences between
// neighbours; together with the parts told by those that begin or end in it,
// that is how long it was waited for in all.
//
// The track of the program measures time. That of a proc measures the time
// during which the program was classTaken: only then does the proc matter.
type track struct {
	points []point          // the first one is where the past that is kept begins
	store  []point          // where they lie, what was forgotten in front of them
	hint   int              // a segment that find found
	cover  [numGroups]int64 // waits that cover the first segment whole, beside its own count
	old    []oldPoint       // before the first point, where waits begin that are not settled
}

// point begins a segment, which lasts until the next one.
type point struct {
	at    model.Time
	clock model.Duration // the track's at that time
	sums  vector         // up to that time
	// Of a proc: who was there, and how long waits that cover a part of the segment
	// were behind it, in how many turns. Of the program, while the world stops: who was the
	// last to stop.
	g       model.GoID
	waited  model.Duration
	turns   int64
	fn      model.StringID
	stack   model.StackID    // where it ended, or an event in it
	samples int32            // CPU samples taken in it, in [world.samples]; 0: none
	cover   [numGroups]int32 // waits that cover it whole, less those that cover the one before
	class   uint8
	ended   ending
}

// ending is how a goroutine's stretch on a proc ended.
type ending uint8

const (
	endedOtherwise   ending = iota // in a system call, or it goes on
	endedInterrupted               // the runtime preempted it
	endedWaiting                   // it began to wait, or exited
)

// oldPoint is what is kept of a time when the segments around it are forgotten.
type oldPoint struct {
	at   model.Time
	sums vector
}

// spareStores are those of tracks that are done with.
var spareStores recycler[point]

// begin makes the first point.
func (k *track) begin(at model.Time, clock model.Duration, class uint8) {
	k.store = spareStores.get()
	k.store = k.store[:cap(k.store)]
	k.points = k.store[:0]
	k.grow()
	k.points = append(k.points, point{at: at, clock: clock, class: class, g: model.NoGoroutine})
}

func (k *track) last() *point { return &k.points[len(k.points)-1] }

// push begins a segment at the end. One of no length gives way.
func (k *track) push(at model.Time, clock model.Duration, class uint8) *point {
	p := k.last()
	if p.at == at {
		p.class, p.g, p.fn, p.stack, p.ended = class, model.NoGoroutine, 0, 0, endedOtherwise
		return p
	}
	before, length := p.class, clock-p.clock
	k.grow()
	k.points = k.points[:len(k.points)+1]
	next := k.last()
	*next = point{at: at, clock: clock, class: class, g: model.NoGoroutine}
	next.sums = k.points[len(k.points)-2].sums
	next.sums[before] += length
	return next
}

// grow makes room for another point. When their store is full, the points move to
// its front if half of it is free there.
func (k *track) grow() {
	if n := len(k.points); n == cap(k.points) {
		if 2*n > cap(k.store) {
			k.store = make([]point, max(64, 2*n))
		}
		k.points = k.store[:copy(k.store, k.points)]
	}
}

// find returns the segment in which t lies, at which the track has begun. It
// looks near where it looked before, further and further away.
func (k *track) find(t model.Time) int {
	n := len(k.points)
	lo, hi := k.hint, k.hint+1
	for step := 1; lo > 0 && k.points[lo].at > t; step *= 2 {
		lo, hi = max(lo-step, 0), lo
	}
	for step := 1; hi < n && k.points[hi].at <= t; step *= 2 {
		lo, hi = hi, min(hi+step, n)
	}
	for lo+1 < hi {
		if mid := int(uint(lo+hi) / 2); k.points[mid].at <= t {
			lo = mid
		} else {
			hi = mid
		}
	}
	k.hint = lo
	return lo
}

// sumsAt returns the vector at a time in segment i.
func (k *track) sumsAt(i int, clock model.Duration) vector {
	p := &k.points[i]
	v := p.sums
	v[p.class] += clock - p.clock
	return v
}

// within returns how long the program was in a class between two times in
// segments i and j of its track.
func (k *track) within(class uint8, i, j int, from, to model.Time) model.Duration {
	x, y := &k.points[i], &k.points[j]
	d := y.sums[class] - x.sums[class]
	if x.class == class {
		d -= from.Sub(x.at)
	}
	if y.class == class {
		d += to.Sub(y.at)
	}
	return d
}

// oldAt returns the vector at a time before the first point that was kept.
func (k *track) oldAt(t model.Time) (vector, bool) {
	i := sort.Search(len(k.old), func(i int) bool { return k.old[i].at >= t })
	if i == len(k.old) || k.old[i].at != t {
		return vector{}, false
	}
	return k.old[i].sums, true
}

// coverAll notes a wait of a group that covers the segments between i and j whole.
func (k *track) coverAll(i, j int, g group) {
	if i+1 < j {
		k.points[i+1].cover[g]++
		k.points[j].cover[g]--
	}
}

// forget drops what was before t. It calls done for each segment that ends by
// then, and for the part before t of the one that goes on, with the waits that
// cover it whole. clock is the track's at t.
func (k *track) forget(t model.Time, clock model.Duration, done func(p *point, end model.Time, length model.Duration, cover *[numGroups]int64, whole bool)) {
	i := 0
	for ; i < len(k.points); i++ {
		p := &k.points[i]
		for g, n := range p.cover {
			k.cover[g] += int64(n)
		}
		p.cover = [numGroups]int32{}
		if i+1 == len(k.points) || k.points[i+1].at > t {
			break
		}
		next := &k.points[i+1]
		done(p, next.at, next.clock-p.clock, &k.cover, true)
	}
	p := &k.points[i]
	if p.at < t {
		done(p, t, clock-p.clock, &k.cover, false)
		p.sums[p.class] += clock - p.clock
		p.at, p.clock = t, clock
	}
	k.points = k.points[i:]
	k.hint = max(k.hint-i, 0)
}

// remember keeps the vectors at times before t, in order, at which waits begin;
// clockAt tells the track's clock.
func (k *track) remember(times []model.Time, t model.Time, clockAt func(model.Time) model.Duration) {
	var kept []oldPoint
	for _, at := range times {
		if at >= t {
			break
		}
		if at < k.points[0].at {
			if v, ok := k.oldAt(at); ok {
				kept = append(kept, oldPoint{at, v})
			}
			continue
		}
		kept = append(kept, oldPoint{at, k.sumsAt(k.find(at), clockAt(at))})
	}
	k.old = kept
}
