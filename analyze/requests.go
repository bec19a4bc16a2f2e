package analyze

import (
	"cmp"
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/schedscope/schedscope/analyze/requests"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// Requests measures requests, and what the slowest have that the middle has not:
//
//  1. Of all, lengths and the sums of their parts are kept.
//  2. Paths are listed of those that are among the slowest twentieth so far, and of a sample of
//     those that are about in the middle so far, in which each is equally likely to be (Vitter
//     1985: algorithm R). Their parts are summed up by what they are: kind, function, and the
//     request's own wait that they explain.
//  3. At the end, the means of the slowest and of those of the sample that are in the middle
//     fifth of all lengths are compared, part by part.
type Requests struct {
	traceClock
	slow    model.Duration // if not 0, all that took as long are one tail
	tell    func(*requests.Request)
	tables  *model.Tables
	tracker *requests.Tracker
	kinds   []*requestKind // in the order of their first
	ids     map[partID]int32
	parts   []partSum
	listed  int64 // requests
}

// partID is what a part of a path is. Places may change until the end.
type partID struct {
	kind, wait requests.Kind
	at, waiter int32 // of places, 0: not known
}

// partSum is about all parts that are the same and were listed.
type partSum struct {
	kind, wait      requests.Kind
	at, waiter      *requests.Place // nil: not known
	total, inferred model.Duration
	in              int64 // the latest request listed that has it, and where
	index           int32
}

type requestKind struct {
	kind      string
	all       Dist
	censored  Tally
	own, path requests.Times
	sums      result.RequestKind // Listed, Certain, Codeless, Cut
	handlers  byName[requestHandler]
	slowest   slowest
	shown     top[result.RequestPath] // the slowest, whole
	sample    []*keptRequest
	low, high model.Duration // about the middle
	middle    int64          // requests that were
	random    *rand.Rand
}

type requestHandler struct {
	all      Dist
	censored Tally
}

// keptRequest is a request with its path.
type keptRequest struct {
	length model.Duration
	number int64 // of its kind
	parts  []keptPart
	path   *result.RequestPath // of the first of the sample
}

type keptPart struct {
	id   int32
	time model.Duration
}

// slowest is a heap of the slowest requests, the shortest of them first; of equal ones the last.
type slowest []*keptRequest

func (s slowest) Len() int      { return len(s) }
func (s slowest) Swap(i, j int) { s[i], s[j] = s[j], s[i] }
func (s *slowest) Push(x any)   { *s = append(*s, x.(*keptRequest)) }
func (s *slowest) Pop() any {
	x := (*s)[len(*s)-1]
	*s = (*s)[:len(*s)-1]
	return x
}
func (s slowest) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(s[i].length, s[j].length), cmp.Compare(s[j].number, s[i].number)) < 0
}

const (
	leastSlow   = 250
	mostSlow    = 10_000
	sampleSize  = 300
	sampleEvery = 256  // requests between two looks at which of them are in the middle
	samplePaths = 50   // of the sample, whose paths are shown if they are typical
	pathParts   = 1000 // of a path that is shown
	fewRequests = 500  // below, the tail are the slowest five
	fewSlowest  = 5
	leastTail   = 10      // requests for a tail
	maxParts    = 1 << 15 // that differ in more than their kinds
	haveShare   = 20      // a request has a part that is at least one in so many of its time
)

// tailShares are the slowest parts that are looked at. The last is what is kept.
var tailShares = []float64{0.01, 0.05}

func newRequests(t *model.Tables, o Options) *Requests {
	return &Requests{slow: o.Slow, tell: o.Request, tables: t, ids: map[partID]int32{}}
}

// follow has r find the requests that specs name.
func (r *Requests) follow(m *model.Machine, specs []requests.Spec) {
	r.tracker = requests.New(m, specs)
	r.tracker.Done = r.done
}

