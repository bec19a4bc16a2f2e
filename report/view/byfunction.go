package view

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/report/document"
)

const (
	functionsShown = 15
	everyPath      = 0.95 // of the time of requests is that of the handler itself
	oneCallee      = 0.95 // of the time of a function is that of one that it calls
)

// onPath is a function of the program on critical paths, with what it calls.
type onPath struct {
	function      string
	place         result.Frame
	typical, slow float64 // in each request, in nanoseconds
	own           float64 // of both, where it is the innermost of the program
	callees       map[string]float64
}

// ByFunction lists the functions of the program on the critical paths of requests, with how much
// shorter requests would be without them. That is a bound: nothing takes their place. A function that
// nearly all of the time is in says nothing, nor does one of which all is in one that it calls.
func ByFunction(r *result.Report) *document.Section {
	s := document.New("requests-by-function", "Requests by function",
		"with what it waits for; without it a request takes at least what is listed: a bound, since nothing takes its place")
	t := s.Table("t-by-function", document.Function("function"), document.Words("where"), document.Duration("middle fifth").Doc("its time in a request of the middle fifth, on average"),
		document.Duration("slowest").Doc("the same of the slowest"), document.Duration("middle without"), document.Duration("slowest without"))
	t.Fixed = true
	for _, k := range r.Requests {
		sets := k.Sets()
		for _, x := range sets {
			if len(x.Tails) == 0 || x.Tails[0].Middle.Count == 0 {
				continue
			}
			tail := &x.Tails[0]
			typical, slowest := float64(tail.Middle.Total)/float64(tail.Middle.Count), float64(tail.Total)/float64(max(tail.Count, 1))
			t.Section(result.GroupName(k.Kind, x.Name))
			t.Row("(all)", "", int64(typical), int64(slowest), nil, nil).Total = true
			for _, f := range functionsOf(tail, typical, slowest) {
				t.Row(f.function, PlaceText(&f.place), int64(f.typical), int64(f.slow), int64(max(typical-f.typical, 0)), int64(max(slowest-f.slow, 0)))
			}
		}
	}
	return s.OrNil()
}

// PlaceText returns where a frame is, "server/conn.go:12"; "" if that is not known.
func PlaceText(f *result.Frame) string {
	if f.File == "" {
		return ""
	}
	parts := strings.Split(f.File, "/")
	return strings.Join(parts[max(len(parts)-2, 0):], "/") + textui.If(f.Line > 0, fmt.Sprintf(":%d", f.Line)) // with its folder
}

// framesOf returns the functions that a part of requests is in, the innermost first.
func framesOf(t *result.RequestTail, x *result.RequestRow) []result.Frame {
	frames := []result.Frame{{Function: x.Function, File: x.File, Line: uint64(max(x.Line, 0))}}
	if x.Way != nil {
		frames = append(frames, x.Way.Callers...)
	}
	if x.Waiter != "" {
		frames = append(frames, result.Frame{Function: x.Waiter, File: x.WaitFile, Line: uint64(max(x.WaitLine, 0))})
		if g := result.Find(t.Groups, x.InGroup); g != nil && g.Way != nil {
			frames = append(frames, g.Way.Callers...)
		}
	}
	return frames
}

// literal matches the names of function literals.
var literal = regexp.MustCompile(`\.func\d+(\.\d+)*$`)

// groupText returns the name of a group of requests, and of a function literal where it was seen.
func groupText(x *result.RequestGroup) string {
	for i := range x.Tails {
		for n := range x.Tails[i].Rows {
			for _, f := range framesOf(&x.Tails[i], &x.Tails[i].Rows[n]) {
				if f.Function == x.Name && f.Line > 0 && literal.MatchString(x.Name) {
					return textui.Place(f.Function, f.File, f.Line)
				}
			}
		}
	}
	return x.Name
}

// functionsOf adds up the rows of a tail by each function that is on their way, most first.
func functionsOf(t *result.RequestTail, typical, slowest float64) []*onPath {
	byName := map[string]*onPath{}
	for _, x := range t.Rows {
		frames := framesOf(t, &x)
		m, s := float64(x.Middle)/float64(max(t.Middle.Count, 1)), float64(x.Slow)/float64(max(t.Count, 1))
		callee := ""
		for n, f := range frames {
			if !result.Programs(&model.Frame{Func: f.Function, File: f.File}) || slices.ContainsFunc(frames[:n], func(g result.Frame) bool { return g.Function == f.Function }) {
				continue
			}
			p := byName[f.Function]
			if p == nil {
				p = &onPath{function: f.Function, place: f, callees: map[string]float64{}}
				byName[f.Function] = p
			}
			p.typical, p.slow = p.typical+m, p.slow+s
			if callee == "" {
				p.own += m + s
			} else {
				p.callees[callee] += m + s
			}
			callee = f.Function
		}
	}
	var list []*onPath
	for _, p := range byName {
		whole, one := p.typical+p.slow, false
		for _, d := range p.callees {
			one = one || d >= oneCallee*whole
		}
		if one || 2*p.own < whole && p.typical >= everyPath*typical && p.slow >= everyPath*slowest || p.typical < 0.01*typical && p.slow < 0.01*slowest {
			continue
		}
		list = append(list, p)
	}
	return result.First(list, functionsShown, func(a, b *onPath) int {
		return cmp.Or(cmp.Compare(b.typical+b.slow, a.typical+a.slow), cmp.Compare(a.function, b.function))
	})
}
