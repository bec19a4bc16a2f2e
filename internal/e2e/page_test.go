package e2e

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// shown says which table shows which list of the JSON: for each column with a number,
// the first being 1, the field.
var shown = []struct {
	table  string
	path   []string
	fields map[int]string
}{
	{"t-causes", []string{"causes", "rows"}, map[int]string{1: "total_ns", 3: "waits"}},
	{"t-causes-function", []string{"causes", "by_function"}, map[int]string{1: "waits", 2: "total_ns"}},
	{"t-blame", []string{"blame", "rows"}, map[int]string{2: "total_ns", 4: "turns", 5: "longest_ns"}},
	{"t-latency-origin", []string{"latency", "by_origin"}, dist(1)},
	{"t-latency-function", []string{"latency", "by_function"}, dist(1)},
	{"t-goroutines-waited", []string{"latency", "by_goroutine"}, map[int]string{1: "count", 2: "total_ns", 3: "max_ns", 4: "max_at_ns"}},
	{"t-worst", []string{"worst_waits"}, map[int]string{0: "duration_ns", 1: "start_ns"}},
	{"t-sources", []string{"queues", "by_source"}, map[int]string{1: "count"}},
	{"t-wakeups", []string{"queues", "wakeups"}, dist(1)},
	{"t-waiting", []string{"waiting", "by_reason"}, dist(1)},
	{"t-ways-out", []string{"syscalls", "by_way_out"}, dist(1)},
	{"t-syscalls-function", []string{"syscalls", "by_function"}, dist(1)},
	{"t-bursts", []string{"bursts", "by_function"}, dist(1)},
	{"t-longest", []string{"bursts", "longest"}, map[int]string{0: "duration_ns", 1: "start_ns"}},
	{"t-handoffs", []string{"handoffs"}, map[int]string{1: "count"}},
	{"t-groups", []string{"goroutines"}, map[int]string{1: "count", 2: "lifetime_ns"}},
	{"t-tasks", []string{"tasks"}, dist(2)},
	{"t-regions", []string{"regions"}, dist(2)},
	{"t-limits", []string{"causes", "thresholds"}, map[int]string{1: "value_ns", 2: "samples"}},
}

// dist are the columns of a distribution from the n-th on.
func dist(n int) map[int]string {
	return map[int]string{n: "count", n + 1: "total_ns", n + 2: "p50_ns", n + 3: "p90_ns", n + 4: "p99_ns", n + 5: "p99_9_ns", n + 6: "max_ns", n + 7: "max_at_ns"}
}

// cells returns the numbers in the body of a table, -1 where there is none; none at all if
// the page has no such table.
const cells = `(id => { const t = document.getElementById(id); return t ? Array.from(t.tBodies[0].rows, r => Array.from(r.cells, c => c.dataset.v === undefined ? -1 : Number(c.dataset.v))) : [] })`

// TestNumbers compares the page's numbers with those of the JSON.
func TestNumbers(t *testing.T) {
	needBrowser(t)
	compared := map[string]int{}
	for _, name := range []string{"http.trace", "tasks.go1.26.p4.trace", "syscalls.go1.26.p4.trace"} {
		want := numbers(t, fixture(t, name), "--worst", "20")
		x := open(t, fileURL(report(t, fixture(t, name), "--worst", "20")), look{}, nil)
		for _, s := range shown {
			list := at(want, s.path)
			switch s.table {
			case "t-latency-origin": // the greatest total first
				slices.SortStableFunc(list, func(a, b any) int {
					return cmp.Compare(b.(map[string]any)["total_ns"].(float64), a.(map[string]any)["total_ns"].(float64))
				})
			case "t-blame": // those that ran
				kinds := at(want, []string{"blame", "kinds"})
				list = slices.DeleteFunc(list, func(x any) bool {
					row := x.(map[string]any)
					return row["kind"] == "created" || row["kind"] == "woken by timers" || row["function"] == "(other names)" || slices.ContainsFunc(kinds, func(k any) bool {
						return k.(map[string]any)["kind"] == row["kind"] && k.(map[string]any)["blocked"] == true
					})
				})
			}
			if s.table == "t-worst" { // a row for each incident
				list = incidents(list)
			}
			rows := eval[[][]float64](x, fmt.Sprintf("%s(%q)", cells, s.table))
			if len(rows) != len(list) {
				t.Errorf("%s: %s has %d rows, want %d", name, s.table, len(rows), len(list))
				continue
			}
			for i, row := range rows {
				for column, field := range s.fields {
					if got, want := row[column], list[i].(map[string]any)[field].(float64); got != want && !(got == -1 && want == 0) {
						t.Errorf("%s: %s row %d: %s is %v, want %v", name, s.table, i, field, got, want)
					}
					compared[s.table]++
				}
			}
		}
	}
	for _, s := range shown {
		if compared[s.table] == 0 {
			t.Errorf("no fixture has anything in %s", s.table)
		}
	}
}

// incidents returns the longest wait of each incident.
func incidents(waits []any) []any {
	var list []any
	for i, w := range waits {
		if w.(map[string]any)["incident"].(float64) == float64(i) {
			list = append(list, w)
		}
	}
	return list
}

