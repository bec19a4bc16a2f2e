package result

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// How reports are merged
//
// The same reports give the same bytes, in whatever order and groups they are merged: each step
// below is commutative and associative. What must be cut to a size that depends on sums is cut at
// the end.
//
//  1. Numbers add up, unless the field has a tag: merge:"max" keeps the greatest, "min" the least,
//     merge:"-" is left to [Merger.Report] or to the type. Sums that do not fit stay at
//     the greatest number; no trace comes near it.
//  2. Of texts that differ the first in order is kept, of flags that differ the one that is set.
//  3. Lists of structs with fields tagged key:"" are merged element by element, by those
//     fields. Of those whose tag is key:"name" the first [MaxNames] by name stay, the others
//     go under [OtherNames]. Other lists are appended.
//  4. Traces are in the order of their names; what lists places in them is sorted by these.
//  5. A type with a merge method of its own decides for itself: distributions, curves and
//     what has a greatest case. Of equal cases the one of the first trace counts, or the
//     earliest if the trace is not known.
//  6. At the end, percentiles and means are set, and lists are sorted by their tag sort:"":
//     "total" is most first, others name an order of names; see [orders].

// OtherNames stands for all names of a kind beyond the first MaxNames. Functions and
// reasons are far fewer; names of tasks and regions may be made up at run time.
const (
	OtherNames = "(other names)"
	MaxNames   = 4096
)

// What other lists hold at most, as those of an analysis.
const (
	maxSteps   = 1024
	maxLongest = 20 // goroutines, bursts
	maxWorst   = 1000
	fewWorst   = 10 // worst waits, where none is left out of any report
	maxParties = 10
)

// MostSilences is how many [Lateness] has.
const MostSilences = 64

// Merge merges reports and takes ownership of them. The caller must not use them afterwards.
// See [Merger].
func Merge(list []*Report) (*Report, error) {
	var m Merger
	for _, v := range list {
		if err := m.Add(v); err != nil {
			return nil, err
		}
	}
	return m.Report()
}

// Merger merges reports one after another. It keeps only the result and one report in memory.
// Counts, totals and extremes become those of an analysis of all traces. Percentiles of merged
// reports are within 0.4 %, and unknown if a report lacks the distribution. Pathologies have
// the cases of the reports that found them. Findings and notes are not merged: the caller sets
// them. The zero value has no report.
type Merger struct {
	parts   []mergerPart // each of more than partsRatio times the reports of the next
	skipped []Skipped
}

// mergerPart are some of the reports, as one.
type mergerPart struct {
	v    *Report
	sums mergerSums
}

// A greater partsRatio takes time, as large parts are merged more often, a smaller one memory for more
// of them.
const partsRatio = 8

// mergerSums are what reports come to that a merged one does not show.
type mergerSums struct {
	Reports int64
	Procs   int64 // time of procs in all, in nanoseconds
	Covered int64 // time in which they were counted
	Busy    int64 // of procs
	Running int64 // runnable goroutines by time
	Least   int   `merge:"min"` // longest waits that a report has which has not all; maxWorst if there is none
	Most    int   `merge:"max"` // longest waits that a report has
}

