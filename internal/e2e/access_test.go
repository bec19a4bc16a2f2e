package e2e

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// outline lists what is wrong with the page's structure.
const outline = `(() => {
	const out = [];
	let level = 0;
	for (const h of document.querySelectorAll("h1, h2, h3, h4, h5")) {
		const now = Number(h.tagName[1]);
		if (now > level + 1) out.push(h.tagName + " after H" + level + ": " + h.textContent);
		level = now;
		if (!h.textContent.trim()) out.push("an empty " + h.tagName);
	}
	if (document.querySelectorAll("h1").length !== 1) out.push("not one h1");
	for (const role of ["main", "nav", "header", "footer"]) if (document.querySelectorAll("body " + role).length !== 1) out.push("not one " + role);
	if (!document.documentElement.lang || !document.title) out.push("no language or no title");
	for (const c of document.querySelectorAll("canvas")) {
		const named = c.getAttribute("aria-label") || c.closest("[aria-hidden=true]");
		if (!named) out.push("a canvas without a name");
	}
	for (const f of document.querySelectorAll("figure.chart")) {
		if (f.querySelector(".plot")?.tabIndex !== 0 || f.querySelector(".readout")?.role !== "status") out.push(f.id + " cannot be read by keys");
	}
	for (const t of document.querySelectorAll("table")) {
		if (!t.caption?.textContent || !t.querySelector("thead th[scope=col]")) out.push("table " + t.id + " has no caption or heads");
	}
	for (const b of document.querySelectorAll("button, input, select, a[href]")) {
		const name = b.textContent.trim() || b.getAttribute("aria-label") || b.labels?.[0]?.textContent || b.title || b.placeholder;
		if (!name) out.push(b.outerHTML.slice(0, 80) + " has no name");
	}
	const ids = Array.from(document.querySelectorAll("[id]"), e => e.id);
	for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) out.push("two elements are " + id);
	for (const a of document.querySelectorAll('a[href^="#"]')) {
		const to = a.getAttribute("href").slice(1);
		if (!to.includes("=") && !document.getElementById(to)) out.push("a link to #" + to + ", which is not there");
	}
	return [...new Set(out)];
})()`

// pairs are colours of text and of what it stands on.
var pairs = [][2]string{{"fg", "bg"}, {"fg", "panel"}, {"muted", "bg"}, {"muted", "panel"}, {"accent", "bg"}, {"accent", "panel"},
	{"notable", "panel"}, {"serious", "serious-bg"}, {"fg", "notable-bg"}, {"fg", "serious-bg"}, {"muted", "serious-bg"}, {"accent", "serious-bg"}, {"l-0", "bg"}}

// TestAccess checks structure, names and contrast, which is to be at least 4.5 (WCAG 2.2,
// 1.4.3), in both themes.
func TestAccess(t *testing.T) {
	needBrowser(t)
	for _, name := range []string{"http.trace", "convoy.go1.26.p4.trace", "quiet.go1.26.p4.trace"} {
		path := report(t, fixture(t, name))
		for _, dark := range []bool{false, true} {
			x := open(t, fileURL(path), look{dark: dark}, nil)
			x.unfold()
			for _, problem := range eval[[]string](x, outline) {
				t.Errorf("%s: %s", name, problem)
			}
			for _, p := range pairs {
				if c := contrast(rgb(x, p[0]), rgb(x, p[1])); !(c >= 4.5) {
					t.Errorf("dark %v: %s on %s has a contrast of %.2f", dark, p[0], p[1], c)
				}
			}
		}
	}
}

// rgb returns what a colour of the page is.
func rgb(x *tab, name string) []float64 {
	x.t.Helper()
	return eval[[]float64](x, fmt.Sprintf(`(() => {
		const c = new OffscreenCanvas(1, 1).getContext("2d");
		c.fillStyle = Schedscope.colour(%q);
		c.fillRect(0, 0, 1, 1);
		return Array.from(c.getImageData(0, 0, 1, 1).data).slice(0, 3);
	})()`, name))
}

// contrast is that of WCAG 2.2.
func contrast(a, b []float64) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(c []float64) float64 {
	var l float64
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v := c[i] / 255
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		l += weight * v
	}
	return l
}

func TestContrast(t *testing.T) {
	if c := contrast([]float64{0, 0, 0}, []float64{255, 255, 255}); math.Abs(c-21) > 1e-9 {
		t.Errorf("black on white is %v, want 21", c)
	}
	if c := contrast([]float64{0x77, 0x77, 0x77}, []float64{255, 255, 255}); math.Abs(c-4.48) > 0.01 {
		t.Errorf("#777 on white is %v, want 4.48", c)
	}
}

// TestKeyboard reaches the skip link, then charts and tables, without a mouse.
func TestKeyboard(t *testing.T) {
	needBrowser(t)
	x := open(t, fileURL(report(t, fixture(t, "quiet.go1.26.p4.trace"))), look{}, nil)
	x.unfold()
	const focused = `(e => e.className || e.id || e.tagName)(document.activeElement)`
	x.do(chromedp.KeyEvent("\t"))
	if s := eval[string](x, focused); s != "skip" {
		t.Errorf("the first tab goes to %s, want the skip link", s)
	}
	x.do(chromedp.KeyEvent("\r"))
	if s := eval[string](x, "location.hash"); s != "#verdict" {
		t.Errorf("the skip link leads to %s", s)
	}
	seen := map[string]bool{}
	for range 120 {
		x.do(chromedp.KeyEvent("\t"))
		seen[eval[string](x, focused)] = true
	}
	for _, want := range []string{"plot tall", "scroll", "BUTTON", "SUMMARY"} {
		if !seen[want] {
			t.Errorf("tabs do not reach %s: %v", want, seen)
		}
	}
}

// TestWithoutScripts reads the page where scripts are off: all numbers are there.
func TestWithoutScripts(t *testing.T) {
	needBrowser(t)
	path := report(t, fixture(t, "http.trace"))
	x := openPlain(t, fileURL(path))
	x.do(chromedp.Click(chromedp.CSS("#numbers > summary")))
	if n := eval[int](x, `Array.from(document.querySelectorAll("#t-causes tbody tr")).filter(r => r.offsetHeight > 0).length`); n < 10 {
		t.Errorf("%d causes", n)
	}
	if eval[bool](x, `document.documentElement.classList.contains("js")`) {
		t.Error("scripts are on")
	}
	x.picture("no-scripts", false)
}

// TestUnseen checks that a page is complete that has no frames, as nobody sees it: the first is never drawn.
func TestUnseen(t *testing.T) {
	needBrowser(t)
	page, err := os.ReadFile(report(t, fixture(t, "http.trace")))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "unseen.html")
	const never = `<script>{ const f = requestAnimationFrame; window.requestAnimationFrame = () => (window.requestAnimationFrame = f, 0) }</script>`
	if err := os.WriteFile(path, bytes.Replace(page, []byte("<head>"), []byte("<head>"+never), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	open(t, fileURL(path), look{}, nil)
}
