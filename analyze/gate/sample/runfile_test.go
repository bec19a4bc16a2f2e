package sample

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/gate/env"
)

func TestRunFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.trace")
	if run, err := ReadRun(name); run != nil || err != nil {
		t.Errorf("no file: %v, %v", run, err)
	}
	want := env.Run{Begin: env.Take(env.Begin), End: env.Take(env.End)}
	if err := env.WriteRun(name, &want); err != nil {
		t.Fatal(err)
	}
	got, err := ReadRun(name)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(want)
	b, _ := json.Marshal(got)
	if string(b) != string(a) {
		t.Errorf("read back: %s, want %s", b, a)
	}

	bad := want
	bad.Begin, bad.End = want.End, want.Begin
	if err := env.WriteRun(name, &bad); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadRun(name); err == nil || !strings.Contains(err.Error(), "x.trace.env.json") {
		t.Errorf("begin and end exchanged: %v", err)
	}
	if err := os.WriteFile(env.NextTo(name), bytes.Repeat([]byte(" "), maxRun+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadRun(name); err == nil {
		t.Error("a file that is too large is read")
	}
}
