package source

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/schedscope/schedscope/internal/atomicfile"
	"github.com/schedscope/schedscope/internal/textui"
)

const hintSave = "choose another directory to save to, or do not save"

// tracePath is where net/http/pprof serves traces.
const tracePath = "/debug/pprof/trace"

// errLate ends a fetch that takes too long.
var errLate = errors.New("the server did not send the whole trace in time")

// Of what a server sent packed, as net/http/pprof does not, no more is unpacked than maxPacked
// times the bytes that came, or minPacked. Traces pack to a third or so; what packs much better
// was made to fill memory and disks.
const maxPacked, minPacked = 20, 1 << 20

// minRate is how many bytes must come per second where the length of a recording is not known.
const minRate = 1000

// maxRate is how many bytes may come per second of a recording, and once more. Busy programs write
// some 10 MB per second.
const maxRate = 64_000_000

// traceURL completes the address of a server with the path of the trace and
// the length of the recording; an address with a path is left as it
// is. It returns also how long the recording takes.
func traceURL(address string, o HTTPOptions) (*url.URL, time.Duration, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, 0, err
	}
	q := u.Query()
	bare := u.Path == "" || u.Path == "/"
	if bare {
		u.Path = tracePath
	}
	if o.Always || bare && !q.Has("seconds") {
		q.Set("seconds", strconv.FormatFloat(o.Length.Seconds(), 'g', -1, 64))
		u.RawQuery = q.Encode()
	}
	// net/http/pprof takes a fraction, and 1 s for a trace without seconds
	// (net/http/pprof/pprof.go: Trace).
	sec, err := strconv.ParseFloat(q.Get("seconds"), 64)
	if err != nil || !(sec > 0 && sec < 1e6) {
		sec = 1
	}
	return u, time.Duration(sec * float64(time.Second)), nil
}

// openURL fetches the trace of ref into a file and opens that.
func openURL(ctx context.Context, ref Ref, o Options) (*Input, error) {
	h := o.HTTP.withDefaults()
	u, length, err := traceURL(ref.Path, h)
	if err != nil {
		return nil, invalidURL(ref.Path)
	}
	// A slow connection may take as long again as the recording. That a server which sends bytes
	// now and then holds nobody up for ever, the bound is on the whole, or, where nobody knows how
	// long a trace is, such as one that is stored, on each part.
	f := fetch{name: show(Redact(u.String())), url: u, limit: length + max(length, h.Grace), o: h}
	if !u.Query().Has("seconds") {
		f.part = max(int64(minRate*h.Grace.Seconds()), 1)
	} else if most := int64(maxRate * (length.Seconds() + 1)); most < h.MaxBytes {
		f.o.MaxBytes, f.asked = most, fmt.Sprintf(" for a recording of %v", length)
	}
	dir := h.SaveDir
	saving := func(err error) error {
		return &Error{Doing: "saving the trace of " + u.Host, Err: err, Hint: hintSave}
	}
	remove := func() {}
	if h.NoSave {
		if dir, remove, err = atomicfile.Folder(filepath.Join(os.TempDir(), "trace"), 0o700); err != nil {
			return nil, saving(err)
		}
		// Most systems let an open file go at once, so that not even a crash leaves it;
		// the others after it was closed.
		defer remove()
	}
	file, err := atomicfile.CreateNew(filepath.Join(dir, saveName(h, u.Host)))
	if err != nil {
		return nil, saving(err)
	}
	defer file.Abort()
	unsampled := f.sample(ctx, length)
	err = f.run(ctx, file)
	sampleErr := unsampled()
	if err != nil {
		return nil, err
	}
	if err := file.Commit(); err != nil {
		return nil, saving(err)
	}
	o.MaxBytes = min(o.MaxBytes, max(maxPacked*f.size, minPacked))
	in, err := openFile(file.Name(), ref.Name, o)
	if err != nil {
		os.Remove(file.Name())
		return nil, err
	}
	in.Interrupted, in.Cause, in.Unsampled = f.cut != nil, f.cut, sampleErr
	in.closers = append([]func() error{func() error { remove(); return nil }}, in.closers...)
	if !h.NoSave {
		in.Saved = file.Name()
	}
	return in, nil
}

