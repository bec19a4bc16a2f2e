package analyze

import (
	"math"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

const (
	// historyGrain is the resolution of the past: what happened an age ago is
	// kept in pieces of at least age/historyGrain, or as it was. A wait that ended
	// just now is at most as old as its length and margins, so each of its pieces
	// is at most about a pixel of a picture that is a thousand pixels wide.
	historyGrain = 1000
	// historyMin is the length below which a history is not worth compacting.
	historyMin = 1024
	// historyRecent is how many intervals a history keeps as they were. Most are
	// joined when they leave, so the more of them, the less is moved about.
	historyRecent = 8192
	// historyFuncs is how many functions a joined stretch tells apart. A stretch
	// is as short as a pixel is wide: rarely do more share it.
	historyFuncs = 4
	// maxJoined keeps times in joined stretches within 32 bits.
	maxJoined = math.MaxUint32
)

// interval is an interval of a proc as it was told, as small as can be.
type interval struct {
	start, end model.Time
	g          model.GoID
	fn         model.StringID
	use        Use
	longBurst  bool
}

func (x *interval) stretch() stretch {
	return stretch{start: x.start, end: x.end, g: x.g, fn: x.fn, use: x.use, gUse: x.use, longBurst: x.longBurst}
}

// stretch is a piece of a proc's past: one interval of it, or several joined.
type stretch struct {
	start, end model.Time
	g          model.GoID             // of a joined stretch, the one longest there
	fn         model.StringID         // start function of g
	gTime      uint32                 // of a joined stretch: time of g in it
	uses       [result.NumUses]uint32 // of a joined stretch: nanoseconds by use
	use        Use                    // of a joined stretch: the longest
	gUse       Use                    // of g
	joined     bool
	longBurst  bool
	fnUses     [historyFuncs]Use // see fns
	// Of a joined stretch: the functions whose goroutines were there the longest,
	// by use, with their times. A time of 0 ends the list. Where there are more
	// than fit, the least goes, and is known by the uses only.
	fns     [historyFuncs]model.StringID
	fnTimes [historyFuncs]uint32
}

func (s *stretch) length() model.Duration { return s.end.Sub(s.start) }

// toJoined makes a stretch of one interval one that others can be joined to.
func (s *stretch) toJoined() {
	if s.joined {
		return
	}
	s.uses[s.use] = uint32(s.length())
	if s.g != model.NoGoroutine {
		s.gTime = uint32(s.length())
		s.fns[0], s.fnUses[0], s.fnTimes[0] = s.fn, s.use, s.gTime
	}
	s.joined = true
	s.longBurst = false
}

// join adds the stretch that follows. Of two goroutines it keeps the one that
// was there longer, so one that comes back often may be passed over.
func (s *stretch) join(next *stretch) {
	if !next.joined {
		s.joinOne(next.end, next.g, next.fn, next.use)
		return
	}
	s.toJoined()
	s.end = next.end
	for u, n := range next.uses {
		s.uses[u] += n
		if s.uses[u] > s.uses[s.use] {
			s.use = Use(u)
		}
	}
	s.stay(next.g, next.fn, next.gUse, next.gTime)
	for i, n := range next.fnTimes {
		if n == 0 {
			break
		}
		s.count(next.fns[i], next.fnUses[i], n)
	}
}

// joinOne adds the single interval that follows and ends at end.
func (s *stretch) joinOne(end model.Time, g model.GoID, fn model.StringID, use Use) {
	s.toJoined()
	n := uint32(end.Sub(s.end))
	s.end = end
	if s.uses[use] += n; s.uses[use] > s.uses[s.use] {
		s.use = use
	}
	if g == model.NoGoroutine || n == 0 {
		return
	}
	s.stay(g, fn, use, n)
	s.count(fn, use, n)
}

// count adds n nanoseconds, not 0, of a function's goroutines in one use.
func (s *stretch) count(fn model.StringID, use Use, n uint32) {
	least := 0
	for i, have := range s.fnTimes {
		if have == 0 || s.fns[i] == fn && s.fnUses[i] == use {
			s.fns[i], s.fnUses[i], s.fnTimes[i] = fn, use, have+n
			return
		}
		if have < s.fnTimes[least] {
			least = i
		}
	}
	if n > s.fnTimes[least] {
		s.fns[least], s.fnUses[least], s.fnTimes[least] = fn, use, n
	}
}

// stay notes that g was there for n nanoseconds.
func (s *stretch) stay(g model.GoID, fn model.StringID, use Use, n uint32) {
	switch {
	case g == s.g && use == s.gUse:
		s.gTime += n
	case n > s.gTime:
		s.g, s.fn, s.gTime, s.gUse = g, fn, n, use
	}
}

// fits reports whether an interval may be joined to the last stretch, because
// both together are no longer than grain.
func fits(past []stretch, start, end model.Time, grain model.Duration) bool {
	if len(past) == 0 {
		return false
	}
	last := &past[len(past)-1]
	return last.end == start && end.Sub(last.start) <= min(grain, maxJoined)
}

// appendJoined appends next, or joins it to the last stretch if it fits.
func appendJoined(past []stretch, next *stretch, grain model.Duration) []stretch {
	if fits(past, next.start, next.end, grain) {
		past[len(past)-1].join(next)
		return past
	}
	return append(past, *next)
}

// history is the past of one proc at a resolution that falls with age: the
// latest intervals as they were, and behind them at most about
// 2*historyGrain*ln(age of the oldest/age of the youngest joined) stretches, and
// half as many again until they are compacted.
type history struct {
	past      []stretch  // in order, not overlapping
	recent    []interval // that follow
	compactAt int
}

// add makes room for the next interval, which the caller fills in at once.
func (h *history) add() *interval {
	n := len(h.recent)
	if n == historyRecent {
		h.fold(h.recent[n-1].end)
		n = 0
	}
	if n == cap(h.recent) {
		if n == 0 {
			h.recent = spareIntervals.get()
		}
		h.recent = slices.Grow(h.recent, 1)
	}
	h.recent = h.recent[:n+1]
	return &h.recent[n]
}

// Of histories and candidates that are done with.
var (
	spareIntervals recycler[interval]
	spareStretches recycler[stretch]
)

// recycle leaves the storage to others.
func (h *history) recycle() {
	spareIntervals.put(h.recent)
	spareStretches.put(h.past)
	*h = history{}
}

// fold moves the recent intervals into the past.
func (h *history) fold(now model.Time) {
	if h.past == nil {
		h.past = spareStretches.get()
	}
	for i := range h.recent {
		x := &h.recent[i]
		if fits(h.past, x.start, x.end, now.Sub(x.end)/historyGrain) {
			h.past[len(h.past)-1].joinOne(x.end, x.g, x.fn, x.use)
		} else {
			h.past = append(h.past, x.stretch())
		}
	}
	h.recent = h.recent[:0]
	if len(h.past) >= h.compactAt {
		h.compact(now)
	}
}

// compact joins what is older than its resolution allows. It runs after the
// past has grown by half, so each stretch pays for about three steps.
func (h *history) compact(now model.Time) {
	// appendJoined writes at most as far as the loop has read.
	kept := h.past[:0]
	for i := range h.past {
		s := h.past[i]
		kept = appendJoined(kept, &s, now.Sub(s.end)/historyGrain)
	}
	h.past = kept
	h.compactAt = max(historyMin, len(kept)+len(kept)/2)
}

// end returns the time up to which the proc's past is known.
func (h *history) end() (model.Time, bool) {
	if n := len(h.recent); n > 0 {
		return h.recent[n-1].end, true
	}
	if n := len(h.past); n > 0 {
		return h.past[n-1].end, true
	}
	return 0, false
}

// between calls f for the stretches that overlap the time from..to, in order. f
// must not keep them.
func (h *history) between(from, to model.Time, f func(*stretch)) {
	i, _ := slices.BinarySearchFunc(h.past, from, func(s stretch, t model.Time) int { return endsAfter(s.end, t) })
	for ; i < len(h.past) && h.past[i].start < to; i++ {
		f(&h.past[i])
	}
	i, _ = slices.BinarySearchFunc(h.recent, from, func(x interval, t model.Time) int { return endsAfter(x.end, t) })
	var x stretch // outside of the loop: it escapes
	for ; i < len(h.recent) && h.recent[i].start < to; i++ {
		x = h.recent[i].stretch()
		f(&x)
	}
}

// endsAfter tells a binary search on which side of t an interval lies.
func endsAfter(end, t model.Time) int {
	if end <= t {
		return -1
	}
	return 1
}
