package sqltest

import (
	"database/sql"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/duckdb/duckdb-go/v2"
)

// export is a trace of the exports that queries run on.
type export struct{ fixture, service, host, version string }

var exports = []export{
	{"http.trace", "web", "a-1", "go1.26"},
	{"pipeline.go1.26.p4.trace", "batch", "b-1", "go1.26"},
	{"mixed.go1.22.p2.trace", "web", "a-2", "go1.22"},
	{"starve.go1.26.p1.trace", "web", "a-2", "go1.26"},
}

// TestQueries runs every query of the help, in the folder that it names, and compares
// with the JSON report and the CSV tables.
func TestQueries(t *testing.T) {
	t.Chdir(t.TempDir())
	s := &scene{traces: map[string]*traced{}}
	for _, x := range exports {
		schedscope(t, "export", "--format", "parquet", "-o", "tables", "--service", x.service, "--host", x.host, fixture(x.fixture))
	}
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, r := range query(t, db, "SELECT trace, file, origin FROM 'tables/traces/*.parquet'") {
		for _, x := range exports {
			if path := fixture(x.fixture); r["file"] == path {
				s.traces[r["trace"].(string)] = &traced{export: x, path: path, report: analyzed(t, path), origin: r["origin"].(int64)}
			}
		}
	}
	if len(s.traces) != len(exports) {
		t.Fatalf("the table of traces has %d of %d", len(s.traces), len(exports))
	}
	queries := queriesIn(string(schedscope(t, "help", "parquet")))
	if got, want := slices.Sorted(maps.Keys(queries)), slices.Sorted(maps.Keys(checks)); !slices.Equal(got, want) {
		t.Fatalf("the help has the queries\n%q\nthere are checks of\n%q", got, want)
	}
	for title, text := range queries {
		t.Run(title, func(t *testing.T) {
			rows := query(t, db, text)
			if len(rows) == 0 {
				t.Fatal("no rows")
			}
			checks[title](t, s, rows)
		})
	}
}

// queriesIn returns the queries of a help by the comments before them.
func queriesIn(help string) map[string]string {
	out := map[string]string{}
	title := ""
	for line := range strings.Lines(help) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "-- "); ok {
			title, _, _ = strings.Cut(text, ",")
			continue
		}
		if title == "" {
			continue
		}
		out[title] += line
		if strings.HasSuffix(strings.TrimSpace(line), ";") {
			title = ""
		}
	}
	return out
}

type row = map[string]any

func query(t *testing.T, db *sql.DB, text string) []row {
	t.Helper()
	rows, err := db.Query(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var out []row
	for rows.Next() {
		values, places := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			places[i] = &values[i]
		}
		if err := rows.Scan(places...); err != nil {
			t.Fatal(err)
		}
		r := row{}
		for i, c := range columns {
			r[c] = values[i]
		}
		out = append(out, r)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// scene is what was exported.
type scene struct{ traces map[string]*traced } // by the id of the folders

type traced struct {
	export
	path   string
	report *v1
	origin int64
}

// of returns the traces of a service and a Go version, in order; "" is any.
func (s *scene) of(service, version string) (paths []string) {
	for _, x := range s.traces {
		if (service == "" || x.service == service) && (version == "" || x.version == version) {
			paths = append(paths, x.path)
		}
	}
	slices.Sort(paths)
	return paths
}

// checks are by the titles of the queries, up to a comma.
var checks = map[string]func(*testing.T, *scene, []row){
	"functions by waiting":                  checkFunctions,
	"latency by service":                    checkServices,
	"traces by their p99":                   checkTraces,
	"longest waits":                         checkLongest,
	"what waits were lost to":               checkCauses,
	"who stole from whom":                   checkSteals,
	"goroutines in all run queues together": checkDepth,
}

func expect(t *testing.T, what string, got any, want int64) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %d", what, got, want)
	}
}

// expectPercentile is expect for one of several traces, which reports know within 0.4 %.
func expectPercentile(t *testing.T, what string, got any, want int64) {
	t.Helper()
	if n, ok := got.(int64); !ok || math.Abs(float64(n-want)) > 0.004*float64(want) {
		t.Errorf("%s: %v, want about %d", what, got, want)
	}
}

func checkFunctions(t *testing.T, s *scene, rows []row) {
	all := analyzed(t, s.of("", "")...).Latency.ByFunction
	slices.SortFunc(all, func(a, b dist) int { return int(b.Total - a.Total) })
	if len(rows) != min(10, len(all)) {
		t.Errorf("%d functions, want 10 of %d", len(rows), len(all))
	}
	for i, r := range rows {
		f := all[i]
		if name := r["function"]; name != f.Name && !(name == "" && f.Name == "(unknown)") {
			t.Errorf("function %d is %v, want %s", i, r["function"], f.Name)
		}
		expect(t, f.Name+": waits", r["waits"], f.Count)
		expect(t, f.Name+": waited", r["waited_ns"], f.Total)
		expectPercentile(t, f.Name+": p99", r["p99_ns"], f.P99)
		expect(t, f.Name+": max", r["max_ns"], f.Max)
	}
}

