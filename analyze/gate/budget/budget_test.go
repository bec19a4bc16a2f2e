package budget

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/internal/savedfiletest"
)

const head = "schema: schedscope.budget/v1\nop: count\n"

// example returns a budget file that has everything.
func example(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestExample(t *testing.T) {
	b, err := Read("example.yaml", example(t))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(example(t))
	if b.Hash != hex.EncodeToString(sum[:]) {
		t.Errorf("hash %s", b.Hash)
	}
	if b.Workload != "checkout" || b.Op != "region:request" || b.Load != Open || b.Window != "region:measure" || b.MinTraces != 6 || b.Alpha != 0.05 {
		t.Errorf("read as %+v", b)
	}
	if !reflect.DeepEqual(b.Guards, Default().Guards) {
		t.Errorf("guards %+v, want the default %+v", b.Guards, Default().Guards)
	}
	if len(b.Rules) != 8 || b.Rules[0].String() != "p99(runnable) < 5ms @ 95%" || b.Rules[2].Detect != 1.3 || b.Rules[2].Owner != "sched-team" ||
		b.Rules[2].Level != Error || b.Rules[5].Level != Warn || b.Rules[0].Line != 14 || !b.Rules[7].Point {
		t.Errorf("rules %+v", b.Rules)
	}
	w := b.Waivers[0]
	if w.Until != time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC) || w.Issue != "#123" || *w.Ceiling != (rule.Bound{Relative: true, Factor: 1.5, Add: 50000}) {
		t.Errorf("waiver %+v", w)
	}
}

var valid = map[string]string{
	"least":      head + "rules: [p99(runnable) < 5ms]",
	"json":       `{"schema": "schedscope.budget/v1", "rules": ["p99(runnable) < 5ms"]}`,
	"fractions":  head + "alpha: 5%\nguards: {load_tolerance: 0.1, foreign: 12.5%, steal: 0, nivcsw_per_s_per_p: 7.5, run_delay_ratio: 2, same: []}\nrules: [p99(runnable) < 5ms]",
	"all keys":   head + "workload: w\nload: closed\nwindow: all\nmin_traces: 12\nrules: [p99(runnable) <= baseline]",
	"confidence": head + "alpha: 1%\nmin_traces: 8\nrules: [mean(wait/op) <= baseline @ 99%, p99(runnable) < 5ms @ 99%]",
	"warn max":   "schema: schedscope.budget/v1\nrules: [{rule: max(stw) < 1ms, level: warn}, {rule: p100(op) < 1ms @ point, level: off}]\nop: task:x",
	"stretch":    head + "window: 1s..2.5s\nrules: [p99(runnable) < 5ms]",
	"tail":       head + "window: 1s..\nrules: [p99(runnable) < 5ms]",
	"lower":      head + "rules: [{rule: mean(ops/s) >= baseline*0.95, detect: 0.8}]",
	"ceiling":    head + "rules: [mean(wakes/op) <= 3]\nwaivers: [{rule: 'mean*', until: 2030-01-01, issue: '#1', ceiling: 3.5}]",
	"zero":       head + "rules: [sum(stw) <= 0, mean(ops/s) > 0, share(cause=behind-gc) < 100%]",
	"alias":      head + "rules: [&a p99(runnable) < 5ms]\nwaivers: [{rule: *a, until: 2030-01-01, issue: '#1', ceiling: none}]",
	"waivers":    head + "rules: [p99(runnable) <= baseline*1.10, p50(runnable) < 5ms]\nwaivers: [{rule: p99(runnable), until: 2030-01-01, issue: '#1', ceiling: none}, {rule: p50(runnable) < 5ms, until: '2030-01-02', issue: '#1', ceiling: 6ms}, {rule: 'p*', until: 2030-01-01, issue: '#1', ceiling: none}]",
}

