package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// drawer is the text of what the timeline's drawer shows.
func (x *tab) drawer() string {
	x.t.Helper()
	return eval[string](x, `document.querySelector("#timeline-view .tl-drawer").innerText.replace(/\s+/g, " ")`)
}

// search types into the search field and goes to the first hit: two steps.
func (x *tab) search(text string) {
	x.t.Helper()
	x.do(chromedp.SendKeys(chromedp.CSS("#timeline-view .tl-search"), text+kb.Enter))
}

// click clicks the first element of a kind that shows a text.
func (x *tab) click(selector, text string) {
	x.t.Helper()
	if !eval[bool](x, fmt.Sprintf(`(e => e ? (e.scrollIntoView({block: "nearest"}), e.click(), true) : false)(Array.from(document.querySelectorAll(%q)).find(e => e.textContent.includes(%q)))`, selector, text)) {
		x.t.Fatalf("nothing to click shows %q in %s", text, selector)
	}
}

// clickLane clicks a lane of the timeline where it is at a time in ns, or its name if at is negative.
func (x *tab) clickLane(kind string, key, at float64) {
	x.t.Helper()
	left, top, _, _ := x.canvas()
	place := eval[[]float64](x, fmt.Sprintf(`document.getElementById("timeline-view").timeline.place(%q, %v, %v)`, kind, key, at))
	if at < 0 {
		place[0] = 20
	}
	x.do(chromedp.MouseClickXY(left+place[0], top+place[1]))
}

// TestQuestions asks the page of a trace what somebody who looks for the cause of a wait
// asks. Each answer takes two steps at most: clicks, or to type into the search.
func TestQuestions(t *testing.T) {
	trace := fixture(t, "convoy.go1.26.p4.trace")
	all := numbers(t, trace, "--worst", "1")
	worst := all["worst_waits"].([]any)[0].(map[string]any)
	number := func(name string) float64 { return worst[name].(float64) }
	g, start, length := number("goroutine"), number("start_ns"), number("duration_ns")
	path := fileURL(report(t, trace))
	duration := func(x *tab, ns float64) string { return eval[string](x, fmt.Sprintf("Schedscope.duration(%v)", ns)) }
	id := fmt.Sprintf("%.0f", g)
	ran := worst["blockers"].([]any)[0].(map[string]any)["goroutine"].(float64)
	ranFor := 0.0
	for line := range strings.Lines(string(schedscope(t, "export", "-q", "--table", "procs", "--format", "ndjson", trace))) {
		var row struct {
			State            string
			Goroutine        *float64
			Offset, Duration float64
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		if row.State == "running" && row.Goroutine != nil && *row.Goroutine == ran {
			ranFor += max(0, min(row.Offset+row.Duration, start+length)-max(row.Offset, start))
		}
	}
	frame := worst["stack"].([]any)[1].(map[string]any)
	place := fmt.Sprintf("%s main.go:%.0f", frame["function"], frame["line"])

	var most map[string]any // of the functions behind which goroutines waited
	for _, row := range at(all, []string{"blame", "rows"}) {
		if row := row.(map[string]any); most == nil && row["kind"] == "behind a goroutine" {
			most = row
		}
	}

	for _, q := range []struct {
		question string
		steps    []func(x *tab)
		want     func(x *tab) []string // in the drawer, or for who waited for which code
	}{
		{"which function delayed most", []func(*tab){func(x *tab) { x.click("#flame .tl-bar button", "Runnable") }},
			func(x *tab) []string {
				return []string{most["kind"].(string) + ", " + duration(x, most["total_ns"].(float64))}
			}},
		{"when was the worst moment", []func(*tab){func(x *tab) { x.click(".tl-buttons button", "Longest wait") }},
			func(x *tab) []string {
				return []string{"Runnable for " + duration(x, length), "from " + eval[string](x, fmt.Sprintf("SchedscopeTimeline.full(%v)", start))}
			}},
		{"which goroutine waited longest", []func(*tab){func(x *tab) { x.click(".tl-buttons button", "Longest wait") }},
			func(*tab) []string { return []string{"G" + id + " " + worst["function"].(string)} }},
		{"what ran while G" + id + " waited", []func(*tab){func(x *tab) { x.search("G" + id) }},
			func(x *tab) []string {
				return []string{"Ran meanwhile", fmt.Sprintf("%s main.readOrWrite (G%.0f)", duration(x, ranFor), ran)}
			}},
		{"where was it blocked", []func(*tab){func(x *tab) { x.search("G" + id) }},
			func(*tab) []string { return []string{"Had stopped in", "sync.(*RWMutex).RLock", place} }},
		{"who woke it", []func(*tab){func(x *tab) { x.search("G" + id) }},
			func(*tab) []string {
				return []string{fmt.Sprintf("Woken by G%.0f main.work", number("waker")), "Readied in", "sync.(*RWMutex).Unlock"}
			}},
		{"what did proc 0 do then", []func(*tab){func(x *tab) { x.click(".tl-buttons button", "Longest wait") }, func(x *tab) { x.clickLane("procs", 0, start+length/2) }},
			func(*tab) []string { return []string{"P0: running", "Ran", "main.work", "Ran in view"} }},
		{"where is main.readOrWrite", []func(*tab){func(x *tab) { x.search("main.readOrWrite") }},
			func(*tab) []string { return []string{"Running for", "Stopped in", "main.readOrWrite main.go:"} }},
		{"what is this interval's stack", []func(*tab){func(x *tab) { x.clickLane("procs", 1, start+length/2) }},
			func(*tab) []string { return []string{"Stopped in", "main.work.func1.1 main.go:"} }},
		{"how long was it Runnable", []func(*tab){func(x *tab) { x.clickLane("goroutines", g, -1) }},
			func(x *tab) []string {
				sum := 0.0
				for _, row := range at(all, []string{"latency", "by_goroutine"}) {
					if row := row.(map[string]any); row["goroutine"] == g {
						sum = row["total_ns"].(float64)
					}
				}
				return []string{"In view", "Runnable " + duration(x, sum)}
			}},
	} {
		x := open(t, path, look{width: 1280, height: 720}, nil)
		if len(q.steps) > 2 {
			t.Errorf("%s: %d steps", q.question, len(q.steps))
		}
		for _, step := range q.steps {
			step(x)
		}
		text := x.drawer() + eval[string](x, `document.querySelector("#flame .readout").innerText`)
		for _, want := range q.want(x) {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the page does not say %q:\n%s", q.question, want, text)
			}
		}
		x.picture("question-"+strings.ReplaceAll(strings.TrimSuffix(q.question, "?"), " ", "-"), false)
	}
}

