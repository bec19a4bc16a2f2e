// Package sqltest runs the queries that schedscope help parquet prints in DuckDB. It is a
// module of its own: DuckDB is C++, and nobody who installs schedscope needs it.
package sqltest

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// root is the main module.
const root = "../.."

// program is the path of schedscope, traces that of the folder of fixtures.
var program, traces string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "schedscope-sqltest")
	if err != nil {
		panic(err)
	}
	program = filepath.Join(dir, "schedscope")
	build := exec.Command("go", "build", "-o", program, "./cmd/schedscope")
	build.Dir, build.Stderr = root, os.Stderr
	if err := build.Run(); err != nil {
		os.RemoveAll(dir)
		panic(err)
	}
	if traces, err = filepath.Abs(filepath.Join(root, "fixtures")); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// schedscope runs the program and returns what it wrote to stdout.
func schedscope(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(program, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("schedscope %q: %v\n%s", args, err, &stderr)
	}
	return out
}

// fixture returns the path of a trace of fixtures.
func fixture(name string) string { return filepath.Join(traces, name) }

// v1 is what is looked at of a report's JSON.
type v1 struct {
	Latency struct {
		All        dist
		ByFunction []dist `json:"by_function"`
	}
	Causes struct {
		Rows []struct {
			Cause string
			Total int64 `json:"total_ns"`
		}
	}
	Queues struct {
		Steals        int64
		RunnextSteals int64 `json:"runnext_steals"`
	}
	Traces []struct {
		Start int64 `json:"start_ns"`
	}
}

type dist struct {
	Name  string
	Count int64
	Total int64 `json:"total_ns"`
	P50   int64 `json:"p50_ns"`
	P99   int64 `json:"p99_ns"`
	Max   int64 `json:"max_ns"`
}

// analyzed returns the report of traces.
func analyzed(t *testing.T, paths ...string) *v1 {
	t.Helper()
	var v v1
	if err := json.Unmarshal(schedscope(t, append([]string{"analyze", "--json"}, paths...)...), &v); err != nil {
		t.Fatal(err)
	}
	return &v
}

// rowsOf returns the rows of a table in CSV.
func rowsOf(t *testing.T, table, path string) []map[string]string {
	t.Helper()
	all, err := csv.NewReader(bytes.NewReader(schedscope(t, "export", "--table", table, path))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for _, row := range all[1:] {
		m := map[string]string{}
		for i, c := range all[0] {
			m[c] = row[i]
		}
		out = append(out, m)
	}
	return out
}

func number(t *testing.T, s string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
