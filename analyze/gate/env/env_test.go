package env

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/trace"
	"strings"
	"testing"
	"time"

	"github.com/schedscope/schedscope/internal/strict"
)

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func TestTake(t *testing.T) {
	a := Take(Begin)
	spinFor(30 * time.Millisecond)
	b := Take(End)
	equal(t, "go", a.Go, runtime.Version())
	equal(t, "procs", a.GOMAXPROCS, runtime.GOMAXPROCS(0))
	run := Run{Begin: a, End: b}
	if err := run.Check(); err != nil {
		t.Fatal(err)
	}
	u := run.Usage(0)
	if u.LengthNS < 30_000_000 {
		t.Errorf("length %d", u.LengthNS)
	}
	if runtime.GOOS != "linux" {
		return
	}
	if u.CPUNS == nil || *u.CPUNS <= 0 || *u.CPUNS > 100*u.LengthNS {
		t.Errorf("cpu %v", u.CPUNS)
	}
	if a.Kernel == "" || a.Host == nil || a.Host.IdleNS+a.Host.BusyNS <= 0 {
		t.Errorf("%+v", a)
	}
}

func spinFor(d time.Duration) {
	for began := time.Now(); time.Since(began) < d; {
		Canary()
	}
}

func TestCollectorSettings(t *testing.T) {
	oldPercent, oldLimit := debug.SetGCPercent(77), debug.SetMemoryLimit(1<<40)
	gogc, limit := collector()
	debug.SetGCPercent(-1)
	off, _ := collector()
	debug.SetGCPercent(oldPercent)
	debug.SetMemoryLimit(oldLimit)
	if gogc != "77" || limit != "1099511627776" || off != "off" {
		t.Errorf("GOGC %q, GOMEMLIMIT %q, without GC %q", gogc, limit, off)
	}
	if _, limit := collector(); oldLimit == 1<<63-1 && limit != "off" {
		t.Errorf("no memory limit is %q", limit)
	}
}

func TestCommit(t *testing.T) {
	t.Setenv("GITHUB_SHA", "")
	t.Setenv("CI_COMMIT_SHA", "def")
	equal(t, "GitLab", Take(Begin).Commit, "def")
	t.Setenv("GITHUB_SHA", "abc")
	equal(t, "GitHub", Take(Begin).Commit, "abc")
	info := &debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"}}}
	equal(t, "changed", revision(info), "abc+")
	equal(t, "no version control", revision(&debug.BuildInfo{}), "")
}

func TestFiles(t *testing.T) {
	tests := []struct {
		root, cpu, kernel string
		host              *Host
		psi               int64 // -1: unknown
		cgroup            *Cgroup
		delay             int64 // -1: unknown
	}{
		{"v2", "AMD EPYC 7B13", "6.8.0-1021-azure", &Host{BusyNS: (100 + 20 + 30 + 4 + 5) * tick, IdleNS: (1000 + 7) * tick, StealNS: 9 * tick}, 123_456_000,
			&Cgroup{Periods: 20, Throttled: 3}, 1500},
		{"v1", "implementer 0x41 part 0xd0c", "5.10.0", &Host{BusyNS: tick, IdleNS: tick}, -1, &Cgroup{Periods: 7, Throttled: 2}, -1},
		{"broken", "", "", nil, -1, nil, -1},
		{"none", "", "", nil, -1, nil, -1},
	}
	for _, tt := range tests {
		f := files{root: filepath.Join("testdata", tt.root)}
		x := f.fixed()
		equal(t, tt.root+": cpu", x.cpu, tt.cpu)
		equal(t, tt.root+": kernel", x.kernel, tt.kernel)
		host := f.host()
		if (host == nil) != (tt.host == nil) {
			t.Errorf("%s: host %+v, want %+v", tt.root, host, tt.host)
		} else if host != nil {
			equal(t, tt.root+": pressure", orMinus(host.PSINS), tt.psi)
			host.PSINS = nil
			equal(t, tt.root+": host", *host, *tt.host)
		}
		if c := f.cgroup(); (c == nil) != (tt.cgroup == nil) || c != nil && *c != *tt.cgroup {
			t.Errorf("%s: cgroup %+v, want %+v", tt.root, c, tt.cgroup)
		}
		equal(t, tt.root+": delay", orMinus(f.delay("self")), tt.delay)
	}
}

func orMinus(n *int64) int64 {
	if n == nil {
		return -1
	}
	return *n
}

