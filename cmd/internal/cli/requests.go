package cli

import (
	"cmp"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/schedscope/schedscope/analyze/requests"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/savedfile"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/report/document"
	"github.com/schedscope/schedscope/report/view"
)

// requestFlags name requests, and which of them are slow.
type requestFlags struct {
	specs []requests.Spec
	slow  time.Duration

	noLabels bool
}

func (f *requestFlags) register(cmd *cobra.Command) {
	cmd.Flags().Func("request", "analyse these `REQUESTS`: http, grpc, rpc, tcp, message, task:NAME, region:NAME, goroutine:REGEXP (start function, or what was handed to sync.WaitGroup.Go and the like) or func:REGEXP (its calls, of which those without a wait in between count as one), and of those only label:REGEXP (its name, 'category: message' of trace.Log, 'task NAME', 'region NAME'); may be repeated (default all of http, grpc, rpc, tcp, message and tasks)", f.add)
}

// registerSlow adds the flags of commands that look at the slowest.
func (f *requestFlags) registerSlow(cmd *cobra.Command) {
	f.register(cmd)
	cmd.Flags().DurationVar(&f.slow, "slow", 0, "count requests of at least `TIME` as the slowest (default the slowest 1 % and 5 %)")
	cmd.Flags().BoolVar(&f.noLabels, "no-labels", false, "leave out the labels of requests: messages of trace.Log, tasks and regions")
}

func newRequests(a *app) *cobra.Command {
	f := analyzeFlags{worst: defaultWorst}
	by := ""
	f.out.top = 21 // with one of median length
	cmd := &cobra.Command{
		Use:   "requests [flags] TRACE|REPORT.json...",
		Short: "List the slowest requests, and where their time went",
		Long: `For each kind of request, the list has the slowest, at most 20, one of median length, and the
longest 20 that were open for a tenth of a second or more when the trace ended:
when, on which goroutine, in which handler, and its critical path. The path is what the request
did itself and, in capitals, what it waited for and for whom. Parts of one kind and place are
added up; parts below 2% of the request are left out. Requests share a row if they are of one
group and the parts that take at least 10% of them are the same. --json lists each request with
all parts.

Requests of other protocols than HTTP, gRPC and net/rpc are inferred. What a goroutine does
from a message that it reads from a connection until it reads the next one there, having
written, is of kind tcp: an acceptor has started it, or eight such messages were seen. If it
hands messages to goroutines that it starts, those are the requests, of kind message. What
calls at one line of its own what writes and what reads, in another package, is a client, and
so is what writes further up in its code than it reads. Messages of WebSockets are inferred
where a handler itself reads them. Requests for a profile or trace of the program itself
(net/http/pprof) are left out.

A goroutine that reads messages may hand them to others by channels or conditions, such as a
hub, workers, or one that writes for each connection. The first of these to write to a
connection then answers: the request is of that goroutine, and is named after the one that
reads. Eight must be answered at one place, and at least half of those that wake somebody.
What comes while the hub of a chat is busy is answered in turn by those who write for
connections. Messages that queue before one that answers for many connections are counted,
without a path, unless their number gives them away; so are those of which one was not
answered, as the answers that follow may be to others. What queues while all of a pool of workers
are busy wakes nobody, and is not found: trace.NewTask, where it is read, marks it.

A trace contains no URLs and no profiler labels (pprof.Do). Groups and requests are named,
in this order, by

1. The route: a region of runtime/trace with a slash in its name, in the request's
goroutine. The pattern of net/http is known behind the ServeMux, so wrap each handler:

	func route(next http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			trace.WithRegion(r.Context(), r.Pattern, func() { next(w, r) })
		}
	}

	mux.HandleFunc("GET /order/{id}", route(order))

2. The handler: the innermost function that a http.HandlerFunc calls, or the router of chi,
connect, Echo, fasthttp, Fiber, Gin, go-restful, gorilla/mux, grpc-gateway, httprouter or Iris, or
method ServeHTTP; a method of gRPC or net/rpc. It is seen where a request blocks, is preempted
or is sampled in it. A request that is seen only in what calls handlers has that name, with
"(middleware)".

3. The task, for other work. Its name is that of a group: keep numbers out of it.

	ctx, task := trace.NewTask(ctx, "checkout")
	defer task.End()

A message says which request it is; --request label:'order: 17' finds it. At most 8
labels are listed, each up to 64 bytes: messages, tasks and regions.

	trace.Log(ctx, "order", id)`,
		Example: `  schedscope requests trace.out
  schedscope requests --request task:checkout --slow 100ms trace.out
  schedscope requests --by function trace.out
  schedscope requests --json trace.out | jq '.[0].slowest[0]'`,
		ValidArgsFunction: completeTraces,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cmp.Or(f.validate(), checkChoice("by", cmp.Or(by, "function"), []string{"function"})); err != nil {
				return err
			}
			refs, err := a.expand(args)
			if err != nil {
				return err
			}
			if err := f.out.check(a, refs); err != nil {
				return err
			}
			l, err := a.load(cmd.Context(), refs, &f)
			if err != nil {
				return err
			}
			for k := range result.Refs(l.v.Requests) {
				k.Slowest = slices.DeleteFunc(k.Slowest, func(q result.RequestPath) bool { return q.Duration < model.Duration(f.requests.slow) })
			}
			if len(l.v.Requests) == 0 && len(f.requests.specs) == 0 {
				a.hint("no requests and no tasks were found, of any protocol; --request names what else is one: schedscope requests --help")
			}
			return f.out.write(a, func(w io.Writer, o output) error {
				if o.format == "json" {
					result.Complete(l.v)
					return savedfile.WriteJSON(w, append([]result.RequestKind{}, l.v.Requests...), true)
				}
				t := document.NewTextWriter(f.out.text(a, w, o))
				if by == "function" {
					t.Sections(view.ByFunction(l.v))
				} else {
					view.Groups(t, l.v, f.out.top)
					t.Sections(view.SlowestRequests(l.v))
				}
				return t.Flush(w)
			})
		},
	}
	flags := cmd.Flags()
	f.out.register(cmd, "text", "json")
	flags.StringVar(&by, "by", "", "list by `WHAT` instead: function, those of the program on the paths of typical and of the slowest requests, with a lower bound of the latency without them")
	f.requests.registerSlow(cmd)
	f.read.register(cmd)
	return cmd
}

