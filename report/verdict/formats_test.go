package verdict

import (
	"bytes"
	"cmp"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/schedscope/schedscope/analyze/gate"
	"github.com/schedscope/schedscope/internal/savedfiletest"
	"github.com/schedscope/schedscope/report/document"
)

func TestFormats(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Formats {
		if f.Doc == "" || f.write == nil || !strings.HasPrefix(f.Ext, ".") || seen[f.Name] || seen[f.Ext] {
			t.Errorf("format %q, extension %q: want a name and an extension of its own, and a doc", f.Name, f.Ext)
		}
		seen[f.Name], seen[f.Ext] = true, true
		if got := Lookup(f.Name); got.Name != f.Name {
			t.Errorf("Lookup(%q) = %v", f.Name, got)
		}
	}
}

// TestNoNumber has every format refuse what is no number, and write nothing.
func TestNoNumber(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1)} {
		r := failing()
		r.Rules[1].Ratio.High = x
		for _, f := range Formats {
			var b bytes.Buffer
			err := f.Write(&b, r, shop)
			if err == nil || !strings.Contains(err.Error(), "Rules[1].Ratio.High") || b.Len() > 0 {
				t.Errorf("%s with %v: error %v, %d bytes, want an error that names the field and nothing written", f.Name, x, err, b.Len())
			}
		}
	}
}

// TestEmpty renders results with next to nothing in them.
func TestEmpty(t *testing.T) {
	for _, f := range Formats {
		render(t, f, &gate.Result{}, Options{})
		render(t, f, &gate.Result{Verdict: gate.Fail, Rules: []gate.RuleResult{{Verdict: gate.Fail, Explain: &gate.Explain{}}}}, Options{TextOptions: document.TextOptions{Width: 1}})
		if err := f.Write(io.Discard, nil, Options{}); err == nil {
			t.Errorf("%s of no result: no error", f.Name)
		}
		if err := f.Write(broken{}, failing(), shop); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%s to a closed pipe: %v", f.Name, err)
		}
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// TestPrintable checks that nothing that controls a terminal or a log is in any format
// but JSON, whose encoders escape it.
func TestPrintable(t *testing.T) {
	for _, f := range Formats {
		out := render(t, f, hostile(), shop)
		if !utf8.ValidString(out) {
			t.Errorf("%s is not UTF-8", f.Name)
		}
		bad := strings.IndexFunc(out, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) && !unicode.Is(unicode.Mn, r) })
		if bad >= 0 && f.Name != "json" {
			t.Errorf("%s has an unprintable character: %q", f.Name, out[max(0, bad-40):bad+20])
		}
	}
}

// TestNoCommands checks that no name makes a line a command of GitHub Actions, at any width.
func TestNoCommands(t *testing.T) {
	command := regexp.MustCompile(`(?m)^\s*::|##\[`)
	text := Lookup("text")
	for width := 0; width < 140; width += 7 {
		if m := command.FindString(render(t, text, hostile(), Options{TextOptions: document.TextOptions{Width: width}})); m != "" {
			t.Errorf("text of width %d has the command %q", width, m)
		}
	}
	if m := command.FindString(render(t, Lookup("markdown"), hostile(), shop)); m != "" {
		t.Errorf("markdown has the command %q", m)
	}
}

func TestAnnotations(t *testing.T) {
	line := regexp.MustCompile(`^::(error|warning) (file=[^:,\r\n]+,line=\d+,)?title=[^:,\r\n]+::[^\r\n]+$`)
	for _, r := range []*gate.Result{failing(), hostile(), point(), noisy(), unusableResult(), waivedResult()} {
		out := render(t, Lookup("github"), r, shop)
		for _, l := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
			if !line.MatchString(l) {
				t.Errorf("no annotation: %q", l)
			}
		}
	}
	if out := render(t, Lookup("github"), passing(), shop); out != "" {
		t.Errorf("annotations of a pass: %q", out)
	}
}

// TestManyAnnotations checks that the worst are told where not all can be.
func TestManyAnnotations(t *testing.T) {
	r := failing()
	r.Rules = nil
	for i := range 30 {
		rr := failing().Rules[1]
		rr.Rule = "p99(runnable{func=f" + strconv.Itoa(i) + "}) <= baseline"
		rr.Cand = values(float64(i+2)*ms, 10)
		if i%2 == 1 {
			rr.Level = "warn"
		}
		r.Rules = append(r.Rules, rr)
	}
	lines := strings.Split(strings.TrimSpace(render(t, Lookup("github"), r, shop)), "\n")
	if len(lines) != 20 || !strings.Contains(lines[0], "func=f28") || !strings.Contains(lines[9], "func=f10}") || !strings.Contains(lines[10], "func=f29") {
		t.Errorf("annotations: %d, %q ... %q, want 20, of 28 down to 10, then of 29", len(lines), lines[0], lines[9])
	}
}

