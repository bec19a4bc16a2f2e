package savedfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/schedscope/schedscope/internal/savedfile"
)

func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, []byte("abc"), 0o666); err != nil {
		t.Fatal(err)
	}
	if data, err := ReadFile(path, 3); err != nil || string(data) != "abc" {
		t.Errorf("of 3 bytes: %q, %v", data, err)
	}
	for limit, want := range map[int64]string{0: "larger than the limit of 0 bytes", 2: "larger than the limit of 2 bytes"} {
		var named *fs.PathError
		if data, err := ReadFile(path, limit); data != nil || !errors.As(err, &named) || named.Path != path || !strings.Contains(err.Error(), want) {
			t.Errorf("limit %d: %q, %v", limit, data, err)
		}
	}
	if _, err := ReadFile(path+"x", 3); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of no file: %v", err)
	}
}
