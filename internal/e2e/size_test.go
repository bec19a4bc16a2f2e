package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/trace"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
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

// TestBig measures the page of a trace of a million events in five seconds: its size, when
// its text is first seen, and how fast its timeline is zoomed. SCHEDSCOPE_E2E_TRACE names a
// trace to take instead.
func TestBig(t *testing.T) {
	needBrowser(t)
	if testing.Short() {
		t.Skip("records a trace of five seconds")
	}
	path := os.Getenv("SCHEDSCOPE_E2E_TRACE")
	if path == "" {
		path = filepath.Join(t.TempDir(), "big.trace")
		record(t, path)
	}
	totals := numbers(t, path)["totals"].(map[string]any)
	html := report(t, path)
	info, err := os.Stat(html)
	if err != nil {
		t.Fatal(err)
	}
	x := open(t, fileURL(html), look{width: 1400, height: 1000}, nil)
	paint := eval[float64](x, `performance.getEntriesByName("first-contentful-paint")[0].startTime`)
	ready := eval[float64](x, `performance.now()`)
	events := int(totals["events"].(float64))
	t.Logf("%d events in %.1f s: %.2f MB, first paint after %.0f ms, ready after %.0f ms at most",
		events, totals["span_ns"].(float64)/1e9, float64(info.Size())/1e6, paint, ready)
	t.Log(x.zoom())
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

// TestManyGoroutines looks at a trace of 20,000 goroutines: only lanes that can be seen are
// drawn, the last one can be scrolled to and found, and zooming is as fast as with few.
func TestManyGoroutines(t *testing.T) {
	needBrowser(t)
	if testing.Short() {
		t.Skip("records a trace of 20,000 goroutines")
	}
	const most = 20_000
	path := filepath.Join(t.TempDir(), "many.trace")
	recordMany(t, path, most)
	x := open(t, fileURL(report(t, path)), look{width: 1400, height: 1000}, nil)
	t.Log(x.zoom())
	search := func(text string) string {
		eval[bool](x, fmt.Sprintf(`(() => {
			const s = document.querySelector("#timeline-view .tl-search");
			s.value = %q;
			return s.dispatchEvent(new Event("input"));
		})()`, text))
		return eval[string](x, `document.querySelector("#timeline-view .tl-found").textContent`)
	}
	if found := search("recordmany.func"); !strings.HasPrefix(found, "19,9") && !strings.HasPrefix(found, "20,0") {
		t.Errorf("%s of %d goroutines", found, most)
	}
	x.press("N") // the last: the one that waited least
	last := x.timeline().Selected
	if found := eval[string](x, `document.querySelector("#timeline-view .tl-found").textContent`); last == nil || !strings.HasPrefix(found, "19,9") && !strings.HasPrefix(found, "20,0") {
		t.Fatalf("the last match is %+v, %s", last, found)
	}
	t.Log(x.zoom()) // down there
	x.press("0", "f")
	left, top, _, height := x.canvas()
	at := x.timeline().Selected
	if at.Y < 0 || at.Y > height {
		t.Fatalf("the last lane is at %v of %v pixels", at.Y, height)
	}
	x.press(kb.Escape)
	x.do(chromedp.MouseClickXY(left+at.X, top+at.Y))
	if s := x.timeline().Selected; s == nil || s.Key != last.Key || s.Start != last.Start {
		t.Errorf("a click on the last lane selects %+v, want %+v", s, last)
	}
	x.picture("many-goroutines", false)
}

// recordMany records n goroutines that are woken six times each.
func recordMany(t *testing.T, path string, n int) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := trace.Start(f); err != nil {
		t.Skip(err)
	}
	var all sync.WaitGroup
	list := make([]chan int, n)
	for i := range list {
		list[i] = make(chan int)
		all.Go(func() {
			for range list[i] {
			}
		})
	}
	for round := range 6 {
		for _, c := range list {
			c <- round
		}
	}
	for _, c := range list {
		close(c)
	}
	all.Wait()
	trace.Stop()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
