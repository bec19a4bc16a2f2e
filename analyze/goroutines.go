package analyze

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// Goroutines sums up goroutines by start function.
type Goroutines struct {
	tables  *model.Tables
	funcs   byName[funcSums]
	reasons byName[reasonIndex]
}

// reasonIndex numbers the reasons for Waiting, so that each function's sums
// are a short slice; 0 means not yet numbered.
type reasonIndex int

type funcSums struct {
	FuncTotals
	blocks []ReasonTotal // by reasonIndex - 1
}

// FuncTotals are sums over the goroutines of one start function.
type FuncTotals struct {
	Count, Created, Ended int64 // goroutines seen; of those created and ended in the trace
	System                bool
	Lifetime              model.Duration // accounted time, the sum of Times
	Times                 [model.NumGoStates]model.Duration
	// RunnableTruly is Times[GoRunnable] without pseudo intervals.
	RunnableTruly model.Duration
}

// FuncRow are the goroutines of one start function.
type FuncRow struct {
	Func string
	FuncTotals
	Blocks []ReasonTotal // Waiting by reason, greatest total first
}

// ReasonTotal is a total of Waiting.
type ReasonTotal struct {
	Reason string
	Count  int64
	Total  model.Duration
}

// NewGoroutines returns an empty Goroutines.
func NewGoroutines(t *model.Tables) *Goroutines {
	return &Goroutines{tables: t, funcs: newByName[funcSums](t), reasons: newByName[reasonIndex](t)}
}

// GoEnd implements [model.GoEndObserver].
func (gs *Goroutines) GoEnd(g *model.Goroutine) {
	f := gs.funcs.get(g.Func)
	f.Count++
	if g.SeenCreation {
		f.Created++
	}
	if g.HasEnded {
		f.Ended++
	}
	f.System = g.System
	for i, d := range g.Times {
		f.Times[i] += d
		f.Lifetime += d
	}
	f.RunnableTruly += g.RunnableTruly
	for i := range g.Block {
		b := &g.Block[i]
		f.block(gs.number(gs.reasons.get(b.Reason)), b.Count, b.Total)
	}
}

// number returns a reason's number, giving it one at first sight.
func (gs *Goroutines) number(r *reasonIndex) reasonIndex {
	if *r == 0 {
		*r = reasonIndex(len(gs.reasons.list))
	}
	return *r
}

func (f *funcSums) block(r reasonIndex, count int64, total model.Duration) {
	if n := int(r); n > len(f.blocks) {
		f.blocks = append(f.blocks, make([]ReasonTotal, n-len(f.blocks))...)
	}
	f.blocks[r-1].Count += count
	f.blocks[r-1].Total += total
}

// ByFunc returns the sums by start function, greatest lifetime first.
func (gs *Goroutines) ByFunc() []FuncRow {
	names := make([]string, len(gs.reasons.list))
	for _, e := range gs.reasons.list {
		names[e.value-1] = e.name
	}
	sorted := gs.funcs.sorted(func(f *funcSums) int64 { return int64(f.Lifetime) })
	rows := make([]FuncRow, len(sorted))
	for i, e := range sorted {
		rows[i] = FuncRow{Func: e.name, FuncTotals: e.value.FuncTotals}
		for r, b := range e.value.blocks {
			if b.Count > 0 || b.Total > 0 {
				b.Reason = names[r]
				rows[i].Blocks = append(rows[i].Blocks, b)
			}
		}
		slices.SortFunc(rows[i].Blocks, func(a, b ReasonTotal) int {
			return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Reason, b.Reason))
		})
	}
	return rows
}

// Result adds what was found to v.
func (gs *Goroutines) Result(v *result.Report) {
	v.Goroutines = result.Each(gs.ByFunc(), resultGroup)
}

func resultGroup(r *FuncRow) result.Group {
	return result.Group{
		Function: r.Func, System: r.System, Count: r.Count, Created: r.Created, Ended: r.Ended,
		Lifetime: r.Lifetime, States: r.Times,
		Waiting: result.Each(r.Blocks, func(b *ReasonTotal) result.Reason {
			return result.Reason{Reason: b.Reason, Count: b.Count, Total: b.Total}
		}),
	}
}
