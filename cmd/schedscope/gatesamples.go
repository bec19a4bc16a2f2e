package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/schedscope/schedscope/analyze/gate/baseline"
	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/internal/interleave"
	"github.com/schedscope/schedscope/internal/savedfile"
	"github.com/schedscope/schedscope/internal/source"
)

// samples returns those of the operands: traces, folders and patterns of traces, and files
// of samples. A trace that cannot be read is an error: a gate that leaves out what it does
// not like would not be one.
func (a *app) samples(ctx context.Context, operands []string, spec sample.Spec) (*sample.Set, error) {
	set := &sample.Set{Schema: sample.Schema, Tool: version(), Spec: spec}
	origins := map[origin]bool{}
	var traces []string
	for _, o := range operands {
		if !isSampleFile(o) {
			traces = append(traces, o)
			continue
		}
		s, err := readSet(o)
		if err != nil {
			return nil, err
		}
		// What the file was summarized for is what its values are; gate.Check compares
		// that with the budget.
		if len(set.Samples) == 0 {
			set.Spec = s.Spec
		} else if err := sameSpec(o, &s.Spec, &set.Spec); err != nil {
			return nil, err
		}
		set.Samples = append(set.Samples, s.Samples...)
		origins[origin{s.Design, s.Recording}] = true
	}
	if len(traces) > 0 {
		if len(set.Samples) > 0 {
			if err := sameSpec(traces[0], &spec, &set.Spec); err != nil {
				return nil, err
			}
		}
		if err := a.sampleTraces(ctx, traces, spec, set, origins); err != nil {
			return nil, err
		}
	}
	if len(origins) == 1 {
		for x := range origins {
			set.Design, set.Recording = x.design, x.recording
		}
	}
	return set, nil
}

// origin is how traces came about.
type origin struct{ design, recording string }

