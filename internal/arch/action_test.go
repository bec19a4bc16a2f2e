package arch

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const actionDir = "../../.github/actions/schedscope-gate"

// action is what an action.yml holds, as far as it is looked at.
type action struct {
	Inputs map[string]struct {
		Description string
		Required    bool
		Default     *string
	}
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Using string
		Steps []struct {
			ID, If, Uses, Run, Shell string
			Env, With                map[string]string
		}
	}
}

func readAction(t *testing.T) (*action, string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(actionDir, "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var a action
	if err := yaml.Unmarshal(data, &a); err != nil {
		t.Fatal(err)
	}
	return &a, string(data)
}

var inputName = regexp.MustCompile(`inputs\.([a-z-]+)`)

// TestAction checks that the action is whole: inputs that are used and described, steps
// that say their shell, outputs of steps that are there.
func TestAction(t *testing.T) {
	a, text := readAction(t)
	if a.Runs.Using != "composite" || len(a.Runs.Steps) == 0 {
		t.Fatalf("using %q with %d steps", a.Runs.Using, len(a.Runs.Steps))
	}
	used := map[string]bool{}
	for _, m := range inputName.FindAllStringSubmatch(text, -1) {
		used[m[1]] = true
		if _, ok := a.Inputs[m[1]]; !ok {
			t.Errorf("there is no input %s", m[1])
		}
	}
	for name, in := range a.Inputs {
		if !used[name] || in.Description == "" || in.Required == (in.Default != nil) {
			t.Errorf("input %s: used %v, description %q, required %v, default %v", name, used[name], in.Description, in.Required, in.Default)
		}
	}
	ids := map[string]bool{}
	for i, s := range a.Runs.Steps {
		if ids[s.ID] = true; s.Run != "" && s.Shell != "bash" || s.Run == "" && s.Uses == "" {
			t.Errorf("step %d: run %q with shell %q, uses %q", i+1, s.Run, s.Shell, s.Uses)
		}
	}
	for name, o := range a.Outputs {
		m := regexp.MustCompile(`^\$\{\{ steps\.(\w+)\.outputs\.[a-z-]+ \}\}$`).FindStringSubmatch(o.Value)
		if m == nil || !ids[m[1]] || o.Description == "" {
			t.Errorf("output %s is %q", name, o.Value)
		}
	}
}

// TestActionInjects checks that nothing is put into the text of a shell script: a branch
// may be called $(command).
func TestActionInjects(t *testing.T) {
	a, _ := readAction(t)
	for i, s := range a.Runs.Steps {
		if strings.Contains(s.Run, "${{") {
			t.Errorf("step %d has an expression in its script: %s", i+1, s.Run)
		}
	}
	for _, name := range examples(t) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if m := regexp.MustCompile(`run:.*\$\{\{`).Find(data); m != nil {
			t.Errorf("%s has an expression in a script: %s", name, m)
		}
	}
}

func examples(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("../../.github/examples/*.yml")
	if err != nil || len(names) == 0 {
		t.Fatalf("examples %q, %v", names, err)
	}
	return names
}

// TestExamples checks that the examples are YAML, and that what they give the action are
// its inputs.
func TestExamples(t *testing.T) {
	a, _ := readAction(t)
	uses := 0
	for _, name := range examples(t) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var x struct {
			Jobs map[string]struct {
				Steps []struct {
					Uses string
					With map[string]string
				}
			}
		}
		if err := yaml.Unmarshal(data, &x); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, job := range x.Jobs {
			for _, s := range job.Steps {
				if !strings.Contains(s.Uses, "/schedscope-gate@") {
					continue
				}
				uses++
				for in := range s.With {
					if _, ok := a.Inputs[in]; !ok {
						t.Errorf("%s gives the action %s, which is no input", name, in)
					}
				}
				for in, spec := range a.Inputs {
					if _, ok := s.With[in]; spec.Required && !ok {
						t.Errorf("%s does not give the action %s", name, in)
					}
				}
			}
		}
	}
	if uses == 0 {
		t.Error("no example uses the action")
	}
}

// scene is a repository with two commits, a fake go and a fake schedscope that writes
// down how it is called.
type scene struct {
	dir, bin, out, calls string
}

const fakeGo = `#!/bin/bash
case "$1" in
list)
	[ -e "${*: -1}" ] || exit 1
	pwd ;;
test)
	printf '#!/bin/bash\necho TestServe\n' >"$4"
	chmod +x "$4" ;;
*) exit 9 ;;
esac
`

const fakeTool = `#!/bin/bash
printf '%s\n' "$*" >>"$CALLS"
if [ "$2" = check ]; then
	echo x >"$(dirname "${*: -1}")/gate.sarif"
	exit "$CODE"
fi
`

