package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"time"

	"github.com/spf13/cobra"

	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/report/page"
	"github.com/schedscope/schedscope/report/viewer"
)

// viewFlags are the flags of view.
type viewFlags struct {
	analyzeFlags
	address   string
	at        time.Duration // the place to open, with length and goroutine; -1: none
	length    time.Duration
	goroutine int64
	noBrowser bool
	remote    bool
}

func newView(a *app) *cobra.Command {
	var f viewFlags
	cmd := &cobra.Command{
		Use:   "view [flags] TRACE|REPORT.json",
		Short: "Serve the report and its timeline to a browser",
		Long: `view serves the page that analyze -o report.html writes, at a local address, which it prints
on stdout and opens in a browser. Where a trace is too large for one page, the timeline loads
the part in view from the trace, exactly. A report saved as JSON has no timeline. ^C ends view.

The page shows the names of all functions and files in the trace. Only those who know the whole
address can open it, and only on this machine unless --allow-remote is given.`,
		Example: `  schedscope view trace.out
  schedscope view --at 2.9138s --goroutine 31 trace.out
  schedscope view -http=:8080 --no-browser trace.out
  schedscope view report.json
  curl -s http://localhost:6060/debug/pprof/trace?seconds=5 | schedscope view -`,
		ValidArgsFunction: completeTraces,
		RunE:              runs(a.view, &f),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.address, "http", "localhost:0", "serve at `HOST:PORT`; the default host is localhost, port 0 picks a free port")
	flags.DurationVar(&f.at, "at", -1, "open the timeline at `TIME` from the start of the trace, such as 2.5s")
	flags.DurationVar(&f.length, "for", 20*time.Millisecond, "with --at: show `TIME` of the timeline")
	flags.Int64Var(&f.goroutine, "goroutine", -1, "open the lane of goroutine `N`")
	flags.Lookup("at").DefValue, flags.Lookup("goroutine").DefValue = "0s", "0" // so that help does not say -1
	flags.BoolVar(&f.noBrowser, "no-browser", false, "do not open a browser")
	flags.BoolVar(&f.remote, "allow-remote", false, "also serve other machines that can reach the host of --http")
	flags.IntVar(&f.worst, "worst", 20, "show the `N` longest waits in full")
	f.read.register(cmd)
	return cmd
}

func (a *app) view(cmd *cobra.Command, f *viewFlags, args []string) error {
	if err := f.validate(); err != nil {
		return err
	}
	refs, err := a.expandOrSuggest(cmd.Root(), args)
	if err != nil {
		return err
	}
	if f.length <= 0 {
		return usagef("", "--for %v: want more than 0", f.length)
	}
	if len(refs) > 1 {
		return usagef("schedscope analyze -o report.html makes a page of several", "view takes one trace, not %d", len(refs))
	}
	listener, err := viewer.Listen(f.address, f.remote)
	if err != nil {
		return err
	}
	defer listener.Close()
	return a.viewAt(cmd.Context(), f, refs[0], listener)
}

// viewAt reads the trace and serves it until ctx ends.
func (a *app) viewAt(ctx context.Context, f *viewFlags, ref source.Ref, l net.Listener) error {
	in, err := a.openAgain(ctx, ref, &f.read, ref.Kind != source.URL)
	if err != nil {
		return err
	}
	defer in.Close()
	if in.JSON && f.place() != "" {
		return usagef("give the trace it was made from", "%s is a saved report: --at and --goroutine need a trace", in.Name)
	}
	ctx = a.working(ctx) // if ^C has ended the recording, the next one ends the program
	a.note("reading %s; its address follows", in.Name)
	s, err := a.newViewer(ctx, ref, in, f)
	if err != nil {
		return err
	}
	root := viewer.URL(f.address, l.Addr().String())
	address := root + s.Token + "/" + f.place()
	fmt.Fprintln(a.stdout, address)
	a.note("serving %s at %s; ^C ends it", in.Name, address)
	if !f.noBrowser {
		s.Ticket = rand.Text()
		if err := viewer.Browse(root + s.Ticket + "/" + f.place()); err != nil {
			a.note("open it in a browser: %v", err)
		}
	}
	a.patient.Store(true)
	return s.Serve(ctx, l)
}

// place is the part of the address that says where the timeline opens, "" if that is not
// asked for.
func (f *viewFlags) place() string {
	margin := f.length / 10
	place := textui.Join("&", textui.If(f.at >= 0, fmt.Sprintf("t=%v,%v", max(f.at-margin, 0), f.length+2*margin)), textui.If(f.goroutine >= 0, fmt.Sprintf("g=%d", f.goroutine)))
	return textui.If(place != "", "#"+place)
}

// newViewer reads a trace or a saved report and returns what serves it.
func (a *app) newViewer(ctx context.Context, ref source.Ref, in *input, f *viewFlags) (*viewer.Server, error) {
	if in.JSON {
		v, err := a.readSaved(in, &f.analyzeFlags)
		if err != nil {
			return nil, err
		}
		var html bytes.Buffer
		err = page.Write(&html, page.Input{Report: v, TimelineNote: noTimelineSaved})
		return viewer.New(html.Bytes(), rand.Text()), err
	}
	f.timeline = true
	l, err := a.analyzeOpen(ctx, ref, in, &f.analyzeFlags)
	if err != nil {
		return nil, err
	}
	var html bytes.Buffer
	v := l.v
	quote(v)
	if err := page.Write(&html, page.Input{Report: v, Requests: l.requests, Live: true}); err != nil {
		return nil, err
	}
	s := viewer.New(html.Bytes(), rand.Text())
	s.Whole, s.Remote = l.timeline, f.remote
	s.From, s.To = model.Duration(v.Traces[0].Start), model.Duration(v.Traces[0].Start)+v.Traces[0].Span
	s.Record = func(ctx context.Context, from, to model.Duration) ([]byte, error) {
		o := f.read.ingestOptions()
		o.From, o.To = from, to
		return viewer.Record(ctx, in.Trace, o)
	}
	return s, nil
}
