package modeltest

import (
	"slices"

	"github.com/schedscope/schedscope/model"
)

// census are the numbers that the intervals imply between two of their ends:
// at least and at most. They differ where an interval is open at its start. The
// Machine learns of such a one only later, perhaps after it reported the counts.
type census struct {
	low, high tally
}

type tally struct {
	procs    [model.NumProcStates]int
	seen     int // procs in any state
	open     int // of those, open at the start: what they did became known later
	gcLow    int
	gcHigh   int
	runnable int
	// waiting are the goroutines that became runnable on a proc and still wait,
	// busy are the procs that are not idle, for Counts.Overloaded.
	waiting map[model.ProcID]int
	busy    map[model.ProcID]bool
}

// change is one end of an interval.
type change struct {
	at    model.Time
	apply func(*tally, int)
	sign  int
	known bool // from its very start
}

// checkCounts sweeps over all intervals of goroutines and procs and compares
// the numbers with each elementary interval.
func (v *Validator) checkCounts() {
	for i := 1; i < len(v.counts); i++ {
		prev, c := v.counts[i-1], v.counts[i]
		if prev.End != c.Start {
			v.errorf("counts: begin at %d, want %d where the last interval ended", c.Start, prev.End)
		}
		prev.Start, prev.End = c.Start, c.End
		if prev == c {
			v.errorf("counts: the interval at %d is the same as the one before", c.Start)
		}
	}
	if n := len(v.counts); n > 0 && v.counts[n-1].End != v.end {
		v.errorf("counts: end at %d, trace ends at %d", v.counts[n-1].End, v.end)
	}
	if len(v.counts) == 0 || len(v.procs.keys) == 0 && len(v.gids) == 0 {
		return
	}
	changes := v.changes()
	var now census
	for _, t := range []*tally{&now.low, &now.high} {
		t.waiting, t.busy = map[model.ProcID]int{}, map[model.ProcID]bool{}
	}
	i := 0
	for _, c := range v.counts {
		for t := c.Start; t < c.End; {
			for i < len(changes) && changes[i].at <= t {
				now.apply(&changes[i])
				i++
			}
			v.compareCounts(t, &c, &now)
			if i == len(changes) {
				break
			}
			t = max(t, changes[i].at)
		}
	}
}

func (c *census) apply(ch *change) {
	ch.apply(&c.high, ch.sign)
	if ch.known {
		ch.apply(&c.low, ch.sign)
	}
}

// changes returns the ends of all intervals, sorted by time.
func (v *Validator) changes() []change {
	var out []change
	add := func(start, end model.Time, openStart bool, f func(*tally, int)) {
		out = append(out, change{start, f, +1, !openStart}, change{end, f, -1, !openStart})
	}
	for l := range v.allLives() {
		for i := range l.spans {
			if s := &l.spans[i]; s.State == model.GoRunnable {
				p := s.WakerProc
				add(s.Start, s.End, s.OpenStart, func(t *tally, sign int) {
					t.runnable += sign
					if p != model.NoProc {
						t.waiting[p] += sign
					}
				})
			}
		}
	}
	for _, p := range v.procs.keys {
		for _, s := range v.procs.spans[p] {
			if s.State == model.ProcRunning && s.Work.IsGC() && s.Work != model.WorkGCAssist {
				out = append(out, v.gcChanges(&s)...)
			}
			add(s.Start, s.End, s.OpenStart, func(t *tally, sign int) {
				t.procs[s.State] += sign
				t.seen += sign
				if s.OpenStart {
					t.open += sign
				}
				t.busy[p] = sign > 0 && s.State != model.ProcIdle
			})
		}
	}
	slices.SortStableFunc(out, func(a, b change) int {
		if a.at != b.at {
			return int(min(1, max(-1, a.at-b.at)))
		}
		return a.sign - b.sign // ends before beginnings
	})
	return out
}

// gcChanges returns the ends of a mark worker's interval on a proc. That it is
// one becomes certain with its label, just after it started.
func (v *Validator) gcChanges(s *model.ProcSpan) []change {
	label := s.End
	for _, t := range v.events.labels[s.G] {
		if s.Start <= t && t < s.End {
			label = t
			break
		}
	}
	high := func(t *tally, sign int) { t.gcHigh += sign }
	low := func(t *tally, sign int) { t.gcLow += sign }
	return []change{{s.Start, high, +1, false}, {s.End, high, -1, false}, {label, low, +1, false}, {s.End, low, -1, false}}
}

func (v *Validator) compareCounts(at model.Time, c *model.Counts, now *census) {
	check := func(what string, got, low, high int) {
		if got < low || got > high {
			v.errorf("counts at %d: %d %s, intervals say %d to %d", at, got, what, low, high)
		}
	}
	low, high := &now.low, &now.high
	unseen := max(0, c.Procs-low.seen) // they have done nothing: idle
	for _, x := range []struct {
		what  string
		got   int
		state model.ProcState
		extra int
	}{
		{"procs idle", c.Idle, model.ProcIdle, unseen},
		{"procs searching", c.Searching, model.ProcSearching, 0},
		{"procs in syscalls", c.Syscall, model.ProcSyscall, 0},
		{"procs stopped", c.Stopped, model.ProcStopped, 0},
		{"procs running", c.Running, model.ProcRunning, 0},
	} {
		check(x.what, x.got, low.procs[x.state], high.procs[x.state]+high.open+x.extra)
	}
	check("procs in GC work", c.GC, high.gcLow, high.gcHigh)
	check("goroutines runnable", c.Runnable, low.runnable, high.runnable)
	check("procs overloaded", c.Overloaded, low.overloaded(), high.overloaded())
	if sum := c.Idle + c.Searching + c.Syscall + c.Stopped + c.Running; sum != c.Procs {
		v.errorf("counts at %d: %d procs, sum over their states %d", at, c.Procs, sum)
	}
}

func (t *tally) overloaded() int {
	n := 0
	for p, waiting := range t.waiting {
		if waiting > 0 && t.busy[p] {
			n++
		}
	}
	return n
}
