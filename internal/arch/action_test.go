package arch

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
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
			Dir                      string `yaml:"working-directory"`
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
	if _, err := os.ReadFile(filepath.Join(actionDir, "gate.sh")); err != nil { // for the cache of go test
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
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"} { // as in hooks: git would commit elsewhere
		t.Setenv(name, "")
		os.Unsetenv(name)
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
		return "gate record -n 10 --budget schedscope.yaml " + base + "--cand OUT/cand.test --cand-dir DIR -o OUT/reports/runs -- -test.run ^TestServe$" + args
	}
	readAction(t)
	repository := newRepository(t)
	const base = "--base OUT/base.test --base-dir OUT/base "
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

// runner runs the steps of an action as one of GitHub does: in order, each script by bash with the
// options that "shell: bash" stands for, with files for what it hands on. Steps that use other
// actions are not run, but what they would be given is.
type runner struct {
	action  *action
	dir     string            // of the checkout
	env     []string          // of all steps
	context map[string]string // such as inputs.n, steps.gate.outputs.verdict
	summary string            // the file of the job's summary
}

var expression = regexp.MustCompile(`\$\{\{ (.*?) \}\}`)

// expand returns a text with its expressions: names, of which the first that is not empty counts.
func (r *runner) expand(text string) string {
	return expression.ReplaceAllStringFunc(text, func(x string) string {
		for _, name := range strings.Split(expression.FindStringSubmatch(x)[1], " || ") {
			if v := r.context[name]; v != "" {
				return v
			}
		}
		return ""
	})
}

// wanted reports whether a step's condition holds.
func (r *runner) wanted(t *testing.T, condition string, failed bool) bool {
	t.Helper()
	always := false
	for _, term := range strings.Split(condition, " && ") {
		m := regexp.MustCompile(`^([a-z.-]+) (==|!=) '(.*)'$`).FindStringSubmatch(term)
		switch {
		case term == "always()":
			always = true
		case term == "":
		case m == nil:
			t.Fatalf("the condition %q is not known here", term)
		case (r.context[m[1]] == m[3]) != (m[2] == "=="):
			return false
		}
	}
	return always || !failed
}

// run runs all steps. It returns the exit code of the first that fails, and what the scripts printed.
func (r *runner) run(t *testing.T) (code int, printed string) {
	t.Helper()
	temp := t.TempDir()
	r.summary = filepath.Join(temp, "summary")
	for i, s := range r.action.Runs.Steps {
		if !r.wanted(t, s.If, code != 0) {
			continue
		}
		if s.Uses != "" {
			for key, v := range s.With {
				if path := r.expand(v); key == "path" || key == "sarif_file" {
					if _, err := os.Stat(path); err != nil {
						t.Errorf("%s is given %s %s: %v", s.Uses, key, path, err)
					}
				}
			}
			continue
		}
		script, outputs := filepath.Join(temp, "script.sh"), filepath.Join(temp, "output")
		for name, text := range map[string]string{script: s.Run, outputs: "", filepath.Join(temp, "path"): "", filepath.Join(temp, "env"): ""} {
			if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script)
		cmd.Dir = filepath.Join(r.dir, r.expand(s.Dir))
		cmd.Env = append([]string{"CI=true", "GITHUB_ACTIONS=true", "HOME=" + temp, "RUNNER_TEMP=" + temp, "GITHUB_WORKSPACE=" + r.dir, "GITHUB_OUTPUT=" + outputs,
			"GITHUB_STEP_SUMMARY=" + r.summary, "GITHUB_PATH=" + filepath.Join(temp, "path"), "GITHUB_ENV=" + filepath.Join(temp, "env")}, r.env...)
		r.context["runner.temp"], r.context["github.action"] = temp, "gate"
		for key, v := range s.Env {
			cmd.Env = append(cmd.Env, key+"="+r.expand(v))
		}
		out, err := cmd.CombinedOutput()
		printed += string(out)
		if _, exited := err.(*exec.ExitError); err != nil && !exited {
			t.Fatalf("step %d: %v", i+1, err)
		} else if err != nil && code == 0 {
			code = cmd.ProcessState.ExitCode()
		}
		data, err := os.ReadFile(outputs)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			name, v, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
			if !ok {
				t.Errorf("step %d: the output %q", i+1, line)
			}
			r.context["steps."+s.ID+".outputs."+name] = v
		}
	}
	return code, printed
}

