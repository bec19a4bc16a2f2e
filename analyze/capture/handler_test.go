package capture

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/trace"
	"strings"
	"testing"
	"time"
)

// get asks a handler, and keeps what it answers as a file.
func get(t *testing.T, h http.Handler, method, target string) (status int, body, file string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, target, nil))
	file = filepath.Join(t.TempDir(), "x.trace")
	if err := os.WriteFile(file, w.Body.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	if w.Code == http.StatusOK && !strings.HasSuffix(w.Header().Get("Content-Disposition"), `Z-http.trace"`) {
		t.Errorf("headers %v", w.Header())
	}
	return w.Code, w.Body.String(), file
}

func TestHandler(t *testing.T) {
	r, files := started(t, options(t))
	h := r.Handler()
	status, _, file := get(t, h, "GET", "/")
	if n := lastNote(t, file); status != 200 || n.Reason != ReasonHTTP || n.Seconds != 0 {
		t.Errorf("status %d, note %+v", status, n)
	}
	checkEnv(t, file)
	began := time.Now()
	status, _, file = get(t, h, "GET", "/?seconds=0.05")
	if n := lastNote(t, file); status != 200 || n.Seconds != 0.05 || time.Since(began) < 50*time.Millisecond {
		t.Errorf("status %d, note %+v", status, n)
	}
	checkEnv(t, file)
	for target, want := range map[string]string{"/?seconds=x": `seconds="x": want more than 0`, "/?seconds=0": "", "/?seconds=-1": "", "/?seconds=NaN": "", "/?seconds=301": "at most 300"} {
		if status, body, _ := get(t, h, "GET", target); status != 400 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s", target, status, body)
		}
	}
	if status, _, _ := get(t, h, "POST", "/"); status != 405 {
		t.Errorf("status %d of POST", status)
	}
	if err := trace.Start(io.Discard); err != nil {
		t.Fatal(err)
	}
	status, body, _ := get(t, h, "GET", "/?seconds=0.01")
	trace.Stop()
	if status != 409 || !strings.Contains(body, "another trace is being recorded") {
		t.Errorf("beside another trace: %d %s", status, body)
	}
	if names := namesIn(t, r.o.Dir); len(names) != 0 || len(files) != 0 {
		t.Errorf("the folder has %q", names)
	}
	r.Close()
	for _, target := range []string{"/", "/?seconds=0.01"} {
		if status, _, _ := get(t, h, "GET", target); status != 503 {
			t.Errorf("%s after Close: status %d", target, status)
		}
	}
	if status, _, _ := get(t, (*Recorder)(nil).Handler(), "GET", "/"); status != 503 {
		t.Errorf("without a Recorder: status %d", status)
	}
}

// TestHandlerOneAtATime checks that a second client is turned away, that one who leaves
// ends the recording, and that Close does.
func TestHandlerOneAtATime(t *testing.T) {
	r, _ := started(t, options(t))
	h := r.Handler()
	for _, leave := range []bool{true, false} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan int)
		go func() {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest("GET", "/?seconds=300", nil).WithContext(ctx))
			done <- w.Code
		}()
		waitFor(t, func() bool { return len(r.ahead) == 1 })
		if status, _, _ := get(t, h, "GET", "/"); status != 429 {
			t.Errorf("a second client: status %d", status)
		}
		if _, err := r.Snapshot("beside"); err != nil {
			t.Error(err)
		}
		want := 503
		if leave {
			cancel()
			want = 500 // which nobody sees
		} else {
			r.Close()
		}
		if got := <-done; got != want {
			t.Errorf("status %d, want %d", got, want)
		}
	}
	if trace.IsEnabled() {
		t.Error("the tracer still runs")
	}
}

// TestHandlerTooLarge checks that a recording ends when it gets too large.
func TestHandlerTooLarge(t *testing.T) {
	o := options(t)
	o.MaxFile = 100
	r, _ := started(t, o)
	for _, target := range []string{"/", "/?seconds=300"} {
		if status, body, _ := get(t, r.Handler(), "GET", target); status != 507 || !strings.Contains(body, "larger than MaxFile") {
			t.Errorf("%s: %d %s", target, status, body)
		}
	}
	if names := namesIn(t, o.Dir); len(names) != 0 {
		t.Errorf("files %q stay", names)
	}
}

// deadlined is a writer that keeps its deadline.
type deadlined struct {
	*httptest.ResponseRecorder
	at time.Time
}

func (d *deadlined) SetWriteDeadline(t time.Time) error { d.at = t; return nil }

// TestHandlerStall checks that a client who takes nothing is given up.
func TestHandlerStall(t *testing.T) {
	r, _ := started(t, options(t))
	w := &deadlined{ResponseRecorder: httptest.NewRecorder()}
	began := time.Now()
	r.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/?seconds=0.01", nil))
	if w.at.Before(began.Add(sendTime)) || w.at.After(time.Now().Add(sendTime+time.Second)) {
		t.Errorf("deadline %v after the request", w.at.Sub(began))
	}
}

// TestHandlerWriteTimeout checks that a recording may take longer than answers usually may.
func TestHandlerWriteTimeout(t *testing.T) {
	r, _ := started(t, options(t))
	srv := httptest.NewUnstartedServer(r.Handler())
	srv.Config.WriteTimeout = 300 * time.Millisecond
	srv.Start()
	defer srv.Close()
	resp, err := srv.Client().Get(srv.URL + "?seconds=0.6")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 || !strings.Contains(string(data), Category) {
		t.Errorf("status %d, %d bytes, %v", resp.StatusCode, len(data), err)
	}
}

// TestObserved checks that requests are named by their pattern, and by their method where there
// is none, and that no Recorder does nothing.
func TestObserved(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /cart/{id}", func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(2 * time.Millisecond)
		w.WriteHeader(http.StatusTeapot)
	})
	r := &Recorder{o: Options{Slow: time.Nanosecond}, slow: make(chan Cause, 2)}
	for path, want := range map[string]string{"/cart/17": "GET /cart/{id}", "/none": "GET"} {
		w := httptest.NewRecorder()
		r.Observed(mux).ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if c := <-r.slow; c.What != want || c.Measured <= 0 || c.Reason != ReasonSlow || path != "/none" && (w.Code != http.StatusTeapot || c.Measured < 2*time.Millisecond) {
			t.Errorf("%s: %+v, status %d", path, c, w.Code)
		}
		w = httptest.NewRecorder()
		(*Recorder)(nil).Observed(mux).ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if path != "/none" && w.Code != http.StatusTeapot {
			t.Errorf("without a Recorder: status %d", w.Code)
		}
	}
}
