package findings_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/resulttest"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/model"
)

// TestBatchOfNew checks that what new goroutines of a batch wait for each other does not show a lack of procs, unless it lasts for a
// quarter of the time, or the program has requests.
func TestBatchOfNew(t *testing.T) {
	tcp := func(n int64) []result.RequestKind {
		return []result.RequestKind{{Kind: "tcp", RequestSet: result.RequestSet{Dist: result.Dist{Count: n}}}}
	}
	for name, x := range map[string]struct {
		origin    model.Origin
		saturated model.Duration
		network   model.Duration // waits that the network ends
		requests  []result.RequestKind
		want      string
	}{
		"new":                  {model.OriginCreated, 9e8, 0, nil, findings.Healthy},
		"new, for longer":      {model.OriginCreated, 11e8, 0, nil, findings.Starved},
		"woken":                {model.OriginGoroutine, 0, 0, nil, findings.Starved},
		"by timers":            {model.OriginTimer, 0, 0, nil, findings.Starved},
		"by soon answers":      {model.OriginNetpoll, 0, 9, nil, findings.Starved},
		"by answers":           {model.OriginNetpoll, 0, 11, nil, findings.Healthy},
		"by answers, for long": {model.OriginNetpoll, 11e8, 11, nil, findings.Starved},
		"of a server":          {model.OriginCreated, 0, 0, tcp(3), findings.Starved},
		"of none whole":        {model.OriginCreated, 0, 0, tcp(0), findings.Healthy},
	} {
		v := lacking(t, 1040e6, 77)
		v.Blame.KeptSpan, v.Blame.KeptSamples = 67e6, 4
		v.Latency.ByOrigin = []result.Named{{Name: x.origin.String(), Dist: v.Latency.All}}
		v.Waiting.ByReason = []result.Named{{Name: "network", Dist: result.Dist{Total: x.network * v.Latency.All.Total}}} // so many times as long
		v.Procs.Saturated, v.Procs.Utilisation, v.Requests = x.saturated, 0.5, x.requests
		findings.Judge(v)
		if v.Verdict.Word != x.want {
			t.Errorf("%s: %s %s", name, v.Verdict.Word, v.Verdict.Text)
		}
	}
}

