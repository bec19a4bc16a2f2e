package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/schedscope/schedscope/analyze/resulttest"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
	"github.com/schedscope/schedscope/model/runqueue"
)

var update = flag.Bool("update", false, "write testdata/tables.txt again")

func TestHostileTables(t *testing.T) {
	tables := model.NewTables()
	for _, format := range []RowFormat{CSV, NDJSON} {
		var b bytes.Buffer
		r := newRows(newTextRows(&b, format, tableOf("goroutines").columns))
		r.tables = tables
		o := tableOf("goroutines").machine(r)
		for i, name := range hostile {
			o.(model.GoEndObserver).GoEnd(&model.Goroutine{ID: model.GoID(i), Func: tables.AddString(name)})
		}
		r.flush()
		if err := r.sink.Close(); err != nil {
			t.Fatal(err)
		}
		if format == CSV {
			checkCSV(t, b.String(), 1+len(hostile))
			continue
		}
		for line := range strings.Lines(b.String()) {
			if !json.Valid([]byte(line)) {
				t.Errorf("invalid JSON: %.200s", line)
			}
		}
	}
}

// TestColumns compares the columns with those that users rely on: new ones may
// only come behind the others. Run with -update to write them.
func TestColumns(t *testing.T) {
	var b strings.Builder
	for _, d := range tableDefs {
		var header []string
		for _, c := range d.columns {
			header = append(header, c.Name)
		}
		fmt.Fprintf(&b, "%s: %s\n", d.name, strings.Join(header, ","))
	}
	path := filepath.Join("testdata", "tables.txt")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(path); err != nil || b.String() != string(want) {
		t.Errorf("%v, got\n%s\nwant\n%s", err, b.String(), want)
	}
	help := TablesHelp()
	for _, d := range tableDefs {
		if !strings.Contains(help, "\n"+d.name+": ") {
			t.Errorf("the help does not tell of table %s", d.name)
		}
		for _, c := range d.columns {
			if c.Doc == "" || !slices.Contains([]string{"time", "ns", "id", "count", "name", "bool"}, c.Unit) {
				t.Errorf("%s: column %+v has no meaning or an unknown unit", d.name, c)
			}
		}
	}
}

// exported are the rows of one table in both formats.
type exported struct{ csv, ndjson bytes.Buffer }