// invalid files; those with "schema" the JSON Schema refuses, too.
var invalid = map[string]struct {
	text, want string
	schema     bool
}{
	"empty":              {"", "b.yaml: empty", true},
	"comment":            {"# nothing\n", "b.yaml: empty", true},
	"list":               {"- a", "b.yaml:1: a budget is a mapping of keys, not a list", true},
	"two documents":      {head + "rules: [p99(runnable) < 5ms]\n---\nx: 1", "one document", false},
	"syntax":             {"schema: [", "b.yaml: yaml: ", false},
	"rule not quoted":    {head + "rules: [{rule: p99(blocked{reason=sync}) < 5ms}]", "stand in quotes", false},
	"levels of nothing":  {head + "rules: [{rule: p0(runnable) > 1us}, {rule: , level: warn}]", "a rule is a text, not nothing", true},
	"rule as list":       {head + "rules: [[p99(runnable) < 5ms]]", "a rule is a text, not a list", true},
	"rules as text":      {head + "rules: p99(runnable) < 5ms", "rules is a list, not \"p99(runnable) < 5ms\"", true},
	"p0":                 {head + "rules: [p0(runnable) > 1us]", "rests on the smallest value", false},
	"ceiling for two":    {head + "rules: [sum(steals) < 4, sum(wait) < 5ms]\nwaivers: [{rule: 'sum*', until: 2030-01-01, issue: '#1', ceiling: 6}]", "has no unit", false},
	"ceiling of lower":   {head + "rules: [mean(ops/s) > 5]\nwaivers: [{rule: 'mean*', until: 2030-01-01, issue: '#1', ceiling: 6}]", "waives nothing", false},
	"ceiling as list":    {head + "rules: [mean(ops/s) > 5]\nwaivers: [{rule: 'mean*', until: 2030-01-01, issue: '#1', ceiling: [6]}]", "ceiling is a text, not a list", true},
	"no schema":          {"rules: [p99(runnable) < 5ms]", "the key schema is missing", true},
	"newer schema":       {"schema: schedscope.budget/v2\nrules: [p99(runnable) < 5ms]", "a newer schedscope is needed", true},
	"other schema":       {"schema: x\nrules: [p99(runnable) < 5ms]", "this is not a budget", true},
	"unknown key":        {head + "alpa: 0.05\nrules: [p99(runnable) < 5ms]", `b.yaml:3: a budget has no key "alpa"; did you mean "alpha"?`, true},
	"unknown guard":      {head + "guards: {loadtolerance: 5%}\nrules: [p99(runnable) < 5ms]", `did you mean "load_tolerance"?`, true},
	"unknown rule key":   {head + "rules: [{rule: p99(runnable) < 5ms, levl: warn}]", `did you mean "level"?`, true},
	"unknown waiver key": {head + "rules: [p99(runnable) < 5ms]\nwaivers: [{rule: 'p*', until: 2030-01-01, issue: '#1', celing: 6ms}]", `did you mean "ceiling"?`, true},
	"merge key":          {head + "<<: {alpha: 0.05}\nrules: [p99(runnable) < 5ms]", `no key "<<"`, false},
	"duplicate key":      {head + "alpha: 0.05\nalpha: 0.04\nrules: [p99(runnable) < 5ms]", `"alpha" is there already, in line 3`, false},
	"number as text":     {head + "workload: 2026\nrules: [p99(runnable) < 5ms]", "put it in quotes", true},
	"null":               {head + "workload:\nrules: [p99(runnable) < 5ms]", "workload is a text, not nothing", true},
	"list as text":       {head + "workload: [a]\nrules: [p99(runnable) < 5ms]", "workload is a text, not a list", true},
	"text as number":     {head + "min_traces: '6'\nrules: [p99(runnable) < 5ms]", "min_traces is a whole number", true},
	"fractional traces":  {head + "min_traces: 6.5\nrules: [p99(runnable) < 5ms]", "min_traces is a whole number", true},
	"alpha 0":            {head + "alpha: 0\nrules: [p99(runnable) < 5ms]", "above 0 and at most 0.5", true},
	"alpha 0.6":          {head + "alpha: 0.6\nrules: [p99(runnable) < 5ms]", "above 0 and at most 0.5", true},
	"alpha 60%":          {head + "alpha: 60%\nrules: [p99(runnable) < 5ms]", "above 0 and at most 0.5", false},
	"alpha nan":          {head + "alpha: .nan\nrules: [p99(runnable) < 5ms]", "a part such as 5%", false},
	"tolerance 5":        {head + "guards: {load_tolerance: 5}\nrules: [p99(runnable) < 5ms]", "a part such as 5% or 0.05, 0 to 1, not \"5\"", true},
	"ratio 0.5":          {head + "guards: {run_delay_ratio: 0.5}\nrules: [p99(runnable) < 5ms]", "a number, 1 or more", true},
	"load":               {head + "load: opn\nrules: [p99(runnable) < 5ms]", `did you mean "open"?`, true},
	"op":                 {"schema: schedscope.budget/v1\nop: regon:x\nrules: [p99(runnable) < 5ms]", "op is region:NAME", true},
	"op without name":    {"schema: schedscope.budget/v1\nop: 'region:'\nrules: [p99(runnable) < 5ms]", "op is region:NAME", true},
	"window":             {head + "window: measure\nrules: [p99(runnable) < 5ms]", "want region:NAME, all or FROM..TO", true},
	"same":               {head + "guards: {same: [gomaxproc]}\nrules: [p99(runnable) < 5ms]", `did you mean "gomaxprocs"?`, true},
	"window falls":       {head + "window: 5s..4s\nrules: [p99(runnable) < 5ms]", "the end is not after the beginning", false},
	"window unit":        {head + "window: 1..5s\nrules: [p99(runnable) < 5ms]", "want region:NAME, all or FROM..TO", false},
	"no rules":           {head + "rules: []", "there is no rule", true},
	"rules missing":      {head, "there is no rule", true},
	"rule missing":       {head + "rules: [{level: warn}]", "the key rule is missing", true},
	"rule syntax":        {head + "rules: [p99(runable) < 5ms]", `did you mean "runnable"?`, false},
	"rule no comparison": {head + "rules: [p99(runnable)]", "a comparison is missing", true},
	"rule number":        {head + "rules: [5]", "a rule is a text", true},
	"level":              {head + "rules: [{rule: p99(runnable) < 5ms, level: warnn}]", `did you mean "warn"?`, true},
	"duplicate rule":     {head + "rules:\n- p99(runnable) < 5ms\n- p99(runnable) < 5000us @ 95%", "b.yaml:5: the rule p99(runnable) < 5ms @ 95% is there already, in line 4", false},
	"max":                {head + "rules: [max(stw) < 1ms]", "can only have level: warn", false},
	"p100":               {head + "rules: [p100(runnable) < 1ms @ point]", "can only have level: warn", false},
	"op not said":        {"schema: schedscope.budget/v1\nrules: [p99(op) < 5ms]", "needs the key op", false},
	"op without length":  {head + "rules: [p99(op) < 5ms]", "needs ops that have a length", false},
	"confidence":         {head + "rules: [p99(runnable) <= baseline @ 99%]", "judged at 95.0% together; leave out @ 99.0%", false},
	"detect absolute":    {head + "rules: [{rule: p99(runnable) < 5ms, detect: 1.3}]", "a ratio to the baseline", false},
	"detect too small":   {head + "rules: [{rule: p99(runnable) < baseline*1.5, detect: 1.3}]", "detect is 1.3, which", false},
	"detect too large":   {head + "rules: [{rule: mean(ops/s) > baseline*0.8, detect: 0.9}]", "detect is 0.9, which", false},
	"detect 0":           {head + "rules: [{rule: p99(runnable) < baseline, detect: 0}]", "detect is a number, above 0", true},
	"too few traces":     {head + "min_traces: 3\nalpha: 0.04\nrules: [p99(runnable) <= baseline]", "takes min_traces: 4", false},
	"few for sign test":  {head + "rules: [p99(runnable) < 5ms @ 99%]", "takes min_traces: 7", false},
	"waiver no rule":     {head + "rules: [p99(runnable) < 5ms]\nwaivers: [{rule: 'p98*', until: 2030-01-01, issue: '#1', ceiling: none}]", "matches no rule; rules are p99(runnable) < 5ms @ 95%", false},
	"waiver no end":      {head + "rules: [p99(runnable) < 5ms]\nwaivers: [{rule: 'p*'}]", "until is missing", true},
	"waiver no pattern":  {head + "rules: [p99(runnable) < 5ms]\nwaivers: [{until: 2030-01-01, issue: '#1', ceiling: none}]", "rule is missing", true},
	"waiver no issue":    {head + "rules: [p99(runnable) < 5ms]\nwaivers: [{rule: 'p*', until: 2030-01-01}]", "the key issue is missing", true},
	"waiver no ceiling":  {head + "rules: [p99(runnable) < 5ms]\nwaivers: [{rule: 'p*', until: 2030-01-01, issue: '#1'}]", "the key ceiling is missing", true},
	"below nothing":      {head + "rules: [p99(runnable) < 0ms]", "nothing is less than 0, so every trace violates it; write <= 0", false},
	"never violated":     {head + "rules: [mean(ops/s) >= 0]", "nothing is less than 0, so no trace can violate it", false},
	"never kept":         {head + "rules: [share(cause=behind-gc) > 100%]", "no share is more than 100%, so every trace violates it", false},
	"any share":          {head + "rules: [share(cause=behind-gc) <= 100%]", "no share is more than 100%, so no trace can violate it", false},
	"waiver day":         {head + "rules: [p99(runnable) < 5ms]\nwaivers: [{rule: 'p*', until: 2030-1-1, issue: '#1', ceiling: none}]", "until is a day", true},
	"waiver no day":      {head + "rules: [p99(runnable) < 5ms]\nwaivers: [{rule: 'p*', until: 2030-02-30, issue: '#1', ceiling: none}]", "until is a day", false},
	"waiver as text":     {head + "rules: [p99(runnable) < 5ms]\nwaivers: ['p*']", "a waiver is a mapping", true},
	"ceiling unit":       {head + "rules: [p99(runnable) < 5ms]\nwaivers: [{rule: 'p*', until: 2030-01-01, issue: '#1', ceiling: 6}]", "has no unit", false},
	"ceiling kind":       {head + "rules: [p99(runnable) < 5ms]\nwaivers: [{rule: 'p*', until: 2030-01-01, issue: '#1', ceiling: baseline*2}]", "both or none have a baseline", false},
	"ceiling low":        {head + "rules: [p99(runnable) < 5ms]\nwaivers: [{rule: 'p*', until: 2030-01-01, issue: '#1', ceiling: 5ms}]", "waives nothing", false},
	"many rules":         {head + "rules: [" + strings.Repeat("p99(runnable) < 5ms, ", 1001) + "]", "rules has 1001 items, want at most 1000", false},
	"alias to itself":    {head + "rules: &a [*a]", "b.yaml:3", false},
}