// Finish counts the requests that have not ended.
func (r *Requests) Finish() {
	if r.tracker != nil {
		r.tracker.Finish()
	}
}

// event takes an event.
func (r *Requests) event(ev *model.Event) {
	if r.tracker != nil {
		r.tracker.Event(ev)
	}
}

func (r *Requests) done(q *requests.Request) {
	if r.tell != nil {
		r.tell(q)
	}
	i := slices.IndexFunc(r.kinds, func(k *requestKind) bool { return k.kind == q.Kind })
	if i < 0 {
		i = len(r.kinds)
		k := &requestKind{kind: q.Kind, handlers: newByName[requestHandler](r.tables), random: rand.New(rand.NewPCG(1, 2))}
		k.shown = top[result.RequestPath]{limit: longestShown, compare: func(a, b result.RequestPath) int {
			return cmp.Or(cmp.Compare(b.Duration, a.Duration), cmp.Compare(a.Start, b.Start), cmp.Compare(a.Goroutine, b.Goroutine))
		}}
		r.kinds = append(r.kinds, k)
	}
	k, d, at := r.kinds[i], q.Duration(), r.at(q.End)
	h := k.handlers.named(q.Name)
	if !q.Complete {
		k.censored.Add(d, at)
		h.censored.Add(d, at)
		return
	}
	k.all.Add(d, at)
	h.all.Add(d, at)
	for i := range k.own {
		k.own[i] += q.Own[i]
		k.path[i] += q.Path[i]
	}
	if q.Truncated {
		k.sums.Cut++
	}
	n := k.all.Count()
	limit := min(max(leastSlow, int(tailShares[len(tailShares)-1]*float64(n))), mostSlow)
	if r.slow > 0 {
		limit = mostSlow
	}
	slow := len(k.slowest) < limit || d > k.slowest[0].length
	switch {
	case n == 1:
		k.low, k.high = 0, math.MaxInt64
	case n > sampleSize && n&(n-1) == 0: // twice as many as the last time
		q := k.all.Quantiles(0.3, 0.7)
		k.low, k.high = q[0], q[1]
	}
	place := sampleSize
	if d >= k.low && d <= k.high {
		place = len(k.sample)
		if k.middle++; place == sampleSize {
			place = int(k.random.Int64N(k.middle))
		}
	}
	if !slow && place >= sampleSize {
		return
	}
	x := &keptRequest{length: d, number: n}
	last, full := k.shown.full()
	top := !full || d > last.Duration
	if top || place < samplePaths {
		x.path = &result.RequestPath{Name: q.Name, Goroutine: q.G, Start: r.at(q.Start), Duration: d}
	}
	r.keep(k, q, x)
	if top {
		k.shown.add(*x.path)
	}
	if place >= samplePaths {
		x.path = nil
	}
	switch {
	case place == len(k.sample) && place < sampleSize:
		k.sample = append(k.sample, x)
	case place < sampleSize:
		k.sample[place] = x
	}
	if slow {
		for heap.Push(&k.slowest, x); len(k.slowest) > limit; {
			heap.Pop(&k.slowest)
		}
	}
}

// keep lists a request's path, whole if x.path is set, and sums it up in x.
func (r *Requests) keep(k *requestKind, q *requests.Request, x *keptRequest) {
	r.listed++
	for p := range q.Parts() {
		id, d := r.part(p), p.To.Sub(p.From)
		s := &r.parts[id]
		s.total += d
		k.sums.Listed += d
		if p.Inferred {
			s.inferred += d
		} else {
			k.sums.Certain += d
		}
		if p.At == nil && p.Kind == requests.Running {
			k.sums.Codeless += d
		}
		if s.in != r.listed {
			s.in, s.index = r.listed, int32(len(x.parts))
			x.parts = append(x.parts, keptPart{id: id})
		}
		x.parts[s.index].time += d
		switch v := x.path; {
		case v == nil:
		case len(v.Parts) < pathParts:
			v.Parts = append(v.Parts, RequestPart(p))
		default:
			v.Rest += d
		}
	}
}

