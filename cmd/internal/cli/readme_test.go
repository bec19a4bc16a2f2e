package cli

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/schedscope/schedscope/fixtures"
)

// TestReadmeScreen compares the screen in report/README.md with what the tool prints.
func TestReadmeScreen(t *testing.T) {
	dir := filepath.Dir(fixtures.Path("README.md"))
	readme, err := os.ReadFile(filepath.Join(dir, "..", "report", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Dir(dir))
	code, screen, stderr := execute(t, t.Context(), nil, "analyze", "fixtures/http.trace")
	var indented strings.Builder
	for line := range strings.Lines(screen) {
		if line != "\n" {
			line = "    " + line
		}
		indented.WriteString(line)
	}
	if code != exitOK || !strings.Contains(string(readme), "\n\n"+indented.String()+"\n") {
		t.Errorf("exit code %d, %s; report/README.md does not have\n%s", code, stderr, &indented)
	}
}

// TestReadme runs the commands that the README files show: each must succeed as it
// stands there, with a real trace for trace.out.
func TestReadme(t *testing.T) {
	dir := filepath.Dir(fixtures.Path("README.md"))
	var commands []command
	for _, name := range []string{".", "report", "analyze/replay", "analyze/gate", "analyze/capture"} {
		readme, err := os.ReadFile(filepath.Join(dir, "..", name, "README.md"))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range readmeCommands(string(readme)) {
			if !slices.ContainsFunc(commands, func(x command) bool { return slices.Equal(x.args, c.args) }) {
				commands = append(commands, c)
			}
		}
	}
	trace, err := os.ReadFile(fixtures.Path("hogs.go1.26.p2.trace"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.Symlink(dir, "fixtures"); err != nil {
		t.Skip(err)
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write(trace)
	z.Close()
	other, err := os.ReadFile(fixtures.Path("syscalls.go1.26.p4.trace"))
	if err != nil {
		t.Fatal(err)
	}
	annotated, err := os.ReadFile(fixtures.Path("mixed.go1.26.p2.trace"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"old", "new"} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for name, data := range map[string][]byte{"trace.out": trace, "trace.out.gz": zipped.Bytes(), "old.trace": other, "new.trace": trace,
		"old/1.trace": other, "old/2.trace": trace, "new/1.trace": annotated} {
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}

	if len(commands) == 0 {
		t.Error("no command is shown")
	}
	for _, c := range commands {
		var stdin []byte
		if c.stdin != "" {
			if stdin, err = os.ReadFile(c.stdin); err != nil {
				t.Errorf("%s: %v", c.line, err)
				continue
			}
		}
		if c.args, err = globbed(c.args); err != nil {
			t.Fatal(err)
		}
		if i := slices.Index(c.args, "region:request"); i >= 0 {
			c.args[i] = "region:nap" // what the fixture has
		}
		for i, arg := range c.args {
			if name, by, ok := strings.Cut(arg, "="); ok && (name == "main.parse" || name == "main.render") {
				c.args[i] = "main.hog=" + by // likewise
			}
		}
		if code, _, stderr := execute(t, t.Context(), stdin, c.args...); code != exitOK {
			t.Errorf("%s: exit code %d\n%s", c.line, code, stderr)
		}
	}
}

// globbed expands patterns as a shell does.
func globbed(args []string) (out []string, err error) {
	for _, arg := range args {
		names, err := filepath.Glob(arg)
		if err != nil {
			return nil, err
		}
		if len(names) == 0 {
			names = []string{arg}
		}
		out = append(out, names...)
	}
	return out, nil
}

// command is a command line of schedscope.
type command struct {
	line  string
	stdin string // file that is piped in
	args  []string
}

// readmeCommands returns the lines of code blocks that run schedscope, but not
// those that need a server, a shell, an installed command or programs to record, and view,
// which does not end: of gate, record and view testdata/*.txtar and view_test.go have examples.
func readmeCommands(readme string) []command {
	var out []command
	fenced := false
	for line := range strings.Lines(readme) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if !fenced && !strings.HasPrefix(line, "    ") {
			continue
		}
		text, _, _ := strings.Cut(line, "  #")
		text = strings.TrimPrefix(strings.TrimSpace(text), "$ ")
		c := command{line: text}
		if before, after, ok := strings.Cut(text, " | "); ok && strings.HasPrefix(before, "cat ") {
			c.stdin, text = strings.TrimPrefix(before, "cat "), after
		}
		args, ok := strings.CutPrefix(text, "schedscope ")
		if !ok {
			args, ok = strings.CutPrefix(text, "go run ./cmd/schedscope ")
		}
		if !ok || strings.HasPrefix(args, "gate ") || strings.HasPrefix(args, "record ") || strings.HasPrefix(args, "view ") || strings.ContainsAny(args, "|<>$`") || strings.Contains(args, "http") && strings.Contains(args, "//") {
			continue
		}
		c.args = strings.Fields(args)
		out = append(out, c)
	}
	return out
}

func TestReadmeCommands(t *testing.T) {
	got := readmeCommands("schedscope is prose\n    $ schedscope a b  # comment\n    cat t.gz | schedscope -\n" +
		"    go run ./cmd/schedscope analyze f\n    schedscope http://h:1\n    schedscope x | jq .\n")
	want := []string{"a b", "-", "analyze f"}
	if len(got) != len(want) || got[1].stdin != "t.gz" {
		t.Fatalf("found %+v", got)
	}
	for i, c := range got {
		if strings.Join(c.args, " ") != want[i] {
			t.Errorf("args %q, want %q", c.args, want[i])
		}
	}
}

// TestExamplesOfHelp checks that the examples of all commands have flags and formats that there
// are: what is wrong with them here is only that their files are missing.
func TestExamplesOfHelp(t *testing.T) {
	t.Chdir(t.TempDir())
	mistake := regexp.MustCompile(`unknown|invalid|is not (a format|for)|cannot infer`)
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		for line := range strings.Lines(c.Example) {
			_, text, ok := strings.Cut(line, "schedscope ")
			if !ok || strings.Contains(line, "http") || strings.Contains(text, "record ") {
				continue
			}
			text = regexp.MustCompile(` (#|\||&&) .*`).ReplaceAllString(text, "")
			args := strings.Fields(strings.ReplaceAll(text, "'", ""))
			if _, _, stderr := execute(t, t.Context(), nil, args...); mistake.MatchString(stderr) {
				t.Errorf("%s: %s%s", c.CommandPath(), line, stderr)
			}
		}
		for _, sub := range c.Commands() {
			check(sub)
		}
	}
	check(newRoot(newApp(nil, io.Discard, io.Discard)))
}
