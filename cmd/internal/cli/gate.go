package cli

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/internal/savedfile"
	"github.com/schedscope/schedscope/report/verdict"
)

// newGate returns the command gate with its verbs.
func newGate(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "gate",
		Short: "Fail a change that makes scheduling latency worse",
		Long: `One trace of one process is one sample: record at least six of each side, in turns on
one machine (gate record), and judge them by a budget (gate check). The exit code is the
verdict: 0 nothing violated, 1 violated, 2 unusable input, 3 cannot be judged.
schedscope help gate-rules explains budgets, statistics and guards.`,
		Example: `  schedscope gate record -n 10 --base ./base.test --cand ./cand.test -o runs -- -test.run TestServe
  schedscope gate check --budget schedscope.yaml runs
  schedscope gate check --absolute --budget schedscope.yaml trace.out   # rules with limits only, one process`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownTopic(cmd, "verb of gate", args[0])
			}
			return cmd.Help()
		},
		Args: cobra.ArbitraryArgs,
	}
	cmd.AddCommand(newGateRecord(a), newGateCheck(a), newGatePlan(a))
	return cmd
}

// budgetNames are the names under which a budget is looked for.
var budgetNames = []string{"schedscope.yaml", "schedscope.budget.yaml"}

// readBudget reads the budget file, or the one that is found from the working directory
// upwards to the root of the module or repository.
func readBudget(path string) (*budget.Budget, error) {
	for dir := "."; path == ""; dir = filepath.Join(dir, "..") {
		for _, name := range budgetNames {
			// A link that leads nowhere is not passed over for a budget further up.
			if _, err := os.Lstat(filepath.Join(dir, name)); path == "" && err == nil {
				path = filepath.Join(dir, name)
			}
		}
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		if path == "" && (exists(filepath.Join(dir, "go.mod")) || exists(filepath.Join(dir, ".git")) || filepath.Dir(abs) == abs) {
			return nil, usagef("name one with --budget FILE; schedscope help gate-rules has an example",
				"no budget: no %s here or above", strings.Join(budgetNames, " or "))
		}
	}
	data, err := savedfile.ReadFile(path, budget.MaxSize)
	if err != nil {
		return nil, usagef("write one: schedscope help gate-rules has an example", "reading the budget %s: %w", path, cause(err))
	}
	b, err := budget.Read(path, data)
	if err != nil {
		return nil, &usageError{err: err, hint: "schedscope help gate-rules has the keys of budgets and the language of rules"}
	}
	b.File = path
	return b, nil
}

// today returns the day on which waivers expire or not: that of --today for tests and
// reproducible reports, else this one.
func today(flag string) (time.Time, error) {
	if flag == "" {
		return time.Now().UTC(), nil
	}
	t, err := time.Parse(time.DateOnly, flag)
	if err != nil {
		return t, usagef("write it so: 2026-11-30", "--today %q is not a day", flag)
	}
	return t, nil
}

// sources says where the code is that reports point into: the module in or above the
// working directory, and the repository that it lies in.
func sources() (o verdict.Options) {
	dir, err := os.Getwd()
	if err != nil {
		return o
	}
	o.Root = dir
	mod := above(dir, "go.mod")
	if mod == "" {
		return o
	}
	o.Root = mod
	if data, err := savedfile.ReadFile(filepath.Join(mod, "go.mod"), budget.MaxSize); err == nil {
		o.Module = modulePath(string(data))
	}
	if repo := above(mod, ".git"); repo != "" {
		if rel, err := filepath.Rel(repo, mod); err == nil {
			o.Root, o.ModuleDir = repo, strings.TrimPrefix(filepath.ToSlash(rel), ".")
		}
	}
	return o
}

// pointTo has reports point to the rules of a budget, whose file may lie in a repository that is
// not that of the working directory.
func pointTo(o *verdict.Options, b *budget.Budget) {
	o.Budget, o.Lines = filepath.Base(b.File), map[string]int{}
	if file, err := filepath.Abs(b.File); err == nil {
		rel, err := filepath.Rel(cmp.Or(above(filepath.Dir(file), ".git"), o.Root), file)
		if err == nil && filepath.IsLocal(rel) {
			o.Budget = filepath.ToSlash(rel)
		}
	}
	for _, r := range b.Rules {
		o.Lines[r.Slug()] = r.Line
	}
}

// above returns the folder that has a file or folder of this name: dir or the next above it;
// "" if none has.
func above(dir, name string) string {
	for !exists(filepath.Join(dir, name)) {
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
	return dir
}

// modulePath returns the path in a go.mod file.
func modulePath(mod string) string {
	for line := range strings.Lines(mod) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "module "); ok {
			return strings.Trim(strings.TrimSpace(rest), `"`)
		}
	}
	return ""
}
