package ingest

import (
	"errors"
	"fmt"
	"io"

	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest/wire"
)

// CutResult describes the output of [Cut].
type CutResult struct {
	// Generations are those that were written, as they lie in the original.
	Generations []Generation
	Bytes       int64 // written, with the header
	// From and To are what the generations cover, counted from the original's
	// start: at least what was asked for, as far as the trace goes. The last
	// generation of a trace goes on a little beyond To, up to one batch.
	From, To model.Duration
	// Damage is where what was asked for breaks off, nil if it does not.
	Damage *Damage
}

// Cut writes the generations of a trace that overlap the window from..to,
// counted from its start, to w. To 0 is the trace's end. The result is a valid
// trace by itself, although it starts in the middle. Incomplete generations are
// left out. It is an error if no generation is left, or if the trace is of a
// format without generations (before Go 1.22).
func Cut(w io.Writer, r io.ReaderAt, size int64, from, to model.Duration) (*CutResult, error) {
	if from < 0 || to < 0 || to > 0 && to < from {
		return nil, fmt.Errorf("cutting: invalid window from %d ns to %d ns", from, to)
	}
	x, err := NewIndex(r, size)
	if err != nil {
		return nil, err
	}
	if x.Version < wire.OldestVersion {
		return nil, fmt.Errorf("cutting: the format of Go 1.%d has no generations (Go 1.22 was the first)", x.Version)
	}
	gens := x.overlap(from, to)
	if len(gens) == 0 {
		return nil, errors.New("cutting: no complete generation in the given window")
	}
	first, last := gens[0], gens[len(gens)-1]
	parts := []*io.SectionReader{
		io.NewSectionReader(r, 0, headerLen),
		io.NewSectionReader(r, first.Offset, last.Offset+last.Length-first.Offset),
	}
	res := &CutResult{Generations: gens, From: first.First.Sub(x.Start()), To: x.end(&last).Sub(x.Start())}
	if to == 0 || res.To < to {
		res.Damage = x.Damage
	}
	for _, part := range parts {
		n, err := io.Copy(w, part)
		res.Bytes += n
		if err == nil && n < part.Size() {
			err = ErrChanged
		}
		if err != nil {
			return nil, fmt.Errorf("cutting: %w", err)
		}
	}
	return res, nil
}

// overlap returns the complete generations in a window, which follow each other.
func (x *Index) overlap(from, to model.Duration) []Generation {
	var gens []Generation
	for i := range x.Generations {
		g := &x.Generations[i]
		if !g.Complete || x.end(g).Sub(x.Start()) <= from && i+1 < len(x.Generations) {
			continue
		}
		if to > 0 && g.First.Sub(x.Start()) > to {
			break
		}
		gens = append(gens, *g)
	}
	return gens
}

// end returns when the generation that follows g begins, or the last that is
// known of g.
func (x *Index) end(g *Generation) model.Time {
	for i := range x.Generations {
		if o := &x.Generations[i]; o.Offset > g.Offset && o.Frequency != 0 {
			return o.First
		}
	}
	return g.Last
}
