package capture

import (
	"io"
	"os"
	"path/filepath"
	"runtime/pprof"
	"runtime/trace"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/schedscope/schedscope/analyze/gate/env"
)

// asked sets what schedscope record does, and returns the file.
func asked(t *testing.T, duration string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.trace")
	t.Setenv(TraceVariable, path)
	t.Setenv(DurationVariable, duration)
	return path
}

// TestFromEnvSamples checks that a recording has CPU samples if it is asked for them, its
// records say so, and the profile ends with it.
func TestFromEnvSamples(t *testing.T) {
	path := asked(t, "")
	t.Setenv(SamplesVariable, "1")
	r := FromEnv()
	if os.Getenv(SamplesVariable) != "" {
		t.Error("programs that this one starts would take samples, too")
	}
	burn(t)
	r.Stop()
	checkSamples(t, path, true)
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		t.Fatal("the profile runs on")
	}

	// Next to a profile that runs already, which goes on.
	path = asked(t, "")
	t.Setenv(SamplesVariable, "1")
	r = FromEnv()
	burn(t)
	r.Stop()
	checkSamples(t, path, true)
	if pprof.StartCPUProfile(io.Discard) == nil {
		t.Error("the profile of the program was ended")
	}
	pprof.StopCPUProfile()

	path = asked(t, "")
	FromEnv().Stop()
	checkSamples(t, path, false)
}

// burn uses the CPU until a profile has some samples: 100 for each second of processor time,
// which may come late on a busy machine.
func burn(t *testing.T) {
	t.Helper()
	used := func() time.Duration {
		p := env.Take(env.Begin).Process
		if p == nil {
			t.Skip("the processor time of the process is not known here")
		}
		return time.Duration(p.UserNS)
	}
	enough := used() + 200*time.Millisecond
	waitFor(t, func() bool { env.Canary(); return used() >= enough })
}

func TestFromEnv(t *testing.T) {
	path := asked(t, "1m")
	r := FromEnv()
	if r == nil || !trace.IsEnabled() {
		t.Fatal("it does not record")
	}
	if os.Getenv(TraceVariable) != "" || os.Getenv(DurationVariable) != "" {
		t.Error("programs that this one starts would record, too")
	}
	part := "x.trace" + PartSuffix + strconv.Itoa(os.Getpid())
	if names := namesIn(t, filepath.Dir(path)); !slices.Equal(names, []string{part}) {
		t.Errorf("meanwhile there is %q, want %s", names, part)
	}
	r.Stop()
	r.Stop()
	checkEnv(t, path)
	if names := namesIn(t, filepath.Dir(path)); len(names) != 1 || trace.IsEnabled() {
		t.Errorf("in the end there is %q", names)
	}
	if FromEnv() != nil {
		t.Error("it records without being asked")
	}
}

// TestFromEnvDuration checks that a recording ends by itself.
func TestFromEnvDuration(t *testing.T) {
	path := asked(t, "20ms")
	r := FromEnv()
	waitFor(t, func() bool { _, err := os.Stat(path); return err == nil })
	checkEnv(t, path)
	r.Stop()
}

// TestFromEnvFails checks that a program goes on that cannot be recorded.
func TestFromEnvFails(t *testing.T) {
	for _, d := range []string{"5", "-1s", "0s"} {
		path := asked(t, d)
		if r := FromEnv(); r != nil || trace.IsEnabled() {
			t.Errorf("it records for %q", d)
		}
		if names := namesIn(t, filepath.Dir(path)); len(names) != 0 {
			t.Errorf("files %q", names)
		}
	}
	t.Setenv(TraceVariable, filepath.Join(t.TempDir(), "not", "there"))
	if FromEnv() != nil {
		t.Error("it records where there is no folder")
	}
	path := asked(t, "")
	if err := trace.Start(new(discard)); err != nil {
		t.Fatal(err)
	}
	defer trace.Stop()
	if FromEnv() != nil {
		t.Error("it records beside another trace")
	}
	if names := namesIn(t, filepath.Dir(path)); len(names) != 0 {
		t.Errorf("files %q", names)
	}
}

// TestFromEnvUnwritten checks that a file to which not all could be written does not get
// the name of a complete one.
func TestFromEnvUnwritten(t *testing.T) {
	path := asked(t, "")
	said, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	stderr := os.Stderr
	os.Stderr = said
	defer func() { os.Stderr = stderr }()
	r := FromEnv()
	r.f.Close() // as good as a full disk
	r.Stop()
	if text, err := os.ReadFile(said.Name()); err != nil || string(text) != "schedscope: recording "+path+": file already closed\n" {
		t.Errorf("it says %q, %v", text, err)
	}
	if names := namesIn(t, filepath.Dir(path)); len(names) != 1 || names[0] != filepath.Base(r.f.Name()) || trace.IsEnabled() {
		t.Errorf("files %q", names)
	}
}

// TestFromEnvLink checks that nothing is written to where a link leads that has the name
// of the file meanwhile.
func TestFromEnvLink(t *testing.T) {
	path := asked(t, "")
	other := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, []byte("precious"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, path+PartSuffix+strconv.Itoa(os.Getpid())); err != nil {
		t.Skip(err)
	}
	FromEnv().Stop()
	checkEnv(t, path)
	if data, err := os.ReadFile(other); err != nil || string(data) != "precious" {
		t.Errorf("the other file holds %d bytes, %v", len(data), err)
	}
}

type discard struct{}

func (*discard) Write(p []byte) (int, error) { return len(p), nil }

// TestFromEnvRace checks that Stop may meet the end of the time.
func TestFromEnvRace(t *testing.T) {
	for range 10 {
		path := asked(t, "1ms")
		r := FromEnv()
		time.Sleep(time.Millisecond)
		r.Stop()
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}
