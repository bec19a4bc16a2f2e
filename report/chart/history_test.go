package chart

import (
	"reflect"
	"testing"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
)

// TestHistory follows what three procs did around a wait of 8 ms by hand.
func TestHistory(t *testing.T) {
	const origin = 50
	r := &result.Report{WorstWaits: []result.Wait{{Goroutine: 7, Start: model.Time(10 * ms), End: model.Time(18 * ms), Duration: 8 * ms}}}
	h := NewHistories(r)
	h.tables, h.origin = model.NewTables(), origin
	span := func(p model.ProcID, state model.ProcState, work model.WorkKind, g model.GoID, fn string, start, length model.Duration) {
		h.ProcSpan(&model.ProcSpan{P: p, State: state, Work: work, G: g, Func: h.tables.AddString(fn), Start: origin + model.Time(start), End: origin + model.Time(start+length)})
	}
	none := model.NoGoroutine
	span(2, model.ProcIdle, model.WorkUser, none, "", 5*ms, 50*ms)
	span(1, model.ProcRunning, model.WorkUser, 3, "main.early", 0, 9*ms)
	span(0, model.ProcRunning, model.WorkUser, 1, "main.hog", 0, 12*ms)
	span(1, model.ProcRunning, model.WorkUser, 2, "main.other", 9*ms, 9*ms)
	span(0, model.ProcRunning, model.WorkGCDedicated, 3, "runtime.gcBgMarkWorker", 12*ms, 5*ms)
	span(1, model.ProcRunning, model.WorkUser, 7, "main.victim", 18*ms, 2*ms)
	span(0, model.ProcRunning, model.WorkUser, 1, "main.hog", 17*ms, 20*ms)

	of := func(from, to model.Duration, g model.GoID, fn string, use result.Use) slice {
		s := sliceOf(model.Time(from), model.Time(to), use, g)
		s.fn = fn
		return s
	}
	want := []procHistory{
		{0, []slice{of(9*ms, 12*ms, 1, "main.hog", result.UseUser), of(12*ms, 17*ms, 3, "runtime.gcBgMarkWorker", result.UseGC), of(17*ms, 19*ms, 1, "main.hog", result.UseUser)}},
		{1, []slice{of(9*ms, 18*ms, 2, "main.other", result.UseUser), of(18*ms, 19*ms, 7, "main.victim", result.UseUser)}},
		{2, []slice{of(9*ms, 19*ms, none, "", result.UseIdle)}},
	}
	x := h.of[0]
	if !reflect.DeepEqual(x.procs, want) {
		t.Errorf("got\n%+v\nwant\n%+v", x.procs, want)
	}
	if want := (result.Uses{result.UseUser: 2*ms + 1*ms + 8*ms, result.UseGC: 5 * ms, result.UseIdle: 8 * ms}); x.uses != want {
		t.Errorf("uses %v, want %v", x.uses, want)
	}
	if g, d := x.longest(); g != 2 || d != 8*ms {
		t.Errorf("G%d ran the longest, %d ns", g, d)
	}
}

// TestHistories checks on fixtures that slices are in order, without gaps, of no more than a
// picture can show, and as long as what they stand for.
func TestHistories(t *testing.T) {
	for _, name := range fixtures.Chosen(fixtures.Real()) {
		in := analysed(t, name)
		// While GOMAXPROCS is lowered, or was when it was set, a proc does not exist.
		sizes := in.Report.Totals.GOMAXPROCS
		for i, incident := range in.Report.Incidents() {
			x := in.Histories.of[incident[0]]
			if len(x.procs) == 0 {
				t.Errorf("%s: wait %d: no procs", name, i+1)
			}
			for _, p := range x.procs {
				resized := len(sizes) > 1 || len(sizes) == 1 && uint64(p.p) >= sizes[0].Procs
				end := p.slices[0].start
				for _, s := range p.slices {
					if s.start >= s.end || s.start < end || s.start > end && !resized || s.uses.Total() != s.end.Sub(s.start) || s.gTime > s.end.Sub(s.start) {
						t.Errorf("%s: wait %d: proc %d: slice %+v follows one until %d", name, i+1, p.p, s, end)
					}
					end = s.end
				}
				if len(p.slices) > 3*historyGrain {
					t.Errorf("%s: wait %d: proc %d has %d slices, too many to draw", name, i+1, p.p, len(p.slices))
				}
			}
			if total, most := x.uses.Total(), x.wait.Duration*model.Duration(len(x.procs)); total > most || total < most && len(sizes) == 1 && int(sizes[0].Procs) == len(x.procs) {
				t.Errorf("%s: wait %d: procs are used for %d ns of %d", name, i+1, total, most)
			}
		}
	}
}
