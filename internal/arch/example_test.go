package arch

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/fixtures"
)

// TestExampleAnalysis puts the analysis that CONTRIBUTING.md shows into the command, and
// looks for it in every format.
func TestExampleAnalysis(t *testing.T) {
	if !fixtures.Sweep() {
		t.Skip("builds the command: only with SCHEDSCOPE_SWEEP=1")
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	text := readFile(t, filepath.Join(root, "CONTRIBUTING.md"))
	text = text[strings.Index(text, "**An analysis.**"):]
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(text, 3)
	if len(blocks) != 3 {
		t.Fatalf("%d blocks of code, want 3", len(blocks))
	}
	observer, registry, result := blocks[0][1], blocks[1][1], blocks[2][1]
	field, value, _ := strings.Cut(registry, "\n")
	resultField, resultType, _ := strings.Cut(result, "\n")

	// The changed files take the places of the others in the build only.
	dir := t.TempDir()
	replace := map[string]string{}
	put := func(name, text string) {
		path := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(root, filepath.FromSlash(name))] = path
	}
	after := func(name, anchor, line string) string {
		s := readFile(t, filepath.Join(root, filepath.FromSlash(name)))
		m := regexp.MustCompile(`(?m)^` + anchor + `.*\n`).FindStringIndex(s)
		if m == nil {
			t.Fatalf("%s has no line %q", name, anchor)
		}
		return s[:m[1]] + line + "\n" + s[m[1]:]
	}
	put("analyze/naps.go", observer)
	put("analyze/report.go", after("analyze/report.go", `\tGoroutines +\*Goroutines`, field))
	registered := readFile(t, replace[filepath.Join(root, "analyze", "report.go")])
	put("analyze/report.go", strings.Replace(registered, "\tr := &Report{\n", "\tr := &Report{\n"+value, 1))
	put("analyze/result/report.go", after("analyze/result/report.go", `\t\tGoroutines +\[\]Group`, resultField)+"\n"+resultType)
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o666); err != nil {
		t.Fatal(err)
	}
	command := filepath.Join(dir, "schedscope")
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = root
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	run("go", "build", "-o", command, "-overlay", file, "./cmd/schedscope")

	trace, report := filepath.Join(root, "fixtures", "http.trace"), filepath.Join(dir, "r")
	run(command, "-q", "--details", "-o", report+".json", "-o", report+".txt", "-o", report+".md", "-o", report+".html", trace)
	for name, want := range map[string]string{
		report + ".json": `"naps": \{\s+"count": [1-9]`, report + ".txt": `(?m)^Naps$`, report + ".md": `Naps</b>|#+ Naps|Naps</summary>`, report + ".html": `<h2[^>]*>\s*Naps`,
	} {
		if s := readFile(t, name); !regexp.MustCompile(want).MatchString(s) {
			t.Errorf("%s has no %s", filepath.Base(name), want)
		}
	}
	for want, args := range map[string][]string{
		`(?m)^\s+naps_total +waits of less`: {"help", "metrics"},
		`naps_total,.*\d{6}`:                {"export", "--format", "csv", report + ".json"},
		`(?m)naps_total`:                    {"export", "--format", "openmetrics", trace},
		`(?s)Naps.*total`:                   {"--details", report + ".json", report + ".json"},
	} {
		if s := run(command, args...); !regexp.MustCompile(want).MatchString(s) {
			t.Errorf("%q has no %s", args, want)
		}
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
