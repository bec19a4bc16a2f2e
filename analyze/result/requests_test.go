package result_test

import (
	"testing"

	. "github.com/schedscope/schedscope/analyze/result"
)

func TestRequestRowString(t *testing.T) {
	for _, tt := range []struct {
		row  RequestRow
		want string
	}{
		{RequestRow{Kind: "running", Function: "example.com/shop/main.(*store).rebuild"}, "running main.(*store).rebuild"},
		{RequestRow{Kind: "running"}, "running"},
		{RequestRow{Kind: "runnable", Function: "main.spin"}, "runnable behind main.spin"},
		{RequestRow{Kind: "network", Function: "main.ask"}, "network in main.ask"},
		{RequestRow{Kind: "running", Function: "main.rebuild", Wait: "lock", Waiter: "main.get"}, "lock in main.get, held by main.rebuild"},
		{RequestRow{Kind: "sleep", Function: "main.rebuild", Wait: "lock", Waiter: "main.get"}, "lock in main.get: sleep in main.rebuild"},
		{RequestRow{Kind: "running", Wait: "lock", Waiter: "main.get"}, "lock in main.get: running"},
		{RequestRow{Kind: "running", Function: "main.one", Wait: "waitgroup", Waiter: "main.all"}, "waitgroup in main.all: running main.one"},
		{RequestRow{Kind: "timer", Function: "main.get", Wait: "timer", Waiter: "main.get"}, "timer in main.get"},
		{RequestRow{Kind: "runnable", Function: "main.\x1b[31m", Wait: "lock"}, "lock: runnable behind main.\\x1b[31m"},
	} {
		if got := tt.row.String(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// TestNames checks what groups and parts of requests are called: by their kind where the handler is not known, and
// calls of net/http's client by that and not by the select in which they wait.
func TestNames(t *testing.T) {
	for name, want := range map[string]string{"": "rpc", NoName: "rpc", "net/rpc.(*service).call": "rpc", "example.com/a/main.(*T).Get": "main.(*T).Get"} {
		if got := GroupName("rpc", name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
	for callee, want := range map[string]string{"": "channel in main.get", "net/http.(*Client).Do": "HTTP call in main.get"} {
		r := RequestRow{Kind: "channel", Function: "main.get", Way: &RequestWay{Callee: callee}}
		if got := r.String(); got != want {
			t.Errorf("a wait in %q is %q, want %q", callee, got, want)
		}
	}
}
