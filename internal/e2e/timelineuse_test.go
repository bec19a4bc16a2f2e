package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestTimelineWheel checks that the page scrolls over a timeline that nobody has chosen, and
// that one which has been is zoomed until all of it is seen.
func TestTimelineWheel(t *testing.T) {
	x := open(t, fileURL(report(t, fixture(t, "http.trace"))), look{}, nil)
	x.canvas()
	type turned struct {
		Taken  bool    `json:"taken"`
		Length float64 `json:"length"`
	}
	turn := func(options string) turned {
		t.Helper()
		return eval[turned](x, fmt.Sprintf(`(() => {
			const canvas = document.querySelector("#timeline-view canvas"), b = canvas.getBoundingClientRect();
			const e = new WheelEvent("wheel", Object.assign({clientX: b.left + b.width / 2, clientY: b.top + b.height / 2, bubbles: true, cancelable: true}, %s));
			canvas.dispatchEvent(e);
			const s = document.getElementById("timeline-view").timeline.state();
			return {taken: e.defaultPrevented, length: s.to - s.from};
		})()`, options))
	}
	s := x.timeline()
	whole := s.Max - s.Min
	if got := turn("{deltaY: -100}"); got.Taken || got.Length != whole {
		t.Errorf("without focus: %+v, want the page scrolled", got)
	}
	if got := turn("{deltaY: -100, ctrlKey: true}"); !got.Taken || got.Length >= whole {
		t.Errorf("with Ctrl: %+v, want it zoomed", got)
	}
	x.press("0")
	if got := turn("{deltaY: 100}"); got.Taken {
		t.Errorf("zooming out of the whole: %+v, want the page scrolled", got)
	}
	if got := turn("{deltaY: -100}"); !got.Taken || got.Length >= whole {
		t.Errorf("with focus: %+v, want it zoomed", got)
	}
}

// TestTimelineTouch moves with a finger.
func TestTimelineTouch(t *testing.T) {
	x := open(t, fileURL(report(t, fixture(t, "http.trace"))), look{width: 400, height: 800, hash: "#t=100ms,4ms"}, nil)
	x.canvas()
	if got := eval[string](x, `getComputedStyle(document.querySelector("#timeline-view canvas")).touchAction`); got != "pan-y" {
		t.Errorf("touch-action is %q, want that the page moves up and down", got)
	}
	touch := func(steps string) {
		t.Helper()
		eval[bool](x, fmt.Sprintf(`(() => {
			const canvas = document.querySelector("#timeline-view canvas"), b = canvas.getBoundingClientRect();
			for (const [kind, id, dx] of %s) canvas.dispatchEvent(new PointerEvent(kind, {pointerId: id, pointerType: "touch", button: 0, clientX: b.left + dx, clientY: b.top + 200, bubbles: true}));
			return true;
		})()`, steps))
	}
	before := x.timeline()
	touch(`[["pointerdown", 7, 200], ["pointermove", 7, 150], ["pointerup", 7, 150]]`)
	moved := x.timeline()
	if moved.From <= before.From || !near(moved.To-moved.From, before.To-before.From) {
		t.Errorf("a finger moved %+v to %+v", before, moved)
	}
}

// TestTimelinePlaces follows addresses of places that the trace does not have.
func TestTimelinePlaces(t *testing.T) {
	x := open(t, fileURL(report(t, fixture(t, "http.trace"))), look{}, nil)
	follow := func(hash string) (string, seen) {
		t.Helper()
		eval[bool](x, fmt.Sprintf(`(location.hash = %q, true)`, hash))
		x.waitFor(`new Promise(done => setTimeout(() => done(true), 50))`)
		return eval[string](x, `document.querySelector("#timeline-view .tl-status").textContent`), x.timeline()
	}
	for _, c := range []struct{ hash, want string }{
		{"#t=100s,1ms", "The trace ends at"}, {"#t=10ms,1ms&g=99999", "No goroutine 99999 in this trace"},
		{"#t=x,1ms", "not a time and a length"}, {"#t=1ms,1ms&g=z", "not the id of a goroutine"},
	} {
		if said, _ := follow(c.hash); !strings.Contains(said, c.want) {
			t.Errorf("%s says %q, want %q", c.hash, said, c.want)
		}
	}
	if said, s := follow("#g=1"); said != "" || s.Selected == nil || s.Selected.Kind != "goroutines" || s.Selected.Key != 1 {
		t.Errorf("#g=1 says %q and selects %+v, want goroutine 1", said, s.Selected)
	}
}

// TestTimelineKeysOfPage presses keys while nothing has the focus.
func TestTimelineKeysOfPage(t *testing.T) {
	x := open(t, fileURL(report(t, fixture(t, "http.trace"))), look{}, nil)
	press := func(key string) {
		t.Helper()
		eval[bool](x, fmt.Sprintf(`(document.body.dispatchEvent(new KeyboardEvent("keydown", {key: %q, bubbles: true, cancelable: true})), true)`, key))
	}
	x.unfold()
	eval[bool](x, `(scrollTo(0, document.body.scrollHeight), true)`)
	before := x.timeline()
	press("w")
	if s := x.timeline(); s != before {
		t.Errorf("w zooms a timeline that cannot be seen: %+v, before %+v", s, before)
	}
	x.canvas()
	press("w")
	if s := x.timeline(); !near(s.To-s.From, 0.7*(before.To-before.From)) {
		t.Errorf("w shows %+v", s)
	}
	press("?")
	x.waitFor(`document.querySelector("#timeline-view .tl-drawer.open .tl-help") !== null`)
	press("/")
	x.waitFor(`document.activeElement === document.querySelector("#timeline-view .tl-search")`)
}