// saveName returns trace-<host>-<time>.out, in characters that every file
// system takes.
func saveName(o HTTPOptions, host string) string {
	host = strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' {
			return r
		}
		return '-'
	}, host), "-.")
	name := "trace-" + host
	if o.Now != nil {
		name += o.Now().Format("-20060102-150405")
	}
	return name + ".out"
}

func (o HTTPOptions) withDefaults() HTTPOptions {
	o.Length = cmp.Or(max(o.Length, 0), DefaultSeconds*time.Second)
	o.MaxBytes = cmp.Or(max(o.MaxBytes, 0), defaultMaxFetch)
	o.Grace = cmp.Or(o.Grace, defaultGrace)
	if o.Client == nil {
		// It bounds the time to connect only: how long an answer may take depends on the recording.
		const dial = 5 * time.Second
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.DialContext = (&net.Dialer{Timeout: dial}).DialContext
		t.TLSHandshakeTimeout = dial
		t.DisableKeepAlives = true // one request, and then no goroutine left behind
		o.Client = &http.Client{Transport: t}
	}
	return o
}

// A fetch is one request for a trace.
type fetch struct {
	name  string // the address, printable
	url   *url.URL
	limit time.Duration // longest time in all
	part  int64         // so many bytes may take as long again; 0: none
	asked string        // what o.MaxBytes bounds, for its message
	o     HTTPOptions   // complete

	late *time.Timer // ends it
	size int64       // bytes that came
	cut  error       // why the trace ended early, if it did
}

// run copies the trace to dst. Once data of a trace has come, everything but a
// failure to write it only ends the trace early.
func (f *fetch) run(ctx context.Context, dst io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	f.late = time.AfterFunc(f.limit, func() { cancel(errLate) })
	defer f.late.Stop()
	resp, err := f.get(ctx)
	if err != nil {
		return f.connectError(reason(ctx, err))
	}
	defer resp.Body.Close()
	body := bufio.NewReaderSize(resp.Body, SniffLen)
	if resp.StatusCode != http.StatusOK {
		return f.statusError(resp.Status, resp.StatusCode, body)
	}
	if err := f.checkStart(ctx, body); err != nil {
		return err
	}
	return f.copyBody(ctx, dst, body)
}

// get asks for data as it is: compression on the way would hold back what ^C wants to keep, and
// the client would unpack whatever came.
func (f *fetch) get(ctx context.Context) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept-Encoding", "identity")
	return f.o.Client.Do(req)
}

// sample has the server take CPU samples, if it is to, for the length of the recording, which the
// runtime writes into the trace. net/http/pprof takes them for a CPU profile, which is thrown away,
// the handler of package capture if asked. The function that it returns ends that, after
// the recording, and returns why there are no samples.
func (f *fetch) sample(ctx context.Context, length time.Duration) (end func() error) {
	p := *f
	p.url = new(*f.url)
	q := p.url.Query()
	prefix, ok := strings.CutSuffix(p.url.Path, "/pprof/trace")
	if !ok || !f.o.Samples {
		if f.o.Samples && f.o.Always {
			q.Set("samples", "1")
			f.url.RawQuery = q.Encode()
		}
		return func() error { return nil }
	}
	p.url.Path = prefix + "/pprof/profile"
	q.Set("seconds", strconv.FormatFloat(math.Ceil(length.Seconds()), 'f', 0, 64)) // it takes no fraction
	p.url.RawQuery = q.Encode()
	p.name = show(Redact(p.url.String()))
	ctx, cancel := context.WithCancel(ctx)
	result := make(chan error, 1)
	go func() { result <- p.discard(ctx) }()
	return func() error {
		cancel()
		return <-result
	}
}

// discard asks for something and returns why it does not come. That ctx ends is not an error.
func (f *fetch) discard(ctx context.Context) error {
	resp, err := f.get(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil
	case err != nil:
		return f.fail(reason(ctx, err), "")
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return f.statusError(resp.Status, resp.StatusCode, resp.Body)
	}
	io.Copy(io.Discard, resp.Body)
	return nil
}

// checkStart refuses what is not a trace, before any of it is saved.
func (f *fetch) checkStart(ctx context.Context, body *bufio.Reader) error {
	head, err := body.Peek(headerLen)
	if len(head) == 0 && err != nil && err != io.EOF {
		return f.connectError(reason(ctx, err))
	}
	g := Sniff(head)
	if g.Format == Trace || g.Format.packed() {
		return nil
	}
	head, _ = body.Peek(SniffLen)
	g = Sniff(head)
	return f.fail(g, textui.Either(len(head) == 0, hintPage, g.Hint)) // an answer without a word is not that of a tracer
}

