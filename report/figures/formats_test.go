package figures

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchproc"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/resulttest"
	"github.com/schedscope/schedscope/internal/textui"
)

func render(t *testing.T, write func(io.Writer, *result.Report) error, v *result.Report) string {
	t.Helper()
	var a, b bytes.Buffer
	if err := write(&a, v); err != nil {
		t.Fatal(err)
	}
	if err := write(&b, v); err != nil {
		t.Fatal(err)
	}
	if a.String() != b.String() {
		t.Error("written twice, the bytes differ")
	}
	return a.String()
}

func TestCSV(t *testing.T) {
	for name, v := range several(t) {
		out := render(t, CSV, v)
		r := csv.NewReader(strings.NewReader(out))
		r.FieldsPerRecord = 5
		rows, err := r.ReadAll()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := strings.Join(rows[0], ","); got != "name,by,of,value,unit" {
			t.Errorf("headings %s", got)
		}
		for i, f := range Of(v) {
			want := []string{f.Name, f.By, f.Of, f.Value(), string(f.Unit)}
			if strings.HasPrefix(f.Of, "=") {
				want[2] = "'" + f.Of
			}
			if !slices.Equal(rows[i+1], want) {
				t.Errorf("%s: row %q, want %q", name, rows[i+1], want)
			}
		}
	}
}

func TestNDJSON(t *testing.T) {
	for name, v := range several(t) {
		lines := strings.Split(strings.TrimSuffix(render(t, NDJSON, v), "\n"), "\n")
		list := Of(v)
		if len(lines) != len(list) {
			t.Fatalf("%s: %d lines of %d figures", name, len(lines), len(list))
		}
		for i, f := range list {
			var got struct {
				Name, By, Of, Unit string
				Value              json.Number
			}
			dec := json.NewDecoder(strings.NewReader(lines[i]))
			dec.DisallowUnknownFields()
			if err := dec.Decode(&got); err != nil {
				t.Fatalf("%s: %v in %s", name, err, lines[i])
			}
			if got.Name != f.Name || got.By != f.By || got.Of != f.Of || got.Unit != string(f.Unit) || got.Value.String() != f.Value() {
				t.Errorf("%s: %+v, want %+v", name, got, f)
			}
		}
	}
}

