package source

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const hintOperand = "give a trace file, a directory, a quoted pattern such as 'traces/*.out', - for stdin or http://HOST:PORT"

// A Skipped is a file that an operand covers and that is not read.
type Skipped struct {
	Path string
	Why  string // what it seems to be, or what is wrong: "a CPU profile (pprof)"; or NamedTwice
}

// NamedTwice is the reason for skipping a file that was named before.
const NamedTwice = "named twice"

// hostPort is an address without its scheme: localhost:6060, [::1]:6060,
// :6060, each perhaps with a path.
var hostPort = regexp.MustCompile(`^([A-Za-z0-9.-]*|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}(/.*)?$`)

// scheme is the start of an address of any kind.
var scheme = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*)://`)

// Expand finds the traces that operands name, in the order of the operands.
//
// A directory stands for the traces directly in it, sorted by name: files that
// start as a trace does, compressed or not, whatever their names; the others
// come back as skipped. A directory without a trace stands for the saved reports in it. A pattern (path/filepath.Match) stands for what it
// matches, as if the shell had expanded it. A trace that is named twice is
// taken once. Errors are of type *Error.
func Expand(operands []string) (refs []Ref, skipped []Skipped, err error) {
	e := expander{seen: map[string]bool{}}
	for _, op := range operands {
		if err := e.add(op); err != nil {
			return nil, nil, err
		}
	}
	return e.refs, e.skipped, nil
}

type expander struct {
	refs    []Ref
	skipped []Skipped
	stdin   bool
	seen    map[string]bool // clean paths of files
}

// add decides what op is. What exists as a file is one, whatever its name
// looks like.
func (e *expander) add(op string) error {
	if op == "-" {
		if e.stdin {
			return &Error{Doing: "reading stdin", Err: errors.New("named twice"), Hint: "stdin holds one trace; give the others as files"}
		}
		e.stdin = true
		e.refs = append(e.refs, Ref{Kind: Stdin, Name: "stdin", Path: "-"})
		return nil
	}
	if m := scheme.FindStringSubmatch(op); m != nil {
		return e.addURL(op, strings.ToLower(m[1]))
	}
	_, err := os.Stat(op)
	switch {
	case err == nil:
		return e.addPath(op)
	case !errors.Is(err, fs.ErrNotExist):
	case hostPort.MatchString(op):
		if op[0] == ':' {
			op = "localhost" + op
		}
		return e.addURL("http://"+op, "http")
	case strings.ContainsAny(op, "*?["):
		return e.addPattern(op)
	}
	name, dir := Redact(op), filepath.Dir(op)
	if _, no := os.Stat(dir + "/."); no == nil && dir != "." && !strings.HasPrefix(op, "//") { // in a folder that is there
		name = op
	}
	return opening(show(name), err)
}

func (e *expander) addURL(op, scheme string) error {
	u, err := url.Parse(op)
	switch {
	case err != nil:
		return invalidURL(op)
	case scheme != "http" && scheme != "https":
		return &Error{Doing: "reading " + show(Redact(op)), Err: fmt.Errorf("unknown scheme %q (want http or https)", scheme), Hint: hintOperand}
	case u.Host == "" || u.Port() == "" && strings.HasSuffix(u.Host, ":"):
		return &Error{Doing: "reading " + show(Redact(op)), Err: errors.New("address without a host or port"), Hint: "write http://HOST:PORT"}
	}
	e.refs = append(e.refs, Ref{Kind: URL, Name: show(Redact(u.String())), Path: op})
	return nil
}

var (
	addressLike = regexp.MustCompile(`(?s)^//|^[^/]*:|://|:.*@|\?.*=`)
	userInfo    = regexp.MustCompile(`(?s)^([^:/@]*://|//)?.*@`)
	parameter   = regexp.MustCompile(`[?&;#][^&;#]*`)
	recording   = regexp.MustCompile(`^.(seconds|samples)=[0-9.]*$`)
	secretFlag  = regexp.MustCompile(`(?is)^(-[^=]*(token|secret|passw|key|auth|cred)[^=]*=).*`)
)

// Redact returns what may be shown of an argument that may be an address, valid or not, with or
// without a scheme. Passwords are written without escapes, too: all up to the last @ may be one.
// Any parameter may be a token, except those that choose what net/http/pprof records. Of flags, the
// value of one that has the name of a secret is one.
func Redact(arg string) string {
	arg = secretFlag.ReplaceAllString(arg, "${1}xxxxx")
	if !addressLike.MatchString(arg) {
		return arg
	}
	return parameter.ReplaceAllStringFunc(userInfo.ReplaceAllString(arg, "${1}xxxxx@"), func(p string) string {
		if recording.MatchString(p) {
			return p
		}
		return p[:1] + "xxxxx"
	})
}