func (f *fetch) copyBody(ctx context.Context, dst io.Writer, body io.Reader) error {
	buf := make([]byte, 64<<10)
	for {
		k, err := body.Read(buf)
		if f.size+int64(k) > f.o.MaxBytes {
			k = int(f.o.MaxBytes - f.size)
			err = fmt.Errorf("%w: more than %s%s", ErrTooLarge, textui.Bytes(f.o.MaxBytes), f.asked)
		}
		if _, err := dst.Write(buf[:k]); err != nil {
			return f.fail(err, hintSave)
		}
		if f.part > 0 && (f.size+int64(k))/f.part > f.size/f.part {
			f.late.Reset(f.limit)
		}
		f.size += int64(k)
		if f.o.Progress != nil && k > 0 {
			f.o.Progress(f.size)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			f.cut = reason(ctx, err)
			return nil
		}
	}
}

// reason returns what is behind err, an error of reading under ctx: errLate,
// context.Canceled, or err itself.
func reason(ctx context.Context, err error) error {
	switch {
	case ctx.Err() == nil || errors.Is(err, ErrTooLarge):
		return foreign{cause(err)}
	case context.Cause(ctx) == errLate:
		return errLate
	}
	return ctx.Err() // a cause of the caller's, such as a signal, need not be context.Canceled
}

func (f *fetch) fail(err error, hint string) error {
	return &Error{Doing: "fetching " + f.name, Err: err, Hint: hint}
}

// connectError describes an end before the first byte of an answer's body.
func (f *fetch) connectError(err error) error {
	var dns *net.DNSError
	text := err.Error()
	hint := ""
	switch {
	case errors.Is(err, context.Canceled):
		err = fmt.Errorf("interrupted before any data came: %w", err)
	case errors.Is(err, errLate):
		hint = "is it the port of net/http/pprof, and is the program running?"
	case errors.As(err, &dns):
		hint = "check the name of the host"
	case isDialError(err):
		hint = "is the program running, and does it serve net/http/pprof on that port? " +
			`(import _ "net/http/pprof"; go http.ListenAndServe("localhost:6060", nil))`
	case strings.Contains(text, "server gave HTTP response to HTTPS client"):
		hint = "write http:// instead of https://"
	case strings.Contains(text, "malformed HTTP"):
		hint = "that port speaks something other than HTTP; give the one of net/http/pprof"
	case strings.Contains(text, "certificate"):
		hint = "fetch it yourself: curl -k -o trace.out '" + f.name + "'"
	}
	return f.fail(err, hint)
}

type statusHint struct {
	code       int
	text, hint string
}

// statusHints is what to do about an answer other than 200: the first row of
// which code (0: any) and text, in the first line of the body, agree.
var statusHints = []statusHint{
	{400, "HTTPS server", "write https:// instead of http://"},
	{400, "WriteTimeout", "the server's WriteTimeout is shorter than the recording: ask for fewer seconds"},
	{401, "", "the server wants a password: http://USER:PASSWORD@HOST:PORT"},
	{403, "", "the server does not let you: ask whoever runs it, or record on its host"},
	{404, "", `the program must import _ "net/http/pprof"; if its handlers are elsewhere, give the whole URL of the trace`},
	{500, "already enabled", "another trace is being recorded in that program: try again when it is over"},
	{502, "", "a proxy in between gave up: connect to the program directly"},
	{504, "", "a proxy in between gave up: connect to the program directly, or ask for fewer seconds"},
}

// statusError describes an answer that is not a trace. Its body is other people's
// text: one printable line of it is shown.
func (f *fetch) statusError(status string, code int, body io.Reader) error {
	text, _ := io.ReadAll(io.LimitReader(body, SniffLen))
	line := textui.If(isText(text) && !html.Match(text), firstLine(string(text), 200))
	hint := ""
	if i := slices.IndexFunc(statusHints, func(h statusHint) bool { return h.code == code && strings.Contains(line, h.text) }); i >= 0 {
		hint = statusHints[i].hint
	}
	return f.fail(errors.New(textui.Join(": ", firstLine(status, 80), line)), hint)
}
