package page

import (
	"github.com/schedscope/schedscope/report"
)

// states are the shares of a total by state of goroutines.
func states(s *report.V1States) []cell {
	all := s.Undetermined + s.Running + s.Runnable + s.Waiting + s.Syscall + s.SyscallBlocked
	return []cell{stateBar(s, all), ratio(s.Running, all), ratio(s.Runnable, all), ratio(s.Waiting, all), ratio(s.Syscall, all), ratio(s.SyscallBlocked, all)}
}

var stateColumns = []column{{"states", "", ""}, {"running", "share", ""}, {"runnable", "share", ""}, {"waiting", "share", ""}, {"syscall", "share", "with its proc"}, {"blocked", "share", "in a system call, without a proc"}}

func stateBar(s *report.V1States, all int64) cell {
	bar := stacked{whole: all}
	for _, x := range []struct {
		class, name string
		ns          int64
	}{{"s-running", "running", s.Running}, {"s-runnable", "runnable", s.Runnable}, {"s-syscall", "syscall", s.Syscall},
		{"s-blocked", "blocked in a system call", s.SyscallBlocked}, {"s-waiting", "waiting", s.Waiting}, {"s-unknown", "unknown", s.Undetermined}} {
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
		t.add(append(append([]cell{name, count(g.Count), duration(g.Lifetime)}, states(&g.States)...), reason)...)
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
		from := instant(x.Start)
		from.Link = p.link(x.Trace, x.Start, x.Duration, x.Goroutine)
		part := ""
		if x.Censored {
			part = "at least: the trace begins or ends in it"
		}
		t.add(duration(x.Duration), from, p.goroutine(x.Trace, x.Goroutine, x.Function), proc(x.Proc), function(x.Place), words(part))
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
		tasks.add(append(append([]cell{words(x.Name), count(x.Censored.Count)}, p.distCells(&x.V1Dist)...), states(&x.States)...)...)
	}
	s.table("Tasks", tasks)
	regions := &table{ID: "t-regions", Caption: "Regions by type", Columns: head}
	for i := range p.r.Regions {
		x := &p.r.Regions[i]
		regions.add(append(append([]cell{words(x.Name), count(x.Censored.Count)}, p.distCells(&x.V1Dist)...), states(&x.States)...)...)
	}
	s.table("Regions", regions)
	return s
}
