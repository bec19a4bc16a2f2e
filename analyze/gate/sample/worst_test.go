package sample

import (
	"math/rand/v2"
	"testing"

	"github.com/schedscope/schedscope/model"
)

// TestWorst compares with trying every nanosecond.
func TestWorst(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		from := model.Time(rnd.IntN(20))
		to := from + 1 + model.Time(rnd.IntN(60))
		length := model.Duration(1 + rnd.IntN(20))
		var list []waited
		for range rnd.IntN(8) {
			a := from + model.Time(rnd.IntN(int(to-from)))
			list = append(list, waited{a, a + model.Time(rnd.IntN(int(to-a)+1))})
		}
		got := worst(list, from, to, 0, length)
		want := slowWorst(list, from, to, length)
		if len(got) != len(want) {
			t.Fatalf("%v in %d..%d of %d: %v, want totals %v", list, from, to, length, got, want)
		}
		for i := range got {
			if got[i].Total != want[i].Total || got[i] != want[i] {
				t.Fatalf("%v in %d..%d of %d: %v, want %v", list, from, to, length, got, want)
			}
		}
	}
}

// slowWorst tries every nanosecond.
func slowWorst(list []waited, from, to model.Time, length model.Duration) []Stretch {
	length = min(length, to.Sub(from))
	var out []Stretch
	for range worstCount {
		best := Stretch{}
		for at := from; at+model.Time(length) <= to; at++ {
			x := Stretch{From: model.Duration(at), To: model.Duration(at) + length}
			free := true
			for _, o := range out {
				free = free && (x.To <= o.From || x.From >= o.To)
			}
			if !free {
				continue
			}
			for _, w := range list {
				x.Total += max(min(model.Duration(w.end), x.To)-max(model.Duration(w.start), x.From), 0)
			}
			if x.Total > best.Total {
				best = x
			}
		}
		if best.Total == 0 {
			break
		}
		out = append(out, best)
	}
	return out
}
