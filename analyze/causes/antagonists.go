package causes

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"
	"strconv"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/sums"
	"github.com/schedscope/schedscope/model"
)

// earlierName is the name of the antagonists at the beginning of a wait so long that they are
// not known individually.
const earlierName = "(earlier)"

// antagonists sums up waiting by who was in the way, and where in the code.
//
//  1. A turn of a goroutine on a proc is cut into stretches where it enters or leaves a system
//     call, a mark assist and a silence of all threads. Each stretch has a time that others
//     waited behind it, exact to the nanosecond ([point.waited]).
//  2. The time of a stretch in which CPU samples were taken is divided equally among them.
//  3. Otherwise it goes to the stack in which the stretch ended, or to an earlier one of the
//     turn if only that has a function of the program. The stack shows what ran if the goroutine
//     was preempted, or if it is in the program and entered a system call.
//  4. A goroutine that began to wait may have computed somewhere else before, and so may one
//     that called the system from outside the program, as a server does. Where there are CPU
//     samples of goroutines of the same start function, at least minSamples, the time is
//     divided as they are. Without any, that of stretches over longStretch is divided as
//     the stacks of goroutines of the same start function that were preempted. The standard
//     error of a share p of n stacks is sqrt(p(1-p)/n).
//  5. What is left goes to the function of the program in which it began to wait; without
//     one, it is unknown.
//
// While a trace is read functions and stacks are IDs; the rows of blame are by their texts, of
// which several IDs may be.
type antagonists struct {
	tables      *model.Tables
	byID        map[antagonistID]*antagonist
	latest      [256]latestAntagonist // some of those, by a hash
	samples     int64                 // CPU samples of goroutines that ran
	first, last model.Time
	// Stretches of running that others waited for [result.KeptWait] behind, and samples in them.
	kept        model.Duration
	keptSamples int64
	// Stacks of CPU samples of goroutines of the program that ran, and of preemptions.
	sampled, preempted stackCounts
	ofProgram          func(model.StackID) bool
	stops              map[antagonistID]*antagonist // of who kept the world from running
	earlier            [numClasses]model.Duration   // behind somebody not known by name
	widths             [3]model.Duration            // as of an activity, in the end
	several            model.Duration
}

const (
	minSamples  = 5
	longStretch = 5_000_000 * model.Duration(1) // half of the time slice
	// What ran alone is of interest if it did for a tenth of the time and something ran in all but a tenth, unlike in a server
	// with little to do, and several goroutines did for a fiftieth or more, or manyTurns did one after the other, or it is what
	// a stage of a pipeline does.
	mostlyRuns, parallel = 10, 50
)

// stackCounts are numbers of stacks by the start function of their goroutines.
type stackCounts map[model.StringID]map[model.StackID]int64

func (c stackCounts) add(fn model.StringID, stack model.StackID) {
	if c[fn] == nil {
		c[fn] = map[model.StackID]int64{}
	}
	c[fn][stack]++
}

// sample takes a CPU sample of who has a proc.
func (a *antagonists) sample(p *point, stack model.StackID) {
	if p.class != heldSyscall {
		a.samples++
	}
	if p.class == heldUser {
		a.sampled.add(p.fn, stack)
	}
}

type antagonistID struct {
	fn    model.StringID
	stack model.StackID
	class uint8
	basis basis
	short bool // system calls below [result.ShortSyscall]
	long  bool // over longStretch
	alone bool // not the time that others waited, but that in which it ran alone
}

// basis is how it is known which code ran.
type basis uint8

const (
	basisSeen  basis = iota
	basisWaits       // seen by a stack in which it began to wait
	basisSampled
	basisEstimated
	basisUnknown
)

// String returns the name in results.
func (b basis) String() string {
	switch b {
	case basisSampled:
		return result.Sampled
	case basisEstimated:
		return result.Estimated
	case basisUnknown:
		return result.Unknown
	}
	return result.Seen
}

