package causes

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

// globalCauses are the causes of waiting while the program is in each class, except
// classTaken of waits whose proc is known.
var globalCauses = [numGroups][classTaken + 1]Cause{
	groupPlain:      {result.CauseSTW, result.CauseWaking, result.CauseOSWake, result.CauseSpinner, result.CauseUnexplained, result.CauseSearching, result.CauseUnresolved},
	groupRunnext:    {result.CauseSTW, result.CauseWaking, result.CauseOSWake, result.CauseRunnext, result.CauseRunnext, result.CauseSearching, result.CauseUnresolved},
	groupLocked:     {result.CauseSTW, result.CauseWaking, result.CauseOSWake, result.CauseHandoff, result.CauseHandoff, result.CauseSearching, result.CauseUnresolved},
	groupUnresolved: {result.CauseSTW, result.CauseWaking, result.CauseOSWake, result.CauseSpinner, result.CauseUnexplained, result.CauseSearching, result.CauseUnresolved},
}

// vector is time by class, of one proc or of the program.
type vector [numClasses]model.Duration

func (v vector) minus(o *vector) vector {
	for i := range v {
		v[i] -= o[i]
	}
	return v
}

// track is the past of the program, or of one proc: which class it was in when.
//
//  1. Each segment says how long the classes had lasted in all until it began. A wait is a
//     difference of two such sums, found by binary search, so that its cost does not depend
//     on how much happened while it lasted.
//  2. Each segment also counts the waits that cover it whole, as differences between
//     neighbours; together with the parts of those that begin or end in it, that is how
//     long it was waited for in all.
//  3. Segments are numbered from 0 on. Those that are kept lie in rings.
type track[P any] struct {
	times      []model.Time // when they begin; segment i lies at i modulo the length, a power of two
	points     []P          // what else is known of them
	first, end int          // of the segments that are kept
	from, to   int          // segments found where waits begin, and where they end
	old        []oldPoint   // before the first segment, where waits begin that are not settled
}

// leastRing is how many segments there is room for at first, largeRing how many may stay for what is to come.
const leastRing, largeRing = 32, 2048

// oldPoint is what is kept of a time when the segments around it are forgotten.
type oldPoint struct {
	at   model.Time
	sums vector
}

// point is a segment of a proc's track, which measures the time during which the program
// was classTaken: only then does the proc matter. Times of the classes that are frequent
// stand in the point, those of the others in vectors that neighbours share.
type point struct {
	clock model.Duration // the proc's, when it begins
	alone model.Duration // for so long nobody else ran
	hot   [numHot]model.Duration
	// Who was there, and how long waits that cover a part of the segment were behind it, in
	// how many turns.
	g       model.GoID
	waited  model.Duration
	rare    uint32 // number of the vector
	turns   int32
	cover   int32 // waits that cover it whole, less those that cover the one before
	samples int32 // CPU samples taken in it, in [activity.samples]; 0: none
	fn      model.StringID
	stack   model.StackID // where it ended, or an event in it
	class   uint8
	ended   ending
	lone    bool // another one ran alone before it did
}

// phase is a segment of the program's track, which measures all time.
type phase struct {
	sums  [classTaken + 1]model.Duration
	cover [numGroups]int32 // as in a point, by group
	fn    model.StringID   // while the world stops: who was the last to stop
	stack model.StackID
	class uint8
}

// numHot is how many classes of a proc are frequent.
const numHot = 3

var hotClasses = [numHot]uint8{heldUser, heldNobody, heldSyscall}

// hotPlaces are where the times of classes stand in points, -1: not there.
var hotPlaces = [numClasses]int8{heldUnknown: -1, heldOSGap: -1, heldSyscall: 2, heldGCDedicated: -1, heldGCFractional: -1, heldGCIdle: -1, heldAssist: -1,
	heldRuntime: -1, heldUser: 0, heldNobody: 1, heldStuck: -1}

// ending is how a goroutine's stretch on a proc ended.
type ending uint8

const (
	endedOtherwise   ending = iota // in a system call, or it goes on
	endedInterrupted               // the runtime preempted it
	endedWaiting                   // it began to wait, or exited
)

// slot returns where a segment lies.
func (k *track[P]) slot(i int) uint { return uint(i) & uint(len(k.times)-1) }

func (k *track[P]) at(i int) model.Time { return k.times[k.slot(i)] }

// point returns what is known of a segment, to be used until the next one is added.
func (k *track[P]) point(i int) *P { return &k.points[k.slot(i)] }

func (k *track[P]) last() *P { return k.point(k.end - 1) }

func (k *track[P]) size() int { return k.end - k.first }

