package wire

import (
	"cmp"
	"math"
	"slices"

	"github.com/schedscope/schedscope/model"
)

// samples are the CPU profile samples of a generation. The runtime writes them
// apart from the events, in no order.
type samples struct {
	list []sample
	next int        // index into list
	time model.Time // of the next one, maxTime if there is none
}

type sample struct {
	time  model.Time
	ticks uint64
	g     model.GoID
	m     model.ThreadID
	p     model.ProcID
	stack uint64
}

// maxTime is later than any event.
const maxTime = math.MaxInt64

func (s *samples) reset() { *s = samples{list: s.list[:0], time: maxTime} }

// add adds the samples of a batch (internal/trace/generation.go: addCPUSamples).
func (s *samples) add(data []byte) bool {
	for pos := 0; pos < len(data); {
		if data[pos] != evCPUSample {
			return false
		}
		var args [5]uint64
		next := pos + 1
		for i := range args {
			args[i], next = number(data, next)
		}
		if next > len(data) {
			return false
		}
		pos = next
		p := int64(args[2])
		if p < int64(model.NoProc) || p > math.MaxInt32 {
			return false
		}
		g := model.GoID(args[3])
		if g == 0 {
			g = model.NoGoroutine
		}
		s.list = append(s.list, sample{ticks: args[0], m: model.ThreadID(args[1]), p: model.ProcID(p), g: g, stack: args[4]})
	}
	return true
}

// sort sets the times and puts the samples in order. N.B. the order of those with
// equal times is the one that this very sort leaves them in
// (internal/trace/generation.go: fixUpCPUSamples).
func (s *samples) sort(c *clock) bool {
	for i := range s.list {
		t, ok := c.duration(s.list[i].ticks)
		if !ok {
			return false
		}
		s.list[i].time = t
	}
	slices.SortFunc(s.list, func(a, b sample) int { return cmp.Compare(a.time, b.time) })
	s.advance(0)
	return true
}

// advance makes the sample with index i the next.
func (s *samples) advance(i int) {
	s.next, s.time = i, maxTime
	if i < len(s.list) {
		s.time = s.list[i].time
	}
}

// sample emits the next sample.
func (d *Decoder) sample() {
	s := &d.samples.list[d.samples.next]
	d.samples.advance(d.samples.next + 1)
	e := d.event(s.time, model.EventStackSample)
	e.G, e.M, e.P = s.g, s.m, s.p
	e.Stack = d.anyStack(s.stack)
}