// sameSpec refuses an operand whose samples are of other quantities than those before.
func sameSpec(operand string, s, before *sample.Spec) error {
	if d := s.Differs(before); d != "" {
		return usagef("give the traces, or samples of one budget", "the samples of %s are not like those before it: %s", operand, d)
	}
	return nil
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

func readSet(path string) (*sample.Set, error) { return readSamples(path, baseline.ReadSet) }

// readSamples reads a file of samples or of history.
func readSamples[T any](path string, parse func(name string, data []byte) (T, error)) (file T, err error) {
	data, err := savedfile.ReadFile(path, baseline.MaxRead)
	if err != nil {
		return file, fmt.Errorf("reading %s: %w", path, cause(err))
	}
	return parse(path, data)
}

// sampleTraces adds the samples of traces to the set, in the order of the traces, and their
// origins.
func (a *app) sampleTraces(ctx context.Context, operands []string, spec sample.Spec, set *sample.Set, origins map[origin]bool) error {
	refs, err := a.expandStrictly(operands)
	if err != nil {
		return err
	}
	orders := orderFiles{}
	if err := orders.complete(refs); err != nil {
		return err
	}
	for _, ref := range refs {
		s, err := a.readSample(ctx, ref, &readFlags{clock: clocks[0]}, &spec, nil)
		if err != nil {
			return err
		}
		from, err := orders.place(ref, s)
		if err != nil {
			return err
		}
		origins[from] = true
		set.Samples = append(set.Samples, *s)
	}
	return nil
}

// expandStrictly is expand for a gate: what a folder holds beside traces and what the recorder
// keeps is an error. It may be a trace that came to nothing, and that of the slowest run.
func (a *app) expandStrictly(operands []string) ([]source.Ref, error) {
	if _, err := a.expand(operands); err != nil {
		return nil, err
	}
	refs, skipped, err := source.Expand(operands)
	for _, s := range skipped {
		if base := filepath.Base(s.Path); isDir(s.Path) || base == interleave.OrderFile || strings.HasSuffix(base, env.Beside("")) {
			continue
		}
		return nil, usagef("record it again, or move it out of the folder: a gate leaves nothing out", "reading %s: no trace: %s", s.Path, s.Why)
	}
	return refs, err
}

// complete refuses a folder of traces in which one is missing that was recorded.
func (of orderFiles) complete(refs []source.Ref) error {
	have := map[string]bool{}
	for _, ref := range refs {
		have[filepath.Clean(ref.Path)] = ref.Kind == source.File
	}
	for dir := range foldersOf(refs) {
		for _, root := range []string{dir, filepath.Dir(dir)} {
			o, err := of.read(root)
			if err != nil || o == nil {
				continue // place tells of errors
			}
			for _, t := range o.Traces {
				path := filepath.Join(root, filepath.FromSlash(t.File))
				if filepath.Dir(path) == dir && !have[path] && !exists(path) {
					return usagef("record it again, or leave its entry out of "+filepath.Join(root, interleave.OrderFile), "%s was recorded and is missing", path)
				}
			}
		}
	}
	return nil
}

// foldersOf returns the folders that traces are in.
func foldersOf(refs []source.Ref) map[string]bool {
	dirs := map[string]bool{}
	for _, ref := range refs {
		if ref.Kind == source.File {
			dirs[filepath.Dir(filepath.Clean(ref.Path))] = true
		}
	}
	return dirs
}

// orderFiles are the files that say how folders were recorded; nil for folders without one.
type orderFiles map[string]*interleave.Order

// place sets the round and place of a sample, and returns how it was recorded, nothing if
// that is not known.
func (of orderFiles) place(ref source.Ref, s *sample.Sample) (origin, error) {
	if ref.Kind != source.File {
		return origin{}, nil
	}
	dir, file := filepath.Split(filepath.Clean(ref.Path))
	for range 2 { // in the folder itself, or in that of its side
		dir = filepath.Clean(dir)
		o, err := of.read(dir)
		if err != nil {
			return origin{}, err
		}
		if o != nil {
			if t := o.Lookup(filepath.ToSlash(file)); t != nil {
				s.Round, s.Order = t.Round, t.Order
				return origin{o.Design, o.ID()}, nil
			}
		}
		file = filepath.Join(filepath.Base(dir), file)
		dir = filepath.Dir(dir)
	}
	return origin{}, nil
}

func (of orderFiles) read(dir string) (*interleave.Order, error) {
	if o, ok := of[dir]; ok {
		return o, nil
	}
	o, err := interleave.Read(filepath.Join(dir, interleave.OrderFile))
	if os.IsNotExist(err) {
		o, err = nil, nil
	}
	of[dir] = o
	return o, err
}

// sidesOf returns the operands of both sides: those of --base and the others. A folder of
// gate record has both.
func sidesOf(base, operands []string) (b, c []string) {
	if len(base) > 0 || len(operands) != 1 {
		return base, operands
	}
	if both := recorded(operands[0]); both != nil {
		return both[:1], both[1:]
	}
	return nil, []string{alone(operands[0])}
}

// alone returns the folder of the side in a folder of gate record that has only one, else
// what it is given.
func alone(dir string) string {
	if !exists(filepath.Join(dir, interleave.OrderFile)) {
		return dir
	}
	for _, side := range []interleave.Side{interleave.Cand, interleave.Base} {
		if one := filepath.Join(dir, string(side)); isDir(one) {
			return one
		}
	}
	return dir
}

// recorded returns the folders of the sides in a folder of gate record, nil if there are not
// both.
func recorded(dir string) []string {
	both := []string{filepath.Join(dir, string(interleave.Base)), filepath.Join(dir, string(interleave.Cand))}
	if !isDir(both[0]) || !isDir(both[1]) {
		return nil
	}
	return both
}

// checkShellPattern refuses what a shell makes of --base old/*.trace new/*.trace: the first
// of the base's traces as the base, and the others as the candidate's.
func checkShellPattern(base, operands []string) error {
	for _, b := range base {
		for _, o := range operands {
			if filepath.Dir(b) == filepath.Dir(o) && !isDir(b) && !isDir(o) && !isSampleFile(b) {
				return usagef("name the folder, or quote the pattern: --base 'old/*.trace'",
					"%s and %s are in one folder, and on different sides", b, o)
			}
		}
	}
	return nil
}