// invalidURL describes an error of url.Parse, without its text, which repeats parts of the address.
func invalidURL(address string) error {
	return &Error{Doing: "reading " + show(Redact(address)), Err: errors.New("invalid URL"), Hint: "write http://HOST:PORT, and special characters of a password as %XX: / is %2F, @ is %40, # is %23, % is %25"}
}

// addPattern expands op itself: quoted, or from a shell that does not.
func (e *expander) addPattern(op string) error {
	paths, err := filepath.Glob(op) // sorted
	if err != nil {
		return &Error{Doing: "expanding " + show(Redact(op)), Err: errors.New("invalid pattern"), Hint: `* ? and [a-z] are special; write \[ for a bracket`}
	}
	if len(paths) == 0 {
		return &Error{Doing: "expanding " + show(Redact(op)), Err: errors.New("no file matches"), Hint: hintOperand}
	}
	for _, path := range paths {
		if err := e.addPath(path); err != nil {
			return err
		}
	}
	return nil
}

// addPath adds what exists at path.
func (e *expander) addPath(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return opening(show(path), err)
	}
	if info.IsDir() {
		return e.addDir(path)
	}
	e.addFile(path)
	return nil
}

func (e *expander) addFile(path string) {
	clean := filepath.Clean(path)
	if e.seen[clean] {
		e.skipped = append(e.skipped, Skipped{path, NamedTwice})
		return
	}
	e.seen[clean] = true
	e.refs = append(e.refs, Ref{Kind: File, Name: show(path), Path: path})
}

// addDir adds the traces in dir. Subdirectories are not entered: a home or a
// source tree given by mistake would have every file in it opened.
func (e *expander) addDir(dir string) error {
	entries, err := os.ReadDir(dir) // sorted by name
	if err != nil {
		return opening(show(dir), err)
	}
	var traces, reports []string
	var others []Skipped
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		why := probe(path)
		switch {
		case why == "":
			traces = append(traces, path)
			continue
		case strings.HasPrefix(why, seemsReport):
			reports = append(reports, path)
		}
		others = append(others, Skipped{path, why})
	}
	if traces == nil {
		traces = reports
		others = slices.DeleteFunc(others, func(s Skipped) bool { return strings.HasPrefix(s.Why, seemsReport) })
	}
	e.skipped = append(e.skipped, others...)
	if traces == nil {
		hint := hintRecord
		if slices.ContainsFunc(others, func(s Skipped) bool { return s.Why == notSearched }) {
			hint = "quote a pattern for what is in its directories: '" + show(filepath.Join(dir, "*", "*")) + "'"
		}
		return &Error{Doing: "reading directory " + show(dir), Err: e.noTrace(len(others)), Hint: hint}
	}
	for _, path := range traces {
		e.addFile(path)
	}
	return nil
}

// noTrace says what the last n skipped files are, if there are any.
func (e *expander) noTrace(n int) error {
	if n == 0 {
		return errors.New("no file in it")
	}
	last := e.skipped[len(e.skipped)-n]
	if n == 1 {
		return fmt.Errorf("no trace in it, only %s: %s", show(filepath.Base(last.Path)), last.Why)
	}
	return fmt.Errorf("no trace among its %d entries; %s, for one: %s", n, show(filepath.Base(last.Path)), last.Why)
}

const notSearched = "a directory, not searched"

// probe opens the file path as Open does and returns why it is not to be read, or "" if it
// starts as a trace does. Pipes and devices are not opened: that might wait forever.
func probe(path string) (why string) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return cause(err).Error()
	case info.IsDir():
		return notSearched
	case !info.Mode().IsRegular():
		return "not a regular file"
	}
	in, err := openFile(path, show(path), Options{MaxBytes: defaultMaxBytes})
	if err == nil {
		in.Close()
		return ""
	}
	if g := new(Guess); errors.As(err, &g) {
		return g.Seems
	}
	return errors.Unwrap(err).Error()
}

// opening describes an error of opening what name, printable, stands for.
func opening(name string, err error) error {
	hint := ""
	switch {
	case errors.Is(err, fs.ErrNotExist):
		hint = hintOperand
	case errors.Is(err, fs.ErrPermission):
		hint = "you may not read it: run as its owner, or have them make it readable"
	}
	return &Error{Doing: "opening " + name, Err: cause(err), Hint: hint}
}