// Add adds a report and takes ownership of it. After an error the Merger is unchanged.
func (m *Merger) Add(v *Report) error {
	walk(reflect.ValueOf(v), func(p *plan) []int { return p.texts }, func(x reflect.Value) {
		if s := x.String(); !utf8.ValidString(s) {
			x.SetString(asSaved(s))
		}
	})
	procs, covered := v.procsTime(), cmp.Or(sumOf(v.Series.Covered), int64(v.Totals.Span))
	n := len(v.WorstWaits)
	x := mergerPart{v, mergerSums{Reports: 1, Procs: procs, Covered: covered, Least: maxWorst, Most: n,
		Busy: whole(v.Procs.Utilisation * float64(procs)), Running: whole(v.Procs.MeanRunnable * float64(covered))}}
	if int64(n) < v.Latency.All.Count {
		x.sums.Least = min(n, maxWorst)
	}
	if !slices.IsSortedFunc(v.Traces, func(a, b Trace) int { return byName(&a, &b) }) {
		v.Traces = ordered(v)
		inOrder(v)
	}
	alone := v.PerTrace == nil && len(v.Traces) == 1
	if l := &v.Lateness; alone && l.Silences == nil && l.Together.Count > 0 { // older reports have the longest only
		l.Silences = []Silence{{End: l.Together.MaxAt, Length: l.Together.Max}}
	}
	if alone {
		v.PerTrace = []TraceFigures{v.Figures()}
	}
	err := m.Merge(&Merger{parts: []mergerPart{x}})
	if err != nil && alone {
		v.PerTrace = nil
	}
	return err
}

// Merge adds the reports of o and takes ownership of them. After an error both are unchanged.
func (m *Merger) Merge(o *Merger) error {
	if err := binsFit(Each(slices.Concat(m.parts, o.parts), func(p *mergerPart) *Report { return p.v })); err != nil {
		return err
	}
	m.skipped = append(m.skipped, o.skipped...)
	for _, p := range o.parts {
		m.parts = append(m.parts, p)
		for n := len(m.parts); n > 1 && m.parts[n-2].sums.Reports <= partsRatio*m.parts[n-1].sums.Reports; n-- {
			m.join()
		}
	}
	return nil
}

// join merges the last two parts.
func (m *Merger) join() {
	n := len(m.parts) - 1
	a, b := &m.parts[n-1], m.parts[n]
	m.parts = slices.Delete(m.parts, n, n+1) // which forgets it
	a.begin()
	b.begin()
	traces, mixed := append(a.v.Traces, b.v.Traces...), false
	if n := len(a.v.Traces); n > 0 && len(b.v.Traces) > 0 && byName(&a.v.Traces[n-1], &b.v.Traces[0]) > 0 {
		traces, mixed = ordered(a.v, b.v), true
	} else {
		renumber(b.v, func(at int) int { return n + at })
	}
	for _, v := range []*Report{a.v, b.v} {
		v.Verdict, v.Findings, v.Notes, v.Sum = Verdict{}, nil, nil, ""
	}
	merge(reflect.ValueOf(&a.sums).Elem(), reflect.ValueOf(&b.sums).Elem())
	worst := append(a.v.WorstWaits, b.v.WorstWaits...)
	merge(reflect.ValueOf(a.v).Elem(), reflect.ValueOf(b.v).Elem())
	a.v.Traces, a.v.WorstWaits = traces, worst
	trim(a.v, a.sums.Least)
	if mixed {
		inOrder(a.v)
	}
}

// joinAll merges all parts, if there are any.
func (m *Merger) joinAll() (p mergerPart) {
	for len(m.parts) > 1 {
		m.join()
	}
	if len(m.parts) > 0 {
		p = m.parts[0]
	}
	return p
}

// begin notes in the only report so far what merging adds up: that it is of several traces, or else that
// its trace has what it has.
func (p *mergerPart) begin() {
	v := p.v
	if p.sums.Reports > 1 {
		return
	}
	several, one := len(v.Traces) > 1, int64(0)
	if several && v.Reports == 0 { // else it was merged of such reports, and what it has says in how many of them it is
		v.Reports, one = 1, 1
	}
	begin := func(in **Places, total model.Duration) {
		if !several {
			*in = &Places{Most: []Share{{0, total}}}
			return
		}
		if *in == nil { // of an older version
			*in = &Places{Most: []Share{}}
		}
		(*in).Reports = max((*in).Reports, one)
	}
	for i := range v.Blame.Rows {
		begin(&v.Blame.Rows[i].In, v.Blame.Rows[i].Total)
	}
	for i := range v.Requests {
		v.Requests[i].eachSet(func(s *RequestSet, _ int) {
			for j := range s.Tails {
				for r := range Refs(s.Tails[j].Groups) {
					begin(&r.In, r.Slow+r.Middle)
				}
			}
		})
	}
}

