package cli

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/schedscope/schedscope/fixtures"
)

var (
	damaged    = flag.Int("damaged", 200, "number of damaged traces that TestDamaged takes")
	damageSeed = flag.Uint64("damage.seed", 1, "seed of their damage")
)

// slowest is how long a command may take on a small trace before it counts as a hang, on a busy
// machine with the race detector.
const slowest = time.Minute

// onDamaged are the commands that a damaged trace goes through: the first two each, of the
// others one after another. TRACE stands for it, GOOD for what it was made from, OUT for a file
// to be written.
var onDamaged = []string{
	"analyze --check TRACE",
	"analyze --format json TRACE",
	"analyze TRACE",
	"analyze -v --format markdown TRACE",
	"analyze --format json --from 1ms --to 20ms TRACE",
	"analyze --format json TRACE GOOD",
	"info TRACE",
	"info --format json TRACE",
	"plot -o OUT.png TRACE",
	"replay --format json --seeds 1 TRACE",
	"compare GOOD TRACE",
	"cut --from 0s --to 10ms -o OUT.trace TRACE",
	"export --table waits --format csv TRACE",
	"export --table states --format ndjson TRACE",
	"export --table queues --format csv TRACE",
	"export --table states --format parquet -o OUT.parquet TRACE",
	"export --format pprof -o OUT.pb.gz TRACE",
	"export --format perfetto -o OUT.pftrace TRACE",
	"export --format openmetrics TRACE",
	"export --format benchfmt TRACE",
}

// TestDamaged runs commands on damaged traces. None may panic or hang, each says what is wrong
// where the exit code says that something is, JSON is whole, and a file is written whole or not
// at all.
//
// A command tree that was run stays in memory for ever (cobra keeps its completions), 300 kB
// each: for many runs take several processes with a seed each.
func TestDamaged(t *testing.T) {
	var names []string
	for _, name := range slices.Concat(fixtures.Real(), fixtures.HandMade(), fixtures.Foreign()) {
		if info, err := os.Stat(fixtures.Path(name)); err == nil && info.Size() <= 64<<10 {
			names = append(names, name)
		}
	}
	rnd := rand.New(rand.NewPCG(*damageSeed, 0))
	dir := t.TempDir()
	codes := map[int]int{}
	for k := range *damaged {
		name := names[rnd.IntN(len(names))]
		good, err := os.ReadFile(fixtures.Path(name))
		if err != nil {
			t.Fatal(err)
		}
		trace := filepath.Join(dir, "t.trace")
		if err := os.WriteFile(trace, fixtures.Damage(rnd, good), 0o666); err != nil {
			t.Fatal(err)
		}
		for i, line := range onDamaged {
			if i > 1 && i-2 != k%(len(onDamaged)-2) {
				continue
			}
			out := filepath.Join(dir, "out")
			code, fault := onTrace(t, strings.NewReplacer("TRACE", trace, "GOOD", fixtures.Path(name), "OUT", out).Replace(line))
			codes[code]++
			if fault != "" {
				saved := filepath.Join(os.TempDir(), fmt.Sprintf("damaged-%d-%d.trace", *damageSeed, k))
				if err := os.Rename(trace, saved); err != nil {
					t.Error(err)
				}
				t.Fatalf("variant %d of %s, saved as %s: %s: %s", k, name, saved, line, fault)
			}
		}
		left, err := filepath.Glob(filepath.Join(dir, ".*"))
		if err != nil || len(left) > 0 {
			t.Fatalf("left behind: %v", left)
		}
	}
	t.Logf("%d damaged traces; exit codes %v", *damaged, codes)
}

// onTrace runs a command and returns its exit code and what is wrong with what it did, "" if
// nothing.
func onTrace(t *testing.T, line string) (code int, fault string) {
	args := strings.Fields(line)
	var stdout, stderr string
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if v := recover(); v != nil {
				fault = fmt.Sprintf("panic: %v\n%s", v, debug.Stack())
			}
		}()
		code, stdout, stderr = execute(t, t.Context(), nil, args...)
	}()
	select {
	case <-done:
	case <-time.After(slowest):
		return -1, fmt.Sprintf("not done after %v", slowest)
	}
	printable := func(r rune) bool { return r == '\n' || r == '\t' || unicode.IsPrint(r) }
	switch {
	case fault != "":
	case code < exitOK || code > exitUndecided:
		fault = fmt.Sprintf("exit code %d", code)
	case code >= exitUnusable && stderr == "":
		fault = fmt.Sprintf("exit code %d without a word", code)
	case strings.Contains(stderr, "runtime error") || strings.Contains(stderr, "panicked"):
		fault = "it says " + stderr
	case strings.ContainsFunc(stderr, func(r rune) bool { return !printable(r) }):
		fault = fmt.Sprintf("it says %q", stderr)
	case strings.Contains(line, "--format json") && code < exitUnusable && !json.Valid([]byte(stdout)):
		fault = fmt.Sprintf("%d bytes of JSON that is not valid", len(stdout))
	}
	return code, fault
}