// newRepository returns a folder with the commits.
func newRepository(t *testing.T) string {
	t.Helper()
	for _, program := range []string{"bash", "git", "grep"} {
		if _, err := exec.LookPath(program); err != nil || runtime.GOOS == "windows" {
			t.Skipf("needs %s", program)
		}
	}
	s := &scene{dir: t.TempDir()}
	s.git(t, "init", "-q")
	for _, name := range []string{"old", "server"} {
		if err := os.WriteFile(filepath.Join(s.dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
		s.git(t, "add", ".")
		s.git(t, "-c", "user.name=x", "-c", "user.email=x", "commit", "-qm", "x")
	}
	return s.dir
}

// newScene returns a scene with a copy of the repository.
func newScene(t *testing.T, repository string) *scene {
	t.Helper()
	s := &scene{dir: t.TempDir(), bin: t.TempDir(), out: filepath.Join(t.TempDir(), "out"), calls: filepath.Join(t.TempDir(), "calls")}
	if err := os.CopyFS(s.dir, os.DirFS(repository)); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"go": fakeGo, "schedscope": fakeTool} {
		if err := os.WriteFile(filepath.Join(s.bin, name), []byte(text), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s *scene) git(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = s.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// run runs the script and returns what it writes for later steps, and all it prints.
func (s *scene) run(t *testing.T, env ...string) (outputs, printed string) {
	t.Helper()
	script, err := filepath.Abs(filepath.Join(actionDir, "gate.sh"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "outputs")
	cmd := exec.Command("bash", script)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "PATH="+s.bin+string(os.PathListSeparator)+os.Getenv("PATH"), "SCHEDSCOPE="+filepath.Join(s.bin, "schedscope"),
		"CALLS="+s.calls, "CODE=0", "GITHUB_OUTPUT="+file, "GITHUB_ACTIONS=true", "GATE_OUT="+s.out, "GATE_RUN=^TestServe$", "GATE_PACKAGE=./old")
	cmd.Env = append(cmd.Env, env...)
	text, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("gate.sh: %v\n%s", err, text)
	}
	data, _ := os.ReadFile(file)
	return string(data), string(text)
}

// TestGateScript runs the action's script with programs that only look like go and
// schedscope.
func TestGateScript(t *testing.T) {
	record := func(base, args string) string {
		return "gate record -n 10 --budget schedscope.yaml " + base + "-cand OUT/cand.test -cand-dir DIR -o OUT/reports/runs -- -test.run ^TestServe$" + args
	}
	repository := newRepository(t)
	const base = "-base OUT/base.test -base-dir OUT/base "
	for _, tt := range []struct {
		name    string
		env     []string
		verdict string
		calls   []string // of schedscope: prefixes
		printed string
	}{
		{"a change", []string{"GATE_BASE=HEAD~1", "CODE=1"}, "fail", []string{record(base, ""), "gate check --budget schedscope.yaml --on-inconclusive warn --report text,json=OUT/reports/gate.json"}, ""},
		{"kept", []string{"GATE_BASE=HEAD~1", "GATE_ARGS=-x *  -y"}, "pass", []string{record(base, " -x * -y"), "gate check"}, ""},
		{"undecided", []string{"GATE_BASE=HEAD~1", "CODE=3"}, "inconclusive", []string{record(base, ""), "gate check"}, ""},
		{"a candidate by name", []string{"GATE_BASE=HEAD~1", "GATE_CANDIDATE=HEAD"}, "pass", []string{strings.Replace(record(base, ""), "DIR", "OUT/candidate", 1), "gate check"}, ""},
		{"no base", nil, "pass", []string{record("", ""), "gate check --budget schedscope.yaml --on-inconclusive warn --absolute --report"}, "no base: only absolute rules"},
		{"a new test", []string{"GATE_BASE=HEAD~1", "GATE_PACKAGE=./server"}, "pass", []string{record("", ""), "gate check --budget schedscope.yaml --on-inconclusive warn --absolute --report"}, "the base has no test ^TestServe$ of ./server"},
		{"no such base", []string{"GATE_BASE=nowhere"}, "unusable", nil, "::error title=schedscope gate::no commit nowhere"},
		{"no such package", []string{"GATE_PACKAGE=./nowhere"}, "unusable", nil, "no package ./nowhere"},
		{"a base that is an option", []string{"GATE_BASE=--output=x"}, "unusable", nil, "no commit --output=x"},
		{"a package that is an option", []string{"GATE_PACKAGE=-toolexec=x"}, "unusable", nil, "is no package"},
		{"code in a base", []string{"GATE_BASE=$(touch pwned)"}, "unusable", nil, "no commit $(touch pwned)"},
		{"code in arguments", []string{"GATE_ARGS=$(touch pwned) `touch pwned`; touch pwned"}, "pass", []string{record("", " $(touch pwned) `touch pwned`; touch pwned"), "gate check"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, repository)
			outputs, printed := s.run(t, tt.env...)
			if !strings.HasPrefix(outputs, "verdict="+tt.verdict+"\n") {
				t.Errorf("outputs %q, want the verdict %s\n%s", outputs, tt.verdict, printed)
			}
			if !strings.Contains(printed, tt.printed) {
				t.Errorf("printed %q, want %q", printed, tt.printed)
			}
			s.checkCalls(t, tt.calls)
			if _, err := os.Stat(filepath.Join(s.dir, "pwned")); err == nil {
				t.Error("an input was run as code")
			}
			if trees, _ := filepath.Glob(filepath.Join(s.dir, ".git", "worktrees", "*")); len(trees) > 0 {
				t.Errorf("worktrees are left: %q", trees)
			}
		})
	}
}

func (s *scene) checkCalls(t *testing.T, want []string) {
	t.Helper()
	data, _ := os.ReadFile(s.calls)
	calls := slices.Collect(strings.Lines(string(data)))
	if len(calls) != len(want) {
		t.Fatalf("schedscope was called so: %q, want %q", calls, want)
	}
	for i, w := range want {
		w = strings.NewReplacer("OUT", s.out, "DIR", s.dir).Replace(w)
		if !strings.HasPrefix(calls[i], w) {
			t.Errorf("call %q, want %q", calls[i], w)
		}
	}
}