func checkServices(t *testing.T, s *scene, rows []row) {
	type key struct{ service, version any }
	seen := map[key]int64{}
	for _, r := range rows {
		k := key{r["service"], r["go_version"]}
		if _, ok := seen[k]; ok {
			t.Fatalf("%v has several hours: record fixtures that do not", k)
		}
		paths := s.of(r["service"].(string), r["go_version"].(string))
		want := analyzed(t, paths...).Latency.All
		expect(t, fmt.Sprint(k, ": traces"), r["traces"], int64(len(paths)))
		expect(t, fmt.Sprint(k, ": waits"), r["waits"], want.Count)
		expectPercentile(t, fmt.Sprint(k, ": p50"), r["p50_ns"], want.P50)
		expectPercentile(t, fmt.Sprint(k, ": p99"), r["p99_ns"], want.P99)
		if hour, ok := r["hour"].(time.Time); ok != (k.version != "go1.22") || ok && (hour.Minute() != 0 || hour.Year() < 2025) {
			t.Errorf("%v: hour %v", k, r["hour"])
		}
		seen[k] = 1
	}
	if len(seen) != 3 {
		t.Errorf("groups %v, want 3", seen)
	}
}

func checkTraces(t *testing.T, s *scene, rows []row) {
	if len(rows) != len(s.traces) {
		t.Errorf("%d traces, want %d", len(rows), len(s.traces))
	}
	for _, r := range rows {
		x := s.traces[r["trace"].(string)]
		want := x.report.Latency.All
		if r["host"] != x.host {
			t.Errorf("%s: host %v, want %s", x.fixture, r["host"], x.host)
		}
		expect(t, x.fixture+": waits", r["waits"], want.Count)
		expect(t, x.fixture+": p99", r["p99_ns"], want.P99)
		expect(t, x.fixture+": waited", r["waited_ns"], want.Total)
	}
}

func checkLongest(t *testing.T, s *scene, rows []row) {
	type wait struct {
		trace string
		m     map[string]string
	}
	var all []wait
	for id, x := range s.traces {
		for _, m := range rowsOf(t, "waits", x.path) {
			if m["complete"] == "true" && m["system"] == "false" {
				all = append(all, wait{id, m})
			}
		}
	}
	slices.SortFunc(all, func(a, b wait) int { return int(number(t, b.m["duration"]) - number(t, a.m["duration"])) })
	for i, r := range rows {
		expect(t, fmt.Sprint("wait ", i), r["duration"], number(t, all[i].m["duration"]))
		began, known := r["began"].(time.Time)
		if x := s.traces[r["trace"].(string)]; known != (x.version != "go1.22") || known && (began.Before(time.Unix(1_700_000_000, 0)) || began.After(time.Unix(2_000_000_000, 0))) {
			t.Errorf("%s: began %v", x.fixture, r["began"])
		}
	}
}

func checkCauses(t *testing.T, s *scene, rows []row) {
	got, want := map[string]int64{}, map[string]int64{}
	for _, r := range rows {
		got[r["cause"].(string)] += r["lost_ns"].(int64)
	}
	for _, x := range s.traces {
		for _, c := range x.report.Causes.Rows {
			if c.Total != 0 {
				want[c.Cause] += c.Total
			}
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("lost %v\nwant %v", got, want)
	}
}

func checkSteals(t *testing.T, s *scene, rows []row) {
	got := map[string]int64{}
	for _, r := range rows {
		got[r["trace"].(string)] += r["steals"].(int64)
	}
	for id, x := range s.traces {
		if want := x.report.Queues.Steals; got[id] != want {
			t.Errorf("%s: %d steals, want %d", x.fixture, got[id], want)
		}
	}
}

// checkDepth replays the changes.
func checkDepth(t *testing.T, s *scene, rows []row) {
	type key struct {
		trace string
		ms    int64
	}
	got, want := map[key]int64{}, map[key]int64{}
	for _, r := range rows {
		got[key{r["trace"].(string), r["ms"].(int64)}] = r["depth"].(int64)
	}
	for id, x := range s.traces {
		lengths, depth := map[string]int64{}, int64(0)
		for _, m := range rowsOf(t, "queues", x.path) {
			n := number(t, m["len"]) + number(t, m["runnext"])
			depth += n - lengths[m["proc"]]
			lengths[m["proc"]] = n
			k := key{id, (number(t, m["time"]) - x.origin) / 1_000_000}
			want[k] = max(want[k], depth)
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("%d milliseconds, want %d, or other depths", len(got), len(want))
	}
}
