package result

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// How reports are merged
//
//  1. Numbers add up, unless the field has a tag: merge:"max" keeps the greatest, "min" the least,
//     merge:"-" is left to [Merger.setMeans] or to the type. Sums that do not fit stay at
//     the greatest number; no trace comes near it.
//  2. Texts and what else cannot be added stay those of the first report that has them.
//  3. Lists of structs with fields tagged key:"" are merged element by element, by those
//     fields. From [MaxNames] elements on, those whose tag is key:"name" go under
//     [OtherNames]. Other lists are appended.
//  4. A type with a merge method of its own decides for itself: distributions, curves and
//     what has a greatest case.
//  5. At the end, percentiles and means are set, and lists are sorted by their tag sort:"":
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

// Merge merges reports into one, which takes over what is in them: they are not to be used
// afterwards. See [Merger].
func Merge(list []*Report) (*Report, error) {
	var m Merger
	for _, v := range list {
		if err := m.Add(v); err != nil {
			return nil, err
		}
	}
	return m.Report()
}

// Merger merges reports one after another, so that only one of them and the result are in
// memory. Counts, totals and extremes become those of the analysis of all traces together.
// So do the percentiles of reports of this run; those of saved reports are within 0.4 %,
// and unknown if a report does not hold what they need. Pathologies have the cases of the
// reports that found them. Findings and notes are not merged: of several reports there are none until
// the caller sets them.
type Merger struct {
	v       *Report // the reports so far
	reports int
	procs   float64 // time of procs in all, in nanoseconds
	covered float64 // time in which they were counted
	busy    float64 // of procs
	running float64 // runnable goroutines by time
}

// Add adds a report, which it takes over. After an error all is as it was before.
func (m *Merger) Add(v *Report) error {
	if m.v != nil {
		if err := binsFit(m.v, v); err != nil {
			return err
		}
	}
	m.addMeans(v)
	m.reports++
	if len(v.Traces) == 1 {
		v.PerTrace = []TraceFigures{v.Figures()}
	}
	if m.v == nil {
		m.v = v
		return nil
	}
	renumber(v, len(m.v.Traces))
	worst := mergeWorst(m.v, v) // what is left out depends on the sums so far
	merge(reflect.ValueOf(m.v).Elem(), reflect.ValueOf(v).Elem())
	m.v.WorstWaits = worst
	trim(m.v)
	return nil
}

func sumOf(list []int64) float64 {
	sum := int64(0)
	for _, n := range list {
		sum += n
	}
	return float64(sum)
}

// addMeans adds what means of procs are made of.
func (m *Merger) addMeans(v *Report) {
	procs, covered := sumOf(v.Series.Procs), sumOf(v.Series.Covered)
	if covered == 0 {
		covered = float64(v.Totals.Span)
		procs = v.Procs.Mean * covered
	}
	m.procs += procs
	m.covered += covered
	m.busy += float64(v.Procs.Utilisation * procs)
	m.running += float64(v.Procs.MeanRunnable * covered)
}

// Report returns the merged report. The Merger is not to be used afterwards.
func (m *Merger) Report() (*Report, error) {
	if m.v == nil {
		return nil, errors.New("no report to merge")
	}
	v := m.v
	m.v = nil
	if m.reports == 1 {
		if len(v.Traces) == 1 {
			v.PerTrace = nil
		}
		return v, nil
	}
	m.setMeans(v)
	v.Findings = []Finding{}
	v.Spread = SpreadOf(v.PerTrace)
	Complete(v)
	for i := range v.Latency.Spectra {
		s := &v.Latency.Spectra[i]
		d := &v.Latency.All
		if s.Name != "all" {
			d = named(v.Latency.ByOrigin, s.Name)
		}
		if d != nil {
			s.Points = NewSpectrum(s.Name, d).Points
		}
	}
	sortAll(v)
	v.Notes = []string{}
	return v, nil
}

