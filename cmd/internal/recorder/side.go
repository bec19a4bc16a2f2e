package recorder

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/capture"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/interleave"
	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/internal/textui"
)

// Side is a program to record.
type Side struct {
	side    interleave.Side
	command []string
	dir     string // to run it in; "": here
	test    int    // place of the Go test binary in the command, -1 if there is none
}

// NewSide finds the program, and the test binary that it runs if it is one such as
// nice, seen from here and not from dir.
func NewSide(side interleave.Side, command []string, dir string) (Side, error) {
	s := Side{side: side, command: slices.Clone(command), dir: dir}
	program, err := lookProgram(command[0])
	if err != nil {
		hint := ""
		if _, e := os.Stat(command[0]); e == nil && !strings.ContainsRune(command[0], filepath.Separator) {
			hint = "write ." + string(filepath.Separator) + command[0]
		}
		return s, failed(hint, "running %s: %v", source.Redact(command[0]), lookupCause(err))
	}
	s.command[0] = program
	s.findTest()
	if dir != "" && !isDir(dir) {
		return s, failed("", "running %s: no directory %s", command[0], dir)
	}
	for _, arg := range command[s.test+1:] {
		if s.test >= 0 && flagName(arg) == "test.trace" {
			return s, failed("leave it out: it is added", "-test.trace is among the arguments")
		}
	}
	return s, nil
}

// lookProgram returns where a program is.
func lookProgram(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// findTest looks for the test binary: the program itself, or else the first argument that is
// a program and has the name of one, as in nice -n 5 ./a.test.
func (s *Side) findTest() {
	s.test = -1
	for i, arg := range s.command {
		if !strings.HasSuffix(strings.TrimSuffix(filepath.Base(arg), ".exe"), ".test") {
			continue // go test -c would not call it so
		}
		if program, err := lookProgram(arg); err == nil {
			s.command[i], s.test = program, i
			return
		}
	}
}

// lookupCause strips what exec puts before an error and the message says already.
func lookupCause(err error) error {
	if e, ok := errors.AsType[*exec.Error](err); ok {
		err = e.Err
	}
	return cause(err)
}

// SplitCommand splits a command line at blanks. Quotes of both kinds hold blanks, and a
// backslash takes the meaning from a blank, a quote or another one; elsewhere it is one of
// a path. What is the name of a file is not split.
func SplitCommand(text string) ([]string, error) {
	if info, err := os.Stat(text); err == nil && !info.IsDir() {
		return []string{text}, nil
	}
	var words []string
	var word strings.Builder
	inWord := false
	quote := rune(0)
	runes := []rune(text)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case r == '\\' && quote != '\'' && i+1 < len(runes) && strings.ContainsRune(" \t'\"\\", runes[i+1]):
			i++
			word.WriteRune(runes[i])
			inWord = true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, inWord = r, true
		case quote == 0 && (r == ' ' || r == '\t' || r == '\n'):
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if inWord {
		words = append(words, word.String())
	}
	switch {
	case quote != 0:
		return nil, fmt.Errorf("a quote %c is not closed", quote)
	case len(words) == 0 || words[0] == "":
		return nil, errors.New("no program")
	}
	return words, nil
}

// binary returns the program that is measured, as far as it is known.
func (s *Side) binary() string { return s.command[max(s.test, 0)] }

// traceArgs returns the command line and environment by which a program writes its
// trace to file, perhaps with CPU samples. Sampled says whether it then has them; nil if only
// the program knows.
func (s *Side) traceArgs(file string, samples bool) (args, vars []string, sampled *bool) {
	found := false
	for _, arg := range s.command {
		found = found || strings.Contains(arg, "{trace}")
		args = append(args, strings.ReplaceAll(arg, "{trace}", file))
	}
	if found {
		return args, nil, nil
	}
	// Before operands, which would end the flags, and not among those of another program.
	at := textui.Either(s.test < 0, slices.IndexFunc(args, isTestFlag), s.test+1)
	if at < 0 {
		vars = append(vars, capture.TraceVariable+"="+file)
		if samples {
			vars = append(vars, capture.SamplesVariable+"=1")
		}
		return args, vars, nil
	}
	profiled := slices.ContainsFunc(args[at:], func(arg string) bool { return flagName(arg) == "test.cpuprofile" })
	flags := []string{"-test.trace=" + file}
	if samples && !profiled {
		flags = append(flags, "-test.cpuprofile="+os.DevNull)
	}
	return slices.Insert(args, at, flags...), nil, new(samples || profiled)
}

// flagName returns the name of the flag that an argument is, "" if it is none.
func flagName(arg string) string {
	name, _, _ := strings.Cut(arg, "=")
	return textui.If(strings.HasPrefix(name, "-"), strings.TrimLeft(name, "-"))
}

// Quote returns a command line as a shell would take it, without the secrets of addresses.
func Quote(words []string) string {
	return strings.Join(result.Each(words, func(w *string) string { return textui.ShellWord(source.Redact(*w)) }), " ")
}

func isTestFlag(arg string) bool { return strings.HasPrefix(flagName(arg), "test.") }
