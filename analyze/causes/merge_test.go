package causes

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// TestMergeCauses compares merged causes, of tables with other IDs, with those of
// both traces in one.
func TestMergeCauses(t *testing.T) {
	waits := int64(0)
	run := func(tables *model.Tables, seeds ...uint64) *result.Report {
		c := New(tables)
		c.bins.BeginAt(0)
		for _, seed := range seeds {
			r := newReference(tables)
			r.a = newAttribution(c, tables, 10)
			r.a.counts = true
			p := &play{rnd: rand.New(rand.NewPCG(seed, 3)), r: r, procs: 3}
			for i, name := range []string{"main.a", "main.b", "main.c"} {
				p.names[i] = tables.AddString(name)
			}
			p.stack = tables.AddStack([]model.Frame{{Func: "main.f", Line: 7}})
			p.run(2000)
		}
		waits = c.Waits
		v := &result.Report{Traces: []result.Trace{{Name: "t"}}}
		v.Latency.All = result.Dist{Count: c.Waits, Total: c.Total} // shares are of all waiting
		c.Result(v)
		return v
	}
	first, second := model.NewTables(), model.NewTables()
	for _, name := range []string{"main.c", "main.b", "other"} {
		second.AddString(name)
	}
	second.AddStack([]model.Frame{{Func: "main.other"}})
	a, b := run(first, 1), run(second, 2)
	last := len(a.Causes.Thresholds) + len(b.Causes.Thresholds) - 1
	merged, err := result.Merge([]*result.Report{a, b})
	if err != nil {
		t.Fatal(err)
	}
	got, want := merged.Causes, run(first, 1, 2).Causes
	for _, v := range []*result.Causes{&got, &want} {
		for i := range v.Rows {
			d := &v.Rows[i].Dominated // percentiles are known within the width of a bucket
			*d = result.Dist{Count: d.Count, Total: d.Total, Min: d.Min, Max: d.Max}
		}
		v.Thresholds, v.Series = nil, result.CauseSeries{} // of one trace; curves of several lie next to each other
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("merged:\n%+v, of both:\n%+v", got, want)
	}
	if waits < 500 {
		t.Errorf("only %d waits", waits)
	}
	if n := a.Causes.Thresholds[last].Trace; n != 1 {
		t.Errorf("last threshold is of trace %d, want 1", n)
	}
}
