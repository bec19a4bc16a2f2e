// Package arch tests which package may import which, so that the arrows of the
// architecture (CONTRIBUTING.md) point one way.
package arch

import (
	"go/build"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/schedscope/schedscope"

// arrows lists the packages of this module that each package imports outside of tests.
// Those in internal are not listed, nor are model and, above it, analyze/result: any package
// may import them. Modules in folders of their own are not checked.
var arrows = map[string][]string{
	"model":                          {},
	"model/ingest":                   {"model/ingest/wire"},
	"model/ingest/wire":              {},
	"model/modeltest":                {},
	"model/runqueue":                 {},
	"model/session":                  {"model/ingest"},
	"analyze":                        {"analyze/causes", "analyze/lockstep", "analyze/pathologies", "analyze/requests", "analyze/sums", "model/runqueue"},
	"analyze/causes":                 {"analyze/sums", "model/runqueue"},
	"analyze/sums":                   {},
	"analyze/pathologies":            {"analyze/findings", "model/runqueue"},
	"analyze/requests":               {},
	"analyze/findings":               {"model/runqueue"},
	"analyze/resulttest":             {"analyze", "analyze/findings", "fixtures", "model/ingest"},
	"analyze/result":                 {"model/runqueue"},
	"analyze/replay":                 {"analyze/refsched", "analyze/requests", "analyze/workload", "model/runqueue"},
	"analyze/workload":               {},
	"analyze/refsched":               {"analyze/workload", "model/runqueue"},
	"analyze/refsched/refschedtest":  {"analyze/refsched", "analyze/workload", "model/runqueue"},
	"analyze/single":                 {"analyze", "analyze/capture", "analyze/findings", "analyze/requests", "model/ingest", "model/session"},
	"analyze/lockstep":               {"analyze/refsched", "model/runqueue"},
	"analyze/workload/workloadtest":  {"analyze/workload", "model/ingest"},
	"analyze/compare":                {"analyze", "analyze/findings", "analyze/gate/env", "analyze/gate/rule", "analyze/gate/sample"},
	"analyze/gate":                   {"analyze/compare", "analyze/gate/budget", "analyze/gate/env", "analyze/gate/rule", "analyze/gate/sample"},
	"analyze/gate/budget":            {"analyze/gate/env", "analyze/gate/rule"},
	"analyze/gate/env":               {},
	"analyze/gate/rule":              {},
	"analyze/gate/sample":            {"analyze", "analyze/causes", "analyze/sums", "analyze/findings", "analyze/gate/env", "analyze/gate/rule", "analyze/requests", "model/ingest", "model/session"},
	"analyze/gate/sample/sampletest": {"analyze/gate/sample"},
	"analyze/gate/schedtest":         {"analyze/gate/env", "analyze/gate/rule", "analyze/gate/sample"},
	"report":                         {"analyze/causes", "analyze/requests", "model/runqueue"},
	"report/document":                {},
	"report/view":                    {"analyze/compare", "analyze/findings", "analyze/gate/rule", "analyze/gate/sample", "analyze/lockstep", "analyze/replay", "analyze/workload", "model/runqueue", "report/document"},
	"report/verdict":                 {"analyze/compare", "analyze/gate", "analyze/gate/budget", "analyze/gate/rule", "analyze/gate/sample", "report/document"},
	"report/chart":                   {},
	"report/page":                    {"report/document", "report/view"},
	"report/timeline":                {"analyze/causes", "model/runqueue"},
	"report/viewer":                  {"analyze/causes", "model/ingest", "model/session", "report/timeline"},
	"report/profile":                 {"analyze/causes", "model/runqueue"},
	"report/perfetto":                {"analyze/causes", "model/runqueue"},
	"report/parquet":                 {"analyze", "analyze/capture", "analyze/gate/env", "model/session", "report"},
	"report/figures":                 {},
	"analyze/capture":                {"analyze/gate/env"},
	"cmd/schedscope":                 {"cmd/internal/cli"},
	"cmd/internal/recorder":          {"analyze/capture", "analyze/gate/env", "analyze/gate/sample", "model/ingest"},
	"cmd/internal/cli":               {"analyze", "analyze/compare", "analyze/findings", "analyze/gate", "analyze/gate/budget", "analyze/gate/env", "analyze/gate/rule", "analyze/gate/sample", "analyze/lockstep", "analyze/replay", "analyze/requests", "analyze/single", "cmd/internal/recorder", "model/ingest", "model/runqueue", "model/session", "report", "report/chart", "report/document", "report/figures", "report/page", "report/parquet", "report/perfetto", "report/profile", "report/timeline", "report/verdict", "report/view", "report/viewer"},
	"fixtures":                       {},
	"fixtures/truth":                 {"fixtures"},
}

// owners are the only packages that may import what begins with the key.
var owners = map[string][]string{
	"golang.org/x/exp/trace":         {"model/ingest"},
	"github.com/go-json-experiment/": {"internal/strict"},
	"gonum.org/":                     {"report/chart"},
	"github.com/spf13/":              {"cmd/internal/cli"},
	"github.com/aclements/":          {"internal/stat"},
	"go.yaml.in/":                    {"analyze/gate/budget"},
	"golang.org/x/perf":              {"report/figures"},
	"github.com/google/":             {"report/profile"},
	"github.com/parquet-go/":         {"report/parquet"},
	"google.golang.org/":             {"report/perfetto"},
	"github.com/planetscale/":        {"report/perfetto"},
}

func TestImports(t *testing.T) {
	root := filepath.Join("..", "..")
	seen := map[string]bool{}
	for _, dir := range goDirs(t, root) {
		p, err := build.ImportDir(filepath.Join(root, filepath.FromSlash(dir)), 0)
		if err != nil {
			if _, none := err.(*build.NoGoError); none {
				continue
			}
			t.Fatal(err)
		}
		seen[dir] = true
		for _, imp := range p.Imports {
			checkArrow(t, dir, imp)
			checkOwner(t, dir, imp)
		}
		for _, to := range arrows[dir] {
			if !slices.Contains(p.Imports, module+"/"+to) {
				t.Errorf("%s may import %s, but does not", dir, to)
			}
		}
	}
	for dir := range arrows {
		if !seen[dir] {
			t.Errorf("%s is listed but is no package", dir)
		}
	}
}

func checkArrow(t *testing.T, dir, imp string) {
	to, ours := strings.CutPrefix(imp, module+"/")
	allowed, listed := arrows[dir]
	small := strings.HasPrefix(dir, "internal/") // these have only each other, and model
	switch {
	case dir == "model" && strings.Contains(imp, "."):
		t.Errorf("%s imports %s, want the standard library only", dir, imp)
	case !ours:
	case !listed && !small:
		t.Errorf("%s is a new package: say in this test what it may import", dir)
	case strings.HasPrefix(to, "internal/"):
	case to == "model", to == "analyze/result" && !small && !strings.HasPrefix(dir, "model"):
	case !slices.Contains(allowed, to):
		t.Errorf("%s imports %s, want at most %q", dir, to, allowed)
	}
}

func checkOwner(t *testing.T, dir, imp string) {
	for prefix, allowed := range owners {
		if strings.HasPrefix(imp, prefix) && !slices.Contains(allowed, dir) {
			t.Errorf("%s imports %s, want that only in %q", dir, imp, allowed)
		}
	}
}

// hasModule reports whether a folder is the root of a module.
func hasModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// goDirs returns the folders of the module in root, slash-separated and relative to it.
func goDirs(t *testing.T, root string) []string {
	var dirs []string
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if name := d.Name(); p != root && (name == "testdata" || strings.HasPrefix(name, ".") || hasModule(p)) {
			return filepath.SkipDir
		}
		rel, err := filepath.Rel(root, p)
		dirs = append(dirs, filepath.ToSlash(rel))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return dirs
}
