package cli

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/report/viewer"
)

// newViewServer serves a trace.
func newViewServer(t *testing.T, path string) (*viewer.Server, *httptest.Server) {
	t.Helper()
	a := newApp(strings.NewReader(""), io.Discard, io.Discard)
	f := &viewFlags{}
	f.worst, f.read.clock = 10, "raw"
	ref := source.Ref{Name: path, Path: path}
	in, err := a.openAgain(t.Context(), ref, &f.read, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	s, err := a.newViewer(t.Context(), ref, in, f)
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

// TestViewWindows checks that a part of the timeline is what an analysis of that part
// records, and that the whole is the whole.
func TestViewWindows(t *testing.T) {
	s, server := newViewServer(t, fixtures.Path("http.trace"))
	if _, body := ask(t, "GET", server.URL+"/"+s.Token+"/spans?from=0&to=9007199254740991", ""); !bytes.Equal(body, s.Whole) {
		t.Errorf("%d bytes of the whole, want the %d of the timeline", len(body), len(s.Whole))
	}
	_, got := ask(t, "GET", server.URL+"/"+s.Token+"/spans?from=100000000&to=200000000", "")
	a := newApp(strings.NewReader(""), io.Discard, io.Discard)
	f := &analyzeFlags{worst: 10, timeline: true}
	f.read.clock, f.read.from, f.read.to = "raw", 100*time.Millisecond, 200*time.Millisecond
	x, err := a.loadOne(t.Context(), source.Ref{Name: "http.trace", Path: fixtures.Path("http.trace")}, f)
	if err != nil {
		t.Fatal(err)
	}
	if want := x.timeline; !bytes.Equal(got, want) {
		t.Errorf("a window of %d bytes, want the %d of its analysis", len(got), len(want))
	}
	if len(got) >= len(s.Whole) {
		t.Errorf("a part takes %d bytes, the whole %d", len(got), len(s.Whole))
	}
}

// TestViewSaved checks that a saved report has a page, without a timeline.
func TestViewSaved(t *testing.T) {
	saved := filepath.Join(t.TempDir(), "report.json")
	if c := run(t.Context(), []string{"analyze", "-q", "-o", saved, fixtures.Path("http.trace")}, strings.NewReader(""), io.Discard, io.Discard); c != exitOK {
		t.Fatalf("exit code %d", c)
	}
	s, server := newViewServer(t, saved)
	if _, body := ask(t, "GET", server.URL+"/"+s.Token+"/", ""); !bytes.Contains(body, []byte(noTimelineSaved)) || !bytes.Contains(body, []byte("STARVED")) {
		t.Errorf("a page of %d bytes has no verdict, or does not say why it has no timeline", len(body))
	}
	if answer, _ := ask(t, "GET", server.URL+"/"+s.Token+"/spans?from=1&to=2", ""); answer.StatusCode != http.StatusNotFound {
		t.Errorf("a part of its timeline: %s", answer.Status)
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
		code <- run(ctx, []string{"view", "-http=:0", "--no-browser", "-"}, bytes.NewReader(trace), address, &stderr)
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
