package result_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	. "github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/resulttest"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/report/view"
)

// saved holds the reports of fixtures as Write saves them, by name.
var saved map[string][]byte

// savedFixtures returns the saved reports of all fixtures that can be read. They are made once.
func savedFixtures(t testing.TB) map[string][]byte {
	t.Helper()
	if saved != nil {
		return saved
	}
	all := map[string][]byte{}
	for _, name := range fixtures.Chosen(fixtures.Names()) {
		if v := resulttest.Try(t, name); v != nil {
			var b bytes.Buffer
			if err := Write(&b, v); err != nil {
				t.Fatal(err)
			}
			all[name] = b.Bytes()
		}
	}
	saved = all
	return saved
}

// someFixtures returns the sorted names of every third of those, for a [fixtures.Sweep] of all.
func someFixtures(t testing.TB) (names []string) {
	t.Helper()
	for i, name := range slices.Sorted(maps.Keys(savedFixtures(t))) {
		if i%3 == 0 || fixtures.Sweep() {
			names = append(names, name)
		}
	}
	return names
}

// savedCopy returns the report of a fixture as it is read back. Merging changes it.
func savedCopy(t testing.TB, name string) *Report {
	t.Helper()
	return copyOf(t, savedFixtures(t)[name])
}

// copyOf returns what Read does of data that it takes, without its checks, which cost most of it.
func copyOf(t testing.TB, data []byte) *Report {
	t.Helper()
	v := new(Report)
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatal(err)
	}
	v.Sum = ""
	v.SetIncidents()
	return v
}

// TestReadJSON reads back what JSON wrote, for every fixture.
func TestReadJSON(t *testing.T) {
	for name, written := range savedFixtures(t) {
		got, err := Read(iotest.HalfReader(bytes.NewReader(written)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !reflect.DeepEqual(copyOf(t, written), got) {
			t.Errorf("%s: a copy is another report", name)
		}
		var again bytes.Buffer
		if err := Write(&again, got); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(again.Bytes(), written) {
			t.Errorf("%s: read back differs", name)
		}
	}
}

// TestReadOthers reads reports of other versions: with more fields, with fewer, with fields
// that may be left out, and without a sum.
func TestReadOthers(t *testing.T) {
	js := regexp.MustCompile(`,\s*"sum": "[0-9a-f]+"`).ReplaceAllString(good(t), "")
	for _, tt := range []struct{ old, new, want string }{
		{`"schema"`, "\ufeff" + `"schema"`, "not valid JSON"},
		{`"latency": {`, `"latency": {"later": 1, `, `invalid report: latency has the unknown key "later": a newer schedscope wrote it, so update this one`},
		{`"latency": {`, `"Latency": {`, `it has the unknown key "Latency"`},
		{`"pseudo": `, `"pseudo": null, "x": `, "latency.pseudo is null, not a number"},
		{`"generations":`, `"ended_early":"x","x":`, `traces["http.trace"] has the unknown key "x"`},
		{`"spectra":`, `"spectra":[],"spectra":`, "latency.spectra is there twice"},
		{`"inconsistent_events": 0`, `"violation":"x"`, `traces["http.trace"].inconsistent_events is missing`},
		{`"complete": true,`, `"complete": true, "windowed": false,`, ""},
	} {
		text := strings.Replace(js, tt.old, tt.new, 1)
		if text == js {
			t.Fatalf("no %s", tt.old)
		}
		if _, err := Read(strings.NewReader(text)); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.new, err, tt.want)
		}
	}
	if _, err := Read(strings.NewReader("\ufeff" + js)); err != nil {
		t.Errorf("with a byte order mark: %v", err)
	}
}

func TestReadJSONErrors(t *testing.T) {
	good := good(t)
	tests := []struct{ name, in, want string }{
		{"empty", "", "the file is empty"},
		{"cut", good[:len(good)/2], "the JSON is cut off after"},
		{"cut at the end", strings.TrimRight(good, "}\n"), "the JSON is cut off after"},
		{"list", "[1]", "does not name a schema"},
		{"number", "7", "does not name a schema"},
		{"no schema", `{"a":1}`, "does not name a schema"},
		{"odd schema", `{"schema":{}}`, "does not name a schema"},
		{"compare", `{"schema":"schedscope.compare/v1"}`, `its schema is "schedscope.compare/v1", not "schedscope.report/v2"`},
		{"next", `{"schema":"schedscope.report/v3"}`, `its schema is "schedscope.report/v3"`},
		{"hostile schema", `{"schema":"\u001b[2J` + strings.Repeat("x", 1000) + `"}`, `its schema is "\x1b[2J`},
		{"two", good + good, "not valid JSON: invalid character '{' after top-level value"},
		{"no traces", `{"schema":"schedscope.report/v2","traces":[]}`, "skipped is missing"},
		{"wrong type", `{"schema":"schedscope.report/v2","traces":[{"size_bytes":"x"}]}`, "traces[0].size_bytes is a text, not a number"},
		{"fraction", `{"schema":"schedscope.report/v2","traces":[{"size_bytes":1.5}]}`, "traces[0].size_bytes is 1.5, not a whole number"},
		{"huge number", `{"schema":"schedscope.report/v2","traces":[{"size_bytes":1e30}]}`, "traces[0].size_bytes is 1e30, not a whole number"},
		{"empty objects", `{"schema":"schedscope.report/v2","traces":[` + strings.Repeat("{},", 400_000) + `{}]}`, "traces[0].name is missing"},
		{"nulls", `{"schema":"schedscope.report/v2","traces":[` + strings.Repeat("null,", 400_000) + `{}]}`, "traces[0] is null"},
		{"deep", `{"schema":"schedscope.report/v2","x":` + strings.Repeat("[", 20000), "exceeded max depth"},
	}
	for _, tt := range tests {
		_, err := Read(strings.NewReader(tt.in))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q in it", tt.name, err, tt.want)
		} else if len(err.Error()) > 300 {
			t.Errorf("%s: error of %d bytes", tt.name, len(err.Error()))
		}
	}
	large, err := os.Create(filepath.Join(t.TempDir(), "large"))
	if err != nil {
		t.Fatal(err)
	}
	defer large.Close()
	if err := large.Truncate(129 << 20); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(large); err == nil || !strings.Contains(err.Error(), "larger than the limit of 134217728 bytes") {
		t.Errorf("above the limit: %v", err)
	}
}