// RequestPart returns a part of a critical path as reports show it.
func RequestPart(p *requests.Part) result.RequestPart {
	v := result.RequestPart{Length: p.To.Sub(p.From), Kind: p.Kind.String(), Goroutine: p.G, Depth: p.Depth, Inferred: p.Inferred}
	if p.At != nil {
		v.Function, v.File, v.Line = p.At.Func, p.At.File, p.At.Line
	}
	if p.Wait < requests.NumKinds {
		v.Wait = p.Wait.String()
	}
	if p.WaitAt != nil {
		v.Waiter = p.WaitAt.Func
	}
	return v
}

// part returns the number of what a part is.
func (r *Requests) part(p *requests.Part) int32 {
	k, at, waiter := partID{kind: p.Kind, wait: p.Wait}, p.At, p.WaitAt
	if at != nil {
		k.at = at.ID
	}
	if waiter != nil {
		k.waiter = waiter.ID
	}
	id, ok := r.ids[k]
	if !ok && len(r.parts) >= maxParts {
		at, waiter, k.at, k.waiter = nil, nil, 0, 0
		id, ok = r.ids[k]
	}
	if !ok {
		id = int32(len(r.parts))
		r.ids[k] = id
		r.parts = append(r.parts, partSum{kind: p.Kind, wait: p.Wait, at: at, waiter: waiter})
	}
	return id
}

// Result adds what was found to v.
func (r *Requests) Result(v *result.Report) {
	for _, k := range r.kinds {
		v.Requests = append(v.Requests, r.kind(k))
	}
	slices.SortStableFunc(v.Requests, func(a, b result.RequestKind) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Kind, b.Kind))
	})
}

func (r *Requests) kind(k *requestKind) result.RequestKind {
	v := k.sums
	middle, low, high := k.all.Quantile(0.5), k.all.Quantile(0.4), k.all.Quantile(0.6)
	v.Kind, v.Dist, v.Censored, v.Own, v.Path = k.kind, result.NewDist(&k.all), k.censored, requestTimes(&k.own), requestTimes(&k.path)
	v.Handlers = rowsOf(&k.handlers, func(h *requestHandler) model.Duration { return h.all.Total() + h.censored.Total },
		func(name string, h *requestHandler) result.RequestHandler {
			return result.RequestHandler{Named: resultNamed(name, &h.all), Censored: h.censored}
		})
	slices.SortFunc(k.slowest, func(a, b *keptRequest) int {
		return cmp.Or(cmp.Compare(b.length, a.length), cmp.Compare(a.number, b.number))
	})
	var around []*keptRequest
	var typical *keptRequest
	far := func(x *keptRequest) model.Duration { return max(x.length-middle, middle-x.length) }
	for _, x := range k.sample {
		if x.length >= low && x.length <= high {
			around = append(around, x)
		}
		if x.path != nil && (typical == nil || far(x) < far(typical)) {
			typical = x
		}
	}
	v.Tails, v.Slowest = []result.RequestTail{}, append([]result.RequestPath{}, k.shown.items...)
	if typical != nil {
		v.Typical = typical.path
	}
	n := int(k.all.Count())
	switch {
	case n < leastTail:
	case r.slow > 0:
		slow := slices.IndexFunc(k.slowest, func(x *keptRequest) bool { return x.length < r.slow })
		if slow < 0 {
			slow = len(k.slowest)
		}
		if slow > 0 {
			v.Tails = append(v.Tails, r.tail(0, k.slowest[:slow], around))
		}
	case n < fewRequests:
		v.Tails = append(v.Tails, r.tail(0, k.slowest[:min(fewSlowest, len(k.slowest))], around))
	default:
		for _, share := range tailShares {
			v.Tails = append(v.Tails, r.tail(share, k.slowest[:min(int(share*float64(n)), len(k.slowest))], around))
		}
	}
	v.Trim()
	return v
}

