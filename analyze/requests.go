package analyze

import (
	"cmp"
	"container/heap"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/requests"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/sums"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// Requests measures requests, and what the slowest have that the middle has not:
//
//  1. Of all, lengths and the sums of their parts are kept.
//  2. Paths are listed of those that are among the slowest twentieth so far, and of a sample of
//     those that are about in the middle so far, in which each is equally likely to be (Vitter
//     1985: algorithm R). Their parts are summed up by what they are: kind, function, and the
//     request's own wait that they explain.
//  3. From the first that may serve requests on, all this is done by batches of events on a goroutine of its own: in turns with
//     the Machine, neither finds its code in the caches of the processor.
//  4. At the end, the means of the slowest and of those of the sample that are in the middle
//     fifth of all lengths are compared, part by part.
type Requests struct {
	sums.Clock
	slow    model.Duration // if not 0, all that took as long are one tail
	tell    func(*requests.Request)
	tables  *model.Tables
	tracker *requests.Tracker
	active  bool            // it keeps something
	seen    []requests.Seen // the batch that is being filled
	saw     int             // so many are in it
	line    *model.Line[[]requests.Seen]
	kinds   []*requestKind // in the order of their first
	ids     map[partID]int32
	recent  [256]int32 // of ids, by hash
	parts   []partSum
	list    []keptPart          // to be used again
	ended   int64               // requests whose paths were listed
	latest  *result.RequestPath // that was listed whole
}

// partID is what a part of a path is. Places may change until the end.
type partID struct {
	kind, wait   requests.Kind
	where, waits int32 // IDs of places, 0: not known
}

// partSum is about all parts that are the same and were listed.
type partSum struct {
	partID
	at, waiter      *requests.Place // nil: not known
	total, inferred model.Duration
	polls, expires  model.Duration // of the total
	longest         model.Duration // of one part, and the way to that
	via             *requests.Place
	viaKind         requests.Kind
	in              int64 // number of the latest request that has it, and where
	index           int32
}

type requestKind struct {
	kind     string
	all      *requestSet
	groups   sums.ByName[*requestSet] // the first maxGroups
	unended  sums.Top[result.RequestPath]
	handlers sums.ByName[requestHandler]
}

// requestSet are requests that are compared with each other.
type requestSet struct {
	all       Dist
	censored  Tally
	own, path requests.Times
	sums      result.RequestSet // Listed, Certain, Codeless, Cut
	slowest   slowest
	shown     sums.Top[result.RequestPath] // the slowest, whole
	sample    []*keptRequest
	paths     [samplePaths]*result.RequestPath // of the first of the sample
	low, high model.Duration                   // about the middle
	middle    int64                            // requests that were
	random    *rand.Rand
}

type requestHandler struct {
	all            Dist
	censored, open Tally
}

// keptRequest is a request with its path.
type keptRequest struct {
	length            model.Duration
	certain, codeless model.Duration
	number            int64
	parts             []keptPart
}

type keptPart struct {
	id    int32
	times int32
	time  model.Duration
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
	return s[i].length < s[j].length || s[i].length == s[j].length && s[i].number > s[j].number
}

const (
	leastSlow     = 250
	mostSlow      = 10_000
	slowShare     = 0.06 // of all, so that at the end the greatest of tailShares are there nearly always
	sampleSize    = 300
	requestEvents = 1 << 10 // in a batch
	sampleEvery   = 256     // requests between two looks at which of them are in the middle
	samplePaths   = 50      // of the sample, whose paths are shown if they are typical
	pathParts     = 1000    // of a path that is shown
	fewRequests   = 500     // below, the tail are the slowest five
	fewSlowest    = 5
	leastTail     = 10      // requests for a group
	maxParts      = 1 << 15 // that differ in more than their kinds
	haveShare     = 20      // a request has a part that is at least one in so many of its time
	maxGroups     = 16
	groupShare    = 0.2 // of all requests
	pollShare     = 0.1 // of the time in sleeps at one place
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
	batch := func() []requests.Seen { return make([]requests.Seen, requestEvents) }
	r.seen, r.line = batch(), model.NewLine(r.take, batch(), batch())
	m.OnWait(r.line.Wait)
}

// Finish counts the requests that have not ended.
func (r *Requests) Finish() {
	if r.tracker != nil {
		r.line.Send(r.seen[:r.saw])
		r.line.Wait()
		r.tracker.Finish()
	}
}

// take takes a batch of events.
func (r *Requests) take(batch []requests.Seen) {
	for i := range batch {
		r.tracker.Take(&batch[i])
	}
}

// event takes an event. Until r is active, the transition of a goroutine may be left out that neither creates one nor has its stack.
func (r *Requests) event(ev *model.Event) {
	if !r.active {
		r.active = r.tracker != nil && r.tracker.Event(ev)
		return
	}
	if r.tracker.See(ev, &r.seen[r.saw]) {
		if r.saw++; r.saw == len(r.seen) {
			r.seen, r.saw = r.line.Send(r.seen), 0
		}
	}
}

func (r *Requests) done(q *requests.Request) {
	if r.tell != nil {
		r.tell(q)
	}
	i := slices.IndexFunc(r.kinds, func(k *requestKind) bool { return k.kind == q.Kind })
	if i < 0 {
		i = len(r.kinds)
		r.kinds = append(r.kinds, &requestKind{kind: q.Kind, all: newRequestSet(longestShown), handlers: sums.NewByName[requestHandler](r.tables), groups: sums.NewByName[*requestSet](r.tables), unended: slowestRequests(result.MostOpen)})
	}
	k, d, at := r.kinds[i], q.Duration(), r.Offset(q.End)
	h := k.handlers.Named(q.Name)
	group := textui.Either(len(k.groups.List) >= maxGroups && k.groups.Find(q.Name) == nil, result.OtherNames, q.Name)
	g := k.groups.Named(group)
	if *g == nil {
		*g = newRequestSet(result.SlowestOfGroup)
	}
	sets := [2]*requestSet{k.all, *g}
	if !q.Complete {
		if q.Open && d >= result.LongOpen {
			if last, full := k.unended.Full(); !full || d > last.Duration {
				k.unended.Add(*r.whole(q))
			}
			h.open.Add(d, at)
		}
		h.censored.Add(d, at)
		for _, s := range sets {
			s.censored.Add(d, at)
		}
		return
	}
	h.all.Add(d, at)
	var x *keptRequest // listed once for both
	for _, s := range sets {
		x = r.into(s, q, x)
	}
}

// newRequestSet returns an empty set, of which a few are shown whole.
func newRequestSet(shown int) *requestSet {
	return &requestSet{random: rand.New(rand.NewPCG(1, 2)), shown: slowestRequests(shown)}
}

// slowestRequests keeps so many of the slowest.
func slowestRequests(limit int) sums.Top[result.RequestPath] {
	return sums.Top[result.RequestPath]{Limit: limit, Compare: result.ComparePaths}
}

// into adds a request to a set. Its path is listed in x, which is nil if it was not needed so far.
func (r *Requests) into(k *requestSet, q *requests.Request, x *keptRequest) *keptRequest {
	d := q.Duration()
	k.all.Add(d, r.Offset(q.End))
	for i := range k.own {
		k.own[i] += q.Own[i]
		k.path[i] += q.Path[i]
	}
	if q.Truncated {
		k.sums.Cut++
	}
	n := k.all.Count()
	slow, limit := k.slows(d, r.slow)
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
		return x
	}
	if x == nil {
		r.ended++
		x = &keptRequest{length: d, number: r.ended}
		r.keep(q, x)
	}
	k.sums.Listed += d
	k.sums.Certain += x.certain
	k.sums.Codeless += x.codeless
	if last, full := k.shown.Full(); !full || d > last.Duration {
		k.shown.Add(*r.whole(q))
	}
	if place < samplePaths {
		k.paths[place] = r.whole(q)
	}
	switch {
	case place == len(k.sample) && place < sampleSize:
		k.sample = append(k.sample, x)
	case place < sampleSize:
		k.sample[place] = x
	}
	if slow {
		k.slowest.add(x, limit)
	}
	return x
}

