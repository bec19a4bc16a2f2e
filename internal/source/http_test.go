package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// serve runs a server whose every page is h, and returns its Ref.
func serve(t *testing.T, h http.HandlerFunc) Ref {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return Ref{Kind: URL, Name: srv.URL, Path: srv.URL}
}

func testNow() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC) }

func TestTraceURL(t *testing.T) {
	tests := []struct {
		address string
		want    string
		length  time.Duration // of the recording; 5 s are asked for, or 1.5 s always
	}{
		{"http://h", "http://h/debug/pprof/trace?seconds=5", 5 * time.Second},
		{"https://h:1/", "https://h:1/debug/pprof/trace?seconds=5", 5 * time.Second},
		{"http://h?seconds=0.5", "http://h/debug/pprof/trace?seconds=0.5", 500 * time.Millisecond},
		{"http://h/?token=x", "http://h/debug/pprof/trace?seconds=5&token=x", 5 * time.Second},
		{"http://h/debug/pprof/trace?seconds=60", "http://h/debug/pprof/trace?seconds=60", time.Minute},
		{"http://h/debug/pprof/trace", "http://h/debug/pprof/trace", time.Second},
		{"http://h/admin/trace?seconds=-3&x=%20", "http://h/admin/trace?seconds=-3&x=%20", time.Second},
		{"http://h/t?seconds=NaN", "http://h/t?seconds=NaN", time.Second},
		{"http://u:p@h:1/", "http://u:p@h:1/debug/pprof/trace?seconds=1.5", 1500 * time.Millisecond},
		{"http://h:1?seconds=3", "http://h:1/debug/pprof/trace?seconds=1.5", 1500 * time.Millisecond},
		{"http://h:1/x?a=b", "http://h:1/x?a=b&seconds=1.5", 1500 * time.Millisecond},
	}
	for _, tt := range tests {
		o := HTTPOptions{Length: 5 * time.Second}
		if tt.length == 1500*time.Millisecond {
			o = HTTPOptions{Length: tt.length, Always: true}
		}
		u, length, err := traceURL(tt.address, o)
		if err != nil || u.String() != tt.want || length != tt.length {
			t.Errorf("traceURL(%s) = %v, %v, %v, want %s, %v", tt.address, u, length, err, tt.want, tt.length)
		}
	}
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestFetchSamples checks that a CPU profile is taken while a trace is, that it is left when the
// trace is there, and that the trace comes without one, too.
func TestFetchSamples(t *testing.T) {
	inTempDir(t, nil)
	for name, tt := range map[string]struct {
		path    string
		always  bool
		profile http.HandlerFunc // nil: must not be asked for
		query   string           // of the trace
		want    string
	}{
		"sampled": {"", false, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "seconds=1.5", ""},
		"in use": {"", true, func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "Could not enable CPU profiling: cpu profiling already in use", 500)
		}, "seconds=1.5", "already in use"},
		"none":              {"/debug/pprof/trace", false, http.NotFound, "", "404 page not found"},
		"capture":           {"/debug/schedscope", true, nil, "samples=1&seconds=1.5", ""},
		"capture, the past": {"/debug/schedscope", false, nil, "", ""},
	} {
		asked, mayEnd := make(chan string, 1), make(chan struct{})
		ref := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/debug/pprof/profile" {
				asked <- r.URL.RawQuery
				if tt.want == "" {
					close(mayEnd)
				}
				tt.profile(w, r)
				return
			}
			if tt.profile != nil {
				<-mayEnd
			}
			if r.URL.RawQuery != tt.query {
				t.Errorf("%s: asked for %s", name, r.URL)
			}
			io.WriteString(w, trace126)
		})
		ref.Path += tt.path
		client := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			resp, err := http.DefaultTransport.RoundTrip(r)
			if tt.want != "" && r.URL.Path == "/debug/pprof/profile" && err == nil { // the refusal has come
				text, _ := io.ReadAll(resp.Body)
				resp.Body = io.NopCloser(strings.NewReader(string(text)))
				close(mayEnd)
			}
			return resp, err
		})}
		o := Options{HTTP: HTTPOptions{Length: 1500 * time.Millisecond, Always: tt.always, NoSave: true, Samples: true, Client: client}}
		in, err := Open(t.Context(), ref, o)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		in.Close()
		if err := in.Unsampled; (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
		if tt.profile != nil && tt.query != "" {
			if q := <-asked; q != "seconds=2" {
				t.Errorf("%s: a profile of %s", name, q)
			}
		}
	}
}

