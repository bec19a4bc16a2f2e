package perfetto

import "github.com/schedscope/schedscope/model"

// Keys of annotations.
var (
	keyTask      = label{2, "task"}
	keyParent    = label{3, "parent task"}
	keyGoroutine = label{4, "goroutine"}
	keyMessage   = label{5, "message"}
	keySource    = label{10, "source"}
	keySize      = label{6, "goroutines"}
	keyGrade     = label{7, "grade"}
	keyCause     = label{8, "cause"}
	keyOrigin    = label{11, "origin"}
	keyProc      = label{9, "proc"}
)

// STW implements [model.STWObserver].
func (w *Writer) STW(s *model.STW) {
	t := track{kind: trackSTW}
	w.enc.slice(&slice{track: t, name: w.names.of(w.names.tables.AddString(s.Reason)), start: s.Start, end: s.End,
		args: []arg{{key: keyGoroutine, number: int64(s.G)}}})
	if s.Stopped > s.Start {
		w.enc.slice(&slice{track: t, name: labelStopping, start: s.Start, end: s.Stopped})
	}
	if s.Effective > s.Stopped {
		w.enc.slice(&slice{track: t, name: labelStopped, start: s.Stopped, end: s.Effective})
	}
}

// Range implements [model.RangeObserver]. Those that stop the world are reported by STW.
func (w *Writer) Range(s *model.RangeSpan) {
	x := slice{name: w.names.of(s.Name), start: s.Start, end: s.End}
	switch s.Scope {
	case model.ScopeGoroutine:
		if s.Name == w.assist {
			w.onGoroutine(&x, s.G, s.OpenStart)
		}
		return
	case model.ScopeProc:
		x.track = track{trackSweep, int64(s.P)}
	default:
		x.track = track{kind: trackGC}
	}
	w.enc.slice(&x)
	w.flush()
}

// onGoroutine writes a slice of a goroutine. What began before the trace did begins
// together with others: which of them holds which is not known, so each has a track.
func (w *Writer) onGoroutine(x *slice, g model.GoID, openStart bool) {
	x.track = track{trackGoroutine, int64(g)}
	if openStart {
		w.opens++
		x.track, x.of = track{trackOpen, w.opens}, x.name.text
		x.args = append(x.args, arg{key: keyGoroutine, number: int64(g)})
	}
	w.enc.slice(x)
}

// Region implements [model.RegionObserver].
func (w *Writer) Region(s *model.Region) {
	x := slice{name: w.names.of(s.Name), start: s.Start, end: s.End}
	if s.Task != 0 {
		x.args = append(x.args, arg{key: keyTask, number: int64(s.Task)})
	}
	w.onGoroutine(&x, s.G, s.OpenStart)
}

// Task implements [model.TaskObserver].
func (w *Writer) Task(s *model.Task) {
	x := slice{track: track{trackTask, w.tasks}, name: w.names.of(s.Name), start: s.Start, end: s.End,
		args: []arg{{key: keyTask, number: int64(s.ID)}}}
	w.tasks++
	x.of = x.name.text
	if s.Parent != 0 {
		x.args = append(x.args, arg{key: keyParent, number: int64(s.Parent)})
	}
	if s.G != model.NoGoroutine {
		x.args = append(x.args, arg{key: keyGoroutine, number: int64(s.G)})
	}
	w.enc.slice(&x)
}

// Event records an event. It writes log messages of the user, which the Machine does not
// report.
func (w *Writer) Event(ev *model.Event) {
	if w.queues != nil {
		w.queues.event(ev)
	}
	if ev.Kind != model.EventLog || w.noLabels || ev.G == model.NoGoroutine {
		return
	}
	x := moment{track: track{trackGoroutine, int64(ev.G)}, at: ev.Time, name: w.names.of(ev.Str),
		args: []arg{{key: keyMessage, text: w.names.of(ev.Str2).text}}}
	if ev.ID != 0 {
		x.args = append(x.args, arg{key: keyTask, number: ev.ID})
	}
	w.enc.moment(&x, noField)
	w.flush()
}

// Handoff implements [model.HandoffObserver].
func (w *Writer) Handoff(h *model.Handoff) {
	from := moment{track: track{trackGoroutine, int64(h.FromG)}, at: h.Lost, name: labelTaken,
		args: []arg{{key: keyCause, text: h.Cause.String()}, {key: keyProc, number: int64(h.P)}}}
	if h.Open {
		w.enc.moment(&from, noField)
		return
	}
	w.enc.arrow(&from, &moment{track: track{trackProc, int64(h.P)}, at: h.Got, name: labelGot})
}
