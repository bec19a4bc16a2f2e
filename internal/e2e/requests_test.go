package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestRequests chooses requests on the scatter, on the lane of the timeline, by a link and on a
// card, and compares them with the JSON report.
func TestRequests(t *testing.T) {
	needBrowser(t)
	path := fixture(t, "http.trace")
	var count, slowest float64
	for _, k := range at(numbers(t, path), []string{"requests"}) {
		count += k.(map[string]any)["count"].(float64)
		slowest = max(slowest, k.(map[string]any)["max_ns"].(float64))
	}
	x := open(t, fileURL(report(t, path)), look{width: 1400, height: 1000}, nil)
	if n := eval[float64](x, "Schedscope.drawn.length"); n != count {
		t.Errorf("%v requests, want all %v", n, count)
	}
	if ns := eval[float64](x, "Schedscope.chosen.ns"); ns != slowest {
		t.Errorf("a request of %v ns is drawn at first, want the slowest, %v", ns, slowest)
	}
	if wrong := eval[int](x, `Schedscope.drawn.filter(q => Schedscope.partsOf(q).reduce((ns, p) => ns + p.ns, 0) !== q.ns).length`); wrong > 0 {
		t.Errorf("the parts of %d requests do not add up", wrong)
	}
	overlap := eval[int](x, `document.getElementById("timeline-view").timeline.state().requests.filter(line => line.some((q, i) => i > 0 && line[i-1].start + line[i-1].ns > q.start)).length`)
	if overlap > 0 {
		t.Errorf("requests overlap on %d lines", overlap)
	}
	// chosen checks that the page and the timeline show a request.
	chosen := func(how, want string) {
		t.Helper()
		x.waitFor("Schedscope.chosen === " + want)
		s, q := x.timeline(), eval[struct{ Start, Ns float64 }](x, want)
		if s.From > q.Start || s.To < q.Start+q.Ns || s.To-s.From > 1.3*q.Ns {
			t.Errorf("%s: the timeline shows %v to %v, want %v to %v", how, s.From, s.To, q.Start, q.Start+q.Ns)
		}
		got := eval[[]int64](x, `document.getElementById("timeline-view").timeline.state().goroutines`)
		if want := eval[[]int64](x, "Schedscope.goroutinesOf(Schedscope.partsOf("+want+"))"); !slices.Equal(got, want) {
			t.Errorf("%s: lanes of %v, want those of the path, %v", how, got, want)
		}
		label := eval[string](x, "Schedscope.requestLabel("+want+")")
		if got := eval[string](x, `document.querySelector("#chosen h3").textContent`); got != label {
			t.Errorf("%s: %q is drawn, want %q", how, got, label)
		}
	}
	const second = "Schedscope.drawn.toSorted((a, b) => b.ns - a.ns)[1]"
	eval[any](x, `document.querySelector("#requests-chart").scrollIntoView()`)
	eval[any](x, `(() => {
		const u = Schedscope.charts.find(c => c.id === "requests-chart").u, q = `+second+`;
		document.querySelector("#requests-chart .plot").focus();
		u.setCursor({ left: u.valToPos(q.start, "x"), top: u.valToPos(q.ns, "y") });
	})()`)
	x.do(chromedp.KeyEvent(kb.Enter))
	chosen("scatter", second)
	x.picture("requests-scatter", false)
	eval[any](x, `document.querySelector("#timeline").scrollIntoView()`)
	x.picture("requests-timeline", false)

	x.press("0")
	const third = "Schedscope.drawn.toSorted((a, b) => b.ns - a.ns)[2]"
	eval[any](x, `(() => {
		const view = document.getElementById("timeline-view"), t = view.timeline, q = `+third+`, c = view.querySelector("canvas");
		const [px, py] = t.requestPlace(q), box = c.getBoundingClientRect();
		for (const type of ["pointerdown", "pointerup"]) c.dispatchEvent(new PointerEvent(type, { clientX: box.left + px, clientY: box.top + py, bubbles: true }));
	})()`)
	chosen("lane", third)

	for i, q := range []string{second, third} {
		eval[any](x, fmt.Sprintf("location.hash = '#t=' + (%s).start + 'ns,' + (%[1]s).ns + 'ns&g=' + (%[1]s).g", q))
		chosen(fmt.Sprintf("link %d", i), q)
	}
	see := eval[string](x, `document.querySelector("details.finding a[href*='&g=']").hash`)
	eval[any](x, fmt.Sprintf("location.hash = %q", see))
	chosen("see", "Schedscope.requestAt(SchedscopeTimeline.parseHash("+fmt.Sprintf("%q", see)+"))")

	address := serve(t, path)
	live := open(t, address, look{hash: "#t=83.8579ms,28.92ms&g=70"}, func(url string) bool { return strings.HasPrefix(url, address+"spans?") })
	live.waitFor("Schedscope.chosen === " + second)

	eval[bool](x, `(document.querySelectorAll("#requests details").forEach(e => e.open = true), true)`)
	x.waitFor(`document.querySelector("#requests details.wait .path-bars button") !== null`)
	eval[any](x, `document.querySelector("#requests").scrollIntoView()`)
	x.picture("requests", false)
}

