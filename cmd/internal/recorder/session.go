package recorder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/atomicfile"
	"github.com/schedscope/schedscope/internal/interleave"
	"github.com/schedscope/schedscope/internal/textui"
)

// Options configures Record.
type Options struct {
	Dir     string // is filled; it must be new or empty without Add
	Rounds  int
	Sides   []Side
	Policy  interleave.Policy
	Seed    uint32
	Add     bool // rounds to those that are there
	Canary  bool // time a fixed piece of work before and after each recording
	Timeout time.Duration
	Limits  env.Limits // of what counts as disturbed
	Samples bool       // with CPU samples
	Noisy   bool       // keep disturbed recordings instead of making them again
	Least   int        // how many undisturbed traces of a side gate check needs
	Log     Log
}

// Record records all rounds and returns how many recordings there are of this call. What it
// has recorded stays whatever ends it.
func Record(ctx context.Context, o Options) (int, error) {
	s, err := newSession(o)
	if err != nil {
		return 0, err
	}
	for round := s.first; err == nil && round < s.first+o.Rounds; round++ {
		for _, side := range interleave.Round(o.Policy, o.Seed, round, s.names) {
			if err = s.record(ctx, side, round); err != nil {
				break
			}
		}
	}
	for _, dir := range slices.Backward(s.made) {
		os.Remove(dir) // of one that holds something it fails
	}
	if err == nil {
		s.conclude()
	}
	return s.recorded, err
}

// session is one call of Record: it fills a folder.
type session struct {
	o      Options
	order  *interleave.Order
	number int // of the session, counted from 1
	first  int // the first round
	names  []interleave.Side
	spare  map[interleave.Side]int     // how many disturbed recordings may still be made again
	delay  map[interleave.Side]float64 // the least that threads waited for a CPU

	made     []string // folders that were made for it
	recorded int
	again    int // disturbed ones that were made again
	kept     int // disturbed ones that were kept
}

// hopeless is how many disturbed recordings and not a quiet one show that the machine is not
// fit for more.
const hopeless = 3

// newSession prepares the folder, without writing anything yet but folders. Only Add takes one
// that is in use, and keeps traces of sides apart from traces of none.
func newSession(o Options) (*session, error) {
	s := &session{o: o, order: &interleave.Order{}, spare: map[interleave.Side]int{}, delay: map[interleave.Side]float64{}}
	folders := []string{o.Dir}
	var d interleave.Session
	d.Policy, d.Seed = o.Policy, o.Seed
	for _, x := range o.Sides {
		s.names = append(s.names, x.side)
		if !o.Noisy {
			s.spare[x.side] = o.Rounds
		}
		switch x.side {
		case interleave.Base:
			d.Base = x.command
		case interleave.Cand:
			d.Cand = x.command
		default:
			d.Single = x.command
			continue
		}
		folders = append(folders, filepath.Join(o.Dir, string(x.side)))
	}
	atomicfile.Sweep(o.Dir)
	for _, dir := range folders[1:] {
		atomicfile.Sweep(dir)
		os.Remove(dir) // if a program that was killed left nothing else
	}
	entries, err := os.ReadDir(o.Dir)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("reading %s: %w", o.Dir, cause(err))
	case len(entries) > 0 && !o.Add:
		return nil, failed("name a new one, or add rounds with --add", "the folder %s is not empty", o.Dir)
	case len(entries) > 0:
		s.order, err = interleave.Read(filepath.Join(o.Dir, interleave.OrderFile))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, failed("name another folder", "%s has no %s: it was not recorded by gate record", o.Dir, interleave.OrderFile)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, t := range s.order.Traces {
		if (t.Side == interleave.Single) != (s.names[0] == interleave.Single) {
			return nil, failed("name another folder", "%s has recordings of another kind: either of two sides or of one command", o.Dir)
		}
	}
	s.first = s.order.Rounds() + 1
	if last := s.first + o.Rounds - 1; last > interleave.MaxRounds {
		return nil, failed("record into another folder", "%s would have %d rounds: at most %d fit", o.Dir, last, interleave.MaxRounds)
	}
	s.number = s.order.Begin(d)
	for _, dir := range folders {
		if isDir(dir) {
			continue
		}
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return nil, fmt.Errorf("creating %s: %w", dir, cause(err))
		}
		s.made = append(s.made, dir)
	}
	return s, nil
}