// slows reports whether a request of all so far is among the slowest, of which there may be limit. If above is not 0, all that
// took as long are.
func (k *requestSet) slows(d, above model.Duration) (slow bool, limit int) {
	limit = mostSlow
	if above == 0 {
		limit = min(max(leastSlow, int(slowShare*float64(k.all.Count()))), mostSlow)
	}
	if n := len(k.slowest); n >= leastSlow { // what is shorter than all of them is not slow, also where there is room by now
		least := k.slowest[0].length
		return d >= above && (d > least || n < limit && (d == least || above > 0)), limit
	}
	return d >= above, limit
}

// add adds a request, in place of the fastest if there are as many as limit.
func (s *slowest) add(x *keptRequest, limit int) {
	if len(*s) < limit {
		heap.Push(s, x)
		return
	}
	(*s)[0] = x
	heap.Fix(s, 0)
}

// keep lists a request's path and sums it up in x.
func (r *Requests) keep(q *requests.Request, x *keptRequest) {
	last, before := int32(-1), requests.Part{Wait: requests.NumKinds}
	r.list = r.list[:0]
	for p := range q.Parts() {
		id, d := r.part(p), p.To.Sub(p.From)
		s := &r.parts[id]
		s.total += d
		if d > s.longest {
			s.longest, s.via, s.viaKind = d, p.Via, p.ViaKind
		}
		if p.Polls {
			s.polls += d
		}
		if p.Expires {
			s.expires += d
		}
		if p.Inferred {
			s.inferred += d
		} else {
			x.certain += d
		}
		if p.At == nil && p.Kind == requests.Running {
			x.codeless += d
		}
		if s.in != x.number {
			s.in, s.index = x.number, int32(len(r.list))
			r.list = append(r.list, keptPart{id: id})
		}
		part := &r.list[s.index]
		part.time += d
		if p.Wait != before.Wait || p.WaitAt != before.WaitAt || p.Wait == requests.NumKinds && id != last { // not of the wait before
			part.times++
		}
		last, before.Wait, before.WaitAt = id, p.Wait, p.WaitAt
	}
	x.parts = slices.Clone(r.list)
}