// and returns the places of a part that has those of p and o. It takes over both.
func (p *Places) and(o *Places) *Places {
	if p == nil || o == nil {
		return cmp.Or(p, o)
	}
	add(&p.Reports, o.Reports)
	p.Most = append(p.Most, o.Most...)
	p.Most = First(p.Most, 3, func(a, b Share) int { return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Trace, b.Trace)) })
	return p
}

// Skip adds an input that could not be read.
func (m *Merger) Skip(s Skipped) {
	m.skipped = append(m.skipped, Skipped{asSaved(s.Name), asSaved(s.Cause)})
}

// asSaved returns a text as it is in JSON, which has U+FFFD for each byte that is not UTF-8: what was saved
// before must make no difference.
func asSaved(s string) string { return string([]rune(s)) }

// whole returns a time as a number that fits.
func whole(x float64) int64 { return int64(min(math.Round(x), 1<<62)) }

// procsTime returns the procs' time in all, in nanoseconds.
func (v *Report) procsTime() int64 {
	if sumOf(v.Series.Covered) == 0 {
		return whole(v.Procs.Mean * float64(v.Totals.Span))
	}
	return sumOf(v.Series.Procs)
}

func sumOf(list []int64) int64 {
	sum := int64(0)
	for _, n := range list {
		add(&sum, n)
	}
	return sum
}

// ErrNoReport is returned by a Merger without a report.
var ErrNoReport = errors.New("no report to merge")

// Report returns the merged report, or [ErrNoReport]. The Merger is not to be used afterwards.
func (m *Merger) Report() (*Report, error) {
	p := m.joinAll()
	v, s := p.v, &p.sums
	if v == nil {
		return nil, ErrNoReport
	}
	v.Skipped = append(v.Skipped, m.skipped...)
	slices.SortFunc(v.Skipped, func(a, b Skipped) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Cause, b.Cause)) })
	if s.Reports == 1 {
		if len(v.Traces) == 1 {
			v.PerTrace = nil
		}
		if len(m.skipped) > 0 {
			pack(v) // it is judged again
		}
		return v, nil
	}
	s.setMeans(v)
	v.Findings = []Finding{}
	v.Spread = SpreadOf(v.PerTrace)
	if s.Least == maxWorst {
		v.WorstWaits = v.WorstWaits[:min(len(v.WorstWaits), max(fewWorst, s.Most))]
	}
	if total := v.Waiting.Censored.AtEnd.Total; total > 0 {
		v.Blame.Complete(BlameOpen, true, total) // older reports do not have it
	}
	v.Blame.Trim()
	for r := range Refs(v.Blame.Rows) {
		r.Traces = inTraces(r.Traces, r.Function)
	}
	for i := range v.Pathologies {
		TrimParties(&v.Pathologies[i])
	}
	for i := range v.Requests {
		v.Requests[i].dropGroups()
		v.Requests[i].eachSet((*RequestSet).Trim)
		v.Requests[i].eachSet((*RequestSet).inTraces)
	}
	pack(v)
	for s := range Refs(v.Latency.Spectra) {
		d := &v.Latency.All
		if s.Name != "all" {
			d = named(v.Latency.ByOrigin, s.Name)
		}
		if d != nil && !d.Exact { // else it is of one report
			s.Points = NewSpectrum(s.Name, d).Points
		}
	}
	sortAll(v)
	v.Notes = []string{}
	return v, nil
}

