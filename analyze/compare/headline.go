package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/stat"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// Verdicts of a comparison.
const (
	Worse   = "WORSE"
	Better  = "BETTER"
	Same    = "SAME"
	Unknown = "UNKNOWN"
)

// Least changes that count: of what was tested, of what was not, and of rates.
const (
	leastTested  = 1.1
	leastSeen    = 1.5
	leastSeenP99 = 2.0
	leastFar     = 10.0 // of a quantile of few,
	leastRest    = 2.5  // and of the others, or of a few: busy machines changed them up to 2.1 times
	leastRate    = 1.05
	runLimit     = 1.25 // of the lengths of traces
	leastTime    = 50e3 // nanoseconds, 10 times as many of what was not tested
)

// judge finds the verdict and the row that the headline is about:
//
//  1. The rows that count are those of requests; else those of ops, else those of batches, and if these did not change those
//     of waiting to run. Where it is not known how long the work took, nothing is better for less waiting, which may be that
//     of less work, also where both ran for as long or something else ran, nor worse for more if more ran or answers for
//     which clients wait are not found; and neither if it took longer for what waits less, or the other way.
//  2. One changed if its p, corrected for all that count, is below Alpha, and its ratio is not
//     small. Where there are too few traces for that, if its ratio is great and the sides do not overlap.
//     A rate by itself changed only where both sides did the same number, in different times, or
//     where no latency is known: else the load differs, which is reported and not judged. If a side has fewer than
//     fewestRequests it is all that is compared of them, and UNKNOWN: one of two is no median.
//  3. What is worse goes before what is better. The headline is about the greatest change, where the
//     median counts twice: what all have, the slowest have too; the mean follows from both.
//  4. If nothing is known to have changed, but something that there is too little of seems to have, or by as much as would
//     count if it were not tested, the verdict is UNKNOWN: what is not known to differ need not be the same. So it is if the
//     sides have requests of different kinds, or one has none and nothing else is worse or better; if whole runs were as long
//     with other work; and if waits to run became better and the traces longer, or the other way: of whole runs the length
//     counts. Whatever else was found, it is UNKNOWN if no handler has requests on both sides: others take another time.
//  5. Requests that a side has few of, and those of groups beyond the first, are looked at where no others are worse, and by
//     themselves: more figures would take more traces to test each of them. What is not tested of them must change as much
//     as a quantile of few.
func (r *Result) judge() {
	r.Verdict = Same
	if base, cand := r.kinds(); base != cand && base != "" && cand != "" {
		r.Verdict, r.foreign = Unknown, fmt.Sprintf("Requests of %s are of kind %s, those of %s of kind %s, which cannot be compared: name what both have, such as --request tcp or --request task:NAME.", r.Base.Name, base, r.Cand.Name, cand)
		return
	}
	if r.weigh(r.counting()); r.foreign != "" {
		r.Verdict, r.doubt = Unknown, r.foreign
		return
	}
	if rare := r.rowsOf(SectionRequests, true); r.Verdict != Worse && len(rare) > 0 { // 5
		verdict, weighed, lead := r.Verdict, r.weighed, r.lead
		r.Verdict = Same
		switch r.weigh(rare); {
		case r.Verdict == Worse:
			r.weighed = append(weighed, rare...)
		case r.Verdict == Same, verdict != Same:
			r.Verdict, r.weighed, r.lead = verdict, weighed, lead
		}
	}
	if r.Verdict == Same && r.lead != nil && r.lead.handful != "" {
		r.Verdict, r.doubt = Unknown, r.lead.handful
	}
	if r.Verdict == Same && len(r.unjudged) > 0 {
		r.Verdict, r.doubt, r.unjudged = Unknown, r.unjudged[0], r.unjudged[1:]
	}
	r.Only = append(r.Only, r.unjudged...)
	batch := r.rowsOf(SectionBatch, false)
	if r.Verdict == Same && r.lead != nil && r.lead.Section == SectionBatch {
		if r.weigh(r.rowsOf("", false)); r.Verdict == Same {
			r.weighed, r.lead = batch, batch[0]
		}
	}
	if work := r.otherWork(); r.Verdict == Same && r.lead != nil && r.lead.Group == "run" && work != nil { // perhaps until a time had come
		r.Verdict, r.doubt = Unknown, fmt.Sprintf("there was %s work, or it is done in another way: %s", textui.Either(work.worse() < 0, "less", "more"), work.sentence())
	}
	if base, cand := r.kinds(); r.Verdict == Same && r.lead != nil && base != cand {
		r.Verdict, r.doubt = Unknown, "only one side has requests, so that how long they take is not compared"
	}
	if r.lead == nil || !r.ofWaiting() {
		return
	}
	ran := r.Row(quantity("mean(run/U)", r.Op).String())
	pace := slices.IndexFunc(batch, func(row *Row) bool {
		return math.Abs(row.worse()) >= math.Log(leastTested) && (r.Verdict == Better && row.worse() > 0 || r.Verdict == Worse && row.worse() < 0)
	})
	switch timed := len(batch) == 1 && batch[0].Group == "run"; {
	case (len(batch) == 0 || timed) && (r.Verdict == Better || !r.sameWork() || r.Base.answers() && r.Cand.answers()):
		switch op := r.commonOp(); {
		case r.Verdict == Worse && r.sameWork():
			r.doubt = "no requests were found, and how long they took is not known: trace.NewTask marks some"
		case timed:
			r.doubt = fmt.Sprintf("both ran for about as long: if that is until a time has come, %s waiting may be that of %[1]s work", textui.Either(r.Verdict == Better, "less", "more"))
		case op != "":
			r.doubt = fmt.Sprintf("how long the work takes is not known: --op %s counts it, if that is the work", op)
		default:
			r.doubt = "how long the work takes is not known: mark a piece of it with trace.WithRegion, which --op counts, or let main start and stop the trace of an amount of work"
		}
		r.Verdict = Unknown
	case pace >= 0:
		r.Verdict, r.doubt = Unknown, r.Name(batch[pace])+": "+batch[pace].sentence()
	case ran != nil && r.Verdict == Better && math.Abs(ran.worse()) >= math.Log(runLimit):
		r.Verdict, r.doubt = Unknown, "that may be that of other work: "+ran.sentence()
	}
}