// TestMainWaits checks what is said of a batch in which next to nothing runs while main waits or sleeps.
func TestMainWaits(t *testing.T) {
	const s = model.Duration(1e9)
	for name, x := range map[string]struct {
		reasons []result.Reason
		idle    int // bins of a quarter of a second
		want    string
	}{
		"for what does not come":    {[]result.Reason{{Reason: "sync.(*WaitGroup).Wait", Total: 3 * s}}, 8, "UNKNOWN Nothing ran for 2.00s, while main waited (sync.(*WaitGroup).Wait)"},
		"for what comes":            {[]result.Reason{{Reason: "sync.(*WaitGroup).Wait", Total: 3 * s}}, 7, "HEALTHY Nothing"},
		"for the machine, it seems": {[]result.Reason{{Reason: "chan send", Total: 3 * s}}, 8, "UNKNOWN Nothing ran for 2.00s, while main waited (chan send): if nothing should take that long, it hangs. Goroutines that waited until the end: 8 in main.work (work.go:18)."},
		"asleep":                    {[]result.Reason{{Reason: "sleep", Total: 3 * s}}, 7, "Note that main sleeps for 75% of the time, most of all in main.pause (main.go:9)."},
		"between rounds":            {[]result.Reason{{Reason: "sleep", Total: 2 * s}, {Reason: "sync.(*WaitGroup).Wait", Count: 3, Total: s}}, 7, "UNKNOWN Between its rounds main sleeps for 50% of the time"},
		"at no place":               {[]result.Reason{{Reason: "sleep", Total: 2 * s}, {Reason: "sync.(*WaitGroup).Wait", Count: 3, Total: s}}, 7, "HEALTHY Nothing"},
		"for the network":           {[]result.Reason{{Reason: "network", Total: 3 * s}}, 8, "HEALTHY Nothing"},
	} {
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		v.Totals.Span, v.Requests, v.Procs.Utilisation, v.Series.Width = 4*s, nil, 0.01, s/4
		u := &v.Procs.Uses
		u[result.UseUser] = s / 10
		v.Series.Uses[result.UseUser] = slices.Repeat([]int64{5}, 16)
		clear(v.Series.Uses[result.UseUser][:x.idle])
		v.Goroutines = []result.Group{{Function: "main.main", Count: 1, Waiting: x.reasons}}
		v.Blame.Rows = []result.BlameRow{{Kind: result.BlameTimers, Function: "main.pause", File: "main.go", Line: 9, Turns: 3, Total: 1,
			Stacks: []result.BlameStack{{Stack: []result.Frame{{Function: "main.pause"}, {Function: "main.main"}}}}}}
		switch name {
		case "at no place":
			v.Blame.Rows = nil
		case "for the machine, it seems":
			v.Traces[0].Machine = &result.Machine{Disturbed: "busy"}
			v.Blame.Rows = append(v.Blame.Rows, result.BlameRow{Kind: result.BlameOpen, Function: "main.work", File: "work.go", Line: 18, Turns: 8, Total: 8 * 3 * s},
				result.BlameRow{Kind: result.BlameOpen, Function: "main.idle", File: "work.go", Line: 28, Turns: 8, Total: 3 * s})
		}
		findings.Judge(v)
		if got := v.Verdict.Word + " " + v.Verdict.Text; !strings.Contains(got, x.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestPause checks that the sleep of whoever starts rounds is named, unless the procs had no time for it or were short for longer.
func TestPause(t *testing.T) {
	for name, x := range map[string]struct {
		joins     int64
		busy      float64
		saturated model.Duration
		want      string
	}{
		"rounds":     {3, 0.4, 15e8, "UNKNOWN Between its rounds main.plan sleeps for 50% of the time, most of all in main.wait (a.go:9)"},
		"no rounds":  {2, 0.4, 15e8, "STARVED"},
		"busy":       {3, 0.8, 15e8, "STARVED"},
		"short more": {3, 0.4, 21e8, "STARVED"},
	} {
		v := lacking(t, 1040e6, 77)
		v.Blame.KeptSpan, v.Blame.KeptSamples = 67e6, 4
		v.Totals.Span, v.Procs.Saturated, v.Procs.Utilisation, v.Requests = 4e9, x.saturated, x.busy, nil
		v.Latency.ByOrigin = []result.Named{{Name: model.OriginGoroutine.String(), Dist: v.Latency.All}}
		v.Goroutines = []result.Group{{Function: "main.plan", Count: 1, Waiting: []result.Reason{{Reason: "sleep", Total: 2e9}, {Reason: "sync.(*WaitGroup).Wait", Count: x.joins, Total: 1e9}}}}
		v.Blame.Rows = append(v.Blame.Rows, result.BlameRow{Kind: result.BlameTimers, Function: "main.wait", File: "a.go", Line: 9, Turns: 3,
			Stacks: []result.BlameStack{{Stack: []result.Frame{{Function: "main.wait"}, {Function: "main.plan"}}}}})
		findings.Judge(v)
		if got := v.Verdict.Word + " " + v.Verdict.Text; !strings.HasPrefix(got, x.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestAccepts checks that a wait before connections are accepted is an item, also of a method of a type that is a
// listener, if it lasts for a fifth of the time.
func TestAccepts(t *testing.T) {
	for waiter, x := range map[string]struct {
		total model.Duration
		want  bool
	}{"main.(*door).Accept": {1e9, true}, "main.(*door).acquire": {1e9, true}, "main.(*door).Listen": {5e8, false}, "main.(*hall).acquire": {1e9, false}, "main.Accept": {1e9, false},
		"main.(*server).run": {1e9, true}, "main.(*server).handle": {1e9, false}} {
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		v.Totals.Span = 4e9
		v.Blame.Rows = []result.BlameRow{{Kind: "chan send", Function: "main.(*guest).Close", Waiter: waiter, Turns: 100, Total: x.total}}
		for _, fn := range []string{"main.(*door).Accept", "main.(*server).run"} {
			v.Blame.Rows = append(v.Blame.Rows, result.BlameRow{Kind: result.BlameShortSyscall, Function: fn, Stacks: []result.BlameStack{{Stack: []result.Frame{{Function: "net.(*netFD).accept"}, {Function: "net.(*TCPListener).Accept"}, {Function: fn}}}}})
		}
		findings.Judge(v)
		if got := strings.Contains(v.Verdict.Text, "held up"); got != x.want {
			t.Errorf("%s for %v: %s", waiter, x.total, v.Verdict.Text)
		}
	}
}

// TestOutlives checks that a hundred goroutines pile up if requests of one handler that ended started them, and they wait for
// others.
func TestOutlives(t *testing.T) {
	for name, x := range map[string]struct {
		handler, reason string
		ended           int64
		want            bool
	}{
		"for others":    {"main.watch", "chan send", 0, true},
		"for a timer":   {"main.watch", "sleep", 0, false},
		"of others":     {"main.other", "chan send", 0, false},
		"half of which": {"main.watch", "chan send", 58, true}, // 55, and some of before the trace
		"that also end": {"main.watch", "chan send", 90, false},
	} {
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		g := result.Group{Function: "main.follow", Count: 120 + x.ended, Created: 110, Ended: x.ended, Lifetime: 1000, Waiting: []result.Reason{{Reason: x.reason, Total: 1000}}}
		g.States[model.GoWaiting] = 1000
		v.Goroutines = []result.Group{g}
		v.Requests = []result.RequestKind{{Kind: "http", Handlers: []result.RequestHandler{{Named: result.Named{Name: x.handler, Dist: result.Dist{Count: 100}}}}}}
		v.Blame.Rows = []result.BlameRow{{Kind: result.BlameCreated, Function: "main.watch", Waiter: "main.follow", Turns: 110, Stacks: []result.BlameStack{{Stack: []result.Frame{{Function: "main.watch"}}}}}}
		findings.Judge(v)
		if got := slices.ContainsFunc(v.Findings, func(f result.Finding) bool { return f.Kind == "goroutine-leak" }); got != x.want {
			t.Errorf("%s: a leak: %t", name, got)
		}
	}
}

// TestRemain checks that a tenth of the goroutines of a function pile up if these came throughout the trace, the others end
// soon, and there were few before.
func TestRemain(t *testing.T) {
	const second = model.Duration(1e9)
	for name, x := range map[string]struct {
		before      int64
		early, late int64
		reason      string
		want        bool
	}{
		"throughout":      {17, 30, 60, "chan send", true},
		"in bursts":       {17, 15, 80, "chan send", true},
		"at the end":      {17, 0, 120, "chan send", false},
		"at the start":    {17, 110, 10, "chan send", false},
		"others last":     {17, 14, 90, "chan send", false},
		"many before":     {2000, 30, 60, "chan send", false},
		"in select":       {17, 30, 60, "select", true},
		"for the network": {17, 30, 60, "network", false},
	} {
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		v.Totals.Span = 3 * second
		g := result.Group{Function: "main.follow", Count: x.before + 1200, Created: 1200, Ended: 1080, LeftEarly: x.early, LeftLate: x.late, Lifetime: second, Waiting: []result.Reason{{Reason: x.reason, Total: second}}}
		g.States[model.GoWaiting] = second
		v.Goroutines = []result.Group{g}
		v.Blame.Rows = []result.BlameRow{{Kind: result.BlameCreated, Function: "main.watch", Waiter: "main.follow", Turns: 1200}, {Kind: "select", Function: "main.watch", Waiter: "main.follow", Turns: 1080}}
		findings.Judge(v)
		if got := slices.ContainsFunc(v.Findings, func(f result.Finding) bool { return f.Kind == "goroutine-leak" }); got != x.want {
			t.Errorf("%s: a leak: %t", name, got)
		}
	}
}

// TestTicks checks that goroutines which a timer wakes out of a select pile up, unless those live that may have started them, or
// accept connections; and not those that sleep.
func TestTicks(t *testing.T) {
	const second = model.Duration(1e9)
	for name, x := range map[string]struct {
		creator, reason string
		alive, served   int64
		ended           int64
		want            bool
	}{
		"few start them":               {"main.load", "select", 1, 0, 0, true},
		"as many live":                 {"main.serve", "select", 300, 0, 0, false},
		"who accepts starts them":      {"main.listen", "select", 1, 0, 0, false},
		"called by who accepts":        {"main.open", "select", 1, 0, 0, false},
		"others have ended":            {"main.listen", "select", 1, 300, 300, true},
		"they sleep":                   {"main.load", "sleep", 1, 0, 0, false},
		"others live, too":             {"main.listen", "select", 1, 300, 0, false},
		"others live, not started so":  {"main.load", "select", 1, 300, 0, true},
		"others live, both so started": {"main.upgrade", "select", 1, 300, 0, false},
	} {
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		v.Totals.Span = 3 * second
		g := result.Group{Function: "main.watch", Count: 300, Created: 300, LeftEarly: 75, LeftLate: 150, Lifetime: 450 * second, Waiting: []result.Reason{{Reason: x.reason, Count: 1000, Total: 450 * second}}}
		g.States[model.GoWaiting] = 450 * second
		v.Goroutines = []result.Group{g, {Function: "main.serve", Count: x.alive, Created: x.alive},
			{Function: "main.listen", Count: 1, Created: 1, Waiting: []result.Reason{{Reason: "network"}}},
			{Function: "main.session", Count: x.served, Created: x.served, Ended: x.ended, Waiting: []result.Reason{{Reason: "network"}}}}
		session := "main.listen"
		if x.creator == "main.upgrade" {
			session = x.creator
		}
		stack := func(names ...string) (s []result.BlameStack) {
			return []result.BlameStack{{Stack: result.Each(names, func(n *string) result.Frame { return result.Frame{Function: *n} })}}
		}
		v.Blame.Rows = []result.BlameRow{{Kind: result.BlameTimers, Function: "main.watch", Turns: 700}, {Kind: result.BlameCreated, Function: x.creator, Waiter: "main.watch", Turns: 300, Stacks: stack(x.creator, map[bool]string{true: "main.listen", false: "main.serve"}[x.creator == "main.open"])},
			{Kind: result.BlameCreated, Function: session, Waiter: "main.session", Turns: 300, Stacks: stack(session)},
			{Kind: result.BlameShortSyscall, Function: "main.listen", Stacks: stack("net.(*TCPListener).Accept", "main.listen")}}
		if l := findings.LeakOf(v); (l != nil) != x.want {
			t.Errorf("%s: a leak: %+v", name, l)
		}
	}
}

// TestLeakAtIntervals checks that goroutines which a timer wakes again and again, and that do not end, are to leave their loop,
// and that those which sleep first and then wait for others are not.
func TestLeakAtIntervals(t *testing.T) {
	for waits, want := range map[int64]bool{6000: true, 1200: false} {
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		g := result.Group{Function: "main.refresh", Count: 1200, Created: 1200, Lifetime: 1000, Waiting: []result.Reason{{Reason: "chan receive", Count: waits, Total: 1000}}}
		g.States[model.GoWaiting] = 1000
		v.Goroutines = []result.Group{g}
		v.Blame.Rows = []result.BlameRow{{Kind: result.BlameTimers, Function: "main.refresh", File: "main.go", Line: 34, Turns: 5000}, {Kind: result.BlameOpen, Function: "main.turn", File: "main.go", Line: 50, Waiter: "main.refresh", Turns: 900}}
		findings.Judge(v)
		if f := items(v)[0]; f.Kind != "goroutine-leak" || strings.HasPrefix(f.Advice, "Let them end: leave the loop") != want || f.Where[0].Function != "main.turn" || f.Where[0].Line != 50 {
			t.Errorf("%d waits: %+v: %s", waits, f.Where, f.Advice)
		}
	}
}

// TestLeakWaits checks that the place is named where most goroutines of a leak wait, with their share, and their function alone if
// there is none.
func TestLeakWaits(t *testing.T) {
	for others, want := range map[int64]result.Culprit{300: {Function: "main.turn", Line: 50, Share: 0.75}, 900: {Function: "main.refresh", Share: 1}} {
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		g := result.Group{Function: "main.refresh", Count: 1200, Created: 1200, Lifetime: 1000, Waiting: []result.Reason{{Reason: "chan receive", Count: 1200, Total: 1000}}}
		g.States[model.GoWaiting] = 1000
		v.Goroutines = []result.Group{g}
		v.Blame.Rows = []result.BlameRow{{Kind: result.BlameOpen, Function: "main.last", Line: 70, Waiter: "main.refresh", Turns: others}, {Kind: result.BlameOpen, Function: "main.turn", Line: 50, Waiter: "main.refresh", Turns: 900}}
		findings.Judge(v)
		if c := items(v)[0].Where[0]; c.Function != want.Function || c.Line != want.Line || c.Share != want.Share {
			t.Errorf("%d elsewhere: %+v", others, c)
		}
	}
}

// TestClientsStay checks that goroutines of connections that clients open do not pile up: they wait for the network, and who
// accepts has started them.
func TestClientsStay(t *testing.T) {
	for name, x := range map[string]struct {
		reason, creator string
		want            bool
	}{"clients": {"network", "main.listen", false}, "of others": {"network", "main.crawl", true}, "for others": {"chan send", "main.listen", true}, "not known": {"network", "", false}} {
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		g := result.Group{Function: "main.serve", Count: 1500, Created: 1500, Lifetime: 1000, Waiting: []result.Reason{{Reason: x.reason, Count: 3000, Total: 1000}}}
		g.States[model.GoWaiting] = 1000
		v.Goroutines = []result.Group{g}
		v.Blame.Rows = []result.BlameRow{{Kind: result.BlameCreated, Function: x.creator, Waiter: "main.serve", Turns: 1500},
			{Kind: result.BlameInShort, Function: "main.listen", Stacks: []result.BlameStack{{Stack: []result.Frame{{Function: "syscall.accept4"}, {Function: "net.(*TCPListener).Accept"}, {Function: "main.listen"}}}}}}
		if x.creator == "" { // as in reports saved by older releases
			v.Blame.Rows[0].Function, v.Blame.Rows[0].Waiter = "main.listen", ""
		}
		findings.Judge(v)
		if got := slices.ContainsFunc(v.Findings, func(f result.Finding) bool { return f.Kind == "goroutine-leak" }); got != x.want {
			t.Errorf("%s: a leak: %t", name, got)
		}
	}
}

// TestAttached checks that goroutines of connections do not pile up while these last, and that those do which stay when these end.
func TestAttached(t *testing.T) {
	for name, x := range map[string]struct {
		readers, readersEnded, pushersEnded int64
		starts                              string
		want                                bool
	}{
		"all last":               {1500, 0, 0, "main.push", false},
		"both end":               {1500, 600, 600, "main.push", false},
		"some later":             {1500, 600, 550, "main.push", false},
		"pushers stay":           {1500, 600, 0, "main.push", true},
		"some of them":           {1500, 600, 400, "main.push", true},
		"few read":               {500, 0, 0, "main.push", true},
		"not known what started": {1500, 0, 0, "", false},
	} {
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		group := func(name, reason string, n, ended int64) result.Group {
			g := result.Group{Function: name, Count: n, Created: n, Ended: ended, Lifetime: 1000, Waiting: []result.Reason{{Reason: reason, Count: n, Total: 1000}}}
			g.States[model.GoWaiting] = 1000
			return g
		}
		v.Goroutines = []result.Group{group("main.push", "chan receive", 1500, x.pushersEnded), group("main.serve", "network", x.readers, x.readersEnded)}
		v.Blame.Rows = []result.BlameRow{{Kind: result.BlameCreated, Function: "main.start", Waiter: x.starts, Turns: 1500}}
		if x.starts != "" {
			v.Blame.Rows = append(v.Blame.Rows, result.BlameRow{Kind: result.BlameCreated, Function: "main.start", Waiter: "main.serve", Turns: x.readers},
				result.BlameRow{Kind: result.BlameInShort, Function: "main.start", Stacks: []result.BlameStack{{Stack: []result.Frame{{Function: "net.(*TCPListener).Accept"}, {Function: "main.start"}}}}})
		}
		if l := findings.LeakOf(v); (l != nil) != x.want {
			t.Errorf("%s: a leak: %+v", name, l)
		}
	}
}

// TestLeakStarts checks that who starts goroutines that pile up is named, not who starts more of others.
func TestLeakStarts(t *testing.T) {
	v := resulttest.Read(t, "quiet.go1.26.p4.trace")
	g := result.Group{Function: "main.find.func1", Count: 1200, Created: 1200, Lifetime: 1000, Waiting: []result.Reason{{Reason: "chan send", Total: 1000}}}
	g.States[model.GoWaiting] = 1000
	v.Goroutines = []result.Group{g}
	v.Blame.Rows = []result.BlameRow{{Kind: result.BlameCreated, Function: "main.main.func1", Waiter: "main.ask", Total: 9, Turns: 2000}, {Kind: result.BlameCreated, Function: "main.find", Waiter: "main.find.func1", Total: 5, Turns: 1200}}
	findings.Judge(v)
	for _, x := range v.Findings {
		if x.Kind == "goroutine-leak" && len(x.Where) == 2 && x.Where[1].Function == "main.find" {
			return
		}
	}
	t.Errorf("not main.find: %+v", v.Findings)
}

// TestAwaited: where the program hardly runs, the goroutines for which main waits all the time are what it does, unless they are
// clients or workers, which live as long as the trace.
func TestAwaited(t *testing.T) {
	for _, x := range []struct {
		span, lives model.Duration
		want        bool
	}{{1000, 500, true}, {2000, 500, false}, {1000, 501, false}} {
		r := &result.Report{Traces: []result.Trace{{}}, Totals: result.Totals{Span: x.span}, Goroutines: []result.Group{
			{Function: "main.main", Count: 1, Waiting: []result.Reason{{Reason: "sync.(*WaitGroup).Wait", Count: 1, Total: 900}}}, {Function: "main.load.func1", Count: 8, Lifetime: 8 * x.lives}}}
		r.Latency.All = result.Dist{Count: 1, Total: 1, Max: 1}
		r.Blame.Rows = []result.BlameRow{{Kind: "sync.(*WaitGroup).Wait", Function: "main.load.func1", Waiter: "main.load", Total: 900}}
		findings.Judge(r)
		if got := strings.Contains(r.Verdict.Text, "goroutine:main.load.func1' takes each of its 8 "); got != x.want {
			t.Errorf("%+v: %s", x, r.Verdict.Text)
		}
	}
}

// TestStraggles checks that rounds which wait for a late goroutine are named: for longer than the last of as many that take as
// long as they happen to.
func TestStraggles(t *testing.T) {
	const ms = model.Duration(1e6)
	for name, x := range map[string]struct {
		each, mean model.Duration // of a round, and of a goroutine
		rounds     int64
		want       bool
	}{
		"late":        {31 * ms, 9 * ms, 84, true},
		"by chance":   {26 * ms, 9 * ms, 84, false},
		"few rounds":  {31 * ms, 9 * ms, 19, false},
		"seldom":      {10 * ms, 2 * ms, 84, false},
		"of a server": {31 * ms, 9 * ms, 84, false},
		"of others":   {31 * ms, 9 * ms, 84, false},
		"not known":   {31 * ms, 9 * ms, 84, false},
	} {
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		v.Totals.Span, v.Requests = 3000*ms, nil
		if name == "of a server" {
			v.Requests = []result.RequestKind{{Kind: "http", RequestSet: result.RequestSet{Dist: distOf(slices.Repeat([]model.Duration{ms}, 20)...)}}}
		}
		v.Goroutines = []result.Group{{Function: "main.fetchAll.func1", Count: 8 * x.rounds, Created: 8 * x.rounds, Ended: 8 * x.rounds, Lifetime: model.Duration(8*x.rounds) * x.mean}}
		v.Blame.Rows = []result.BlameRow{{Kind: "sync.(*WaitGroup).Wait", Function: "main.fetchAll.func1", Waiter: "main.fetchAll", Turns: x.rounds, Total: model.Duration(x.rounds) * x.each}}
		v.Procs.Uses[result.UseUser] = v.Totals.Span / 5
		starts := result.BlameRow{Kind: result.BlameCreated, Function: "main.fetchAll", Waiter: "main.fetchAll.func1", Turns: 8 * x.rounds}
		switch name {
		case "of others":
			starts.Function = "main.refresh"
		case "not known": // as in reports saved by older releases
			starts.Waiter = ""
		}
		v.Blame.Rows = append(v.Blame.Rows, starts)
		findings.Judge(v)
		if got := strings.Contains(v.Verdict.Text, "84 rounds of main.fetchAll takes 3.4 times as long as its 8 goroutines (main.fetchAll.func1) do on average"); got != x.want {
			t.Errorf("%s: %s %s", name, v.Verdict.Word, v.Verdict.Text)
		}
	}
}

// TestPool checks that goroutines which were created at one time, and are woken where they wait again, are a pool.
func TestPool(t *testing.T) {
	for name, x := range map[string]struct {
		woken, elsewhere, ended, late int64
		want                          bool
	}{
		"a pool":              {900, 0, 0, 0, false},
		"never woken":         {0, 0, 0, 0, true},
		"few are":             {100, 0, 0, 0, true},
		"woken elsewhere":     {0, 900, 0, 0, true},
		"those woken end":     {500, 0, 450, 0, true},
		"more and more":       {900, 0, 0, 700, true},
		"woken here and else": {900, 900, 0, 0, false},
	} {
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		rest := 1500 - x.ended
		g := result.Group{Function: "main.consume", Count: 1500, Created: 1500, Ended: x.ended, LeftEarly: rest - x.late, LeftLate: x.late, Lifetime: 1000,
			Waiting: []result.Reason{{Reason: "sync.(*Cond).Wait", Count: rest + x.woken + x.elsewhere, Total: 1000}}}
		g.States[model.GoWaiting] = 1000
		v.Goroutines = []result.Group{g}
		v.Blame.Rows = []result.BlameRow{{Kind: result.BlameOpen, Function: "main.take", File: "a.go", Line: 5, Waiter: "main.consume", Turns: rest},
			{Kind: "sync.(*Cond).Wait", Function: "main.put", Waiter: "main.take", WaiterFile: "a.go", WaiterLine: 5, Turns: x.woken},
			{Kind: "sync.(*Cond).Wait", Function: "main.put", Waiter: "main.take", WaiterFile: "a.go", WaiterLine: 4, Turns: x.elsewhere}}
		if l := findings.LeakOf(v); (l != nil) != x.want {
			t.Errorf("%s: a leak: %+v", name, l)
		}
	}
}

// TestSuspected checks when much of the waiting is laid to the operating system.
func TestSuspected(t *testing.T) {
	for name, x := range map[string]struct {
		of, all, span model.Duration
		want          bool
	}{"much": {300, 1000, 2000, true}, "little of it": {200, 1000, 1000, false}, "little of the time": {300, 1000, 4000, false}} {
		if got := findings.Suspected(x.of, x.all, x.span); (got != "") != x.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestHerd checks that who wakes very many goroutines has the line at which it does.
func TestHerd(t *testing.T) {
	f := items(resulttest.Read(t, "goroutines.go1.26.p4.trace"))[0]
	if f.Kind != "batch" || f.Where[0].Function != "main.burst" || f.Where[0].Line == 0 || !strings.HasPrefix(f.Title, "main.burst wakes") {
		t.Errorf("%s: %+v", f.Title, f.Where)
	}
}

// TestCrowd checks that goroutines that queue again in a crowd of new ones, as after a collection, wait for the crowd, not those that do
// when it is gone; that timers fire together where the peak is another; and that a crowd for a short time matters to nobody.
func TestCrowd(t *testing.T) {
	for name, x := range map[string]struct {
		crowd  int64 // goroutines
		most   model.Origin
		spread int64 // of the time
		want   bool
	}{
		"again in a crowd":      {200, model.OriginGC, 1, true},
		"again when it is gone": {199, model.OriginGC, 1, false},
		"timers":                {200, model.OriginTimer, 1, true},
		"timers, one by one":    {199, model.OriginTimer, 1, false},
		"new":                   {0, model.OriginCreated, 1, true},
		"new, for a short time": {0, model.OriginCreated, 100, false},
	} {
		v := resulttest.Read(t, "fanout.go1.26.p4.trace")
		first := &dist.Dist{}
		first.Add(v.Latency.All.Total/100, 0)
		v.Latency.ByOrigin = []result.Named{{Name: model.OriginCreated.String(), Dist: result.NewDist(first)}}
		if x.most == model.OriginCreated {
			v.Latency.ByOrigin = nil
		}
		v.Latency.ByOrigin = append(v.Latency.ByOrigin, result.Named{Name: x.most.String(), Dist: v.Latency.All})
		v.Procs.Saturated = v.Totals.Span / model.Duration(x.spread)
		for i, d := range v.Series.Covered {
			v.Series.Runnable[i] = x.crowd * d
		}
		findings.Judge(v)
		if list := items(v); (len(list) > 0 && list[0].Kind == "batch") != x.want {
			t.Errorf("%s: %s %+v", name, v.Verdict.Word, list)
		}
	}
}