func (s *mergerSums) setMeans(v *Report) {
	p := &v.Procs
	p.Utilisation = min(Ratio(s.Busy, s.Procs), 1)
	p.Mean = Ratio(s.Procs, s.Covered)
	p.MeanRunnable = Ratio(s.Running, s.Covered)
	gc := &v.GC
	gc.Share = min(Ratio(int64(gc.Dedicated+gc.Fractional+gc.Idle+gc.Assist), s.Procs), 1)
	for r := range Refs(v.Causes.Rows) {
		r.Share = min(Ratio(int64(r.Total), int64(v.Latency.All.Total)), 1)
	}
	q := &v.Queues
	q.Global.Mean = Ratio(int64(q.Global.Sum), int64(q.Span))
	for i := range q.Local {
		q.Local[i].Mean = Ratio(int64(q.Local[i].Sum), int64(q.Span))
	}
}

// lead is 1 more than the time, in nanoseconds, of the part of one report whose place a merged part has;
// 0 for a part that was not merged: its own time counts.
type lead model.Duration

// keepLead replaces the place x with that of another part, y, if that has more time, of those that are
// known, or of equal ones is the first in order, and reports whether it did. Times of all are a and b.
func keepLead[T cmp.Ordered](mine *lead, theirs lead, a, b model.Duration, x *T, y T) bool {
	of := func(l lead, all model.Duration, place T) lead {
		if place == *new(T) {
			return 0
		}
		return cmp.Or(l, lead(all)+1)
	}
	m, t := of(*mine, a, *x), of(theirs, b, y)
	*mine = max(m, t, 1)
	replaces := t > m || t == m && y < *x
	if replaces {
		*x = y
	}
	return replaces
}

// byName is the order of traces: by name, and of one name by all that is said of them.
func byName(a, b *Trace) int {
	if c := cmp.Compare(a.Name, b.Name); c != 0 {
		return c
	}
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return bytes.Compare(x, y)
}

// ordered returns the traces of reports in the order of all, and renumbers them in the reports.
func ordered(list ...*Report) []Trace {
	type place struct{ of, at int }
	var all []place
	numbers := make([][]int, len(list))
	for of, v := range list {
		numbers[of] = make([]int, len(v.Traces))
		for at := range v.Traces {
			all = append(all, place{of, at})
		}
	}
	slices.SortStableFunc(all, func(a, b place) int { return byName(&list[a.of].Traces[a.at], &list[b.of].Traces[b.at]) })
	traces := make([]Trace, len(all))
	for i, p := range all {
		traces[i], numbers[p.of][p.at] = list[p.of].Traces[p.at], i
	}
	for of, v := range list {
		renumber(v, func(at int) int { return numbers[of][at] })
	}
	return traces
}

// renumber gives the traces in v new numbers.
func renumber(v *Report, number func(int) int) {
	walk(reflect.ValueOf(v), func(p *plan) []int { return p.places }, func(x reflect.Value) { x.SetInt(int64(number(int(x.Int())))) })
}

// walk calls do for all in v to which the fields lead.
func walk(v reflect.Value, fields func(*plan) []int, do func(reflect.Value)) {
	done := map[any]bool{} // a request that is typical of its group may be so of its kind, too
	var to func(x reflect.Value)
	to = func(x reflect.Value) {
		switch x.Kind() {
		case reflect.Pointer:
			if !x.IsNil() && !done[x.Interface()] {
				done[x.Interface()] = true
				to(x.Elem())
			}
		case reflect.Slice, reflect.Array:
			for i := range x.Len() {
				to(x.Index(i))
			}
		case reflect.Struct:
			for _, at := range fields(plans()[x.Type()]) {
				to(x.Field(at))
			}
		default:
			do(x)
		}
	}
	to(v)
}

// add adds n, which is not negative, as far as the sum fits.
func add(into *int64, n int64) {
	if n > math.MaxInt64-*into {
		n = math.MaxInt64 - *into
	}
	*into += n
}

// mergesItself is what merges in its own way.
type mergesItself interface{ merge(from any) }