func TestFetchSaves(t *testing.T) {
	inTempDir(t, map[string]string{"traces/other": ""})
	ref := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if got, want := r.URL.String(), "/debug/pprof/trace?seconds=2"; got != want {
			t.Errorf("request for %s, want %s", got, want)
		}
		io.WriteString(w, trace126)
	})
	host := strings.ReplaceAll(strings.TrimPrefix(ref.Path, "http://"), ":", "-")
	for _, suffix := range []string{"", "-2", "-3"} {
		var fetched int64
		o := Options{HTTP: HTTPOptions{Length: 2 * time.Second, SaveDir: "traces", Now: testNow, Progress: func(n int64) { fetched = n }}}
		in, err := Open(t.Context(), ref, o)
		checkInput(t, in, err, "", true, int64(len(trace126)))
		want := filepath.Join("traces", "trace-"+host+"-20260304-050607"+suffix+".out")
		if in.Saved != want || in.Interrupted || in.Cause != nil || in.Name != ref.Name {
			t.Errorf("input is %q, saved as %q, interrupted %t (%v), want %q saved as %q", in.Name, in.Saved, in.Interrupted, in.Cause, ref.Name, want)
		}
		if fetched != int64(len(trace126)) {
			t.Errorf("progress ended at %d bytes, want %d", fetched, len(trace126))
		}
		if data, err := os.ReadFile(want); err != nil || string(data) != trace126 {
			t.Errorf("%s holds %d bytes (%v), want the trace", want, len(data), err)
		}
	}
	if names := listDir(t, "traces"); len(names) != 4 {
		t.Errorf("directory holds %q, want the three traces and what was there", names)
	}
}

func TestFetchDoesNotSave(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp) // windows
	inTempDir(t, nil)
	for _, compress := range []bool{false, true} {
		data, compression := trace126, ""
		if compress {
			data, compression = gzipped(t, trace126), "gzip"
		}
		ref := serve(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, data) })
		in, err := Open(t.Context(), ref, Options{HTTP: HTTPOptions{NoSave: true}})
		checkInput(t, in, err, compression, !compress, int64(len(data)))
		if in.Saved != "" {
			t.Errorf("Saved = %q, want none", in.Saved)
		}
	}
	if names := append(listDir(t, "."), listDir(t, temp)...); len(names) != 0 {
		t.Errorf("files left: %q", names)
	}
}

// TestFetchPacked checks that packed data is asked for neither of the trace nor of the profile, and
// that what comes packed is not unpacked beyond measure.
func TestFetchPacked(t *testing.T) {
	bomb := gzipped(t, trace126+strings.Repeat("\x00", 8<<20))
	for _, by := range []string{"", "gzip"} { // the client unpacks by itself what this names
		inTempDir(t, nil)
		ref := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if got := r.Header.Get("Accept-Encoding"); got != "identity" {
				t.Errorf("%s accepts %q", r.URL.Path, got)
			}
			if by != "" {
				w.Header().Set("Content-Encoding", by)
			}
			io.WriteString(w, bomb)
		})
		in, err := Open(t.Context(), ref, Options{HTTP: HTTPOptions{NoSave: true, Samples: true}})
		if err != nil {
			t.Fatal(err)
		}
		damage, err := in.Unpack()
		_, size := in.ReaderAt()
		if err != nil || !errors.Is(damage, ErrTooLarge) || size != max(minPacked, maxPacked*int64(len(bomb))) {
			t.Errorf("%q: %d bytes became %d (%v, %v)", by, len(bomb), size, damage, err)
		}
		in.Close()
	}
}

