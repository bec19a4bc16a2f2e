package workloadtest

import (
	"errors"
	"fmt"

	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/model"
)

// Expect says what a stream of events is to be judged by.
type Expect struct {
	// Classes: who is woken need not be whom the workload names.
	Classes bool
	// Partial: the stream may end before the programs do.
	Partial bool
	// Punctual: nobody is late, as under an ideal scheduler.
	Punctual bool
	NoTracer bool
	// Exit is what the end of a system call costs that has lost its proc and found another one.
	Exit model.Duration
}

// Program judges whether a stream of events is an execution of a workload: each
// goroutine computes as long as its program says between what it does, does all of it
// in order, waits where it must and only there, and is not woken too early.
//
// Events that would share a time are 1 ns apart and so later than they were
// ([model.EventSyntheticTime]); each time is hence known as an interval only.
type Program struct {
	w      *workload.Workload
	x      Expect
	gs     []follower
	byID   map[model.GoID]int32
	wakers map[wait]place // where each wait is ended
	exact  model.Time     // of the latest event that has its own time
	now    span
	errs   []error
	end    span // when the last program ended
}

// span is a time that is known to lie between two.
type span struct{ lo, hi model.Time }

func (s span) plus(d model.Duration) span { return span{s.lo + model.Time(d), s.hi + model.Time(d)} }

// place is a point of a goroutine's program, in CPU time since its beginning.
type place struct {
	g   int32
	cpu model.Duration
}

// follower is how far a goroutine has come.
type follower struct {
	g      *workload.Goroutine
	state  model.GoState
	seg    int32
	op     int32
	before model.Duration // CPU time of the segments that it has ended
	ran    [2]model.Duration
	since  span // it runs since, or waits since
	stops  int  // world-stops that it has open
	midway bool // it waits at operation op for the goroutine that it is to wake
	left   bool // a system call, with another proc than it began with
	fresh  bool // a coroutine that has not run yet
	done   bool
}

// NewProgram returns a judge that has seen nothing.
func NewProgram(w *workload.Workload, x Expect) *Program {
	j := &Program{w: w, x: x, byID: map[model.GoID]int32{}, wakers: map[wait]place{}, exact: w.Start}
	j.gs = make([]follower, len(w.Goroutines))
	for i := range w.Goroutines {
		g := &w.Goroutines[i]
		j.byID[g.ID] = int32(i)
		j.gs[i] = follower{g: g, state: model.GoNotExist, since: span{w.Start, w.Start}}
		j.findWakers(int32(i), g)
	}
	return j
}

func (j *Program) findWakers(i int32, g *workload.Goroutine) {
	var cpu model.Duration
	first := int32(0)
	for k := range g.Segments {
		s := &g.Segments[k]
		for _, op := range g.Ops[first:s.Ops] {
			if op.Kind == workload.OpWake || op.Kind == workload.OpSend {
				j.wakers[wait{op.G, op.Seg}] = place{i, cpu + op.At}
			}
		}
		first, cpu = s.Ops, cpu+s.CPU
	}
}

func (j *Program) errorf(format string, args ...any) {
	if len(j.errs) < 10 {
		j.errs = append(j.errs, fmt.Errorf(format, args...))
	}
}

// Event takes the next event.
func (j *Program) Event(ev *model.Event) {
	if ev.Flags&model.EventSyntheticTime == 0 {
		j.exact = ev.Time
	}
	j.now = span{j.exact, ev.Time}
	switch ev.Kind {
	case model.EventRangeBegin, model.EventRangeEnd:
		if model.Scope(ev.From) == model.ScopeGlobal || isStop(j.w.Tables.String(ev.Str)) {
			j.stop(ev)
		}
	case model.EventGoTransition:
		if model.GoState(ev.From) == model.GoUndetermined {
			j.status(ev)
		} else if ev.From != ev.To {
			j.transition(ev)
		}
	}
}

// status takes the state in which a goroutine begins.
func (j *Program) status(ev *model.Event) {
	if i, ok := j.byID[model.GoID(ev.ID)]; ok {
		j.gs[i].state = model.GoState(ev.To)
	}
}

func isStop(name string) bool { return len(name) > 14 && name[:14] == "stop-the-world" }

// stop takes the beginning or end of a stop-the-world, in which the goroutine that
// does it computes nothing of its own.
func (j *Program) stop(ev *model.Event) {
	i, ok := j.byID[ev.G]
	if !ok || !isStop(j.w.Tables.String(ev.Str)) {
		return
	}
	f := &j.gs[i]
	if ev.Kind == model.EventRangeBegin {
		if f.stops == 0 {
			j.account(f)
		}
		f.stops++
		return
	}
	if f.stops > 0 {
		if f.stops--; f.stops == 0 {
			f.since = j.now
		}
	}
}