// answers reports whether the traces of a side wait for the network, so that waits to run are a part of what their clients wait.
func (s *Side) answers() bool {
	return !slices.ContainsFunc(s.whole(), func(t *Trace) bool {
		return !slices.ContainsFunc(t.Reasons, func(x sample.Class) bool {
			return model.WaitOf(x.Detail) == model.WaitNetwork && x.Count >= enoughRequests
		})
	})
}

// ofWaiting reports whether the headline is about waits to run.
func (r *Result) ofWaiting() bool {
	return r.lead.Section == SectionLatency || r.lead.Section == SectionTotals
}

// weigh finds the verdict by some rows.
func (r *Result) weigh(rows []*Row) {
	if len(rows) == 0 {
		return
	}
	r.weighed, r.lead = rows, rows[0]
	var ps []float64
	var tested []*Row
	for _, row := range rows {
		if row.P != nil {
			tested, ps = append(tested, row), append(ps, *row.P)
		}
	}
	n, m, apart := len(r.Base.Traces), len(r.Cand.Traces), Alpha
	if r.TooFew() {
		apart = 2.002 * stat.MinP(n, m)
	}
	corrected := stat.Holm(ps)
	most, load := 0.0, (*Row)(nil) // the rate that changed most by another load
	var open *Row                  // what seems to have changed most, of what there is too little of
	greatest := 0.0
	for _, row := range rows { // 2
		p, n, m := row.P, n, m
		if p != nil {
			n, m = len(row.Base.X), len(row.Cand.X) // not all traces need have it
		}
		enough := !r.Single() && 2*stat.MinP(n, m)*float64(len(ps)) < Alpha
		if i := slices.Index(tested, row); i >= 0 && enough {
			p = &corrected[i]
		}
		row.change = row.worse()
		overlap := p != nil && !enough && *p >= apart // of the two sides
		few := !enough && row.Few > 0 && !r.moves(row)
		if x := math.Abs(row.change); x < row.least(enough) || overlap || p != nil && enough && *p >= Alpha || few {
			row.change = 0
			if x >= row.least(enough) && (overlap || few) || enough && x >= row.least(false) { // 4
				if overlap {
					row.why = " where the sides overlap"
				}
				if x > greatest && (!row.isRate() || r.sameLoad(row)) {
					greatest, open = x, row
				}
			}
		}
		weight := math.Abs(row.change)
		if row.of.Agg == rule.Mean && !row.isRate() && row.Section == SectionRequests {
			weight /= 100
		}
		if row.change > 0 { // 3
			weight += 1000
		}
		if row.of.Agg == rule.Quantile && row.of.Q == 0.5 {
			weight += math.Abs(row.change)
		}
		switch {
		case row.isRate() && (row != rows[0] || row.handful != "") && row.Section != SectionBatch && !r.sameLoad(row):
			if load == nil || math.Abs(row.change) > math.Abs(load.change) {
				load = row
			}
		case weight > most:
			most, r.lead, r.Verdict = weight, row, Better
			if row.change > 0 {
				r.Verdict = Worse
			}
		}
	}
	switch {
	case r.Verdict == Same && open != nil:
		r.Verdict, r.lead = Unknown, open
	case r.Verdict == Same && load != nil && load.change != 0:
		r.lead = load
	case r.ofWaiting() && r.Verdict != Same:
		base, cand, ok := r.medians(length)
		if ok && (r.Verdict == Better && cand >= runLimit*base || r.Verdict == Worse && base >= runLimit*cand) {
			r.Verdict = Unknown
			r.doubt = fmt.Sprintf("the traces of %s are %.2g times as long, and that is what counts if they are of whole runs", r.Cand.Name, cand/base)
		}
	}
}

