package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/interleave"
	"github.com/schedscope/schedscope/internal/savedfile"
	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/internal/textui"
)

// samplesOf is [samples], unless tests have samples of their own.
var samplesOf = samples

// samples returns those of the traces, folders and patterns. A trace that cannot be read is an
// error: a gate that leaves out what it does not like would not be one. How they were recorded is
// known if it is the same for all.
func samples(ctx context.Context, a *app, operands []string, spec sample.Spec) (*sample.Set, error) {
	refs, recorded, err := expandWhole(operands)
	if err != nil {
		return nil, err
	}
	set := &sample.Set{}
	for i, ref := range refs {
		s, err := a.readSample(ctx, ref, &readFlags{clock: clocks[0]}, &spec)
		if err != nil {
			return nil, err
		}
		design, recording := "", ""
		if r, ok := recorded[abs(ref.Path)]; ok && ref.Kind == source.File {
			s.Order = r.trace.Order
			design, recording = r.order.Design, r.order.ID()
		}
		switch {
		case i == 0:
			set.Design, set.Recording = design, recording
		case design != set.Design || recording != set.Recording:
			set.Design, set.Recording = "", ""
		}
		set.Samples = append(set.Samples, *s)
	}
	return set, nil
}

// recording is a trace that an order lists.
type recording struct {
	order *interleave.Order
	trace *interleave.Trace
}

var errOther = errors.New("its folder was replaced by a file, or it is not a trace")

// expandWhole finds the traces of operands, and what is known of how they were recorded, by absolute path. A gate leaves nothing out, as that may be what fails. What
// its verdict rests on is read, as a regular file or a link to one, or is refused:
//
//  1. A folder holds traces, their environment records and the order of gate record, and nothing
//     else: no folders, either.
//  2. What an order lists below an operand is read: also if the operand is a file by now.
//  3. What an order lists in the folder of a trace that is named is there.
//
// The order of a trace lies in its folder or in the one above, and can be read.
func expandWhole(operands []string) ([]source.Ref, map[string]recording, error) {
	refs, skipped, err := source.Expand(operands)
	if err != nil {
		return nil, nil, err
	}
	read, kept, dirs := map[string]bool{}, map[string]bool{}, map[string]bool{} // absolute paths
	var roots []string
	look := func(dir string) {
		for _, root := range []string{dir, filepath.Join(dir, "..")} {
			if !slices.Contains(roots, root) {
				roots = append(roots, root)
			}
		}
	}
	for _, ref := range refs {
		if ref.Kind != source.File {
			continue
		}
		if err := savedfile.Regular(ref.Path); err != nil {
			return nil, nil, usagef("give a file, or pipe the trace into schedscope gate check -", "reading %s: %w", ref.Path, cause(err))
		}
		full, dir := abs(ref.Path), filepath.Dir(ref.Path)
		read[full], kept[env.NextTo(full)], dirs[filepath.Dir(full)] = true, true, true
		kept[filepath.Join(filepath.Dir(full), interleave.OrderFile)] = true
		look(dir)
	}
	for _, s := range skipped { // 1
		if s.Why == source.NamedTwice || !kept[abs(s.Path)] {
			return nil, nil, usagef("record it again, or move it out of the folder: a gate leaves nothing out", "reading %s: not a trace: %s", s.Path, s.Why)
		}
	}
	var below []string
	for _, o := range operands {
		if isDir(o) {
			look(o)
		} else if exists(o) {
			look(filepath.Dir(o))
		}
		below = append(below, abs(o)+string(filepath.Separator))
	}
	recorded := map[string]recording{}
	for _, root := range roots {
		order := filepath.Join(root, interleave.OrderFile)
		o, err := interleave.Read(order)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		dir := abs(root)
		for _, t := range o.Traces {
			path := filepath.Join(dir, filepath.FromSlash(t.File))
			wanted := slices.ContainsFunc(below, func(o string) bool { return strings.HasPrefix(path, o) })
			err := savedfile.Regular(path)
			if wanted && !read[path] || dirs[filepath.Dir(path)] && err != nil { // 2, 3
				return nil, nil, usagef("record it again, or leave its entry and the key sum out of "+order, "%s was recorded and was not read: %w", filepath.Join(root, filepath.FromSlash(t.File)), cmp.Or(cause(err), errOther))
			}
			if _, ok := recorded[path]; !ok {
				recorded[path] = recording{o, &t}
			}
		}
	}
	return refs, recorded, nil
}

// filesOf returns the files that a check of operands reads, and others. What cannot be expanded
// is an error later on, when it is read.
func filesOf(operands []string, others ...string) []source.Ref {
	refs, skipped, _ := source.Expand(operands)
	for _, s := range skipped {
		others = append(others, s.Path)
	}
	for _, ref := range refs {
		dir := filepath.Dir(ref.Path)
		others = append(others, env.NextTo(ref.Path), filepath.Join(dir, interleave.OrderFile), filepath.Join(dir, "..", interleave.OrderFile))
	}
	return append(refs, result.Each(others, func(path *string) source.Ref { return source.Ref{Kind: source.File, Name: *path, Path: *path} })...)
}

// sidesOf returns the operands of both sides: those of --base and the others. A folder of
// gate record has both, or only one.
func sidesOf(base, operands []string) (b, c []string) {
	if len(base) > 0 || len(operands) != 1 {
		return base, operands
	}
	both := sidesIn(operands[0])
	return both[:len(both)-1], both[len(both)-1:]
}

// sidesIn returns the folders of the sides in a folder of gate record, the base first, also of
// one that was recorded and is missing; of anything else the operand itself.
func sidesIn(dir string) []string {
	o, err := interleave.Read(filepath.Join(dir, interleave.OrderFile))
	var sides []string
	for _, side := range []interleave.Side{interleave.Base, interleave.Cand} {
		one := filepath.Join(dir, string(side))
		recorded := err == nil && slices.ContainsFunc(o.Traces, func(t interleave.Trace) bool { return t.Side == side })
		if recorded || isDir(one) {
			sides = append(sides, one)
		}
	}
	return textui.Either(len(sides) == 2 || len(sides) == 1 && !os.IsNotExist(err), sides, []string{dir})
}

// oneSide refuses folders with both sides of gate record where those of one are wanted.
func oneSide(operands ...string) error {
	for _, o := range operands {
		if sides := sidesIn(o); len(sides) == 2 {
			return usagef(fmt.Sprintf("give %s or %s", sides[0], sides[1]), "%s has the recordings of both sides, and one is wanted", o)
		}
	}
	return nil
}