func at(v any, path []string) []any {
	for _, key := range path {
		v = v.(map[string]any)[key]
	}
	list, _ := v.([]any)
	return list
}

// TestFormat compares how scripts write numbers with how the program did, in all cells.
func TestFormat(t *testing.T) {
	needBrowser(t)
	const wrong = `(() => {
		const S = Schedscope, f = { ns: S.duration, at: S.instant, n: S.count, share: S.percent, bytes: S.bytes }, out = [];
		let n = 0;
		for (const table of document.querySelectorAll("main table")) {
			const heads = table.tHead.rows[0].cells;
			for (const row of table.querySelectorAll("tbody tr, tfoot tr")) Array.from(row.cells, (c, i) => {
				const kind = heads[i].dataset.k;
				if (c.dataset.v === undefined || !f[kind]) return;
				n++;
				const got = f[kind](Number(c.dataset.v));
				if (got !== c.textContent.replace(/^[≥+]/, "")) out.push(kind + " " + c.dataset.v + ": " + got + ", want " + c.textContent);
			});
		}
		return n < 500 ? ["only " + n + " numbers"] : out.slice(0, 20);
	})()`
	for _, name := range []string{"http.trace", "generations.go1.26.p4.trace"} {
		x := open(t, fileURL(report(t, fixture(t, name))), look{}, nil)
		for _, s := range eval[[]string](x, wrong) {
			t.Errorf("%s: %s", name, s)
		}
	}
}

// TestTables sorts and unfolds a table.
func TestTables(t *testing.T) {
	needBrowser(t)
	x := open(t, fileURL(report(t, fixture(t, "http.trace"), "--worst", "100")), look{}, nil)
	x.unfold()
	const visible = `Array.from(document.querySelectorAll("#t-worst tbody tr")).filter(r => r.offsetHeight > 0).length`
	if n := eval[int](x, visible); n != 12 {
		t.Errorf("%d rows at first, want 12", n)
	}
	x.do(chromedp.Click(chromedp.CSS("#worst .more")))
	all := len(incidents(at(numbers(t, fixture(t, "http.trace"), "--worst", "100"), []string{"worst_waits"})))
	if n := eval[int](x, visible); n != all || n <= 12 {
		t.Errorf("%d rows after show all, want %d", n, all)
	}
	column := func(i int) []float64 {
		return eval[[]float64](x, fmt.Sprintf(`Array.from(document.querySelectorAll("#t-worst tbody tr"), r => Number(r.cells[%d].dataset.v))`, i))
	}
	x.do(chromedp.Click(chromedp.CSS("#t-worst thead th:nth-child(2) button")))
	for from, i := column(1), 1; i < len(from); i++ {
		if from[i] < from[i-1] {
			t.Fatalf("not sorted by time: %v", from)
		}
	}
	if s := eval[string](x, `document.querySelector("#t-worst thead th:nth-child(2)").getAttribute("aria-sort")`); s != "ascending" {
		t.Errorf("aria-sort is %q", s)
	}
	x.do(chromedp.Click(chromedp.CSS("#t-worst thead th:nth-child(1) button")))
	for length, i := column(0), 1; i < len(length); i++ {
		if length[i] > length[i-1] {
			t.Fatalf("not sorted by length, longest first: %v", length)
		}
	}
	x.do(chromedp.Click(chromedp.CSS("#t-worst tbody tr a")))
	// The page unfolds it when the event comes that the address has changed: after the click.
	x.waitFor(`document.querySelector(location.hash).open`)
}

// TestCharts moves the cursor and zooms by keys, and hides a curve.
func TestCharts(t *testing.T) {
	needBrowser(t)
	x := open(t, fileURL(report(t, fixture(t, "http.trace"))), look{}, nil)
	x.unfold()
	if n := eval[int](x, `document.querySelectorAll("figure.chart").length`); n != eval[int](x, `Schedscope.charts.filter(c => c.u).length`) || n < 5 {
		t.Errorf("%d charts, not all of them are drawn", n)
	}
	const span = `Schedscope.charts.filter(c => c.spec.clock).map(c => c.u.scales.x.max - c.u.scales.x.min)`
	before := eval[[]float64](x, span)
	eval[any](x, `document.querySelector("#procs-chart .plot").focus()`)
	x.do(chromedp.KeyEvent("+"), chromedp.KeyEvent(kb.ArrowRight))
	x.waitFor(`document.querySelector("#procs-chart .readout").textContent.includes("ms to ")`)
	for i, after := range eval[[]float64](x, span) {
		if after > before[i]*0.51 || after < before[i]*0.49 {
			t.Errorf("chart %d shows %v of %v after zooming in", i, after, before[i])
		}
	}
	x.do(chromedp.KeyEvent("0"))
	if after := eval[[]float64](x, span); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("0 shows %v, want %v", after, before)
	}
	x.do(chromedp.Click(chromedp.CSS("#spectrum-chart .legend button")))
	if eval[bool](x, `Schedscope.charts.find(c => c.id === "spectrum-chart").u.series[1].show`) {
		t.Error("the curve is not hidden")
	}
}
