package sample

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/sums"
	"github.com/schedscope/schedscope/internal/strict"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
	"github.com/schedscope/schedscope/model/session"
)

// scan is what a first look at a trace finds: where the window is, what the recorder
// wrote about the environment, and when ops ended. It needs no model of the scheduler.
type scan struct {
	version int
	origin  model.Time // the trace's start
	end     model.Time // of its last event that can be relied on

	region  regionScan
	op      string          // a pattern
	opKind  model.EventKind // of the event that ends one; EventBad: ops are not regions or tasks
	ended   []model.Time    // when ops did
	records []loggedRecord
	bad     error // the first record that cannot be read
	loss    *ingest.Loss
	// cut: beyond end, which is not the last event's then, events are missing.
	cut bool

	sampled bool       // the trace has CPU samples
	first   model.Time // of an event
	news    bool       // something was seen that the window depends on

	starter model.GoID // the goroutine that started the trace
	main    struct {   // the main goroutine
		state model.GoState
		since model.Time
		timed bool           // it waits for something that timers end
		paced model.Duration // for how long it did until one did
	}
}

const mainGoroutine model.GoID = 1

// wholeRun reports whether the trace is of a run of the program's main function, which stopped it: the main goroutine stopped
// the world to start it (runtime/trace.go: StartTrace, Go 1.22 to 1.26), and ran at its end.
func (s *scan) wholeRun() bool { return s.starter == mainGoroutine && s.main.state == model.GoRunning }

// ran takes a transition of the main goroutine.
func (s *scan) ran(t *model.Tables, ev *model.Event) {
	m := &s.main
	if m.state == model.GoWaiting && ev.G == model.NoGoroutine && m.timed {
		m.paced += ev.Time.Sub(m.since)
	}
	if to := model.GoState(ev.To); to != m.state {
		m.state, m.since = to, ev.Time
		m.timed = slices.Contains([]model.Wait{model.WaitSleep, model.WaitReceive, model.WaitSelect}, model.WaitOf(t.String(ev.Str)))
	}
}

// loggedRecord is an environment record in a trace.
type loggedRecord struct {
	*env.Record
	at model.Time
}

// regionScan finds the stretch from a region's first begin to its last end.
type regionScan struct {
	name   string // a pattern
	seen   bool
	first  model.Time
	last   model.Time
	depth  int
	before bool // one began before the trace did
	wanted bool
}

// scanTrace reads all of a trace, and measures what seems to be the window if it can.
func scanTrace(ctx context.Context, t *session.Trace, r io.ReaderAt, spec *Spec, o Options) (*reading, error) {
	in, err := t.Read(ingest.Options{Workers: o.Workers})
	if err != nil {
		return nil, err
	}
	in.Progress = o.Progress
	s := newScan(spec)
	s.version = in.Version
	rd := s.reading(in, spec)
	gens := in.Index().Generations
	if len(gens) > 0 {
		s.origin = gens[0].First
	}
	if in.Over = len(gens) == 0 || spec.Window == "" && !marked(r, gens); !in.Over {
		rd.report.ObserveSteps(in.Machine)
	}
	seen, from, to := false, model.Time(0), model.Time(0)
	in.Before = func(ev *model.Event) {
		last := s.end
		if !seen {
			s.first, s.end = ev.Time, ev.Time
			if len(gens) == 0 {
				s.origin = ev.Time
			}
		}
		if s.event(in.Tables(), ev); s.news || !seen {
			s.news, seen = false, true
			from, to = s.seems(spec.Window)
		}
		switch {
		case in.Over:
		case rd.begun && ev.Time > to:
			in.End, in.Over = to, true
			in.Machine.Finish(to)
		case rd.begun || ev.Time < from:
		case from <= last || ev.Time > to || len(gens) > 2 && from >= gens[2].First:
			in.Over = true // too late, or so late that a reading of the window leaves out the beginning
		default:
			if in.Start = from; from > s.origin {
				in.Machine.Begin(from)
			}
			rd.begin()
		}
	}
	if err := in.Run(ctx, nil, rd.event); err != nil {
		return nil, err
	}
	// Where the break left threads behind, the trace ends for us as far as all are complete:
	// beyond, what they did would be missing, and what they were in would never end. If that is
	// nowhere, it is used as it is.
	s.loss = in.Reader.Loss()
	if l := s.loss; l != nil && l.Sound < l.LastTime && l.Sound > s.first {
		s.cut, s.end = true, l.Sound
	}
	return rd, nil
}

