package workload

import (
	"slices"
	"sort"

	"github.com/schedscope/schedscope/model"
)

// Request is a request that a window has from beginning to end: who finds requests in the trace gives
// them to [Extractor.Request].
type Request struct {
	Group      int32          // whatever the finder says
	Start, End model.Duration // as recorded, since the window's start
}

// stretch is a time in which a goroutine ran.
type stretch struct {
	id       model.GoID
	g, seg   int32
	from, to model.Time
	cpu      model.Duration // of the segment, before
}

// found is a request as it was found.
type found struct {
	group      int32
	from, to   model.GoID // where it begins and ends
	start, end model.Time
}

// point is where in the programs an operation is to be put: something is sent, a request begins or ends, or a place of a
// semaphore is taken or given back.
type point struct {
	g, seg int32
	at     model.Duration // CPU time since the segment began
	after  bool           // others at the same time
	op     Op
}

// Request adds a request from its start in goroutine from to its end in goroutine to. Requests
// that start before the window are ignored.
func (e *Extractor) Request(group int32, from model.GoID, start model.Time, to model.GoID, end model.Time) {
	if w := e.w; w != nil && start >= w.Start {
		w.found = append(w.found, found{group, from, to, start, end})
	}
}

// ran takes that f has run until now.
func (e *Extractor) ran(f *follower) {
	if e.w == nil || f.index < 0 {
		return
	}
	e.w.stretches = append(e.w.stretches, stretch{f.id, f.index, int32(len(e.w.Goroutines[f.index].Segments)), f.ranFrom, e.clock.now, f.ranCPU})
}

// place finds the points in the programs where requests begin and end.
func (w *window) place() {
	if len(w.found) == 0 {
		return
	}
	byID := map[model.GoID][]stretch{}
	for _, x := range w.found {
		byID[x.from], byID[x.to] = nil, nil
	}
	for _, x := range w.stretches { // those of one goroutine come in order
		if list, ok := byID[x.id]; ok {
			byID[x.id] = append(list, x)
		}
	}
	for _, x := range w.found {
		begin, ok := pointAt(byID[x.from], x.start)
		end, also := pointAt(byID[x.to], x.end)
		if !ok || !also {
			continue
		}
		i := int32(len(w.Requests))
		w.Requests = append(w.Requests, Request{x.group, w.since(x.start), w.since(x.end)})
		begin.op, end.op = Op{Kind: OpBegin, G: i}, Op{Kind: OpEnd, G: i}
		w.points = append(w.points, begin, end)
	}
}

// pointAt returns where a goroutine that ran in these stretches is at a time: if it does not run then, where it goes on.
func pointAt(list []stretch, at model.Time) (point, bool) {
	i := sort.Search(len(list), func(i int) bool { return list[i].from > at })
	if i > 0 {
		if x := &list[i-1]; at <= x.to {
			return point{g: x.g, seg: x.seg, at: x.cpu + at.Sub(x.from)}, true
		}
	}
	if i < len(list) {
		x := &list[i]
		return point{g: x.g, seg: x.seg, at: x.cpu}, true
	}
	return point{}, false
}

// opSample is at the point of a CPU sample, which is in no program.
const opSample = OpEnd + 1

// putPoints puts the operations at points into the programs, and lists CPU samples.
func (w *window) putPoints() {
	inserts := map[int32][]point{}
	for _, x := range w.points {
		x.at = min(x.at, w.Goroutines[x.g].Segments[x.seg].CPU)
		if x.op.Kind != opSample {
			inserts[x.g] = append(inserts[x.g], x)
		} else if !w.Goroutines[x.g].Tracer {
			w.Recorded.Samples = append(w.Recorded.Samples, Sample{x.g, x.seg, x.at})
		}
	}
	for g, list := range inserts {
		w.Goroutines[g].insert(list)
	}
	slices.SortFunc(w.Recorded.Samples, Sample.compare)
}
