package page

import (
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// states are the shares of a total by state of goroutines.
func states(s *result.States) []cell {
	all := int64(s[model.GoUndetermined]) + int64(s[model.GoRunning]) + int64(s[model.GoRunnable]) + int64(s[model.GoWaiting]) + int64(s[model.GoSyscall]) + int64(s[model.GoSyscallBlocked])
	return []cell{stateBar(s, all), ratio(int64(s[model.GoRunning]), all), ratio(int64(s[model.GoRunnable]), all), ratio(int64(s[model.GoWaiting]), all), ratio(int64(s[model.GoSyscall]), all), ratio(int64(s[model.GoSyscallBlocked]), all)}
}

var stateColumns = []column{{"states", "", ""}, {"running", "share", ""}, {"runnable", "share", ""}, {"waiting", "share", ""}, {"syscall", "share", "with its proc"}, {"blocked", "share", "in a system call, without a proc"}}

func stateBar(s *result.States, all int64) cell {
	bar := stacked{whole: all}
	for _, x := range []struct {
		class, name string
		ns          int64
	}{{"s-running", "running", int64(s[model.GoRunning])}, {"s-runnable", "runnable", int64(s[model.GoRunnable])}, {"s-syscall", "syscall", int64(s[model.GoSyscall])},
		{"s-blocked", "blocked in a system call", int64(s[model.GoSyscallBlocked])}, {"s-waiting", "waiting", int64(s[model.GoWaiting])}, {"s-unknown", "unknown", int64(s[model.GoUndetermined])}} {
		bar.add(x.class, x.name, x.ns)
	}
	return cell{Parts: bar.parts}
}

// goroutines is what goroutines did beside waiting to run.
func (p *view) goroutines() *section {
	s := &section{ID: "goroutines", Title: "Goroutines", Lead: "By start function. The states add up to the lifetime; those marked * belong to the runtime."}
	t := &table{ID: "t-groups", Caption: "Goroutines by start function", Columns: append(append([]column{{"function", "", ""}, {"count", "n", ""}, {"lifetime", "ns", "of all together"}}, stateColumns...), column{"waits for, most", "", ""})}
	for i := range p.r.Goroutines {
		g := &p.r.Goroutines[i]
		name := function(g.Function)
		if g.System {
			name.Text += " *"
		}
		reason := cell{}
		if len(g.Waiting) > 0 {
			reason = words(g.Waiting[0].Reason)
		}
		t.add(append(append([]cell{name, count(g.Count), duration(int64(g.Lifetime))}, states(&g.States)...), reason)...)
	}
	s.table("States", t)
	s.table("Waiting by reason: what goroutines waited for before they became runnable; no fault of the scheduler",
		p.distTable("t-waiting", "Waiting by reason", "reason", p.r.Waiting.ByReason, words))
	b := &p.r.Bursts
	bursts := p.distTable("t-bursts", "Running bursts by start function", "function", b.ByFunction, function)
	bursts.total(append([]cell{words("all")}, p.distCells(&b.All)...)...)
	s.table("Running bursts: from start to stop", bursts)
	s.table("Bursts over 10 ms, after which the runtime asks a goroutine to give way", p.longest())
	return s
}

func (p *view) longest() *table {
	t := &table{ID: "t-longest", Caption: "The longest bursts", Columns: []column{{"length", "ns", ""}, {"from", "at", ""}, {"goroutine", "", ""}, {"proc", "n", ""}, {"stopped in", "", ""}, {"", "", ""}}}
	for i := range p.r.Bursts.Longest {
		x := &p.r.Bursts.Longest[i]
		from := instant(int64(x.Start))
		from.Link = p.link(x.Trace, int64(x.Start), int64(x.Duration), int64(x.Goroutine))
		part := ""
		if x.Censored {
			part = "at least: the trace begins or ends in it"
		}
		t.add(duration(int64(x.Duration)), from, p.goroutine(x.Trace, int64(x.Goroutine), x.Function), proc(int64(x.Proc)), function(x.Place), words(part))
	}
	return t
}

// tasks is what the program says of itself by runtime/trace.
func (p *view) tasks() *section {
	s := &section{ID: "tasks", Title: "Tasks and regions", Lead: "What the program marked by runtime/trace; the states are what goroutines did inside regions."}
	head := append([]column{{"type", "", ""}, {"in part", "n", "begun before the trace or not over at its end"}}, append(append([]column{}, distColumns...), stateColumns...)...)
	tasks := &table{ID: "t-tasks", Caption: "Tasks by type", Columns: head}
	for i := range p.r.Tasks {
		x := &p.r.Tasks[i]
		tasks.add(append(append([]cell{words(x.Name), count(x.Censored.Count)}, p.distCells(&x.Dist)...), states(&x.States)...)...)
	}
	s.table("Tasks", tasks)
	regions := &table{ID: "t-regions", Caption: "Regions by type", Columns: head}
	for i := range p.r.Regions {
		x := &p.r.Regions[i]
		regions.add(append(append([]cell{words(x.Name), count(x.Censored.Count)}, p.distCells(&x.Dist)...), states(&x.States)...)...)
	}
	s.table("Regions", regions)
	return s
}
