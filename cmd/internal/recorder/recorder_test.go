package recorder

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/internal/interleave"
)

func TestSplitCommand(t *testing.T) {
	dir := t.TempDir()
	odd := filepath.Join(dir, "a program")
	if err := os.WriteFile(odd, nil, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		text string
		want []string
		err  string
	}{
		{text: "./a", want: []string{"./a"}},
		{text: "  ./a  -x\t-y\n", want: []string{"./a", "-x", "-y"}},
		{text: `./a 'b c' "d e" f" "'g'`, want: []string{"./a", "b c", "d e", "f g"}},
		{text: `./a '' ""`, want: []string{"./a", "", ""}},
		{text: `./a b\ c \" \\ '\ '`, want: []string{"./a", "b c", `"`, `\`, `\ `}},
		{text: `"a \" b"`, want: []string{`a " b`}},
		{text: `.\base.exe C:\dir`, want: []string{`.\base.exe`, `C:\dir`}},
		{text: `a $HOME *`, want: []string{"a", "$HOME", "*"}}, // no shell
		{text: odd, want: []string{odd}},
		{text: odd + " -x", want: strings.Fields(odd + " -x")},
		{text: "a 'b", err: "a quote ' is not closed"},
		{text: `a "b'`, err: `a quote " is not closed`},
		{text: "", err: "no program"},
		{text: " \t", err: "no program"},
		{text: "'' a", err: "no program"},
	} {
		got, err := SplitCommand(tt.text)
		if fmt.Sprint(err) != tt.err && (err != nil || tt.err != "") {
			t.Errorf("SplitCommand(%q): error %v, want %q", tt.text, err, tt.err)
		}
		if err == nil && !slices.Equal(got, tt.want) {
			t.Errorf("SplitCommand(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestTraceArgs(t *testing.T) {
	for _, tt := range []struct {
		command    string
		test       int
		args, vars string
	}{
		{"/x/a.test -test.run T", 0, "/x/a.test -test.trace=F -test.run T", ""},
		{"/x/a.test.exe y", 0, "/x/a.test.exe -test.trace=F y", ""},
		{"/x/a -test.run T", -1, "/x/a -test.trace=F -test.run T", ""},
		{"/x/a --trace={trace} {trace}.log", -1, "/x/a --trace=F F.log", ""},
		{"/x/a.test -test.run T -args -o {trace}", 0, "/x/a.test -test.run T -args -o F", ""},
		{"/x/a y", -1, "/x/a y", "SCHEDSCOPE_TRACE=F"},
		{"/x/atest", -1, "/x/atest", "SCHEDSCOPE_TRACE=F"},
		{"/bin/env GOMAXPROCS=1 /x/a.test -test.run T", 2, "/bin/env GOMAXPROCS=1 /x/a.test -test.trace=F -test.run T", ""},
		{"/bin/nice -n 0 /x/a -test.run T y", -1, "/bin/nice -n 0 /x/a -test.trace=F -test.run T y", ""},
	} {
		s := Side{command: strings.Fields(tt.command), test: tt.test}
		args, vars, _ := s.traceArgs("F", false)
		if got := strings.Join(args, " "); got != tt.args {
			t.Errorf("%s: args %q, want %q", tt.command, got, tt.args)
		}
		if got := strings.Join(vars, " "); got != tt.vars {
			t.Errorf("%s: environment %q, want %q", tt.command, got, tt.vars)
		}
		if got := strings.Join(s.command, " "); got != tt.command {
			t.Errorf("%s became %s", tt.command, got)
		}
	}
}

// TestSampleArgs checks how programs are asked for CPU samples, and what is known of them then.
func TestSampleArgs(t *testing.T) {
	null := os.DevNull
	for _, tt := range []struct {
		command    string
		test       int
		args, vars string
		sampled    *bool
	}{
		{"/x/a.test -test.run T", 0, "/x/a.test -test.trace=F -test.cpuprofile=" + null + " -test.run T", "", new(true)},
		{"/x/a.test -test.cpuprofile p", 0, "/x/a.test -test.trace=F -test.cpuprofile p", "", new(true)},
		{"/x/a --test.cpuprofile=p", -1, "/x/a -test.trace=F --test.cpuprofile=p", "", new(true)},
		{"/x/a {trace}", -1, "/x/a F", "", nil},
		{"/x/a y", -1, "/x/a y", "SCHEDSCOPE_TRACE=F SCHEDSCOPE_TRACE_SAMPLES=1", nil},
	} {
		s := Side{command: strings.Fields(tt.command), test: tt.test}
		args, vars, sampled := s.traceArgs("F", true)
		if got := strings.Join(args, " "); got != tt.args || strings.Join(vars, " ") != tt.vars {
			t.Errorf("%s: args %q, environment %q, want %q and %q", tt.command, got, vars, tt.args, tt.vars)
		}
		if (sampled == nil) != (tt.sampled == nil) || sampled != nil && *sampled != *tt.sampled {
			t.Errorf("%s: sampled %v", tt.command, sampled)
		}
	}
	s := Side{command: []string{"/x/a.test"}}
	if _, _, sampled := s.traceArgs("F", false); sampled == nil || *sampled {
		t.Error("a test that is not asked for samples takes some")
	}
}

// A test binary may be run by another program, and what only has its name is none.
func TestFindTest(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("programs are told by their names there")
	}
	dir := t.TempDir()
	for _, name := range []string{"nice", "a.test", "b.test"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "config.test"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, tt := range []struct {
		command string
		want    int
	}{
		{"./a.test -test.run T", 0},
		{"./nice -n 5 ./a.test ./b.test", 3},
		{"./nice config.test X=c.test", -1},
		{"./nice ./config.test ./a.test", 2},
		{"./nice", -1},
	} {
		s, err := NewSide(interleave.Single, strings.Fields(tt.command), "")
		if err != nil {
			t.Errorf("%s: %v", tt.command, err)
			continue
		}
		if s.test != tt.want {
			t.Errorf("%s: the test is at %d, want %d", tt.command, s.test, tt.want)
		}
		if !filepath.IsAbs(s.command[max(s.test, 0)]) {
			t.Errorf("%s: the program is %s", tt.command, s.command[max(s.test, 0)])
		}
	}
	if _, err := NewSide(interleave.Single, []string{"./nice", "./a.test", "-test.trace=x"}, ""); err == nil {
		t.Error("a -test.trace of the command's own is taken")
	}
}

func TestQuoteCommand(t *testing.T) {
	words := []string{"/x/a", "-run", "a b", "", "it's", "$HOME", "X=1", "-u=http://me:pw@h/"}
	text := Quote(words)
	if want := `/x/a -run 'a b' '' 'it'\''s' '$HOME' X=1 -u=http://xxxxx@h/`; text != want {
		t.Errorf("Quote(%q) = %s, want %s", words, text, want)
	}
}

func TestTail(t *testing.T) {
	var out tail
	var want strings.Builder
	for i := range 20000 {
		fmt.Fprintln(&want, "line", i)
	}
	// As os/exec does, from what cannot write itself.
	if _, err := io.Copy(&out, struct{ io.Reader }{iotest.OneByteReader(strings.NewReader(want.String()))}); err != nil {
		t.Fatal(err)
	}
	if n := len(out.String()); n < maxTail || n > 2*maxTail {
		t.Errorf("%d bytes are kept, want %d or up to twice that", n, maxTail)
	}
	if !strings.HasSuffix(want.String(), out.String()) {
		t.Error("what is kept is not the end")
	}
}

// TestNoise checks what counts as disturbed next to the limits of env: much more waiting for
// a CPU than in the best recording of the side, if others used CPUs.
func TestNoise(t *testing.T) {
	s := &session{o: Options{Limits: env.DefaultLimits}, delay: map[interleave.Side]float64{}}
	for i, tt := range []struct {
		side           interleave.Side
		delay, foreign float64
		want           bool
	}{
		{interleave.Base, 0.08, 0.5, false}, // nothing to compare with
		{interleave.Base, 0.2, 0.5, false},  // not 3 times as long
		{interleave.Base, 0.3, 0.5, true},
		{interleave.Base, 0.3, 0.05, false}, // by its own threads
		{interleave.Cand, 0.3, 0.5, false},  // another side
		{interleave.Base, 0.02, 0.5, false}, // better than all before
		{interleave.Base, 0.09, 0.5, false}, // too little to matter
		{interleave.Base, 0.11, 0.5, true},
	} {
		u := env.Noise{RunDelay: &tt.delay, Foreign: &tt.foreign, Nivcsw: new(1.0)}
		if got := s.noise(tt.side, &u); (got != "") != tt.want {
			t.Errorf("%d: %q, want a reason: %v", i, got, tt.want)
		}
	}
	if got := s.noise(interleave.Base, &env.Noise{Steal: new(0.2)}); !strings.Contains(got, "hypervisor") {
		t.Errorf("a machine of which others take a part: %q", got)
	}
}

// TestEnviron checks that a base is not told the candidate's commit.
func TestEnviron(t *testing.T) {
	t.Setenv("GITHUB_SHA", "abc")
	t.Setenv("CI_COMMIT_SHA", "abc")
	for side, want := range map[interleave.Side]int{interleave.Base: 0, interleave.Cand: 2, interleave.Single: 2} {
		told := 0
		for _, v := range environ(side) {
			if strings.HasSuffix(v, "_SHA=abc") {
				told++
			}
		}
		if told != want {
			t.Errorf("side %q is told %d commits, want %d", side, told, want)
		}
	}
}

func TestHasText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	for at, want := range map[int]bool{-1: false, 0: true, 1<<20 - 3: true, 1 << 20: true, 3<<20 - 6: true} {
		data := bytes.Repeat([]byte("n"), 3<<20)
		if at >= 0 {
			copy(data[at:], "needle")
		}
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		if got, err := hasText(path, "needle"); got != want || err != nil {
			t.Errorf("at %d: %v, %v", at, got, err)
		}
	}
}

// TestIndexEmpty: in the header of a trace alone nothing can be read, whatever its version.
func TestIndexEmpty(t *testing.T) {
	for _, header := range []string{"go 1.26 trace\x00\x00\x00", "go 1.21 trace\x00\x00\x00"} {
		if _, err := Index(strings.NewReader(header), int64(len(header))); err == nil || !strings.Contains(err.Error(), "no events") {
			t.Errorf("%q: %v", header, err)
		}
	}
}
