package page

import (
	"fmt"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
)

// use is what procs did, with the name of its values.
type use struct {
	id, label string
	series    func(*result.UsesSeries) []int64
	total     func(*result.Uses) int64
}

// uses are all uses in the order in which they are stacked.
var uses = []use{
	{"user", "user code", func(u *result.UsesSeries) []int64 { return u[result.UseUser] }, func(u *result.Uses) int64 { return int64(u[result.UseUser]) }},
	{"syscall", "in syscalls", func(u *result.UsesSeries) []int64 { return u[result.UseSyscall] }, func(u *result.Uses) int64 { return int64(u[result.UseSyscall]) }},
	{"gc", "GC", func(u *result.UsesSeries) []int64 { return u[result.UseGC] }, func(u *result.Uses) int64 { return int64(u[result.UseGC]) }},
	{"gc_assist", "GC assist", func(u *result.UsesSeries) []int64 { return u[result.UseAssist] }, func(u *result.Uses) int64 { return int64(u[result.UseAssist]) }},
	{"runtime", "runtime", func(u *result.UsesSeries) []int64 { return u[result.UseRuntime] }, func(u *result.Uses) int64 { return int64(u[result.UseRuntime]) }},
	{"searching", "searching", func(u *result.UsesSeries) []int64 { return u[result.UseSearching] }, func(u *result.Uses) int64 { return int64(u[result.UseSearching]) }},
	{"stopped", "stopped", func(u *result.UsesSeries) []int64 { return u[result.UseStopped] }, func(u *result.Uses) int64 { return int64(u[result.UseStopped]) }},
	{"idle", "idle", func(u *result.UsesSeries) []int64 { return u[result.UseIdle] }, func(u *result.Uses) int64 { return int64(u[result.UseIdle]) }},
	{"unknown", "unknown", func(u *result.UsesSeries) []int64 { return u[result.UseUnknown] }, func(u *result.Uses) int64 { return int64(u[result.UseUnknown]) }},
}

func totalUses(u *result.Uses) int64 {
	var sum int64
	for _, x := range uses {
		sum += x.total(u)
	}
	return sum
}

// overTime is the dashboard: latency, procs, run queues and heap on one clock.
func (p *view) overTime() *section {
	s := &section{ID: "over-time", Title: "Over time", Lead: "Latency, procs, run queues and heap on one clock."}
	if p.several() {
		s.Lead += " The traces lie on top of each other, each from its own beginning."
	}
	if len(p.r.Heat.Cells) > 0 {
		s.add(piece{Chart: &chart{ID: "heat-chart", Height: "tall", Label: "Scheduling latency: waits by when they ended and how long they were", Table: p.heatTable()}})
	}
	if len(p.r.Series.Covered) > 0 {
		s.add(piece{Chart: &chart{ID: "procs-chart", Height: "middle", Label: "Procs over time, by what they did", Table: p.procsTable()}})
		s.add(piece{Chart: &chart{ID: "runnable-chart", Height: "low", Label: "Runnable goroutines over time, with the runtime's own", Table: p.runnableTable()}})
		if slices.Max(append([]uint64{0}, p.r.Series.Heap...)) > 0 {
			s.add(piece{Chart: &chart{ID: "heap-chart", Height: "low", Label: "Heap over time: live objects and the goal of the garbage collector", Table: p.heapTable()}})
		}
	}
	s.table("", p.usesTable())
	return s
}

func (p *view) usesTable() *table {
	u := &p.r.Procs.Uses
	all := totalUses(u)
	t := &table{ID: "t-uses", Caption: "What the procs did", Columns: []column{{"procs were", "", ""}, {"time", "ns", "of all procs together"}, {"share", "share", ""}}}
	for _, x := range uses {
		if n := x.total(u); n > 0 {
			name := words(x.label)
			name.Class = "u-" + x.id
			t.add(name, duration(n), ratio(n, all))
		}
	}
	if len(t.Rows) > 0 {
		t.total(words("all"), duration(all), share(1))
	}
	return t
}

