package modeltest

import (
	"fmt"
	"slices"

	"github.com/schedscope/schedscope/model"
)

// legalNext is the legality table: which states may follow a state directly.
// Sources: x/exp/trace order.go for the transitions; the split of Syscall is
// the Machine's own.
var legalNext = [model.NumGoStates][]model.GoState{
	model.GoNotExist:       {model.GoRunnable, model.GoWaiting, model.GoSyscall},
	model.GoRunnable:       {model.GoRunning},
	model.GoRunning:        {model.GoRunnable, model.GoWaiting, model.GoSyscall, model.GoNotExist},
	model.GoWaiting:        {model.GoRunnable},
	model.GoSyscall:        {model.GoSyscallBlocked, model.GoRunning, model.GoRunnable, model.GoNotExist},
	model.GoSyscallBlocked: {model.GoRunnable, model.GoNotExist},
}

// GoSpan implements [model.GoSpanObserver].
func (v *Validator) GoSpan(s *model.GoSpan) {
	what := fmt.Sprintf("goroutine %d: %v at %d", s.G, s.State, s.Start)
	v.checkInterval(what, s.Start, s.End, false)
	if s.State <= model.GoNotExist || s.State >= model.NumGoStates {
		v.errorf("%s: no state to spend time in", what)
		return
	}
	l := v.life(s.G, s.Start)
	if s.Start != l.at {
		v.errorf("%s: begins at %d, want %d where the last interval ended", what, s.Start, l.at)
	}
	if n := len(l.spans); n > 0 {
		v.checkLegal(what, &l.spans[n-1], s)
		if s.OpenStart {
			v.errorf("%s: not the first, yet open at its start", what)
		}
	}
	l.at = s.End
	l.times[s.State] += s.Duration()
	v.checkPlace(what, l, s)
	l.spans = append(l.spans, *s)
}

// life returns the present life of a goroutine, a new one from the given time
// on if it has none.
func (v *Validator) life(id model.GoID, from model.Time) *life {
	lives := v.lives[id]
	if n := len(lives); n > 0 && !lives[n-1].ended {
		return lives[n-1]
	}
	if len(lives) == 0 {
		v.gids = append(v.gids, id)
	}
	l := &life{id: id, from: from, at: from, final: model.Goroutine{Marks: new(model.Marks)}}
	v.lives[id] = append(lives, l)
	return l
}

// checkLegal checks the step from one interval to the next. Where several
// transitions share a time, intervals of zero length are left out, so a state
// that differs from the announced one must be reachable from it.
func (v *Validator) checkLegal(what string, prev, next *model.GoSpan) {
	switch {
	case prev.OpenEnd:
		v.errorf("%s: follows an interval that is open at its end", what)
	case !slices.Contains(legalNext[prev.State], prev.Next):
		v.errorf("%s: %v follows %v, which is not legal", what, prev.Next, prev.State)
	case prev.Next != next.State && !reachable(prev.Next, next.State):
		v.errorf("%s: %v was announced", what, prev.Next)
	}
}

// reachable reports whether to can follow from in a few legal steps that do not
// end the goroutine.
func reachable(from, to model.GoState) bool {
	for range model.NumGoStates {
		for _, s := range legalNext[from] {
			if s == to {
				return true
			}
		}
		if from == model.GoNotExist {
			return false
		}
		from = legalNext[from][0]
	}
	return false
}