func TestSource(t *testing.T) {
	tests := []struct {
		o    Options
		file string
		want string
	}{
		{shop, "/home/ci/src/shop/shop/server/queue.go", "server/queue.go"},
		{shop, "example.com/shop/server/queue.go", "server/queue.go"},
		{shop, "example.com/shop@v1.2.0/server/queue.go", ""},
		{shop, "example.com/shopping/queue.go", ""},
		{shop, "/usr/local/go/src/net/http/server.go", ""},
		{shop, "runtime/proc.go", ""},
		{shop, "/home/ci/src/shop/shop/../../../.ssh/x", ""},
		{shop, "/home/ci/src/shop/shop2/x.go", ""},
		{shop, "/home/ci/src/shop/shop/", ""},
		{shop, "", ""},
		{Options{Root: `C:\src\shop\`}, `C:\src\shop\a\b.go`, "a/b.go"},
		{Options{Root: "C:/src/shop"}, `C:/src/shop/a/b.go`, "a/b.go"},
		{Options{Module: "example.com/shop", ModuleDir: "go"}, "example.com/shop/a.go", "go/a.go"},
		{Options{}, "/a.go", ""},
		{Options{Root: "/"}, "/a.go", "a.go"},
	}
	for _, tt := range tests {
		got, ok := tt.o.source(frameAt(tt.file))
		if got.path != tt.want || ok != (tt.want != "") {
			t.Errorf("source(%q) of %q = %q, %v, want %q", tt.file, tt.o.Root, got.path, ok, tt.want)
		}
	}
}

// TestSchema checks what JSON writes against the schema that is shipped, in which
// for the test no other fields are allowed: each is described.
func TestSchema(t *testing.T) {
	s := savedfiletest.Compile(t, "gate")
	results := []*gate.Result{hostile(), {Verdict: gate.Pass, Design: gate.Absolute}, filled()}
	for _, c := range cases {
		results = append(results, c.make())
	}
	for _, r := range results {
		out := render(t, Lookup("json"), r, shop)
		if err := savedfiletest.Validate(s, strings.NewReader(out)); err != nil && r.Verdict != "" {
			t.Errorf("%s: %v", r.Headline, err)
		}
	}
	if err := s.Validate(map[string]any{"schema": "schedscope.gate/v2"}); err == nil {
		t.Error("the schema accepts another version")
	}
}

// filled returns a result in which every field has a value, so that all appear in JSON.
func filled() *gate.Result {
	r := new(gate.Result)
	fill(reflect.ValueOf(r).Elem())
	r.Verdict, r.Schema, r.Exit, r.Design = gate.Fail, gate.Schema, 1, gate.Absolute
	rr := &r.Rules[0]
	rr.Verdict, rr.Level, rr.Slug = gate.Fail, "error", "a"
	r.Guards[0].Status = gate.GuardOK
	return r
}

func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint8:
		v.SetUint(1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	}
}

// TestRoundTrip reads the JSON back.
func TestRoundTrip(t *testing.T) {
	for _, r := range []*gate.Result{failing(), filled()} {
		var back gate.Result
		if err := json.Unmarshal([]byte(render(t, Lookup("json"), r, shop)), &back); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(&back, r) {
			t.Errorf("read back differs:\n%+v\nwant\n%+v", &back, r)
		}
	}
}

// TestMarkup checks that hostile names make no markup of Markdown or HTML.
func TestMarkup(t *testing.T) {
	out := render(t, Lookup("markdown"), hostile(), shop)
	ours := regexp.MustCompile(`</?(code|details|summary)>|<!-- -->|&#\d+;|-- |--:|--$|\|---`)
	rest := ours.ReplaceAllString(out, "")
	for _, l := range strings.Split(rest, "\n") {
		if strings.ContainsAny(l, "<>`*_[]~") {
			t.Errorf("markup in %q", l)
		}
		if n := strings.Count(l, "|"); strings.Trim(l, "| ") != "" && strings.HasPrefix(l, "|") && n != 10 && n != 4 {
			t.Errorf("a row with %d bars: %q", n, l)
		}
	}
}

func TestCut(t *testing.T) {
	r := failing()
	for range 200 {
		r.Warnings = append(r.Warnings, strings.Repeat("ü", 4000))
	}
	out := render(t, Lookup("markdown"), r, shop)
	if len(out) > maxMarkdown || len(out) < maxMarkdown-9000 || !utf8.ValidString(out) || !strings.Contains(out[len(out)-200:], "cut off") {
		t.Errorf("%d bytes, end %q", len(out), out[len(out)-200:])
	}
	long := "<details><summary>x</summary>\n\n" + strings.Repeat("| a |\n", 100) + "</details>\n"
	got := cut(long, 400)
	if len(got) > 400 || strings.Count(got, "<details>") != strings.Count(got, "</details>") || !strings.Contains(got, "| a |\n\n</details>") {
		t.Errorf("cut: %q", got)
	}
}

func TestJUnit(t *testing.T) {
	for _, r := range []*gate.Result{failing(), noisy(), unusableResult(), waivedResult(), hostile(), {}} {
		out := render(t, Lookup("junit"), r, shop)
		var s junitSuites
		d := xml.NewDecoder(strings.NewReader(out))
		if err := d.Decode(&s); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		var names []string
		for _, k := range s.Suite.Cases {
			names = append(names, k.Name)
		}
		slices.Sort(names)
		if len(slices.Compact(names)) != s.Tests || s.Tests != len(s.Suite.Cases) || s.Tests == 0 {
			t.Errorf("%s: tests %d, cases %d with %d names", r.Headline, s.Tests, len(s.Suite.Cases), len(names))
		}
	}
	twice := failing()
	twice.Rules = append(twice.Rules, twice.Rules[1])
	if out := render(t, Lookup("junit"), twice, shop); !strings.Contains(out, `*1.10 (2)"`) || !strings.Contains(out, `failures="2"`) {
		t.Errorf("a rule twice:\n%s", out)
	}
}

// junitElements are the elements of JUnit XML as readers know them: those of the schema by which
// Jenkins validates (junit-10 of its plugin xunit), by hand. Attributes with ! must be there; file and
// line are not in that schema: GitLab and annotations of GitHub read them.
var junitElements = map[string]struct{ attrs, children string }{
	"testsuites": {"name time tests failures errors", "testsuite"},
	"testsuite":  {"name! tests! failures! errors! time skipped timestamp hostname id package file", "properties testcase system-out system-err"},
	"properties": {"", "property"},
	"property":   {"name! value!", ""},
	"testcase":   {"name! time classname file line", "skipped error failure system-out system-err"},
	"failure":    {"type message", ""},
	"error":      {"type message", ""},
	"skipped":    {"type message", ""},
	"system-out": {"", ""},
}

// TestJUnitStructure checks each element and attribute that is written.
func TestJUnitStructure(t *testing.T) {
	for _, r := range []*gate.Result{failing(), noisy(), unusableResult(), waivedResult(), hostile(), filled(), {}} {
		d := xml.NewDecoder(strings.NewReader(render(t, Lookup("junit"), r, shop)))
		d.Strict = true
		within := []string{}
		for {
			token, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			switch e := token.(type) {
			case xml.StartElement:
				name := e.Name.Local
				want, known := junitElements[name]
				if n := len(within); n == 0 && name != "testsuites" || n > 0 && !slices.Contains(strings.Fields(junitElements[within[n-1]].children), name) || !known {
					t.Fatalf("%s in %q", name, within)
				}
				var have []string
				for _, a := range e.Attr {
					have = append(have, a.Name.Local)
					if slices.Contains([]string{"tests", "failures", "errors", "skipped", "time", "line"}, a.Name.Local) {
						if _, err := strconv.ParseFloat(a.Value, 64); err != nil {
							t.Errorf("%s of %s: %v", a.Name.Local, name, err)
						}
					}
				}
				for _, a := range strings.Fields(want.attrs) {
					if at := slices.Index(have, strings.TrimSuffix(a, "!")); at >= 0 {
						have = slices.Delete(have, at, at+1)
					} else if strings.HasSuffix(a, "!") {
						t.Errorf("%s has no %s", name, a)
					}
				}
				if len(have) > 0 {
					t.Errorf("%s has the attributes %q, which nobody reads", name, have)
				}
				within = append(within, name)
			case xml.EndElement:
				within = within[:len(within)-1]
			case xml.CharData:
				if n := len(within); n > 0 && junitElements[within[n-1]].children != "" && strings.TrimSpace(string(e)) != "" {
					t.Errorf("text in %s: %q", within[n-1], e)
				}
			}
		}
	}
}

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool        sarifTool         `json:"tool"`
	Automation  sarifID           `json:"automationDetails"`
	Invocations []sarifInvocation `json:"invocations"`
	ColumnKind  string            `json:"columnKind"`
	Results     []sarifResult     `json:"results"`
}

type sarifID struct {
	ID string `json:"id"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name  string      `json:"name"`
	URI   string      `json:"informationUri"`
	Rules []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID      string      `json:"id"`
	Short   sarifText   `json:"shortDescription"`
	Help    sarifText   `json:"help"`
	Default sarifConfig `json:"defaultConfiguration"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifConfig struct {
	Level string `json:"level"`
}

type sarifInvocation struct {
	Successful    bool                `json:"executionSuccessful"`
	ExitCode      int                 `json:"exitCode"`
	Notifications []sarifNotification `json:"toolExecutionNotifications"`
}

type sarifNotification struct {
	Level   string    `json:"level"`
	Message sarifText `json:"message"`
}

type sarifResult struct {
	RuleID       string             `json:"ruleId"`
	RuleIndex    int                `json:"ruleIndex"`
	Level        string             `json:"level"`
	Message      sarifText          `json:"message"`
	Locations    []sarifLocation    `json:"locations"`
	Fingerprints map[string]string  `json:"partialFingerprints"`
	Suppressions []sarifSuppression `json:"suppressions,omitempty"`
}

type sarifLocation struct {
	Physical sarifPhysical `json:"physicalLocation"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   sarifRegion   `json:"region"`
}

type sarifArtifact struct {
	URI  string `json:"uri"`
	Base string `json:"uriBaseId"`
}

type sarifRegion struct {
	Line int `json:"startLine"`
}

type sarifSuppression struct {
	Kind          string `json:"kind"`
	Justification string `json:"justification"`
}

func TestSARIF(t *testing.T) {
	read := func(r *gate.Result, o Options) sarifRun {
		t.Helper()
		var log sarifLog
		if err := json.Unmarshal([]byte(render(t, Lookup("sarif"), r, o)), &log); err != nil {
			t.Fatal(err)
		}
		return log.Runs[0]
	}
	run := read(failing(), shop)
	if len(run.Results) != 2 || len(run.Tool.Driver.Rules) != 5 || run.Results[0].Level != "error" || run.Results[1].Level != "warning" {
		t.Fatalf("%d results, %d rules, want an error and a warning of 5", len(run.Results), len(run.Tool.Driver.Rules))
	}
	res := run.Results[0]
	at := res.Locations[0].Physical
	if res.RuleID != run.Tool.Driver.Rules[res.RuleIndex].ID || at.Artifact.URI != "img/img.go" || at.Region.Line != 120 {
		t.Errorf("result %+v", res)
	}
	// Values and lines change, the fingerprint does not; another class is another one.
	other := failing()
	other.Rules[1].Cand, other.Rules[1].Explain.Behind[0].At.Line = values(9*ms, 10), 99
	if got := read(other, shop).Results[0].Fingerprints; !reflect.DeepEqual(got, res.Fingerprints) {
		t.Errorf("fingerprint %v, want %v", got, res.Fingerprints)
	}
	other.Rules[1].Explain.Behind[0].Func = "main.other"
	if got := read(other, shop).Results[0].Fingerprints; reflect.DeepEqual(got, res.Fingerprints) {
		t.Errorf("fingerprint of another class is %v, too", got)
	}
	for _, r := range []*gate.Result{passing(), {}} {
		if out := render(t, Lookup("sarif"), r, shop); !strings.Contains(out, `"results": []`) {
			t.Errorf("no empty list of results:\n%s", out)
		}
	}
	// What no line of the source explains is shown in the budget.
	lines := map[string]int{failing().Rules[1].Slug: 7}
	for _, o := range []Options{{}, {Budget: "ci/budget.yaml", Lines: lines}} {
		got := read(failing(), o).Results
		if len(got) == 0 {
			t.Fatalf("no result of a violated budget with %+v", o)
		}
		for _, r := range got {
			want := place{cmp.Or(o.Budget, "schedscope.yaml"), max(1, o.Lines[r.RuleID])}
			if p := r.Locations[0].Physical; p.Artifact.URI != want.path || p.Region.Line != want.line {
				t.Errorf("%s is at %+v, want %+v", r.RuleID, p, want)
			}
		}
	}
	for _, c := range cases {
		if r := c.make(); r.Verdict == gate.Fail && len(read(r, Options{}).Results) == 0 {
			t.Errorf("%s: no result of a violated budget", r.Headline)
		}
	}
	if got := read(unusableResult(), shop).Invocations[0]; got.Successful || got.ExitCode != 2 || len(got.Notifications) != 1 {
		t.Errorf("invocation of an unusable check: %+v", got)
	}
	hostile := hostile()
	for i := range hostile.Rules {
		if e := hostile.Rules[i].Explain; e != nil {
			e.Behind = nil // then what waited is the place
		}
	}
	uri := read(hostile, shop).Results[0].Locations[0].Physical.Artifact.URI
	if uri != "a%2Cb:c::d%25%3Cx%3E.go" {
		t.Errorf("URI %q", uri)
	}
}
