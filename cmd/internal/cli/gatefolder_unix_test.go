//go:build unix

package cli

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/internal/interleave"
	"github.com/schedscope/schedscope/internal/savedfile"
	"github.com/schedscope/schedscope/internal/savedfiletest"
)

// A tampering is one thing done to the file or folder at a path.
type tampering struct {
	what string
	do   func(path string) error
}

// TestTamperedFolders does things to the files and folders of a recording of which one trace
// fails: alone, and each to that trace with one to another file. However the folder is named, no
// change gives exit code 0: what is counted are changes, each with a way to name it. That an order is gone with what it lists shows nowhere, nor that a
// trace was replaced by another recording that can be read: such changes are left out.
//
// The command runs where expandWhole, the first to look, refuses nothing, and for some of the
// others. SCHEDSCOPE_SWEEP=1 tries all pairs.
func TestTamperedFolders(t *testing.T) {
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	top := t.TempDir()
	good, runs, budget := filepath.Join(top, "good"), filepath.Join(top, "in", "which", "runs"), filepath.Join(top, "b.yaml")
	check(os.WriteFile(budget, []byte("schema: schedscope.budget/v1\nrules: [p99(runnable) < 100us @ point]\n"), 0o666))
	outside := filepath.Join(top, "outside.trace")
	copyOf := func(fixture, to string) {
		data, err := os.ReadFile(fixtures.Path(fixture))
		check(err)
		check(os.WriteFile(to, data, 0o666))
	}
	copyOf("quiet.go1.26.p4.trace", outside)
	// The files, of which the second of the candidate fails.
	const failing = "cand/02.trace"
	files := []string{"order.json"}
	var o interleave.Order
	o.Begin(interleave.Session{Policy: interleave.ABBA, Base: []string{"a"}, Cand: []string{"b"}})
	for i, names := range [][2]string{{"syscalls.go1.26.p4.trace", "syscalls.go1.24.p4.trace"}, {"syscalls.go1.25.p4.trace", "fanout.go1.26.p4.trace"}} {
		for k, side := range []interleave.Side{interleave.Base, interleave.Cand} {
			tr := interleave.Trace{File: interleave.File(side, i+1), Side: side, Round: i + 1, Session: 1, Attempts: 1}
			path := filepath.Join(good, tr.File)
			check(os.MkdirAll(filepath.Dir(path), 0o777))
			copyOf(names[k], path)
			run := env.Run{Begin: env.Take(env.Begin), End: env.Take(env.End)}
			run.End.MonoNS, run.End.Process, run.End.Host = run.Begin.MonoNS+1e9+int64(i), run.Begin.Process, run.Begin.Host
			check(env.WriteRun(path, &run))
			o.Add(tr)
			files = append(files, tr.File, env.NextTo(tr.File))
		}
	}
	var order bytes.Buffer
	check(o.Write(&order))
	check(os.WriteFile(filepath.Join(good, "order.json"), order.Bytes(), 0o666))
	// reset makes the tree, of names of the good files, which no tampering writes into.
	reset := func() {
		check(os.RemoveAll(filepath.Join(top, "in")))
		check(os.MkdirAll(filepath.Join(runs, "base"), 0o777))
		check(os.Mkdir(filepath.Join(runs, "cand"), 0o777))
		for _, f := range files {
			check(os.Link(filepath.Join(good, f), filepath.Join(runs, f)))
		}
	}

	replace := func(what string, by func(path string) error) tampering {
		return tampering{what, func(path string) error {
			if err := os.RemoveAll(path); err != nil {
				return err
			}
			return by(path)
		}}
	}
	link := func(to string) tampering {
		return replace("is a link to "+to, func(path string) error { return os.Symlink(to, path) })
	}
	holds := func(what string, data func(old []byte) []byte) tampering {
		return tampering{what, func(path string) error {
			if err := savedfile.Regular(path); err != nil {
				return err
			}
			old, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if err := os.Remove(path); err != nil {
				return err
			}
			return os.WriteFile(path, data(old), 0o666)
		}}
	}
	move := func(to string) tampering { // NAME stands for its name
		return tampering{"is moved to " + to, func(path string) error {
			to := filepath.Join(filepath.Dir(path), strings.ReplaceAll(to, "NAME", filepath.Base(path)))
			if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
				return err
			}
			return os.Rename(path, to)
		}}
	}
	kinds := []tampering{
		replace("is an empty folder", func(path string) error { return os.Mkdir(path, 0o777) }),
		replace("is a folder with a good trace", func(path string) error {
			if err := os.Mkdir(path, 0o777); err != nil {
				return err
			}
			return os.Link(outside, filepath.Join(path, "01.trace"))
		}),
		replace("is a named pipe", func(path string) error { return syscall.Mkfifo(path, 0o666) }),
		replace("is a socket", func(path string) error {
			fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
			if err != nil {
				return err
			}
			defer syscall.Close(fd)
			return syscall.Bind(fd, &syscall.SockaddrUnix{Name: path})
		}),
		replace("is empty", func(path string) error { return os.WriteFile(path, nil, 0o666) }),
		replace("is a report", func(path string) error {
			return os.WriteFile(path, []byte(`{"schema":"schedscope.report/v2"}`), 0o666)
		}),
		replace("is text", func(path string) error { return os.WriteFile(path, []byte("hello\n"), 0o666) }),
		replace("is a loop", func(path string) error { return os.Symlink(filepath.Base(path), path) }),
		link("nothing"), link("/dev/null"), link("/dev/zero"), link("."), link(".."), link("../.."), link(top), link("order.json"), link("../order.json"),
	}
	gone := []tampering{
		replace("is gone", func(string) error { return nil }),
		move("NAME.bak"), move(".NAME"), move("../NAME"), move("../../../NAME"), move("sub/NAME"), move("../base/NAME-2"), move("x.env.json"), move("old.json"), move("NAME.env.json"), move("NAME.gz"),
		{"has a name in capitals", func(path string) error {
			return os.Rename(path, filepath.Join(filepath.Dir(path), strings.ToUpper(filepath.Base(path))))
		}},
	}
	var contents []tampering // of files, not of folders
	for part := range 6 {
		contents = append(contents, holds(fmt.Sprintf("has %d/6", part), func(old []byte) []byte { return old[:len(old)*part/6] }))
	}
	contents = append(contents, holds("begins with a byte more", func(old []byte) []byte { return append([]byte{0}, old...) }),
		holds("is without its first byte", func(old []byte) []byte { return old[1:] }),
		holds("is without its last byte", func(old []byte) []byte { return old[:len(old)-1] }),
		holds("is there twice", func(old []byte) []byte { return slices.Concat(old, old) }),
		holds("is compressed", func(old []byte) []byte {
			var b bytes.Buffer
			w := gzip.NewWriter(&b)
			w.Write(old)
			w.Close()
			return b.Bytes()
		}),
		holds("is compressed and cut off", func(old []byte) []byte {
			var b bytes.Buffer
			w := gzip.NewWriter(&b)
			w.Write(old)
			w.Close()
			return b.Bytes()[:b.Len()-9]
		}))
	for _, other := range []string{"01.trace", "01.trace.env.json", "02.trace", "02.trace.env.json"} {
		contents = append(contents, link(other), tampering{"is a copy of " + other, func(path string) error {
			from := filepath.Join(filepath.Dir(path), other)
			if err := savedfile.Regular(from); err != nil {
				return err
			}
			data, err := os.ReadFile(from)
			if err != nil || filepath.Base(path) == other {
				return err
			}
			return cmp.Or(os.Remove(path), os.WriteFile(path, data, 0o666))
		}})
	}
	var added []tampering // next to a file
	for _, name := range []string{"03.trace", ".x", "x.env.json"} {
		for _, k := range kinds {
			added = append(added, tampering{"has " + name + " next to it, which " + k.what, func(path string) error {
				return k.do(filepath.Join(filepath.Dir(path), name))
			}})
		}
	}
	// of returns what is done to a path. The order is not taken away from a folder of which more is.
	of := func(path string, alone bool) []tampering {
		switch {
		case path == "order.json" && !alone:
			return slices.Concat(kinds, contents[:8])
		case path == "order.json":
			return slices.Concat(kinds, contents, gone)
		case filepath.Ext(path) == "":
			return slices.Concat(kinds, gone)
		case path == "cand/01.trace" && !alone: // what fails may come in its place
			return slices.Concat(kinds, contents[:12], gone)
		}
		return slices.Concat(kinds, contents, gone, added)
	}

	ways := [][]string{{runs}, {"--absolute", runs}, {filepath.Join(runs, "cand")}, {filepath.Join(runs, "cand", "*.trace")},
		{"--base", filepath.Join(runs, "base"), filepath.Join(runs, "cand")}, {"."}}
	done, pairs, refused, ran := 0, 0, 0, 0 // tamperings, and each with a way
	codes, seen := map[int]int{}, map[string]bool{}
	file := func(name string) uint64 {
		var s syscall.Stat_t
		if syscall.Stat(filepath.Join(runs, name), &s) != nil {
			return 0
		}
		return s.Ino
	}
	try := func(what string) {
		done++
		for i, way := range ways {
			operands := way[len(way)-1:]
			if way[0] == "." { // in the folder, if there still is one
				if err := os.Chdir(filepath.Join(runs, "cand")); err != nil {
					continue
				}
			}
			pairs++
			base, cand := sidesOf(nil, operands)
			refs, _, err := expandWhole(cand)
			if err == nil && i == 0 {
				_, _, err = expandWhole(base)
			}
			// What is read is told apart by its files, which those that were not touched share.
			read := fmt.Sprint(i, file("order.json"), file("cand/order.json"))
			for _, side := range []string{"cand", "base"}[:1+(4-i%4)/4] { // the base counts for two ways
				for _, x := range []string{"01.trace", "02.trace"} {
					read += fmt.Sprint(file(side+"/"+x), file(side+"/"+env.NextTo(x)))
				}
			}
			for _, ref := range refs {
				read += " " + ref.Path
			}
			if err != nil {
				refused++
			}
			if err == nil && !seen[read] || err != nil && refused%200 == 1 {
				seen[read] = true
				ran++
				code, stdout, stderr := execute(t, t.Context(), nil, append([]string{"gate", "check", "--budget", budget}, way...)...)
				codes[code]++
				if code == exitOK || err != nil && code != exitUnusable || what == "" && code != exitViolated {
					t.Errorf("%s: gate check %q: exit code %d\n%s%s", what, way, code, stdout, stderr)
				}
			}
			check(os.Chdir(top))
		}
	}
	t.Chdir(top)
	reset()
	try("")
	paths := append([]string{"base", "cand"}, files...)
	for _, path := range paths {
		for _, x := range of(path, true) {
			reset()
			if x.do(filepath.Join(runs, path)) == nil {
				try(path + " " + x.what)
			}
		}
	}
	singles, k := done, 0
	for _, x := range slices.Concat(kinds, contents, gone) {
		for _, path := range paths {
			if path == failing {
				continue
			}
			for _, y := range of(path, false) {
				if k++; k%509 != 0 && !fixtures.Sweep() {
					continue
				}
				reset()
				if y.do(filepath.Join(runs, path)) == nil && x.do(filepath.Join(runs, failing)) == nil {
					try(failing + " " + x.what + ", " + path + " " + y.what)
				}
			}
		}
	}
	// An order of which the sum is right, with places outside of the folder, or one of them twice.
	for _, to := range []string{"../cand/02.trace", "/cand/02.trace", "cand/../02.trace", "./cand/02.trace", "cand//02.trace", `cand\\02.trace`, "cand/02.TRACE",
		"CAND/02.trace", "cand/2.trace", "cand/01.trace", "base/02.trace", "02.trace", "", "cand", "cand/02.trace/", "cand/02.trace\\u0000"} {
		reset()
		check(os.Remove(filepath.Join(runs, "order.json")))
		check(os.Remove(filepath.Join(runs, failing)))
		data := savedfiletest.Sealed(bytes.Replace(order.Bytes(), []byte(`"cand/02.trace"`), []byte(`"`+to+`"`), 1))
		check(os.WriteFile(filepath.Join(runs, "order.json"), data, 0o666))
		try("the order lists " + to)
	}
	t.Logf("%d tamperings, %d of which of one file; with each way to name the folder %d; %d of these refused before anything is read; %d runs, exit codes %v", done, singles, pairs, refused, ran, codes)
	if pairs < 2000 {
		t.Errorf("only %d tamperings with a way to name the folder", pairs)
	}
}