func (m *Merger) setMeans(v *Report) {
	p := &v.Procs
	p.Utilisation = min(part(m.busy, m.procs), 1)
	p.Mean = part(m.procs, m.covered)
	p.MeanRunnable = part(m.running, m.covered)
	gc := &v.GC
	gc.Share = min(part(float64(gc.Dedicated+gc.Fractional+gc.Idle+gc.Assist), m.procs), 1)
	for i := range v.Causes.Rows {
		r := &v.Causes.Rows[i]
		r.Share = min(part(float64(r.Total), float64(v.Latency.All.Total)), 1)
	}
	q := &v.Queues
	q.Global.Mean = part(float64(q.Global.Sum), float64(q.Span))
	for i := range q.Local {
		q.Local[i].Mean = part(float64(q.Local[i].Sum), float64(q.Span))
	}
}

// part returns a/b, 0 if b is not positive.
func part(a, b float64) float64 {
	if b <= 0 {
		return 0
	}
	return a / b
}

// renumber makes the numbers of traces in v those that they have after n others.
func renumber(v *Report, n int) {
	done := map[any]bool{} // a request that is typical of its group may be so of its kind, too
	each(reflect.ValueOf(v), "", func(x reflect.Value, name string) error {
		switch {
		case x.Kind() == reflect.Pointer && done[x.Interface()]:
			return errSkip
		case x.Kind() == reflect.Pointer:
			done[x.Interface()] = true
		case traceFields[name]:
			x.SetInt(x.Int() + int64(n))
		}
		return nil
	})
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
		if into.String() == "" {
			into.SetString(from.String())
		}
	}
}

func mergeFields(into, from reflect.Value) {
	for i := range into.NumField() {
		f := into.Type().Field(i)
		_, key := f.Tag.Lookup("key")
		switch how := f.Tag.Get("merge"); {
		case key, how == "-", !f.IsExported():
		case how == "min":
			into.Field(i).SetInt(min(into.Field(i).Int(), from.Field(i).Int()))
		case how == "max":
			into.Field(i).SetInt(max(into.Field(i).Int(), from.Field(i).Int()))
		default:
			merge(into.Field(i), from.Field(i))
		}
	}
}

// mergeList adds each element of from to that with the same key, or as it is if there is none.
func mergeList(into, from reflect.Value) {
	fields, name := keyFields(into.Type().Elem())
	if fields == nil {
		into.Set(reflect.AppendSlice(into, from))
		return
	}
	if from.Len() == 0 {
		return
	}
	index := make(map[string]int, into.Len()+from.Len())
	for i := range into.Len() {
		index[keyOf(into.Index(i), fields)] = i
	}
	for i := range from.Len() {
		x := from.Index(i)
		at, ok := index[keyOf(x, fields)]
		if !ok && name != nil && into.Len() >= MaxNames {
			x.FieldByIndex(name).SetString(OtherNames)
			at, ok = index[keyOf(x, fields)]
		}
		if ok {
			merge(into.Index(at), x)
			continue
		}
		index[keyOf(x, fields)] = into.Len()
		into.Set(reflect.Append(into, x))
	}
}

// keyFields returns the fields of a struct that tell elements of a list apart, nil if there
// are none, and the one of them that may become [OtherNames], if any.
func keyFields(t reflect.Type) (fields [][]int, name []int) {
	if t.Kind() != reflect.Struct {
		return nil, nil
	}
	for _, f := range reflect.VisibleFields(t) {
		if key, ok := f.Tag.Lookup("key"); ok {
			fields = append(fields, f.Index)
			if key == "name" {
				name = f.Index
			}
		}
	}
	return fields, name
}

// keyOf returns the key of an element.
func keyOf(x reflect.Value, fields [][]int) string {
	if len(fields) == 1 {
		if f := x.FieldByIndex(fields[0]); f.Kind() == reflect.String {
			return f.String()
		}
	}
	var b strings.Builder
	for _, f := range fields {
		b.WriteString(strconv.Quote(fmt.Sprint(x.FieldByIndex(f).Interface())))
	}
	return b.String()
}

