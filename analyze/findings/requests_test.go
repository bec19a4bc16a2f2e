package findings_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/resulttest"
	"github.com/schedscope/schedscope/model"
)

// TestSlowRequests checks what is said of the slowest requests, where the cause is known: waiting
// for one lock for two reasons counts as one, and nothing is said where nothing is slow.
func TestSlowRequests(t *testing.T) {
	const ms = model.Duration(1e6)
	get := func(kind, fn string, slow, middle model.Duration) result.RequestRow {
		return result.RequestRow{Kind: kind, Function: fn, File: "store.go", Wait: "lock", Waiter: "main.get", WaitFile: "get.go", Inferred: true, Slow: slow, Middle: middle, Have: 4}
	}
	v := resulttest.Read(t, "quiet.go1.26.p4.trace")
	tail := result.RequestTail{Count: 5, Total: 50 * ms, From: 8 * ms, Middle: result.RequestMiddle{Count: 10, Total: 10 * ms},
		Rows: []result.RequestRow{get("runnable", "", 25*ms, 0), get("running", "main.rebuild", 20*ms, 0),
			{Kind: "running", Function: "main.serve", Slow: 5 * ms, Middle: 10 * ms, Have: 5}},
		Groups: []result.RequestRow{{Kind: "lock", Function: "main.get", File: "get.go", Line: 3, Slow: 45 * ms, Have: 5},
			{Kind: "running", Function: "main.serve", Slow: 5 * ms, Middle: 10 * ms, Have: 5}}}
	v.Requests = []result.RequestKind{{Kind: "http", RequestSet: result.RequestSet{Dist: result.Dist{Count: 10, Total: 500 * ms}}}, {Kind: "grpc", RequestSet: result.RequestSet{Dist: result.Dist{Count: 20, Total: 90 * ms, Max: 10 * ms},
		Listed: 100, Certain: 90, Codeless: 21, Tails: []result.RequestTail{tail}}}}
	findings.Judge(v)
	if v.Verdict.Word != findings.SlowTail || v.Verdict.Text != "The slowest 5 of 20 requests take 8.00ms and more, half at most 0." {
		t.Errorf("the verdict is %+v", v.Verdict)
	}
	var items []result.Finding
	for _, f := range v.Findings {
		if f.Title != "" {
			items = append(items, f)
		}
	}
	if len(items) != 1 {
		t.Fatalf("%d items, want one: %+v", len(items), items)
	}
	d := items[0]
	if want := "a grpc request waits for a lock"; d.Title != want {
		t.Errorf("it is %q, want %q", d.Title, want)
	}
	if want := "9.00ms of the 10.0ms, 5 of the slowest 5"; d.Text != want || d.Grade != result.Inferred || d.Advice == "" || d.Gain != "the slowest 10.0ms -> about 1.00ms" {
		t.Errorf("it is %q, %v, %q, %q, want %q, inferred, advice, and what it brings", d.Text, d.Grade, d.Advice, d.Gain, want)
	}
	if c := d.Where; len(c) != 2 || c[0].Function != "main.get" || c[0].Length != 9*ms || c[1].Function != "main.rebuild" || c[1].Depth != 1 || c[1].Role != "holds it and runs" {
		t.Errorf("the chain is %+v", c)
	}
	for _, tt := range []struct {
		objective, word, state string
		code                   int
	}{{"nothing:p50=1s", findings.SlowTail, "unknown", 3}, {"p99=1s", findings.Unknown, "unknown", 3}} {
		list, err := findings.ParseObjectives(tt.objective)
		if err != nil {
			t.Fatal(err)
		}
		findings.Judge(v, list...)
		if got := v.Verdict; got.Word != tt.word || got.Objectives[0].State != tt.state || findings.ExitCode(&got) != tt.code {
			t.Errorf("%s: %+v", tt.objective, got)
		}
	}
	v.Requests[1].Tails[0].Total = 7 * ms
	findings.Judge(v)
	if v.Verdict.Word != findings.Healthy || findings.ExitCode(&v.Verdict) != 0 {
		t.Errorf("of requests that are not slow: %+v", v.Verdict)
	}
	v.Requests = v.Requests[1:]
	const all, few = "no goroutine waited", " This is about the whole program; there are too few requests to judge: 3, the longest 10.0ms; see schedscope requests."
	for n, want := range map[int64]string{15: "Nothing here needs fixing: 15 requests, none over 10.0ms, procs", 3: all, 0: all} {
		v.Requests[0].Count = n
		findings.Judge(v)
		if got := v.Verdict.Text; !strings.Contains(got, want) || strings.Contains(got, few) != (n == 3) || strings.Contains(got, "No requests were found") != (n == 0) {
			t.Errorf("of %d requests: %s", n, got)
		}
	}
	v.Requests[0].Kind, v.Requests[0].Count = "func", 15
	if findings.Judge(v); v.Verdict.Word != findings.Unknown || !strings.HasPrefix(v.Verdict.Text, "None of 15 calls that were seen took more than 10.0ms.") {
		t.Errorf("of calls: %s %s", v.Verdict.Word, v.Verdict.Text)
	}
	v.Requests[0].Kind, v.Requests[0].Count = "http", 0
	v.Goroutines = append([]result.Group{{Function: "x/y.(*T).handle", Created: 120, Ended: 110}}, v.Goroutines...)
	findings.Judge(v)
	if got := v.Verdict.Text; !strings.Contains(got, "--request 'goroutine:y.(*T).handle' takes each of its 120 goroutines as one.") {
		t.Errorf("of none: %s", got)
	}
	v.Requests[0].Count, v.Requests[0].Groups = 60, slices.Repeat([]result.RequestGroup{{RequestSet: v.Requests[0].RequestSet}}, 10)
	for i := range v.Requests[0].Groups {
		v.Requests[0].Groups[i].Count = 6
	}
	findings.Judge(v)
	if got := v.Verdict.Text; !strings.Contains(got, all) || !strings.Contains(got, "too few requests to judge: 60") {
		t.Errorf("of ten groups of 6 requests: %s", got)
	}
}