// merge adds from to into, which are of one type and settable.
func merge(into, from reflect.Value) {
	switch into.Kind() {
	case reflect.Struct:
		if isDist(into.Type()) {
			mergeDist(into.Addr().Interface().(distribution), from.Addr().Interface().(distribution))
			return
		}
		if t, ok := into.Addr().Interface().(*Tally); ok {
			t.Merge(from.Addr().Interface().(*Tally))
			return
		}
		if x, ok := into.Addr().Interface().(mergesItself); ok {
			x.merge(from.Addr().Interface())
			return
		}
		mergeFields(into, from)
	case reflect.Array:
		for i := range into.Len() {
			merge(into.Index(i), from.Index(i))
		}
	case reflect.Slice:
		mergeList(into, from)
	case reflect.Int, reflect.Int64:
		n := into.Int()
		add(&n, from.Int())
		into.SetInt(n)
	case reflect.String:
		into.SetString(firstOf(into.String(), from.String()))
	case reflect.Pointer:
		if a, ok := into.Interface().(*RequestPath); ok { // of the first trace that has one
			if b := from.Interface().(*RequestPath); a == nil || b != nil && b.Trace < a.Trace {
				into.Set(from)
			}
		}
	case reflect.Bool:
		into.SetBool(into.Bool() || from.Bool())
	}
}

// firstOf returns the first in order of two texts, of those that are not empty.
func firstOf(a, b string) string {
	if a == "" || b != "" && b < a {
		return b
	}
	return a
}

func mergeFields(into, from reflect.Value) {
	for _, f := range plans()[into.Type()].fields {
		x, y := into.Field(f.at), from.Field(f.at)
		switch f.how {
		case "min":
			x.SetInt(min(x.Int(), y.Int()))
		case "max":
			x.SetInt(max(x.Int(), y.Int()))
		default:
			merge(x, y)
		}
	}
}

// plan is what there is to know of a type for merging.
type plan struct {
	exported []int   // fields of a struct
	places   []int   // those of them that are or hold places of traces
	texts    []int   // those that are or hold texts
	fields   []field // of a struct, without those of the key, and those that are left to others
	keys     [][]int // fields by which elements of a list differ, nil if there are none
	name     []int   // the one of them that may become [OtherNames], if any
}

type field struct {
	at  int
	how string // of the tag merge
}

// plans returns those of all types in reports.
var plans = sync.OnceValue(func() planMap {
	m := planMap{}
	m.of(reflect.TypeFor[*Report]())
	m.of(reflect.TypeFor[mergerSums]())
	return m
})

type planMap map[reflect.Type]*plan

// of returns the plan of a type, which it makes at the first time.
func (m planMap) of(t reflect.Type) *plan {
	if p := m[t]; p != nil {
		return p
	}
	p := &plan{}
	m[t] = p
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		p.places, p.texts = m.of(t.Elem()).places, m.of(t.Elem()).texts // if there are any, values hold them
	case reflect.String:
		p.texts = []int{0} // itself
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if !f.IsExported() {
				continue
			}
			p.exported = append(p.exported, i)
			if m.of(f.Type).places != nil || traceFields[name] {
				p.places = append(p.places, i)
			}
			if m.of(f.Type).texts != nil {
				p.texts = append(p.texts, i)
			}
			_, key := f.Tag.Lookup("key")
			if how := f.Tag.Get("merge"); !key && how != "-" {
				p.fields = append(p.fields, field{i, how})
			}
		}
		for _, f := range reflect.VisibleFields(t) {
			if key, ok := f.Tag.Lookup("key"); ok {
				p.keys = append(p.keys, f.Index)
				if key == "name" {
					p.name = f.Index
				}
			}
		}
	}
	return p
}

