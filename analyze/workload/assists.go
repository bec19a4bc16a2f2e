package workload

import (
	"slices"

	"github.com/schedscope/schedscope/model"
)

// WithoutAssists returns the work without mark assists. Where in a segment they were is not kept: all of it takes less
// time by the same part. It shares what they do not touch.
func (w *Workload) WithoutAssists() *Workload {
	q := *w
	q.Goroutines = slices.Clone(w.Goroutines)
	for i := range q.Goroutines {
		g := &q.Goroutines[i]
		if !slices.ContainsFunc(g.Segments, func(x Segment) bool { return x.Assist > 0 }) {
			continue
		}
		g.Segments, g.Ops = slices.Clone(g.Segments), slices.Clone(g.Ops)
		first := int32(0)
		for k := range g.Segments {
			x := &g.Segments[k]
			if x.Assist > 0 && x.CPU > 0 {
				less := min(x.Assist, x.CPU)
				left := float64(x.CPU-less) / float64(x.CPU)
				for j := first; j < x.Ops; j++ {
					g.Ops[j].At = model.Duration(float64(g.Ops[j].At) * left)
				}
				x.CPU -= less
				g.Work -= less
			}
			first = x.Ops
		}
	}
	return &q
}
