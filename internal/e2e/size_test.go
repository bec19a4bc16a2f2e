package e2e

import (
	"os"
	"path/filepath"
	"runtime/trace"
	"strconv"
	"sync"
	"testing"
	"time"
)

// record records five seconds in which pairs of goroutines talk some times each
// millisecond: about a million events.
func record(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := trace.Start(f); err != nil {
		t.Skip(err)
	}
	var all sync.WaitGroup
	end := time.Now().Add(5 * time.Second)
	for range 24 {
		ask, answer := make(chan int), make(chan int)
		all.Go(func() {
			for n := range ask {
				answer <- n
			}
		})
		all.Go(func() {
			defer close(ask)
			for time.Now().Before(end) {
				for n := range 3 {
					ask <- n
					<-answer
				}
				time.Sleep(time.Millisecond)
			}
		})
	}
	all.Wait()
	trace.Stop()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestBig measures the page of a trace of a million events in five seconds: its size and
// when its text is first seen.
func TestBig(t *testing.T) {
	needBrowser(t)
	if testing.Short() {
		t.Skip("records a trace of five seconds")
	}
	path := os.Getenv("SCHEDSCOPE_E2E_BIG") // a trace to take instead
	if path == "" {
		path = filepath.Join(t.TempDir(), "big.trace")
		record(t, path)
	}
	totals := numbers(t, path, "--reference=false")["totals"].(map[string]any)
	html := report(t, path)
	info, err := os.Stat(html)
	if err != nil {
		t.Fatal(err)
	}
	x := open(t, fileURL(html), look{}, nil)
	paint := eval[float64](x, `performance.getEntriesByName("first-contentful-paint")[0].startTime`)
	ready := eval[float64](x, `performance.now()`)
	events := int(totals["events"].(float64))
	t.Logf("%s events in %.1f s: %.2f MB, first paint after %.0f ms, ready after %.0f ms at most",
		strconv.Itoa(events), totals["span_ns"].(float64)/1e9, float64(info.Size())/1e6, paint, ready)
	if info.Size() > 8e6 {
		t.Errorf("the page is of %d bytes, want at most 8 MB", info.Size())
	}
	if paint > 1000 {
		t.Errorf("first paint after %.0f ms, want less than 1 s", paint)
	}
	if events < 800_000 {
		t.Errorf("only %d events, which shows little", events)
	}
}