// whole returns a request's path as reports show it. The one of the latest request is kept.
func (r *Requests) whole(q *requests.Request) *result.RequestPath {
	if r.latest != nil && r.latest.Goroutine == q.G && r.latest.Start == r.Offset(q.Start) && r.latest.Duration == q.Duration() {
		return r.latest
	}
	r.latest = requestPath(&r.Clock, q, q.Parts(), pathParts)
	return r.latest
}

// requestPath returns a request's path in at most so many parts.
func requestPath(c *sums.Clock, q *requests.Request, parts iter.Seq[*requests.Part], limit int) *result.RequestPath {
	v := &result.RequestPath{Name: q.Name, Goroutine: q.G, Start: c.Offset(q.Start), Duration: q.Duration(), Labels: q.Labels()}
	for p := range parts {
		if v.Parts = append(v.Parts, RequestPart(p)); len(v.Parts) == 2*pathParts {
			v.Shorten(limit)
		}
	}
	v.Shorten(limit)
	return v
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
		k.where = at.ID
	}
	if waiter != nil {
		k.waits = waiter.ID
	}
	recent := &r.recent[uint32(k.where*5+k.waits*3+int32(k.kind)*7+int32(k.wait))%uint32(len(r.recent))]
	if int(*recent) < len(r.parts) && r.parts[*recent].partID == k {
		return *recent
	}
	id, ok := r.ids[k]
	if !ok && len(r.parts) >= maxParts {
		at, waiter, k.where, k.waits = nil, nil, 0, 0
		id, ok = r.ids[k]
	}
	if !ok {
		id = int32(len(r.parts))
		r.ids[k] = id
		r.parts = append(r.parts, partSum{partID: k, at: at, waiter: waiter})
	}
	*recent = id
	return id
}

// Result adds the results to v.
func (r *Requests) Result(v *result.Report) {
	for _, k := range r.kinds {
		x := r.kind(k)
		switch k.kind {
		case "task":
			x.Unfollowed = r.tracker.Unfollowed
		case "tcp":
			x.Unfollowed = r.tracker.Unanswered
		}
		v.Requests = append(v.Requests, x)
	}
	slices.SortStableFunc(v.Requests, func(a, b result.RequestKind) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Kind, b.Kind))
	})
}

func (r *Requests) kind(k *requestKind) result.RequestKind {
	v := result.RequestKind{Kind: k.kind, RequestSet: r.set(k.all, longestShown), Unended: k.unended.Items}
	v.Handlers = sums.Rows(&k.handlers, func(h *requestHandler) model.Duration { return h.all.Total() + h.censored.Total },
		func(name string, h *requestHandler) result.RequestHandler {
			return result.RequestHandler{Named: sums.NamedDist(name, &h.all), Censored: h.censored, Open: h.open}
		})
	known, apart := 0, true
	for _, g := range k.groups.List {
		if g.Name != result.NoName && g.Value.all.Count() >= leastTail {
			known++
			apart = r.apart(k, g.Value)
		}
	}
	if known > 1 || known == 1 && len(k.groups.List) > 1 && apart {
		v.Groups = sums.Rows(&k.groups, func(s **requestSet) model.Duration { return (*s).all.Total() },
			func(name string, s **requestSet) result.RequestGroup {
				return result.RequestGroup{Name: name, RequestSet: r.set(*s, result.SlowestOfGroup)}
			})
	}
	return v
}

