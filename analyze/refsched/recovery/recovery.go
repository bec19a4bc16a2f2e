// Package recovery measures how well the run queues of a schedule can be
// reconstructed from its events: package refsched makes a schedule and tells where each
// start came from, package runqueue resolves the events alone, and the two are compared.
//
// Real traces are less orderly than simulated ones: threads take their time stamps
// independently, and are interrupted in between. [Jitter] brings that in.
package recovery

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/schedscope/schedscope/analyze/refsched"
	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// Schedule is a simulated schedule: its events, and where its starts came from, in order.
type Schedule struct {
	Tables  *model.Tables
	Version int
	Events  []model.Event
	Starts  []runqueue.Start
	Result  *refsched.Result
}

// Record simulates a workload and keeps everything.
func Record(ctx context.Context, w *workload.Workload, cfg refsched.Config) (*Schedule, error) {
	if cfg.Rules.Version == 0 {
		cfg.Rules.Version = w.Version
	}
	s := &Schedule{Tables: w.Tables, Version: cfg.Rules.Version}
	cfg.Decide = func(x *runqueue.Start) { s.Starts = append(s.Starts, *x) }
	res, err := refsched.Run(ctx, w, cfg, func(ev *model.Event) { s.Events = append(s.Events, *ev) })
	s.Result = res
	return s, err
}

// Jitter returns the events as threads might have stamped them: each up to eps later, on a
// clock with the given grain, in the order of each thread, and of each goroutine and
// proc, which sequence numbers keep in real traces. Events of one time are put 1 ns
// apart, as decoders do.
func Jitter(events []model.Event, eps, grain model.Duration, seed uint64) []model.Event {
	j := jitter{ms: map[model.ThreadID]model.Time{}, gs: map[model.GoID]model.Time{}, ps: map[model.ProcID]model.Time{}}
	list := slices.Clone(events)
	for i := range list {
		ev := &list[i]
		if switches(events, i) || i > 0 && switches(events, i-1) {
			ev.Time = j.after(ev, list[i-1].Time)
			continue
		}
		t := ev.Time
		if eps > 0 {
			t += model.Time(mix(seed^uint64(i)*0x9e3779b97f4a7c15) % uint64(eps+1))
		}
		if grain > 1 {
			t -= t % model.Time(grain)
		}
		ev.Time = j.after(ev, t)
	}
	slices.SortStableFunc(list, func(a, b model.Event) int { return int(min(1, max(-1, a.Time-b.Time))) })
	last := model.Time(0)
	for i := range list {
		ev := &list[i]
		ev.Flags &^= model.EventSyntheticTime
		if i > 0 && ev.Time <= last {
			ev.Time = last + 1
			ev.Flags |= model.EventSyntheticTime
		}
		last = ev.Time
	}
	return list
}

// switches reports whether the i-th event is the middle one of the three that decoders make of
// the single event of a coroutine switch.
func switches(events []model.Event, i int) bool {
	if i < 1 || i+1 >= len(events) {
		return false
	}
	wake, stop, start := &events[i-1], &events[i], &events[i+1]
	return is(wake, model.GoWaiting, model.GoRunnable) && is(start, model.GoRunnable, model.GoRunning) &&
		(is(stop, model.GoRunning, model.GoWaiting) || is(stop, model.GoRunning, model.GoNotExist)) &&
		wake.ID == start.ID && int64(wake.G) == stop.ID && wake.M == start.M && start.Time-wake.Time <= 2
}

func is(ev *model.Event, from, to model.GoState) bool {
	return ev.Kind == model.EventGoTransition && model.GoState(ev.From) == from && model.GoState(ev.To) == to
}

// jitter holds the latest time of each thread, goroutine and proc, and of what concerns all.
type jitter struct {
	ms  map[model.ThreadID]model.Time
	gs  map[model.GoID]model.Time
	ps  map[model.ProcID]model.Time
	all model.Time
}

// after returns a time for ev not before t, nor before what it comes after in any case.
func (j *jitter) after(ev *model.Event, t model.Time) model.Time {
	if ev.M != model.NoThread {
		t = max(t, j.ms[ev.M])
	}
	if ev.G != model.NoGoroutine {
		t = max(t, j.gs[ev.G])
	}
	if ev.P != model.NoProc {
		t = max(t, j.ps[ev.P])
	}
	switch ev.Kind {
	case model.EventGoTransition:
		t = max(t, j.gs[model.GoID(ev.ID)])
	case model.EventProcTransition:
		t = max(t, j.ps[model.ProcID(ev.ID)])
	case model.EventSync, model.EventMetric:
		t = max(t, j.all)
	}
	j.all = max(j.all, t)
	if ev.M != model.NoThread {
		j.ms[ev.M] = t
	}
	if ev.G != model.NoGoroutine {
		j.gs[ev.G] = t
	}
	if ev.P != model.NoProc {
		j.ps[ev.P] = t
	}
	switch ev.Kind {
	case model.EventGoTransition:
		j.gs[model.GoID(ev.ID)] = t
	case model.EventProcTransition:
		j.ps[model.ProcID(ev.ID)] = t
	}
	return t
}

// mix is the finaliser of splitmix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Score counts what was recovered of the starts of schedules.
type Score struct {
	Starts int // compared
	Source int // right
	// Of starts whose source is right:
	Via, Place, Victim, Batch int
	Whole                     int // starts of which all is right
	// Certain starts were told with the best grade, CertainRight of them have the right source.
	Certain, CertainRight int
	Lost                  int // starts that only one of the two tells
	Invalid               int // events that a Machine refuses
	Longest               int // length of a local queue
	// Wrong counts starts by true source and the one that was recovered.
	Wrong map[[2]runqueue.Source]int
	// First are the first starts that were not recovered whole: the truth, and what was told.
	First [][2]runqueue.Start
}

