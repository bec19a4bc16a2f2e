package source

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// inTempDir makes a directory with files the current one.
func inTempDir(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, data := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func testTree(t *testing.T) map[string]string {
	return map[string]string{
		"a.out":            trace126,
		"b.out":            trace126,
		"[x].out":          trace126,
		"d/2.png":          trace126, // names do not matter
		"d/1":              gzipped(t, trace126),
		"d/3":              zstded(t, trace126),
		"d/old":            header("go 1.7 trace"),
		"d/cpu":            string(cpuProfile(t)),
		"d/notes.trace":    "hello\n",
		"d/page.gz":        gzipped(t, "<html>"),
		"d/broken.gz":      "\x1f\x8b",
		"d/sub/deep":       trace126,
		"none/x.log":       "log\n",
		"none/y.log":       "log\n",
		"one/x":            "",
		"localhost:1":      trace126, // a file before it is an address
		"odd/\x1b[31m.out": trace126,
	}
}

func TestExpand(t *testing.T) {
	inTempDir(t, testTree(t))
	if err := os.Mkdir("empty", 0o777); err != nil {
		t.Fatal(err)
	}
	sep := string(filepath.Separator)
	tests := []struct {
		operands string // separated by |
		want     string // names of refs, separated by |
		err      string
	}{
		{"a.out", "a.out", ""},
		{"b.out|a.out", "b.out|a.out", ""},
		{"a.out|./a.out", "a.out", ""},
		{"*.out", "[x].out|a.out|b.out", ""},
		{"[ab].out", "a.out|b.out", ""},
		{"[x].out", "[x].out", ""},
		{"?.out|a*", "a.out|b.out", ""},
		{"d", "d" + sep + "1|d" + sep + "2.png|d" + sep + "3", ""},
		{"d" + sep, "d" + sep + "1|d" + sep + "2.png|d" + sep + "3", ""},
		{"-|a.out", "stdin|a.out", ""},
		{"http://localhost:6060", "http://localhost:6060", ""},
		{"HTTPS://u:secret@h/x?y=1", "https://xxxxx@h/x?xxxxx", ""},
		{"localhost:6060", "http://localhost:6060", ""},
		{":6060", "http://localhost:6060", ""},
		{"[::1]:6060/debug/pprof/trace", "http://[::1]:6060/debug/pprof/trace", ""},
		{"localhost:1", "localhost:1", ""},
		{"odd", `"odd` + sep + `\x1b[31m.out"`, ""},

		{"nope.out", "", "opening nope.out: no such file or directory"},
		{"a.out|nope/x", "", "opening nope/x: no such file or directory"},
		{"", "", `opening "": no such file or directory`},
		{"*.nope", "", "expanding *.nope: no file matches"},
		{"[a", "", "expanding [a: invalid pattern"},
		{"none", "", "reading directory none: no trace among its 2 entries; x.log, for one: text that starts with \"log\""},
		{"one", "", "reading directory one: no trace in it, only x: empty"},
		{"empty", "", "reading directory empty: no file in it"},
		{"-|-", "", "reading stdin: named twice"},
		{"ftp://h/x", "", `reading ftp://h/x: unknown scheme "ftp" (want http or https)`},
		{"http://", "", "reading http://: address without a host or port"},
		{"http://h:port/", "", `reading http://h:port/: invalid URL`},
		{"http://u:secret@h:port/", "", `reading http://xxxxx@h:port/: invalid URL`},
	}
	for _, tt := range tests {
		t.Run(tt.operands, func(t *testing.T) {
			refs, _, err := Expand(strings.Split(tt.operands, "|"))
			if tt.err != "" {
				checkError(t, err, tt.err)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, ref := range refs {
				names = append(names, ref.Name)
			}
			if got := strings.Join(names, "|"); got != tt.want {
				t.Errorf("Expand(%q) = %q, want %q", tt.operands, got, tt.want)
			}
		})
	}
}

func TestExpandSkips(t *testing.T) {
	inTempDir(t, testTree(t))
	_, skipped, err := Expand([]string{"d", "d/1"})
	if err != nil {
		t.Fatal(err)
	}
	want := []Skipped{
		{"d/broken.gz", "decompressing gzip: unexpected EOF"},
		{"d/cpu", "a pprof profile (gzip-compressed)"},
		{"d/notes.trace", `text that starts with "hello"`},
		{"d/old", "a trace in the format of Go 1.7, older than Go 1.11"},
		{"d/page.gz", "an HTML page (gzip-compressed)"},
		{"d/sub", "a directory, not searched"},
		{"d/1", "named twice"},
	}
	for i := range skipped {
		skipped[i].Path = filepath.ToSlash(skipped[i].Path)
	}
	if !slices.Equal(skipped, want) {
		t.Errorf("skipped\n%q\nwant\n%q", skipped, want)
	}
}

func TestExpandErrorsCanBeTold(t *testing.T) {
	inTempDir(t, nil)
	_, _, err := Expand([]string{"nope"})
	if !errors.Is(err, fs.ErrNotExist) || Hint(err) != hintOperand {
		t.Errorf("Expand = %v, hint %q; want fs.ErrNotExist and hint %q", err, Hint(err), hintOperand)
	}
}

// TestRedact checks that no part of a password or token of an address, valid or not, is shown.
func TestRedact(t *testing.T) {
	inTempDir(t, nil)
	for address, want := range map[string]string{
		"http://bob:s3c/ret@h:1":                           "http://xxxxx@h:1",
		"http://bob:s3c//ret@h:1/x":                        "http://xxxxx@h:1/x",
		"http://bob:s3c#ret@h:1":                           "http://xxxxx@h:1",
		"http://bob:s3c?ret@h:1":                           "http://xxxxx@h:1",
		"http://bob:s3c ret@h:1":                           "http://xxxxx@h:1",
		"http://bob:s3c@ret@h:1":                           "http://xxxxx@h:1",
		"http://bob:s3c\nret@h:1":                          "http://xxxxx@h:1",
		"http://bob:%zzret@h:1":                            "http://xxxxx@h:1",
		"http:/bob:s3c@h:1":                                "xxxxx@h:1",
		"//bob:s3c@h:1":                                    "//xxxxx@h:1",
		" http://bob:s3c@h:1":                              " http://xxxxx@h:1",
		"./x --to http://bob:s3c@h:1":                      "xxxxx@h:1",
		"ftp://bob:s3c@h":                                  "ftp://xxxxx@h",
		"bob:s3c@h:1":                                      "xxxxx@h:1",
		"bob:s3c/ret*@h:1":                                 "xxxxx@h:1",
		"bob:s3c//ret[@h:1":                                "xxxxx@h:1",
		"http://h:1/x?seconds=2&token=s3c;y=ret#z=s3c":     "http://h:1/x?seconds=2&xxxxx;xxxxx#xxxxx",
		"http://h:1?s3c":                                   "http://h:1?xxxxx",
		"localhost:1?token=s3c":                            "localhost:1?xxxxx",
		"http://h:1/debug/pprof/trace?seconds=2&samples=1": "http://h:1/debug/pprof/trace?seconds=2&samples=1",
		"h/debug/pprof/trace?token=s3c":                    "h/debug/pprof/trace?xxxxx",
		"http://h:1/x?seconds=s3c":                         "http://h:1/x?xxxxx",
		"-token=s3c":                                       "-token=xxxxx",
		"--db-password=http://s3c@h":                       "--db-password=xxxxx",
		"-n=5":                                             "-n=5",
		"http//bob:s3cret@h:1":                             "xxxxx@h:1",
		"./bob:s3c ret@h:1":                                "xxxxx@h:1",
		"no/such:@b?c.trace":                               "xxxxx@b?xxxxx",
		"no/such@b:c.trace":                                "no/such@b:c.trace",
		"no@such?.trace":                                   "no@such?.trace",
	} {
		if got := Redact(address); got != want {
			t.Errorf("Redact(%q) = %q, want %q", address, got, want)
		}
		refs, _, err := Expand([]string{address})
		said := ""
		if err != nil {
			said = err.Error() + Hint(err)
		} else {
			said = refs[0].Name
		}
		for _, secret := range []string{"bob", "s3c", "ret", "zz"} {
			if strings.Contains(said, secret) {
				t.Errorf("of %q it says %q", address, said)
			}
		}
	}
}

// TestFileNotThere: of a file in a folder that is there the name is shown, whatever it looks like.
func TestFileNotThere(t *testing.T) {
	inTempDir(t, map[string]string{"a:b/x": ""})
	_, _, err := Expand([]string{"a:b/c@d.trace"})
	if err == nil || !strings.Contains(err.Error(), "a:b/c@d.trace") {
		t.Errorf("error %v", err)
	}
	if refs, _, err := Expand([]string{"a:b/x"}); err != nil || refs[0].Name != "a:b/x" {
		t.Errorf("of one that is there: %v, %v", refs, err)
	}
}

func checkError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("error is  %v\nwant      %s", err, want)
	}
}