// mergeWorst returns the longest waits of both: no more than that none which a report
// left out would have been among them.
func mergeWorst(v, o *Report) []Wait {
	limit := maxWorst + 1
	for _, x := range []*Report{v, o} {
		if n := len(x.WorstWaits); int64(n) < x.Latency.All.Count {
			limit = min(limit, n)
		}
	}
	if limit > maxWorst {
		limit = max(fewWorst, len(v.WorstWaits), len(o.WorstWaits))
	}
	all := append(v.WorstWaits, o.WorstWaits...)
	slices.SortStableFunc(all, func(a, b Wait) int {
		return cmp.Or(cmp.Compare(b.Duration, a.Duration), cmp.Compare(a.Trace, b.Trace),
			cmp.Compare(a.Start, b.Start), cmp.Compare(a.Goroutine, b.Goroutine))
	})
	return all[:min(len(all), limit)]
}

// trim cuts the lists that are appended to their limits.
func trim(v *Report) {
	v.Totals.GOMAXPROCS = v.Totals.GOMAXPROCS[:min(len(v.Totals.GOMAXPROCS), maxSteps)]
	slices.SortStableFunc(v.Latency.ByGoroutine, func(a, b Goroutine) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Trace, b.Trace), cmp.Compare(a.Goroutine, b.Goroutine))
	})
	v.Latency.ByGoroutine = v.Latency.ByGoroutine[:min(len(v.Latency.ByGoroutine), maxLongest)]
	slices.SortStableFunc(v.Bursts.Longest, func(x, y Burst) int {
		return cmp.Or(cmp.Compare(y.Duration, x.Duration), cmp.Compare(x.Trace, y.Trace), cmp.Compare(x.Start, y.Start), cmp.Compare(x.Goroutine, y.Goroutine))
	})
	v.Bursts.Longest = v.Bursts.Longest[:min(len(v.Bursts.Longest), maxLongest)]
	for i := range v.Requests {
		v.Requests[i].trim()
	}
}

// Merge adds o. Of equal maxima the first counts.
func (t *Tally) Merge(o *Tally) {
	if o.Count == 0 {
		return
	}
	if t.Count == 0 || o.Max > t.Max {
		t.Max, t.MaxAt = o.Max, o.MaxAt
	}
	add(&t.Count, o.Count)
	add((*int64)(&t.Total), int64(o.Total))
}

// merge leaves the mean to [Merger.setMeans].
func (l *Length) merge(from any) {
	o := from.(*Length)
	add((*int64)(&l.Sum), int64(o.Sum))
	if o.Max > l.Max {
		l.Max, l.MaxAt = o.Max, o.MaxAt
	}
}

// merge leaves the means to [Merger.setMeans].
func (p *Procs) merge(from any) {
	o := from.(*Procs)
	if o.MaxRunnable > p.MaxRunnable {
		p.MaxRunnable, p.MaxRunnableAt = o.MaxRunnable, o.MaxRunnableAt
	}
	mergeFields(reflect.ValueOf(p).Elem(), reflect.ValueOf(o).Elem())
}

// merge keeps the higher one.
func (p *Peak) merge(from any) {
	if o := from.(*Peak); o.Runnable > p.Runnable {
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
	var b strings.Builder
	for _, f := range frames {
		b.WriteString(f.Function + "\n" + f.File + ":" + strconv.FormatUint(f.Line, 10) + "\n")
	}
	return b.String()
}

// merge adds up the cases. Evidence is that of the worst case's trace.
func (p *Pathology) merge(from any) {
	o := from.(*Pathology)
	if o.Worst > p.Worst {
		p.Worst, p.At, p.G, p.Trace = o.Worst, o.At, o.G, o.Trace
		p.Evidence, p.Meaning, p.Advice = o.Evidence, o.Meaning, o.Advice
	}
	p.Severity = max(p.Severity, o.Severity)
	p.Grade = max(p.Grade, o.Grade)
	add(&p.Count, o.Count)
	add((*int64)(&p.Total), int64(o.Total))
	mergeList(reflect.ValueOf(&p.Who).Elem(), reflect.ValueOf(&o.Who).Elem())
	slices.SortStableFunc(p.Who, func(a, b Party) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Role, b.Role),
			cmp.Compare(a.Function, b.Function), cmp.Compare(a.Place, b.Place))
	})
	p.Who = p.Who[:min(len(p.Who), maxParties)]
}