// apart reports whether the requests of the only known handler are a group of their own:
//
//  1. Others are at most half of all. Or
//  2. nearly all of one are longer than nearly all of the other, and both are groupShare of all: a
//     percentile of all says nothing of either. Twice the tail are enough if what they wait for is what they ask for
//     themselves, as a request of a handler does each time: for a lock only some have to wait;
//  3. nearly all of the longer take half their median or more, so that they do the same, and are not those
//     that had to wait among the requests of one handler;
//  4. and those of the handler do not mostly run: then it is by their length that they are seen.
func (r *Requests) apart(k *requestKind, known *requestSet) bool {
	x := k.groups.Find("")
	if x == nil || 2*(*x).all.Count() <= k.all.all.Count() { // 1
		return true
	}
	longer, shorter := known.all.Quantiles(0.05, 0.5, 0.95), (*x).all.Quantiles(0.05, 0.5, 0.95)
	if longer[1] < shorter[1] {
		longer, shorter = shorter, longer
	}
	share := groupShare
	for _, t := range r.set(known, 0).Tails {
		var asks model.Duration
		for i := range t.Groups {
			if x := &t.Groups[i]; x.Awaits() {
				asks += x.Middle
			}
		}
		if asks > t.Middle.Total/2 {
			share = 2 * tailShares[0]
		}
	}
	return float64(known.all.Count()) >= share*float64(k.all.all.Count()) && longer[0] > shorter[2] && // 2
		2*longer[0] >= longer[1] && // 3
		2*(known.own[requests.Running]+known.own[requests.Runnable]) <= known.all.Total() // 4
}

func (r *Requests) set(k *requestSet, shown int) result.RequestSet {
	v := k.sums
	q := k.all.Quantiles(0.4, 0.5, 0.6)
	low, middle, high := q[0], q[1], q[2]
	v.Dist, v.Censored, v.Own, v.Path = result.NewDist(&k.all), k.censored, requestTimes(&k.own), requestTimes(&k.path)
	slices.SortFunc(k.slowest, func(a, b *keptRequest) int {
		return cmp.Or(cmp.Compare(b.length, a.length), cmp.Compare(a.number, b.number))
	})
	var around []*keptRequest
	far := func(d model.Duration) model.Duration { return max(d-middle, middle-d) }
	for _, x := range k.sample {
		if x.length >= low && x.length <= high {
			around = append(around, x)
		}
	}
	for _, x := range k.paths {
		if x != nil && (v.Typical == nil || far(x.Duration) < far(v.Typical.Duration)) {
			v.Typical = x
		}
	}
	v.Tails, v.Slowest = []result.RequestTail{}, append([]result.RequestPath{}, k.shown.Items...)
	n := int(k.all.Count())
	switch {
	case n < fewSlowest:
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
	v.Trim(shown)
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
	length := func(q **keptRequest) model.Duration { return (*q).length }
	t.Total, t.Middle.Count, t.Middle.Total = result.Sum(slow, length), int64(len(middle)), result.Sum(middle, length)
	t.Rows, t.Groups = r.rows(slow, middle, false), r.rows(slow, middle, true)
	return t
}

// rows adds up the parts of the slow and of the middle that are the same, or of the same group.
func (r *Requests) rows(slow, middle []*keptRequest, groups bool) []result.RequestRow {
	rows := map[result.RequestRow]*tailRow{} // by what makes rows the same
	of := make([]*tailRow, len(r.parts))
	row := func(id int32) *tailRow {
		if of[id] != nil {
			return of[id]
		}
		s := &r.parts[id]
		v := result.RequestRow{Kind: s.kind.String()}
		if p := s.at; p != nil {
			v.Function, v.File = p.Func, p.File
		}
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
			v = result.RequestRow{Kind: v.Wait, Function: v.Waiter, File: v.WaitFile}
		case groups && s.kind == requests.Runnable:
			v = result.RequestRow{Kind: v.Kind}
		}
		x := rows[v]
		if x == nil {
			x = &tailRow{RequestRow: v, lines: map[uint64]model.Duration{}, waiterLines: map[uint64]model.Duration{}}
			rows[v] = x
		}
		of[id] = x
		x.total += s.total
		x.inferred += s.inferred
		return x
	}
	in, usual := make([]model.Duration, len(r.parts)), make([]model.Duration, len(r.parts)) // by part, of the slow and of the middle
	for _, q := range slow {
		for _, p := range q.parts {
			x := row(p.id)
			x.Slow += p.time
			x.Times += int64(p.times)
			in[p.id] += p.time
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
			x := row(p.id)
			x.Middle += p.time
			x.Usual += int64(p.times)
			usual[p.id] += p.time
		}
	}
	for id, x := range of {
		if x == nil {
			continue
		}
		if x.Slow == 0 {
			in[id] = usual[id]
		}
		x.shows(&r.parts[id], in[id], groups)
	}
	list := []result.RequestRow{}
	for _, x := range rows {
		x.Line, x.Inferred = int(sums.Longest(x.lines)), 2*x.inferred > x.total
		if x.Wait != "" {
			x.WaitLine = int(sums.Longest(x.waiterLines))
		}
		if x.via != nil {
			x.Way = way(x.place, x.via, groups)
		}
		list = append(list, x.RequestRow)
	}
	return list
}

