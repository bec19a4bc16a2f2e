package cli

import (
	"context"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/schedscope/schedscope/fixtures"
)

// TestInOrder checks that results come in order, that no more than the window are ahead of
// them, and that nothing is done any more when it returns.
func TestInOrder(t *testing.T) {
	for _, workers := range []int{1, 2, 7} {
		for _, stop := range []int{0, 5, 100} {
			var running, begun atomic.Int64
			var got []int
			do := func(ctx context.Context, i int) int {
				running.Add(1)
				defer running.Add(-1)
				begun.Add(1)
				time.Sleep(time.Duration(rand.IntN(200)) * time.Microsecond)
				return i
			}
			inOrder(t.Context(), 50, workers, do, func(i, x int) bool {
				if ahead := begun.Load() - int64(i); ahead > int64(2*workers) {
					t.Errorf("%d workers: %d begun that are not taken", workers, ahead)
				}
				if i != x {
					t.Errorf("result %d is that of %d", i, x)
				}
				got = append(got, x)
				return i < stop
			})
			if n := running.Load(); n != 0 {
				t.Errorf("%d workers: %d go on", workers, n)
			}
			if want := min(stop+1, 50); len(got) != want || !slices.IsSorted(got) {
				t.Errorf("%d workers: took %v, want %d", workers, got, want)
			}
		}
	}
}

// TestInterruptedSeveral interrupts the work on many traces after the first has been told
// of: it ends, and leaves nothing half written.
func TestInterruptedSeveral(t *testing.T) {
	paths := []string{filepath.Join(t.TempDir(), "bad.trace")}
	if err := os.WriteFile(paths[0], []byte("no trace"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, name := range fixtures.Names() {
		paths = append(paths, fixtures.Path(name))
	}
	for _, jobs := range []string{"1", "4"} {
		for _, args := range [][]string{
			{"analyze", "-o", "out.json"}, {"export", "-o", "out.bench"},
			{"export", "--format", "parquet", "-o", "out", "--table", "waits"},
		} {
			dir := t.TempDir()
			i := slices.Index(args, "-o") + 1
			args[i] = filepath.Join(dir, args[i])
			ctx, cancel := context.WithCancel(t.Context())
			stderr := &tripwire{text: "skipped", trip: cancel}
			var stdout strings.Builder
			code := run(ctx, slices.Concat(args, []string{"-j", jobs}, paths), strings.NewReader(""), &stdout, stderr)
			cancel()
			if code != exitInterrupted || stdout.Len() > 0 || !strings.Contains(stderr.seen.String(), "interrupted; ") {
				t.Errorf("%q -j %s: exit code %d\n%s%s", args, jobs, code, stdout.String(), stderr.seen.String())
			}
			err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
				if err == nil && name != "." {
					t.Errorf("%q -j %s: left %s", args, jobs, name)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		}
	}
}
