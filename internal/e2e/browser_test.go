// Package e2e opens the pages that schedscope writes and serves in a real browser. It is
// a module of its own, so that what drives the browser is no dependency of the program.
//
// Without a browser its tests are skipped; with SCHEDSCOPE_E2E=require they fail. With
// SCHEDSCOPE_E2E_PICTURES=DIR they leave pictures of what they saw.
package e2e

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is how long a test waits for the browser.
const patience = 90 * time.Second

// browser is started by the first test that needs it and shared by all.
var browser struct {
	once   sync.Once
	ctx    context.Context
	stop   context.CancelFunc
	err    error
	absent bool
}

func TestMain(m *testing.M) {
	code := m.Run()
	if browser.stop != nil {
		browser.stop()
	}
	if built.dir != "" {
		os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// chromium returns where the browser is.
func chromium() (string, bool) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, true
		}
	}
	return "", false
}

func startBrowser() {
	path, ok := chromium()
	if !ok {
		browser.absent = true
		return
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.DisableGPU)
	if os.Geteuid() == 0 {
		opts = append(opts, chromedp.NoSandbox)
	}
	allocator, stopAllocator := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, stop := chromedp.NewContext(allocator)
	browser.ctx, browser.stop = ctx, func() { stop(); stopAllocator() }
	browser.err = chromedp.Do(ctx) // starts it
}

// needBrowser skips the test if there is none.
func needBrowser(t *testing.T) {
	t.Helper()
	browser.once.Do(startBrowser)
	switch {
	case browser.absent && os.Getenv("SCHEDSCOPE_E2E") == "require":
		t.Fatal("no chromium found")
	case browser.absent:
		t.Skip("no chromium found")
	case browser.err != nil:
		t.Fatalf("starting chromium: %v", browser.err)
	}
}

// look is how a page is looked at.
type look struct {
	width, height int64 // 0: 1280 x 900
	dark          bool
	hash          string // of the address, "#" included
}

// tab is a page that is open in the browser.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	problems []string // errors on the console, exceptions
	requests []string // addresses, that of the document first
}

// open opens an address and waits until the page says that it is complete. At the end of
// the test it fails if the page had an error or asked for anything that allowed does not
// accept; nil accepts the document only.
func open(t *testing.T, address string, l look, allowed func(url string) bool) *tab {
	t.Helper()
	needBrowser(t)
	if l.width == 0 {
		l.width, l.height = 1280, 900
	}
	ctx, cancel := chromedp.NewContext(browser.ctx)
	t.Cleanup(cancel)
	x := &tab{t: t, ctx: ctx}
	x.must(chromedp.Listen(ctx, x.listen))
	x.must(chromedp.Do(ctx, enable, chromedp.EmulateViewport(l.width, l.height), prefer(l.dark)))
	x.must(chromedp.Do(ctx, chromedp.Navigate(address+l.hash)))
	x.waitFor("window.ready === true")
	t.Cleanup(func() { x.check(address, allowed) })
	return x
}

// openPlain opens an address with scripts switched off.
func openPlain(t *testing.T, address string) *tab {
	t.Helper()
	needBrowser(t)
	ctx, cancel := chromedp.NewContext(browser.ctx)
	t.Cleanup(cancel)
	x := &tab{t: t, ctx: ctx}
	off := func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return chromedp.Void{}, err
	}
	x.must(chromedp.Do(ctx, off, chromedp.EmulateViewport(1280, 900), chromedp.Navigate(address)))
	return x
}

func (x *tab) must(err error) {
	x.t.Helper()
	if err != nil {
		x.t.Fatal(err)
	}
}

// enable has the browser tell what check looks at.
func enable(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
	if _, err := cdp.Call(ctx, t, network.Enable, network.EnableParams{}); err != nil {
		return chromedp.Void{}, err
	}
	_, err := cdp.Call(ctx, t, log.Enable, cdp.Empty{})
	return chromedp.Void{}, err
}

// prefer says which colours the user prefers.
func prefer(dark bool) chromedp.Action[chromedp.Void] {
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		return chromedp.Void{}, err
	}
}

func (x *tab) listen(ev any) {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch ev := ev.(type) {
	case *runtime.EventExceptionThrown:
		x.problems = append(x.problems, "exception: "+ev.ExceptionDetails.Text+" "+values([]*runtime.RemoteObject{ev.ExceptionDetails.Exception}))
	case *runtime.EventConsoleAPICalled:
		if kind := string(ev.Type); kind == "error" || kind == "warning" || kind == "assert" {
			x.problems = append(x.problems, fmt.Sprintf("console.%s %s", kind, values(ev.Args)))
		}
	case *log.EventEntryAdded:
		x.problems = append(x.problems, fmt.Sprintf("log %s: %s", ev.Entry.Level, ev.Entry.Text))
	case *network.EventRequestWillBeSent:
		x.requests = append(x.requests, ev.Request.URL)
	}
}

func values(args []*runtime.RemoteObject) string {
	var b strings.Builder
	for _, a := range args {
		if a == nil {
			continue
		}
		fmt.Fprintf(&b, "%s%s ", a.Value, a.Description)
	}
	return b.String()
}

func (x *tab) check(address string, allowed func(string) bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, p := range x.problems {
		x.t.Error(p)
	}
	for _, r := range x.requests {
		document, _, _ := strings.Cut(r, "#")
		inside := strings.HasPrefix(r, "data:") || strings.HasPrefix(r, "blob:")
		if document != address && !inside && (allowed == nil || !allowed(r)) {
			x.t.Errorf("the page asked for %s", r)
		}
	}
}

// waitFor waits until an expression is true.
func (x *tab) waitFor(expression string) {
	x.t.Helper()
	_, err := chromedp.Run(x.ctx, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(patience)))
	if err != nil {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.t.Fatalf("waiting for %s: %v %v", expression, err, x.problems)
	}
}

// unfold opens all that is folded.
func (x *tab) unfold() {
	x.t.Helper()
	eval[bool](x, `(document.querySelectorAll("details").forEach(e => e.open = true), true)`)
	x.waitFor(`Schedscope.charts.every(c => c.u)`)
}

// eval returns the value of an expression; promises are awaited.
func eval[T any](x *tab, expression string) T {
	x.t.Helper()
	v, err := chromedp.Run(x.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		x.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// do runs actions, such as chromedp.Click.
func (x *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	x.t.Helper()
	x.must(chromedp.Do(x.ctx, actions...))
}

// picture leaves a picture of the page if somebody wants to look at it; whole is all of
// it, not only what the window shows.
func (x *tab) picture(name string, whole bool) {
	x.t.Helper()
	dir := os.Getenv("SCHEDSCOPE_E2E_PICTURES")
	if dir == "" {
		return
	}
	action := chromedp.CaptureScreenshot()
	if whole {
		action = chromedp.FullScreenshot(100)
	}
	png, err := chromedp.Run(x.ctx, action)
	x.must(err)
	x.must(os.MkdirAll(dir, 0o777))
	x.must(os.WriteFile(filepath.Join(dir, name+".png"), png, 0o666))
}

// fileURL returns the address of a file.
func fileURL(path string) string {
	return (&url.URL{Scheme: "file", Path: path}).String()
}
