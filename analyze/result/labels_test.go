package result_test

import (
	"testing"

	. "github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

func TestOriginClause(t *testing.T) {
	for _, tt := range []struct {
		o           model.Origin
		waker, want string
	}{
		{model.OriginGoroutine, "goroutine 7", "readied by goroutine 7"},
		{model.OriginNetpoll, "goroutine 7", "readied by the network poller in goroutine 7"},
		{model.OriginNetpoll, "", "readied by the network poller"},
		{model.NumOrigins, "", "made runnable in an unknown way"},
	} {
		if got := OriginClause(tt.o, tt.waker); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.o, got, tt.want)
		}
	}
}

// TestLabels checks that each value has words of its own.
func TestLabels(t *testing.T) {
	seen := map[string]bool{}
	words := []string{OriginName(model.NumOrigins)}
	for o := range model.NumOrigins {
		words = append(words, OriginName(o))
	}
	for u := range NumUses {
		words = append(words, "use: "+u.Label())
	}
	for _, w := range words {
		if w == "" || seen[w] {
			t.Errorf("%q stands for nothing, or for two values", w)
		}
		seen[w] = true
	}
}
