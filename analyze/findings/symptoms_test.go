package findings_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/schedscope/schedscope/analyze/findings"
)

// TestKinds checks that the catalogue has an entry for each kind of diagnosis and pathology that the code names: a finding
// without one has neither meaning nor advice.
func TestKinds(t *testing.T) {
	kinds := regexp.MustCompile(`\b(?:d\.add|judge|fix)\("([^"]+)"|\bkind, does :?= "([^"]+)"|\brunsAlone = "([^"]+)"`)
	n := 0
	for _, dir := range []string{".", "../pathologies"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			code, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range kinds.FindAllStringSubmatch(string(code), -1) {
				kind := slices.MaxFunc(m[1:], func(a, b string) int { return len(a) - len(b) })
				if n++; findings.Symptom(kind).Name != kind {
					t.Errorf("%s: the catalogue does not have %q", file, kind)
				}
			}
		}
	}
	if n < 20 {
		t.Errorf("%d kinds", n)
	}
}
