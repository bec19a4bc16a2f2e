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
