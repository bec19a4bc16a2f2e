package analyze

import (
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/sums"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/model"
)

// Latency measures scheduling latency: the time from Runnable until Running, of
// every origin. Pseudo intervals ([model.Pseudo]) are not waits and only
// counted. Results are about the program's own goroutines, except System.
type Latency struct {
	sums.Clock
	All      Dist                   // set by Finish
	ByOrigin [model.NumOrigins]Dist // set by Finish
	System   Dist                   // goroutines of the runtime: GC workers, sweeper, finalizers...

	// Censored waits of the program's goroutines: Runnable when the trace began
	// or still at its end.
	Censored       Censored
	atEnd          [model.NumOrigins]int64 // of those
	SystemCensored Censored
	Pseudo         int64
	// LateSystem are waits in All of goroutines that turned out to be the runtime's only
	// later: of one that existed when the trace began, its first stack shows it.
	LateSystem Tally

	waits      sums.Grid  // by function and origin
	funcs      sums.Dists // set by Finish
	goroutines goroutineWaits
}

// NewLatency returns a Latency that reports the limit goroutines that waited
// longest in all.
func NewLatency(t *model.Tables, limit int) *Latency {
	return &Latency{waits: sums.NewGrid(t), goroutines: goroutineWaits{tables: t, top: sums.Top[result.Goroutine]{Limit: limit, Compare: result.CompareGoroutines}}}
}

// GoSpan implements [model.GoSpanObserver].
func (l *Latency) GoSpan(s *model.GoSpan) {
	at := l.Offset(s.End)
	switch {
	case s.Waits():
		d := s.Duration()
		l.waits.At(s.Func, int(s.Origin)).Add(d, at)
		l.goroutines.live.Cell(s.G).Add(d, at)
	case s.State != model.GoRunnable:
	case s.Pseudo != model.NotPseudo:
		l.Pseudo++
	case !s.System:
		sums.AddCensored(&l.Censored, s, at)
		if !s.OpenStart {
			l.atEnd[s.Origin]++
		}
	case !sums.AddCensored(&l.SystemCensored, s, at):
		l.System.Add(s.Duration(), at)
	}
}

// GoEnd implements [model.GoEndObserver].
func (l *Latency) GoEnd(g *model.Goroutine) {
	if t := l.goroutines.end(g.ID, g.Func, g.System); g.System {
		l.LateSystem.Merge(&t)
	}
}

// Finish sets All, and what is by origin and by function. Call it after the last interval.
func (l *Latency) Finish() {
	l.funcs = l.waits.Sums(l.ByOrigin[:])
	for i := range l.ByOrigin {
		l.All.Merge(&l.ByOrigin[i])
	}
}

// ByFunc returns the distributions by start function, greatest total first.
func (l *Latency) ByFunc() []result.Named { return l.funcs.Rows() }

// Each calls f with the distribution of each start function and origin. Call it before Result.
func (l *Latency) Each(f func(fn string, o model.Origin, d *Dist)) {
	for _, e := range l.waits.List {
		for o := range e.Value {
			f(e.Name, model.Origin(o), &e.Value[o])
		}
	}
}

// ByGoroutine returns the goroutines with the greatest total, as many as the
// limit says. Only goroutines that the Machine has finished are among them: all,
// once it has.
func (l *Latency) ByGoroutine() []result.Goroutine {
	return append([]result.Goroutine{}, l.goroutines.top.Items...)
}

// goroutineWaits sums up waits of the goroutines that are alive, and keeps the
// greatest sums of those that ended.
type goroutineWaits struct {
	tables *model.Tables
	live   sums.GoCells[Tally]
	top    sums.Top[result.Goroutine]
}

// end returns the sum of a goroutine that ended.
func (w *goroutineWaits) end(g model.GoID, fn model.StringID, system bool) Tally {
	t, ok := w.live.Drop(g)
	if !ok || t.Count == 0 || system {
		return t
	}
	if last, ok := w.top.Full(); ok && t.Total < last.Total {
		return t
	}
	w.top.Add(result.Goroutine{Goroutine: g, Function: sums.NameOf(w.tables, fn), Tally: t})
	return t
}

// Result adds the results to v.
func (l *Latency) Result(v *result.Report) {
	x := result.Latency{
		All: result.NewDist(&l.All), ByOrigin: sums.NamedDists[model.Origin](l.ByOrigin[:]), ByFunction: l.ByFunc(), ByGoroutine: l.ByGoroutine(),
		Histogram: resultHistogram(&l.All), System: result.NewDist(&l.System), Censored: l.Censored, AtEnd: resultCounts[model.Origin](l.atEnd[:], 0), Pseudo: l.Pseudo, LateSystem: l.LateSystem,
	}
	x.Spectra = []result.Spectrum{result.NewSpectrum("all", &x.All)}
	for i := range x.ByOrigin {
		x.Spectra = append(x.Spectra, result.NewSpectrum(x.ByOrigin[i].Name, &x.ByOrigin[i].Dist))
	}
	v.Latency, l.waits = x, sums.Grid{}
}

// resultHistogram counts the samples of a distribution in the rows of the heat map.
// Empty buckets are left out.
func resultHistogram(d *dist.Dist) []result.Bucket {
	out := []result.Bucket{}
	row := 0
	d.Each(func(v model.Duration, n int64) {
		for row+1 < HeatRows {
			if _, hi := HeatBounds(row); v < hi {
				break
			}
			row++
		}
		lo, hi := HeatBounds(row)
		if k := len(out) - 1; k >= 0 && out[k].From == lo {
			out[k].Count += n
			return
		}
		out = append(out, result.Bucket{From: lo, To: hi, Count: n})
	})
	return out
}

// Netpoll measures the time from a network wakeup until the goroutine runs, by
// the kind of poller that found the event.
type Netpoll struct {
	sums.Clock
	All      Dist // set by Finish
	ByPoller [model.NumPollers]PollerWakes
}

// PollerWakes are the network wakeups by one kind of poller.
type PollerWakes struct {
	Count  int64 // all
	Direct int64 // run by the poller itself, without a queue
	Open   int64 // had not run by the trace's end; not in ToRun
	ToRun  Dist
}

// Netpoll implements [model.NetpollObserver].
func (n *Netpoll) Netpoll(w *model.NetpollWake) {
	if w.Poller >= model.NumPollers {
		return
	}
	p := &n.ByPoller[w.Poller]
	p.Count++
	if w.Direct {
		p.Direct++
	}
	if w.Open {
		p.Open++
		return
	}
	p.ToRun.Add(w.Started.Sub(w.Time), n.Offset(w.Started))
}

// Finish sets All. Call it after the last wakeup.
func (n *Netpoll) Finish() {
	for i := range n.ByPoller {
		n.All.Merge(&n.ByPoller[i].ToRun)
	}
}

// Result adds the results to v.
func (n *Netpoll) Result(v *result.Report) {
	x := result.Netpoll{All: result.NewDist(&n.All), ByPoller: []result.Poller{}}
	for p := range n.ByPoller {
		if w := &n.ByPoller[p]; w.Count > 0 {
			x.ByPoller = append(x.ByPoller, result.Poller{Poller: model.Poller(p).String(), Count: w.Count, Direct: w.Direct, Open: w.Open, ToRun: result.NewDist(&w.ToRun)})
		}
	}
	v.Netpoll = x
}
