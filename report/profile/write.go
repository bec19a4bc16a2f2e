package profile

import (
	"cmp"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// Write writes the profile as go tool pprof reads it, gzipped. Title is what pprof
// shows as its file; the comments go with the profile. Equal contents give equal
// bytes.
func (p *Profile) Write(w io.Writer, title string, comments ...string) error {
	return p.proto(title, comments).Write(w)
}

// proto builds the message.
func (p *Profile) proto(title string, comments []string) *profile.Profile {
	b := builder{p: p, functions: map[model.Frame]*profile.Function{}, locations: map[model.Frame]*profile.Location{}}
	kind := &kinds[p.o.Kind]
	b.out = &profile.Profile{DefaultSampleType: kind.main, TimeNanos: p.time, DurationNanos: int64(p.span)}
	b.out.SampleType = result.Each(kind.values, func(v *sampleType) *profile.ValueType { return &profile.ValueType{Type: v.name, Unit: v.unit} })
	// With a mapping that has its symbols pprof does not look for a binary.
	b.mapping = &profile.Mapping{ID: 1, File: textui.Clean(title), HasFunctions: true, HasFilenames: true, HasLineNumbers: true}
	b.out.Mapping = []*profile.Mapping{b.mapping}
	whose := textui.Either(p.o.Waker, kind.waker, kind.whose)
	b.out.Comments = result.Each(append([]string{"schedscope: " + kind.name + ", by the stack " + whose}, comments...), func(c *string) string { return textui.Clean(*c) })
	for _, c := range p.sorted() {
		b.sample(c)
	}
	return b.out
}

// sorted returns the samples, greatest first.
func (p *Profile) sorted() []*cell {
	list := result.Each(p.cells, func(c *cell) *cell { return c })
	kind := &kinds[p.o.Kind]
	main := slices.IndexFunc(kind.values, func(v sampleType) bool { return v.name == kind.main })
	slices.SortFunc(list, func(a, b *cell) int {
		return cmp.Or(cmp.Compare(b.values[main], a.values[main]), p.compareStacks(a.stack, b.stack), p.compareLabels(a, b))
	})
	return list
}

func (p *Profile) compareStacks(a, b model.StackID) int {
	if a == b {
		return 0
	}
	return slices.CompareFunc(p.tables.Stack(a), p.tables.Stack(b), func(x, y model.Frame) int {
		return cmp.Or(strings.Compare(x.Func, y.Func), strings.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line))
	})
}

func (p *Profile) compareLabels(a, b *cell) int {
	return slices.CompareFunc(a.labels[:], b.labels[:], func(x, y model.StringID) int {
		if x == y {
			return 0
		}
		return strings.Compare(p.tables.String(x), p.tables.String(y))
	})
}

// builder makes the message's tables.
type builder struct {
	p         *Profile
	out       *profile.Profile
	mapping   *profile.Mapping
	functions map[model.Frame]*profile.Function // without lines
	locations map[model.Frame]*profile.Location
}

func (b *builder) sample(c *cell) {
	kind := &kinds[b.p.o.Kind]
	s := &profile.Sample{Value: slices.Clone(c.values[:len(kind.values)]), Label: map[string][]string{}}
	s.Location = result.Each(b.p.tables.Stack(c.stack), func(f *model.Frame) *profile.Location { return b.location(*f) })
	for i, name := range kind.labels {
		if id := c.labels[i]; id != 0 {
			s.Label[name] = []string{b.p.tables.String(id)}
		}
	}
	b.out.Sample = append(b.out.Sample, s)
}

func (b *builder) location(f model.Frame) *profile.Location {
	l := b.locations[f]
	if l == nil {
		l = &profile.Location{ID: uint64(len(b.out.Location) + 1), Mapping: b.mapping,
			Line: []profile.Line{{Function: b.function(f), Line: int64(min(f.Line, math.MaxInt32))}}}
		b.locations[f] = l
		b.out.Location = append(b.out.Location, l)
	}
	return l
}

func (b *builder) function(f model.Frame) *profile.Function {
	f.Line = 0
	x := b.functions[f]
	if x == nil {
		x = &profile.Function{ID: uint64(len(b.out.Function) + 1), Name: f.Func, SystemName: f.Func, Filename: f.File}
		b.functions[f] = x
		b.out.Function = append(b.out.Function, x)
	}
	return x
}
