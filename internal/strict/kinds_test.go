package strict_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/schedscope/schedscope/analyze/capture"
	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/resulttest"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/internal/interleave"
	"github.com/schedscope/schedscope/internal/savedfile"
	. "github.com/schedscope/schedscope/internal/savedfiletest"
	"github.com/schedscope/schedscope/internal/strict"
)

// kind is one of the files, and records in traces, that come in through the door.
type kind struct {
	data []byte
	read func(data []byte) (any, error)
}

// reader returns a kind's read of a function that returns a pointer.
func reader[T any](read func(data []byte) (*T, error)) func([]byte) (any, error) {
	return func(data []byte) (any, error) { return read(data) }
}

// kinds returns a file of each, as schedscope writes it, by what is in it.
func kinds(t *testing.T) map[string]kind {
	var report bytes.Buffer
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	traces := []string{"quiet.go1.26.p4.trace", "generations.go1.26.p4.trace"}
	if testing.Short() {
		traces = traces[:1]
	}
	v := resulttest.Read(t, traces...)
	v.Skipped = append(v.Skipped, result.Skipped{Name: "x", Cause: "y"})
	v.Traces[0].Loss = &result.Loss{Bytes: 1, Size: 2, Generation: 3, After: 4, Patchy: true, Cause: "x"}
	v.Traces[0].Compression, v.Traces[0].Windowed, v.Traces[0].EndedEarly = "gzip", true, "x"
	check(result.Write(&report, v))
	dir := t.TempDir()
	n, yes, trace := int64(5), true, filepath.Join(dir, "t")
	record := env.Record{
		Schema: env.Schema, Point: env.Begin, Workload: "w", Ops: &n, Go: "go1.26", OS: "linux", Arch: "amd64", CPU: "c", NumCPU: 2, GOMAXPROCS: 2,
		GOGC: "100", Memlimit: "off", Kernel: "k", Runner: "r", Commit: "c", Samples: &yes, MonoNS: 1, CanaryNS: 7,
		Process: &env.Process{UserNS: 1, SystemNS: 2, Nivcsw: 3, DelayNS: &n}, Host: &env.Host{BusyNS: 1, IdleNS: 2, StealNS: 3, PSINS: &n}, Cgroup: &env.Cgroup{Periods: 1, Throttled: 2},
	}
	end := record
	end.Point, end.MonoNS = env.End, 2
	check(env.WriteRun(trace, &env.Run{Begin: record, End: end}))
	run, err := os.ReadFile(env.NextTo(trace))
	check(err)

	var o interleave.Order
	o.Begin(interleave.Session{Policy: interleave.ABBA, Seed: 3, Base: []string{"a", "b"}, Cand: []string{"c"}})
	o.Add(interleave.Trace{File: "base/01.trace", Side: interleave.Base, Round: 1, Session: 1, Attempts: 2, Disturbed: true})
	o.Add(interleave.Trace{File: "cand/01.trace", Side: interleave.Cand, Round: 1, Session: 1})
	var order bytes.Buffer
	check(o.Write(&order))

	note := capture.Note{Schema: capture.NoteSchema, Name: "n", Time: "2026-01-01T00:00:00Z", Suppressed: 1,
		Cause: capture.Cause{Reason: capture.ReasonLatency, What: "w", Measured: 1, Limit: 2, Quantile: .5, Count: 3, Window: 4, Seconds: 5}}
	note.Sum = savedfile.Sum(note)
	noteText, err := json.Marshal(note)
	check(err)

	return map[string]kind{
		"report": {report.Bytes(), reader(func(data []byte) (*result.Report, error) { return result.Read(bytes.NewReader(data)) })},
		"record": {[]byte(env.Encode(&record)), reader(func(data []byte) (*env.Record, error) { return strict.Decode[env.Record](data, env.Schema) })},
		"run":    {run, reader(func(data []byte) (*env.Run, error) { return strict.Decode[env.Run](data, "") })},
		"order": {order.Bytes(), reader(func(data []byte) (*interleave.Order, error) {
			name := filepath.Join(dir, interleave.OrderFile)
			check(os.WriteFile(name, data, 0o666))
			return interleave.Read(name)
		})},
		"note": {noteText, reader(func(data []byte) (*capture.Note, error) { return strict.Decode[capture.Note](data, capture.NoteSchema) })},
	}
}

