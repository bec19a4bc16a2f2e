package analyze

import (
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// Netpoll measures the time from a network wakeup until the goroutine runs, by
// the kind of poller that found the event.
type Netpoll struct {
	traceClock
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
	p.ToRun.Add(w.Started.Sub(w.Time), n.at(w.Started))
}

// Finish sets All. Call it after the last wakeup.
func (n *Netpoll) Finish() {
	for i := range n.ByPoller {
		n.All.Merge(&n.ByPoller[i].ToRun)
	}
}

// Result adds what was found to v.
func (n *Netpoll) Result(v *result.Report) {
	x := result.Netpoll{All: result.NewDist(&n.All), ByPoller: []result.Poller{}}
	for p := range n.ByPoller {
		if w := &n.ByPoller[p]; w.Count > 0 {
			x.ByPoller = append(x.ByPoller, result.Poller{Poller: model.Poller(p).String(), Count: w.Count, Direct: w.Direct, Open: w.Open, ToRun: result.NewDist(&w.ToRun)})
		}
	}
	v.Netpoll = x
}