// metricLine is a line of OpenMetrics: a sample without a timestamp.
var (
	metricLine  = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{.*\})? (-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)$`)
	metricLabel = regexp.MustCompile(`^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(,|$)`)
)

type sample struct{ name, by, of, value string }

// parseMetrics reads the part of OpenMetrics 1.0 that is used here, and is strict.
func parseMetrics(text string) ([]sample, error) {
	body, ok := strings.CutSuffix(text, "# EOF\n")
	if !ok {
		return nil, fmt.Errorf("no # EOF at the end")
	}
	var out []sample
	family, unit, families, series, stage := "", "", map[string]bool{}, map[string]bool{}, 0
	for line := range strings.Lines(body) {
		line, ok := strings.CutSuffix(line, "\n")
		if !ok || strings.Contains(line, "\r") {
			return nil, fmt.Errorf("line end of %q", line)
		}
		if rest, ok := strings.CutPrefix(line, "# "); ok {
			word, rest, _ := strings.Cut(rest, " ")
			name, value, _ := strings.Cut(rest, " ")
			switch {
			case word == "TYPE" && value == "gauge" && !families[name]:
				family, unit, stage, families[name] = name, "", 1, true
			case word == "UNIT" && name == family && stage == 1 && strings.HasSuffix(name, "_"+value):
				unit, stage = value, 2
			case word == "HELP" && name == family && stage < 3 && value != "":
				stage = 3
			default:
				return nil, fmt.Errorf("line %q", line)
			}
			continue
		}
		m := metricLine.FindStringSubmatch(line)
		if m == nil || m[1] != family || stage != 3 {
			return nil, fmt.Errorf("line %q in family %s", line, family)
		}
		s := sample{name: m[1], value: m[3]}
		if m[2] != "" {
			l := metricLabel.FindStringSubmatch(strings.Trim(m[2], "{}"))
			if l == nil || l[3] != "" || "{"+l[0]+"}" != m[2] {
				return nil, fmt.Errorf("labels %q", m[2])
			}
			s.by, s.of = l[1], strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n").Replace(l[2])
		}
		if key := m[1] + m[2]; series[key] {
			return nil, fmt.Errorf("%s twice", key)
		} else {
			series[key] = true
		}
		if strings.HasSuffix(s.name, "_seconds") != (unit == "seconds") {
			return nil, fmt.Errorf("%s has unit %q", s.name, unit)
		}
		out = append(out, s)
	}
	return out, nil
}

// TestOpenMetricsNames checks that names cannot end a label or a line, and that none is empty.
func TestOpenMetricsNames(t *testing.T) {
	const name = "q\"\\\n"
	v := &result.Report{Latency: result.Latency{ByOrigin: []result.Named{{Name: name}, {}}}}
	samples, err := parseMetrics(render(t, OpenMetrics, v))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{textui.Clean(name), "(none)"} {
		if !slices.ContainsFunc(samples, func(s sample) bool { return s.of == want }) {
			t.Errorf("no sample of %q", want)
		}
	}
}

func TestOpenMetrics(t *testing.T) {
	for name, v := range several(t) {
		samples, err := parseMetrics(render(t, OpenMetrics, v))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		list := Of(v)
		if len(samples) != len(list) {
			t.Fatalf("%s: %d samples of %d figures", name, len(samples), len(list))
		}
		for i, s := range samples {
			f := &list[i]
			of := f.Of
			if f.By != "" && of == "" {
				of = "(none)"
			}
			if !strings.HasPrefix(s.name, "schedscope_"+f.Name) || s.by != f.By || s.of != of || !sameValue(s.value, f) {
				t.Errorf("%s: %+v, want %+v", name, s, f)
			}
		}
	}
}

// sameValue reports whether the value of a metric is exactly that of a figure.
func sameValue(value string, f *Figure) bool {
	got, ok := new(big.Rat).SetString(value)
	want, ok2 := new(big.Rat).SetString(f.Value())
	if f.Unit == Nanoseconds {
		want.Quo(want, big.NewRat(1e9, 1))
	}
	return ok && ok2 && got.Cmp(want) == 0
}

func TestParseMetrics(t *testing.T) {
	const head = "# TYPE a_seconds gauge\n# UNIT a_seconds seconds\n# HELP a_seconds x\n"
	if _, err := parseMetrics(head + "a_seconds{x=\"1\"} 0.5\n# EOF\n"); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{
		"", head, head + "a_seconds 1\na_seconds 1\n# EOF\n", head + "b 1\n# EOF\n", head + "a_seconds{x=\"\n\"} 1\n# EOF\n",
		head + "a_seconds{x=\"\"\"} 1\n# EOF\n", head + "a_seconds NaN\n# EOF\n", head + head + "# EOF\n", "a 1\n# EOF\n",
		"# TYPE a gauge\n# UNIT a seconds\n# EOF\n",
	} {
		if _, err := parseMetrics(bad); err == nil {
			t.Errorf("accepted %q", bad)
		}
	}
}

func TestSeconds(t *testing.T) {
	for ns, want := range map[int64]string{0: "0", 1: "0.000000001", 1e9: "1", 1_500_000_000: "1.5", 10e9: "10", 1<<63 - 1: "9223372036.854775807"} {
		if got := seconds(ns); got != want {
			t.Errorf("%d ns are %s s, want %s", ns, got, want)
		}
	}
}

// parseBench reads benchmarks. It returns the values by name and unit as they were
// written, and which units are better when they are lower.
func parseBench(t *testing.T, text string) (values map[string][]float64, lower map[string]bool) {
	t.Helper()
	values, lower = map[string][]float64{}, map[string]bool{}
	r := benchfmt.NewReader(strings.NewReader(text), "test")
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.Result:
			for _, v := range rec.Values {
				value, unit := v.Value, v.Unit
				if v.OrigUnit != "" {
					value, unit = v.OrigValue, v.OrigUnit
				}
				key := rec.Name.String() + " " + unit
				values[key] = append(values[key], value)
			}
		case *benchfmt.SyntaxError:
			t.Errorf("%v", rec)
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	for key, m := range r.Units() {
		lower[key.Unit] = key.Key == "better" && m.Value == "lower"
	}
	return values, lower
}

func TestBenchfmt(t *testing.T) {
	for name, v := range several(t) {
		values, lower := parseBench(t, render(t, Benchfmt, v))
		if waits := v.Latency.All.Count > 0; lower["latency-p99-sec"] != waits && name != "hostile" || !lower["latency-total-sec"] || lower["utilisation"] {
			t.Errorf("%s: better when lower: %v", name, lower)
		}
		n := 0
		for key, list := range values {
			n += len(list)
			if len(list) > 1 && !strings.HasPrefix(key, "Sched-") && !strings.HasPrefix(key, "Sched ") {
				t.Errorf("%s: %s has %d values", name, key, len(list))
			}
		}
		all := benchFigures(v)
		if n != len(all) {
			t.Errorf("%s: %d values of %d figures", name, n, len(all))
		}
		if name == "hostile" {
			continue // the names differ
		}
		for i := range all {
			f := &all[i]
			if key := benchKey(v, f); !slices.Contains(values[key], f.number()) {
				t.Errorf("%s: %s has %v, not %v", name, key, values[key], f.number())
			}
		}
	}
}

// benchFigures are those that the benchmark format has: of several traces none of parts of
// all together, which would be one sample.
func benchFigures(v *result.Report) []Figure {
	all := Of(v)
	if len(v.PerTrace) > 0 {
		all = slices.DeleteFunc(all, func(f Figure) bool { return f.By != "" && f.By != "trace" })
	}
	return all
}

// benchKey returns the name and unit of a figure as parseBench has them.
func benchKey(v *result.Report, f *Figure) string {
	name, procs := "Sched", v.Procs.Mean
	switch {
	case f.By == "trace":
		i := slices.IndexFunc(v.Traces, func(t result.Trace) bool { return t.Name == strings.TrimSuffix(f.Of, " (2)") })
		procs = v.PerTrace[i].Procs
	case f.By != "":
		name += "/" + f.By + "=" + strings.NewReplacer("/", "%2F", " ", "_", "%", "%25").Replace(f.Of)
	case len(v.PerTrace) > 0:
		name += "/traces=all"
	}
	if procs == float64(int(procs)) && procs > 0 {
		name += "-" + strconv.Itoa(int(procs))
	}
	return name + " " + unitName(f)
}

// TestBenchstat compares two files as benchstat does.
func TestBenchstat(t *testing.T) {
	parser := &benchproc.ProjectionParser{}
	tables, err := parser.Parse(".config", nil)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := parser.Parse(".fullname", nil)
	if err != nil {
		t.Fatal(err)
	}
	samples := map[string][]float64{}
	seen := map[benchproc.Key]bool{}
	for _, file := range []string{"base", "cand"} {
		var traces []string
		for range 6 {
			traces = append(traces, map[string]string{"base": "timers.go1.26.p4.trace", "cand": "tasks.go1.26.p4.trace"}[file])
		}
		r := benchfmt.NewReader(strings.NewReader(render(t, Benchfmt, resulttest.Try(t, traces...))), file)
		for r.Scan() {
			rec, ok := r.Result().(*benchfmt.Result)
			if !ok {
				continue
			}
			seen[tables.Project(rec)] = true
			for _, v := range rec.Values {
				if rows.Project(rec).String() == ".fullname:Sched-4" && v.Unit == "latency-p99-sec" {
					samples[file] = append(samples[file], v.Value)
				}
			}
		}
	}
	if len(seen) != 1 {
		t.Errorf("%d tables, want one", len(seen))
	}
	if len(samples["base"]) != 6 || len(samples["cand"]) != 6 {
		t.Fatalf("samples %v", samples)
	}
	a := benchmath.NewSample(samples["base"], &benchmath.DefaultThresholds)
	b := benchmath.NewSample(samples["cand"], &benchmath.DefaultThresholds)
	c := benchmath.AssumeNothing.Compare(a, b)
	if !(c.P < 0.05) {
		t.Errorf("p=%v of two different traces", c.P)
	}
}

// FuzzFigures writes the figures of any report that can be read.
func FuzzFigures(f *testing.F) {
	f.Add([]byte(`{"schema":"schedscope.report/v2","traces":[{"name":"a"},{"name":"a"}],"per_trace":[{"trace":1,"waits":1,"procs":2}],` +
		`"latency":{"all":{"count":1,"max_ns":5},"by_origin":[{"name":"x/y -3","count":1},{"name":"x/y -3"}]},"causes":{"rows":[{"cause":"","share":0.5}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := result.Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		if _, err := parseMetrics(render(t, OpenMetrics, v)); err != nil {
			t.Error(err)
		}
		n := 0
		values, _ := parseBench(t, render(t, Benchfmt, v))
		for _, list := range values {
			n += len(list)
		}
		if want := len(benchFigures(v)); n != want {
			t.Errorf("%d values of %d figures", n, want)
		}
		render(t, CSV, v)
		render(t, NDJSON, v)
	})
}

// TestPrintable: what names could do to a terminal or a viewer is escaped in every format.
func TestPrintable(t *testing.T) {
	v := hostile()
	v.Latency.ByFunction[0].Name = "\u0085\u009b2J\u2066\u200b\U000e0001\u00a0\x7f"
	for name, write := range map[string]func(io.Writer, *result.Report) error{
		"CSV": CSV, "NDJSON": NDJSON, "OpenMetrics": OpenMetrics, "benchfmt": Benchfmt, "JSON": result.Write} {
		for line := range strings.Lines(render(t, write, v)) {
			if line = strings.NewReplacer("\n", "", "\t", "").Replace(line); line != textui.Clean(line) {
				t.Errorf("%s: %.200q", name, line)
				break
			}
		}
	}
}