// mergeList adds each element of from to that with the same key, or as it is if there is none.
func mergeList(into, from reflect.Value) {
	p := plans()[into.Type().Elem()]
	fields, name := p.keys, p.name
	if fields == nil {
		into.Set(reflect.AppendSlice(into, from))
		return
	}
	if from.Len() == 0 {
		return
	}
	var key []byte
	index := make(map[string]int, into.Len()+from.Len())
	for i := range into.Len() {
		key = appendKey(key[:0], into.Index(i), fields)
		index[string(key)] = i
	}
	for i := range from.Len() {
		x := from.Index(i)
		key = appendKey(key[:0], x, fields)
		if at, ok := index[string(key)]; ok {
			merge(into.Index(at), x)
			continue
		}
		index[string(key)] = into.Len()
		into.Set(reflect.Append(into, x))
	}
	if name != nil && into.Len() > MaxNames {
		joinNames(into, name)
	}
}

// joinNames leaves the first names in order, and joins the others.
func joinNames(list reflect.Value, name []int) {
	all := make([]reflect.Value, list.Len())
	for i := range all {
		all[i] = reflect.New(list.Type().Elem()).Elem()
		all[i].Set(list.Index(i))
	}
	slices.SortFunc(all, func(a, b reflect.Value) int {
		x, y := a.FieldByIndex(name).String(), b.FieldByIndex(name).String()
		switch OtherNames {
		case x:
			return 1
		case y:
			return -1
		}
		return cmp.Compare(x, y)
	})
	list.SetLen(0)
	for i, x := range all {
		if i < MaxNames {
			list.Set(reflect.Append(list, x))
			continue
		}
		x.FieldByIndex(name).SetString(OtherNames)
		if i == MaxNames {
			list.Set(reflect.Append(list, x))
		} else {
			merge(list.Index(MaxNames), x)
		}
	}
}

// appendKey appends the key of an element: texts of its fields, and how long each is.
func appendKey(b []byte, x reflect.Value, fields [][]int) []byte {
	var lengths [8]int
	for i, f := range fields {
		start := len(b)
		switch f := x.FieldByIndex(f); f.Kind() {
		case reflect.String:
			b = append(b, f.String()...)
		case reflect.Slice:
			b = append(b, FramesText(f.Interface().([]Frame))...)
		default:
			b = fmt.Append(b, f.Interface())
		}
		lengths[i] = len(b) - start
		b = append(b, 0)
	}
	for _, n := range lengths[:len(fields)-1] {
		b = binary.BigEndian.AppendUint32(b, uint32(n))
	}
	return b
}

// inOrder sorts what there is of each trace.
func inOrder(v *Report) {
	slices.SortStableFunc(v.PerTrace, func(a, b TraceFigures) int { return cmp.Compare(a.Trace, b.Trace) })
	slices.SortStableFunc(v.Causes.Thresholds, func(a, b Threshold) int { return cmp.Compare(a.Trace, b.Trace) })
}

// trim sorts the lists that are appended, and cuts them to limits that do not depend on sums. Of
// the longest waits it keeps so many that none which a report left out would have been
// among them.
func trim(v *Report, worst int) {
	v.WorstWaits = First(v.WorstWaits, worst, func(a, b Wait) int {
		return cmp.Or(cmp.Compare(b.Duration, a.Duration), cmp.Compare(a.Trace, b.Trace),
			cmp.Compare(a.Start, b.Start), cmp.Compare(a.Goroutine, b.Goroutine))
	})
	v.Lateness.Silences = First(v.Lateness.Silences, MostSilences, func(a, b Silence) int {
		return cmp.Or(cmp.Compare(b.Length, a.Length), cmp.Compare(a.Trace, b.Trace), cmp.Compare(a.End, b.End))
	})
	v.Totals.GOMAXPROCS = First(v.Totals.GOMAXPROCS, maxSteps, func(a, b Step) int { return cmp.Compare(a.Trace, b.Trace) })
	v.Latency.ByGoroutine = First(v.Latency.ByGoroutine, maxLongest, CompareGoroutines)
	v.Bursts.Longest = First(v.Bursts.Longest, maxLongest, CompareBursts)
	for i := range v.Requests {
		v.Requests[i].eachSet((*RequestSet).cut)
		v.Requests[i].Unended = First(v.Requests[i].Unended, MostOpen, ComparePaths)
	}
}