// account adds the time since f began to run to what it has computed.
func (j *Program) account(f *follower) {
	if f.state == model.GoRunning && f.stops == 0 {
		f.ran[0] += max(0, j.now.lo.Sub(f.since.hi))
		f.ran[1] += max(0, j.now.hi.Sub(f.since.lo))
		f.since = j.now
	}
}

// computed returns the bounds of what a goroutine has computed by now.
func (j *Program) computed(f *follower) (lo, hi model.Duration) {
	lo, hi = f.ran[0], f.ran[1]
	if f.state == model.GoRunning && f.stops == 0 {
		lo += max(0, j.now.lo.Sub(f.since.hi))
		hi += max(0, j.now.hi.Sub(f.since.lo))
	}
	return lo, hi
}

func (j *Program) transition(ev *model.Event) {
	from, to := model.GoState(ev.From), model.GoState(ev.To)
	if i, ok := j.byID[ev.G]; ok && model.GoID(ev.ID) != ev.G {
		j.operation(&j.gs[i], ev)
	}
	i, ok := j.byID[model.GoID(ev.ID)]
	if !ok {
		return // of the runtime's own
	}
	f := &j.gs[i]
	if f.done {
		j.errorf("goroutine %d at %d: goes from %d to %d after its end", ev.ID, ev.Time, from, to)
		return
	}
	if from == model.GoRunning {
		j.account(f)
	}
	f.state = to
	switch {
	case from == model.GoRunning:
		j.halts(f, ev)
	case to == model.GoRunning && from != model.GoSyscall:
		if f.since = j.now; f.left {
			f.since, f.left = j.now.plus(j.x.Exit), false
		}
	case from == model.GoWaiting && to == model.GoRunnable:
		j.resumes(i, f, ev)
	case from == model.GoSyscall:
		s := &f.g.Segments[f.seg]
		j.delayed(f, s)
		j.next(f)
		f.since = j.now
		f.left = to == model.GoRunnable && ev.P != model.NoProc
	case from == model.GoNotExist:
		f.since, f.fresh = j.now, to == model.GoWaiting
	}
}

// next moves f past the end of its segment.
func (j *Program) next(f *follower) {
	f.before += f.g.Segments[f.seg].CPU
	f.op = f.g.Segments[f.seg].Ops
	f.seg++
}

// operation matches what a goroutine does to another with its program.
func (j *Program) operation(f *follower, ev *model.Event) {
	if j.arrives(f, ev) {
		return
	}
	op, seg, before := f.op, f.seg, f.before
	for ; int(seg) < len(f.g.Segments); seg++ {
		s := &f.g.Segments[seg]
		for ; op < s.Ops; op++ {
			if visible(&f.g.Ops[op], ev) && j.meant(&f.g.Ops[op], ev) && j.fits(f, before+f.g.Ops[op].At) {
				j.advance(f, seg, op)
				j.settle(f, before+f.g.Ops[op].At)
				f.op++
				return
			}
		}
		if s.Target >= 0 && j.gs[s.Target].g.ID == model.GoID(ev.ID) && j.fits(f, before+s.CPU) {
			return // the first of the three events of a switch
		}
		if !j.passable(s) {
			break
		}
		before += s.CPU
	}
	if !runtimesOwn(j.w, f) && !(j.x.Classes && model.GoState(ev.From) == model.GoWaiting) {
		lo, hi := j.computed(f)
		j.errorf("goroutine %d at %d: moves goroutine %d from %d to %d after computing %d..%d, which its program does not say: it is in segment %d, operation %d", f.g.ID, ev.Time, ev.ID, ev.From, ev.To, lo, hi, f.seg, f.op)
	}
}

// passable reports whether a goroutine may go on past the end of a segment without an
// event: what it would wait for has come.
func (j *Program) passable(s *workload.Segment) bool {
	switch s.End {
	case workload.EndWait:
		return !s.Meet
	case workload.EndNetwork, workload.EndAssist:
		return true
	case workload.EndSleep, workload.EndExternal:
		return s.Delay == 0 || s.Absolute && j.now.hi >= j.w.Start+model.Time(s.Delay)
	}
	return false
}

// settle takes what f has computed as known: it has been seen to do what it does then.
func (j *Program) settle(f *follower, cpu model.Duration) {
	f.ran = [2]model.Duration{cpu, cpu}
	if f.stops == 0 {
		f.since = j.now
	}
}

