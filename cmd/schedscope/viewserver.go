package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/schedscope/schedscope/analyze/result"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
	"github.com/schedscope/schedscope/report/timeline"
)

// viewServer serves one page and parts of its timeline.
type viewServer struct {
	page    []byte
	whole   []byte // the timeline of all that was analysed
	local   bool   // only for this machine
	windows *windows
}

// serve serves until ctx ends, which is no error.
func (s *viewServer) serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      5 * time.Minute, // a part of a large trace takes its time
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	stop := context.AfterFunc(ctx, func() {
		soon, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		if server.Shutdown(soon) != nil {
			server.Close()
		}
	})
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// ServeHTTP implements [http.Handler].
func (s *viewServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	// What the page may run it says itself; none may have it in a frame.
	h.Set("Content-Security-Policy", "frame-ancestors 'none'; base-uri 'none'; form-action 'none'; object-src 'none'")
	switch {
	case s.local && !isLocalHost(r.Host):
		// Another site may have made its name mean this machine.
		http.Error(w, "ask for localhost", http.StatusForbidden)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
	case r.URL.Path == "/":
		h.Set("Content-Type", "text/html; charset=utf-8")
		s.write(w, r, s.page)
	case r.URL.Path == "/spans":
		s.spans(w, r)
	case r.URL.Path == "/favicon.ico":
		w.WriteHeader(http.StatusNoContent)
	default:
		http.NotFound(w, r)
	}
}

// isLocalHost reports whether the host that a request names is this machine.
func isLocalHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return isLoopback(strings.Trim(host, "[]"))
}

func (s *viewServer) write(w http.ResponseWriter, r *http.Request, body []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method == http.MethodGet {
		w.Write(body)
	}
}

// spans answers with the timeline of a time: /spans?from=NS&to=NS, from the trace's start.
func (s *viewServer) spans(w http.ResponseWriter, r *http.Request) {
	from, errFrom := strconv.ParseInt(r.FormValue("from"), 10, 64)
	to, errTo := strconv.ParseInt(r.FormValue("to"), 10, 64)
	if errFrom != nil || errTo != nil || from < 0 || to <= from {
		http.Error(w, "want from and to in nanoseconds from the trace's start, from < to", http.StatusBadRequest)
		return
	}
	blob, err := s.window(r.Context(), model.Duration(from), model.Duration(to))
	switch {
	case errors.Is(err, errWindowEmpty):
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

func (s *viewServer) window(ctx context.Context, from, to model.Duration) ([]byte, error) {
	if from <= s.windows.from && to >= s.windows.to {
		return s.whole, nil
	}
	return s.windows.get(ctx, max(from, s.windows.from), min(to, s.windows.to))
}

// windows records timelines of parts of a trace, one at a time, and keeps the latest.
type windows struct {
	record   func(ctx context.Context, from, to model.Duration) ([]byte, error)
	from, to model.Duration // what can be asked for
	busy     chan struct{}  // holds one while a part is recorded or looked for
	kept     []keptWindow   // the latest asked for last
}

type keptWindow struct {
	from, to model.Duration
	blob     []byte
}

// mostWindows is how many parts are kept, of at most 5 MB each.
const mostWindows = 8

func (a *app) windows(in *input, f *viewFlags, v *result.Report) *windows {
	t := v.Traces[0]
	return &windows{
		record: func(ctx context.Context, from, to model.Duration) ([]byte, error) {
			return a.recordWindow(ctx, in, &f.read, from, to)
		},
		from: model.Duration(t.Start), to: model.Duration(t.Start + model.Time(t.Span)), busy: make(chan struct{}, 1),
	}
}

// get returns the timeline of a part. It gives up waiting when ctx ends.
func (w *windows) get(ctx context.Context, from, to model.Duration) ([]byte, error) {
	if from >= to {
		return nil, errWindowEmpty
	}
	select {
	case w.busy <- struct{}{}:
		defer func() { <-w.busy }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for i, k := range w.kept {
		if k.from == from && k.to == to {
			w.kept = append(append(w.kept[:i:i], w.kept[i+1:]...), k)
			return k.blob, nil
		}
	}
	blob, err := w.recordSome(ctx, from, to)
	if err != nil {
		return nil, err
	}
	w.kept = append(w.kept, keptWindow{from, to, blob})
	if len(w.kept) > mostWindows {
		w.kept = w.kept[1:]
	}
	return blob, nil
}

// recordSome records a part. Where nothing happened it takes what is around, too, for what
// goroutines did there is known by when they began and ceased to.
func (w *windows) recordSome(ctx context.Context, from, to model.Duration) ([]byte, error) {
	for more := to - from; ; more *= 8 {
		blob, err := w.record(ctx, from, to)
		if !errors.Is(err, errWindowEmpty) || from <= w.from && to >= w.to {
			return blob, err
		}
		from, to = max(from-more, w.from), min(to+more, w.to)
	}
}

// recordWindow records the timeline of a part of an open trace, of which only that part
// is decoded.
func (a *app) recordWindow(ctx context.Context, in *input, f *readFlags, from, to model.Duration) ([]byte, error) {
	o := f.ingestOptions()
	o.From, o.To = from, to
	quiet := *a
	quiet.progress = progressLine{mode: "off", w: a.progress.w}
	rd, err := quiet.newReading(in, o)
	if err != nil {
		return nil, err
	}
	lanes := timeline.New(rd.Tables(), timeline.Options{})
	explainer, err := analyze.NewExplainer(rd.Tables(), rd.Version, lanes.Explained, lanes.Queues())
	if err != nil {
		explainer = nil // a format without the facts: there are no causes
	} else {
		explainer.ObserveSteps(rd.Machine)
	}
	err = rd.run(ctx, func() {
		lanes.Begin(rd.Origin)
		lanes.Observe(rd.Machine)
		if explainer != nil {
			explainer.Observe(rd.Machine)
		}
	}, func(ev *model.Event) {
		if explainer != nil {
			explainer.Event(ev)
		}
	})
	if explainer != nil {
		explainer.Finish()
	}
	if err != nil {
		return nil, err
	}
	if l := rd.Loss(); l != nil && errors.Is(l.Cause, ingest.ErrChanged) {
		return nil, l.Cause // it is not what the page shows
	}
	return rd.encode(lanes)
}
