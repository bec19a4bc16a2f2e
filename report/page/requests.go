package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/report/view"
)

// drawnParts is how many parts of a path the page draws at most.
const drawnParts = 200

// packedRequests are requests as scripts read them; texts are places in Strings.
type packedRequests struct {
	Sets    []string          `json:"sets"`    // labels of what is compared with each other
	Colours map[string]string `json:"colours"` // classes of kinds of time
	Strings []string          `json:"strings"`
	// Of each in the order of their starts: trace, set, name, goroutine, start, length, labels, and nine
	// numbers for each part of the path: length, kind, goroutine, depth, function, place, wait,
	// function that waited, 1 if inferred.
	Requests [][]int64 `json:"requests"`
	places   map[string]int64
}

func (p *packedRequests) text(s string) int64 {
	s = textui.Clean(s)
	i, ok := p.places[s]
	if !ok {
		i = int64(len(p.Strings))
		p.places[s] = i
		p.Strings = append(p.Strings, s)
	}
	return i
}

// requests returns those that the page draws, nil if there are none: the slowest and the typical
// of the report, and the sample.
func (p *pageView) requests() *packedRequests {
	out := &packedRequests{places: map[string]int64{}, Colours: map[string]string{}}
	seen := map[string]bool{}
	for _, k := range p.r.Requests {
		sets, first := k.Sets(), len(out.Sets)
		for j := range sets {
			out.Sets = append(out.Sets, textui.Clean(result.GroupName(k.Kind, sets[j].Name)))
		}
		add := func(list ...result.RequestPath) {
			for _, q := range list {
				key := fmt.Sprintf("%s %d %d %d %d", k.Kind, q.Trace, q.Goroutine, q.Start, q.Duration)
				if seen[key] {
					continue
				}
				seen[key] = true
				set := slices.IndexFunc(sets, func(s result.RequestGroup) bool { return s.Name == cmp.Or(q.Name, result.NoName) })
				if set < 0 {
					set = max(slices.IndexFunc(sets, func(s result.RequestGroup) bool { return s.Name == result.OtherNames }), 0)
				}
				out.Requests = append(out.Requests, out.pack(&q, first+set, &sets[set]))
			}
		}
		for _, s := range slices.Concat(sets, []result.RequestGroup{{RequestSet: k.RequestSet}}) {
			add(s.Slowest...)
			if s.Typical != nil {
				add(*s.Typical)
			}
		}
		for _, s := range p.in.Requests {
			if s.Kind == k.Kind {
				add(s.Slowest...)
			}
		}
	}
	if len(out.Requests) == 0 {
		return nil
	}
	slices.SortStableFunc(out.Requests, func(a, b []int64) int { return cmp.Or(cmp.Compare(a[4], b[4]), slices.Compare(a, b)) })
	return out
}

func (p *packedRequests) pack(q *result.RequestPath, set int, of *result.RequestGroup) []int64 {
	row := []int64{int64(q.Trace), int64(set), p.text(q.Name), int64(q.Goroutine), int64(q.Start), int64(q.Duration), p.text(strings.Join(q.Labels, ", "))}
	q.Shorten(drawnParts)
	for _, x := range q.Parts {
		kind, wait := of.Label(x.Kind, x.Function), of.Label(x.Wait, x.Waiter)
		p.Colours[textui.Clean(kind)] = view.RequestClass(x.Kind)
		p.Colours[textui.Clean(cmp.Or(wait, kind))] = view.RequestClass(cmp.Or(x.Wait, x.Kind))
		inferred := textui.Either[int64](x.Inferred, 1, 0)
		row = append(row, int64(x.Length), p.text(kind), int64(x.Goroutine), int64(x.Depth), p.text(x.Function),
			p.text(view.PlaceText(&result.Frame{File: x.File, Line: uint64(max(x.Line, 0))})), p.text(wait), p.text(x.Waiter), inferred)
	}
	return row
}
