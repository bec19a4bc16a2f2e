package analyze

import (
	"reflect"
	"testing"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

func TestLatency(t *testing.T) {
	r := newRecords()
	l := NewLatency(r.tables, 2)
	l.Begin(100)
	a, b, c := r.goroutine(1, "main.a"), r.goroutine(2, "main.b"), r.goroutine(3, "")
	sys := r.goroutine(4, "runtime.gcBgMarkWorker")
	sys.System = true
	wait := func(g *model.Goroutine, o model.Origin, start, length model.Duration) *model.GoSpan {
		s := goSpan(g, model.GoRunnable, start, length)
		s.Origin = o
		return s
	}
	spans := []*model.GoSpan{
		wait(a, model.OriginGoroutine, 100, 30),
		wait(a, model.OriginTimer, 200, 50),
		wait(b, model.OriginGoroutine, 300, 70),
		wait(c, model.OriginCreated, 400, 70),
		wait(sys, model.OriginGC, 500, 1000),
		goSpan(a, model.GoRunning, 600, 5000),
	}
	pseudo := wait(a, model.OriginSyscall, 700, 64)
	pseudo.Pseudo = model.PseudoSyscall
	open := wait(b, model.OriginUnknown, 100, 9000)
	open.OpenStart = true
	end := wait(b, model.OriginTimer, 9900, 100)
	end.OpenEnd = true
	for _, s := range append(spans, pseudo, open, end) {
		l.GoSpan(s)
	}
	for _, g := range []*model.Goroutine{c, b, a, sys} {
		l.GoEnd(g)
	}
	l.Finish()
	equal(t, "count", l.All.Count(), 4)
	equal(t, "total", l.All.Total(), 220)
	equal(t, "max", l.All.Max(), 70)
	equal(t, "time of max", l.All.MaxAt(), 270) // the earliest of equals, from the origin
	equal(t, "p50", l.All.Quantile(0.5), 50)
	equal(t, "by goroutine", l.ByOrigin[model.OriginGoroutine].Total(), 100)
	equal(t, "by timer", l.ByOrigin[model.OriginTimer].Count(), 1)
	equal(t, "system", l.System.Total(), 1000)
	equal(t, "pseudo", l.Pseudo, 1)
	equal(t, "censored at start", l.Censored.AtStart, Tally{Count: 1, Total: 9000, Max: 9000, MaxAt: 9000})
	equal(t, "censored at end", l.Censored.AtEnd, Tally{Count: 1, Total: 100, Max: 100, MaxAt: 9900})
	var names []string
	for _, row := range l.ByFunc() {
		names = append(names, row.Name)
	}
	if want := []string{"main.a", result.NoName, "main.b"}; !reflect.DeepEqual(names, want) {
		t.Errorf("functions = %q, want %q (greatest total first, ties by name)", names, want)
	}
	want := []result.Goroutine{
		{Goroutine: 1, Function: "main.a", Tally: Tally{Count: 2, Total: 80, Max: 50, MaxAt: 150}},
		{Goroutine: 2, Function: "main.b", Tally: Tally{Count: 1, Total: 70, Max: 70, MaxAt: 270}},
	}
	if got := l.ByGoroutine(); !reflect.DeepEqual(got, want) {
		t.Errorf("goroutines = %+v, want %+v", got, want)
	}
}

// TestLatencyForgetsGoroutines checks that sums are kept of live goroutines only.
func TestLatencyForgetsGoroutines(t *testing.T) {
	r := newRecords()
	l := NewLatency(r.tables, 3)
	for i := range 100_000 {
		g := r.goroutine(model.GoID(i), "main.f")
		if i%1000 == 999 {
			g.ID += 1 << 40 // one that no real trace has
		}
		l.GoSpan(goSpan(g, model.GoRunnable, model.Duration(i), model.Duration(i)))
		l.GoEnd(g)
	}
	kept := 0
	l.goroutines.live.All(func(*Tally) { kept++ })
	equal(t, "goroutines kept", kept, 0)
	equal(t, "goroutines told", len(l.ByGoroutine()), 3)
	equal(t, "longest", l.ByGoroutine()[0].Total, 99_999)
}

func TestNamesAreBounded(t *testing.T) {
	r := newRecords()
	k := NewTasks(r.tables)
	for i := range 3 * result.MaxNames {
		name := r.str("task" + string(rune('a'+i%26)) + string(rune('0'+i/26)))
		k.Task(&model.Task{ID: model.TaskID(i), Name: name, Start: 0, End: 10})
	}
	rows := k.ByName()
	equal(t, "rows", len(rows), result.MaxNames+1)
	equal(t, "first row", rows[0].Name, result.OtherNames)
	equal(t, "its count", rows[0].Count, int64(2*result.MaxNames))
}

// TestLatencyOfLateNames has a goroutine whose function is told only after its first waits.
func TestLatencyOfLateNames(t *testing.T) {
	r := newRecords()
	l := NewLatency(r.tables, 5)
	g := r.goroutine(3, "")
	l.GoSpan(goSpan(g, model.GoRunnable, 10*ms, 4*ms))
	l.GoSpan(goSpan(g, model.GoRunnable, 20*ms, 6*ms))
	named := r.goroutine(3, "runtime.bgsweep")
	named.System = true
	l.GoSpan(goSpan(named, model.GoRunnable, 30*ms, ms))
	l.GoEnd(named)
	l.Finish()
	equal(t, "late", l.LateSystem, Tally{Count: 2, Total: 10 * ms, Max: 6 * ms, MaxAt: model.Time(26 * ms)})
	equal(t, "all", l.All.Count(), 2)
	equal(t, "system", l.System.Count(), 1)
	equal(t, "goroutines", len(l.ByGoroutine()), 0)
}