// TestTampered changes each field of each kind of file: what is read then is refused, or the same
// to the last field, so that whatever is printed or decided by it is the same.
func TestTampered(t *testing.T) {
	for name, k := range kinds(t) {
		want, err := k.read(k.data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		n, refused, bySum := 0, 0, 0
		seen := 0
		Tamper(t, k.data, func(what string, changed []byte) {
			if seen++; name == "report" && seen%80 != 0 && !fixtures.Sweep() {
				return // they are thousands
			}
			n++
			switch got, err := k.read(changed); {
			case err != nil:
				refused++
				if strings.Contains(err.Error(), `does not match its "sum"`) {
					bySum++
				}
				if strings.Contains(err.Error(), "\n") {
					t.Errorf("%s: %s: an error of several lines: %v", name, what, err)
				}
			case !reflect.DeepEqual(got, want):
				t.Errorf("%s: %s is not noticed", name, what)
			}
		})
		t.Logf("%s of %d bytes: %d changes, %d refused, %d of these by the sum", name, len(k.data), n, refused, bySum)
		if n < 30 || n-refused > n/10 || bySum == 0 {
			t.Errorf("%s: %d changes, of which %d are refused and %d by the sum", name, n, refused, bySum)
		}
		// Without a sum files are read as before.
		old := Unsealed(k.data)
		if bytes.Equal(old, k.data) {
			t.Fatalf("%s has no sum: %s", name, k.data)
		}
		if got, err := k.read(old); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s without a sum: %v", name, err)
		}
	}
}

// TestStored reads files that are stored, of all kinds that are kept for long. Users have such files:
// one that cannot be read any more is mended in the types. They are never written again.
func TestStored(t *testing.T) {
	for name, k := range kinds(t) {
		if name == "report" {
			continue // one of another version is made again from the trace
		}
		data, err := os.ReadFile(filepath.Join("testdata", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := k.read(data); err != nil || !bytes.Contains(data, []byte(`"sum":`)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Keys of a budget that may be left out: that is another budget, not damage to one. What is left
// out has its default, or is not judged.
var optional = regexp.MustCompile(`^without \.(workload|op|load|window|min_traces|alpha|guards(\.\w+(\[\d\])?)?|rules\[\d\](\.(level|owner|detect))?|waivers(\[\d\])?)$`)

// TestTamperedBudget changes each field of a budget, which is YAML, written by people, and read by a
// reader of its own: what must be there, and what is null or negative, is refused.
func TestTamperedBudget(t *testing.T) {
	var doc map[string]any
	example, err := os.ReadFile("../../analyze/gate/budget/example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(example, &doc); err != nil {
		t.Fatal(err)
	}
	doc["guards"].(map[string]any)["foreign"], doc["guards"].(map[string]any)["steal"] = .2, .1
	doc["waivers"].([]any)[0].(map[string]any)["until"] = "2027-01-31"
	data, err := json.Marshal(doc) // which is YAML, too
	if err != nil {
		t.Fatal(err)
	}
	if _, err := budget.Read("b", data); err != nil {
		t.Fatal(err)
	}
	n, edits := 0, 0
	Tamper(t, data, func(what string, changed []byte) {
		n++
		if _, err := budget.Read("b", changed); err != nil {
			return
		}
		if edits++; !optional.MatchString(what) {
			t.Errorf("%s is not refused", what)
		}
	})
	t.Logf("%d changes, %d of which make another budget", n, edits)
	if n < 56 {
		t.Errorf("only %d changes", n)
	}
}
