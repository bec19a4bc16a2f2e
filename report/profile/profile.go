package profile

import (
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// Options configure a [Profile].
type Options struct {
	Kind Kind
	// Waker asks for the stack of whoever made the goroutine runnable instead of the
	// goroutine's own, if the kind has one.
	Waker bool
}

// maxSamples bounds how many samples are distinguished. Real programs have some
// thousands; a trace can be made with any number of stacks.
const maxSamples = 1 << 18

// otherStacks is the only frame of the sample that takes what comes beyond.
const otherStacks = "(other stacks)"

// Profile holds sums by stack and labels. It has names of its own: nothing of the
// traces that it was filled from is kept.
type Profile struct {
	o      Options
	tables *model.Tables // what is in keys
	index  map[key]int32
	cells  []cell // in the order of their first appearance
	limit  int
	span   model.Duration
	time   int64 // Unix nanoseconds; 0: not known
}

// key identifies a sample. A label that a sample does not have is 0.
type key struct {
	stack  model.StackID
	labels [maxLabels]model.StringID
}

// values are sums, in the order of the kind's.
type values [maxValues]int64

type cell struct {
	key
	values
}

// New returns an empty Profile.
func New(o Options) *Profile {
	return &Profile{o: o, tables: model.NewTables(), index: map[key]int32{}, limit: maxSamples}
}

// SetTime sets when the profiled time began, in Unix nanoseconds.
func (p *Profile) SetTime(unix int64) { p.time = unix }

// Samples returns the number of samples.
func (p *Profile) Samples() int { return len(p.cells) }

func (p *Profile) add(k key, v values) { p.cells[p.place(k)].add(v) }

// place returns where in cells the sample with this key is, or the one that has what is beyond
// the limit.
func (p *Profile) place(k key) int32 {
	i, ok := p.index[k]
	if !ok && len(p.cells) >= p.limit {
		k = key{stack: p.tables.AddStack([]model.Frame{{Func: otherStacks}})}
		i, ok = p.index[k]
	}
	if !ok {
		i = int32(len(p.cells))
		p.index[k] = i
		p.cells = append(p.cells, cell{key: k})
	}
	return i
}

func (sum *values) add(v values) {
	for j := range v {
		sum[j] += v[j]
	}
}

// Merge adds o, which must have the same Options. The time is that of the earliest.
func (p *Profile) Merge(o *Profile) {
	p.span += o.span
	if p.time == 0 || o.time != 0 && o.time < p.time {
		p.time = o.time
	}
	for c := range result.Refs(o.cells) {
		k := key{stack: p.tables.AddStack(o.tables.Stack(c.stack))}
		for j, id := range c.labels {
			k.labels[j] = p.tables.AddString(o.tables.String(id))
		}
		p.add(k, c.values)
	}
}
