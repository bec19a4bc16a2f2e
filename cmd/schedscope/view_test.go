package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/model"
)

// newViewServer serves a trace.
func newViewServer(t *testing.T, path string) (*viewServer, *httptest.Server) {
	t.Helper()
	a := newApp(strings.NewReader(""), io.Discard, io.Discard)
	f := &viewFlags{}
	f.worst, f.read.clock = 10, "raw"
	in, err := a.openAgain(t.Context(), source.Ref{Name: path, Path: path}, &f.read)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	s, err := a.newViewServer(t.Context(), in, f)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, server
}

// ask returns the status and the body of an answer.
func ask(t *testing.T, method, address, host string) (*http.Response, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if host != "" {
		req.Host = host
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, body
}

func TestViewServer(t *testing.T) {
	s, server := newViewServer(t, fixtures.Path("http.trace"))
	_, port, _ := strings.Cut(strings.TrimPrefix(server.URL, "http://"), ":")
	for _, c := range []struct {
		method, path, host string
		status             int
	}{
		{"GET", "/", "", 200},
		{"GET", "/", "localhost:" + port, 200},
		{"GET", "/", "[::1]:" + port, 200},
		{"GET", "/", "LOCALHOST", 200},
		{"HEAD", "/", "", 200},
		{"GET", "/", "example.com:" + port, 403},
		{"GET", "/", "localhost.example.com", 403},
		{"GET", "/spans?from=0&to=1000", "example.com", 403},
		{"GET", "/", "192.168.1.7:" + port, 403},
		{"POST", "/", "", 405},
		{"PUT", "/spans?from=0&to=1", "", 405},
		{"GET", "/etc/passwd", "", 404},
		{"GET", "/spans", "", 400},
		{"GET", "/spans?from=5&to=5", "", 400},
		{"GET", "/spans?from=-1&to=5", "", 400},
		{"GET", "/spans?from=a&to=5", "", 400},
		{"GET", "/spans?from=0&to=99999999999999999999", "", 400},
		{"GET", "/spans?from=8000000000&to=9000000000", "", 404},
		{"GET", "/favicon.ico", "", 204},
	} {
		answer, body := ask(t, c.method, server.URL+c.path, c.host)
		if answer.StatusCode != c.status {
			t.Errorf("%s %s of %q: %s, want %d", c.method, c.path, c.host, answer.Status, c.status)
		}
		if answer.Header.Get("Cache-Control") != "no-store" || !strings.Contains(answer.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
			t.Errorf("%s %s: headers %v", c.method, c.path, answer.Header)
		}
		if c.method == "HEAD" && len(body) > 0 {
			t.Errorf("HEAD has a body of %d bytes", len(body))
		}
	}
	if _, body := ask(t, "GET", server.URL, ""); !bytes.Equal(body, s.page) {
		t.Error("what is served is not the page")
	}
	s.local = false
	if answer, _ := ask(t, "GET", server.URL, "myhost.example"); answer.StatusCode != 200 {
		t.Errorf("with --allow-remote: %s, want 200", answer.Status)
	}
}

// TestViewWindows checks that a part of the timeline is what an analysis of that part
// records, and that the whole is the whole.
func TestViewWindows(t *testing.T) {
	s, server := newViewServer(t, fixtures.Path("http.trace"))
	if _, body := ask(t, "GET", server.URL+"/spans?from=0&to=9007199254740991", ""); !bytes.Equal(body, s.whole) {
		t.Errorf("%d bytes of the whole, want the %d of the timeline", len(body), len(s.whole))
	}
	_, got := ask(t, "GET", server.URL+"/spans?from=100000000&to=200000000", "")
	a := newApp(strings.NewReader(""), io.Discard, io.Discard)
	f := &analyzeFlags{worst: 10, timeline: true}
	f.read.clock, f.read.from, f.read.to = "raw", 100*time.Millisecond, 200*time.Millisecond
	x, err := a.analyzeOne(t.Context(), source.Ref{Name: "http.trace", Path: fixtures.Path("http.trace")}, f)
	if err != nil {
		t.Fatal(err)
	}
	if want := x.timeline; !bytes.Equal(got, want) {
		t.Errorf("a window of %d bytes, want the %d of its analysis", len(got), len(want))
	}
	if len(got) >= len(s.whole) {
		t.Errorf("a part takes %d bytes, the whole %d", len(got), len(s.whole))
	}
}

// TestWindowsKept checks that the latest windows are kept, and that nobody waits in vain.
func TestWindowsKept(t *testing.T) {
	asked := 0
	w := &windows{to: 1000, busy: make(chan struct{}, 1), record: func(_ context.Context, from, _ model.Duration) ([]byte, error) {
		asked++
		if from == 77 {
			return nil, errors.New("broken")
		}
		return []byte{byte(from)}, nil
	}}
	get := func(from model.Duration, want int) {
		t.Helper()
		blob, err := w.get(t.Context(), from, from+10)
		if err != nil || len(blob) != 1 || blob[0] != byte(from) {
			t.Errorf("window %d: %v, %v", from, blob, err)
		}
		if asked != want {
			t.Errorf("after window %d %d were recorded, want %d", from, asked, want)
		}
	}
	for i := range model.Duration(mostWindows) {
		get(i, int(i)+1)
	}
	get(0, mostWindows)     // still there, and now the latest
	get(100, mostWindows+1) // in place of 1
	get(0, mostWindows+1)
	get(1, mostWindows+2)
	for range 2 { // failures are not kept
		if _, err := w.get(t.Context(), 77, 78); err == nil {
			t.Error("no error of what cannot be read")
		}
	}
	if asked != mostWindows+4 {
		t.Errorf("%d were recorded, want %d", asked, mostWindows+4)
	}
	w.busy <- struct{}{}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.get(gone, 5, 6); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting in vain: %v, want %v", err, context.Canceled)
	}
}