// TestRemedies checks which remedies follow from who waits for whom: a lock that is held by who waits
// for another is not the one to release, a function cannot be called outside of itself, and a queue
// and the work behind it in the same function have one remedy each.
func TestRemedies(t *testing.T) {
	const ms = model.Duration(1e6)
	lock := result.RequestRow{Kind: "lock", Function: "main.get", File: "get.go", Line: 3, Middle: 900 * ms}
	behind := func(kind, fn, file string, line int, way *result.RequestWay) []result.RequestRow {
		return []result.RequestRow{{Kind: kind, Function: fn, File: file, Line: line, Wait: "lock", Waiter: "main.get", WaitFile: "get.go", Way: way, Middle: 900 * ms}}
	}
	writer := &result.RequestWay{Between: []result.Frame{{Function: "main.refresh", File: "refresh.go", Line: 7}}, BetweenKind: "lock"}
	work := func(kind string, middle model.Duration) result.RequestRow {
		return result.RequestRow{Kind: kind, Function: "main.fetch", File: "fetch.go", Line: 4, Middle: middle}
	}
	polls := work("sleep", 500*ms)
	polls.Way = &result.RequestWay{Polls: true}
	waits := func(kind string, way *result.RequestWay) (groups, rows []result.RequestRow) {
		g := result.RequestRow{Kind: kind, Function: "main.get", File: "get.go", Line: 3, Middle: 900 * ms}
		rows = behind("sleep", "main.load", "load.go", 9, way)
		rows[0].Wait = kind
		return []result.RequestRow{g}, rows
	}
	pool, pooled := waits("channel", &result.RequestWay{Within: true})
	cond, signalled := waits("cond", &result.RequestWay{Within: true})
	queue, polled := waits("channel", &result.RequestWay{Polls: true})
	done, slept := waits("waitgroup", nil)
	limit, group := waits("channel", nil)
	ask := []result.Frame{{Function: "main.ask", File: "ask.go", Line: 2}, {Function: "main.get", File: "get.go", Line: 5}}
	released, idle := waits("channel", &result.RequestWay{Within: true, Between: ask, BetweenKind: "call"})
	rows, _ := waits("connection", nil)
	rows[0].Way = &result.RequestWay{Callee: "database/sql.(*DB).Query"}
	asks := func(sql bool) []result.RequestRow {
		_, list := waits("connection", &result.RequestWay{Between: ask, BetweenKind: "call", SQL: sql})
		return list
	}
	expired, piped := work("network", 900*ms), work("network", 900*ms)
	expired.Way, piped.Way = &result.RequestWay{Expires: true}, &result.RequestWay{Callee: result.ReadsPipe}
	asked, late := waits("channel", nil)
	asked[0].Way = &result.RequestWay{Callee: "net/http.(*Client).Do"}
	late[0].Kind, late[0].Function, late[0].Middle = "timer", "", 500*ms
	answered := slices.Clone(late)
	answered[0].Middle = 400 * ms
	called, slept2 := waits("channel", &result.RequestWay{Between: ask[:1], BetweenKind: "call"})
	selects, news := waits("channel", &result.RequestWay{Callee: "time.Sleep"})
	selects[0].Way = &result.RequestWay{Callee: "runtime.selectgo"}
	limit[0].Way = &result.RequestWay{Callee: "golang.org/x/sync/errgroup.(*Group).Go"}
	group[0].Kind = "network"
	starts, writes, locked := work("syscall", ms), work("syscall", 300*ms), lock
	starts.Way = &result.RequestWay{Callee: "os/exec.(*Cmd).Output"}
	locked.Middle = 310 * ms
	file := work("syscall", 900*ms)
	file.Way = &result.RequestWay{Callee: "syscall.Flock"}
	secure := work("network", 900*ms)
	secure.Way, secure.Usual = &result.RequestWay{Callee: "crypto/tls.Dial"}, 10
	dials, shakes := waits("dial", nil)
	shakes[0].Kind = "running"
	logs := lock
	logs.Way = &result.RequestWay{Callee: "log.(*Logger).Printf"}
	put := result.RequestRow{Kind: "lock", Function: "main.put", File: "put.go", Line: 8, Middle: 200 * ms}
	both := append(behind("running", "main.load", "load.go", 9, nil), result.RequestRow{Kind: "running", Function: "main.load", File: "load.go", Line: 9, Wait: "lock", Waiter: "main.put", WaitFile: "put.go", Middle: 200 * ms})
	ends := func(kind, fn string) []result.RequestRow { // of locked, and of a channel
		rows := append(behind(kind, fn, "", 0, nil), behind(kind, fn, "", 0, nil)...)
		rows[1].Wait, rows[1].Waiter, rows[1].WaitFile = "channel", "main.fetch", "fetch.go"
		return rows
	}
	for _, tt := range []struct {
		groups, rows []result.RequestRow
		want         []string // of each item, what its remedy begins with
	}{
		{[]result.RequestRow{work("running", 900*ms), starts}, nil, []string{"It starts a program each time"}},
		{[]result.RequestRow{file}, nil, []string{"Another process, or another file of this one, holds the lock of the file"}},
		{dials, shakes, []string{"Keep connections for the next request"}},
		{[]result.RequestRow{secure}, nil, []string{"Each dials in main.fetch (fetch.go:4): keep connections"}},
		{[]result.RequestRow{writes}, nil, nil}, // less than a third
		{[]result.RequestRow{writes, locked}, behind("syscall", "main.fetch", "fetch.go", 4, nil), []string{"Call main.fetch (fetch.go:4) outside the lock"}},
		{[]result.RequestRow{locked, work("channel", 300*ms)}, ends("sleep", "main.load"), []string{"Call main.load (f) outside the lock"}},
		{[]result.RequestRow{locked, work("channel", 300*ms)}, ends("sleep", ""), nil}, // nobody's
		{[]result.RequestRow{locked, work("channel", 300*ms)}, ends("runnable", "main.load"), nil},
		{[]result.RequestRow{lock}, behind("sleep", "main.load", "load.go", 9, writer), []string{"Call main.load (load.go:9) outside the lock that main.refresh waits for at refresh.go:7: "}},
		{[]result.RequestRow{lock}, behind("running", "main.load", "load.go", 9, writer), []string{"Hold the lock for a shorter time: move what main.load computes outside the lock that main.refresh waits for at refresh.go:7, "}},
		{[]result.RequestRow{lock}, behind("syscall", "main.get", "get.go", 5, &result.RequestWay{Callee: "os.(*File).Sync"}), []string{"Call os.(*File).Sync (get.go:5) outside the lock that is taken at get.go:3: "}},
		{[]result.RequestRow{logs}, behind("syscall", "main.get", "get.go", 3, logs.Way), []string{"log.(*Logger).Printf has a lock of its own, and holds it meanwhile: call it less often"}},
		{[]result.RequestRow{lock, put}, both, []string{"Hold the lock for a shorter time: move what main.load computes outside the lock that is taken at get.go:3 and put.go:8, "}},
		{[]result.RequestRow{work("sleep", 500*ms), work("queued", 400*ms)}, nil, []string{"If the sleep is meant", "Start more workers"}},
		{[]result.RequestRow{polls, work("syscall", 400*ms)}, nil, []string{"Wait for the event"}},
		{pool, pooled, []string{"Raise the limit in main.get (get.go:3) (more permits or connections): only so many pass it at a time, and they wait. Or hold each for less time: shorten main.load."}},
		{cond, signalled, []string{"Raise the limit in main.get (get.go:3) (more"}},
		{queue, polled, []string{"Wait for the event itself instead of sleeping: receive from a channel, or use a sync.Cond. Look at who is at the other end"}},
		{released, idle, []string{"Raise the limit in main.get (get.go:3) (more permits or connections): only so many pass it at a time, and they wait. Or hold each for less time: release it before main.ask (get.go:5), if that needs none, or make that faster."}},
		{rows, asks(false), []string{"Hold each for a shorter time: close the rows, or end the transaction, before it calls main.ask (get.go:5). Or allow more connections"}},
		{rows, asks(true), []string{"Allow more connections"}},
		{[]result.RequestRow{expired}, nil, []string{"A deadline ends it, and no answer has come"}},
		{asked, late, []string{"A deadline ends it, and no answer has come"}},
		{asked, answered, []string{"Ask the other end less often"}},
		{append(asked[:len(asked):len(asked)], result.RequestRow{Kind: "dial", Function: asked[0].Function, Line: asked[0].Line, Usual: 10}), answered, []string{"Each dials a new connection. Keep"}},
		{[]result.RequestRow{piped, starts}, nil, []string{"It starts a program each time"}},
		{[]result.RequestRow{piped}, nil, []string{"Make what writes to it faster"}},
		{called, slept2, []string{"Look at who is at the other end"}}, // no receiver
		{selects, news, []string{"If it waits for news, as a long poll does"}},
		{done, slept, []string{"Make the last of those faster that are waited for, divide its work, or start it first. Or shorten the sleep at load.go:9, unless it is meant."}},
		{limit, group, []string{"Raise the limit in main.get (get.go:3) (SetLimit)"}},
		{[]result.RequestRow{work("queued", 900*ms)}, []result.RequestRow{{Kind: "queued", Function: "main.fetch", File: "fetch.go", Wait: "timer", Middle: 500 * ms},
			{Kind: "queued", Function: "main.fetch", File: "fetch.go", Wait: "sleep", Middle: 400 * ms}}, []string{"Shorten the time-out"}},
	} {
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		v.Requests = []result.RequestKind{{Kind: "task", RequestSet: result.RequestSet{Dist: result.Dist{Count: 20, Total: 2000 * ms, Max: 100 * ms},
			Tails: []result.RequestTail{{Count: 5, Total: 500 * ms, Middle: result.RequestMiddle{Count: 10, Total: 1000 * ms}, Groups: tt.groups, Rows: tt.rows}}}}}
		findings.Judge(v)
		var got []string
		for _, f := range v.Findings {
			if f.Kind == findings.SlowRequests {
				got = append(got, f.Advice)
			}
		}
		if !slices.EqualFunc(got, tt.want, strings.HasPrefix) {
			t.Errorf("the remedies are %q, want %q", got, tt.want)
		}
	}
}

// TestHolder checks that the lock is held by who released it most, which is nearer than what ran until then, except
// where that one waited for a lock itself, as a writer does for readers, and where it has not called what ran.
func TestHolder(t *testing.T) {
	const ms = model.Duration(1e6)
	by := func(names ...string) (list []result.Frame) {
		for _, name := range names {
			list = append(list, result.Frame{Function: name})
		}
		return list
	}
	for _, tt := range []struct {
		want string
		way  result.RequestWay
	}{
		{"main.put", result.RequestWay{}},
		{"main.put", result.RequestWay{Callers: by("main.put", "main.buy")}},
		{"main.put", result.RequestWay{Callers: by("main.buy")}}, // main.put is inlined, and not seen
		{"main.scan", result.RequestWay{Callers: by("main.report")}},
		{"main.scan", result.RequestWay{Between: by("main.put"), BetweenKind: "lock"}},
	} {
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		const reason = "sync.(*RWMutex).Lock"
		v.Waiting.ByReason = []result.Named{{Name: reason}}
		v.Blame.Rows = []result.BlameRow{{Kind: reason, Waiter: "main.put", Function: "main.put", Total: ms, BlameBasis: result.BlameBasis{Seen: ms},
			Stacks: []result.BlameStack{{Stack: by("main.put", "main.buy")}}}}
		group := result.RequestRow{Kind: "lock", Function: "main.put", File: "put.go", Line: 3, Middle: 900 * ms}
		row := result.RequestRow{Kind: "running", Function: "main.scan", File: "scan.go", Line: 9, Wait: "lock", Waiter: "main.put", WaitFile: "put.go", WaitLine: 3, Way: &tt.way, Middle: 900 * ms}
		v.Requests = []result.RequestKind{{Kind: "task", RequestSet: result.RequestSet{Dist: result.Dist{Count: 20, Total: 2000 * ms, Max: 100 * ms},
			Tails: []result.RequestTail{{Count: 5, Total: 500 * ms, Middle: result.RequestMiddle{Count: 10, Total: 1000 * ms}, Groups: []result.RequestRow{group}, Rows: []result.RequestRow{row}}}}}}
		findings.Judge(v)
		i := slices.IndexFunc(v.Findings, func(f result.Finding) bool { return f.Kind == findings.SlowRequests })
		if i < 0 || v.Findings[i].Where[len(v.Findings[i].Where)-1].Function != tt.want {
			t.Errorf("not held by %s: %+v", tt.want, v.Findings)
		}
	}
}