// record makes one recording, if need be again, and notes it in the order.
func (s *session) record(ctx context.Context, side interleave.Side, round int) error {
	program := s.o.Sides[slices.Index(s.names, side)]
	t := interleave.Trace{File: interleave.File(side, round), Side: side, Round: round, Session: s.number}
	failures := 0
	for {
		t.Attempts++
		r, err := recordOnce(ctx, &s.o, program)
		switch {
		case ctx.Err() != nil:
			r.drop()
			return context.Cause(ctx)
		case err != nil && failures > 0:
			return err
		case err != nil:
			failures++
			s.o.Log.Warn("%v", err)
			s.o.Log.Note("recording it again")
		default:
			noise := s.noise(side, &r.noise)
			if noise == "" || s.spare[side] == 0 {
				t.Disturbed = noise != ""
				return s.keep(r, t, noise)
			}
			r.drop()
			s.spare[side]--
			s.again++
			if s.again >= hopeless && !slices.ContainsFunc(s.order.Traces, func(t interleave.Trace) bool { return !t.Disturbed }) {
				return Disturbed{failed("record on a quieter machine or with a smaller GOMAXPROCS; --noisy keeps such recordings",
					"%s were made and each was disturbed, the last so: %s", textui.Plural(s.again, "recording"), noise)}
			}
			s.o.Log.Detail("%s: %s; recording it again", t.File, noise)
		}
	}
}

// noise says what disturbed a recording, "" if nothing is known to have, as gate check
// will; only it will know of better recordings that are still to come.
func (s *session) noise(side interleave.Side, n *env.Noise) string {
	if n.RunDelay != nil {
		least, known := s.delay[side]
		if !known || *n.RunDelay < least {
			s.delay[side] = *n.RunDelay
		}
	}
	limits := s.o.Limits
	if least, known := s.delay[side]; known {
		limits = limits.WithLeastDelay(least)
	}
	return limits.Disturbed(n)
}

// keep gives a recording its name and writes the order again.
func (s *session) keep(r *recording, t interleave.Trace, noise string) error {
	path := filepath.Join(s.o.Dir, filepath.FromSlash(t.File))
	if err := r.keep(path); err != nil {
		r.drop()
		return err
	}
	r.clear()
	s.order.Add(t)
	err := atomicfile.WriteNextTo(filepath.Join(s.o.Dir, interleave.OrderFile), func(w io.Writer) error { return s.order.Write(w) })
	if err != nil {
		return err
	}
	s.recorded++
	note := ""
	if t.Disturbed {
		s.kept++
		note = ", disturbed: " + noise
	}
	s.o.Log.Note("%d of %d: %s, %s%s", s.recorded, s.o.Rounds*len(s.names), path, textui.Bytes(r.size), note)
	return nil
}

// conclude says what stands out.
func (s *session) conclude() {
	if s.again > 0 {
		s.o.Log.Note("%s made again, since the machine was disturbed", textui.Plural(s.again, "recording"))
	}
	if s.kept > 0 && !s.o.Noisy {
		s.o.Log.Warn("%d of %d recordings were disturbed: gate check will leave them out", s.kept, s.recorded)
		for _, side := range s.names {
			quiet := result.CountOf(s.order.Traces, func(t *interleave.Trace) bool { return t.Side == side && !t.Disturbed })
			if quiet < s.o.Least && len(s.names) > 1 {
				s.o.Log.Warn("%s has %s left, and gate check needs %d (min_traces): record %d more with --add", side, textui.Plural(quiet, "trace"), s.o.Least, s.o.Least-quiet)
			}
		}
		s.o.Log.Hint("record on a quieter machine, or with a smaller GOMAXPROCS; what disturbed each is said above")
	}
}
