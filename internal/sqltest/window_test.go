package sqltest

import (
	"bytes"
	"database/sql"
	"encoding/csv"
	"fmt"
	"path/filepath"
	"testing"
)

// TestWindow checks that a window has the rows of CSV in every table, although all are
// written in one reading: some need what was before it.
func TestWindow(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tables")
	path := fixture("generations.go1.26.p4.trace")
	window := []string{"--from", "1500ms", "--to", "2500ms"}
	schedscope(t, append([]string{"export", "--format", "parquet", "-o", dir, path}, window...)...)
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tables, err := filepath.Glob(filepath.Join(dir, "[a-z]*"))
	if err != nil || len(tables) < 10 {
		t.Fatalf("tables %q, %v", tables, err)
	}
	for _, table := range tables {
		name := filepath.Base(table)
		if name == "traces" {
			continue
		}
		all, err := csv.NewReader(bytes.NewReader(schedscope(t, append([]string{"export", "--table", name, path}, window...)...))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		header, want := all[0], all[1:]
		got := query(t, db, fmt.Sprintf("SELECT * FROM read_parquet('%s/*.parquet', file_row_number = true) ORDER BY file_row_number", table))
		if len(got) != len(want) {
			t.Errorf("%s: %d rows, in CSV %d", name, len(got), len(want))
			continue
		}
		for i, r := range got {
			for k, c := range header {
				cell := ""
				if r[c] != nil {
					cell = fmt.Sprint(r[c])
				}
				if cell != want[i][k] {
					t.Fatalf("%s: row %d: %s is %q, in CSV %q", name, i, c, cell, want[i][k])
				}
			}
		}
	}
}