// kinds returns the kind of the requests of each side, "" if there are none.
func (r *Result) kinds() (base, cand string) {
	return requestKind(r.Base.samples()), requestKind(r.Cand.samples())
}

// tooLittle says why nothing counts, and how many traces would show whether something changed.
func (r *Result) tooLittle() string {
	if r.doubt != "" {
		return "; but " + r.doubt
	}
	figures := len(r.weighed)
	n := least(func(n int) bool { return n > 1 && 2*stat.MinP(n, n)*float64(figures) < Alpha })
	why := "that may be chance"
	switch {
	case r.Single():
		why = "one trace of a side says nothing of chance"
	case r.lead != nil && min(len(r.lead.Base.X), len(r.lead.Cand.X)) >= n:
		return fmt.Sprintf("; %s, as the traces of a side differ as much: record more of each, on a quiet machine", why)
	case figures > 1:
		why += fmt.Sprintf(", as p<%.2g is asked of each of %d figures", Alpha/float64(figures), figures)
	}
	return fmt.Sprintf("; %s: record %d more of each", why, max(n-min(len(r.Base.Traces), len(r.Cand.Traces)), 1))
}

// sameLoad reports whether both sides did the same number of what has this rate, in whatever time.
func (r *Result) sameLoad(rate *Row) bool {
	base, cand, ok := r.medians(func(s *sample.Sample) *float64 { return new(Seconds(s)) })
	x := float64(rate.Cand.Median) * cand / (float64(rate.Base.Median) * base)
	return ok && max(x, 1/x) < leastRate
}

// moves reports whether the mean changed by as much as counts where nothing was tested, in the
// direction of a quantile that is an accident of a few; or, where that is many times as long, of all requests except
// the slowest.
func (r *Result) moves(row *Row) bool {
	if row.rare {
		return math.Abs(row.change) >= math.Log(leastFar)
	}
	mean := r.mean(row)
	base, cand := r.rest(&r.Base, row.Group), r.rest(&r.Cand, row.Group)
	rest := math.Log(cand / base)
	return mean != nil && row.change*mean.worse() > 0 && math.Abs(mean.worse()) >= mean.least(false) ||
		min(base, cand) > 0 && math.Abs(row.change) >= math.Log(leastFar) && row.change*rest > 0 && math.Abs(rest) >= math.Log(leastRest)
}

// rest returns the mean of the requests of a group without the slowest of each trace, 0 if it is not known.
func (r *Result) rest(s *Side, group string) float64 {
	var sum, n float64
	for _, t := range s.whole() {
		if x := r.set(t, group); x != nil {
			sum, n = sum+float64(x.Rest), n+float64(x.Count-x.Slowest)
		}
	}
	return sum / max(n, 1)
}

// mean returns the row of the mean of the same, nil if there is none.
func (r *Result) mean(of *Row) *Row {
	return result.Find(r.Rows, func(row *Row) bool {
		return row.Section == of.Section && row.Group == of.Group && row.of.Agg == rule.Mean && !row.isRate()
	})
}

// counting returns the rows by which a comparison is judged first.
func (r *Result) counting() (rows []*Row) {
	for _, section := range []string{SectionRequests, SectionOps, SectionBatch, ""} {
		if rows = r.rowsOf(section, false); rows != nil {
			break
		}
	}
	return rows
}

