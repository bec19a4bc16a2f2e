package capture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"path/filepath"
	"runtime/trace"
	"strconv"
	"time"

	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/internal/atomicfile"
)

// maxAhead is the longest recording that a client may ask for.
const maxAhead = 5 * time.Minute

// Handler returns a handler that answers GET with a trace: the last seconds, or with
// ?seconds=N the next N, at most 300, and with &samples=1 with CPU samples, if Options.Samples
// has not. What it sends is not kept in Dir, nor does
// MinInterval hold for it, but MaxFile does. It answers one client at a time, who must take
// it within five minutes after the recording, others with status 429; with 409 if the next
// seconds are asked for while another trace is being recorded (runtime/trace.Start,
// net/http/pprof); and with 503 after Close.
//
// It asks nobody for a password: traces contain names of functions and what the program
// logged, and recording costs time. Mount it where only those come who may see that.
func (r *Recorder) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if r == nil {
			http.Error(w, "capture is off", http.StatusServiceUnavailable)
			return
		}
		r.serve(w, req)
	})
}

func (r *Recorder) serve(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		http.Error(w, "GET a trace", http.StatusMethodNotAllowed)
		return
	}
	ahead, err := parseSeconds(req.URL.Query().Get("seconds"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	select {
	case r.ahead <- struct{}{}:
		defer func() { <-r.ahead }()
	default:
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(max(ahead, time.Second).Seconds()))))
		http.Error(w, "another client is being served: try again later", http.StatusTooManyRequests)
		return
	}
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(ahead + sendTime)) // not all writers can
	r.answer(w, req, ahead)
}

// parseSeconds reads the parameter of a recording's length; 0 means the past.
func parseSeconds(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	sec, err := strconv.ParseFloat(text, 64)
	if err != nil || !(sec > 0 && sec <= maxAhead.Seconds()) {
		return 0, fmt.Errorf("seconds=%q: want more than 0 and at most %g", cut(text, 40), maxAhead.Seconds())
	}
	return max(time.Duration(sec*float64(time.Second)), 1), nil
}

// answer records into a file first, so that a slow client does not delay the program or
// its other traces.
func (r *Recorder) answer(w http.ResponseWriter, req *http.Request, ahead time.Duration) {
	f, remove, err := atomicfile.Scratch(filepath.Join(r.o.Dir, r.o.Name+"-http"))
	if err != nil {
		http.Error(w, "no temporary file: "+atomicfile.Cause(err).Error(), http.StatusInternalServerError)
		return
	}
	defer remove()
	c := Cause{Reason: ReasonHTTP, Seconds: ahead.Seconds()}
	at := r.now()
	if ahead > 0 {
		samples, _ := strconv.ParseBool(req.URL.Query().Get("samples"))
		err = r.recordAhead(req.Context(), f, c, ahead, samples)
	} else {
		err = r.recordPast(f, c, at)
	}
	var size int64
	if err == nil {
		size, err = f.Seek(0, io.SeekCurrent)
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		http.Error(w, err.Error(), statusOf(err))
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Disposition", `attachment; filename="`+fileName(r.o.Name, at, ReasonHTTP)+`"`)
	h.Set("Content-Length", strconv.FormatInt(size, 10))
	io.Copy(w, f) // the client sees by the length if it breaks
}

// sendTime is how long a client may take for an answer, once it is recorded, before it is given
// up, whatever the server allows: the next one waits. The server forgets it after the answer.
const sendTime = 5 * time.Minute

// errBusy says that another trace is being recorded.
var errBusy = errors.New("another trace is being recorded in this process (trace.Start, net/http/pprof): try again when it is over")

func statusOf(err error) int {
	switch {
	case errors.Is(err, ErrClosed):
		return http.StatusServiceUnavailable
	case errors.Is(err, errBusy):
		return http.StatusConflict
	case errors.As(err, new(*TooLargeError)):
		return http.StatusInsufficientStorage
	}
	return http.StatusInternalServerError
}

// recordPast writes the last seconds.
func (r *Recorder) recordPast(w io.Writer, c Cause, at time.Time) error {
	r.taking.Lock()
	defer r.taking.Unlock()
	if r.closed {
		return ErrClosed
	}
	_, err := r.copyPast(w, c, at)
	return err
}

// recordAhead writes the next seconds, in addition to the flight recorder. It ends early, with an
// error, if the client goes, the trace gets too large or Close is called.
func (r *Recorder) recordAhead(ctx context.Context, w io.Writer, c Cause, length time.Duration, samples bool) error {
	r.tracing.Lock() // Close waits for it
	defer r.tracing.Unlock()
	select {
	case <-r.quit:
		return ErrClosed
	default:
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limited := limitWriter(w, r.o.MaxFile)
	limited.failed = cancel
	r.sets(samples)
	defer r.sets(false)
	if err := trace.Start(limited); err != nil {
		return errBusy
	}
	if samples {
		defer env.StartSamples()()
	}
	samples = samples || r.o.Samples
	logRecord(env.Begin, r.o.Name, samples)
	t := time.NewTimer(length)
	defer t.Stop()
	var err error
	select {
	case <-t.C:
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-r.quit:
		err = ErrClosed
	}
	r.endAhead(c, samples)
	return cmp.Or(err, limited.err)
}

// endAhead ends the trace of recordAhead. Its note is the last one in it.
func (r *Recorder) endAhead(c Cause, samples bool) {
	r.taking.Lock()
	defer r.taking.Unlock()
	logRecord(env.End, r.o.Name, samples)
	defer logTaken(r.logNote(c, r.now()))
	trace.Stop() // nothing is written after it
}

// Observed returns a handler that calls [Recorder.Observe] after each request that h has
// answered. What names the request is the pattern of [http.ServeMux] that it matches, its method
// if it matches none.
func (r *Recorder) Observed(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		began := time.Now()
		defer func() { r.Observe(req.Context(), cmp.Or(req.Pattern, req.Method), time.Since(began)) }()
		h.ServeHTTP(w, req)
	})
}