func TestFetchRefused(t *testing.T) {
	status := func(code int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(code)
			io.WriteString(w, body)
		}
	}
	const notTrace = "not a readable Go execution trace: it seems to be "
	tests := []struct {
		name    string
		handler http.HandlerFunc
		want    string // after "fetching ADDRESS: "
		hint    string // part of it
	}{
		{"no such page", http.NotFound, "404 Not Found: 404 page not found", "must import _ \"net/http/pprof\""},
		{"busy", status(500, "Could not enable tracing: execution tracer already enabled\n"),
			"500 Internal Server Error: Could not enable tracing: execution tracer already enabled", "another trace is being recorded"},
		{"other failure", status(500, "boom\n"), "500 Internal Server Error: boom", ""},
		{"too long", status(400, "profile duration exceeds server's WriteTimeout\n"),
			"400 Bad Request: profile duration exceeds server's WriteTimeout", "fewer seconds"},
		{"password", status(401, ""), "401 Unauthorized", "USER:PASSWORD"},
		{"HTML error", status(404, "<!doctype html>\n<p>lost"), "404 Not Found", "must import"},
		{"escapes", status(418, "\n \x1b[2Jhi\x07\nmore"), "418 I'm a teapot", ""},
		{"odd line", status(418, "a\tb\x1b[2J\u202ec\n"), "418 I'm a teapot: a b [2J c", ""},
		{"page", status(200, "<html><title>/debug/pprof/</title>"), notTrace + "an HTML page", "/debug/pprof/trace?seconds=5"},
		{"nothing", status(200, ""), notTrace + "empty", "give schedscope the address itself"},
		{"profile", status(200, string(cpuProfile(t))), "", "go tool pprof"},
		{"future", status(200, header("go 1.99 trace")), notTrace + "a trace in the format of Go 1.99, newer than Go 1.26", "update schedscope"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inTempDir(t, nil)
			ref := serve(t, tt.handler)
			_, err := Open(t.Context(), ref, Options{})
			want := "fetching " + ref.Name + "/debug/pprof/trace?seconds=5: " + tt.want
			if tt.want == "" { // found only in the saved file
				want = "reading " + ref.Name + ": " + notTrace + "a pprof profile (gzip-compressed)"
			}
			checkError(t, err, want)
			if hint := Hint(err); !strings.Contains(hint, tt.hint) || tt.hint == "" && hint != "" {
				t.Errorf("hint %q, want %q in it", hint, tt.hint)
			}
			if names := listDir(t, "."); len(names) != 0 {
				t.Errorf("files left: %q", names)
			}
		})
	}
}

// dribble sends the start of the trace, and then nothing until the client goes.
func dribble(w http.ResponseWriter, r *http.Request) {
	io.WriteString(w, trace126[:100])
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

// endless sends the start of the trace, and then a byte now and then until the client goes, or
// too late.
func endless(w http.ResponseWriter, r *http.Request) {
	io.WriteString(w, trace126[:100])
	for range 600 {
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
			return
		case <-time.After(50 * time.Millisecond):
			w.Write([]byte{0})
		}
	}
}

// TestFetchStored: of what is not recorded for a known time all is fetched, however long it takes, as
// long as something comes.
func TestFetchStored(t *testing.T) {
	slow := func(w http.ResponseWriter, r *http.Request) {
		for part := range slices.Chunk([]byte(trace126), len(trace126)/25) {
			w.Write(part)
			w.(http.Flusher).Flush()
			time.Sleep(100 * time.Millisecond)
		}
	}
	for _, tt := range []struct {
		handler http.HandlerFunc
		cut     bool
	}{{slow, false}, {dribble, true}} {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			ref := serve(t, tt.handler)
			ref.Path += "/stored.trace"
			in, err := Open(t.Context(), ref, Options{HTTP: HTTPOptions{Grace: 10 * time.Millisecond, NoSave: true}})
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			if in.Interrupted != tt.cut || tt.cut && in.Cause != errLate {
				t.Errorf("interrupted %t by %v, want %t", in.Interrupted, in.Cause, tt.cut)
			}
		})
	}
}