func TestUpwards(t *testing.T) {
	for path, want := range map[string]string{
		"/": "m", "/a/b": "m/a/b m/a m", "/../../etc": "m/etc m", "": "m",
	} {
		equal(t, path, strings.Join(upwards("m", path), " "), want)
	}
}

func TestUsage(t *testing.T) {
	delay := func(n int64) *int64 { return &n }
	run := Run{
		Begin: Record{MonoNS: 0, GOMAXPROCS: 2, CanaryNS: 10,
			Process: &Process{UserNS: 100, Nivcsw: 5, DelayNS: delay(0)},
			Host:    &Host{BusyNS: 0, IdleNS: 0, StealNS: 0, PSINS: delay(0)}, Cgroup: &Cgroup{Throttled: 1}},
		End: Record{MonoNS: 2e9, GOMAXPROCS: 2, CanaryNS: 12,
			Process: &Process{UserNS: 1e9 + 100, SystemNS: 1e9, Nivcsw: 45, DelayNS: delay(1e9)},
			Host:    &Host{BusyNS: 5e9, IdleNS: 2e9, StealNS: 1e9, PSINS: delay(5e8)}, Cgroup: &Cgroup{Throttled: 4}},
	}
	u := run.Usage(0)
	equal(t, "cpu", *u.CPUNS, 2e9)
	equal(t, "nivcsw", *u.Nivcsw, 10)
	equal(t, "run delay", *u.RunDelay, 0.25)
	equal(t, "steal", *u.Steal, 0.125)
	equal(t, "foreign", *u.Foreign, 0.375)
	equal(t, "psi", *u.PSI, 0.25)
	equal(t, "throttled", *u.Throttled, 3)
	equal(t, "canary", *u.Canary, 12)
	equal(t, "nivcsw of 4 procs", *run.Usage(4).Nivcsw, 5)

	run.End.Process.Nivcsw = 0 // goes back: another process
	run.End.Host.BusyNS = 1e9  // less than the process alone: ticks are coarse
	u = run.Usage(0)
	if u.Nivcsw != nil || *u.Foreign != 0 {
		t.Errorf("%+v", u)
	}
	run.End.Host = &Host{BusyNS: tick, IdleNS: tick}
	run.End.Process, run.End.Cgroup = nil, nil
	if u = run.Usage(0); u.CPUNS != nil || u.Foreign != nil || u.Steal != nil || u.RunDelay != nil || u.Throttled != nil || u.PSI != nil {
		t.Errorf("%+v", u)
	}
	if u = (&Run{}).Usage(0); u.LengthNS != 0 {
		t.Errorf("%+v", u)
	}
}

// long returns a record in which everything is as long as it can get.
func long() Record {
	n, big := int64(1<<62), strings.Repeat("\"<é", 200)
	return Record{Schema: Schema, Point: Begin, Workload: big, Ops: &n, Go: big, OS: big, Arch: big, CPU: big, NumCPU: 1 << 30, GOMAXPROCS: 1 << 30,
		GOGC: big, Memlimit: big, Kernel: big, Runner: big, Commit: big, MonoNS: n, Process: &Process{n, n, n, &n},
		Host: &Host{n, n, n, &n}, Cgroup: &Cgroup{n, n}, CanaryNS: n}
}

func TestEncode(t *testing.T) {
	usual := Take(Begin)
	usual.CanaryNS = Canary()
	usual.Workload, usual.Commit, usual.Runner = "checkout", strings.Repeat("a", 40), "GitHub Actions 12"
	usual.CPU = "Intel(R) Xeon(R) Platinum 8370C CPU @ 2.80GHz"
	x := long()
	for _, r := range []*Record{&usual, &x} {
		text := Encode(r)
		if len(text) > MaxMessage || strings.Contains(text, "\n") {
			t.Errorf("%d bytes", len(text))
		}
		got, err := strict.Decode[Record]([]byte(text), Schema)
		if err != nil {
			t.Fatal(err)
		}
		if got.MonoNS != r.MonoNS || *got.Process != *r.Process && got.Process.UserNS != r.Process.UserNS || got.GOMAXPROCS != r.GOMAXPROCS {
			t.Errorf("%+v, want %+v", got, r)
		}
		if r == &usual && (got.Workload != r.Workload || got.Commit != r.Commit || got.CPU != r.CPU || got.Kernel != r.Kernel) {
			t.Errorf("a usual record is cut: %s", text)
		}
	}
}

