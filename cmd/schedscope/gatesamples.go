package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/schedscope/schedscope/analyze/gate/baseline"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/internal/interleave"
	"github.com/schedscope/schedscope/internal/savedfile"
	"github.com/schedscope/schedscope/internal/source"
)

// samples returns those of the operands: files of samples first, then traces, folders and
// patterns of traces. A trace that cannot be read is an error, as is an operand whose samples
// are of other quantities than those before: a gate that leaves out what it does not like
// would not be one. How they were recorded is known if it is the same for all.
func (a *app) samples(ctx context.Context, operands []string, spec sample.Spec) (*sample.Set, error) {
	set := &sample.Set{Schema: sample.Schema, Tool: version(), Spec: spec}
	type origin struct{ design, recording string }
	origins := map[origin]bool{}
	add := func(operand string, s *sample.Spec, from origin, list ...sample.Sample) error {
		if len(set.Samples) == 0 {
			set.Spec = *s // gate.Check compares it with the budget
		} else if d := s.Differs(&set.Spec); d != "" {
			return usagef("give the traces, or samples of one budget", "the samples of %s are not like those before it: %s", operand, d)
		}
		set.Samples = append(set.Samples, list...)
		origins[from] = true
		return nil
	}
	var traces []string
	for _, o := range operands {
		if !isSampleFile(o) {
			traces = append(traces, o)
			continue
		}
		s, err := readSamples(o, baseline.ReadSet)
		if err == nil {
			err = add(o, &s.Spec, origin{s.Design, s.Recording}, s.Samples...)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(traces) > 0 {
		refs, err := a.expandStrictly(traces)
		if err != nil {
			return nil, err
		}
		orders := orderFiles{}
		if err := orders.complete(refs); err != nil {
			return nil, err
		}
		for _, ref := range refs {
			s, err := a.readSample(ctx, ref, &readFlags{clock: clocks[0]}, &spec, nil)
			if err != nil {
				return nil, err
			}
			o, t, err := orders.lookup(ref)
			if err != nil {
				return nil, err
			}
			var from origin
			if t != nil {
				s.Round, s.Order = t.Round, t.Order
				from = origin{o.Design, o.ID()}
			}
			if err := add(ref.Name, &spec, from, *s); err != nil {
				return nil, err
			}
		}
	}
	if len(origins) == 1 {
		for x := range origins {
			set.Design, set.Recording = x.design, x.recording
		}
	}
	return set, nil
}

// isSampleFile reports whether an operand is a file of samples, by its content. Of a pipe it
// would take away what it looks at.
func isSampleFile(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 64)
	n, _ := f.Read(head)
	return bytes.HasPrefix(bytes.TrimSpace(head[:n]), []byte("{"))
}

// readSamples reads a file of samples or of history.
func readSamples[T any](path string, parse func(name string, data []byte) (T, error)) (file T, err error) {
	data, err := savedfile.ReadFile(path, baseline.MaxRead)
	if err != nil {
		return file, fmt.Errorf("reading %s: %w", path, cause(err))
	}
	return parse(path, data)
}

func readBaseline(path string) (*baseline.File, error) { return readSamples(path, baseline.Read) }

// expandStrictly is expand for a gate: what a folder holds beside traces and what the recorder
// keeps is an error. It may be a trace that came to nothing, and that of the slowest run.
func (a *app) expandStrictly(operands []string) ([]source.Ref, error) {
	if _, err := a.expand(operands); err != nil {
		return nil, err
	}
	refs, skipped, err := source.Expand(operands)
	for _, s := range skipped {
		if besideTraces(s.Path) {
			continue
		}
		return nil, usagef("record it again, or move it out of the folder: a gate leaves nothing out", "reading %s: no trace: %s", s.Path, s.Why)
	}
	return refs, err
}

// orderFiles are the files that say how folders were recorded, by folder; nil for folders
// without one.
type orderFiles map[string]*interleave.Order

func (of orderFiles) read(dir string) (*interleave.Order, error) {
	if o, ok := of[dir]; ok {
		return o, nil
	}
	o, err := interleave.Read(filepath.Join(dir, interleave.OrderFile))
	if os.IsNotExist(err) {
		o, err = nil, nil
	}
	if err == nil {
		of[dir] = o
	}
	return o, err
}

// complete refuses a folder of traces in which one is missing that was recorded. The order
// lies in the folder itself, or in that of its side.
func (of orderFiles) complete(refs []source.Ref) error {
	have := map[string]bool{} // traces and their folders
	for _, ref := range refs {
		if ref.Kind == source.File {
			have[filepath.Clean(ref.Path)], have[filepath.Dir(filepath.Clean(ref.Path))] = true, true
		}
	}
	for dir := range have {
		for _, root := range []string{dir, filepath.Dir(dir)} {
			o, err := of.read(root)
			if err != nil || o == nil {
				continue // lookup reports errors
			}
			for _, t := range o.Traces {
				path := filepath.Join(root, filepath.FromSlash(t.File))
				if filepath.Dir(path) == dir && !have[path] && !exists(path) {
					return usagef("record it again, or leave its entry and the key sum out of "+filepath.Join(root, interleave.OrderFile), "%s was recorded and is missing", path)
				}
			}
		}
	}
	return nil
}

// lookup returns how a trace was recorded, nil if that is not known.
func (of orderFiles) lookup(ref source.Ref) (*interleave.Order, *interleave.Trace, error) {
	if ref.Kind != source.File {
		return nil, nil, nil
	}
	dir, file := filepath.Split(filepath.Clean(ref.Path))
	for range 2 { // in the folder itself, or in that of its side
		dir = filepath.Clean(dir)
		o, err := of.read(dir)
		if err != nil {
			return nil, nil, err
		}
		if o != nil {
			if t := o.Lookup(filepath.ToSlash(file)); t != nil {
				return o, t, nil
			}
		}
		file = filepath.Join(filepath.Base(dir), file)
		dir = filepath.Dir(dir)
	}
	return nil, nil, nil
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

// sidesIn returns the folders of the sides in a folder of gate record, the base first; of
// anything else the operand itself.
func sidesIn(dir string) []string {
	var sides []string
	for _, side := range []interleave.Side{interleave.Base, interleave.Cand} {
		if one := filepath.Join(dir, string(side)); isDir(one) {
			sides = append(sides, one)
		}
	}
	if len(sides) == 2 || len(sides) == 1 && exists(filepath.Join(dir, interleave.OrderFile)) {
		return sides
	}
	return []string{dir}
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
