package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/resulttest"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/report/view"
)

func render(t *testing.T, in Input) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, in); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestFixtures writes a page of every fixture, twice, and reads the report back out of it.
func TestFixtures(t *testing.T) {
	names := fixtures.Chosen(fixtures.Names())
	if testing.Short() {
		names = []string{"http.trace", "quiet.go1.26.p4.trace"}
	}
	pages := 0
	for _, name := range names {
		v := resulttest.Try(t, name)
		if v == nil {
			continue
		}
		pages++
		html := render(t, Input{Report: v, Timeline: []byte("any")})
		if again := render(t, Input{Report: v, Timeline: []byte("any")}); again != html {
			t.Errorf("%s: two pages of one report differ", name)
		}
		for _, bad := range []string{" style=", " onclick", "ZgotmplZ", "<no value>", "%!"} {
			if body, _, _ := strings.Cut(html[strings.Index(html, "<body>"):], "<script"); strings.Contains(body, bad) {
				t.Errorf("%s: the page has %q", name, bad)
			}
		}
		saved := unpack(t, html)
		want, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(saved, want) {
			t.Errorf("%s: the report in the page is another one", name)
		}
	}
	if pages < len(names)*3/4 {
		t.Errorf("%d pages of %d fixtures", pages, len(names))
	}
}

var reportBlock = regexp.MustCompile(`id="report-block">([^<]*)<`)

func unpack(t *testing.T, html string) []byte {
	t.Helper()
	m := reportBlock.FindStringSubmatch(html)
	if m == nil {
		t.Fatal("no report in the page")
	}
	zipped, err := base64.StdEncoding.DecodeString(m[1])
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

// TestPolicy checks that each script and style of the page is allowed by its hash, and
// that nothing else is.
func TestPolicy(t *testing.T) {
	html := render(t, Input{Report: &result.Report{}})
	policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(html)[1]
	policy = strings.NewReplacer("&#39;", "'", "&#43;", "+").Replace(policy)
	elements := regexp.MustCompile(`(?s)<(script|style)>(.*?)</(script|style)>`).FindAllStringSubmatch(html, -1)
	if len(elements) != len(scripts())+len(styles()) {
		t.Errorf("%d scripts and styles, want %d", len(elements), len(scripts())+len(styles()))
	}
	for _, e := range elements {
		sum := sha256.Sum256([]byte(e[2]))
		directive := policy[strings.Index(policy, e[1]+"-src"):]
		directive, _, _ = strings.Cut(directive, ";")
		if !strings.Contains(directive, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'") {
			t.Errorf("the policy does not allow the %s that begins %.60q", e[1], e[2])
		}
	}
	for _, bad := range []string{"unsafe", "http", "*", "blob"} {
		if strings.Contains(policy, bad) {
			t.Errorf("the policy has %s: %s", bad, policy)
		}
	}
	for _, want := range []string{"default-src 'none'", "connect-src 'none'", "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy lacks %s: %s", want, policy)
		}
	}
	if live := render(t, Input{Report: &result.Report{}, Live: true}); !strings.Contains(live, "connect-src &#39;self&#39;") {
		t.Error("a page that is served may not ask for more")
	}
}

// TestVendored checks that what others wrote is as they published it, version 1.6.32.
func TestVendored(t *testing.T) {
	for name, want := range map[string]string{
		"LICENSE":           "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
		"uPlot.iife.min.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
		"uPlot.min.css":     "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
	} {
		data, err := assets.ReadFile("assets/uplot/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s is not that of uPlot 1.6.32: %x", name, sum)
		}
	}
}

// TestScripts checks what a page could not hold in an element.
func TestScripts(t *testing.T) {
	for _, a := range slices.Concat(scripts(), styles()) {
		lower := strings.ToLower(a.text)
		for _, bad := range []string{"</script", "</style", "<!--", "innerhtml", "outerhtml", "insertadjacenthtml", "document.write", "eval("} {
			if strings.Contains(lower, bad) {
				t.Errorf("an asset that begins %.40q has %s", a.text, bad)
			}
		}
	}
	node, err := exec.LookPath("node")
	if err != nil {
		return
	}
	names, _ := filepath.Glob("assets/*.js")
	const parse = `for (const f of process.argv.slice(1)) new (require("vm").Script)(require("fs").readFileSync(f, "utf8"), { filename: f })`
	if out, err := exec.Command(node, slices.Concat([]string{"-e", parse}, names)...).CombinedOutput(); err != nil || len(names) == 0 {
		t.Errorf("%d scripts: %v\n%s", len(names), err, out)
	}
}

