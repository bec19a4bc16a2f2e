package cli

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/analyze/gate/sample/sampletest"
	"github.com/schedscope/schedscope/fixtures"
)

var update = flag.Bool("update", false, "write the outputs that scripts compare with into the scripts")

func TestMain(m *testing.M) {
	samplesOf = storedOr
	testscript.Main(m, map[string]func(){"schedscope": Main, "tracer": tracer, "tracer.test": tracer, "recorded": recordee})
}

// TestScripts runs testdata/*.txtar, one file per behaviour. In them, the
// folder fixtures is that of the repository.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                "testdata",
		UpdateScripts:      *update,
		RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			return cmp.Or(os.Symlink(filepath.Dir(fixtures.Path("README.md")), filepath.Join(e.WorkDir, "fixtures")),
				os.Symlink(fixtures.Path("gate/testdata"), filepath.Join(e.WorkDir, "stored")))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": status, "glob": glob},
	})
}

// storedOr returns the samples of a stored gate run, a file of fixtures/gate/testdata: traces of two
// sides are too many to be stored. Of other operands it reads the traces.
func storedOr(ctx context.Context, a *app, operands []string, spec sample.Spec) (*sample.Set, error) {
	if filepath.Ext(operands[0]) != ".json" {
		return samples(ctx, a, operands, spec)
	}
	all, err := sampletest.Read(operands[0])
	for _, o := range operands[1:] {
		if more, err2 := sampletest.Read(o); err == nil {
			err = err2
			all.Samples = append(all.Samples, more.Samples...)
		}
	}
	return all, err
}

// stored returns a file of samples in a folder of its own: sides do not share one.
func stored(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(fixtures.Path("gate/testdata/" + name + ".json"))
	path := filepath.Join(t.TempDir(), name+".json")
	if err == nil {
		err = os.WriteFile(path, data, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// status N program args... runs a program and checks its exit code.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || neg {
		ts.Fatalf("usage: status N program args...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// glob PATTERN checks that some file matches, hidden ones too.
func glob(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: glob PATTERN")
	}
	names, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if (len(names) == 0) != neg {
		ts.Fatalf("%s: %q", args[0], names)
	}
}
