package page

import (
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/report/view"
)

// uses are what procs did, in the order in which they are stacked.
var uses = []result.Use{result.UseUser, result.UseSyscall, result.UseGC, result.UseAssist, result.UseRuntime,
	result.UseSearching, result.UseStopped, result.UseIdle, result.UseUnknown}

// overTime is the dashboard: latency, procs, run queues and heap on one clock.
func (p *pageView) overTime() {
	s := p.section("over-time", "Over time", "Latency, procs, run queues and heap on one clock.")
	s.Lead += textui.If(p.several(), " The traces lie on top of each other, each from its own beginning.")
	if len(p.r.Heat.Cells) > 0 {
		p.chart(s, "heat-chart", "tall", "Scheduling latency: waits by when they ended and how long they were")
	}
	if len(p.r.Series.Covered) > 0 {
		p.chart(s, "procs-chart", "middle", "Procs over time, by what they did")
		p.chart(s, "runnable-chart", "low", "Runnable goroutines over time, with the runtime's own")
		if slices.Max(append([]uint64{0}, p.r.Series.Heap...)) > 0 {
			p.chart(s, "heap-chart", "low", "Heap over time: live objects and the goal of the garbage collector")
		}
	}
	p.add(s, view.Uses(p.r))
}

// curves are the labels of all spectra that have points.
func (p *pageView) curves() []string {
	list := []string{}
	for _, x := range p.r.Latency.Spectra {
		if len(x.Points) > 0 {
			list = append(list, textui.Clean(view.OriginLabel(x.Name)))
		}
	}
	return list
}