// checkPlace checks which of the interval's further facts are present.
func (v *Validator) checkPlace(what string, l *life, s *model.GoSpan) {
	switch s.State {
	case model.GoRunning:
		if s.P == model.NoProc || s.M == model.NoThread {
			v.errorf("%s: on proc %d and thread %d, must have both", what, s.P, s.M)
		}
	case model.GoSyscall, model.GoSyscallBlocked:
		if s.M == model.NoThread && !s.OpenStart {
			v.errorf("%s: on no thread", what)
		}
	case model.GoRunnable:
		if n := len(l.spans); s.Origin == model.OriginUnknown && !s.OpenStart && (n == 0 || l.spans[n-1].State != model.GoRunning) {
			v.errorf("%s: origin unknown, yet it did not stop for an unspecified reason", what)
		}
		if s.Pseudo != model.NotPseudo && s.OpenEnd {
			v.errorf("%s: pseudo, yet open at its end", what)
		}
		if s.Next == model.GoRunning && !s.OpenEnd && (s.P == model.NoProc || s.M == model.NoThread) {
			v.errorf("%s: started on proc %d and thread %d, must have both", what, s.P, s.M)
		}
	}
	if s.State != model.GoRunnable && (s.Origin != model.OriginUnknown || s.Pseudo != model.NotPseudo) {
		v.errorf("%s: origin %v, pseudo %d: want none", what, s.Origin, s.Pseudo)
	}
}

// GoEnd implements [model.GoEndObserver].
func (v *Validator) GoEnd(g *model.Goroutine) {
	l := v.life(g.ID, g.From)
	l.ended, l.exit, l.final = true, g.HasEnded, *g
	l.final.Block, l.final.Marks = slices.Clone(g.Block), &model.Marks{Ranges: slices.Clone(g.Ranges)}
}

// checkLife does the checks of a goroutine that need all intervals.
func (v *Validator) checkLife(l *life) {
	what := fmt.Sprintf("goroutine %d", l.id)
	if !l.ended {
		v.errorf("%s: its end was never reported", what)
		return
	}
	g := &l.final
	end := v.end
	if l.exit {
		end = g.Ended
	}
	if l.at != end {
		v.errorf("%s: intervals end at %d, want %d", what, l.at, end)
	}
	if g.Times != l.times {
		v.errorf("%s: times %v, sums of its intervals %v", what, g.Times, l.times)
	}
	var truly model.Duration
	var block []model.ReasonTime
	started := false
	for i := range l.spans {
		s := &l.spans[i]
		v.checkOpenEnd(what, s.End, s.OpenEnd)
		switch s.State {
		case model.GoRunnable:
			if s.Pseudo == model.NotPseudo {
				truly += s.Duration()
			}
		case model.GoWaiting:
			block = addReason(block, s.Reason, s.Duration())
		case model.GoRunning:
			latest := s.Start
			if s.OpenStart {
				latest = s.End // seen to run only some time into the interval
			}
			if !started && !(g.HasStarted && l.from <= g.Started && g.Started <= latest) {
				v.errorf("%s: first runs at %d, said to have started at %d (%t)", what, s.Start, g.Started, g.HasStarted)
			}
			started = true
		}
	}
	if truly != g.RunnableTruly {
		v.errorf("%s: truly runnable for %d, sum of its intervals %d", what, g.RunnableTruly, truly)
	}
	v.checkReasons(what+": waiting", g.Block, block)
}

// addReason adds to the total of one reason.
func addReason(list []model.ReasonTime, r model.StringID, d model.Duration) []model.ReasonTime {
	for i := range list {
		if list[i].Reason == r {
			list[i].Count++
			list[i].Total += d
			return list
		}
	}
	return append(list, model.ReasonTime{Reason: r, Count: 1, Total: d})
}

// checkReasons compares totals by reason. Entries of the Machine without time
// are fine: it may count intervals of zero length.
func (v *Validator) checkReasons(what string, got, want []model.ReasonTime) {
	total := func(list []model.ReasonTime, r model.StringID) (d model.Duration) {
		for _, x := range list {
			if x.Reason == r {
				d += x.Total
			}
		}
		return d
	}
	for _, x := range slices.Concat(got, want) {
		if g, w := total(got, x.Reason), total(want, x.Reason); g != w {
			v.errorf("%s for reason %d: total %d, sum of its intervals %d", what, x.Reason, g, w)
			return
		}
	}
}