// TestLeak checks that goroutines pile up if at least twice as many are created as end, of few four times as many, and
// nearly all of them wait.
func TestLeak(t *testing.T) {
	for _, x := range []struct {
		created, ended int64
		want           bool
	}{{800, 300, true}, {800, 500, false}, {20, 5, true}, {20, 6, false}, {40, 20, false}} {
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		g := result.Group{Function: "main.ask", Count: 1800, Created: x.created, Ended: x.ended, Lifetime: 1000}
		g.States[model.GoWaiting] = 1000
		v.Goroutines = []result.Group{g}
		findings.Judge(v)
		if got := slices.ContainsFunc(v.Findings, func(f result.Finding) bool { return f.Kind == "goroutine-leak" }); got != x.want {
			t.Errorf("%d created, %d ended: a leak: %t", x.created, x.ended, got)
		}
	}
}

// TestKeeper checks that the jobs which keep the workers are named, by their number times the square of their time.
func TestKeeper(t *testing.T) {
	const ms = model.Duration(1e6)
	for rare, want := range map[int]string{20: "main.ask", 10: "main.deliver"} { // 20*50^2 and 10*50^2 against 2000*4^2
		group := func(name, job string, n int, d, own model.Duration) result.RequestGroup {
			g := result.RequestRow{Kind: "channel", Function: "main.submit", Line: 35, Middle: 10 * d}
			x := result.RequestRow{Kind: "sleep", Function: job, Line: 48, Wait: "channel", Waiter: "main.submit", Way: &result.RequestWay{Callers: []result.Frame{{Function: "main.worker"}}}, Middle: 10 * d}
			return result.RequestGroup{Name: name, RequestSet: result.RequestSet{Dist: distOf(slices.Repeat([]model.Duration{d}, n)...),
				Typical: &result.RequestPath{Name: name, Duration: d, Parts: []result.RequestPart{{Kind: "sleep", Function: job, Wait: "channel", Waiter: "main.submit", Length: own}}},
				Tails:   []result.RequestTail{{Count: 5, Total: 5 * d, From: d, Middle: result.RequestMiddle{Count: 10, Total: 10 * d}, Groups: []result.RequestRow{g}, Rows: []result.RequestRow{x}}}}}
		}
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		v.Requests = []result.RequestKind{{Kind: "http", Groups: []result.RequestGroup{group("main.send", "main.deliver", 2000, 40*ms, 4*ms), group("main.digest", "main.ask", rare, 60*ms, 50*ms)}}}
		findings.Judge(v)
		f := items(v)[0]
		if f.Group != "main.send" || f.Where[len(f.Where)-1].Function != want || (want == "main.ask") != strings.Contains(f.Advice, "let main.digest have workers of its own, make main.ask faster") {
			t.Errorf("%d rare ones: %+v", rare, f)
		}
	}
}

// TestHub checks what is advised where one goroutine handles what others read, and where each handles what it reads.
func TestHub(t *testing.T) {
	const ms = model.Duration(1e6)
	for hub, want := range map[bool]string{true: "One goroutine does it for one message after another", false: "Make it faster, cache or precompute"} {
		n, set := int64(20), result.RequestSet{Dist: distOf(slices.Repeat([]model.Duration{30 * ms}, 20)...)}
		set.Tails = []result.RequestTail{{Count: 5, Total: 150 * ms, Middle: result.RequestMiddle{Count: n, Total: 30 * ms * model.Duration(n)},
			Groups: []result.RequestRow{{Kind: "running", Function: "main.render", Slow: 150 * ms, Middle: 30 * ms * model.Duration(n)}}}}
		for reader := range 5 {
			trace := reader % 2 // each has a hub of its own
			x := result.RequestPath{Trace: trace, Name: "main.serve", Goroutine: model.GoID(1 + trace), Duration: 30 * ms, Parts: []result.RequestPart{
				{Kind: "channel", Goroutine: model.GoID(10 + reader), Length: ms}, {Kind: "running", Function: "main.render", Goroutine: model.GoID(1 + trace), Length: 29 * ms}}}
			if !hub {
				x.Parts[1].Goroutine = x.Parts[0].Goroutine
			}
			set.Slowest = append(set.Slowest, x)
		}
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		v.Requests = []result.RequestKind{{Kind: "tcp", RequestSet: set}}
		findings.Judge(v)
		if list := items(v); len(list) != 1 || !strings.HasPrefix(list[0].Advice, want) {
			t.Errorf("a hub %t: %s %+v", hub, v.Verdict.Text, list)
		}
	}
}

// TestRareRoute checks that the lock which one route holds while it sleeps comes before that the route sleeps, though
// that costs its requests more in all, and that a missed objective of another group comes before both.
func TestRareRoute(t *testing.T) {
	const ms = model.Duration(1e6)
	sleep := result.RequestRow{Kind: "sleep", Function: "main.save", File: "save.go", Line: 9, Slow: 100 * ms, Middle: 200 * ms, Have: 5}
	lock := result.RequestRow{Kind: "lock", Function: "main.get", File: "get.go", Line: 3, Slow: 90 * ms, Have: 5}
	behind := result.RequestRow{Kind: "sleep", Function: "main.save", File: "save.go", Line: 9, Wait: "lock", Waiter: "main.get", WaitFile: "get.go", WaitLine: 3, Slow: 90 * ms, Have: 5}
	other := result.RequestRow{Kind: "running", Function: "main.list", File: "list.go", Line: 5, Middle: 30 * ms}
	group := func(name string, each, slowest model.Duration, n int, groups, rows []result.RequestRow) result.RequestGroup {
		return result.RequestGroup{Name: name, RequestSet: result.RequestSet{Dist: distOf(slices.Repeat([]model.Duration{each}, n)...),
			Tails: []result.RequestTail{{Count: 5, From: slowest, Total: 5 * slowest, Middle: result.RequestMiddle{Count: 10, Total: 10 * each}, Groups: groups, Rows: rows}}}}
	}
	for slo, want := range map[string]string{"": "main.get", "main.list:p50=1ms": "main.list"} {
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		all := group("", ms, 20*ms, 300, nil, nil).RequestSet
		v.Requests = []result.RequestKind{{Kind: "http", RequestSet: all, Handlers: []result.RequestHandler{{Named: result.Named{Name: "main.list", Dist: distOf(slices.Repeat([]model.Duration{3 * ms}, 40)...)}}}, Groups: []result.RequestGroup{
			group("main.export", 20*ms, 20*ms, 60, []result.RequestRow{sleep}, nil),
			group("main.item", ms, 20*ms, 200, []result.RequestRow{lock}, []result.RequestRow{behind}),
			group("main.list", 3*ms, 4*ms, 40, []result.RequestRow{other}, nil)}}}
		var objectives []result.Objective
		if slo != "" {
			objectives, _ = findings.ParseObjectives(slo)
		}
		findings.Judge(v, objectives...)
		list := items(v)
		if len(list) == 0 || list[0].Where[0].Function != want || slices.ContainsFunc(list, func(f result.Finding) bool { return f.Where[0].Function == "main.save" }) {
			t.Errorf("%q: %s %+v, want first that of %s", slo, v.Verdict.Word, list, want)
		}
	}
}

// TestNoRoom checks what is advised where the heap is at its goal all the time.
func TestNoRoom(t *testing.T) {
	for heap, room := range map[uint64]bool{100: false, 99: true} {
		v := resulttest.Read(t, "gc.go1.26.p4.trace")
		v.GC.Share = 0.5
		v.Series.Heap, v.Series.Goal = slices.Repeat([]uint64{heap}, 30), slices.Repeat([]uint64{100}, 30)
		findings.Judge(v)
		i := slices.IndexFunc(v.Findings, func(f result.Finding) bool { return f.Kind == "garbage-collection" })
		if i < 0 || strings.Contains(v.Findings[i].Advice, "Raise the limit (GOMEMLIMIT") == room {
			t.Errorf("a heap of %d of 100: %+v", heap, v.Findings)
		}
	}
}

