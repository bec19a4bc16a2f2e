package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	pprof "github.com/google/pprof/profile"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/report/profile"
)

// exportedProfile exports a profile and parses it.
func exportedProfile(t *testing.T, args ...string) *pprof.Profile {
	t.Helper()
	code, stdout, stderr := execute(t, t.Context(), nil, append([]string{"export", "--format", "pprof"}, args...)...)
	if code != exitOK {
		t.Fatalf("export %v: exit code %d\n%s", args, code, stderr)
	}
	p, err := pprof.ParseData([]byte(stdout))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// sums adds all samples of a profile up, by the name of the value.
func sums(p *pprof.Profile) map[string]int64 {
	out := map[string]int64{}
	for i, v := range p.SampleType {
		out[v.Type] = 0
		for _, s := range p.Sample {
			out[v.Type] += s.Value[i]
		}
	}
	return out
}

// reportOf returns what analyze says in JSON; false if it cannot.
func reportOf(t *testing.T, args ...string) (result.Report, bool) {
	t.Helper()
	code, stdout, _ := execute(t, t.Context(), nil, append([]string{"analyze", "--json"}, args...)...)
	var v result.Report
	if code != exitOK {
		return v, false
	}
	if err := json.Unmarshal([]byte(stdout), &v); err != nil {
		t.Fatal(err)
	}
	return v, true
}

// TestExportProfileTotals checks that profiles add up to what the JSON report says of the
// same trace, damaged ones and windows included, and that both refuse the same.
func TestExportProfileTotals(t *testing.T) {
	inputs := [][]string{
		{fixtures.Path("convoy.go1.26.p4.trace")},
		{"--from", "20ms", "--to", "40ms", fixtures.Path("convoy.go1.26.p4.trace")},
		{"--from", "1500ms", "--to", "2500ms", fixtures.Path("generations.go1.26.p4.trace")},
		{"--clock", "reader", fixtures.Path("mixed.go1.26.p2.trace")},
		{fixtures.Path("syscalls.go1.22.p4.trace"), fixtures.Path("syscalls.go1.26.p4.trace")},
		{fixtures.Path("broken/empty.trace"), fixtures.Path("syscalls.go1.26.p4.trace")},
	}
	for _, name := range slices.Concat(fixtures.Broken(), fixtures.Foreign()) {
		inputs = append(inputs, []string{fixtures.Path(name)})
	}
	for _, args := range inputs {
		v, ok := reportOf(t, args...)
		for _, kind := range profile.Kinds() {
			args := append([]string{"--profile", kind}, args...)
			if !ok {
				code, stdout, _ := execute(t, t.Context(), nil, append([]string{"export", "--format", "pprof"}, args...)...)
				if code != exitUnusable || stdout != "" {
					t.Errorf("%v: exit code %d, %d bytes, want %d, none", args, code, len(stdout), exitUnusable)
				}
				continue
			}
			p := exportedProfile(t, args...)
			got, want := sums(p), reportedSums(&v, kind)
			for name, n := range want {
				if got[name] != n {
					t.Errorf("%v: %s %d, want %d", args, name, got[name], n)
				}
			}
			if len(got) != len(want) {
				t.Errorf("%v: values %v, want %v", args, got, want)
			}
			if p.DurationNanos != int64(v.Totals.Span) {
				t.Errorf("%v: duration %d, want %d", args, p.DurationNanos, v.Totals.Span)
			}
		}
	}
}

// reportedSums returns what the values of a kind must add up to.
func reportedSums(v *result.Report, kind string) map[string]int64 {
	switch kind {
	case "runnable":
		return map[string]int64{"waits": v.Latency.All.Count, "runnable": int64(v.Latency.All.Total)}
	case "waiting":
		return map[string]int64{"waits": v.Waiting.All.Count, "waiting": int64(v.Waiting.All.Total)}
	case "syscalls":
		return map[string]int64{"syscalls": v.Syscalls.All.Count, "syscall": int64(v.Syscalls.All.Total), "blocked": int64(v.Syscalls.Blocked.Total)}
	}
	switch kind {
	case "slow-requests", "typical-requests": // means of rows
		path := int64(0)
		for _, k := range v.Requests {
			for _, t := range k.Tails[:min(1, len(k.Tails))] {
				for _, row := range t.Rows {
					if kind == "slow-requests" {
						path += int64(row.Slow) / t.Count
					} else {
						path += int64(row.Middle) / max(t.Middle.Count, 1)
					}
				}
			}
		}
		return map[string]int64{"path": path}
	case "blame":
		out := map[string]int64{"turns": 0, "runnable": 0, "blocked": 0}
		for i := range v.Blame.Kinds {
			if k := &v.Blame.Kinds[i]; k.Kind == result.BlameOpen {
				continue // the profile has what ended
			} else if k.Blocked {
				out["blocked"] += int64(k.Total)
			} else if k.Runnable() {
				out["runnable"] += int64(k.Total)
			}
		}
		for i := range v.Blame.Rows {
			if k := v.Blame.Kind(v.Blame.Rows[i].Kind); k.Kind != result.BlameOpen && (k.Blocked || k.Runnable()) {
				out["turns"] += v.Blame.Rows[i].Turns
			}
		}
		return out
	}
	out := map[string]int64{"handoffs": 0, "in_syscall": 0, "gap": 0}
	for _, h := range v.Handoffs {
		out["handoffs"] += h.Count
		out["in_syscall"] += int64(h.InSyscall.Total)
		out["gap"] += int64(h.Gap.Total)
	}
	return out
}

// TestExportProfileDeterminism checks that the number of workers changes no byte.
func TestExportProfileDeterminism(t *testing.T) {
	for _, kind := range profile.Kinds() {
		var outs [2]string
		for i := range outs {
			var code int
			code, outs[i], _ = execute(t, t.Context(), nil, "export", "--format", "pprof", "--profile", kind, "-j", strconv.Itoa(1+i), fixtures.Path("generations.go1.26.p4.trace"))
			if code != exitOK {
				t.Fatalf("%s: exit code %d", kind, code)
			}
		}
		if outs[0] != outs[1] {
			t.Errorf("%s: -j 1 and -j 2 write different profiles", kind)
		}
	}
}

// TestExportProfileTime checks that a profile says when its trace was recorded, if that
// does.
func TestExportProfileTime(t *testing.T) {
	at := func(args ...string) int64 { return exportedProfile(t, args...).TimeNanos }
	whole := at(fixtures.Path("mixed.go1.26.p2.trace"))
	if part := at("--from", "10ms", fixtures.Path("mixed.go1.26.p2.trace")); whole == 0 || part != whole+10e6 {
		t.Errorf("the trace is of %d, what comes 10 ms later of %d", whole, part)
	}
	if got := at(fixtures.Path("mixed.go1.24.p2.trace")); got != 0 {
		t.Errorf("a trace without a wall clock is of %d", got)
	}
}

// pprofPath returns the program that go tool pprof runs.
var pprofPath = sync.OnceValues(func() (string, error) {
	path, err := exec.Command("go", "tool", "-n", "pprof").Output()
	return strings.TrimSpace(string(path)), err
})

// pprofCommand is go tool pprof, to be run in a folder. It is run directly, so that what
// is ended is pprof.
func pprofCommand(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := pprofPath()
	if err != nil {
		t.Skip("no go tool pprof:", err)
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PPROF_TMPDIR="+dir)
	return cmd
}

// goPprof runs go tool pprof on profiles in a folder.
func goPprof(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := pprofCommand(t, dir, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || stderr.Len() > 0 {
		t.Fatalf("go tool pprof %v: %v\n%s", args, err, stderr.Bytes())
	}
	return string(out)
}

// writeProfiles exports two profiles into a new folder, a.pb.gz and b.pb.gz, and returns
// the reports of the same traces.
func writeProfiles(t *testing.T) (dir string, a, b result.Report) {
	t.Helper()
	if testing.Short() {
		t.Skip("go tool pprof may have to be compiled first")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command:", err)
	}
	dir = t.TempDir()
	for i, x := range []struct {
		file string
		v    *result.Report
	}{{"a.pb.gz", &a}, {"b.pb.gz", &b}} {
		trace := fixtures.Path([]string{"http.trace", "mixed.go1.26.p2.trace"}[i])
		if code, _, stderr := execute(t, t.Context(), nil, "export", "-o", filepath.Join(dir, x.file), trace); code != exitOK {
			t.Fatalf("exit code %d\n%s", code, stderr)
		}
		*x.v, _ = reportOf(t, trace)
	}
	return dir, a, b
}

// TestGoToolPprof checks that go tool pprof shows the report's numbers, by causes and
// against another profile, and has nothing to complain of.
func TestGoToolPprof(t *testing.T) {
	dir, a, b := writeProfiles(t)
	top := []string{"-top", "-cum", "-unit", "ns", "-nodecount", "0", "-nodefraction", "0"}
	pprof := func(args ...string) string { return goPprof(t, dir, slices.Concat(top, args)...) }

	all := pprof("a.pb.gz")
	mustHave(t, all, "File: http.trace", "Type: runnable", fmt.Sprintf("Total samples = %dns", a.Latency.All.Total),
		"net/http.(*connReader).backgroundRead")
	mustHave(t, goPprof(t, dir, "-top", "-sample_index", "waits", "a.pb.gz"), fmt.Sprintf("Total samples = %d ", a.Latency.All.Count))

	rooted, idle := pprof("-tagroot", "cause", "a.pb.gz"), int64(0)
	for _, c := range a.Causes.Rows {
		mustMatch(t, rooted, fmt.Sprintf(` %dns +[0-9.e-]+%% +%s\n`, c.Total, regexp.QuoteMeta(c.Cause)))
		if strings.HasPrefix(c.Cause, "idle proc") {
			idle += int64(c.Total)
		}
	}
	mustHave(t, pprof("-tagfocus", "cause=^idle proc", "a.pb.gz"), fmt.Sprintf("Showing nodes accounting for %dns", idle))

	mustHave(t, pprof("-diff_base", "a.pb.gz", "b.pb.gz"),
		fmt.Sprintf("Showing nodes accounting for %dns", b.Latency.All.Total-a.Latency.All.Total), fmt.Sprintf("Total samples = %dns", a.Latency.All.Total))
	mustHave(t, pprof("-diff_base", "a.pb.gz", "a.pb.gz"), "Showing nodes accounting for 0")
	mustHave(t, goPprof(t, dir, "-peek", `time\.Sleep$`, "a.pb.gz"), "time.Sleep")
	mustHave(t, goPprof(t, dir, "-tags", "a.pb.gz"), "cause:", "origin:", "reason:", "source:", "proc:", "function:")
	mustHave(t, goPprof(t, dir, "-comments", "a.pb.gz"), "where the goroutine had stopped")
}

func mustHave(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("no %q in\n%s", w, text)
		}
	}
}

func mustMatch(t *testing.T, text, want string) {
	t.Helper()
	if !regexp.MustCompile(want).MatchString(text) {
		t.Errorf("no %q in\n%s", want, text)
	}
}

// TestPprofWeb checks that the pages of go tool pprof -http load and name functions.
func TestPprofWeb(t *testing.T) {
	dir, _, _ := writeProfiles(t)
	cmd := pprofCommand(t, dir, "-http", "localhost:", "-no_browser", "a.pb.gz")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	line, err := bufio.NewReader(stderr).ReadString('\n')
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "Serving web UI on ")
	if err != nil || !ok {
		t.Fatalf("go tool pprof -http says %q, %v", line, err)
	}
	for _, page := range []string{"flamegraph", "top", "flamegraph?tagfocus=cause%3Didle&si=waits"} {
		status, text := get(t, address+"/ui/"+page)
		if status != http.StatusOK || !strings.Contains(text, "net/http.(*connReader).backgroundRead") {
			t.Errorf("%s: status %d, %d bytes that do not name functions", page, status, len(text))
		}
	}
}

// get fetches a page of a server that may not have started yet.
func get(t *testing.T, url string) (status int, text string) {
	t.Helper()
	for try := 0; ; try++ {
		resp, err := http.Get(url)
		if err != nil && try < 300 {
			time.Sleep(50 * time.Millisecond)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(body)
	}
}