// heatTable counts waits by time and by decade of length.
func (p *view) heatTable() *table {
	h := &p.r.Heat
	t := &table{ID: "t-heat", Caption: "Waits by when they ended and how long they were", Columns: []column{{"from", "at", ""}, {"to", "at", ""}, {"waits", "n", ""}}}
	limits := []int64{1e3, 1e4, 1e5, 1e6, 1e7, 1e8}
	for i, limit := range limits {
		name := "< " + textui.Duration(limit)
		if i > 0 {
			name = fmt.Sprintf("%s to %s", textui.Duration(limits[i-1]), textui.Duration(limit))
		}
		t.Columns = append(t.Columns, column{name, "n", ""})
	}
	t.Columns = append(t.Columns, column{"more", "n", ""})
	columns := 0
	for _, c := range h.Cells {
		columns = max(columns, int(c[0])+1)
	}
	each(columns, func(lo, hi int) {
		counts := make([]int64, len(limits)+1)
		var all int64
		for _, c := range h.Cells {
			if int(c[0]) < lo || int(c[0]) >= hi || c[1] < 0 || int(c[1]) >= len(h.Bounds) {
				continue
			}
			i := 0
			for i < len(limits) && h.Bounds[c[1]] >= limits[i] {
				i++
			}
			counts[i] += c[2]
			all += c[2]
		}
		cells := []cell{instant(int64(h.Start) + int64(lo)*int64(h.Width)), instant(int64(h.Start) + int64(hi)*int64(h.Width)), count(all)}
		for _, n := range counts {
			cells = append(cells, count(n))
		}
		t.add(cells...)
	})
	return t
}

// overBins returns a table with a row for each stretch of the series.
func (p *view) overBins(id, caption string, columns []column, cells func(lo, hi int) []cell) *table {
	s := &p.r.Series
	t := &table{ID: id, Caption: caption, Columns: append([]column{{"from", "at", ""}, {"to", "at", ""}}, columns...)}
	each(len(s.Covered), func(lo, hi int) {
		t.add(append([]cell{instant(int64(s.Start) + int64(lo)*int64(s.Width)), instant(int64(s.Start) + int64(hi)*int64(s.Width))}, cells(lo, hi)...)...)
	})
	return t
}

func (p *view) procsTable() *table {
	s := &p.r.Series
	var columns []column
	var shown []use
	for _, u := range uses {
		if list := u.series(&s.Uses); total(list, 0, len(list)) > 0 {
			shown = append(shown, u)
			columns = append(columns, column{u.label, "mean", ""})
		}
	}
	return p.overBins("t-procs-time", "Mean number of procs, by what they did and when", columns, func(lo, hi int) []cell {
		var cells []cell
		covered := float64(max(total(s.Covered, lo, hi), 1))
		for _, u := range shown {
			cells = append(cells, mean(float64(total(u.series(&s.Uses), lo, hi))/covered, 2))
		}
		return cells
	})
}

func (p *view) runnableTable() *table {
	s := &p.r.Series
	columns := []column{{"mean", "mean", ""}, {"at most", "n", ""}}
	return p.overBins("t-runnable-time", "Runnable goroutines over time", columns, func(lo, hi int) []cell {
		most := 0
		for i := lo; i < min(hi, len(s.MaxRunnable)); i++ {
			most = max(most, s.MaxRunnable[i])
		}
		return []cell{mean(float64(total(s.Runnable, lo, hi))/float64(max(total(s.Covered, lo, hi), 1)), 2), count(most)}
	})
}

func (p *view) heapTable() *table {
	s := &p.r.Series
	greatest := func(list []uint64, lo, hi int) cell {
		var most uint64
		for i := lo; i < min(hi, len(list)); i++ {
			most = max(most, list[i])
		}
		if most == 0 {
			return cell{}
		}
		return bytesOf(most)
	}
	return p.overBins("t-heap-time", "Heap over time", []column{{"live, at most", "bytes", ""}, {"goal, at most", "bytes", ""}}, func(lo, hi int) []cell {
		return []cell{greatest(s.Heap, lo, hi), greatest(s.Goal, lo, hi)}
	})
}

func (p *view) timeline() *section {
	s := &section{ID: "timeline", Title: "Timeline"}
	note := textui.Clean(p.in.TimelineNote)
	if !p.interactive() {
		if note == "" {
			note = "This report has no timeline."
		}
		s.text("%s", note)
		return s
	}
	s.text("%s", note)
	s.add(piece{Timeline: true})
	return s
}
