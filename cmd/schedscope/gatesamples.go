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
	"github.com/schedscope/schedscope/internal/source"
)

// samples returns those of the operands: traces, folders and patterns of traces, and files
// of samples. A trace that cannot be read is an error: a gate that leaves out what it does
// not like would not be one.
func (a *app) samples(ctx context.Context, operands []string, spec sample.Spec) (*sample.Set, error) {
	set := &sample.Set{Schema: sample.Schema, Tool: version(), Spec: spec}
	designs := map[string]bool{}
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
		set.Samples = append(set.Samples, s.Samples...)
		designs[s.Design] = true
	}
	if len(traces) > 0 {
		if err := a.sampleTraces(ctx, traces, set, designs); err != nil {
			return nil, err
		}
	}
	if len(designs) == 1 {
		for d := range designs {
			set.Design = d
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

func readSet(path string) (*sample.Set, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, cause(err))
	}
	return baseline.ReadSet(path, data)
}

// sampleTraces adds the samples of traces to the set, in the order of the traces, and their
// designs.
func (a *app) sampleTraces(ctx context.Context, operands []string, set *sample.Set, designs map[string]bool) error {
	refs, err := a.expand(operands)
	if err != nil {
		return err
	}
	orders := orderFiles{}
	for _, ref := range refs {
		s, err := a.readSample(ctx, ref, &readFlags{clock: clocks[0]}, &set.Spec, nil)
		if err != nil {
			return err
		}
		design, err := orders.place(ref, s)
		if err != nil {
			return err
		}
		designs[design] = true
		set.Samples = append(set.Samples, *s)
	}
	return nil
}

// orderFiles are the files that say how folders were recorded; nil for folders without one.
type orderFiles map[string]*interleave.Order

// place sets the round and place of a sample, and returns the design of the recording: ""
// if that is not known.
func (of orderFiles) place(ref source.Ref, s *sample.Sample) (design string, err error) {
	if ref.Kind != source.File {
		return "", nil
	}
	dir, file := filepath.Split(filepath.Clean(ref.Path))
	for range 2 { // in the folder itself, or in that of its side
		dir = filepath.Clean(dir)
		o, err := of.read(dir)
		if err != nil {
			return "", err
		}
		if o != nil {
			if t := o.Lookup(filepath.ToSlash(file)); t != nil {
				s.Round, s.Order = t.Round, t.Order
				return o.Design, nil
			}
		}
		file = filepath.Join(filepath.Base(dir), file)
		dir = filepath.Dir(dir)
	}
	return "", nil
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
	return nil, operands
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