// add begins a segment at the end, which the caller fills in.
func (k *track[P]) add(at model.Time) *P {
	if k.size() == len(k.times) {
		k.resize(max(2*len(k.times), leastRing))
	}
	n := k.slot(k.end)
	k.end++
	k.times[n] = at
	return &k.points[n]
}

// resize makes room for n segments, a power of two.
func (k *track[P]) resize(n int) {
	other := track[P]{times: make([]model.Time, n), points: make([]P, n)}
	for i := k.first; i < k.end; i++ {
		n := other.slot(i)
		other.times[n], other.points[n] = k.at(i), *k.point(i)
	}
	k.times, k.points = other.times, other.points
}

// trim keeps what was found among the segments that are kept, and gives back most of what a burst took.
func (k *track[P]) trim() {
	k.from, k.to = max(k.from, k.first), max(k.to, k.first)
	if n := len(k.times); n > largeRing && k.size() < n/8 {
		k.resize(n / 4)
	}
}

// find returns the segment in which t lies, at which the track has begun. It looks near
// where the hint says, further and further away, and leaves it there.
func (k *track[P]) find(t model.Time, hint *int) int {
	times, last := k.times, uint(len(k.times)-1)
	lo, hi := *hint, *hint+1
	for step := 1; lo > k.first && times[uint(lo)&last] > t; step *= 2 {
		lo, hi = max(lo-step, k.first), lo
	}
	for step := 1; hi < k.end && times[uint(hi)&last] <= t; step *= 2 {
		lo, hi = hi, min(hi+step, k.end)
	}
	for lo+1 < hi {
		if mid := int(uint(lo+hi) / 2); times[uint(mid)&last] <= t {
			lo = mid
		} else {
			hi = mid
		}
	}
	*hint = lo
	return lo
}

// oldAt returns the sums at a time before the first segment that were kept.
func (k *track[P]) oldAt(t model.Time) (vector, bool) {
	i := sort.Search(len(k.old), func(i int) bool { return k.old[i].at >= t })
	if i == len(k.old) || k.old[i].at != t {
		return vector{}, false
	}
	return k.old[i].sums, true
}

// remember keeps the sums at times before t, in order, at which waits begin.
func (k *track[P]) remember(times []model.Time, t model.Time, sumsAt func(model.Time) vector) {
	var kept []oldPoint
	for _, at := range times {
		if at >= t {
			break
		}
		if at >= k.at(k.first) {
			kept = append(kept, oldPoint{at, sumsAt(at)})
		} else if v, ok := k.oldAt(at); ok {
			kept = append(kept, oldPoint{at, v})
		}
	}
	k.old = kept
}

// procTrack is the track of a proc.
type procTrack struct {
	track[point]
	covers int64        // waits that cover the first segment whole, apart from its own count
	rares  fifo[vector] // times of classes that are not frequent
	rare   uint32       // number of the first of those
}

// begin makes the first segment.
func (k *procTrack) begin(at model.Time, clock model.Duration, class uint8) {
	*k.add(at) = point{clock: clock, class: class, g: model.NoGoroutine}
	k.rares.push(vector{})
}

// push begins a segment at the end, with the goroutine that the proc has now. One of no length
// gives way.
func (k *procActivity) push(at model.Time, clock model.Duration, class uint8) {
	n := k.slot(k.end - 1)
	p := &k.points[n]
	if k.times[n] == at {
		p.class, p.g, p.fn, p.stack, p.ended = class, k.g, k.fn, 0, endedOtherwise
		return
	}
	// Field by field: a whole one would be put together elsewhere and copied.
	x := k.add(at)
	x.clock, x.hot, x.rare, x.class, x.g, x.fn = clock, p.hot, p.rare, class, k.g, k.fn
	x.alone, x.waited, x.turns, x.cover, x.samples, x.stack, x.ended, x.lone = 0, 0, 0, 0, 0, 0, endedOtherwise, false
	if i, length := hotPlaces[p.class], clock-p.clock; uint(i) < numHot {
		x.hot[i] += length
	} else if length > 0 {
		v := *k.vector(p)
		v[p.class] += length
		x.rare = k.rare + uint32(len(k.rares.all()))
		k.rares.push(v)
	}
}

// vector returns the times of the classes that are not frequent.
func (k *procTrack) vector(p *point) *vector { return &k.rares.all()[p.rare-k.rare] }

// sumsAt returns the sums at a time in segment i.
func (k *procTrack) sumsAt(i int, clock model.Duration) vector {
	p := k.point(i)
	v := *k.vector(p)
	for h, class := range hotClasses {
		v[class] = p.hot[h]
	}
	v[p.class] += clock - p.clock
	return v
}