// TestClip shortens labels: they lose the package, then their end.
func TestClip(t *testing.T) {
	needBrowser(t)
	x := open(t, fileURL(report(t, fixture(t, "quiet.go1.26.p4.trace"))), look{}, nil)
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"G7 cache.(*Rates).Refresh", 25, "G7 cache.(*Rates).Refresh"},
		{"G7 cache.(*Rates).Refresh", 24, "G7 (*Rates).Refresh"},
		{"G7 cache.(*Rates).Refresh", 12, "G7 (*Rates)…"},
		{"main.readOrWrite", 11, "readOrWrite"},
		{"system call without proc", 10, "system ca…"},
		{"idle", 1, ""},
	} {
		if got := eval[string](x, fmt.Sprintf("Schedscope.clip(%q, %v)", c.text, float64(c.n)*6.2+0.1)); got != c.want {
			t.Errorf("%q in %d columns is %q, want %q", c.text, c.n, got, c.want)
		}
	}
	if eval[string](x, `getComputedStyle(document.querySelector("#verdict .good")).color`) == eval[string](x, `getComputedStyle(document.body).color`) {
		t.Error("what is well is not green")
	}
}

// TestSearchLabels finds requests by what the program said of them: a message, a region and a task.
func TestSearchLabels(t *testing.T) {
	needBrowser(t)
	x := open(t, fileURL(report(t, fixture(t, "tasks.go1.26.p4.trace"))), look{width: 1200, height: 900}, nil)
	const found = `document.querySelector("#timeline-view .tl-found").textContent`
	for _, text := range []string{"Status: order 270 served", "region chop", "task bake"} {
		eval[any](x, `(() => { const s = document.querySelector("#timeline-view .tl-search"); s.focus(); s.value = ""; })()`)
		want := eval[int](x, fmt.Sprintf(`Schedscope.drawn.filter(q => q.labels.toLowerCase().includes(%q)).length`, strings.ToLower(text)))
		x.search(text)
		x.waitFor(fmt.Sprintf("%s === \"1 of %d\"", found, want))
		if got := eval[string](x, "Schedscope.chosen.labels"); want == 0 || !strings.Contains(strings.ToLower(got), strings.ToLower(text)) {
			t.Errorf("%s: of %d requests that with %q is chosen", text, want, got)
		}
	}
	if s, q := x.timeline(), eval[struct{ Start, Ns float64 }](x, "Schedscope.chosen"); s.From > q.Start || s.To < q.Start+q.Ns {
		t.Errorf("the timeline shows %v to %v, want %v to %v", s.From, s.To, q.Start, q.Start+q.Ns)
	}
}
