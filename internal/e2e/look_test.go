package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// widths are those of a telephone, a tablet and a desk.
var widths = []int64{400, 800, 1400}

// overflow lists what sticks out of the window to the right and cannot be scrolled to
// within an element of its own.
const overflow = `(() => {
	const out = [];
	for (const el of document.querySelectorAll("body *")) {
		const r = el.getBoundingClientRect();
		if (r.width === 0 || r.right <= innerWidth + 1 || el.closest(".scroll") && !el.matches(".scroll")) continue;
		if (el.closest(".skip") || el.closest("caption") || el.closest("#timeline-view")) continue;
		out.push(el.tagName + "." + el.className + " " + Math.round(r.right));
	}
	return document.documentElement.scrollWidth > innerWidth ? ["the page"].concat(out.slice(0, 5)) : out.slice(0, 5);
})()`

// TestWidths opens pages of traces of many kinds at three widths, in light and dark.
func TestWidths(t *testing.T) {
	needBrowser(t)
	for _, name := range []string{"http.trace", "quiet.go1.26.p4.trace", "manyprocs.go1.26.p64.trace", "tasks.go1.26.p4.trace", "foreign/trace.go1.19.trace", "convoy.go1.26.p4.trace"} {
		path := report(t, fixture(t, name))
		base := strings.ReplaceAll(strings.TrimSuffix(name, ".trace"), "/", "-")
		for _, w := range widths {
			for _, dark := range []bool{false, true} {
				if dark && w != 1400 || testing.Short() && (dark || w == 800) { // nothing is wider in the dark
					continue
				}
				x := open(t, fileURL(path), look{width: w, height: 1000, dark: dark}, nil)
				x.unfold()
				for _, el := range eval[[]string](x, overflow) {
					t.Errorf("%s at %d: sticks out: %s", name, w, el)
				}
				x.picture(fmt.Sprintf("%s-%d-%v", base, w, map[bool]string{true: "dark", false: "light"}[dark]), true)
			}
		}
	}
}
