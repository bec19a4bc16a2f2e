package cli

import (
	"encoding/csv"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/schedscope/schedscope/fixtures"
)

// exportRows exports a table and returns its header, its rows and when the trace
// begins.
func exportRows(t *testing.T, args ...string) (header []string, rows [][]string, begin int64) {
	t.Helper()
	code, stdout, stderr := execute(t, t.Context(), nil, append([]string{"export", "-v"}, args...)...)
	if code != exitOK {
		t.Fatalf("export %v: exit code %d\n%s", args, code, stderr)
	}
	all, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`the trace begins at (\d+)`).FindStringSubmatch(stderr)
	if m == nil {
		t.Fatalf("export %v does not say when the trace begins:\n%s", args, stderr)
	}
	begin, err = strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return all[0], all[1:], begin
}

// TestExportWindow checks that a window tells what the whole trace tells of it, at
// the same times, also of what was enqueued before it.
func TestExportWindow(t *testing.T) {
	for _, w := range []struct {
		name     string
		from, to time.Duration
	}{
		{"http.trace", 200 * time.Millisecond, 400 * time.Millisecond},
		{"generations.go1.26.p4.trace", 1500 * time.Millisecond, 2500 * time.Millisecond}, // generations 2 and 3 of 4
	} {
		for _, clock := range clocks {
			t.Run(w.name+" "+clock, func(t *testing.T) {
				args := []string{"--table", "starts", "--clock", clock, fixtures.Path(w.name)}
				header, rows, begin := exportRows(t, args...)
				_, part, begin2 := exportRows(t, append(args, "--from", w.from.String(), "--to", w.to.String())...)
				if begin != begin2 {
					t.Errorf("with a window the trace begins at %d, without at %d", begin2, begin)
				}
				want := told(t, header, rows, begin+int64(w.from), begin+int64(w.to))
				got := told(t, header, part, begin, begin+1e18)
				if !slices.Equal(got, want) {
					t.Errorf("the window has %d starts, want the same %d as the whole trace", len(got), len(want))
				}
				if len(want) < 100 {
					t.Errorf("only %d starts in the window", len(want))
				}
			})
		}
	}
}

// told returns what the trace tells itself of the starts from one time to another:
// where a goroutine came from may depend on how much of the trace is known.
func told(t *testing.T, header []string, rows [][]string, from, to int64) []string {
	t.Helper()
	columns := []int{}
	for _, c := range []string{"time", "goroutine", "thread", "proc", "enqueued", "origin"} {
		columns = append(columns, slices.Index(header, c))
	}
	var out []string
	for _, row := range rows {
		at, err := strconv.ParseInt(row[0], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if at < from || at > to {
			continue
		}
		var cells []string
		for _, c := range columns {
			cells = append(cells, row[c])
		}
		out = append(out, fmt.Sprint(cells))
	}
	return out
}

// TestExportDeterminism checks that the number of workers changes no byte.
func TestExportDeterminism(t *testing.T) {
	for _, table := range []string{"starts", "steals", "queues", "waits", "handoffs", "netpoll"} {
		var outs [2]string
		for i := range outs {
			var code int
			code, outs[i], _ = execute(t, t.Context(), nil, "export", "--table", table, "-j", strconv.Itoa(1+i), fixtures.Path("mixed.go1.26.p2.trace"))
			if code != exitOK {
				t.Fatalf("%s: exit code %d", table, code)
			}
		}
		if outs[0] != outs[1] {
			t.Errorf("%s: -j 1 and -j 2 write different rows", table)
		}
	}
}
