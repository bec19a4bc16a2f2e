package sqltest

import (
	"database/sql"
	"fmt"
	"testing"
)

// TestFleetQueries runs the queries of schedscope help fleet on rows of two days. That fleets write
// such rows is tested in cmd/schedscope-fleet.
func TestFleetQueries(t *testing.T) {
	queries := helpQueries(t, "fleet")
	t.Chdir("testdata")
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	want := map[string]string{
		"the worst services by version":         "map[p99_ms:2.777024 request_p99_ms:47.363328 service:shop traces:2 version:v13]",
		"culprits that are new since yesterday": "map[example:bake sleeps function:main.bake.func1 kind:slow-requests most:0.9994955506165843 service:shop traces:1]",
		"p99 of requests by route and hour":     "map[hour:17 number:926 route:main.serve service:mail typical_p99_ms:9.321152 worst_p99_ms:9.321152]",
		"the traces to look at first":           "map[request_max_ms:3310.639168 title:order sleeps trace:shop/v13/2026-11-26T16.trace verdict:SLOW]",
		"what wastes most time":                 "map[main_cause:behind a goroutine service:shop traces:1 waited_s:0.838727527]",
	}
	for title, text := range queries {
		if rows := query(t, db, text); len(rows) < 2 || fmt.Sprint(rows[0]) != want[title] {
			t.Errorf("%s: %v, want first %s", title, rows, want[title])
		}
	}
	if len(queries) != len(want) {
		t.Errorf("%d queries, want %d", len(queries), len(want))
	}
}
