package analyze

import (
	"iter"
	"slices"

	"github.com/schedscope/schedscope/analyze/requests"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/sums"
)

// The most requests of a kind in a sample: the slowest, and an even sample of all.
const (
	sampleSlowest = 500
	sampleEven    = 1500
	sampleParts   = 24 // of each path
)

// RequestSample keeps some of the requests that are added, for a picture of all: of each kind the
// slowest 500, and every n-th in the order in which they ended, where n is the least power of two
// that keeps at most 1,500. The zero value is ready to use.
type RequestSample struct {
	sums.Clock
	kinds []*requestSample
}

type requestSample struct {
	kind    string
	n       int64 // requests so far
	every   int64 // of which one is in even
	even    []result.RequestPath
	slowest sums.Top[result.RequestPath]
}

// Add adds a request if it is complete. It is to be called by [Options.Request].
func (s *RequestSample) Add(q *requests.Request) {
	if q.Complete {
		s.add(q, q.Parts())
	}
}

func (s *RequestSample) add(q *requests.Request, parts iter.Seq[*requests.Part]) {
	i := slices.IndexFunc(s.kinds, func(k *requestSample) bool { return k.kind == q.Kind })
	if i < 0 {
		i = len(s.kinds)
		s.kinds = append(s.kinds, &requestSample{kind: q.Kind, every: 1, slowest: slowestRequests(sampleSlowest)})
	}
	k := s.kinds[i]
	last, full := k.slowest.Full()
	slow, even := !full || q.Duration() > last.Duration, k.n%k.every == 0
	k.n++
	if !slow && !even {
		return
	}
	p := *requestPath(&s.Clock, q, parts, sampleParts)
	if slow {
		k.slowest.Add(p)
	}
	if !even {
		return
	}
	if k.even = append(k.even, p); len(k.even) > sampleEven {
		k.every *= 2
		odd := true
		k.even = slices.DeleteFunc(k.even, func(result.RequestPath) bool { odd = !odd; return odd })
	}
}

// Result returns the requests of each kind in Slowest, with paths of at most 24 parts; some are there
// twice.
func (s *RequestSample) Result() (list []result.RequestKind) {
	for _, k := range s.kinds {
		list = append(list, result.RequestKind{Kind: k.kind, RequestSet: result.RequestSet{Slowest: append(k.slowest.Items, k.even...)}})
	}
	return list
}