// apply leaves out the labels, also of a sample, if they are not to be passed on. The error is that
// none of the requests that were asked for exists.
func (f *requestFlags) apply(v *result.Report, sample []result.RequestKind) error {
	if f.noLabels {
		for _, list := range [][]result.RequestKind{v.Requests, sample} {
			for i := range list {
				list[i].StripLabels()
			}
		}
	}
	names := slices.Concat(result.Each(v.Goroutines, func(x *result.Group) string { return x.Function }),
		result.Each(v.Blame.Rows, func(x *result.BlameRow) string { return x.Function }), result.Each(v.Blame.Rows, func(x *result.BlameRow) string { return x.Waiter }),
		result.Each(v.Tasks, func(x *result.Task) string { return x.Name }), result.Each(v.Regions, func(x *result.Region) string { return x.Name }))
	return f.found(int64(len(v.Requests)), names...)
}

// found returns an error if requests were asked for and there is none. The names are those that there are, as far as they are known.
func (f *requestFlags) found(n int64, names ...string) error {
	if len(f.specs) == 0 || n > 0 {
		return nil
	}
	near := ""
	for _, s := range f.specs {
		if !slices.Contains(names, s.Name) { // else it is there, but none of it is a request
			near = cmp.Or(near, textui.DidYouMean(s.Name, names))
		}
	}
	return usagef(near+"leave --request out to see what there is: schedscope requests", "no request was found of those that --request names")
}

// warn says what of the flags nothing was found of in one trace.
func (f *requestFlags) warn(rd *reading, v *result.Report) {
	for i := range v.Requests {
		switch k := &v.Requests[i]; {
		case k.Count == 0 && len(f.specs) > 0:
			rd.app.warn("%s: the trace shows no request of kind %s from beginning to end, but parts of %d", rd.in.Name, k.Kind, k.Censored.Count)
		case k.Count > 0 && k.Max < model.Duration(f.slow):
			rd.app.warn("%s: no request of kind %s took %v; the longest took %s", rd.in.Name, k.Kind, f.slow, textui.Duration(k.Max))
		}
	}
}

// add takes a value of --request.
func (f *requestFlags) add(text string) error {
	s, err := requests.ParseSpec(text)
	f.specs = append(f.specs, s)
	return err
}
