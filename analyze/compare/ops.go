package compare

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/gate/sample"
)

// opsOf returns the regions and tasks of a trace, the commonest first.
func opsOf(r *analyze.Report) []OpName {
	var ops []OpName
	add := func(kind, name string, n int64) {
		if n > 0 && name != analyze.NoName && name != analyze.OtherNames && name != sample.WindowRegion {
			ops = append(ops, OpName{kind + ":" + name, n})
		}
	}
	for _, x := range r.Regions.ByName() {
		add("region", x.Name, x.Whole.Count())
	}
	for _, x := range r.Tasks.ByName() {
		add("task", x.Name, x.Whole.Count())
	}
	slices.SortStableFunc(ops, func(a, b OpName) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Op, b.Op)) })
	return ops[:min(len(ops), maxOps)]
}