// exportAll writes every table of a fixture.
func exportAll(t *testing.T, name string) map[string]*exported {
	t.Helper()
	f, err := fixtures.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := ingest.NewReader(f, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := model.NewMachine(r.Tables(), model.Config{Version: r.Header().Version})
	out := map[string]*exported{}
	var all Tables
	add := func(n string, format RowFormat, w io.Writer) {
		sink, err := NewTextSink(n, format, w)
		if err == nil {
			_, err = all.Add(n, sink)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range TableNames() {
		x := new(exported)
		add(n, CSV, &x.csv)
		add(n, NDJSON, &x.ndjson)
		out[n] = x
	}
	if err := all.Follow(m, r.Header().Version); err != nil {
		t.Fatal(err)
	}
	all.Begin(m, 1000)
	err = ingest.Each(r, func(ev *model.Event) error {
		err := m.Apply(ev)
		all.Event(ev)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Finish(m.Now()); err != nil {
		t.Fatal(err)
	}
	if err := all.Close(); err != nil {
		t.Error(err)
	}
	return out
}

// TestTables writes every table of some real traces in both formats, which must
// tell the same.
func TestTables(t *testing.T) {
	for _, name := range []string{"tasks.go1.26.p4.trace", "syscalls.go1.26.p4.trace", "cgo.go1.26.p4.trace"} {
		for table, x := range exportAll(t, name) {
			rows, err := csv.NewReader(&x.csv).ReadAll()
			if err != nil {
				t.Fatalf("%s: %s: %v", name, table, err)
			}
			sameRows(t, name+": "+table, rows, x.ndjson.String())
			if table == "goroutines" && len(rows) == 1 {
				t.Errorf("%s: no goroutines", name)
			}
		}
	}
	if _, err := NewTextSink("nonsense", CSV, io.Discard); err == nil || !strings.Contains(err.Error(), "goroutines, states") {
		t.Errorf("NewTextSink of an unknown name: %v, want an error that lists the names", err)
	}
}

// sameRows checks that the objects have the values of the rows below the header.
func sameRows(t *testing.T, what string, rows [][]string, ndjson string) {
	t.Helper()
	header, rows := rows[0], rows[1:]
	n := 0
	for line := range strings.Lines(ndjson) {
		if n == len(rows) {
			t.Fatalf("%s: more than %d objects", what, n)
		}
		dec := json.NewDecoder(strings.NewReader(line))
		dec.UseNumber()
		var object map[string]any
		if err := dec.Decode(&object); err != nil {
			t.Fatalf("%s: %v: %s", what, err, line)
		}
		if len(object) != len(header) {
			t.Fatalf("%s: %d values, want %d: %s", what, len(object), len(header), line)
		}
		for i, c := range header {
			want := ""
			if v := object[c]; v != nil {
				want = fmt.Sprint(v)
			}
			if rows[n][i] != want {
				t.Fatalf("%s: row %d: %s is %q in CSV and %q in JSON", what, n, c, rows[n][i], want)
			}
		}
		n++
	}
	if n != len(rows) {
		t.Errorf("%s: %d objects, want %d", what, n, len(rows))
	}
}

// TestStartsEndWaits checks that starts tells of the end of every wait, and when
// that began.
func TestStartsEndWaits(t *testing.T) {
	out := exportAll(t, "mixed.go1.26.p2.trace")
	read := func(table string) []map[string]any {
		var all []map[string]any
		for line := range strings.Lines(out[table].ndjson.String()) {
			dec := json.NewDecoder(strings.NewReader(line))
			dec.UseNumber()
			var object map[string]any
			if err := dec.Decode(&object); err != nil {
				t.Fatal(err)
			}
			all = append(all, object)
		}
		return all
	}
	type wait struct{ g, from, to, proc, thread, origin any }
	starts := map[wait]bool{}
	for _, s := range read("starts") {
		starts[wait{s["goroutine"], s["enqueued"], s["time"], s["proc"], s["thread"], s["origin"]}] = true
	}
	ended := 0
	for _, s := range read("waits") {
		w := wait{s["goroutine"], s["start"], s["end"], s["proc"], s["thread"], s["origin"]}
		if s["complete"] != true {
			continue
		}
		ended++
		if !starts[w] {
			t.Errorf("no start ends the wait %v", w)
		}
	}
	if ended < 1000 {
		t.Errorf("%d waits ended, want thousands", ended)
	}
}

func TestTablesOfOldFormats(t *testing.T) {
	for _, name := range TableNames() {
		var tables Tables
		table, err := tables.Add(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = tables.Follow(model.NewMachine(model.NewTables(), model.Config{Version: 21}), 21)
		for _, err := range []error{err, CheckTable(name, 21)} {
			if old := new(runqueue.OldFormatError); errors.As(err, &old) != (table.def.resolver != nil || table.def.explained != nil) {
				t.Errorf("%s: following a trace of Go 1.21: %v", name, err)
			}
		}
	}
}

// TestCauses checks on every real trace that the parts of waits are those that the report adds up, and that
// they add up to waits of the table of that name.
func TestCauses(t *testing.T) {
	for _, name := range fixtures.Chosen(fixtures.Real()) {
		doc := resulttest.Read(t, name)
		if doc.Causes.Refused != "" {
			continue
		}
		out := exportAll(t, name)
		type wait struct{ g, end string }
		parts, byCause, sum := map[wait]int64{}, map[string]int64{}, int64(0)
		for _, c := range readCSV(t, &out["causes"].csv) {
			ns := number(t, c["ns"])
			parts[wait{c["goroutine"], c["end"]}] += ns
			byCause[c["cause"]] += ns
			sum += ns
		}
		for _, w := range readCSV(t, &out["waits"].csv) {
			if w["complete"] == "true" && w["system"] == "false" {
				key := wait{w["goroutine"], w["end"]}
				if got, want := parts[key], number(t, w["duration"]); got != want {
					t.Errorf("%s: wait of G%s until %s: parts of %d ns, want %d", name, key.g, key.end, got, want)
				}
				delete(parts, key)
			}
		}
		if len(parts) > 0 {
			t.Errorf("%s: causes of %d waits that are not in waits: %v", name, len(parts), parts)
		}
		for _, c := range doc.Causes.Rows {
			if got, want := byCause[c.Cause], int64(c.Total); got != want {
				t.Errorf("%s: %v: %d ns, the report has %d", name, c.Cause, got, want)
			}
		}
		if want := int64(doc.Latency.All.Total); sum != want {
			t.Errorf("%s: causes of %d ns, the report has waits of %d", name, sum, want)
		}
	}
}

// readCSV returns rows as maps.
func readCSV(t *testing.T, r io.Reader) []map[string]string {
	t.Helper()
	all, err := csv.NewReader(r).ReadAll()
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

// TestTableBlame checks that the rows of a kind add up to its total.
func TestTableBlame(t *testing.T) {
	for _, name := range []string{"http.trace", "mutex.go1.26.p4.trace"} {
		sums := map[string]int64{}
		rows, err := csv.NewReader(&exportAll(t, name)["blame"].csv).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows[1:] {
			sums[row[0]] += number(t, row[9])
		}
		for _, k := range resulttest.Read(t, name).Blame.Kinds {
			if got := sums[k.Kind]; got != int64(k.Total) || got == 0 {
				t.Errorf("%s: rows of %s add up to %d, want %d", name, k.Kind, got, k.Total)
			}
		}
	}
}

// TestTableWithin checks that only what is in the window becomes a row, and that
// its offset counts from the beginning of the trace.
func TestTableWithin(t *testing.T) {
	var b bytes.Buffer
	r := newRows(newTextRows(&b, CSV, tableOf("steals").columns))
	r.tables, r.origin, r.rowWindow = model.NewTables(), 5, rowWindow{20, 30}
	steals := tableOf("steals").resolver(r).(runqueue.StealObserver)
	for _, at := range []model.Time{19, 20, 30, 31} {
		steals.Steal(&runqueue.Steal{Time: at, G: 7, Thief: 1, M: 3, Victim: 2, Size: 4, Grade: runqueue.GradeUnique})
	}
	r.flush()
	if err := r.sink.Close(); err != nil {
		t.Fatal(err)
	}
	want := "time,goroutine,thief,thread,victim,size,runnext,grade,offset\n20,7,1,3,2,4,false,unique,15\n30,7,1,3,2,4,false,unique,25\n"
	if b.String() != want {
		t.Errorf("got %s\nwant %s", b.String(), want)
	}
}

// hostile are names that nobody should have, but a trace may.
var hostile = []string{
	"evil\x1b[2J\x1b]0;title\x07", "two\nlines", "\u202egnp.exe", "<script>alert(1)</script>", "a\u200bb\xff",
	"=cmd|' /C calc'!A0", `quote",comma`, strings.Repeat("long/", 2000) + "f",
}

// checkCSV checks that a table has so many lines and nothing unprintable.
func checkCSV(t *testing.T, table string, lines int) {
	t.Helper()
	if n := strings.Count(table, "\n"); n != lines {
		t.Errorf("%d lines, want %d:\n%.2000s", n, lines, table)
	}
	for _, r := range strings.ReplaceAll(table, "\n", "") {
		if !unicode.IsPrint(r) {
			t.Errorf("the table has %q", r)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	if err != nil {
		t.Error(err)
	}
	for _, cell := range slices.Concat(rows...) {
		if cell != "" && strings.Contains("=+-@", cell[:1]) {
			t.Errorf("a spreadsheet may take %q for a formula", cell)
		}
	}
}

func tableOf(name string) *tableDef {
	d, _ := wantTable(name)
	return d
}
