package viewer

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
	"github.com/schedscope/schedscope/model/session"
)

// newServer returns a server of parts of a trace.
func newServer(t *testing.T, name string) *Server {
	t.Helper()
	data, err := os.ReadFile(fixtures.Path(name))
	if err != nil {
		t.Fatal(err)
	}
	trace := session.File(bytes.NewReader(data), int64(len(data)))
	s := New([]byte("a page"), "token")
	s.Whole, s.To = []byte("all"), 7e8
	s.Record = func(ctx context.Context, from, to model.Duration) ([]byte, error) {
		return Record(ctx, trace, ingest.Options{From: from, To: to})
	}
	return s
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

func TestServer(t *testing.T) {
	s := newServer(t, "http.trace")
	server := httptest.NewServer(s)
	defer server.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(server.URL, "http://"), ":")
	for _, c := range []struct {
		method, path, host string
		status             int
	}{
		{"GET", "/token/", "", 200},
		{"GET", "/token/", "localhost:" + port, 200},
		{"GET", "/token/", "[::1]:" + port, 200},
		{"GET", "/token/", "LOCALHOST", 200},
		{"HEAD", "/token/", "", 200},
		{"GET", "/token/", "example.com:" + port, 403},
		{"GET", "/token/", "localhost.example.com", 403},
		{"GET", "/token/spans?from=0&to=1000", "example.com", 403},
		{"GET", "/token/", "192.168.1.7:" + port, 403},
		{"POST", "/token/", "", 405},
		{"GET", "/", "", 403},
		{"GET", "/token", "", 403},
		{"GET", "/token/etc/passwd", "", 404},
		{"GET", "/toke/", "", 403},
		{"GET", "/tokens/", "", 403},
		{"GET", "//token/", "", 403},
		{"GET", "/spans?from=0&to=1000", "", 403},
		{"GET", "/?token", "", 403},
		{"GET", "/favicon.ico", "", 204},
		{"PUT", "/token/spans?from=0&to=1", "", 405},
		{"GET", "/etc/passwd", "", 403},
		{"GET", "/token/spans", "", 400},
		{"GET", "/token/spans?from=5&to=5", "", 400},
		{"GET", "/token/spans?from=-1&to=5", "", 400},
		{"GET", "/token/spans?from=a&to=5", "", 400},
		{"GET", "/token/spans?from=0&to=99999999999999999999", "", 400},
		{"GET", "/token/spans?from=8000000000&to=9000000000", "", 404},
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
	if _, body := ask(t, "GET", server.URL+"/token/", ""); !bytes.Equal(body, s.Page) {
		t.Error("what is served is not the page")
	}
	s.Remote = true
	if answer, _ := ask(t, "GET", server.URL+"/token/", "myhost.example"); answer.StatusCode != 200 {
		t.Errorf("with --allow-remote: %s, want 200", answer.Status)
	}
}

// TestPartsKept checks that the latest parts are kept, and that nobody waits in vain.
func TestPartsKept(t *testing.T) {
	asked := 0
	w := New(nil, "token")
	w.To = 1000
	w.Record = func(_ context.Context, from, _ model.Duration) ([]byte, error) {
		asked++
		if from == 77 {
			return nil, errors.New("broken")
		}
		return []byte{byte(from)}, nil
	}
	get := func(from model.Duration, want int) {
		t.Helper()
		blob, err := w.part(t.Context(), from, from+10)
		if err != nil || len(blob) != 1 || blob[0] != byte(from) {
			t.Errorf("window %d: %v, %v", from, blob, err)
		}
		if asked != want {
			t.Errorf("after window %d %d were recorded, want %d", from, asked, want)
		}
	}
	for i := range model.Duration(mostParts) {
		get(i, int(i)+1)
	}
	get(0, mostParts)     // still there, and now the latest
	get(100, mostParts+1) // in place of 1
	get(0, mostParts+1)
	get(1, mostParts+2)
	for range 2 { // failures are not kept
		if _, err := w.part(t.Context(), 77, 78); err == nil {
			t.Error("no error of what cannot be read")
		}
	}
	if asked != mostParts+4 {
		t.Errorf("%d were recorded, want %d", asked, mostParts+4)
	}
	w.busy <- struct{}{}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.part(gone, 5, 6); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting in vain: %v, want %v", err, context.Canceled)
	}
}