// cutBetween adds the time between two clocks in the segments x and y to what a wait was cut
// into.
func (k *procTrack) cutBetween(out *cut, x, y *point, from, to model.Duration) {
	if x == y {
		out.add(heldCauses[x.class], to-from)
		return
	}
	for h, class := range hotClasses {
		out.add(heldCauses[class], y.hot[h]-x.hot[h])
	}
	if x.rare != y.rare {
		u, v := k.vector(x), k.vector(y)
		for class, cause := range heldCauses {
			out.add(cause, v[class]-u[class])
		}
	}
	out.add(heldCauses[x.class], x.clock-from)
	out.add(heldCauses[y.class], to-y.clock)
}

// cover notes a wait that covers the segments between i and j whole.
func (k *procTrack) cover(i, j int) {
	if i+1 < j {
		k.point(i+1).cover++
		k.point(j).cover--
	}
}

// forget drops what was before t, once a has counted each segment that ends by
// then, and the part before t of the one that goes on, with the waits that
// cover it whole. clock is the proc's at t.
func (k *procTrack) forget(t model.Time, clock model.Duration, a *attribution) {
	p, at := k.point(k.first), k.at(k.first)
	for k.covers += int64(p.cover); k.first+1 < k.end; k.covers += int64(p.cover) {
		i := k.slot(k.first + 1)
		next, end := &k.points[i], k.times[i]
		if end > t {
			break
		}
		if k.covers > 0 || p.waited > 0 || p.samples != 0 || p.ended == endedInterrupted || p.alone > 0 { // else nobody asks
			a.turnOver(p, at, end, next.clock-p.clock, k.covers, true)
		}
		k.first++
		p, at = next, end
	}
	p.cover = 0
	n := p.rare - k.rare
	k.rares.drop(int(n))
	k.rare += n
	if at < t {
		a.turnOver(p, at, t, clock-p.clock, k.covers, false)
		if i := hotPlaces[p.class]; i >= 0 {
			p.hot[i] += clock - p.clock
		} else {
			k.vector(p)[p.class] += clock - p.clock // nobody else has it: the next class has one of its own
		}
		k.setBegin(t)
		p.clock = clock
	}
	k.trim()
}

// setBegin moves the beginning of the first segment.
func (k *track[P]) setBegin(t model.Time) {
	k.times[k.slot(k.first)] = t
}

// programTrack is the track of the program.
type programTrack struct {
	track[phase]
	covers [numGroups]int64 // as in a procTrack
}

// begin makes the first segment.
func (k *programTrack) begin(at model.Time, class uint8) {
	*k.add(at) = phase{class: class}
}

// push begins a segment at the end. One of no length gives way.
func (k *programTrack) push(at model.Time, class uint8) *phase {
	p, begin := k.last(), k.at(k.end-1)
	if begin == at {
		p.class, p.fn, p.stack = class, 0, 0
		return p
	}
	sums := p.sums
	sums[p.class] += at.Sub(begin)
	next := k.add(at)
	*next = phase{sums: sums, class: class}
	return next
}

// between returns the times between two times in the segments i and j.
func (k *programTrack) between(i, j int, from, to model.Time) [classTaken + 1]model.Duration {
	x, y := k.point(i), k.point(j)
	sums := y.sums
	for class, d := range x.sums {
		sums[class] -= d
	}
	sums[x.class] -= from.Sub(k.at(i))
	sums[y.class] += to.Sub(k.at(j))
	return sums
}

// sumsAt returns the sums at a time in segment i.
func (k *programTrack) sumsAt(i int, t model.Time) (v vector) {
	p := k.point(i)
	copy(v[:], p.sums[:])
	v[p.class] += t.Sub(k.at(i))
	return v
}

// cover notes a wait of a group that covers the segments between i and j whole.
func (k *programTrack) cover(i, j int, g group) {
	if i+1 < j {
		k.point(i + 1).cover[g]++
		k.point(j).cover[g]--
	}
}

// forget is as that of a procTrack.
func (k *programTrack) forget(t model.Time, done func(p *phase, from, to model.Time, cover *[numGroups]int64, whole bool)) {
	for {
		p, at := k.point(k.first), k.at(k.first)
		for g, n := range p.cover {
			k.covers[g] += int64(n)
		}
		p.cover = [numGroups]int32{}
		if k.first+1 == k.end || k.at(k.first+1) > t {
			if at < t {
				done(p, at, t, &k.covers, false)
				p.sums[p.class] += t.Sub(at)
				k.setBegin(t)
			}
			break
		}
		done(p, at, k.at(k.first+1), &k.covers, true)
		k.first++
	}
	k.trim()
}
