package e2e

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// serve runs view on a trace and returns its address, without the slash.
func serve(t *testing.T, trace string) string {
	t.Helper()
	cmd := exec.Command(program(t), "view", "--http", ":0", "--no-browser", trace)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		late := time.AfterFunc(10*time.Second, func() { cmd.Process.Kill() })
		defer late.Stop()
		if err := cmd.Wait(); err != nil {
			t.Errorf("view ended with %v, want no error after ^C", err)
		}
	})
	s := bufio.NewScanner(out)
	if !s.Scan() {
		t.Fatal("view printed no address")
	}
	return strings.TrimSpace(s.Text())
}

// TestView opens a page that is served, and follows a link into it. SCHEDSCOPE_E2E_TRACE
// names a large trace, of which it then sees that parts are loaded exactly.
func TestView(t *testing.T) {
	needBrowser(t)
	trace := os.Getenv("SCHEDSCOPE_E2E_TRACE")
	if trace == "" {
		trace = fixture(t, "http.trace")
	}
	address := serve(t, trace)
	x := open(t, address, look{hash: "#t=100ms,2ms"}, func(url string) bool {
		return strings.HasPrefix(url, address+"spans?")
	})
	x.canvas()
	x.waitFor(`document.getElementById("timeline-view").timeline.state().exact`)
	if s := x.timeline(); s.From != 100e6 || s.To != 102e6 {
		t.Errorf("it shows %v to %v, want 100 ms to 102 ms", s.From, s.To)
	}
	x.press("d", "d", "w", "s")
	x.waitFor(`document.getElementById("timeline-view").timeline.state().exact`)
	x.picture("view", false)
}

// TestViewNothing asks for moments of a served trace in which nothing happened.
func TestViewNothing(t *testing.T) {
	needBrowser(t)
	trace := fixture(t, "http.trace")
	address := serve(t, trace)
	x := open(t, address, look{}, func(url string) bool { return strings.HasPrefix(url, address+"spans?") })
	sizes := eval[[]int](x, `Promise.all([[0, 1], [1000001, 1000002], [50000000, 50000001]].map(async ([from, to]) => {
		const answer = await fetch("spans?from=" + from + "&to=" + to);
		if (answer.status !== 200) return answer.status;
		const d = SchedscopeTimeline.decode(await Schedscope.inflate(await answer.arrayBuffer()));
		return d.start <= from && d.end >= to ? 200 : 0;
	}))`)
	for i, n := range sizes {
		if n != 200 {
			t.Errorf("moment %d: %d, want a timeline that covers it", i, n)
		}
	}
}
