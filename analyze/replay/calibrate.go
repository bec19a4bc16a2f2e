package replay

import (
	"github.com/schedscope/schedscope/analyze/refsched"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/internal/hdr"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// minSamples is the number of samples below which a cost keeps its default.
const minSamples = 10

// numQuantiles is the length of the distributions that are estimated.
const numQuantiles = 512

// calibrator estimates what scheduling cost in a trace, as distributions. It implements [runqueue.StartObserver] and
// [runqueue.WakeupObserver].
//
// What is measured is the time between two events, and those do not stand exactly where a simulated operation begins and
// ends (the runtime emits a wake before it queues the goroutine, and a start after it took it). The simulator has the same
// events at the same places, so the costs are what lies between events, not what a line of the runtime takes.
//
// Costs without samples keep their defaults: a trace does not show when sysmon asks (CostNotice) or data arrives (CostEpoll),
// and of the others no figure depends.
type calibrator struct {
	samples [refsched.NumCosts]hdr.Histogram
}

// longestSample is what longer samples count as: of no use as a cost, they only have to stay above the others.
const longestSample model.Duration = 10_000_000_000

// add counts a sample; negative ones, which only a broken trace can give, as 0.
func (c *calibrator) add(k refsched.Cost, d model.Duration) {
	c.samples[k].Add(int64(min(max(d, 0), longestSample)), 1)
}

// sleptLeast is less than a search takes in which the thief slept before another's runnext, with the
// usual timer slack of Linux (50 us), and more than one takes in which it did not. Threads with
// real-time priority have no slack.
const sleptLeast model.Duration = 30_000

// aroundSleep is what a search takes, by default, in addition to the sleep of a thief: it asked everybody three times before,
// and took what was there after it.
const aroundSleep model.Duration = 1225

// startCosts are what a start from a queue costs: CostRunnext, which is 0, from runnext only.
var startCosts = [runqueue.NumSources]refsched.Cost{
	runqueue.SourceLocal: refsched.CostLocal, runqueue.SourceGlobal: refsched.CostGlobal, runqueue.SourceSystem: refsched.CostDirect,
}

// Start implements [runqueue.StartObserver].
func (c *calibrator) Start(s *runqueue.Start) {
	d := s.Time.Sub(s.Search)
	switch k := startCosts[s.Source]; {
	case s.Grade == runqueue.GradeContradicted || s.Pseudo != model.NotPseudo:
	case (k > 0 || s.Source == runqueue.SourceRunnext) && s.Freed == 0 && s.Since < s.Search: // the thread had stopped another goroutine, and no timer woke this one since
		c.add(k, d)
	case s.Source == runqueue.SourceLocked && s.Freed > 0:
		c.add(refsched.CostLocked, s.Time.Sub(s.Freed))
	case s.Source == runqueue.SourceNetpoll: // the wakes are the poll's own
		c.add(refsched.CostDirect, d)
	case s.Source == runqueue.SourceSteal && d < refsched.StealBackOff:
		c.add(refsched.CostSteal, d)
	case s.Source == runqueue.SourceSteal && d >= sleptLeast, // it was kicked from the victim's runnext into the queue meanwhile
		s.Source == runqueue.SourceStealRunnext && d >= refsched.StealBackOff: // else the owner was in a system call
		c.add(refsched.CostBackOff, d-aroundSleep)
	}
}

// Wakeup implements [runqueue.WakeupObserver].
func (c *calibrator) Wakeup(w *runqueue.Wakeup) {
	if w.Caused {
		c.add(refsched.CostWake, w.Got.Sub(w.Trigger))
	}
}

// quantiles returns values at the middles of equal parts of the distribution, from a quantile on, nil of few
// samples. The longest are threads that the operating system did not let run: that is part of the recording
// ([refsched.Costs.Quiet] leaves it out).
func (c *calibrator) quantiles(k refsched.Cost, from float64) []model.Duration {
	h := &c.samples[k]
	total := h.Total()
	if total < minSamples || from > 0 && total <= numQuantiles { // all from there on are one sample
		return nil
	}
	q, upTo := make([]model.Duration, 0, numQuantiles), int64(0)
	h.Each(func(v, n int64) {
		for upTo += n; len(q) < numQuantiles && dist.Rank(from+(1-from)*(float64(len(q))+0.5)/numQuantiles, total) <= upTo; {
			q = append(q, model.Duration(v))
		}
	})
	return q
}

// costs returns what scheduling costs: as the trace shows it so far, else the default.
func (c *calibrator) costs() refsched.Costs {
	costs := refsched.DefaultCosts()
	for k := range refsched.NumCosts {
		costs.Drawn[k], costs.Tail[k] = c.quantiles(k, 0), c.quantiles(k, 1-1.0/numQuantiles)
	}
	return costs
}