func TestRead(t *testing.T) {
	for name, text := range valid {
		if _, err := Read("b.yaml", []byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, tt := range invalid {
		b, err := Read("b.yaml", []byte(tt.text))
		if err == nil {
			t.Errorf("%s: read as %+v, want an error with %q", name, b, tt.want)
		} else if !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v\nwant %q", name, err, tt.want)
		}
	}
}

func TestReadValues(t *testing.T) {
	b := mustRead(t, valid["all keys"])
	if b.Load != Closed || b.Window != "all" || b.MinTraces != 12 {
		t.Errorf("%+v", b)
	}
	b = mustRead(t, valid["fractions"])
	if g := b.Guards; g.LoadTolerance != 0.1 || g.Foreign != 0.125 || g.Steal != 0 || g.Nivcsw != 7.5 || g.RunDelayRatio != 2 || len(g.Same) != 0 || b.Alpha != 0.05 {
		t.Errorf("%+v, alpha %v", g, b.Alpha)
	}
	b = mustRead(t, valid["confidence"])
	if b.Rules[0].Confidence != 0 || b.Rules[1].Confidence != 0.99 {
		t.Errorf("confidences %v and %v, want 0 and 0.99", b.Rules[0].Confidence, b.Rules[1].Confidence)
	}
}

func TestManyErrors(t *testing.T) {
	_, err := Read("b.yaml", []byte("a: 1\nb: 2\nc: 3\n"))
	if lines := strings.Split(err.Error(), "\n"); len(lines) != 3 || !strings.HasPrefix(lines[2], "b.yaml:3: ") {
		t.Errorf("errors %q, want one per line", lines)
	}
}

func TestNeed(t *testing.T) {
	for text, want := range map[string]int{
		"rules: [p99(runnable) <= baseline]":                                       3, // 1/20 = 0.05
		"rules: [p99(runnable) <= baseline, p50(runnable) <= baseline]":            4, // 1/70 <= 0.025
		"rules: [p99(runnable) <= baseline, {rule: sum(wait) < 1s, level: warn}]":  3,
		"rules: [p99(runnable) <= baseline, p50(runnable) < 5ms @ 75%]":            3, // the family is of one
		"rules: [p99(runnable) <= baseline, p99(runnable) < 5ms @ point]":          3,
		"rules: [p99(runnable) < 5ms]":                                             5,
		"rules: [p99(runnable) < 5ms @ point]":                                     0,
		"rules: [{rule: p99(runnable) <= baseline, level: off}]\nalpha: 0.0000001": 0,
	} {
		if got, why := mustRead(t, head+text).Need(); got != want {
			t.Errorf("%s: need %d (%s), want %d", text, got, why, want)
		}
	}
}

func TestWaiver(t *testing.T) {
	b := mustRead(t, valid["waivers"])
	day := func(d int) time.Time { return time.Date(2030, 1, d, 23, 59, 0, 0, time.UTC) }
	p99, p50 := b.Rules[0].String(), b.Rules[1].String()
	for _, tt := range []struct {
		rule    string
		day     int
		want    int // index of the waiver, -1: none
		expired int
	}{
		{p99, 1, 0, 0}, {p50, 1, 1, 0}, {p50, 2, 1, 2}, {p99, 2, -1, 2}, {p50, 3, -1, 3}, {"sum(wait) < 1s @ 95%", 1, -1, 0},
	} {
		var want *Waiver
		if tt.want >= 0 {
			want = &b.Waivers[tt.want]
		}
		if got := b.Waiver(tt.rule, day(tt.day)); got != want {
			t.Errorf("waiver of %s on day %d: %+v, want %+v", tt.rule, tt.day, got, want)
		}
		if got := len(b.Expired(day(tt.day))); got != tt.expired {
			t.Errorf("%d expired on day %d, want %d", got, tt.day, tt.expired)
		}
	}
}

func mustRead(t *testing.T, text string) *Budget {
	t.Helper()
	b, err := Read("b.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestSchemaOfTypes checks that the JSON Schema takes all valid files and refuses those
// invalid ones that are said to be visible to it.
func TestSchemaOfTypes(t *testing.T) {
	// Patterns are of the language of texts, which the types do not know.
	const text = `"type": "string", "minLength": 1`
	const ruleText = `"type": "string", "pattern": "^\\s*(p[0-9.]+|mean|max|sum|share)\\s*\\([\\s\\S]+\\)\\s*[<>]=?\\s*[\\s\\S]+$"`
	var names []string
	for _, name := range Identities {
		names = append(names, strconv.Quote(name))
	}
	savedfiletest.Schema{
		Name: "budget", Format: Schema, Type: reflect.TypeFor[Budget](), Dirs: []string{"."}, Closed: true,
		Forms: map[string]string{
			"rule.Rule":            ruleText,
			"rule.Bound":           `"oneOf": [{` + text + `}, {"type": "number"}]`,
			"time.Time":            `"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"`,
			"budget.Budget.Op":     `"type": "string", "pattern": "^(count|(region|task|goroutine):[\\s\\S]+)$"`,
			"budget.Budget.Window": `"type": "string", "pattern": "^(all|region:[\\s\\S]+|[^-]*\\.\\.[^-]*)$"`,
			"budget.Budget.Rules":  `"type": "array", "minItems": 1, "items": {"oneOf": [{` + ruleText + `}, {%s}]}`,
			"budget.Guards.Same":   `"type": "array", "items": {"enum": [` + strings.Join(names, ", ") + `]}`,
		},
	}.Check(t)
	schema := savedfiletest.Compile(t, "budget")
	for name, text := range valid {
		if err := schema.Validate(asJSON(t, text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := schema.Validate(asJSON(t, string(example(t)))); err != nil {
		t.Errorf("example: %v", err)
	}
	for name, tt := range invalid {
		if tt.schema && schema.Validate(asJSON(t, tt.text)) == nil {
			t.Errorf("%s: valid by the schema", name)
		}
	}
}

// asJSON returns a YAML text as an editor shows it to a schema: days are strings.
func asJSON(t *testing.T, text string) any {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil || len(doc.Content) == 0 {
		return nil
	}
	daysAsText(&doc)
	var v any
	if err := doc.Decode(&v); err != nil {
		return nil
	}
	data, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	out, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func daysAsText(n *yaml.Node) {
	if n.ShortTag() == "!!timestamp" {
		n.Tag = "!!str"
	}
	for _, c := range n.Content {
		daysAsText(c)
	}
}

// FuzzRead checks that nothing panics, and that what is read is complete.
func FuzzRead(f *testing.F) {
	f.Add(example(f))
	for _, text := range valid {
		f.Add([]byte(text))
	}
	for _, tt := range invalid {
		f.Add([]byte(tt.text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := Read("b.yaml", data)
		if err != nil {
			if b != nil || err.Error() == "" {
				t.Errorf("%+v, %q", b, err)
			}
			return
		}
		need, _ := b.Need()
		if len(b.Rules) == 0 || b.Alpha <= 0 || b.Alpha > 0.5 || b.MinTraces < need || b.Guards.RunDelayRatio < 1 {
			t.Errorf("%+v", b)
		}
		for i := range b.Rules {
			if r := &b.Rules[i]; r.Rule == nil || r.Level == "" || r.Quantity.Check() != nil {
				t.Errorf("rule %+v", r)
			}
		}
	})
}