// Add adds another score.
func (s *Score) Add(o *Score) {
	s.Starts += o.Starts
	s.Source += o.Source
	s.Via += o.Via
	s.Place += o.Place
	s.Victim += o.Victim
	s.Batch += o.Batch
	s.Whole += o.Whole
	s.Certain += o.Certain
	s.CertainRight += o.CertainRight
	s.Lost += o.Lost
	s.Invalid += o.Invalid
	s.Longest = max(s.Longest, o.Longest)
	for k, n := range o.Wrong {
		if s.Wrong == nil {
			s.Wrong = map[[2]runqueue.Source]int{}
		}
		s.Wrong[k] += n
	}
	if len(s.First) < maxFirst {
		s.First = append(s.First, o.First...)
	}
}

const maxFirst = 5

// recorder takes down what a resolver tells.
type recorder struct {
	starts  []runqueue.Start
	longest int
}

func (r *recorder) Start(s *runqueue.Start) { r.starts = append(r.starts, *s) }

func (r *recorder) Lengths(l *runqueue.Lengths) {
	if l.P != model.NoProc {
		r.longest = max(r.longest, l.Len)
	}
}

// Resolve resolves events of the schedule's program and compares the result with the
// schedule's own starts.
func (s *Schedule) Resolve(events []model.Event) (*Score, error) {
	q, err := runqueue.New(s.Tables, s.Version)
	if err != nil {
		return nil, err
	}
	r := &recorder{}
	q.Observe(r)
	m := model.NewMachine(s.Tables, model.Config{Version: s.Version})
	m.Observe(q)
	score := &Score{Wrong: map[[2]runqueue.Source]int{}}
	for i := range events {
		if m.Apply(&events[i]) != nil {
			score.Invalid++
		}
	}
	if err := m.Finish(m.Now()); err != nil {
		return nil, err
	}
	q.Finish()
	score.Longest = r.longest
	score.compare(s.Starts, r.starts)
	return score, nil
}

// compare matches the k-th start of each goroutine with the k-th that was told.
func (s *Score) compare(truth, told []runqueue.Start) {
	byG := map[model.GoID][]*runqueue.Start{}
	for i := range told {
		if told[i].Source != runqueue.SourceCoroutine { // no decision
			byG[told[i].G] = append(byG[told[i].G], &told[i])
		}
	}
	for i := range truth {
		want := &truth[i]
		if want.Source == runqueue.SourceCoroutine {
			continue
		}
		list := byG[want.G]
		if len(list) == 0 {
			s.Lost++
			continue
		}
		got := list[0]
		byG[want.G] = list[1:]
		s.one(want, got)
	}
	for i := range told {
		if list := byG[told[i].G]; len(list) > 0 && list[0] == &told[i] {
			s.Lost += len(list)
			byG[told[i].G] = nil
		}
	}
}

func (s *Score) one(want, got *runqueue.Start) {
	if got.OpenStart {
		return // where it stood when the trace began cannot be known
	}
	s.Starts++
	right := want.Source == got.Source
	if got.Grade == runqueue.GradeCertain {
		s.Certain++
		if right {
			s.CertainRight++
		}
	}
	if !right {
		s.Wrong[[2]runqueue.Source{want.Source, got.Source}]++
		s.first(want, got)
		return
	}
	s.Source++
	whole := true
	count := func(n *int, same bool) {
		if same {
			*n++
		}
		whole = whole && same
	}
	count(&s.Via, want.Via == got.Via)
	count(&s.Place, place(want) == place(got) && want.QueueP == got.QueueP)
	count(&s.Victim, want.FromP == got.FromP)
	count(&s.Batch, want.Batch == got.Batch)
	if whole {
		s.Whole++
	} else {
		s.first(want, got)
	}
}

// place is where a goroutine first stood; the simulator tells nothing of those that never did.
func place(s *runqueue.Start) runqueue.Place {
	if s.Enqueued == runqueue.PlaceUnknown {
		return runqueue.PlaceNone
	}
	return s.Enqueued
}

func (s *Score) first(want, got *runqueue.Start) {
	if len(s.First) < maxFirst {
		s.First = append(s.First, [2]runqueue.Start{*want, *got})
	}
}

// Curve writes how much is recovered of schedules as the stamps of their events become
// more disorderly: a line for each eps, all on a clock of grain ns.
func Curve(out io.Writer, list []*Schedule, eps []model.Duration, grain model.Duration) error {
	fmt.Fprintf(out, "%8s %9s %8s %8s %8s %8s %8s %8s %8s %9s\n", "eps", "starts", "source", "via", "place", "victim", "batch", "whole", "certain", "of them")
	for _, e := range eps {
		total := &Score{}
		for i, s := range list {
			one, err := s.Resolve(Jitter(s.Events, e, grain, uint64(i)))
			if err != nil {
				return err
			}
			total.Add(one)
		}
		n, of := share(total.Starts), share(total.Source)
		fmt.Fprintf(out, "%6dns %9d %8s %8s %8s %8s %8s %8s %8s %9s\n", e, total.Starts, n(total.Source), of(total.Via), of(total.Place),
			of(total.Victim), of(total.Batch), n(total.Whole), n(total.Certain), share(total.Certain)(total.CertainRight))
	}
	return nil
}

// share returns a function that writes parts of a whole.
func share(whole int) func(int) string {
	return func(part int) string {
		if whole == 0 {
			return "-"
		}
		return fmt.Sprintf("%.2f %%", 100*float64(part)/float64(whole))
	}
}