// TestDrawer clicks intervals at the sizes of a telephone, a laptop and a desk: what is
// said of each and the beginning of its stack are then within the window, and the page is
// about two windows tall as long as nothing is unfolded.
func TestDrawer(t *testing.T) {
	trace := fixture(t, "convoy.go1.26.p4.trace")
	path := fileURL(report(t, trace))
	first := at(numbers(t, trace), []string{"latency", "by_goroutine"})[0].(map[string]any)["goroutine"].(float64)
	for _, l := range []look{{width: 400, height: 850}, {width: 1280, height: 720}, {width: 1920, height: 1080}} {
		x := open(t, path, l, nil)
		size := fmt.Sprintf("%dx%d", l.width, l.height)
		x.picture("first-"+size, true)
		if h := eval[float64](x, "document.documentElement.scrollHeight"); h > 2.5*float64(l.height) {
			t.Errorf("%s: the page is %.0f pixels tall", size, h)
		}
		if w := eval[float64](x, "document.documentElement.scrollWidth"); w > float64(l.width) {
			t.Errorf("%s: the page is %.0f pixels wide", size, w)
		}
		for _, lane := range []struct {
			kind string
			key  float64
		}{{"procs", 0}, {"goroutines", first}} {
			x.clickLane(lane.kind, lane.key, 35e6)
			x.waitFor(`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
			outside := eval[[]string](x, `(() => {
				const out = [];
				for (const name of [".tl-drawer", ".tl-detail h3", ".tl-stack li"]) {
					const b = document.querySelector("#timeline-view " + name)?.getBoundingClientRect();
					if (!b || b.height === 0 || b.top < 0 || b.left < 0 || b.bottom > innerHeight || b.right > innerWidth) out.push(name + " " + JSON.stringify(b));
				}
				const s = document.querySelector(".tl-stack li").getBoundingClientRect(), d = document.querySelector(".tl-drawer").getBoundingClientRect();
				if (s.bottom > d.bottom) out.push("the stack begins below the drawer's end");
				return out;
			})()`)
			for _, s := range outside {
				t.Errorf("%s, a click on %s: not within the window: %s", size, lane.kind, s)
			}
			x.picture("drawer-"+lane.kind+"-"+size, false)
		}
	}
}

// TestPrint unfolds everything on paper, charts too.
func TestPrint(t *testing.T) {
	x := open(t, fileURL(report(t, fixture(t, "http.trace"))), look{}, nil)
	const folded = `document.querySelectorAll("details:not([open])").length`
	before := eval[int](x, folded)
	eval[bool](x, `(dispatchEvent(new Event("beforeprint")), true)`)
	if n := eval[int](x, folded); n != 0 || before == 0 {
		t.Errorf("%d of %d folded parts stay folded on paper", n, before)
	}
	if n := eval[int](x, `Schedscope.charts.filter(c => !c.u || c.u.width < 200).length`); n != 0 {
		t.Errorf("%d charts are not drawn on paper", n)
	}
	eval[bool](x, `(dispatchEvent(new Event("afterprint")), true)`)
	if n := eval[int](x, folded); n != before {
		t.Errorf("%d parts are folded after printing, before %d", n, before)
	}
}

// TestDiagnosisLinks follows the link of each diagnosis to an interval of the goroutine
// that it names, which is then within the window with what was before and after.
func TestDiagnosisLinks(t *testing.T) {
	trace := fixture(t, "hogs.go1.26.p2.trace")
	x := open(t, fileURL(report(t, trace)), look{width: 1280, height: 720}, nil)
	followed := 0
	for _, f := range numbers(t, trace)["findings"].([]any) {
		place, ok := f.(map[string]any)["look"].(map[string]any)
		if !ok {
			continue
		}
		eval[bool](x, fmt.Sprintf(`(document.querySelectorAll("#verdict a[href^='#t=']")[%d].click(), true)`, followed))
		x.waitFor(`new Promise(done => setTimeout(() => done(true), 50))`)
		s, at := x.timeline(), place["at_ns"].(float64)
		if s.Selected == nil || s.Selected.Key != place["goroutine"] || s.Selected.Start > at || s.Selected.End < at || s.From > s.Selected.Start || s.To < s.Selected.End {
			t.Errorf("the link to %v shows %v to %v and selects %+v", place, s.From, s.To, s.Selected)
		}
		followed++
	}
	if followed == 0 {
		t.Error("no diagnosis has a link")
	}
}
