package sqltest

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestFleetQueries runs the queries of cmd/schedscope-fleet/help.txt on rows of two days. That fleets write
// such rows is tested in cmd/schedscope-fleet.
func TestFleetQueries(t *testing.T) {
	help, err := os.ReadFile("../../cmd/schedscope-fleet/help.txt")
	if err != nil {
		t.Fatal(err)
	}
	queries := queriesIn(string(help))
	t.Chdir("testdata")
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	want := map[string]string{
		"the worst services by version":         "map[p99_ms:2.777024 request_p99_ms:47.363328 service:shop traces:2 version:v13]",
		"culprits that are new since yesterday": "map[example:order waits for a channel function:main.bake kind:slow-requests most:0.9900891951053439 service:shop traces:1]",
		"p99 of requests by route and hour":     "map[hour:17 number:936 route:main.serve service:mail typical_p99_ms:9.296512 worst_p99_ms:9.296512]",
		"the traces to look at first":           "map[request_max_ms:3310.639168 title:order waits for a channel trace:shop/v13/2026-11-26T16.trace verdict:SLOW TAIL]",
		"p99 of all requests together":          "map[day:2026-11-21 00:00:00 +0000 UTC key:shop/v13 number:1 p99_ms:3310.639168 route:shift]",
		"the longest requests":                  "map[began:2026-11-21 02:40:07.982305 +0000 UTC commit: file:shop/v13/2026-11-26T16.trace ms:3310.639168 name:shift]",
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

// TestFolders checks that folders are columns: keys as they were, and days, of which one may not be known.
func TestFolders(t *testing.T) {
	dir := t.TempDir()
	data, err := os.ReadFile("testdata/2026-11-26/requests/key=shop%2Fv12/day=2026-11-21/00000.parquet")
	if err != nil {
		t.Fatal(err)
	}
	for _, day := range []string{"2026-11-21", "unknown"} {
		to := filepath.Join(dir, "key=shop%2Fv12%20b", "day="+day)
		if err := os.MkdirAll(to, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, "00000.parquet"), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows := query(t, db, "SELECT DISTINCT key, day, typeof(day) AS kind FROM '"+dir+"/*/*/*.parquet' ORDER BY day")
	if got, want := fmt.Sprint(rows), "[map[day:2026-11-21 key:shop/v12 b kind:VARCHAR] map[day:unknown key:shop/v12 b kind:VARCHAR]]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