// storedGo is a go that builds no test but a program that lists one, and no schedscope but the one
// that is there, which records by copying a trace.
const storedGo = `#!/bin/bash
set -e
case "$1" in
-C) cp "$(dirname "$0")/stored" "$5" ;;
list) pwd ;;
test)
	printf '#!/bin/bash\necho TestServe\n' >"$4"
	chmod +x "$4" ;;
*) exit 9 ;;
esac
`

const storedTool = `#!/bin/bash
set -e
if [ "$1 $2" = 'gate record' ]; then
	while [ "$1" != -o ]; do shift; done
	mkdir -p "$2/cand"
	cp "$TRACE" "$2/cand/01.trace"
	echo '{"schema":"schedscope.order/v1","design":"","sessions":[],"traces":[]}' >"$2/order.json"
else
	exec "$TOOL" "$@"
fi
`

// TestActionSteps runs the action from its first step to its last on a stored trace, with the
// defaults of its inputs and the command itself, as a runner would.
func TestActionSteps(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command")
	}
	if _, err := exec.LookPath("bash"); err != nil || runtime.GOOS == "windows" {
		t.Skip("needs bash")
	}
	bin := t.TempDir()
	tool := filepath.Join(bin, "command")
	if out, err := exec.Command("go", "build", "-pgo=off", "-o", tool, "../../cmd/schedscope").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, text := range map[string]string{"go": storedGo, "stored": storedTool} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	abs := func(path string) string {
		t.Helper()
		p, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, tt := range []struct {
		rule, verdict string
		code          int
		inputs        map[string]string
	}{
		{"p99(runnable) < 1s @ point", "pass", 0, nil},
		{"p99(runnable) < 1ns @ point", "fail", 1, nil},
		{"p99(runnable) < 1ns @ point", "fail", 1, map[string]string{"sarif": "true", "artifact": ""}},
		{"p99(runable) < 1ns @ point", "unusable", 2, nil},
		{"p99(runnable) < 1s @ point", "unusable", 2, map[string]string{"run": "TestNowhere", "package": "-x"}},
	} {
		a, _ := readAction(t)
		r := &runner{action: a, dir: t.TempDir(), context: map[string]string{"inputs.package": "./server", "inputs.run": "TestServe"}}
		for name, in := range a.Inputs {
			if in.Default != nil {
				r.context["inputs."+name] = *in.Default
			}
		}
		for name, v := range tt.inputs {
			r.context["inputs."+name] = v
		}
		r.env = []string{"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "GITHUB_ACTION_PATH=" + abs(actionDir), "TOOL=" + tool, "TRACE=" + abs("../../fixtures/tasks.go1.26.p4.trace")}
		if err := os.WriteFile(filepath.Join(r.dir, "schedscope.yaml"), []byte("schema: schedscope.budget/v1\nrules: ["+tt.rule+"]\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		code, printed := r.run(t)
		outputs := map[string]string{}
		for name, o := range a.Outputs {
			outputs[name] = r.expand(o.Value)
		}
		if code != tt.code || outputs["verdict"] != tt.verdict || outputs["exit-code"] != strconv.Itoa(tt.code) {
			t.Errorf("%s, %v: exit code %d, outputs %q, want %s\n%s", tt.rule, tt.inputs, code, outputs, tt.verdict, printed)
		}
		if tt.verdict == "unusable" {
			continue
		}
		for _, name := range []string{"gate.json", "gate.md", "gate.xml", "gate.sarif", "runs/cand/01.trace"} {
			if info, err := os.Stat(filepath.Join(outputs["report-path"], name)); err != nil || info.Size() == 0 {
				t.Errorf("%s: the report %s: %v", tt.rule, name, err)
			}
		}
		if summary, err := os.ReadFile(r.summary); err != nil || !strings.Contains(string(summary), "p99(runnable)") {
			t.Errorf("%s: the job's summary is %q, %v", tt.rule, summary, err)
		}
		if tt.verdict == "fail" && !strings.Contains(printed, "::error") {
			t.Errorf("%s: no annotation in %s", tt.rule, printed)
		}
	}
}