// rowsOf returns the rows of a section that count, "" for those of waiting to run; of requests those of which a side has few
// if rare.
func (r *Result) rowsOf(section string, rare bool) (rows []*Row) {
	for row := range result.Refs(r.Rows) {
		waiting := row.Quantity == "p99(runnable)" || row.Quantity == r.total().String() && r.sameWork()
		if (row.Section == section || section == "" && waiting) && len(row.Base.X) > 0 && len(row.Cand.X) > 0 && !row.alone && row.rare == rare {
			rows = append(rows, row)
		}
	}
	return rows
}

// sameWork reports whether both sides ran for about as long in each unit: more work waits more in all.
func (r *Result) sameWork() bool {
	ran := r.Row(quantity("mean(run/U)", r.Op).String())
	return ran == nil || math.Abs(ran.worse()) < math.Log(leastSeen)
}

// otherWork returns how often goroutines were woken, if that changed as they ran longer or shorter, both by more than traces of a
// side differ; else nil.
func (r *Result) otherWork() *Row {
	wakes, ran := r.Row(quantity("mean(wakes/U)", r.Op).String()), r.Row(quantity("mean(run/U)", r.Op).String())
	if wakes == nil || ran == nil || wakes.worse()*ran.worse() < 0 {
		return nil
	}
	for _, row := range []*Row{wakes, ran} {
		if math.Abs(row.worse()) < math.Log(leastSeen) || row.P != nil && *row.P >= max(Alpha, 2.002*stat.MinP(len(row.Base.X), len(row.Cand.X))) {
			return nil
		}
	}
	return wakes
}

// total is the quantity of all waiting to run.
func (r *Result) total() rule.Quantity { return quantity("mean(wait/U)", r.Op) }

// isRate reports whether more of it is better.
func (row *Row) isRate() bool {
	return row.of.Metric == "requests" || row.of.Metric == "ops" || row.of.Metric == "batches"
}

// worse returns the logarithm of how many times worse the candidate is, less than 0 if it is better.
func (row *Row) worse() float64 {
	x := 0.0
	switch base, cand := float64(row.Base.Median), float64(row.Cand.Median); {
	case row.Ratio != nil:
		x = math.Log(row.Ratio.Est)
	case base != cand: // one is zero
		x = math.Copysign(10, cand-base)
	}
	return textui.Either(row.isRate(), -x, x)
}

// least returns the least change of a row that counts, as a logarithm.
func (row *Row) least(tested bool) float64 {
	ratio, time := leastTested, leastTime
	switch {
	case row.isRate() && tested:
		ratio = leastRate
	case tested:
	case row.rare && !row.isRate():
		ratio, time = leastRest, 10*leastTime
	case row.of.Agg == rule.Quantile && row.of.Q > 0.5:
		ratio, time = leastSeenP99, 10*leastTime
	default:
		ratio, time = leastSeen, 10*leastTime
	}
	if d := row.Cand.Median - row.Base.Median; row.Unit == rule.Nanoseconds && row.of.Per == rule.PerNone && math.Abs(float64(d)) < time {
		return math.Inf(1)
	}
	return math.Log(ratio)
}