// fits reports whether f may have computed as much as its program says at a point.
func (j *Program) fits(f *follower, want model.Duration) bool {
	lo, hi := j.computed(f)
	return lo <= want && want <= hi
}

// arrives matches the event with f's coming to a wait for which another goroutine waits.
func (j *Program) arrives(f *follower, ev *model.Event) bool {
	before := f.before
	for seg := f.seg; int(seg) < len(f.g.Segments); seg++ {
		s := &f.g.Segments[seg]
		before += s.CPU
		if s.Meet && j.waitsMidway(ev, j.byID[f.g.ID], seg) && j.fits(f, before) {
			j.advance(f, seg, s.Ops)
			j.settle(f, before)
			j.next(f)
			return true
		}
		if !j.passable(s) {
			break
		}
	}
	return false
}

// waitsMidway reports whether the event wakes a goroutine that waits for g to come to the end of
// its segment.
func (j *Program) waitsMidway(ev *model.Event, g, seg int32) bool {
	i, ok := j.byID[model.GoID(ev.ID)]
	if !ok || model.GoState(ev.From) != model.GoWaiting || !j.gs[i].midway {
		return false
	}
	op := &j.gs[i].g.Ops[j.gs[i].op]
	return j.x.Classes || op.G == g && op.Seg == seg
}

// advance moves f to an operation, past waits that were over before they began and
// operations that show nowhere.
func (j *Program) advance(f *follower, seg, op int32) {
	for f.seg < seg {
		j.missed(f, f.g.Segments[f.seg].Ops)
		j.passes(f)
	}
	j.missed(f, op)
}

// runtimesOwn reports whether the event is one that the runtime emits on the
// goroutine's stack: the end of a stop-the-world polls the network, and a cycle ends.
func runtimesOwn(w *workload.Workload, f *follower) bool {
	return f.stops > 0 || len(w.Cycles) > 0 || len(w.Stops) > 0
}

func visible(op *workload.Op, ev *model.Event) bool {
	from, to := model.GoState(ev.From), model.GoState(ev.To)
	switch op.Kind {
	case workload.OpCreate:
		return from == model.GoNotExist && to == model.GoRunnable
	case workload.OpBlocked:
		return from == model.GoNotExist && to == model.GoWaiting
	case workload.OpWake:
		return from == model.GoWaiting && to == model.GoRunnable
	}
	return false
}

// meant reports whether the operation concerns the event's goroutine.
func (j *Program) meant(op *workload.Op, ev *model.Event) bool {
	if i, ok := j.byID[model.GoID(ev.ID)]; ok && j.x.Classes && op.Kind == workload.OpWake {
		if f := &j.gs[i]; f.midway || int(f.seg) < len(f.g.Segments) && f.g.Segments[f.seg].Object >= 0 {
			return true // whoever has waited longest
		}
	}
	q := &j.gs[op.G]
	if q.g.ID != model.GoID(ev.ID) {
		return false
	}
	return op.Kind != workload.OpWake || op.Seg == q.seg && !q.midway
}

// passes moves f past a wait that was over before it began.
func (j *Program) passes(f *follower) {
	i := j.byID[f.g.ID]
	if end := f.g.Segments[f.seg].End; !j.x.Classes && (end == workload.EndWait || end == workload.EndNetwork) {
		if lo, hi := j.ended(wait{i, f.seg}); hi < lo {
			j.errorf("goroutine %d at %d: passes the wait of segment %d, of which nobody told it", f.g.ID, j.now.hi, f.seg)
		}
	}
	j.next(f)
}

// ended returns bounds of what whoever ends a wait has computed beyond that point: the wait may
// be over if hi >= lo. Of waits that an arrival or the runtime ends nothing is known.
func (j *Program) ended(k wait) (lo, hi model.Duration) {
	at, ok := j.wakers[k]
	if !ok {
		return 0, 0
	}
	f := &j.gs[at.g]
	_, most := j.computed(f)
	return at.cpu, most
}