func TestFetchCutShort(t *testing.T) {
	crash := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(trace126)))
		io.WriteString(w, trace126[:100])
	}
	whole := func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, trace126) }
	tests := []struct {
		name    string
		handler http.HandlerFunc
		opts    HTTPOptions
		cancel  bool // once data has come
		cause   error
	}{
		{"interrupted", dribble, HTTPOptions{}, true, context.Canceled},
		{"interrupted unsaved", dribble, HTTPOptions{NoSave: true}, true, context.Canceled},
		{"silent", dribble, HTTPOptions{Grace: time.Second}, false, errLate},
		{"crashed", crash, HTTPOptions{}, false, io.ErrUnexpectedEOF},
		{"limit", whole, HTTPOptions{MaxBytes: 100}, false, ErrTooLarge},
		{"endless", endless, HTTPOptions{Grace: time.Second}, false, errLate},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inTempDir(t, nil)
			ref := serve(t, tt.handler)
			ref.Path += "/trace?seconds=0.05"
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tt.cancel {
				tt.opts.Progress = func(int64) { cancel() }
			}
			in, err := Open(ctx, ref, Options{HTTP: tt.opts})
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			if !in.Interrupted || !errors.Is(in.Cause, tt.cause) {
				t.Errorf("interrupted %t by %v, want by %v", in.Interrupted, in.Cause, tt.cause)
			}
			got, err := io.ReadAll(in)
			if err != nil || !strings.HasPrefix(string(got), trace126[:100]) || len(got) > 100 && tt.cause != errLate {
				t.Errorf("read %d bytes (%v), want the 100 that came", len(got), err)
			}
			if at, size := in.ReaderAt(); at == nil || size != int64(len(got)) {
				t.Errorf("ReaderAt of %d bytes, want one of %d", size, len(got))
			}
			if saved := in.Saved != ""; saved == tt.opts.NoSave {
				t.Errorf("saved as %q, NoSave %t", in.Saved, tt.opts.NoSave)
			}
		})
	}
}

func TestFetchNoAnswer(t *testing.T) {
	inTempDir(t, nil)
	wait := func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	ref := serve(t, wait)
	ref.Path += "/trace?seconds=0.05"

	_, err := Open(t.Context(), ref, Options{HTTP: HTTPOptions{Grace: 20 * time.Millisecond}})
	checkError(t, err, "fetching "+ref.Path+": the server did not send the whole trace in time")

	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("a signal"))
	_, err = Open(ctx, ref, Options{})
	checkError(t, err, "fetching "+ref.Path+": interrupted before any data came: context canceled")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v is not context.Canceled", err)
	}

	srv := httptest.NewServer(http.NotFoundHandler())
	srv.Close()
	_, err = Open(t.Context(), Ref{Kind: URL, Name: srv.URL, Path: srv.URL}, Options{})
	if !isDialError(err) || !strings.Contains(Hint(err), "is the program running") {
		t.Errorf("nobody listens: %v, hint %q", err, Hint(err))
	}
	if strings.Count(err.Error(), srv.URL) != 1 {
		t.Errorf("error repeats the address: %v", err)
	}

	https := Ref{Kind: URL, Name: "x", Path: strings.Replace(ref.Path, "http:", "https:", 1)}
	_, err = Open(t.Context(), https, Options{})
	if Hint(err) != "write http:// instead of https://" {
		t.Errorf("https to http: %v, hint %q", err, Hint(err))
	}
	tls := httptest.NewUnstartedServer(http.NotFoundHandler())
	tls.Config.ErrorLog = discardLog
	tls.StartTLS()
	defer tls.Close()
	_, err = Open(t.Context(), Ref{Kind: URL, Name: "x", Path: strings.Replace(tls.URL, "https:", "http:", 1)}, Options{})
	if Hint(err) != "write https:// instead of http://" {
		t.Errorf("http to https: %v, hint %q", err, Hint(err))
	}
	in, err := Open(t.Context(), Ref{Kind: URL, Name: "x", Path: tls.URL}, Options{})
	if !strings.Contains(Hint(err), "curl -k") {
		t.Errorf("unknown certificate: %v, %v, hint %q", in, err, Hint(err))
	}
	if names := listDir(t, "."); len(names) != 0 {
		t.Errorf("files left: %q", names)
	}
}