// TestCancelled checks that reading a part ends when nobody wants it any more.
func TestCancelled(t *testing.T) {
	s := newServer(t, "http.trace")
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Record(gone, 0, 700_000_000); err == nil {
		t.Error("a part that nobody wants was read to the end")
	}
}

// TestServeEnds: Serve returns soon after its context ends, and not before who reads the trace.
func TestServeEnds(t *testing.T) {
	s := New(nil, "token")
	s.To = 10
	reading, ended := make(chan struct{}), false
	s.Record = func(ctx context.Context, from, to model.Duration) ([]byte, error) {
		close(reading)
		<-ctx.Done()
		time.Sleep(2 * grace)
		ended = true
		return nil, ctx.Err()
	}
	l, err := Listen("localhost:0", false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go http.Get("http://" + l.Addr().String() + "/token/spans?from=1&to=2")
	go func() {
		<-reading
		cancel()
	}()
	if err := s.Serve(ctx, l); err != nil || !ended {
		t.Errorf("error %v; the trace is read no more: %t", err, ended)
	}
}

// TestListen checks that only this machine is served unless others are asked for.
func TestListen(t *testing.T) {
	for _, c := range []struct {
		address string
		remote  bool
		ok      bool
	}{
		{"localhost:0", false, true},
		{":0", false, true},
		{"127.0.0.1:0", false, true},
		{"0.0.0.0:0", false, false},
		{"0.0.0.0:0", true, true},
		{"[::]:0", false, false},
		{"example.com:0", false, false},
		{"192.168.1.7:0", false, false},
		{"localhost.example.com:0", false, false},
		{"8080", false, false},
	} {
		l, err := Listen(c.address, c.remote)
		if (err == nil) != c.ok {
			t.Errorf("%s, remote %v: %v", c.address, c.remote, err)
		}
		if err != nil && source.Hint(err) == "" {
			t.Errorf("%s: no hint", c.address)
		}
		if err == nil {
			if !c.remote && !onLoopback(l.Addr()) {
				t.Errorf("%s: listening at %v", c.address, l.Addr())
			}
			l.Close()
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

func TestURL(t *testing.T) {
	for _, x := range []struct{ asked, listens, want string }{
		{"localhost:0", "127.0.0.1:40001", "http://localhost:40001/"},
		{":8080", "127.0.0.1:8080", "http://localhost:8080/"},
		{"127.0.0.1:0", "127.0.0.1:40001", "http://127.0.0.1:40001/"},
		{"[::1]:0", "[::1]:40001", "http://[::1]:40001/"},
		{"0.0.0.0:80", "0.0.0.0:80", "http://0.0.0.0:80/"},
	} {
		if got := URL(x.asked, x.listens); got != x.want {
			t.Errorf("--http %s, listening at %s: %s, want %s", x.asked, x.listens, got, x.want)
		}
	}
}

// TestTicket checks that what a browser is started with leads to the page once.
func TestTicket(t *testing.T) {
	s := New([]byte("a page"), "token")
	server := httptest.NewServer(s)
	defer server.Close()
	if answer, _ := ask(t, "GET", server.URL+"//", ""); answer.StatusCode != 403 {
		t.Errorf("status %d without a ticket, want 403", answer.StatusCode)
	}
	s.Ticket = "ticket"
	for i, want := range []string{"a page", "use the address that schedscope view printed\n"} {
		answer, body := ask(t, "GET", server.URL+"/ticket/", "")
		if string(body) != want {
			t.Errorf("time %d: status %d, %q, want %q", i+1, answer.StatusCode, body, want)
		}
	}
}
