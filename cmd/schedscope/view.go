package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/report/page"
)

// viewFlags are the flags of view.
type viewFlags struct {
	analyzeFlags
	address   string
	noBrowser bool
	remote    bool
}

func newView(a *app) *cobra.Command {
	var f viewFlags
	cmd := &cobra.Command{
		Use:     "view [flags] TRACE",
		Short:   "Serve the report and its timeline to a browser on this machine",
		GroupID: groupLook,
		Long: `What report writes into a file, served at an address of this machine, which is
printed on stdout and opened in a browser. Of a trace that is too large for a page
the timeline loads what is zoomed in on, exactly, from the trace. ^C ends it.

Only this machine can ask for the page unless --allow-remote is given: it shows the
names of all functions and files in the trace.`,
		Example: `  schedscope view trace.out
  schedscope view -http=:8080 --no-browser trace.out
  curl -s http://localhost:6060/debug/pprof/trace?seconds=5 | schedscope view -`,
		ValidArgsFunction: completeTraces,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.view(cmd, &f, args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.address, "http", "localhost:0", "serve at `HOST:PORT`; without a host at localhost, with port 0 at one that is free")
	flags.BoolVar(&f.noBrowser, "no-browser", false, "open no browser")
	flags.BoolVar(&f.remote, "allow-remote", false, "serve other machines, too, if the host of --http is an address that they reach")
	flags.IntVar(&f.worst, "worst", 20, "show the `N` longest waits in full")
	flags.BoolVar(&f.reference, "reference", true, "simulate a part of the work under the reference scheduler; --reference=false saves the time")
	f.read.register(cmd)
	return cmd
}

func (a *app) view(cmd *cobra.Command, f *viewFlags, args []string) error {
	if err := f.validate(); err != nil {
		return err
	}
	address, err := f.listenAt()
	if err != nil {
		return err
	}
	refs, err := a.expandOrSuggest(cmd.Root(), args)
	if err != nil {
		return err
	}
	if len(refs) > 1 {
		return usagef("schedscope analyze -o report.html makes a page of several", "view takes one trace, not %d", len(refs))
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return &usageError{fmt.Errorf("serving at %s: %w", f.address, err), "--http :0 takes a port that is free"}
	}
	defer listener.Close()
	if !f.remote && !onLoopback(listener.Addr()) {
		return usagef("serve at 127.0.0.1, or add --allow-remote if others may see the trace", "--http %s means %s here, which can be reached from other machines", f.address, listener.Addr())
	}
	return a.viewAt(cmd.Context(), f, refs[0], listener)
}

// listenAt returns where to listen. Other machines are served only if asked for.
func (f *viewFlags) listenAt() (string, error) {
	host, port, err := net.SplitHostPort(f.address)
	if err != nil {
		return "", usagef("such as --http localhost:8080 or --http :0", "--http %s: want HOST:PORT", f.address)
	}
	if host == "" {
		host = "localhost"
	}
	if !f.remote && !isLoopback(host) {
		return "", usagef("serve at localhost, or add --allow-remote if others may see the trace", "--http %s can be reached from other machines", f.address)
	}
	return net.JoinHostPort(host, port), nil
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

// viewAt reads the trace and serves it until ctx ends.
func (a *app) viewAt(ctx context.Context, f *viewFlags, ref source.Ref, l net.Listener) error {
	in, err := a.openAgain(ctx, ref, &f.read)
	if err != nil {
		return err
	}
	defer in.Close()
	if in.Interrupted {
		ctx = context.WithoutCancel(ctx) // ^C has ended the recording; the next one ends the program
	}
	a.note("reading %s; its address follows", in.Name)
	s, err := a.newViewServer(ctx, in, f)
	if err != nil {
		return err
	}
	address := addressOf(f.address, l.Addr().String())
	fmt.Fprintln(a.stdout, address)
	a.note("serving %s at %s; ^C ends it", in.Name, address)
	if !f.noBrowser {
		a.openBrowser(address)
	}
	return s.serve(ctx, l)
}

// newViewServer reads a trace and returns what serves it.
func (a *app) newViewServer(ctx context.Context, in *input, f *viewFlags) (*viewServer, error) {
	f.timeline = true
	x, err := a.analyzeOpen(ctx, in, &f.analyzeFlags)
	if err != nil {
		return nil, err
	}
	var html bytes.Buffer
	v := x.document().Result()
	if err := page.Write(&html, page.Input{Report: v, Live: true}); err != nil {
		return nil, err
	}
	return &viewServer{page: html.Bytes(), whole: x.timeline, local: !f.remote, windows: a.windows(in, f, v)}, nil
}

// addressOf returns where a browser finds what listens at an address: under the host
// that was asked for, if it names this machine.
func addressOf(asked, listens string) string {
	host, _, _ := net.SplitHostPort(asked)
	if host == "" {
		host = "localhost"
	}
	if _, port, err := net.SplitHostPort(listens); err == nil && isLoopback(host) {
		listens = net.JoinHostPort(host, port)
	}
	return "http://" + listens + "/"
}

// openBrowser shows an address, if this machine seems to have something to show it with.
func (a *app) openBrowser(address string) {
	name, args := "xdg-open", []string{address}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	default:
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
			return
		}
	}
	cmd := exec.Command(name, args...)
	if err := cmd.Start(); err != nil {
		a.note("open it in a browser: %v", err)
		return
	}
	go cmd.Wait()
}
