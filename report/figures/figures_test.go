package figures

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/resulttest"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
)

// reports is what several returns, once it is read.
var reports map[string]*result.Report

// several are reports of all kinds: of each fixture that can be read, of several traces,
// and one with hostile names.
func several(t *testing.T) map[string]*result.Report {
	t.Helper()
	if reports == nil {
		reports = map[string]*result.Report{
			"three":   resulttest.Try(t, "http.trace", "tasks.go1.26.p4.trace", "http.trace"),
			"hostile": hostile(),
		}
		for _, name := range fixtures.Chosen(fixtures.Names()) {
			if v := resulttest.Try(t, name); v != nil {
				reports[name] = v
			}
		}
	}
	return reports
}

// hostile returns a report whose names nobody should have, some of them twice.
func hostile() *result.Report {
	v := &result.Report{Schema: result.Schema, Traces: []result.Trace{{Name: "a b"}, {Name: "a b"}, {Name: "\x1b[2J"}}}
	for i, name := range []string{"", "", "a", "a", "a (2)", "evil\x1b[2J\"\\\n", "\xff\xfe", "a/b c", "a_b-7", "a b", "=1+1", "<script>", "\u202e", strings.Repeat("x/", 4000)} {
		n := int64(i)
		ns := model.Duration(n)
		d := result.Dist{Count: n, Total: 1<<53 - 1 - ns, P50: ns, P90: ns, P99: ns, P999: ns, Max: ns}
		v.Latency.ByFunction = append(v.Latency.ByFunction, result.Named{Name: name, Dist: d})
		v.Causes.Rows = append(v.Causes.Rows, result.CauseRow{Cause: name, Share: 1 / float64(i+1), Total: ns})
		v.Pathologies = append(v.Pathologies, result.Pathology{Name: name, Count: n})
	}
	v.Latency.ByFunction[3].Unknown = true
	for i := range v.Traces {
		v.PerTrace = append(v.PerTrace, result.TraceFigures{Trace: i, Procs: float64(i), Waits: int64(i), P50: 7})
	}
	return v
}

// TestAgainstJSON compares all figures with the JSON of the report, of which it takes the
// numbers as they are written there.
func TestAgainstJSON(t *testing.T) {
	for name, v := range several(t) {
		if name == "hostile" {
			continue // the names differ
		}
		var b bytes.Buffer
		if err := result.Write(&b, v); err != nil {
			t.Fatal(err)
		}
		want := expected(t, b.Bytes())
		for _, f := range Of(v) {
			key := fmt.Sprint(f.Name, "|", f.By, "|", f.Of)
			number, ok := want[key]
			if !ok || !sameNumber(f.Value(), number) {
				t.Errorf("%s: %s is %s, in the JSON %q", name, key, f.Value(), number)
			}
			delete(want, key)
		}
		for key := range want {
			t.Errorf("%s: no figure %s", name, key)
		}
	}
}

func sameNumber(a, b string) bool {
	if a == b {
		return true
	}
	var x, y float64
	return strings.ContainsAny(a+b, ".e") && json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && x == y
}

