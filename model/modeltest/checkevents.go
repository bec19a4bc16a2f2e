package modeltest

import (
	"fmt"

	"github.com/schedscope/schedscope/model"
)

// eventLog is what a Validator keeps of the events that it is given.
type eventLog struct {
	first model.Time
	begun bool // first is set by Begin
	moves map[model.GoID][]move
	// labels are the times at which a goroutine was labelled.
	labels map[model.GoID][]model.Time
}

// move is one transition of a goroutine.
type move struct {
	at       model.Time
	from, to model.GoState
	reason   model.StringID
	p        model.ProcID
	m        model.ThreadID
}

// stay is an interval between two moves, with a system call as one state.
type stay struct {
	state      model.GoState
	start, end model.Time
}

// Begin sets the time at which accounting begins, as [model.Machine.Begin] does.
// Without it, it begins with the first event.
func (v *Validator) Begin(t model.Time) {
	v.events.first, v.events.begun = t, true
}

// Event records an event for comparison with what the Machine makes of it. Pass all events
// that the Machine accounts for, or none.
func (v *Validator) Event(ev *model.Event) {
	l := &v.events
	if l.moves == nil {
		l.moves, l.labels = map[model.GoID][]move{}, map[model.GoID][]model.Time{}
		if !l.begun {
			l.first = ev.Time
		}
	}
	if ev.Kind == model.EventLabel {
		l.labels[model.GoID(ev.ID)] = append(l.labels[model.GoID(ev.ID)], ev.Time)
	}
	from, to := model.GoState(ev.From), model.GoState(ev.To)
	if ev.Kind != model.EventGoTransition || from == to {
		return
	}
	id := model.GoID(ev.ID)
	reason := ev.Str
	if to == model.GoWaiting && v.tables.String(reason) == "sync" {
		reason = v.tables.AddString(model.SyncReason(v.tables.Stack(ev.SubjectStack)))
	}
	l.moves[id] = append(l.moves[id], move{ev.Time, from, to, reason, ev.P, ev.M})
}

// checkEvents compares each goroutine's intervals with its transitions.
func (v *Validator) checkEvents() {
	if v.events.moves == nil {
		return
	}
	forgotten := 0
	for id := range v.events.moves {
		if len(v.lives[id]) == 0 {
			forgotten++
		}
	}
	if forgotten > 0 {
		v.errorf("%d goroutines of the events were never reported", forgotten)
	}
	for _, id := range v.gids {
		moves := v.events.moves[id]
		if len(moves) == 0 {
			continue // known from before the events that were given
		}
		want := v.staysOf(moves)
		var got []stay
		for _, l := range v.lives[id] {
			for i := range l.spans {
				s := &l.spans[i]
				state := s.State
				if state == model.GoSyscallBlocked {
					state = model.GoSyscall
				}
				got = addStay(got, stay{state, s.Start, s.End})
				v.checkMove(id, moves, s)
			}
		}
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || got[i] != want[i] {
				v.errorf("goroutine %d: interval %d of %d (events say %d): %s", id, i, len(got), len(want), describeStays(got, want, i))
				break
			}
		}
	}
}

// staysOf turns transitions into the intervals between them.
func (v *Validator) staysOf(moves []move) []stay {
	var out []stay
	state, since := moves[0].from, v.events.first
	if state == model.GoUndetermined {
		state = moves[0].to
	}
	for _, m := range moves {
		if m.from == model.GoUndetermined {
			state = m.to
			continue
		}
		if state != model.GoNotExist {
			out = addStay(out, stay{state, since, m.at})
		}
		state, since = m.to, m.at
	}
	if state != model.GoNotExist {
		out = addStay(out, stay{state, since, v.end})
	}
	return out
}

// addStay appends an interval unless it is empty; equal neighbours are one.
func addStay(list []stay, s stay) []stay {
	if s.start == s.end {
		return list
	}
	if n := len(list); n > 0 && list[n-1].end == s.start && list[n-1].state == s.state {
		list[n-1].end = s.end
		return list
	}
	return append(list, s)
}

// checkMove compares an interval's reason and place with the transition that
// began it.
func (v *Validator) checkMove(id model.GoID, moves []move, s *model.GoSpan) {
	for _, m := range moves {
		if m.at != s.Start || m.to != s.State {
			continue
		}
		switch {
		case s.State == model.GoWaiting && s.Reason != m.reason:
			v.errorf("goroutine %d: waits at %d for reason %d, event says %d", id, s.Start, s.Reason, m.reason)
		case s.State == model.GoRunning && (s.P != m.p || s.M != m.m):
			v.errorf("goroutine %d: runs at %d on proc %d and thread %d, event says %d and %d", id, s.Start, s.P, s.M, m.p, m.m)
		}
		return
	}
}

func describeStays(got, want []stay, i int) string {
	text := func(list []stay) string {
		if i >= len(list) {
			return "none"
		}
		return fmt.Sprintf("%v in [%d, %d)", list[i].state, list[i].start, list[i].end)
	}
	return text(got) + ", events say " + text(want)
}
