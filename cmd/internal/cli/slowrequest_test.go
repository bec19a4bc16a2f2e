package cli

import (
	"encoding/json"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/schedscope/schedscope/analyze/capture"
	"github.com/schedscope/schedscope/analyze/result"
)

// TestSlowRequest checks that of a capture because of a slow request its
// critical path is shown.
func TestSlowRequest(t *testing.T) {
	files := make(chan capture.Snapshot, 1)
	recorder, err := capture.Start(capture.Options{Dir: t.TempDir(), Slow: 50 * time.Millisecond, Logger: slog.New(slog.DiscardHandler),
		OnSnapshot: func(s capture.Snapshot) { files <- s }})
	if err != nil {
		t.Fatal(err)
	}
	defer recorder.Close()
	var mu sync.Mutex
	held, asked := make(chan bool), make(chan bool)
	go func() {
		mu.Lock()
		held <- true
		<-asked
		time.Sleep(200 * time.Millisecond)
		mu.Unlock()
	}()
	go func() {
		<-held
		time.Sleep(60 * time.Millisecond) // not of the request
		began := time.Now()
		asked <- true
		mu.Lock()
		defer mu.Unlock()
		for until := time.Now().Add(20 * time.Millisecond); time.Now().Before(until); {
		}
		recorder.Observe(t.Context(), "GET /", time.Since(began))
	}()
	var file capture.Snapshot
	select {
	case file = <-files:
	case <-time.After(time.Minute):
		t.Fatal("no trace")
	}

	code, stdout, stderr := execute(t, t.Context(), nil, "analyze", "--json", file.File)
	var v result.Report
	if err := json.Unmarshal([]byte(stdout), &v); err != nil || code != exitOK {
		t.Fatalf("exit code %d, %v\n%s", code, err, stderr)
	}
	c := v.Traces[0].Captured
	if c == nil || c.Reason != "slow" || c.Request == nil {
		t.Fatalf("captured: %+v", c)
	}
	r, took := c.Request, int64(file.Cause.Measured)
	var sum, lock, running int64
	for _, p := range r.Parts {
		sum += int64(p.Length)
		switch {
		case p.Kind == "sleep" && p.Wait == "lock" && p.Depth == 1 && p.Inferred:
			lock += int64(p.Length)
		case p.Kind == "running" && p.Wait == "" && p.Depth == 0 && p.Goroutine == r.Goroutine:
			running += int64(p.Length)
		}
	}
	if int64(r.To-r.From) != took || sum != took {
		t.Errorf("parts add up to %d from %d to %d, and it took %d", sum, r.From, r.To, took)
	}
	if lock < 50e6 || running < 1e6 || r.To > c.At {
		t.Errorf("%d ns for the lock, %d running of %+v", lock, running, r)
	}
	_, stdout, _ = execute(t, t.Context(), nil, "analyze", "--details", file.File)
	text := strings.Join(strings.Fields(stdout), " ")
	want := regexp.MustCompile(`the request: G\d+, [0-9.]+ms from \S+ to \S+: .*[0-9.]+ms lock in cli\.TestSlowRequest\.\S+: sleep in cli\.TestSlowRequest\.\S+ \(inferred\)`)
	if !want.MatchString(text) || !strings.Contains(text, "The slow request of ") {
		t.Errorf("no request in\n%s", stdout)
	}
}