type antagonist struct {
	waited  model.Duration
	turns   int64
	longest model.Duration // of the stretches that were waited for, or of the waits
	// Of waits that others end: see [result.BlameRow].
	own       model.Duration
	meanwhile []ownTime
	ran       map[model.StackID]int64 // CPU samples
}

func newAntagonists(t *model.Tables) antagonists {
	return antagonists{tables: t, byID: map[antagonistID]*antagonist{}, sampled: stackCounts{}, preempted: stackCounts{}, stops: map[antagonistID]*antagonist{}}
}

// add adds a stretch that is over, and gives its samples back. It lasted for length; 0 if
// it goes on.
func (a *antagonists) add(p *point, length model.Duration, w *activity) {
	if p.class == heldUser && p.ended == endedInterrupted && p.stack != 0 {
		a.preempted.add(p.fn, p.stack)
	}
	if p.waited > 0 && heldCauses[p.class].Behind() {
		a.addStretch(p, antagonistID{}, p.waited, length, w)
	}
	if p.alone > 0 {
		a.addStretch(p, antagonistID{alone: true}, p.alone, length, w)
	}
	for p.samples != 0 {
		node := &w.samples[p.samples]
		p.samples, node.next, w.freeSamples = node.next, w.freeSamples, p.samples
	}
}

// addStretch adds a time of a stretch to who ran.
func (a *antagonists) addStretch(p *point, id antagonistID, d, length model.Duration, w *activity) {
	id.fn, id.stack, id.class = p.fn, p.stack, p.class
	n, turns := int64(0), int64(p.turns)
	for i := p.samples; i != 0; i = w.samples[i].next {
		n++
	}
	if id.alone {
		if turns = 0; p.lone {
			turns = 1
		}
	} else if d >= result.KeptWait && p.class != heldSyscall {
		a.kept += length
		a.keptSamples += n
	}
	if n == 0 {
		id.short = p.class == heldSyscall && length > 0 && length < result.ShortSyscall
		switch {
		case p.class != heldUser || p.ended == endedInterrupted && p.stack != 0:
		case p.ended == endedWaiting || !a.ofProgram(p.stack):
			id.basis, id.long = basisWaits, length > longStretch
		}
		a.get(id).count(d, turns, length)
		return
	}
	id.basis = basisSampled
	given := int64(0)
	for i := p.samples; i != 0; i = w.samples[i].next {
		id.stack = w.samples[i].stack
		a.get(id).count(share(d, given+1, n)-share(d, given, n), turns, length)
		turns = 0
		given++
	}
}

func (x *antagonist) count(waited model.Duration, turns int64, length model.Duration) {
	x.waited += waited
	x.turns += turns
	x.longest = max(x.longest, length)
}

// share returns d*part/whole, rounded down, for part up to whole.
func share(d model.Duration, part, whole int64) model.Duration {
	hi, lo := bits.Mul64(uint64(d), uint64(part))
	q, _ := bits.Div64(hi, lo, uint64(whole))
	return model.Duration(q)
}

// stop adds time in which the world was stopped or stopping, for so many waits.
func (a *antagonists) stop(p *phase, d model.Duration, turns int64) {
	id := antagonistID{fn: p.fn, stack: p.stack}
	sums.Entry(a.stops, id).count(d, turns, 0)
}

// latestAntagonist is an antagonist that was asked for lately. There are few, asked for
// millions of times.
type latestAntagonist struct {
	id antagonistID
	x  *antagonist
}

func (a *antagonists) get(id antagonistID) *antagonist {
	l := &a.latest[(uint32(id.stack)*31+uint32(id.fn)*7+uint32(id.class))%uint32(len(a.latest))]
	if l.x == nil || l.id != id {
		l.id, l.x = id, sums.Entry(a.byID, id)
	}
	return l.x
}

// addEarlier adds time behind somebody not known by name.
func (a *antagonists) addEarlier(class uint8, d model.Duration) { a.earlier[class] += d }

