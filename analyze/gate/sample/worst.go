package sample

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/model"
)

// Worst stretches: how many and how long.
const (
	worstCount  = 3
	worstLength = 25_000_000 * model.Duration(1)
)

// waited is when a goroutine waited to run.
type waited struct{ start, end model.Time }

// waiting is how many goroutines waited to run, over time.
type waiting struct {
	steps []waitingStep
}

// waitingStep is a moment in which the number changes.
type waitingStep struct {
	at    model.Time
	n     int64 // from then on
	total int64 // goroutine-nanoseconds before
}

func newWaiting(list []waited) *waiting {
	type change struct {
		at model.Time
		n  int64
	}
	changes := make([]change, 0, 2*len(list))
	for _, w := range list {
		changes = append(changes, change{w.start, 1}, change{w.end, -1})
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	w := &waiting{}
	var n, total int64
	for i, c := range changes {
		if i > 0 {
			total += n * int64(c.at.Sub(changes[i-1].at))
		}
		n += c.n
		if k := len(w.steps) - 1; k >= 0 && w.steps[k].at == c.at {
			w.steps[k].n = n
			continue
		}
		w.steps = append(w.steps, waitingStep{c.at, n, total})
	}
	return w
}

// before returns the goroutine-nanoseconds of waiting before t, going on from the step
// that an earlier time needed.
func (w *waiting) before(t model.Time, step *int) int64 {
	for *step+1 < len(w.steps) && w.steps[*step+1].at <= t {
		*step++
	}
	if len(w.steps) == 0 || w.steps[*step].at > t {
		return 0
	}
	s := &w.steps[*step]
	return s.total + s.n*int64(t.Sub(s.at))
}

// best finds the stretch of a length within [from, to] in which there is most waiting,
// the earliest of equals. The most there can be is where a wait begins or ends at
// one of the stretch's ends: between two such moments the total changes evenly.
func (w *waiting) best(from, to model.Time, length model.Duration) (at model.Time, total int64, ok bool) {
	last := to - model.Time(length)
	if last < from {
		return 0, 0, false
	}
	// Two lists of candidates in order: stretches that begin at a step, that end at one.
	i, j, lo, hi := 0, 0, 0, 0
	try := func(t model.Time) {
		if d := w.before(t+model.Time(length), &hi) - w.before(t, &lo); !ok || d > total {
			at, total, ok = t, d, true
		}
	}
	try(from)
	for i < len(w.steps) || j < len(w.steps) {
		var t model.Time
		if j >= len(w.steps) || i < len(w.steps) && w.steps[i].at <= w.steps[j].at-model.Time(length) {
			t = w.steps[i].at
			i++
		} else {
			t = w.steps[j].at - model.Time(length)
			j++
		}
		if t > from && t < last {
			try(t)
		}
	}
	try(last)
	return at, total, true
}

// worst returns the stretches of a length, or of all if that is less, with most waiting,
// worst first. Each next one is the worst
// that does not overlap those before. Times count from origin.
func worst(list []waited, from, to, origin model.Time, length model.Duration) []Stretch {
	w := newWaiting(list)
	length = min(length, to.Sub(from))
	var out []Stretch
	gaps := [][2]model.Time{{from, to}}
	for range worstCount {
		in, at, most := -1, model.Time(0), int64(0)
		for k, g := range gaps {
			if t, total, ok := w.best(g[0], g[1], length); ok && total > most {
				in, at, most = k, t, total
			}
		}
		if in < 0 {
			break
		}
		end := at + model.Time(length)
		out = append(out, Stretch{From: at.Sub(origin), To: end.Sub(origin), Total: model.Duration(most)})
		g := gaps[in]
		gaps = slices.Replace(gaps, in, in+1, [2]model.Time{g[0], at}, [2]model.Time{end, g[1]})
	}
	return out
}
