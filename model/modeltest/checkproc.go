package modeltest

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/schedscope/schedscope/model"
)

// ProcSpan implements [model.ProcSpanObserver].
func (v *Validator) ProcSpan(s *model.ProcSpan) {
	what := fmt.Sprintf("proc %d: %v at %d", s.P, s.State, s.Start)
	v.checkInterval(what, s.Start, s.End, false)
	if prev, ok := v.procs.last(s.P); ok && prev.End != s.Start && !v.removed(s.P, prev.End) {
		v.errorf("%s: begins at %d, want %d where the last interval ended", what, s.Start, prev.End)
	}
	g, m := s.G != model.NoGoroutine, s.M != model.NoThread
	wantG := s.State == model.ProcRunning || s.State == model.ProcSyscall
	wantM := wantG || s.State == model.ProcSearching
	if s.State != model.ProcUndetermined && (g != wantG || m != wantM) {
		v.errorf("%s: has goroutine %d and thread %d", what, s.G, s.M)
	}
	if s.State >= model.NumProcStates {
		v.errorf("%s: unknown state", what)
	}
	v.procs.add(s.P, *s)
}

// removed reports whether GOMAXPROCS had done away with a proc by time t.
func (v *Validator) removed(p model.ProcID, t model.Time) bool {
	removed := false
	for _, s := range v.resizes {
		if s.Time <= t {
			removed = s.Value <= uint64(p)
		}
	}
	return removed
}

// checkProcs checks that each proc's intervals reach the trace's end.
func (v *Validator) checkProcs() {
	for _, p := range v.procs.keys {
		last, _ := v.procs.last(p)
		if last.End != v.end && !v.removed(p, last.End) {
			v.errorf("proc %d: intervals end at %d, trace ends at %d", p, last.End, v.end)
		}
	}
}

// ThreadSpan implements [model.ThreadSpanObserver].
func (v *Validator) ThreadSpan(s *model.ThreadSpan) {
	what := fmt.Sprintf("thread %d: %v at %d", s.M, s.State, s.Start)
	v.checkInterval(what, s.Start, s.End, false)
	if prev, ok := v.threads.last(s.M); ok && prev.End != s.Start {
		v.errorf("%s: begins at %d, want %d where the last interval ended", what, s.Start, prev.End)
	}
	g, p := s.G != model.NoGoroutine, s.P != model.NoProc
	switch s.State {
	case model.ThreadRunning, model.ThreadSyscall:
		if !g || !p {
			v.errorf("%s: has goroutine %d and proc %d", what, s.G, s.P)
		}
	case model.ThreadSearching:
		if !p {
			v.errorf("%s: has no proc", what)
		}
	case model.ThreadNoProc, model.ThreadSyscallBlocked:
		if p {
			v.errorf("%s: has proc %d", what, s.P)
		}
	}
	v.threads.add(s.M, *s)
}

// Thread implements [model.ThreadObserver].
func (v *Validator) Thread(t *model.Thread) {
	if _, ok := v.ends[t.M]; ok {
		v.errorf("thread %d: reported twice", t.M)
	}
	if len(v.ends) > 0 && t.M < v.lastThread {
		v.errorf("thread %d: reported after %d", t.M, v.lastThread)
	}
	v.lastThread = t.M
	v.ends[t.M] = *t
}

// checkThreads compares threads' intervals with their summaries.
func (v *Validator) checkThreads() {
	for _, m := range v.threads.keys {
		t, ok := v.ends[m]
		if !ok {
			v.errorf("thread %d: its summary was never reported", m)
			continue
		}
		spans := v.threads.spans[m]
		if first := spans[0].Start; first != t.First {
			v.errorf("thread %d: intervals begin at %d, first event at %d", m, first, t.First)
		}
		if last := spans[len(spans)-1].End; last < t.Last {
			v.errorf("thread %d: intervals end at %d, last event at %d", m, last, t.Last)
		}
		var times [model.NumThreadStates]model.Duration
		for i := range spans {
			times[spans[i].State] += spans[i].Duration()
		}
		if times != t.Times {
			v.errorf("thread %d: times %v, sums of its intervals %v", m, t.Times, times)
		}
	}
	for _, s := range v.starts {
		if s.Creator == s.M {
			v.errorf("thread %d: created by itself", s.M)
		}
	}
}