// TestLog checks that the runtime keeps the longest message whole.
func TestLog(t *testing.T) {
	if trace.IsEnabled() {
		t.Skip("the tests are being traced")
	}
	x := long()
	Log(context.Background(), &x) // without a trace it does nothing
	var buf bytes.Buffer
	if err := trace.Start(&buf); err != nil {
		t.Fatal(err)
	}
	Log(context.Background(), &x)
	trace.Stop()
	if !bytes.Contains(buf.Bytes(), []byte(Encode(&x))) {
		t.Error("the record is not in the trace as it was written")
	}
}

func TestDecodeRefuses(t *testing.T) {
	for text, why := range map[string]string{
		"":                                 "the file is empty",
		"[]":                               "does not name a schema",
		"{}":                               "does not name a schema",
		`{"schema":"schedscope.runs/v1"}`:  `not "schedscope.env/v1"`,
		`{"schema":"schedscope.env/v2"}`:   "a newer schedscope wrote it",
		`{"schema":"schedscope.env/v1.3"}`: "a newer schedscope wrote it",
		`{"schema":"schedscope.env/vx"}`:   `not "schedscope.env/v1"`,
		`{"schema":"schedscope.env/v1"}`:   "point is missing",
		`{"schema":"schedscope.env/v1","point":"","go":"","os":"","arch":"","ncpu":1,"gomaxprocs":1,"mono_ns":1}`:            `point is "", want "begin" or "end"`,
		`{"schema":"schedscope.env/v1","point":"end","ncpu":-1}`:                                                             "ncpu is -1, want 0 or more",
		`{"schema":"schedscope.env/v1","point":"end","go":"","os":"","arch":""}`:                                             "ncpu is missing",
		`{"schema":"schedscope.env/v1","point":"end"} x `:                                                                    "not valid JSON",
		`{"schema":"schedscope.env/v1","point":"end","ncpu":"two"}`:                                                          "ncpu is a text, not a number",
		`{"schema":"schedscope.env/v1","point":"end","go":"","os":"","arch":"","ncpu":1,"gomaxprocs":1,"mono_ns":1,"new":1}`: `the unknown key "new": a newer schedscope wrote it`,
	} {
		if r, err := strict.Decode[Record]([]byte(text), Schema); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v %v, want %q", text, r, err, why)
		}
	}
}

// TestChild measures a child process: this test binary, spinning.
func TestChild(t *testing.T) {
	if os.Getenv("ENV_TEST_CHILD") != "" {
		run := Run{Begin: Take(Begin)} // until it has had a CPU for long enough, however busy the machine is
		for cpu := int64(0); cpu < 60_000_000; {
			spinFor(30 * time.Millisecond)
			run.End = Take(End)
			if cpu = 60_000_000; run.Usage(0).CPUNS != nil {
				cpu = *run.Usage(0).CPUNS
			}
		}
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	cmd := exec.Command(exe, "-test.run", "^TestChild$")
	cmd.Env = append(os.Environ(), "ENV_TEST_CHILD=1", "GOGC=50", "GOGC=60")
	begin := Take(Begin)
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	w := Watch(cmd.Process.Pid)
	err = cmd.Wait()
	delay := w.Stop()
	if err != nil {
		t.Fatal(err)
	}
	run := FromChild(begin, Take(End), Child{State: cmd.ProcessState, Binary: exe, Env: cmd.Env, DelayNS: delay})
	if err := run.Check(); err != nil {
		t.Fatal(err)
	}
	equal(t, "go", run.Begin.Go, runtime.Version())
	equal(t, "GOGC", run.End.GOGC, "60")
	equal(t, "GOMAXPROCS", run.Begin.GOMAXPROCS, 0)
	u := run.Usage(0)
	if u.CPUNS == nil || *u.CPUNS < 20_000_000 {
		t.Errorf("cpu %v", orMinus(u.CPUNS))
	}
	if runtime.GOOS == "linux" && begin.Process.DelayNS != nil && (delay == nil || u.RunDelay == nil) {
		t.Errorf("run delay is not known: %v", delay)
	}
}

func TestWatchNobody(t *testing.T) {
	if d := Watch(1 << 30).Stop(); d != nil {
		t.Errorf("a process that does not exist waited for %d", *d)
	}
}

func TestWatcherSums(t *testing.T) {
	w := &Watcher{last: map[string]int64{}, stop: make(chan struct{})}
	for _, seen := range []map[string]int64{{"1": 10, "2": 5}, {"1": 20, "3": 7}, {"1": 21, "2": 1}} {
		w.note(seen)
	}
	equal(t, "sum", *w.Stop(), 21+5+1+7)
}

func TestCanary(t *testing.T) {
	if work := Canary(); work <= 0 || work > 1e9 {
		t.Errorf("%d", work)
	}
}