func requestTimes(t *requests.Times) []result.RequestTime {
	list := []result.RequestTime{}
	for k, d := range t {
		if d != 0 {
			list = append(list, result.RequestTime{Name: requests.Kind(k).String(), Total: d})
		}
	}
	slices.SortStableFunc(list, func(a, b result.RequestTime) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// tail compares the slow with the middle.
func (r *Requests) tail(share float64, slow, middle []*keptRequest) result.RequestTail {
	t := result.RequestTail{Share: share, Count: int64(len(slow))}
	if len(slow) > 0 {
		t.From = slow[len(slow)-1].length
	}
	for _, q := range slow {
		t.Total += q.length
	}
	for _, q := range middle {
		t.Middle.Count++
		t.Middle.Total += q.length
	}
	t.Rows, t.Groups = r.rows(slow, middle, false), r.rows(slow, middle, true)
	return t
}

// rows adds up the parts of the slow and of the middle that are the same, or of the same group.
func (r *Requests) rows(slow, middle []*keptRequest, groups bool) []result.RequestRow {
	rows := map[result.RequestRow]*tailRow{} // by what makes rows the same
	row := func(id int32) *tailRow {
		s := &r.parts[id]
		v := result.RequestRow{Kind: s.kind.String()}
		if p := s.at; p != nil {
			v.Function, v.File = p.Func, p.File
		}
		at := s.at
		if s.wait < requests.NumKinds {
			v.Wait = s.wait.String()
			if p := s.waiter; p != nil {
				v.Waiter, v.WaitFile = p.Func, p.File
			}
		}
		switch {
		case groups && s.kind == requests.Queued:
			v.Wait, v.Waiter, v.WaitFile = "", "", ""
		case groups && v.Wait != "":
			v, at = result.RequestRow{Kind: v.Wait, Function: v.Waiter, File: v.WaitFile}, s.waiter
		case groups && s.kind == requests.Runnable:
			v, at = result.RequestRow{Kind: v.Kind}, nil
		}
		x := rows[v]
		if x == nil {
			x = &tailRow{RequestRow: v, taken: map[int32]bool{}, lines: map[uint64]model.Duration{}, waiterLines: map[uint64]model.Duration{}}
			rows[v] = x
		}
		if !x.taken[id] {
			x.taken[id] = true
			x.total += s.total
			x.inferred += s.inferred
			if at != nil && at.Line > 0 {
				x.lines[uint64(at.Line)] += s.total
			}
			if s.waiter != nil && s.waiter.Line > 0 {
				x.waiterLines[uint64(s.waiter.Line)] += s.total
			}
		}
		return x
	}
	for _, q := range slow {
		for _, p := range q.parts {
			x := row(p.id)
			x.Slow += p.time
			if x.in == q {
				x.inIt += p.time
			} else {
				x.in, x.inIt = q, p.time
			}
			if before := x.inIt - p.time; x.inIt*haveShare >= q.length && before*haveShare < q.length {
				x.Have++
			}
		}
	}
	for _, q := range middle {
		for _, p := range q.parts {
			row(p.id).Middle += p.time
		}
	}
	list := []result.RequestRow{}
	for _, x := range rows {
		x.Line, x.Inferred = int(mostly(x.lines)), 2*x.inferred > x.total
		if x.Wait != "" {
			x.WaitLine = int(mostly(x.waiterLines))
		}
		list = append(list, x.RequestRow)
	}
	return list
}

// tailRow is a row of a tail while it is summed up.
type tailRow struct {
	result.RequestRow
	taken              map[int32]bool // kinds of parts
	total, inferred    model.Duration
	lines, waiterLines map[uint64]model.Duration
	in                 *keptRequest // the latest, and its time
	inIt               model.Duration
}