// TestFetchForeignText: what a server sends gets into messages neither with a password nor at length.
func TestFetchForeignText(t *testing.T) {
	inTempDir(t, nil)
	ref := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "http://eve:s3cret@%zz:1/x?token=s3cret")
		w.WriteHeader(302)
	})
	_, err := Open(t.Context(), ref, Options{HTTP: HTTPOptions{Samples: true}})
	checkError(t, err, "fetching "+ref.Name+"/debug/pprof/trace?seconds=5: failed to parse Location header")

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		c.Read(make([]byte, 1<<10))
		io.WriteString(c, "HTTP/1.1 "+strings.Repeat("\x01", 5000)+"\r\n\r\n")
	}()
	_, err = Open(t.Context(), Ref{Kind: URL, Name: "x", Path: "http://" + l.Addr().String()}, Options{})
	if err == nil || len(err.Error()) > 300 || !strings.Contains(err.Error(), "malformed HTTP") || !strings.Contains(Hint(err), "other than HTTP") {
		t.Errorf("error %v, hint %q", err, Hint(err))
	}
}

// TestFetchFlood: a recording of known length has a bound, and one of unknown length has not.
func TestFetchFlood(t *testing.T) {
	for query, cut := range map[string]bool{"?seconds=0.01": true, "": false} {
		const size = 66 << 20 // more than 1.01 * maxRate
		ref := serve(t, func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, trace126)
			part := make([]byte, 1<<20)
			for range size / len(part) {
				w.Write(part)
			}
		})
		ref.Path += "/x" + query
		in, err := Open(t.Context(), ref, Options{HTTP: HTTPOptions{NoSave: true}})
		if err != nil {
			t.Fatal(err)
		}
		_, n := in.ReaderAt()
		if in.Interrupted != cut || !cut && n <= size || cut && (n != maxRate*101/100 || !errors.Is(in.Cause, ErrTooLarge) || !strings.HasSuffix(in.Cause.Error(), " MB for a recording of 10ms")) {
			t.Errorf("%q: %d bytes, interrupted %v by %v", query, n, in.Interrupted, in.Cause)
		}
		in.Close()
	}
}

func TestFetchClientAndPassword(t *testing.T) {
	inTempDir(t, nil)
	tls := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, pw, _ := r.BasicAuth(); user != "me" || pw != "secret" {
			w.WriteHeader(401)
			return
		}
		io.WriteString(w, trace126)
	}))
	defer tls.Close()
	refs, _, err := Expand([]string{strings.Replace(tls.URL, "//", "//me:secret@", 1)})
	if err != nil {
		t.Fatal(err)
	}
	in, err := Open(t.Context(), refs[0], Options{HTTP: HTTPOptions{Client: tls.Client()}})
	checkInput(t, in, err, "", true, int64(len(trace126)))
	if strings.Contains(in.Name+in.Saved, "secret") {
		t.Errorf("the password shows: %q, %q", in.Name, in.Saved)
	}
}

func TestFetchCannotSave(t *testing.T) {
	inTempDir(t, nil)
	ref := serve(t, func(http.ResponseWriter, *http.Request) {
		t.Error("the server was asked before the file could be created")
	})
	_, err := Open(t.Context(), ref, Options{HTTP: HTTPOptions{SaveDir: "nope"}})
	if !errors.Is(err, fs.ErrNotExist) || Hint(err) != hintSave {
		t.Errorf("Open = %v, hint %q, want a missing directory", err, Hint(err))
	}
}

func listDir(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

var discardLog = log.New(io.Discard, "", 0)