// halts matches a stop with the end of a segment.
func (j *Program) halts(f *follower, ev *model.Event) {
	want := j.expected(f, ev)
	if want == nil {
		return // preempted: anywhere
	}
	before, idle := f.before, int32(-1)
	op := f.op
	for seg := f.seg; int(seg) < len(f.g.Segments); seg++ {
		s := &f.g.Segments[seg]
		for ; op < s.Ops; op++ {
			if x := &f.g.Ops[op]; x.Meet && want[workload.EndWait] && ev.SubjectStack == x.Stack && j.fits(f, before+x.At) && j.absent(x) {
				j.advance(f, seg, op)
				j.settle(f, before+x.At)
				f.midway = true
				return
			}
		}
		before += s.CPU
		if want[s.End] && j.fits(f, before) && sameStop(s, ev) {
			if j.surelyOver(wait{j.byID[f.g.ID], seg}, s) {
				idle = seg // two waits at the same point: perhaps the next one
				continue
			}
			j.advance(f, seg, s.Ops)
			j.settle(f, before)
			j.endOf(f, s)
			return
		}
		if !j.passable(s) {
			break
		}
	}
	if idle >= 0 {
		j.errorf("goroutine %d at %d: waits in segment %d, from which it was woken before", f.g.ID, ev.Time, idle)
		return
	}
	seg := min(int(f.seg), len(f.g.Segments)-1)
	lo, hi := j.computed(f)
	j.errorf("goroutine %d at %d: goes to %d (%s) after computing %d..%d, but its segment %d ends with %d after %d",
		f.g.ID, ev.Time, ev.To, j.w.Tables.String(ev.Str), lo, hi, f.seg, f.g.Segments[seg].End, f.before+f.g.Segments[seg].CPU)
}

// absent reports whether the goroutine that an operation is to wake does not wait for that yet.
func (j *Program) absent(op *workload.Op) bool {
	q := &j.gs[op.G]
	return j.x.Classes || q.state != model.GoWaiting || q.seg != op.Seg || q.midway
}

// surelyOver reports whether the wait that ends segment s was over before it began.
func (j *Program) surelyOver(k wait, s *workload.Segment) bool {
	if s.End == workload.EndSleep || s.End == workload.EndExternal {
		return s.Delay == 0 || s.Absolute && j.now.lo > j.w.Start+model.Time(s.Delay)
	}
	at, ok := j.wakers[k]
	if !ok || j.x.Classes || s.End != workload.EndWait {
		return false
	}
	least, _ := j.computed(&j.gs[at.g])
	return least > at.cpu
}

// sameStop reports whether a stop gives the reason and place that the segment has.
func sameStop(s *workload.Segment, ev *model.Event) bool {
	switch s.End {
	case workload.EndExit, workload.EndCut:
		return true
	case workload.EndSwitch:
		return ev.SubjectStack == s.Stack
	case workload.EndSyscall, workload.EndYield, workload.EndGoyield:
		return ev.SubjectStack == s.Stack
	}
	return ev.Str == s.Reason && ev.SubjectStack == s.Stack
}

// missed checks that the operations up to one that are not seen are those that leave no trace.
func (j *Program) missed(f *follower, end int32) {
	for ; f.op < end; f.op++ {
		switch op := &f.g.Ops[f.op]; op.Kind {
		case workload.OpCreate, workload.OpBlocked:
			j.errorf("goroutine %d at %d: has not created goroutine %d", f.g.ID, j.now.hi, j.gs[op.G].g.ID)
		case workload.OpWake:
			q := &j.gs[op.G]
			if op.Meet && !j.x.Classes {
				j.errorf("goroutine %d at %d: has not met goroutine %d", f.g.ID, j.now.hi, q.g.ID)
			}
			if !j.x.Classes && q.state == model.GoWaiting && !q.midway && q.seg == op.Seg && q.since.hi < j.exact && !j.tracer(op.G) {
				j.errorf("goroutine %d at %d: has not woken goroutine %d from segment %d", f.g.ID, j.now.hi, q.g.ID, op.Seg)
			}
		}
	}
}

func (j *Program) tracer(g int32) bool { return j.x.NoTracer && j.gs[g].g.Tracer }

// expected returns which ends of segments fit a stop, nil for those at any point.
func (j *Program) expected(f *follower, ev *model.Event) map[workload.EndKind]bool {
	switch model.GoState(ev.To) {
	case model.GoNotExist:
		return map[workload.EndKind]bool{workload.EndExit: true, workload.EndCut: true}
	case model.GoSyscall:
		return map[workload.EndKind]bool{workload.EndSyscall: true}
	case model.GoWaiting:
		return waitEnds
	}
	switch j.w.Tables.String(ev.Str) {
	case "runtime.Gosched":
		return map[workload.EndKind]bool{workload.EndYield: true}
	}
	if int(f.seg) < len(f.g.Segments) {
		// Only the stack tells a goyield from a preemption.
		for k := f.seg; int(k) < len(f.g.Segments); k++ {
			s := &f.g.Segments[k]
			if s.End == workload.EndGoyield && ev.SubjectStack == s.Stack {
				return map[workload.EndKind]bool{workload.EndGoyield: true}
			}
			if !j.passable(s) {
				break
			}
		}
	}
	return nil
}

