package chart

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// Side is one side of a comparison: a name, and how long the waits of each recording were, or the
// requests.
type Side struct {
	Name       string
	Recordings []*dist.Dist
	Traces     int // that they are of, if that is another number: reports of several
}

// traces returns how many traces the side is of.
func (s *Side) traces() int { return max(s.Traces, len(s.Recordings)) }

// Comparison is the data of a picture that compares two sides.
type Comparison struct {
	Base, Cand Side
	Requests   string // whose requests they are; "": they are waits
	// Limit is drawn as a line, 0 for none.
	Limit model.Duration
}

// compareTitle is the title of the picture of a comparison.
const compareTitle = "Scheduling latency compared"

// Picture returns the percentile spectra of both sides over each other.
func (c *Comparison) Picture() *Picture {
	one, title := "wait", compareTitle
	if c.Requests != "" {
		one, title = "request", "How long requests took: "+textui.Shorten(printable(c.Requests), 50)
	}
	base, cand := c.Base.pool("old", one), c.Cand.pool("new", one)
	missing := textui.If(base.waits.Count()+cand.waits.Count() == 0, noWaits)
	scope := textui.Either(c.Base.traces() < 2 || c.Cand.traces() < 2, "A side of one process does not show by how much processes differ: differences may be chance.", "The "+one+"s of all traces of a side together: for looking, not for a verdict.")
	return newPicture("compare", title, cand.name+" against "+base.name, 440, missing, func(at canvas) {
		s := newSpectra(base, cand, c.Limit)
		s.of = one + "s"
		s.draw(at.caption(scope))
	})
}

// pool is the recordings of a side together.
type pool struct {
	name, size string // the latter says of how much it is made: "10 traces, 12,345 waits"
	recordings []*dist.Dist
	waits      *dist.Dist
}

// pool puts the recordings of a side together. The name is short enough to stand in a line
// with others.
func (s *Side) pool(otherwise, one string) *pool {
	const longestName = 28
	p := &pool{name: textui.Shorten(printable(s.Name), longestName), recordings: s.Recordings, waits: &dist.Dist{}}
	p.name = cmp.Or(p.name, otherwise)
	for _, r := range s.Recordings {
		p.waits.Merge(r)
	}
	p.size = textui.Plural(p.waits.Count(), one)
	if n := s.traces(); n != 1 {
		p.size = textui.Plural(n, "trace") + ", " + p.size
	}
	return p
}

// newSpectra returns the percentile spectra of both sides of a comparison.
func newSpectra(base, cand *pool, limit model.Duration) *spectrum {
	n := min(base.waits.Count(), cand.waits.Count())
	s := compareCurves(newCurve(cand.name, blue, cand.waits.Count(), cand.waits), newCurve(base.name, slate, base.waits.Count(), base.waits),
		n, cand.waits, base.waits)
	s.legend = []entry{{name: cand.name + ": " + cand.size, col: blue, mark: markLine}, {name: base.name + ": " + base.size, col: slate, mark: markDash}}
	over, under := s.differ()
	if over {
		s.legend = append(s.legend, entry{name: cand.name + " is longer", col: longer})
	}
	if under {
		s.legend = append(s.legend, entry{name: cand.name + " is shorter", col: shorter})
	}
	for _, p := range []*pool{base, cand} {
		col := textui.Either(p == base, slate, blue)
		if b := bandOf(p.recordings); len(b.least) > 0 {
			b.col = color.NRGBA{col.R, col.G, col.B, 0x2c}
			s.bands = append(s.bands, b)
			s.legend = append(s.legend, entry{name: "single traces of " + p.name, col: mix(white, col, 0.22)})
		}
	}
	if limit > 0 {
		s.limit = log10ns(float64(limit))
		s.limitNote = fmt.Sprintf("limit %s: longer are %s of %s, %s of %s", durationLabel(float64(limit)),
			beyond(base.waits, limit), base.name, beyond(cand.waits, limit), cand.name)
	}
	return s
}

// beyond returns the part of waits longer than a limit, in percent.
func beyond(d *dist.Dist, limit model.Duration) string {
	n := int64(0)
	d.Each(func(v model.Duration, count int64) {
		if v > limit {
			n += count
		}
	})
	return textui.Ratio(n, d.Count())
}

// bandOf returns the least and the most of recordings at each percentile, up to where at
// least half of them, and two, reach; there is none of fewer.
func bandOf(rs []*dist.Dist) quantileBand {
	rs = slices.DeleteFunc(slices.Clone(rs), func(r *dist.Dist) bool { return r.Count() == 0 })
	slices.SortFunc(rs, func(a, b *dist.Dist) int { return cmp.Compare(b.Count(), a.Count()) })
	reach := func(r *dist.Dist) float64 { return math.Log10(float64(r.Count())) }
	var b quantileBand
	if len(rs) < 2 {
		return b
	}
	end := reach(rs[max(2, (len(rs)+1)/2)-1])
	for k, r := range rs {
		for i, p := range sampled(end, r) {
			if k == 0 {
				b.least, b.most = append(b.least, p), append(b.most, p)
			} else if p.x <= reach(r)+1e-9 {
				b.least[i].y, b.most[i].y = min(b.least[i].y, p.y), max(b.most[i].y, p.y)
			}
		}
	}
	return b
}
