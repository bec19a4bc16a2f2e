// Package viewer serves a page and parts of its timeline to browsers. This package
// promises nothing to other modules.
package viewer

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/schedscope/schedscope/analyze/causes"
	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
	"github.com/schedscope/schedscope/model/session"
	"github.com/schedscope/schedscope/report/timeline"
)

// Server serves one page and parts of its timeline.
type Server struct {
	Page []byte
	// Token is the folder of all addresses: other users of the machine do not know it.
	Token string
	// Ticket is a folder that leads to Token, once. A browser is started with it, since others
	// see the arguments of processes. "": there is none.
	Ticket   string
	Whole    []byte // the timeline of all that was analysed
	From, To model.Duration
	Remote   bool // other machines may ask
	// Record returns the timeline of a part of the trace.
	Record func(ctx context.Context, from, to model.Duration) ([]byte, error)

	used atomic.Bool   // the ticket
	busy chan struct{} // holds one while a part is recorded or looked for
	kept []keptPart    // the latest asked for last
}

type keptPart struct {
	from, to model.Duration
	blob     []byte
}

// mostParts is how many parts are kept, of at most 5 MB each.
const mostParts = 8

// New returns a server of a page under a token.
func New(page []byte, token string) *Server {
	return &Server{Page: page, Token: token, busy: make(chan struct{}, 1)}
}

const hintRemote = "serve at localhost, or add --allow-remote if others may see the trace"

// Listen listens at HOST:PORT, without a host at localhost. Unless remote is set, it
// refuses addresses that other machines reach.
func Listen(address string, remote bool) (net.Listener, error) {
	fail := func(err error, hint string) (net.Listener, error) {
		return nil, &source.Error{Doing: "serving at " + address, Err: err, Hint: hint}
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fail(errors.New("want HOST:PORT"), "such as --http localhost:8080 or --http :0")
	}
	host = cmp.Or(host, "localhost")
	if !remote && !isLoopback(host) {
		return fail(errors.New("other machines reach it"), hintRemote)
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return fail(err, "--http :0 takes a port that is free")
	}
	if !remote && !onLoopback(l.Addr()) {
		l.Close()
		return fail(fmt.Errorf("it means %s here, which other machines reach", l.Addr()), hintRemote)
	}
	return l, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback() || strings.EqualFold(host, "localhost")
}

// onLoopback reports whether only this machine reaches an address.
func onLoopback(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// URL returns where a browser finds what listens at an address: under the host that was
// asked for, if it names this machine.
func URL(asked, listens string) string {
	host, _, _ := net.SplitHostPort(asked)
	host = cmp.Or(host, "localhost")
	if _, port, err := net.SplitHostPort(listens); err == nil && isLoopback(host) {
		listens = net.JoinHostPort(host, port)
	}
	return "http://" + listens + "/"
}

// Browse shows an address, if this machine seems to have something to show it with.
func Browse(address string) error {
	name, args := "xdg-open", []string{address}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	default:
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
			return nil
		}
	}
	cmd := exec.Command(name, args...)
	if err := cmd.Start(); err != nil {
		return err
	}
	go cmd.Wait()
	return nil
}

// grace is how long answers may still take when serving ends.
const grace = 250 * time.Millisecond

// Serve serves until ctx ends, which is not an error. When it returns, nothing reads the trace
// any more.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      5 * time.Minute, // a part of a large trace takes its time
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	finished := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(finished)
		soon, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		if server.Shutdown(soon) != nil {
			server.Close()
		}
	})
	err := server.Serve(l)
	if !stop() {
		<-finished
	}
	s.busy <- struct{}{} // for good: who had it read the trace, for a request that has ended with ctx
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	folder, name, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	// What the page may run it says itself; none may have it in a frame.
	h.Set("Content-Security-Policy", "frame-ancestors 'none'; base-uri 'none'; form-action 'none'; object-src 'none'")
	switch {
	case !s.Remote && !isLocalHost(r.Host):
		// Another site may have made its name mean this machine.
		http.Error(w, "ask for localhost", http.StatusForbidden)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
	case r.URL.Path == "/favicon.ico":
		w.WriteHeader(http.StatusNoContent)
	case s.Ticket != "" && same(folder, s.Ticket) && s.used.CompareAndSwap(false, true):
		http.Redirect(w, r, "/"+s.Token+"/", http.StatusSeeOther)
	case !ok || !same(folder, s.Token):
		http.Error(w, "use the address that schedscope view printed", http.StatusForbidden)
	case name == "":
		h.Set("Content-Type", "text/html; charset=utf-8")
		s.write(w, r, s.Page)
	case name == "spans":
		s.spans(w, r)
	default:
		http.NotFound(w, r)
	}
}

