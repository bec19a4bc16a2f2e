package perfetto_test

import (
	"bytes"
	"os/exec"
	"regexp"
	"testing"

	"github.com/schedscope/schedscope/model/ingest"
	. "github.com/schedscope/schedscope/report/perfetto"
)

// TestProtoc has the official compiler decode a file by the messages of
// perfetto_subset.proto: a field that they do not have, or of another type, is
// printed by its number.
func TestProtoc(t *testing.T) {
	protoc, err := exec.LookPath("protoc")
	if err != nil {
		t.Skip("protoc (Debian: protobuf-compiler) is not installed")
	}
	unknown := regexp.MustCompile(`(?m)^ *\d+(:| \{).*$`)
	for _, name := range []string{"tasks.go1.26.p4.trace", "gc.go1.26.p4.trace", "http.trace", "syscalls.go1.26.p4.trace"} {
		x := export(t, fixture(t, name), NewWriter, ingest.Options{})
		cmd := exec.Command(protoc, "--decode", "perfetto.protos.Trace", "-I", ".", "perfetto_subset.proto")
		cmd.Stdin = bytes.NewReader(x.data)
		text, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %.500s", name, err, text)
		}
		if m := unknown.Find(text); m != nil {
			t.Errorf("%s: unknown field: %s", name, m)
		}
		if n := bytes.Count(text, []byte("generic_kernel_task_state_event")); n < 1000 {
			t.Errorf("%s: %d states, want at least 1000", name, n)
		}
	}
}
