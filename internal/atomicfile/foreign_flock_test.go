//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package atomicfile

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestForeign has the rule of Linux: proc(5), protected_symlinks.
func TestForeign(t *testing.T) {
	const tmp = fs.ModeDir | fs.ModeSticky | 0o777
	for _, tt := range []struct {
		dir                   fs.FileMode
		link, dirOwner, owner int
		want                  bool
	}{
		{tmp, 1000, 0, 1001, true},
		{tmp, 1000, 0, 0, true}, // also for root
		{tmp, 1000, 0, 1000, false},
		{tmp, 0, 0, 1001, false}, // of the folder's owner
		{tmp &^ fs.ModeSticky, 1000, 0, 1001, false},
		{tmp &^ 0o002, 1000, 0, 1001, false},
	} {
		if got := foreign(tt.dir, tt.link, tt.dirOwner, tt.owner); got != tt.want {
			t.Errorf("%+v: %t", tt, got)
		}
	}
}

// TestForeignLink: neither a link nor a folder that is one leads out of a sticky folder, if
// somebody else made it.
func TestForeignLink(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root gives files away; TestForeign has the rule")
	}
	dir, out := t.TempDir(), t.TempDir()
	if err := os.Chmod(dir, fs.ModeSticky|0o777); err != nil {
		t.Fatal(err)
	}
	link, folder := filepath.Join(dir, "report.json"), filepath.Join(dir, "reports")
	for name, to := range map[string]string{link: filepath.Join(out, "target"), folder: out} {
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	for _, owner := range []int{0, 1234} {
		for name, to := range map[string]string{link: "target", filepath.Join(folder, "x"): "x"} {
			if err := os.Lchown(link, owner, -1); err != nil {
				t.Fatal(err)
			}
			if err := os.Lchown(folder, owner, -1); err != nil {
				t.Fatal(err)
			}
			err := WriteFile(name, func(w io.Writer) error { _, err := io.WriteString(w, "data"); return err })
			_, missing := os.Stat(filepath.Join(out, to))
			if (err == nil) != (owner == 0) || (missing == nil) != (owner == 0) || err != nil && !strings.Contains(err.Error(), "another user") {
				t.Errorf("%s of user %d: %v, its target: %v", name, owner, err, missing)
			}
			os.Remove(filepath.Join(out, to))
		}
	}
}