// same compares in a time that does not depend on where the two differ.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// isLocalHost reports whether the host that a request names is this machine.
func isLocalHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return isLoopback(strings.Trim(host, "[]"))
}

func (s *Server) write(w http.ResponseWriter, r *http.Request, body []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method == http.MethodGet {
		w.Write(body)
	}
}

// spans answers with the timeline of a time: /TOKEN/spans?from=NS&to=NS, from the trace's start.
func (s *Server) spans(w http.ResponseWriter, r *http.Request) {
	from, errFrom := strconv.ParseInt(r.FormValue("from"), 10, 64)
	to, errTo := strconv.ParseInt(r.FormValue("to"), 10, 64)
	if errFrom != nil || errTo != nil || from < 0 || to <= from {
		http.Error(w, "want from and to in nanoseconds from the trace's start, from < to", http.StatusBadRequest)
		return
	}
	blob, err := s.window(r.Context(), model.Duration(from), model.Duration(to))
	switch {
	case errors.Is(err, session.ErrNoEvent):
		http.Error(w, "nothing happened there", http.StatusNotFound)
	case r.Context().Err() != nil:
		// Nobody waits for the answer.
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		w.Header().Set("Content-Type", "application/octet-stream")
		s.write(w, r, blob)
	}
}

// window returns the timeline of a time.
func (s *Server) window(ctx context.Context, from, to model.Duration) ([]byte, error) {
	if from <= s.From && to >= s.To {
		return s.Whole, nil
	}
	return s.part(ctx, max(from, s.From), min(to, s.To))
}

// part returns the timeline of a part. It gives up waiting when ctx ends.
func (s *Server) part(ctx context.Context, from, to model.Duration) ([]byte, error) {
	if from >= to {
		return nil, session.ErrNoEvent
	}
	select {
	case s.busy <- struct{}{}:
		defer func() { <-s.busy }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for i, k := range s.kept {
		if k.from == from && k.to == to {
			s.kept = append(append(s.kept[:i:i], s.kept[i+1:]...), k)
			return k.blob, nil
		}
	}
	blob, err := s.recordSome(ctx, from, to)
	if err != nil {
		return nil, err
	}
	s.kept = append(s.kept, keptPart{from, to, blob})
	if len(s.kept) > mostParts {
		s.kept = s.kept[1:]
	}
	return blob, nil
}

// recordSome records a part. Where nothing happened it takes what is around, too, for what
// goroutines did there is known by when they began and ceased to.
func (s *Server) recordSome(ctx context.Context, from, to model.Duration) ([]byte, error) {
	for more := to - from; ; more *= 8 {
		blob, err := s.Record(ctx, from, to)
		if !errors.Is(err, session.ErrNoEvent) || from <= s.From && to >= s.To {
			return blob, err
		}
		from, to = max(from-more, s.From), min(to+more, s.To)
	}
}

// Record records the timeline of a part of a trace, of which only that part is decoded.
func Record(ctx context.Context, t *session.Trace, o ingest.Options) ([]byte, error) {
	rd, err := t.Read(o)
	if err != nil {
		return nil, err
	}
	defer rd.Close()
	lanes := timeline.New(rd.Tables(), timeline.Options{})
	explainer, err := causes.NewExplainer(rd.Tables(), rd.Version, lanes.Explained, lanes.Queues())
	observe, event, finish := func(*model.Machine) {}, func(*model.Event) {}, func() {}
	if err == nil { // else it is a format without the facts: there are no causes
		explainer.ObserveSteps(rd.Machine)
		observe, event, finish = explainer.Observe, explainer.Event, explainer.Finish
	}
	err = rd.Run(ctx, func() {
		lanes.Begin(rd.Origin)
		lanes.Observe(rd.Machine)
		observe(rd.Machine)
	}, event)
	if err != nil {
		return nil, err
	}
	finish()
	if l := rd.Loss(); l != nil && errors.Is(l.Cause, ingest.ErrChanged) {
		return nil, l.Cause // it is not what the page shows
	}
	lanes.Finish(rd.Machine.Start(), rd.Machine.Now())
	return lanes.Encode()
}