// sortedIDs returns the keys of m, greatest time first.
func sortedIDs(m map[antagonistID]*antagonist) []antagonistID {
	return slices.SortedFunc(maps.Keys(m), func(x, y antagonistID) int {
		return cmp.Or(cmp.Compare(m[y].waited, m[x].waited), cmp.Compare(x.fn, y.fn), cmp.Compare(x.stack, y.stack),
			cmp.Compare(x.class, y.class), cmp.Compare(x.basis, y.basis), compareBools(x.short, y.short), compareBools(x.long, y.long), compareBools(x.alone, y.alone))
	})
}

// compareBools orders false before true.
func compareBools(a, b bool) int { return cmp.Compare(strconv.FormatBool(a), strconv.FormatBool(b)) }

// blame adds the time behind goroutines, and in stopped worlds, to b.
func (a *antagonists) blame(b *blameRows) {
	none, one := a.widths[widthNone], a.widths[widthOne]
	all := none + one + a.widths[widthMore]
	stages := result.Stages(func(yield func(*result.BlameRow) bool) {
		for _, r := range b.rows {
			if !yield(&r.BlameRow) {
				return
			}
		}
	})
	serial := one >= result.KeptWait && mostlyRuns*one >= all && mostlyRuns*none <= all &&
		(parallel*a.several >= all || a.inTurn() || 2*slices.Max(append(slices.Collect(maps.Values(stages)), 0)) >= one)
	for _, id := range sortedIDs(a.byID) {
		x, kind := a.byID[id], heldCauses[id.class].String()
		switch {
		case id.alone && !serial:
			continue
		case id.alone:
			kind = result.BlameAlone
		case id.short:
			kind = result.BlameShortSyscall
		}
		if id.basis == basisWaits {
			like := a.sampled[id.fn]
			if id.long && len(a.sampled) == 0 {
				like = a.preempted[id.fn]
			}
			if n := total(like); n >= minSamples {
				a.estimate(b, kind, id.fn, x.waited, like, n)
				continue
			}
		}
		b.add(blameRowKey{kind: kind, function: sums.NameOf(a.tables, id.fn)}, id.stack, 0, id.basis, x)
	}
	for class, d := range a.earlier {
		if d > 0 {
			b.add(blameRowKey{kind: heldCauses[class].String(), function: earlierName}, 0, 0, basisUnknown, &antagonist{waited: d, turns: 1})
		}
	}
	for _, id := range sortedIDs(a.stops) {
		b.add(blameRowKey{kind: result.CauseSTW.String(), function: sums.NameOf(a.tables, id.fn)}, id.stack, 0, basisSeen, a.stops[id])
	}
}

// inTurn reports whether goroutines that could run next to each other ran one after the other. Tests are meant to.
func (a *antagonists) inTurn() bool {
	const manyTurns = 64
	turns := map[model.StringID]int64{}
	for id, x := range a.byID {
		if id.alone {
			turns[id.fn] += x.turns
		}
	}
	for fn, n := range turns {
		if n >= manyTurns && a.tables.String(fn) != "testing.tRunner" {
			return true
		}
	}
	return false
}

// total returns how many stacks there are.
func total(samples map[model.StackID]int64) int64 {
	n := int64(0)
	for _, k := range samples {
		n += k
	}
	return n
}

// estimate divides a time as n samples are.
func (a *antagonists) estimate(b *blameRows, kind string, fn model.StringID, d model.Duration, samples map[model.StackID]int64, n int64) {
	given := int64(0)
	of := map[*blameRow]int64{} // samples by row
	for _, s := range slices.Sorted(maps.Keys(samples)) {
		k := samples[s]
		row := b.add(blameRowKey{kind: kind, function: sums.NameOf(a.tables, fn)}, s, 0, basisEstimated, &antagonist{waited: share(d, given+k, n) - share(d, given, n)})
		given += k
		of[row] += k
	}
	for row, k := range of {
		p := float64(k) / float64(n)
		row.Samples += k
		row.variance += float64(p * (1 - p) / float64(n) * float64(d) * float64(d))
	}
}
