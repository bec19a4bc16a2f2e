package cli

import (
	"context"
	"net/http"
	"os"
	"runtime/trace"
	"strings"
	"testing"
)

// The examples of schedscope help requests.

func route(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		trace.WithRegion(r.Context(), r.Pattern, func() { next(w, r) })
	}
}

func routes(mux *http.ServeMux, order http.HandlerFunc) {
	mux.HandleFunc("GET /order/{id}", route(order))
}

func checkout(ctx context.Context, id string) {
	ctx, task := trace.NewTask(ctx, "checkout")
	defer task.End()
	trace.Log(ctx, "order", id)
}

// TestRouteExamples: the examples in the help are those above, which compile.
func TestRouteExamples(t *testing.T) {
	source, err := os.ReadFile("routes_test.go")
	if err != nil {
		t.Fatal(err)
	}
	routes(http.NewServeMux(), http.NotFound)
	checkout(t.Context(), "17")
	lines := 0
	for line := range strings.Lines(newRequests(newApp(nil, nil, nil)).Long) {
		if code, ok := strings.CutPrefix(line, "\t"); ok {
			if lines++; !strings.Contains(string(source), "\n"+code) && !strings.Contains(string(source), "\n\t"+code) {
				t.Errorf("not in the source: %s", code)
			}
		}
	}
	if lines != 9 {
		t.Errorf("%d lines of code, want 9", lines)
	}
}