// TestPathologyLinks follows the link of each pathology that names a goroutine to an
// interval of that goroutine which ends just when the worst case did.
func TestPathologyLinks(t *testing.T) {
	for _, name := range []string{"convoy.go1.26.p4.trace", "oneproc.go1.26.p1.trace"} {
		trace := fixture(t, name)
		x := open(t, fileURL(report(t, trace)), look{}, nil)
		followed := 0
		for i, p := range numbers(t, trace)["pathologies"].([]any) {
			p := p.(map[string]any)
			g, at, worst := p["worst_goroutine"].(float64), p["worst_at_ns"].(float64), p["worst_ns"].(float64)
			eval[bool](x, fmt.Sprintf(`(document.querySelectorAll("#found article > p a")[%d].click(), true)`, i))
			x.waitFor(`new Promise(done => setTimeout(() => done(true), 50))`)
			s := x.timeline()
			if s.From > at-worst || s.To < at {
				t.Errorf("%s: the link of %v shows %v to %v, want %v to %v", name, p["name"], s.From, s.To, at-worst, at)
			}
			if g >= 0 && (s.Selected == nil || s.Selected.Key != g || s.Selected.Start >= at || s.Selected.End <= at-worst) {
				t.Errorf("%s: the link of %v selects %+v, want what goroutine %v did from %v to %v", name, p["name"], s.Selected, g, at-worst, at)
			}
			followed++
		}
		if followed == 0 {
			t.Errorf("%s has no pathologies", name)
		}
	}
}

// TestTimelineLanes zooms in and finds the lanes of goroutines that did something then, those
// that waited most to run first, and the others when it asks for them.
func TestTimelineLanes(t *testing.T) {
	x := open(t, fileURL(report(t, fixture(t, "http.trace"))), look{hash: "#t=166ms,2ms"}, nil)
	const settled = `new Promise(done => setTimeout(() => done(true), 400))`
	const keys = `document.getElementById("timeline-view").timeline.state().goroutines`
	x.waitFor(settled)
	want := eval[[]float64](x, `(async () => {
		const d = SchedscopeTimeline.decode(await Schedscope.inflate(Schedscope.timelineData())), c = d.goroutines, list = [];
		for (const lane of c.lanes) {
			let busy = 0, runnable = 0;
			for (let i = lane.first; i < lane.last; i++) {
				const ns = Math.min(c.end[i], 168e6) - Math.max(c.start[i], 166e6), state = c.states[c.head[i] & 7];
				if (ns > 0 && state !== "Waiting") busy += ns;
				if (ns > 0 && state === "Runnable") runnable += ns;
			}
			if (busy > 0) list.push({ key: lane.key, runnable });
		}
		return list.sort((a, b) => b.runnable - a.runnable || a.key - b.key).map(x => x.key);
	})()`)
	got := eval[[]float64](x, keys)
	if fmt.Sprint(got) != fmt.Sprint(want) || len(got) < 5 {
		t.Errorf("lanes of %v, want %v", got, want)
	}
	x.canvas()
	x.press("m")
	if all := eval[[]float64](x, keys); len(all) < 700 || fmt.Sprint(all[:len(want)]) != fmt.Sprint(want) {
		t.Errorf("m shows %d lanes, of %v first", len(all), all[:min(len(want), len(all))])
	}
	x.press("m")
	if again := eval[[]float64](x, keys); fmt.Sprint(again) != fmt.Sprint(want) {
		t.Errorf("m again shows %v, want %v", again, want)
	}
	x.picture("timeline-lanes", false)
}

// TestTimelineStacks looks for a function of no goroutine's name and goes through the
// intervals that stopped in it, the longest first.
func TestTimelineStacks(t *testing.T) {
	x := open(t, fileURL(report(t, fixture(t, "convoy.go1.26.p4.trace"))), look{hash: "#t=1ms,100us"}, nil)
	x.search("readOrWrite")
	before := 0.0
	for i := range 8 {
		if i > 0 {
			x.do(chromedp.SendKeys(chromedp.CSS("#timeline-view .tl-search"), kb.Enter))
		}
		s := x.timeline()
		if s.Selected == nil || s.Selected.Start > s.To || s.Selected.End < s.From || i > 0 && s.Selected.End-s.Selected.Start > before {
			t.Fatalf("hit %d is %+v in %v to %v, after one of %v ns", i, s.Selected, s.From, s.To, before)
		}
		before = s.Selected.End - s.Selected.Start
		if marked := eval[string](x, `document.querySelector("#timeline-view .tl-stack mark")?.textContent || ""`); marked != "main.readOrWrite" {
			t.Errorf("hit %d marks %q in its stack", i, marked)
		}
	}
	eval[bool](x, `(document.querySelector("#timeline-view .tl-bar input[type=checkbox]").click(), true)`)
	if n := len(eval[[]float64](x, `document.getElementById("timeline-view").timeline.state().goroutines`)); n == 0 || n > 20 {
		t.Errorf("only these shows %d lanes", n)
	}
}
