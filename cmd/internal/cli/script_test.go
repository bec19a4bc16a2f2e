package cli

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/schedscope/schedscope/fixtures"
)

var update = flag.Bool("update", false, "write the outputs that scripts compare with into the scripts")

func TestMain(m *testing.M) {
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
			return os.Symlink(filepath.Dir(fixtures.Path("README.md")), filepath.Join(e.WorkDir, "fixtures"))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": status, "glob": glob},
	})
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
