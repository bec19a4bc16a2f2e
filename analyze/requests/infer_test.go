package requests_test

import (
	"os"
	"testing"

	"github.com/schedscope/schedscope/analyze/requests"
)

// TestMessages checks that servers whose connections, and readers of UDP, are older than the trace serve
// requests, and that their clients in the same process do not, and that a handler of net/http may serve
// WebSockets. What comes before the first eight messages is not seen: dns and redis are programs of
// fixtures/validation with -n 250, chat is a server of fixtures/validation/requests that answered 128.
func TestMessages(t *testing.T) {
	for _, c := range []struct {
		trace, kind, name string
		count             int
	}{
		{"dns", "message", "github.com/miekg/dns.(*Server).serveUDPPacket", 167},
		{"redis", "tcp", "github.com/tidwall/redcon.handle", 215},
		{"chat", "tcp", "main.(*room).ServeHTTP", 89},
	} {
		count := 0
		f, err := os.Open("testdata/" + c.trace + ".trace")
		if err != nil {
			t.Fatal(err)
		}
		_, err = track(t, f, nil, func(r *requests.Request) {
			count++
			if err := check(r); err != nil || r.Kind != c.kind || r.Name != c.name {
				t.Errorf("%s: %s %s, want %s %s: %v", c.trace, r.Kind, r.Name, c.kind, c.name, err)
			}
		})
		f.Close()
		if err != nil || count != c.count {
			t.Errorf("%s: %d requests, want %d: %v", c.trace, count, c.count, err)
		}
	}
}
