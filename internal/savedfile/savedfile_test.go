package savedfile

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
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

type Head struct {
	Part float64 `json:"part"`
}

type tree struct {
	*Head
	Count   int      `json:"count"`
	Maybe   int      `json:"maybe,omitempty"`
	Pointer *float64 `json:"pointer"`
	Inner   struct {
		N uint `json:"n"`
	} `json:"inner"`
	By       map[string]Head `json:"by"`
	Name     string          `json:"name"`
	Children []tree          `json:"children"`
}

func TestCheckNumbers(t *testing.T) {
	const good = `{"part":0.5,"count":0,"inner":{"n":1},"name":"x"`
	for text, want := range map[string]string{
		good + `}`: "",
		good + `,"pointer":null,"by":null,"children":null}`:                                                "",
		good + `,"maybe":0,"pointer":2,"by":{"a":{"part":1}}, "children": [` + good + `}, ` + good + `}]}`: "",
		`{"part":1,"inner":{"n":1}}`:                     "count is missing",
		`{"part":1,"count":null,"inner":{"n":1}}`:        "count is missing",
		`{"part":1,"Count":1,"inner":{"n":1}}`:           "count is missing",
		`{"part":1,"count":-1,"inner":{"n":1}}`:          "count is negative",
		`{"count":1,"inner":{"n":1}}`:                    "part is missing",
		`{"part":1,"count":1}`:                           "inner: n is missing",
		`{"part":1,"count":1,"inner":null}`:              "inner: n is missing",
		good + `,"maybe":-1}`:                            "maybe is negative",
		good + `,"maybe":null}`:                          "maybe is missing",
		good + `,"pointer":-0.5}`:                        "pointer is negative",
		good + `,"by":{"b":{},"a\n":null}}`:              `by: "a\n": part is missing`,
		good + `,"children":[` + good + `},null]}`:       "children: 2: part is missing",
		good + `,"children":[{"name":"a b","part":-1}]}`: `children: "a b": part is negative`,
		`null`: "",
	} {
		v := new(tree)
		if err := json.Unmarshal([]byte(text), v); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		got := ""
		if err := CheckNumbers([]byte(text), v); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
