package sqltest

import (
	"database/sql"
	"fmt"
	"testing"
)

// TestFleetQueries runs the queries of schedscope help fleet on rows of two keys. That fleets write
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
		"the worst keys by the median trace": "map[key:shop/v12 p99_ms:3.85824 request_p99_ms:32.3338555 traces:3]",
		"the traces to look at first":        "map[key:shop/v12 main_cause:pick-up request_max_ms:3310.639168 trace:tasks.go1.26.p4.trace verdict:SLOW]",
		"what wastes most time":              "map[key:shop/v12 main_cause:behind a goroutine traces:1 waited_s:0.838727527]",
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