// use is the time in which a proc or thread was occupied by something.
type use struct {
	by, with   int64
	start, end model.Time
}

// checkOccupation checks that no proc has two goroutines and no thread two
// procs or goroutines at a time, and that goroutines, procs and threads agree
// on who ran where.
func (v *Validator) checkOccupation() {
	goByProc, goByThread := map[int64][]use{}, map[int64][]use{}
	for l := range v.allLives() {
		for i := range l.spans {
			s := &l.spans[i]
			if s.State != model.GoRunning && s.State != model.GoSyscall {
				continue
			}
			if s.P != model.NoProc {
				goByProc[int64(s.P)] = append(goByProc[int64(s.P)], use{int64(l.id), int64(s.M), s.Start, s.End})
			}
			if s.M != model.NoThread {
				goByThread[int64(s.M)] = append(goByThread[int64(s.M)], use{int64(l.id), int64(s.P), s.Start, s.End})
			}
		}
	}
	procByProc, procByThread := map[int64][]use{}, map[int64][]use{}
	for _, p := range v.procs.keys {
		for _, s := range v.procs.spans[p] {
			if s.M == model.NoThread {
				continue
			}
			procByThread[int64(s.M)] = append(procByThread[int64(s.M)], use{int64(p), 0, s.Start, s.End})
			if s.State == model.ProcRunning || s.State == model.ProcSyscall {
				procByProc[int64(p)] = append(procByProc[int64(p)], use{int64(s.G), int64(s.M), s.Start, s.End})
			}
		}
	}
	threadByThread := map[int64][]use{}
	for _, m := range v.threads.keys {
		for _, s := range v.threads.spans[m] {
			if s.State == model.ThreadRunning || s.State == model.ThreadSyscall {
				threadByThread[int64(m)] = append(threadByThread[int64(m)], use{int64(s.G), int64(s.P), s.Start, s.End})
			}
		}
	}
	v.checkDisjoint("proc %d: goroutines %d and %d", goByProc)
	v.checkDisjoint("thread %d: goroutines %d and %d", goByThread)
	v.checkDisjoint("thread %d: procs %d and %d", procByThread)
	if len(v.procs.keys) > 0 {
		v.checkSame("proc", goByProc, procByProc)
	}
	if len(v.threads.keys) > 0 {
		v.checkSame("thread", goByThread, threadByThread)
	}
}

func (v *Validator) checkDisjoint(format string, uses map[int64][]use) {
	for _, k := range sortedKeys(uses) {
		list := uses[k]
		slices.SortStableFunc(list, func(a, b use) int { return cmp.Compare(a.start, b.start) })
		for i := 1; i < len(list); i++ {
			if list[i].start < list[i-1].end && list[i].by != list[i-1].by {
				v.errorf(format+" at the same time, %d", k, list[i-1].by, list[i].by, list[i].start)
			}
		}
	}
}

// checkSame compares what goroutines say of a resource with what it says of
// itself, both sorted by checkDisjoint or by nature. Intervals that touch are
// one: a proc's are also cut where the kind of work changes.
func (v *Validator) checkSame(what string, byGo, own map[int64][]use) {
	for _, k := range sortedKeys(byGo, own) {
		got, want := merged(byGo[k]), merged(own[k])
		if !slices.Equal(got, want) {
			v.errorf("%s %d: %s", what, k, firstDifference(got, want))
		}
	}
}

func merged(list []use) []use {
	var out []use
	for _, u := range list {
		if n := len(out); n > 0 && out[n-1].end == u.start && out[n-1].by == u.by && out[n-1].with == u.with {
			out[n-1].end = u.end
			continue
		}
		out = append(out, u)
	}
	return out
}

func firstDifference(got, want []use) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("goroutine %d in [%d, %d) with %d by goroutines; %d in [%d, %d) with %d by itself",
				got[i].by, got[i].start, got[i].end, got[i].with, want[i].by, want[i].start, want[i].end, want[i].with)
		}
	}
	return fmt.Sprintf("%d intervals by goroutines, %d by itself", len(got), len(want))
}

// sortedKeys returns the keys of all maps, each once.
func sortedKeys[V any](maps ...map[int64]V) []int64 {
	var keys []int64
	for _, m := range maps {
		for k := range m {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}