func (p *Party) merge(from any) {
	o := from.(*Party)
	if p.Proc != o.Proc {
		p.Proc = -1
	}
	add(&p.Count, o.Count)
	add((*int64)(&p.Total), int64(o.Total))
}

// orders are the names of what has a fixed order, by their sort tags.
var orders = map[string][]string{
	"origin":  namesOf(model.NumOrigins),
	"wayout":  namesOf(model.NumSyscallExitPaths),
	"handoff": namesOf(model.NumHandoffCauses),
	"poller":  namesOf(model.NumPollers),
	"cause":   namesOf(NumCauses),
	"work":    namesOf(model.NumWorkKinds),
	"source":  namesOf(runqueue.NumSources),
	"via":     namesOf(runqueue.NumVias),
	"grade":   namesOf(runqueue.NumGrades),
}

func namesOf[T interface {
	~uint8
	String() string
}](n T) []string {
	var out []string
	for i := range n {
		out = append(out, i.String())
	}
	return out
}

// sortAll puts lists into the order in which an analysis reports them.
func sortAll(v *Report) {
	sortLists(reflect.ValueOf(v).Elem())
	if s := v.Latency.Spectra; len(s) > 0 {
		all := slices.IndexFunc(s, func(x Spectrum) bool { return x.Name == "all" })
		if all > 0 {
			first := s[all]
			copy(s[1:all+1], s[:all])
			s[0] = first
		}
	}
	slices.SortFunc(v.Pathologies, func(a, b Pathology) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(b.Total, a.Total), cmp.Compare(a.Name, b.Name))
	})
	slices.SortFunc(v.Latency.Histogram, func(a, b Bucket) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	slices.SortFunc(v.Queues.Local, func(a, b Length) int { return cmp.Compare(a.Proc, b.Proc) })
}

// sortLists sorts the lists with a sort tag in v, and those in their elements.
func sortLists(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() {
				continue
			}
			if order := f.Tag.Get("sort"); order != "" {
				sortList(v.Field(i), order)
			}
			sortLists(v.Field(i))
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Struct {
			for i := range v.Len() {
				sortLists(v.Index(i))
			}
		}
	}
}

// sortList sorts by the orders of a tag, such as "total,cause": what comes first counts more.
// What ties is sorted by its keys.
func sortList(list reflect.Value, order string) {
	fields, _ := keyFields(list.Type().Elem())
	type element struct {
		value reflect.Value
		by    []int64
		key   string
	}
	all := make([]element, list.Len())
	for i := range all {
		x := reflect.New(list.Type().Elem()).Elem()
		x.Set(list.Index(i))
		all[i] = element{value: x, key: keyOf(x, fields)}
		for by := range strings.SplitSeq(order, ",") {
			n := int64(0)
			if names, ok := orders[by]; ok {
				// Names that are not known come last.
				n = int64(slices.Index(names, firstKey(x, fields)))
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

// firstKey returns the key that has an order.
func firstKey(x reflect.Value, fields [][]int) string {
	return x.FieldByIndex(fields[0]).String()
}

// order is what lists of these are sorted by.
func (t *Task) order() int64      { return int64(t.Total + t.Censored.Total) }
func (r *Region) order() int64    { return int64(r.Total + r.Censored.Total) }
func (g *Group) order() int64     { return int64(g.Lifetime) }
func (s *STWReason) order() int64 { return int64(s.Effective.Total) }
func (c *Count) order() int64     { return c.Count }

// named returns the distribution of that name, nil if there is none.
func named(list []Named, name string) *Dist {
	for i := range list {
		if list[i].Name == name {
			return &list[i].Dist
		}
	}
	return nil
}
