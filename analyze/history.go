package analyze

import (
	"math"
	"slices"

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
	// maxJoined keeps times in joined stretches within 32 bits.
	maxJoined = math.MaxUint32
)

// stretch is a piece of a proc's past: one interval of it, or several joined.
type stretch struct {
	start, end model.Time
	g          model.GoID      // of a joined stretch, the one longest there
	fn         model.StringID  // start function of g
	gTime      uint32          // of a joined stretch: time of g in it
	uses       [NumUses]uint32 // of a joined stretch: nanoseconds by use
	use        Use             // of a joined stretch: the longest
	gUse       Use             // of g
	joined     bool
	longBurst  bool
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
	}
	s.joined = true
	s.longBurst = false
}

// join adds the stretch that follows. Of two goroutines it keeps the one that
// was there longer, so one that comes back often may be passed over.
func (s *stretch) join(next stretch) {
	s.toJoined()
	next.toJoined()
	s.end = next.end
	for u, n := range next.uses {
		s.uses[u] += n
		if s.uses[u] > s.uses[s.use] {
			s.use = Use(u)
		}
	}
	switch {
	case next.g == s.g && next.gUse == s.gUse:
		s.gTime += next.gTime
	case next.gTime > s.gTime:
		s.g, s.fn, s.gTime, s.gUse = next.g, next.fn, next.gTime, next.gUse
	}
}

// appendJoined appends next, or joins it to the last stretch if both together
// are no longer than grain.
func appendJoined(past []stretch, next stretch, grain model.Duration) []stretch {
	if n := len(past); n > 0 {
		last := &past[n-1]
		if last.end == next.start && next.end.Sub(last.start) <= min(grain, maxJoined) {
			last.join(next)
			return past
		}
	}
	return append(past, next)
}

// history is the past of one proc at a resolution that falls with age: at most
// about 2*historyGrain*ln(age of the oldest/age of the youngest joined) pieces,
// and half as many again until they are compacted.
type history struct {
	past      []stretch // in order, not overlapping
	compactAt int
}

func (h *history) add(s stretch) {
	if len(h.past) >= h.compactAt {
		h.compact(s.end)
	}
	h.past = append(h.past, s)
}

// compact joins what is older than its resolution allows. It runs after the
// history has grown by half, so each stretch pays for about three steps.
func (h *history) compact(now model.Time) {
	// appendJoined writes at most as far as the loop has read.
	kept := h.past[:0]
	for _, s := range h.past {
		kept = appendJoined(kept, s, now.Sub(s.end)/historyGrain)
	}
	h.past = kept
	h.compactAt = max(historyMin, len(kept)+len(kept)/2)
}

// end returns the time up to which the proc's past is known.
func (h *history) end() (model.Time, bool) {
	if len(h.past) == 0 {
		return 0, false
	}
	return h.past[len(h.past)-1].end, true
}

// between returns the stretches that overlap the interval. They are valid until
// the next add.
func (h *history) between(from, to model.Time) []stretch {
	i, _ := slices.BinarySearchFunc(h.past, from, func(s stretch, t model.Time) int {
		if s.end <= t {
			return -1
		}
		return 1
	})
	j := i
	for j < len(h.past) && h.past[j].start < to {
		j++
	}
	return h.past[i:j]
}