// TestNames puts names that look like markup everywhere a report has text.
func TestNames(t *testing.T) {
	const evil = `</script><script>alert(1)</script>"><img src=x onerror='a'>` + "\x1b[31m\u202e"
	v := resulttest.Try(t, "http.trace")
	poison(reflect.ValueOf(v).Elem(), evil)
	html := render(t, Input{Report: v, Timeline: []byte("x"), TimelineNote: evil})
	text, data, _ := strings.Cut(html, `<script type="application/json"`)
	for _, bad := range []string{"<script>alert", "<img", "\x1b", "\u202e", "onerror='"} {
		if i := strings.Index(text, bad); i >= 0 {
			t.Errorf("the page has %q: %q", bad, text[max(i-80, 0):i+40])
		}
	}
	if data, _, _ := strings.Cut(data, "<script>"); strings.Contains(data, "alert(1)<") || strings.Contains(data, "<img") {
		t.Error("a name could end the block of words")
	}
	if n := strings.Count(html, "&lt;script&gt;alert(1)"); n < 100 {
		t.Errorf("the name is seen %d times only", n)
	}
}

// poison sets every text of a value.
func poison(v reflect.Value, s string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			poison(v.Elem(), s)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				poison(v.Field(i), s)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			poison(v.Index(i), s)
		}
	case reflect.String:
		v.SetString(s)
	}
}

// TestStrange writes pages of reports that no program would make but a file may hold.
func TestStrange(t *testing.T) {
	for i, v := range []*result.Report{
		{},
		{Traces: make([]result.Trace, 3), PerTrace: []result.TraceFigures{{Trace: 7}}, WorstWaits: []result.Wait{{Trace: -1, Start: -5}}},
		{Heat: result.Heat{Cells: []result.HeatCell{{-1, -1, 5}, {1 << 20, 9, 1}}}},
		{Series: result.Series{Covered: make([]int64, 9), Heap: []uint64{1 << 63}, MaxRunnable: []int{1}}},
		{Latency: result.Latency{All: result.Dist{Count: 1}, Spectra: []result.Spectrum{{Points: []result.Quantile{{Q: 7, Value: -1}}}}}},
		{Causes: result.Causes{Total: 1, Rows: []result.CauseRow{{Cause: "new in another version"}}, Series: result.CauseSeries{Causes: []result.CauseCurve{{}, {Bins: []int64{1}}}}}},
	} {
		if html := render(t, Input{Report: v}); !strings.HasSuffix(html, "</html>\n") {
			t.Errorf("report %d: the page is not whole", i)
		}
	}
}

// TestCurves checks that curves have the percentiles of the distributions themselves.
func TestCurves(t *testing.T) {
	v := resulttest.Try(t, "http.trace")
	dists := map[string]*result.Dist{"all": &v.Latency.All}
	for i := range v.Latency.ByOrigin {
		dists[v.Latency.ByOrigin[i].Name] = &v.Latency.ByOrigin[i].Dist
	}
	compared := 0
	for _, c := range v.Latency.Spectra {
		d := dists[c.Name]
		for _, point := range c.Points {
			for q, want := range map[float64]model.Duration{0.5: d.P50, 0.9: d.P90, 0.99: d.P99, 0.999: d.P999} {
				if math.Abs(point.Q-q) > 1e-12 {
					continue
				}
				compared++
				if point.Value != want {
					t.Errorf("%g of %s is %v, want %v", q, c.Name, point.Value, want)
				}
			}
		}
	}
	if compared < 10 {
		t.Errorf("only %d percentiles compared", compared)
	}
}

// TestColours checks that every origin has a colour in the chart of latency.
func TestColours(t *testing.T) {
	script, err := assets.ReadFile("assets/spectrum.js")
	if err != nil {
		t.Fatal(err)
	}
	for o := range model.NumOrigins {
		if !bytes.Contains(script, []byte(" "+o.String()+": \"")) {
			t.Errorf("%v has no colour", o)
		}
	}
}

