package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/internal/textui"
)

// TestCatalogue runs the example of each entry of the catalogue: the report must name it, and
// nothing that has no entry.
func TestCatalogue(t *testing.T) {
	if testing.Short() {
		t.Skip("analyses as many traces as the catalogue has examples")
	}
	reports := map[string]*result.Report{}
	var known []string
	for _, part := range catalogue {
		known = append(known, result.Each(part.entries, func(x *result.Symptom) string { return x.Name })...)
	}
	for i, part := range catalogue {
		for _, x := range part.entries {
			if first, _, _ := strings.Cut(x.Meaning, ". "); textui.Width(first) > 69 || result.SymptomName(x.Name) != x.Name || x.Sign == "" || x.Advice == "" {
				t.Errorf("%s: a name, the first sentence %q or a text is not as the list needs it", x.Name, first)
			}
			r := reports[x.Example]
			if r == nil {
				r = analysedAs(t, x.Example)
				reports[x.Example] = r
			}
			var shown []string
			switch i {
			case 0:
				shown = []string{result.SymptomName(strings.ToLower(r.Verdict.Word))}
			case 1:
				shown = append(result.Each(r.Findings, func(f *result.Finding) string { return f.Kind }),
					result.Each(r.Pathologies, func(p *result.Pathology) string { return p.Name })...)
			case 2:
				shown = result.Each(r.Causes.Rows, func(c *result.CauseRow) string { return result.SymptomName(c.Cause) })
			}
			if !slices.Contains(shown, x.Name) {
				t.Errorf("schedscope analyze %s shows %v, not %s", x.Example, shown, x.Name)
			}
			for _, name := range shown {
				if !slices.Contains(known, name) {
					t.Errorf("schedscope analyze %s shows %s, which has no entry", x.Example, name)
				}
			}
		}
	}
}

// analysedAs returns the report of an example's arguments, whose paths are those in the
// repository.
func analysedAs(t *testing.T, example string) *result.Report {
	t.Helper()
	args := []string{"analyze", "--json"}
	for _, word := range strings.Fields(example) {
		if name, ok := strings.CutPrefix(word, "fixtures/"); ok {
			word = fixtures.Path(name)
		}
		args = append(args, word)
	}
	code, stdout, stderr := execute(t, t.Context(), nil, args...)
	if code != 0 {
		t.Fatalf("schedscope %v: exit code %d: %s", args, code, stderr)
	}
	r, err := result.Read(strings.NewReader(stdout))
	if err != nil {
		t.Fatal(err)
	}
	return r
}
