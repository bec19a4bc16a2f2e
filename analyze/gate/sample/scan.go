package sample

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/internal/strict"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
	"github.com/schedscope/schedscope/model/session"
)

// scan is what a first look at a trace finds: where the window is, what the recorder
// wrote about the environment, and when ops ended. It needs no model of the scheduler.
type scan struct {
	version     int
	generations bool       // the trace has some: it is of Go 1.22 or newer
	origin      model.Time // the trace's start
	end         model.Time // of its last event that can be relied on

	region  regionScan
	ops     opScan
	records []loggedRecord
	bad     error // the first record that cannot be read
	loss    *ingest.Loss
	// cut: beyond end, which is not the last event's then, events are missing.
	cut bool

	sampled bool       // the trace has CPU samples
	first   model.Time // of an event
}

// loggedRecord is an environment record in a trace.
type loggedRecord struct {
	*env.Record
	at model.Time
}

// regionScan finds the stretch from a region's first begin to its last end.
type regionScan struct {
	name   string // a pattern
	ids    nameCache
	seen   bool
	first  model.Time
	last   model.Time
	depth  int
	before bool // one began before the trace did
	wanted bool
}

// opScan collects when ops ended that are regions or tasks.
type opScan struct {
	kind  model.EventKind // of the event that ends one; EventBad: ops are something else
	ids   nameCache
	ended []model.Time
}

// nameCache says of names by their IDs whether they match, and remembers.
type nameCache struct {
	match func(name string) bool
	known []int8
}

// has reports whether the name with this ID matches.
func (c *nameCache) has(t *model.Tables, id model.StringID) bool {
	if int(id) < len(c.known) && c.known[id] != 0 {
		return c.known[id] > 0
	}
	if n := int(id) + 1; n > len(c.known) {
		c.known = append(c.known, make([]int8, n-len(c.known))...)
	}
	c.known[id] = -1
	if c.match(nameOf(t, id)) {
		c.known[id] = 1
	}
	return c.known[id] > 0
}

// globbed returns a cache for names that match a pattern.
func globbed(pattern string) nameCache {
	return nameCache{match: func(name string) bool { return rule.Glob(pattern, name) }}
}

// scanTrace reads all of a trace once.
func scanTrace(ctx context.Context, t *session.Trace, spec *Spec, workers int) (*scan, error) {
	in, err := t.Open(ingest.Options{Workers: workers})
	if err != nil {
		return nil, err
	}
	s := newScan(spec)
	s.version = in.Header().Version
	if gens := in.Index().Generations; len(gens) > 0 {
		s.generations, s.origin = true, gens[0].First
	}
	begun := false
	err = ingest.Each(in, func(ev *model.Event) error {
		if !begun {
			begun = true
			s.begin(ev.Time)
		}
		s.event(in.Tables(), ev)
		return ctx.Err()
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	s.lost(in.Loss())
	return s, err
}

// lost takes what could not be read. Where the break left threads behind, the trace ends
// for us as far as all are complete: beyond, what they did would be missing, and what they
// were in would never end. If that is nowhere, it is used as it is.
func (s *scan) lost(l *ingest.Loss) {
	s.loss = l
	if l != nil && l.Sound < l.LastTime && l.Sound > s.first {
		s.cut, s.end = true, l.Sound
	}
}

func newScan(spec *Spec) *scan {
	s := &scan{}
	name, ok := strings.CutPrefix(spec.Window, "region:")
	if !ok && spec.Window == "" {
		name, ok = WindowRegion, true
	}
	s.region.name, s.region.wanted = name, ok
	s.region.ids = globbed(name)
	if kind, name, _ := strings.Cut(spec.Op, ":"); kind == "region" || kind == "task" {
		s.ops.kind, s.ops.ids = model.EventRegionEnd, globbed(name)
		if kind == "task" {
			s.ops.kind = model.EventTaskEnd
		}
	}
	return s
}

// begin is told the time of the first event.
func (s *scan) begin(at model.Time) {
	s.first, s.end = at, at
	if !s.generations {
		s.origin = at
	}
}

func (s *scan) event(t *model.Tables, ev *model.Event) {
	s.end = max(s.end, ev.Time)
	switch ev.Kind {
	case model.EventRegionBegin, model.EventRegionEnd:
		if s.region.wanted && s.region.ids.has(t, ev.Str) {
			s.region.event(ev)
		}
	case model.EventStackSample:
		s.sampled = true
	case model.EventLog:
		if t.String(ev.Str) == env.Category {
			s.record(t.String(ev.Str2), ev.Time)
		}
	}
	if ev.Kind == s.ops.kind && s.ops.ids.has(t, ev.Str) {
		s.ops.ended = append(s.ops.ended, ev.Time)
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
	n := int64(0)
	for _, at := range s.ops.ended {
		if at > from && at <= to {
			n++
		}
	}
	return n
}

// length returns how long the trace is.
func (s *scan) length() model.Duration { return s.end.Sub(s.origin) }

// nameOf returns a name as reports show it.
func nameOf(t *model.Tables, id model.StringID) string {
	return cmp.Or(t.String(id), analyze.NoName)
}

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