// TestRetried checks that a sleep which is followed by another call is one between attempts, if others do not sleep there.
func TestRetried(t *testing.T) {
	const retries, meant = "It retries: it calls main.send (send.go:5) again after each sleep, 2.0 times on average.", "If the sleep is meant"
	for name, tt := range map[string]struct {
		calls, usual int64 // in the slowest five, and sleeps in the ten of the middle
		caller       string
		want         string
	}{
		"retries":           {15, 0, "main.retry", retries},
		"no further call":   {10, 0, "main.retry", meant},
		"all sleep":         {15, 20, "main.retry", meant},
		"called by another": {15, 0, "main.other", meant},
		"while procs run":   {10, 0, "main.retry", "The procs are 98% busy: sleeps end late"},
	} {
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		if name == "while procs run" {
			v.Procs.Utilisation = 0.98
		}
		slowest(v, result.RequestRow{Kind: "sleep", Function: "main.retry", File: "retry.go", Line: 7, Slow: 70e6, Have: 5, Times: 10, Usual: tt.usual},
			result.RequestRow{Kind: "network", Function: "main.send", File: "send.go", Line: 5, Slow: 5e6, Have: 5, Times: tt.calls, Usual: 10, Way: &result.RequestWay{Callers: []result.Frame{{Function: tt.caller}}}})
		findings.Judge(v)
		if f := items(v); len(f) != 1 || !strings.HasPrefix(f[0].Advice, tt.want) {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// TestHolderWaits checks that a call which the slowest make while they hold a lock is one item with the waits of others for
// it, and that the lock is named.
func TestHolderWaits(t *testing.T) {
	const ms = model.Duration(1e6)
	v := resulttest.Read(t, "quiet.go1.26.p4.trace")
	behind := result.RequestRow{Kind: "unknown", Function: "main.fetch", File: "fetch.go", Line: 23, Wait: "lock", Waiter: "main.get", WaitFile: "get.go", Slow: 40 * ms}
	known := behind
	known.Kind, known.Slow = "network", 20*ms
	slowest(v, result.RequestRow{Kind: "channel", Function: "main.fetch", File: "fetch.go", Line: 23, Slow: 90 * ms, Have: 3, Way: &result.RequestWay{Callee: "net/http.Get"}},
		result.RequestRow{Kind: "lock", Function: "main.get", File: "get.go", Line: 3, Slow: 60 * ms, Have: 2})
	v.Requests[0].Tails[0].Rows = []result.RequestRow{behind, known}
	findings.Judge(v)
	f := items(v)
	if len(f) != 1 || !strings.HasSuffix(f[0].Title, "waits for a lock") || len(f[0].Where) != 2 || f[0].Where[1].Role != "holds it and waits for the network" || !strings.HasPrefix(f[0].Advice, "Call main.fetch (fetch.go:23) outside the lock that is taken at get.go:3") {
		t.Errorf("%+v", f)
	}
	// Next to what the machine may explain it stays if goroutines are held up for that reason, requests or not.
	for fn, want := range map[string]int{"main.work.func1": 1, "main.get": 0} {
		v := resulttest.Read(t, "mutex.go1.26.p4.trace")
		v.Traces[0].Machine = &result.Machine{Disturbed: "others"}
		slowest(v, result.RequestRow{Kind: "lock", Function: fn, Slow: 20 * ms, Have: 5})
		findings.Judge(v)
		if n := len(slices.DeleteFunc(items(v), func(f result.Finding) bool { return f.Kind != findings.SlowRequests })); n != want {
			t.Errorf("%s: %d items, want %d", fn, n, want)
		}
	}
}

// TestSaid checks what items say of the slowest requests of main.serve.
func TestSaid(t *testing.T) {
	const ms = model.Duration(1e6)
	row := func(kind, fn, callee string, slow model.Duration) result.RequestRow {
		return result.RequestRow{Kind: kind, Function: fn, Slow: slow, Have: 5, Times: 5, Way: &result.RequestWay{Callee: callee}}
	}
	usual := row("network", "main.ask", "", 70*ms)
	usual.Usual = 10
	reply, work := row("channel", "main.serve", "runtime.chanrecv1", 70*ms), row("sleep", "main.convert", "time.Sleep", 70*ms)
	work.Wait, work.Waiter, work.Times = "channel", "main.serve", 10 // two sleeps for each wait
	look, late := row("channel", "main.ask", "net.(*Resolver).LookupHost", 70*ms), row("channel", "main.serve", "runtime.selectgo", 70*ms)
	ended := row("timer", "", "", 70*ms)
	ended.Wait, ended.Waiter = "channel", "main.serve"
	for _, tt := range []struct {
		row   result.RequestRow
		rows  []result.RequestRow
		of    func(result.Finding) string
		wants string
	}{
		{row("network", "main.ask", "", 70*ms), nil, func(f result.Finding) string { return f.Advice }, "Others do without it: "},
		{usual, nil, func(f result.Finding) string { return f.Advice }, "Ask the other end less often"},
		{row("sleep", "main.ask", "", 70*ms), nil, func(f result.Finding) string { return f.Gain }, "the slowest 16.0ms -> at least 2.00ms"},
		{row("waitgroup", "main.serve", "golang.org/x/sync/errgroup.(*Group).Wait", 70*ms), nil, func(f result.Finding) string { return f.Title }, "an http request waits in errgroup.(*Group).Wait"},
		{row("running", "main.sort", "", 70*ms), nil, func(f result.Finding) string { return f.Title }, "an http request runs main.sort"},
		{look, nil, func(f result.Finding) string { return f.Title }, "an http request looks a name up"},
		{late, []result.RequestRow{ended}, func(f result.Finding) string { return f.Advice }, "A timer ends it, as that of a deadline"},
		{row("syscall", "main.serve", "net/http.(*response).Write", 70*ms), nil, func(f result.Finding) string { return f.Advice }, "It sends the answer in one large call"},
		{row("running", "main.serve", "time.After", 70*ms), nil, func(f result.Finding) string { return f.Advice }, "It makes a new timer each time"},
		{reply, []result.RequestRow{work}, func(f result.Finding) string { return f.Where[1].Role }, "sleeps for each in the queue (3.00ms for this one)"},
	} {
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		slowest(v, tt.row)
		tail := &v.Requests[0].Tails[0]
		tail.Rows = tt.rows
		v.Requests[0].Slowest = []result.RequestPath{{Name: "main.serve", Duration: 16 * ms, Parts: []result.RequestPart{
			{Kind: "sleep", Function: "main.convert", Wait: "channel", Waiter: "main.serve", Length: 11 * ms}, {Kind: "sleep", Function: "main.convert", Wait: "channel", Waiter: "main.serve", Length: 3 * ms}}}}
		findings.Judge(v)
		if f := items(v); len(f) != 1 || !strings.HasPrefix(tt.of(f[0]), tt.wants) {
			t.Errorf("%+v, want %q", f, tt.wants)
		}
	}
	v := resulttest.Read(t, "mutex.go1.26.p4.trace")
	if findings.Judge(v); v.Verdict.Text != "Goroutines are held up for 980ms in all, not by the scheduler." {
		t.Error(v.Verdict.Text)
	}
}

// TestStretched checks that sleeps which are longer than others at the same place are laid to the machine, if the
// record next to the trace says that others had the CPUs, or without one if threads had none and one of the sleeps ended
// with the longest silence; and not else.
func TestStretched(t *testing.T) {
	const ms = model.Duration(1e6)
	const recorded, seen = "other programs used 80% of the CPUs while it was recorded", "threads had no CPU 1 time, for up to 5.00ms, and the slowest http requests wait for longer than others at the same place"
	for _, tt := range []struct {
		name    string
		machine *result.Machine
		noCPU   model.Duration
		late    model.Duration // timers
		slow    model.Duration // of the sleep, in the slowest five
		middle  model.Duration // in ten others
		times   int64          // in the slowest five
		word    string
		text    string
	}{
		{"nothing known", nil, 0, 0, 350 * ms, 50 * ms, 5, findings.SlowTail, ""},
		{"threads without a CPU", nil, 5 * ms, 0, 350 * ms, 50 * ms, 5, findings.SlowTail, ""},
		{"ends with a silence", nil, 5 * ms, 0, 350 * ms, 50 * ms, 5, findings.Disturbed, seen},
		{"no sign of it but a silence at the end", nil, 0, 0, 350 * ms, 50 * ms, 5, findings.Disturbed, "nothing of the program happened for up to 60.0ms, as where the process is stopped, and the slowest http requests wait for longer than others at the same place"},
		{"ends with a silence of another of two traces", nil, 5 * ms, 0, 350 * ms, 50 * ms, 5, findings.SlowTail, ""},
		{"ends after a silence", nil, 5 * ms, 0, 350 * ms, 50 * ms, 5, findings.SlowTail, ""},
		{"quiet", &result.Machine{Others: 0.97}, 5 * ms, 0, 350 * ms, 50 * ms, 5, findings.SlowTail, ""},
		{"busy", &result.Machine{Others: 0.8, Disturbed: "x"}, 0, 0, 350 * ms, 50 * ms, 5, findings.Disturbed, recorded},
		{"throttled", &result.Machine{Disturbed: "throttled"}, 0, 0, 350 * ms, 50 * ms, 5, findings.Disturbed, "throttled"},
		{"all alike, and timers are late", nil, 5 * ms, 400 * ms, 350 * ms, 5 * ms, 5, findings.SlowTail, ""},
		{"all alike but one, and timers are late", nil, 5 * ms, 400 * ms, 350 * ms, 5 * ms, 5, findings.Disturbed, seen},
		{"all alike, others, too, and timers are late", nil, 5 * ms, 400 * ms, 350 * ms, 70 * ms, 5, findings.Disturbed, seen},
		{"others do not sleep there", nil, 5 * ms, 0, 350 * ms, 0, 5, findings.SlowTail, ""},
		{"more sleeps", nil, 5 * ms, 0, 350 * ms, 50 * ms, 50, findings.SlowTail, ""},
		{"twice as long", nil, 5 * ms, 4 * ms, 90 * ms, 80 * ms, 5, findings.SlowTail, ""},
		{"twice as long, and timers are late", nil, 5 * ms, 5 * ms, 90 * ms, 80 * ms, 5, findings.Disturbed, seen},
		{"behind a lock", nil, 5 * ms, 0, 350 * ms, 50 * ms, 5, findings.SlowTail, ""},
		{"the same with busy procs", nil, 5 * ms, 5 * ms, 90 * ms, 80 * ms, 5, findings.SlowTail, ""},
	} {
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		v.Traces[0].Machine = tt.machine
		v.Causes.Rows = nil
		if tt.noCPU > 0 {
			v.Causes.Rows = []result.CauseRow{{Cause: "OS in scheduler (suspected)", Suspected: true, Dominated: distOf(tt.noCPU)}}
		}
		v.Lateness.Timers = result.Bounds{Count: 10, P99: tt.late}
		v.Procs.Utilisation, v.Totals.Span, v.Latency.All = 0.05, 1000*v.Latency.All.Total, result.Dist{Count: 100} // idle
		if strings.Contains(tt.name, "busy procs") {
			v.Procs.Utilisation = 0.6
		}
		var listed []result.RequestPath
		if strings.Contains(tt.name, "silence") {
			listed = []result.RequestPath{{Start: model.Time(98 * ms), Duration: 80 * ms, Parts: []result.RequestPart{{Kind: "running", Length: 2 * ms}, {Kind: "sleep", Function: "main.get", Length: 70 * ms}, {Kind: "running", Length: 8 * ms}}}}
			v.Lateness.Together = result.Bounds{Count: 10, Max: 60 * ms, Sketch: distOf(slices.Repeat([]model.Duration{60 * ms}, 10)...).Sketch}
			v.Lateness.Silences = []result.Silence{{End: model.Time(168 * ms), Length: 60 * ms}, {End: model.Time(900 * ms), Length: 60 * ms}}
			if strings.HasSuffix(tt.name, "two traces") {
				v.Lateness.Silences[0].Trace = 1
			}
			if tt.name == "ends after a silence" {
				v.Lateness.Silences[0].End -= model.Time(20 * ms)
			}
		}
		for i := range 5 {
			if length := 70 * ms; strings.HasPrefix(tt.name, "all alike") {
				if i == 4 && strings.Contains(tt.name, "but one") {
					length /= 2
				}
				listed = append(listed, result.RequestPath{Duration: length, Parts: []result.RequestPart{{Kind: "sleep", Function: "main.get", Length: length}}})
			}
		}
		g := result.RequestRow{Kind: "sleep", Function: "main.get", Slow: tt.slow, Middle: tt.middle, Have: 5, Times: tt.times, Usual: 10}
		var rows []result.RequestRow
		if tt.name == "behind a lock" {
			rows = []result.RequestRow{g}
			rows[0].Function, rows[0].Wait, rows[0].Waiter, g.Kind = "main.put", "lock", g.Function, "lock"
		}
		v.Requests = []result.RequestKind{{Kind: "http", RequestSet: result.RequestSet{Slowest: listed, Dist: distOf(slices.Repeat([]model.Duration{6 * ms}, 20)...),
			Tails: []result.RequestTail{{Count: 5, From: 60 * ms, Total: 360 * ms, Middle: result.RequestMiddle{Count: 10, Total: 60 * ms}, Groups: []result.RequestRow{g}, Rows: rows}}}}}
		findings.Judge(v)
		if v.Verdict.Word != tt.word || v.Verdict.Machine != tt.text {
			t.Errorf("%s: %s, %q, want %s, %q", tt.name, v.Verdict.Word, v.Verdict.Machine, tt.word, tt.text)
		}
	}
}

// TestIntended checks what the verdict says where all requests wait outside of the program or for a time,
// and not for each other: which objective accepts that.
func TestIntended(t *testing.T) {
	const ms = model.Duration(1e6)
	call := &result.RequestWay{Callee: "net/http.(*Client).Do"}
	behind := func(wait string) []result.RequestRow {
		return []result.RequestRow{{Kind: "timer", Function: "main.publish", Wait: wait, Waiter: "main.get", Middle: 900 * ms}}
	}
	for _, tt := range []struct {
		group result.RequestRow
		rows  []result.RequestRow
		want  string
	}{
		{result.RequestRow{Kind: "channel", Way: call}, nil, ", outside this program; --slo p50=130ms accepts that."},
		{result.RequestRow{Kind: "channel", Way: call, Usual: 200}, nil, ", not only the slowest."},
		{result.RequestRow{Kind: "network"}, nil, ", outside this program; --slo p50=130ms accepts that."},
		{result.RequestRow{Kind: "channel"}, behind("channel"), ", for a timer; --slo p50=130ms accepts that."},
		{result.RequestRow{Kind: "cond"}, behind("cond"), ", for a timer; --slo p50=130ms accepts that."},
		{result.RequestRow{Kind: "lock"}, behind("lock"), ", not only the slowest."},
		{result.RequestRow{Kind: "timer", Usual: 20, Way: &result.RequestWay{Callee: "runtime.selectgo"}}, nil, ", for a timer; --slo p50=130ms accepts that."}, // again and again
		{result.RequestRow{Kind: "sleep"}, nil, ", in time.Sleep; --slo p50=130ms accepts that."},
		{result.RequestRow{Kind: "lock"}, nil, ", not only the slowest."},
	} {
		g := tt.group
		g.Function, g.Middle = "main.get", 1000*ms
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		v.Requests = []result.RequestKind{{Kind: "http", RequestSet: result.RequestSet{Dist: distOf(slices.Repeat([]model.Duration{123 * ms}, 20)...),
			Tails: []result.RequestTail{{Count: 5, Total: 500 * ms, Middle: result.RequestMiddle{Count: 10, Total: 1000 * ms}, Groups: []result.RequestRow{g}, Rows: tt.rows}}}}}
		findings.Judge(v)
		if got, want := v.Verdict.Text, "Half of 20 requests take 123ms and more"+tt.want; got != want {
			t.Errorf("%+v: %q, want %q", tt.group, got, want)
		}
	}
}

// TestUntold checks that a request which waits until its own timer ends that gets a note, not an item.
func TestUntold(t *testing.T) {
	const ms = model.Duration(1e6)
	v := resulttest.Read(t, "quiet.go1.26.p4.trace")
	g := result.RequestRow{Kind: "timer", Function: "main.poll", Middle: 1000 * ms, Usual: 10, Way: &result.RequestWay{Callee: "runtime.selectgo"}}
	v.Requests = []result.RequestKind{{Kind: "http", RequestSet: result.RequestSet{Dist: distOf(slices.Repeat([]model.Duration{100 * ms}, 20)...),
		Tails: []result.RequestTail{{Count: 5, Total: 500 * ms, Middle: result.RequestMiddle{Count: 10, Total: 1000 * ms}, Groups: []result.RequestRow{g}}}}}}
	findings.Judge(v)
	if v.Verdict.Word != findings.Healthy || !strings.HasSuffix(v.Verdict.Text, "each time after 100ms: a long poll without news, or an answer that never comes.") {
		t.Errorf("%s %s", v.Verdict.Word, v.Verdict.Text)
	}
}

// TestBrought checks that who waits in select for what a request of another handler brings, which comes when it comes, polls: not
// where that handler takes time, where it is the same one, or where it is not in select.
func TestBrought(t *testing.T) {
	const ms = model.Duration(1e6)
	for about, x := range map[string]struct {
		callee, by, in string // what ends the wait, and where who wakes was
		want           string
	}{
		"brought":          {"runtime.selectgo", "main.put", "internal/poll.(*FD).Read", findings.Healthy},
		"by the same":      {"runtime.selectgo", "main.poll", "internal/poll.(*FD).Read", findings.Slow},
		"by a worker":      {"runtime.selectgo", "main.work", "internal/poll.(*FD).Read", findings.Slow},
		"by who asks":      {"runtime.selectgo", "main.put", "main.ask", findings.Slow},
		"without a select": {"runtime.chanrecv1", "main.put", "internal/poll.(*FD).Read", findings.Slow},
	} {
		row := func(kind, fn string, d model.Duration, callers ...result.Frame) result.RequestRow {
			return result.RequestRow{Kind: kind, Function: fn, Wait: "channel", Waiter: "main.poll", Middle: d, Way: &result.RequestWay{Callers: callers}}
		}
		group := func(name string, d model.Duration, rows ...result.RequestRow) result.RequestGroup {
			return result.RequestGroup{Name: name, RequestSet: result.RequestSet{Dist: distOf(slices.Repeat([]model.Duration{d}, 20)...), Tails: []result.RequestTail{{
				Count: 5, Total: 5 * d, Middle: result.RequestMiddle{Count: 10, Total: 10 * d}, Rows: rows,
				Groups: []result.RequestRow{{Kind: "channel", Function: "main.poll", Usual: 10, Middle: 10 * d, Way: &result.RequestWay{Callee: x.callee}}}}}}}
		}
		put := group("main.put", ms/10)
		put.Tails[0].Groups = nil
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		v.Requests = []result.RequestKind{{Kind: "http", Groups: []result.RequestGroup{put,
			group("main.poll", 200*ms, row("network", x.in, 1980*ms), row("running", "main.publish", 20*ms, result.Frame{Function: x.by}))}}}
		if findings.Judge(v); v.Verdict.Word != x.want || (x.want == findings.Healthy) != strings.Contains(v.Verdict.Text, "main.poll waits for what other clients send") {
			t.Errorf("%s: %s %s", about, v.Verdict.Word, v.Verdict.Text)
		}
	}
}

// TestAwaits checks that it is not known whether requests are slow which wait until a goroutine that only waits for a time closes a
// channel, or calls Broadcast: it is where that sends to each, or does something else, too.
func TestAwaits(t *testing.T) {
	const ms = model.Duration(1e6)
	for about, x := range map[string]struct {
		kind, of, top string // of the wait, and of who ends it
		waits, before model.Duration
		want          string
	}{
		"closed":       {"channel", "select", "main.publish", 800, 200, findings.Unknown},
		"received":     {"channel", "chan receive", "main.publish", 800, 200, findings.Unknown},
		"of a Cond":    {"cond", "sync.(*Cond).Wait", "sync.(*Cond).Broadcast", 800, 200, findings.Unknown},
		"signalled":    {"cond", "sync.(*Cond).Wait", "sync.(*Cond).Signal", 800, 200, findings.Slow},
		"sent to each": {"channel", "select", "runtime.chansend1", 800, 200, findings.Slow},
		"stores them":  {"channel", "select", "main.publish", 600, 200, findings.Slow},
		"stored them":  {"channel", "select", "main.publish", 200, 600, findings.Slow},
	} {
		wait := result.RequestRow{Kind: x.kind, Function: "main.poll", Usual: 10, Middle: 2000 * ms}
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		v.Goroutines = []result.Group{{Function: "main.tick", Count: 1, Lifetime: 1000, Waiting: []result.Reason{{Reason: "sleep", Total: x.waits}, {Reason: "(unknown)", Total: x.before}}}}
		v.Blame.Rows = append(v.Blame.Rows, result.BlameRow{Kind: x.of, Function: "main.publish", Waiter: "main.poll", Turns: 20, Stacks: []result.BlameStack{{Stack: []result.Frame{{Function: x.top}, {Function: "main.publish"}, {Function: "main.tick"}}}}})
		v.Requests = []result.RequestKind{{Kind: "http", Groups: []result.RequestGroup{{Name: "main.poll", RequestSet: result.RequestSet{Dist: distOf(slices.Repeat([]model.Duration{200 * ms}, 20)...), Tails: []result.RequestTail{{
			Count: 5, Total: 1000 * ms, Middle: result.RequestMiddle{Count: 10, Total: 2000 * ms}, Groups: []result.RequestRow{wait},
			Rows: []result.RequestRow{{Kind: "sleep", Function: "main.tick", Wait: x.kind, Waiter: "main.poll", Middle: 1900 * ms}}}}}}}}}
		if findings.Judge(v); v.Verdict.Word != x.want {
			t.Errorf("%s: %s %s", about, v.Verdict.Word, v.Verdict.Text)
		}
	}
}

// TestJitter checks that answers from outside may take a little longer now and then, but not much, nor may there be
// more of them.
func TestJitter(t *testing.T) {
	const ms = model.Duration(1e6)
	for _, tt := range []struct {
		each  model.Duration // of the slowest five
		times int64
		word  string
	}{{9 * ms, 5, findings.Healthy}, {17 * ms, 5, findings.SlowTail}, {9 * ms, 100, findings.SlowTail}} {
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		g := result.RequestRow{Kind: "channel", Function: "main.get", Way: &result.RequestWay{Callee: "net/http.(*Client).Do"}, Slow: 5 * tt.each, Middle: 35 * ms, Have: 5, Times: tt.times, Usual: 10}
		v.Requests = []result.RequestKind{{Kind: "http", RequestSet: result.RequestSet{Dist: distOf(slices.Repeat([]model.Duration{4 * ms}, 20)...),
			Tails: []result.RequestTail{{Count: 5, From: 8 * ms, Total: 5 * (tt.each + ms), Middle: result.RequestMiddle{Count: 10, Total: 40 * ms}, Groups: []result.RequestRow{g}}}}}}
		findings.Judge(v)
		if v.Verdict.Word != tt.word {
			t.Errorf("%v: %s %s", tt, v.Verdict.Word, v.Verdict.Text)
		}
	}
}

// TestLimitBehindOutside checks that a limit which only the slowest wait for comes before what all spend outside of
// the program behind it, and that a met p50 accepts the middle alone.
func TestLimitBehindOutside(t *testing.T) {
	const ms = model.Duration(1e6)
	lengths := append(slices.Repeat([]model.Duration{40 * ms}, 95), slices.Repeat([]model.Duration{110 * ms}, 5)...)
	call := result.RequestRow{Kind: "channel", Function: "main.put", Way: &result.RequestWay{Callee: "net/http.(*Client).Do"}, Slow: 200 * ms, Middle: 800 * ms, Have: 5}
	waits := result.RequestRow{Kind: "channel", Function: "main.upload", File: "pool.go", Line: 38, Slow: 350 * ms, Have: 5}
	behind := result.RequestRow{Kind: "network", Function: "main.put", Wait: "channel", Waiter: "main.upload", WaitFile: "pool.go", Way: &result.RequestWay{Within: true}, Slow: 350 * ms}
	pool := result.RequestRow{Kind: "connection", Function: "main.put", Slow: 350 * ms, Have: 5}
	holds := result.RequestRow{Kind: "network", Function: "main.query", Wait: "connection", Waiter: "main.put", Slow: 350 * ms}
	for _, tt := range []struct {
		waits result.RequestRow
		rows  []result.RequestRow
		fix   string
	}{{waits, []result.RequestRow{behind}, "Raise the limit in main.upload (pool.go:38)"}, {pool, nil, "Allow more connections"}, {pool, []result.RequestRow{holds}, "Allow more connections"}} {
		for objective, want := range map[string]struct {
			word  string
			items int
		}{"": {findings.SlowTail, 2}, "p50=43ms": {findings.SlowTail, 1}, "p50=43ms,p99=110ms": {findings.Healthy, 0}, "p99=200ms": {findings.Healthy, 0}, "p50=30ms": {findings.SlowTail, 2}} {
			v := resulttest.Read(t, "quiet.go1.26.p4.trace")
			v.Requests = []result.RequestKind{{Kind: "http", RequestSet: result.RequestSet{Dist: distOf(lengths...), Tails: []result.RequestTail{{Count: 5, From: 110 * ms, Total: 550 * ms,
				Middle: result.RequestMiddle{Count: 20, Total: 800 * ms}, Groups: []result.RequestRow{tt.waits, call}, Rows: tt.rows}}}}}
			var list []result.Objective
			if objective != "" {
				var err error
				if list, err = findings.ParseObjectives(objective); err != nil {
					t.Fatal(err)
				}
			}
			findings.Judge(v, list...)
			var fixes []string
			for _, f := range v.Findings {
				if f.Title != "" {
					fixes = append(fixes, f.Advice)
				}
			}
			if v.Verdict.Word != want.word || len(fixes) != want.items || len(fixes) > 0 && !strings.HasPrefix(fixes[0], tt.fix) {
				t.Errorf("%q: %s %s, %q; want %s and %d items, the first %q", objective, v.Verdict.Word, v.Verdict.Text, fixes, want.word, want.items, tt.fix)
			}
		}
	}
}

// TestCollectorTail checks that what the slowest do for the collector is an item, in one for all places where they do
// it, though waits to run do not matter; and that calls of runtime.GC have a remedy of their own.
func TestCollectorTail(t *testing.T) {
	for callee, want := range map[string]string{"": "garbage collection, 0 cycles in 1.22ms", "runtime.GC": "it calls runtime.GC"} {
		collectorTail(t, callee, want)
	}
}

func collectorTail(t *testing.T, callee, why string) {
	const ms = model.Duration(1e6)
	v := resulttest.Read(t, "quiet.go1.26.p4.trace")
	v.Requests = []result.RequestKind{{Kind: "http", RequestSet: result.RequestSet{Dist: distOf(slices.Repeat([]model.Duration{ms}, 20)...), Tails: []result.RequestTail{{Count: 5, From: 6 * ms, Total: 40 * ms,
		Middle: result.RequestMiddle{Count: 10, Total: 5 * ms}, Groups: []result.RequestRow{{Kind: "gc", Function: "main.page", Slow: 9 * ms, Have: 5, Way: &result.RequestWay{Callee: callee}}, {Kind: "gc", Function: "url.parse", Slow: 8 * ms, Have: 4}}}}}}}
	findings.Judge(v)
	var titles []string
	for _, f := range v.Findings {
		if f.Title != "" {
			titles = append(titles, f.Title+": "+f.Text)
		}
	}
	if want := "an http request works or waits for the garbage collector (" + why + "): 3.40ms of the 8.00ms, 5 of the slowest 5"; v.Verdict.Word != findings.SlowTail || len(titles) != 1 || titles[0] != want {
		t.Errorf("%s %s: %q, want one item, %q", v.Verdict.Word, v.Verdict.Text, titles, want)
	}
}

// TestShared checks that parts of different requests with the same code at their end are worth an item together, and
// that a request with both counts once.
func TestShared(t *testing.T) {
	const ms = model.Duration(1e6)
	write := result.RequestPart{Kind: "running", Function: "main.write", Length: 8 * ms}
	locked := write
	locked.Wait, locked.Waiter = "lock", "main.get"
	for want, paths := range map[int][][]result.RequestPart{1: {{write}, {locked}, {write}, {locked}}, 0: {{write, locked}, {locked, write}}} {
		k := result.RequestKind{Kind: "http", RequestSet: result.RequestSet{Dist: distOf(slices.Repeat([]model.Duration{ms}, 20)...), Tails: []result.RequestTail{{
			Count: 10, From: 8 * ms, Total: 100 * ms, Middle: result.RequestMiddle{Count: 10, Total: 10 * ms},
			Rows: []result.RequestRow{{Kind: "running", Function: "main.write", Wait: "lock", Waiter: "main.get", Slow: 40 * ms, Have: 3}},
			Groups: []result.RequestRow{{Kind: "lock", Function: "main.get", Slow: 40 * ms, Have: 3}, {Kind: "running", Function: "main.write", Slow: 40 * ms, Have: 3},
				{Kind: "running", Function: "main.serve", Slow: 20 * ms, Middle: 10 * ms, Have: 10}}}}}}
		for _, parts := range paths {
			k.Slowest = append(k.Slowest, result.RequestPath{Duration: 10 * ms, Parts: parts})
		}
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		v.Requests = []result.RequestKind{k}
		findings.Judge(v)
		items := 0
		for _, f := range v.Findings {
			if f.Title != "" {
				items++
			}
		}
		if items != want {
			t.Errorf("%d items, want %d: %s", items, want, v.Verdict.Text)
		}
	}
}

// TestAccepted checks that the objective which the verdict proposes is accepted, and makes it another one.
func TestAccepted(t *testing.T) {
	for name, want := range map[string]string{
		"main.get": "get:p50=1m10s", "example.com/a.get[...]": "'get[...]:p50=1m10s'", "GET /a.b": "'GET /a.b:p50=1m10s'", "": "http:p50=1m10s",
	} {
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		set := func(d model.Duration) result.RequestSet {
			return result.RequestSet{Dist: distOf(slices.Repeat([]model.Duration{d}, 20)...), Tails: []result.RequestTail{{Count: 5, Total: 5 * d,
				Middle: result.RequestMiddle{Count: 10, Total: 10 * d}, Groups: []result.RequestRow{{Kind: "network", Function: "main.get", Middle: 10 * d}}}}}
		}
		k := result.RequestKind{Kind: "http", RequestSet: set(70e9)}
		if name != "" {
			k.Handlers = []result.RequestHandler{{Named: result.Named{Name: name, Dist: k.Dist}}}
		}
		v.Requests = []result.RequestKind{k, {Kind: "task", RequestSet: set(1e3)}}
		findings.Judge(v)
		_, text, _ := strings.Cut(v.Verdict.Text, "--slo ")
		slo := strings.TrimSuffix(text, " accepts that.")
		list, err := findings.ParseObjectives(strings.Trim(slo, "'"))
		if err != nil || slo != want {
			t.Errorf("%s: %q: %v", name, v.Verdict.Text, err)
			continue
		}
		findings.Judge(v, list...)
		if findings.ExitCode(&v.Verdict) != 0 || v.Verdict.Word != findings.Healthy {
			t.Errorf("%s: %s: %s %s", name, slo, v.Verdict.Word, v.Verdict.Text)
		}
	}
}

// TestParseObjectives checks what --slo accepts.
func TestParseObjectives(t *testing.T) {
	list, err := findings.ParseObjectives("POST /order:p99=50ms,p50=5ms")
	if err != nil || len(list) != 2 || list[0] != (result.Objective{Group: "POST /order", Quantile: 0.99, Limit: 50e6}) || list[1].Quantile != 0.5 {
		t.Errorf("%+v, error %v", list, err)
	}
	for _, text := range []string{"", "p99", "p99=", "p99=50", "p0=5ms", "p100=5ms", "p99=-5ms", "p99=5ms,", "p99=0s", "99=5ms", "g:", "/a:p50=5ms,/b:p99=5ms", "/a:p50=1m30s,/b:p99=5ms"} {
		if _, err := findings.ParseObjectives(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

// TestTailsAddUp checks that rows and groups of tails add up, each group of its rows.
func TestTailsAddUp(t *testing.T) {
	for _, name := range []string{"http.trace", "tasks.go1.26.p4.trace", "forward.go1.26.p4.trace"} {
		v := resulttest.Read(t, name)
		for _, k := range v.Requests {
			for _, x := range k.Tails {
				slow, middle := x.Total, x.Middle.Total
				for _, g := range x.Groups {
					slow, middle = slow-g.Slow, middle-g.Middle
					for _, r := range x.Rows {
						if r.InGroup(&g) {
							g.Slow, g.Middle = g.Slow-r.Slow, g.Middle-r.Middle
						}
					}
					if g.Slow != 0 || g.Middle != 0 {
						t.Errorf("%s: %s: %+v is not the sum of its rows", name, k.Kind, g)
					}
				}
				if slow != 0 || middle != 0 || len(x.Groups) == 0 {
					t.Errorf("%s: %s: %d groups, %d and %d ns are in none", name, k.Kind, len(x.Groups), slow, middle)
				}
			}
		}
	}
}

// TestWorkersAtOnce checks that more workers are advised only if those that there are do not begin at once, and nothing
// if what they do takes less than 10 ms.
func TestWorkersAtOnce(t *testing.T) {
	const ms = model.Duration(1e6)
	for _, x := range []struct {
		woken         int64
		waking, wait  model.Duration
		more, nothing bool
	}{{10, ms, 115 * ms, false, false}, {6, ms, 115 * ms, false, false}, {6, ms, 95 * ms, false, true}, {5, ms, 95 * ms, true, false}, {10, 10 * ms, 95 * ms, true, false}} {
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		wait := result.RequestRow{Wait: "channel", Waiter: "main.get", WaitFile: "get.go"}
		sleep, runnable := wait, wait
		sleep.Kind, sleep.Function, sleep.Usual, sleep.Middle = "sleep", "main.work", 10-x.woken, x.wait-5*ms
		runnable.Kind, runnable.Usual, runnable.Middle = "runnable", x.woken, x.waking
		v.Requests = []result.RequestKind{{Kind: "http", RequestSet: result.RequestSet{Dist: result.Dist{Count: 20, P50: 12 * ms}, Tails: []result.RequestTail{{
			Count: 5, Total: 60 * ms, Middle: result.RequestMiddle{Count: 10, Total: 120 * ms}, Rows: []result.RequestRow{sleep, runnable},
			Groups: []result.RequestRow{{Kind: "channel", Function: "main.get", File: "get.go", Usual: 10, Middle: x.wait}}}}}}}
		findings.Judge(v)
		if f := items(v); (len(f) == 0) != x.nothing || len(f) > 0 && (strings.Contains(f[0].Advice, "more workers cannot help") == x.more || strings.Contains(f[0].Advice, ": more workers, ") != x.more) {
			t.Errorf("%+v: %+v", x, f)
		}
	}
}

// TestCollectorOfAll checks that all requests are slow if half of their time is spent on the collector.
func TestCollectorOfAll(t *testing.T) {
	const ms = model.Duration(1e6)
	for collects, want := range map[model.Duration]string{5 * ms: findings.Slow, 4 * ms: findings.Healthy} {
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		v.Requests = []result.RequestKind{{Kind: "http", RequestSet: result.RequestSet{Dist: distOf(slices.Repeat([]model.Duration{9 * ms}, 20)...), Tails: []result.RequestTail{{
			Count: 5, Total: 45 * ms, Middle: result.RequestMiddle{Count: 10, Total: 90 * ms}, Groups: []result.RequestRow{{Kind: "gc", Function: "main.parse", Usual: 10, Middle: 10 * collects}}}}}}}
		findings.Judge(v)
		if v.Verdict.Word != want {
			t.Errorf("%d ns: %s %s, want %s", collects, v.Verdict.Word, v.Verdict.Text, want)
		}
	}
}

// TestOneJob checks that more workers are not advised where most of a wait is one job, unlike a queue of many.
func TestOneJob(t *testing.T) {
	const ms = model.Duration(1e6)
	for jobs, want := range map[int]string{1: "Most of it is one job", 4: "Look at who is at the other end"} {
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		job := result.RequestPart{Kind: "sleep", Function: "main.work", Wait: "channel", Waiter: "main.get", Length: 40 * ms / model.Duration(jobs)}
		v.Requests = []result.RequestKind{{Kind: "http", RequestSet: result.RequestSet{Dist: distOf(slices.Repeat([]model.Duration{ms}, 20)...), Tails: []result.RequestTail{{
			Count: 5, From: 40 * ms, Total: 205 * ms, Middle: result.RequestMiddle{Count: 10, Total: 10 * ms},
			Groups: []result.RequestRow{{Kind: "channel", Function: "main.get", File: "get.go", Slow: 200 * ms, Have: 5}},
			Rows:   []result.RequestRow{{Kind: "sleep", Function: "main.work", Wait: "channel", Waiter: "main.get", WaitFile: "get.go", Slow: 200 * ms, Have: 5}}}}}}}
		for i := range 5 {
			v.Requests[0].Slowest = append(v.Requests[0].Slowest, result.RequestPath{Start: model.Time(i) * 1e9, Duration: 41 * ms, Parts: slices.Repeat([]result.RequestPart{job}, jobs)})
		}
		findings.Judge(v)
		if f := items(v); len(f) == 0 || !strings.Contains(f[0].Advice, want) {
			t.Errorf("%d jobs: %+v, want %s", jobs, f, want)
		}
	}
}

// TestCollectsItself checks that a call of the collector stays next to what a machine may explain.
func TestCollectsItself(t *testing.T) {
	const ms = model.Duration(1e6)
	for callee, want := range map[string]int{"": 0, "runtime.GC": 1} {
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		v.Traces[0].Machine = &result.Machine{Disturbed: "others"}
		slowest(v, result.RequestRow{Kind: "gc", Function: "main.page", Slow: 20 * ms, Have: 5, Way: &result.RequestWay{Callee: callee}})
		findings.Judge(v)
		if n := len(items(v)); n != want {
			t.Errorf("%q: %d items, want %d", callee, n, want)
		}
	}
}

// TestDials checks that all requests are slow if each dials for 1 ms and a third of its time, that the calls on those
// connections are another matter, and that they stay when connections are kept.
func TestDials(t *testing.T) {
	const ms = model.Duration(1e6)
	for dials, want := range map[model.Duration]string{20: "the typical request 4.50ms -> about 2.50ms", 14: "", 9: ""} { // in tenths of a ms
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		calls := 45 - dials
		v.Requests = []result.RequestKind{{Kind: "http", RequestSet: result.RequestSet{Dist: distOf(slices.Repeat([]model.Duration{4500 * ms / 1000}, 20)...), Tails: []result.RequestTail{{
			Count: 5, Total: 23 * ms, Middle: result.RequestMiddle{Count: 10, Total: 45 * ms},
			Groups: []result.RequestRow{{Kind: "dial", Function: "main.ask", Usual: 10, Middle: dials * ms},
				{Kind: "channel", Function: "main.ask", Usual: 10, Middle: calls * ms, Way: &result.RequestWay{Callee: "net/http.(*Client).Get"}}},
			Rows: []result.RequestRow{{Kind: "network", Function: "internal/poll.(*FD).Read", Wait: "dial", Waiter: "main.ask", Middle: dials * ms},
				{Kind: "network", Function: "internal/poll.(*FD).Read", Wait: "channel", Waiter: "main.ask", Middle: calls * ms}}}}}}}
		findings.Judge(v)
		gains := result.Each(items(v), func(f *result.Finding) string { return f.Gain })
		if strings.Join(gains, "|") != want || (v.Verdict.Word == findings.Slow) != (want != "") {
			t.Errorf("%d: %s, gains %q, want %q", dials, v.Verdict.Word, gains, want)
		}
	}
}

// TestDialsTail checks that the slowest are not slow by a connection that all dial, which takes them 1.5 ms longer.
func TestDialsTail(t *testing.T) {
	const ms = model.Duration(1e6)
	v := resulttest.Read(t, "quiet.go1.26.p4.trace")
	lengths := append(slices.Repeat([]model.Duration{2 * ms}, 995), slices.Repeat([]model.Duration{4 * ms}, 10)...)
	v.Requests = []result.RequestKind{{Kind: "http", RequestSet: result.RequestSet{Dist: distOf(lengths...), Tails: []result.RequestTail{{
		Count: 10, From: 4 * ms, Total: 40 * ms, Middle: result.RequestMiddle{Count: 10, Total: 20 * ms},
		Groups: []result.RequestRow{{Kind: "dial", Function: "main.ask", Have: 10, Times: 10, Slow: 18 * ms, Usual: 10, Middle: 3 * ms}},
		Rows:   []result.RequestRow{{Kind: "network", Function: "internal/poll.(*FD).Read", Wait: "dial", Waiter: "main.ask", Have: 10, Slow: 18 * ms, Middle: 3 * ms}}}}}}}
	if findings.Judge(v); v.Verdict.Word != findings.Healthy {
		t.Errorf("%s: %s", v.Verdict.Word, v.Verdict.Text)
	}
}

// TestStreams checks that requests which flush after each of many waits are not slow by those, or whose handler of net/http
// writes then.
func TestStreams(t *testing.T) {
	const ms = model.Duration(1e6)
	for _, x := range []struct {
		flushes      int64
		callee, kind string
		want         string
	}{
		{400, "net/http.(*response).Flush", "channel", findings.Healthy},
		{300, "net/http.(*response).Flush", "channel", findings.Slow},
		{400, "fmt.Fprintf", "channel", findings.Healthy},
		{400, "fmt.Fprintf", "timer", findings.Healthy},
		{400, "fmt.Fprintf", "lock", findings.Slow},
		{400, "os.(*File).Write", "channel", findings.Slow},
	} {
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		v.Requests = []result.RequestKind{{Kind: "http", RequestSet: result.RequestSet{Dist: distOf(slices.Repeat([]model.Duration{800 * ms}, 20)...), Tails: []result.RequestTail{{
			Count: 5, Total: 4000 * ms, Middle: result.RequestMiddle{Count: 10, Total: 8000 * ms},
			Groups: []result.RequestRow{{Kind: x.kind, Function: "main.listen", Usual: 400, Middle: 7900 * ms},
				{Kind: "syscall", Function: "main.listen", Usual: x.flushes, Middle: 100 * ms, Way: &result.RequestWay{Callee: x.callee}}}}}}}}
		if findings.Judge(v); v.Verdict.Word != x.want {
			t.Errorf("%+v: %s %s", x, v.Verdict.Word, v.Verdict.Text)
		}
	}
}
