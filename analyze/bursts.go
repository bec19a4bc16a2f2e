package analyze

import (
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/sums"
	"github.com/schedscope/schedscope/model"
)

// Lengths from which a burst counts as long. The runtime asks a goroutine to
// give way when it has run for 10 ms (runtime/proc.go: forcePreemptNS, sysmon
// notices up to 10 ms late), so one over 20 ms did not heed the request, or the
// operating system did not run its thread.
const (
	LongBurst     = 10_000_000 * model.Duration(1)
	VeryLongBurst = 20_000_000 * model.Duration(1)
)

// Bursts measures Running intervals: from start to stop, without preemption.
// Results are about the program's own goroutines, except System.
type Bursts struct {
	sums.Clock
	All      Dist // set by Finish
	System   Dist
	Censored Censored
	Long     Tally // longer than LongBurst; censored ones too
	VeryLong Tally // longer than VeryLongBurst; censored ones too

	funcs  sums.Dists
	places sums.ByName[Tally] // where bursts over LongBurst stopped
	tables *model.Tables
	top    sums.Top[result.Burst]
}

// NewBursts returns a Bursts that reports the limit longest bursts over LongBurst.
func NewBursts(t *model.Tables, limit int) *Bursts {
	return &Bursts{funcs: sums.NewDists(t), places: sums.NewByName[Tally](t), tables: t, top: sums.Top[result.Burst]{Limit: limit, Compare: result.CompareBursts}}
}

// GoSpan implements [model.GoSpanObserver].
func (b *Bursts) GoSpan(s *model.GoSpan) {
	if s.State != model.GoRunning {
		return
	}
	at, d := b.Offset(s.End), s.Duration()
	if s.System {
		if !s.OpenStart && !s.OpenEnd {
			b.System.Add(d, at)
		}
		return
	}
	if d > LongBurst {
		b.long(s, d, at)
	}
	if !sums.AddCensored(&b.Censored, s, at) {
		b.funcs.Get(s.Func).Add(d, at)
	}
}

func (b *Bursts) long(s *model.GoSpan, d model.Duration, at model.Time) {
	b.Long.Add(d, at)
	place := result.PlaceOf(b.tables.Stack(s.Stack))
	if place != "" {
		b.places.Named(place).Add(d, at)
	}
	if d > VeryLongBurst {
		b.VeryLong.Add(d, at)
	}
	if last, ok := b.top.Full(); ok && d < last.Duration {
		return
	}
	b.top.Add(result.Burst{Goroutine: s.G, Function: sums.NameOf(b.tables, s.Func), Place: place, Proc: s.P,
		Start: b.Offset(s.Start), Duration: d, Censored: s.OpenStart || s.OpenEnd})
}

// Finish sets All. Call it after the last interval.
func (b *Bursts) Finish() { b.All = b.funcs.Sum() }

// ByFunc returns the distributions by start function, greatest total first.
func (b *Bursts) ByFunc() []result.Named { return b.funcs.Rows() }

// Places returns the functions in which bursts over LongBurst stopped, greatest
// total first: the innermost that is neither the runtime's nor the standard
// library's, else the innermost that is not the runtime's. It is where a burst
// was when it ended, which need not be where it spent its time.
func (b *Bursts) Places() []result.Place {
	return sums.Rows(&b.places, func(t *Tally) model.Duration { return t.Total }, func(name string, t *Tally) result.Place { return result.Place{Function: name, Tally: *t} })
}

// Longest returns the longest bursts over LongBurst.
func (b *Bursts) Longest() []result.Burst { return append([]result.Burst{}, b.top.Items...) }

// Result adds the results to v.
func (b *Bursts) Result(v *result.Report) {
	v.Bursts = result.Bursts{
		All: result.NewDist(&b.All), System: result.NewDist(&b.System), ByFunction: b.ByFunc(),
		Long: b.Long, VeryLong: b.VeryLong, Censored: b.Censored, Places: b.Places(), Longest: b.Longest(),
	}
}