// expected returns the numbers of a report's JSON by the names of their figures.
func expected(t *testing.T, data []byte) map[string]string {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var doc object
	if err := dec.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	e := &expecting{numbers: map[string]string{}}
	e.take("traces", "", "", object{"n": json.Number(fmt.Sprint(len(doc["traces"].([]any))))}, "n")
	totals := doc.in("totals")
	e.take("span", "", "", totals, "span_ns")
	for _, n := range []string{"events", "goroutines", "threads"} {
		e.take(n, "", "", totals, n)
	}
	latency := doc.in("latency")
	e.dist("latency", "", "", latency.in("all"))
	e.list("latency", "origin", latency, "by_origin", "name")
	e.list("latency", "function", latency, "by_function", "name")
	causes := doc.in("causes")
	e.take("cause_unknown", "", "", causes, "unknown_ns")
	for _, o := range causes.all("rows") {
		e.take("cause_total", "cause", o.name("cause"), o, "total_ns")
		e.take("cause_share", "cause", o.name("cause"), o, "share")
		e.take("cause_waits", "cause", o.name("cause"), o, "waits")
	}
	e.procs(doc.in("procs"))
	e.queues(doc.in("queues"))
	for _, o := range doc.all("handoffs") {
		e.take("handoffs", "handoff", o.name("cause"), o, "count")
		e.dist("handoff_gap", "handoff", o.name("cause"), o.in("gap"))
	}
	syscalls := doc.in("syscalls")
	e.dist("syscall", "", "", syscalls.in("all"))
	e.dist("syscall_blocked", "", "", syscalls.in("blocked"))
	e.list("syscall", "way_out", syscalls, "by_way_out", "name")
	e.dist("netpoll", "", "", doc.in("netpoll").in("all"))
	for _, o := range doc.in("netpoll").all("by_poller") {
		e.take("netpoll_direct", "poller", o.name("poller"), o, "direct")
		e.dist("netpoll", "poller", o.name("poller"), o.in("to_run"))
	}
	e.dist("waiting", "", "", doc.in("waiting").in("all"))
	e.list("waiting", "reason", doc.in("waiting"), "by_reason", "name")
	e.dist("burst", "", "", doc.in("bursts").in("all"))
	e.tally("burst_over_10ms", doc.in("bursts").in("over_10ms"))
	e.runtime(doc.in("stw"), doc.in("gc"))
	for _, o := range doc.all("pathologies") {
		e.take("pathology_cases", "pathology", o.name("name"), o, "count")
		e.take("pathology_total", "pathology", o.name("name"), o, "total_ns")
		e.take("pathology_worst", "pathology", o.name("name"), o, "worst_ns")
	}
	e.traces(doc)
	return e.numbers
}

// object is an object of JSON.
type object map[string]any

func (o object) in(name string) object   { return object(o[name].(map[string]any)) }
func (o object) name(name string) string { return o[name].(string) }
func (o object) all(name string) []object {
	list, _ := o[name].([]any)
	var out []object
	for _, x := range list {
		out = append(out, object(x.(map[string]any)))
	}
	return out
}

type expecting struct{ numbers map[string]string }

func (e *expecting) take(name, by, of string, o object, field string) {
	key := fmt.Sprint(name, "|", by, "|", of)
	for n := 2; e.numbers[key] != ""; n++ {
		key = fmt.Sprintf("%s|%s|%s (%d)", name, by, of, n)
	}
	e.numbers[key] = o[field].(json.Number).String()
}

func (e *expecting) dist(name, by, of string, o object) {
	for _, x := range [][2]string{{"_samples", "count"}, {"_total", "total_ns"}, {"_p50", "p50_ns"}, {"_p90", "p90_ns"},
		{"_p99", "p99_ns"}, {"_p99_9", "p99_9_ns"}, {"_max", "max_ns"}} {
		if !strings.HasSuffix(x[1], "_ns") || x[1] == "total_ns" || o["count"] != json.Number("0") {
			e.take(name+x[0], by, of, o, x[1])
		}
	}
}

func (e *expecting) list(name, by string, o object, list, field string) {
	for _, d := range o.all(list) {
		e.dist(name, by, d.name(field), d)
	}
}

func (e *expecting) tally(name string, o object) {
	e.take(name+"_samples", "", "", o, "count")
	e.take(name+"_total", "", "", o, "total_ns")
	if o["count"] != json.Number("0") {
		e.take(name+"_max", "", "", o, "max_ns")
	}
}

func (e *expecting) procs(o object) {
	for _, x := range [][2]string{{"procs", "mean"}, {"utilisation", "utilisation"}, {"runnable_mean", "mean_runnable"},
		{"runnable_max", "max_runnable"}, {"saturated", "saturated_ns"}} {
		e.take(x[0], "", "", o, x[1])
	}
	idle := o.in("idle_while_runnable")
	e.dist("idle_while_runnable", "", "", idle.in("episodes"))
	for _, n := range []string{"wall", "per_proc", "per_goroutine"} {
		e.take("idle_while_runnable_"+n, "", "", idle, n+"_ns")
	}
	uses := o.in("uses_ns")
	for use := range uses {
		e.take("procs_time", "use", use, uses, use)
	}
}