// TestUnknown makes percentiles unknown, as merging saved reports may, and finds dashes
// where they were.
func TestUnknown(t *testing.T) {
	v := resulttest.Try(t, "syscalls.go1.26.p4.trace")
	const notKnown = "a report without its distribution was merged"
	before := strings.Count(render(t, Input{Report: v}), notKnown)
	const marked = 123456789012 // no length that is not a percentile
	forget(reflect.ValueOf(v).Elem(), marked)
	html := render(t, Input{Report: v})
	if n := strings.Count(html, notKnown); before != 0 || n < 50 {
		t.Errorf("%d percentiles are not known, then %d", before, n)
	}
	if body, _, _ := strings.Cut(html, "<script"); strings.Contains(body, strconv.FormatInt(marked, 10)) {
		t.Error("a percentile that is not known is shown")
	}
}

// forget marks all distributions of a value as unknown.
func forget(v reflect.Value, percentile int64) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			forget(v.Elem(), percentile)
		}
	case reflect.Struct:
		if u := v.FieldByName("Unknown"); u.Kind() == reflect.Bool {
			u.SetBool(true)
			for _, name := range []string{"P50", "P90", "P99", "P999"} {
				if f := v.FieldByName(name); f.IsValid() {
					f.SetInt(percentile)
				}
			}
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				forget(v.Field(i), percentile)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			forget(v.Index(i), percentile)
		}
	}
}

func TestExact(t *testing.T) {
	for ns, want := range map[int64]string{0: "0ns", 7: "7ns", 1000: "1us", 1234: "1.234us", 165448512: "165.448512ms", 4e6: "4ms", 1234567891: "1.234567891s", 60e9: "60s"} {
		if got := exact(ns); got != want {
			t.Errorf("exact(%d) = %s, want %s", ns, got, want)
		}
	}
}

// TestGlossary checks that the help is taken apart as it is meant.
func TestGlossary(t *testing.T) {
	terms := glossary(view.MetricsHelp())
	byName := map[string]term{}
	words := 0
	for _, x := range terms {
		byName[x.Name] = x
		for _, p := range x.Pieces {
			if p.Word != "" {
				words++
			}
			if strings.Contains(p.Text, "  ") || p.Text == "" {
				t.Errorf("%s: piece %q %q", x.Name, p.Word, p.Text)
			}
		}
	}
	for _, name := range []string{"Scheduling latency", "procs", "idle procs", "run queue", "GC", "STW", "Found"} {
		if len(byName[name].Pieces) == 0 {
			t.Errorf("no entry %q", name)
		}
	}
	if words < 20 {
		t.Errorf("%d words are explained within entries", words)
	}
	v := newView(&Input{Report: &result.Report{}})
	for _, x := range v.tiles() {
		if byName[x.Term].ID == "" {
			t.Errorf("the tile %q leads to %q, which the glossary does not have", x.Name, x.Term)
		}
	}
	if got := fmt.Sprint(byName["Found"].Pieces); !strings.Contains(got, "Known ways of scheduling going wrong") {
		t.Errorf("Found: %s", got)
	}
}

// TestRequests checks that the page draws the requests of the report and of the sample, once each,
// with their groups, and that their parts add up.
func TestRequests(t *testing.T) {
	v := resulttest.Try(t, "http.trace")
	k := &v.Requests[0]
	more := result.RequestPath{Name: "main.file", Goroutine: 5, Start: 1, Duration: 3, Parts: []result.RequestPart{{Length: 3, Kind: "running", Goroutine: 5}}}
	sample := []result.RequestKind{{Kind: k.Kind, RequestSet: result.RequestSet{Slowest: []result.RequestPath{k.Slowest[0], more, more}}}}
	alone := newView(&Input{Report: v}).drawn
	p := newView(&Input{Report: v, Requests: sample}).drawn
	if len(p.Requests) != len(alone.Requests)+1 {
		t.Errorf("%d requests with one more, %d without", len(p.Requests), len(alone.Requests))
	}
	for i, r := range p.Requests {
		var sum int64
		for j := 7; j < len(r); j += 9 {
			sum += r[j]
		}
		if sum != r[5] || i > 0 && r[4] < p.Requests[i-1][4] {
			t.Errorf("request %d: parts of %d ns, want %d, in the order of starts", i, sum, r[5])
		}
		if name := p.Strings[r[2]]; name == "main.file" && p.Sets[r[1]] != name {
			t.Errorf("%s is in group %s", name, p.Sets[r[1]])
		}
	}
	if newView(&Input{Report: &result.Report{}}).drawn != nil {
		t.Error("a report without requests draws some")
	}
}
