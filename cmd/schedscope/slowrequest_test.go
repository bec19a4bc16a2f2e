package main

import (
	"encoding/json"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/schedscope/schedscope/analyze/capture"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// TestSlowRequest checks that of a capture because of a slow request it is said what the
// request did.
func TestSlowRequest(t *testing.T) {
	files := make(chan capture.Snapshot, 1)
	recorder, err := capture.Start(capture.Options{Dir: t.TempDir(), Slow: 50 * time.Millisecond, Logger: slog.New(slog.DiscardHandler),
		OnSnapshot: func(s capture.Snapshot) { files <- s }})
	if err != nil {
		t.Fatal(err)
	}
	defer recorder.Close()
	go func() {
		time.Sleep(100 * time.Millisecond) // not of the request
		began := time.Now()
		time.Sleep(200 * time.Millisecond)
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
	r := c.Request
	if took := int64(file.Cause.Measured); int64(r.To-r.From) != took || int64(r.Running+r.Runnable+r.Syscall+r.Waiting) != took {
		t.Errorf("%+v do not add up to %d", r, took)
	}
	if r.Waiting < 100e6 || r.Most != "sleep" || r.MostTime > r.Waiting || r.Running < 1e6 || r.To > c.At {
		t.Errorf("%+v of %d", r, file.Cause.Measured)
	}
	_, stdout, _ = execute(t, t.Context(), nil, "analyze", "--details", file.File)
	text := strings.Join(strings.Fields(stdout), " ")
	want := regexp.MustCompile(`the request: G\d+, [0-9.]+ms from \S+ to \S+: [0-9.]+% waiting \(most of it: sleep\), \S+ in system calls, \S+ runnable, [0-9.]+% running`)
	if !want.MatchString(text) || !strings.Contains(text, "The slow request of ") {
		t.Errorf("no request in\n%s", stdout)
	}
}

func TestRequestTimes(t *testing.T) {
	r := &requestTimes{g: 7, from: 100, to: 200}
	for _, s := range []model.GoSpan{
		{G: 7, State: model.GoWaiting, Reason: 1, Start: 50, End: 110},
		{G: 7, State: model.GoRunnable, Start: 110, End: 115},
		{G: 8, State: model.GoRunning, Start: 110, End: 150},
		{G: 7, State: model.GoRunning, Start: 115, End: 120},
		{G: 7, State: model.GoWaiting, Reason: 2, Start: 120, End: 150},
		{G: 7, State: model.GoWaiting, Reason: 1, Start: 150, End: 195},
		{G: 7, State: model.GoSyscall, Start: 195, End: 300},
		{G: 7, State: model.GoRunning, Start: 300, End: 310},
	} {
		r.GoSpan(&s)
	}
	if r.in[model.GoWaiting] != 85 || r.in[model.GoRunnable] != 5 || r.in[model.GoRunning] != 5 || r.in[model.GoSyscall] != 5 {
		t.Errorf("%v", r.in)
	}
	if len(r.waits) != 2 || r.waits[0] != (requestWait{1, 55}) || r.waits[1] != (requestWait{2, 30}) {
		t.Errorf("%v", r.waits)
	}
}