func (e *expecting) queues(o object) {
	if o["refused"] != nil && o["starts"].(json.Number) == "0" {
		return
	}
	for _, x := range [][2]string{{"starts", "starts"}, {"steals", "steals"}, {"steals_runnext", "runnext_steals"}, {"overflows", "overflows"},
		{"fair_picks", "fair_picks"}, {"injected", "injected"}, {"wakeups_uncaused", "wakeups_uncaused"}, {"wakeups_fruitless", "wakeups_fruitless"}} {
		e.take(x[0], "", "", o, x[1])
	}
	e.take("stolen", "", "", o.in("steal_sizes"), "total")
	if o["decisions"] != nil {
		for _, s := range o.all("decisions") {
			e.take("decisions", "decision", s.name("name"), s, "judged")
			e.take("decisions_unexplained", "decision", s.name("name"), s, "unexplained")
		}
	}
	for _, s := range o.all("by_source") {
		e.take("starts", "source", s.name("name"), s, "count")
	}
	e.list("wakeup", "origin", o, "wakeups", "name")
	e.take("queue_mean", "queue", "global", o.in("global"), "mean")
	e.take("queue_max", "queue", "global", o.in("global"), "max")
	for _, l := range o.all("local") {
		e.take("queue_mean", "queue", "proc "+l["proc"].(json.Number).String(), l, "mean")
		e.take("queue_max", "queue", "proc "+l["proc"].(json.Number).String(), l, "max")
	}
}

func (e *expecting) runtime(stw, gc object) {
	e.take("stw_phases", "", "", stw, "count")
	e.dist("stw", "", "", stw.in("effective"))
	e.dist("stw_to_stop", "", "", stw.in("to_stop"))
	for _, o := range stw.all("by_reason") {
		e.dist("stw", "reason", o.name("reason"), o.in("effective"))
	}
	e.take("gc_share", "", "", gc, "share")
	e.dist("gc_mark", "", "", gc.in("marks"))
	e.tally("gc_assist", gc.in("assists"))
	e.tally("gc_sweep", gc.in("sweeps"))
	for _, kind := range []string{"dedicated", "fractional", "idle", "assist"} {
		e.take("gc_work", "kind", kind, gc, kind+"_ns")
	}
}

func (e *expecting) traces(doc object) {
	names := doc.all("traces")
	for i, o := range doc.all("per_trace") {
		of := names[i].name("name")
		fields := [][2]string{{"span", "span_ns"}, {"procs", "procs"}, {"utilisation", "utilisation"}, {"latency_samples", "waits"}, {"latency_total", "total_ns"}}
		if o["waits"].(json.Number) != "0" {
			fields = append(fields, [][2]string{{"latency_p50", "p50_ns"}, {"latency_p99", "p99_ns"}, {"latency_p99_9", "p99_9_ns"}, {"latency_max", "max_ns"}}...)
		}
		for _, x := range fields {
			e.take(x[0], "trace", of, o, x[1])
		}
	}
}

// TestOf checks what every list must be: sorted, without the same twice, printable, and
// the same of the saved report.
func TestOf(t *testing.T) {
	for name, v := range several(t) {
		list := Of(v)
		if !slices.IsSortedFunc(list, func(a, b Figure) int { return strings.Compare(a.Name, b.Name) }) {
			t.Errorf("%s: not sorted", name)
		}
		seen := map[string]bool{}
		for _, f := range list {
			key := fmt.Sprint(f.Name, "|", f.By, "|", f.Of)
			if seen[key] || strings.ContainsAny(f.Of, "\x1b\n\u202e") || !utf8.ValidString(f.Of) || len(f.Of) > 2*maxOf || f.Doc == "" {
				t.Errorf("%s: twice, not printable or not explained: %.100q", name, key)
			}
			seen[key] = true
		}
		var b bytes.Buffer
		if err := result.Write(&b, v); err != nil {
			t.Fatal(err)
		}
		saved, err := result.Read(&b)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !reflect.DeepEqual(Of(saved), list) {
			t.Errorf("%s: other figures from the saved report", name)
		}
	}
}

// TestManyAlike has many things of the same name, which get different ones. It would not end
// in time if each were compared with all before.
func TestManyAlike(t *testing.T) {
	v := hostile()
	for range 3_000 {
		v.Causes.Rows = append(v.Causes.Rows, result.CauseRow{Cause: "a"}, result.CauseRow{Cause: "b/c"}, result.CauseRow{Cause: "b/c (2)"})
	}
	seen := map[string]bool{}
	for _, f := range Of(v) {
		if key := fmt.Sprint(f.Name, "|", f.By, "|", f.Of); seen[key] {
			t.Fatalf("%s twice", key)
		} else {
			seen[key] = true
		}
	}
	render(t, Benchfmt, v)
}