func good(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	if err := Write(&b, resulttest.Read(t, "http.trace")); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestValidate breaks a report in one place after another.
func TestValidate(t *testing.T) {
	js := good(t)
	tests := []struct {
		want   string
		damage func(v *Report)
	}{
		{`traces["http.trace"].span_ns is -1`, func(v *Report) { v.Traces[0].Span = -1 }},
		{`traces["http.trace"].size_bytes is -2, want -1 or more`, func(v *Report) { v.Traces[0].Bytes = -2 }},
		{`latency.by_origin["created"].count is -5`, func(v *Report) { v.Latency.ByOrigin[0].Count = -5 }},
		{"latency.by_origin[1] has percentiles that fall", func(v *Report) { v.Latency.ByOrigin[1].P99 = v.Latency.ByOrigin[1].P999 + 1 }},
		{"latency.all histogram: of", func(v *Report) { v.Latency.All.Count++ }},
		{"bursts.all histogram: illegal base64", func(v *Report) { v.Bursts.All.HDR = "!" }},
		{"latency.pseudo is 9007199254740993, more than 2^53", func(v *Report) { v.Latency.Pseudo = 1<<53 + 1 }},
		{"procs.utilisation is 1.5", func(v *Report) { v.Procs.Utilisation = 1.5 }},
		{"worst_waits[0].trace is 1, of 1 traces", func(v *Report) { v.WorstWaits[0].Trace = 1 }},
		{"worst_waits[2] is from", func(v *Report) { v.WorstWaits[2].Duration++ }},
		{"the lists of series have", func(v *Report) { v.Series.Uses[UseIdle] = v.Series.Uses[UseIdle][1:] }},
		{"series has bins of 0 ns", func(v *Report) { v.Series.Width = 0 }},
		{"series has 513 bins, more than 512", func(v *Report) { v.Series.Covered = make([]int64, SeriesBins+1) }},
		{"heat.cells[0][0] is -3", func(v *Report) { v.Heat.Cells[0][0] = -3 }},
		{"heat.cells[1] is [256", func(v *Report) { v.Heat.Cells[1][0] = HeatCols }},
		{"heat.cells[1] is", func(v *Report) { v.Heat.Cells[1][1] = int64(len(v.Heat.Bounds)) }},
		{"heat.cells[1] is", func(v *Report) { v.Heat.Cells[1][2] = 0 }},
		{"heat.bounds_ns falls", func(v *Report) { v.Heat.Bounds[1] = 1 << 50 }},
		{"heat has bins of 0 ns", func(v *Report) { v.Heat.Width = 0 }},
		{"the lists of causes.series have", func(v *Report) { v.Causes.Series.Causes[1].Bins = []int64{} }},
		{"point 1 of a spectrum falls", func(v *Report) { v.Latency.Spectra[0].Points[0].Q = 1 }},
		{"point 1 of a spectrum falls", func(v *Report) { v.Latency.Spectra[0].Points[0].Value = 1 << 50 }},
	}
	for _, tt := range tests {
		var v Report
		if err := json.Unmarshal([]byte(js), &v); err != nil {
			t.Fatal(err)
		}
		tt.damage(&v)
		var b bytes.Buffer
		if err := Write(&b, &v); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(&b); err == nil || !strings.Contains(err.Error(), "invalid report: "+tt.want) {
			t.Errorf("error %v, want %q", err, tt.want)
		}
	}
}

// FuzzReadJSON checks that no input makes reading or showing it panic.
func FuzzReadJSON(f *testing.F) {
	for _, name := range []string{"go123-sync.json", "go122-syscall-steal-proc-simple.json"} {
		data, err := os.ReadFile(filepath.Join("..", "..", "report", "view", "testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"schema":"schedscope.report/v2","traces":[{"name":"a"}],"heat":{"cells":[[0,0,1]],"bounds_ns":[1]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := Write(&b, v); err != nil {
			t.Fatal(err)
		}
		again, err := Read(&b)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(v, again) {
			t.Error("what was read, written and read again differs")
		}
		if err := view.Markdown(io.Discard, v); err != nil {
			t.Error(err)
		}
	})
}