var waitEnds = map[workload.EndKind]bool{workload.EndWait: true, workload.EndSleep: true, workload.EndExternal: true, workload.EndNetwork: true,
	workload.EndSwitch: true, workload.EndAssist: true, workload.EndForever: true, workload.EndCut: true}

// endOf enters what follows a segment.
func (j *Program) endOf(f *follower, s *workload.Segment) {
	f.since = j.now
	switch s.End {
	case workload.EndExit, workload.EndCut, workload.EndForever:
		f.done = true
		j.end = span{max(j.end.lo, j.now.lo), max(j.end.hi, j.now.hi)}
	case workload.EndYield, workload.EndGoyield:
		j.next(f)
	case workload.EndSwitch:
		// Woken by another switch; the rest is as for any wait.
	}
}

// resumes checks that a wait is over when it ends.
func (j *Program) resumes(i int32, f *follower, ev *model.Event) {
	if int(f.seg) >= len(f.g.Segments) {
		j.errorf("goroutine %d at %d: woken after its last segment", f.g.ID, ev.Time)
		return
	}
	s := &f.g.Segments[f.seg]
	if f.midway {
		f.midway = false
		f.op++
		if op := &f.g.Ops[f.op-1]; !j.x.Classes && j.gs[op.G].g.ID != ev.G {
			j.errorf("goroutine %d at %d: waits for goroutine %d, woken by %d", f.g.ID, ev.Time, j.gs[op.G].g.ID, ev.G)
		}
		return
	}
	if f.fresh {
		f.fresh = false
		return // a new coroutine, switched to for the first time
	}
	switch s.End {
	case workload.EndSleep, workload.EndExternal:
		j.delayed(f, s)
	case workload.EndWait, workload.EndNetwork:
		if lo, hi := j.ended(wait{i, f.seg}); hi < lo && !j.x.Classes {
			j.errorf("goroutine %d at %d: woken from segment %d before anybody ended that", f.g.ID, ev.Time, f.seg)
		}
	case workload.EndForever, workload.EndCut, workload.EndExit, workload.EndYield, workload.EndGoyield, workload.EndSyscall:
		j.errorf("goroutine %d at %d: woken from segment %d, which ends with %d", f.g.ID, ev.Time, f.seg, s.End)
	}
	j.next(f)
	f.since = j.now
}

// delayed checks that a delay is over, and of an ideal scheduler that it is just over.
func (j *Program) delayed(f *follower, s *workload.Segment) {
	from := f.since
	if s.Absolute {
		from = span{j.w.Start, j.w.Start}
	}
	if least := from.lo + model.Time(s.Delay); j.now.hi < least {
		j.errorf("goroutine %d at %d: goes on before %d, when the delay of segment %d is over", f.g.ID, j.now.hi, least, f.seg)
	}
	if most := max(from.hi+model.Time(s.Delay), f.since.hi); j.x.Punctual && j.now.lo > most {
		j.errorf("goroutine %d at %d: goes on later than %d, when the delay of segment %d is over", f.g.ID, j.now.lo, most, f.seg)
	}
}

// End returns when the last program ended, counted from the start: a lower bound.
func (j *Program) End() model.Duration { return j.end.lo.Sub(j.w.Start) }

// Err returns what was found wrong, at most ten errors. Call it after the last event.
func (j *Program) Err() error {
	for i := range j.gs {
		f := &j.gs[i]
		if f.done || j.x.Partial || j.tracer(int32(i)) {
			continue
		}
		for f.state == model.GoRunning && int(f.seg) < len(f.g.Segments)-1 && j.passable(&f.g.Segments[f.seg]) {
			j.next(f) // passed without a trace
		}
		if last := len(f.g.Segments) - 1; int(f.seg) == last && f.g.Segments[last].End == workload.EndSwitch && f.state == model.GoWaiting ||
			int(f.seg) == last && f.g.Segments[last].End == workload.EndForever && f.state == model.GoWaiting ||
			int(f.seg) == last && f.g.Segments[last].End == workload.EndCut {
			continue
		}
		j.errorf("goroutine %d does not come to its end: it is in segment %d of %d, state %d", f.g.ID, f.seg, len(f.g.Segments), f.state)
	}
	return errors.Join(j.errs...)
}