// keepMost keeps the greatest of a value, and of equal ones the earliest.
func keepMost[T int | model.Duration](most *T, at *model.Time, n T, when model.Time) {
	if n > *most || n == *most && when < *at {
		*most, *at = n, when
	}
}

// Merge adds o.
func (t *Tally) Merge(o *Tally) {
	if o.Count == 0 {
		return
	}
	t.longest(o.Max, o.MaxAt)
	add(&t.Count, o.Count)
	add((*int64)(&t.Total), int64(o.Total))
}

// merge leaves the mean to [Merger.setMeans].
func (l *Length) merge(from any) {
	o := from.(*Length)
	add((*int64)(&l.Sum), int64(o.Sum))
	keepMost(&l.Max, &l.MaxAt, o.Max, o.MaxAt)
}

// merge leaves the means to [Merger.setMeans].
func (p *Procs) merge(from any) {
	o := from.(*Procs)
	keepMost(&p.MaxRunnable, &p.MaxRunnableAt, o.MaxRunnable, o.MaxRunnableAt)
	mergeFields(reflect.ValueOf(p).Elem(), reflect.ValueOf(o).Elem())
}

// merge keeps the higher one.
func (p *Peak) merge(from any) {
	if o := from.(*Peak); o.Runnable > p.Runnable || o.Runnable == p.Runnable && o.Trace < p.Trace {
		*p = *o
	}
}

// merge keeps the points until they are set from the distribution.
func (s *Spectrum) merge(from any) {
	if o := from.(*Spectrum); len(s.Points) == 0 {
		*s = *o
	}
}

// FramesText returns a text of a stack that is equal only for equal stacks.
func FramesText(frames []Frame) string {
	b := make([]byte, 0, 128*len(frames))
	for _, f := range frames {
		b = append(append(append(append(b, f.Function...), '\n'), f.File...), ':')
		b = append(strconv.AppendUint(b, f.Line, 10), '\n')
	}
	return string(b)
}

// merge adds up the cases. Evidence is that of the worst case's trace.
func (p *Pathology) merge(from any) {
	o := from.(*Pathology)
	if o.Worst > p.Worst || o.Worst == p.Worst && o.Trace < p.Trace {
		p.Worst, p.At, p.G, p.Trace = o.Worst, o.At, o.G, o.Trace
		p.Evidence, p.Meaning, p.Advice = o.Evidence, o.Meaning, o.Advice
	}
	p.Severity = max(p.Severity, o.Severity)
	p.Grade = max(p.Grade, o.Grade)
	add(&p.Count, o.Count)
	add((*int64)(&p.Total), int64(o.Total))
	mergeList(reflect.ValueOf(&p.Who).Elem(), reflect.ValueOf(&o.Who).Elem())
}

// TrimParties leaves those who had the greatest part.
func TrimParties(p *Pathology) {
	p.Who = First(p.Who, maxParties, func(a, b Party) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Role, b.Role),
			cmp.Compare(a.Function, b.Function), cmp.Compare(a.Place, b.Place))
	})
}

// ComparePathologies has the worst first.
func ComparePathologies(a, b Pathology) int {
	return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(b.Total, a.Total), cmp.Compare(a.Name, b.Name))
}

// CompareGoroutines has the greatest first.
func CompareGoroutines(a, b Goroutine) int {
	return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Trace, b.Trace), cmp.Compare(a.Goroutine, b.Goroutine))
}

// CompareBursts has the longest first.
func CompareBursts(a, b Burst) int {
	return cmp.Or(cmp.Compare(b.Duration, a.Duration), cmp.Compare(a.Trace, b.Trace), cmp.Compare(a.Start, b.Start), cmp.Compare(a.Goroutine, b.Goroutine))
}