// marked reports whether the beginning of a trace has names that mark its window.
func marked(r io.ReaderAt, gens []ingest.Generation) bool {
	const piece = 64 << 10
	last := gens[min(1, len(gens)-1)]
	buf := make([]byte, piece+len(WindowRegion)) // pieces overlap
	for at := int64(0); at < last.Offset+last.Length; at += piece {
		n, _ := r.ReadAt(buf, at)
		if bytes.Contains(buf[:n], []byte(WindowRegion)) || bytes.Contains(buf[:n], []byte(env.Category)) {
			return true
		}
	}
	return false
}

// seems returns the window as far as it is known when a part of the trace was read.
func (s *scan) seems(text string) (from, to model.Time) {
	const never = math.MaxInt64
	if begin, end, _ := s.pair(); text == "" && !s.region.seen && end == nil {
		if begin == nil {
			return never, never
		}
		return begin.at, never
	}
	w, err := s.asked(text)
	switch from, to = s.origin+model.Time(w.from), s.origin+model.Time(w.to); {
	case err != nil:
		return never, never
	case w.toEnd:
		return from, never
	}
	return from, to
}

// is reports whether what was measured is the window.
func (rd *reading) is(w window) bool {
	s := rd.scan
	if !rd.begun || s.loss != nil || rd.Start != s.origin+model.Time(w.from) {
		return false
	}
	return rd.Over && rd.End == s.origin+model.Time(w.to) || !rd.Over && w.toEnd
}

func newScan(spec *Spec) *scan {
	s := &scan{}
	s.region.name, s.region.wanted = strings.CutPrefix(spec.Window, "region:")
	if spec.Window == "" {
		s.region.name, s.region.wanted = WindowRegion, true
	}
	var kind string
	kind, s.op, _ = strings.Cut(spec.Op, ":")
	s.opKind = map[string]model.EventKind{"region": model.EventRegionEnd, "task": model.EventTaskEnd}[kind]
	return s
}

func (s *scan) event(t *model.Tables, ev *model.Event) {
	s.end = max(s.end, ev.Time)
	switch ev.Kind {
	case model.EventRegionBegin, model.EventRegionEnd:
		if s.region.wanted && rule.Glob(s.region.name, sums.NameOf(t, ev.Str)) {
			s.news = true
			s.region.event(ev)
		}
	case model.EventStackSample:
		s.sampled = true
	case model.EventGoTransition:
		if model.GoID(ev.ID) == mainGoroutine {
			s.ran(t, ev)
		}
	case model.EventRangeBegin:
		if s.starter == 0 && model.Scope(ev.From) == model.ScopeGoroutine && t.String(ev.Str) == "stop-the-world (start trace)" {
			s.starter = model.GoID(ev.ID)
		}
	case model.EventLog:
		if t.String(ev.Str) == env.Category {
			s.news = true
			s.record(t.String(ev.Str2), ev.Time)
		}
	}
	if ev.Kind == s.opKind && rule.Glob(s.op, sums.NameOf(t, ev.Str)) {
		s.ended = append(s.ended, ev.Time)
	}
}

func (r *regionScan) event(ev *model.Event) {
	if !r.seen {
		r.seen, r.first = true, ev.Time
		r.before = ev.Kind == model.EventRegionEnd
	}
	if ev.Kind == model.EventRegionBegin {
		r.depth++
		return
	}
	r.depth--
	r.last = ev.Time
}

// maxRecords bounds how many records are kept; two would be enough.
const maxRecords = 1 << 12

func (s *scan) record(text string, at model.Time) {
	rec, err := strict.Decode[env.Record]([]byte(text), env.Schema)
	switch {
	case err != nil && s.bad == nil:
		s.bad = fmt.Errorf("invalid environment record: %w", err)
	case err == nil && len(s.records) < maxRecords:
		s.records = append(s.records, loggedRecord{rec, at})
	}
}

// opsIn returns how many ops ended after from and not after to.
func (s *scan) opsIn(from, to model.Time) int64 {
	return int64(result.CountOf(s.ended, func(at *model.Time) bool { return *at > from && *at <= to }))
}

// length returns how long the trace is.
func (s *scan) length() model.Duration { return s.end.Sub(s.origin) }

// describe puts the cause of an unusable window into words.
func (r *regionScan) describe() string {
	switch {
	case r.before:
		return fmt.Sprintf("region %s, which is the window, began before the trace did", r.name)
	case r.depth > 0:
		return fmt.Sprintf("region %s, which is the window, did not end in the trace", r.name)
	}
	return ""
}