// shows takes a part that took so long in the requests that a row is about. The line of a row, and the way to it, are
// those of the parts that took the longest in the slow ones, or if these have none in the middle.
func (x *tailRow) shows(s *partSum, took model.Duration, groups bool) {
	at := s.at
	switch {
	case groups && s.kind != requests.Queued && s.wait < requests.NumKinds:
		at = s.waiter
	case groups && s.kind == requests.Runnable:
		at = nil
	}
	if at != nil && at.Line > 0 {
		x.lines[uint64(at.Line)] += took
	}
	if s.waiter != nil && s.waiter.Line > 0 {
		x.waiterLines[uint64(s.waiter.Line)] += took
	}
	if at != nil && took > x.most {
		x.most, x.via, x.place = took, s, at
	}
}

// way returns how requests came to a place, nil if nothing is known of it.
func way(at *requests.Place, part *partSum, group bool) *result.RequestWay {
	frames := func(p *requests.Place) []result.Frame {
		return result.Each(p.Callers(), func(f *model.Frame) result.Frame { return result.Frame{Function: f.Func, File: f.File, Line: f.Line} })
	}
	w := &result.RequestWay{Callers: frames(at), Callee: at.Callee}
	if v := part.via; v != nil && !group {
		w.Between = append([]result.Frame{{Function: v.Func, File: v.File, Line: uint64(max(v.Line, 0))}}, frames(v)...)
		w.Between, w.BetweenKind = w.Between[:min(len(w.Between), 3)], part.viaKind.String()
		if part.viaKind == requests.Channel && strings.HasPrefix(v.Callee, "net/http.") {
			w.BetweenKind = "call"
		}
	}
	if part.waiter != nil && !group {
		takes := part.waiter.Func // or what calls it, as a query does that gets a connection and gives it back
		caller := append(frames(part.waiter), result.Frame{Function: takes})[0].Function
		for _, p := range []*requests.Place{at, part.via} {
			for i := 0; p != nil && i < len(p.Frames) && !w.Within; i++ {
				fn := p.Frames[i].Func // one that it has started as a goroutine works for it
				w.Within = fn == takes || fn == caller || model.LiteralOf(fn, takes) && (i == 0 || i < len(p.Frames)-1)
			}
		}
	}
	w.Polls = float64(part.polls) >= pollShare*float64(part.total) && part.polls > 0
	w.Expires = 2*part.expires > part.total
	for _, p := range []*requests.Place{at, part.via} {
		const sql = "database/sql."
		w.SQL = w.SQL || p != nil && (strings.HasPrefix(p.Callee, sql) || slices.ContainsFunc(p.Frames, func(f model.Frame) bool { return strings.HasPrefix(f.Func, sql) }))
	}
	w.Once = slices.ContainsFunc(at.Frames, func(f model.Frame) bool { return strings.HasPrefix(f.Func, "sync.(*Once).") })
	if len(w.Callers) == 0 && w.Between == nil && !w.Within && !w.SQL && !w.Polls && !w.Expires && w.Callee == "" {
		return nil
	}
	return w
}

// tailRow is a row of a tail while it is summed up.
type tailRow struct {
	result.RequestRow
	total, inferred    model.Duration
	lines, waiterLines map[uint64]model.Duration
	most               model.Duration // of the part that via is
	via                *partSum
	place              *requests.Place
	in                 *keptRequest // the latest, and its time
	inIt               model.Duration
}