func (p *Party) merge(from any) {
	o := from.(*Party)
	if p.Proc != o.Proc {
		p.Proc = -1
	}
	if cmp.Compare(FramesText(o.Stack), FramesText(p.Stack)) < 0 {
		p.Stack = o.Stack
	}
	add(&p.Count, o.Count)
	add((*int64)(&p.Total), int64(o.Total))
}

// orders are the names of what has a fixed order, by their sort tags.
var orders = map[string][]string{
	"origin":   model.Names(model.NumOrigins),
	"wayout":   model.Names(model.NumSyscallExitPaths),
	"handoff":  model.Names(model.NumHandoffCauses),
	"poller":   model.Names(model.NumPollers),
	"cause":    model.Names(NumCauses),
	"work":     model.Names(model.NumWorkKinds),
	"source":   model.Names(runqueue.NumSources),
	"via":      model.Names(runqueue.NumVias),
	"grade":    model.Names(runqueue.NumGrades),
	"decision": {"place", "pick", "steal"},
}

// sortAll puts lists into the order in which an analysis reports them.
func sortAll(v *Report) {
	each(reflect.ValueOf(v), "", func(x reflect.Value, _ string) error {
		for i := 0; x.Kind() == reflect.Struct && i < x.NumField(); i++ {
			if order := x.Type().Field(i).Tag.Get("sort"); order != "" {
				sortList(x.Field(i), order)
			}
		}
		return nil
	})
	if s := v.Latency.Spectra; len(s) > 0 {
		all := slices.IndexFunc(s, func(x Spectrum) bool { return x.Name == "all" })
		if all > 0 {
			first := s[all]
			copy(s[1:all+1], s[:all])
			s[0] = first
		}
	}
	slices.SortFunc(v.Pathologies, ComparePathologies)
	slices.SortFunc(v.Latency.Histogram, func(a, b Bucket) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	slices.SortFunc(v.Queues.Local, func(a, b Length) int { return cmp.Compare(a.Proc, b.Proc) })
}

// sortList sorts by the orders of a tag, such as "total,cause": what comes first counts more.
// What ties is sorted by its keys.
func sortList(list reflect.Value, order string) {
	fields := plans()[list.Type().Elem()].keys
	type element struct {
		value reflect.Value
		by    []int64
		key   string
	}
	all := make([]element, list.Len())
	for i := range all {
		x := reflect.New(list.Type().Elem()).Elem()
		x.Set(list.Index(i))
		all[i] = element{value: x, key: string(appendKey(nil, x, fields))}
		for by := range strings.SplitSeq(order, ",") {
			n := int64(0)
			if names, ok := orders[by]; ok {
				// The first key has the order. Names that are not known come last.
				n = int64(slices.Index(names, x.FieldByIndex(fields[0]).String()))
				if n < 0 {
					n = math.MaxInt64
				}
			} else if t, ok := x.Addr().Interface().(interface{ order() int64 }); ok {
				n = -t.order()
			} else {
				n = -x.FieldByName("Total").Int()
			}
			all[i].by = append(all[i].by, n)
		}
	}
	slices.SortStableFunc(all, func(a, b element) int { return cmp.Or(slices.Compare(a.by, b.by), cmp.Compare(a.key, b.key)) })
	for i := range all {
		list.Index(i).Set(all[i].value)
	}
}

// order is what lists of these are sorted by.
func (t *Task) order() int64      { return int64(t.Total + t.Censored.Total) }
func (r *Region) order() int64    { return int64(r.Total + r.Censored.Total) }
func (g *Group) order() int64     { return int64(g.Lifetime) }
func (s *STWReason) order() int64 { return int64(s.Effective.Total) }
func (c *Count) order() int64     { return c.Count }

// named returns the distribution of that name, nil if there is none.
func named(list []Named, name string) *Dist {
	if x := Find(list, func(x *Named) bool { return x.Name == name }); x != nil {
		return &x.Dist
	}
	return nil
}