// headline fills in the sentences to read first.
func (r *Result) headline() {
	if r.lead == nil {
		r.Headline = r.nothing()
		return
	}
	var said []string
	var rate *Row
	same := r.Verdict == Same || r.Verdict == Unknown
	for row := range result.Refs(r.Rows) {
		of := row.Section == r.lead.Section && row.Group == r.lead.Group && row.Quantity != "p50(runnable)" && !row.alone
		if of && row.isRate() {
			rate = row
		} else if of && same && (row == r.lead && r.Verdict == Unknown || row.of.Agg == rule.Quantile && (row.of.Q == 0.5 || row.of.Q == 0.99)) {
			said = append(said, row.sentence())
		}
	}
	differs := rate != nil && (rate.change != 0 || rate.handful != "") && rate.Ratio != nil && same // the load
	switch {
	case differs:
		change, per, _ := strings.Cut(rate.sentence(), " "+rate.of.Metric)
		said = append(said, fmt.Sprintf("%s times the %s%s (%s)", strings.TrimPrefix(TimesText(rate.Ratio.Est), "x"), rate.of.Metric, per, change))
	case len(said) == 0:
		said = append(said, r.lead.sentence())
	}
	if rate != nil && rate != r.lead && !differs && (rate.change != 0 || same) {
		said = append(said, rate.sentence())
	}
	r.Headline = r.Name(r.lead) + ": " + strings.Join(said, ", ")
	var other *Row // that changed most the other way; for the worse: if it were tested
	for _, row := range r.weighed {
		switch {
		case r.Verdict == Worse && row.change < 0 && (!row.isRate() || r.sameLoad(row)) && (other == nil || row.change < other.change-0.01),
			r.Verdict == Better && row.P == nil && row.worse() >= row.least(true) && !row.isRate() && (other == nil || row.worse() > other.worse()):
			other = row
		}
	}
	if other != nil {
		r.Headline += textui.Either(r.Verdict == Worse, "; better: ", "; worse, but too little to count: ") + r.Name(other) + ": " + other.sentence()
	}
	switch {
	case r.Verdict == Unknown:
		r.Headline += r.tooLittle()
	case !same && r.lead.Section != SectionBatch: // waits to run say little of it
		r.Part = r.part()
	case same && r.lead.Group == "" && r.lead.Section != SectionOps:
		r.Headline += "; there are no requests to compare"
	}
	ran := r.Row(quantity("mean(run/U)", r.Op).String())
	if same && r.OfRequests() && ran != nil && math.Abs(ran.worse()) >= math.Log(leastSeen) && rate != nil && math.Abs(rate.worse()) < math.Log(runLimit) {
		than := textui.Either(ran.worse() < 0, "less busy", "busier")
		r.Headline += "; but the CPUs are " + than + ": " + ran.sentence()
	}
	r.Why = r.why()
}

// Name returns whose row it is: the group of requests, the batch, or what waits.
func (r *Result) Name(row *Row) string {
	switch {
	case row.Group != "":
		return textui.Clean(result.GroupName(r.RequestKind, row.Group))
	case row.Section == SectionOps:
		return "ops"
	}
	return "waiting to run"
}

// Label returns the quantity without the parts that are in the name.
func (row *Row) Label() string {
	switch {
	case row.Group == "", row.Section == SectionBatch && !row.isRate():
		return row.Quantity
	case row.isRate():
		return "per second"
	}
	q := *row.of
	q.Select = nil
	return strings.TrimSuffix(q.String(), "(request)")
}

// sentence says from what to what a row changed: "p50 2.10 -> 40.0ms (19.0x, p=0.002)".
func (row *Row) sentence() string {
	base, cand := row.text(row.Base.Median), row.text(row.Cand.Median)
	unit := strings.TrimLeft(cand, "0123456789.,")
	if strings.TrimLeft(base, "0123456789.,") == unit {
		base = strings.TrimSuffix(base, unit)
	}
	text := base + " -> " + cand
	var in []string
	if row.Ratio != nil {
		in = append(in, strings.TrimPrefix(TimesText(row.Ratio.Est), "x")+"x")
	}
	if row.P != nil && CanDiffer(row.Base.N, row.Cand.N) {
		in = append(in, PText(*row.P))
	}
	switch {
	case row.isRate():
		return text + " " + row.of.Metric + " per second"
	case len(in) > 0:
		text += " (" + strings.Join(in, ", ") + ")" + row.why
	}
	return row.Label() + " " + text
}

// explaining are the totals that may explain a change.
var explaining = []string{"wait", "run", "cpu", "blocked", "wakes", "gc"}

// why names those of them that differ beyond chance.
func (r *Result) why() string {
	const least = 0.03
	var said []string
	for row := range result.Refs(r.Rows) {
		if row.Section == SectionTotals && slices.Contains(explaining, row.of.Metric) && row != r.lead && row.Differs && (row.Ratio == nil || math.Abs(row.Ratio.Est-1) >= least) {
			said = append(said, row.sentence())
		}
	}
	return strings.Join(said, "; ")
}

// part names the part of the requests' time, or else of the waiting, that changed most.
func (r *Result) part() string {
	if !r.OfRequests() {
		return cmp.Or(r.code(), r.class())
	}
	const shown, notable = 2, 0.1
	ps, change := r.Changed(), 0.0
	for i := range ps.Parts {
		change = max(change, math.Abs(ps.Parts[i].Change()))
	}
	var parts []string
	for p := range result.Refs(ps.Parts) {
		if d := p.Change(); len(parts) < shown && !p.others() && d*(ps.Cand-ps.Base) > 0 && math.Abs(d) >= notable*change {
			parts = append(parts, p.Detail+" "+SignedValue(d, rule.Nanoseconds))
		}
	}
	if parts == nil {
		return ""
	}
	of := textui.Either(ps == &r.Slowest, "in each of the slowest", "in each")
	return strings.Join(parts, ", ") + " " + of
}