// TestViewCancelled checks that reading a part ends when nobody wants it any more.
func TestViewCancelled(t *testing.T) {
	s, _ := newViewServer(t, fixtures.Path("http.trace"))
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.windows.record(gone, 0, 700_000_000); err == nil {
		t.Error("a part that nobody wants was read to the end")
	}
}

func TestViewAddresses(t *testing.T) {
	for _, c := range []struct {
		address string
		remote  bool
		want    string
	}{
		{"localhost:0", false, "localhost:0"},
		{":0", false, "localhost:0"},
		{":8080", true, "localhost:8080"},
		{"127.0.0.1:80", false, "127.0.0.1:80"},
		{"[::1]:80", false, "[::1]:80"},
		{"0.0.0.0:80", false, ""},
		{"0.0.0.0:80", true, "0.0.0.0:80"},
		{"[::]:80", false, ""},
		{"example.com:80", false, ""},
		{"192.168.1.7:80", false, ""},
		{"localhost.example.com:80", false, ""},
		{"8080", false, ""},
	} {
		got, err := (&viewFlags{address: c.address, remote: c.remote}).listenAt()
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("--http %s, remote %v: %q, %v, want %q", c.address, c.remote, got, err, c.want)
		}
	}
}

func TestOnLoopback(t *testing.T) {
	for ip, want := range map[string]bool{"127.0.0.1": true, "127.8.8.8": true, "::1": true, "0.0.0.0": false, "::": false, "192.168.1.7": false} {
		if got := onLoopback(&net.TCPAddr{IP: net.ParseIP(ip), Port: 80}); got != want {
			t.Errorf("only this machine reaches %s: %v, want %v", ip, got, want)
		}
	}
}

// TestView runs the command on a trace from stdin, asks for the page, and ends it.
func TestView(t *testing.T) {
	trace, err := os.ReadFile(fixtures.Path("http.trace"))
	if err != nil {
		t.Fatal(err)
	}
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, address := io.Pipe()
	code := make(chan int, 1)
	var stderr bytes.Buffer
	go func() {
		code <- run(ctx, []string{"view", "-http=:0", "--no-browser", "--reference=false", "-"}, bytes.NewReader(trace), address, &stderr)
		address.Close()
	}()
	line := make([]byte, 200)
	n, err := out.Read(line)
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	url := strings.TrimSpace(string(line[:n]))
	if _, body := ask(t, "GET", url, ""); !bytes.Contains(body, []byte("timeline-view")) {
		t.Errorf("%s has no timeline", url)
	}
	if answer, body := ask(t, "GET", url+"spans?from=1000000&to=2000000", ""); answer.StatusCode != 200 || len(body) < 100 {
		t.Errorf("a window: %s, %d bytes", answer.Status, len(body))
	}
	cancel()
	if c := <-code; c != exitOK {
		t.Errorf("after ^C exit code %d, want 0: %s", c, stderr.String())
	}
	if left, _ := filepath.Glob(filepath.Join(temp, "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestAddressOf(t *testing.T) {
	for _, x := range []struct{ asked, listens, want string }{
		{"localhost:0", "127.0.0.1:40001", "http://localhost:40001/"},
		{":8080", "127.0.0.1:8080", "http://localhost:8080/"},
		{"127.0.0.1:0", "127.0.0.1:40001", "http://127.0.0.1:40001/"},
		{"[::1]:0", "[::1]:40001", "http://[::1]:40001/"},
		{"0.0.0.0:80", "0.0.0.0:80", "http://0.0.0.0:80/"},
	} {
		if got := addressOf(x.asked, x.listens); got != x.want {
			t.Errorf("--http %s, listening at %s: %s, want %s", x.asked, x.listens, got, x.want)
		}
	}
}