// Changed returns the parts of the requests that the headline is about: of those of about median
// length, or of the slowest if it is about them, or the others changed less.
func (r *Result) Changed() *Parts {
	slow := r.lead.of.Agg == rule.Quantile && r.lead.of.Q > 0.5
	if mean := r.mean(r.lead); r.lead.of.Agg == rule.Mean && mean != nil {
		slow = 2*math.Abs(r.Usual.Cand-r.Usual.Base) < math.Abs(float64(mean.Cand.Median-mean.Base.Median))
	}
	return textui.Either(slow, &r.Slowest, &r.Usual)
}

// OfRequests reports whether the headline is about requests.
func (r *Result) OfRequests() bool { return r.lead != nil && r.lead.Section == SectionRequests }

// Of names the requests that the headline is about.
func (r *Result) Of() string { return r.Name(r.lead) }

// class names the class of waiting that changed most.
func (r *Result) class() string {
	p := r.Waits.Most()
	switch {
	case p == nil:
		return ""
	case r.Waits.Mixed():
		return "changed most: " + ClassText(p)
	}
	return fmt.Sprintf("%s of the change: %s", textui.Percent(r.Waits.ShareOf(p)), ClassText(p))
}

// nothing says that neither side waited, or that it is not known.
func (r *Result) nothing() string {
	if r.foreign != "" {
		return r.foreign
	}
	for _, s := range []*Side{&r.Base, &r.Cand} {
		if !r.counted(s) {
			return fmt.Sprintf("There is nothing to compare per %s: %s has none.", r.Per, s.Name)
		}
	}
	return "Nothing waited to run."
}

// code names the code behind which most of the change was waited, "" if there is none.
func (r *Result) code() string {
	p, change := r.Behind.Most(), r.Waits.Cand-r.Waits.Base
	if p == nil || p.At == nil || change == 0 {
		return ""
	}
	const most, notable = 0.5, 0.1 // of the change, and of what was
	share := p.Change() / change
	if share < most || share > 1.005 || math.Abs(change) < notable*r.Waits.Base {
		return ""
	}
	how := textui.If(p.Detail != result.CauseGoroutine.String(), " ("+p.Detail+")")
	return fmt.Sprintf("%s of the change: behind %s%s", textui.Percent(share), FrameText(p.At), how)
}

// ClassText describes a class in a clause: its function, where it stopped, and who woke it.
func ClassText(p *Part) string {
	s := textui.Clean(textui.ShortFunc(p.Func))
	if p.At != nil {
		s += ", stopped in " + FrameText(p.At)
	}
	if p.By != nil {
		s += ", woken by " + FrameText(p.By)
	}
	return s
}

// FrameText returns a place, "main.(*T).run (server.go:88)", without an unknown line.
func FrameText(f *sample.Frame) string { return textui.Place(f.Func, f.File, f.Line) }

// SignedValue writes a change with its sign.
func SignedValue(x float64, u rule.Unit) string {
	return textui.If(x > 0, "+") + rule.FormatValue(x, u)
}

// TimesText writes a ratio: "x1.60", "x0.87".
func TimesText(x float64) string {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return "x?"
	case x >= 99.5:
		return "x" + rule.FormatValue(math.Round(x), rule.Number)
	case x == 0:
		return "x0"
	case x < 0.0005:
		return "<x0.0005"
	case x >= 9.95:
		return fmt.Sprintf("x%.1f", x)
	case x < 0.0995:
		return fmt.Sprintf("x%.3f", x)
	}
	return fmt.Sprintf("x%.2f", x)
}

// IntervalText writes a ratio with its bounds: "x1.60 [1.43, 1.81]".
func IntervalText(i *stat.Interval) string {
	bound := func(x float64) string { return strings.TrimPrefix(TimesText(x), "x") }
	return fmt.Sprintf("%s [%s, %s]", TimesText(i.Est), bound(i.Low), bound(i.High))
}

// PText writes a p as benchstat does: "p=0.042", "p<0.001".
func PText(p float64) string {
	if p < 0.0005 {
		return "p<0.001"
	}
	s := fmt.Sprintf("p=%.3f", p)
	if p < Alpha && s == fmt.Sprintf("p=%.3f", Alpha) {
		return fmt.Sprintf("p<%.3f", Alpha)
	}
	return s
}
